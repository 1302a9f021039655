//! What `install` and `uninstall` share: where things go, the preview, consent, applying a plan,
//! and the rows of `results[]`.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use holdall_diagnostics::{Diagnostic, Severity};
use holdall_hosts::{AgentHost, HostEnv, Scope};
use holdall_install::{
    Action, ApplyError, Destination, HD0301, HD0306, HD0307, HD0308, HD0309, HD0315, NoPrograms,
    Outcome as Row, Planned, Repaired, apply, destinations, repair,
};
use holdall_store::{Store, StoreError};
use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::commands::Context;
use crate::env::Env;
use crate::outcome::{Exit, Failure, Outcome};
use crate::output;

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

/// The store of this run.
pub(crate) fn store(env: &Env) -> Result<Store, Failure> {
    Store::at(env.store()?).map_err(failure)
}

/// A failure of the store.
#[expect(clippy::needless_pass_by_value, reason = "used with map_err")]
pub(crate) fn failure(error: StoreError) -> Failure {
    error.diagnostic().into()
}

/// A plan that could not be made or applied.
pub(crate) fn apply_failure(error: &ApplyError) -> Failure {
    match error {
        ApplyError::Store(error) => error.diagnostic().into(),
        other => Diagnostic::new(&HD0306, other.to_string())
            .help("everything is as it was; `holdall doctor` says more")
            .into(),
    }
}

impl Target {
    /// The project directory: the one given, else the nearest above the working directory with
    /// `.git`, else the working directory.
    pub(crate) fn project(&self, env: &Env) -> PathBuf {
        let here = env.working_directory();
        match &self.project {
            Some(project) => here.join(project),
            None => {
                here.ancestors().find(|dir| dir.join(".git").exists()).unwrap_or(here).to_path_buf()
            }
        }
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

/// The time as records have it: ISO 8601, UTC, milliseconds.
pub(crate) fn now() -> String {
    let now = OffsetDateTime::now_utc();
    let (date, time) = (now.date(), now.time());
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
        date.year(),
        u8::from(date.month()),
        date.day(),
        time.hour(),
        time.minute(),
        time.second(),
        time.millisecond()
    )
}

/// A path as people see it: relative to the working directory where it lies below.
pub(crate) fn shown(path: &Path, env: &Env) -> String {
    let below = path.strip_prefix(env.working_directory()).ok();
    match below {
        Some(rest) if rest.as_os_str().is_empty() => ".".to_owned(),
        Some(rest) => rest.display().to_string(),
        None => path.display().to_string(),
    }
}

/// One row of `results[]` and `plan[]`.
pub(crate) fn fact(row: &Row) -> Value {
    let mut fact = json!({
        "kind": row.kind,
        "name": row.name,
        "destination": row.destination.display().to_string(),
        "action": row.action.as_str(),
    });
    if let Some(object) = fact.as_object_mut() {
        if let [host, ..] = row.hosts.as_slice() {
            object.insert("host".to_owned(), json!(host));
        }
        if let Some(detail) = &row.detail {
            object.insert("detail".to_owned(), json!(detail));
        }
    }
    fact
}

/// How a plan that has errors ends: policy refuses with 3, everything else fails with 1.
fn refusal(diagnostics: &[Diagnostic]) -> Exit {
    let policy = [HD0301.id, HD0308.id, HD0309.id];
    let mut errors = diagnostics.iter().filter(|found| found.severity == Severity::Error);
    if errors.any(|found| policy.contains(&found.code)) { Exit::Refused } else { Exit::Failed }
}

/// What a person agreed to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Consent<'a> {
    /// Why it is asked for; none where nothing has to be.
    pub(crate) needed_for: Option<&'a str>,
    /// Whether it was given on the command line.
    pub(crate) given: bool,
}

/// Shows or applies a plan. `preview` is what stands above either.
pub(crate) fn finish(
    context: &Context<'_>,
    store: &Store,
    planned: &Planned,
    preview: Vec<String>,
    only_plan: bool,
    consent: Consent<'_>,
    kind: &'static str,
) -> Result<Outcome, Failure> {
    let rows: Vec<Value> = planned.outcomes.iter().map(fact).collect();
    let mut outcome = Outcome::new(kind);
    outcome.diagnostics.clone_from(&planned.diagnostics);
    let mut lines = preview;
    if planned.has_errors() {
        outcome.exit = refusal(&planned.diagnostics);
        outcome.notes = lines;
        outcome.notes.push("nothing was written".to_owned());
        return Ok(outcome.fact(if only_plan { "plan" } else { "results" }, Vec::<Value>::new()));
    }
    if planned.is_incomplete() || planned.outcomes.iter().any(|row| row.action == Action::Kept) {
        outcome.exit = Exit::Failed;
    }
    if only_plan {
        return Ok(outcome.fact("plan", rows).lines(lines));
    }
    if let (Some(reason), false) = (consent.needed_for, consent.given) {
        let ask =
            context.global.format() == crate::cli::Format::Text && std::io::stdin().is_terminal();
        if !ask || !output::ask(&lines, &format!("{reason}. Go on?")) {
            return Err(Failure::refused(
                Diagnostic::new(&HD0315, reason.to_owned())
                    .help("say --yes, or name the bytes you expect with --digest; --plan shows what would change"),
            ));
        }
        lines.clear();
    }
    let lock =
        store.lock(|| output::notice("waiting for another holdall to finish")).map_err(failure)?;
    if repair(store, &lock, &NoPrograms).map_err(|error| apply_failure(&error))? == Repaired::Back {
        outcome.notes.push("note: an earlier change that did not finish was taken back".to_owned());
    }
    apply(store, &lock, &planned.plan, &NoPrograms).map_err(|error| apply_failure(&error))?;
    Ok(outcome.fact("results", rows).lines(lines))
}
