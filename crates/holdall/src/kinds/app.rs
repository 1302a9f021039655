//! Apps: a directory with `APP.md`, or a bundle of one.

use holdall_diagnostics::{Diagnostic, Severity};
use holdall_pack::{AppManifest, read_app};
use holdall_source::Opened;
use holdall_tree::TreePath;
use serde_json::{Value, json};

use super::skills::placed;
use super::{Checked, Covered, Inspected, pack};
use crate::outcome::Failure;
use crate::report::{count, size};

/// Reads the app of a source; what is wrong with it is the failure.
pub(crate) fn load(opened: &Opened) -> Result<(AppManifest, Vec<Diagnostic>), Failure> {
    let mut checked = read_app(opened.tree(), &TreePath::root());
    checked.diagnostics.extend(bundle_warnings(opened));
    let found = placed(opened, checked.diagnostics);
    match checked.app {
        Some(app) => Ok((app, found)),
        None => Err(Failure::new(found)),
    }
}

/// What is odd about the list of a bundle.
fn bundle_warnings(opened: &Opened) -> Vec<Diagnostic> {
    opened.bundle().map(|bundle| bundle.warnings().to_vec()).unwrap_or_default()
}

/// The facts of an app.
pub(super) fn fact(app: &AppManifest) -> Value {
    let members = |members: &[holdall_pack::AppMember]| -> Vec<Value> {
        members.iter().map(|each| json!({ "id": each.id, "path": each.path })).collect()
    };
    json!({
        "id": app.id(),
        "name": app.name(),
        "version": app.version(),
        "description": app.description(),
        "category": app.category(),
        "agents": members(app.agents()),
        "workflows": members(app.workflows()),
        "requires": app.requires(),
        "ui": app.ui().map(|ui| &ui.path),
        "buildsUi": app.builds_ui(),
        "dataDir": app.data_dir(),
        "externalReadRoots": app.external_read_roots(),
        "checked": "shallow",
    })
}

/// What an app answers to `inspect`.
pub(super) fn inspect(opened: &Opened, answer: &mut Inspected) -> Result<(), Failure> {
    let (app, warnings) = load(opened)?;
    let (files, bytes) = pack::measure(opened, &TreePath::root())?;
    let report = &mut answer.report;
    report.head(format!(
        "{} {}   app, {}, {}",
        app.id().or(app.name()).unwrap_or("(no id)"),
        app.version(),
        count(files, "file"),
        size(bytes)
    ));
    if let Some(about) = app.description().or(app.name()) {
        report.row("is", about);
    }
    let agents = app.agents().iter().map(|each| each.id.as_str());
    report.rows("agents", agents, "none");
    let workflows = app.workflows().iter().map(|each| each.id.as_str());
    report.rows("workflows", workflows, "none");
    if let Some(ui) = app.ui() {
        report.row("ui", &ui.path);
    }
    report.rows("requires", app.requires(), "no other app");
    report.row("runs", "nothing by itself; what is in its files was not judged");
    let roots = app.external_read_roots().iter().map(|root| format!("reads {root}"));
    report.rows("reaches", roots, "nothing outside its own directory");
    if let Some(bundle) = opened.bundle() {
        report.row("bundle", format!("{}, {}", bundle.archive(), bundle.aggregate()));
    }
    report.row("signed", "no");
    let warns = warnings.iter().map(|found| format!("{} {}", found.code, found.message));
    report.rows("warns", warns, "nothing");
    let facts = &mut answer.facts;
    let mut itself = fact(&app);
    if let Some(bundle) = opened.bundle() {
        itself["bundle"] = json!({
            "id": bundle.manifest().id(),
            "version": bundle.manifest().version(),
            "files": bundle.manifest().files().len(),
            "archive": bundle.archive().to_string(),
            "aggregate": bundle.aggregate().to_string(),
        });
    }
    facts.insert("app".to_owned(), itself);
    facts.insert("runs".to_owned(), json!([]));
    facts.insert("reaches".to_owned(), json!(app.external_read_roots()));
    facts.insert("signed".to_owned(), json!(false));
    facts.insert("sizes".to_owned(), json!({ "files": files, "bytes": bytes }));
    facts.insert("warns".to_owned(), json!(warnings));
    Ok(())
}

/// Whether the document can be read and the files it names are there. Opening a bundle has
/// compared its files with its list already.
pub(super) fn check(opened: &Opened, checked: &mut Checked) {
    let app = read_app(opened.tree(), &TreePath::root());
    if let Some(bundle) = opened.bundle() {
        let files = count(bundle.manifest().files().len(), "file");
        checked.compared.push(format!("{files} of the bundle with its list and aggregate"));
    }
    checked.compared.push("APP.md with app/v1 and the files it names".to_owned());
    let found = app.diagnostics.into_iter().chain(bundle_warnings(opened)).collect();
    for found in placed(opened, found) {
        if found.severity == Severity::Error {
            checked.differences.push(found);
        } else {
            checked.oddities.push(found);
        }
    }
}

/// The digests that only a bundle has.
pub(super) fn digests(opened: &Opened, all: &mut Vec<Covered>) {
    if let Some(bundle) = opened.bundle() {
        all.push(Covered { digest: bundle.archive(), covers: "every byte of the bundle file" });
        all.push(Covered {
            digest: bundle.aggregate(),
            covers: "the bytes of all files one after the other; neither names nor boundaries",
        });
    }
}
