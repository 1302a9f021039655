//! What is asked for, what is answered, and the two entry points.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use holdall_diagnostics::Diagnostic;
use holdall_hosts::listing::ListedPlugin;
use holdall_hosts::receipt::InstallMode;
use holdall_hosts::{HostEnv, Scope};
use holdall_store::{Store, StoreError, StoreLock};
use holdall_tree::TreeError;
use serde::Serialize;

use super::bundle::{ArtifactHost, Bundle};
use super::programs::{HostPrograms, Judge, Judging};
use super::{placed, registered, removal, unregister};
use crate::codes::AB7004;
use crate::executor::{ApplyError, apply};
use crate::plan::Plan;

/// Why an artifact is neither installed nor removed. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum ArtifactError {
    /// A rule of the format refuses it; at least one.
    #[error("{}", first(.0))]
    Refused(Vec<Diagnostic>),
    /// Looking, or applying, failed.
    #[error(transparent)]
    Apply(#[from] ApplyError),
}

fn first(found: &[Diagnostic]) -> &str {
    found.first().map_or("refused", |first| first.message.as_str())
}

impl From<Diagnostic> for ArtifactError {
    fn from(found: Diagnostic) -> Self {
        Self::Refused(vec![found])
    }
}

impl From<TreeError> for ArtifactError {
    fn from(error: TreeError) -> Self {
        Self::Apply(error.into())
    }
}

impl From<StoreError> for ArtifactError {
    fn from(error: StoreError) -> Self {
        Self::Apply(error.into())
    }
}

/// How an artifact is to be installed.
#[derive(Debug, Clone, Copy)]
pub struct InstallArtifact<'a> {
    /// The store.
    pub store: &'a Store,
    /// What of the environment says where agent hosts keep things.
    pub env: &'a HostEnv,
    /// The project directory, for the scopes that mean one.
    pub project: &'a Path,
    /// For whom.
    pub scope: Scope,
    /// How agent hosts' own programs are run.
    pub programs: &'a HostPrograms,
    /// Whether another version that has a receipt may be replaced (`--force`).
    pub replace: bool,
    /// The time to record: ISO 8601, UTC, with milliseconds.
    pub now: &'a str,
}

/// What became, or would become, of an install.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InstallState {
    /// It was not there.
    Installed,
    /// It is there, the same.
    AlreadyInstalled,
    /// Another content or version was there.
    Replaced,
    /// It waits for a step of the user's in the host.
    Staged,
}

impl InstallState {
    /// The verb of the human form.
    pub const fn verb(self) -> &'static str {
        match self {
            Self::Installed => "Installed",
            Self::AlreadyInstalled => "Already installed",
            Self::Replaced => "Replaced",
            Self::Staged => "Staged",
        }
    }
}

/// The result of an install, in the keys of the reference (5.2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InstallSummary {
    /// The root it came from.
    pub bundle_root: PathBuf,
    /// The agent host's id.
    pub host: &'static str,
    /// The plugin's name.
    pub plugin: String,
    /// Its version.
    pub version: String,
    /// What became of it.
    pub state: InstallState,
    /// For whom.
    pub scope: &'static str,
    /// Of what is copied, 64 hex digits.
    pub content_hash: String,
    /// Of what was there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_content_hash: Option<String>,
    /// The directory that the host reads.
    pub destination: PathBuf,
    /// The marketplace that the host knows it by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marketplace: Option<String>,
    /// How it is handed over: `host-cli` or `local`.
    pub mode: &'static str,
    /// Its receipt.
    pub receipt: PathBuf,
    /// Where what somebody had changed by hand is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backup: Option<PathBuf>,
    /// What is left for the user to do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next_steps: Vec<String>,
}

/// What is to become of the data that a plugin's servers keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DataPolicy {
    /// It stays.
    #[default]
    Keep,
    /// It goes, where it is provably the plugin's.
    Purge,
}

/// How an artifact is to be taken away.
#[derive(Debug, Clone, Copy)]
pub struct UninstallArtifact<'a> {
    /// The store.
    pub store: &'a Store,
    /// What of the environment says where agent hosts keep things.
    pub env: &'a HostEnv,
    /// The project directory, for the scopes that mean one.
    pub project: &'a Path,
    /// The agent host.
    pub host: ArtifactHost,
    /// How agent hosts' own programs are run.
    pub programs: &'a HostPrograms,
    /// The plugin's name.
    pub plugin: &'a str,
    /// From whom.
    pub scope: Scope,
    /// What becomes of its data.
    pub data: DataPolicy,
    /// Whether what was changed by hand goes too.
    pub force: bool,
    /// The time to record: ISO 8601, UTC, with milliseconds.
    pub now: &'a str,
}

/// What became, or would become, of an uninstall.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum UninstallState {
    /// There was nothing to remove.
    NotInstalled,
    /// The plan would remove it.
    Planned,
    /// It was removed.
    Uninstalled,
}

/// What was found of the receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReceiptReport {
    /// Where it lies.
    pub path: PathBuf,
    /// `consumed`, `forced-missing`, `forced-mismatch`, `missing` or `remnant`.
    pub status: &'static str,
    /// What it says was installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_hash: Option<String>,
    /// Since when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub installed_at: Option<String>,
    /// In which version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// What becomes of one registration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RegistrationReport {
    /// Which kind, in the receipt's words.
    pub kind: &'static str,
    /// `removed`, `already-absent` or `retained`.
    pub action: &'static str,
    /// The host's id of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Why, where that is not plain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// What is removed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Removed {
    /// Directories, absolute.
    pub directories: Vec<PathBuf>,
    /// Files, absolute.
    pub files: Vec<PathBuf>,
}

/// What becomes of data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DataReport {
    /// What was asked for.
    pub policy: DataPolicy,
    /// `absent`, `kept`, `purged`, `removed-by-host` or `retained-by-host`.
    pub outcome: &'static str,
    /// Where it is, or was.
    pub paths: Vec<PathBuf>,
}

/// The result of an uninstall, in the keys of the reference (5.3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UninstallSummary {
    /// The agent host's id.
    pub host: &'static str,
    /// The plugin's name.
    pub plugin: String,
    /// The version that was installed, where a receipt says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// How it was handed over.
    pub mode: &'static str,
    /// From whom.
    pub scope: &'static str,
    /// Whether `--force` was given.
    pub forced: bool,
    /// What became of it.
    pub state: UninstallState,
    /// The directory that the host read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destination: Option<PathBuf>,
    /// Its receipt.
    pub receipt: ReceiptReport,
    /// What the host was told.
    pub registrations: Vec<RegistrationReport>,
    /// What goes.
    pub removed: Removed,
    /// What stays, because it is not the install's own.
    pub retained: Vec<PathBuf>,
    /// What becomes of data.
    pub data: DataReport,
    /// Where a receipt says that something is left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remnant_receipt: Option<PathBuf>,
    /// What is left for the user to do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next_steps: Vec<String>,
}

impl UninstallSummary {
    /// A summary that says: nothing is there.
    pub(super) fn nothing(request: &UninstallArtifact<'_>, receipt: PathBuf) -> Self {
        let mode = match request.host.cli() {
            Some(_) => InstallMode::HostCli,
            None => InstallMode::Local,
        };
        Self {
            host: request.host.id(),
            plugin: request.plugin.to_owned(),
            version: None,
            mode: mode.as_str(),
            scope: request.scope.as_str(),
            forced: request.force,
            state: UninstallState::NotInstalled,
            destination: None,
            receipt: ReceiptReport {
                path: receipt,
                status: "missing",
                content_hash: None,
                installed_at: None,
                version: None,
            },
            registrations: Vec::new(),
            removed: Removed::default(),
            retained: Vec::new(),
            data: DataReport { policy: request.data, outcome: "absent", paths: Vec::new() },
            remnant_receipt: None,
            next_steps: Vec::new(),
        }
    }
}

/// A change that was looked at and not made: its plan, and what it does.
#[derive(Debug)]
pub struct Prepared<S> {
    /// The steps; none when there is nothing to do.
    pub plan: Plan,
    /// What they do, in the reference's keys.
    pub summary: S,
    pub(super) judge: Option<Judge>,
}

/// Plans the install of a bundle into its agent host, under the lock of the store if it is to be
/// applied. Nothing is changed; an empty plan means that
/// it is there already.
///
/// # Errors
///
/// [`ArtifactError::Refused`] with the codes AB7002 to AB7006.
pub fn plan_artifact_install(
    request: &InstallArtifact<'_>,
    bundle: &Bundle,
) -> Result<Prepared<InstallSummary>, ArtifactError> {
    match (bundle.host().cli(), bundle.marketplace()) {
        (Some(cli), Some(marketplace)) => {
            registered::plan_install(request, bundle, cli, marketplace)
        }
        _ => {
            let (plan, summary) = placed::plan_install(request, bundle)?;
            Ok(Prepared { plan, summary, judge: None })
        }
    }
}

/// Plans to take an artifact away, by its receipt. Nothing is changed; an empty plan means that
/// nothing is there.
///
/// # Errors
///
/// [`ArtifactError::Refused`] with the codes AB7002 to AB7004 and AB7007 to AB7009.
pub fn plan_artifact_uninstall(
    request: &UninstallArtifact<'_>,
) -> Result<Prepared<UninstallSummary>, ArtifactError> {
    if let Some(cli) = request.host.cli() {
        return unregister::plan_uninstall(request, cli);
    }
    let (plan, summary) = removal::plan_uninstall(request)?;
    Ok(Prepared { plan, summary, judge: None })
}

impl Prepared<InstallSummary> {
    /// Carries it out, all of it or nothing, and looks at the agent host's listing in the end.
    /// The answer is what is to be said though it is installed: AB7006 for load errors.
    ///
    /// # Errors
    ///
    /// AB7004 when a program failed or its listing does not show the plugin; what had been done is
    /// taken back. Other failures as [`apply`] has them.
    pub fn apply(
        &self,
        store: &Store,
        lock: &StoreLock,
        programs: &HostPrograms,
    ) -> Result<Vec<Diagnostic>, ArtifactError> {
        let row = carry_out(store, lock, self, programs)?;
        let failed = row.filter(|row| !row.errors.is_empty());
        let Some(host) = ArtifactHost::find(self.summary.host) else { return Ok(Vec::new()) };
        Ok(failed.iter().map(|row| registered::load_errors(host, &row.id, row)).collect())
    }
}

impl Prepared<UninstallSummary> {
    /// Carries it out, all of it or nothing, and looks at the agent host's listing in the end. The
    /// summary then says `uninstalled`.
    ///
    /// # Errors
    ///
    /// As for an install.
    pub fn apply(
        &mut self,
        store: &Store,
        lock: &StoreLock,
        programs: &HostPrograms,
    ) -> Result<(), ArtifactError> {
        carry_out(store, lock, self, programs)?;
        if self.summary.state == UninstallState::Planned {
            self.summary.state = UninstallState::Uninstalled;
        }
        Ok(())
    }
}

fn carry_out<S>(
    store: &Store,
    lock: &StoreLock,
    prepared: &Prepared<S>,
    programs: &HostPrograms,
) -> Result<Option<ListedPlugin>, ArtifactError> {
    let runner = Judging { programs, judge: prepared.judge.as_ref(), seen: Mutex::default() };
    let by_hand = "what this run had done was taken back";
    apply(store, lock, &prepared.plan, &runner).map_err(|error| match error {
        ApplyError::Command { what } => {
            ArtifactError::from(Diagnostic::new(&AB7004, what).help(by_hand))
        }
        ApplyError::Stuck { .. } => Diagnostic::new(&AB7004, error.to_string())
            .help("do that, then run any holdall command that changes something")
            .into(),
        other => other.into(),
    })?;
    Ok(runner.seen.into_inner().unwrap_or_default())
}
