//! A directory of a tree as a tree of its own.

use crate::{
    DirEntry, FileKind, Metadata, Owner, Tree, TreeError, TreeErrorKind, TreeFile, TreePath,
};

/// The tree below one directory of another tree; nothing above it can be reached, by links
/// neither.
#[derive(Debug, Clone)]
pub struct SubTree<T> {
    tree: T,
    root: TreePath,
}

impl<T: Tree> SubTree<T> {
    /// Takes the directory `root` of `tree`; anything else there is
    /// [`TreeErrorKind::NotADirectory`].
    pub fn new(tree: T, root: TreePath) -> Result<Self, TreeError> {
        if tree.metadata(&root)?.kind != FileKind::Directory {
            return Err(TreeError::new(TreeErrorKind::NotADirectory, &root, "not a directory"));
        }
        Ok(Self { tree, root })
    }

    /// The directory in the tree it was made of.
    pub const fn root(&self) -> &TreePath {
        &self.root
    }

    fn inside<R>(&self, done: Result<R, TreeError>) -> Result<R, TreeError> {
        done.map_err(|mut error| {
            // The words keep the whole path, which is what the reader looks for.
            error.path = error.path.strip_prefix(&self.root).unwrap_or_default();
            error
        })
    }
}

impl<T: Tree> Tree for SubTree<T> {
    fn metadata(&self, path: &TreePath) -> Result<Metadata, TreeError> {
        self.inside(self.tree.metadata(&self.root.join(path)))
    }

    fn owner(&self, path: &TreePath) -> Result<Option<Owner>, TreeError> {
        self.inside(self.tree.owner(&self.root.join(path)))
    }

    fn open(&self, path: &TreePath) -> Result<Box<dyn TreeFile>, TreeError> {
        self.inside(self.tree.open(&self.root.join(path)))
    }

    fn read_dir(&self, path: &TreePath) -> Result<Vec<DirEntry>, TreeError> {
        self.inside(self.tree.read_dir(&self.root.join(path)))
    }

    fn read_link(&self, path: &TreePath) -> Result<String, TreeError> {
        self.inside(self.tree.read_link(&self.root.join(path)))
    }

    fn read(&self, path: &TreePath, limit: u64) -> Result<Vec<u8>, TreeError> {
        self.inside(self.tree.read(&self.root.join(path), limit))
    }

    fn read_range(&self, path: &TreePath, offset: u64, len: u64) -> Result<Vec<u8>, TreeError> {
        self.inside(self.tree.read_range(&self.root.join(path), offset, len))
    }
}
