//! What killed processes left behind, and removing directories whole.

use std::ffi::{CString, OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::{STAGE_PREFIX, StageError, fresh, lock, old_name, rename_new, sync};
use crate::DirTree;

/// Directories one inside the other that [`remove`] goes down.
const DEPTH: usize = 512;

/// What [`clean`] did.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Leftover {
    /// Removed a stage that was never finished, or what was replaced.
    Removed(OsString),
    /// Put back what was set aside under this name, because nothing had taken its place.
    PutBack(OsString),
}

/// Finds what killed processes left in a directory (the one of a place, or one that stages were
/// made within), puts back what was set aside without a successor and removes the rest. What a living process is at work on, and what `keep` wants
/// (an unfinished journal's), is left alone. `shown` names the directory in errors.
pub fn clean(
    dir: &DirTree,
    shown: &std::path::Path,
    keep: &dyn Fn(&OsStr) -> bool,
) -> Result<Vec<Leftover>, StageError> {
    let error = |errno| StageError::from_errno(shown, errno);
    let mut names = Vec::new();
    for entry in Dir::read_from(dir).map_err(error)? {
        let name = OsStr::from_bytes(entry.map_err(error)?.file_name().to_bytes()).to_owned();
        let ours =
            name.as_bytes().starts_with(STAGE_PREFIX.as_bytes()) || old_name(&name).is_some();
        if ours && !keep(&name) {
            names.push(name);
        }
    }
    // What was set aside goes back before anything is removed.
    names.sort();
    let mut done = Vec::new();
    for name in names {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let _held = match rustix::fs::openat(dir, &name, flags, Mode::empty()) {
            Ok(fd) if lock(&fd) => Some(fd),
            Ok(_) | Err(Errno::NOENT) => continue,
            Err(_) => None,
        };
        let Some(original) = old_name(&name) else {
            remove(dir, &name).map_err(error)?;
            done.push(Leftover::Removed(name));
            continue;
        };
        match rename_new(dir, &name, dir, original) {
            Ok(()) => done.push(Leftover::PutBack(original.to_owned())),
            Err(Errno::EXIST) => {
                let rubbish = fresh(STAGE_PREFIX, "".as_ref());
                rename_new(dir, &name, dir, &rubbish).map_err(error)?;
                remove(dir, &rubbish).map_err(error)?;
                done.push(Leftover::Removed(name));
            }
            Err(errno) => return Err(error(errno)),
        }
    }
    if !done.is_empty() {
        sync(dir).map_err(error)?;
    }
    Ok(done)
}

/// Removes an entry and all below it, whatever the names and modes; links are removed, not
/// followed. What is gone already is no error.
pub(super) fn remove(parent: impl AsFd, name: &OsStr) -> Result<(), Errno> {
    match rustix::fs::unlinkat(&parent, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        Err(Errno::ISDIR | Errno::PERM) => {}
        Err(errno) => return Err(errno),
    }
    let name = CString::new(name.as_bytes()).map_err(|_| Errno::INVAL)?;
    let mut stack = vec![Level::open(&parent, name)?];
    loop {
        let depth = stack.len();
        let Some(level) = stack.last_mut() else { return Ok(()) };
        let below = match level.todo.pop() {
            Some((name, false)) => {
                gone(rustix::fs::unlinkat(&level.fd, &name, AtFlags::empty()))?;
                continue;
            }
            Some((_, true)) if depth >= DEPTH => return Err(Errno::NAMETOOLONG),
            Some((name, true)) => Some(Level::open(&level.fd, name)?),
            None => None,
        };
        if let Some(below) = below {
            stack.push(below);
        } else if let Some(empty) = stack.pop() {
            let above = stack.last().map_or(parent.as_fd(), |above| above.fd.as_fd());
            gone(rustix::fs::unlinkat(above, &empty.name, AtFlags::REMOVEDIR))?;
        }
    }
}

fn gone(done: Result<(), Errno>) -> Result<(), Errno> {
    match done {
        Err(Errno::NOENT) => Ok(()),
        done => done,
    }
}

/// A directory on the way down, and what is left in it.
struct Level {
    name: CString,
    fd: OwnedFd,
    todo: Vec<(CString, bool)>,
}

impl Level {
    fn open(parent: impl AsFd, name: CString) -> Result<Self, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&parent, &name, flags, Mode::empty())?;
        let mode = rustix::fs::fstat(&fd)?.st_mode & 0o7777;
        if mode & 0o700 != 0o700 {
            // Somebody else's directory keeps its mode; then removing says why it cannot.
            let _ = rustix::fs::fchmod(&fd, Mode::from_raw_mode(mode | 0o700));
        }
        let mut todo = Vec::new();
        for entry in Dir::read_from(&fd)? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => rustix::fs::statat(&fd, name, AtFlags::SYMLINK_NOFOLLOW)
                    .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
                kind => kind,
            };
            todo.push((name.to_owned(), kind == FileType::Directory));
        }
        Ok(Self { name, fd, todo })
    }
}
