//! Comparing the rows of an artifact manifest with the files of a tree (5.1 of the format).

use std::collections::BTreeSet;

use holdall_tree::{FileKind, Tree, TreeErrorKind, TreePath};
use rayon::prelude::*;
use sha2::Digest;

use crate::ArtifactManifest;
use crate::digest::{READ_SIZE, hash_file};
use crate::fields::Sha256;
use crate::model::FileRow;

/// How file modes are compared.
#[derive(Debug, Clone, Copy)]
pub enum Modes<'a> {
    /// A recorded mode is met exactly; without one no execute bit is set.
    Exact,
    /// As npm leaves them: the files that the package declares as its programs are executable,
    /// any other may have lost that bit but not won it, and other bits do not count.
    Npm {
        /// Targets of the package's `bin`.
        bins: &'a BTreeSet<TreePath>,
    },
}

/// How a file differs from its row.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RowFault {
    /// It is not there.
    #[error("is missing")]
    Missing,
    /// It is no regular file.
    #[error("is {0}, not a regular file")]
    NotAFile(&'static str),
    /// A directory above it is no directory.
    #[error("lies below something that is no directory")]
    Ancestor,
    /// Another size.
    #[error("has {found} bytes, not {expected}")]
    Size {
        /// Bytes by the row.
        expected: u64,
        /// Bytes on disk.
        found: u64,
    },
    /// Another content.
    #[error("has the SHA-256 digest {found}, not {expected}")]
    Content {
        /// Digest by the row.
        expected: Sha256,
        /// Digest of the bytes on disk.
        found: Sha256,
    },
    /// Another mode.
    #[error("has the mode {found:#o}, but {expected}")]
    Mode {
        /// What the row wants, in words.
        expected: String,
        /// The permission bits on disk.
        found: u32,
    },
    /// It changed while it was read.
    #[error("changed while it was read")]
    Changed,
    /// It cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(String),
}

/// A row that its file does not match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The row's place in `files`.
    pub index: usize,
    /// The row's path.
    pub path: TreePath,
    /// How they differ.
    pub fault: RowFault,
}

/// Compares every row with its file: kind, size, mode, content. Files are hashed in parallel;
/// the answer is in the order of the rows, and a row may be in it twice (mode and content).
pub fn check(root: &dyn Tree, manifest: &ArtifactManifest, modes: Modes<'_>) -> Vec<Mismatch> {
    let rows: &[FileRow] = manifest.files();
    rows.par_iter()
        .enumerate()
        .map_init(
            || vec![0; READ_SIZE],
            |buffer, (index, row)| {
                let faults = check_row(root, row, modes, buffer);
                let path = row.path();
                faults.into_iter().map(move |fault| Mismatch { index, path: path.clone(), fault })
            },
        )
        .flatten_iter()
        .collect()
}

fn check_row(root: &dyn Tree, row: &FileRow, modes: Modes<'_>, buffer: &mut [u8]) -> Vec<RowFault> {
    let path = row.path();
    let metadata = match root.metadata(path) {
        Ok(metadata) => metadata,
        Err(error) => return vec![tree_fault(&error)],
    };
    let kind = match metadata.kind {
        FileKind::File => None,
        FileKind::Directory => Some("a directory"),
        FileKind::Symlink => Some("a symbolic link"),
        FileKind::Other => Some("a device, fifo or socket"),
    };
    if let Some(kind) = kind {
        return vec![RowFault::NotAFile(kind)];
    }
    let mut faults = Vec::new();
    faults.extend(check_mode(row, metadata.mode & 0o777, modes));
    if metadata.size != row.bytes() {
        faults.push(RowFault::Size { expected: row.bytes(), found: metadata.size });
        return faults;
    }
    let mut hash = sha2::Sha256::new();
    match root.open(path).and_then(|file| hash_file(file.as_ref(), path, &mut hash, buffer)) {
        Err(error) => faults.push(tree_fault(&error)),
        Ok(found) if found != row.bytes() => faults.push(RowFault::Changed),
        Ok(_) => {
            let found = Sha256::new(hash.finalize().into());
            if found != row.sha256() {
                faults.push(RowFault::Content { expected: row.sha256(), found });
            }
        }
    }
    faults
}

fn tree_fault(error: &holdall_tree::TreeError) -> RowFault {
    match error.kind {
        TreeErrorKind::NotFound => RowFault::Missing,
        TreeErrorKind::NotADirectory | TreeErrorKind::Escapes | TreeErrorKind::TooManyLinks => {
            RowFault::Ancestor
        }
        TreeErrorKind::Changed => RowFault::Changed,
        _ => RowFault::Unreadable(error.detail.clone()),
    }
}

fn check_mode(row: &FileRow, found: u32, modes: Modes<'_>) -> Option<RowFault> {
    let executable = found & 0o111 != 0;
    let expected = match (modes, row.mode()) {
        (Modes::Exact, Some(mode)) if u64::from(found) != mode => {
            format!("the row records {mode:#o}")
        }
        (Modes::Exact, None) if executable => "its row records no mode".to_owned(),
        (Modes::Npm { bins }, _) if bins.contains(row.path()) => {
            if executable {
                return None;
            }
            "it is a program of its package".to_owned()
        }
        (Modes::Npm { .. }, _) if executable && !row.executable() => {
            "its row is not executable".to_owned()
        }
        _ => return None,
    };
    Some(RowFault::Mode { expected, found })
}
