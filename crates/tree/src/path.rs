//! Paths inside a tree, and following links without leaving it.

use std::collections::VecDeque;
use std::fmt;

use crate::{FileKind, MAX_LINKS, Tree, TreeError, TreeErrorKind};

/// A path inside a tree: relative, `/`-separated, UTF-8, without empty, `.` and `..` components
/// and without NUL. The empty path is the root.
///
/// Being *portable* (no name that Windows reserves, no collision under case folding) is a check
/// made elsewhere, not part of the type.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct TreePath(String);

/// Why a text is not a path inside a tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// Begins with `/`.
    #[error("`{0}` is absolute")]
    Absolute(String),
    /// Has a `..` component, or climbs above the root.
    #[error("`{0}` leaves the tree by `..`")]
    Escapes(String),
    /// Has an empty or `.` component, or ends with `/`.
    #[error("`{0}` is not normalised")]
    NotNormalised(String),
    /// Holds a NUL byte.
    #[error("`{0}` holds a NUL byte")]
    Nul(String),
}

impl TreePath {
    /// The root of the tree.
    pub const fn root() -> Self {
        Self(String::new())
    }

    /// Takes a path that is already normalised; the empty text is the root.
    pub fn new(path: impl Into<String>) -> Result<Self, PathError> {
        let path = path.into();
        if path.is_empty() {
            return Ok(Self::root());
        }
        if path.starts_with('/') {
            return Err(PathError::Absolute(path));
        }
        if path.contains('\0') {
            return Err(PathError::Nul(path));
        }
        let mut escapes = false;
        let mut odd = false;
        for component in path.split('/') {
            escapes |= component == "..";
            odd |= component.is_empty() || component == ".";
        }
        match (escapes, odd) {
            (true, _) => Err(PathError::Escapes(path)),
            (_, true) => Err(PathError::NotNormalised(path)),
            _ => Ok(Self(path)),
        }
    }

    /// Takes a relative path as people write it: `./a//b/` is `a/b`. A `..` is an error, also
    /// where it would stay inside.
    pub fn normalise(path: &str) -> Result<Self, PathError> {
        if path.starts_with('/') {
            return Err(PathError::Absolute(path.to_owned()));
        }
        let kept: Vec<_> =
            path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        Self::new(kept.join("/")).map_err(|error| match error {
            PathError::Escapes(_) => PathError::Escapes(path.to_owned()),
            other => other,
        })
    }

    /// Whether it is the root.
    pub const fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The text, empty for the root.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The components, none for the root.
    pub fn components(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/').filter(|part| !part.is_empty())
    }

    /// The last component.
    pub fn file_name(&self) -> Option<&str> {
        self.components().next_back()
    }

    /// The directory it stands in; `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        if self.is_root() {
            return None;
        }
        Some(Self(self.0.rsplit_once('/').map_or_else(String::new, |(head, _)| head.to_owned())))
    }

    /// The path of `rest` below this one.
    #[must_use]
    pub fn join(&self, rest: &Self) -> Self {
        match (self.is_root(), rest.is_root()) {
            (true, _) => rest.clone(),
            (_, true) => self.clone(),
            _ => Self(format!("{}/{}", self.0, rest.0)),
        }
    }

    /// The path of the entry `name` of this directory.
    pub fn child(&self, name: &str) -> Result<Self, PathError> {
        // Directories are read entry by entry: a good name costs one allocation.
        if matches!(name, "" | "." | "..") || name.contains(['/', '\0']) {
            return Err(match Self::new(name) {
                Err(error) => error,
                Ok(_) => PathError::NotNormalised(name.to_owned()),
            });
        }
        if self.is_root() {
            return Ok(Self(name.to_owned()));
        }
        let mut path = String::with_capacity(self.0.len() + 1 + name.len());
        path.push_str(&self.0);
        path.push('/');
        path.push_str(name);
        Ok(Self(path))
    }

    /// What is left of it below `base`, the root if they are equal.
    pub fn strip_prefix(&self, base: &Self) -> Option<Self> {
        if base.is_root() {
            return Some(self.clone());
        }
        let rest = self.0.strip_prefix(&base.0)?;
        match rest.strip_prefix('/') {
            Some(rest) => Some(Self(rest.to_owned())),
            None => rest.is_empty().then(Self::root),
        }
    }
}

impl fmt::Display for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// See [`Tree::resolve`].
pub(crate) fn resolve<T: Tree + ?Sized>(tree: &T, path: &TreePath) -> Result<TreePath, TreeError> {
    let mut todo: VecDeque<String> = path.components().map(str::to_owned).collect();
    let mut done: Vec<String> = Vec::new();
    let mut links = 0;
    while let Some(part) = todo.pop_front() {
        match part.as_str() {
            "" | "." => continue,
            ".." => {
                if done.pop().is_none() {
                    let what = "a link leads out of the tree";
                    return Err(TreeError::new(TreeErrorKind::Escapes, path, what));
                }
                continue;
            }
            _ => done.push(part),
        }
        let here = TreePath(done.join("/"));
        let kind = tree.metadata(&here)?.kind;
        if kind == FileKind::Symlink {
            links += 1;
            if links > MAX_LINKS {
                let what = format!("more than {MAX_LINKS} links");
                return Err(TreeError::new(TreeErrorKind::TooManyLinks, path, what));
            }
            let target = tree.read_link(&here)?;
            if target.starts_with('/') {
                let what = format!("the link {here} has the absolute target {target}");
                return Err(TreeError::new(TreeErrorKind::Escapes, path, what));
            }
            done.pop();
            for part in target.split('/').rev() {
                todo.push_front(part.to_owned());
            }
        } else if kind != FileKind::Directory && !todo.is_empty() {
            return Err(TreeError::new(TreeErrorKind::NotADirectory, &here, "not a directory"));
        }
    }
    Ok(TreePath(done.join("/")))
}
