//! Where the packages that a pack includes are found (reference 6.2), and putting a pack together
//! from them. Nothing is fetched here: a git pin is asked of whoever may open connections.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use holdall_diagnostics::{Diagnostic, Severity};
use holdall_pack::{Convention, GitPin, Include, PackageName};
use holdall_store::Store;
use holdall_tree::{DirTree, EntryName, FileKind, SubTree, Tree, TreePath};
use serde_json::Value;

use crate::packs::MissingInclude;
use crate::skills::{SkillToInstall, merge_skills, skills_of};

/// Bytes of a `package.json` that are read for its version.
const MAX_PACKAGE_JSON: u64 = 1 << 20;

/// Fetches a repository at a commit; the error says why it cannot be had.
pub type FetchPin<'a> = &'a dyn Fn(&GitPin) -> Result<Arc<dyn Tree>, Box<Diagnostic>>;

/// Where included packages are looked for.
#[derive(Debug, Clone, Copy)]
pub struct IncludePlaces<'a> {
    /// The store, whose `packs/` comes first.
    pub store: &'a Store,
    /// The user's home, whose `.agentproto/packs/` comes second.
    pub home: &'a Path,
    /// The pack itself, where it is sealed or was fetched: `.skills` and `node_modules` in it come
    /// before those on disk.
    pub inside: Option<&'a Arc<dyn Tree>>,
    /// The directory to begin with on the way up: the pack root, else the working directory.
    pub from: &'a Path,
}

/// An included package that was found.
#[derive(Debug, Clone)]
pub struct FoundInclude {
    /// Its files.
    pub tree: Arc<dyn Tree>,
    /// Where it is.
    pub place: String,
    /// Its name with its version, where it says one.
    pub origin: String,
}

impl IncludePlaces<'_> {
    /// The directories from `from` up to the one with `.git`. Without a repository around it, up
    /// to the user's home, so that what others put into a shared directory is never looked at.
    fn ancestors(&self) -> Vec<&Path> {
        let all = || self.from.ancestors();
        let last = all()
            .position(|dir| dir.join(".git").exists())
            .or_else(|| all().position(|dir| dir == self.home))
            .unwrap_or(0);
        all().take(last + 1).collect()
    }

    /// Looks for a package; the error is every place that was looked at, in that order.
    pub fn find(&self, name: &PackageName) -> Result<FoundInclude, MissingInclude> {
        let mut looked = Vec::new();
        let pack = name.pack_name();
        for base in [self.store.root().join("packs"), self.home.join(".agentproto/packs")] {
            if let Some(found) = on_disk(&base.join(pack), name, &mut looked) {
                return Ok(found);
            }
        }
        for find in [in_skills, in_node_modules] {
            if let Some(tree) = self.inside
                && let Some(found) = find(&Base::Inside(tree), name, &mut looked)
            {
                return Ok(found);
            }
            for directory in self.ancestors() {
                if let Some(found) = find(&Base::Disk(directory), name, &mut looked) {
                    return Ok(found);
                }
            }
        }
        Err(MissingInclude { include: name.as_str().to_owned(), looked })
    }
}

/// A directory that may hold packages.
enum Base<'a> {
    Disk(&'a Path),
    Inside(&'a Arc<dyn Tree>),
}

impl Base<'_> {
    fn at(
        &self,
        below: &str,
        name: &PackageName,
        looked: &mut Vec<String>,
    ) -> Option<FoundInclude> {
        match self {
            Self::Disk(directory) => on_disk(&directory.join(below), name, looked),
            Self::Inside(tree) => in_tree(tree, below, name, looked),
        }
    }

    /// Names of the directories below one.
    fn directories(&self, below: &str) -> Vec<String> {
        match self {
            Self::Disk(directory) => {
                let entries = std::fs::read_dir(directory.join(below)).into_iter().flatten();
                let name = |entry: std::fs::DirEntry| entry.file_name().into_string().ok();
                let mut names: Vec<_> = entries.flatten().filter_map(name).collect();
                names.sort();
                names
            }
            Self::Inside(tree) => {
                let Ok(path) = TreePath::new(below) else { return Vec::new() };
                let name = |entry: holdall_tree::DirEntry| match entry.name {
                    EntryName::Utf8(name) => Some(name),
                    EntryName::Bytes(_) => None,
                };
                tree.read_dir(&path).unwrap_or_default().into_iter().filter_map(name).collect()
            }
        }
    }
}

fn in_skills(
    base: &Base<'_>,
    name: &PackageName,
    looked: &mut Vec<String>,
) -> Option<FoundInclude> {
    base.at(&format!(".skills/{}", name.pack_name()), name, looked)
}

/// A name that follows a convention means that package alone; any other may be the short name of
/// one, of the first party before third ones.
fn in_node_modules(
    base: &Base<'_>,
    name: &PackageName,
    looked: &mut Vec<String>,
) -> Option<FoundInclude> {
    let mut names = Vec::new();
    if name.convention() == Convention::Other && !name.as_str().starts_with('@') {
        names.push(format!("@agentproto/skill-pack-{}", name.as_str()));
        for scope in base.directories("node_modules") {
            let package = format!("{scope}/agentproto-skill-pack-{}", name.as_str());
            if scope.starts_with('@') && PackageName::parse(&package).is_ok() {
                names.push(package);
            }
        }
    }
    names.push(name.as_str().to_owned());
    names.iter().find_map(|package| base.at(&format!("node_modules/{package}"), name, looked))
}

fn on_disk(directory: &Path, name: &PackageName, looked: &mut Vec<String>) -> Option<FoundInclude> {
    let place = directory.display().to_string();
    // Package managers link packages into place; what the user has there is followed.
    let real = directory.canonicalize().ok().filter(|real| real.is_dir());
    let tree = real.and_then(|real| DirTree::open(&real).ok());
    let Some(tree) = tree else {
        looked.push(place);
        return None;
    };
    usable(Arc::new(tree), place, name, looked)
}

fn in_tree(
    tree: &Arc<dyn Tree>,
    below: &str,
    name: &PackageName,
    looked: &mut Vec<String>,
) -> Option<FoundInclude> {
    let place = format!("{below} in the pack");
    let path = TreePath::new(below).ok().and_then(|path| tree.resolve(&path).ok());
    let sub = path.and_then(|path| SubTree::new(tree.clone(), path).ok());
    let Some(sub) = sub else {
        looked.push(place);
        return None;
    };
    usable(Arc::new(sub), place, name, looked)
}

/// A pack of skills is a directory with `skills/*/SKILL.md`.
fn usable(
    tree: Arc<dyn Tree>,
    place: String,
    name: &PackageName,
    looked: &mut Vec<String>,
) -> Option<FoundInclude> {
    if !has_skills(tree.as_ref()) {
        looked.push(format!("{place} (no skills/*/SKILL.md in it)"));
        return None;
    }
    let version = version_of(tree.as_ref());
    let origin = match version {
        Some(version) => format!("{}@{version}", name.as_str()),
        None => name.as_str().to_owned(),
    };
    Some(FoundInclude { tree, place, origin })
}

fn has_skills(tree: &dyn Tree) -> bool {
    let Ok(skills) = TreePath::new("skills") else { return false };
    let document = |entry: holdall_tree::DirEntry| match entry.name {
        EntryName::Utf8(name) if entry.kind == FileKind::Directory => {
            TreePath::new(format!("skills/{name}/SKILL.md")).is_ok_and(|path| tree.exists(&path))
        }
        _ => false,
    };
    tree.read_dir(&skills).unwrap_or_default().into_iter().any(document)
}

fn version_of(tree: &dyn Tree) -> Option<String> {
    let path = TreePath::new("package.json").ok()?;
    let bytes = tree.read(&path, MAX_PACKAGE_JSON).ok()?;
    let json: Value = serde_json::from_slice(&bytes).ok()?;
    let version = json.get("version")?.as_str()?;
    (!version.is_empty() && version.len() <= 256).then(|| version.to_owned())
}

/// What came of looking for a pack's includes.
#[derive(Debug, Default)]
pub struct Merged {
    /// The pack's own skills and those of the includes that were found.
    pub skills: Vec<SkillToInstall>,
    /// Where each include was found.
    pub places: Vec<(String, PathBuf)>,
    /// Includes that were not found.
    pub missing: Vec<MissingInclude>,
    /// Faults in the included skills, and conflicts between them.
    pub diagnostics: Vec<Diagnostic>,
}

/// Adds the skills of the includes, in their order, to the pack's own (reference 6.4).
pub fn merge_includes(
    own: Vec<SkillToInstall>,
    includes: &[Include],
    places: IncludePlaces<'_>,
    fetch: FetchPin<'_>,
) -> Merged {
    let mut merged = Merged { skills: own, ..Merged::default() };
    for include in includes {
        let text = include.to_string();
        let missing =
            |looked: String| Err(MissingInclude { include: text.clone(), looked: vec![looked] });
        let found = match include {
            Include::Package(name) => places.find(name),
            Include::Git(pin) => match fetch(pin) {
                Ok(tree) if has_skills(tree.as_ref()) => {
                    Ok(FoundInclude { tree, place: text.clone(), origin: text.clone() })
                }
                Ok(_) => missing(format!("{text} (no skills/*/SKILL.md in it)")),
                Err(error) => {
                    merged.diagnostics.push((*error).severity(Severity::Warning));
                    missing(text.clone())
                }
            },
        };
        match found {
            Err(missing) => merged.missing.push(missing),
            Ok(found) => {
                let shown = |path: &TreePath| format!("{}/{path}", found.place);
                match skills_of(&found.tree, &found.origin, &shown) {
                    Ok(skills) => {
                        merged.diagnostics.extend(merge_skills(&mut merged.skills, skills));
                    }
                    Err(faults) => merged.diagnostics.extend(faults),
                }
                merged.places.push((text, PathBuf::from(found.place)));
            }
        }
    }
    merged
}
