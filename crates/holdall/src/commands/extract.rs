//! `holdall extract PACKAGE [PATH]...`

use std::path::PathBuf;

use clap::Args;
use holdall_aospkg::{ExtractOptions, Extracted, TarFileSystem, extract, file_name};
use holdall_diagnostics::Diagnostic;
use holdall_source::{Kind, Opened};
use serde_json::json;

use super::{CommandResult, Context};
use crate::codes;
use crate::opening::SourceArguments;
use crate::outcome::{Failure, Outcome};
use crate::report::{count, size};

/// Unpack a package into a new directory
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
    let Some(package) = opened.package() else {
        return Err(Failure::usage(
            format!("{} is no package", opened.location()),
            "give an `.aospkg` file; a directory is copied with `cp -R`",
        ));
    };
    let output = match &arguments.output {
        Some(output) => output.clone(),
        None => default_output(package, &opened)?,
    };
    let options = ExtractOptions { rewrite_links: arguments.rewrite_links };
    let done = extract(package, &arguments.paths, &output, options)
        .map_err(|error| Failure::from(error.diagnostic().at(opened.location().as_str())))?;
    Ok(tell(&done, &output, &opened))
}

fn default_output(package: &TarFileSystem, opened: &Opened) -> Result<PathBuf, Failure> {
    let failed = |error: holdall_aospkg::PackageError| Failure::from(error.diagnostic());
    let manifest = package.package().manifest().map_err(failed)?;
    file_name(&manifest.name, &manifest.version).map(PathBuf::from).ok_or_else(|| {
        let message = format!(
            "the package calls itself `{}` `{}`, which is no name for a directory",
            manifest.name, manifest.version
        );
        let help = "say where with -o DIR";
        Diagnostic::new(&codes::NO_NAME, message).at(opened.location().as_str()).help(help).into()
    })
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
