//! A package as a read-only file system: [`ReadFs`], the node interface that a mount speaks, and
//! [`TarFileSystem`], which answers it and path questions from an open package.
//!
//! Files are never copied out: a read is one positioned read of the package file, straight into
//! the caller's buffer, and [`TarFileSystem::file_range`] names the range for those who want no
//! copy at all.

mod nodes;
mod resolve;
mod set;
mod tree;

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::sync::Arc;

use crate::codes;
use crate::error::{Errno, PackageError};
use crate::file::read_range;
use crate::format::EntryKind;
use crate::model::TarEntry;
use crate::package::Package;

pub use nodes::{DirRow, ReadFs};
pub(crate) use resolve::normalise;
pub use set::PackageSet;

/// Links followed in one path before ELOOP.
pub const MAX_LINKS: usize = 40;

/// Why an operation on a path failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {what} ({errno})")]
pub struct FsError {
    /// The errno.
    pub errno: Errno,
    /// The path asked for.
    pub path: String,
    /// A lower-case fragment.
    pub what: Cow<'static, str>,
}

impl FsError {
    pub(crate) fn new(errno: Errno, path: &str, what: impl Into<Cow<'static, str>>) -> Self {
        Self { errno, path: path.to_owned(), what: what.into() }
    }

    fn of(error: &PackageError, path: &str) -> Self {
        Self::new(error.errno(), path, error.to_string())
    }

    /// The same as an error of the package file, with the code AO0119.
    pub fn in_package(&self, package: &Package) -> PackageError {
        let detail = format_args!("{}: {}", self.path, self.what);
        PackageError::new(&codes::IN_PACKAGE, self.errno, detail)
            .file(package.path())
            .help("`holdall ls --recursive` shows every path of the package")
    }
}

/// What stat says of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// What the entry is; its mode may say otherwise.
    pub kind: EntryKind,
    /// Type and permission bits as they stand in the index.
    pub mode: u32,
    /// Bytes of a file, 4096 for a directory, bytes of a link's target.
    pub size: u64,
    /// Position in the index, from 1.
    pub ino: u64,
    /// Nonzero, the same for all entries of a package file.
    pub dev: u64,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Access, modification, change and birth time: milliseconds since 1970.
    pub mtime_ms: u64,
}

impl Stat {
    /// 512-byte blocks, rounded up.
    pub const fn blocks(&self) -> u64 {
        self.size.div_ceil(512)
    }

    /// Always 1: nothing counts links or subdirectories.
    pub const fn nlink(&self) -> u64 {
        1
    }

    /// Always 0: there are no devices.
    pub const fn rdev(&self) -> u64 {
        0
    }

    /// Whether it is a directory.
    pub const fn is_directory(&self) -> bool {
        matches!(self.kind, EntryKind::Directory)
    }

    /// Whether it is a link.
    pub const fn is_symbolic_link(&self) -> bool {
        matches!(self.kind, EntryKind::Symlink)
    }
}

/// A name in a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DirName<'a> {
    /// The name.
    pub name: &'a str,
    /// What it is, links not followed.
    pub kind: EntryKind,
}

/// A change that somebody wants to make. Every one is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names of the operations")]
pub enum Change {
    Write,
    Create,
    Append,
    Mkdir,
    Mknod,
    Unlink,
    Rmdir,
    Rename,
    Link,
    Symlink,
    Chmod,
    Chown,
    Utimes,
    Truncate,
    SetXattr,
    RemoveXattr,
}

impl Change {
    /// Every change there is.
    pub const ALL: [Self; 16] = [
        Self::Write,
        Self::Create,
        Self::Append,
        Self::Mkdir,
        Self::Mknod,
        Self::Unlink,
        Self::Rmdir,
        Self::Rename,
        Self::Link,
        Self::Symlink,
        Self::Chmod,
        Self::Chown,
        Self::Utimes,
        Self::Truncate,
        Self::SetXattr,
        Self::RemoveXattr,
    ];
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format!("{self:?}").to_lowercase())
    }
}

/// A file's bytes in the package file, for users who want no copy.
#[derive(Debug, Clone)]
pub struct FileRange {
    package: Arc<Package>,
    offset: u64,
    len: u64,
}

impl FileRange {
    /// The package file.
    pub fn file(&self) -> &File {
        self.package.file()
    }

    /// Where the bytes begin in it.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// How many there are.
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl AsFd for FileRange {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file().as_fd()
    }
}

/// A package, or one directory of it, as a read-only file system.
///
/// Cheap to clone and shared between threads; all clones use one index and one descriptor.
#[derive(Debug, Clone)]
pub struct TarFileSystem {
    package: Arc<Package>,
    /// Position of the directory that is `/` here.
    root: usize,
    /// Its path in the package.
    root_path: Arc<str>,
}

impl TarFileSystem {
    /// Opens a package file at its root. To share open packages, use a [`PackageSet`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, PackageError> {
        Self::new(Arc::new(Package::open(path)?), "/")
    }

    /// Serves the directory `root` of an open package. The path is taken as it stands: one that
    /// is absent is ENOENT, one that is no directory, a link to a directory included, ENOTDIR.
    pub fn new(package: Arc<Package>, root: &str) -> Result<Self, PackageError> {
        let root_path = resolve::normalise(root);
        let fail = |errno, what: &str| {
            let detail = format_args!("`{root_path}` {what}");
            Err(PackageError::new(&codes::ROOT, errno, detail).file(package.path()))
        };
        let Some(root) = package.index().find_once(&root_path) else {
            return fail(Errno::ENOENT, "is not in the package");
        };
        if package.index().entry(root).kind != EntryKind::Directory {
            return fail(Errno::ENOTDIR, "is not a directory");
        }
        Ok(Self { package, root, root_path: root_path.into() })
    }

    /// The package behind it.
    pub const fn package(&self) -> &Arc<Package> {
        &self.package
    }

    /// The path in the package of the directory that is `/` here.
    pub fn root_path(&self) -> &str {
        &self.root_path
    }

    fn entry(&self, index: usize) -> TarEntry<'_> {
        self.package.index().entry(index)
    }

    fn stat_of(&self, index: usize) -> Stat {
        let entry = self.entry(index);
        let size = match entry.kind {
            EntryKind::File => entry.size,
            EntryKind::Directory => 4096,
            EntryKind::Symlink => entry.link_target.unwrap_or_default().len() as u64,
        };
        Stat {
            kind: entry.kind,
            mode: entry.mode,
            size,
            ino: index as u64 + 1,
            dev: self.package.identity().guest_device(),
            uid: entry.uid,
            gid: entry.gid,
            mtime_ms: entry.mtime.unsigned_abs().saturating_mul(1000),
        }
    }

    /// What is at `path`, its last link followed.
    pub fn stat(&self, path: &str) -> Result<Stat, FsError> {
        Ok(self.stat_of(self.resolve(path, true)?))
    }

    /// What is at `path`, its last link not followed.
    pub fn lstat(&self, path: &str) -> Result<Stat, FsError> {
        Ok(self.stat_of(self.resolve(path, false)?))
    }

    /// Whether something is there once all links are followed. Any error is a no.
    pub fn exists(&self, path: &str) -> bool {
        self.resolve(path, true).is_ok()
    }

    /// A link's target, verbatim. EINVAL for what is no link.
    pub fn read_link(&self, path: &str) -> Result<&str, FsError> {
        let entry = self.entry(self.resolve(path, false)?);
        match entry.link_target.filter(|_| entry.kind == EntryKind::Symlink) {
            Some(target) => Ok(target),
            None => Err(FsError::new(Errno::EINVAL, path, "not a link")),
        }
    }

    /// The path all links lead to, from this file system's root.
    pub fn realpath(&self, path: &str) -> Result<String, FsError> {
        let found = self.entry(self.resolve(path, true)?).path;
        let below = if &*self.root_path == "/" { found } else { &found[self.root_path.len()..] };
        Ok(if below.is_empty() { "/".to_owned() } else { below.to_owned() })
    }

    /// The names in a directory, sorted by their bytes, without `.` and `..`.
    pub fn read_dir(&self, path: &str) -> Result<impl Iterator<Item = DirName<'_>>, FsError> {
        let index = self.resolve(path, true)?;
        if self.entry(index).kind != EntryKind::Directory {
            return Err(FsError::new(Errno::ENOTDIR, path, "not a directory"));
        }
        let children = self.package.index().children(index, 0);
        Ok(children.map(|child| DirName { name: child.name, kind: child.kind }))
    }

    /// All bytes of a file.
    pub fn read_file(&self, path: &str) -> Result<Vec<u8>, FsError> {
        let range = self.file_range(path)?;
        self.check_unchanged(path)?;
        read_range(range.file(), range.offset..range.offset + range.len)
            .map_err(|error| FsError::of(&error, path))
    }

    /// Reads bytes of a file from `offset` into `buf`: as many as fit, fewer only at the file's
    /// end, none behind it.
    pub fn pread(&self, path: &str, offset: u64, buf: &mut [u8]) -> Result<usize, FsError> {
        let range = self.file_range(path)?;
        if offset >= range.len {
            return Ok(0);
        }
        self.check_unchanged(path)?;
        let mut at = 0;
        while at < buf.len() {
            match self.read_range(&range, path, offset + at as u64, &mut buf[at..])? {
                0 => break,
                read => at += read,
            }
        }
        Ok(at)
    }

    /// Where a file's bytes are. EISDIR for a directory.
    pub fn file_range(&self, path: &str) -> Result<FileRange, FsError> {
        let index = self.resolve(path, true)?;
        self.range_of(index).map_err(|errno| {
            let what = if errno == Errno::EISDIR {
                "a directory, not a file"
            } else {
                "not a regular file"
            };
            FsError::new(errno, path, what)
        })
    }

    fn range_of(&self, index: usize) -> Result<FileRange, Errno> {
        let entry = self.entry(index);
        match entry.kind {
            EntryKind::File => Ok(FileRange {
                package: Arc::clone(&self.package),
                offset: self.package.header().mount_range().start + entry.offset,
                len: entry.size,
            }),
            EntryKind::Directory => Err(Errno::EISDIR),
            EntryKind::Symlink => Err(Errno::EINVAL),
        }
    }

    fn read_range(
        &self,
        range: &FileRange,
        path: &str,
        offset: u64,
        buf: &mut [u8],
    ) -> Result<usize, FsError> {
        let bytes = range.offset..range.offset + range.len;
        self.package.read_in(bytes, buf, offset).map_err(|error| FsError::of(&error, path))
    }

    fn check_unchanged(&self, path: &str) -> Result<(), FsError> {
        self.package.check_unchanged().map_err(|error| FsError::of(&error, path))
    }

    /// Refuses a change with EROFS, without looking whether the path exists.
    pub fn change(&self, change: Change, path: &str) -> Result<std::convert::Infallible, FsError> {
        Err(FsError::new(Errno::EROFS, path, format!("read-only file system, {change}")))
    }
}
