//! `holdall uninstall NAME`

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::Args;
use holdall_diagnostics::Diagnostic;
use holdall_install::{
    ApplyError, ArtifactHost, DataPolicy, HD0312, Planned, plan_app_removal, plan_pack_removal, plan_removal_from,
    receipts_of,
};
use holdall_source::{OpenOptions, Source};
use holdall_store::{AppRecord, Kind, PackRecord, Receipt, Store};

use super::{CommandResult, Context};
use crate::installing::artifacts::{self, Removals, RemovalWish};
use crate::installing::{self, Change, ScopeName, Wish, shown};
use crate::kinds;
use crate::opening::open_source;
use crate::outcome::{Failure, Outcome};

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
    /// A name, or pack:NAME, app:ID, skill:NAME, artifact:NAME where one name is several things
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,
    /// The artifact to take out of the agent host that stands in NAME's place
    #[arg(long, value_name = "DIR")]
    from: Option<OsString>,
    /// Take artifacts out of this scope
    #[arg(long, value_enum, default_value_t = ScopeName::User)]
    scope: ScopeName,
    /// The project, instead of the nearest directory above with .git
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Remove what was changed by hand in an artifact too
    #[arg(long)]
    force: bool,
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
    if let [host] = arguments.names.as_slice()
        && let (Ok(found), Some(from)) = (holdall_hosts::find(host), &arguments.from)
    {
        return from_host(arguments, context, &store, found.id(), from);
    }
    if arguments.from.is_some() {
        return Err(Failure::usage(
            "--from goes with an agent host: `uninstall HOST --from DIR`",
            "name what is to go alone; receipts know the rest",
        ));
    }
    let mut absent = Vec::new();
    let mut taken = Removals::default();
    let mut names = Vec::new();
    for name in &arguments.names {
        let known = !name.starts_with("artifact:") && find(&store, name, &hosts)?.is_some();
        if known {
            names.push(name.clone());
            continue;
        }
        let other = ["pack:", "app:", "skill:"].iter().any(|kind| name.starts_with(kind));
        let plugin = name.strip_prefix("artifact:").unwrap_or(name);
        let found = if other {
            Removals::default()
        } else {
            artifact(arguments, context, &store, plugin, &hosts)?
        };
        if found.results.is_empty() && found.diagnostics.is_empty() {
            absent.push(format!("{name} is not installed"));
        }
        taken.results.extend(found.results);
        taken.lines.extend(found.lines);
        taken.diagnostics.extend(found.diagnostics);
    }
    // Also where nothing is left to do, what an earlier process left unfinished is ended.
    if names.is_empty() && !taken.results.is_empty() {
        return Ok(told(arguments, taken, absent));
    }
    let plan = || {
        let mut planned = Planned::default();
        for name in &names {
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
    outcome.notes.extend(taken.lines);
    outcome.diagnostics.extend(taken.diagnostics);
    let key = if arguments.plan { "plan" } else { "results" };
    if let Some(serde_json::Value::Array(rows)) = outcome.facts.get_mut(key) {
        rows.extend(taken.results);
    }
    artifacts::settle(&mut outcome);
    Ok(outcome)
}

/// Takes an artifact out of the agent hosts asked for, or of all.
fn artifact(
    arguments: &Uninstall,
    context: &Context<'_>,
    store: &Store,
    plugin: &str,
    hosts: &[String],
) -> Result<Removals, Failure> {
    let hosts: Vec<ArtifactHost> = hosts.iter().filter_map(|it| ArtifactHost::find(it)).collect();
    let project = installing::project(arguments.project.as_deref(), &context.env);
    let wish = RemovalWish {
        plugin,
        hosts: &hosts,
        scope: arguments.scope.into(),
        project: &project,
        data: if arguments.purge_data { DataPolicy::Purge } else { DataPolicy::Keep },
        force: arguments.force,
        now: &installing::now(),
    };
    artifacts::uninstall(context, store, wish, arguments.plan)
}

/// The seeds' form: out of one agent host, the artifact named by its directory.
fn from_host(
    arguments: &Uninstall,
    context: &Context<'_>,
    store: &Store,
    host: &str,
    from: &OsStr,
) -> CommandResult {
    let opened = open_source(&Source::parse(from)?, &OpenOptions::default(), context)?;
    let open = kinds::artifact::open(&opened)?;
    let plugin = open.manifest().application().name().to_owned();
    let found = artifact(arguments, context, store, &plugin, &[host.to_owned()])?;
    let absent = found.results.is_empty() && found.diagnostics.is_empty();
    let notes = if absent { vec![format!("{plugin} is not installed in {host}")] } else { vec![] };
    Ok(told(arguments, found, notes))
}

/// The outcome of artifacts alone.
fn told(arguments: &Uninstall, found: Removals, notes: Vec<String>) -> Outcome {
    let key = if arguments.plan { "plan" } else { "results" };
    let mut outcome = Outcome::new("uninstall").fact(key, found.results).lines(found.lines);
    outcome.diagnostics = found.diagnostics;
    outcome.notes = notes;
    artifacts::settle(&mut outcome);
    outcome
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
