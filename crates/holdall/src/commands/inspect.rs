//! `holdall inspect SOURCE`

use std::ffi::{OsStr, OsString};

use clap::Args;

use super::{CommandResult, Context};
use crate::kinds;
use crate::opening::Narrowing;
use crate::outcome::Outcome;

/// Say what a source is, what it will run and what it reaches
///
/// Answers: what did I get, and what will it do? Nothing of it is run and nothing is written.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  holdall inspect demo.aospkg
  holdall inspect ./my-pack --json")]
pub(crate) struct Inspect {
    #[arg(
        value_name = "SOURCE",
        required_unless_present = "artifact",
        help = "A path, git+https://URL#SHA40, https://…, or npm:NAME@VERSION"
    )]
    source: Option<OsString>,
    /// The same for an artifact
    #[arg(long, value_name = "SOURCE", conflicts_with = "source")]
    artifact: Option<OsString>,
    #[command(flatten)]
    narrowing: Narrowing,
}

pub(crate) fn run(arguments: &Inspect, context: &Context<'_>) -> CommandResult {
    let text = arguments.artifact.as_ref().or(arguments.source.as_ref());
    let opened = arguments.narrowing.open(text.map_or(OsStr::new("."), OsString::as_os_str), context)?;
    opened.known_kind()?;
    if arguments.artifact.is_some() {
        kinds::artifact::open(&opened)?;
    }
    let answer = kinds::inspect(&opened)?;
    let mut outcome = Outcome::new(kinds::word(&opened, "inspect"));
    outcome.facts = answer.facts;
    Ok(outcome.lines(answer.report.into_lines()))
}
