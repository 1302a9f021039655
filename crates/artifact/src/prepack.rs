//! The checks before `npm publish` that need nothing but the artifact manifest (5.10 of the
//! format): would npm pack every file of the artifact, are they what was built, and do all
//! versions agree?

use std::collections::BTreeSet;

use holdall_diagnostics::Diagnostic;
use holdall_tree::{SubTree, Tree, TreeErrorKind, TreePath};

use crate::codes::{AB7010, AB7011, AB7013, HD0452};
use crate::json::{Document, Node, NodeKind};
use crate::npm::bin_targets;
use crate::rows::{self, Modes, RowFault};
use crate::{ARTIFACT_MANIFEST_NAME, ArtifactManifest, read_artifact_manifest, shown_at};

/// Bytes of package.json and of host documents that are read.
const MAX_DOCUMENT: u64 = 16 << 20;

/// What npm would pack of one package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackList {
    name: String,
    version: String,
    files: BTreeSet<String>,
}

/// Why npm's output is no list of what it would pack.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PackListError {
    /// No JSON.
    #[error("npm's list is no JSON: {0}")]
    Json(String),
    /// JSON of another shape.
    #[error("npm's list has no entries with `name`, `version` and `files`")]
    Shape,
    /// No entry of the package, or more than one.
    #[error("npm's list has {count} entries of `{name}`, not one; it has: {all}")]
    Entry {
        /// The package.
        name: String,
        /// How many.
        count: usize,
        /// The names that are there.
        all: String,
    },
}

impl PackList {
    /// Paths of the files, sorted.
    pub fn files(&self) -> impl ExactSizeIterator<Item = &str> {
        self.files.iter().map(String::as_str)
    }

    /// Reads the output of `npm pack --dry-run --json --ignore-scripts` and takes the entry of the
    /// package `name`. The output is an array of entries, one entry, or an object of entries.
    ///
    /// # Errors
    ///
    /// When it is no such output, or has no entry of this name, or several.
    pub fn parse(output: &[u8], name: &str) -> Result<Self, PackListError> {
        let document =
            Document::parse(output).map_err(|error| PackListError::Json(error.message))?;
        let root = document.root();
        let nodes: Vec<Node<'_>> = match root.kind() {
            NodeKind::Array => root.items().collect(),
            NodeKind::Object
                if root.get("files").is_some_and(|it| it.kind() == NodeKind::Array) =>
            {
                vec![root]
            }
            NodeKind::Object => root.members().map(|(_, entry)| entry).collect(),
            _ => return Err(PackListError::Shape),
        };
        let entries: Option<Vec<Self>> = nodes.into_iter().map(Self::entry).collect();
        let entries = entries.ok_or(PackListError::Shape)?;
        let names: Vec<String> = entries.iter().map(|entry| entry.name.clone()).collect();
        let mut own = entries.into_iter().filter(|entry| entry.name == name);
        match (own.next(), own.count()) {
            (Some(entry), 0) => Ok(entry),
            (first, more) => Err(PackListError::Entry {
                name: name.to_owned(),
                count: more + usize::from(first.is_some()),
                all: if names.is_empty() { "nothing".to_owned() } else { names.join(", ") },
            }),
        }
    }

    fn entry(node: Node<'_>) -> Option<Self> {
        let text = |key: &str| Some(node.get(key)?.text()?.into_owned());
        let files = node.get("files").filter(|files| files.kind() == NodeKind::Array)?;
        let path = |file: Node<'_>| {
            let path = file.get("path")?.text()?.into_owned();
            Some(path.strip_prefix("./").map(str::to_owned).unwrap_or(path))
        };
        Some(Self {
            name: text("name")?,
            version: text("version")?,
            files: files.items().map(path).collect::<Option<_>>()?,
        })
    }

    /// The package.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its version.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Whether a file of the package would be packed.
    pub fn has(&self, path: &str) -> bool {
        self.files.contains(path)
    }
}

/// What came of the checks.
#[derive(Debug)]
pub struct Prepacked {
    /// The artifact manifest, when it is valid.
    pub manifest: Option<ArtifactManifest>,
    /// What npm would pack, when its list could be used.
    pub list: Option<PackList>,
    /// Everything found; paths begin with how the package is shown.
    pub diagnostics: Vec<Diagnostic>,
}

/// Checks the package at the top of `package`, whose artifact lies at `artifact` in it (the root
/// itself or, say, `dist`), against the output of `npm pack --dry-run --json --ignore-scripts`.
/// Nothing is run.
///
/// AB7010 for a file that npm would leave out, AB7011 for one that is not what its row says,
/// AB7013 for versions that disagree, HD0452 for an unusable list or package.json, AB6000 and
/// AB6001 for the artifact manifest.
pub fn prepack(
    package: &dyn Tree,
    artifact: &TreePath,
    pack_list: &[u8],
    shown: &str,
) -> Prepacked {
    let none = |diagnostics| Prepacked { manifest: None, list: None, diagnostics };
    let root_shown = shown_at(shown, artifact.as_str());
    let root = match SubTree::new(package, artifact.clone()) {
        Ok(root) => root,
        Err(error) => {
            let diagnostic = Diagnostic::new(&crate::AB6000, error.detail);
            return none(vec![diagnostic.at(root_shown)]);
        }
    };
    let manifest = match read_artifact_manifest(&root).into_result(&root_shown) {
        Ok(open) => open.into_manifest(),
        Err(diagnostics) => return none(diagnostics),
    };
    let mut run = Run { package, artifact, manifest: &manifest, shown, found: Vec::new() };
    let list = match run.own_package() {
        Ok(own) => run.check(&root, &own, pack_list),
        Err(diagnostic) => {
            run.found.push(*diagnostic);
            None
        }
    };
    let diagnostics = run.found;
    Prepacked { manifest: Some(manifest), list, diagnostics }
}

/// What package.json says.
struct OwnPackage {
    name: String,
    version: Option<String>,
    /// Targets of `bin`, in the artifact.
    bins: BTreeSet<TreePath>,
}

struct Run<'r> {
    package: &'r dyn Tree,
    artifact: &'r TreePath,
    manifest: &'r ArtifactManifest,
    shown: &'r str,
    found: Vec<Diagnostic>,
}

impl Run<'_> {
    /// A path of the artifact as npm lists it.
    fn listed(&self, path: &str) -> String {
        if self.artifact.is_root() { path.to_owned() } else { format!("{}/{path}", self.artifact) }
    }

    fn own_package(&self) -> Result<OwnPackage, Box<Diagnostic>> {
        let at = shown_at(self.shown, "package.json");
        let fault = |what: String| {
            let help = "name the directory of the npm package";
            Box::new(Diagnostic::new(&HD0452, what).at(at.clone()).help(help))
        };
        let path = TreePath::new("package.json").map_err(|error| fault(error.to_string()))?;
        let bytes = match self.package.read(&path, MAX_DOCUMENT) {
            Ok(bytes) => bytes,
            Err(error) if error.kind == TreeErrorKind::NotFound => {
                return Err(fault("no package.json in this directory".to_owned()));
            }
            Err(error) => return Err(fault(error.detail)),
        };
        let document = Document::parse(&bytes).map_err(|error| fault(error.message))?;
        let root = document.root();
        let text = |key: &str| Some(root.get(key)?.text()?.into_owned());
        let name = text("name").ok_or_else(|| fault("package.json has no name".to_owned()))?;
        let bins = bin_targets(root, self.artifact);
        Ok(OwnPackage { name, version: text("version"), bins })
    }

    fn check(&mut self, root: &dyn Tree, own: &OwnPackage, output: &[u8]) -> Option<PackList> {
        let list = match PackList::parse(output, &own.name) {
            Ok(list) => Some(list),
            Err(error) => {
                let help = "run `npm pack --dry-run --json --ignore-scripts` in the directory of \
                            the package";
                self.found.push(Diagnostic::new(&HD0452, error.to_string()).help(help));
                None
            }
        };
        if let Some(list) = &list {
            self.inventory(list);
        }
        for mismatch in rows::check(root, self.manifest, Modes::Npm { bins: &own.bins }) {
            // npm makes the targets of `bin` executable when it packs.
            if matches!(mismatch.fault, RowFault::Mode { .. }) && own.bins.contains(&mismatch.path)
            {
                continue;
            }
            let path = shown_at(self.shown, &self.listed(mismatch.path.as_str()));
            let diagnostic = Diagnostic::new(&AB7011, mismatch.fault.to_string()).at(path);
            self.found.push(diagnostic.help("build again, and pack what was built"));
        }
        self.versions(root, own, list.as_ref());
        list
    }

    fn inventory(&mut self, list: &PackList) {
        let rows = self.manifest.files().iter().map(|row| row.path().as_str());
        for path in std::iter::once(ARTIFACT_MANIFEST_NAME).chain(rows) {
            let path = self.listed(path);
            if !list.has(&path) {
                let diagnostic = Diagnostic::new(&AB7010, "npm would not pack it");
                let help = "look at `files` in package.json and at .npmignore";
                self.found.push(diagnostic.at(shown_at(self.shown, &path)).help(help));
            }
        }
    }

    /// Every place that names a version names that of the application.
    fn versions(&mut self, root: &dyn Tree, own: &OwnPackage, list: Option<&PackList>) {
        let expected = self.manifest.application().version();
        let artifact_manifest = self.listed(ARTIFACT_MANIFEST_NAME);
        let project = self.manifest.compiler().project();
        let mut named = vec![("package.json".to_owned(), "the version", own.version.clone())];
        if let Some(version) = project.package_version() {
            let what = "compiler.project.packageVersion";
            named.push((artifact_manifest, what, Some(version.to_string())));
        }
        // npm has its version from package.json, unless something comes between.
        if let Some(list) = list.filter(|list| own.version.as_ref() != Some(&list.version)) {
            let what = "the version that npm would pack";
            named.push(("package.json".to_owned(), what, Some(list.version.clone())));
        }
        for projection in self.manifest.projections() {
            let Some(path) = projection.documents().plugin() else { continue };
            // A document that cannot be read is not what its row says, or is reported by
            // `validate`.
            let Ok(bytes) = root.read(path, MAX_DOCUMENT) else { continue };
            let Ok(document) = Document::parse(&bytes) else { continue };
            let version = document.root().get("version").and_then(Node::text);
            if let Some(version) = version {
                let row = (self.listed(path.as_str()), "the version", Some(version.into_owned()));
                // Agent hosts may share a document.
                if !named.contains(&row) {
                    named.push(row);
                }
            }
        }
        for (path, what, version) in named {
            let found = match version {
                Some(version) if version == expected => continue,
                Some(version) => format!("`{version}`"),
                None => "missing".to_owned(),
            };
            let message = format!("{what} is {found}, but application.version is `{expected}`");
            let diagnostic = Diagnostic::new(&AB7013, message).at(shown_at(self.shown, &path));
            self.found.push(diagnostic.help("build again after changing the version"));
        }
    }
}
