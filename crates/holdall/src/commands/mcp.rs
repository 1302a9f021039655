//! `holdall mcp list`

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{CommandResult, Context};
use crate::kinds::artifact;
use crate::opening::ArtifactArguments;
use crate::outcome::Outcome;

/// Look at the MCP servers of an artifact
///
/// Answers: which servers will my agents reach, with which tools? Nothing is started here: the
/// answer is that of the artifact manifest.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  holdall mcp list --artifact ./dist --target codex")]
pub(crate) struct Mcp {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List every server with its tools, or those of one agent host
    List(ArtifactArguments),
}

pub(crate) fn run(arguments: &Mcp, context: &Context<'_>) -> CommandResult {
    let Action::List(source) = &arguments.action;
    let opened = source.open(context)?;
    let open = artifact::open(&opened)?;
    let host = source.target(open.manifest())?;
    let reaches = |server: &&Value| {
        let hosts = server["hosts"].as_array().map(Vec::as_slice).unwrap_or_default();
        host.as_deref().is_none_or(|host| hosts.iter().any(|each| each == host))
    };
    let all = artifact::server_list(open.manifest());
    let servers: Vec<&Value> = all.iter().filter(reaches).collect();
    let mut lines = Vec::new();
    for server in &servers {
        let text = |key: &str| server[key].as_str().unwrap_or_default();
        let hosts: Vec<_> =
            server["hosts"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        lines.push(format!(
            "{}   {}, {}, for {}",
            text("name"),
            text("kind"),
            text("transport"),
            hosts.join(", ")
        ));
        for (key, word) in [("tools", "tool"), ("resources", "resource"), ("prompts", "prompt")] {
            for item in server[key].as_array().into_iter().flatten() {
                let about = item["description"].as_str().map(|text| format!("   {text}"));
                let name = item["name"].as_str().unwrap_or_default();
                lines.push(format!("  {word:<9} {name}{}", about.unwrap_or_default()));
            }
        }
    }
    Ok(Outcome::new("mcp").fact("mcp", json!(servers)).lines(lines))
}
