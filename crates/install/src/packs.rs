//! Packs: the gate, the members, the record last (reference 5.6).

use std::path::Path;

use holdall_diagnostics::{Diagnostic, Severity};
use holdall_hosts::Scope;
use holdall_pack::{PackHandle, PackStatus};
use holdall_store::{AppRecord, DigestRecord, Owner, PackRecord, Store, canonical};
use holdall_tree::Digest;

use crate::apps::{AppRequest, AppToInstall, plan_app, plan_app_removal};
use crate::codes::{HD0308, HD0310, HD0311, HD0314};
use crate::executor::ApplyError;
use crate::skills::{
    Action, Destination, Outcome, Planned, SkillToInstall, SkillsRequest, plan_removal,
    plan_skills, receipts_of,
};

/// A pack that can be applied: validated, its members found.
#[derive(Debug)]
pub struct PackToInstall {
    /// The validated manifest.
    pub handle: PackHandle,
    /// The recipe and hex of the pack digest.
    pub digest: DigestRecord,
    /// The tree hash of the pack root.
    pub tree: Digest,
    /// Where it came from, as it would be typed again.
    pub origin: String,
    /// The directory inside that was taken for the source.
    pub subdir: Option<String>,
    /// Its apps.
    pub apps: Vec<AppToInstall>,
    /// Its own skills and those of its includes.
    pub skills: Vec<SkillToInstall>,
    /// Includes that were not found, with where each was looked for.
    pub missing: Vec<MissingInclude>,
    /// Warnings about its members.
    pub diagnostics: Vec<Diagnostic>,
}

/// An include that was not found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingInclude {
    /// As the pack declares it.
    pub include: String,
    /// Where it was looked for, in that order.
    pub looked: Vec<String>,
}

/// How a pack is applied.
#[derive(Debug, Clone, Copy)]
pub struct PackRequest<'a> {
    /// The store.
    pub store: &'a Store,
    /// Where its skills go.
    pub destinations: &'a [Destination],
    /// For whom.
    pub scope: Scope,
    /// Whether skills that others own may be replaced, with a backup.
    pub take_over: bool,
    /// Whether includes may be missing.
    pub partial: bool,
    /// Whether the same name may come from elsewhere now.
    pub replace: bool,
    /// A data directory for its apps, of the user's choice.
    pub data_dir: Option<&'a Path>,
    /// The time to record: ISO 8601, UTC.
    pub now: &'a str,
}

/// Plans a pack. A gated one has its blockers as errors and no step.
pub fn plan_pack(request: PackRequest<'_>, pack: &PackToInstall) -> Result<Planned, ApplyError> {
    let mut planned = Planned::default();
    let name = pack.handle.name();
    if pack.handle.status() == PackStatus::Gated {
        let blocker = |blocker: &String| {
            Diagnostic::new(&HD0308, format!("{name} is gated: {blocker}"))
                .help("ask its author; it can be installed once the list of blockers is empty")
        };
        planned.diagnostics = pack.handle.blockers().iter().map(blocker).collect();
        return Ok(planned);
    }
    let before: Option<PackRecord> = request.store.record(name)?;
    if let Some(before) = &before
        && !request.replace
        && !same_origin(&before.origin, &pack.origin)
    {
        let message =
            format!("{name} was installed from {}, not from {}", before.origin, pack.origin);
        let help = "say --replace if the new origin is the one you mean";
        planned.diagnostics.push(Diagnostic::new(&HD0311, message).help(help));
        return Ok(planned);
    }
    planned.diagnostics.extend(pack.diagnostics.iter().cloned());
    for missing in &pack.missing {
        let severity = if request.partial { Severity::Warning } else { Severity::Error };
        let message = format!("the include {} was not found", missing.include);
        let help = format!(
            "looked for in: {}\nput it in one of them (npm install does for node_modules), or say \
             --partial to install the rest",
            missing.looked.join(", ")
        );
        planned.diagnostics.push(Diagnostic::new(&HD0310, message).severity(severity).help(help));
    }
    for app in &pack.apps {
        let one = AppRequest {
            store: request.store,
            pack: Some(name),
            data_dir: request.data_dir,
            replace: request.replace,
            now: request.now,
        };
        plan_app(one, app, &mut planned)?;
    }
    let version = Some(pack.handle.version().to_owned());
    plan_skills(
        &SkillsRequest {
            store: request.store,
            owner: Owner { name: name.to_owned(), version, origin: "inline".to_owned() },
            skills: &pack.skills,
            destinations: request.destinations,
            scope: request.scope,
            take_over: request.take_over,
            replace_origin: request.replace,
            drop_others: true,
            now: request.now,
        },
        &mut planned,
    )?;
    let ids: Vec<_> = pack.apps.iter().map(|app| app.id.clone()).collect();
    if let Some(before) = &before {
        for gone in before.apps.iter().filter(|id| !ids.contains(id)) {
            let message =
                format!("the app `{gone}` of {} {} stays installed", before.name, before.version);
            let help = format!("holdall uninstall app:{gone}");
            planned.diagnostics.push(Diagnostic::new(&HD0314, message).help(help));
        }
    }
    record(request, pack, before.as_ref(), ids, &mut planned)?;
    Ok(planned)
}

fn record(
    request: PackRequest<'_>,
    pack: &PackToInstall,
    before: Option<&PackRecord>,
    apps: Vec<String>,
    planned: &mut Planned,
) -> Result<(), ApplyError> {
    let mut manifest = pack.handle.to_json();
    let mut take =
        |key: &str| manifest.get_mut(key).map(serde_json::Value::take).filter(|v| !v.is_null());
    let mut record = PackRecord {
        name: pack.handle.name().to_owned(),
        version: pack.handle.version().to_owned(),
        title: pack.handle.title().to_owned(),
        origin: pack.origin.clone(),
        subdir: pack.subdir.clone(),
        status: pack.handle.status().to_string(),
        digest: pack.digest.clone(),
        tree: pack.tree.to_string(),
        apps,
        skills: pack.skills.iter().map(|skill| skill.name.to_string()).collect(),
        missing: pack.missing.iter().map(|missing| missing.include.clone()).collect(),
        knowledge: take("knowledge"),
        playbook: take("playbook"),
        pricing: take("pricing"),
        installed_at: request.now.to_owned(),
        updated_at: request.now.to_owned(),
    };
    let mut action = Action::Created;
    if let Some(before) = before {
        record.installed_at.clone_from(&before.installed_at);
        record.updated_at.clone_from(&before.updated_at);
        action = Action::Unchanged;
        if record != *before {
            request.now.clone_into(&mut record.updated_at);
            action = Action::Replaced;
        }
    }
    let path = request.store.record_path::<PackRecord>(&record.name);
    planned.put(request.store, path.clone(), canonical(&record))?;
    planned.outcomes.push(Outcome {
        kind: "pack",
        name: record.name,
        hosts: Vec::new(),
        destination: path,
        action,
        detail: None,
    });
    Ok(())
}

/// Whether two origins are one place. A directory may always be followed by another one; what came
/// from an address is only followed by the same address, whatever the pin.
pub fn same_origin(before: &str, now: &str) -> bool {
    fn place(origin: &str) -> Option<&str> {
        if origin.starts_with("git+") {
            return Some(origin.split('#').next().unwrap_or(origin));
        }
        if let Some(package) = origin.strip_prefix("npm:") {
            // The `@` of a scope is the first character; that of a version comes later.
            return Some(
                package.rfind('@').filter(|&at| at > 0).map_or(origin, |at| &origin[..at + 4]),
            );
        }
        origin.starts_with("https:").then_some(origin)
    }
    match (place(before), place(now)) {
        (Some(before), now) => now == Some(before),
        (None, _) => true,
    }
}

/// Plans to take a pack away: its skills, its apps (their data stays unless `purge_data`), its
/// record.
pub fn plan_pack_removal(
    store: &Store,
    name: &str,
    purge_data: bool,
    planned: &mut Planned,
) -> Result<(), ApplyError> {
    for receipt in receipts_of(store, name)? {
        plan_removal(store, &receipt, planned)?;
    }
    for app in store.records::<AppRecord>()? {
        if app.pack.as_deref() == Some(name) {
            plan_app_removal(store, &app, purge_data, planned)?;
        }
    }
    let path = store.record_path::<PackRecord>(name);
    if planned.is_planned(&path) {
        return Ok(());
    }
    if store.record::<PackRecord>(name)?.is_some() {
        planned.outcomes.push(Outcome {
            kind: "pack",
            name: name.to_owned(),
            hosts: Vec::new(),
            destination: path.clone(),
            action: Action::Removed,
            detail: None,
        });
    }
    planned.forget(store, path)
}
