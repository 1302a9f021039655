//! What is installed, by the receipts alone: for `list`, and to uninstall by name.

use std::fs;
use std::path::{Path, PathBuf};

use holdall_hosts::receipt::{InstallReceipt, RECEIPT_NAME};
use holdall_hosts::{HostEnv, Scope};
use serde::Serialize;

use super::bundle::ArtifactHost;
use super::placed::{Place, read_receipt};
use super::registered::{all_receipts, receipts_of};

/// An artifact in an agent host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InstalledArtifact {
    /// The agent host's id.
    pub host: &'static str,
    /// The plugin's name.
    pub plugin: String,
    /// Its version.
    pub version: String,
    /// For whom: `user`, `project` or `local`.
    pub scope: &'static str,
    /// The project of a project or local scope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<PathBuf>,
    /// Of what was installed, 64 hex digits.
    pub content_hash: String,
    /// Since when.
    pub installed_at: String,
    /// Its receipt.
    pub receipt: PathBuf,
}

/// Every artifact that has a receipt in a host's home, and in Amp's directory of `project`, in the
/// order of hosts and names. Receipts that cannot be read are left to [`doctor`](super::doctor()),
/// and remnants are not installed.
pub fn installed_artifacts(env: &HostEnv, project: &Path) -> Vec<InstalledArtifact> {
    let mut found = Vec::new();
    for host in ArtifactHost::ALL {
        let home = host.row().map(|row| row.home_dir(env)).unwrap_or_default();
        let mut receipts = match host.cli() {
            Some(_) => all_receipts(&receipts_of(&home), host).unwrap_or_default(),
            None => placed(host, env, project),
        };
        receipts.retain(|(_, receipt)| receipt.host == host.id() && !receipt.is_remnant());
        found.extend(receipts.into_iter().map(|(path, receipt)| row(host, path, receipt)));
    }
    found
}

fn row(host: ArtifactHost, path: PathBuf, receipt: InstallReceipt) -> InstalledArtifact {
    InstalledArtifact {
        host: host.id(),
        plugin: receipt.plugin,
        version: receipt.version,
        scope: receipt.scope.as_str(),
        project: receipt.project_root.map(PathBuf::from),
        content_hash: receipt.content_hash,
        installed_at: receipt.installed_at,
        receipt: path,
    }
}

fn placed(host: ArtifactHost, env: &HostEnv, project: &Path) -> Vec<(PathBuf, InstallReceipt)> {
    let mut found = Vec::new();
    for scope in [Scope::User, Scope::Project] {
        let Ok(place) = Place::of(host, "any", scope, env, project) else { continue };
        let Ok(entries) = fs::read_dir(&place.plugins) else { continue };
        let mut paths: Vec<PathBuf> =
            entries.flatten().map(|entry| entry.path().join(RECEIPT_NAME)).collect();
        paths.sort();
        for path in paths {
            if let Ok(Some(receipt)) = read_receipt(&path, host) {
                found.push((path, receipt));
            }
        }
    }
    found
}
