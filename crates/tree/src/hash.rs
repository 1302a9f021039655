//! The tree hash `holdall-tree/v1`: one digest for a whole tree.
//!
//! SHA-256 over `holdall-tree/v1\0` and one row an entry, sorted by path bytes: a kind byte (`f`
//! file, `x` executable file, `l` link, `d` empty directory), the path's length as u32le, the
//! path, the content's length as u64le, and the SHA-256 of the content. A link's content is its
//! target, an empty directory has none; directories with entries and the root have no row.

use rayon::prelude::*;
use sha2::{Digest as _, Sha256};

use crate::walk::{Limits, WalkEntry, walk};
use crate::{Algorithm, Digest, FileKind, Tree, TreeError, TreeErrorKind, TreeFile, TreePath};

/// What the bytes under the hash begin with.
const MAGIC: &[u8] = b"holdall-tree/v1\0";

/// Bytes read at a time.
const CHUNK: u64 = 256 * 1024;

/// What a tree hash leaves out, and where it gives up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HashOptions {
    /// Leaves out the entry `.git` of the root, whatever it is: a checkout hashes as what was
    /// checked out.
    pub without_git: bool,
    /// Limits of the walk.
    pub limits: Limits,
}

/// The `holdall-tree/v1` of a tree. Files are hashed in parallel. A device, fifo or socket, a name
/// or link target that is not UTF-8, and a file that changes while it is read are errors.
pub fn tree_hash(tree: &dyn Tree, options: HashOptions) -> Result<Digest, TreeError> {
    let rows = rows(tree, options)?;
    let hashed: Vec<_> = rows.par_iter().map(|row| content(tree, row)).collect::<Result<_, _>>()?;
    let mut all = TreeHasher::default();
    for (row, (kind, len, digest)) in rows.iter().zip(hashed) {
        all.row(&row.path, kind, len, &digest)?;
    }
    Ok(all.finish())
}

/// What a row of the hash is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowKind {
    /// A file without an execute bit.
    File,
    /// A file with one.
    Executable,
    /// A link; its content is its target.
    Link,
    /// A directory without entries; its content is empty.
    EmptyDirectory,
}

/// `holdall-tree/v1` row by row, for trees that know their entries in order and hash the contents
/// themselves; for all others there is [`tree_hash`].
#[derive(Debug)]
pub struct TreeHasher(Sha256);

impl Default for TreeHasher {
    fn default() -> Self {
        Self(Sha256::new_with_prefix(MAGIC))
    }
}

impl TreeHasher {
    /// Adds a row. Rows come sorted by path bytes, each path once; `digest` is the SHA-256 of the
    /// content of `len` bytes. [`TreeErrorKind::TooLarge`] for a path of 4 GiB.
    pub fn row(
        &mut self,
        path: &TreePath,
        kind: RowKind,
        len: u64,
        digest: &[u8; 32],
    ) -> Result<(), TreeError> {
        let bytes = path.as_str().as_bytes();
        let too_long = |_| TreeError::new(TreeErrorKind::TooLarge, path, "path too long");
        let path_len = u32::try_from(bytes.len()).map_err(too_long)?;
        let kind = match kind {
            RowKind::File => b'f',
            RowKind::Executable => b'x',
            RowKind::Link => b'l',
            RowKind::EmptyDirectory => b'd',
        };
        self.0.update([kind]);
        self.0.update(path_len.to_le_bytes());
        self.0.update(bytes);
        self.0.update(len.to_le_bytes());
        self.0.update(digest);
        Ok(())
    }

    /// The hash of all rows.
    pub fn finish(self) -> Digest {
        Digest::new(Algorithm::HoldallTreeV1, self.0.finalize().into())
    }
}

/// The entries that get a row, sorted by path bytes.
fn rows(tree: &dyn Tree, options: HashOptions) -> Result<Vec<WalkEntry>, TreeError> {
    let mut all = Vec::new();
    let mut entries = walk(tree, &TreePath::root(), options.limits);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        if options.without_git && entry.path.as_str() == ".git" {
            entries.skip_children();
            continue;
        }
        if entry.kind == FileKind::Other {
            let what = "a device, fifo or socket has no hash";
            return Err(TreeError::new(TreeErrorKind::WrongKind, &entry.path, what));
        }
        all.push(entry);
    }
    let has_entries = |dir: &WalkEntry| {
        let below = format!("{}/", dir.path);
        let next = all.partition_point(|entry| entry.path.as_str() < below.as_str());
        all.get(next).is_some_and(|entry| entry.path.as_str().starts_with(&below))
    };
    let full: Vec<_> =
        all.iter().map(|e| e.kind == FileKind::Directory && has_entries(e)).collect();
    let rows = all.into_iter().zip(full).filter(|(_, full)| !full).map(|(entry, _)| entry);
    Ok(rows.collect())
}

/// Kind, length and hash of a row's content.
fn content(tree: &dyn Tree, row: &WalkEntry) -> Result<(RowKind, u64, [u8; 32]), TreeError> {
    match row.kind {
        FileKind::Symlink => {
            let target = tree.read_link(&row.path)?;
            Ok((RowKind::Link, target.len() as u64, Sha256::digest(target.as_bytes()).into()))
        }
        FileKind::Directory => Ok((RowKind::EmptyDirectory, 0, Sha256::digest(b"").into())),
        FileKind::File | FileKind::Other => {
            let file = tree.open(&row.path)?;
            let mode = match file.mode() {
                Some(mode) => mode,
                None => tree.metadata(&row.path)?.mode,
            };
            let kind = if mode & 0o111 == 0 { RowKind::File } else { RowKind::Executable };
            let digest = sha256_file(&row.path, file.as_ref())?;
            Ok((kind, file.len(), digest))
        }
    }
}

/// The SHA-256 of an open file, read in pieces; a file that changed meanwhile is
/// [`TreeErrorKind::Changed`].
pub fn sha256_file(path: &TreePath, file: &dyn TreeFile) -> Result<[u8; 32], TreeError> {
    let changed = || TreeError::new(TreeErrorKind::Changed, path, "changed while it was read");
    let mut hash = Sha256::new();
    let mut buf = vec![0; file.len().min(CHUNK) as usize];
    let mut at = 0;
    while at < file.len() {
        match file.read_at(&mut buf, at)? {
            0 => return Err(changed()),
            n => {
                hash.update(&buf[..n]);
                at += n as u64;
            }
        }
    }
    if file.changed()? {
        return Err(changed());
    }
    Ok(hash.finalize().into())
}
