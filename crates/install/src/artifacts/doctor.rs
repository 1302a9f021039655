//! Looking at agent hosts and at what is installed in them, without changing or starting anything
//! but the hosts' own listings (reference 5.4).

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use holdall_diagnostics::{Diagnostic, Severity};
use holdall_hosts::cli::HostCli;
use holdall_hosts::listing::ListedPlugin;
use holdall_hosts::receipt::{InstallReceipt, RECEIPT_NAME};
use holdall_hosts::{HostEnv, Scope};
use holdall_store::Store;
use holdall_tree::DirTree;
use serde::Serialize;

use super::bundle::{ArtifactHost, Bundle, hash_of_files};
use super::placed::{Place, Standing, read_receipt, standing};
use super::programs::HostPrograms;
use super::registered::{Desk, hash_of_copy};
use super::request::ArtifactError;
use crate::codes::{
    AB7300, AB7301, AB7302, AB7303, AB7304, AB7305, AB7307, AB7308, AB7309, AB7310, AB7313, AB7319,
    AB7321, AB7325, AB7327, AB7328, AB7330, AB7331,
};

/// What is to be looked at.
#[derive(Debug, Clone, Copy)]
pub struct Doctor<'a> {
    /// The store.
    pub store: &'a Store,
    /// What of the environment says where agent hosts keep things.
    pub env: &'a HostEnv,
    /// The project directory, for Amp's plugins of a project.
    pub project: &'a Path,
    /// How agent hosts' own programs are run; a probe takes as long as its limit says, for which
    /// the format wants five seconds.
    pub programs: &'a HostPrograms,
    /// Which hosts.
    pub hosts: &'a [ArtifactHost],
    /// A root to compare what is installed with.
    pub from: Option<&'a Path>,
}

/// Whether the host is here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Probe {
    /// `available`, `failed` or `unavailable`.
    pub status: &'static str,
    /// What its program says of its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// How far a plugin has come in its host; each `observed`, `absent` or `unavailable`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Lifecycle {
    /// Its files are where the host reads them.
    pub placed: &'static str,
    /// The host lists it.
    pub registered: &'static str,
    /// It is switched on.
    pub enabled: &'static str,
    /// It runs; only a session of the host knows, and none is started.
    pub active: &'static str,
}

/// The root of `--from` as one host has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BundleReport {
    /// The plugin's name.
    pub name: String,
    /// Its version in the root.
    pub version: String,
    /// The root.
    pub bundle_root: PathBuf,
    /// `current`, `stale`, `version-mismatch`, `foreign`, `load-failed`, `not-installed` or
    /// `unknown`.
    pub comparison: &'static str,
    /// How far it has come.
    pub lifecycle: Lifecycle,
    /// Number of operator files beside the manifest.
    pub operator_env: usize,
}

/// One receipt of the host's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReceiptRow {
    /// Where it lies.
    pub path: PathBuf,
    /// The plugin it is about.
    pub plugin: String,
    /// In which version.
    pub version: String,
}

/// One agent host.
#[derive(Debug, Clone, Serialize)]
pub struct HostReport {
    /// Its id.
    pub host: &'static str,
    /// Whether it is here.
    pub probe: Probe,
    /// The root compared with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bundle: Option<BundleReport>,
    /// What was installed into it.
    pub receipts: Vec<ReceiptRow>,
    /// What is to be said.
    pub diagnostics: Vec<Diagnostic>,
}

/// Everything that was seen.
#[derive(Debug, Clone, Serialize)]
pub struct DoctorReport {
    /// One row a host, in the order asked for.
    pub hosts: Vec<HostReport>,
    /// What is to be said of the root as a whole.
    pub diagnostics: Vec<Diagnostic>,
}

impl DoctorReport {
    /// Everything that is to be said, host by host.
    pub fn all(&self) -> impl Iterator<Item = &Diagnostic> {
        self.hosts.iter().flat_map(|host| &host.diagnostics).chain(&self.diagnostics)
    }

    /// How many findings have a severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.all().filter(|found| found.severity == severity).count()
    }
}

/// Looks; never changes anything and never fails: what cannot be seen is a finding.
pub fn doctor(request: &Doctor<'_>) -> DoctorReport {
    let mut diagnostics = Vec::new();
    if let Some(root) = request.from {
        static_validation(root, &mut diagnostics);
    }
    let hosts = request.hosts.iter().map(|&host| look_at(request, host)).collect();
    DoctorReport { hosts, diagnostics }
}

/// AB7319: the rules of `validate` over the root.
fn static_validation(root: &Path, said: &mut Vec<Diagnostic>) {
    let shown = root.display().to_string();
    // A root that cannot be opened is said of each host, as AB7001.
    let Ok(tree) = DirTree::open(root) else { return };
    let npm = holdall_hosts::validate::NpmPackage::around(root);
    let validated = holdall_hosts::validate::validate_artifact(&tree, &shown, npm.as_ref());
    let errors =
        validated.diagnostics.iter().filter(|found| found.severity == Severity::Error).count();
    if errors > 0 && validated.manifest.is_some() {
        said.push(
            Diagnostic::new(&AB7319, format!("the root has {errors} errors"))
                .at(shown.clone())
                .help(format!("`holdall validate {shown}` names them")),
        );
    }
}

fn look_at(request: &Doctor<'_>, host: ArtifactHost) -> HostReport {
    let mut report = HostReport {
        host: host.id(),
        probe: Probe { status: "unavailable", version: None },
        bundle: None,
        receipts: Vec::new(),
        diagnostics: Vec::new(),
    };
    match host.cli() {
        Some(cli) => program(request, host, cli, &mut report),
        None => directory(request, host, &mut report),
    }
    for found in &mut report.diagnostics {
        if found.target.is_none() {
            found.target = Some(host.id().to_owned());
        }
    }
    report
}

fn absent(host: ArtifactHost, what: &str) -> Diagnostic {
    Diagnostic::new(&AB7300, format!("{} is not here: {what}; not checked", host.name()))
}

/// The root of `--from` for a host; its faults are said.
fn bundle_of(
    request: &Doctor<'_>,
    host: ArtifactHost,
    said: &mut Vec<Diagnostic>,
) -> Option<Bundle> {
    let root = request.from?;
    match Bundle::open(root, host) {
        Ok(bundle) => Some(bundle),
        Err(found) => {
            said.extend(found);
            None
        }
    }
}

fn words_of(error: &ArtifactError) -> String {
    error.to_string()
}

const fn word(there: bool) -> &'static str {
    if there { "observed" } else { "absent" }
}

/// What the comparison says, with the command that puts it right.
fn compared(
    bundle: &Bundle,
    comparison: &'static str,
    lifecycle: Lifecycle,
    place: &Path,
    report: &mut HostReport,
) {
    let host = bundle.host();
    let root = bundle.root().display();
    let again = format!("holdall install {} --from {root}", host.id());
    let name = format!("{} in {}", bundle.plugin(), host.name());
    let at = place.display().to_string();
    let said = &mut report.diagnostics;
    match comparison {
        "not-installed" => {
            said.push(Diagnostic::new(&AB7307, format!("{name}: not installed")).help(again));
        }
        "stale" => {
            let what = format!("{name}: what is installed is not what the root holds");
            said.push(Diagnostic::new(&AB7308, what).at(at).help(again));
        }
        "version-mismatch" => {
            let what = format!("{name}: another version than {} is installed", bundle.version());
            said.push(Diagnostic::new(&AB7309, what).at(at).help(format!("{again} --force")));
        }
        "foreign" => {
            let what = format!("{name}: what stands there was not installed with a receipt");
            said.push(Diagnostic::new(&AB7321, what).at(at).help("move it away, then install"));
        }
        "unknown" => {
            let what = format!("{name}: what is installed cannot be compared");
            said.push(Diagnostic::new(&AB7310, what).at(at).help(format!("{again} --force")));
        }
        _ => {}
    }
    let Lifecycle { placed, registered, enabled, active } = lifecycle;
    let stages = format!(
        "{name}: placed {placed}, registered {registered}, enabled {enabled}, active {active}"
    );
    said.push(Diagnostic::new(&AB7330, stages));
    let operator_env = bundle.operator_files();
    if operator_env > 0 {
        let what = format!("{operator_env} operator files are copied with the root");
        said.push(Diagnostic::new(&AB7331, what).at(bundle.root().display().to_string()));
    }
    report.bundle = Some(BundleReport {
        name: bundle.plugin().to_owned(),
        version: bundle.version().to_owned(),
        bundle_root: bundle.root().to_owned(),
        comparison,
        lifecycle,
        operator_env,
    });
}

/// Cursor and Amp.
fn directory(request: &Doctor<'_>, host: ArtifactHost, report: &mut HostReport) {
    let home = host.row().map(|row| row.home_dir(request.env)).unwrap_or_default();
    let scopes: &[Scope] =
        if host == ArtifactHost::Amp { &[Scope::User, Scope::Project] } else { &[Scope::User] };
    match fs::metadata(&home) {
        Ok(known) if known.is_dir() => report.probe.status = "available",
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let what = format!("{} does not exist", home.display());
            report.diagnostics.push(absent(host, &what));
        }
        other => {
            let why = other.err().map_or("is not a directory".to_owned(), |e| e.to_string());
            report.probe.status = "failed";
            let found = Diagnostic::new(&AB7302, why).at(home.display().to_string());
            report.diagnostics.push(found.help("look at what stands there"));
            return;
        }
    }
    let bundle = bundle_of(request, host, &mut report.diagnostics);
    for &scope in scopes {
        let Ok(place) = Place::of(host, "x", scope, request.env, request.project) else { continue };
        scan(host, &place.plugins, bundle.as_ref(), report);
    }
    let Some(bundle) = bundle else { return };
    let places = scopes.iter().filter_map(|&scope| {
        Place::of(host, bundle.plugin(), scope, request.env, request.project).ok()
    });
    let all: Vec<Place> = places.collect();
    // The scope in which something stands; the user's when nothing does.
    let Some(place) = all.iter().find(|place| place.dest.exists()).or(all.first()) else { return };
    let (comparison, there) = match standing(place, bundle.plugin()) {
        Ok(Standing::Nothing) => ("not-installed", false),
        Ok(Standing::Foreign(_)) => ("foreign", false),
        Ok(Standing::Ours(receipt)) if receipt.is_remnant() => ("not-installed", false),
        Ok(Standing::Ours(receipt)) => (compare(&bundle, place, &receipt), true),
        Err(_) => ("unknown", false),
    };
    let unseen = "unavailable";
    let lifecycle =
        Lifecycle { placed: word(there), registered: unseen, enabled: unseen, active: unseen };
    compared(&bundle, comparison, lifecycle, &place.dest, report);
}

fn compare(bundle: &Bundle, place: &Place, receipt: &InstallReceipt) -> &'static str {
    if receipt.version != bundle.version() {
        return "version-mismatch";
    }
    match hash_of_files(&place.dest, &receipt.files) {
        Err(_) => "unknown",
        Ok(hash) if hash == bundle.content_hash() => "current",
        Ok(_) => "stale",
    }
}

/// Every entry of a directory that a host scans.
fn scan(host: ArtifactHost, plugins: &Path, bundle: Option<&Bundle>, report: &mut HostReport) {
    let Ok(entries) = fs::read_dir(plugins) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let at = path.display().to_string();
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default().to_owned();
        let left_over =
            name.starts_with('.') && (name.contains(".stage-") || name.starts_with(".holdall-"));
        let said = &mut report.diagnostics;
        if left_over {
            let what = "was left behind by an install that was interrupted";
            let help = "run any holdall command that installs; if it is still there, remove it";
            said.push(Diagnostic::new(&AB7305, what).at(at).help(help));
            continue;
        }
        let is_directory = fs::symlink_metadata(&path).is_ok_and(|known| known.is_dir());
        if !is_directory {
            if host == ArtifactHost::Cursor && !name.starts_with('.') {
                let what = "is no directory, and Cursor loads directories";
                said.push(Diagnostic::new(&AB7304, what).at(at).help("remove it"));
            }
            continue;
        }
        let receipt_at = path.join(RECEIPT_NAME);
        match read_receipt(&receipt_at, host) {
            Err(error) => {
                let found = Diagnostic::new(&AB7310, words_of(&error));
                said.push(found.at(receipt_at.display().to_string()));
            }
            // What has no receipt is somebody's own plugin, unless it has nothing to load.
            Ok(None) => {
                let loads = path.join(".cursor-plugin/plugin.json").is_file()
                    || path.join("plugin.json").is_file();
                if host == ArtifactHost::Cursor && !loads {
                    let what = "has neither a plugin manifest nor a receipt";
                    said.push(Diagnostic::new(&AB7304, what).at(at).help("remove it"));
                }
            }
            Ok(Some(receipt)) => {
                let changed = !receipt.is_remnant()
                    && hash_of_files(&path, &receipt.files)
                        .map_or(true, |hash| hash != receipt.content_hash);
                let is_compared = bundle.is_some_and(|bundle| bundle.plugin() == receipt.plugin);
                if changed && !is_compared {
                    let what = format!("{} was changed after it was installed", receipt.plugin);
                    let help =
                        format!("install it again, or `holdall uninstall {}`", receipt.plugin);
                    said.push(Diagnostic::new(&AB7310, what).at(at).help(help));
                }
                report.receipts.push(ReceiptRow {
                    path: receipt_at,
                    plugin: receipt.plugin,
                    version: receipt.version,
                });
            }
        }
    }
}

/// Claude Code and Codex.
fn program(request: &Doctor<'_>, host: ArtifactHost, cli: HostCli, report: &mut HostReport) {
    let (env, project, programs) = (request.env, request.project, request.programs);
    let bundle = |said: &mut Vec<Diagnostic>| bundle_of(request, host, said);
    let desk = match Desk::open(host, cli, Scope::User, env, project, programs) {
        Ok(desk) => desk,
        Err(error) => {
            report.diagnostics.push(absent(host, &words_of(&error)));
            return;
        }
    };
    match programs.output(&desk.command(vec!["--version".to_owned()])) {
        Ok(output) => {
            report.probe.status = "available";
            let text = String::from_utf8_lossy(&output);
            report.probe.version = text.lines().next().map(|line| line.trim().to_owned());
        }
        Err(what) => {
            report.probe.status = "failed";
            let help = format!("run `{} --version` yourself", cli.program());
            report.diagnostics.push(Diagnostic::new(&AB7301, what).help(help));
        }
    }
    let listed = desk.ask(cli.list_plugins());
    if let Err(error) = &listed {
        report.diagnostics.push(Diagnostic::new(&AB7303, words_of(error)));
        if cli == HostCli::Codex {
            let what = "whether Codex has the plugin registered is unknown";
            report.diagnostics.push(Diagnostic::new(&AB7313, what));
        }
    }
    let listed = listed.ok();
    store_receipts(request, &desk, listed.as_deref(), report);
    let Some(bundle) = bundle(&mut report.diagnostics) else { return };
    let Some(marketplace) = bundle.marketplace() else { return };
    let id = format!("{}@{marketplace}", bundle.plugin());
    let row = match listed.as_deref().map(|output| desk.row(output, &id)) {
        Some(Ok(row)) => row,
        Some(Err(error)) => {
            report.diagnostics.push(Diagnostic::new(&AB7303, words_of(&error)));
            return;
        }
        None => return,
    };
    let Some(row) = row else {
        let lifecycle = Lifecycle {
            placed: word(
                request.store.artifact_root(bundle.plugin(), &bundle.content_hash()).is_dir(),
            ),
            registered: "absent",
            enabled: "absent",
            active: "absent",
        };
        compared(&bundle, "not-installed", lifecycle, &desk.home, report);
        return;
    };
    judge_row(&desk, &bundle, marketplace, &id, &row, report);
}

fn judge_row(
    desk: &Desk<'_>,
    bundle: &Bundle,
    marketplace: &str,
    id: &str,
    row: &ListedPlugin,
    report: &mut HostReport,
) {
    let copy = desk.copy_of(row, marketplace, bundle.plugin());
    let hash = hash_of_copy(&copy);
    let comparison = match &hash {
        _ if !row.errors.is_empty() => "load-failed",
        _ if row.version.as_deref().is_some_and(|version| version != bundle.version()) => {
            "version-mismatch"
        }
        Err(_) => "unknown",
        Ok(hash) if *hash == bundle.content_hash() => "current",
        Ok(_) => "stale",
    };
    if !row.errors.is_empty() {
        let what = format!("{id}: {}", row.errors.join("; "));
        let help = "build the root again with that put right, then install it";
        report.diagnostics.push(Diagnostic::new(&AB7325, what).help(help));
    }
    if !row.enabled {
        let help = format!("`{} plugin enable {id}` switches it on", desk.cli.program());
        report.diagnostics.push(Diagnostic::new(&AB7327, format!("{id} is off")).help(help));
    }
    let lifecycle = Lifecycle {
        placed: word(hash.is_ok()),
        registered: "observed",
        enabled: word(row.enabled),
        active: "unavailable",
    };
    compared(bundle, comparison, lifecycle, &copy, report);
}

/// AB7328 for receipts that cannot be read, or whose plugin the host does not list.
fn store_receipts(
    request: &Doctor<'_>,
    desk: &Desk<'_>,
    listed: Option<&[u8]>,
    report: &mut HostReport,
) {
    let Ok(entries) = fs::read_dir(desk.receipts()) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    paths.sort();
    for path in paths {
        let at = path.display().to_string();
        let receipt = match read_receipt(&path, desk.host) {
            Ok(Some(receipt)) => receipt,
            Ok(None) => {
                let what = "is no receipt of a format that is read";
                let help = "uninstall the plugin with `--force`, then move the file away";
                report.diagnostics.push(Diagnostic::new(&AB7328, what).at(at).help(help));
                continue;
            }
            Err(error) => {
                report.diagnostics.push(Diagnostic::new(&AB7328, words_of(&error)).at(at));
                continue;
            }
        };
        let name = receipt.plugin.clone();
        let again = format!("install it again, or `holdall uninstall {name}`");
        let ids = listed.map(|output| desk.ids_of(output, &name));
        if matches!(&ids, Some(Ok(ids)) if ids.is_empty()) {
            let what = format!("{} does not list {name} any more", desk.host.name());
            report
                .diagnostics
                .push(Diagnostic::new(&AB7328, what).at(at.clone()).help(again.clone()));
        }
        let root = request.store.artifact_root(&name, &receipt.content_hash);
        if !hash_of_copy(&root).is_ok_and(|hash| hash == receipt.content_hash) {
            let what = format!("the copy of {name} is missing or was changed");
            let found = Diagnostic::new(&AB7310, what).at(root.display().to_string());
            report.diagnostics.push(found.help(again));
        }
        report.receipts.push(ReceiptRow { path, plugin: name, version: receipt.version });
    }
}
