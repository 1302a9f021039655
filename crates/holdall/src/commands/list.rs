//! `holdall list`

use clap::Args;
use holdall_store::{AppRecord, PackRecord, Receipt};
use serde_json::{Value, json};

use super::{CommandResult, Context};
use crate::installing::{self, shown};
use crate::outcome::Outcome;
use crate::report::Report;

/// Show everything that is installed, by its receipts
///
/// Answers: what did I install, where is it, and where did it come from?
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  holdall list")]
pub(crate) struct List {}

pub(crate) fn run(_: &List, context: &Context<'_>) -> CommandResult {
    let store = installing::store(&context.env)?;
    let packs: Vec<PackRecord> = store.records().map_err(installing::failure)?;
    let apps: Vec<AppRecord> = store.records().map_err(installing::failure)?;
    let receipts: Vec<Receipt> = store.records().map_err(installing::failure)?;
    let mut report = Report::default();
    let mut rows: Vec<Value> = Vec::new();
    for pack in &packs {
        report.head(format!("{} {}   pack, {}   from {}", pack.name, pack.version, pack.status, pack.origin));
        if let Some(workspace) = text(pack.knowledge.as_ref(), "workspace") {
            report.row("knowledge", format!("of `{workspace}`; holdall knowledge query {}", pack.name));
        }
        if let Some(title) = text(pack.playbook.as_ref(), "title") {
            report.row("playbook", format!("`{title}`, written when asked"));
        }
        if !pack.missing.is_empty() {
            report.row("missing", pack.missing.join(", "));
        }
        rows.push(json!({"kind": "pack", "name": pack.name, "version": pack.version,
            "origin": pack.origin, "status": pack.status, "apps": pack.apps, "skills": pack.skills,
            "knowledge": pack.knowledge, "playbook": pack.playbook, "missing": pack.missing}));
    }
    for app in &apps {
        let owner = app.pack.as_ref().map(|pack| format!(" of {pack}")).unwrap_or_default();
        report.head(format!("{} {}   app{owner}", app.app_id, app.version));
        report.row("data", shown(app.data_dir.as_ref(), &context.env));
        rows.push(json!({"kind": "app", "name": app.app_id, "version": app.version,
            "destination": app.dir, "dataDir": app.data_dir, "pack": app.pack}));
    }
    for receipt in &receipts {
        let place = shown(receipt.destination.as_ref(), &context.env);
        report.head(format!("{}   skill of {}   for {}", receipt.name, receipt.owner.name, receipt.hosts.join(", ")));
        report.row("in", place);
        rows.push(json!({"kind": "skill", "name": receipt.name, "hosts": receipt.hosts,
            "destination": receipt.destination, "owner": receipt.owner, "scope": receipt.scope,
            "tree": receipt.tree}));
    }
    let mut outcome = Outcome::new("list");
    if rows.is_empty() {
        outcome.notes.push("nothing is installed".to_owned());
    }
    if holdall_install::is_unfinished(&store).map_err(installing::failure)? {
        outcome.notes.push("note: an earlier change did not finish; the next install or uninstall ends it".to_owned());
    }
    Ok(outcome.fact("list", rows).lines(report.into_lines()))
}

/// A text in a recorded object.
fn text<'r>(record: Option<&'r Value>, key: &str) -> Option<&'r str> {
    record?.get(key)?.as_str()
}
