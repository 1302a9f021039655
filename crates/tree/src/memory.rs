//! A tree in memory, for tests and for documents that were never on a disk.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{
    DirEntry, EntryName, FileKind, Metadata, PathError, Tree, TreeError, TreeErrorKind, TreeFile,
    TreePath,
};

/// A tree in memory. Parents of what is added appear as directories of mode 0755.
#[derive(Debug, Clone, Default)]
pub struct MemTree {
    entries: BTreeMap<TreePath, Node>,
}

#[derive(Debug, Clone)]
struct Node {
    mode: u32,
    content: Content,
}

#[derive(Debug, Clone)]
enum Content {
    File(Arc<[u8]>),
    Directory,
    Symlink(String),
}

impl MemTree {
    /// An empty tree.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file of mode 0644, replacing what stood there.
    pub fn add_file(&mut self, path: &str, bytes: impl AsRef<[u8]>) -> Result<(), PathError> {
        self.insert(path, 0o644, Content::File(bytes.as_ref().into()))
    }

    /// Adds a file of mode 0755, replacing what stood there.
    pub fn add_executable(&mut self, path: &str, bytes: impl AsRef<[u8]>) -> Result<(), PathError> {
        self.insert(path, 0o755, Content::File(bytes.as_ref().into()))
    }

    /// Adds a directory.
    pub fn add_dir(&mut self, path: &str) -> Result<(), PathError> {
        self.insert(path, 0o755, Content::Directory)
    }

    /// Adds a symbolic link.
    pub fn add_symlink(&mut self, path: &str, target: &str) -> Result<(), PathError> {
        self.insert(path, 0o777, Content::Symlink(target.to_owned()))
    }

    fn insert(&mut self, path: &str, mode: u32, content: Content) -> Result<(), PathError> {
        let path = TreePath::new(path)?;
        let mut above = path.parent();
        while let Some(dir) = above.filter(|dir| !dir.is_root()) {
            let node = Node { mode: 0o755, content: Content::Directory };
            self.entries.entry(dir.clone()).or_insert(node);
            above = dir.parent();
        }
        self.entries.insert(path, Node { mode, content });
        Ok(())
    }

    fn node(&self, path: &TreePath) -> Result<Option<&Node>, TreeError> {
        if path.is_root() {
            return Ok(None);
        }
        let mut above = path.parent();
        while let Some(dir) = above.filter(|dir| !dir.is_root()) {
            match self.entries.get(&dir).map(|node| &node.content) {
                Some(Content::Directory) | None => {}
                Some(_) => {
                    let what = format!("{dir} is not a directory");
                    return Err(TreeError::new(TreeErrorKind::NotADirectory, path, what));
                }
            }
            above = dir.parent();
        }
        match self.entries.get(path) {
            Some(node) => Ok(Some(node)),
            None => Err(TreeError::new(TreeErrorKind::NotFound, path, "no such file")),
        }
    }
}

impl Tree for MemTree {
    fn metadata(&self, path: &TreePath) -> Result<Metadata, TreeError> {
        let (kind, size, mode) = match self.node(path)? {
            None => (FileKind::Directory, 0, 0o755),
            Some(node) => match &node.content {
                Content::File(bytes) => (FileKind::File, bytes.len() as u64, node.mode),
                Content::Directory => (FileKind::Directory, 0, node.mode),
                Content::Symlink(target) => (FileKind::Symlink, target.len() as u64, node.mode),
            },
        };
        Ok(Metadata { kind, size, mode, mtime: 0 })
    }

    fn open(&self, path: &TreePath) -> Result<Box<dyn TreeFile>, TreeError> {
        match self.node(path)?.map(|node| &node.content) {
            Some(Content::File(bytes)) => Ok(Box::new(MemFile(bytes.clone()))),
            Some(Content::Symlink(_)) => {
                Err(TreeError::new(TreeErrorKind::WrongKind, path, "a link, not a file"))
            }
            None | Some(Content::Directory) => {
                Err(TreeError::new(TreeErrorKind::IsADirectory, path, "a directory, not a file"))
            }
        }
    }

    fn read_dir(&self, path: &TreePath) -> Result<Vec<DirEntry>, TreeError> {
        if self.metadata(path)?.kind != FileKind::Directory {
            return Err(TreeError::new(TreeErrorKind::NotADirectory, path, "not a directory"));
        }
        let mut entries: Vec<_> = self
            .entries
            .iter()
            .filter(|(at, _)| at.parent().as_ref() == Some(path))
            .map(|(at, node)| DirEntry {
                name: EntryName::Utf8(at.file_name().unwrap_or_default().to_owned()),
                kind: match node.content {
                    Content::File(_) => FileKind::File,
                    Content::Directory => FileKind::Directory,
                    Content::Symlink(_) => FileKind::Symlink,
                },
            })
            .collect();
        entries.sort();
        Ok(entries)
    }

    fn read_link(&self, path: &TreePath) -> Result<String, TreeError> {
        match self.node(path)?.map(|node| &node.content) {
            Some(Content::Symlink(target)) => Ok(target.clone()),
            _ => Err(TreeError::new(TreeErrorKind::WrongKind, path, "not a link")),
        }
    }
}

#[derive(Debug)]
struct MemFile(Arc<[u8]>);

impl TreeFile for MemFile {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<usize, TreeError> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(self.0.len());
        let n = buf.len().min(self.0.len() - start);
        buf[..n].copy_from_slice(&self.0[start..start + n]);
        Ok(n)
    }

    fn changed(&self) -> Result<bool, TreeError> {
        Ok(false)
    }
}
