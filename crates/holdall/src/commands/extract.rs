//! `holdall extract PACKAGE [PATH]...`

use std::path::PathBuf;

use clap::Args;
use holdall_aospkg::{ExtractOptions, Extracted, TarFileSystem, extract, file_name};
use holdall_diagnostics::Diagnostic;
use holdall_pack::{Bundle, safe_id};
use holdall_source::{Kind, Opened};
use holdall_tree::stage::{CopyOptions, Place, StageError, StagedDir};
use holdall_tree::{Tree, TreePath, WalkEntry};
use serde_json::json;

use super::{CommandResult, Context};
use crate::{codes, files};
use crate::opening::{SourceArguments, tree_path};
use crate::outcome::{Failure, Outcome};
use crate::report::{count, size};

/// Unpack a package or an app bundle into a new directory
///
/// Answers: how do I get the files out? The directory must not exist, and appears whole or not at
/// all. Modes are kept without set-id bits, owners are never changed, and links that lead out are
/// refused.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  holdall extract demo.aospkg                into ./NAME-VERSION
  holdall extract demo.aospkg bin -o tools   what is below bin, into ./tools")]
pub(crate) struct Extract {
    #[command(flatten)]
    source: SourceArguments,
    /// What to extract, with all below it; everything if left out
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
    /// The directory to make, instead of ./NAME-VERSION
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Make links that are absolute or lead out point to what they mean in a mounted package
    #[arg(long)]
    rewrite_links: bool,
}

pub(crate) fn run(arguments: &Extract, context: &Context<'_>) -> CommandResult {
    let opened = arguments.source.open(context)?;
    if let Some(bundle) = opened.bundle() {
        return extract_bundle(arguments, bundle, &opened);
    }
    let Some(package) = opened.package() else {
        return Err(Failure::usage(
            format!("{} is no package", opened.location()),
            "give an `.aospkg` or `.agentapp` file; a directory is copied with `cp -R`",
        ));
    };
    let output = match &arguments.output {
        Some(output) => output.clone(),
        None => default_output(package, &opened)?,
    };
    files::sweep(&output);
    let options = ExtractOptions { rewrite_links: arguments.rewrite_links };
    let done = extract(package, &arguments.paths, &output, options)
        .map_err(|error| Failure::from(error.diagnostic().at(opened.location().as_str())))?;
    Ok(tell(&done, &output, &opened))
}

/// Unpacks the app of a bundle; opening has checked all of it.
fn extract_bundle(arguments: &Extract, bundle: &Bundle, opened: &Opened) -> CommandResult {
    let shown = opened.location().as_str();
    let manifest = bundle.manifest();
    let output = match &arguments.output {
        Some(output) => output.clone(),
        None => match file_name(&safe_id(manifest.id()), manifest.version()) {
            Some(name) => name.into(),
            None => return Err(no_name(manifest.id(), manifest.version(), shown)),
        },
    };
    let mut wanted = Vec::new();
    for path in &arguments.paths {
        let path = tree_path(path)?;
        bundle.metadata(&path).map_err(|error| opened.error(error))?;
        wanted.push(path);
    }
    let failed = |error: StageError| files::cannot_stage(&output, &error);
    files::sweep(&output);
    let place = Place::at(&output).map_err(failed)?;
    if place.metadata().map_err(failed)?.is_some() {
        let what = format!("{} exists already (EEXIST)", output.display());
        let help = "name another directory with `-o`, or remove this one";
        return Err(Diagnostic::new(&codes::OUTPUT, what).at(shown).help(help).into());
    }
    let mut staged = StagedDir::beside(place, 0o755).map_err(failed)?;
    let keep = |entry: &WalkEntry| {
        let above = |path: &TreePath| {
            path.strip_prefix(&entry.path).is_some() || entry.path.strip_prefix(path).is_some()
        };
        wanted.is_empty() || wanted.iter().any(above)
    };
    let copied = staged.copy_tree(bundle, CopyOptions::default(), &keep).map_err(failed)?;
    staged.commit(false).and_then(|swapped| swapped.finish()).map_err(failed)?;
    let done = Extracted { files: copied.files, bytes: copied.bytes, ..Extracted::default() };
    Ok(tell(&done, &output, opened))
}

fn no_name(name: &str, version: &str, shown: &str) -> Failure {
    let message = format!("it calls itself `{name}` `{version}`, which is no name for a directory");
    Diagnostic::new(&codes::NO_NAME, message).at(shown).help("say where with -o DIR").into()
}

fn default_output(package: &TarFileSystem, opened: &Opened) -> Result<PathBuf, Failure> {
    let failed = |error: holdall_aospkg::PackageError| Failure::from(error.diagnostic());
    let manifest = package.package().manifest().map_err(failed)?;
    file_name(&manifest.name, &manifest.version)
        .map(PathBuf::from)
        .ok_or_else(|| no_name(&manifest.name, &manifest.version, opened.location().as_str()))
}

fn tell(done: &Extracted, output: &std::path::Path, opened: &Opened) -> Outcome {
    let shown = output.display();
    let line = format!(
        "extracted {}, {}, {}, {} into {shown}",
        count(done.files, "file"),
        count(done.directories, "directory"),
        count(done.links, "link"),
        size(done.bytes)
    );
    let mut outcome =
        Outcome::new(opened.kind().map_or("extract", Kind::as_str)).lines(vec![line]).fact(
            "extract",
            json!({
                "destination": output,
                "files": done.files,
                "directories": done.directories,
                "links": done.links,
                "bytes": done.bytes,
                "rewritten": done.rewritten,
                "unreachable": done.unreachable,
            }),
        );
    for path in &done.rewritten {
        outcome.notes.push(format!("rewrote the target of {path}"));
    }
    for path in &done.unreachable {
        outcome.notes.push(format!("left out {path}: no path of the package leads to it"));
    }
    outcome
}
