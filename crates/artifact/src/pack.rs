//! What of a root goes into a package: exactly its rows, in their modes, and the artifact manifest.
//!
//! [`pack_artifact`] looks at a root and gives an [`ArtifactPackage`], or everything that keeps it
//! from being packed. This crate knows nothing of the package format: [`ArtifactPackage::tree`] is
//! a tree of exactly those files, in which nothing else can be seen, and that is what is packed.

use std::collections::{BTreeMap, BTreeSet};

use holdall_diagnostics::Diagnostic;
use holdall_tree::{
    DirEntry, EntryName, FileKind, Limits, Metadata, Tree, TreeError, TreeErrorKind, TreeFile,
    TreePath, walk,
};

use crate::codes::{AB7001, HD0451};
use crate::rows::{self, Modes, RowFault};
use crate::{ARTIFACT_MANIFEST_NAME, ArtifactManifest, shown_at};

/// Document of the package format that may lie beside the artifact manifest without a row: it says
/// what the package is, and is not packed itself.
const SOURCE_MANIFEST: &str = "agentos-package.json";

/// Mode of a file whose row records none, and of the artifact manifest.
const PLAIN: u32 = 0o644;

/// A command of the package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactCommand {
    /// What people type.
    pub name: String,
    /// The file that runs.
    pub path: TreePath,
}

/// What the package of an artifact is and holds. It was checked against the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactPackage {
    name: String,
    version: String,
    commands: Vec<ArtifactCommand>,
    modes: BTreeMap<TreePath, u32>,
    source_manifest: bool,
}

impl ArtifactPackage {
    /// `application.name`
    pub fn name(&self) -> &str {
        &self.name
    }

    /// `application.version`
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The rows of `executables.bins`, by name.
    pub fn commands(&self) -> &[ArtifactCommand] {
        &self.commands
    }

    /// The files with their modes, sorted by path bytes; the artifact manifest is one of them.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (&TreePath, u32)> {
        self.modes.iter().map(|(path, mode)| (path, *mode))
    }

    /// Whether a package has to record modes as they are: some row has another one than 0644 and
    /// 0755, which are what a package with plain modes knows.
    pub fn has_unusual_modes(&self) -> bool {
        self.modes.values().any(|mode| !matches!(mode, 0o644 | 0o755))
    }

    /// The files as a tree: nothing else is in it, their modes are those of the rows, every time
    /// is 0 and nobody owns anything. `agentos-package.json` is in it where it lies in the root.
    pub fn tree<'a>(&self, root: &'a dyn Tree) -> ArtifactTree<'a> {
        let own = self.modes.iter().map(|(path, mode)| (path.to_string(), *mode));
        let source = self.source_manifest.then(|| (SOURCE_MANIFEST.to_owned(), PLAIN));
        let modes = own.chain(source).collect();
        ArtifactTree { root, modes }
    }
}

/// Looks at the artifact at the top of `root`, which is shown to people as `shown`, and says what
/// its package is. `exclude` is what may lie there and is left out, with all below it.
///
/// # Errors
///
/// Every row whose file is missing or has another size or content (AB7001; modes come from the
/// rows and may differ on disk), and everything that is no part of the artifact (HD0451).
pub fn pack_artifact(
    root: &dyn Tree,
    manifest: &ArtifactManifest,
    exclude: &[TreePath],
    shown: &str,
) -> Result<ArtifactPackage, Vec<Diagnostic>> {
    let mut found = Vec::new();
    for mismatch in rows::check(root, manifest, Modes::Exact) {
        if matches!(mismatch.fault, RowFault::Mode { .. }) {
            continue;
        }
        let diagnostic = Diagnostic::new(&AB7001, mismatch.fault.to_string())
            .at(shown_at(shown, mismatch.path.as_str()))
            .help("build the root again, and pack what was built");
        found.push(diagnostic);
    }
    let mut modes: BTreeMap<TreePath, u32> = manifest
        .files()
        .iter()
        .map(|row| {
            let mode = row.mode().and_then(|mode| u32::try_from(mode).ok()).unwrap_or(PLAIN);
            (row.path().clone(), mode)
        })
        .collect();
    if let Some((path, _)) = modes.iter().find(|(path, _)| path.as_str() == SOURCE_MANIFEST) {
        let what = "is listed, and a package cannot hold a file of this name";
        found.push(Diagnostic::new(&HD0451, what).at(shown_at(shown, path.as_str())));
    }
    if let Ok(path) = TreePath::new(ARTIFACT_MANIFEST_NAME) {
        modes.insert(path, PLAIN);
    }
    let source_manifest = strangers(root, &modes, exclude, shown, &mut found);
    if !found.is_empty() {
        return Err(found);
    }
    let application = manifest.application();
    let commands = manifest
        .executables()
        .bins()
        .iter()
        .map(|bin| ArtifactCommand { name: bin.name().to_owned(), path: bin.path().clone() });
    Ok(ArtifactPackage {
        name: application.name().to_owned(),
        version: application.version().to_owned(),
        commands: commands.collect(),
        modes,
        source_manifest,
    })
}

/// Names everything that is no part of the artifact, a directory without listed files as a whole.
/// Says whether there is a source manifest of a package.
fn strangers(
    root: &dyn Tree,
    modes: &BTreeMap<TreePath, u32>,
    exclude: &[TreePath],
    shown: &str,
    found: &mut Vec<Diagnostic>,
) -> bool {
    let mut directories: BTreeSet<TreePath> = BTreeSet::new();
    for path in modes.keys() {
        let mut above = path.parent();
        while let Some(directory) = above.filter(|directory| !directory.is_root()) {
            above = directory.parent();
            if !directories.insert(directory) {
                break;
            }
        }
    }
    let mut source_manifest = false;
    let mut entries = walk(root, &TreePath::root(), Limits::default());
    while let Some(entry) = entries.next() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let diagnostic = Diagnostic::new(&HD0451, error.detail);
                found.push(diagnostic.at(shown_at(shown, error.path.as_str())));
                continue;
            }
        };
        let path = &entry.path;
        let directory = entry.kind == FileKind::Directory;
        if exclude.contains(path) {
            if directory {
                entries.skip_children();
            }
            continue;
        }
        if directory && directories.contains(path) {
            continue;
        }
        // A row that is no file was reported when the rows were compared.
        if modes.contains_key(path) {
            if directory {
                entries.skip_children();
            }
            continue;
        }
        if path.as_str() == SOURCE_MANIFEST && entry.kind == FileKind::File {
            source_manifest = true;
            continue;
        }
        let what = match entry.kind {
            FileKind::File => "is a file that the artifact manifest does not list",
            FileKind::Directory => "is a directory without listed files",
            FileKind::Symlink => "is a symbolic link, which no artifact holds",
            FileKind::Other => "is a device, fifo or socket, which no artifact holds",
        };
        if directory {
            entries.skip_children();
        }
        let diagnostic = Diagnostic::new(&HD0451, what).at(shown_at(shown, path.as_str()));
        found.push(diagnostic.help(format!("remove it, or say --exclude {path}")));
    }
    source_manifest
}

/// A root in which only what goes into its package can be seen. See [`ArtifactPackage::tree`].
#[derive(Debug)]
pub struct ArtifactTree<'a> {
    root: &'a dyn Tree,
    modes: BTreeMap<String, u32>,
}

impl ArtifactTree<'_> {
    /// The rest of the path of every file below a directory.
    fn below(&self, directory: &TreePath) -> impl Iterator<Item = &str> {
        let prefix = if directory.is_root() { String::new() } else { format!("{directory}/") };
        let behind = self.modes.range(prefix.clone()..);
        behind.map_while(move |(path, _)| path.strip_prefix(&prefix))
    }

    fn not_found(path: &TreePath) -> TreeError {
        TreeError::new(TreeErrorKind::NotFound, path, "no part of the artifact")
    }
}

/// An opened file that has the mode of its row.
#[derive(Debug)]
struct RowFile {
    file: Box<dyn TreeFile>,
    mode: u32,
}

impl TreeFile for RowFile {
    fn len(&self) -> u64 {
        self.file.len()
    }

    fn mode(&self) -> Option<u32> {
        Some(self.mode)
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<usize, TreeError> {
        self.file.read_at(buf, offset)
    }

    fn changed(&self) -> Result<bool, TreeError> {
        self.file.changed()
    }
}

impl Tree for ArtifactTree<'_> {
    fn metadata(&self, path: &TreePath) -> Result<Metadata, TreeError> {
        if let Some(mode) = self.modes.get(path.as_str()) {
            return Ok(Metadata { mode: *mode, mtime: 0, ..self.root.metadata(path)? });
        }
        if path.is_root() || self.below(path).next().is_some() {
            return Ok(Metadata { kind: FileKind::Directory, size: 0, mode: 0o755, mtime: 0 });
        }
        Err(Self::not_found(path))
    }

    fn open(&self, path: &TreePath) -> Result<Box<dyn TreeFile>, TreeError> {
        match self.modes.get(path.as_str()) {
            Some(mode) => Ok(Box::new(RowFile { file: self.root.open(path)?, mode: *mode })),
            None if self.metadata(path)?.kind == FileKind::Directory => {
                Err(TreeError::new(TreeErrorKind::IsADirectory, path, "is a directory"))
            }
            None => Err(Self::not_found(path)),
        }
    }

    fn read_dir(&self, path: &TreePath) -> Result<Vec<DirEntry>, TreeError> {
        if self.modes.contains_key(path.as_str()) {
            return Err(TreeError::new(TreeErrorKind::NotADirectory, path, "is a file"));
        }
        let mut entries = BTreeMap::new();
        for rest in self.below(path) {
            match rest.split_once('/') {
                Some((name, _)) => entries.insert(name, FileKind::Directory),
                None => entries.insert(rest, FileKind::File),
            };
        }
        if entries.is_empty() && !path.is_root() {
            return Err(Self::not_found(path));
        }
        let entry = |(name, kind): (&str, FileKind)| DirEntry {
            name: EntryName::Utf8(name.to_owned()),
            kind,
        };
        Ok(entries.into_iter().map(entry).collect())
    }

    fn read_link(&self, path: &TreePath) -> Result<String, TreeError> {
        self.metadata(path)?;
        Err(TreeError::new(TreeErrorKind::WrongKind, path, "is no link"))
    }
}
