//! Opening what a [`Source`] names, as a tree.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use holdall_tree::{DirTree, SubTree, Tree, TreeError, TreePath};
use rustix::fs::{Mode, OFlags};

use crate::{Kind, Source, SourceError, detect};

/// What narrows a source down.
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    /// What it has to be, instead of what it looks like.
    pub kind: Option<Kind>,
    /// The directory inside to take for the source.
    pub subdir: TreePath,
}

/// A source that was opened.
#[derive(Debug, Clone)]
pub struct Opened {
    source: Source,
    location: Utf8PathBuf,
    tree: Arc<dyn Tree>,
    kind: Option<Kind>,
    subdir: TreePath,
}

impl Opened {
    /// The source as typed.
    pub const fn source(&self) -> &Source {
        &self.source
    }

    /// The directory or file that was opened, relative only if the source was.
    pub fn location(&self) -> &Utf8Path {
        &self.location
    }

    /// The tree, `--subdir` applied.
    pub fn tree(&self) -> &Arc<dyn Tree> {
        &self.tree
    }

    /// What it is; `None` if nothing known is at the root.
    pub const fn kind(&self) -> Option<Kind> {
        self.kind
    }

    /// What it is, for commands that have to know.
    pub fn known_kind(&self) -> Result<Kind, SourceError> {
        self.kind.ok_or_else(|| SourceError::NothingKnown { path: self.shown(&TreePath::root()) })
    }

    /// A path in the tree as diagnostics show it: below the source as typed.
    pub fn shown(&self, path: &TreePath) -> String {
        let inside = self.subdir.join(path);
        let base = self.location.as_str();
        match (inside.is_root(), base) {
            (true, _) => base.to_owned(),
            (false, ".") => inside.to_string(),
            (false, _) => {
                let base = base.strip_prefix("./").unwrap_or(base).trim_end_matches('/');
                if base.is_empty() { inside.to_string() } else { format!("{base}/{inside}") }
            }
        }
    }

    /// The error of a question to the tree.
    pub fn error(&self, error: TreeError) -> SourceError {
        SourceError::Tree { path: self.location.to_string(), error }
    }
}

/// Opens a source. Relative paths begin in `base`. Of the forms only paths are files here; what
/// stands behind an address has to be fetched first, by a part that may open connections.
pub fn open(source: &Source, base: &Path, options: &OpenOptions) -> Result<Opened, SourceError> {
    match source {
        Source::Path(path) => open_path(source, path, base, options),
        Source::Git(address) => {
            address.pinned()?;
            Err(SourceError::NotFetched { address: source.to_string() })
        }
        Source::Https(_) | Source::Npm(_) | Source::Ref(_) => {
            Err(SourceError::NotFetched { address: source.to_string() })
        }
    }
}

fn open_path(
    source: &Source,
    path: &Utf8Path,
    base: &Path,
    options: &OpenOptions,
) -> Result<Opened, SourceError> {
    let found = Found::open(&base.join(path), path)?;
    let whole: Arc<dyn Tree> = match found {
        Found::Directory(tree) => Arc::new(tree),
        Found::File { mut file, .. } => {
            let mut head = [0; 512];
            let read = file.read(&mut head).map_err(|error| cannot_open(path, &error))?;
            return Err(SourceError::NotATree {
                path: path.to_string(),
                found: looks_like(&head[..read]).to_owned(),
            });
        }
    };
    let in_tree = |error| SourceError::Tree { path: path.to_string(), error };
    let tree: Arc<dyn Tree> = if options.subdir.is_root() {
        whole
    } else {
        Arc::new(SubTree::new(whole, options.subdir.clone()).map_err(in_tree)?)
    };
    let kind = match options.kind {
        None => detect(&tree).map_err(in_tree)?,
        Some(kind) if kind.is_at_root(&tree).map_err(in_tree)? => Some(kind),
        Some(kind) => {
            let found = detect(&tree).map_err(in_tree)?;
            return Err(SourceError::WrongKind { path: path.to_string(), kind, found });
        }
    };
    Ok(Opened {
        source: source.clone(),
        location: path.to_owned(),
        tree,
        kind,
        subdir: options.subdir.clone(),
    })
}

/// What stands at a path.
enum Found {
    Directory(DirTree),
    File { file: File },
}

impl Found {
    /// Opens a path, links in it followed because the caller named it. A FIFO or device is told
    /// apart before it is opened, and never waited for should it appear in between.
    fn open(path: &Path, shown: &Utf8Path) -> Result<Self, SourceError> {
        let metadata = std::fs::metadata(path).map_err(|error| cannot_open(shown, &error))?;
        if metadata.is_dir() {
            return DirTree::open(path).map(Self::Directory).map_err(|error| {
                SourceError::CannotOpen {
                    path: shown.to_string(),
                    errno: error.kind.errno(),
                    detail: "the directory cannot be opened".to_owned(),
                }
            });
        }
        if metadata.is_file() {
            let flags = OFlags::CLOEXEC | OFlags::RDONLY | OFlags::NONBLOCK;
            let file = rustix::fs::open(path, flags, Mode::empty())
                .map(File::from)
                .map_err(|error| cannot_open(shown, &error.into()))?;
            if file.metadata().map_err(|error| cannot_open(shown, &error))?.is_file() {
                return Ok(Self::File { file });
            }
        }
        let found = "a FIFO, device or socket".to_owned();
        Err(SourceError::NotATree { path: shown.to_string(), found })
    }
}

fn cannot_open(path: &Utf8Path, error: &std::io::Error) -> SourceError {
    use std::io::ErrorKind;
    let (errno, detail) = match error.kind() {
        ErrorKind::NotFound => ("ENOENT", "no such file or directory".to_owned()),
        ErrorKind::PermissionDenied => ("EACCES", "permission denied".to_owned()),
        ErrorKind::NotADirectory => ("ENOTDIR", "a part of the path is not a directory".to_owned()),
        ErrorKind::IsADirectory => ("EISDIR", "a directory".to_owned()),
        ErrorKind::InvalidFilename => ("ENAMETOOLONG", "the path is too long".to_owned()),
        _ if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            ("ELOOP", "too many links".to_owned())
        }
        _ => ("EIO", error.to_string()),
    };
    SourceError::CannotOpen { path: path.to_string(), errno, detail }
}

/// What the first bytes of a file look like, for an error that helps.
fn looks_like(head: &[u8]) -> &'static str {
    match head {
        [] => "an empty file",
        [b'P', b'K', 3 | 5 | 7, ..] => "a zip archive",
        [0x1f, 0x8b, ..] => "a gzip stream",
        [0x28, 0xb5, 0x2f, 0xfd, ..] => "a zstd stream",
        [0xfd, b'7', b'z', b'X', b'Z', ..] => "an xz stream",
        [0x7f, b'E', b'L', b'F', ..] => "an ELF binary",
        [0, b'a', b's', b'm', ..] => "a WebAssembly module",
        _ if head.get(257..262) == Some(b"ustar") => "a tar archive",
        _ if std::str::from_utf8(head).is_ok_and(|text| !text.contains('\0')) => "a text file",
        _ => "a file of an unknown format",
    }
}
