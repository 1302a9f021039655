//! The digests of the format (section 4).

use std::cmp::Ordering;

use holdall_tree::{EntryName, FileKind, Tree, TreeError, TreeErrorKind, TreePath};
use sha2::Digest;

use crate::containers::Sorted;
use crate::fields::{Json, Sha256};
use crate::model::SourceInput;
use crate::path::{check_owned, relocatable_path};
use crate::{
    ARTIFACT_MANIFEST_NAME, ArtifactManifest, INSTALL_RECEIPT_NAME, collate, collate_segments,
};

/// Operator files beside the artifact manifest: never rows, but copied and hashed by installers.
pub const ENV_FILES: [&str; 2] = [".env", ".env.local"];

/// `routes.digest` of a project without routes (4.5). The digest of a graph that has some covers
/// configuration that the artifact does not hold, so that no reader can compute it again.
pub const EMPTY_GRAPH: &str = "d3f44eea2211698634fb9e2fc28997db775625774579eb44460cca873ce5c683";

/// `compiler.project.revision`: the digest of the project's inputs (4.2), that is of the
/// canonical form of `{"inputs": sourceInputs}` without a newline.
pub fn revision(inputs: &Sorted<SourceInput>) -> Sha256 {
    let mut text = br#"{"inputs":"#.to_vec();
    inputs.write(&mut text);
    text.push(b'}');
    Sha256::of(&text)
}

/// The running content hash of receipts, installs and `doctor` (4.6): for every file its path,
/// NUL, `x` or `-`, NUL, its bytes, NUL.
#[derive(Debug, Clone, Default)]
pub struct ContentHasher(sha2::Sha256);

impl ContentHasher {
    /// The hash of nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file of `tree` under its own path.
    pub fn add(
        &mut self,
        tree: &dyn Tree,
        path: &TreePath,
        executable: bool,
    ) -> Result<(), TreeError> {
        let file = tree.open(path)?;
        self.0.update(path.as_str().as_bytes());
        self.0.update(if executable { b"\0x\0" } else { b"\0-\0" });
        hash_file(file.as_ref(), path, &mut self.0, &mut vec![0; READ_SIZE])?;
        self.0.update(b"\0");
        Ok(())
    }

    /// The hash.
    pub fn finish(self) -> Sha256 {
        Sha256::new(self.0.finalize().into())
    }
}

/// Bytes read at once.
pub(crate) const READ_SIZE: usize = 256 * 1024;

/// Feeds a whole file to a hash through `buffer`, and fails if it changed meanwhile. The answer
/// is the number of bytes.
pub(crate) fn hash_file(
    file: &dyn holdall_tree::TreeFile,
    path: &TreePath,
    hash: &mut sha2::Sha256,
    buffer: &mut [u8],
) -> Result<u64, TreeError> {
    let mut at = 0;
    while at < file.len() {
        let read = file.read_at(buffer, at)?;
        if read == 0 {
            return Err(TreeError::new(TreeErrorKind::Changed, path, "shrank while it was hashed"));
        }
        hash.update(&buffer[..read]);
        at += read as u64;
    }
    if file.changed()? {
        return Err(TreeError::new(TreeErrorKind::Changed, path, "changed while it was hashed"));
    }
    Ok(at)
}

/// The content hash of a built root: the artifact manifest, every row, and the operator files
/// that are there, in segment-wise collation order. A row's flag is that of its `mode`; the
/// others' is the one on disk. Rows are not compared with their digests: that is
/// [`crate::rows::check`].
pub fn content_hash(root: &dyn Tree, manifest: &ArtifactManifest) -> Result<Sha256, TreeError> {
    let mut entries: Vec<(TreePath, bool)> =
        manifest.files().iter().map(|row| (row.path().clone(), row.executable())).collect();
    for name in [ARTIFACT_MANIFEST_NAME].into_iter().chain(ENV_FILES) {
        let Ok(path) = TreePath::new(name) else { continue };
        match root.metadata(&path) {
            Ok(metadata) => entries.push((path, metadata.executable())),
            Err(error) if error.kind == TreeErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    entries.sort_by(|(a, _), (b, _)| collate_segments(a.as_str(), b.as_str()));
    let mut hasher = ContentHasher::new();
    for (path, executable) in &entries {
        hasher.add(root, path, *executable)?;
    }
    Ok(hasher.finish())
}

/// The content hash of an installed tree that is walked (4.6): every regular file with its own
/// execute bit, without the receipt and `state` at the top. Links, devices and names that no
/// receipt could hold are errors; empty directories count for nothing.
pub fn content_hash_of_tree(root: &dyn Tree) -> Result<Sha256, TreeError> {
    let mut hasher = ContentHasher::new();
    // Entries to be visited, the next one last, so that no depth of directories is recursion.
    let mut todo = vec![TreePath::root()];
    while let Some(path) = todo.pop() {
        let metadata = root.metadata(&path)?;
        match metadata.kind {
            FileKind::File => hasher.add(root, &path, metadata.executable())?,
            FileKind::Directory => {
                let mut children = Vec::new();
                for entry in root.read_dir(&path)? {
                    let EntryName::Utf8(name) = entry.name else {
                        let what = "holds a name that is not UTF-8";
                        return Err(TreeError::new(TreeErrorKind::WrongKind, &path, what));
                    };
                    if path.is_root()
                        && (name == INSTALL_RECEIPT_NAME || name.to_lowercase() == "state")
                    {
                        continue;
                    }
                    children.push(name);
                }
                children.sort_by(|a, b| match collate(a, b) {
                    Ordering::Equal => a.cmp(b),
                    other => other,
                });
                for name in children.iter().rev() {
                    let child =
                        if path.is_root() { name.clone() } else { format!("{path}/{name}") };
                    let child = relocatable_path(&child)
                        .and_then(|child| check_owned(&child).map(|()| child))
                        .map_err(|fault| {
                            let what = format!("holds `{name}`: the path {fault}");
                            TreeError::new(TreeErrorKind::WrongKind, &path, what)
                        })?;
                    todo.push(child);
                }
            }
            FileKind::Symlink | FileKind::Other => {
                let what = "a link or special file has no content hash";
                return Err(TreeError::new(TreeErrorKind::WrongKind, &path, what));
            }
        }
    }
    Ok(hasher.finish())
}
