//! The command line as types: global options, the list of commands, and the groups of `--help`.
//!
//! Each command's own arguments stand in its file under [`crate::commands`]. To add a command:
//! write that file, add it to the `commands!` list there and to [`GROUPS`] here.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::PathBuf;

use clap::{Args, CommandFactory, FromArgMatches, Parser, ValueEnum};

use crate::commands::Command;

/// The commands as `--help` groups them; a test checks that each stands in exactly one group.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Use", &["install", "list", "doctor", "update", "uninstall"]),
    ("Look", &["inspect", "verify", "ls", "cat", "stat", "extract"]),
    ("Author", &["init", "validate", "pack", "digest", "knowledge", "prepack", "mcp", "hooks"]),
    ("Plumbing", &["fetch", "schema", "explain", "completions", "manpages"]),
];

/// One tool for AI-agent packages
///
/// Write once, check, install into any agent host, run without unpacking. Reads and writes
/// packages (.aospkg), packs (PACK.md) and artifacts (agent-bundle.manifest.json).
#[derive(Debug, Parser)]
#[command(name = "holdall", version, arg_required_else_help = true, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The options that every command takes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Let DIR stand for your home directory, store and agent hosts' settings included
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// Print exactly one JSON object, whatever the exit code
    #[arg(long, global = true, conflicts_with = "format")]
    pub(crate) json: bool,
    /// Print text (the default) or json; `validate` knows sarif and github too
    #[arg(long, global = true, value_enum, default_value_t = Format::Text)]
    #[arg(hide_default_value = true, hide_possible_values = true)]
    pub(crate) format: Format,
    /// Open no network connection
    #[arg(long, global = true)]
    pub(crate) offline: bool,
}

impl Global {
    /// The format asked for; `--json` is `--format json`.
    pub(crate) fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

/// How a result is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people and line-based tools
    Text,
    /// One object
    Json,
    /// A SARIF 2.1.0 log of the findings
    Sarif,
    /// GitHub workflow commands, which become annotations
    Github,
}

/// A command line that was not accepted, or that only asked for help or the version.
#[derive(Debug)]
pub(crate) struct Refused {
    /// What clap makes of it.
    pub(crate) error: clap::Error,
    /// Whether the answer has to be a JSON object all the same.
    pub(crate) json: bool,
}

/// Parses the arguments, the program's name first.
pub(crate) fn parse(arguments: &[OsString]) -> Result<Cli, Refused> {
    let refused = |error| Refused { error, json: asks_for_json(arguments) };
    let mut matches = command().try_get_matches_from(arguments).map_err(refused)?;
    let cli = Cli::from_arg_matches_mut(&mut matches)
        .map_err(|error| refused(error.format(&mut command())))?;
    let only_validate = matches!(cli.global.format, Format::Sarif | Format::Github);
    if only_validate && cli.command.name() != "validate" {
        let text =
            "--format sarif and --format github are for `validate`, whose findings they show";
        let error = command().error(clap::error::ErrorKind::ArgumentConflict, text);
        return Err(refused(error));
    }
    Ok(cli)
}

/// The whole command line for clap, help in groups.
pub(crate) fn command() -> clap::Command {
    let command = Cli::command();
    let template = "{before-help}{about-with-newline}\n{usage-heading} {usage}\n\n".to_owned()
        + &grouped(&command)
        + "Options:\n{options}{after-help}";
    command.help_template(template).subcommand_required(true)
}

fn grouped(command: &clap::Command) -> String {
    let mut text = String::new();
    for (group, names) in GROUPS {
        let _ = writeln!(text, "{group}:");
        for name in names {
            let about = command.find_subcommand(name).and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {name:<12} {about}");
        }
        text.push('\n');
    }
    text
}

/// Whether arguments that could not be parsed ask for JSON.
fn asks_for_json(arguments: &[OsString]) -> bool {
    let before = arguments.iter().take_while(|argument| *argument != "--");
    let mut last = None;
    for argument in before {
        if argument == "--json"
            || argument == "--format=json"
            || (last.is_some_and(|last| last == "--format") && argument == "json")
        {
            return true;
        }
        last = Some(argument);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clap_finds_no_fault() {
        command().debug_assert();
    }

    #[test]
    fn every_command_is_in_one_group() {
        let mut grouped: Vec<_> =
            GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let command = command();
        let mut all: Vec<_> = command
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
            .map(clap::Command::get_name)
            .collect();
        grouped.sort_unstable();
        all.sort_unstable();
        assert_eq!(grouped, all);
    }

    #[test]
    fn every_command_says_which_question_it_answers_and_has_an_example() {
        for command in command().get_subcommands() {
            let text = |styled: Option<&clap::builder::StyledStr>| {
                styled.map(ToString::to_string).unwrap_or_default()
            };
            let (long, after) = (text(command.get_long_about()), text(command.get_after_help()));
            assert!(long.contains('?'), "{}: no question in {long:?}", command.get_name());
            assert!(after.starts_with("Example"), "{}: no example", command.get_name());
        }
    }
}
