//! `holdall explain CODE`

use clap::Args;
use serde_json::json;

use super::{CommandResult, Context};
use crate::codes;
use crate::outcome::{Failure, Outcome};

/// Say what a diagnostic code means and what to do about it
///
/// Answers: what does this code mean, and how do I get rid of it?
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  holdall explain PK0104")]
pub(crate) struct Explain {
    /// The code, as in PK0104; upper or lower case
    #[arg(value_name = "CODE", required_unless_present = "all")]
    code: Option<String>,
    /// Print all codes as one Markdown page
    #[arg(long, conflicts_with = "code")]
    all: bool,
}

pub(crate) fn run(arguments: &Explain, _context: &Context<'_>) -> CommandResult {
    let registry = codes::registry();
    let Some(id) = arguments.code.as_deref().filter(|_| !arguments.all) else {
        let all: Vec<_> = registry.all().iter().map(|code| fact(code)).collect();
        return Ok(Outcome::new("explain").fact("explain", all).text(registry.markdown()));
    };
    let code = registry.find(id).map_err(|unknown| {
        Failure::usage(unknown.to_string(), "`holdall explain --all` lists every code")
    })?;
    let text = registry.explain(code.id).unwrap_or_default();
    Ok(Outcome::new("explain").fact("explain", fact(code)).text(text))
}

fn fact(code: &holdall_diagnostics::Code) -> serde_json::Value {
    json!({
        "code": code.id,
        "severity": code.severity,
        "title": code.title,
        "explanation": code.explain,
    })
}
