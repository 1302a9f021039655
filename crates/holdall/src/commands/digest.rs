//! `holdall digest SOURCE`

use clap::Args;
use holdall_source::Kind;
use serde_json::Value;

use super::{CommandResult, Context};
use crate::kinds::{self, Covered};
use crate::opening::SourceArguments;
use crate::outcome::Outcome;

/// Print the digests of a source
///
/// Answers: which digests identify exactly this, so that others can check what they got? Each line
/// is HEX, ALG and the source; `verify --digest ALG:HEX` compares.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  holdall digest demo.aospkg")]
pub(crate) struct DigestOf {
    #[command(flatten)]
    source: SourceArguments,
}

pub(crate) fn run(arguments: &DigestOf, context: &Context<'_>) -> CommandResult {
    let opened = arguments.source.open(context)?;
    let digests = kinds::digests(&opened)?;
    let row = |covered: &Covered| {
        let algorithm = covered.digest.algorithm().as_str();
        format!("{}  {algorithm}  {}", covered.digest.hex(), opened.location())
    };
    let lines = digests.iter().map(row).collect();
    let facts: Vec<Value> = digests.iter().map(Covered::fact).collect();
    let kind = opened.kind().map_or("digest", Kind::as_str);
    Ok(Outcome::new(kind).fact("digests", facts).lines(lines))
}
