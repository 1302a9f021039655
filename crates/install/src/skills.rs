//! Skills: which a tree has, where they go, and what has to change there (reference 6.2 to 6.4).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use holdall_diagnostics::{Diagnostic, Severity};
use holdall_hosts::{AgentHost, HostEnv, Scope, readers_of};
use holdall_skill::directory;
use holdall_skill::skill::SkillName;
use holdall_store::{Config, Kind, Owner, Receipt, Store, StoreError, canonical};
use holdall_tree::stage::Modes;
use holdall_tree::{
    Digest, DirTree, EntryName, FileKind, HashOptions, Limits, SubTree, Tree, TreePath, tree_hash,
    walk,
};

use crate::codes::{HD0301, HD0302, HD0303, HD0304, HD0305};
use crate::executor::{ApplyError, found_at};
use crate::plan::{Found, NewTree, Plan, Step};

/// A skill that can be installed: checked, hashed, named.
#[derive(Debug, Clone)]
pub struct SkillToInstall {
    /// The name from its document; the installed directory takes it.
    pub name: SkillName,
    /// What it is for.
    pub description: String,
    /// The skill's directory as a tree.
    pub tree: Arc<dyn Tree>,
    /// Its tree hash.
    pub digest: Digest,
    /// `inline`, an include as the pack declares it, or an origin.
    pub origin: String,
    /// Files in it.
    pub files: usize,
    /// Bytes of them.
    pub bytes: u64,
}

/// The skills of `skills/*/SKILL.md`, or the one whose `SKILL.md` is at the root, sorted by name.
///
/// The error is every fault that keeps one of them from being installed; warnings are for
/// `validate`. `shown` says how a path of the tree is called in messages.
pub fn skills_of(
    tree: &Arc<dyn Tree>,
    origin: &str,
    shown: &dyn Fn(&TreePath) -> String,
) -> Result<Vec<SkillToInstall>, Vec<Diagnostic>> {
    let mut faults = Vec::new();
    let mut found: Vec<(TreePath, SkillToInstall)> = Vec::new();
    for path in skill_directories(tree.as_ref()) {
        match read_skill(tree, &path, origin) {
            Ok(skill) => found.push((path, skill)),
            Err(diagnostics) => faults.extend(diagnostics.into_iter().map(|mut diagnostic| {
                let path = diagnostic.path.as_deref().and_then(|path| TreePath::new(path).ok());
                diagnostic.path = path.map(|path| shown(&path)).or(diagnostic.path);
                diagnostic
            })),
        }
    }
    found.sort_by(|(_, a), (_, b)| a.name.cmp(&b.name));
    for pair in found.windows(2) {
        let [(first, a), (second, b)] = pair else { continue };
        if a.name == b.name {
            let message =
                format!("{} and {} are both named `{}`", shown(first), shown(second), a.name);
            faults.push(Diagnostic::new(&HD0304, message).help("rename one of them"));
        }
    }
    if faults.is_empty() {
        Ok(found.into_iter().map(|(_, skill)| skill).collect())
    } else {
        Err(faults)
    }
}

fn skill_directories(tree: &dyn Tree) -> Vec<TreePath> {
    let document = |dir: &TreePath| dir.child("SKILL.md").is_ok_and(|path| tree.exists(&path));
    if document(&TreePath::root()) {
        return vec![TreePath::root()];
    }
    children(tree)
        .into_iter()
        // A link is taken along, so that it is refused and not left out without a word.
        .filter(|(path, kind)| *kind == FileKind::Symlink || document(path))
        .map(|(path, _)| path)
        .collect()
}

/// What lies in `skills/`, but plain files.
fn children(tree: &dyn Tree) -> Vec<(TreePath, FileKind)> {
    let Ok(skills) = TreePath::new("skills") else { return Vec::new() };
    let Ok(entries) = tree.read_dir(&skills) else { return Vec::new() };
    let child = |entry: holdall_tree::DirEntry| match entry.name {
        EntryName::Utf8(name) if entry.kind != FileKind::File => {
            skills.child(&name).ok().map(|path| (path, entry.kind))
        }
        _ => None,
    };
    entries.into_iter().filter_map(child).collect()
}

/// Directories in `skills/` that have no `SKILL.md`, which are therefore not installed.
pub fn not_skills(tree: &dyn Tree) -> Vec<TreePath> {
    let document = |dir: &TreePath| dir.child("SKILL.md").is_ok_and(|path| tree.exists(&path));
    if document(&TreePath::root()) {
        return Vec::new();
    }
    let other =
        |(path, kind): &(TreePath, FileKind)| *kind == FileKind::Directory && !document(path);
    children(tree).into_iter().filter(other).map(|(path, _)| path).collect()
}

fn read_skill(
    tree: &Arc<dyn Tree>,
    path: &TreePath,
    origin: &str,
) -> Result<SkillToInstall, Vec<Diagnostic>> {
    let fault = |what: String| {
        vec![Diagnostic::new(&HD0303, what).at(path.as_str()).help("`holdall validate` says more")]
    };
    // A link in place of a skill's directory leads who knows where.
    let kind = tree.metadata(path).map_err(|error| fault(error.to_string()))?.kind;
    if kind != FileKind::Directory {
        return Err(fault(format!("`{path}` is a link, not a directory")));
    }
    let mut entries = Vec::new();
    for entry in walk(tree.as_ref(), path, Limits::default()) {
        let entry = entry.map_err(|error| fault(error.to_string()))?;
        entries.push((entry.path, entry.kind));
    }
    let files = entries.iter().map(|(path, kind)| (path, *kind));
    let checked = directory::check(tree.as_ref(), path, None, files);
    let Some(skill) = checked.skill else {
        let errors =
            checked.diagnostics.into_iter().filter(|found| found.severity == Severity::Error);
        let errors: Vec<_> = errors.collect();
        return Err(if errors.is_empty() {
            fault("has no usable SKILL.md".to_owned())
        } else {
            errors
        });
    };
    let sub: Arc<dyn Tree> = Arc::new(
        SubTree::new(tree.clone(), path.clone()).map_err(|error| fault(error.to_string()))?,
    );
    let digest = tree_hash(sub.as_ref(), HashOptions::default())
        .map_err(|error| fault(error.to_string()))?;
    let plain = || entries.iter().filter(|(_, kind)| *kind == FileKind::File);
    let size = |(path, _): &(TreePath, FileKind)| tree.metadata(path).map_or(0, |known| known.size);
    Ok(SkillToInstall {
        name: skill.name().clone(),
        description: skill.description().to_owned(),
        tree: sub,
        digest,
        origin: origin.to_owned(),
        files: plain().count(),
        bytes: plain().map(size).sum(),
    })
}

/// Adds the skills of an include: inline ones and earlier includes come first; equal copies are
/// one, different ones of one name are faults unless the first is inline (reference 6.4).
pub fn merge_skills(
    skills: &mut Vec<SkillToInstall>,
    include: Vec<SkillToInstall>,
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for skill in include {
        match skills.iter().find(|other| other.name == skill.name) {
            None => skills.push(skill),
            Some(other) if other.digest == skill.digest => {}
            Some(other) => {
                let message = format!(
                    "the skill `{}` of {} differs from the one of {}",
                    skill.name, skill.origin, other.origin
                );
                let mut fault = Diagnostic::new(&HD0304, message);
                if other.origin == "inline" {
                    fault = fault.severity(Severity::Warning);
                    fault = fault.help("the pack's own skill is installed");
                }
                found.push(fault);
            }
        }
    }
    skills.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// A directory that skills are written to, once for all hosts that read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// The directory as it is named.
    pub directory: PathBuf,
    /// The hosts it was chosen for.
    pub hosts: Vec<String>,
    /// Further hosts that read it.
    pub also_read_by: Vec<String>,
}

/// The directories for some hosts: one a real directory, in the order of the hosts.
pub fn destinations(
    hosts: &[&AgentHost],
    scope: Scope,
    env: &HostEnv,
    project: &Path,
    config: &Config,
) -> Vec<Destination> {
    let mut found: Vec<(PathBuf, Destination)> = Vec::new();
    for host in hosts {
        let directory = match config.destination(host.id()) {
            Some(directory) => directory.to_owned(),
            None => host.skill_dirs(scope, env, project).write,
        };
        let real = directory.canonicalize().unwrap_or_else(|_| directory.clone());
        match found.iter_mut().find(|(known, _)| *known == real) {
            Some((_, destination)) => destination.hosts.push(host.id().to_owned()),
            None => {
                let hosts = vec![host.id().to_owned()];
                found.push((real, Destination { directory, hosts, also_read_by: Vec::new() }));
            }
        }
    }
    for (_, destination) in &mut found {
        let readers = readers_of(&destination.directory, scope, env, project);
        destination.also_read_by = readers
            .into_iter()
            .map(AgentHost::id)
            .filter(|id| !destination.hosts.iter().any(|host| host == id))
            .map(str::to_owned)
            .collect();
    }
    found.into_iter().map(|(_, destination)| destination).collect()
}

/// What an install does with one skill at one destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// It was not there.
    Created,
    /// Another version, or an edited one, was there.
    Replaced,
    /// It is there already.
    Unchanged,
    /// It was left alone.
    Skipped,
    /// It is no longer part, or was uninstalled.
    Removed,
    /// It was kept though it is no longer ours to keep up.
    Kept,
}

impl Action {
    /// The word in `results[]`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Replaced => "replaced",
            Self::Unchanged => "unchanged",
            Self::Skipped => "skipped",
            Self::Removed => "removed",
            Self::Kept => "kept",
        }
    }
}

/// One row of what an install does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// `skill`, `app`, `pack`.
    pub kind: &'static str,
    /// Its name or id.
    pub name: String,
    /// The hosts it is for.
    pub hosts: Vec<String>,
    /// Where.
    pub destination: PathBuf,
    /// What.
    pub action: Action,
    /// Why, where that is not plain.
    pub detail: Option<String>,
}

/// What plans skills for one owner.
#[derive(Debug)]
pub struct SkillsRequest<'a> {
    /// The store.
    pub store: &'a Store,
    /// Who will own them.
    pub owner: Owner,
    /// The skills.
    pub skills: &'a [SkillToInstall],
    /// Where to.
    pub destinations: &'a [Destination],
    /// For whom.
    pub scope: Scope,
    /// Whether what others own may be replaced, with a backup.
    pub take_over: bool,
    /// Whether skills that were installed on their own from elsewhere count as the owner's.
    pub replace_origin: bool,
    /// Whether skills of the owner that are no longer among `skills` go.
    pub drop_others: bool,
    /// The time to record: ISO 8601, UTC.
    pub now: &'a str,
}

/// A plan in the making with what is said of it.
#[derive(Debug, Default)]
pub struct Planned {
    /// The steps.
    pub plan: Plan,
    /// A row for everything looked at.
    pub outcomes: Vec<Outcome>,
    /// Errors keep the plan from being applied; warnings make it incomplete.
    pub diagnostics: Vec<Diagnostic>,
}

impl Planned {
    /// Whether anything keeps the plan from being applied.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|found| found.severity == Severity::Error)
    }

    /// Whether something was left out that a person has to look at.
    pub fn is_incomplete(&self) -> bool {
        let left = |outcome: &Outcome| outcome.action == Action::Skipped;
        self.outcomes.iter().any(left)
    }

    /// Whether the plan is already about what stands at `dest`: named twice is named once.
    pub(crate) fn is_planned(&self, dest: &Path) -> bool {
        self.outcomes.iter().any(|outcome| outcome.destination == dest)
    }

    /// Adds the steps that make `record` what stands in the store, if it is not that already.
    pub(crate) fn put(
        &mut self,
        store: &Store,
        path: PathBuf,
        bytes: Vec<u8>,
    ) -> Result<(), ApplyError> {
        let found = found_at(&path)?;
        if found == Found::File(Digest::sha256(&bytes)) {
            return Ok(());
        }
        self.make_parent(&path);
        let staging = store.root().to_owned();
        self.plan.push(Step::PlaceFile { dest: path, staging, bytes, mode: 0o600, found });
        Ok(())
    }

    /// Adds the steps that remove a record.
    pub(crate) fn forget(&mut self, store: &Store, path: PathBuf) -> Result<(), ApplyError> {
        let found = found_at(&path)?;
        if found != Found::Nothing {
            let staging = store.root().to_owned();
            self.plan.push(Step::Remove { dest: path, staging, found });
        }
        Ok(())
    }

    pub(crate) fn make_parent(&mut self, path: &Path) {
        if let Some(parent) = path.parent() {
            self.plan.make_dirs(parent, 0o700);
        }
    }

    /// Adds the steps that keep a copy of what stands at `path` in the store, and says where.
    pub(crate) fn back_up(
        &mut self,
        store: &Store,
        path: &Path,
        found: &Found,
        name: &str,
    ) -> Result<PathBuf, ApplyError> {
        let digest = match found {
            Found::Tree(digest) | Found::File(digest) => digest.hex(),
            Found::Nothing => String::new(),
        };
        let backup = store.backup(&format!("{name}-{}", &digest[..12.min(digest.len())]));
        if found_at(&backup)? == *found {
            return Ok(backup);
        }
        self.make_parent(&backup);
        let staging = store.root().to_owned();
        let nothing = Found::Nothing;
        self.plan.push(match found {
            Found::Tree(digest) => Step::PlaceTree {
                dest: backup.clone(),
                staging,
                new: tree_on_disk(path, digest)?,
                found: nothing,
            },
            _ => {
                let bytes = std::fs::read(path)
                    .map_err(|source| ApplyError::Io { path: path.to_owned(), source })?;
                Step::PlaceFile {
                    dest: backup.clone(),
                    staging,
                    bytes,
                    mode: 0o600,
                    found: nothing,
                }
            }
        });
        Ok(backup)
    }
}

fn tree_on_disk(path: &Path, digest: &Digest) -> Result<NewTree, ApplyError> {
    let tree = Arc::new(DirTree::open(path)?);
    Ok(NewTree { tree, modes: Modes::Verbatim, digest: *digest })
}

/// A directory on the file system of `base` that no agent host scans: the nearest that exists
/// above it. Where `base` is a link or a mount of its own, it is `base` itself.
pub(crate) fn staging_for(base: &Path) -> PathBuf {
    use std::os::unix::fs::MetadataExt as _;
    let device = |path: &Path| std::fs::metadata(path).ok().map(|known| known.dev());
    let above = base.ancestors().skip(1).find(|dir| dir.is_dir());
    match (above, device(base)) {
        (Some(above), None) => above.to_owned(),
        (Some(above), there) if device(above) == there => above.to_owned(),
        _ => base.to_owned(),
    }
}

/// Plans the skills of one owner.
pub fn plan_skills(request: &SkillsRequest<'_>, planned: &mut Planned) -> Result<(), ApplyError> {
    let receipts: BTreeMap<String, Receipt> = request
        .store
        .records::<Receipt>()?
        .into_iter()
        .filter(|receipt| receipt.kind == Kind::Skill)
        .map(|receipt| (receipt.destination.clone(), receipt))
        .collect();
    for destination in request.destinations {
        if destination.directory.exists() && !destination.directory.is_dir() {
            let message = format!("{} is not a directory", destination.directory.display());
            planned.diagnostics.push(
                Diagnostic::new(&HD0301, message)
                    .at(destination.directory.display().to_string())
                    .help(
                        "move the file away; skills are installed below a directory of that name",
                    ),
            );
            continue;
        }
        for skill in request.skills {
            plan_skill(request, destination, skill, &receipts, planned)?;
        }
    }
    if request.drop_others {
        let names: BTreeSet<_> = request.skills.iter().map(|skill| skill.name.as_str()).collect();
        for receipt in receipts.values() {
            if receipt.owner.name == request.owner.name && !names.contains(receipt.name.as_str()) {
                plan_removal(request.store, receipt, planned)?;
            }
        }
    }
    Ok(())
}

fn plan_skill(
    request: &SkillsRequest<'_>,
    destination: &Destination,
    skill: &SkillToInstall,
    receipts: &BTreeMap<String, Receipt>,
    planned: &mut Planned,
) -> Result<(), ApplyError> {
    let base = &destination.directory;
    let dest = base.join(skill.name.as_str());
    let row = |action, detail: Option<String>, planned: &mut Planned| {
        planned.outcomes.push(Outcome {
            kind: "skill",
            name: skill.name.to_string(),
            hosts: destination.hosts.clone(),
            destination: dest.clone(),
            action,
            detail,
        });
    };
    let is_link =
        |path: &Path| std::fs::symlink_metadata(path).is_ok_and(|known| known.is_symlink());
    if is_link(&dest) {
        let target = std::fs::read_link(&dest).unwrap_or_default();
        let message = format!("{} is a link to {}", dest.display(), target.display());
        let help = "remove the link and install again if the copy is wanted";
        planned
            .diagnostics
            .push(Diagnostic::new(&HD0302, message).at(dest.display().to_string()).help(help));
        row(Action::Skipped, Some("a link, left alone".to_owned()), planned);
        return Ok(());
    }
    let key = dest.display().to_string();
    let receipt = receipts.get(&key);
    let ours = receipt.is_some_and(|receipt| {
        let alone = receipt.owner.name == receipt.owner.origin;
        receipt.owner.name == request.owner.name || (request.replace_origin && alone)
    });
    let found = found_at(&dest)?;
    let mut replaced = receipt.and_then(|receipt| receipt.replaced.clone());
    let (action, detail) = match &found {
        Found::Nothing => (Action::Created, None),
        Found::Tree(digest) if ours && *digest == skill.digest => (Action::Unchanged, None),
        Found::Tree(digest)
            if ours && receipt.is_some_and(|receipt| receipt.tree == digest.to_string()) =>
        {
            (Action::Replaced, None)
        }
        Found::Tree(_) | Found::File(_) if ours => {
            let backup = planned.back_up(request.store, &dest, &found, skill.name.as_str())?;
            let kept =
                format!("it was changed by hand; the changed one is in {}", backup.display());
            planned.diagnostics.push(
                Diagnostic::new(&HD0305, format!("{} was changed by hand", dest.display()))
                    .at(key.clone())
                    .help(format!("the changed one is kept in {}", backup.display())),
            );
            (Action::Replaced, Some(kept))
        }
        _ if request.take_over => {
            let backup = planned.back_up(request.store, &dest, &found, skill.name.as_str())?;
            let kept = format!("taken over; uninstall puts back {}", backup.display());
            replaced = Some(backup.display().to_string());
            (Action::Replaced, Some(kept))
        }
        _ => {
            let whose = match receipt {
                Some(receipt) => format!("it belongs to `{}`", receipt.owner.name),
                None => "no receipt owns it".to_owned(),
            };
            let message = format!("{} is there already, and {whose}", dest.display());
            let help = "say --take-over to replace it; it is backed up, and uninstall puts it back";
            planned.diagnostics.push(Diagnostic::new(&HD0301, message).at(key.clone()).help(help));
            row(Action::Skipped, Some(whose), planned);
            return Ok(());
        }
    };
    let mut made = made_before(receipts, base);
    if action != Action::Unchanged {
        let new = planned.plan.make_dirs(base, 0o755);
        made.extend(new.iter().map(|path| path.display().to_string()));
        planned.plan.push(Step::PlaceTree {
            dest: dest.clone(),
            staging: staging_for(base),
            new: NewTree { tree: skill.tree.clone(), modes: Modes::Portable, digest: skill.digest },
            found,
        });
    }
    // Directories that this very plan makes belong to every skill below them.
    for step in planned.plan.steps() {
        if let Step::MakeDir { path, .. } = step
            && base.starts_with(path)
        {
            made.push(path.display().to_string());
        }
    }
    made.sort();
    made.dedup();
    let mut hosts =
        receipt.filter(|_| ours).map(|receipt| receipt.hosts.clone()).unwrap_or_default();
    hosts.extend(destination.hosts.iter().cloned());
    hosts.sort();
    hosts.dedup();
    let mut new = Receipt {
        kind: Kind::Skill,
        name: skill.name.to_string(),
        destination: key.clone(),
        scope: receipt
            .filter(|_| ours)
            .map_or_else(|| request.scope.as_str().to_owned(), |receipt| receipt.scope.clone()),
        hosts,
        owner: Owner { origin: skill.origin.clone(), ..request.owner.clone() },
        tree: skill.digest.to_string(),
        made,
        replaced,
        installed_at: request.now.to_owned(),
        updated_at: request.now.to_owned(),
    };
    if let Some(old) = receipt {
        new.installed_at.clone_from(&old.installed_at);
        new.updated_at.clone_from(&old.updated_at);
        if new != *old {
            request.now.clone_into(&mut new.updated_at);
        }
    }
    let path = request.store.record_path::<Receipt>(&key);
    planned.put(request.store, path, canonical(&new))?;
    row(action, detail, planned);
    Ok(())
}

/// What earlier installs made above a destination: whoever goes last takes it away.
fn made_before(receipts: &BTreeMap<String, Receipt>, base: &Path) -> Vec<String> {
    receipts
        .values()
        .filter(|receipt| Path::new(&receipt.destination).parent() == Some(base))
        .flat_map(|receipt| receipt.made.clone())
        .collect()
}

/// Plans to take a skill away from some agent hosts; from all of them if `hosts` is empty. What
/// another host was given the same directory for stays, and its receipt says for whom.
pub fn plan_removal_from(
    store: &Store,
    receipt: &Receipt,
    hosts: &[String],
    planned: &mut Planned,
) -> Result<(), ApplyError> {
    let mut left = receipt.hosts.clone();
    left.retain(|host| !hosts.contains(host));
    if hosts.is_empty() || left.is_empty() {
        return plan_removal(store, receipt, planned);
    }
    let dest = PathBuf::from(&receipt.destination);
    if left.len() == receipt.hosts.len() || planned.is_planned(&dest) {
        return Ok(());
    }
    planned.outcomes.push(Outcome {
        kind: "skill",
        name: receipt.name.clone(),
        hosts: hosts.to_vec(),
        destination: dest,
        action: Action::Kept,
        detail: Some(format!("{} still uses it", left.join(", "))),
    });
    let new = Receipt { hosts: left, ..receipt.clone() };
    let path = store.record_path::<Receipt>(&receipt.destination);
    planned.put(store, path, canonical(&new))
}

/// Plans to take away what one receipt owns: the skill if nobody changed it, what had to make way
/// for it put back, directories that were made for it if nothing else is in them.
pub fn plan_removal(
    store: &Store,
    receipt: &Receipt,
    planned: &mut Planned,
) -> Result<(), ApplyError> {
    let dest = PathBuf::from(&receipt.destination);
    if planned.is_planned(&dest) {
        return Ok(());
    }
    let row = |action, detail: Option<String>, planned: &mut Planned| {
        planned.outcomes.push(Outcome {
            kind: "skill",
            name: receipt.name.clone(),
            hosts: receipt.hosts.clone(),
            destination: dest.clone(),
            action,
            detail,
        });
    };
    let is_link = std::fs::symlink_metadata(&dest).is_ok_and(|known| known.is_symlink());
    let found = if is_link { Found::Nothing } else { found_at(&dest)? };
    let base = dest.parent().unwrap_or(Path::new("/"));
    match &found {
        Found::Nothing => {
            let detail = if is_link {
                "a link stands there now; it is not ours"
            } else {
                "it was gone already"
            };
            row(Action::Removed, Some(detail.to_owned()), planned);
        }
        Found::Tree(digest) if digest.to_string() == receipt.tree => {
            let backup = receipt.replaced.as_ref().map(PathBuf::from);
            let staging = staging_for(base);
            match backup
                .as_ref()
                .map(|path| Ok::<_, ApplyError>((path, found_at(path)?)))
                .transpose()?
            {
                Some((path, Found::Tree(old))) => {
                    let new = tree_on_disk(path, &old)?;
                    planned.plan.push(Step::PlaceTree { dest: dest.clone(), staging, new, found });
                    let found = Found::Tree(old);
                    let staging = store.root().to_owned();
                    planned.plan.push(Step::Remove { dest: path.clone(), staging, found });
                    row(Action::Removed, Some("what it had replaced is back".to_owned()), planned);
                }
                Some((path, Found::File(old))) => {
                    let bytes = std::fs::read(path)
                        .map_err(|source| ApplyError::Io { path: path.clone(), source })?;
                    planned.plan.push(Step::PlaceFile {
                        dest: dest.clone(),
                        staging,
                        bytes,
                        mode: 0o644,
                        found,
                    });
                    let found = Found::File(old);
                    let staging = store.root().to_owned();
                    planned.plan.push(Step::Remove { dest: path.clone(), staging, found });
                    row(Action::Removed, Some("what it had replaced is back".to_owned()), planned);
                }
                _ => {
                    planned.plan.push(Step::Remove { dest: dest.clone(), staging, found });
                    row(Action::Removed, None, planned);
                }
            }
            for made in receipt.made.iter().rev() {
                planned.plan.push(Step::RemoveEmptyDir { path: made.into() });
            }
        }
        Found::Tree(_) | Found::File(_) => {
            let message = format!("{} was changed by hand and is kept", dest.display());
            let help = "remove it yourself, then run the same command again";
            planned
                .diagnostics
                .push(Diagnostic::new(&HD0305, message).at(receipt.destination.clone()).help(help));
            row(Action::Kept, Some("changed by hand".to_owned()), planned);
            return Ok(());
        }
    }
    planned.forget(store, store.record_path::<Receipt>(&receipt.destination))
}

/// The receipts of skills that somebody owns.
pub fn receipts_of(store: &Store, owner: &str) -> Result<Vec<Receipt>, StoreError> {
    let mut receipts = store.records::<Receipt>()?;
    receipts.retain(|receipt| receipt.kind == Kind::Skill && receipt.owner.name == owner);
    Ok(receipts)
}
