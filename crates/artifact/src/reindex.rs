//! Re-indexing a derived variant of a root (5.13 of the format, and the seed's `files[]`).
//!
//! A tool may derive a variant of a built root: rewrite a host MCP document, add a marker of its
//! own. The artifact manifest stays the inventory that installers copy and hash, so it is
//! measured again. Compiled files and the record of compile evidence are out of reach: only a
//! rebuild makes others.

use holdall_tree::{Tree, TreeErrorKind, TreePath};

use crate::fields::Sha256;
use crate::json::{Document, Object, Value};
use crate::model::{FileKind, FileRow};
use crate::path::owned_path;
use crate::{
    ArtifactManifest, COMPILE_EVIDENCE_NAME, Fault, PathFault, collate, parse_artifact_manifest,
};

/// One change of a variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The file is there with other bytes or another mode, or is new: its row is measured.
    Measure(TreePath),
    /// The file is gone: its row is removed.
    Remove(TreePath),
}

impl Change {
    fn path(&self) -> &TreePath {
        match self {
            Self::Measure(path) | Self::Remove(path) => path,
        }
    }
}

/// Why a variant cannot be indexed.
#[derive(Debug, thiserror::Error)]
pub enum ReindexError {
    /// A compiled file.
    #[error("{0} is a compiled file; only a rebuild makes another")]
    Compiled(TreePath),
    /// The record of compile evidence.
    #[error("{COMPILE_EVIDENCE_NAME} describes compiled bytes; only a rebuild makes another")]
    Evidence,
    /// A path that an artifact cannot own.
    #[error("{path} cannot be a row: the path {fault}")]
    Path {
        /// The path.
        path: TreePath,
        /// Why not.
        fault: PathFault,
    },
    /// A row that is not there.
    #[error("{0} has no row to remove")]
    NoRow(TreePath),
    /// The file cannot be measured.
    #[error("cannot be measured: {0}")]
    Tree(#[from] holdall_tree::TreeError),
    /// The variant would break a rule, as a pointer to a row that was removed.
    #[error("the variant would not be valid: {0}")]
    Invalid(#[from] Fault),
}

/// The artifact manifest of a variant of `manifest`, whose files are in `root`. The changes apply
/// in their order; a measured row keeps its kind, a new one is `generated` and derives from
/// nothing. The result obeys every rule.
///
/// # Errors
///
/// Compiled rows and the record of compile evidence are refused, and so is a change after which
/// the document would not be valid.
pub fn reindex(
    manifest: &ArtifactManifest,
    root: &dyn Tree,
    changes: &[Change],
) -> Result<ArtifactManifest, ReindexError> {
    let bytes = manifest.to_canonical_bytes();
    let doc = Document::parse(&bytes).map_err(|error| crate::check::text_fault(&error))?;
    let mut value = Value::from_node(doc.root());
    for change in changes {
        apply(manifest, root, change, &mut value)?;
    }
    Ok(parse_artifact_manifest(&value.to_canonical_bytes())?)
}

fn apply(
    manifest: &ArtifactManifest,
    root: &dyn Tree,
    change: &Change,
    value: &mut Value,
) -> Result<(), ReindexError> {
    let path = change.path();
    if path.as_str() == COMPILE_EVIDENCE_NAME {
        return Err(ReindexError::Evidence);
    }
    if manifest.file(path).is_some_and(|row| row.kind() == FileKind::Bundle) {
        return Err(ReindexError::Compiled(path.clone()));
    }
    let row = match change {
        Change::Remove(_) => None,
        Change::Measure(_) => {
            owned_path(path.as_str())
                .map_err(|fault| ReindexError::Path { path: path.clone(), fault })?;
            Some(measure(manifest, root, path)?)
        }
    };
    let no_row = || ReindexError::NoRow(path.clone());
    let files = rows_at(value, &["files"]).ok_or_else(no_row)?;
    let had = files.iter().any(|row| is_at(row, path));
    if row.is_none() && !had {
        return Err(no_row());
    }
    let removed = row.is_none();
    set(files, path, row);
    let provenance = rows_at(value, &["compiler", "provenance"]).ok_or_else(no_row)?;
    if removed {
        set(provenance, path, None);
    } else if !had {
        let row = Object::new()
            .with("path", path.as_str())
            .with("sourceInputs", Value::Array(Vec::new()));
        set(provenance, path, Some(row));
    }
    Ok(())
}

/// The row of a file as it is now.
fn measure(
    manifest: &ArtifactManifest,
    root: &dyn Tree,
    path: &TreePath,
) -> Result<Object, ReindexError> {
    let metadata = root.metadata(path)?;
    if metadata.kind != holdall_tree::FileKind::File {
        let what = "not a regular file";
        return Err(holdall_tree::TreeError::new(TreeErrorKind::WrongKind, path, what).into());
    }
    let bytes = root.read(path, u64::MAX)?;
    let kind = manifest.file(path).map_or(FileKind::Generated, FileRow::kind);
    #[expect(clippy::cast_precision_loss, reason = "no file has 2^53 bytes in memory")]
    let size = bytes.len() as f64;
    let mut row = Object::new()
        .with("bytes", size)
        .with("kind", kind.as_str())
        .with("path", path.as_str())
        .with("sha256", Sha256::of(&bytes).to_string());
    if metadata.executable() {
        row.insert("mode", metadata.mode & 0o777);
    }
    Ok(row)
}

/// The rows at a place of a document; none where it has no such array.
fn rows_at<'v>(value: &'v mut Value, place: &[&str]) -> Option<&'v mut Vec<Value>> {
    place.iter().try_fold(value, |value, key| value.as_object_mut()?.get_mut(key))?.as_array_mut()
}

fn is_at(row: &Value, path: &TreePath) -> bool {
    row.as_object().and_then(|row| row.get("path")).and_then(Value::as_str) == Some(path.as_str())
}

/// Puts, replaces or removes the row of a path, keeping the order.
fn set(rows: &mut Vec<Value>, path: &TreePath, row: Option<Object>) {
    rows.retain(|row| !is_at(row, path));
    if let Some(row) = row {
        let key = |row: &Value| {
            row.as_object()
                .and_then(|row| row.get("path"))
                .and_then(Value::as_str)
                .unwrap_or("")
                .to_owned()
        };
        let at = rows.partition_point(|other| collate(&key(other), path.as_str()).is_lt());
        rows.insert(at, Value::Object(row));
    }
}
