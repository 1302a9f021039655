//! The index in memory: the chunk as it was read, and two flat tables beside it.
//!
//! Nothing is decoded into objects. `starts` holds where each entry begins (4 bytes an entry);
//! the path table, built at the first look-up, maps paths to entries (6 bytes an entry). Children
//! need no table: the entries below a directory are one range of the sorted paths, and the
//! entries below its child directories are skipped by searching, not by walking.
//!
//! Checks run in one pass over the bytes. Only when that pass meets anything wrong, a second one
//! looks for the fault that comes first in the published order.

use std::hash::BuildHasher;
use std::sync::OnceLock;

use crate::bare::{Reader, Tolerances};
use crate::codes;
use crate::decode;
use crate::error::{Errno, PackageError};
use crate::format::{ENTRY_FIXED_LEN, EntryKind, Header, MAX_ENTRIES};
use crate::model::TarEntry;

/// The entries of a package: validated, sorted by path, `/` first.
#[derive(Debug)]
pub struct Index {
    chunk: Box<[u8]>,
    base: u64,
    starts: Vec<u32>,
    /// Entries without a directory above them, in order; nearly always empty.
    unreachable: Vec<u32>,
    tolerances: Tolerances,
    table: OnceLock<PathTable>,
}

impl Index {
    /// Checks an index chunk, its two-byte prefix included, against its header.
    ///
    /// In this order: the whole chunk decodes (EINVAL); paths are strictly ascending (EINVAL);
    /// then entry by entry: the path is absolute and normalised (EINVAL), there are no more than
    /// 200,000 (ENOMEM), a file's bytes lie in the mount (EIO, EOVERFLOW), a link has a target
    /// (EINVAL), the time fits (EINVAL, EOVERFLOW).
    pub fn new(chunk: Vec<u8>, header: &Header) -> Result<Self, PackageError> {
        let base = header.index_range().start;
        let decoded = |error| PackageError::decode(&codes::INDEX, "index", &error);
        let mut reader = Reader::new(&chunk, base);
        decode::prefix(&mut reader, header.version()).map_err(decoded)?;
        let count = reader.count(ENTRY_FIXED_LEN + 1).map_err(decoded)?;
        let mut starts = Vec::with_capacity(count);
        let mut unreachable = Vec::new();
        let mut above = Ancestors::default();
        let mut sound = true;
        let mut previous: &[u8] = b"";
        for index in 0..count as u32 {
            starts.push(reader.position() as u32);
            let entry = decode::entry(&mut reader).map_err(decoded)?;
            if !sound {
                continue;
            }
            let path = entry.path.as_bytes();
            let common = common_prefix(previous, path);
            sound = ascends(previous, path, common)
                && is_canonical_behind(path, common)
                && check_facts(&entry, header).is_ok();
            if sound && !above.place(path, common, index, entry.kind) {
                unreachable.push(index);
            }
            previous = path;
        }
        let tolerances = reader.finish();
        let index = Self {
            chunk: chunk.into_boxed_slice(),
            base,
            starts,
            unreachable,
            tolerances,
            table: OnceLock::new(),
        };
        if sound && count <= MAX_ENTRIES { Ok(index) } else { Err(index.first_fault(header)) }
    }

    /// The fault that the published order of checks meets first.
    fn first_fault(&self, header: &Header) -> PackageError {
        for index in 1..self.len() {
            let (before, here) = (self.entry(index - 1).path, self.entry(index).path);
            if before >= here {
                let detail = if before == here {
                    format!("the path `{here}` stands twice in the index")
                } else {
                    format!("the index is not sorted: `{before}` stands before `{here}`")
                };
                return PackageError::new(&codes::NOT_SORTED, Errno::EINVAL, detail)
                    .offset(self.offset_of(index))
                    .help("pack the files again: `holdall pack`");
            }
        }
        for index in 0..self.len() {
            let entry = self.entry(index);
            let fault = if !is_canonical(entry.path.as_bytes()) {
                let detail =
                    format!("the index path `{}` is not absolute and normalised", entry.path);
                Err(PackageError::new(&codes::PATH, Errno::EINVAL, detail))
            } else if index >= MAX_ENTRIES {
                let detail =
                    format!("the index has {} entries, {MAX_ENTRIES} are allowed", self.len());
                Err(PackageError::new(&codes::TOO_MANY, Errno::ENOMEM, detail))
            } else {
                check_facts(&entry, header)
            };
            if let Err(error) = fault {
                return error.offset(self.offset_of(index));
            }
        }
        PackageError::new(&codes::INDEX, Errno::EINVAL, "the index is not valid")
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there are none; such a package cannot be opened as a file system.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Where an entry begins in the file, for messages.
    pub fn offset_of(&self, index: usize) -> u64 {
        self.base + u64::from(self.starts[index])
    }

    /// An entry by its position, which must be below [`Index::len`].
    pub fn entry(&self, index: usize) -> TarEntry<'_> {
        let mut reader = Reader::new(&self.chunk[self.starts[index] as usize..], 0);
        decode::entry(&mut reader).expect("every entry was decoded when the index was made")
    }

    /// All entries, sorted by path.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = TarEntry<'_>> {
        (0..self.len()).map(|index| self.entry(index))
    }

    /// The tolerances that reading the chunk needed.
    pub const fn tolerances(&self) -> &Tolerances {
        &self.tolerances
    }

    /// Positions of the entries that no path leads to: a directory above them is missing or is
    /// no directory.
    pub fn unreachable(&self) -> impl ExactSizeIterator<Item = usize> {
        self.unreachable.iter().map(|index| *index as usize)
    }

    /// Bytes on the heap: the chunk and the tables.
    pub fn heap_size(&self) -> usize {
        let table = self.table.get().map_or(0, |table| table.slots.len() * 4);
        self.chunk.len() + (self.starts.capacity() + self.unreachable.capacity()) * 4 + table
    }

    /// The entry of an absolute normalised path, if a path leads to it.
    #[inline]
    pub fn find(&self, path: &str) -> Option<usize> {
        self.table.get_or_init(|| PathTable::new(self)).find(self, path.as_bytes())
    }

    /// The same by binary search, for those who ask once and need no table.
    pub(crate) fn find_once(&self, path: &str) -> Option<usize> {
        let index = self.first_from(0, path.as_bytes());
        let hit = index < self.len()
            && self.path(index) == path.as_bytes()
            && self.unreachable.binary_search(&(index as u32)).is_err();
        hit.then_some(index)
    }

    /// The position of a path, whether or not anything leads to it.
    pub(crate) fn position_of(&self, path: &str) -> Option<usize> {
        self.find(path).or_else(|| {
            let at = self.first_from(0, path.as_bytes());
            (at < self.len() && self.path(at) == path.as_bytes()).then_some(at)
        })
    }

    /// The children of the directory at `index`, from the position `cursor` on (0 from the start).
    pub fn children(&self, index: usize, cursor: usize) -> Children<'_> {
        let mut prefix = self.path(index).to_vec();
        if prefix != b"/" {
            prefix.push(b'/');
        }
        let first = if cursor > index { cursor } else { self.first_from(index + 1, &prefix) };
        Children { index: self, prefix, next: first }
    }

    /// The first entry at or behind `from` whose path is not below `path`, by doubling steps.
    fn first_from(&self, from: usize, path: &[u8]) -> usize {
        let (mut low, mut step) = (from, 1);
        while low + step <= self.len() && self.path(low + step - 1) < path {
            low += step;
            step *= 2;
        }
        let mut high = (low + step).min(self.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.path(middle) < path { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// The bytes of an entry's path, without looking at the rest of it.
    #[inline]
    fn path(&self, index: usize) -> &[u8] {
        let start = self.starts[index] as usize;
        match self.chunk[start] {
            len @ 0..0x80 => &self.chunk[start + 1..start + 1 + len as usize],
            _ => self.entry(index).path.as_bytes(),
        }
    }
}

/// A child of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Child<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its position in the index.
    pub index: usize,
    /// What it is.
    pub kind: EntryKind,
}

/// Iterator over the children of a directory, sorted by name bytes.
#[derive(Debug)]
pub struct Children<'a> {
    index: &'a Index,
    prefix: Vec<u8>,
    next: usize,
}

impl<'a> Iterator for Children<'a> {
    type Item = Child<'a>;

    fn next(&mut self) -> Option<Child<'a>> {
        while self.next < self.index.len() {
            let here = self.next;
            let rest = self.index.path(here).strip_prefix(self.prefix.as_slice())?;
            if let Some(slash) = rest.iter().position(|byte| *byte == b'/') {
                // Something below a child: go on behind everything that begins with `child/`.
                let mut behind = [&self.prefix, &rest[..slash]].concat();
                behind.push(b'/' + 1);
                self.next = self.index.first_from(here + 1, &behind);
                continue;
            }
            self.next = here + 1;
            let entry = self.index.entry(here);
            let name = &entry.path[self.prefix.len()..];
            if !name.is_empty() {
                return Some(Child { name, index: here, kind: entry.kind });
            }
        }
        None
    }
}

/// Open addressing over entry positions. A slot is 0 (free) or a position plus one in the low 18
/// bits, which hold 200,000, under 14 bits of the hash.
struct PathTable {
    slots: Box<[u32]>,
    hasher: foldhash::quality::RandomState,
}

impl std::fmt::Debug for PathTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PathTable({} slots)", self.slots.len())
    }
}

const POSITION_BITS: u32 = 18;
const POSITION_MASK: u32 = (1 << POSITION_BITS) - 1;
const _: () = assert!(MAX_ENTRIES < POSITION_MASK as usize);

impl PathTable {
    fn new(index: &Index) -> Self {
        let slots = vec![0; index.len() + index.len() / 2 + 2].into_boxed_slice();
        // A seed of its own for each table: nobody can make paths that collide in it.
        let mut table = Self { slots, hasher: foldhash::quality::RandomState::default() };
        let mut skip = index.unreachable().peekable();
        for position in 0..index.len() {
            if skip.next_if_eq(&position).is_some() {
                continue;
            }
            let (mut slot, tag) = table.place(index.path(position));
            while table.slots[slot] != 0 {
                slot = table.after(slot);
            }
            table.slots[slot] = tag | (position as u32 + 1);
        }
        table
    }

    #[inline]
    fn place(&self, path: &[u8]) -> (usize, u32) {
        let hash = self.hasher.hash_one(path);
        let slot = ((hash >> 32) * self.slots.len() as u64) >> 32;
        (slot as usize, (hash as u32) << POSITION_BITS)
    }

    #[inline]
    fn after(&self, slot: usize) -> usize {
        if slot + 1 == self.slots.len() { 0 } else { slot + 1 }
    }

    #[inline]
    fn find(&self, index: &Index, path: &[u8]) -> Option<usize> {
        let (mut slot, tag) = self.place(path);
        loop {
            let held = self.slots[slot];
            if held == 0 {
                return None;
            }
            if held & !POSITION_MASK == tag {
                let position = (held & POSITION_MASK) as usize - 1;
                if index.path(position) == path {
                    return Some(position);
                }
            }
            slot = self.after(slot);
        }
    }
}

/// The directories whose paths are prefixes, as text, of the path at hand. Sorted paths keep
/// them on a stack; by text and not by component, since `/a-b` stands between `/a` and `/a/b`.
#[derive(Debug, Default)]
struct Ancestors(Vec<(usize, u32)>);

impl Ancestors {
    /// Takes the next path, of which `common` bytes are those of the one before; tells whether
    /// its parent is a reachable directory.
    fn place(&mut self, path: &[u8], common: usize, index: u32, kind: EntryKind) -> bool {
        while self.0.pop_if(|(len, _)| *len > common).is_some() {}
        let slash = path.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
        let want = slash.max(1);
        let reachable = path == b"/"
            || self.0.last().is_some_and(|(len, _)| *len == want)
            || self.0.binary_search_by_key(&want, |(len, _)| *len).is_ok();
        if reachable && kind == EntryKind::Directory {
            self.0.push((path.len(), index));
        }
        reachable
    }
}

fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let mut at = 0;
    while let (Some(x), Some(y)) = (
        a.get(at..).and_then(|rest| rest.first_chunk::<8>()),
        b.get(at..).and_then(|rest| rest.first_chunk::<8>()),
    ) {
        let differ = u64::from_le_bytes(*x) ^ u64::from_le_bytes(*y);
        if differ != 0 {
            return at + (differ.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    at + a[at..].iter().zip(&b[at..]).take_while(|(x, y)| x == y).count()
}

fn ascends(before: &[u8], path: &[u8], common: usize) -> bool {
    match (before.get(common), path.get(common)) {
        (None, Some(_)) => true,
        (Some(x), Some(y)) => x < y,
        // Only an empty path may stand first; it is refused as a path.
        (_, None) => false,
    }
}

/// Whether a path is absolute and normalised, where its first `known` bytes are those of a path
/// that is.
fn is_canonical_behind(path: &[u8], known: usize) -> bool {
    if path.first() != Some(&b'/') {
        return false;
    }
    let from = path[..known].iter().rposition(|byte| *byte == b'/').unwrap_or(0);
    path == b"/"
        || path[from + 1..]
            .split(|byte| *byte == b'/')
            .all(|part| !matches!(part, b"" | b"." | b".."))
}

/// Whether a path begins with `/`, has no empty, `.` or `..` component and no `/` at its end.
pub(crate) fn is_canonical(path: &[u8]) -> bool {
    is_canonical_behind(path, 0)
}

/// The checks that need only the entry and the header.
#[inline]
fn check_facts(entry: &TarEntry<'_>, header: &Header) -> Result<(), PackageError> {
    if entry.kind == EntryKind::File {
        let mount = header.mount_range();
        let end = mount.start.checked_add(entry.offset).and_then(|at| at.checked_add(entry.size));
        if end.is_none_or(|end| end > mount.end) {
            return Err(outside(entry, &mount, end.is_none()));
        }
    }
    if entry.kind == EntryKind::Symlink && entry.link_target.is_none() {
        let detail = format_args!("the link `{}` has no target", entry.path);
        return Err(PackageError::new(&codes::LINK_TARGET, Errno::EINVAL, detail));
    }
    let fault = match u64::try_from(entry.mtime) {
        Err(_) => Errno::EINVAL,
        Ok(seconds) if seconds.checked_mul(1000).is_none() => Errno::EOVERFLOW,
        Ok(_) => return Ok(()),
    };
    let detail =
        format_args!("the modification time {} of `{}` does not fit", entry.mtime, entry.path);
    Err(PackageError::new(&codes::MTIME, fault, detail))
}

#[cold]
fn outside(entry: &TarEntry<'_>, mount: &std::ops::Range<u64>, overflow: bool) -> PackageError {
    let TarEntry { path, offset, size, .. } = entry;
    let detail = format_args!(
        "the bytes of `{path}` (offset {offset}, size {size}) lie outside of the mount of {} bytes",
        mount.end - mount.start
    );
    let errno = if overflow { Errno::EOVERFLOW } else { Errno::EIO };
    PackageError::new(&codes::OUTSIDE, errno, detail)
        .help("the file was cut off or its index is damaged: fetch it again")
}
