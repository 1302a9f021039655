//! `holdall inspect SOURCE`

use clap::Args;

use super::{CommandResult, Context};
use crate::kinds;
use crate::opening::SourceArguments;
use crate::outcome::Outcome;

/// Say what a source is, what it will run and what it reaches
///
/// Answers: what did I get, and what will it do? Nothing of it is run and nothing is written.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  holdall inspect demo.aospkg
  holdall inspect ./my-pack --json")]
pub(crate) struct Inspect {
    #[command(flatten)]
    source: SourceArguments,
}

pub(crate) fn run(arguments: &Inspect, context: &Context<'_>) -> CommandResult {
    let opened = arguments.source.open(context)?;
    opened.known_kind()?;
    let answer = kinds::inspect(&opened)?;
    let mut outcome = Outcome::new(kinds::word(&opened, "inspect"));
    outcome.facts = answer.facts;
    Ok(outcome.lines(answer.report.into_lines()))
}
