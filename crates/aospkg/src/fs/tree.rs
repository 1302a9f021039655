//! A package as a `Tree`, so that what is inside is read like a directory.

use std::sync::Arc;

use holdall_tree::{
    DirEntry, EntryName, FileKind, Metadata, Tree, TreeError, TreeErrorKind, TreeFile, TreePath,
};

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
