//! `holdall manpages DIR`

use std::path::PathBuf;

use clap::Args;

use super::{CommandResult, Context};
use crate::outcome::Outcome;
use crate::{cli, files};

/// Write a manual page for every command
///
/// Answers: where do I read this offline, with `man`?
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  holdall manpages ~/.local/share/man/man1")]
pub(crate) struct Manpages {
    /// The directory, which is created; pages of the same name in it are replaced
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

pub(crate) fn run(arguments: &Manpages, context: &Context<'_>) -> CommandResult {
    let directory = context.env.working_directory().join(&arguments.directory);
    files::create_dir(&directory)?;
    let mut command = cli::command().disable_help_subcommand(true);
    command.build();
    let mut written = Vec::new();
    let mut pages = vec![command.clone()];
    pages.extend(command.get_subcommands().cloned());
    for page in pages {
        // `build` has made the names "holdall" and "holdall-NAME" for display.
        let name = page.get_display_name().unwrap_or("holdall").to_owned();
        let mut text = Vec::new();
        let file = directory.join(format!("{name}.1"));
        let shown = arguments.directory.join(format!("{name}.1"));
        clap_mangen::Man::new(page.name(name).disable_help_flag(true))
            .render(&mut text)
            .map_err(|error| files::cannot_write(&file, &error))?;
        files::replace(&file, &text)?;
        written.push(shown.display().to_string());
    }
    Ok(Outcome::new("manpages").fact("manpages", written.clone()).lines(written))
}
