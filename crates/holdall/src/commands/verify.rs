//! `holdall verify SOURCE`

use clap::Args;
use holdall_diagnostics::Diagnostic;
use holdall_tree::{Digest, DigestError};
use serde_json::json;

use super::{CommandResult, Context};
use crate::codes;
use crate::kinds::{self, Covered};
use crate::opening::SourceArguments;
use crate::outcome::{Exit, Failure, Outcome};

/// Check whether these are the bytes that were meant
///
/// Answers: is it one thing, and is it what the publisher made? The first word is the answer:
/// `consistent` (it agrees with itself; nothing outside was compared), `matches` (it has the
/// digest you gave), `differs`, or `not checkable` (the digest's algorithm is missing, unknown, or
/// says nothing about this kind of source).
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  holdall verify demo.aospkg
  holdall verify demo.aospkg --digest sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")]
pub(crate) struct Verify {
    #[command(flatten)]
    source: SourceArguments,
    /// The digest that the publisher gave
    #[arg(long, value_name = "ALG:HEX")]
    digest: Option<String>,
}

pub(crate) fn run(arguments: &Verify, context: &Context<'_>) -> CommandResult {
    let opened = arguments.source.open(context)?;
    let checked = kinds::check(&opened)?;
    let expected = arguments.digest.as_deref().map(expectation).transpose()?;
    let digests = match kinds::digests(&opened) {
        Ok(digests) => digests,
        // What is not whole has no digest, and its faults are said below.
        Err(_) if !checked.differences.is_empty() => Vec::new(),
        Err(failure) => return Err(failure),
    };
    let mut diagnostics = checked.differences;
    let comparison = match expected {
        None => Comparison::None,
        Some(Err(why)) => Comparison::NotCheckable(not_checkable(why, &digests)),
        Some(Ok(digest)) => compare(&digest, &digests),
    };
    let word = match &comparison {
        _ if !diagnostics.is_empty() => "differs",
        Comparison::NotCheckable(_) => "not checkable",
        Comparison::Differs { .. } => "differs",
        Comparison::None => "consistent",
        Comparison::Matches(_) => "matches",
    };
    let mut lines = vec![format!("{word}  {}", opened.location())];
    let compared = checked.compared.join("; ");
    if !compared.is_empty() {
        lines.push(format!("  compared  {compared}"));
    }
    let mut outcome = Outcome::new(kinds::word(&opened, "verify"));
    let mut fact = json!({
        "word": word,
        "compared": checked.compared,
        "digests": digests.iter().map(Covered::fact).collect::<Vec<_>>(),
    });
    match comparison {
        Comparison::None => {
            for (at, covered) in digests.iter().enumerate() {
                let label = if at == 0 { "ask for" } else { "or" };
                lines.push(format!("  {label:<9} {}  ({})", covered.digest, covered.covers));
            }
            outcome.notes.push(
                "nothing outside was compared: ask the publisher for a digest, then say --digest ALG:HEX"
                    .to_owned(),
            );
        }
        Comparison::Matches(covered) => {
            fact["expected"] = json!(covered.digest.to_string());
            lines.push(format!("  digest    {}", covered.digest));
            lines.push(format!("  covers    {}", covered.covers));
        }
        Comparison::Differs { expected, actual } => {
            fact["expected"] = json!(expected.to_string());
            let message = format!("the digest is {actual}, not {expected}");
            diagnostics.push(
                Diagnostic::new(&codes::DIGEST_DIFFERS, message)
                    .at(opened.location().as_str())
                    .help("get it again from the publisher, and do not use this one"),
            );
        }
        Comparison::NotCheckable(diagnostic) => {
            // A contradiction is a fact, whatever the digest would have said.
            outcome.exit = if diagnostics.is_empty() { Exit::Refused } else { Exit::Failed };
            diagnostics.push(diagnostic.at(opened.location().as_str()));
        }
    }
    diagnostics.extend(checked.oddities);
    outcome.diagnostics = diagnostics;
    Ok(outcome.fact("verify", fact).lines(lines))
}

/// What the comparison with `--digest` gave.
enum Comparison<'a> {
    None,
    Matches(&'a Covered),
    Differs { expected: Digest, actual: Digest },
    NotCheckable(Diagnostic),
}

/// The digest to compare with, or why there is no comparing. Digits that are none are a typing
/// error; an algorithm that is not known is a refusal, whatever the digits.
fn expectation(text: &str) -> Result<Result<Digest, String>, Failure> {
    match text.parse::<Digest>() {
        Ok(digest) => Ok(Ok(digest)),
        Err(error @ DigestError::Hex { .. }) => {
            Err(Failure::usage(error.to_string(), "a digest is written ALG:HEX"))
        }
        Err(error) => {
            Ok(Err(error.to_string()))
        }
    }
}

fn compare<'a>(expected: &Digest, digests: &'a [Covered]) -> Comparison<'a> {
    let same = |covered: &&Covered| covered.digest.algorithm() == expected.algorithm();
    match digests.iter().find(same) {
        Some(covered) if covered.digest == *expected => Comparison::Matches(covered),
        Some(covered) => Comparison::Differs { expected: *expected, actual: covered.digest },
        None => {
            let what = format!("a {} says nothing about this kind of source", expected.algorithm());
            Comparison::NotCheckable(not_checkable(what, digests))
        }
    }
}

fn not_checkable(what: String, digests: &[Covered]) -> Diagnostic {
    let has: Vec<_> = digests.iter().map(|each| each.digest.algorithm().as_str()).collect();
    Diagnostic::new(&codes::DIGEST_ALGORITHM, what)
        .help(format!("ask the publisher for one of these: {}", has.join(", ")))
}
