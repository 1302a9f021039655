//! Making packages from directories, tars and other packages.
//!
//! Packing goes in two passes. [`plan`] looks at every entry without reading files, derives the
//! manifest and reports everything that a package could not hold or would lose; what it returns
//! can be listed, and knows every offset. [`PackPlan::write`] then reads each file once, in path
//! order, and lets the package appear whole or not at all. Memory grows with the number of
//! entries, never with the size of files.
//!
//! The result is canonical: members sorted by path, owner 0, time 0, modes 0755 or 0644 by the
//! execute bit, directories as members only where they are empty. So a directory, and a tar of it
//! in any order, give the same bytes on any machine.

pub mod codes;
mod collect;
mod convert;
mod derive;
mod source;
mod write;

use std::collections::BTreeSet;
use std::fmt;
use std::fs::File;

use holdall_diagnostics::{Diagnostic, Severity};
use holdall_tree::{Tree, TreePath, portable};

pub use codes::CODES;
pub use convert::convert;
pub use write::Packed;

use crate::format::{EntryKind, MAX_ENTRIES, Version};
use crate::model::{CommandTarget, Loss, PackageManifest};
use collect::{Collected, Node};

/// What is packed.
#[derive(Clone, Copy)]
pub enum Input<'a> {
    /// A directory, or anything that reads like one.
    Tree(&'a dyn Tree),
    /// An uncompressed tar, read by position.
    Tar(&'a File),
}

impl fmt::Debug for Input<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tree(_) => "Tree",
            Self::Tar(_) => "Tar",
        })
    }
}

/// How something is packed.
#[derive(Debug, Clone, Default)]
pub struct PackOptions {
    /// The format version; 1 unless said otherwise, since only it holds agents.
    pub version: Version,
    /// The name, where the input does not say one.
    pub name: Option<String>,
    /// The version, where the input does not say one.
    pub version_name: Option<String>,
    /// The command that speaks ACP, where the input does not name one.
    pub agent: Option<String>,
    /// The commands, where something else than the input knows them: neither `bin` of
    /// `package.json` nor the directory `bin` is looked at.
    pub commands: Option<Vec<CommandTarget>>,
    /// Owners, times and modes are kept instead of made canonical.
    pub preserve: bool,
    /// Names that do not exist on every system are warnings instead of errors.
    pub posix: bool,
    /// Facts that `version` cannot hold may be left out.
    pub allow_loss: bool,
    /// Secrets that are meant to be packed, with what is below them.
    pub include: Vec<TreePath>,
    /// What is left out, with what is below it.
    pub exclude: Vec<TreePath>,
}

impl PackOptions {
    fn is_included(&self, path: &TreePath) -> bool {
        self.include.iter().any(|included| path.strip_prefix(included).is_some())
    }
}

/// One row of what goes into a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedEntry {
    /// Absolute path in the mount.
    pub path: String,
    /// File, directory or link.
    pub kind: EntryKind,
    /// Bytes of a file.
    pub size: u64,
    /// Permission bits.
    pub mode: u32,
    /// A link's target.
    pub link_target: Option<String>,
    /// The first path of the same bytes, where a file is a hard link.
    pub same_as: Option<String>,
}

/// A package that can be written.
#[derive(Debug)]
pub struct PackPlan<'a> {
    input: Input<'a>,
    version: Version,
    manifest: PackageManifest,
    collected: Collected,
    layout: write::Layout,
    warnings: Vec<Diagnostic>,
}

/// Looks at an input and plans its package. The error is everything that keeps it from being
/// packed, and the warnings with it.
pub fn plan<'a>(input: Input<'a>, options: &PackOptions) -> Result<PackPlan<'a>, Vec<Diagnostic>> {
    let mut all = match input {
        Input::Tree(tree) => collect::from_tree(tree, options),
        Input::Tar(archive) => collect::from_tar(archive, options),
    };
    if all.unread {
        return Err(all.found);
    }
    add_parents(&mut all);
    let mut manifest = derive::derive(&input, options, &mut all);
    check_links(&mut all);
    check_names(options, &mut all);
    if all.entries.len() >= MAX_ENTRIES {
        let what = format!("{} entries; a package holds {MAX_ENTRIES}", all.entries.len() + 1);
        all.report(Diagnostic::new(&codes::NUMBER, what));
    }
    if options.allow_loss {
        for loss in manifest.losses(options.version) {
            all.report(left_out(&loss));
        }
        manifest = manifest.reduced_to(options.version);
    }
    let mut found = std::mem::take(&mut all.found);
    let layout = match write::layout(&manifest, options, &mut all) {
        Ok(layout) => Some(layout),
        Err(fault) => {
            found.push(*fault);
            None
        }
    };
    let failed = found.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    match layout {
        Some(layout) if !failed => Ok(PackPlan {
            input,
            version: options.version,
            manifest,
            collected: all,
            layout,
            warnings: found,
        }),
        _ => Err(found),
    }
}

/// The warning for a fact that was left out.
pub fn left_out(loss: &Loss) -> Diagnostic {
    Diagnostic::new(&codes::LEFT_OUT, format!("left out {loss}"))
}

impl PackPlan<'_> {
    /// What the manifest chunk will say.
    pub fn manifest(&self) -> &PackageManifest {
        &self.manifest
    }

    /// The format version.
    pub fn version(&self) -> Version {
        self.version
    }

    /// What was noticed and does not keep the package from being made.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Everything that goes in, in the order of the index.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = PlannedEntry> {
        self.layout.planned()
    }
}

/// Ancestors that no member names; a file that has something below it is two things at once.
fn add_parents(all: &mut Collected) {
    let mut missing: BTreeSet<TreePath> = BTreeSet::new();
    let mut clashes = Vec::new();
    let mut done = TreePath::root();
    for path in all.entries.keys() {
        let mut above = path.parent();
        if above.as_ref() == Some(&done) {
            continue;
        }
        let first = above.clone();
        while let Some(dir) = above.filter(|dir| !dir.is_root()) {
            match all.entries.get(&dir).map(|entry| &entry.node) {
                Some(Node::Directory) => break,
                Some(_) => {
                    clashes.push((dir, path.clone()));
                    break;
                }
                None if missing.contains(&dir) => break,
                None => {
                    above = dir.parent();
                    missing.insert(dir);
                }
            }
        }
        done = first.unwrap_or_default();
    }
    for dir in missing {
        all.entries.entry(dir).or_insert(collect::Entry::parent());
    }
    for (file, below) in clashes {
        let what = format!("`{file}` is no directory, but `{below}` lies below it");
        all.report(Diagnostic::new(&codes::DUPLICATE, what).at(file.as_str()).help("remove one"));
    }
}

/// Links stay inside, judged by their text from where they stand, as a reader judges them.
fn check_links(all: &mut Collected) {
    let mut found = Vec::new();
    for (path, entry) in &all.entries {
        let Node::Symlink { target } = &entry.node else { continue };
        let fault = if target.is_empty() {
            Some("an empty target".to_owned())
        } else if target.starts_with('/') {
            Some(format!("the absolute target {target}"))
        } else if target.contains('\0') {
            Some("a target with a NUL byte".to_owned())
        } else {
            let mut depth = path.components().count() - 1;
            let mut leaves = false;
            for part in target.split('/') {
                match part {
                    "" | "." => {}
                    ".." if depth == 0 => leaves = true,
                    ".." => depth -= 1,
                    _ => depth += 1,
                }
            }
            leaves.then(|| format!("the target {target}, which leaves the package"))
        };
        if let Some(fault) = fault {
            let diagnostic = Diagnostic::new(&codes::LINK, format!("a link with {fault}"));
            found.push(diagnostic.at(path.as_str()).help("make it relative, and keep it inside"));
        } else if all.resolve(path).is_none() {
            let diagnostic = Diagnostic::new(
                &codes::LINK_NOWHERE,
                format!("a link to {target}, which leads nowhere"),
            );
            found.push(diagnostic.at(path.as_str()));
        }
    }
    all.found.extend(found);
}

fn check_names(options: &PackOptions, all: &mut Collected) {
    let severity = if options.posix { Severity::Warning } else { Severity::Error };
    let mut found = Vec::new();
    for path in all.entries.keys() {
        // Components above the last were judged where they stand themselves.
        let fault = path.file_name().and_then(portable::portability);
        if let Some(fault) = fault {
            found.push(
                Diagnostic::new(&codes::RESERVED, fault.to_string())
                    .severity(severity)
                    .at(path.as_str())
                    .help("rename it, or say --posix"),
            );
        }
    }
    for (first, second) in portable::collisions(all.entries.keys().map(TreePath::as_str)) {
        let what = format!(
            "`{first}` and `{second}` are one name where letter case or accents do not count"
        );
        found.push(
            Diagnostic::new(&codes::COLLISION, what)
                .severity(severity)
                .at(second)
                .help("rename one, or say --posix"),
        );
    }
    all.found.extend(found);
}
