//! Installing a pack: its apps, its skills and those of its includes, its record last.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use holdall_diagnostics::{Diagnostic, Severity};
use holdall_hosts::Scope;
use holdall_install::{
    Action, Destination, IncludePlaces, PackRequest, PackToInstall, Planned, Surroundings,
    app_warnings, pack_to_install, plan_pack,
};
use holdall_pack::{AppManifest, GitPin, LoadedPack, PackStatus, read_pack};
use holdall_source::{OpenError, OpenOptions, Opened, Source};
use holdall_store::{AppRecord, PackRecord, Store};
use holdall_tree::{Tree, TreePath};

use super::preview::{Preview, after, some};
use super::skills::without_document;
use super::{Change, Target, Wish, apply_failure, carry_out, failure, is_local_directory};
use crate::commands::Context;
use crate::opening::open_source;
use crate::outcome::{Failure, Outcome};
use crate::report::count;

/// How a pack is to be installed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PackWish<'a> {
    /// Whether what others own makes way.
    pub(crate) take_over: bool,
    /// Whether the origin may change.
    pub(crate) replace: bool,
    /// Whether includes may be missing.
    pub(crate) partial: bool,
    /// A data directory for its app.
    pub(crate) data_dir: Option<&'a Path>,
    /// Where it comes from, as it would be typed again from anywhere.
    pub(crate) origin: &'a str,
    /// The directory inside, as typed.
    pub(crate) subdir: Option<&'a str>,
    /// The time to record.
    pub(crate) now: &'a str,
}

/// Where its skills go: asked only once it is known that there are some.
pub(crate) enum Places<'a> {
    /// As the command line says.
    Target(&'a Target),
    /// Where they are already.
    Known(Vec<Destination>, Scope),
}

/// Installs a pack.
pub(crate) fn install(
    context: &Context<'_>,
    store: &Store,
    opened: &Opened,
    places: &Places<'_>,
    pack_wish: PackWish<'_>,
    wish: Wish,
) -> Result<Outcome, Failure> {
    let (loaded, warnings) = load(opened, context)?;
    let mut pack = ready(context, store, opened, &loaded, pack_wish.origin)?;
    pack.diagnostics.splice(0..0, warnings);
    pack.subdir = pack_wish.subdir.map(str::to_owned);
    let gated = loaded.handle().status() == PackStatus::Gated;
    if pack_wish.data_dir.is_some() && pack.apps.len() != 1 {
        let message = format!("--data-dir is for one app, and this pack has {}", pack.apps.len());
        return Err(Failure::usage(message, "leave it out; each app has a directory of its own"));
    }
    for app in loaded.apps() {
        let is_there = |id: &str| {
            pack.apps.iter().any(|app| app.id == id)
                || store.record::<AppRecord>(id).is_ok_and(|record| record.is_some())
        };
        let found = app_warnings(&app.manifest, &is_there);
        pack.diagnostics.extend(found);
    }
    let (destinations, scope, notes) = match places {
        _ if gated || pack.skills.is_empty() => (Vec::new(), Scope::User, Vec::new()),
        Places::Target(target) => {
            let (destinations, notes) = target.destinations(&context.env, store)?;
            (destinations, Scope::from(target.scope), notes)
        }
        Places::Known(destinations, scope) => (destinations.clone(), *scope, Vec::new()),
    };
    let name = pack.handle.name().to_owned();
    let plan = || -> Result<Planned, Failure> {
        let request = PackRequest {
            store,
            destinations: &destinations,
            scope,
            take_over: pack_wish.take_over,
            partial: pack_wish.partial,
            replace: pack_wish.replace,
            data_dir: pack_wish.data_dir,
            now: pack_wish.now,
        };
        plan_pack(request, &pack).map_err(|error| apply_failure(&error))
    };
    let before: Option<PackRecord> = store.record(&name).map_err(failure)?;
    let preview = preview(opened, &loaded, &pack, before.as_ref(), store, context);
    let hosts: Vec<String> = destinations.iter().flat_map(|place| place.hosts.clone()).collect();
    let missing: Vec<String> = pack.missing.iter().map(|it| it.include.clone()).collect();
    let change = Change {
        kind: "pack",
        plan: &plan,
        preview: &|planned| preview.lines(planned, &destinations, &context.env),
        consent: &|planned| {
            let replaces = planned
                .outcomes
                .iter()
                .any(|row| row.action == Action::Replaced && row.kind != "pack");
            let brings = planned
                .outcomes
                .iter()
                .any(|row| row.kind == "app" && row.action == Action::Created);
            let whence = "and its source is no local directory";
            match (is_local_directory(opened), brings, replaces) {
                (false, true, _) => Some(format!("{name} brings apps, {whence}")),
                (false, _, true) => Some(format!("{name} replaces what is there, {whence}")),
                _ => None,
            }
        },
        done: &|planned| {
            let mut lines = after(planned, &hosts, &name);
            if !missing.is_empty() {
                let names = some(&missing, ", ");
                lines.insert(1, format!("next: get {names}, then run: holdall update {name}"));
            }
            lines
        },
    };
    let mut outcome = carry_out(context, store, &change, wish)?;
    outcome.notes.splice(0..0, notes);
    Ok(outcome)
}

/// Reads the pack; what is wrong with it is the error, what is odd comes with it.
pub(crate) fn load(
    opened: &Opened,
    context: &Context<'_>,
) -> Result<(LoadedPack, Vec<Diagnostic>), Failure> {
    let directory = directory_of(opened, context);
    let name = directory.as_deref().and_then(Path::file_name).and_then(std::ffi::OsStr::to_str);
    let checked = read_pack(opened.tree().as_ref(), name);
    let found: Vec<Diagnostic> =
        checked.diagnostics.into_iter().map(|found| placed(found, opened)).collect();
    let (errors, others): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|found| found.severity == Severity::Error);
    match checked.pack {
        Some(pack) => {
            let warns = |found: &Diagnostic| found.severity == Severity::Warning;
            Ok((pack, others.into_iter().filter(warns).collect()))
        }
        None => Err(Failure::new(errors)),
    }
}

/// A finding with the path that people know.
pub(crate) fn placed(mut found: Diagnostic, opened: &Opened) -> Diagnostic {
    let path = found.path.as_deref().and_then(|path| TreePath::new(path).ok());
    found.path = path.map(|path| opened.shown(&path)).or(found.path);
    found
}

/// The source's directory on disk, if it is one.
pub(crate) fn directory_of(opened: &Opened, context: &Context<'_>) -> Option<PathBuf> {
    if !is_local_directory(opened) {
        return None;
    }
    let path = context.env.working_directory().join(opened.location());
    Some(path.canonicalize().unwrap_or(path))
}

fn ready(
    context: &Context<'_>,
    store: &Store,
    opened: &Opened,
    loaded: &LoadedPack,
    origin: &str,
) -> Result<PackToInstall, Failure> {
    let directory = directory_of(opened, context);
    let home = context.env.home()?;
    let from = directory.as_deref().unwrap_or_else(|| context.env.working_directory());
    let fetch = |pin: &GitPin| -> Result<Arc<dyn Tree>, Box<Diagnostic>> {
        let source = Source::parse(std::ffi::OsStr::new(&pin.to_string()))
            .map_err(|error| Box::new(OpenError::from(error).diagnostic()))?;
        open_source(&source, &OpenOptions::default(), context)
            .map(|opened| opened.tree().clone())
            .map_err(|failure| Box::new(failure.into_first()))
    };
    let shown = |path: &TreePath| opened.shown(path);
    let around = Surroundings {
        origin,
        directory: directory.as_deref(),
        places: IncludePlaces {
            store,
            home: &home,
            inside: (!is_local_directory(opened)).then_some(opened.tree()),
            from,
        },
        fetch: &fetch,
        shown: &shown,
    };
    pack_to_install(opened.tree(), loaded, around).map_err(Failure::new)
}

fn preview(
    opened: &Opened,
    loaded: &LoadedPack,
    pack: &PackToInstall,
    before: Option<&PackRecord>,
    store: &Store,
    context: &Context<'_>,
) -> Preview {
    let handle = &pack.handle;
    let was = before
        .filter(|before| before.version != handle.version())
        .map(|before| format!(", was {}", before.version))
        .unwrap_or_default();
    let head = format!(
        "{} {}{was}   pack, {}   from {}",
        handle.name(),
        handle.version(),
        handle.status(),
        opened.location()
    );
    let names: Vec<String> = pack.skills.iter().map(|skill| skill.name.to_string()).collect();
    let included = pack.skills.iter().filter(|skill| skill.origin != "inline").count();
    let mut adds = Vec::new();
    if !pack.apps.is_empty() {
        let ids: Vec<String> = pack.apps.iter().map(|app| app.id.clone()).collect();
        adds.push(format!("{}: {}", count(ids.len(), "app"), some(&ids, ", ")));
    }
    let from_includes =
        if included > 0 { format!(" ({included} from includes)") } else { String::new() };
    if !names.is_empty() {
        adds.push(format!(
            "{}{from_includes}: {}",
            count(names.len(), "skill"),
            some(&names, ", ")
        ));
    }
    let mut keeps = Vec::new();
    if let Some(knowledge) = handle.knowledge() {
        keeps.push(format!("knowledge of `{}`, read when asked", knowledge.workspace));
    }
    if let Some(playbook) = handle.playbook() {
        keeps.push(format!("playbook `{}`, written when asked", playbook.title));
    }
    if !pack.apps.is_empty() {
        let data = super::shown(&store.root().join("app-data"), &context.env);
        keeps.push(format!("data of apps in {data}"));
    }
    let mut warns: Vec<String> = pack
        .missing
        .iter()
        .map(|missing| format!("the include {} is missing", missing.include))
        .collect();
    if handle.is_inline() {
        warns.extend(without_document(opened));
    }
    let mut preview = Preview {
        head,
        digests: vec![
            format!("{} covers PACK.md and each APP.md; signed no", loaded.digest().digest()),
            format!("{} covers every file", pack.tree),
        ],
        adds,
        warns,
        keeps,
        ..Preview::default()
    };
    for app in loaded.apps() {
        app_facts(&app.manifest, &mut preview);
    }
    preview
}

/// What an app runs and reaches, for the preview.
pub(crate) fn app_facts(app: &AppManifest, preview: &mut Preview) {
    let id = app.id().unwrap_or_default();
    let mut parts = Vec::new();
    if !app.agents().is_empty() {
        parts.push(count(app.agents().len(), "agent"));
    }
    if !app.workflows().is_empty() {
        parts.push(count(app.workflows().len(), "workflow"));
    }
    if app.ui().is_some() {
        parts.push("a user interface".to_owned());
    }
    if !parts.is_empty() {
        preview.runs.push(format!("{} of `{id}` when it is started", parts.join(", ")));
    }
    for root in app.external_read_roots() {
        preview.reaches.push(format!("`{id}` reads {root}"));
    }
}
