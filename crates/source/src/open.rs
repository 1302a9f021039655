//! Opening what a [`Source`] names, as a tree.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use holdall_aospkg::TarFileSystem;
use holdall_aospkg::format::MAGIC;
use holdall_tree::{DirTree, SubTree, Tree, TreeError, TreePath};
use rustix::fs::{Mode, OFlags};

use crate::{Kind, OpenError, Source, detect};

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
    container: Option<Container>,
    subdir: TreePath,
}

/// The sealed file that a tree is read from.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Container {
    /// A package.
    Package(TarFileSystem),
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
    pub fn known_kind(&self) -> Result<Kind, OpenError> {
        self.kind.ok_or_else(|| OpenError::NothingKnown { path: self.shown(&TreePath::root()) })
    }

    /// The sealed file, if the source is one and not a directory inside it.
    pub fn container(&self) -> Option<&Container> {
        self.container.as_ref().filter(|_| self.subdir.is_root())
    }

    /// The package, if the source is one.
    pub fn package(&self) -> Option<&TarFileSystem> {
        match self.container()? {
            Container::Package(package) => Some(package),
        }
    }

    /// Whether the source is a sealed file, or inside one.
    pub const fn is_sealed(&self) -> bool {
        self.container.is_some()
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
    pub fn error(&self, error: TreeError) -> OpenError {
        OpenError::Tree { path: self.location.to_string(), error }
    }
}

/// Opens a source. Relative paths begin in `base`. Of the forms only paths are files here; what
/// stands behind an address has to be fetched first, by a part that may open connections.
pub fn open(source: &Source, base: &Path, options: &OpenOptions) -> Result<Opened, OpenError> {
    match source {
        Source::Path(path) => open_path(source, path, base, options),
        Source::Git(address) => {
            address.pinned()?;
            Err(OpenError::NotFetched { address: source.to_string() })
        }
        Source::Https(_) | Source::Npm(_) | Source::Ref(_) => {
            Err(OpenError::NotFetched { address: source.to_string() })
        }
    }
}

fn open_path(
    source: &Source,
    path: &Utf8Path,
    base: &Path,
    options: &OpenOptions,
) -> Result<Opened, OpenError> {
    let (whole, container): (Arc<dyn Tree>, _) = match Found::open(&base.join(path), path)? {
        Found::Directory(tree) => (Arc::new(tree), None),
        Found::Package(package) => (Arc::new(package.clone()), Some(Container::Package(package))),
    };
    let in_tree = |error| OpenError::Tree { path: path.to_string(), error };
    let tree: Arc<dyn Tree> = if options.subdir.is_root() {
        whole
    } else {
        Arc::new(SubTree::new(whole, options.subdir.clone()).map_err(in_tree)?)
    };
    let is_package = container.is_some() && options.subdir.is_root();
    let holds = |kind: Kind| match kind {
        Kind::Package if is_package => Ok(true),
        kind => kind.is_at_root(&tree).map_err(in_tree),
    };
    let found = || match detect(&tree).map_err(in_tree)? {
        None | Some(Kind::Package) if is_package => Ok::<_, OpenError>(Some(Kind::Package)),
        found => Ok(found),
    };
    let kind = match options.kind {
        None => found()?,
        Some(kind) if holds(kind)? => Some(kind),
        Some(kind) => {
            return Err(OpenError::WrongKind { path: path.to_string(), kind, found: found()? });
        }
    };
    Ok(Opened {
        source: source.clone(),
        location: path.to_owned(),
        tree,
        kind,
        container,
        subdir: options.subdir.clone(),
    })
}

/// What stands at a path.
enum Found {
    Directory(DirTree),
    Package(TarFileSystem),
}

impl Found {
    /// Opens a path, links in it followed because the caller named it. A FIFO or device is told
    /// apart before it is opened, and never waited for should it appear in between.
    fn open(path: &Path, shown: &Utf8Path) -> Result<Self, OpenError> {
        let metadata = std::fs::metadata(path).map_err(|error| cannot_open(shown, &error))?;
        if metadata.is_dir() {
            return DirTree::open(path).map(Self::Directory).map_err(|error| {
                OpenError::CannotOpen {
                    path: shown.to_string(),
                    errno: error.kind.errno(),
                    detail: "the directory cannot be opened".to_owned(),
                }
            });
        }
        let not_a_tree =
            |found: &str| OpenError::NotATree { path: shown.to_string(), found: found.to_owned() };
        if !metadata.is_file() {
            return Err(not_a_tree("a FIFO, device or socket"));
        }
        let flags = OFlags::CLOEXEC | OFlags::RDONLY | OFlags::NONBLOCK;
        let mut head = [0; 512];
        let read = rustix::fs::open(path, flags, Mode::empty())
            .map_err(std::io::Error::from)
            .and_then(|file| File::from(file).read(&mut head))
            .map_err(|error| cannot_open(shown, &error))?;
        let head = &head[..read];
        if head.starts_with(&MAGIC) {
            return TarFileSystem::open(path)
                .map(Self::Package)
                .map_err(|error| OpenError::Package { path: shown.to_string(), error });
        }
        Err(not_a_tree(looks_like(head)))
    }
}

fn cannot_open(path: &Utf8Path, error: &std::io::Error) -> OpenError {
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
    OpenError::CannotOpen { path: path.to_string(), errno, detail }
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
