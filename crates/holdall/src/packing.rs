//! What `pack` reads: a directory, a tar (also on standard input), or a package to be converted;
//! and what a directory is sealed as.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use holdall_aospkg::format::MAGIC;
use holdall_aospkg::{CommandTarget, TarFileSystem};
use holdall_artifact::pack::{ArtifactCommand, ArtifactPackage, pack_artifact};
use holdall_diagnostics::Diagnostic;
use holdall_pack::safe_id;
use holdall_source::{Kind, OpenOptions, Opened, Source, open};
use holdall_tree::TreePath;
use holdall_tree::stage::StageError;
use rustix::fs::{Mode, OFlags};

use crate::outcome::Failure;
use crate::{codes, kinds};

/// An opened input.
#[derive(Debug)]
pub(crate) enum Packable {
    /// A directory, and what it is.
    Directory(Box<Opened>),
    /// A tar; standard input is one that was spooled.
    Tar(File),
    /// A package, to be written in another format version.
    Package(TarFileSystem),
}

/// What the user named.
#[derive(Debug)]
pub(crate) struct Named {
    /// The path as typed; `-` is standard input.
    pub(crate) shown: String,
    /// The full path; none for standard input.
    pub(crate) path: Option<PathBuf>,
    /// What is there.
    pub(crate) found: Packable,
}

impl Named {
    /// Opens what is named. Standard input is copied to an unnamed file in `spool` first, since a
    /// tar is read twice.
    pub(crate) fn open(text: &OsStr, base: &Path, spool: &Path) -> Result<Self, Failure> {
        let Some(shown) = text.to_str() else {
            let lossy = text.to_string_lossy().into_owned();
            return Err(holdall_source::SourceError::NotUtf8 { lossy }.into());
        };
        if shown == "-" {
            let found = Packable::Tar(spooled(spool)?);
            return Ok(Self { shown: shown.to_owned(), path: None, found });
        }
        let path = base.join(shown);
        let found = Packable::open(base, &path, shown)?;
        Ok(Self { shown: shown.to_owned(), path: Some(path), found })
    }

    /// A path of the input as diagnostics show it.
    pub(crate) fn place(&self, path: &str) -> String {
        let shown = self.shown.strip_prefix("./").unwrap_or(&self.shown).trim_end_matches('/');
        match (&self.path, shown) {
            (None, _) | (_, "" | ".") => path.to_owned(),
            (Some(_), shown) => format!("{shown}/{path}"),
        }
    }

    /// The path inside the directory that is packed at which the output would lie, if it would.
    pub(crate) fn inside(&self, output: &Path) -> Option<TreePath> {
        let (Packable::Directory(_), Some(root)) = (&self.found, &self.path) else { return None };
        let root = root.canonicalize().ok()?;
        let above = output.parent()?.canonicalize().ok()?;
        let below = above.strip_prefix(root).ok()?.join(output.file_name()?);
        TreePath::new(below.to_str()?).ok()
    }
}

impl Packable {
    fn open(base: &Path, path: &Path, shown: &str) -> Result<Self, Failure> {
        let refused = |error: &io::Error| -> Failure {
            let what = match error.kind() {
                io::ErrorKind::NotFound => "no such file or directory (ENOENT)".to_owned(),
                io::ErrorKind::PermissionDenied => "no permission to read it (EACCES)".to_owned(),
                _ => format!("{error} ({})", holdall_aospkg::Errno::of_io(error)),
            };
            Diagnostic::new(&codes::INPUT, what).at(shown).into()
        };
        // Told apart before it is opened, so that a FIFO is never waited for.
        let metadata = std::fs::metadata(path).map_err(|error| refused(&error))?;
        if metadata.is_dir() {
            let source = Source::Path(shown.into());
            let opened = open(&source, base, &OpenOptions::default(), None)?;
            return Ok(Self::Directory(Box::new(opened)));
        }
        if !metadata.is_file() {
            let what = "a FIFO, device or socket; `-` reads a tar from standard input (EINVAL)";
            return Err(Diagnostic::new(&codes::INPUT, what).at(shown).into());
        }
        let flags = OFlags::CLOEXEC | OFlags::RDONLY | OFlags::NONBLOCK;
        let file = rustix::fs::open(path, flags, Mode::empty())
            .map(File::from)
            .map_err(|error| refused(&error.into()))?;
        let mut head = [0; MAGIC.len()];
        let read = std::os::unix::fs::FileExt::read_at(&file, &mut head, 0)
            .map_err(|error| refused(&error))?;
        if head[..read] == MAGIC {
            let open = TarFileSystem::open(path).map_err(|error| error.diagnostic().at(shown))?;
            return Ok(Self::Package(open));
        }
        Ok(Self::Tar(file))
    }
}

fn spooled(directory: &Path) -> Result<File, Failure> {
    let failed = |error: &io::Error| -> Failure {
        let error = StageError::from_io(directory, error);
        let message = format!("standard input cannot be kept there: {}", error.told());
        Diagnostic::new(&codes::OUTPUT, message).at(directory.display().to_string()).into()
    };
    let mut file = tempfile::tempfile_in(directory).map_err(|error| failed(&error))?;
    io::copy(&mut io::stdin().lock(), &mut file).map_err(|error| failed(&error))?;
    Ok(file)
}

/// What a directory says of itself beyond its files: its name, its version, its commands.
#[derive(Debug, Default)]
pub(crate) struct Sealed {
    /// The name, where the kind has one of its own.
    pub(crate) name: Option<String>,
    /// The version, likewise.
    pub(crate) version: Option<String>,
    /// The commands, where something else than the files says them.
    pub(crate) commands: Option<Vec<CommandTarget>>,
    /// The files that go in, where these are not all of them.
    pub(crate) artifact: Option<ArtifactPackage>,
    /// What was noticed on the way.
    pub(crate) warnings: Vec<Diagnostic>,
}

impl Sealed {
    /// Reads what a directory is. Where `agentos-package.json` lies in it, that document alone
    /// says what the package is, except that an artifact holds what its manifest lists.
    pub(crate) fn of(opened: &Opened, exclude: &[TreePath]) -> Result<Self, Failure> {
        let kind = opened.kind();
        let described = Kind::Package.is_at_root(opened.tree()).map_err(|e| opened.error(e))?;
        match kind {
            Some(Kind::Artifact) => {
                let open = kinds::artifact::open(opened)?;
                let shown = opened.shown(&TreePath::root());
                let package = pack_artifact(opened.tree(), open.manifest(), exclude, &shown)
                    .map_err(Failure::new)?;
                let command = |command: &ArtifactCommand| CommandTarget {
                    command: command.name.clone(),
                    entry: command.path.to_string(),
                };
                Ok(Self {
                    name: Some(package.name().to_owned()),
                    version: Some(package.version().to_owned()),
                    commands: Some(package.commands().iter().map(command).collect()),
                    artifact: Some(package),
                    warnings: Vec::new(),
                })
            }
            Some(Kind::Pack) => {
                let loaded = kinds::pack::load(opened)?;
                let handle = loaded.pack.handle();
                let (name, version) = (handle.name().to_owned(), handle.version().to_owned());
                Ok(Self {
                    name: (!described).then_some(name),
                    version: (!described).then_some(version),
                    commands: (!described).then(Vec::new),
                    artifact: None,
                    warnings: loaded.warnings,
                })
            }
            Some(Kind::App) => {
                let (app, warnings) = kinds::app::load(opened)?;
                let name = app.id().map(safe_id);
                Ok(Self {
                    name: name.filter(|_| !described),
                    version: (!described).then(|| app.version().to_owned()),
                    commands: (!described).then(Vec::new),
                    artifact: None,
                    warnings,
                })
            }
            _ => Ok(Self::default()),
        }
    }
}
