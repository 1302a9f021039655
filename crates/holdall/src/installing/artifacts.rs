//! Artifacts: into each agent host by its own way, each host reported on its own, and out again
//! by receipts.

use std::path::{Path, PathBuf};
use std::time::Duration;

use holdall_diagnostics::{Diagnostic, Severity};
use holdall_hosts::Scope;
use holdall_install::{
    AB7002, ArtifactError, ArtifactHost, Bundle, DataPolicy, HD0307, HD0315, HostPrograms,
    InstallArtifact, InstallState, UninstallArtifact, UninstallState, plan_artifact_install,
    plan_artifact_uninstall, repair,
};
use holdall_source::Opened;
use holdall_store::{Store, StoreLock};
use serde_json::{Value, json};

use super::target::host_env;
use super::{Wish, apply_failure, failure, shown};
use crate::cli::Format;
use crate::commands::Context;
use crate::kinds;
use crate::kinds::artifact::McpDocuments;
use crate::outcome::{Exit, Failure, Outcome};
use crate::output;
use crate::report::Report;

/// What was said on the command line about an install.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ArtifactWish<'a> {
    /// Agent hosts by name; empty: every one that is here and that the artifact was built for.
    pub(crate) hosts: &'a [String],
    /// For whom.
    pub(crate) scope: Scope,
    /// The project directory.
    pub(crate) project: &'a Path,
    /// Whether another version may be replaced.
    pub(crate) replace: bool,
    /// The time to record.
    pub(crate) now: &'a str,
}

/// The programs of agent hosts as this run uses them.
pub(crate) fn programs(context: &Context<'_>, store: &Store) -> Result<HostPrograms, Failure> {
    let limit = Duration::from_secs(store.config().map_err(failure)?.command_seconds());
    Ok(HostPrograms::new(context.env.variables().clone(), limit))
}

fn refused(error: ArtifactError) -> Vec<Diagnostic> {
    match error {
        ArtifactError::Refused(found) => found,
        ArtifactError::Apply(error) => apply_failure(&error).into_diagnostics(),
    }
}

fn lock(store: &Store, programs: &HostPrograms) -> Result<StoreLock, Failure> {
    let waiting = || output::notice("waiting for another holdall to finish");
    let lock = store.lock(waiting).map_err(failure)?;
    repair(store, &lock, programs).map_err(|error| apply_failure(&error))?;
    Ok(lock)
}

/// The directory on the disk that an artifact is installed from. One that is sealed has none.
fn root(opened: &Opened, context: &Context<'_>) -> Result<PathBuf, Failure> {
    if opened.is_sealed() {
        return Err(Failure::usage(
            "an artifact is installed from a directory, and this one is sealed in a file",
            "`holdall extract` it first",
        ));
    }
    let base = context.env.working_directory().join(opened.file());
    Ok(base)
}

/// The hosts to install into.
fn hosts(
    root: &Path,
    wish: ArtifactWish<'_>,
    context: &Context<'_>,
) -> Result<Vec<ArtifactHost>, Failure> {
    let has = Bundle::hosts_of(root).map_err(Failure::new)?;
    let names = |hosts: &[ArtifactHost]| -> String {
        hosts.iter().map(|host| host.id()).collect::<Vec<_>>().join(", ")
    };
    if wish.hosts.is_empty() {
        let env = host_env(&context.env)?;
        let here = |host: &ArtifactHost| host.row().is_some_and(|row| row.is_detected(&env));
        let found: Vec<_> = has.iter().copied().filter(here).collect();
        if found.is_empty() {
            return Err(Diagnostic::new(&HD0307, "none of its agent hosts was detected")
                .help(format!("name one with --host: {}", names(&has)))
                .into());
        }
        return Ok(found);
    }
    let mut chosen = Vec::new();
    for name in wish.hosts {
        super::host(name)?;
        match ArtifactHost::find(name).filter(|host| has.contains(host)) {
            Some(host) if chosen.contains(&host) => {}
            Some(host) => chosen.push(host),
            None => {
                return Err(Failure::usage(
                    format!("the artifact was not built for `{name}`"),
                    format!("it can be installed into {}", names(&has)),
                ));
            }
        }
    }
    Ok(chosen)
}

/// Installs an artifact.
pub(crate) fn install(
    context: &Context<'_>,
    store: &Store,
    opened: &Opened,
    artifact: ArtifactWish<'_>,
    wish: Wish,
) -> Result<Outcome, Failure> {
    let root = root(opened, context)?;
    let hosts = hosts(&root, artifact, context)?;
    let mut bundles = Vec::new();
    for host in hosts {
        bundles.push(Bundle::open(&root, host).map_err(Failure::new)?);
    }
    let lines = preview(opened, &bundles, context)?;
    let foreign = opened.is_fetched();
    if foreign && !wish.only_plan && !wish.agreed {
        let reason = "this brings what agent hosts start by themselves";
        let ask = context.global.format() == Format::Text
            && std::io::IsTerminal::is_terminal(&std::io::stdin());
        if !ask || !output::ask(&lines, &format!("{reason}. Go on?")) {
            return Err(Failure::refused(Diagnostic::new(&HD0315, reason).help(
                "say --yes, or name the bytes you expect with --digest; --plan shows what would \
                 change",
            )));
        }
    }
    let programs = programs(context, store)?;
    let env = host_env(&context.env)?;
    let locked = if wish.only_plan { None } else { Some(lock(store, &programs)?) };
    let request = InstallArtifact {
        store,
        env: &env,
        project: artifact.project,
        scope: artifact.scope,
        programs: &programs,
        replace: artifact.replace,
        now: artifact.now,
    };
    let mut outcome = Outcome::new("artifact");
    let mut results = Vec::new();
    for bundle in &bundles {
        match plan_artifact_install(&request, bundle) {
            Ok(prepared) => {
                if let Some(locked) = &locked {
                    match prepared.apply(store, locked, &programs) {
                        Ok(found) => outcome.diagnostics.extend(found),
                        Err(error) => {
                            outcome.diagnostics.extend(refused(error));
                            continue;
                        }
                    }
                } else {
                    outcome.notes.extend(prepared.plan.to_string().lines().map(str::to_owned));
                }
                let summary = &prepared.summary;
                if !wish.only_plan || summary.state == InstallState::AlreadyInstalled {
                    let place = shown(&summary.destination, &context.env);
                    let name = format!("{} {}", summary.plugin, summary.version);
                    let verb = summary.state.verb();
                    outcome.notes.push(format!("{verb}: {name} in {} ({place})", summary.host));
                }
                let next = summary.next_steps.iter().map(|step| format!("next: {step}"));
                outcome.notes.extend(next);
                results.push(json!(summary));
            }
            Err(error) => outcome.diagnostics.extend(refused(error)),
        }
    }
    if let (false, Some(bundle)) = (wish.only_plan || results.is_empty(), bundles.first()) {
        let home = context.global.home.as_ref();
        let home = home.map(|home| format!(" --home {}", home.display())).unwrap_or_default();
        outcome.notes.push(format!("undo: holdall uninstall artifact:{}{home}", bundle.plugin()));
    }
    let key = if wish.only_plan { "plan" } else { "results" };
    Ok(outcome.fact(key, results).lines(lines))
}

fn preview(
    opened: &Opened,
    bundles: &[Bundle],
    context: &Context<'_>,
) -> Result<Vec<String>, Failure> {
    let open = kinds::artifact::open(opened)?;
    let mut report = Report::default();
    let from = shown(opened.location().as_std_path(), &context.env);
    let about = open.manifest().application();
    report.head(format!("{} {}   artifact   from {from}", about.name(), about.version()));
    if let Some(bundle) = bundles.first() {
        let digest = format!("agent-bundle-content/v6:{}", bundle.content_hash());
        report.row("digest", format!("{digest} covers every listed file; signed no"));
        if bundle.operator_files() > 0 {
            report.row("adds", format!("{} .env files of yours", bundle.operator_files()));
        }
    }
    let hosts: Vec<_> = bundles.iter().map(|bundle| bundle.host().name()).collect();
    report.row("into", hosts.join(", "));
    let ids: Vec<_> = bundles.iter().map(|bundle| bundle.host().id()).collect();
    let documents = McpDocuments::read(opened.tree(), open.manifest());
    let runs = kinds::artifact::run_lines(open.manifest(), &documents, &ids);
    report.rows("runs", runs, "nothing by itself");
    let reaches = kinds::artifact::reach_lines(open.manifest(), &documents);
    report.rows("reaches", reaches, "no remote server");
    Ok(report.into_lines())
}

/// What was said on the command line about an uninstall.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RemovalWish<'a> {
    /// The plugin's name.
    pub(crate) plugin: &'a str,
    /// Agent hosts; empty: all.
    pub(crate) hosts: &'a [ArtifactHost],
    /// From whom.
    pub(crate) scope: Scope,
    /// The project directory.
    pub(crate) project: &'a Path,
    /// What becomes of its data.
    pub(crate) data: DataPolicy,
    /// Whether what was changed by hand goes too.
    pub(crate) force: bool,
    /// The time to record.
    pub(crate) now: &'a str,
}

/// What became of an uninstall in all its hosts.
#[derive(Debug, Default)]
pub(crate) struct Removals {
    /// One row an agent host where something was.
    pub(crate) results: Vec<Value>,
    /// Lines for people.
    pub(crate) lines: Vec<String>,
    /// What went wrong.
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Takes an artifact out of agent hosts, by its receipts.
pub(crate) fn uninstall(
    context: &Context<'_>,
    store: &Store,
    wish: RemovalWish<'_>,
    only_plan: bool,
) -> Result<Removals, Failure> {
    let programs = programs(context, store)?;
    let env = host_env(&context.env)?;
    let mut all = Removals::default();
    let mut locked = None;
    let hosts = if wish.hosts.is_empty() { &ArtifactHost::ALL[..] } else { wish.hosts };
    for &host in hosts {
        let request = UninstallArtifact {
            store,
            env: &env,
            project: wish.project,
            host,
            programs: &programs,
            plugin: wish.plugin,
            scope: wish.scope,
            data: wish.data,
            force: wish.force,
            now: wish.now,
        };
        let prepared = match plan_artifact_uninstall(&request) {
            Ok(prepared) if prepared.summary.state == UninstallState::NotInstalled => continue,
            Ok(prepared) if only_plan => prepared,
            Ok(_) => {
                if locked.is_none() {
                    locked = Some(lock(store, &programs)?);
                }
                let Some(locked) = &locked else { continue };
                // What stands there now counts, not what stood there before the lock.
                let again = plan_artifact_uninstall(&request).and_then(|mut prepared| {
                    prepared.apply(store, locked, &programs)?;
                    Ok(prepared)
                });
                match again {
                    Ok(prepared) => prepared,
                    Err(error) => {
                        all.diagnostics.extend(refused(error));
                        continue;
                    }
                }
            }
            Err(error) => {
                let mut found = refused(error);
                // A host that is not here has nothing of it, unless it was asked for.
                found.retain(|found| !wish.hosts.is_empty() || found.code != AB7002.id);
                all.diagnostics.extend(found);
                continue;
            }
        };
        let summary = &prepared.summary;
        let verb = if only_plan { "would remove" } else { "removed" };
        all.lines.push(format!("{verb}  artifact {}  from {}", summary.plugin, host.name()));
        let kept = summary.retained.iter().map(|path| shown(path, &context.env));
        all.lines.extend(kept.map(|path| format!("kept     {path}")));
        all.lines.extend(summary.next_steps.iter().map(|step| format!("next: {step}")));
        all.results.push(json!(summary));
    }
    Ok(all)
}

/// Whether something that went wrong makes the command fail.
pub(crate) fn settle(outcome: &mut Outcome) {
    if outcome.diagnostics.iter().any(|found| found.severity == Severity::Error) {
        outcome.exit = Exit::Failed;
    }
}
