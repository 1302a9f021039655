//! Taking an artifact out of Cursor or Amp (reference 5.3): what a receipt lists goes, and nothing
//! else.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use holdall_diagnostics::Diagnostic;
use holdall_hosts::receipt::{InstallReceipt, RECEIPT_NAME};
use holdall_tree::{Digest, DirTree, FileKind, Limits, TreePath, walk};

use super::bundle::{ArtifactHost, hash_of_files};
use super::placed::{Place, Standing, below_directories, standing};
use super::request::{
    ArtifactError, DataPolicy, RegistrationReport, UninstallArtifact, UninstallState,
    UninstallSummary,
};
use crate::codes::{AB7007, AB7009};
use crate::executor::found_at;
use crate::plan::{Plan, Step};
use crate::skills::staging_for;

/// The runtime's directory in an installed plugin.
const STATE: &str = "state";

pub(super) fn plan_uninstall(
    request: &UninstallArtifact<'_>,
) -> Result<(Plan, UninstallSummary), ArtifactError> {
    let place =
        Place::of(request.host, request.plugin, request.scope, request.env, request.project)?;
    place.check_ancestors()?;
    let mut plan = Plan::new();
    let mut summary = UninstallSummary::nothing(request, place.receipt());
    let receipt = match standing(&place, request.plugin)? {
        Standing::Nothing => return Ok((plan, summary)),
        Standing::Foreign(why) => {
            let code = if request.host == ArtifactHost::Amp { &AB7009 } else { &AB7007 };
            return Err(Diagnostic::new(code, format!("{why}, so nothing of it is removed"))
                .at(place.dest.display().to_string())
                .target(request.host.id())
                .help("it was not installed with a receipt; remove it yourself")
                .into());
        }
        Standing::Ours(receipt) => receipt,
    };
    summary.destination = Some(place.dest.clone());
    summary.version = Some(receipt.version.clone());
    summary.receipt.version = Some(receipt.version.clone());
    summary.receipt.installed_at = Some(receipt.installed_at.clone());
    summary.receipt.content_hash = Some(receipt.content_hash.clone());
    summary.receipt.status = "consumed";
    let state = place.dest.join(STATE);
    let has_state = fs::symlink_metadata(&state).is_ok_and(|known| known.is_dir());
    let purge = has_state && request.data == DataPolicy::Purge;
    if has_state {
        summary.data.outcome = if purge { "purged" } else { "kept" };
        summary.data.paths = vec![state.clone()];
    }
    if receipt.is_remnant() && !purge {
        summary.receipt.status = "remnant";
        return Ok((plan, summary));
    }
    if hash_of_files(&place.dest, &receipt.files)? != receipt.content_hash {
        if !request.force {
            return Err(Diagnostic::new(&AB7007, "was changed after it was installed")
                .at(place.dest.display().to_string())
                .target(request.host.id())
                .help("`--force` removes it all the same; copy what you changed first")
                .into());
        }
        summary.receipt.status = "forced-mismatch";
    }
    summary.state = UninstallState::Planned;
    summary.registrations = receipt
        .registrations
        .iter()
        .map(|row| RegistrationReport {
            kind: row.kind.as_str(),
            action: "removed",
            id: row.id.clone(),
            detail: None,
        })
        .collect();
    remove(request, &place, &receipt, purge, &mut plan, &mut summary)?;
    Ok((plan, summary))
}

fn remove(
    request: &UninstallArtifact<'_>,
    place: &Place,
    receipt: &InstallReceipt,
    purge: bool,
    plan: &mut Plan,
    summary: &mut UninstallSummary,
) -> Result<(), ArtifactError> {
    let staging = staging_for(&place.plugins);
    let dest = &place.dest;
    summary.retained = unowned(dest, receipt, purge)?;
    let host_directories = || {
        let mut all: Vec<PathBuf> =
            receipt.host_directories.iter().map(|path| place.base.join(path.as_str())).collect();
        all.sort_by_key(|path| std::cmp::Reverse(path.as_os_str().len()));
        all
    };
    if summary.retained.is_empty() {
        let found = found_at(dest)?;
        plan.push(Step::Remove { dest: dest.clone(), staging, found });
        summary.removed.files = receipt.files.iter().map(|path| dest.join(path.as_str())).collect();
        summary.removed.directories = vec![dest.clone()];
        for path in host_directories() {
            plan.push(Step::RemoveEmptyDir { path: path.clone() });
            if is_only(&path, dest) {
                summary.removed.directories.push(path);
            }
        }
        return Ok(());
    }
    for path in &receipt.files {
        let file = dest.join(path.as_str());
        let is_file = below_directories(dest, path)
            && fs::symlink_metadata(&file).is_ok_and(|known| known.is_file());
        if is_file {
            let found = found_at(&file)?;
            summary.removed.files.push(file.clone());
            plan.push(Step::Remove { dest: file, staging: staging.clone(), found });
        }
    }
    if purge {
        let state = dest.join(STATE);
        let found = found_at(&state)?;
        summary.removed.directories.push(state.clone());
        plan.push(Step::Remove { dest: state, staging: staging.clone(), found });
    }
    let mut directories: Vec<_> = receipt.directories.iter().collect();
    directories.sort_by_key(|path| std::cmp::Reverse(path.as_str().len()));
    for path in directories {
        plan.push(Step::RemoveEmptyDir { path: dest.join(path.as_str()) });
    }
    let path = place.receipt();
    let found = found_at(&path)?;
    if place.host == ArtifactHost::Cursor {
        let mut remnant = receipt.clone();
        remnant.files.clear();
        remnant.registrations.clear();
        remnant.content_hash = Digest::sha256(b"").hex();
        remnant.state = None;
        request.now.clone_into(&mut remnant.updated_at);
        // What still holds entries of others is not ours to remove later.
        remnant.directories.clear();
        let bytes = remnant.to_bytes();
        summary.remnant_receipt = Some(path.clone());
        plan.push(Step::PlaceFile { dest: path, staging, bytes, mode: 0o644, found });
    } else {
        plan.push(Step::Remove { dest: path, staging, found });
    }
    Ok(())
}

/// Whether a directory holds nothing but the way to `dest`.
fn is_only(directory: &Path, dest: &Path) -> bool {
    let Ok(entries) = fs::read_dir(directory) else { return false };
    entries.flatten().all(|entry| dest.starts_with(entry.path()))
}

/// What in the directory is neither listed nor made by the install; directories that hold nothing
/// but such things are named once.
fn unowned(
    dest: &Path,
    receipt: &InstallReceipt,
    purge: bool,
) -> Result<Vec<PathBuf>, ArtifactError> {
    let tree = DirTree::open(dest)?;
    let files: BTreeSet<&str> = receipt.files.iter().map(TreePath::as_str).collect();
    let directories: BTreeSet<&str> = receipt.directories.iter().map(TreePath::as_str).collect();
    let mut found = Vec::new();
    let mut entries = walk(&tree, &TreePath::root(), Limits::default());
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let path = entry.path.as_str();
        let ours = match entry.kind {
            FileKind::Directory => directories.contains(path),
            FileKind::File => files.contains(path) || path == RECEIPT_NAME,
            _ => false,
        };
        if path == STATE && entry.kind == FileKind::Directory {
            entries.skip_children();
            if purge {
                continue;
            }
        } else if ours || entry.path.is_root() {
            continue;
        } else if entry.kind == FileKind::Directory {
            entries.skip_children();
        }
        found.push(dest.join(path));
    }
    Ok(found)
}
