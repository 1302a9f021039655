//! The files of one copy: which, with which bits and bytes, whatever else lies beside their source.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use holdall_artifact::digest::ContentHasher;
use holdall_artifact::{Sha256, collate_segments};
use holdall_tree::{
    Digest, DirEntry, EntryName, FileKind, MemTree, Metadata, PathError, RowKind, Tree, TreeError,
    TreeErrorKind, TreeFile, TreeHasher, TreePath,
};

/// One file of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    /// Its permission bits.
    pub(super) mode: u32,
    /// Bytes.
    pub(super) size: u64,
    /// What its bytes must hash to.
    pub(super) sha256: [u8; 32],
    /// Where the source has it; none for what is held in memory.
    from: Option<TreePath>,
}

impl Item {
    /// Whether an execute bit is among its bits.
    pub(super) const fn executable(&self) -> bool {
        self.mode & 0o111 != 0
    }
}

/// A tree that shows exactly some files of a source, under paths and with bits of its own.
#[derive(Debug, Clone)]
pub(super) struct Inventory {
    source: Arc<dyn Tree>,
    memory: MemTree,
    items: BTreeMap<TreePath, Item>,
    directories: BTreeSet<TreePath>,
}

impl Inventory {
    /// Nothing yet.
    pub(super) fn of(source: Arc<dyn Tree>) -> Self {
        Self {
            source,
            memory: MemTree::new(),
            items: BTreeMap::new(),
            directories: BTreeSet::from([TreePath::root()]),
        }
    }

    /// Adds a file of the source.
    pub(super) fn add(
        &mut self,
        path: TreePath,
        from: TreePath,
        mode: u32,
        size: u64,
        sha256: [u8; 32],
    ) {
        self.add_item(path, Item { mode, size, sha256, from: Some(from) });
    }

    /// Adds a file held in memory.
    pub(super) fn add_bytes(
        &mut self,
        path: &str,
        bytes: &[u8],
        mode: u32,
    ) -> Result<(), PathError> {
        self.memory.add_file(path, bytes)?;
        let sha256 = *Digest::sha256(bytes).as_bytes();
        let item = Item { mode, size: bytes.len() as u64, sha256, from: None };
        self.add_item(TreePath::new(path)?, item);
        Ok(())
    }

    fn add_item(&mut self, path: TreePath, item: Item) {
        let mut above = path.parent();
        while let Some(directory) = above {
            above = directory.parent();
            self.directories.insert(directory);
        }
        self.items.insert(path, item);
    }

    /// The files in the order of receipts and content hashes.
    pub(super) fn in_order(&self) -> Vec<(&TreePath, &Item)> {
        let mut items: Vec<_> = self.items.iter().collect();
        items.sort_by(|(a, _), (b, _)| collate_segments(a.as_str(), b.as_str()));
        items
    }

    /// The directories below the top, parents first.
    pub(super) fn directories(&self) -> impl Iterator<Item = &TreePath> {
        self.directories.iter().filter(|directory| !directory.is_root())
    }

    /// The file of this path.
    pub(super) fn get(&self, path: &TreePath) -> Option<&Item> {
        self.items.get(path)
    }

    /// The content hash of the format (4.6).
    pub(super) fn content_hash(&self) -> Result<Sha256, TreeError> {
        let mut hasher = ContentHasher::new();
        for (path, item) in self.in_order() {
            hasher.add(self, path, item.executable())?;
        }
        Ok(hasher.finish())
    }

    /// The tree hash that a copy must have: of the recorded digests, so that bytes that changed
    /// after they were recorded are found when they are copied.
    pub(super) fn tree_hash(&self) -> Result<Digest, TreeError> {
        let mut hasher = TreeHasher::default();
        for (path, item) in &self.items {
            let kind = if item.executable() { RowKind::Executable } else { RowKind::File };
            hasher.row(path, kind, item.size, &item.sha256)?;
        }
        Ok(hasher.finish())
    }
}

impl Tree for Inventory {
    fn metadata(&self, path: &TreePath) -> Result<Metadata, TreeError> {
        if let Some(item) = self.items.get(path) {
            let (size, mode) = (item.size, item.mode);
            return Ok(Metadata { kind: FileKind::File, size, mode, mtime: 0 });
        }
        if self.directories.contains(path) {
            return Ok(Metadata { kind: FileKind::Directory, size: 0, mode: 0o755, mtime: 0 });
        }
        Err(TreeError::new(TreeErrorKind::NotFound, path, "is not part of the copy"))
    }

    fn open(&self, path: &TreePath) -> Result<Box<dyn TreeFile>, TreeError> {
        match self.items.get(path) {
            Some(Item { from: Some(from), .. }) => self.source.open(from),
            Some(Item { from: None, .. }) => self.memory.open(path),
            None => {
                let kind = self.metadata(path)?.kind;
                let what = format!("a {kind:?} has no bytes");
                Err(TreeError::new(TreeErrorKind::WrongKind, path, what))
            }
        }
    }

    fn read_dir(&self, path: &TreePath) -> Result<Vec<DirEntry>, TreeError> {
        if self.metadata(path)?.kind != FileKind::Directory {
            return Err(TreeError::new(TreeErrorKind::NotADirectory, path, "is a file"));
        }
        let child = |full: &TreePath, kind| {
            let (above, name) = full.as_str().rsplit_once('/').unwrap_or(("", full.as_str()));
            let inside = above == path.as_str() && !name.is_empty();
            inside.then(|| DirEntry { name: EntryName::Utf8(name.to_owned()), kind })
        };
        let files = self.items.keys().filter_map(|full| child(full, FileKind::File));
        let directories =
            self.directories.iter().filter_map(|full| child(full, FileKind::Directory));
        let mut entries: Vec<_> = files.chain(directories).collect();
        entries.sort();
        Ok(entries)
    }

    fn read_link(&self, path: &TreePath) -> Result<String, TreeError> {
        self.metadata(path)?;
        Err(TreeError::new(TreeErrorKind::WrongKind, path, "is no link"))
    }
}
