//! Claude Code and Codex: a copy in the store, and the host's own program to register it
//! (reference 5.2.1 and 5.2.2).
//!
//! Claude reads a directory marketplace live, so it is never given the directory a user works in:
//! what is registered is a copy of exactly what the manifest lists, named by its content hash.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use holdall_artifact::{ManifestRead, digest, read_artifact_manifest};
use holdall_diagnostics::Diagnostic;
use holdall_hosts::cli::{HostAction, HostCli, Words};
use holdall_hosts::listing::{self, ListedPlugin, Unusable};
use holdall_hosts::receipt::{InstallMode, InstallReceipt, Registration};
use holdall_hosts::{HostEnv, Scope};
use holdall_tree::stage::Modes;
use holdall_tree::{Digest, DirTree, TreePath};

use super::bundle::{ArtifactHost, Bundle};
use super::placed::{other_version, read_receipt};
use super::programs::{HostPrograms, Judge, in_scope};
use super::request::{ArtifactError, InstallArtifact, InstallState, InstallSummary, Prepared};
use crate::codes::{AB7002, AB7003, AB7004, AB7005, AB7006};
use crate::executor::found_at;
use crate::plan::{Command, Found, NewTree, Plan, Step};
use crate::skills::staging_for;

/// A host's program, where it runs, and where the host keeps things.
#[derive(Debug, Clone)]
pub(super) struct Desk<'a> {
    pub(super) host: ArtifactHost,
    pub(super) cli: HostCli,
    pub(super) program: PathBuf,
    pub(super) programs: &'a HostPrograms,
    /// The host's home.
    pub(super) home: PathBuf,
    pub(super) scope: Scope,
    /// The project of the scope.
    pub(super) project: PathBuf,
    /// The directory it runs in.
    directory: PathBuf,
}

impl<'a> Desk<'a> {
    /// AB7002 and AB7003.
    pub(super) fn open(
        host: ArtifactHost,
        cli: HostCli,
        scope: Scope,
        env: &HostEnv,
        project: &Path,
        programs: &'a HostPrograms,
    ) -> Result<Self, ArtifactError> {
        if !cli.scopes().contains(&scope) {
            let what = format!("{} has no plugins of the scope `{}`", host.name(), scope.as_str());
            return Err(Diagnostic::new(&AB7003, what)
                .target(host.id())
                .help("leave `--scope` out")
                .into());
        }
        let Some(program) = programs.find(cli) else {
            let what = format!("the program `{}` is not on PATH", cli.program());
            let help = format!("install {}, or put it on PATH", host.name());
            return Err(Diagnostic::new(&AB7002, what).target(host.id()).help(help).into());
        };
        let home = host.row().map(|row| row.home_dir(env)).unwrap_or_default();
        let project = project.to_owned();
        let directory = if scope == Scope::User { env.home().to_owned() } else { project.clone() };
        Ok(Self { host, cli, program, programs, home, scope, project, directory })
    }

    pub(super) fn command(&self, arguments: Words) -> Command {
        let (program, directory) = (self.program.clone(), self.directory.clone());
        Command { program, arguments, directory }
    }

    pub(super) fn stuck(&self, what: impl Into<String>) -> Diagnostic {
        Diagnostic::new(&AB7004, what).target(self.host.id())
    }

    fn unusable(&self, error: &Unusable) -> Diagnostic {
        let help = format!("nothing was changed; see what `{}` prints", self.cli.program());
        self.stuck(error.to_string()).help(help)
    }

    /// What the program lists.
    pub(super) fn ask(&self, words: Words) -> Result<Vec<u8>, ArtifactError> {
        let output = self.programs.output(&self.command(words));
        Ok(output.map_err(|what| self.stuck(what).help("nothing was changed"))?)
    }

    /// The row of a plugin in this scope.
    pub(super) fn row(
        &self,
        output: &[u8],
        id: &str,
    ) -> Result<Option<ListedPlugin>, ArtifactError> {
        let rows = self.cli.read_plugins(output, id).map_err(|error| self.unusable(&error))?;
        Ok(in_scope(rows, self.scope, &self.project).next())
    }

    /// The directory a marketplace is known by, if it is known.
    #[expect(clippy::option_option, reason = "as the listing has it")]
    pub(super) fn marketplace(&self, name: &str) -> Result<Option<Option<String>>, ArtifactError> {
        let output = self.ask(self.cli.list_marketplaces())?;
        Ok(listing::marketplace_root(&output, name).map_err(|error| self.unusable(&error))?)
    }

    pub(super) fn ids_of(&self, output: &[u8], plugin: &str) -> Result<Vec<String>, ArtifactError> {
        Ok(listing::ids_of_plugin(output, plugin).map_err(|error| self.unusable(&error))?)
    }

    /// A step with its undo.
    pub(super) fn run(&self, plan: &mut Plan, action: &HostAction, undo: &HostAction) {
        plan.push(Step::Run {
            command: self.command(self.cli.words(action)),
            undo: Some(self.command(self.cli.words(undo))),
        });
    }

    /// The listing as the last word.
    pub(super) fn judge(&self, plan: &mut Plan, id: &str, version: Option<&str>) -> Judge {
        let command = self.command(self.cli.list_plugins());
        plan.push(Step::Run { command: command.clone(), undo: None });
        Judge {
            cli: self.cli,
            command,
            id: id.to_owned(),
            scope: self.scope,
            project: self.project.clone(),
            version: version.map(str::to_owned),
        }
    }

    pub(super) fn receipts(&self) -> PathBuf {
        receipts_of(&self.home)
    }

    fn receipt(&self, plugin: &str, marketplace: &str) -> PathBuf {
        let mut name = format!("{plugin}.{marketplace}.{}", self.scope.as_str());
        if self.scope != Scope::User {
            let digest = Digest::sha256(self.project.as_os_str().as_encoded_bytes()).hex();
            name = format!("{name}.{}", &digest[..12]);
        }
        self.receipts().join(name + ".json")
    }

    /// What the host reads of a plugin.
    pub(super) fn copy_of(&self, row: &ListedPlugin, marketplace: &str, plugin: &str) -> PathBuf {
        let version = row.version.as_deref().unwrap_or_default();
        let cached = || self.home.join(self.cli.cached_copy(marketplace, plugin, version));
        let named = row.reads_from.as_ref().or(row.install_path.as_ref());
        named.map_or_else(cached, PathBuf::from)
    }
}

/// Where a host's receipts lie.
pub(super) fn receipts_of(home: &Path) -> PathBuf {
    home.join("agent-bundle").join("receipts")
}

/// Every receipt in a directory that can be read, with its file.
pub(super) fn all_receipts(
    directory: &Path,
    host: ArtifactHost,
) -> Result<Vec<(PathBuf, InstallReceipt)>, ArtifactError> {
    let Ok(entries) = fs::read_dir(directory) else { return Ok(Vec::new()) };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        if let Some(receipt) = read_receipt(&path, host)? {
            found.push((path, receipt));
        }
    }
    Ok(found)
}

/// The content hash of a host's copy (4.6): by its manifest where it has one, else as it is.
pub(super) fn hash_of_copy(directory: &Path) -> Result<String, String> {
    let shown = |what: String| format!("{}: {what}", directory.display());
    let tree = DirTree::open(directory).map_err(|error| shown(error.to_string()))?;
    let hash = match read_artifact_manifest(&tree) {
        ManifestRead::Ok(open) => digest::content_hash(&tree, open.manifest()),
        ManifestRead::Missing => digest::content_hash_of_tree(&tree),
        ManifestRead::Invalid(found) => return Err(shown(found.detail().to_owned())),
    };
    Ok(hash.map_err(|error| shown(error.to_string()))?.to_string())
}

/// Whether another receipt than the one at `path` needs the copy of this content.
pub(super) fn is_shared(
    env: &HostEnv,
    path: &Path,
    plugin: &str,
    content_hash: &str,
) -> Result<bool, ArtifactError> {
    for host in [ArtifactHost::Claude, ArtifactHost::Codex] {
        let home = host.row().map(|row| row.home_dir(env)).unwrap_or_default();
        for (other, receipt) in all_receipts(&receipts_of(&home), host)? {
            let same = receipt.plugin == plugin && receipt.content_hash == content_hash;
            if same && other != path {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// What there is before an install.
struct Before {
    row: Option<ListedPlugin>,
    receipt: Option<InstallReceipt>,
    /// Where the marketplace is, if it is known.
    place: Option<PathBuf>,
}

pub(super) fn plan_install(
    request: &InstallArtifact<'_>,
    bundle: &Bundle,
    cli: HostCli,
    marketplace: &str,
) -> Result<Prepared<InstallSummary>, ArtifactError> {
    let (host, plugin) = (bundle.host(), bundle.plugin());
    let desk =
        Desk::open(host, cli, request.scope, request.env, request.project, request.programs)?;
    let id = format!("{plugin}@{marketplace}");
    let path = desk.receipt(plugin, marketplace);
    let root = request.store.artifact_root(plugin, &bundle.content_hash());
    let before = look(request, &desk, &id, marketplace, &path, plugin)?;
    let mut summary = InstallSummary {
        bundle_root: bundle.root().to_owned(),
        host: host.id(),
        plugin: plugin.to_owned(),
        version: bundle.version().to_owned(),
        state: InstallState::Installed,
        scope: request.scope.as_str(),
        content_hash: bundle.content_hash(),
        previous_content_hash: None,
        destination: root.clone(),
        marketplace: Some(marketplace.to_owned()),
        mode: InstallMode::HostCli.as_str(),
        receipt: path.clone(),
        backup: None,
        next_steps: vec![format!("Restart {} to load it", host.name())],
    };
    let mut plan = Plan::new();
    if let Some(row) = &before.row {
        let current = hash_of_copy(&desk.copy_of(row, marketplace, plugin));
        let same_version = row.version.as_deref() == Some(bundle.version());
        let intact = before.place.as_deref() == Some(root.as_path()) && root.is_dir();
        match &current {
            Ok(hash) if *hash == bundle.content_hash() && same_version && intact => {
                if !row.errors.is_empty() {
                    return Err(load_errors(host, &id, row).into());
                }
                summary.state = InstallState::AlreadyInstalled;
                summary.next_steps.clear();
                return Ok(Prepared { plan, summary, judge: None });
            }
            Err(what) if !request.replace => {
                let help = "say `--force` to install it anew";
                return Err(desk.stuck(what.clone()).help(help).into());
            }
            _ if !same_version && !request.replace => {
                let listed = row.version.as_deref().unwrap_or("of unknown number");
                return Err(other_version(host, bundle, listed).into());
            }
            _ => {}
        }
        summary.state = InstallState::Replaced;
        summary.previous_content_hash = current.ok();
    }
    place_root(request, bundle, &root, &mut plan)?;
    // Before any command runs: the host's program makes directories of its home too.
    let made = plan.make_dirs(&desk.receipts(), 0o700);
    register(&desk, &before, &id, marketplace, &root, &mut plan);
    let owned = owns(&desk, &before, marketplace)?;
    let receipt = receipt_of(request, bundle, &desk, &id, owned.then_some(marketplace), &before);
    let old = before.receipt.as_ref().map(|old| old.content_hash.clone());
    put_receipt(&desk, &path, &made, receipt, &mut plan)?;
    let judge = desk.judge(&mut plan, &id, Some(bundle.version()));
    if let Some(old) = old.filter(|old| *old != bundle.content_hash())
        && !is_shared(request.env, &path, plugin, &old)?
    {
        remove_root(request.store, plugin, &old, &mut plan)?;
    }
    Ok(Prepared { plan, summary, judge: Some(judge) })
}

/// What is there, and whether it is ours: a plugin or marketplace that no receipt knows is not.
fn look(
    request: &InstallArtifact<'_>,
    desk: &Desk<'_>,
    id: &str,
    marketplace: &str,
    path: &Path,
    plugin: &str,
) -> Result<Before, ArtifactError> {
    let row = desk.row(&desk.ask(desk.cli.list_plugins())?, id)?;
    let receipt = read_receipt(path, desk.host)?
        .filter(|receipt| receipt.plugin == plugin && receipt.host == desk.host.id());
    let program = desk.cli.program();
    let foreign = |what: String, help: String| {
        Diagnostic::new(&AB7005, what).target(desk.host.id()).help(help)
    };
    if let (Some(_), None) = (&row, &receipt) {
        let words = desk.cli.words(&HostAction::RemovePlugin {
            id: id.to_owned(),
            scope: desk.scope,
            keep_data: desk.cli.can_keep_data(),
        });
        let what = format!("{id} is installed in {} without a receipt", desk.host.name());
        let help = format!("run `{program} {}`, then install again", words.join(" "));
        return Err(foreign(what, help).into());
    }
    let place = desk.marketplace(marketplace)?;
    let ours = request.store.artifact_root(plugin, "");
    match &place {
        None => Ok(Before { row, receipt, place: None }),
        Some(Some(at)) if Path::new(at).starts_with(&ours) => {
            Ok(Before { row, receipt, place: Some(PathBuf::from(at)) })
        }
        Some(at) => {
            let at = at.as_deref().unwrap_or("a place it does not name");
            let what =
                format!("{} knows the marketplace `{marketplace}` as {at}", desk.host.name());
            let help = format!(
                "run `{program} plugin marketplace remove {marketplace}` if that is not needed"
            );
            Err(foreign(what, help).into())
        }
    }
}

pub(super) fn load_errors(host: ArtifactHost, id: &str, row: &ListedPlugin) -> Diagnostic {
    let what = format!("{} could not load {id}: {}", host.name(), row.errors.join("; "));
    Diagnostic::new(&AB7006, what)
        .target(host.id())
        .help("build the root again with what the host says put right, then install it")
}

/// The copy in the store; one that is whole already is taken.
fn place_root(
    request: &InstallArtifact<'_>,
    bundle: &Bundle,
    root: &Path,
    plan: &mut Plan,
) -> Result<(), ArtifactError> {
    let digest = bundle.inventory.tree_hash()?;
    let found = found_at(root)?;
    if found == Found::Tree(digest) {
        return Ok(());
    }
    if let Some(above) = root.parent() {
        plan.make_dirs(above, 0o700);
    }
    plan.push(Step::PlaceTree {
        dest: root.to_owned(),
        staging: request.store.root().to_owned(),
        new: NewTree { tree: Arc::new(bundle.inventory.clone()), modes: Modes::Verbatim, digest },
        found,
    });
    Ok(())
}

/// The commands in their order, each with its undo.
fn register(
    desk: &Desk<'_>,
    before: &Before,
    id: &str,
    marketplace: &str,
    root: &Path,
    plan: &mut Plan,
) {
    let keep_data = desk.cli.can_keep_data();
    let add = |at: &Path| HostAction::AddMarketplace {
        name: marketplace.to_owned(),
        root: at.display().to_string(),
    };
    let forget = HostAction::RemoveMarketplace { name: marketplace.to_owned() };
    let install = HostAction::AddPlugin { id: id.to_owned(), scope: desk.scope };
    let remove = HostAction::RemovePlugin { id: id.to_owned(), scope: desk.scope, keep_data };
    if before.row.is_some() {
        desk.run(plan, &remove, &install);
    }
    match &before.place {
        None => desk.run(plan, &add(root), &forget),
        Some(at) if at == root => {}
        // Removing a marketplace removes its plugins with their data in Claude, which points it
        // elsewhere instead; Codex refuses that, and keeps no data anyway.
        Some(at) if desk.cli == HostCli::Claude => desk.run(plan, &add(root), &add(at)),
        Some(at) => {
            desk.run(plan, &forget, &add(at));
            desk.run(plan, &add(root), &forget);
        }
    }
    desk.run(plan, &install, &remove);
    if before.row.as_ref().is_some_and(|row| !row.enabled) && desk.cli == HostCli::Claude {
        // It was switched off by the user, and stays so.
        let words = ["plugin", "disable", id, "--scope", desk.scope.as_str()];
        let command = desk.command(words.map(str::to_owned).to_vec());
        plan.push(Step::Run { command, undo: None });
    }
}

/// Whether the marketplace is this install's: made by it, or by the one it replaces, or by nobody
/// who has a receipt.
fn owns(desk: &Desk<'_>, before: &Before, marketplace: &str) -> Result<bool, ArtifactError> {
    let claims = |receipt: &InstallReceipt| {
        let mut rows = receipt.registrations.iter();
        rows.any(|row| {
            row.kind == desk.cli.marketplace_kind() && row.name.as_deref() == Some(marketplace)
        })
    };
    if before.place.is_none() || before.receipt.as_ref().is_some_and(claims) {
        return Ok(true);
    }
    Ok(!all_receipts(&desk.receipts(), desk.host)?.iter().any(|(_, receipt)| claims(receipt)))
}

fn receipt_of(
    request: &InstallArtifact<'_>,
    bundle: &Bundle,
    desk: &Desk<'_>,
    id: &str,
    marketplace: Option<&str>,
    before: &Before,
) -> InstallReceipt {
    let mut registrations = vec![Registration {
        id: Some(id.to_owned()),
        scope: Some(desk.scope),
        ..Registration::new(desk.cli.plugin_kind())
    }];
    if let Some(name) = marketplace {
        registrations.push(Registration {
            name: Some(name.to_owned()),
            ..Registration::new(desk.cli.marketplace_kind())
        });
    }
    let old = before.receipt.as_ref();
    InstallReceipt {
        plugin: bundle.plugin().to_owned(),
        version: bundle.version().to_owned(),
        host: desk.host.id().to_owned(),
        content_hash: bundle.content_hash(),
        installed_at: old.map_or(request.now, |old| &old.installed_at).to_owned(),
        updated_at: request.now.to_owned(),
        mode: InstallMode::HostCli,
        scope: desk.scope,
        files: Vec::new(),
        directories: Vec::new(),
        host_directories: old.map(|old| old.host_directories.clone()).unwrap_or_default(),
        registrations,
        project_root: (desk.scope != Scope::User).then(|| desk.project.display().to_string()),
        cursor_expansion: None,
        state: None,
        web_data_root: old.and_then(|old| old.web_data_root.clone()),
    }
}

/// The receipt in the host's home.
fn put_receipt(
    desk: &Desk<'_>,
    path: &Path,
    made: &[PathBuf],
    mut receipt: InstallReceipt,
    plan: &mut Plan,
) -> Result<(), ArtifactError> {
    let below = |made: &PathBuf| {
        let made = made.strip_prefix(&desk.home).ok()?.to_str()?;
        TreePath::new(made).ok().filter(|made| !made.is_root())
    };
    receipt.host_directories.extend(made.iter().filter_map(below));
    let found = found_at(path)?;
    plan.push(Step::PlaceFile {
        dest: path.to_owned(),
        staging: staging_for(&desk.home),
        bytes: receipt.to_bytes(),
        mode: 0o600,
        found,
    });
    Ok(())
}

/// Takes a copy out of the store.
pub(super) fn remove_root(
    store: &holdall_store::Store,
    plugin: &str,
    content_hash: &str,
    plan: &mut Plan,
) -> Result<(), ArtifactError> {
    let root = store.artifact_root(plugin, content_hash);
    let found = found_at(&root)?;
    if found != Found::Nothing {
        plan.push(Step::Remove { dest: root.clone(), staging: store.root().to_owned(), found });
        if let Some(above) = root.parent() {
            plan.push(Step::RemoveEmptyDir { path: above.to_owned() });
        }
    }
    Ok(())
}
