//! One directory, whole or not at all.

use std::ffi::OsString;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::leftovers::remove;
use super::{
    OLD, Place, STAGE_PREFIX, StageError, StageErrorKind, claim, fresh, lock, rename_new, sync,
};
use crate::{DirTree, FileKind, Limits, TreePath, walk};

/// From this many entries on, one `syncfs` is cheaper than an fsync each.
const SYNC_EACH: usize = 64;

/// A directory being filled under a name of its own; dropped, it is gone.
#[derive(Debug)]
pub struct StagedDir {
    pub(super) place: Place,
    /// The directory in which the stage stands.
    parent: OwnedFd,
    temp: OsString,
    pub(super) root: DirTree,
    mode: u32,
    /// Entries made so far.
    pub(super) entries: usize,
    done: bool,
}

impl StagedDir {
    /// Begins a directory beside its place, which will have the permission bits `mode`.
    pub fn beside(place: Place, mode: u32) -> Result<Self, StageError> {
        let parent = place.duplicate_dir()?;
        Self::create(place, parent, mode)
    }

    /// Begins a directory in `staging`, so that nobody who lists the place's directory sees a
    /// half-filled one. If `staging` is on another file system it is made beside the place.
    pub fn within(staging: &DirTree, place: Place, mode: u32) -> Result<Self, StageError> {
        let device = |fd: BorrowedFd<'_>| rustix::fs::fstat(fd).map(|stat| stat.st_dev);
        let same = device(staging.as_fd()).and_then(|one| Ok(one == device(place.dir.as_fd())?));
        if !same.map_err(|errno| place.error(errno))? {
            return Self::beside(place, mode);
        }
        let parent = staging
            .open_dir(&TreePath::root())
            .map_err(|error| StageError::from_source(&place.path, error))?;
        Self::create(place, parent.into_fd(), mode)
    }

    fn create(place: Place, parent: OwnedFd, mode: u32) -> Result<Self, StageError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let (temp, root) = loop {
            let temp = fresh(STAGE_PREFIX, "".as_ref());
            match rustix::fs::mkdirat(&parent, &temp, Mode::RWXU) {
                Err(Errno::EXIST) => continue,
                done => done.map_err(|errno| place.error(errno))?,
            }
            match rustix::fs::openat(&parent, &temp, flags, Mode::empty()) {
                Err(Errno::NOENT) => {}
                Err(errno) => return Err(place.error(errno)),
                Ok(root) if claim(&parent, &temp, &root) => break (temp, root),
                Ok(_) => {}
            }
        };
        let root = DirTree::from_fd(root);
        Ok(Self { place, parent, temp, root, mode: mode | 0o700, entries: 0, done: false })
    }

    /// What is staged so far, as a tree: to be looked at and hashed before it takes its place.
    pub const fn tree(&self) -> &DirTree {
        &self.root
    }

    /// The name of the stage, for a journal: before the swap the new directory stands there,
    /// after an exchange the old one.
    pub fn temp_name(&self) -> &std::ffi::OsStr {
        &self.temp
    }

    /// Takes the place. A directory that stands there is exchanged if `replace`, else refused
    /// ([`StageErrorKind::Exists`]); a file or link there is always refused.
    ///
    /// Everything staged is durable before, and the change is durable when this returns. The
    /// answer still holds what was replaced: [`Swapped::finish`] it or [`Swapped::undo`] it.
    pub fn commit(mut self, replace: bool) -> Result<Swapped, StageError> {
        rustix::fs::fchmod(&self.root, Mode::from_raw_mode(self.mode & 0o7777))
            .map_err(|errno| self.place.error(errno))?;
        self.sync_content()?;
        match self.place.metadata()?.map(|meta| meta.kind) {
            None => {
                rename_new(&self.parent, &self.temp, &self.place.dir, &self.place.name)
                    .map_err(|errno| self.place.error(errno))?;
                self.swapped(None, None)
            }
            Some(FileKind::Directory) if replace => self.exchange(),
            Some(FileKind::Directory) => Err(self.place.error(Errno::EXIST)),
            Some(_) => {
                let what = "a file or link stands there, not a directory";
                Err(StageError::new(StageErrorKind::WrongKind, &self.place.path, what))
            }
        }
    }

    fn exchange(mut self) -> Result<Swapped, StageError> {
        let (dir, name) = (&self.place.dir, &self.place.name);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let old = rustix::fs::openat(dir, name, flags, Mode::empty())
            .map_err(|errno| self.place.error(errno))?;
        // From here on nobody cleans it away, whatever name it gets.
        lock(&old);
        if self.place.exchange {
            let exchange = RenameFlags::EXCHANGE;
            match rustix::fs::renameat_with(&self.parent, &self.temp, dir, name, exchange) {
                Err(Errno::INVAL | Errno::NOSYS) => {}
                Err(errno) => return Err(self.place.error(errno)),
                Ok(()) => {
                    let temp = self.temp.clone();
                    return self.swapped(Some(temp), Some(old));
                }
            }
        }
        let aside = fresh(OLD, name);
        rename_new(dir, name, dir, &aside).map_err(|errno| self.place.error(errno))?;
        if let Err(errno) = rename_new(&self.parent, &self.temp, dir, name) {
            // Back to where it was; if that fails too, `clean` does it.
            let _ = rename_new(dir, &aside, dir, name);
            return Err(self.place.error(errno));
        }
        self.swapped(Some(aside), Some(old))
    }

    /// The stage took its place; `old` is the name of what stood there.
    fn swapped(
        &mut self,
        old: Option<OsString>,
        lock: Option<OwnedFd>,
    ) -> Result<Swapped, StageError> {
        self.done = true;
        let place = Place {
            dir: self.place.duplicate_dir()?,
            name: self.place.name.clone(),
            path: self.place.path.clone(),
            exchange: self.place.exchange,
        };
        // After an exchange the old one stands in the stage's directory, else beside the place.
        let exchanged = old.as_ref() == Some(&self.temp);
        let parent = if exchanged { &self.parent } else { &self.place.dir };
        let parent =
            parent.try_clone().map_err(|error| StageError::from_io(&self.place.path, &error))?;
        place.sync()?;
        sync(&self.parent).map_err(|errno| self.place.error(errno))?;
        Ok(Swapped { place, parent, old, new: true, lock })
    }

    fn sync_content(&self) -> Result<(), StageError> {
        let error = |errno| self.place.error(errno);
        if self.entries < SYNC_EACH {
            let each = || -> Option<()> {
                for entry in walk(&self.root, &TreePath::root(), Limits::default()) {
                    let entry = entry.ok()?;
                    if entry.kind != FileKind::Symlink {
                        let fd = self.root.at(&entry.path, OFlags::RDONLY).ok()?;
                        sync(fd).ok()?;
                    }
                }
                sync(&self.root).ok()
            };
            if each().is_some() {
                return Ok(());
            }
        }
        #[cfg(target_os = "linux")]
        return rustix::fs::syncfs(&self.root).map_err(error);
        #[cfg(not(target_os = "linux"))]
        sync(&self.root).map_err(error)
    }
}

impl Drop for StagedDir {
    fn drop(&mut self) {
        if !self.done {
            // What cannot be removed is found by `clean`.
            let _ = remove(&self.parent, &self.temp);
        }
    }
}

/// A change that took its place and can still be taken back. Dropped without an answer, what was
/// replaced stays under its other name until [`super::clean`] finds it.
#[derive(Debug)]
#[must_use = "what was replaced stays until it is finished or undone"]
pub struct Swapped {
    place: Place,
    /// The directory in which `old` stands.
    parent: OwnedFd,
    old: Option<OsString>,
    /// Whether something new stands at the place.
    new: bool,
    /// Keeps [`super::clean`] in other processes away from the old directory.
    lock: Option<OwnedFd>,
}

impl Swapped {
    /// Whether something was replaced or set aside.
    pub const fn replaced(&self) -> bool {
        self.old.is_some()
    }

    /// The name under which the old entry stands, for a journal.
    pub fn old_name(&self) -> Option<&std::ffi::OsStr> {
        self.old.as_deref()
    }

    /// Removes what was replaced. The new state stands even if this fails half-way.
    pub fn finish(self) -> Result<(), StageError> {
        let Some(old) = self.old else { return Ok(()) };
        let error = |errno| self.place.error(errno);
        // Half removed it must never be put back, so it becomes rubbish by name first.
        let rubbish = if super::old_name(&old).is_some() {
            let rubbish = fresh(STAGE_PREFIX, "".as_ref());
            rename_new(&self.parent, &old, &self.parent, &rubbish).map_err(error)?;
            sync(&self.parent).map_err(error)?;
            rubbish
        } else {
            old
        };
        remove(&self.parent, &rubbish).map_err(error)?;
        drop(self.lock);
        Ok(())
    }

    /// Puts back what stood at the place, and removes what is new.
    pub fn undo(self) -> Result<(), StageError> {
        let error = |errno| self.place.error(errno);
        let (dir, name) = (&self.place.dir, &self.place.name);
        if let Some(old) = &self.old
            && super::old_name(old).is_none()
        {
            // What was exchanged can be exchanged again.
            rustix::fs::renameat_with(&self.parent, old, dir, name, RenameFlags::EXCHANGE)
                .map_err(error)?;
            self.place.sync()?;
            return remove(&self.parent, old).map_err(error);
        }
        let rubbish = fresh(STAGE_PREFIX, "".as_ref());
        if self.new {
            rename_new(dir, name, dir, &rubbish).map_err(error)?;
        }
        if let Some(old) = &self.old {
            rename_new(&self.parent, old, dir, name).map_err(error)?;
        }
        self.place.sync()?;
        remove(dir, &rubbish).map_err(error)
    }
}

/// Takes away what stands at the place, in one step, so that it can be put back or removed:
/// [`Swapped::finish`] removes it. Killed before, [`super::clean`] puts it back. Nothing there is
/// no error.
pub fn set_aside(place: Place) -> Result<Swapped, StageError> {
    let parent = place.duplicate_dir()?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let held = match rustix::fs::openat(&place.dir, &place.name, flags, Mode::empty()) {
        Ok(fd) => {
            lock(&fd);
            Some(fd)
        }
        Err(Errno::NOENT) => {
            return Ok(Swapped { place, parent, old: None, new: false, lock: None });
        }
        // A link or an unreadable file; it has no lock, and moves all the same.
        Err(_) => None,
    };
    let aside = fresh(OLD, &place.name);
    rename_new(&place.dir, &place.name, &place.dir, &aside).map_err(|errno| place.error(errno))?;
    place.sync()?;
    Ok(Swapped { place, parent, old: Some(aside), new: false, lock: held })
}
