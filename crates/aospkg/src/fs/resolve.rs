//! From a path to an entry.
//!
//! A path is normalised as text first, before any link is looked at, so `/s/../x` is `/x` also
//! where `/s` is a link. Where no directory on the way is a link, which is nearly always, one
//! look-up of the whole path answers; the walk by components is only for the rest. Links are
//! taken inside the package: `/etc/passwd` is that path in it, and `..` stops at its root.

use super::{FsError, MAX_LINKS, TarFileSystem};
use crate::error::Errno;
use crate::format::EntryKind;

/// Normalises a path as text: absolute, `..` stopping at the root, no empty or `.` component.
pub(crate) fn normalise(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

impl TarFileSystem {
    /// The entry a path leads to.
    #[inline]
    pub(super) fn resolve(&self, path: &str, follow: bool) -> Result<usize, FsError> {
        // Every path of the index is normalised: what is found as it stands needs no more.
        if self.root == 0
            && let Some(found) = self.package.index().find(path)
            && !(follow && self.entry(found).kind == EntryKind::Symlink)
        {
            return Ok(found);
        }
        self.resolve_slowly(path, follow)
    }

    fn resolve_slowly(&self, path: &str, follow: bool) -> Result<usize, FsError> {
        let mut whole = normalise(path);
        if self.root != 0 {
            let below = if whole == "/" { "" } else { whole.as_str() };
            whole = format!("{}{below}", self.root_path);
        }
        let found = match self.package.index().find(&whole) {
            Some(found) if !(follow && self.entry(found).kind == EntryKind::Symlink) => found,
            _ => self.walk(whole, path, follow)?,
        };
        if self.root != 0 {
            let reached = self.entry(found).path;
            let inside = reached
                .strip_prefix(&*self.root_path)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            if !inside {
                let what = format!("leads to `{reached}`, outside of `{}`", self.root_path);
                return Err(FsError::new(Errno::EXDEV, path, what));
            }
        }
        Ok(found)
    }

    /// Goes from the package's root component by component, through every link.
    fn walk(&self, normalised: String, path: &str, follow: bool) -> Result<usize, FsError> {
        let mut todo = normalised;
        let mut done = 0;
        let mut links = 0;
        // The root is a directory: the index was opened at it or below it.
        let mut here = 0;
        while done < todo.len() && todo != "/" {
            let end = todo[done + 1..].find('/').map_or(todo.len(), |at| done + 1 + at);
            let last = end == todo.len();
            let Some(found) = self.package.index().find(&todo[..end]) else {
                return Err(FsError::new(Errno::ENOENT, path, "no such file or directory"));
            };
            let entry = self.entry(found);
            match entry.kind {
                EntryKind::Symlink if follow || !last => {
                    links += 1;
                    if links > MAX_LINKS {
                        let what = format!("more than {MAX_LINKS} links");
                        return Err(FsError::new(Errno::ELOOP, path, what));
                    }
                    let target = entry.link_target.unwrap_or_default();
                    let base = if target.starts_with('/') { "" } else { &todo[..done] };
                    let reached = normalise(&format!("{base}/{target}"));
                    let rest = &todo[end..];
                    todo = match (reached.as_str(), rest) {
                        ("/", "") => reached,
                        ("/", rest) => rest.to_owned(),
                        _ => reached + rest,
                    };
                    (done, here) = (0, 0);
                    continue;
                }
                EntryKind::Directory => {}
                _ if last => {}
                _ => {
                    let what = format!("`{}` is not a directory", entry.path);
                    return Err(FsError::new(Errno::ENOTDIR, path, what));
                }
            }
            (done, here) = (end, found);
        }
        Ok(here)
    }
}
