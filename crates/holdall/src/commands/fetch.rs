//! `holdall fetch SOURCE`

use std::ffi::OsString;

use clap::Args;
use holdall_source::{OpenOptions, Opened, Origin, Source};
use holdall_tree::{Algorithm, Digest};
use serde_json::{Value, json};

use super::{CommandResult, Context};
use crate::kinds::{self, Covered};
use crate::opening::open_source;
use crate::outcome::{Failure, Outcome};

/// Fetch a source into the cache, and say where it is
///
/// Answers: where on this machine are these bytes, and which are they? Other commands fetch by
/// themselves; after this one they work with --offline too. The first line is the path in the
/// cache, the others are its digests and what pins it. Nothing that was fetched is run.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  holdall fetch git+https://git.example.org/skills#0123456789abcdef0123456789abcdef01234567
  holdall fetch npm:@scope/skills@1.2.3
  holdall fetch https://example.org/demo.aospkg --sha256 HEX")]
pub(crate) struct Fetch {
    #[arg(
        value_name = "SOURCE",
        help = "git+https://URL#SHA40, https://…, npm:NAME@VERSION, or a path, which stays where it is"
    )]
    source: OsString,
    /// The SHA-256 that the file behind an https address must have
    #[arg(long, value_name = "HEX")]
    sha256: Option<String>,
}

pub(crate) fn run(arguments: &Fetch, context: &Context<'_>) -> CommandResult {
    let source = Source::parse(&arguments.source)?;
    let sha256 = arguments.sha256.as_deref().map(digest).transpose()?;
    if sha256.is_some() && !matches!(source, Source::Https(_)) {
        return Err(Failure::usage(
            "--sha256 is for https addresses",
            "a commit and a version of npm pin themselves; `verify --digest` compares the rest",
        ));
    }
    let options = OpenOptions { sha256, ..OpenOptions::default() };
    let opened = open_source(&source, &options, context)?;
    let digests = kinds::digests(&opened)?;
    let path = context.env.working_directory().join(opened.file()).display().to_string();
    let mut lines = vec![path.clone()];
    lines.extend(digests.iter().map(|each| format!("  {}  ({})", each.digest, each.covers)));
    let (pin, pinned) = pin(&opened);
    lines.extend(pin.map(|pin| format!("  {pin}")));
    let fact = json!({
        "source": source.to_string(),
        "path": path,
        "digests": digests.iter().map(Covered::fact).collect::<Vec<_>>(),
        "origin": pinned,
    });
    Ok(Outcome::new(kinds::word(&opened, "fetch")).fact("fetch", fact).lines(lines))
}

fn digest(text: &str) -> Result<Digest, Failure> {
    let hex = text.strip_prefix("sha256:").unwrap_or(text);
    Digest::from_hex(Algorithm::Sha256, hex)
        .map_err(|error| Failure::usage(error.to_string(), "give the 64 digits of a SHA-256"))
}

/// What pins a fetched source, as a line and as a fact.
fn pin(opened: &Opened) -> (Option<String>, Value) {
    let address = opened.origin().address();
    match opened.origin() {
        Origin::Path => (None, Value::Null),
        Origin::Git { commit, .. } => {
            (Some(format!("commit {commit}")), json!({"address": address, "commit": commit}))
        }
        Origin::Https { sha256, .. } => {
            (None, json!({"address": address, "sha256": sha256.hex()}))
        }
        Origin::Npm { version, integrity, .. } => (
            Some(format!("integrity {integrity}")),
            json!({"address": address, "version": version, "integrity": integrity}),
        ),
    }
}
