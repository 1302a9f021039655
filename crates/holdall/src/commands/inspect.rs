//! `holdall inspect SOURCE`

use std::ffi::{OsStr, OsString};

use clap::Args;
use holdall_pack::{APP_FAMILY, ArtifactRef, PACK_FAMILY};
use holdall_source::Kind;
use holdall_store::{AppRecord, PackRecord};
use serde_json::json;

use super::{CommandResult, Context};
use crate::opening::Narrowing;
use crate::outcome::{Failure, Outcome};
use crate::kinds::Inspected;
use crate::report::Report;
use crate::{installing, kinds};

/// Say what a source is, what it will run and what it reaches
///
/// Answers: what did I get, and what will it do? Nothing of it is run and nothing is written.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  holdall inspect demo.aospkg
  holdall inspect ./my-pack --json
  holdall inspect aip://64/my-pack@1.2.0           what a ref names, and what is installed of it")]
pub(crate) struct Inspect {
    #[arg(
        value_name = "SOURCE",
        required_unless_present = "artifact",
        help = "A path, git+https://URL#SHA40, https://…, npm:NAME@VERSION, or an aip:// ref"
    )]
    source: Option<OsString>,
    /// The same for an artifact
    #[arg(long, value_name = "SOURCE", conflicts_with = "source")]
    artifact: Option<OsString>,
    #[command(flatten)]
    narrowing: Narrowing,
}

pub(crate) fn run(arguments: &Inspect, context: &Context<'_>) -> CommandResult {
    if let Some(text) = arguments.source.as_deref().and_then(OsStr::to_str)
        && text.starts_with("aip:")
    {
        return reference(text, context);
    }
    let text = arguments.artifact.as_ref().or(arguments.source.as_ref());
    let opened = arguments.narrowing.open(text.map_or(OsStr::new("."), OsString::as_os_str), context)?;
    if arguments.artifact.is_some() && opened.kind() != Some(Kind::Artifact) {
        // Asked for as an artifact, so that the answer is what it lacks to be one.
        kinds::artifact::inspect(&opened, &mut Inspected::default())?;
    }
    opened.known_kind()?;
    let answer = kinds::inspect(&opened)?;
    let mut outcome = Outcome::new(kinds::word(&opened, "inspect"));
    outcome.facts = answer.facts;
    Ok(outcome.lines(answer.report.into_lines()))
}

/// What a ref says, and what it means here: the object form, and the version that is installed.
fn reference(text: &str, context: &Context<'_>) -> CommandResult {
    let reference =
        ArtifactRef::parse(text).map_err(|error| Failure::misuse(error.diagnostic()))?;
    let installed = installed(&reference, context)?;
    let mut report = Report::default();
    report.head(format!("{text}   ref"));
    let family = match reference.aip() {
        PACK_FAMILY => "a pack",
        APP_FAMILY => "an app",
        _ => "of another family",
    };
    report.row("names", format!("{} ({family}, AIP-{})", reference.id(), reference.aip()));
    let pin = reference.version().unwrap_or("none: it follows the current version");
    report.row("pin", pin);
    report.row("object", reference.to_object().to_string());
    report.row("here", installed.as_deref().unwrap_or("not installed"));
    let fact = json!({
        "ref": reference.to_object(),
        "uri": text,
        "installed": installed,
    });
    let mut outcome = Outcome::new("inspect").fact("inspect", fact).lines(report.into_lines());
    // Packs were once number 52, and packs have stricter names than refs in general.
    if matches!(reference.aip(), PACK_FAMILY | 52)
        && let Err(error) = reference.to_pack()
    {
        outcome.diagnostics.push(error.diagnostic());
    }
    if let (Some(pinned), Some(installed)) = (reference.version(), &installed)
        && pinned != installed
    {
        outcome.notes.push(format!("the pin asks for {pinned}, and {installed} is installed"));
    }
    Ok(outcome)
}

/// The version that the store has of what a ref names. A run without a home knows none.
fn installed(
    reference: &ArtifactRef,
    context: &Context<'_>,
) -> Result<Option<String>, Failure> {
    let Ok(root) = context.env.store() else { return Ok(None) };
    if !root.exists() {
        return Ok(None);
    }
    let store = installing::store(&context.env)?;
    Ok(match reference.aip() {
        PACK_FAMILY => store
            .record::<PackRecord>(reference.id())
            .map_err(installing::failure)?
            .map(|record| record.version),
        APP_FAMILY => store
            .record::<AppRecord>(reference.id())
            .map_err(installing::failure)?
            .map(|record| record.version),
        _ => None,
    })
}
