//! `holdall`: arguments, output and exit codes around the libraries; nothing else.
//!
//! A run is always the same five steps. [`cli`] turns the arguments into types, [`env::Env`] reads
//! the environment once, [`commands`] runs one command and gets an [`outcome::Outcome`] back,
//! [`output`] prints it and says how to exit. Commands print nothing and read no environment, so
//! that each can be read without knowing the others.

mod cli;
mod codes;
mod commands;
mod entry;
mod env;
mod files;
mod installing;
mod kinds;
mod opening;
mod outcome;
mod output;
mod packing;
mod report;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    let cli = match cli::parse(&arguments) {
        Ok(cli) => cli,
        Err(refused) => return output::refused(&refused),
    };
    let style = output::Style::of(&cli.global);
    let result = env::Env::from_process(cli.global.home.as_deref()).and_then(|env| {
        commands::run(&cli.command, &commands::Context { env, global: &cli.global })
    });
    let outcome = result.unwrap_or_else(|failure| failure.into_outcome(cli.command.name()));
    output::print(outcome, style)
}
