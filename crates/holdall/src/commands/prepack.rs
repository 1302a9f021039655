//! `holdall prepack [DIR]`

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use holdall_artifact::ARTIFACT_MANIFEST_NAME;
use holdall_artifact::prepack::prepack;
use holdall_diagnostics::{Diagnostic, Summary};
use holdall_store::{Child, find_program};
use holdall_tree::{DirTree, TreePath};
use serde_json::json;

use super::{CommandResult, Context};
use crate::codes;
use crate::opening::tree_path;
use crate::outcome::{Failure, Outcome};
use crate::report::count;

/// Where a build puts the artifact of an npm package, unless it is the package itself.
const BUILT: &str = "dist";
/// Seconds that npm may take to list what it would pack.
const LIMIT: u64 = 120;
/// Bytes that its list may have.
const OUTPUT: usize = 64 << 20;

/// Check an npm package with an artifact in it before it is published
///
/// Answers: will npm ship every file of the artifact, as it was built, under one version? Asks
/// `npm pack --dry-run` what it would ship; no script of the package is run.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  holdall prepack                    the package in the working directory, its artifact in dist")]
pub(crate) struct Prepack {
    /// The directory with package.json
    #[arg(value_name = "DIR", default_value = ".")]
    directory: PathBuf,
    /// The artifact inside, instead of the directory itself or dist
    #[arg(long, value_name = "DIR")]
    artifact: Option<String>,
}

pub(crate) fn run(arguments: &Prepack, context: &Context<'_>) -> CommandResult {
    let directory = context.env.working_directory().join(&arguments.directory);
    let shown = arguments.directory.display().to_string();
    let tree = DirTree::open(&directory).map_err(|error| {
        Failure::from(Diagnostic::new(&codes::INPUT, error.to_string()).at(shown.clone()))
    })?;
    let artifact = match &arguments.artifact {
        Some(inside) => tree_path(inside)?,
        None => default_artifact(&directory),
    };
    let list = npm_list(&directory, context)?;
    let checked = prepack(&tree, &artifact, &list, &shown);
    let summary = Summary::of(&checked.diagnostics);
    let files = checked.list.as_ref().map_or(0, |list| list.files().len());
    let rows = checked.manifest.as_ref().map_or(0, |manifest| manifest.files().len());
    let mut outcome = Outcome::new("prepack")
        .fact("prepack", json!({ "artifact": artifact.as_str(), "packed": files, "rows": rows }))
        .fact("summary", json!(summary))
        .lines(vec![format!(
            "npm would ship {}; checked {} of the artifact: {}, {}",
            count(files, "file"),
            count(rows, "row"),
            count(summary.errors, "error"),
            count(summary.warnings, "warning")
        )]);
    outcome.diagnostics = checked.diagnostics;
    outcome.findings_are_data = true;
    Ok(outcome)
}

fn default_artifact(directory: &Path) -> TreePath {
    if directory.join(ARTIFACT_MANIFEST_NAME).is_file() {
        TreePath::root()
    } else {
        TreePath::new(BUILT).unwrap_or_default()
    }
}

/// What npm would pack. `--ignore-scripts` keeps the package's own `prepack` from running.
fn npm_list(directory: &Path, context: &Context<'_>) -> Result<Vec<u8>, Failure> {
    let failed = |what: String, help: &str| -> Failure {
        Diagnostic::new(&codes::PROGRAM, what).help(help.to_owned()).into()
    };
    let path = context.env.variable("PATH").unwrap_or_default();
    let Some(npm) = find_program("npm", path) else {
        return Err(failed("npm is not on PATH".to_owned(), "install Node.js, which brings npm"));
    };
    let arguments = ["pack", "--dry-run", "--json", "--ignore-scripts", "--offline", "--no-update-notifier"];
    let finished = Child {
        program: &npm,
        arguments: arguments.iter().map(Into::into).collect(),
        environment: context.env.variables().clone(),
        directory,
        limit: Duration::from_secs(LIMIT),
        output: OUTPUT,
        fills: None,
    }
    .run()
    .map_err(|error| failed(format!("npm pack: {error}"), "run it by hand to see more"))?;
    if finished.status.success() {
        return Ok(finished.stdout);
    }
    let words = finished.last_words(3);
    Err(failed(format!("npm pack ended with {}: {words}", finished.status), "run it by hand to see more"))
}
