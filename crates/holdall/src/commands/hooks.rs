//! `holdall hooks list`

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{CommandResult, Context};
use crate::kinds::artifact;
use crate::opening::ArtifactArguments;
use crate::outcome::Outcome;

/// Look at the hooks of an artifact
///
/// Answers: what will an agent host start by itself, on which events? Nothing is started here.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  holdall hooks list --artifact ./dist --target claude")]
pub(crate) struct Hooks {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List every hook, or those of one agent host
    List(ArtifactArguments),
}

pub(crate) fn run(arguments: &Hooks, context: &Context<'_>) -> CommandResult {
    let Action::List(source) = &arguments.action;
    let opened = source.open(context)?;
    let open = artifact::open(&opened)?;
    let host = source.target(open.manifest())?;
    let hooks: Vec<_> = open
        .manifest()
        .executables()
        .hooks()
        .iter()
        .filter(|hook| host.as_deref().is_none_or(|host| hook.host() == host))
        .collect();
    let width = |text: fn(&holdall_artifact::model::Hook) -> &str| {
        hooks.iter().map(|hook| text(hook).chars().count()).max().unwrap_or(0)
    };
    let (hosts, events) = (width(|hook| hook.host()), width(|hook| hook.event()));
    let lines = hooks
        .iter()
        .map(|hook| {
            let limit = hook.timeout().map(|limit| format!("   {limit} s")).unwrap_or_default();
            format!(
                "{:<hosts$}  {:<events$}  {}  {}{limit}",
                hook.host(),
                hook.event(),
                hook.name(),
                hook.path()
            )
        })
        .collect();
    let facts: Vec<Value> = hooks.iter().map(|hook| artifact::hook_list_row(hook)).collect();
    Ok(Outcome::new("hooks").fact("hooks", json!(facts)).lines(lines))
}
