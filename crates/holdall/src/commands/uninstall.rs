//! `holdall uninstall NAME`

use clap::Args;
use holdall_diagnostics::Diagnostic;
use holdall_install::{
    ApplyError, HD0312, Planned, plan_app_removal, plan_pack_removal, plan_removal_from,
    receipts_of,
};
use holdall_store::{AppRecord, Kind, PackRecord, Receipt, Store};

use super::{CommandResult, Context};
use crate::installing::{self, Change, Wish, shown};
use crate::outcome::Failure;

/// Remove what an install put there, and nothing else
///
/// Answers: is every trace of it gone? Works from receipts, so the source may be long deleted. What
/// was changed by hand is kept and named; what had to make way comes back; data of apps stays
/// unless --purge-data. Uninstalling what is not there is no error.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  holdall uninstall the-agentic-coder
  holdall uninstall skill:say-hello --host claude
  holdall uninstall app:repo-maintenance --purge-data --confirm-purge")]
pub(crate) struct Uninstall {
    /// A name, or pack:NAME, app:ID, skill:NAME where one name is several things
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,
    /// Only from these agent hosts; repeatable, takes commas
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    host: Vec<String>,
    /// Show what would change, and change nothing
    #[arg(long, visible_alias = "dry-run")]
    plan: bool,
    /// Remove the data of apps too
    #[arg(long, requires = "confirm_purge")]
    purge_data: bool,
    /// Say that data is really meant
    #[arg(long)]
    confirm_purge: bool,
    /// Agree to what --plan shows
    #[arg(long)]
    yes: bool,
}

/// Something installed.
enum Installed {
    Pack(PackRecord),
    App(AppRecord),
    Skills(Vec<Receipt>),
}

pub(crate) fn run(arguments: &Uninstall, context: &Context<'_>) -> CommandResult {
    let store = installing::store(&context.env)?;
    let mut hosts = Vec::new();
    for name in &arguments.host {
        hosts.push(installing::host(name)?.id().to_owned());
    }
    let mut absent = Vec::new();
    for name in &arguments.names {
        if find(&store, name, &hosts)?.is_none() {
            absent.push(format!("{name} is not installed"));
        }
    }
    let plan = || {
        let mut planned = Planned::default();
        for name in &arguments.names {
            if let Some(found) = find(&store, name, &hosts)? {
                removal(&store, &found, &hosts, arguments.purge_data, &mut planned)
                    .map_err(|error| installing::apply_failure(&error))?;
            }
        }
        Ok(planned)
    };
    let line = |row: &holdall_install::Outcome| {
        let detail = row.detail.as_ref().map(|it| format!(": {it}")).unwrap_or_default();
        let place = shown(&row.destination, &context.env);
        format!("{:<8} {} {}  {place}{detail}", row.action.as_str(), row.kind, row.name)
    };
    let change = Change {
        kind: "uninstall",
        plan: &plan,
        preview: &|planned| planned.outcomes.iter().map(line).collect(),
        consent: &|_| None,
        done: &|_| Vec::new(),
    };
    let wish = Wish { only_plan: arguments.plan, agreed: arguments.yes };
    let mut outcome = installing::carry_out(context, &store, &change, wish)?;
    outcome.notes.extend(absent);
    Ok(outcome)
}

/// What a name means; two things of one name are an error that says how to name each.
fn find(store: &Store, name: &str, hosts: &[String]) -> Result<Option<Installed>, Failure> {
    let (only, name) = match name.split_once(':') {
        Some((kind @ ("pack" | "app" | "skill"), rest)) => (Some(kind), rest),
        _ => (None, name),
    };
    let wants = |kind| only.is_none_or(|only| only == kind);
    let mut found = Vec::new();
    if wants("pack") {
        let record: Option<PackRecord> = store.record(name).map_err(installing::failure)?;
        // Skills that were kept for being edited outlive the record of their pack.
        let kept = receipts_of(store, name).map_err(installing::failure)?;
        match record {
            Some(record) => found.push(("pack", Installed::Pack(record))),
            None if !kept.is_empty() => found.push(("pack", Installed::Skills(kept))),
            None => {}
        }
    }
    if wants("app") {
        let record: Option<AppRecord> = store.record(name).map_err(installing::failure)?;
        if let Some(record) = record {
            found.push(("app", Installed::App(record)));
        }
    }
    if wants("skill") {
        let mut receipts: Vec<Receipt> = store.records().map_err(installing::failure)?;
        receipts.retain(|receipt| {
            let here = hosts.is_empty() || receipt.hosts.iter().any(|host| hosts.contains(host));
            receipt.kind == Kind::Skill && receipt.name == name && here
        });
        if !receipts.is_empty() {
            found.push(("skill", Installed::Skills(receipts)));
        }
    }
    if found.len() > 1 {
        let names: Vec<_> = found.iter().map(|(kind, _)| format!("{kind}:{name}")).collect();
        let message = format!("`{name}` is several things");
        return Err(Diagnostic::new(&HD0312, message)
            .help(format!("say which: {}", names.join(" or ")))
            .into());
    }
    Ok(found.pop().map(|(_, installed)| installed))
}

fn removal(
    store: &Store,
    found: &Installed,
    hosts: &[String],
    purge_data: bool,
    planned: &mut Planned,
) -> Result<(), ApplyError> {
    match found {
        Installed::Pack(record) if hosts.is_empty() => {
            plan_pack_removal(store, &record.name, purge_data, planned)
        }
        // From some hosts only: the pack itself, and its apps, stay.
        Installed::Pack(record) => receipts_of(store, &record.name)?
            .iter()
            .try_for_each(|receipt| plan_removal_from(store, receipt, hosts, planned)),
        Installed::App(record) => plan_app_removal(store, record, purge_data, planned),
        Installed::Skills(receipts) => receipts
            .iter()
            .try_for_each(|receipt| plan_removal_from(store, receipt, hosts, planned)),
    }
}
