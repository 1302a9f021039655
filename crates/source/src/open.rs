//! Opening what a [`Source`] names, as a tree.
//!
//! A path is opened where it is. An address is fetched into the store's cache first, by a
//! [`Fetcher`]; the [`Origin`] of the opened source then says which bytes they are.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use holdall_aospkg::TarFileSystem;
use holdall_aospkg::format::MAGIC;
use holdall_pack::{BUNDLE_SUFFIX, Bundle, BundleLimits};
use holdall_store::fetch::{Fetched, Fetcher, Pin};
use holdall_tree::{Digest, DirTree, SubTree, Tree, TreeError, TreePath};
use rustix::fs::{Mode, OFlags};

use crate::{Kind, OpenError, Source, detect};

/// What narrows a source down.
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    /// What it has to be, instead of what it looks like.
    pub kind: Option<Kind>,
    /// The directory inside to take for the source.
    pub subdir: TreePath,
    /// The branch or tag that a repository's address without a pin stands for; with it such an
    /// address is read, and is an error unless an app is found there.
    pub follow: Option<String>,
    /// The digest that the file behind an https address has to have.
    pub sha256: Option<Digest>,
}

/// A source that was opened.
#[derive(Debug, Clone)]
pub struct Opened {
    source: Source,
    location: Utf8PathBuf,
    file: PathBuf,
    origin: Origin,
    tree: Arc<dyn Tree>,
    kind: Option<Kind>,
    container: Option<Container>,
    subdir: TreePath,
}

/// Where a source came from, and which bytes they are in the words of that place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A path on this machine.
    Path,
    /// A commit of a repository.
    Git {
        /// The address, without `git+`.
        url: String,
        /// The 40 lower-case hexadecimal digits.
        commit: String,
        /// The branch or tag that was followed there; none for a pinned address.
        reference: Option<String>,
    },
    /// A file behind an https address.
    Https {
        /// The address.
        address: String,
        /// The SHA-256 of the file.
        sha256: Digest,
    },
    /// A version of an npm package.
    Npm {
        /// The name with its scope.
        name: String,
        /// The exact version.
        version: String,
        /// The registry's digest of the tarball, in the form of Subresource Integrity.
        integrity: String,
    },
}

impl Origin {
    /// The address without its pin, by which a newer version comes from the same origin; none
    /// for a path.
    pub fn address(&self) -> Option<String> {
        match self {
            Self::Path => None,
            Self::Git { url, .. } => Some(format!("git+{url}")),
            Self::Https { address, .. } => {
                Some(address.split('#').next().unwrap_or_default().to_owned())
            }
            Self::Npm { name, .. } => Some(format!("npm:{name}")),
        }
    }
}

/// The sealed file that a tree is read from.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Container {
    /// A package.
    Package(TarFileSystem),
    /// The bundle of an app.
    Bundle(Bundle),
}

impl Opened {
    /// The source as typed.
    pub const fn source(&self) -> &Source {
        &self.source
    }

    /// What to call it: the path as typed, relative only if the source was, or the address.
    pub fn location(&self) -> &Utf8Path {
        &self.location
    }

    /// The directory or file on this machine, in the cache if it was fetched.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Where it came from.
    pub const fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Whether it was fetched and is no path of the user's.
    pub const fn is_fetched(&self) -> bool {
        !matches!(self.origin, Origin::Path)
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
            Container::Bundle(_) => None,
        }
    }

    /// The bundle of an app, if the source is one.
    pub fn bundle(&self) -> Option<&Bundle> {
        match self.container()? {
            Container::Bundle(bundle) => Some(bundle),
            Container::Package(_) => None,
        }
    }

    /// Whether the source is a sealed file, or inside one.
    pub const fn is_sealed(&self) -> bool {
        self.container.is_some()
    }

    /// The directory inside that was taken for the source; the root if none was.
    pub const fn subdir(&self) -> &TreePath {
        &self.subdir
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

/// Opens a source. Relative paths begin in `base`. What stands behind an address comes through
/// `fetcher`; without one it is [`OpenError::NotFetched`].
pub fn open(
    source: &Source,
    base: &Path,
    options: &OpenOptions,
    fetcher: Option<&Fetcher>,
) -> Result<Opened, OpenError> {
    let fetcher = || fetcher.ok_or_else(|| OpenError::NotFetched { address: source.to_string() });
    match source {
        Source::Path(path) => open_file(source, path, base.join(path), Origin::Path, options),
        Source::Git(address) => {
            let commit = match (&options.follow, address.commit()) {
                (Some(reference), None) => fetcher()?.git_ref(address.url(), reference)?,
                _ => address.pinned()?.to_owned(),
            };
            let reference = options.follow.clone().filter(|_| address.commit().is_none());
            let fetched = fetcher()?.git(address.url(), &commit)?;
            let unpinned = reference.is_some();
            let origin = Origin::Git { url: address.url().to_owned(), commit, reference };
            let opened = open_fetched(source, &fetched, origin, options)?;
            if unpinned && opened.kind() != Some(Kind::App) {
                address.pinned()?;
            }
            Ok(opened)
        }
        Source::Https(address) => {
            let fetched = fetcher()?.https(address, options.sha256.as_ref())?;
            let origin = Origin::Https { address: address.clone(), sha256: *fetched.digest() };
            open_fetched(source, &fetched, origin, options)
        }
        Source::Npm(spec) => {
            let fetched = fetcher()?.npm(spec.name(), spec.version())?;
            let integrity = match fetched.pin() {
                Pin::Version { integrity, .. } => integrity.clone(),
                Pin::Sha256(_) | Pin::Commit(_) => String::new(),
            };
            let (name, version) = (spec.name().to_owned(), spec.version().to_owned());
            open_fetched(source, &fetched, Origin::Npm { name, version, integrity }, options)
        }
        Source::Ref(_) => Err(OpenError::NotFetched { address: source.to_string() }),
    }
}

fn open_fetched(
    source: &Source,
    fetched: &Fetched,
    origin: Origin,
    options: &OpenOptions,
) -> Result<Opened, OpenError> {
    let address = Utf8PathBuf::from(source.to_string());
    open_file(source, &address, fetched.path().to_owned(), origin, options)
}

/// Opens a file or directory; `path` is what it is called.
fn open_file(
    source: &Source,
    path: &Utf8Path,
    file: PathBuf,
    origin: Origin,
    options: &OpenOptions,
) -> Result<Opened, OpenError> {
    let (whole, container): (Arc<dyn Tree>, _) = match Found::open(&file, path)? {
        Found::Directory(tree) => (Arc::new(tree), None),
        Found::Package(package) => (Arc::new(package.clone()), Some(Container::Package(package))),
        Found::Bundle(bundle) => (Arc::new(bundle.clone()), Some(Container::Bundle(bundle))),
    };
    let in_tree = |error| OpenError::Tree { path: path.to_string(), error };
    let tree: Arc<dyn Tree> = if options.subdir.is_root() {
        whole
    } else {
        Arc::new(SubTree::new(whole, options.subdir.clone()).map_err(in_tree)?)
    };
    let is_package = matches!(container, Some(Container::Package(_))) && options.subdir.is_root();
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
        file,
        origin,
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
    Bundle(Bundle),
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
        let open = || rustix::fs::open(path, flags, Mode::empty()).map(File::from);
        let file = open().map_err(|error| cannot_open(shown, &error.into()))?;
        let read = file.read_at(&mut head, 0).map_err(|error| cannot_open(shown, &error))?;
        let head = &head[..read];
        if head.starts_with(&MAGIC) {
            return TarFileSystem::open(path)
                .map(Self::Package)
                .map_err(|error| OpenError::Package { path: shown.to_string(), error });
        }
        // Whatever is named so has to be one; another gzip stream is not unpacked on suspicion.
        // Not by what it is called: behind an address more may follow the ending.
        if path.as_os_str().as_encoded_bytes().ends_with(BUNDLE_SUFFIX.as_bytes()) {
            return Bundle::open(file, BundleLimits::default())
                .map(Self::Bundle)
                .map_err(|found| OpenError::Bundle { path: shown.to_string(), found });
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
