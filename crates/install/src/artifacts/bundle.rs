//! A plugin root on disk, opened for one agent host: who it is, which files of it are copied, and
//! their content hash (reference 5.1 and 5.2; every refusal is AB7001).

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use holdall_artifact::digest::ENV_FILES;
use holdall_artifact::model::BuiltInHost;
use holdall_artifact::rows::{self, Modes};
use holdall_artifact::{
    AB7001, ARTIFACT_MANIFEST_NAME, ArtifactManifest, ManifestRead, Sha256, check_segment,
    read_artifact_manifest, shown_at,
};
use holdall_diagnostics::Diagnostic;
use holdall_hosts::cli::HostCli;
use holdall_tree::{DirTree, FileKind, Limits, Tree, TreeError, TreeErrorKind, TreePath, walk};

use super::inventory::Inventory;

/// The bits of a file whose row records none.
const PLAIN: u32 = 0o644;
/// The bits of copied operator files: they hold secrets.
const SECRET: u32 = 0o600;
/// Bytes of an operator file that are read.
const ENV_LIMIT: u64 = 1024 * 1024;
/// Bytes of a `package.json` that are read.
const PACKAGE_LIMIT: u64 = 8 * 1024 * 1024;

/// An agent host that artifacts are installed into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ArtifactHost {
    /// Amp: a directory it scans.
    Amp,
    /// Claude Code: its own program.
    Claude,
    /// Codex: its own program.
    Codex,
    /// Cursor: a directory it scans.
    Cursor,
}

impl ArtifactHost {
    /// All of them, by id.
    pub const ALL: [Self; 4] = [Self::Amp, Self::Claude, Self::Codex, Self::Cursor];

    /// The id: `claude`.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Amp => "amp",
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
        }
    }

    /// The host of an id; the aliases of the host table count.
    pub fn find(name: &str) -> Option<Self> {
        let id = holdall_hosts::find(name).ok()?.id();
        Self::ALL.into_iter().find(|host| host.id() == id)
    }

    /// Its row of the host table.
    pub fn row(self) -> Option<&'static holdall_hosts::AgentHost> {
        holdall_hosts::find(self.id()).ok()
    }

    /// The product's name.
    pub fn name(self) -> &'static str {
        self.row().map_or(self.id(), holdall_hosts::AgentHost::name)
    }

    /// Its program, where it is changed by running one.
    pub const fn cli(self) -> Option<HostCli> {
        match self {
            Self::Claude => Some(HostCli::Claude),
            Self::Codex => Some(HostCli::Codex),
            Self::Amp | Self::Cursor => None,
        }
    }

    /// What a manifest calls the adapter that planned its projection.
    pub const fn built_in(self) -> BuiltInHost {
        match self {
            Self::Amp => BuiltInHost::Amp,
            Self::Claude => BuiltInHost::Claude,
            Self::Codex => BuiltInHost::Codex,
            Self::Cursor => BuiltInHost::Cursor,
        }
    }
}

/// A plugin root, opened and checked for one agent host.
#[derive(Debug, Clone)]
pub struct Bundle {
    root: PathBuf,
    host: ArtifactHost,
    plugin: String,
    version: String,
    marketplace: Option<String>,
    content_hash: Sha256,
    pub(super) inventory: Inventory,
}

impl Bundle {
    /// Opens the root for a host: the manifest, its projection, the names an install uses, and
    /// every row against its file. The bits of a root that npm unpacked may have been lost; the
    /// copy gets those of the rows, and the root itself is not touched.
    ///
    /// # Errors
    ///
    /// AB7001 for everything that keeps the root from being installed.
    pub fn open(root: &Path, host: ArtifactHost) -> Result<Self, Vec<Diagnostic>> {
        let shown = root.display().to_string();
        let fail = |what: String| vec![Diagnostic::new(&AB7001, what).at(shown.clone())];
        let root = root.canonicalize().map_err(|error| fail(format!("cannot be read: {error}")))?;
        let tree: Arc<dyn Tree> =
            Arc::new(DirTree::open(&root).map_err(|error| fail(error.to_string()))?);
        let manifest = open_manifest(tree.as_ref(), &shown)?;
        let identity = Identity::of(&manifest, host, &shown)?;
        check_rows(tree.as_ref(), &manifest, &root, &shown)?;
        let inventory = match &identity.entry {
            Some(entry) => entry_directory(tree, &manifest, entry, &shown)?,
            None => whole_root(&tree, &manifest, &shown)?,
        };
        let content_hash = inventory.content_hash().map_err(|error| fail(error.to_string()))?;
        Ok(Self {
            root,
            host,
            plugin: identity.plugin,
            version: identity.version,
            marketplace: identity.marketplace,
            content_hash,
            inventory,
        })
    }

    /// The agent hosts that a root has a projection for, in the order of ids.
    ///
    /// # Errors
    ///
    /// AB7001 when there is no manifest, or one that cannot be read.
    pub fn hosts_of(root: &Path) -> Result<Vec<ArtifactHost>, Vec<Diagnostic>> {
        let shown = root.display().to_string();
        let fail =
            |error: TreeError| vec![Diagnostic::new(&AB7001, error.to_string()).at(shown.clone())];
        let manifest = open_manifest(&DirTree::open(root).map_err(fail)?, &shown)?;
        let has = |host: &ArtifactHost| manifest.projection_of(host.built_in()).is_some();
        Ok(ArtifactHost::ALL.into_iter().filter(has).collect())
    }

    /// The root, absolute and with links followed.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The agent host it was opened for.
    pub const fn host(&self) -> ArtifactHost {
        self.host
    }

    /// The plugin's name.
    pub fn plugin(&self) -> &str {
        &self.plugin
    }

    /// Its version.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The marketplace of the host's projection.
    pub fn marketplace(&self) -> Option<&str> {
        self.marketplace.as_deref()
    }

    /// The content hash of what an install of it copies, 64 hex digits.
    pub fn content_hash(&self) -> String {
        self.content_hash.to_string()
    }

    /// Number of operator files (`.env`, `.env.local`) among what is copied.
    pub fn operator_files(&self) -> usize {
        let paths = ENV_FILES.iter().filter_map(|&name| TreePath::new(name).ok());
        paths.filter(|path| self.inventory.get(path).is_some()).count()
    }
}

fn open_manifest(tree: &dyn Tree, shown: &str) -> Result<ArtifactManifest, Vec<Diagnostic>> {
    let at = shown_at(shown, ARTIFACT_MANIFEST_NAME);
    match read_artifact_manifest(tree) {
        ManifestRead::Ok(open) => Ok(open.into_manifest()),
        ManifestRead::Missing => Err(vec![
            Diagnostic::new(&AB7001, format!("no {ARTIFACT_MANIFEST_NAME} in this directory"))
                .at(at)
                .help("name the directory that the build wrote, or build it again"),
        ]),
        ManifestRead::Invalid(found) => {
            let mut diagnostic = Diagnostic::new(&AB7001, found.detail()).at(at);
            if let (Some(first), Some(source)) = (found.faults().first(), found.source()) {
                diagnostic = diagnostic.span(source, first.span.clone());
                if let Some(help) = &first.help {
                    diagnostic = diagnostic.help(help.clone());
                }
            }
            Err(vec![diagnostic])
        }
    }
}

/// What the manifest says of the application and the host.
struct Identity {
    plugin: String,
    version: String,
    marketplace: Option<String>,
    /// Amp's entry.
    entry: Option<TreePath>,
}

impl Identity {
    fn of(
        manifest: &ArtifactManifest,
        host: ArtifactHost,
        shown: &str,
    ) -> Result<Self, Vec<Diagnostic>> {
        let at = shown_at(shown, ARTIFACT_MANIFEST_NAME);
        let fail = |what: String, help: String| {
            vec![Diagnostic::new(&AB7001, what).at(at.clone()).target(host.id()).help(help)]
        };
        let rebuild = format!("build the root again with the target `{}`", host.id());
        let Some(projection) = manifest.projection_of(host.built_in()) else {
            return Err(fail(format!("was not built for {}", host.name()), rebuild));
        };
        let documents = projection.documents();
        let (entry, plugin) = (documents.entry(), documents.plugin());
        let (needed, key) =
            if host == ArtifactHost::Amp { (entry, "entry") } else { (plugin, "plugin") };
        let Some(needed) = needed else {
            let what = format!("the projection for {} has no `documents.{key}`", host.name());
            return Err(fail(what, rebuild));
        };
        let name = manifest.application().name();
        let version = manifest.application().version();
        let marketplace = projection.marketplace().map(|found| found.name().to_owned());
        let bad = |what: &str, name: &str| {
            fail(
                format!("the {what} `{name}` cannot be installed into {}", host.name()),
                format!("a {what} is letters, digits, `.`, `-` and `_`; change it and build again"),
            )
        };
        let fits = match host {
            ArtifactHost::Cursor => is_cursor_name(name),
            _ => is_plain_name(name),
        };
        if !fits {
            return Err(bad("plugin name", name));
        }
        if !is_plain_name(version.replace('+', "-").as_str()) {
            return Err(bad("version", version));
        }
        match (&marketplace, host.cli()) {
            (None, Some(_)) => {
                let what = format!("the projection for {} names no marketplace", host.name());
                return Err(fail(what, rebuild));
            }
            (Some(name), Some(_)) if !is_plain_name(name) => {
                return Err(bad("marketplace name", name));
            }
            _ => {}
        }
        Ok(Self {
            plugin: name.to_owned(),
            version: version.to_owned(),
            marketplace,
            entry: (host == ArtifactHost::Amp).then(|| needed.clone()),
        })
    }
}

/// `^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$`, at most 64.
fn is_cursor_name(name: &str) -> bool {
    let end = |c: Option<char>| c.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    let inside = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '-');
    name.len() <= 64
        && end(name.chars().next())
        && end(name.chars().next_back())
        && name.chars().all(inside)
}

/// `^[A-Za-z0-9][A-Za-z0-9._-]*$` and a portable file name: it is part of paths and of command
/// lines, so that it can neither leave a directory nor be taken for an option.
fn is_plain_name(name: &str) -> bool {
    let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    name.len() <= 200
        && name.chars().next().is_some_and(|c| c.is_ascii_alphanumeric())
        && name.chars().all(inside)
        && check_segment(name).is_ok()
}

/// Every row against its file.
fn check_rows(
    tree: &dyn Tree,
    manifest: &ArtifactManifest,
    root: &Path,
    shown: &str,
) -> Result<(), Vec<Diagnostic>> {
    let bins = npm_bins(root);
    let modes = bins.as_ref().map_or(Modes::Exact, |bins| Modes::Npm { bins });
    let found: Vec<_> = rows::check(tree, manifest, modes)
        .into_iter()
        .map(|mismatch| {
            Diagnostic::new(&AB7001, mismatch.fault.to_string())
                .at(shown_at(shown, mismatch.path.as_str()))
                .help("build the root again; what is installed is exactly what was built")
        })
        .collect();
    if found.is_empty() { Ok(()) } else { Err(found) }
}

/// The `bin` targets of the npm package a root was unpacked with, relative to the root; none where
/// it does not lie below `node_modules`.
fn npm_bins(root: &Path) -> Option<BTreeSet<TreePath>> {
    let parts: Vec<_> = root.components().collect();
    let modules = parts
        .iter()
        .rposition(|part| matches!(part, Component::Normal(name) if *name == "node_modules"))?;
    let Component::Normal(first) = parts.get(modules + 1)? else { return None };
    let depth = if first.to_string_lossy().starts_with('@') { 2 } else { 1 };
    let package: PathBuf = parts.get(..=modules + depth)?.iter().collect();
    let read = DirTree::open(&package).ok().and_then(|tree| {
        let path = TreePath::new("package.json").ok()?;
        serde_json::from_slice::<serde_json::Value>(&tree.read(&path, PACKAGE_LIMIT).ok()?).ok()
    });
    let mut bins = BTreeSet::new();
    let targets = match read.as_ref().and_then(|package| package.get("bin")) {
        Some(serde_json::Value::String(target)) => vec![target.as_str()],
        Some(serde_json::Value::Object(map)) => {
            map.values().filter_map(serde_json::Value::as_str).collect()
        }
        _ => Vec::new(),
    };
    for target in targets {
        let target = package.join(target.strip_prefix("./").unwrap_or(target));
        let below = target.strip_prefix(root).ok().and_then(Path::to_str);
        bins.extend(below.and_then(|path| TreePath::new(path).ok()));
    }
    Some(bins)
}

fn mode_of(row: &holdall_artifact::model::FileRow) -> u32 {
    row.mode().and_then(|mode| u32::try_from(mode).ok()).unwrap_or(PLAIN)
}

/// The manifest, every row, and the operator's files.
fn whole_root(
    tree: &Arc<dyn Tree>,
    manifest: &ArtifactManifest,
    shown: &str,
) -> Result<Inventory, Vec<Diagnostic>> {
    let fail =
        |name: &str, what: String| vec![Diagnostic::new(&AB7001, what).at(shown_at(shown, name))];
    let mut inventory = Inventory::of(tree.clone());
    for row in manifest.files() {
        let path = row.path().clone();
        inventory.add(path.clone(), path, mode_of(row), row.bytes(), *row.sha256().as_bytes());
    }
    let bytes = manifest.to_canonical_bytes();
    inventory
        .add_bytes(ARTIFACT_MANIFEST_NAME, &bytes, PLAIN)
        .map_err(|error| fail(ARTIFACT_MANIFEST_NAME, error.to_string()))?;
    for name in ENV_FILES {
        let bytes = match TreePath::new(name).map(|path| read_plain(tree.as_ref(), &path)) {
            Ok(Ok(bytes)) => bytes,
            Ok(Err(error)) if error.kind == TreeErrorKind::NotFound => continue,
            Ok(Err(error)) => return Err(fail(name, format!("cannot be copied: {error}"))),
            Err(error) => return Err(fail(name, error.to_string())),
        };
        inventory.add_bytes(name, &bytes, SECRET).map_err(|error| fail(name, error.to_string()))?;
    }
    Ok(inventory)
}

/// An operator file; a link is refused, because what it leads to is not the root's.
fn read_plain(tree: &dyn Tree, path: &TreePath) -> Result<Vec<u8>, TreeError> {
    if tree.metadata(path)?.kind != FileKind::File {
        return Err(TreeError::new(TreeErrorKind::WrongKind, path, "is not a regular file"));
    }
    tree.read(path, ENV_LIMIT)
}

/// The directory of Amp's entry, which must hold exactly its rows.
fn entry_directory(
    tree: Arc<dyn Tree>,
    manifest: &ArtifactManifest,
    entry: &TreePath,
    shown: &str,
) -> Result<Inventory, Vec<Diagnostic>> {
    let directory = entry.parent().unwrap_or_else(TreePath::root);
    let fail = |path: &TreePath, what: String| {
        Diagnostic::new(&AB7001, what).at(shown_at(shown, path.as_str()))
    };
    if directory.is_root() {
        let what = "Amp's entry lies at the top of the root, not in a directory of its own";
        return Err(vec![fail(entry, what.to_owned())]);
    }
    let mut found = Vec::new();
    for entry in walk(tree.as_ref(), &directory, Limits::default()) {
        match entry {
            Ok(entry) if entry.kind == FileKind::Directory => {}
            Ok(entry) if manifest.file(&entry.path).is_some() => {}
            Ok(entry) => found.push(
                fail(&entry.path, "is not listed in the manifest".to_owned())
                    .help("Amp loads the whole directory: remove the file, or build again"),
            ),
            Err(error) => found.push(fail(&directory, error.to_string())),
        }
    }
    if !found.is_empty() {
        return Err(found);
    }
    let mut inventory = Inventory::of(tree);
    for row in manifest.files_under(&directory) {
        if let Some(path) = row.path().strip_prefix(&directory) {
            let from = row.path().clone();
            inventory.add(path, from, mode_of(row), row.bytes(), *row.sha256().as_bytes());
        }
    }
    Ok(inventory)
}

/// The content hash of what an owner's receipt lists, as it lies on disk (4.6): on-disk bits,
/// missing files contributing nothing.
pub(super) fn hash_of_files(directory: &Path, files: &[TreePath]) -> Result<String, TreeError> {
    let tree = DirTree::open(directory)?;
    let mut hasher = holdall_artifact::digest::ContentHasher::new();
    for path in files {
        match tree.metadata(path) {
            Ok(known) if known.kind == FileKind::File => {
                hasher.add(&tree, path, known.executable())?;
            }
            Ok(_) => {}
            Err(error)
                if matches!(error.kind, TreeErrorKind::NotFound | TreeErrorKind::NotADirectory) => {
            }
            Err(error) => return Err(error),
        }
    }
    Ok(hasher.finish().to_string())
}
