//! A directory as a tree, opened once and confined.
//!
//! Every question is answered relative to the descriptor that [`DirTree::open`] got, by calls
//! that follow no link in any component: `openat2` with `RESOLVE_BENEATH` and
//! `RESOLVE_NO_SYMLINKS` where the kernel has it, else one `openat` with `O_NOFOLLOW` a
//! component. So nothing outside is read, also while somebody swaps a directory for a link.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::{
    DirEntry, EntryName, FileKind, Metadata, Owner, Tree, TreeError, TreeErrorKind, TreeFile,
    TreePath,
};

/// Flags of every open: closed in children, no link followed.
const BASE: OFlags = OFlags::CLOEXEC.union(OFlags::NOFOLLOW);

/// A directory opened once, from which only what lies below it can be reached.
#[derive(Debug)]
pub struct DirTree {
    root: OwnedFd,
    /// Tests turn this off, kernels before 5.6 do not have it.
    #[cfg(target_os = "linux")]
    openat2: std::sync::atomic::AtomicBool,
}

impl DirTree {
    /// Opens a directory. Links in `path` itself are followed: the caller named it.
    pub fn open(path: &Path) -> Result<Self, TreeError> {
        let flags = OFlags::CLOEXEC | OFlags::DIRECTORY | OFlags::RDONLY;
        rustix::fs::open(path, flags, Mode::empty()).map(Self::from_fd).map_err(|errno| {
            let error = TreeError::from_io(&TreePath::root(), &errno.into());
            TreeError {
                detail: format!("{}: {}", path.display(), std::io::Error::from(errno)),
                ..error
            }
        })
    }

    /// The descriptor alone.
    pub(crate) fn into_fd(self) -> OwnedFd {
        self.root
    }

    /// Takes an open directory.
    pub(crate) fn from_fd(root: OwnedFd) -> Self {
        Self {
            root,
            #[cfg(target_os = "linux")]
            openat2: true.into(),
        }
    }

    /// Goes component by component from now on, as on a kernel without `openat2`.
    #[doc(hidden)]
    #[must_use]
    pub fn without_openat2(self) -> Self {
        #[cfg(target_os = "linux")]
        self.openat2.store(false, std::sync::atomic::Ordering::Relaxed);
        self
    }

    /// Opens the directory `path` below this one; no component may be a link.
    pub fn open_dir(&self, path: &TreePath) -> Result<Self, TreeError> {
        let root = if path.is_root() {
            rustix::fs::openat(&self.root, ".", BASE | OFlags::DIRECTORY, Mode::empty())
        } else {
            self.at(path, OFlags::DIRECTORY | OFlags::RDONLY)
        };
        root.map(Self::from_fd).map_err(|errno| match errno {
            // O_DIRECTORY on a link.
            Errno::LOOP => not_a_directory(path),
            errno => self.error(path, errno),
        })
    }

    /// Opens what stands at `path`, which is not the root, following nothing.
    pub(crate) fn at(&self, path: &TreePath, flags: OFlags) -> Result<OwnedFd, Errno> {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::ResolveFlags;
            use std::sync::atomic::Ordering::Relaxed;
            let resolve =
                ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
            while self.openat2.load(Relaxed) {
                match rustix::fs::openat2(
                    &self.root,
                    path.as_str(),
                    BASE | flags,
                    Mode::empty(),
                    resolve,
                ) {
                    // A sandbox may refuse a call it does not know by EPERM.
                    Err(Errno::NOSYS | Errno::PERM) => self.openat2.store(false, Relaxed),
                    Err(Errno::AGAIN | Errno::INTR) => {}
                    done => return done,
                }
            }
        }
        let (dir, name) = self.parent(path)?;
        rustix::fs::openat(dir.as_fd(), name, BASE | flags, Mode::empty())
    }

    /// The directory in which `path` stands, opened component by component or with one call,
    /// and the last component.
    pub(crate) fn parent<'a>(&self, path: &'a TreePath) -> Result<(Parent<'_>, &'a str), Errno> {
        let Some((above, name)) = path.as_str().rsplit_once('/') else {
            return Ok((Parent::Root(self.root.as_fd()), path.as_str()));
        };
        #[cfg(target_os = "linux")]
        if self.openat2.load(std::sync::atomic::Ordering::Relaxed) {
            let above = path.parent().unwrap_or_default();
            return Ok((Parent::Below(self.at(&above, OFlags::PATH | OFlags::DIRECTORY)?), name));
        }
        let mut dir = Parent::Root(self.root.as_fd());
        for component in above.split('/') {
            let flags = BASE | OFlags::DIRECTORY;
            let next = rustix::fs::openat(dir.as_fd(), component, flags, Mode::empty());
            dir = Parent::Below(next.map_err(|errno| match errno {
                Errno::LOOP => Errno::NOTDIR,
                errno => errno,
            })?);
        }
        Ok((dir, name))
    }

    fn stat(&self, path: &TreePath) -> Result<Stat, TreeError> {
        if path.is_root() {
            return rustix::fs::fstat(&self.root).map_err(|errno| self.error(path, errno));
        }
        self.parent(path)
            .and_then(|(dir, name)| rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW))
            .map_err(|errno| match errno {
                Errno::LOOP => not_a_directory(path),
                errno => self.error(path, errno),
            })
    }

    /// The error of a call on `path`. A link above `path` is a component that is no directory.
    fn error(&self, path: &TreePath, errno: Errno) -> TreeError {
        if errno == Errno::LOOP {
            return match self.parent(path) {
                Ok(_) => TreeError::new(TreeErrorKind::WrongKind, path, "a link, not a file"),
                Err(_) => not_a_directory(path),
            };
        }
        TreeError::from_io(path, &errno.into())
    }
}

impl AsFd for DirTree {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.root.as_fd()
    }
}

fn not_a_directory(path: &TreePath) -> TreeError {
    let what = "a component of the path is not a directory";
    TreeError::new(TreeErrorKind::NotADirectory, path, what)
}

/// A directory on the way: the root itself, or one opened below it.
pub(crate) enum Parent<'a> {
    Root(BorrowedFd<'a>),
    Below(OwnedFd),
}

impl AsFd for Parent<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Root(fd) => *fd,
            Self::Below(fd) => fd.as_fd(),
        }
    }
}

impl Tree for DirTree {
    fn metadata(&self, path: &TreePath) -> Result<Metadata, TreeError> {
        self.stat(path).map(|stat| to_metadata(&stat))
    }

    fn owner(&self, path: &TreePath) -> Result<Option<Owner>, TreeError> {
        #[expect(clippy::useless_conversion, reason = "the widths differ between systems")]
        self.stat(path).map(|stat| {
            let inode = Some((stat.st_dev.into(), stat.st_ino.into()));
            Some(Owner { uid: stat.st_uid, gid: stat.st_gid, links: stat.st_nlink.into(), inode })
        })
    }

    fn open(&self, path: &TreePath) -> Result<Box<dyn TreeFile>, TreeError> {
        if path.is_root() {
            return Err(is_a_directory(path));
        }
        // Without O_NONBLOCK the open of a fifo waits for a writer; no terminal becomes ours.
        let fd =
            self.at(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY).map_err(|errno| {
                match errno {
                    Errno::NXIO => not_a_file(path),
                    errno => self.error(path, errno),
                }
            })?;
        let stat = rustix::fs::fstat(&fd).map_err(|errno| self.error(path, errno))?;
        match to_kind(FileType::from_raw_mode(stat.st_mode)) {
            FileKind::File => {}
            FileKind::Directory => return Err(is_a_directory(path)),
            FileKind::Symlink | FileKind::Other => return Err(not_a_file(path)),
        }
        let mode = stat.st_mode & 0o7777;
        Ok(Box::new(DiskFile {
            path: path.clone(),
            stamp: Stamp::of(&stat),
            mode,
            file: fd.into(),
        }))
    }

    fn read_dir(&self, path: &TreePath) -> Result<Vec<DirEntry>, TreeError> {
        let dir = self.open_dir(path)?;
        let io = |errno: Errno| self.error(path, errno);
        let mut entries = Vec::new();
        for entry in Dir::read_from(&dir).map_err(io)? {
            let entry = entry.map_err(io)?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let kind = match entry.file_type() {
                // Some file systems do not say.
                FileType::Unknown => {
                    match rustix::fs::statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW) {
                        Ok(stat) => to_kind(FileType::from_raw_mode(stat.st_mode)),
                        Err(Errno::NOENT) => continue,
                        Err(errno) => return Err(io(errno)),
                    }
                }
                kind => to_kind(kind),
            };
            entries.push(DirEntry { name: EntryName::new(name.to_bytes().to_vec()), kind });
        }
        entries.sort();
        Ok(entries)
    }

    fn read_link(&self, path: &TreePath) -> Result<String, TreeError> {
        let not_a_link = || TreeError::new(TreeErrorKind::WrongKind, path, "not a link");
        if path.is_root() {
            return Err(not_a_link());
        }
        let target = self
            .parent(path)
            .map_err(|errno| match errno {
                Errno::LOOP => not_a_directory(path),
                errno => self.error(path, errno),
            })
            .and_then(|(dir, name)| {
                rustix::fs::readlinkat(dir.as_fd(), name, Vec::new()).map_err(|errno| match errno {
                    Errno::INVAL => not_a_link(),
                    errno => self.error(path, errno),
                })
            })?;
        target.into_string().map_err(|error| {
            let shown = error.into_cstring().to_bytes().escape_ascii().to_string();
            let what = format!("the target {shown} of the link is not UTF-8");
            TreeError::new(TreeErrorKind::NotUtf8, path, what)
        })
    }
}

fn is_a_directory(path: &TreePath) -> TreeError {
    TreeError::new(TreeErrorKind::IsADirectory, path, "a directory, not a file")
}

fn not_a_file(path: &TreePath) -> TreeError {
    TreeError::new(TreeErrorKind::WrongKind, path, "a device, fifo or socket, not a file")
}

const fn to_kind(kind: FileType) -> FileKind {
    match kind {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Directory,
        FileType::Symlink => FileKind::Symlink,
        _ => FileKind::Other,
    }
}

pub(crate) fn to_metadata(stat: &Stat) -> Metadata {
    let kind = to_kind(FileType::from_raw_mode(stat.st_mode));
    let size = match kind {
        FileKind::File | FileKind::Symlink => u64::try_from(stat.st_size).unwrap_or_default(),
        FileKind::Directory | FileKind::Other => 0,
    };
    Metadata { kind, size, mode: stat.st_mode & 0o7777, mtime: stat.st_mtime }
}

/// What tells one state of a file from another.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    len: u64,
    mtime: (i64, u64),
}

impl Stamp {
    fn of(stat: &Stat) -> Self {
        Self {
            len: u64::try_from(stat.st_size).unwrap_or_default(),
            mtime: (stat.st_mtime, stat.st_mtime_nsec),
        }
    }
}

#[derive(Debug)]
struct DiskFile {
    path: TreePath,
    file: File,
    mode: u32,
    stamp: Stamp,
}

impl TreeFile for DiskFile {
    fn len(&self) -> u64 {
        self.stamp.len
    }

    fn mode(&self) -> Option<u32> {
        Some(self.mode)
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<usize, TreeError> {
        // What was appended since is not part of the file that was opened.
        let left = self.stamp.len.saturating_sub(offset);
        let want = buf.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        if want == 0 {
            return Ok(0);
        }
        match rustix::io::retry_on_intr(|| rustix::io::pread(&self.file, &mut buf[..want], offset))
        {
            Ok(0) => Err(TreeError::new(TreeErrorKind::Changed, &self.path, "shrank while read")),
            Ok(n) => Ok(n),
            Err(errno) => Err(TreeError::from_io(&self.path, &errno.into())),
        }
    }

    fn changed(&self) -> Result<bool, TreeError> {
        let stat = rustix::fs::fstat(&self.file)
            .map_err(|errno| TreeError::from_io(&self.path, &errno.into()))?;
        Ok(Stamp::of(&stat) != self.stamp)
    }
}
