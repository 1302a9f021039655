//! Writing so that a reader, a crash or a full disk never sees half of it.
//!
//! What is written is *staged* under a name of its own, made durable, and then takes its [`Place`]
//! in one step of the file system: a file by a rename ([`StagedFile`]), a directory by exchanging
//! it with what stood there ([`StagedDir`]). Until that step the place is as it was; after it, it
//! is as it shall be. What a killed process leaves behind has a name of ours and is found and
//! removed, or put back, by [`clean`].
//!
//! Names: `.holdall-stage-…` is rubbish unless a living process holds its lock;
//! `.holdall-old-….NAME` is what stood at `NAME`, and goes back there if nothing else does.

mod copy;
mod dir;
mod file;
mod leftovers;

use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher as _, RandomState};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

pub use copy::{Copied, CopyOptions, Modes};
pub use dir::{StagedDir, Swapped, set_aside};
pub use file::{StagedFile, write_file};
pub use leftovers::{Leftover, clean};

use crate::directory::to_metadata;
use crate::{DirTree, FileKind, Metadata, TreeError, TreePath};

/// How names of stages begin: nothing that is meant to be kept is called so.
pub const STAGE_PREFIX: &str = ".holdall-stage-";
/// How names of what was set aside begin; 16 digits, a full stop and the old name follow.
const OLD: &str = ".holdall-old-";

/// Why something could not be staged or take its place. The place is as it was, unless the last
/// fsync of its directory failed, after the change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {what}", path.display())]
pub struct StageError {
    /// The kind of failure.
    pub kind: StageErrorKind,
    /// The place, as the caller named it.
    pub path: PathBuf,
    /// A lower-case fragment with the errno name where there is one.
    what: String,
}

/// Kinds of [`StageError`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StageErrorKind {
    /// ENOSPC or EDQUOT.
    NoSpace,
    /// EROFS.
    ReadOnly,
    /// EACCES or EPERM.
    PermissionDenied,
    /// ENOENT: the directory of the place does not exist.
    NotFound,
    /// EEXIST: something stands at the place, and it was not to be replaced.
    Exists,
    /// A file where a directory was to be replaced, or the other way round, or a link.
    WrongKind,
    /// EXDEV: the stage is on another file system than the place.
    CrossDevice,
    /// Reading what was to be copied failed, or it may not be copied.
    Source(TreeError),
    /// Everything else.
    Io,
}

impl StageErrorKind {
    /// The errno name of the kind.
    pub const fn errno(&self) -> &'static str {
        match self {
            Self::NoSpace => "ENOSPC",
            Self::ReadOnly => "EROFS",
            Self::PermissionDenied => "EACCES",
            Self::NotFound => "ENOENT",
            Self::Exists => "EEXIST",
            Self::WrongKind => "EINVAL",
            Self::CrossDevice => "EXDEV",
            Self::Source(error) => error.kind.errno(),
            Self::Io => "EIO",
        }
    }
}

impl StageError {
    /// The error of writing to a stage at `path`.
    pub fn from_io(path: &Path, error: &std::io::Error) -> Self {
        match Errno::from_io_error(error) {
            Some(errno) => Self::from_errno(path, errno),
            None => Self::new(StageErrorKind::Io, path, error.to_string()),
        }
    }

    /// What is wrong, with the errno name and without the path.
    pub fn told(&self) -> String {
        format!("{} ({})", self.what, self.kind.errno())
    }

    fn new(kind: StageErrorKind, path: &Path, what: impl Into<String>) -> Self {
        Self { kind, path: path.to_owned(), what: what.into() }
    }

    /// The error of a call that was to change `path`.
    fn from_errno(path: &Path, errno: Errno) -> Self {
        let (kind, what) = match errno {
            Errno::NOSPC => (StageErrorKind::NoSpace, "no space left on the device"),
            Errno::DQUOT => (StageErrorKind::NoSpace, "the disk quota is used up"),
            Errno::ROFS => (StageErrorKind::ReadOnly, "the file system is read-only"),
            Errno::ACCESS | Errno::PERM => {
                (StageErrorKind::PermissionDenied, "no permission to write there")
            }
            Errno::NOENT => (StageErrorKind::NotFound, "its directory does not exist"),
            Errno::EXIST => (StageErrorKind::Exists, "something stands there already"),
            Errno::ISDIR => (StageErrorKind::WrongKind, "a directory stands there"),
            Errno::NOTDIR => (StageErrorKind::WrongKind, "not below a directory"),
            Errno::XDEV => (StageErrorKind::CrossDevice, "the stage is on another file system"),
            errno => {
                let error = std::io::Error::from(errno);
                return Self::new(StageErrorKind::Io, path, error.to_string());
            }
        };
        Self::new(kind, path, what)
    }

    fn from_source(path: &Path, error: TreeError) -> Self {
        let what = format!("cannot copy {error}");
        Self::new(StageErrorKind::Source(error), path, what)
    }
}

/// Where something is going to stand: a directory that is held open, and a name in it.
#[derive(Debug)]
pub struct Place {
    dir: OwnedFd,
    name: OsString,
    path: PathBuf,
    /// Whether the file system is asked to exchange two entries. Tests turn it off; some network
    /// file systems cannot.
    exchange: bool,
}

impl Place {
    /// The place `path`. Its directory must exist; links on the way there are followed, since the
    /// caller named them.
    pub fn at(path: &Path) -> Result<Self, StageError> {
        let Some(Component::Normal(name)) = path.components().next_back() else {
            return Err(StageError::new(StageErrorKind::WrongKind, path, "names no entry"));
        };
        let dir = match path.parent() {
            Some(dir) if !dir.as_os_str().is_empty() => dir,
            _ => Path::new("."),
        };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::open(dir, flags, Mode::empty())
            .map_err(|errno| StageError::from_errno(path, errno))?;
        Ok(Self { dir: fd, name: name.to_owned(), path: path.to_owned(), exchange: true })
    }

    /// The place `path` inside a confined directory; no link on the way is followed.
    pub fn below(tree: &DirTree, path: &TreePath) -> Result<Self, StageError> {
        let shown = Path::new(path.as_str());
        let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(StageError::new(StageErrorKind::WrongKind, shown, "names no entry"));
        };
        let dir = tree.open_dir(&dir).map_err(|error| StageError::from_source(shown, error))?;
        Ok(Self { dir: dir.into_fd(), name: name.into(), path: shown.to_owned(), exchange: true })
    }

    /// Uses two renames instead of one exchange, as on a file system without it.
    #[doc(hidden)]
    #[must_use]
    pub fn without_exchange(mut self) -> Self {
        self.exchange = false;
        self
    }

    /// The path as the caller named it, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What stands at the place, links not followed; `None` if nothing does.
    pub fn metadata(&self) -> Result<Option<Metadata>, StageError> {
        match rustix::fs::statat(&self.dir, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(to_metadata(&stat))),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(self.error(errno)),
        }
    }

    /// Removes what killed processes left half-made in the directory of the place. What a living
    /// process works on stays, and so does what was set aside: a journal may still need it.
    pub fn sweep(&self) -> Result<Vec<Leftover>, StageError> {
        let dir = DirTree::from_fd(self.duplicate_dir()?);
        clean(&dir, &self.path, &|name| old_name(name).is_some())
    }

    /// Whether a file may take the place: nothing else than a file or a link stands there. A
    /// directory is refused, and a device, named pipe or socket, which a rename would destroy.
    pub fn takes_a_file(&self) -> Result<(), StageError> {
        let what = match self.metadata()?.map(|known| known.kind) {
            None | Some(FileKind::File | FileKind::Symlink) => return Ok(()),
            Some(FileKind::Directory) => return Err(self.error(Errno::ISDIR)),
            Some(FileKind::Other) => "a device, named pipe or socket stands there",
        };
        Err(StageError::new(StageErrorKind::WrongKind, &self.path, what))
    }

    fn error(&self, errno: Errno) -> StageError {
        StageError::from_errno(&self.path, errno)
    }

    /// Makes the entry of the place durable.
    fn sync(&self) -> Result<(), StageError> {
        sync(&self.dir).map_err(|errno| self.error(errno))
    }

    fn duplicate_dir(&self) -> Result<OwnedFd, StageError> {
        self.dir.try_clone().map_err(|error| StageError::from_io(&self.path, &error))
    }
}

/// fsync, where the file system knows it for directories.
fn sync(fd: impl AsFd) -> Result<(), Errno> {
    match rustix::fs::fsync(fd) {
        Err(Errno::INVAL | Errno::ROFS) => Ok(()),
        done => done,
    }
}

/// Takes the lock of a stage; `false` if a living process has it.
fn lock(fd: impl AsFd) -> bool {
    rustix::fs::flock(fd, FlockOperation::NonBlockingLockExclusive).is_ok()
}

/// Takes the lock of a stage just made under `name`; `false` if [`clean`] came in between and took
/// it for rubbish, so that another has to be made.
fn claim(dir: impl AsFd, name: &OsStr, stage: impl AsFd) -> bool {
    let same = || {
        let here = rustix::fs::fstat(&stage).ok()?;
        let named = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some((here.st_dev, here.st_ino) == (named.st_dev, named.st_ino))
    };
    // A file system without locks has no cleaner either that would take one.
    match rustix::fs::flock(&stage, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::AGAIN) => false,
        _ => same().unwrap_or(false),
    }
}

/// Renames without replacing, also where the file system has no such call for directories.
fn rename_new(from: impl AsFd, name: &OsStr, to: impl AsFd, new: &OsStr) -> Result<(), Errno> {
    match rustix::fs::renameat_with(&from, name, &to, new, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS) => {
            match rustix::fs::statat(&to, new, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(_) => Err(Errno::EXIST),
                Err(Errno::NOENT) => rustix::fs::renameat(&from, name, &to, new),
                Err(errno) => Err(errno),
            }
        }
        done => done,
    }
}

/// A name that nobody else uses.
fn fresh(prefix: &str, suffix: &OsStr) -> OsString {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let random = RandomState::new().hash_one((std::process::id(), count));
    let mut name = OsString::from(format!("{prefix}{random:016x}"));
    if !suffix.is_empty() {
        name.push(".");
        name.push(suffix);
    }
    name
}

/// The name that was set aside under `name`, if that is what it is.
fn old_name(name: &OsStr) -> Option<&OsStr> {
    let rest = name.as_bytes().strip_prefix(OLD.as_bytes())?;
    let (digits, rest) = rest.split_at_checked(16)?;
    let original = rest.strip_prefix(b".").filter(|original| !original.is_empty())?;
    digits.iter().all(u8::is_ascii_hexdigit).then(|| OsStr::from_bytes(original))
}
