//! `holdall pack APP -o NAME.agentapp`

use std::io::{BufWriter, Write as _};
use std::path::Path;

use holdall_pack::{BundleOptions, write_bundle};
use holdall_source::Opened;
use holdall_tree::TreePath;
use holdall_tree::stage::{Place, StageError, StagedFile};
use serde_json::json;

use super::{CommandResult, PackOf};
use crate::files;
use crate::kinds;
use crate::opening::tree_path;
use crate::outcome::{Failure, Outcome};
use crate::packing::Named;
use crate::report::{count, size};

pub(super) fn run(
    arguments: &PackOf,
    base: &Path,
    named: &Named,
    opened: &Opened,
) -> CommandResult {
    let facts = &arguments.facts;
    let misplaced = [
        (arguments.format_version.is_some(), "--format-version"),
        (arguments.allow_loss, "--allow-loss"),
        (arguments.list, "--list"),
        (facts.name.is_some(), "--name"),
        (facts.version_name.is_some(), "--version"),
        (facts.agent.is_some(), "--agent"),
        (facts.posix, "--posix"),
        (facts.preserve, "--preserve"),
    ];
    if let Some((_, option)) = misplaced.into_iter().find(|(given, _)| *given) {
        return Err(Failure::usage(
            format!("{option} says nothing to an app bundle"),
            "a bundle takes -o, --include and --exclude",
        ));
    }
    let shown = arguments.output.clone().unwrap_or_default();
    let output = base.join(&shown);
    let paths = |given: &[String]| -> Result<Vec<TreePath>, Failure> {
        given.iter().map(|path| tree_path(path)).collect()
    };
    let mut options =
        BundleOptions { exclude: paths(&facts.exclude)?, include: paths(&facts.include)? };
    options.exclude.extend(named.inside(&output));
    // The files that the document names are there, or the bundle would be none.
    kinds::app::load(opened)?;
    let failed = |error: StageError| files::cannot_stage(&shown, &error);
    let place = Place::at(&output).map_err(failed)?;
    place.takes_a_file().map_err(failed)?;
    let mut staged = StagedFile::create(place, 0o644).map_err(failed)?;
    let made = write_bundle(opened.tree(), &options, BufWriter::new(&mut staged))
        .map_err(|found| Failure::new(kinds::placed(opened, found)))?;
    let written = staged.flush();
    written.map_err(|error| files::cannot_write(&shown, &error))?;
    staged.commit().map_err(failed)?;
    let manifest = &made.manifest;
    let bytes = std::fs::metadata(&output).map_or(0, |found| found.len());
    let mut outcome = Outcome::new("app")
        .fact(
            "pack",
            json!({
                "output": shown,
                "bytes": bytes,
                "id": manifest.id(),
                "version": manifest.version(),
                "files": manifest.files(),
                "aggregate": manifest.aggregate().to_string(),
            }),
        )
        .lines(vec![
            format!(
                "{} {}   app bundle, {}, {}",
                manifest.id(),
                manifest.version(),
                count(manifest.files().len(), "file"),
                size(bytes)
            ),
            format!("wrote {}", shown.display()),
        ]);
    outcome.diagnostics = kinds::placed(opened, made.diagnostics);
    Ok(outcome)
}
