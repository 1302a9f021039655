//! The first pass: what is there, without its contents.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;

use holdall_diagnostics::Diagnostic;
use holdall_tar::{Kind, Member, ReadAt, Reader, TarError};
use holdall_tree::stage::STAGE_PREFIX;
use holdall_tree::{
    FileKind, Limits, PathError, Tree, TreeError, TreeErrorKind, TreeFile, TreePath, walk,
};

use super::codes;
use super::{Input, PackOptions};
use crate::format::MAX_ENTRIES;

/// What is packed at one path.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) node: Node,
    pub(super) mode: u32,
    pub(super) uid: u32,
    pub(super) gid: u32,
    pub(super) mtime: i64,
    /// Where a tar's member begins, for messages.
    offset: u64,
}

impl Entry {
    /// A directory that only the paths below it tell of.
    pub(super) const fn parent() -> Self {
        Self { node: Node::Directory, mode: 0o755, uid: 0, gid: 0, mtime: 0, offset: 0 }
    }
}

#[derive(Debug)]
pub(super) enum Node {
    /// A file with one of the contents; two files of one content are hard links.
    File {
        content: usize,
    },
    Directory,
    Symlink {
        target: String,
    },
}

/// The bytes of one file.
#[derive(Debug)]
pub(super) struct Content {
    pub(super) size: u64,
    place: Bytes,
}

#[derive(Debug)]
enum Bytes {
    InTree(TreePath),
    /// In the archive, from this offset on.
    InTar(u64),
    /// In the archive, with holes.
    Sparse(Box<Member>),
}

/// Everything that the first pass found.
#[derive(Debug, Default)]
pub(super) struct Collected {
    pub(super) entries: BTreeMap<TreePath, Entry>,
    pub(super) contents: Vec<Content>,
    pub(super) found: Vec<Diagnostic>,
    /// Reading stopped at a fault, so that nothing can be said about what is missing.
    pub(super) unread: bool,
    /// What the archive was when it was looked at.
    stamp: Option<Stamp>,
}

/// Length and modification time: another one means that what was planned is no longer there.
type Stamp = (u64, i64, i64);

fn stamp(archive: &File) -> std::io::Result<Stamp> {
    let known = archive.metadata()?;
    Ok((known.len(), known.mtime(), known.mtime_nsec()))
}

impl Collected {
    /// Whether an archive is another than the one that was looked at. A directory's files tell
    /// that one by one.
    pub(super) fn archive_changed(&self, input: &Input<'_>) -> std::io::Result<bool> {
        match input {
            Input::Tree(_) => Ok(false),
            Input::Tar(archive) => Ok(self.stamp != Some(stamp(archive)?)),
        }
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }

    /// What stands at a path after links were followed inside the package, 40 at most.
    pub(super) fn resolve(&self, path: &TreePath) -> Option<(TreePath, &Entry)> {
        let mut todo: Vec<String> = path.components().rev().map(str::to_owned).collect();
        let mut here = TreePath::root();
        let mut links = 0;
        let mut last = None;
        while let Some(part) = todo.pop() {
            match part.as_str() {
                "" | "." => continue,
                // Above the root is the root, as in the mounted package.
                ".." => {
                    here = here.parent().unwrap_or_default();
                    last = self.entries.get(&here);
                    continue;
                }
                _ => {}
            }
            let next = here.child(&part).ok()?;
            let entry = self.entries.get(&next)?;
            if let Node::Symlink { target } = &entry.node {
                links += 1;
                if links > holdall_tree::MAX_LINKS {
                    return None;
                }
                todo.extend(target.split('/').rev().map(str::to_owned));
            } else {
                if !todo.is_empty() && !matches!(entry.node, Node::Directory) {
                    return None;
                }
                here = next;
                last = Some(entry);
            }
        }
        Some((here, last?))
    }

    /// A small file as a whole, for the documents that say what the package is.
    pub(super) fn read(
        &self,
        input: &Input<'_>,
        path: &TreePath,
    ) -> Option<Result<Vec<u8>, String>> {
        let Node::File { content } = self.entries.get(path)?.node else {
            return Some(Err("a directory or link, where a file is wanted".to_owned()));
        };
        let content = &self.contents[content];
        if content.size > 16 << 20 {
            return Some(Err(format!("{} bytes are too many for it", content.size)));
        }
        let mut bytes = Vec::new();
        let mut open = match content.open(input) {
            Ok(open) => open,
            Err(error) => return Some(Err(error)),
        };
        let copied = open.copy(&mut |chunk| {
            bytes.extend_from_slice(chunk);
            Ok(())
        });
        Some(copied.map(|()| bytes).map_err(|error| error.to_string()))
    }
}

/// Why the second pass stopped at a file.
#[derive(Debug)]
pub(super) enum CopyError {
    /// Reading failed.
    Read(String),
    /// It is not what the first pass saw.
    Changed(String),
    /// The output failed.
    Write(std::io::Error),
}

impl fmt::Display for CopyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(what) | Self::Changed(what) => f.write_str(what),
            Self::Write(error) => error.fmt(f),
        }
    }
}

/// A file of the second pass.
pub(super) enum OpenContent<'a> {
    Tree { file: Box<dyn TreeFile>, size: u64 },
    Tar { start: u64, size: u64, archive: &'a File },
    Sparse { member: &'a Member, archive: &'a File },
}

/// Bytes copied at a time.
const CHUNK: usize = 1 << 20;

impl Content {
    pub(super) fn open<'a>(&'a self, input: &Input<'a>) -> Result<OpenContent<'a>, String> {
        match (&self.place, input) {
            (Bytes::InTree(path), Input::Tree(tree)) => {
                let file = tree.open(path).map_err(|error| error.to_string())?;
                Ok(OpenContent::Tree { file, size: self.size })
            }
            (Bytes::InTar(start), Input::Tar(archive)) => {
                Ok(OpenContent::Tar { start: *start, size: self.size, archive })
            }
            (Bytes::Sparse(member), Input::Tar(archive)) => {
                Ok(OpenContent::Sparse { member, archive })
            }
            _ => Err("the input is another than the one that was planned".to_owned()),
        }
    }
}

impl OpenContent<'_> {
    /// Every byte once, in order.
    pub(super) fn copy(
        &mut self,
        write: &mut dyn FnMut(&[u8]) -> std::io::Result<()>,
    ) -> Result<(), CopyError> {
        let size = match self {
            Self::Tree { file, size } => {
                if file.len() != *size {
                    let what = format!("has {} bytes now, {size} when packing began", file.len());
                    return Err(CopyError::Changed(what));
                }
                *size
            }
            Self::Tar { size, .. } => *size,
            Self::Sparse { member, .. } => member.size(),
        };
        let mut buffer = vec![0; usize::try_from(size).unwrap_or(CHUNK).min(CHUNK)];
        let mut at = 0;
        while at < size {
            let n = match self {
                Self::Tree { file, .. } => match file.read_at(&mut buffer, at) {
                    Ok(0) => {
                        return Err(CopyError::Changed(format!("ends at byte {at} of {size}")));
                    }
                    Ok(n) => n,
                    Err(error) if error.kind == TreeErrorKind::Changed => {
                        return Err(CopyError::Changed(error.to_string()));
                    }
                    Err(error) => return Err(CopyError::Read(error.to_string())),
                },
                Self::Tar { start, archive, .. } => {
                    let want = usize::try_from(size - at).unwrap_or(CHUNK).min(buffer.len());
                    match ReadAt::read_at(*archive, &mut buffer[..want], *start + at) {
                        Ok(0) => {
                            let what = format!("the tar ends at byte {at} of {size} of it");
                            return Err(CopyError::Changed(what));
                        }
                        Ok(n) => n,
                        Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                        Err(error) => return Err(CopyError::Read(error.to_string())),
                    }
                }
                Self::Sparse { member, archive } => {
                    match member.read_at(archive, &mut buffer, at) {
                        Ok(0) => {
                            return Err(CopyError::Read(format!("ends at byte {at} of {size}")));
                        }
                        Ok(n) => n,
                        Err(error) => return Err(CopyError::Read(error.to_string())),
                    }
                }
            };
            write(&buffer[..n]).map_err(CopyError::Write)?;
            at += n as u64;
        }
        match self {
            Self::Tree { file, .. } => match file.changed() {
                Ok(false) => Ok(()),
                Ok(true) => Err(CopyError::Changed("changed while it was packed".to_owned())),
                Err(error) => Err(CopyError::Read(error.to_string())),
            },
            Self::Tar { .. } | Self::Sparse { .. } => Ok(()),
        }
    }
}

/// Collects a directory, or anything that reads like one.
pub(super) fn from_tree(tree: &dyn Tree, options: &PackOptions) -> Collected {
    let mut all = Collected::default();
    let mut inodes: HashMap<(u64, u64), usize> = HashMap::new();
    let limits = Limits { entries: MAX_ENTRIES, ..Limits::default() };
    let mut entries = walk(tree, &TreePath::root(), limits);
    while let Some(next) = entries.next() {
        let entry = match next {
            Ok(entry) => entry,
            Err(error) => {
                all.report(tree_fault(&error));
                continue;
            }
        };
        let path = entry.path;
        if options.exclude.contains(&path) {
            entries.skip_children();
            continue;
        }
        if let Some(what) = secret(tree, &path, entry.kind)
            && !options.is_included(&path)
        {
            all.report(
                Diagnostic::new(&codes::SECRET, format!("{what} in the directory"))
                    .at(path.as_str())
                    .help(format!("--exclude {path} leaves it out, --include {path} packs it")),
            );
            entries.skip_children();
            continue;
        }
        if let Err(error) = add_from_tree(tree, &path, options, &mut inodes, &mut all) {
            all.report(tree_fault(&error));
        }
    }
    all
}

fn add_from_tree(
    tree: &dyn Tree,
    path: &TreePath,
    options: &PackOptions,
    inodes: &mut HashMap<(u64, u64), usize>,
    all: &mut Collected,
) -> Result<(), TreeError> {
    let known = tree.metadata(path)?;
    let owner = tree.owner(path)?;
    let node = match known.kind {
        FileKind::Directory => Node::Directory,
        FileKind::Symlink => Node::Symlink { target: tree.read_link(path)? },
        FileKind::File => {
            let shared = owner.filter(|owner| owner.links > 1).and_then(|owner| owner.inode);
            let seen = shared.and_then(|inode| inodes.get(&inode).copied());
            let content = seen.unwrap_or_else(|| {
                let place = Bytes::InTree(path.clone());
                all.contents.push(Content { size: known.size, place });
                all.contents.len() - 1
            });
            if let Some(inode) = shared {
                inodes.insert(inode, content);
            }
            Node::File { content }
        }
        FileKind::Other => {
            let what = "a device, named pipe or socket";
            all.report(
                Diagnostic::new(&codes::KIND, what)
                    .at(path.as_str())
                    .help(format!("leave it out with --exclude {path}")),
            );
            return Ok(());
        }
    };
    if known.mode & 0o6000 != 0 && known.kind != FileKind::Symlink {
        all.report(set_id(path, known.mode));
    }
    if options.preserve && known.mtime < 0 {
        all.report(number(path, &format!("its time, {}, is before 1970", known.mtime)));
    }
    let (uid, gid) = owner.map_or((0, 0), |owner| (owner.uid, owner.gid));
    let entry = Entry { node, mode: known.mode, uid, gid, mtime: known.mtime, offset: 0 };
    all.entries.insert(path.clone(), entry);
    Ok(())
}

fn tree_fault(error: &TreeError) -> Diagnostic {
    let code = match error.kind {
        TreeErrorKind::NotUtf8 => &codes::NAME,
        TreeErrorKind::TooLarge => &codes::NUMBER,
        _ => &codes::READ,
    };
    Diagnostic::new(code, error.to_string())
        .at(error.path.as_str())
        .help("correct it, or leave it out with --exclude")
}

fn set_id(path: &TreePath, mode: u32) -> Diagnostic {
    Diagnostic::new(&codes::SET_ID, format!("mode {mode:04o} has a set-ID bit"))
        .at(path.as_str())
        .help("chmod a-s")
}

fn number(path: &TreePath, what: &str) -> Diagnostic {
    Diagnostic::new(&codes::NUMBER, what).at(path.as_str())
}

/// What of a directory is rarely meant to be published.
fn secret(tree: &dyn Tree, path: &TreePath, kind: FileKind) -> Option<&'static str> {
    let name = path.file_name()?;
    if name == ".git" {
        return Some("a git repository");
    }
    if name.starts_with(".env") {
        return Some("an environment file");
    }
    if name.starts_with(STAGE_PREFIX) {
        return Some("what an interrupted run left half-written");
    }
    if kind != FileKind::File {
        return None;
    }
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
    let may_be_key = name.starts_with("id_")
        || matches!(ending.as_str(), "pem" | "key" | "ppk" | "p12" | "pfx" | "p8" | "asc");
    if !may_be_key || ending == "pub" {
        return None;
    }
    if matches!(ending.as_str(), "p12" | "pfx" | "ppk") {
        return Some("a private key");
    }
    let head = tree.read_range(path, 0, 64 * 1024).ok()?;
    let marker = b"PRIVATE KEY";
    head.windows(marker.len()).any(|window| window == marker).then_some("a private key")
}

/// What is wrong with an input that begins like no tar, if it is something well known.
fn other_format(archive: &File) -> Option<Diagnostic> {
    const KNOWN: [(&[u8], &str, &str); 6] = [
        (b"\x1f\x8b", "compressed with gzip", "unpack it first: `gzip -dc FILE | holdall pack -`"),
        (b"\xfd7zXZ\0", "compressed with xz", "unpack it first: `xz -dc FILE | holdall pack -`"),
        (
            b"\x28\xb5\x2f\xfd",
            "compressed with zstd",
            "unpack it first: `zstd -dc FILE | holdall pack -`",
        ),
        (b"BZh", "compressed with bzip2", "unpack it first: `bzip2 -dc FILE | holdall pack -`"),
        (b"PK\x03\x04", "a zip archive", "unpack it into a directory, and pack that"),
        (b"\x89AOS", "a package already", "give its path, and --format-version to convert it"),
    ];
    let mut head = [0; 512];
    let read = archive.read_at(&mut head, 0).ok()?;
    // A member of a tar may be called anything; then the checksum behind the name is right.
    let tar = read == head.len() && head[257..262] == *b"ustar";
    let known = KNOWN.iter().find(|(magic, ..)| !tar && head[..read].starts_with(magic))?;
    let what = format!("no tar: it is {} (EINVAL)", known.1);
    Some(Diagnostic::new(&codes::TAR, what).help(known.2))
}

/// Collects an archive.
pub(super) fn from_tar(archive: &File, options: &PackOptions) -> Collected {
    let mut all = Collected::default();
    if let Some(fault) = other_format(archive) {
        all.report(fault);
        all.unread = true;
        return all;
    }
    let mut reader = match Reader::positioned(archive) {
        Ok(reader) => reader,
        Err(error) => {
            all.report(tar_fault(&error));
            all.unread = true;
            return all;
        }
    };
    all.stamp = stamp(archive).ok();
    let mut count = 0;
    loop {
        let member = match reader.next_member() {
            Ok(Some(member)) => member,
            Ok(None) => break,
            Err(error) => {
                all.report(tar_fault(&error));
                all.unread = true;
                return all;
            }
        };
        count += 1;
        if count > MAX_ENTRIES {
            let what = format!("more than {MAX_ENTRIES} members");
            all.report(Diagnostic::new(&codes::NUMBER, what));
            return all;
        }
        add_from_tar(member, options, &mut all);
    }
    if let Some(end) = reader.end() {
        if let Some(at) = end.trailing {
            let what = format!("data at offset {at}, behind the end blocks at {}", end.offset);
            all.report(Diagnostic::new(&codes::TRAILING, what).help("make one archive of it all"));
        } else if !end.is_complete() {
            let what = format!("the archive ends at byte {} without end blocks", end.offset);
            all.report(Diagnostic::new(&codes::NO_END, what));
        }
    }
    all
}

fn add_from_tar(member: Member, options: &PackOptions, all: &mut Collected) {
    let at = member.header_offset();
    let path = match member_path(member.path()) {
        Ok(path) => path,
        Err(what) => {
            let diagnostic = Diagnostic::new(&codes::NAME, format!("{what} (offset {at})"));
            all.report(diagnostic.help("rename it and make the archive anew"));
            return;
        }
    };
    let excluded =
        |path: &TreePath| options.exclude.iter().any(|out| path.strip_prefix(out).is_some());
    if path.is_root() || excluded(&path) {
        return;
    }
    let kind = member.kind();
    // A directory may be named again, as `tar -r` does; its last mode counts.
    let directory =
        |entry: &Entry| matches!(entry.node, Node::Directory) && kind == Kind::Directory;
    let before = all.entries.get(&path).filter(|entry| !directory(entry));
    if let Some(Entry { offset, .. }) = before {
        let what = format!("`{path}` stands at offset {offset} and again at {at}");
        all.report(Diagnostic::new(&codes::DUPLICATE, what).at(path.as_str()).help("remove one"));
        return;
    }
    let told = |record: &&String| {
        !matches!(
            record.as_str(),
            "mtime" | "atime" | "ctime" | "uname" | "gname" | "LIBARCHIVE.creationtime"
        )
    };
    let lost: Vec<_> = member.ignored_records().iter().filter(told).cloned().collect();
    if !lost.is_empty() {
        let what = format!("the records {} are left out", lost.join(", "));
        all.report(Diagnostic::new(&codes::LOST_RECORDS, what).at(path.as_str()));
    }
    if member.mode() & 0o6000 != 0 && kind != Kind::Symlink {
        all.report(set_id(&path, member.mode()));
    }
    for (field, value) in [("owner", member.uid()), ("group", member.gid())] {
        if value > u64::from(u32::MAX) {
            all.report(number(&path, &format!("its {field}, {value}, has more than 32 bits")));
        }
    }
    if member.mtime() < 0 {
        all.report(number(&path, &format!("its time, {}, is before 1970", member.mtime())));
    }
    let mut entry = Entry {
        node: Node::Directory,
        mode: member.mode() & 0o7777,
        uid: member.uid() as u32,
        gid: member.gid() as u32,
        mtime: member.mtime(),
        offset: at,
    };
    match kind {
        Kind::Directory => {}
        Kind::Symlink => match std::str::from_utf8(member.link()) {
            Ok(target) => entry.node = Node::Symlink { target: target.to_owned() },
            Err(_) => {
                let what = format!("the target {} is not UTF-8", member.link().escape_ascii());
                all.report(Diagnostic::new(&codes::NAME, what).at(path.as_str()));
                return;
            }
        },
        Kind::File => {
            let size = member.size();
            let place = match member.segments() {
                None => Bytes::InTar(member.data_offset()),
                Some(_) => Bytes::Sparse(Box::new(member)),
            };
            all.contents.push(Content { size, place });
            entry.node = Node::File { content: all.contents.len() - 1 };
        }
        Kind::HardLink => {
            let target = member_path(member.link()).ok();
            let first = target.as_ref().and_then(|target| all.entries.get(target));
            let Some(Entry { node: Node::File { content }, mode, .. }) = first else {
                let what = format!(
                    "a hard link to {}, which is no file in front of it",
                    member.link().escape_ascii()
                );
                all.report(Diagnostic::new(&codes::LINK, what).at(path.as_str()));
                return;
            };
            entry.mode = *mode;
            entry.node = Node::File { content: *content };
        }
        Kind::CharDevice | Kind::BlockDevice | Kind::Fifo | Kind::Other(_) => {
            let what = format!("a {kind} at offset {at}");
            all.report(
                Diagnostic::new(&codes::KIND, what)
                    .at(path.as_str())
                    .help(format!("leave it out with --exclude {path}")),
            );
            return;
        }
    }
    all.entries.insert(path, entry);
}

fn member_path(bytes: &[u8]) -> Result<TreePath, String> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| format!("the name `{}` is not UTF-8", bytes.escape_ascii()))?;
    TreePath::normalise(text).map_err(|error| match error {
        PathError::Absolute(_) => format!("the name `{text}` is absolute"),
        PathError::Escapes(_) => format!("the name `{text}` leaves the package by `..`"),
        other => other.to_string(),
    })
}

fn tar_fault(error: &TarError) -> Diagnostic {
    let mut diagnostic = Diagnostic::new(&codes::TAR, error.to_string());
    if let Some(name) = error.name() {
        diagnostic = diagnostic.at(String::from_utf8_lossy(name));
    }
    diagnostic.help("make the archive anew, for instance with `tar -cf`")
}
