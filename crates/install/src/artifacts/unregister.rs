//! Taking a plugin out of Claude Code or Codex (reference 5.3): by its receipt, through the host's
//! own program.

use std::fs;
use std::path::{Path, PathBuf};

use holdall_artifact::collate;
use holdall_diagnostics::Diagnostic;
use holdall_hosts::cli::{HostAction, HostCli};
use holdall_hosts::listing::{self, ListedPlugin};
use holdall_hosts::receipt::{InstallReceipt, Registration};
use serde_json::Value;

use super::programs::in_scope;
use super::registered::{Desk, all_receipts, hash_of_copy, is_shared, remove_root};
use super::request::{
    ArtifactError, DataPolicy, Prepared, RegistrationReport, UninstallArtifact, UninstallState,
    UninstallSummary,
};
use crate::codes::{AB7007, AB7008, AB7009};
use crate::executor::found_at;
use crate::plan::{Plan, Step};
use crate::skills::staging_for;

/// What there is to remove.
struct Target {
    id: String,
    marketplace: String,
    row: Option<ListedPlugin>,
    /// The receipt and its file.
    receipt: Option<(PathBuf, InstallReceipt)>,
}

pub(super) fn plan_uninstall(
    request: &UninstallArtifact<'_>,
    cli: HostCli,
) -> Result<Prepared<UninstallSummary>, ArtifactError> {
    let desk = Desk::open(
        request.host,
        cli,
        request.scope,
        request.env,
        request.project,
        request.programs,
    )?;
    let output = desk.ask(cli.list_plugins())?;
    let mut summary = UninstallSummary::nothing(request, desk.receipts());
    let mut plan = Plan::new();
    let Some(target) = find(request, &desk, &output)? else {
        return Ok(Prepared { plan, summary, judge: None });
    };
    summary.state = UninstallState::Planned;
    if let Some((path, receipt)) = &target.receipt {
        summary.receipt.path.clone_from(path);
        summary.receipt.status = "consumed";
        summary.receipt.version = Some(receipt.version.clone());
        summary.receipt.installed_at = Some(receipt.installed_at.clone());
        summary.receipt.content_hash = Some(receipt.content_hash.clone());
        summary.version = Some(receipt.version.clone());
    } else {
        summary.receipt.status = "forced-missing";
    }
    if let (Some(row), Some((_, receipt))) = (&target.row, &target.receipt) {
        let copy = desk.copy_of(row, &target.marketplace, request.plugin);
        let same = hash_of_copy(&copy).is_ok_and(|hash| hash == receipt.content_hash)
            && row.version.as_deref().is_none_or(|version| version == receipt.version);
        if !same && !request.force {
            let what =
                format!("what {} reads was changed after it was installed", desk.host.name());
            return Err(Diagnostic::new(&AB7007, what)
                .at(copy.display().to_string())
                .target(desk.host.id())
                .help("`--force` removes it all the same; copy what you changed first")
                .into());
        }
        if !same {
            summary.receipt.status = "forced-mismatch";
        }
        summary.destination = Some(copy);
    }
    data(request, &desk, &output, &target, &mut summary)?;
    unregister(request, &desk, &output, &target, &mut plan, &mut summary)?;
    finish(request, &desk, &target, plan, summary)
}

/// The plugin by its receipt, else by what the host lists, which takes `--force`.
fn find(
    request: &UninstallArtifact<'_>,
    desk: &Desk<'_>,
    output: &[u8],
) -> Result<Option<Target>, ArtifactError> {
    let project = request.project.display().to_string();
    let mine = |receipt: &InstallReceipt| {
        receipt.plugin == request.plugin
            && receipt.host == desk.host.id()
            && receipt.scope == request.scope
            && receipt.project_root.as_ref().is_none_or(|root| *root == project)
    };
    let mut receipts = all_receipts(&desk.receipts(), desk.host)?;
    receipts.retain(|(_, receipt)| mine(receipt));
    let id_of = |receipt: &InstallReceipt| {
        let kind = desk.cli.plugin_kind();
        let row = receipt.registrations.iter().find(|row| row.kind == kind)?;
        row.id.clone()
    };
    for (path, receipt) in receipts {
        let Some(id) = id_of(&receipt) else { continue };
        let Some(marketplace) = marketplace_of(&id) else { continue };
        let row = desk.row(output, &id)?;
        return Ok(Some(Target { id, marketplace, row, receipt: Some((path, receipt)) }));
    }
    for id in desk.ids_of(output, request.plugin)? {
        let Some(row) = desk.row(output, &id)? else { continue };
        let Some(marketplace) = marketplace_of(&id) else { continue };
        if !request.force {
            let what = format!("{id} is installed in {} without a receipt", desk.host.name());
            return Err(Diagnostic::new(&AB7009, what)
                .target(desk.host.id())
                .help("`--force` lets the agent host remove it")
                .into());
        }
        if request.data == DataPolicy::Purge {
            return Err(Diagnostic::new(&AB7008, format!("no receipt says whose {id}'s data is"))
                .target(desk.host.id())
                .help("uninstall it without `--purge-data`")
                .into());
        }
        return Ok(Some(Target { id, marketplace, row: Some(row), receipt: None }));
    }
    Ok(None)
}

fn marketplace_of(id: &str) -> Option<String> {
    id.rsplit_once('@').map(|(_, marketplace)| marketplace.to_owned())
}

/// What becomes of the plugin's data, which only the host knows.
fn data(
    request: &UninstallArtifact<'_>,
    desk: &Desk<'_>,
    output: &[u8],
    target: &Target,
    summary: &mut UninstallSummary,
) -> Result<(), ArtifactError> {
    let others =
        desk.cli.read_plugins(output, &target.id).map_err(|error| desk.stuck(error.to_string()))?;
    let here = in_scope(others.clone(), desk.scope, &desk.project).count();
    if request.data == DataPolicy::Purge && others.len() > here && desk.cli.can_keep_data() {
        let what = format!("{} is installed in another scope too, with the same data", target.id);
        return Err(Diagnostic::new(&AB7008, what)
            .target(desk.host.id())
            .help("uninstall it there first, or without `--purge-data`")
            .into());
    }
    summary.data.outcome = match (&target.row, request.data, desk.cli.can_keep_data()) {
        (None, _, _) => "absent",
        (_, DataPolicy::Keep, true) => "retained-by-host",
        _ => "removed-by-host",
    };
    Ok(())
}

/// The commands, and what is said of each registration.
fn unregister(
    request: &UninstallArtifact<'_>,
    desk: &Desk<'_>,
    output: &[u8],
    target: &Target,
    plan: &mut Plan,
    summary: &mut UninstallSummary,
) -> Result<(), ArtifactError> {
    let keep_data = desk.cli.can_keep_data() && request.data == DataPolicy::Keep;
    let report = |kind: &'static str, action, id: &str, detail: Option<String>| {
        RegistrationReport { kind, action, id: Some(id.to_owned()), detail }
    };
    let id = &target.id;
    let kind = desk.cli.plugin_kind().as_str();
    if target.row.is_some() {
        let remove = HostAction::RemovePlugin { id: id.clone(), scope: desk.scope, keep_data };
        let install = HostAction::AddPlugin { id: id.clone(), scope: desk.scope };
        desk.run(plan, &remove, &install);
        summary.registrations.push(report(kind, "removed", id, None));
    } else {
        summary.registrations.push(report(kind, "already-absent", id, None));
    }
    let Some((path, receipt)) = &target.receipt else { return Ok(()) };
    let kind = desk.cli.marketplace_kind();
    let Some(claim) = receipt.registrations.iter().find(|row| row.kind == kind) else {
        return Ok(());
    };
    let name = &target.marketplace;
    let Some(place) = desk.marketplace(name)? else {
        summary.registrations.push(report(kind.as_str(), "already-absent", name, None));
        return Ok(());
    };
    let ours = request.store.artifact_root(request.plugin, "");
    let detail = match place.filter(|at| Path::new(at).starts_with(&ours)) {
        None => Some("it points somewhere else by now".to_owned()),
        Some(at) => match dependents(desk, output, target, path)? {
            None => {
                let forget = HostAction::RemoveMarketplace { name: name.clone() };
                let add = HostAction::AddMarketplace { name: name.clone(), root: at };
                desk.run(plan, &forget, &add);
                None
            }
            Some(why) => {
                hand_over(desk, request, name, path, claim, plan)?;
                Some(why)
            }
        },
    };
    let action = if detail.is_none() { "removed" } else { "retained" };
    summary.registrations.push(report(kind.as_str(), action, name, detail));
    Ok(())
}

/// Why a marketplace has to stay: another plugin, scope or receipt uses it, or nobody can tell.
fn dependents(
    desk: &Desk<'_>,
    output: &[u8],
    target: &Target,
    path: &Path,
) -> Result<Option<String>, ArtifactError> {
    let name = &target.marketplace;
    let unknown =
        |what: String| Some(format!("whether something else needs it is unknown: {what}"));
    let ids = match listing::plugins_of_marketplace(output, name) {
        Ok(ids) => ids,
        Err(error) => return Ok(unknown(error.to_string())),
    };
    let own = usize::from(target.row.is_some());
    let same = ids.iter().filter(|id| **id == target.id).count();
    if let Some(other) = ids.iter().find(|id| **id != target.id) {
        return Ok(Some(format!("{other} is installed from it")));
    }
    if same > own {
        return Ok(Some(format!("{} is installed in another scope", target.id)));
    }
    if let Some((other, _)) = others_of(desk, name, path)?.into_iter().next() {
        return Ok(Some(format!("{} names it", other.display())));
    }
    if desk.cli == HostCli::Claude {
        let file = desk.home.join("plugins/installed_plugins.json");
        let bytes = match fs::read(&file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Ok(unknown(error.to_string())),
        };
        let Ok(value) = serde_json::from_slice::<Value>(&bytes) else {
            return Ok(unknown(format!("{} is not JSON", file.display())));
        };
        let suffix = format!("@{name}");
        let Some(plugins) = value.get("plugins").and_then(Value::as_object) else {
            return Ok(unknown(format!("{} has no `plugins`", file.display())));
        };
        for (id, rows) in plugins.iter().filter(|(id, _)| id.ends_with(&suffix)) {
            let count = rows.as_array().map_or(1, Vec::len);
            if *id != target.id || count > own {
                return Ok(Some(format!("{id} is recorded in {}", file.display())));
            }
        }
    }
    Ok(None)
}

/// Other receipts of a marketplace, in the order of their names.
fn others_of(
    desk: &Desk<'_>,
    marketplace: &str,
    path: &Path,
) -> Result<Vec<(PathBuf, InstallReceipt)>, ArtifactError> {
    let suffix = format!("@{marketplace}");
    let mut all = all_receipts(&desk.receipts(), desk.host)?;
    all.retain(|(other, receipt)| {
        let mut rows = receipt.registrations.iter();
        let uses = rows.any(|row| row.id.as_ref().is_some_and(|id| id.ends_with(&suffix)));
        other != path && uses
    });
    all.sort_by(|(a, _), (b, _)| collate(&a.to_string_lossy(), &b.to_string_lossy()));
    Ok(all)
}

/// The claim to a marketplace that stays moves to the receipt of somebody who needs it.
fn hand_over(
    desk: &Desk<'_>,
    request: &UninstallArtifact<'_>,
    marketplace: &str,
    path: &Path,
    claim: &Registration,
    plan: &mut Plan,
) -> Result<(), ArtifactError> {
    let Some((dest, mut heir)) = others_of(desk, marketplace, path)?.into_iter().next() else {
        return Ok(());
    };
    if heir.registrations.contains(claim) {
        return Ok(());
    }
    heir.registrations.push(claim.clone());
    request.now.clone_into(&mut heir.updated_at);
    let found = found_at(&dest)?;
    let staging = staging_for(&desk.home);
    let bytes = heir.to_bytes();
    plan.push(Step::PlaceFile { dest, staging, bytes, mode: 0o600, found });
    Ok(())
}

/// The receipt, the copy in the store, and the directories made for them.
fn finish(
    request: &UninstallArtifact<'_>,
    desk: &Desk<'_>,
    target: &Target,
    mut plan: Plan,
    mut summary: UninstallSummary,
) -> Result<Prepared<UninstallSummary>, ArtifactError> {
    let judge = target.row.is_some().then(|| desk.judge(&mut plan, &target.id, None));
    if let Some((path, receipt)) = &target.receipt {
        let found = found_at(path)?;
        let staging = staging_for(&desk.home);
        plan.push(Step::Remove { dest: path.clone(), staging, found });
        summary.removed.files.push(path.clone());
        if !is_shared(request.env, path, request.plugin, &receipt.content_hash)? {
            let root = request.store.artifact_root(request.plugin, &receipt.content_hash);
            if root.exists() {
                summary.removed.directories.push(root);
            }
            remove_root(request.store, request.plugin, &receipt.content_hash, &mut plan)?;
        }
        let mut made: Vec<_> =
            receipt.host_directories.iter().map(|below| desk.home.join(below.as_str())).collect();
        made.sort_by_key(|path| std::cmp::Reverse(path.as_os_str().len()));
        for path in made {
            plan.push(Step::RemoveEmptyDir { path });
        }
    }
    let cache = desk.home.join("plugins/cache").join(&target.marketplace).join(request.plugin);
    if desk.cli == HostCli::Claude && target.row.is_some() && cache.is_dir() {
        summary.retained.push(cache.clone());
        let step = format!("Claude Code keeps its copy in {} for two weeks", cache.display());
        summary.next_steps.push(step);
    }
    summary.next_steps.push(format!("Restart {}", desk.host.name()));
    Ok(Prepared { plan, summary, judge })
}
