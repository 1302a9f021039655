//! Packs and apps of a listing: each by itself, and a pack with the members that it declares; and
//! apps in bundles.

use std::collections::BTreeSet;
use std::fs::File;

use camino::Utf8Path;
use holdall_diagnostics::{Diagnostic, SourceText};
use holdall_pack::{
    APP_DIRECTORY, APP_FAMILY, ArtifactRef, BUNDLE_SUFFIX, Bundle, BundleLimits, FILE, LoadedPack,
    PACK_FAMILY, find_app_document, read_app, read_pack,
};
use holdall_skill::fix::Fix;
use holdall_skill::hidden;
use holdall_tree::{SubTree, Tree, TreePath, WalkEntry};

use super::listing::{self, shown, shown_root};
use super::{Checked, Excludes, Repair, Report, Root, is_file, place};
use crate::Kind;

/// Checks packs and apps. The directories in `apps` are those that an app's document stands in,
/// `.agentproto` too.
pub(super) fn check(
    tree: &dyn Tree,
    packs: &[TreePath],
    apps: &[TreePath],
    root: &Root<'_>,
    report: &mut Report,
) {
    let mut places = BTreeSet::new();
    for dir in apps {
        let dotted = dir.file_name() == Some(APP_DIRECTORY);
        places.insert(if dotted { dir.parent().unwrap_or_default() } else { dir.clone() });
    }
    let mut known = Known::default();
    let mut priced = Vec::new();
    let mut members = BTreeSet::new();
    for dir in packs {
        report.checked.push(Checked { kind: Kind::Pack, path: shown_root(root.shown, dir) });
        if let Some(pack) = pack(tree, dir, root, &mut members, report) {
            known.packs.insert(pack.handle().name().to_owned());
            priced.push((dir, pack));
        }
    }
    places.extend(members.iter().cloned());
    for dir in &places {
        report.checked.push(Checked { kind: Kind::App, path: shown_root(root.shown, dir) });
        // What is wrong with a member was said with its pack.
        known.apps.extend(app(tree, dir, root.shown, members.contains(dir), report));
    }
    for (dir, pack) in &priced {
        prices(dir, pack, &known, root.shown, report);
    }
}

/// Whether a file is checked as an app bundle because of its name.
pub(super) fn is_named_like_a_bundle(name: &str) -> bool {
    name.ends_with(BUNDLE_SUFFIX)
}

/// Checks an app bundle: its list of files against the files, then the app in it.
pub(super) fn bundle(path: &Utf8Path, shown: &str, excludes: &Excludes) -> Report {
    let opened = File::open(path)
        .map_err(|error| Box::new(Diagnostic::new(&crate::codes::CANNOT_OPEN, error.to_string())))
        .and_then(|file| Bundle::open(file, BundleLimits::default()));
    match opened {
        Ok(bundle) => {
            let listing = listing::of_tree(&bundle, shown, excludes);
            let root = Root { shown, name: None, place: None };
            let mut report = super::check(&bundle, listing, root);
            report.diagnostics.extend(place(bundle.warnings().to_vec(), shown));
            report
        }
        Err(found) => {
            let mut report = Report::default();
            report.checked.push(Checked { kind: Kind::App, path: shown.to_owned() });
            // Members are named behind the bundle, as in the findings of what is in it.
            let at = match &found.path {
                Some(inside) => listing::shown(shown, inside),
                None => shown.to_owned(),
            };
            report.diagnostics.push(found.at(at));
            report
        }
    }
}

/// Checks the app bundles of a listing.
pub(super) fn bundles(
    base: &Utf8Path,
    entries: &[WalkEntry],
    shown: &str,
    excludes: &Excludes,
    report: &mut Report,
) {
    for entry in entries.iter().filter(|entry| is_file(entry)) {
        if is_named_like_a_bundle(entry.path.file_name().unwrap_or_default()) {
            let here = listing::shown(shown, entry.path.as_str());
            report.merge(bundle(&base.join(entry.path.as_str()), &here, excludes));
        }
    }
}

/// What a product can be on.
#[derive(Default)]
struct Known {
    packs: BTreeSet<String>,
    apps: BTreeSet<String>,
}

impl Known {
    fn has(&self, on: &ArtifactRef) -> bool {
        match on.aip() {
            PACK_FAMILY => self.packs.contains(on.id()),
            APP_FAMILY => self.apps.contains(on.id()),
            _ => false,
        }
    }
}

fn pack(
    tree: &dyn Tree,
    dir: &TreePath,
    root: &Root<'_>,
    members: &mut BTreeSet<TreePath>,
    report: &mut Report,
) -> Option<LoadedPack> {
    let inside = match SubTree::new(tree, dir.clone()) {
        Ok(inside) => inside,
        Err(error) => {
            let found = Diagnostic::new(&crate::codes::CANNOT_OPEN, error.to_string());
            report.diagnostics.push(found.at(shown_root(root.shown, dir)));
            return None;
        }
    };
    let name = if dir.is_root() { root.name } else { dir.file_name() };
    let checked = read_pack(&inside, name);
    let here = shown(root.shown, dir.as_str());
    report.diagnostics.extend(place(checked.diagnostics, &here));
    members.extend(checked.app_directories.iter().map(|app| dir.join(app)));
    if let (Some(source), Ok(path)) = (checked.source, dir.child(FILE)) {
        document(path, root.shown, source, checked.fixes, report);
    }
    checked.pack
}

/// An app, and its id. The findings in its document are left out where they were made before.
fn app(
    tree: &dyn Tree,
    dir: &TreePath,
    root: &str,
    found: bool,
    report: &mut Report,
) -> Option<String> {
    let checked = read_app(tree, dir);
    if !found {
        report.diagnostics.extend(place(checked.diagnostics, root));
    }
    if let Ok((path, source)) = find_app_document(tree, dir) {
        document(path, root, source, checked.fixes, report);
    }
    checked.app.and_then(|app| app.id().map(str::to_owned))
}

/// Hidden characters of a document, and the quotes that would cure it.
fn document(path: TreePath, root: &str, source: SourceText, fixes: Vec<Fix>, report: &mut Report) {
    let here = shown(root, path.as_str());
    let hidden = hidden::diagnostics(&source).into_iter();
    report.diagnostics.extend(hidden.map(|found| found.at(here.as_str())));
    if !fixes.is_empty() {
        report.repairs.push(Repair::new(path, root, source, fixes));
    }
}

/// Products that price nothing here, and a pack that is priced twice.
fn prices(dir: &TreePath, pack: &LoadedPack, known: &Known, root: &str, report: &mut Report) {
    let found = pack.dangling(|on| known.has(on)).into_iter().chain(pack.price().1).collect();
    report.diagnostics.extend(place(found, &shown(root, dir.as_str())));
}
