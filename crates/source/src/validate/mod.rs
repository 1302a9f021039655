//! Checking everything at a place: one document, one root, or a repository full of them.
//!
//! A [`Report`] says what was looked at and what was found. The kinds are told from the files:
//! every directory with `SKILL.md`, `PACK.md`, `APP.md` or an artifact manifest is checked as
//! what it is, with its members. Nothing is executed, no link is followed out of the place, and a
//! place with nothing to check is an error.

mod artifacts;
pub mod codes;
mod fix;
mod listing;
mod packages;
mod packs;
mod skills;

use camino::Utf8Path;
use holdall_diagnostics::{Diagnostic, Summary};
use holdall_tree::{DirTree, FileKind, Tree, TreeError, TreeErrorKind, TreePath, WalkEntry};

use crate::Kind;
pub use fix::{Fixed, Repair};
pub use listing::Excludes;
use listing::Listing;

/// What was looked at and what was found.
#[derive(Debug, Default)]
pub struct Report {
    /// Every thing checked, in the order of the paths.
    pub checked: Vec<Checked>,
    /// Everything found, in the order of the paths; paths begin as the user typed the place.
    pub diagnostics: Vec<Diagnostic>,
    /// Documents that quotes would cure.
    pub repairs: Vec<Repair>,
}

/// One thing that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// What it is.
    pub kind: Kind,
    /// Where its root is, or its file.
    pub path: String,
}

impl Report {
    /// Adds another place's report.
    pub fn merge(&mut self, other: Self) {
        self.checked.extend(other.checked);
        self.diagnostics.extend(other.diagnostics);
        self.repairs.extend(other.repairs);
    }

    /// The last line: `checked 40 skills, 1 pack: 2 errors, 5 warnings`. `summary` counts the
    /// findings as the user's policy sees them.
    pub fn summary_line(&self, summary: &Summary) -> String {
        let mut counts: Vec<(Kind, usize)> = Vec::new();
        for checked in &self.checked {
            match counts.iter_mut().find(|(kind, _)| *kind == checked.kind) {
                Some((_, count)) => *count += 1,
                None => counts.push((checked.kind, 1)),
            }
        }
        // What there is most of comes first.
        counts.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        let things: Vec<_> =
            counts.iter().map(|&(kind, count)| plural(count, kind.as_str())).collect();
        let things = if things.is_empty() { "nothing".to_owned() } else { things.join(", ") };
        let errors = plural(summary.errors, "error");
        let warnings = plural(summary.warnings, "warning");
        format!("checked {things}: {errors}, {warnings}")
    }

    fn fail(diagnostic: Diagnostic) -> Self {
        Self { diagnostics: vec![diagnostic], ..Self::default() }
    }

    /// Sorts the findings, and adds the one for an empty place.
    fn finish(mut self, root: &str) -> Self {
        if self.checked.is_empty() && self.diagnostics.is_empty() {
            let shown = if root.is_empty() { "." } else { root };
            self.diagnostics.push(
                Diagnostic::new(&codes::NOTHING, format!("nothing to check at {shown}"))
                    .at(shown)
                    .help("name a directory with SKILL.md, PACK.md, APP.md or agent-bundle.manifest.json in it or below"),
            );
        }
        self.diagnostics.sort_by(|a, b| {
            let key = |found: &Diagnostic| found.span.map(|span| span.start.offset);
            a.path.cmp(&b.path).then(key(a).cmp(&key(b)))
        });
        self
    }
}

fn plural(count: usize, word: &str) -> String {
    match (count, word) {
        (1, "skills") => "1 directory of skills".to_owned(),
        (_, "skills") => format!("{count} directories of skills"),
        (1, word) => format!("1 {word}"),
        (_, word) => format!("{count} {word}s"),
    }
}

/// Checks a path of the disk: a document, a root of any kind, or a directory holding many.
/// `shown` is how the user typed it; it begins the paths of all findings.
pub fn path(path: &Utf8Path, shown: &str, excludes: &Excludes) -> Report {
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) => {
            let error = TreeError::from_io(&TreePath::root(), &error);
            return Report::fail(cannot_open(&error, shown));
        }
    };
    let name = path.file_name().unwrap_or_default();
    if metadata.is_dir() {
        // A directory that stands where a document belongs; there may be documents in it, too.
        return match document_kind(name) {
            Some(kind) => document(path, shown, kind),
            None => directory(path, shown, excludes),
        };
    }
    if packages::is_named_like_one(name) {
        return packages::file(path, shown, excludes).finish(shown);
    }
    if packs::is_named_like_a_bundle(name) {
        return packs::bundle(path, shown, excludes).finish(shown);
    }
    let Some(kind) = document_kind(name) else {
        let message = format!("{shown} is no document that can be checked");
        let help = "name SKILL.md, PACK.md, APP.md, the directory they stand in, an .aospkg or an .agentapp file";
        return Report::fail(Diagnostic::new(&codes::NOTHING, message).at(shown).help(help));
    };
    document(path, shown, kind)
}

fn directory(path: &Utf8Path, shown: &str, excludes: &Excludes) -> Report {
    match DirTree::open(path.as_std_path()) {
        Ok(tree) => {
            let listing = listing::of_directory(path.as_std_path(), shown, excludes);
            let name = own_name(path);
            let root = Root { shown, name: name.as_deref(), place: Some(path) };
            let entries = listing.entries.clone();
            let mut report = check(&tree, listing, root);
            packages::in_listing(path, &entries, shown, excludes, &mut report);
            packs::bundles(path, &entries, shown, excludes, &mut report);
            let mut report = report.finish(shown);
            for repair in &mut report.repairs {
                repair.set_directory(path);
            }
            report
        }
        Err(error) => Report::fail(cannot_open(&error, shown)),
    }
}

fn cannot_open(error: &TreeError, shown: &str) -> Diagnostic {
    let errno = error.kind.errno();
    let message = match error.kind {
        TreeErrorKind::NotFound => format!("nothing is there ({errno})"),
        TreeErrorKind::PermissionDenied => format!("it may not be read ({errno})"),
        _ => error.detail.clone(),
    };
    let help = crate::error::help_for(errno);
    Diagnostic::new(&crate::codes::CANNOT_OPEN, message).at(shown).help(help)
}

/// Checks a tree that is no directory of the disk: a package or a bundle.
pub fn tree(tree: &dyn Tree, shown: &str, excludes: &Excludes) -> Report {
    let listing = listing::of_tree(tree, shown, excludes);
    check(tree, listing, Root { shown, name: None, place: None }).finish(shown)
}

/// Checks one document and what belongs to it, and nothing beside it.
fn document(path: &Utf8Path, shown: &str, kind: Kind) -> Report {
    let above = match path.parent() {
        Some(above) if !above.as_str().is_empty() => above,
        _ => Utf8Path::new("."),
    };
    let shown_above = match shown.rsplit_once('/') {
        Some(("", _)) => "/",
        Some((above, _)) => above,
        None => "",
    };
    // The app's document may stand in a directory of its own.
    let dotted = kind == Kind::App && above.file_name() == Some(".agentproto");
    let (root, shown_root) = if dotted {
        let up = above.parent().filter(|up| !up.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
        (up, shown_above.rsplit_once('/').map_or("", |(up, _)| up))
    } else {
        (above, shown_above)
    };
    let Ok(none) = Excludes::new::<&str>(&[]) else { return Report::default() };
    let mut report = match DirTree::open(root.as_std_path()) {
        Ok(tree) => {
            let mut listing = listing::of_directory(root.as_std_path(), shown_root, &none);
            let only = |entry: &WalkEntry| {
                let name = entry.path.file_name().unwrap_or_default();
                let above = entry.path.parent().unwrap_or_default();
                let here = above.is_root() || above.as_str() == ".agentproto";
                let of_pack = kind == Kind::Pack && is_own_skill(&above);
                document_kind(name)
                    .is_none_or(|found| found == kind && here || found == Kind::Skill && of_pack)
            };
            listing.entries.retain(only);
            listing.faults.clear();
            let name = own_name(root);
            let root = Root { shown: shown_root, name: name.as_deref(), place: Some(root) };
            check(&tree, listing, root).finish(shown_root)
        }
        Err(error) => Report::fail(cannot_open(&error, shown)),
    };
    for repair in &mut report.repairs {
        repair.set_directory(root);
    }
    report
}

/// Whether a directory is one of those that an inline plugin is made of: `skills/NAME`.
fn is_own_skill(directory: &TreePath) -> bool {
    directory.parent().is_some_and(|above| above.as_str() == "skills")
}

/// The name of a directory, also of one that is named by `.` or through a link.
fn own_name(directory: &Utf8Path) -> Option<String> {
    let directory = directory.canonicalize_utf8().ok()?;
    directory.file_name().map(str::to_owned)
}

/// The kind of thing whose document has this name.
fn document_kind(name: &str) -> Option<Kind> {
    match name {
        "SKILL.md" => Some(Kind::Skill),
        "PACK.md" => Some(Kind::Pack),
        "APP.md" => Some(Kind::App),
        "agent-bundle.manifest.json" => Some(Kind::Artifact),
        _ => None,
    }
}

/// The place that is checked.
#[derive(Debug, Clone, Copy)]
struct Root<'a> {
    /// How the user typed it; begins all paths.
    shown: &'a str,
    /// The directory's own name, where there is one.
    name: Option<&'a str>,
    /// The directory on the disk, where it is one.
    place: Option<&'a Utf8Path>,
}

fn check(tree: &dyn Tree, listing: Listing, root: Root<'_>) -> Report {
    let Listing { entries, faults } = listing;
    let mut report = Report { diagnostics: faults, ..Report::default() };
    let roots = |kind: Kind| -> Vec<TreePath> {
        let of_kind = |entry: &WalkEntry| {
            let name = entry.path.file_name()?;
            (document_kind(name) == Some(kind)).then(|| entry.path.parent()).flatten()
        };
        entries.iter().filter_map(of_kind).collect()
    };
    let artifacts = roots(Kind::Artifact);
    // The members of an artifact are the artifact's.
    let roots = |kind: Kind| -> Vec<TreePath> {
        let outside = |dir: &TreePath| artifacts.iter().all(|it| dir.strip_prefix(it).is_none());
        roots(kind).into_iter().filter(outside).collect()
    };
    skills::check(tree, &roots(Kind::Skill), &entries, &root, &mut report);
    packs::check(tree, &roots(Kind::Pack), &roots(Kind::App), &root, &mut report);
    artifacts::check(tree, &artifacts, &root, &mut report);
    skills::misspelt(&entries, root.shown, &mut report);
    report
}

/// Puts the place before the paths of findings in a tree.
fn place(found: Vec<Diagnostic>, shown: &str) -> impl Iterator<Item = Diagnostic> {
    found.into_iter().map(move |mut found| {
        found.path = found.path.map(|path| listing::shown(shown, &path));
        found
    })
}

/// The entries below a directory, which are neighbours in the sorted listing.
fn below<'e>(entries: &'e [WalkEntry], dir: &TreePath) -> &'e [WalkEntry] {
    if dir.is_root() {
        return entries;
    }
    let prefix = format!("{dir}/");
    let start = entries.partition_point(|entry| entry.path.as_str() < prefix.as_str());
    let length = entries[start..].partition_point(|entry| entry.path.as_str().starts_with(&prefix));
    &entries[start..start + length]
}

/// Whether an entry is a regular file.
fn is_file(entry: &WalkEntry) -> bool {
    entry.kind == FileKind::File
}
