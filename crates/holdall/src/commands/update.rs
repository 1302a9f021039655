//! `holdall update [NAME]`

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::Args;
use holdall_diagnostics::Diagnostic;
use holdall_hosts::Scope;
use holdall_install::{Destination, HD0312, HD0320, receipts_of};
use holdall_source::{OpenOptions, Source};
use holdall_store::{AppRecord, AppSource, Kind, PackRecord, Receipt, Store};
use holdall_tree::{HashOptions, tree_hash};
use serde_json::Value;

use super::{CommandResult, Context};
use crate::installing::apps::{self, AppWish};
use crate::installing::packs::{self, PackWish, Places};
use crate::installing::skills::{self, SkillsWish};
use crate::installing::{self, Wish};
use crate::opening::{open_source, tree_path};
use crate::outcome::{Data, Exit, Failure, Outcome};

/// Look at where things came from, and install what is newer
///
/// Answers: is there a newer version, and what would it change? Directories and https addresses are
/// read again, branches and tags are asked. What is pinned cannot move: the line for a new pin is
/// printed. Data of apps stays.
#[derive(Debug, Args)]
#[command(visible_alias = "resync", after_help = "Examples:
  holdall update                      everything
  holdall update the-agentic-coder --plan
  holdall update app:repo-maintenance")]
pub(crate) struct Update {
    /// A name, or pack:NAME, app:ID, skill:NAME; without it everything
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Show what would change, and change nothing
    #[arg(long, visible_alias = "dry-run")]
    plan: bool,
    /// Agree to what the preview shows
    #[arg(long)]
    yes: bool,
    /// Update a pack though some of its includes are not there
    #[arg(long)]
    partial: bool,
}

/// Something that can be updated.
enum Installed {
    Pack(Box<PackRecord>),
    App(Box<AppRecord>),
    /// Skills from one origin.
    Skills(String, Vec<Receipt>),
}

pub(crate) fn run(arguments: &Update, context: &Context<'_>) -> CommandResult {
    let store = installing::store(&context.env)?;
    let all = installed(&store)?;
    let chosen: Vec<&Installed> = match &arguments.name {
        None => all.iter().filter(|one| !is_part(one)).collect(),
        Some(name) => named(&all, name)?,
    };
    let key = if arguments.plan { "plan" } else { "results" };
    let mut whole = Outcome::new("update");
    let (mut rows, mut lines) = (Vec::new(), Vec::new());
    let single = arguments.name.is_some();
    for one in chosen {
        let mut outcome = match update(arguments, context, &store, one, single) {
            Ok(outcome) => outcome,
            Err(failure) => failure.into_outcome("update"),
        };
        if let Some(Value::Array(found)) = outcome.facts.remove(key) {
            let same = |row: &Value| row["action"] == "unchanged";
            if !found.is_empty() && found.iter().all(same) {
                outcome.data = Data::Lines(vec![format!("{} is up to date", title(one))]);
                outcome.notes.clear();
            }
            rows.extend(found);
        }
        if let Data::Lines(more) = outcome.data {
            lines.extend(more);
        }
        if outcome.exit.code() > whole.exit.code() {
            whole.exit = outcome.exit;
        }
        whole.diagnostics.extend(outcome.diagnostics);
        whole.notes.extend(outcome.notes);
    }
    Ok(whole.fact(key, rows).lines(lines))
}

fn installed(store: &Store) -> Result<Vec<Installed>, Failure> {
    let packs: Vec<PackRecord> = store.records().map_err(installing::failure)?;
    let apps: Vec<AppRecord> = store.records().map_err(installing::failure)?;
    let receipts: Vec<Receipt> = store.records().map_err(installing::failure)?;
    let mut alone: BTreeMap<String, Vec<Receipt>> = BTreeMap::new();
    for receipt in receipts {
        if receipt.kind == Kind::Skill && receipt.owner.name == receipt.owner.origin {
            alone.entry(receipt.owner.origin.clone()).or_default().push(receipt);
        }
    }
    let mut all: Vec<Installed> =
        packs.into_iter().map(|pack| Installed::Pack(Box::new(pack))).collect();
    all.extend(apps.into_iter().map(|app| Installed::App(Box::new(app))));
    all.extend(alone.into_iter().map(|(origin, skills)| Installed::Skills(origin, skills)));
    Ok(all)
}

/// Whether it is updated with the pack that brought it.
const fn is_part(one: &Installed) -> bool {
    matches!(one, Installed::App(app) if app.pack.is_some())
}

fn named<'a>(all: &'a [Installed], name: &str) -> Result<Vec<&'a Installed>, Failure> {
    let (only, name) = match name.split_once(':') {
        Some((kind @ ("pack" | "app" | "skill"), rest)) => (Some(kind), rest),
        _ => (None, name),
    };
    let is = |one: &&Installed| {
        let (kind, found) = match one {
            Installed::Pack(pack) => ("pack", pack.name == name),
            Installed::App(app) => ("app", app.app_id == name),
            Installed::Skills(origin, skills) => {
                ("skill", origin == name || skills.iter().any(|skill| skill.name == name))
            }
        };
        found && only.is_none_or(|only| only == kind)
    };
    let found: Vec<&Installed> = all.iter().filter(is).collect();
    match found.len() {
        0 => Err(Diagnostic::new(&HD0312, format!("`{name}` is not installed"))
            .help("`holdall list` shows what is")
            .into()),
        1 => Ok(found),
        _ => Err(Diagnostic::new(&HD0312, format!("`{name}` is several things"))
            .help(format!("say which: pack:{name}, app:{name} or skill:{name}"))
            .into()),
    }
}

fn title(one: &Installed) -> String {
    match one {
        Installed::Pack(pack) => format!("{} {}", pack.name, pack.version),
        Installed::App(app) => format!("{} {}", app.app_id, app.version),
        Installed::Skills(origin, _) => origin.clone(),
    }
}

fn update(
    arguments: &Update,
    context: &Context<'_>,
    store: &Store,
    one: &Installed,
    single: bool,
) -> Result<Outcome, Failure> {
    let wish = Wish { only_plan: arguments.plan, agreed: arguments.yes };
    let now = installing::now();
    match one {
        Installed::Pack(pack) => {
            if let Some(note) = pinned(&pack.origin) {
                return Ok(unmoved(&title(one), &note));
            }
            let subdir =
                pack.subdir.as_deref().map(tree_path).transpose()?.unwrap_or_default();
            let options = OpenOptions { subdir, ..OpenOptions::default() };
            let source = Source::parse(OsStr::new(&pack.origin))?;
            let opened = open_source(&source, &options, context)?;
            let receipts = receipts_of(store, &pack.name).map_err(installing::failure)?;
            let (destinations, scope) = destinations(&receipts);
            let pack_wish = PackWish {
                take_over: false,
                replace: false,
                // What was missing may stay so; more may not go missing without being asked for.
                partial: arguments.partial || !pack.missing.is_empty(),
                data_dir: None,
                origin: &pack.origin,
                subdir: pack.subdir.as_deref(),
                now: &now,
            };
            let places = Places::Known(destinations, scope);
            packs::install(context, store, &opened, &places, pack_wish, wish)
        }
        Installed::App(app) => update_app(context, store, app, single, wish, &now),
        Installed::Skills(origin, receipts) => {
            if let Some(note) = pinned(origin) {
                return Ok(unmoved(origin, &note));
            }
            let source = Source::parse(OsStr::new(origin))?;
            let opened = open_source(&source, &OpenOptions::default(), context)?;
            let digest = tree_hash(
                opened.tree(),
                HashOptions { without_git: true, ..HashOptions::default() },
            )
            .map_err(|error| opened.error(error))?;
            let (destinations, scope) = destinations(receipts);
            let mut only: Vec<String> =
                receipts.iter().map(|receipt| receipt.name.clone()).collect();
            only.sort();
            only.dedup();
            let skills_wish = SkillsWish {
                only: &only,
                scope,
                take_over: false,
                replace: false,
                origin,
                digest,
                now: &now,
            };
            skills::install(context, store, &opened, &destinations, skills_wish, wish)
        }
    }
}

fn update_app(
    context: &Context<'_>,
    store: &Store,
    app: &AppRecord,
    single: bool,
    wish: Wish,
    now: &str,
) -> Result<Outcome, Failure> {
    let id = &app.app_id;
    if let Some(pack) = &app.pack {
        let message = format!("the app `{id}` is part of `{pack}`");
        let help = format!("holdall update {pack}");
        return Err(Diagnostic::new(&HD0320, message).help(help).into());
    }
    let (text, options) = match &app.source {
        AppSource::Dir { path } => {
            let message = format!("the app `{id}` was installed from a directory, nothing to resync");
            if single {
                let help = format!("holdall install {path}");
                return Err(Diagnostic::new(&HD0320, message).help(help).into());
            }
            return Ok(unmoved(id, &format!("holdall install {path}")));
        }
        AppSource::Git { url, reference, sha, subdir } => {
            let subdir = subdir.as_deref().map(tree_path).transpose()?.unwrap_or_default();
            let Some(reference) = reference else {
                let line = format!("holdall install git+{url}#NEW-COMMIT");
                return Ok(unmoved(&format!("{id}, pinned to {sha},"), &line));
            };
            let options = OpenOptions {
                subdir,
                follow: Some(reference.clone()),
                ..OpenOptions::default()
            };
            (format!("git+{url}"), options)
        }
        AppSource::Agentapp { url, .. } => {
            let text = url.strip_prefix("file:").unwrap_or(url).to_owned();
            (text, OpenOptions::default())
        }
    };
    let opened = open_source(&Source::parse(OsStr::new(&text))?, &options, context)?;
    let subdir = match &app.source {
        AppSource::Git { subdir, .. } => subdir.as_deref(),
        _ => None,
    };
    let source = apps::source_of(&opened, &text, subdir);
    let app_wish = AppWish { replace: false, data_dir: None, now };
    apps::install(context, store, &opened, source, app_wish, wish)
}

/// The line that installs another version of what is pinned; none for what can move.
fn pinned(origin: &str) -> Option<String> {
    if let Some(address) = origin.strip_prefix("git+") {
        let address = address.split('#').next().unwrap_or(address);
        return Some(format!("holdall install git+{address}#NEW-COMMIT"));
    }
    let package = origin.strip_prefix("npm:")?;
    let name = package.rfind('@').filter(|&at| at > 0).map_or(package, |at| &package[..at]);
    Some(format!("holdall install npm:{name}@NEW-VERSION"))
}

fn unmoved(what: &str, line: &str) -> Outcome {
    let mut outcome = Outcome::new("update");
    outcome.notes.push(format!("{what} does not move by itself; for another version: {line}"));
    outcome.exit = Exit::Done;
    outcome
}

/// Where skills are already.
fn destinations(receipts: &[Receipt]) -> (Vec<Destination>, Scope) {
    let mut found: BTreeMap<PathBuf, Destination> = BTreeMap::new();
    for receipt in receipts {
        let Some(directory) = Path::new(&receipt.destination).parent() else { continue };
        let destination = found.entry(directory.to_owned()).or_insert_with(|| Destination {
            directory: directory.to_owned(),
            hosts: Vec::new(),
            also_read_by: Vec::new(),
        });
        for host in &receipt.hosts {
            if !destination.hosts.contains(host) {
                destination.hosts.push(host.clone());
            }
        }
    }
    let scope = receipts.first().and_then(|receipt| Scope::parse(&receipt.scope));
    (found.into_values().collect(), scope.unwrap_or(Scope::User))
}
