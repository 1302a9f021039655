//! A pack root read whole: `PACK.md`, the apps it declares, the skills it brings, its digest.
//!
//! Everything is read through a [`Tree`], so that a pack sealed in a file is the same pack.
//! Nothing outside the root is looked at, whatever links say (`pack-v1` 3.4), and a declared app
//! without its document is an error, never a line left out of the digest.

use holdall_diagnostics::{Diagnostic, Severity, SourceText};
use holdall_skill::directory::{read_document, skill_directories};
use holdall_skill::fix::Fix;
use holdall_tree::{FileKind, Tree, TreePath};

use crate::app::{AppManifest, find_app_document, read_app};
use crate::codes;
use crate::confine::{self, Confined};
use crate::digest::{PACK_LABEL, PackDigest, pack_digest};
use crate::handle::PackHandle;
use crate::manifest::{FILE, PackManifest, check_pack};
use crate::product::{PackPrice, Product, dangling, price_of, products_of};
use crate::refs::ArtifactRef;

/// A pack with its members, all of them valid.
#[derive(Debug)]
pub struct LoadedPack {
    manifest: PackManifest,
    handle: PackHandle,
    apps: Vec<LoadedApp>,
    skills: Vec<TreePath>,
    products: Vec<Product>,
    digest: PackDigest,
}

/// An app of a pack.
#[derive(Debug, Clone)]
pub struct LoadedApp {
    /// The id that the pack declares, equal to that of the document.
    pub id: String,
    /// The path as the pack writes it: its label in the digest.
    pub label: String,
    /// The app's directory in the tree, links followed.
    pub directory: TreePath,
    /// Its document.
    pub manifest: AppManifest,
}

impl LoadedPack {
    /// The document.
    pub const fn manifest(&self) -> &PackManifest {
        &self.manifest
    }

    /// The validated pack with its derived status.
    pub const fn handle(&self) -> &PackHandle {
        &self.handle
    }

    /// The apps, in the order of the document.
    pub fn apps(&self) -> &[LoadedApp] {
        &self.apps
    }

    /// Directories of the pack's own skills, `skills/*` with a `SKILL.md`, sorted; none unless
    /// the plugin is inline.
    pub fn skills(&self) -> &[TreePath] {
        &self.skills
    }

    /// The products in `products/`, sorted by id.
    pub fn products(&self) -> &[Product] {
        &self.products
    }

    /// What it costs by its own products, and the warning at `pricing` where both forms exist.
    pub fn price(&self) -> (PackPrice<'_>, Option<Diagnostic>) {
        let (price, twice) = price_of(&self.handle, &self.products);
        let place = |found: Diagnostic| {
            found.span(self.manifest.source(), self.manifest.span_of(&["pricing"])).at(FILE)
        };
        (price, twice.map(place))
    }

    /// Findings about its products that price nothing which `known` knows, each at its file.
    pub fn dangling(&self, known: impl Fn(&ArtifactRef) -> bool) -> Vec<Diagnostic> {
        dangling(&self.products, known).into_iter().map(|(_, found)| found).collect()
    }

    /// The digest of its documents.
    pub const fn digest(&self) -> &PackDigest {
        &self.digest
    }
}

/// What came of reading a pack root.
#[derive(Debug, Default)]
pub struct CheckedRoot {
    /// The pack, if nothing found is an error.
    pub pack: Option<LoadedPack>,
    /// Everything found, with the paths of the tree.
    pub diagnostics: Vec<Diagnostic>,
    /// The quotes that would cure some faults of `PACK.md`.
    pub fixes: Vec<Fix>,
    /// The text of `PACK.md`, if it could be read.
    pub source: Option<SourceText>,
    /// Directories of the apps that were looked at, faulty ones too.
    pub app_directories: Vec<TreePath>,
}

/// Reads the pack at the root of `tree`. `directory` is the name of the root, where it has one.
pub fn read_pack(tree: &dyn Tree, directory: Option<&str>) -> CheckedRoot {
    let mut root = CheckedRoot::default();
    let Ok(path) = TreePath::new(FILE) else { return root };
    let source = match read_document(tree, &path) {
        Ok(source) => source,
        Err(found) => {
            root.diagnostics.push(*found);
            return root;
        }
    };
    let checked = check_pack(&source, directory);
    let place = |found: Diagnostic| found.at(FILE);
    root.diagnostics = checked.diagnostics.into_iter().map(place).collect();
    root.fixes = checked.fixes;
    root.source = Some(source);
    let Some((manifest, handle)) = checked.pack else { return root };
    let apps = apps(tree, &manifest, &handle, &mut root);
    let skills = if handle.is_inline() { skill_directories(tree) } else { Ok(Vec::new()) };
    // What cannot be listed is not "no skills".
    let skills = skills.unwrap_or_else(|error| {
        let found = Diagnostic::new(&holdall_skill::codes::NOT_A_FILE, error.to_string());
        root.diagnostics.push(found.at(error.path.as_str()).help("make the directory readable"));
        Vec::new()
    });
    if handle.is_inline() && skills.is_empty() {
        let span = manifest.span_of(&["plugin", "inline"]);
        root.diagnostics.push(
            Diagnostic::new(&codes::NO_SKILLS, "the plugin is inline, and `skills` holds no skill")
                .span(manifest.source(), span)
                .at(FILE)
                .help("add skills/NAME/SKILL.md, or leave `inline` out"),
        );
    }
    let products = products_of(tree, &TreePath::root());
    root.diagnostics.extend(products.diagnostics);
    let inputs: Vec<(&str, &[u8])> = std::iter::once((PACK_LABEL, manifest.source().bytes()))
        .chain(apps.iter().map(|app| (app.label.as_str(), app.manifest.source().bytes())))
        .collect();
    let digest = pack_digest(inputs);
    if !digest.is_portable() {
        let span = manifest.span_of(&["apps"]);
        root.diagnostics.push(
            Diagnostic::new(
                &codes::DIGEST_ORDER,
                "readers disagree on the order of the apps' paths",
            )
            .span(manifest.source(), span)
            .at(FILE)
            .help("rename the directory to one without characters above U+FFFF"),
        );
    }
    if root.diagnostics.iter().all(|found| found.severity != Severity::Error) {
        let products = products.products;
        root.pack = Some(LoadedPack { manifest, handle, apps, skills, products, digest });
    }
    root
}

/// The apps that a pack declares; those that are wrong are findings.
fn apps(
    tree: &dyn Tree,
    manifest: &PackManifest,
    handle: &PackHandle,
    root: &mut CheckedRoot,
) -> Vec<LoadedApp> {
    let mut apps = Vec::new();
    for (at, entry) in handle.apps().iter().enumerate() {
        let at = at.to_string();
        let here = |found: Diagnostic, key: &str| {
            found.span(manifest.source(), manifest.span_of(&["apps", &at, key])).at(FILE)
        };
        let missing = |why: &str| {
            let message = format!("the app `{}` at `{}` {why}", entry.id, entry.path);
            Diagnostic::new(&codes::APP_MISSING, message).help(format!(
                "looked for {0}/APP.md and {0}/.agentproto/APP.md",
                entry.path.trim_end_matches('/')
            ))
        };
        let directory = match confine::resolve(tree, &TreePath::root(), &entry.path) {
            Ok(directory) => directory,
            Err(Confined::Tree(_)) => {
                root.diagnostics.push(here(missing("is not there"), "path"));
                continue;
            }
            Err(error) => {
                let message =
                    format!("the path `{}` of the app `{}` {error}", entry.path, entry.id);
                let found = Diagnostic::new(&codes::APP_PATH, message);
                let help = "paths are relative to the pack root and stay in it";
                root.diagnostics.push(here(found.help(help), "path"));
                continue;
            }
        };
        if tree.metadata(&directory).map(|found| found.kind).ok() != Some(FileKind::Directory) {
            root.diagnostics.push(here(missing("is no directory"), "path"));
            continue;
        }
        match find_app_document(tree, &directory) {
            Err(found) if found.code == codes::NOT_AN_APP.id => {
                root.diagnostics.push(here(missing("has no document"), "path"));
                continue;
            }
            _ => {}
        }
        root.app_directories.push(directory.clone());
        let checked = read_app(tree, &directory);
        root.diagnostics.extend(checked.diagnostics);
        let Some(app) = checked.app else { continue };
        match app.id() {
            Some(id) if id == entry.id => {
                let (id, label) = (entry.id.clone(), entry.path.clone());
                apps.push(LoadedApp { id, label, directory, manifest: app });
            }
            other => {
                let own = other.map_or("no id".to_owned(), |id| format!("the id `{id}`"));
                let message = format!("the app at `{}` has {own}, not `{}`", entry.path, entry.id);
                let found = Diagnostic::new(&codes::APP_ID, message);
                root.diagnostics.push(here(found.help("make the two equal"), "id"));
            }
        }
    }
    apps
}
