//! From a pack or an app as it is read to what can be installed: its skills and includes, its
//! apps as trees with their hashes. Everything that can be wrong is found here, before a plan.

use std::path::Path;
use std::sync::Arc;

use holdall_diagnostics::{Diagnostic, Severity};
use holdall_pack::{AppManifest, LoadedPack, PackStatus};
use holdall_store::{AppSource, DigestRecord};
use holdall_tree::{
    FileKind, HashOptions, Limits, SubTree, Tree, TreeErrorKind, TreePath, tree_hash, walk,
};

use crate::apps::AppToInstall;
use crate::codes::{HD0313, HD0316};
use crate::includes::{FetchPin, IncludePlaces, Merged, merge_includes};
use crate::packs::PackToInstall;
use crate::skills::skills_of;

/// What surrounds a pack that is made ready.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// Where it came from, as it would be typed again.
    pub origin: &'a str,
    /// The pack root on disk, where it is a directory.
    pub directory: Option<&'a Path>,
    /// Where its includes are looked for.
    pub places: IncludePlaces<'a>,
    /// Fetches pinned includes.
    pub fetch: FetchPin<'a>,
    /// How a path of the tree is called in messages.
    pub shown: &'a dyn Fn(&TreePath) -> String,
}

impl std::fmt::Debug for Surroundings<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Surroundings").field("origin", &self.origin).finish_non_exhaustive()
    }
}

/// Makes a pack ready. Of a gated one nothing but the gate is looked at.
pub fn pack_to_install(
    tree: &Arc<dyn Tree>,
    pack: &LoadedPack,
    around: Surroundings<'_>,
) -> Result<PackToInstall, Vec<Diagnostic>> {
    let handle = pack.handle();
    let gated = handle.status() == PackStatus::Gated;
    let root = tree_hash(tree.as_ref(), HashOptions { without_git: true, ..Default::default() })
        .map_err(|error| vec![Diagnostic::new(&HD0313, error.to_string())])?;
    let mut faults = Vec::new();
    let mut apps = Vec::new();
    let mut merged = Merged::default();
    if !gated {
        let mut own = Vec::new();
        if handle.is_inline() {
            match skills_of(tree, "inline", around.shown) {
                Ok(skills) => own = skills,
                Err(found) => faults.extend(found),
            }
        }
        merged = merge_includes(own, handle.includes(), around.places, around.fetch);
        for app in pack.apps() {
            let path = match around.directory {
                Some(directory) => directory.join(app.directory.as_str()).display().to_string(),
                None => format!("{}/{}", around.origin, app.directory),
            };
            let source = AppSource::Dir { path };
            match app_to_install(tree, &app.directory, &app.manifest, source, around.places.home) {
                Ok(app) => apps.push(app),
                Err(found) => faults.extend(found.into_iter().map(|fault| {
                    let path = fault.path.as_deref().and_then(|path| TreePath::new(path).ok());
                    match path {
                        Some(path) => fault.at((around.shown)(&path)),
                        None => fault,
                    }
                })),
            }
        }
        let (errors, warnings): (Vec<_>, Vec<_>) =
            merged.diagnostics.drain(..).partition(|found| found.severity == Severity::Error);
        faults.extend(errors);
        merged.diagnostics = warnings;
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let digest = pack.digest();
    Ok(PackToInstall {
        handle: handle.clone(),
        digest: DigestRecord { alg: holdall_pack::ALG.to_owned(), hex: digest.digest().hex() },
        tree: root,
        origin: around.origin.to_owned(),
        subdir: None,
        apps,
        skills: merged.skills,
        missing: merged.missing,
        diagnostics: merged.diagnostics,
    })
}

/// Makes an app ready: `directory` of `tree`, whose document is `manifest`. The error is every
/// fault, with paths of the tree.
pub fn app_to_install(
    tree: &Arc<dyn Tree>,
    directory: &TreePath,
    manifest: &AppManifest,
    source: AppSource,
    home: &Path,
) -> Result<AppToInstall, Vec<Diagnostic>> {
    let mut faults = Vec::new();
    let fault = |what: String, path: &TreePath| {
        Diagnostic::new(&HD0313, what).at(if path.is_root() { "." } else { path.as_str() })
    };
    let Some(id) = manifest.id() else {
        let help = "give it an id in its APP.md";
        return Err(vec![fault("the app has no id".to_owned(), directory).help(help)]);
    };
    for entry in walk(tree.as_ref(), directory, Limits::default()) {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                faults.push(fault(error.to_string(), directory));
                break;
            }
        };
        match entry.kind {
            FileKind::Other => faults.push(
                fault("is neither a file, a directory nor a link".to_owned(), &entry.path)
                    .help("an app is made of plain files"),
            ),
            FileKind::Symlink => {
                let leaves = match tree.resolve(&entry.path) {
                    Ok(target) => target.strip_prefix(directory).is_none(),
                    Err(error) => error.kind != TreeErrorKind::NotFound,
                };
                if leaves {
                    faults.push(
                        fault("the link leads out of the app".to_owned(), &entry.path)
                            .help("put the file itself there"),
                    );
                }
            }
            FileKind::File | FileKind::Directory => {}
        }
    }
    for root in manifest.external_read_roots() {
        let path = match root.strip_prefix("~/") {
            Some(rest) => home.join(rest),
            None => Path::new(root).to_path_buf(),
        };
        if !path.is_absolute() || !path.is_dir() {
            let what = format!("the app `{id}` reads `{root}`, which is no directory here");
            faults.push(fault(what, directory).help("make the directory, if you know it"));
        }
    }
    // A path that leads out has been refused when the document was read.
    let data_hint = manifest.data_dir().and_then(|hint| TreePath::normalise(hint).ok());
    let sub: Result<Arc<dyn Tree>, _> = if directory.is_root() {
        Ok(tree.clone())
    } else {
        SubTree::new(tree.clone(), directory.clone()).map(|sub| Arc::new(sub) as Arc<dyn Tree>)
    };
    let hashed = sub.and_then(|sub| {
        let digest = tree_hash(sub.as_ref(), HashOptions::default())?;
        Ok((sub, digest))
    });
    match hashed {
        Ok((tree, digest)) if faults.is_empty() => Ok(AppToInstall {
            id: id.to_owned(),
            version: manifest.version().to_owned(),
            name: manifest.name().map(str::to_owned),
            data_hint,
            tree,
            digest,
            source,
        }),
        Ok(_) => Err(faults),
        Err(error) => {
            faults.push(fault(error.to_string(), directory));
            Err(faults)
        }
    }
}

/// Warnings about what an app needs beside its files.
pub fn app_warnings(manifest: &AppManifest, is_there: &dyn Fn(&str) -> bool) -> Vec<Diagnostic> {
    let id = manifest.id().unwrap_or_default();
    let mut found = Vec::new();
    for required in manifest.requires().iter().filter(|required| !is_there(required)) {
        found.push(
            Diagnostic::new(
                &HD0316,
                format!("the app `{id}` needs `{required}`, which is not installed"),
            )
            .help(format!("install `{required}` too")),
        );
    }
    if manifest.builds_ui() {
        found.push(
            Diagnostic::new(&HD0316, format!("the user interface of `{id}` is to be built first"))
                .help("Holdall runs nothing of an app; ask for one that is built"),
        );
    }
    found
}
