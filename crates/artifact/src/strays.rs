//! What lies in a root without being part of its artifact (AB6004, AB6013 and AB6014 of
//! `validate`, differences for `verify`).
//!
//! [`rows::check`](crate::rows::check) asks the tree for every row; this asks the rows for
//! everything in the tree. Some entries at the top are nobody's rows and belong there all the
//! same: the operator's `.env` files, the runtime's `state/`, an installer's receipt.

use std::collections::BTreeSet;

use holdall_tree::{EntryName, FileKind, Tree, TreePath};

use crate::digest::ENV_FILES;
use crate::npm::NpmPackage;
use crate::{ARTIFACT_MANIFEST_NAME, ArtifactManifest, INSTALL_RECEIPT_NAME};

/// How a stray is no part of the artifact.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StrayKind {
    /// A regular file without a row.
    #[error("has no row in the artifact manifest")]
    Unlisted,
    /// A directory with something in it and no row below it; given for [`Detail::Directories`]
    /// only, instead of all that lies there.
    #[error("is a directory of which the artifact manifest lists nothing")]
    Directory,
    /// A directory with nothing in it.
    #[error("is an empty directory")]
    EmptyDirectory,
    /// A link, wherever it leads, or something that holds no bytes.
    #[error("is {0}; an artifact holds regular files only")]
    Special(&'static str),
    /// The directory holds a name that is not UTF-8, shown here with replacements.
    #[error("holds a file whose name is not UTF-8: `{0}`")]
    Name(String),
    /// The directory cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(String),
}

/// Something in a root that is no part of its artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stray {
    /// Where it lies.
    pub path: TreePath,
    /// What it is.
    pub kind: StrayKind,
}

/// How much is said of a directory without rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Everything that lies below it.
    Everything,
    /// The directory alone.
    Directories,
}

/// Everything in `root` that is no part of the artifact, directories before what lies below them.
/// `npm` is the npm package that the root was unpacked with: npm itself puts some files at its top.
///
/// Nothing is followed through a link, and nothing recurses.
pub fn strays(
    root: &dyn Tree,
    manifest: &ArtifactManifest,
    npm: Option<&NpmPackage>,
    detail: Detail,
) -> Vec<Stray> {
    let mut found = Vec::new();
    let above = above_rows(manifest);
    let mut todo = vec![TreePath::root()];
    while let Some(directory) = todo.pop() {
        let mut report = |path: &TreePath, kind| found.push(Stray { path: path.clone(), kind });
        let entries = match root.read_dir(&directory) {
            Ok(entries) => entries,
            Err(error) => {
                report(&directory, StrayKind::Unreadable(error.detail));
                continue;
            }
        };
        if !directory.is_root() {
            if entries.is_empty() {
                report(&directory, StrayKind::EmptyDirectory);
            } else if detail == Detail::Directories && !above.contains(&directory) {
                report(&directory, StrayKind::Directory);
                continue;
            }
        }
        let mut below = Vec::new();
        for entry in entries {
            let name = match entry.name {
                EntryName::Utf8(name) => name,
                EntryName::Bytes(bytes) => {
                    let name = String::from_utf8_lossy(&bytes).into_owned();
                    report(&directory, StrayKind::Name(name));
                    continue;
                }
            };
            let Ok(path) = directory.child(&name) else { continue };
            let at_top = directory.is_root();
            match entry.kind {
                _ if at_top && is_not_owned(&name, entry.kind) => {}
                FileKind::File if at_top && name == ARTIFACT_MANIFEST_NAME => {}
                kind if at_top && npm.is_some_and(|npm| npm.puts(&name, kind)) => {}
                FileKind::File if manifest.file(&path).is_some() => {}
                FileKind::File => report(&path, StrayKind::Unlisted),
                FileKind::Directory => below.push(path),
                FileKind::Symlink => report(&path, StrayKind::Special("a symbolic link")),
                FileKind::Other => report(&path, StrayKind::Special("a device, fifo or socket")),
            }
        }
        todo.extend(below.into_iter().rev());
    }
    found
}

/// The directories that rows lie below.
fn above_rows(manifest: &ArtifactManifest) -> BTreeSet<TreePath> {
    let mut directories = BTreeSet::new();
    for row in manifest.files() {
        let mut above = row.path().parent();
        while let Some(directory) = above.filter(|directory| !directory.is_root()) {
            above = directory.parent();
            if !directories.insert(directory) {
                break;
            }
        }
    }
    directories
}

/// Entries at the top that belong to an operator, the runtime or an installer: as what they are
/// written, so that a link of such a name is one like any other.
fn is_not_owned(name: &str, kind: FileKind) -> bool {
    match kind {
        FileKind::File => {
            ENV_FILES.contains(&name) || name.eq_ignore_ascii_case(INSTALL_RECEIPT_NAME)
        }
        FileKind::Directory => name.eq_ignore_ascii_case("state"),
        FileKind::Symlink | FileKind::Other => false,
    }
}
