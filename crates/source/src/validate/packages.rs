//! Packages: sealed files with what is in them, and directories that are to become one.

use camino::Utf8Path;
use holdall_aospkg::pack::{Input, PackOptions, plan};
use holdall_aospkg::{PackageError, PackageLimits, TarFileSystem, oddities, verify};
use holdall_diagnostics::Diagnostic;
use holdall_tree::{DirTree, WalkEntry};

use super::{Checked, Excludes, Report, Root, check, is_file, listing, place};
use crate::Kind;

/// The document that makes a directory one that is to become a package.
const SOURCE_MANIFEST: &str = "agentos-package.json";

/// Whether a file is checked as a package because of its name.
pub(super) fn is_named_like_one(name: &str) -> bool {
    name.ends_with(".aospkg")
}

/// Checks a package file: what is odd about it, whether index and tar agree, and what is sealed
/// in it.
pub(super) fn file(path: &Utf8Path, shown: &str, excludes: &Excludes) -> Report {
    let mut report = Report::default();
    report.checked.push(Checked { kind: Kind::Package, path: shown.to_owned() });
    match look(path) {
        Ok((package, found)) => {
            report.diagnostics.extend(found.into_iter().map(|found| found.at(shown)));
            let listing = listing::of_tree(&package, shown, excludes);
            report.merge(check(&package, listing, Root { shown, name: None, place: None }));
        }
        Err(error) => report.diagnostics.push(error.diagnostic().at(shown)),
    }
    report
}

fn look(path: &Utf8Path) -> Result<(TarFileSystem, Vec<Diagnostic>), PackageError> {
    let package = TarFileSystem::open(path)?;
    let mut found = oddities(&package, &PackageLimits::default())?;
    let compared = verify(package.package())?;
    found.extend(compared.differences);
    found.extend(compared.oddities);
    Ok((package, found))
}

/// Checks the package files of a listing, and every directory in it with `agentos-package.json`:
/// whatever `pack` would say is said now.
pub(super) fn in_listing(
    base: &Utf8Path,
    entries: &[WalkEntry],
    shown: &str,
    excludes: &Excludes,
    report: &mut Report,
) {
    for entry in entries.iter().filter(|entry| is_file(entry)) {
        let name = entry.path.file_name().unwrap_or_default();
        let here = listing::shown(shown, entry.path.as_str());
        if is_named_like_one(name) {
            report.merge(file(&base.join(entry.path.as_str()), &here, excludes));
        } else if name == SOURCE_MANIFEST {
            let above = entry.path.parent().unwrap_or_default();
            let here = listing::shown(shown, above.as_str());
            source(&base.join(above.as_str()), &here, report);
        }
    }
}

/// What packing a directory would say, with the options that need none.
fn source(path: &Utf8Path, shown: &str, report: &mut Report) {
    let path = if path.as_str().is_empty() { Utf8Path::new(".") } else { path };
    let place_shown = if shown.is_empty() { "." } else { shown };
    report.checked.push(Checked { kind: Kind::Package, path: place_shown.to_owned() });
    let found = match DirTree::open(path.as_std_path()) {
        Ok(tree) => match plan(Input::Tree(&tree), &PackOptions::default()) {
            Ok(plan) => plan.warnings().to_vec(),
            Err(found) => found,
        },
        Err(error) => vec![super::cannot_open(&error, place_shown)],
    };
    report.diagnostics.extend(place(found, shown));
}
