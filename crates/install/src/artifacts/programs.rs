//! Running the agent hosts' own programs: which, in which environment, and what counts as done.
//!
//! A program is believed by its listing, not by how it ended: a command that failed though what it
//! was for is there has done its work (that is how taking back something that never happened
//! ends well), and after the last command of a plan the listing has to show what was planned.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use holdall_hosts::Scope;
use holdall_hosts::cli::{HostCli, Words};
use holdall_hosts::listing::{self, ListedPlugin};
use holdall_store::{Child, find_program};

use crate::executor::Runner;
use crate::plan::Command;

/// Bytes that a program may print; a listing of ten thousand plugins has a few.
const OUTPUT: usize = 16 * 1024 * 1024;

/// How agent hosts' programs are run. It is the [`Runner`] of every plan of an artifact, also
/// where an unfinished one is taken back.
#[derive(Debug, Clone)]
pub struct HostPrograms {
    environment: BTreeMap<OsString, OsString>,
    limit: Duration,
}

impl HostPrograms {
    /// Programs are found on the `PATH` of `environment`, get all of it and nothing else, and may
    /// take `limit` each.
    pub const fn new(environment: BTreeMap<OsString, OsString>, limit: Duration) -> Self {
        Self { environment, limit }
    }

    /// The program of a host, absolute.
    pub fn find(&self, cli: HostCli) -> Option<PathBuf> {
        find_program(cli.program(), self.environment.get(&OsString::from("PATH"))?)
    }

    /// Runs a program and gives its standard output; the error says what it said.
    pub(super) fn output(&self, command: &Command) -> Result<Vec<u8>, String> {
        let shown = || line(command);
        let child = Child {
            program: &command.program,
            arguments: command.arguments.iter().map(OsString::from).collect(),
            environment: self.environment.clone(),
            directory: &command.directory,
            limit: self.limit,
            output: OUTPUT,
            fills: None,
        };
        let finished = child.run().map_err(|error| format!("`{}`: {error}", shown()))?;
        if finished.status.success() {
            return Ok(finished.stdout);
        }
        let words = finished.last_words(3);
        let said = if words.is_empty() { "it said nothing".to_owned() } else { words };
        Err(format!("`{}` ended with {}: {said}", shown(), finished.status))
    }

    /// Whether what a command is for is there already.
    fn reached(&self, command: &Command) -> bool {
        let Some(cli) = [HostCli::Claude, HostCli::Codex]
            .into_iter()
            .find(|cli| command.program.ends_with(cli.program()))
        else {
            return false;
        };
        let ask = |words: Words| self.output(&Command { arguments: words, ..command.clone() }).ok();
        let words: Vec<&str> = command.arguments.iter().map(String::as_str).collect();
        let listed = |id: &str| -> Option<bool> {
            let rows = cli.read_plugins(&ask(cli.list_plugins())?, id).ok()?;
            let scope = words.iter().position(|word| *word == "--scope");
            let scope = scope.and_then(|at| Scope::parse(words.get(at + 1)?));
            Some(rows.iter().any(|row| scope.is_none() || row.scope == scope))
        };
        let place =
            |name: &str| listing::marketplace_root(&ask(cli.list_marketplaces())?, name).ok();
        match words.as_slice() {
            ["plugin", "marketplace", "remove", name] => place(name) == Some(None),
            ["plugin", "marketplace", "add", root] => {
                let output = ask(cli.list_marketplaces());
                output.is_some_and(|output| listing::knows_root(&output, root) == Ok(true))
            }
            ["plugin", "uninstall" | "remove", id, ..] => listed(id) == Some(false),
            ["plugin", "install" | "add", id, ..] => listed(id) == Some(true),
            _ => false,
        }
    }
}

impl Runner for HostPrograms {
    fn run(&self, command: &Command) -> Result<(), String> {
        match self.output(command) {
            Ok(_) => Ok(()),
            Err(_) if self.reached(command) => Ok(()),
            Err(what) => Err(what),
        }
    }
}

/// A command as it would be typed.
pub(super) fn line(command: &Command) -> String {
    format!("{} {}", command.program.display(), command.arguments.join(" "))
}

/// What the listing has to show in the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Judge {
    pub(super) cli: HostCli,
    /// The step that lists.
    pub(super) command: Command,
    pub(super) id: String,
    pub(super) scope: Scope,
    pub(super) project: PathBuf,
    /// The version that must be there; none if nothing may be.
    pub(super) version: Option<String>,
}

/// The rows of a plugin in one scope and, where that means one, one project.
pub(super) fn in_scope(
    rows: Vec<ListedPlugin>,
    scope: Scope,
    project: &Path,
) -> impl Iterator<Item = ListedPlugin> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let project = real(project);
    rows.into_iter().filter(move |row| {
        let here = row.project.as_deref().is_none_or(|path| real(Path::new(path)) == project);
        row.scope == Some(scope) && (scope == Scope::User || here)
    })
}

impl Judge {
    fn check(&self, output: &[u8]) -> Result<Option<ListedPlugin>, String> {
        let shown = line(&self.command);
        let rows = self
            .cli
            .read_plugins(output, &self.id)
            .map_err(|error| format!("`{shown}`: {error}"))?;
        let row = in_scope(rows, self.scope, &self.project).next();
        match (&row, &self.version) {
            (None, Some(_)) => Err(format!("`{shown}` does not list {}", self.id)),
            (Some(_), None) => Err(format!("`{shown}` still lists {}", self.id)),
            (Some(found), Some(version))
                if found.version.as_ref().is_some_and(|listed| listed != version) =>
            {
                let listed = found.version.as_deref().unwrap_or_default();
                Err(format!("`{shown}` lists {} {listed}, not {version}", self.id))
            }
            _ => Ok(row),
        }
    }
}

/// A runner that also looks at what the listing shows.
pub(super) struct Judging<'a> {
    pub(super) programs: &'a HostPrograms,
    pub(super) judge: Option<&'a Judge>,
    pub(super) seen: Mutex<Option<ListedPlugin>>,
}

impl Runner for Judging<'_> {
    fn run(&self, command: &Command) -> Result<(), String> {
        match self.judge {
            Some(judge) if judge.command == *command => {
                let row = judge.check(&self.programs.output(command)?)?;
                if let Ok(mut seen) = self.seen.lock() {
                    *seen = row;
                }
                Ok(())
            }
            _ => self.programs.run(command),
        }
    }
}
