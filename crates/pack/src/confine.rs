//! Paths that a document names: relative, below a directory, and staying there through every link.

use holdall_tree::{Tree, TreeError, TreeErrorKind, TreePath};

/// Why a path of a document leads nowhere.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum Confined {
    /// The text is no relative path that stays below.
    #[error("{0}")]
    Shape(&'static str),
    /// A link leads out.
    #[error("a link leads out of the directory")]
    Leaves,
    /// Nothing is there, or it cannot be read.
    #[error("{0}")]
    Tree(TreeError),
}

/// The path that `text` means below `base`, as it is written: links are not looked at.
pub(crate) fn below(base: &TreePath, text: &str) -> Result<TreePath, Confined> {
    let drive = matches!(text.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    if text.starts_with(['/', '\\']) || drive {
        return Err(Confined::Shape("is absolute"));
    }
    if text.contains(['\0', '\n', '\r']) {
        return Err(Confined::Shape("contains a NUL or a line break"));
    }
    // A `..` that stays inside is fine as long as it does: `a/../b` is `b`.
    let mut parts: Vec<&str> = Vec::new();
    for part in text.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => {
                if parts.pop().is_none() {
                    return Err(Confined::Shape("leads out by `..`"));
                }
            }
            part => parts.push(part),
        }
    }
    let path = TreePath::new(parts.join("/")).map_err(|_| Confined::Shape("is no usable path"))?;
    Ok(base.join(&path))
}

/// Where the path leads once every link is followed; it has to be below `base` still.
pub(crate) fn resolve(tree: &dyn Tree, base: &TreePath, text: &str) -> Result<TreePath, Confined> {
    let path = below(base, text)?;
    let follow = |path: &TreePath| {
        tree.resolve(path).map_err(|error| match error.kind {
            TreeErrorKind::Escapes => Confined::Leaves,
            _ => Confined::Tree(error),
        })
    };
    let target = follow(&path)?;
    let home = follow(base)?;
    if target.strip_prefix(&home).is_none() {
        return Err(Confined::Leaves);
    }
    Ok(target)
}
