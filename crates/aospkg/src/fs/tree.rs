//! A package as a `Tree`, so that what is inside is read like a directory.

use std::sync::Arc;

use holdall_tree::{
    Digest, DirEntry, EntryName, FileKind, Metadata, RowKind, Tree, TreeError, TreeErrorKind,
    TreeFile, TreeHasher, TreePath,
};
use rayon::prelude::*;
use sha2::{Digest as _, Sha256};

use super::TarFileSystem;
use crate::error::{Errno, PackageError};
use crate::format::EntryKind;
use crate::package::Package;

impl From<EntryKind> for FileKind {
    fn from(kind: EntryKind) -> Self {
        match kind {
            EntryKind::File => Self::File,
            EntryKind::Directory => Self::Directory,
            EntryKind::Symlink => Self::Symlink,
        }
    }
}

impl TarFileSystem {
    /// The entry of a tree path, no link followed on the way either.
    fn node(&self, path: &TreePath) -> Result<usize, TreeError> {
        let whole = match (path.is_root(), &*self.root_path) {
            (true, _) => return Ok(self.root),
            (_, "/") => format!("/{path}"),
            (_, root) => format!("{root}/{path}"),
        };
        let index = self.package.index();
        if let Some(found) = index.find(&whole) {
            return Ok(found);
        }
        // Absent, or a name on the way is no directory: the longest prefix that exists tells.
        let mut above = path.parent();
        while let Some(dir) = above.filter(|dir| !dir.is_root()) {
            let cut = whole.len() - (path.as_str().len() - dir.as_str().len());
            if let Some(found) = index.find(&whole[..cut]) {
                if index.entry(found).kind == EntryKind::Directory {
                    break;
                }
                let what = format!("{dir} is not a directory");
                return Err(TreeError::new(TreeErrorKind::NotADirectory, path, what));
            }
            above = dir.parent();
        }
        Err(TreeError::new(TreeErrorKind::NotFound, path, "no such file in the package"))
    }
}

/// Bytes hashed at a time.
const CHUNK: usize = 256 * 1024;

impl TarFileSystem {
    /// The `holdall-tree/v1` of what is served, the same as [`holdall_tree::tree_hash`] of this
    /// tree: the index is in its order already, so nothing has to be looked up.
    pub(crate) fn tree_hash(&self) -> Result<Digest, TreeError> {
        let index = self.package.index();
        let unreachable: Vec<usize> = index.unreachable().collect();
        let rows: Vec<usize> = (self.root..index.len())
            .filter(|at| *at != self.root && unreachable.binary_search(at).is_err())
            .filter(|at| self.below_root(index.entry(*at).path).is_some())
            .collect();
        let hashed: Vec<_> = rows
            .par_iter()
            .map_init(Vec::new, |buffer, at| self.row(*at, buffer))
            .collect::<Result<_, _>>()?;
        let mut all = TreeHasher::default();
        for (path, kind, len, digest) in hashed.into_iter().flatten() {
            all.row(&path, kind, len, &digest)?;
        }
        if self.package.check_unchanged().is_err() {
            let what = "the package changed while it was read";
            return Err(TreeError::new(TreeErrorKind::Changed, &TreePath::root(), what));
        }
        Ok(all.finish())
    }

    /// One row of the hash; none for a directory with entries.
    fn row(
        &self,
        at: usize,
        buffer: &mut Vec<u8>,
    ) -> Result<Option<(TreePath, RowKind, u64, [u8; 32])>, TreeError> {
        let entry = self.entry(at);
        let text = self.below_root(entry.path).unwrap_or_default();
        let path = TreePath::new(text)
            .map_err(|error| TreeError::new(TreeErrorKind::NotUtf8, &TreePath::root(), error))?;
        let mut hash = Sha256::new();
        let (kind, len) = match entry.kind {
            EntryKind::Directory if self.package.index().children(at, 0).next().is_some() => {
                return Ok(None);
            }
            EntryKind::Directory => (RowKind::EmptyDirectory, 0),
            EntryKind::Symlink => {
                let target = entry.link_target.unwrap_or_default();
                hash.update(target);
                (RowKind::Link, target.len() as u64)
            }
            EntryKind::File => {
                let start = self.package.header().mount_range().start + entry.offset;
                let want = usize::try_from(entry.size).unwrap_or(CHUNK).min(CHUNK);
                if buffer.len() < want {
                    buffer.resize(want, 0);
                }
                let mut done = 0;
                while done < entry.size {
                    let range = start..start + entry.size;
                    match self.package.read_in(range, buffer, done) {
                        Ok(read) => {
                            hash.update(&buffer[..read]);
                            done += read as u64;
                        }
                        Err(error) => return Err(tree_error(&path, &error)),
                    }
                }
                let executable = entry.mode & 0o111 != 0;
                (if executable { RowKind::Executable } else { RowKind::File }, entry.size)
            }
        };
        Ok(Some((path, kind, len, hash.finalize().into())))
    }

    /// A path of the package, from the served root.
    fn below_root<'a>(&self, path: &'a str) -> Option<&'a str> {
        let root = if &*self.root_path == "/" { "" } else { &*self.root_path };
        path.strip_prefix(root)?.strip_prefix('/')
    }
}

fn tree_error(path: &TreePath, error: &PackageError) -> TreeError {
    let kind = match error.errno() {
        Errno::ESTALE => TreeErrorKind::Changed,
        Errno::EACCES => TreeErrorKind::PermissionDenied,
        _ => TreeErrorKind::Io,
    };
    TreeError::new(kind, path, error)
}

impl Tree for TarFileSystem {
    fn metadata(&self, path: &TreePath) -> Result<Metadata, TreeError> {
        let entry = self.entry(self.node(path)?);
        let size = match entry.kind {
            EntryKind::File => entry.size,
            EntryKind::Directory => 0,
            EntryKind::Symlink => entry.link_target.unwrap_or_default().len() as u64,
        };
        let mode = entry.mode & 0o7777;
        Ok(Metadata { kind: entry.kind.into(), size, mode, mtime: entry.mtime })
    }

    fn open(&self, path: &TreePath) -> Result<Box<dyn TreeFile>, TreeError> {
        let range = self.range_of(self.node(path)?).map_err(|errno| match errno {
            Errno::EISDIR => {
                TreeError::new(TreeErrorKind::IsADirectory, path, "a directory, not a file")
            }
            _ => TreeError::new(TreeErrorKind::WrongKind, path, "a link, not a file"),
        })?;
        let (start, len) = (range.offset, range.len);
        Ok(Box::new(EntryFile {
            package: Arc::clone(&self.package),
            path: path.clone(),
            start,
            len,
        }))
    }

    fn read_dir(&self, path: &TreePath) -> Result<Vec<DirEntry>, TreeError> {
        let position = self.node(path)?;
        if self.entry(position).kind != EntryKind::Directory {
            return Err(TreeError::new(TreeErrorKind::NotADirectory, path, "not a directory"));
        }
        let children = self.package.index().children(position, 0);
        Ok(children
            .map(|child| DirEntry {
                // A name with NUL can be no tree path.
                name: if child.name.contains('\0') {
                    EntryName::Bytes(child.name.as_bytes().to_vec())
                } else {
                    EntryName::Utf8(child.name.to_owned())
                },
                kind: child.kind.into(),
            })
            .collect())
    }

    fn read_link(&self, path: &TreePath) -> Result<String, TreeError> {
        let entry = self.entry(self.node(path)?);
        match entry.link_target.filter(|_| entry.kind == EntryKind::Symlink) {
            Some(target) => Ok(target.to_owned()),
            None => Err(TreeError::new(TreeErrorKind::WrongKind, path, "not a link")),
        }
    }
}

/// A file of the package, opened as a tree's file.
#[derive(Debug)]
struct EntryFile {
    package: Arc<Package>,
    path: TreePath,
    start: u64,
    len: u64,
}

impl TreeFile for EntryFile {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<usize, TreeError> {
        self.package
            .read_in(self.start..self.start + self.len, buf, offset)
            .map_err(|error| tree_error(&self.path, &error))
    }

    fn changed(&self) -> Result<bool, TreeError> {
        match self.package.check_unchanged() {
            Ok(()) => Ok(false),
            Err(error) if error.errno() == Errno::ESTALE => Ok(true),
            Err(error) => Err(tree_error(&self.path, &error)),
        }
    }
}
