//! The node interface: what a mount asks, by inode instead of by path.

use super::{Stat, TarFileSystem};
use crate::error::Errno;
use crate::format::EntryKind;

/// One row of a directory listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DirRow<'a> {
    /// The entry's inode.
    pub ino: u64,
    /// What it is.
    pub kind: EntryKind,
    /// Its name.
    pub name: &'a str,
    /// The cursor that goes on behind it.
    pub next: u64,
}

/// A read-only file system by nodes. Nothing follows links; errors are errnos.
pub trait ReadFs: Send + Sync + std::fmt::Debug {
    /// The inode of the root.
    fn root(&self) -> u64;

    /// The inode of `name` in a directory; `.` and `..` too, the root being its own parent.
    /// ENOENT where there is none, ENOTDIR where `parent` is no directory.
    fn lookup(&self, parent: u64, name: &str) -> Result<u64, Errno>;

    /// What a node is. ENOENT for an inode that does not exist.
    fn getattr(&self, ino: u64) -> Result<Stat, Errno>;

    /// A link's target; EINVAL for what is no link.
    fn readlink(&self, ino: u64) -> Result<&str, Errno>;

    /// Reads bytes of a file: fewer than `buf` holds only at its end, 0 behind it. EISDIR for a
    /// directory.
    fn read_at(&self, ino: u64, offset: u64, buf: &mut [u8]) -> Result<usize, Errno>;

    /// Gives the rows of a directory behind `cursor` (0: all), sorted by name and without `.` and
    /// `..`, until `row` says false.
    fn readdir(
        &self,
        ino: u64,
        cursor: u64,
        row: &mut dyn FnMut(DirRow<'_>) -> bool,
    ) -> Result<(), Errno>;
}

impl TarFileSystem {
    /// The position of an inode that is in this file system.
    fn position(&self, ino: u64) -> Result<usize, Errno> {
        let position = usize::try_from(ino).ok().and_then(|ino| ino.checked_sub(1));
        position.filter(|position| *position < self.package.index().len()).ok_or(Errno::ENOENT)
    }

    fn directory(&self, ino: u64) -> Result<usize, Errno> {
        let position = self.position(ino)?;
        match self.entry(position).kind {
            EntryKind::Directory => Ok(position),
            _ => Err(Errno::ENOTDIR),
        }
    }
}

impl ReadFs for TarFileSystem {
    fn root(&self) -> u64 {
        self.root as u64 + 1
    }

    fn lookup(&self, parent: u64, name: &str) -> Result<u64, Errno> {
        let position = self.directory(parent)?;
        let above = self.entry(position).path;
        let path = match name {
            "." => return Ok(parent),
            ".." if position == self.root => return Ok(parent),
            ".." => match above.rfind('/') {
                Some(0) | None => "/".to_owned(),
                Some(slash) => above[..slash].to_owned(),
            },
            _ if name.is_empty() || name.contains('/') => return Err(Errno::ENOENT),
            _ if above == "/" => format!("/{name}"),
            _ => format!("{above}/{name}"),
        };
        let found = self.package.index().find(&path).ok_or(Errno::ENOENT)?;
        Ok(found as u64 + 1)
    }

    fn getattr(&self, ino: u64) -> Result<Stat, Errno> {
        Ok(self.stat_of(self.position(ino)?))
    }

    fn readlink(&self, ino: u64) -> Result<&str, Errno> {
        let entry = self.entry(self.position(ino)?);
        entry.link_target.filter(|_| entry.kind == EntryKind::Symlink).ok_or(Errno::EINVAL)
    }

    fn read_at(&self, ino: u64, offset: u64, buf: &mut [u8]) -> Result<usize, Errno> {
        let range = self.range_of(self.position(ino)?)?;
        if offset >= range.len {
            return Ok(0);
        }
        self.package.check_unchanged().map_err(|error| error.errno())?;
        let mut at = 0;
        while at < buf.len() {
            match self.read_range(&range, "", offset + at as u64, &mut buf[at..]) {
                Ok(0) => break,
                Ok(read) => at += read,
                Err(error) => return Err(error.errno),
            }
        }
        Ok(at)
    }

    fn readdir(
        &self,
        ino: u64,
        cursor: u64,
        row: &mut dyn FnMut(DirRow<'_>) -> bool,
    ) -> Result<(), Errno> {
        let position = self.directory(ino)?;
        let cursor = usize::try_from(cursor).unwrap_or(usize::MAX);
        for child in self.package.index().children(position, cursor) {
            let next = child.index as u64 + 1;
            if !row(DirRow { ino: next, kind: child.kind, name: child.name, next }) {
                break;
            }
        }
        Ok(())
    }
}
