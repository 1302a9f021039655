//! Roots that npm unpacked (5.1 of the format).
//!
//! npm keeps the bytes of files and not their modes: it makes the targets of `bin` executable, and
//! whatever else was executable may have lost that. A root below `node_modules` is compared with
//! its rows by [`Modes::Npm`](crate::rows::Modes) for that reason.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use holdall_tree::{DirTree, FileKind, Tree, TreePath};

use crate::json::{Document, Node, NodeKind};
use crate::rows::Modes;

/// Bytes of a package.json that are read.
const MAX_PACKAGE_JSON: u64 = 16 << 20;

/// Files at the top of a package that npm packs whatever `files` says, without their extensions.
const ALWAYS_PACKED: &[&str] = &["readme", "license", "licence"];

/// The npm package that a root was unpacked with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NpmPackage {
    bins: BTreeSet<TreePath>,
    is_top: bool,
}

impl NpmPackage {
    /// The package in whose directory `root` lies, when that is `node_modules/<pkg>` or
    /// `node_modules/@scope/<pkg>`, the innermost one. Links on the way are resolved first: what
    /// is linked into `node_modules` was not unpacked there.
    pub fn around(root: &Path) -> Option<Self> {
        let root = root.canonicalize().ok()?;
        let parts: Vec<Component<'_>> = root.components().collect();
        let modules = parts.iter().rposition(|part| part.as_os_str() == "node_modules")?;
        let scoped = parts.get(modules + 1)?.as_os_str().as_encoded_bytes().starts_with(b"@");
        let end = modules + if scoped { 2 } else { 1 };
        let package: PathBuf = parts.get(..=end)?.iter().collect();
        let inside = root.strip_prefix(&package).ok()?.to_str()?;
        let artifact = TreePath::normalise(inside).ok()?;
        // A package that cannot be read names no program.
        let bins = DirTree::open(&package).map(|tree| Self::of(&tree, &artifact).bins);
        Some(Self { bins: bins.unwrap_or_default(), is_top: artifact.is_root() })
    }

    /// The package at the top of `package`, whose artifact lies at `artifact` in it.
    pub fn of(package: &dyn Tree, artifact: &TreePath) -> Self {
        let bins = TreePath::new("package.json")
            .ok()
            .and_then(|path| package.read(&path, MAX_PACKAGE_JSON).ok())
            .and_then(|bytes| {
                let document = Document::parse(&bytes).ok()?;
                Some(bin_targets(document.root(), artifact))
            });
        Self { bins: bins.unwrap_or_default(), is_top: artifact.is_root() }
    }

    /// How the modes of its files are compared.
    pub fn modes(&self) -> Modes<'_> {
        Modes::Npm { bins: &self.bins }
    }

    /// Whether npm puts an entry of this name at the top of the root: package.json and what it
    /// packs without being asked, and the packages that this one depends on.
    pub(crate) fn puts(&self, name: &str, kind: FileKind) -> bool {
        let stem = name.split('.').next().unwrap_or_default().to_ascii_lowercase();
        self.is_top
            && match kind {
                FileKind::File => name == "package.json" || ALWAYS_PACKED.contains(&&*stem),
                FileKind::Directory => name == "node_modules",
                FileKind::Symlink | FileKind::Other => false,
            }
    }
}

/// How the modes of a root are compared, by the npm package that it was unpacked with.
pub fn modes(package: Option<&NpmPackage>) -> Modes<'_> {
    package.map_or(Modes::Exact, NpmPackage::modes)
}

/// The targets of `bin` in a package.json, one or several, as paths of the artifact that lies at
/// `artifact` in the package.
pub(crate) fn bin_targets(package: Node<'_>, artifact: &TreePath) -> BTreeSet<TreePath> {
    let targets: Vec<Node<'_>> = match package.get("bin") {
        Some(bin) if bin.kind() == NodeKind::Object => {
            bin.members().map(|(_, target)| target).collect()
        }
        bin => bin.into_iter().collect(),
    };
    let in_artifact = |target: Node<'_>| {
        let path = TreePath::normalise(&target.text()?).ok()?;
        path.strip_prefix(artifact)
    };
    targets.into_iter().filter_map(in_artifact).collect()
}
