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
    let mut hash = Sha256::new();
    hash.update(MAGIC);
    for (row, (kind, len, digest)) in rows.iter().zip(hashed) {
        let path = row.path.as_str().as_bytes();
        let too_long = |_| TreeError::new(TreeErrorKind::TooLarge, &row.path, "path too long");
        hash.update([kind]);
        hash.update(u32::try_from(path.len()).map_err(too_long)?.to_le_bytes());
        hash.update(path);
        hash.update(len.to_le_bytes());
        hash.update(digest);
    }
    Ok(Digest::new(Algorithm::HoldallTreeV1, hash.finalize().into()))
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

/// Kind byte, length and hash of a row's content.
fn content(tree: &dyn Tree, row: &WalkEntry) -> Result<(u8, u64, [u8; 32]), TreeError> {
    match row.kind {
        FileKind::Symlink => {
            let target = tree.read_link(&row.path)?;
            Ok((b'l', target.len() as u64, Sha256::digest(target.as_bytes()).into()))
        }
        FileKind::Directory => Ok((b'd', 0, Sha256::digest(b"").into())),
        FileKind::File | FileKind::Other => {
            let file = tree.open(&row.path)?;
            let mode = match file.mode() {
                Some(mode) => mode,
                None => tree.metadata(&row.path)?.mode,
            };
            let kind = if mode & 0o111 == 0 { b'f' } else { b'x' };
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
