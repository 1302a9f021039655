//! What a validation looks at: the entries below a root, without what git ignores.

use std::path::Path;

use holdall_diagnostics::Diagnostic;
use holdall_tree::{FileKind, Limits, Tree, TreePath, WalkEntry, walk};
use ignore::WalkBuilder;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::codes;

/// Entries of a tree in the order of their paths, and what could not be listed.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub entries: Vec<WalkEntry>,
    pub faults: Vec<Diagnostic>,
}

/// Patterns of `--exclude`.
#[derive(Debug, Clone)]
pub struct Excludes(Gitignore);

impl Excludes {
    /// Reads patterns as they stand in a `.gitignore`.
    pub fn new<S: AsRef<str>>(patterns: &[S]) -> Result<Self, Box<Diagnostic>> {
        let mut builder = GitignoreBuilder::new("");
        for pattern in patterns {
            builder.add_line(None, pattern.as_ref()).map_err(|error| {
                let message = format!("`{}`: {error}", pattern.as_ref());
                Box::new(Diagnostic::new(&codes::PATTERN, message))
            })?;
        }
        let globs = builder
            .build()
            .map_err(|error| Box::new(Diagnostic::new(&codes::PATTERN, error.to_string())))?;
        Ok(Self(globs))
    }

    /// Whether a path is left out, as it is shown or as it stands below the root of the check.
    fn cover(&self, shown: &str, path: &str, directory: bool) -> bool {
        let hit = |path: &str| {
            let path = path.trim_start_matches("./").trim_start_matches('/');
            !path.is_empty() && self.0.matched(path, directory).is_ignore()
        };
        !self.0.is_empty() && (hit(path) || hit(shown))
    }
}

/// Where an entry of the root is shown: `root` is the root as the user typed it.
pub(super) fn shown(root: &str, path: &str) -> String {
    let root = root.trim_end_matches('/');
    match (root, path) {
        ("." | "", path) => path.to_owned(),
        (root, "") => root.to_owned(),
        (root, path) => format!("{root}/{path}"),
    }
}

/// Everything in a tree that has no `.gitignore`s to obey: what is sealed is what is shipped.
pub(super) fn of_tree(tree: &dyn Tree, root: &str, excludes: &Excludes) -> Listing {
    let mut listing = Listing::default();
    let mut steps = walk(tree, &TreePath::root(), Limits::default());
    while let Some(step) = steps.next() {
        match step {
            Ok(entry) => {
                let path = entry.path.as_str();
                let directory = entry.kind == FileKind::Directory;
                if excludes.cover(&shown(root, path), path, directory) {
                    steps.skip_children();
                } else {
                    listing.entries.push(entry);
                }
            }
            Err(error) => listing.faults.push(
                Diagnostic::new(&codes::UNREADABLE, error.detail.clone())
                    .at(shown(root, error.path.as_str())),
            ),
        }
    }
    listing
}

/// Everything below a directory of the disk that git does not ignore, without `.git` and
/// `node_modules`. What the user named is looked at even if it is ignored itself.
pub(super) fn of_directory(directory: &Path, root: &str, excludes: &Excludes) -> Listing {
    let named = is_ignored(directory);
    let (globs, base, place) = (excludes.clone(), directory.to_owned(), root.to_owned());
    let wanted = move |entry: &ignore::DirEntry| {
        let name = entry.file_name();
        // A worktree has a file named `.git`.
        let skipped = name == ".git" || name == "node_modules" && is_dir(entry);
        let path = relative(&base, entry).unwrap_or_default();
        entry.depth() == 0 || !skipped && !globs.cover(&shown(&place, path), path, is_dir(entry))
    };
    let steps = WalkBuilder::new(directory)
        .standard_filters(false)
        .git_ignore(true)
        .git_exclude(true)
        .parents(!named)
        .require_git(false)
        .follow_links(false)
        .filter_entry(wanted)
        .build();
    let mut listing = Listing::default();
    for step in steps {
        let entry = match step {
            Ok(entry) if entry.depth() == 0 => continue,
            Ok(entry) => entry,
            Err(error) => {
                let fault = Diagnostic::new(&codes::UNREADABLE, error.to_string());
                listing.faults.push(fault.at(shown(root, "")));
                continue;
            }
        };
        if let Some(Ok(path)) = relative(directory, &entry).map(TreePath::new) {
            listing.entries.push(WalkEntry { path, kind: kind(&entry) });
        } else {
            let name = entry.path().display().to_string();
            let message = format!("the name of {name} is not UTF-8");
            let fault = Diagnostic::new(&codes::UNREADABLE, message).at(name);
            listing.faults.push(fault.help("rename it"));
        }
    }
    listing.entries.sort();
    listing
}

/// An entry's path below the directory, if it is UTF-8.
fn relative<'e>(directory: &Path, entry: &'e ignore::DirEntry) -> Option<&'e str> {
    entry.path().strip_prefix(directory).ok()?.to_str()
}

fn is_dir(entry: &ignore::DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_dir())
}

fn kind(entry: &ignore::DirEntry) -> FileKind {
    match entry.file_type() {
        Some(kind) if kind.is_dir() => FileKind::Directory,
        Some(kind) if kind.is_file() => FileKind::File,
        Some(kind) if kind.is_symlink() => FileKind::Symlink,
        _ => FileKind::Other,
    }
}

/// Whether git ignores the directory itself, or what it stands in.
fn is_ignored(directory: &Path) -> bool {
    let Ok(directory) = directory.canonicalize() else { return false };
    for above in directory.ancestors().skip(1) {
        let ignores = above.join(".gitignore");
        if ignores.is_file() {
            let (globs, _) = Gitignore::new(&ignores);
            if globs.matched_path_or_any_parents(&directory, true).is_ignore() {
                return true;
            }
        }
        if above.join(".git").exists() {
            break;
        }
    }
    false
}

/// How a directory of a tree is shown; the place itself is `.` where it has no other name.
pub(super) fn shown_root(root: &str, dir: &TreePath) -> String {
    let path = shown(root, dir.as_str());
    if path.is_empty() { ".".to_owned() } else { path }
}
