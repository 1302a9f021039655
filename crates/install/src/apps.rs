//! Apps: one directory an id in the store, data beside it that outlives every version (reference
//! 5.2).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use holdall_diagnostics::Diagnostic;
use holdall_store::{AppRecord, AppSource, Store, canonical};
use holdall_tree::stage::Modes;
use holdall_tree::{Digest, Tree, TreePath};

use crate::codes::{HD0305, HD0309, HD0311, HD0313};
use crate::executor::{ApplyError, found_at};
use crate::packs::same_origin;
use crate::plan::{Found, NewTree, Step};
use crate::skills::{Action, Outcome, Planned};

/// An app that can be installed: checked and hashed.
#[derive(Debug, Clone)]
pub struct AppToInstall {
    /// The id from its APP.md, the key of everything.
    pub id: String,
    /// Its version.
    pub version: String,
    /// Its name.
    pub name: Option<String>,
    /// Where it would like its data, below its own data directory.
    pub data_hint: Option<TreePath>,
    /// Its directory.
    pub tree: Arc<dyn Tree>,
    /// The tree hash of it.
    pub digest: Digest,
    /// Where it came from.
    pub source: AppSource,
}

/// Who installs an app, and how.
#[derive(Debug, Clone, Copy)]
pub struct AppRequest<'a> {
    /// The store.
    pub store: &'a Store,
    /// The pack that brings it; none for an app installed alone.
    pub pack: Option<&'a str>,
    /// A data directory of the user's choice, absolute.
    pub data_dir: Option<&'a Path>,
    /// Whether the same id may come from elsewhere now.
    pub replace: bool,
    /// The time to record: ISO 8601, UTC.
    pub now: &'a str,
}

/// Where an app came from, in the form in which origins are compared.
fn origin(source: &AppSource) -> String {
    match source {
        AppSource::Dir { path } => path.clone(),
        AppSource::Git { url, .. } => format!("git+{url}"),
        AppSource::Agentapp { url, .. } => url.clone(),
    }
}

/// Plans one app: an upsert keyed by its id. The data directory is the one asked for, else the
/// one it had before, else the one the app hints at, else its own; an install never moves data.
pub fn plan_app(
    request: AppRequest<'_>,
    app: &AppToInstall,
    planned: &mut Planned,
) -> Result<(), ApplyError> {
    let store = request.store;
    let before: Option<AppRecord> = store.record(&app.id)?;
    if let Some(owner) = before.as_ref().and_then(|record| record.pack.as_deref())
        && request.pack != Some(owner)
    {
        let by =
            request.pack.map_or_else(|| "on its own".to_owned(), |pack| format!("by `{pack}`"));
        let message = format!("the app `{}`, to be installed {by}, belongs to `{owner}`", app.id);
        let help = format!("holdall uninstall {owner} first, if this one is meant");
        planned.diagnostics.push(Diagnostic::new(&HD0309, message).help(help));
        return Ok(());
    }
    if let Some(before) = &before
        && !request.replace
        && !same_origin(&origin(&before.source), &origin(&app.source))
    {
        let (was, now) = (origin(&before.source), origin(&app.source));
        let message = format!("the app `{}` was installed from {was}, not from {now}", app.id);
        let help = "say --replace if the new origin is the one you mean";
        planned.diagnostics.push(Diagnostic::new(&HD0311, message).help(help));
        return Ok(());
    }
    let own_data = store.app_data(&app.id);
    let data_dir = match (request.data_dir, &before, &app.data_hint) {
        (Some(asked), _, _) => asked.to_owned(),
        (None, Some(record), _) => PathBuf::from(&record.data_dir),
        (None, None, Some(hint)) => own_data.join(hint.as_str()),
        (None, None, None) => own_data,
    };
    if data_dir.exists() && !data_dir.is_dir() {
        let message = format!("the data directory {} is a file", data_dir.display());
        planned.diagnostics.push(
            Diagnostic::new(&HD0313, message)
                .at(data_dir.display().to_string())
                .help("move the file away, or say --data-dir"),
        );
        return Ok(());
    }
    let dest = store.app(&app.id);
    let found = found_at(&dest)?;
    let known = before.as_ref().map(|record| record.tree.as_str());
    let mut detail = None;
    let action = match &found {
        Found::Nothing => Action::Created,
        Found::Tree(digest) if *digest == app.digest => Action::Unchanged,
        Found::Tree(digest) if known == Some(digest.to_string().as_str()) => Action::Replaced,
        Found::Tree(_) | Found::File(_) => {
            let name = holdall_store::file_key(&app.id);
            let backup = planned.back_up(store, &dest, &found, &name)?;
            detail = Some(format!("it was changed by hand; that is in {}", backup.display()));
            Action::Replaced
        }
    };
    if action != Action::Unchanged {
        planned.make_parent(&dest);
        planned.plan.push(Step::PlaceTree {
            dest: dest.clone(),
            staging: store.root().to_owned(),
            new: NewTree { tree: app.tree.clone(), modes: Modes::Portable, digest: app.digest },
            found,
        });
    }
    let mut record = AppRecord {
        app_id: app.id.clone(),
        version: app.version.clone(),
        name: app.name.clone(),
        dir: dest.display().to_string(),
        data_dir: data_dir.display().to_string(),
        pack: request.pack.map(str::to_owned),
        tree: app.digest.to_string(),
        source: app.source.clone(),
        check: "shallow".to_owned(),
        installed_at: request.now.to_owned(),
        updated_at: request.now.to_owned(),
    };
    if let Some(before) = &before {
        record.installed_at.clone_from(&before.installed_at);
        record.updated_at.clone_from(&before.updated_at);
        if record != *before {
            request.now.clone_into(&mut record.updated_at);
        }
    }
    planned.put(store, store.record_path::<AppRecord>(&app.id), canonical(&record))?;
    planned.outcomes.push(Outcome {
        kind: "app",
        name: app.id.clone(),
        hosts: Vec::new(),
        destination: dest,
        action,
        detail,
    });
    Ok(())
}

/// Plans to take an app away: its directory if nobody changed it, and its record. Data stays,
/// unless `purge_data`.
pub fn plan_app_removal(
    store: &Store,
    record: &AppRecord,
    purge_data: bool,
    planned: &mut Planned,
) -> Result<(), ApplyError> {
    let dest = PathBuf::from(&record.dir);
    if planned.is_planned(&dest) {
        return Ok(());
    }
    let found = found_at(&dest)?;
    let mut row = Outcome {
        kind: "app",
        name: record.app_id.clone(),
        hosts: Vec::new(),
        destination: dest.clone(),
        action: Action::Removed,
        detail: None,
    };
    match &found {
        Found::Nothing => row.detail = Some("it was gone already".to_owned()),
        Found::Tree(digest) if digest.to_string() == record.tree => {
            let staging = store.root().to_owned();
            planned.plan.push(Step::Remove { dest: dest.clone(), staging, found });
        }
        Found::Tree(_) | Found::File(_) => {
            let message = format!("the app in {} was changed by hand and is kept", dest.display());
            planned.diagnostics.push(
                Diagnostic::new(&HD0305, message)
                    .at(record.dir.clone())
                    .help("remove it yourself, then run the same command again"),
            );
            row.action = Action::Kept;
            row.detail = Some("changed by hand".to_owned());
            planned.outcomes.push(row);
            return Ok(());
        }
    }
    let data = PathBuf::from(&record.data_dir);
    if data.exists() {
        // Only what lies in the store is ours to remove; a directory of the user's choice stays.
        if purge_data && data.starts_with(store.root()) {
            let found = found_at(&data)?;
            let staging = store.root().to_owned();
            planned.plan.push(Step::Remove { dest: data, staging, found });
        } else {
            row.detail = Some(format!("its data is kept in {}", data.display()));
        }
    }
    planned.outcomes.push(row);
    planned.forget(store, store.record_path::<AppRecord>(&record.app_id))
}
