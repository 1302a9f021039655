//! The second pass: every offset is known, each file is read once, the package appears whole.

use std::io::{BufWriter, Write as _};
use std::path::Path;

use holdall_diagnostics::Diagnostic;
use holdall_tar::{Content, NewMember, Writer, padded};
use holdall_tree::stage::{Place, StageError, StagedFile};

use super::collect::{self, Collected, CopyError, Entry, Node};
use super::{PackOptions, PackPlan, PlannedEntry, codes};
use crate::encode::{MapOrder, encode_head};
use crate::format::{EntryKind, MODE_DIRECTORY, MODE_FILE, MODE_SYMLINK};
use crate::model::{PackageManifest, TarEntry};

/// Everything in front of the mount, and the members in their order.
#[derive(Debug)]
pub(super) struct Layout {
    head: Vec<u8>,
    rows: Vec<Row>,
    mount_len: u64,
}

/// One row of the index with what its member is made of.
#[derive(Debug)]
struct Row {
    /// Absolute; the member's name is what follows the slash.
    path: String,
    kind: EntryKind,
    offset: u64,
    size: u64,
    mode: u32,
    uid: u32,
    gid: u32,
    mtime: i64,
    link: Option<String>,
    /// The row of the first file of the same bytes.
    same_as: Option<usize>,
    /// The bytes.
    content: Option<usize>,
    /// Whether it has a member: parents of something are implied.
    member: bool,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    /// Bytes of the file.
    pub bytes: u64,
    /// Bytes of the manifest and index chunks and the header.
    pub head: u64,
    /// Files, hard links among them.
    pub files: usize,
    /// Directories, the root included.
    pub directories: usize,
    /// Symbolic links.
    pub links: usize,
}

impl Row {
    fn entry(&self) -> TarEntry<'_> {
        TarEntry {
            path: &self.path,
            kind: self.kind,
            offset: self.offset,
            size: self.size,
            mode: self.mode,
            uid: self.uid,
            gid: self.gid,
            mtime: self.mtime,
            link_target: self.link.as_deref(),
        }
    }

    fn member<'r>(&'r self, rows: &'r [Self]) -> Result<NewMember<'r>, String> {
        let content = match (self.kind, self.same_as) {
            (EntryKind::Directory, _) => Content::Directory,
            (EntryKind::Symlink, _) => {
                Content::Symlink { target: self.link.as_deref().unwrap_or_default() }
            }
            (EntryKind::File, Some(first)) => Content::HardLink { target: &rows[first].path[1..] },
            (EntryKind::File, None) => Content::File { size: self.size },
        };
        let member = NewMember::new(&self.path[1..], content, self.mode & 0o7777);
        let member = member.map_err(|error| error.to_string())?;
        Ok(member.owned_by(self.uid, self.gid).modified(self.mtime))
    }
}

/// Lays out the package. The entries are used up, so that they and the rows that are made of them
/// are not in memory together.
pub(super) fn layout(
    manifest: &PackageManifest,
    options: &PackOptions,
    all: &mut Collected,
) -> Result<Layout, Box<Diagnostic>> {
    let entries = std::mem::take(&mut all.entries);
    let mut rows = Vec::with_capacity(entries.len() + 1);
    rows.push(Row {
        path: "/".to_owned(),
        kind: EntryKind::Directory,
        offset: 0,
        size: 0,
        mode: MODE_DIRECTORY | 0o755,
        uid: 0,
        gid: 0,
        mtime: 0,
        link: None,
        same_as: None,
        content: None,
        member: false,
    });
    // `TreePath`s sort by bytes, and so do they with a slash in front.
    let contents = &all.contents;
    rows.extend(
        entries.into_iter().map(|(path, entry)| row(path.as_str(), entry, options, contents)),
    );
    let mut firsts: Vec<Option<usize>> = vec![None; contents.len()];
    let mut position = 0;
    for at in 0..rows.len() {
        if rows[at].kind == EntryKind::Directory {
            rows[at].member = at > 0 && (options.preserve || is_empty(&rows, at));
        }
        if let Some(content) = rows[at].content {
            rows[at].same_as = firsts[content];
            firsts[content].get_or_insert(at);
        }
        if !rows[at].member {
            continue;
        }
        let member = rows[at].member(&rows).map_err(|what| {
            Box::new(Diagnostic::new(&codes::NUMBER, what).at(&rows[at].path[1..]))
        })?;
        let data = member.data_len();
        position += member.header_len();
        if rows[at].kind == EntryKind::File {
            rows[at].offset = match rows[at].same_as {
                Some(first) => rows[first].offset,
                None => position,
            };
        }
        position += padded(data).unwrap_or(data);
    }
    let entries = rows.iter().map(Row::entry);
    let head = encode_head(manifest, entries, options.version, MapOrder::Canonical)
        .map_err(|error| Box::new(error.diagnostic()))?;
    Ok(Layout { head, rows, mount_len: position + 1024 })
}

/// Whether a directory's row has none below it. It sorts before them, though not directly.
fn is_empty(rows: &[Row], at: usize) -> bool {
    let prefix = format!("{}/", rows[at].path);
    let behind = &rows[at + 1..];
    let next = behind.first().filter(|row| row.path.starts_with(&prefix)).or_else(|| {
        let below = behind.partition_point(|row| row.path.as_str() < prefix.as_str());
        behind.get(below)
    });
    !next.is_some_and(|row| row.path.starts_with(&prefix))
}

fn row(path: &str, entry: Entry, options: &PackOptions, contents: &[collect::Content]) -> Row {
    let (kind, type_bits, mode) = match &entry.node {
        Node::File { .. } if entry.mode & 0o111 == 0 => (EntryKind::File, MODE_FILE, 0o644),
        Node::File { .. } => (EntryKind::File, MODE_FILE, 0o755),
        Node::Directory => (EntryKind::Directory, MODE_DIRECTORY, 0o755),
        Node::Symlink { .. } => (EntryKind::Symlink, MODE_SYMLINK, 0o777),
    };
    let keep = options.preserve;
    let mode = if keep && kind != EntryKind::Symlink { entry.mode & 0o7777 } else { mode };
    let content = match entry.node {
        Node::File { content } => Some(content),
        _ => None,
    };
    Row {
        path: format!("/{path}"),
        kind,
        offset: 0,
        size: content.map_or(0, |content| contents[content].size),
        mode: type_bits | mode,
        uid: if keep { entry.uid } else { 0 },
        gid: if keep { entry.gid } else { 0 },
        mtime: if keep { entry.mtime } else { 0 },
        link: match entry.node {
            Node::Symlink { target } => Some(target),
            _ => None,
        },
        same_as: None,
        content,
        member: true,
    }
}

impl Layout {
    pub(super) fn planned(&self) -> impl ExactSizeIterator<Item = PlannedEntry> {
        self.rows.iter().map(|row| PlannedEntry {
            path: row.path.clone(),
            kind: row.kind,
            size: row.size,
            mode: row.mode & 0o7777,
            link_target: row.link.clone(),
            same_as: row.same_as.map(|first| self.rows[first].path.clone()),
        })
    }
}

/// An error about the output, with the errno name.
pub(super) fn unwritable(out: &Path, error: &StageError) -> Box<Diagnostic> {
    Box::new(Diagnostic::new(&codes::WRITE, error.told()).at(out.display().to_string()))
}

/// The same of a failed call.
pub(super) fn not_written(out: &Path, error: &std::io::Error) -> Box<Diagnostic> {
    unwritable(out, &StageError::from_io(out, error))
}

/// Begins the output. What cannot be replaced is refused before anything is read.
pub(super) fn stage(out: &Path) -> Result<StagedFile, Box<Diagnostic>> {
    let begin = || {
        let place = Place::at(out)?;
        place.takes_a_file()?;
        StagedFile::create(place, 0o644)
    };
    begin().map_err(|error| unwritable(out, &error))
}

impl PackPlan<'_> {
    /// Bytes that the package will have.
    pub fn len(&self) -> u64 {
        self.layout.head.len() as u64 + self.layout.mount_len
    }

    /// Never: a package has a header.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Writes the package to `out`, whole or not at all; a file that is there is replaced.
    pub fn write(&self, out: &Path) -> Result<Packed, Box<Diagnostic>> {
        let staged = stage(out)?;
        let mut writer = BufWriter::with_capacity(1 << 20, staged);
        writer.write_all(&self.layout.head).map_err(|error| not_written(out, &error))?;
        let mut tar = Writer::new(writer);
        for row in self.layout.rows.iter().filter(|row| row.member) {
            let member = row.member(&self.layout.rows).map_err(|what| {
                Box::new(Diagnostic::new(&codes::WRITE, what.clone()).at(&row.path[1..]))
            })?;
            tar.append(&member).map_err(|error| not_written(out, &error))?;
            if let (Some(content), None) = (row.content, row.same_as) {
                let content = &self.collected.contents[content];
                let fault = |code, what: String| {
                    Box::new(
                        Diagnostic::new(code, what).at(&row.path[1..]).help("nothing was written"),
                    )
                };
                let mut open =
                    content.open(&self.input).map_err(|what| fault(&codes::READ, what))?;
                open.copy(&mut |chunk| tar.write_all(chunk)).map_err(|error| match error {
                    CopyError::Read(what) => fault(&codes::READ, what),
                    CopyError::Changed(what) => fault(&codes::CHANGED, what),
                    CopyError::Write(error) => not_written(out, &error),
                })?;
            }
        }
        match self.collected.archive_changed(&self.input) {
            Ok(false) => {}
            Ok(true) => {
                let what = "the tar changed while it was packed";
                let diagnostic = Diagnostic::new(&codes::CHANGED, what);
                return Err(Box::new(diagnostic.help("nothing was written")));
            }
            Err(error) => return Err(Box::new(Diagnostic::new(&codes::READ, error.to_string()))),
        }
        let writer = tar.finish().map_err(|error| not_written(out, &error))?;
        let staged = writer.into_inner().map_err(|error| not_written(out, error.error()))?;
        staged.commit().map_err(|error| unwritable(out, &error))?;
        let count = |kind| self.layout.rows.iter().filter(|row| row.kind == kind).count();
        Ok(Packed {
            bytes: self.len(),
            head: self.layout.head.len() as u64,
            files: count(EntryKind::File),
            directories: count(EntryKind::Directory),
            links: count(EntryKind::Symlink),
        })
    }
}
