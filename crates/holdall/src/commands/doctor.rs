//! `holdall doctor`

use clap::Args;
use holdall_install::examine;
use serde_json::json;

use super::{CommandResult, Context};
use crate::installing;
use crate::outcome::Outcome;
use crate::report::count;

/// Hold everything that is installed against its receipts
///
/// Answers: is what I installed still there, and still what it was? Finds what is missing, changed,
/// replaced by something else, or belongs to nothing any more, and changes nothing.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  holdall doctor")]
pub(crate) struct Doctor {}

pub(crate) fn run(_: &Doctor, context: &Context<'_>) -> CommandResult {
    let store = installing::store(&context.env)?;
    let examined = examine(&store).map_err(|error| installing::apply_failure(&error))?;
    let looked = format!(
        "{}, {}, {}",
        count(examined.packs, "pack"),
        count(examined.apps, "app"),
        count(examined.skills, "skill")
    );
    let verdict = match examined.diagnostics.len() {
        0 => "all is well".to_owned(),
        more => format!("{} to look at", count(more, "thing")),
    };
    let mut outcome = Outcome::new("doctor")
        .fact(
            "doctor",
            json!({"packs": examined.packs, "apps": examined.apps, "skills": examined.skills}),
        )
        .lines(vec![format!("{looked}: {verdict}")]);
    outcome.diagnostics = examined.diagnostics;
    Ok(outcome)
}
