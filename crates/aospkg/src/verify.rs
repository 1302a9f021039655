//! Is the package one thing? The index against the tar's own headers, entry by entry, and the
//! digests of it.
//!
//! Whoever mounts a package believes its index; whoever unpacks its tar believes the headers.
//! [`verify`] walks the headers and wants both to say the same: every entry has a member of its
//! kind, size and place, and every member an entry.

use std::io;

use holdall_diagnostics::{Code, Diagnostic};
use holdall_tar::{Extension, Kind, Member, ReadAt, Reader};
use holdall_tree::{Digest, TreeErrorKind, TreeFile, TreePath, sha256_file};

use crate::codes;
use crate::error::{Errno, PackageError};
use crate::format::EntryKind;
use crate::fs::TarFileSystem;
use crate::model::TarEntry;
use crate::package::Package;

/// Findings of one kind that are written out; more are counted.
const SHOWN: usize = 20;

/// What comparing index and tar gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Verification {
    /// Entries of the index that were compared.
    pub entries: usize,
    /// Members of the tar that were compared.
    pub members: usize,
    /// Bytes of all files.
    pub bytes: u64,
    /// Where they differ, as errors; none means that the package is consistent.
    pub differences: Vec<Diagnostic>,
    /// What is only unusual about the tar, as warnings: order, long name records, hidden data.
    pub oddities: Vec<Diagnostic>,
}

impl Verification {
    /// Whether index and tar say the same.
    pub fn is_consistent(&self) -> bool {
        self.differences.is_empty()
    }
}

/// The mount chunk as a tar reader wants it.
#[derive(Debug)]
struct Mount<'a>(&'a Package);

impl ReadAt for Mount<'_> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let range = self.0.header().mount_range();
        self.0.read_in(range, buf, offset).map_err(io::Error::other)
    }

    fn len(&self) -> io::Result<u64> {
        let range = self.0.header().mount_range();
        Ok(range.end - range.start)
    }
}

/// Differences found so far, a bounded number of each code.
#[derive(Debug)]
struct Findings {
    path: String,
    all: Vec<Diagnostic>,
    more: usize,
}

impl Findings {
    fn say(&mut self, code: &Code, message: String) {
        if self.all.len() < SHOWN {
            self.all.push(Diagnostic::new(code, message).at(self.path.clone()));
        } else {
            self.more += 1;
        }
    }

    fn finish(mut self, code: &Code) -> Vec<Diagnostic> {
        if self.more > 0 {
            let message = format!("{} more differences", self.more);
            self.all.push(Diagnostic::new(code, message).at(self.path));
        }
        self.all
    }
}

/// Compares the index with the tar's headers, and every file's range with its member's data.
///
/// Errors are those of reading the file; what differs is in the answer. Contents are not read:
/// for them there is [`digests`].
pub fn verify(package: &Package) -> Result<Verification, PackageError> {
    let index = package.index();
    let shown = package.path().display().to_string();
    let mut differences = Findings { path: shown.clone(), all: Vec::new(), more: 0 };
    let unreadable = |error: &dyn std::fmt::Display, at: u64| {
        let offset = package.header().mount_range().start + at;
        let what = format!("the tar cannot be read: {error} (byte {offset} of the package)");
        Diagnostic::new(&codes::TAR_UNREADABLE, what).at(shown.clone())
    };
    // By path, the last member of a name wins, as in every program that unpacks.
    let mut members: Vec<Option<Seen>> = Vec::new();
    members.resize_with(index.len(), || None);
    let (mut count, mut records, mut disorder) = (0, 0, None);
    let mut previous = String::new();
    let mut broken = None;
    let mut reader = match Reader::positioned(Mount(package)) {
        Ok(reader) => reader,
        Err(error) => {
            let differences = vec![unreadable(&error, error.offset())];
            return Ok(Verification {
                entries: 0,
                members: 0,
                bytes: 0,
                differences,
                oddities: Vec::new(),
            });
        }
    };
    loop {
        let member = match reader.next_member() {
            Ok(Some(member)) => member,
            Ok(None) => break,
            Err(error) => {
                package.check_unchanged()?;
                broken = Some(unreadable(&error, error.offset()));
                break;
            }
        };
        count += 1;
        records += usize::from(member.extension() != Extension::None);
        let name = || String::from_utf8_lossy(member.path());
        let Some(path) = canonical(member.path()) else {
            let what = format!("the tar member `{}` leaves the package or is not UTF-8", name());
            differences.say(&codes::INDEX_DIFFERS, what);
            continue;
        };
        if disorder.is_none() && previous > path {
            disorder = Some(path.clone());
        }
        if path != "/" {
            match index.position_of(&path) {
                None => {
                    let kind = member.kind();
                    let what = format!("the tar has a {kind} `{}` that the index has not", name());
                    differences.say(&codes::INDEX_DIFFERS, what);
                }
                Some(at) => {
                    let fault = compare(&index.entry(at), &member, index, &members);
                    if let Some(before) = members[at].replace(Seen::new(&member, fault)) {
                        let start = before.start;
                        let what = format!("the tar has `{}` twice, at {start} and later", name());
                        differences.say(&codes::INDEX_DIFFERS, what);
                    }
                }
            }
        }
        previous = path;
    }
    let mut bytes: u64 = 0;
    if broken.is_none() {
        for (at, entry) in index.iter().enumerate() {
            if entry.kind == EntryKind::File {
                bytes = bytes.saturating_add(entry.size);
            }
            let fault = match members[at].take() {
                Some(seen) => seen.fault,
                // Directories need no member of their own.
                None if entry.kind == EntryKind::Directory => None,
                None => Some("has no member in the tar".to_owned()),
            };
            if let Some(fault) = fault {
                let what = format!("`{}` {fault}", entry.path);
                differences.say(&codes::INDEX_DIFFERS, what);
            }
        }
    }
    let mut oddities = Vec::new();
    let mut odd = |code: &Code, what: String| {
        oddities.push(Diagnostic::new(code, what).at(shown.clone()));
    };
    if let Some(path) = disorder {
        odd(&codes::MEMBER_ORDER, format!("tar members are not in path order, first `{path}`"));
    }
    if records > 0 {
        odd(&codes::LONG_NAME_RECORDS, format!("{records} tar members have extension records"));
    }
    if let Some(end) = reader.end() {
        let len = package.header().mount_range().end - package.header().mount_range().start;
        if let Some(at) = end.trailing {
            let what = format!(
                "data begins at {at} of the mount, behind the end blocks at {}",
                end.offset
            );
            odd(&codes::HIDDEN_DATA, what);
        } else if !end.is_complete() {
            odd(&codes::HIDDEN_DATA, format!("the tar has no end blocks ({len} bytes)"));
        }
    }
    package.check_unchanged()?;
    let mut all = differences.finish(&codes::INDEX_DIFFERS);
    all.extend(broken);
    Ok(Verification { entries: index.len(), members: count, bytes, differences: all, oddities })
}

/// What a member's name means in the package.
fn canonical(name: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(name).ok()?;
    if name.starts_with('/') {
        return None;
    }
    let path = format!("/{}", name.strip_suffix('/').unwrap_or(name));
    if crate::index::is_canonical(path.as_bytes()) {
        return Some(path);
    }
    let inside = name.split('/').all(|part| part != "..");
    inside.then(|| crate::fs::normalise(name))
}

/// What is kept of a member until all were seen.
#[derive(Debug)]
struct Seen {
    start: u64,
    /// Where its bytes are, if it is a file.
    place: Option<(u64, u64)>,
    /// What it says other than its entry.
    fault: Option<String>,
}

impl Seen {
    fn new(member: &Member, fault: Option<String>) -> Self {
        let place = (member.data_offset(), member.size());
        let place = (member.kind() == Kind::File).then_some(place);
        Self { start: member.start(), place, fault }
    }
}

/// What a member says other than its entry.
fn compare(
    entry: &TarEntry<'_>,
    member: &Member,
    index: &crate::Index,
    members: &[Option<Seen>],
) -> Option<String> {
    let wrong =
        |what: &str| Some(format!("is a {} in the index and {what} in the tar", entry.kind));
    match (entry.kind, member.kind()) {
        (EntryKind::Directory, Kind::Directory) => None,
        (EntryKind::Symlink, Kind::Symlink) => {
            let (have, want) = (entry.link_target.unwrap_or_default(), member.link());
            let want_shown = String::from_utf8_lossy(want);
            (have.as_bytes() != want)
                .then(|| format!("leads to `{have}` by the index and to `{want_shown}` by the tar"))
        }
        (EntryKind::File, Kind::File) => {
            if member.segments().is_some() {
                return Some("is a sparse file in the tar, which the index cannot say".to_owned());
            }
            place_differs(entry, (member.data_offset(), member.size()))
        }
        (EntryKind::File, Kind::HardLink) => {
            let first = canonical(member.link()).and_then(|path| index.position_of(&path));
            match first.and_then(|at| members[at].as_ref()?.place) {
                Some(place) => place_differs(entry, place),
                None => Some("is a hard link in the tar to no file of it".to_owned()),
            }
        }
        (_, kind) => wrong(&format!("a {kind}")),
    }
}

fn place_differs(entry: &TarEntry<'_>, (offset, size): (u64, u64)) -> Option<String> {
    if entry.size != size {
        return Some(format!("has {} bytes by the index and {size} by the tar", entry.size));
    }
    // Nobody reads the bytes of an empty file.
    (size > 0 && entry.offset != offset)
        .then(|| format!("begins at {} by the index and at {offset} by the tar", entry.offset))
}

/// The digests of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digests {
    /// SHA-256 of the whole file: covers every byte.
    pub sha256: Digest,
    /// `holdall-tree/v1` of what it serves: paths, kinds, x bits and contents.
    pub tree: Digest,
}

/// Computes the digests. A file that changes meanwhile is ESTALE. `fs` is served from the
/// package's root.
pub fn digests(fs: &TarFileSystem) -> Result<Digests, PackageError> {
    let package = fs.package();
    let failed = |error: holdall_tree::TreeError| {
        let errno = match error.kind {
            TreeErrorKind::Changed => Errno::ESTALE,
            _ => Errno::EIO,
        };
        PackageError::new(&codes::UNREADABLE, errno, error).file(package.path())
    };
    let (whole, tree) = rayon::join(
        || sha256_file(&TreePath::root(), &Whole(package)).map_err(failed),
        || fs.tree_hash().map_err(failed),
    );
    let (whole, tree) = (whole?, tree?);
    package.check_unchanged()?;
    Ok(Digests { sha256: Digest::new(holdall_tree::Algorithm::Sha256, whole), tree })
}

/// The package file itself, as something to hash.
#[derive(Debug)]
struct Whole<'a>(&'a Package);

impl TreeFile for Whole<'_> {
    fn len(&self) -> u64 {
        self.0.header().file_len()
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<usize, holdall_tree::TreeError> {
        self.0.read_in(0..self.len(), buf, offset).map_err(|error| {
            let kind = match error.errno() {
                Errno::ESTALE => TreeErrorKind::Changed,
                _ => TreeErrorKind::Io,
            };
            holdall_tree::TreeError::new(kind, &TreePath::root(), error)
        })
    }

    fn changed(&self) -> Result<bool, holdall_tree::TreeError> {
        Ok(self.0.check_unchanged().is_err())
    }
}
