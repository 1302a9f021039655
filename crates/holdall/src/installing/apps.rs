//! Installing an app on its own: always a copy in the store, its data beside it.

use std::path::Path;

use holdall_diagnostics::{Diagnostic, Severity};
use holdall_install::{
    Action, AppRequest, AppToInstall, HD0313, Planned, app_to_install, app_warnings, plan_app,
};
use holdall_pack::{AppManifest, read_app};
use holdall_source::{Opened, Origin};
use holdall_store::{AppRecord, AppSource, Store};
use holdall_tree::TreePath;

use super::packs::{app_facts, placed};
use super::preview::{Preview, after};
use super::{Change, Wish, apply_failure, carry_out, failure, is_local_directory, shown};
use crate::commands::Context;
use crate::outcome::{Failure, Outcome};

/// How an app is to be installed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AppWish<'a> {
    /// Whether the origin may change.
    pub(crate) replace: bool,
    /// A data directory of the user's choice, absolute.
    pub(crate) data_dir: Option<&'a Path>,
    /// The time to record.
    pub(crate) now: &'a str,
}

/// Installs an app.
pub(crate) fn install(
    context: &Context<'_>,
    store: &Store,
    opened: &Opened,
    source: AppSource,
    app_wish: AppWish<'_>,
    wish: Wish,
) -> Result<Outcome, Failure> {
    let (manifest, mut warnings) = load(opened)?;
    let home = context.env.home()?;
    let root = TreePath::root();
    let app = app_to_install(opened.tree(), &root, &manifest, source, &home)
        .map_err(|found| Failure::new(found.into_iter().map(|f| placed(f, opened)).collect()))?;
    let is_there = |id: &str| store.record::<AppRecord>(id).is_ok_and(|record| record.is_some());
    warnings.extend(app_warnings(&manifest, &is_there));
    let plan = || -> Result<Planned, Failure> {
        let mut planned = Planned { diagnostics: warnings.clone(), ..Planned::default() };
        let request = AppRequest {
            store,
            pack: None,
            data_dir: app_wish.data_dir,
            replace: app_wish.replace,
            now: app_wish.now,
        };
        plan_app(request, &app, &mut planned).map_err(|error| apply_failure(&error))?;
        Ok(planned)
    };
    let before: Option<AppRecord> = store.record(&app.id).map_err(failure)?;
    let preview = preview(opened, &manifest, &app, before.as_ref(), store, context);
    let undo = format!("app:{}", app.id);
    let change = Change {
        kind: "app",
        plan: &plan,
        preview: &|planned| preview.lines(planned, &[], &context.env),
        consent: &|planned| {
            let writes = planned
                .outcomes
                .iter()
                .any(|row| matches!(row.action, Action::Created | Action::Replaced));
            (!is_local_directory(opened) && writes)
                .then(|| format!("`{}` is an app, and its source is no local directory", app.id))
        },
        done: &|planned| after(planned, &[], &undo),
    };
    carry_out(context, store, &change, wish)
}

/// Reads the app; what is wrong with it is the error, what is odd comes with it.
fn load(opened: &Opened) -> Result<(AppManifest, Vec<Diagnostic>), Failure> {
    let checked = read_app(opened.tree().as_ref(), &TreePath::root());
    let found: Vec<Diagnostic> =
        checked.diagnostics.into_iter().map(|found| placed(found, opened)).collect();
    match checked.app {
        Some(app) => {
            let warns = |found: &Diagnostic| found.severity == Severity::Warning;
            Ok((app, found.into_iter().filter(warns).collect()))
        }
        None => {
            let error = |found: &Diagnostic| found.severity == Severity::Error;
            Err(Failure::new(found.into_iter().filter(error).collect()))
        }
    }
}

fn preview(
    opened: &Opened,
    manifest: &AppManifest,
    app: &AppToInstall,
    before: Option<&AppRecord>,
    store: &Store,
    context: &Context<'_>,
) -> Preview {
    let was = before
        .filter(|before| before.version != app.version)
        .map(|before| format!(", was {}", before.version))
        .unwrap_or_default();
    let mut preview = Preview {
        head: format!("{} {}{was}   app   from {}", app.id, app.version, opened.location()),
        digests: vec![format!("{} covers every file; signed no", app.digest)],
        adds: vec![format!("the app, in {}", shown(&store.app(&app.id), &context.env))],
        keeps: vec![match before {
            Some(before) => format!("its data in {}", before.data_dir),
            None => format!("its data, below {}", shown(&store.app_data(&app.id), &context.env)),
        }],
        ..Preview::default()
    };
    app_facts(manifest, &mut preview);
    preview
}

/// Where an app comes from, so that it can be asked for again; a bundle has its two sums.
pub(crate) fn source_of(opened: &Opened, origin: &str, subdir: Option<&str>) -> AppSource {
    if let Origin::Git { url, commit, reference } = opened.origin() {
        return AppSource::Git {
            url: url.clone(),
            reference: reference.clone(),
            sha: commit.clone(),
            subdir: subdir.map(str::to_owned),
        };
    }
    let Some(bundle) = opened.bundle() else {
        let path = match subdir {
            Some(subdir) => format!("{origin}/{subdir}"),
            None => origin.to_owned(),
        };
        return AppSource::Dir { path };
    };
    let url = if opened.is_fetched() { origin.to_owned() } else { format!("file:{origin}") };
    AppSource::Agentapp {
        url,
        sha256: bundle.aggregate().hex(),
        archive: bundle.archive().hex(),
        version: bundle.manifest().version().to_owned(),
    }
}

/// Compares the sum that was asked for with the bundle's.
pub(crate) fn check_sum(opened: &Opened, asked: &str) -> Result<(), Failure> {
    let Some(bundle) = opened.bundle() else {
        let message = "--sha256 names the sum of an .agentapp, and this is none";
        return Err(Failure::usage(message, "say --digest for other sources"));
    };
    if asked.len() != 64 || !asked.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        let message = format!("`{asked}` is no SHA-256");
        return Err(Failure::usage(message, "write the 64 hexadecimal digits"));
    }
    let found = bundle.aggregate().hex();
    if found.eq_ignore_ascii_case(asked) {
        return Ok(());
    }
    let message = format!("the bundle has the sum {found}, not {asked}");
    Err(Diagnostic::new(&HD0313, message)
        .at(opened.location().as_str())
        .help("ask its publisher which bytes are meant")
        .into())
}
