//! `holdall validate [PATH]...`

use std::path::PathBuf;

use camino::Utf8PathBuf;
use clap::Args;
use holdall_artifact::{AB6000, ARTIFACT_MANIFEST_NAME};
use holdall_diagnostics::{Diagnostic, Policy, PolicyError, SarifTool, Summary, sarif};
use holdall_hosts::validate::validate_artifact;
use holdall_source::SourceError;
use holdall_source::validate::{self, Excludes, Report};
use serde_json::{Value, json};

use super::{CommandResult, Context};
use crate::outcome::{Failure, Outcome};
use crate::{codes, files};

/// Check skills, packs, apps and artifacts, one or a repository full of them
///
/// Answers: will this work for the people who install it, and what exactly is wrong? Looks at
/// everything at or below each PATH that git does not ignore, runs nothing, and opens no network
/// connection. Exit code 1 if there is an error, with --strict also for a warning.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  holdall validate                                 everything below the working directory
  holdall validate skills/review/SKILL.md --fix    add the quotes that values lack
  holdall validate --artifact dist                 what a build wrote
  holdall validate --strict --format github .      in a GitHub workflow")]
pub(crate) struct Validate {
    /// A document, a root of any kind, or a directory with many
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<PathBuf>,
    /// Check the artifact at DIR, which has to be one; repeatable
    #[arg(long, value_name = "DIR", conflicts_with = "paths")]
    artifact: Vec<PathBuf>,
    /// Leave out what matches, as in a `.gitignore`; repeatable
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,
    /// Count warnings as errors
    #[arg(long)]
    strict: bool,
    /// Do not report this warning; repeatable, takes commas
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    allow: Vec<String>,
    /// Count this warning as an error; repeatable, takes commas
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    deny: Vec<String>,
    /// Write the quotes that values lack; nothing else changes by a byte
    #[arg(long)]
    fix: bool,
    /// Write the findings as SARIF 2.1.0 to FILE too
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Validate, context: &Context<'_>) -> CommandResult {
    let registry = codes::registry();
    let policy = Policy::new(&registry, arguments.strict, &arguments.allow, &arguments.deny)
        .map_err(|error| {
            let help = match error {
                PolicyError::Unknown(_) => "`holdall explain --all` lists every code",
                PolicyError::AllowsError(_) => {
                    "--allow is for warnings: correct what it reports, or leave the files out with --exclude GLOB"
                }
                PolicyError::Both(_) => "give it with --allow or with --deny",
            };
            Failure::usage(error.to_string(), help)
        })?;
    let excludes = Excludes::new(&arguments.exclude).map_err(|fault| {
        Failure::usage(fault.message, "a pattern is one line of a `.gitignore`")
    })?;
    let paths = if arguments.artifact.is_empty() { &arguments.paths } else { &arguments.artifact };
    let mut report = check(paths, &excludes, context)?;
    missing_artifacts(arguments, context, &mut report);
    let mut notes = Vec::new();
    let mut faults = Vec::new();
    if arguments.fix && !report.repairs.is_empty() {
        for repair in &report.repairs {
            match repair.apply() {
                Ok(fixed) => {
                    let values = if fixed.values == 1 { "value" } else { "values" };
                    notes.push(format!("{}: quoted {} {values}", fixed.path, fixed.values));
                }
                Err(fault) => faults.push(*fault),
            }
        }
        report = check(paths, &excludes, context)?;
        missing_artifacts(arguments, context, &mut report);
    }
    let mut diagnostics = policy.apply(std::mem::take(&mut report.diagnostics));
    diagnostics.extend(faults);
    let summary = Summary::of(&diagnostics);
    if let Some(file) = &arguments.sarif {
        let tool = SarifTool { name: "holdall", version: env!("CARGO_PKG_VERSION") };
        let log = sarif(&diagnostics, &registry, tool);
        let file = context.env.working_directory().join(file);
        files::replace(&file, format!("{log:#}\n").as_bytes())?;
    }
    let checked: Vec<Value> = report
        .checked
        .iter()
        .map(|checked| json!({ "kind": checked.kind.as_str(), "path": checked.path }))
        .collect();
    let mut outcome = Outcome::new("validate")
        .fact("checked", checked)
        .fact("summary", json!(summary))
        .lines(vec![report.summary_line(&summary)]);
    outcome.diagnostics = diagnostics;
    outcome.findings_are_data = true;
    outcome.notes = notes;
    Ok(outcome)
}

/// Adds what a directory named by `--artifact` lacks to be one (`AB6000`). Whatever else was found
/// there is not asked for.
fn missing_artifacts(arguments: &Validate, context: &Context<'_>, report: &mut Report) {
    for path in &arguments.artifact {
        let full = context.env.working_directory().join(path);
        if full.join(ARTIFACT_MANIFEST_NAME).symlink_metadata().is_ok() {
            continue;
        }
        let shown = path.to_string_lossy();
        let found = match holdall_tree::DirTree::open(&full) {
            Ok(tree) => validate_artifact(&tree, &shown, None).diagnostics,
            Err(error) => {
                let what = format!("the root cannot be read: {error}");
                vec![Diagnostic::new(&AB6000, what).at(shown.clone().into_owned())]
            }
        };
        report.checked.clear();
        report.diagnostics = found;
    }
}

fn check(paths: &[PathBuf], excludes: &Excludes, context: &Context<'_>) -> Result<Report, Failure> {
    let mut report = Report::default();
    for path in paths {
        let Some(shown) = path.to_str() else {
            let lossy = path.to_string_lossy().into_owned();
            return Err(SourceError::NotUtf8 { lossy }.into());
        };
        let full = context.env.working_directory().join(path);
        let full = Utf8PathBuf::from_path_buf(full).map_err(|path| {
            let lossy = path.to_string_lossy().into_owned();
            Failure::from(SourceError::NotUtf8 { lossy })
        })?;
        report.merge(validate::path(&full, shown, excludes));
    }
    // Two paths may overlap; everything is reported once.
    let mut seen = Vec::new();
    report.checked.retain(|checked| {
        let new = !seen.contains(checked);
        if new {
            seen.push(checked.clone());
        }
        new
    });
    let mut found: Vec<Diagnostic> = Vec::new();
    for diagnostic in std::mem::take(&mut report.diagnostics) {
        if paths.len() == 1 || !found.contains(&diagnostic) {
            found.push(diagnostic);
        }
    }
    report.diagnostics = found;
    Ok(report)
}
