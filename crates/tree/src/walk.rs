//! Everything below a directory, in the order of path bytes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::{DirEntry, EntryName, FileKind, Tree, TreeError, TreeErrorKind, TreePath};

/// How far a walk goes before it gives up, so that no tree can exhaust memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Components of a path below the root of the walk.
    pub depth: usize,
    /// Entries in all.
    pub entries: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 256, entries: 1_000_000 }
    }
}

/// One step of a [`Walk`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WalkEntry {
    /// The path in the tree.
    pub path: TreePath,
    /// What it is, links not followed.
    pub kind: FileKind,
}

/// Every entry below `root`, without `root` itself, sorted by path bytes (so `a-b` comes between
/// `a` and `a/c`). Links are entries and are not followed.
///
/// A directory that cannot be read and a name that is not UTF-8 ([`TreeErrorKind::NotUtf8`]) are
/// items too, and the walk goes on; beyond `limits` it ends with [`TreeErrorKind::TooLarge`].
pub fn walk<'a>(tree: &'a dyn Tree, root: &TreePath, limits: Limits) -> Walk<'a> {
    Walk {
        tree,
        limits,
        base: root.components().count(),
        heap: BinaryHeap::new(),
        enter: Some(root.clone()),
        faults: Vec::new(),
        seen: 0,
        ended: false,
    }
}

/// See [`walk`].
#[derive(Debug)]
pub struct Walk<'a> {
    tree: &'a dyn Tree,
    limits: Limits,
    base: usize,
    /// What is known and not yet given. All below an entry sorts behind it, so the least of these
    /// is always the next.
    heap: BinaryHeap<Reverse<WalkEntry>>,
    enter: Option<TreePath>,
    faults: Vec<TreeError>,
    seen: usize,
    ended: bool,
}

impl Walk<'_> {
    /// Leaves out what is below the directory given last.
    pub fn skip_children(&mut self) {
        self.enter = None;
    }

    fn read(&mut self, dir: &TreePath) -> Result<(), TreeError> {
        let entries = self.tree.read_dir(dir)?;
        let depth = dir.components().count() - self.base;
        if depth >= self.limits.depth && !entries.is_empty() {
            let what = format!("more than {} directories deep", self.limits.depth);
            return Err(TreeError::new(TreeErrorKind::TooLarge, dir, what));
        }
        self.seen += entries.len();
        if self.seen > self.limits.entries {
            let what = format!("more than {} entries", self.limits.entries);
            return Err(TreeError::new(TreeErrorKind::TooLarge, dir, what));
        }
        for DirEntry { name, kind } in entries {
            let path = match &name {
                EntryName::Utf8(name) => dir.child(name).map_err(|error| error.to_string()),
                EntryName::Bytes(name) => {
                    Err(format!("the name {} is not UTF-8", name.escape_ascii()))
                }
            };
            match path {
                Ok(path) => self.heap.push(Reverse(WalkEntry { path, kind })),
                Err(what) => {
                    self.faults.push(TreeError::new(TreeErrorKind::NotUtf8, dir, what));
                }
            }
        }
        Ok(())
    }
}

impl Iterator for Walk<'_> {
    type Item = Result<WalkEntry, TreeError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        if let Some(dir) = self.enter.take()
            && let Err(error) = self.read(&dir)
        {
            self.ended = error.kind == TreeErrorKind::TooLarge;
            return Some(Err(error));
        }
        if let Some(fault) = self.faults.pop() {
            return Some(Err(fault));
        }
        let Reverse(entry) = self.heap.pop()?;
        if entry.kind == FileKind::Directory {
            self.enter = Some(entry.path.clone());
        }
        Some(Ok(entry))
    }
}
