//! Cursor and Amp: a directory that the host scans (reference 5.2.3 and 5.2.4).
//!
//! What is not there is staged and renamed whole. What is there is changed in place, file by file,
//! inside one transaction of the executor: unowned entries and the runtime's `state` are neither
//! read nor moved.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use holdall_diagnostics::Diagnostic;
use holdall_hosts::receipt::{
    InstallMode, InstallReceipt, RECEIPT_NAME, Registration, RegistrationKind,
};
use holdall_hosts::{HostEnv, Scope};
use holdall_tree::stage::Modes;
use holdall_tree::{Digest, DirTree, FileKind, Tree as _, TreePath};

use super::bundle::{ArtifactHost, Bundle, hash_of_files};
use super::inventory::Inventory;
use super::request::{ArtifactError, InstallArtifact, InstallState, InstallSummary};
use crate::codes::{AB7002, AB7003, AB7004, AB7005};
use crate::executor::{ApplyError, found_at};
use crate::plan::{Found, NewTree, Plan, Step};
use crate::skills::staging_for;

/// Where a plugin of a scanning host stands.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) host: ArtifactHost,
    pub(super) scope: Scope,
    /// The directory that receipts count host directories from; it is not the install's own.
    pub(super) base: PathBuf,
    /// The directory that the host scans.
    pub(super) plugins: PathBuf,
    /// The plugin's own.
    pub(super) dest: PathBuf,
}

impl Place {
    /// The place of a plugin. AB7002 and AB7003.
    pub(super) fn of(
        host: ArtifactHost,
        plugin: &str,
        scope: Scope,
        env: &HostEnv,
        project: &Path,
    ) -> Result<Self, ArtifactError> {
        let home = host.row().map(|row| row.home_dir(env)).unwrap_or_default();
        let refuse = |help: &str| {
            let what = format!("{} has no plugins of the scope `{}`", host.name(), scope.as_str());
            Diagnostic::new(&AB7003, what).target(host.id()).help(help)
        };
        let (base, below) = match (host, scope) {
            (ArtifactHost::Cursor, Scope::User) => (home, "plugins/local"),
            (ArtifactHost::Cursor, _) => return Err(refuse("leave `--scope` out").into()),
            (_, Scope::User) => (home.parent().unwrap_or(Path::new("/")).to_owned(), "amp/plugins"),
            (_, Scope::Project) => (project.to_owned(), ".amp/plugins"),
            (_, Scope::Local) => return Err(refuse("say `--scope project`").into()),
        };
        if host == ArtifactHost::Cursor && !base.is_dir() {
            let what = format!("Cursor's directory {} is not there", base.display());
            return Err(Diagnostic::new(&AB7002, what)
                .target(host.id())
                .help("install Cursor and start it once")
                .into());
        }
        let plugins = base.join(below);
        let dest = plugins.join(plugin);
        Ok(Self { host, scope, base, plugins, dest })
    }

    pub(super) fn receipt(&self) -> PathBuf {
        self.dest.join(RECEIPT_NAME)
    }

    pub(super) fn registration(&self) -> RegistrationKind {
        match (self.host, self.scope) {
            (ArtifactHost::Cursor, _) => RegistrationKind::CursorLocalPlugin,
            (_, Scope::User) => RegistrationKind::AmpSystemPlugin,
            _ => RegistrationKind::AmpProjectPlugin,
        }
    }

    pub(super) fn stuck(&self, at: &Path, what: impl Into<String>) -> Diagnostic {
        Diagnostic::new(&AB7004, what).at(at.display().to_string()).target(self.host.id())
    }

    /// Refuses links and files where the directories of the host have to be.
    pub(super) fn check_ancestors(&self) -> Result<(), ArtifactError> {
        let mut at = self.base.clone();
        let below = self.plugins.strip_prefix(&self.base).unwrap_or(Path::new(""));
        for part in below.components() {
            at.push(part);
            let is = match fs::symlink_metadata(&at) {
                Ok(known) if known.is_dir() => continue,
                Ok(known) if known.is_symlink() => "a symbolic link",
                Ok(_) => "not a directory",
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                Err(source) => return Err(ApplyError::Io { path: at, source }.into()),
            };
            let help = "nothing is written through it; make it a directory";
            return Err(self.stuck(&at, format!("is {is}")).help(help).into());
        }
        Ok(())
    }
}

/// What stands at a place.
#[derive(Debug)]
pub(super) enum Standing {
    Nothing,
    /// A link, a file, or a directory without a receipt that names the plugin.
    Foreign(&'static str),
    Ours(Box<InstallReceipt>),
}

/// Looks at a place. A receipt that is no regular file is an error, not an absent one.
pub(super) fn standing(place: &Place, plugin: &str) -> Result<Standing, ArtifactError> {
    let fail = |path: &Path, source| ApplyError::Io { path: path.to_owned(), source };
    match fs::symlink_metadata(&place.dest) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Standing::Nothing),
        Err(error) => return Err(fail(&place.dest, error).into()),
        Ok(known) if known.is_symlink() => return Ok(Standing::Foreign("is a symbolic link")),
        Ok(known) if !known.is_dir() => return Ok(Standing::Foreign("is not a directory")),
        Ok(_) => {}
    }
    let path = place.receipt();
    let Some(receipt) = read_receipt(&path, place.host)? else {
        return Ok(Standing::Foreign("has no receipt that can be read"));
    };
    if receipt.plugin != plugin || receipt.host != place.host.id() {
        return Ok(Standing::Foreign("has the receipt of another plugin"));
    }
    Ok(Standing::Ours(Box::new(receipt)))
}

/// Bytes of a receipt that are read.
const RECEIPT_LIMIT: u64 = 64 * 1024 * 1024;

/// A receipt; none when there is none, or one that is malformed or of another format.
pub(super) fn read_receipt(
    path: &Path,
    host: ArtifactHost,
) -> Result<Option<InstallReceipt>, ArtifactError> {
    let fail = |source| ApplyError::Io { path: path.to_owned(), source };
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(fail(error).into()),
        Ok(known) if !known.is_file() || known.len() > RECEIPT_LIMIT => {
            Err(Diagnostic::new(&AB7004, "the receipt is not a regular file of its size")
                .at(path.display().to_string())
                .target(host.id())
                .help("look at what stands there and move it away")
                .into())
        }
        Ok(_) => Ok(InstallReceipt::parse(&fs::read(path).map_err(fail)?)),
    }
}

pub(super) fn plan_install(
    request: &InstallArtifact<'_>,
    bundle: &Bundle,
) -> Result<(Plan, InstallSummary), ArtifactError> {
    let host = bundle.host();
    let place = Place::of(host, bundle.plugin(), request.scope, request.env, request.project)?;
    place.check_ancestors()?;
    let mut summary = InstallSummary {
        bundle_root: bundle.root().to_owned(),
        host: host.id(),
        plugin: bundle.plugin().to_owned(),
        version: bundle.version().to_owned(),
        state: InstallState::Installed,
        scope: request.scope.as_str(),
        content_hash: bundle.content_hash(),
        previous_content_hash: None,
        destination: place.dest.clone(),
        marketplace: None,
        mode: InstallMode::Local.as_str(),
        receipt: place.receipt(),
        backup: None,
        next_steps: next_steps(host),
    };
    let mut plan = Plan::new();
    let itself = place.dest.canonicalize().is_ok_and(|dest| dest == bundle.root());
    match standing(&place, bundle.plugin())? {
        Standing::Nothing => fresh(request, bundle, &place, &mut plan)?,
        Standing::Ours(_) if itself => summary.state = InstallState::AlreadyInstalled,
        Standing::Foreign(why) => {
            return Err(Diagnostic::new(&AB7005, format!("{why}, so it is not replaced"))
                .at(place.dest.display().to_string())
                .target(host.id())
                .help("move it away, then install again")
                .into());
        }
        Standing::Ours(old) if old.is_remnant() => {
            in_place(request, bundle, &place, &old, &mut plan)?;
        }
        Standing::Ours(old) => {
            let found = hash_of_files(&place.dest, &old.files)?;
            let same_files = old.files.iter().eq(bundle.inventory.in_order().iter().map(|i| i.0));
            if found == bundle.content_hash() && same_files && old.version == bundle.version() {
                summary.state = InstallState::AlreadyInstalled;
                summary.next_steps.clear();
                return Ok((plan, summary));
            }
            if old.version != bundle.version() && !request.replace {
                return Err(other_version(host, bundle, &old.version)
                    .at(place.dest.display().to_string())
                    .into());
            }
            if found != old.content_hash {
                summary.backup = back_up(request, bundle, &place, &old, &mut plan)?;
            }
            summary.state = InstallState::Replaced;
            summary.previous_content_hash = Some(found);
            in_place(request, bundle, &place, &old, &mut plan)?;
        }
    }
    Ok((plan, summary))
}

/// The refusal of another version.
pub(super) fn other_version(host: ArtifactHost, bundle: &Bundle, found: &str) -> Diagnostic {
    let what = format!(
        "version {found} of `{}` is installed in {}, not {}",
        bundle.plugin(),
        host.name(),
        bundle.version()
    );
    Diagnostic::new(&AB7005, what).target(host.id()).help("say `--force` to replace it")
}

fn next_steps(host: ArtifactHost) -> Vec<String> {
    let steps: &[&str] = match host {
        ArtifactHost::Cursor => &["Run \"Developer: Reload Window\" in Cursor"],
        ArtifactHost::Amp => &[
            "Run \"plugins: reload\" from Amp's command palette",
            "Run `amp plugins list` in a shell to see it",
        ],
        ArtifactHost::Claude | ArtifactHost::Codex => &[],
    };
    steps.iter().map(|&step| step.to_owned()).collect()
}

/// Makes the directories of the host, and says which of them, relative to the base.
fn make_plugins(place: &Place, plan: &mut Plan) -> Vec<TreePath> {
    let below = |path: &PathBuf| {
        let path = path.strip_prefix(&place.base).ok()?.to_str()?;
        TreePath::new(path).ok().filter(|path| !path.is_root())
    };
    plan.make_dirs(&place.plugins, 0o755).iter().filter_map(below).collect()
}

fn receipt_of(
    request: &InstallArtifact<'_>,
    bundle: &Bundle,
    place: &Place,
    before: Option<&InstallReceipt>,
) -> InstallReceipt {
    let files = bundle.inventory.in_order().into_iter().map(|(path, _)| path.clone()).collect();
    let row = Registration {
        id: Some(bundle.plugin().to_owned()),
        scope: Some(place.scope),
        ..Registration::new(place.registration())
    };
    InstallReceipt {
        plugin: bundle.plugin().to_owned(),
        version: bundle.version().to_owned(),
        host: place.host.id().to_owned(),
        content_hash: bundle.content_hash(),
        installed_at: before.map_or(request.now, |old| &old.installed_at).to_owned(),
        updated_at: request.now.to_owned(),
        mode: InstallMode::Local,
        scope: place.scope,
        files,
        directories: bundle.inventory.directories().cloned().collect(),
        host_directories: before.map(|old| old.host_directories.clone()).unwrap_or_default(),
        registrations: vec![row],
        project_root: (place.scope != Scope::User).then(|| request.project.display().to_string()),
        cursor_expansion: None,
        state: None,
        web_data_root: before.and_then(|old| old.web_data_root.clone()),
    }
}

/// The whole directory, with its receipt in it.
fn fresh(
    request: &InstallArtifact<'_>,
    bundle: &Bundle,
    place: &Place,
    plan: &mut Plan,
) -> Result<(), ArtifactError> {
    let staging = staging_for(&place.plugins);
    let made = make_plugins(place, plan);
    let mut receipt = receipt_of(request, bundle, place, None);
    receipt.host_directories = made;
    let mut whole = bundle.inventory.clone();
    whole
        .add_bytes(RECEIPT_NAME, &receipt.to_bytes(), 0o644)
        .map_err(|error| place.stuck(&place.receipt(), error.to_string()))?;
    let digest = whole.tree_hash()?;
    plan.push(Step::PlaceTree {
        dest: place.dest.clone(),
        staging,
        new: NewTree { tree: Arc::new(whole), modes: Modes::Verbatim, digest },
        found: Found::Nothing,
    });
    Ok(())
}

/// What somebody changed by hand goes to the store before it is replaced.
fn back_up(
    request: &InstallArtifact<'_>,
    bundle: &Bundle,
    place: &Place,
    old: &InstallReceipt,
    plan: &mut Plan,
) -> Result<Option<PathBuf>, ArtifactError> {
    let tree = Arc::new(DirTree::open(&place.dest)?);
    let mut copy = Inventory::of(tree.clone());
    for path in &old.files {
        if let Ok(known) = tree.metadata(path)
            && known.kind == FileKind::File
        {
            let sha256 = holdall_tree::sha256_file(path, tree.open(path)?.as_ref())?;
            copy.add(path.clone(), path.clone(), known.mode & 0o777, known.size, sha256);
        }
    }
    let digest = copy.tree_hash()?;
    let name = format!("{}-{}-{}", place.host.id(), bundle.plugin(), &digest.hex()[..12]);
    let dest = request.store.backup(&name);
    if found_at(&dest)? == Found::Tree(digest) {
        return Ok(Some(dest));
    }
    if let Some(parent) = dest.parent() {
        plan.make_dirs(parent, 0o700);
    }
    plan.push(Step::PlaceTree {
        dest: dest.clone(),
        staging: request.store.root().to_owned(),
        new: NewTree { tree: Arc::new(copy), modes: Modes::Verbatim, digest },
        found: Found::Nothing,
    });
    Ok(Some(dest))
}

/// What is no longer part goes, every file that differs comes, then the receipt.
fn in_place(
    request: &InstallArtifact<'_>,
    bundle: &Bundle,
    place: &Place,
    old: &InstallReceipt,
    plan: &mut Plan,
) -> Result<(), ArtifactError> {
    let staging = staging_for(&place.plugins);
    let owned: BTreeSet<&TreePath> = old.files.iter().collect();
    let mut made: BTreeSet<TreePath> = BTreeSet::new();
    for path in &old.files {
        let dest = place.dest.join(path.as_str());
        let is_file = below_directories(&place.dest, path)
            && fs::symlink_metadata(&dest).is_ok_and(|known| known.is_file());
        if bundle.inventory.get(path).is_none() && is_file {
            let found = found_at(&dest)?;
            plan.push(Step::Remove { dest, staging: staging.clone(), found });
        }
    }
    for directory in bundle.inventory.directories() {
        let path = place.dest.join(directory.as_str());
        match fs::symlink_metadata(&path) {
            Ok(known) if known.is_dir() => {}
            // A file of the earlier version, removed above, may become a directory of this one.
            Ok(known) if !(known.is_file() && owned.contains(directory)) => {
                return Err(occupied(place, &path).into());
            }
            _ => {
                plan.make_dirs(&path, 0o755);
                made.insert(directory.clone());
            }
        }
    }
    for (path, item) in bundle.inventory.in_order() {
        let dest = place.dest.join(path.as_str());
        let found = match fs::symlink_metadata(&dest) {
            Err(_) => Found::Nothing,
            Ok(known) if known.is_file() && owned.contains(path) => {
                let found = found_at(&dest)?;
                let same = found == Found::File(digest_of(item.sha256));
                if same && known.permissions().mode() & 0o777 == item.mode {
                    continue;
                }
                found
            }
            Ok(_) => return Err(occupied(place, &dest).into()),
        };
        let bytes = bundle.inventory.read(path, u64::MAX)?;
        plan.push(Step::PlaceFile {
            dest,
            staging: staging.clone(),
            bytes,
            mode: item.mode,
            found,
        });
    }
    let mut receipt = receipt_of(request, bundle, place, Some(old));
    let needed: BTreeSet<TreePath> = std::mem::take(&mut receipt.directories).into_iter().collect();
    let mut stale: Vec<_> = old.directories.iter().filter(|path| !needed.contains(path)).collect();
    stale.sort_by_key(|path| std::cmp::Reverse(path.as_str().len()));
    for path in stale {
        plan.push(Step::RemoveEmptyDir { path: place.dest.join(path.as_str()) });
    }
    let ours = |path: &TreePath| made.contains(path) || old.directories.contains(path);
    receipt.directories = needed.into_iter().filter(ours).collect();
    let path = place.receipt();
    let found = found_at(&path)?;
    let bytes = receipt.to_bytes();
    plan.push(Step::PlaceFile { dest: path, staging, bytes, mode: 0o644, found });
    Ok(())
}

fn digest_of(sha256: [u8; 32]) -> Digest {
    Digest::new(holdall_tree::Algorithm::Sha256, sha256)
}

fn occupied(place: &Place, path: &Path) -> Diagnostic {
    place
        .stuck(path, "stands where a file of the plugin belongs, and the receipt does not own it")
        .help("move it away, then install again")
}

/// Whether every directory above a file is one, and no link.
pub(super) fn below_directories(top: &Path, path: &TreePath) -> bool {
    let mut above = path.parent();
    while let Some(directory) = above.filter(|directory| !directory.is_root()) {
        let at = top.join(directory.as_str());
        if !fs::symlink_metadata(at).is_ok_and(|known| known.is_dir()) {
            return false;
        }
        above = directory.parent();
    }
    true
}
