//! Filling a staged directory, by hand or from a tree.

use std::fs::File;
use std::io::{ErrorKind, Read, Write as _};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::{StageError, StagedDir};
use crate::{
    FileKind, Limits, Tree, TreeError, TreeErrorKind, TreeFile, TreePath, WalkEntry, walk,
};

/// Bytes copied at a time.
const CHUNK: u64 = 256 * 1024;

/// Which permission bits copied entries get.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Modes {
    /// Files 0755 if they are executable, else 0644; directories 0755.
    #[default]
    Portable,
    /// What the tree says, `& 0o777`; directories stay usable for their owner.
    Verbatim,
}

impl Modes {
    fn of(self, kind: FileKind, mode: u32) -> u32 {
        match (self, kind) {
            (Self::Portable, FileKind::File) if mode & 0o111 == 0 => 0o644,
            (Self::Portable, _) => 0o755,
            (Self::Verbatim, FileKind::Directory) => mode & 0o777 | 0o700,
            (Self::Verbatim, _) => mode & 0o777,
        }
    }
}

/// How [`StagedDir::copy_tree`] copies, and where it gives up.
#[derive(Debug, Clone, Copy)]
pub struct CopyOptions {
    /// Permission bits of what is copied.
    pub modes: Modes,
    /// Limits of the walk.
    pub limits: Limits,
    /// Bytes in all.
    pub bytes: u64,
}

impl Default for CopyOptions {
    fn default() -> Self {
        Self { modes: Modes::default(), limits: Limits::default(), bytes: u64::MAX }
    }
}

/// What [`StagedDir::copy_tree`] copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Copied {
    /// Regular files.
    pub files: usize,
    /// Links.
    pub links: usize,
    /// Bytes of the files.
    pub bytes: u64,
}

impl StagedDir {
    /// Makes a directory with its parents (0755).
    pub fn make_dir(&mut self, path: &TreePath, mode: u32) -> Result<(), StageError> {
        self.make_parents(path)?;
        self.mkdir(path)?;
        let dir = self.root.open_dir(path).map_err(|error| self.source(error))?;
        rustix::fs::fchmod(&dir, Mode::from_raw_mode(mode & 0o777 | 0o700))
            .map_err(|errno| self.place.error(errno))
    }

    /// Writes a new file of these bytes and permission bits, with its parents.
    pub fn write(&mut self, path: &TreePath, bytes: &[u8], mode: u32) -> Result<(), StageError> {
        let mut file = self.create_file(path)?;
        file.write_all(bytes).map_err(|error| self.io(&error))?;
        self.chmod(&file, mode)
    }

    /// Copies an open file to a new one, with its parents; a file that changes meanwhile is an
    /// error.
    pub fn write_from(
        &mut self,
        path: &TreePath,
        from: &dyn TreeFile,
        mode: u32,
    ) -> Result<(), StageError> {
        let mut file = self.create_file(path)?;
        let mut buf = vec![0; from.len().min(CHUNK) as usize];
        let changed = || TreeError::new(TreeErrorKind::Changed, path, "changed while it was read");
        let mut at = 0;
        while at < from.len() {
            match from.read_at(&mut buf, at).map_err(|error| self.source(error))? {
                0 => return Err(self.source(changed())),
                n => {
                    file.write_all(&buf[..n]).map_err(|error| self.io(&error))?;
                    at += n as u64;
                }
            }
        }
        if from.changed().map_err(|error| self.source(error))? {
            return Err(self.source(changed()));
        }
        self.chmod(&file, mode)
    }

    /// Writes a new file of all that `from` yields, with its parents, and returns its length. An
    /// error of `from` is [`StageErrorKind::Source`](super::StageErrorKind::Source).
    pub fn write_stream(
        &mut self,
        path: &TreePath,
        from: &mut dyn Read,
        mode: u32,
    ) -> Result<u64, StageError> {
        let mut file = self.create_file(path)?;
        let (mut buf, mut length) = (vec![0; CHUNK as usize], 0);
        loop {
            match from.read(&mut buf) {
                Ok(0) => break,
                Ok(n) => {
                    file.write_all(&buf[..n]).map_err(|error| self.io(&error))?;
                    length += n as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.source(TreeError::from_io(path, &error))),
            }
        }
        self.chmod(&file, mode)?;
        Ok(length)
    }

    /// Says that somebody else, a program that was run in the stage, made so many entries.
    pub fn count(&mut self, entries: usize) {
        self.entries = self.entries.saturating_add(entries);
    }

    /// Makes a link with this target, verbatim, with its parents. Whether the target stays inside
    /// is for the caller to know; [`StagedDir::copy_tree`] checks it.
    pub fn symlink(&mut self, path: &TreePath, target: &str) -> Result<(), StageError> {
        self.make_parents(path)?;
        self.entries += 1;
        let made =
            self.root.parent(path).and_then(|(dir, name)| rustix::fs::symlinkat(target, dir, name));
        made.map_err(|errno| self.place.error(errno))
    }

    /// Copies everything of `tree` that `keep` wants; below a directory it does not want, nothing
    /// is asked. Links are kept as they are, and one that leads out of the tree is an error, as
    /// are devices, names that are not UTF-8 and anything beyond the limits.
    pub fn copy_tree(
        &mut self,
        tree: &dyn Tree,
        options: CopyOptions,
        keep: &dyn Fn(&WalkEntry) -> bool,
    ) -> Result<Copied, StageError> {
        let mut copied = Copied::default();
        let mut entries = walk(tree, &TreePath::root(), options.limits);
        while let Some(entry) = entries.next() {
            let entry = entry.map_err(|error| self.source(error))?;
            if !keep(&entry) {
                entries.skip_children();
                continue;
            }
            let path = &entry.path;
            match entry.kind {
                FileKind::Directory => {
                    let meta = tree.metadata(path).map_err(|error| self.source(error))?;
                    self.make_dir(path, options.modes.of(entry.kind, meta.mode))?;
                }
                FileKind::File => {
                    let meta = tree.metadata(path).map_err(|error| self.source(error))?;
                    let file = tree.open(path).map_err(|error| self.source(error))?;
                    copied.files += 1;
                    copied.bytes = copied.bytes.saturating_add(file.len());
                    if copied.bytes > options.bytes {
                        let what = format!("more than {} bytes", options.bytes);
                        return Err(self.source(TreeError::new(
                            TreeErrorKind::TooLarge,
                            path,
                            what,
                        )));
                    }
                    self.write_from(path, file.as_ref(), options.modes.of(entry.kind, meta.mode))?;
                }
                FileKind::Symlink => {
                    let target = inner_link(tree, path).map_err(|error| self.source(error))?;
                    self.symlink(path, &target)?;
                    copied.links += 1;
                }
                FileKind::Other => {
                    let what = "a device, fifo or socket cannot be copied";
                    return Err(self.source(TreeError::new(TreeErrorKind::WrongKind, path, what)));
                }
            }
        }
        Ok(copied)
    }

    fn make_parents(&mut self, path: &TreePath) -> Result<(), StageError> {
        match self.root.parent(path) {
            Ok(_) => return Ok(()),
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(self.place.error(errno)),
        }
        let ends: Vec<_> = path.as_str().match_indices('/').map(|(at, _)| at).collect();
        for end in ends {
            let dir = TreePath::normalise(&path.as_str()[..end]).unwrap_or_default();
            self.mkdir(&dir)?;
        }
        Ok(())
    }

    fn mkdir(&mut self, path: &TreePath) -> Result<(), StageError> {
        let made = self.root.parent(path).and_then(|(dir, name)| {
            match rustix::fs::mkdirat(dir, name, Mode::from_raw_mode(0o755)) {
                Err(Errno::EXIST) => Ok(false),
                done => done.map(|()| true),
            }
        });
        self.entries += usize::from(made.map_err(|errno| self.place.error(errno))?);
        Ok(())
    }

    fn create_file(&mut self, path: &TreePath) -> Result<File, StageError> {
        self.make_parents(path)?;
        self.entries += 1;
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let made = self.root.parent(path).and_then(|(dir, name)| {
            rustix::fs::openat(dir, name, flags, Mode::from_raw_mode(0o600))
        });
        made.map(File::from).map_err(|errno| self.place.error(errno))
    }

    fn chmod(&self, file: &File, mode: u32) -> Result<(), StageError> {
        rustix::fs::fchmod(file, Mode::from_raw_mode(mode & 0o777))
            .map_err(|errno| self.place.error(errno))
    }

    fn io(&self, error: &std::io::Error) -> StageError {
        StageError::from_io(&self.place.path, error)
    }

    fn source(&self, error: TreeError) -> StageError {
        StageError::from_source(&self.place.path, error)
    }
}

/// The target of a link that stays inside its tree. A link to something that is not there may
/// stay if its words alone do not lead out.
fn inner_link(tree: &dyn Tree, path: &TreePath) -> Result<String, TreeError> {
    let target = tree.read_link(path)?;
    match tree.resolve(path) {
        Ok(_) => return Ok(target),
        Err(error) if error.kind == TreeErrorKind::NotFound => {}
        Err(error) if error.kind == TreeErrorKind::NotADirectory => {}
        Err(error) => return Err(error),
    }
    let mut depth = path.components().count() - 1;
    for part in target.split('/') {
        let up = part == "..";
        if up && depth == 0 {
            let what = format!("the link to {target} leads out of the tree");
            return Err(TreeError::new(TreeErrorKind::Escapes, path, what));
        }
        match part {
            "" | "." => {}
            ".." => depth -= 1,
            _ => depth += 1,
        }
    }
    Ok(target)
}
