//! Trees: anything whose files can be read by path.
//!
//! A directory, a package, a bundle and a map in memory all answer the same few questions
//! through [`Tree`], so that every reader works on a plain directory and inside a sealed file
//! alike. Paths are [`TreePath`]s: relative, normalised, UTF-8. No operation follows a link but
//! [`Tree::resolve`], and that one stays inside the tree.

mod digest;
mod directory;
mod hash;
mod memory;
mod path;
pub mod portable;
pub mod stage;
mod sub;
mod walk;

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

pub use digest::{Algorithm, Digest, DigestError};
pub use directory::DirTree;
pub use hash::{HashOptions, RowKind, TreeHasher, sha256_file, tree_hash};
pub use memory::MemTree;
pub use path::{PathError, TreePath};
pub use sub::SubTree;
pub use walk::{Limits, Walk, WalkEntry, walk};

/// Links followed by [`Tree::resolve`] before it gives up, as in the seed's file system.
pub const MAX_LINKS: usize = 40;

/// What an entry of a tree is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A device, fifo or socket: never read.
    Other,
}

/// What is known of an entry without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metadata {
    /// File, directory, link or neither.
    pub kind: FileKind,
    /// Bytes of a file, of a link's target; 0 for a directory.
    pub size: u64,
    /// Permission bits, `0o7777` at most.
    pub mode: u32,
    /// Modification time in Unix seconds.
    pub mtime: i64,
}

impl Metadata {
    /// Whether any execute bit of a regular file is set.
    pub const fn executable(&self) -> bool {
        matches!(self.kind, FileKind::File) && self.mode & 0o111 != 0
    }
}

/// Whose an entry is, and which file behind its name; only where a tree knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Owner {
    /// User.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Names the file has.
    pub links: u64,
    /// Device and inode: two names with the same are one file.
    pub inode: Option<(u64, u64)>,
}

/// A name as it stands in a directory; only UTF-8 ones can be part of a [`TreePath`]. Names sort
/// by their bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryName {
    /// A usable name.
    Utf8(String),
    /// Bytes that are not UTF-8, kept so that a validator can report them.
    Bytes(Vec<u8>),
}

impl EntryName {
    /// Takes the bytes of a name.
    pub fn new(bytes: Vec<u8>) -> Self {
        String::from_utf8(bytes).map_or_else(|e| Self::Bytes(e.into_bytes()), Self::Utf8)
    }

    /// The bytes of the name.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Utf8(name) => name.as_bytes(),
            Self::Bytes(name) => name,
        }
    }
}

impl Ord for EntryName {
    fn cmp(&self, other: &Self) -> Ordering {
        let is_text = |name: &Self| matches!(name, Self::Utf8(_));
        self.as_bytes().cmp(other.as_bytes()).then(is_text(other).cmp(&is_text(self)))
    }
}

impl PartialOrd for EntryName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// One row of [`Tree::read_dir`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DirEntry {
    /// The name.
    pub name: EntryName,
    /// What it is, links not followed.
    pub kind: FileKind,
}

/// Why a tree could not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TreeErrorKind {
    /// ENOENT
    NotFound,
    /// ENOTDIR: a directory was wanted, or a component of the path is none.
    NotADirectory,
    /// EISDIR: a file was wanted.
    IsADirectory,
    /// EINVAL: a regular file or a link was wanted, and it is something else.
    WrongKind,
    /// ELOOP: more than [`MAX_LINKS`] links.
    TooManyLinks,
    /// EXDEV: a link leads out of the tree.
    Escapes,
    /// EACCES or EPERM
    PermissionDenied,
    /// EFBIG: more bytes than the caller allowed.
    TooLarge,
    /// EILSEQ: a name or a link's target is not UTF-8.
    NotUtf8,
    /// ESTALE: the file changed or shrank while it was read.
    Changed,
    /// EIO and everything else.
    Io,
}

impl TreeErrorKind {
    /// The errno name of the kind.
    pub const fn errno(self) -> &'static str {
        match self {
            Self::NotFound => "ENOENT",
            Self::NotADirectory => "ENOTDIR",
            Self::IsADirectory => "EISDIR",
            Self::WrongKind => "EINVAL",
            Self::TooManyLinks => "ELOOP",
            Self::Escapes => "EXDEV",
            Self::PermissionDenied => "EACCES",
            Self::TooLarge => "EFBIG",
            Self::NotUtf8 => "EILSEQ",
            Self::Changed => "ESTALE",
            Self::Io => "EIO",
        }
    }
}

/// A failed question to a tree: which path, what kind of failure, in which words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct TreeError {
    /// The kind, with its errno name.
    pub kind: TreeErrorKind,
    /// The path asked for.
    pub path: TreePath,
    /// A lower-case fragment that names the path.
    pub detail: String,
}

impl TreeError {
    /// An error about `path`.
    pub fn new(kind: TreeErrorKind, path: &TreePath, what: impl fmt::Display) -> Self {
        let shown = if path.is_root() { "/" } else { path.as_str() };
        Self { kind, path: path.clone(), detail: format!("{shown}: {what} ({})", kind.errno()) }
    }

    /// The error of an operating system call on `path`.
    pub fn from_io(path: &TreePath, error: &std::io::Error) -> Self {
        use std::io::ErrorKind;
        let kind = match error.kind() {
            ErrorKind::NotFound => TreeErrorKind::NotFound,
            ErrorKind::NotADirectory => TreeErrorKind::NotADirectory,
            ErrorKind::IsADirectory => TreeErrorKind::IsADirectory,
            ErrorKind::PermissionDenied => TreeErrorKind::PermissionDenied,
            ErrorKind::UnexpectedEof => TreeErrorKind::Changed,
            _ if error.raw_os_error() == Some(40) => TreeErrorKind::TooManyLinks,
            _ => TreeErrorKind::Io,
        };
        Self::new(kind, path, error)
    }
}

/// A file that was opened once: what it is read from stays the same file under every rename.
pub trait TreeFile: Send + Sync + fmt::Debug {
    /// Length in bytes at the time of opening.
    fn len(&self) -> u64;

    /// Whether the file was empty when it was opened.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Permission bits at the time of opening, `0o7777` at most, if they came with the opening;
    /// else [`Tree::metadata`] knows them.
    fn mode(&self) -> Option<u32> {
        None
    }

    /// Reads at most `buf.len()` bytes at `offset`; 0 only at the end. Fewer bytes before the
    /// length of opening are [`TreeErrorKind::Changed`].
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<usize, TreeError>;

    /// Whether length or modification time differ from the time of opening.
    fn changed(&self) -> Result<bool, TreeError>;
}

/// Anything with files that can be read by path.
pub trait Tree: Send + Sync + fmt::Debug {
    /// What the entry is; links are not followed.
    fn metadata(&self, path: &TreePath) -> Result<Metadata, TreeError>;

    /// Whose the entry is; `None` in trees without owners. Links are not followed.
    fn owner(&self, path: &TreePath) -> Result<Option<Owner>, TreeError> {
        self.metadata(path).map(|_| None)
    }

    /// Opens a regular file; a link is [`TreeErrorKind::WrongKind`].
    fn open(&self, path: &TreePath) -> Result<Box<dyn TreeFile>, TreeError>;

    /// The entries of a directory sorted by name bytes, without `.` and `..`.
    fn read_dir(&self, path: &TreePath) -> Result<Vec<DirEntry>, TreeError>;

    /// A link's target, verbatim.
    fn read_link(&self, path: &TreePath) -> Result<String, TreeError>;

    /// A whole file of at most `limit` bytes, else [`TreeErrorKind::TooLarge`].
    fn read(&self, path: &TreePath, limit: u64) -> Result<Vec<u8>, TreeError> {
        let file = self.open(path)?;
        if file.len() > limit {
            let what = format!("{} bytes are more than the limit of {limit}", file.len());
            return Err(TreeError::new(TreeErrorKind::TooLarge, path, what));
        }
        read_file_range(path, file.as_ref(), 0, file.len())
    }

    /// `len` bytes of a file from `offset`, fewer only at its end.
    fn read_range(&self, path: &TreePath, offset: u64, len: u64) -> Result<Vec<u8>, TreeError> {
        read_file_range(path, self.open(path)?.as_ref(), offset, len)
    }

    /// Follows every link of `path`, inside the tree only, [`MAX_LINKS`] at most. An absolute
    /// target or one that climbs above the root is [`TreeErrorKind::Escapes`].
    fn resolve(&self, path: &TreePath) -> Result<TreePath, TreeError> {
        path::resolve(self, path)
    }

    /// Whether something is there, links not followed.
    fn exists(&self, path: &TreePath) -> bool {
        self.metadata(path).is_ok()
    }
}

/// What points to a tree is that tree.
macro_rules! tree_behind {
    ($($pointer:ty),*) => {$(
        impl<T: Tree + ?Sized> Tree for $pointer {
            fn metadata(&self, path: &TreePath) -> Result<Metadata, TreeError> {
                (**self).metadata(path)
            }

            fn owner(&self, path: &TreePath) -> Result<Option<Owner>, TreeError> {
                (**self).owner(path)
            }

            fn open(&self, path: &TreePath) -> Result<Box<dyn TreeFile>, TreeError> {
                (**self).open(path)
            }

            fn read_dir(&self, path: &TreePath) -> Result<Vec<DirEntry>, TreeError> {
                (**self).read_dir(path)
            }

            fn read_link(&self, path: &TreePath) -> Result<String, TreeError> {
                (**self).read_link(path)
            }

            fn read(&self, path: &TreePath, limit: u64) -> Result<Vec<u8>, TreeError> {
                (**self).read(path, limit)
            }

            fn read_range(
                &self,
                path: &TreePath,
                offset: u64,
                len: u64,
            ) -> Result<Vec<u8>, TreeError> {
                (**self).read_range(path, offset, len)
            }

            fn resolve(&self, path: &TreePath) -> Result<TreePath, TreeError> {
                (**self).resolve(path)
            }

            fn exists(&self, path: &TreePath) -> bool {
                (**self).exists(path)
            }
        }
    )*};
}

tree_behind!(&T, Box<T>, Arc<T>);

fn read_file_range(
    path: &TreePath,
    file: &dyn TreeFile,
    offset: u64,
    len: u64,
) -> Result<Vec<u8>, TreeError> {
    let len = len.min(file.len().saturating_sub(offset));
    let len = usize::try_from(len)
        .map_err(|_| TreeError::new(TreeErrorKind::TooLarge, path, "does not fit into memory"))?;
    let mut buf = vec![0; len];
    let mut at = 0;
    while at < len {
        match file.read_at(&mut buf[at..], offset + at as u64)? {
            0 => return Err(TreeError::new(TreeErrorKind::Changed, path, "shrank while read")),
            n => at += n,
        }
    }
    Ok(buf)
}
