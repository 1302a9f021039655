//! `holdall completions SHELL`

use clap::Args;
use clap_complete::Shell;

use super::{CommandResult, Context};
use crate::cli;
use crate::outcome::Outcome;

/// Print a completion script for a shell
///
/// Answers: how do I get my shell to complete holdall's commands and options?
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  holdall completions bash > ~/.local/share/bash-completion/completions/holdall")]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

#[expect(clippy::unnecessary_wraps, reason = "every command has this signature")]
pub(crate) fn run(arguments: &Completions, _context: &Context<'_>) -> CommandResult {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut cli::command(), "holdall", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    Ok(Outcome::new("completions").fact("completions", script.as_str()).text(script))
}
