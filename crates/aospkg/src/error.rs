//! Errors: which file, where in it, what is wrong, and the errno name a guest would see.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use holdall_diagnostics::{Code, Diagnostic};

use crate::bare::DecodeError;
use crate::codes;

/// The errno names the format's published readers use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "these are the names of errno(3)")]
pub enum Errno {
    EACCES,
    EEXIST,
    EINVAL,
    EIO,
    EISDIR,
    ELOOP,
    ENOENT,
    ENOMEM,
    ENOSPC,
    ENOTDIR,
    EOVERFLOW,
    EROFS,
    ESTALE,
    EXDEV,
}

impl Errno {
    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::EACCES => "EACCES",
            Self::EEXIST => "EEXIST",
            Self::EINVAL => "EINVAL",
            Self::EIO => "EIO",
            Self::EISDIR => "EISDIR",
            Self::ELOOP => "ELOOP",
            Self::ENOENT => "ENOENT",
            Self::ENOMEM => "ENOMEM",
            Self::ENOSPC => "ENOSPC",
            Self::ENOTDIR => "ENOTDIR",
            Self::EOVERFLOW => "EOVERFLOW",
            Self::EROFS => "EROFS",
            Self::ESTALE => "ESTALE",
            Self::EXDEV => "EXDEV",
        }
    }

    /// The number on this system, as FUSE wants it.
    pub const fn raw(self) -> i32 {
        use rustix::io::Errno as Raw;
        match self {
            Self::EACCES => Raw::ACCESS,
            Self::EEXIST => Raw::EXIST,
            Self::EINVAL => Raw::INVAL,
            Self::EIO => Raw::IO,
            Self::EISDIR => Raw::ISDIR,
            Self::ELOOP => Raw::LOOP,
            Self::ENOENT => Raw::NOENT,
            Self::ENOMEM => Raw::NOMEM,
            Self::ENOSPC => Raw::NOSPC,
            Self::ENOTDIR => Raw::NOTDIR,
            Self::EOVERFLOW => Raw::OVERFLOW,
            Self::EROFS => Raw::ROFS,
            Self::ESTALE => Raw::STALE,
            Self::EXDEV => Raw::XDEV,
        }
        .raw_os_error()
    }

    /// The errno of a failed call on the package file: itself where it has a name here, what is
    /// not permitted is EACCES, and everything else EIO.
    pub fn of_io(error: &io::Error) -> Self {
        const KNOWN: [Errno; 8] = [
            Errno::EEXIST,
            Errno::EINVAL,
            Errno::EISDIR,
            Errno::ELOOP,
            Errno::ENOMEM,
            Errno::ENOSPC,
            Errno::ENOTDIR,
            Errno::EROFS,
        ];
        let known = KNOWN.into_iter().find(|errno| error.raw_os_error() == Some(errno.raw()));
        known.unwrap_or_else(|| match error.kind() {
            io::ErrorKind::NotFound => Self::ENOENT,
            io::ErrorKind::PermissionDenied => Self::EACCES,
            io::ErrorKind::InvalidInput => Self::EINVAL,
            _ => Self::EIO,
        })
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a file cannot be read, verified or extracted as a package.
#[derive(Debug, Clone)]
pub struct PackageError(Box<Inner>);

#[derive(Debug, Clone)]
struct Inner {
    code: &'static Code,
    errno: Errno,
    file: Option<PathBuf>,
    offset: Option<u64>,
    detail: String,
    help: Option<Cow<'static, str>>,
}

impl PackageError {
    pub(crate) fn new(code: &'static Code, errno: Errno, detail: impl fmt::Display) -> Self {
        let detail = detail.to_string();
        Self(Box::new(Inner { code, errno, file: None, offset: None, detail, help: None }))
    }

    pub(crate) fn offset(mut self, offset: u64) -> Self {
        self.0.offset = Some(offset);
        self
    }

    pub(crate) fn file(mut self, file: &Path) -> Self {
        self.0.file.get_or_insert_with(|| file.to_owned());
        self
    }

    pub(crate) fn help(mut self, help: impl Into<Cow<'static, str>>) -> Self {
        self.0.help = Some(help.into());
        self
    }

    pub(crate) fn decode(code: &'static Code, chunk: &str, error: &DecodeError) -> Self {
        Self::new(code, Errno::EINVAL, format_args!("the {chunk} chunk: {}", error.what))
            .offset(error.offset)
    }

    pub(crate) fn io(what: &str, error: &io::Error) -> Self {
        let help = match error.kind() {
            io::ErrorKind::NotFound => Some("check the spelling of the path"),
            io::ErrorKind::PermissionDenied => Some("you may not read this file"),
            _ => None,
        };
        let made =
            Self::new(&codes::UNREADABLE, Errno::of_io(error), format_args!("{what}: {error}"));
        match help {
            Some(help) => made.help(help),
            None => made,
        }
    }

    /// The stable code, `AO01xx` or `AO02xx`.
    pub fn code(&self) -> &'static Code {
        self.0.code
    }

    /// The errno.
    pub fn errno(&self) -> Errno {
        self.0.errno
    }

    /// The package file, once known.
    pub fn path(&self) -> Option<&Path> {
        self.0.file.as_deref()
    }

    /// Where in the file, in bytes from 0.
    pub fn at(&self) -> Option<u64> {
        self.0.offset
    }

    /// The fragment without file, offset and errno.
    pub fn detail(&self) -> &str {
        &self.0.detail
    }

    /// The same as a finding: the file as its path, the offset in the message.
    pub fn diagnostic(&self) -> Diagnostic {
        let inner = &self.0;
        let at = inner.offset.map_or_else(String::new, |at| format!(" at byte {at}"));
        let message = format!("{}{at} ({})", inner.detail, inner.errno);
        let mut made = Diagnostic::new(inner.code, message);
        if let Some(file) = &inner.file {
            made = made.at(file.display().to_string());
        }
        match &inner.help {
            Some(help) => made.help(help.clone()),
            None => made,
        }
    }
}

impl fmt::Display for PackageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &self.0;
        if let Some(file) = &inner.file {
            write!(f, "{}: ", file.display())?;
        }
        f.write_str(&inner.detail)?;
        if let Some(at) = inner.offset {
            write!(f, " at byte {at}")?;
        }
        write!(f, " ({})", inner.errno)
    }
}

impl std::error::Error for PackageError {}
