//! Where an install goes: agent hosts, scope, project.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use holdall_diagnostics::Diagnostic;
use holdall_hosts::{AgentHost, HostEnv, Scope};
use holdall_install::{Destination, HD0307, destinations};
use holdall_store::Store;

use super::failure;
use crate::env::Env;
use crate::outcome::Failure;

/// Where an install goes.
#[derive(Debug, Args)]
pub(crate) struct Target {
    /// Agent hosts to install for; repeatable, takes commas. Without it: all that are detected
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    pub(crate) host: Vec<String>,
    /// Install for you, for the project, or for you in the project
    #[arg(long, value_enum, default_value_t = ScopeName::User)]
    pub(crate) scope: ScopeName,
    /// The project, instead of the nearest directory above with .git
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
}

/// The scopes as words of the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeName {
    /// Every project of yours
    User,
    /// One project, for everybody
    Project,
    /// One project, for you
    Local,
}

impl From<ScopeName> for Scope {
    fn from(name: ScopeName) -> Self {
        match name {
            ScopeName::User => Self::User,
            ScopeName::Project => Self::Project,
            ScopeName::Local => Self::Local,
        }
    }
}

/// A host by id or alias; a wrong one lists all.
pub(crate) fn host(name: &str) -> Result<&'static AgentHost, Failure> {
    holdall_hosts::find(name).map_err(|error| {
        Failure::usage(error.to_string(), format!("known are {}", error.known.join(", ")))
    })
}

/// The environment that decides where hosts keep things.
pub(crate) fn host_env(env: &Env) -> Result<HostEnv, Failure> {
    let mut host_env = HostEnv::new(env.home()?);
    for name in HostEnv::variable_names() {
        if let Some(value) = env.variable(name) {
            host_env = host_env.with_var(name, value);
        }
    }
    Ok(host_env)
}

/// The project directory: the one given, else the nearest above the working directory with `.git`,
/// else the working directory.
pub(crate) fn project(given: Option<&Path>, env: &Env) -> PathBuf {
    let here = env.working_directory();
    match given {
        Some(project) => here.join(project),
        None => {
            here.ancestors().find(|dir| dir.join(".git").exists()).unwrap_or(here).to_path_buf()
        }
    }
}

impl Target {
    /// The project directory, see [`project`].
    pub(crate) fn project(&self, env: &Env) -> PathBuf {
        project(self.project.as_deref(), env)
    }

    /// The hosts asked for, else those that are here; and lines about asked ones that are not.
    pub(crate) fn hosts(
        &self,
        host_env: &HostEnv,
    ) -> Result<(Vec<&'static AgentHost>, Vec<String>), Failure> {
        if self.host.is_empty() {
            let found = holdall_hosts::detected(host_env);
            if found.is_empty() {
                let known: Vec<_> = holdall_hosts::hosts().iter().map(AgentHost::id).collect();
                return Err(Diagnostic::new(&HD0307, "no agent host was detected")
                    .help(format!("name one with --host: {}", known.join(", ")))
                    .into());
            }
            return Ok((found, Vec::new()));
        }
        let mut hosts: Vec<&'static AgentHost> = Vec::new();
        let mut notes = Vec::new();
        for name in &self.host {
            let host = host(name)?;
            if !hosts.iter().any(|known| known.id() == host.id()) {
                hosts.push(host);
                if !host.is_detected(host_env) {
                    notes.push(format!(
                        "note: {} is not detected; its directory is made",
                        host.name()
                    ));
                }
            }
        }
        Ok((hosts, notes))
    }

    /// The directories to write to, and lines about hosts that are not here.
    pub(crate) fn destinations(
        &self,
        env: &Env,
        store: &Store,
    ) -> Result<(Vec<Destination>, Vec<String>), Failure> {
        let host_env = host_env(env)?;
        let (hosts, mut notes) = self.hosts(&host_env)?;
        let project = self.project(env);
        let config = store.config().map_err(failure)?;
        let scope = Scope::from(self.scope);
        if scope != Scope::User {
            notes.push(format!("project: {}", project.display()));
        }
        Ok((destinations(&hosts, scope, &host_env, &project, &config), notes))
    }
}
