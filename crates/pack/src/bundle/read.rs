//! Opening a bundle: decompressed once into a file without a name, checked whole, then served.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use flate2::bufread::GzDecoder;
use holdall_diagnostics::{Code, Diagnostic};
use holdall_tar::{Kind, ReadAt, Reader};
use holdall_tree::{
    Algorithm, Digest, DirEntry, EntryName, FileKind, Metadata, Tree, TreeError, TreeErrorKind,
    TreeFile, TreePath, portable,
};
use sha2::Digest as _;

use super::manifest::MAX_BYTES;
use super::{BUNDLE_MANIFEST, BundleManifest};
use crate::app::read_app;
use crate::codes;

/// What a bundle may grow to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BundleLimits {
    /// Members of the tar.
    pub entries: usize,
    /// Bytes of all files.
    pub bytes: u64,
    /// Bytes of a path.
    pub path: usize,
}

impl Default for BundleLimits {
    fn default() -> Self {
        Self { entries: 20_000, bytes: 1 << 30, path: 1024 }
    }
}

/// Bytes of headers and padding that a tar of so many members has at most.
const OVERHEAD: u64 = 64 << 20;

/// A checked bundle, as the tree of its app: everything but `manifest.json`.
#[derive(Clone)]
pub struct Bundle {
    manifest: Arc<BundleManifest>,
    archive: Digest,
    tar: Arc<File>,
    nodes: Arc<BTreeMap<TreePath, Node>>,
    warnings: Arc<[Diagnostic]>,
}

#[derive(Debug, Clone, Copy)]
enum Node {
    Directory,
    File { offset: u64, size: u64, executable: bool },
}

impl fmt::Debug for Bundle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bundle").field("id", &self.manifest.id).finish_non_exhaustive()
    }
}

/// The decompressed tar, read by position.
#[derive(Debug)]
struct Spooled<'a>(&'a File, u64);

impl ReadAt for Spooled<'_> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        FileExt::read_at(self.0, buf, offset)
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.1)
    }
}

fn fault(code: &Code, what: impl Into<String>) -> Box<Diagnostic> {
    Box::new(Diagnostic::new(code, what).help("get the bundle again from its publisher"))
}

impl Bundle {
    /// Reads and checks a bundle. The first fault is the error, with the path inside the bundle
    /// where it has one; nothing is left behind.
    pub fn open(archive: impl Read, limits: BundleLimits) -> Result<Self, Box<Diagnostic>> {
        let (tar, length, archive) = decompress(archive, limits)?;
        let mut nodes = members(&tar, length, limits)?;
        let manifest = manifest(&tar, &mut nodes)?;
        check(&tar, &nodes, &manifest)?;
        let mut bundle = Self {
            manifest: Arc::new(manifest),
            archive,
            tar: Arc::new(tar),
            nodes: Arc::new(nodes),
            warnings: Arc::default(),
        };
        bundle.warnings = bundle.compare()?.into();
        Ok(bundle)
    }

    /// Compares what the list says of the app with the app's own document: another id is an
    /// error, another version a warning. A document that cannot be read is no matter of the
    /// list's; reading the app says what is wrong with it.
    fn compare(&self) -> Result<Vec<Diagnostic>, Box<Diagnostic>> {
        let Some(app) = read_app(self, &TreePath::root()).app else { return Ok(Vec::new()) };
        let says = |code: &Code, key: &str, listed: &str, own: &str| {
            let what = format!("`{key}` is `{listed}`, and the app's own is `{own}`");
            Diagnostic::new(code, what)
                .at(BUNDLE_MANIFEST)
                .help("make the bundle anew with `holdall pack APP -o NAME.agentapp`")
        };
        let listed = &*self.manifest;
        if let Some(own) = app.id().filter(|own| *own != listed.id) {
            return Err(Box::new(says(&codes::BUNDLE_ID, "id", &listed.id, own)));
        }
        let differs = app.version() != listed.version;
        Ok(differs
            .then(|| says(&codes::BUNDLE_VERSION, "version", &listed.version, app.version()))
            .into_iter()
            .collect())
    }

    /// What is odd about the list without making the bundle unusable, at `manifest.json`.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// The list of files.
    pub fn manifest(&self) -> &BundleManifest {
        &self.manifest
    }

    /// SHA-256 of the bundle file, which covers every byte of it.
    pub const fn archive(&self) -> Digest {
        self.archive
    }

    /// SHA-256 of all files' bytes one after the other, which covers neither names nor boundaries.
    pub fn aggregate(&self) -> Digest {
        self.manifest.sha256
    }

    fn node(&self, path: &TreePath) -> Result<Node, TreeError> {
        if path.is_root() {
            return Ok(Node::Directory);
        }
        if let Some(node) = self.nodes.get(path) {
            return Ok(*node);
        }
        let mut above = path.parent();
        while let Some(dir) = above.filter(|dir| !dir.is_root()) {
            if let Some(Node::File { .. }) = self.nodes.get(&dir) {
                let what = format!("{dir} is not a directory");
                return Err(TreeError::new(TreeErrorKind::NotADirectory, path, what));
            }
            above = dir.parent();
        }
        Err(TreeError::new(TreeErrorKind::NotFound, path, "no such file"))
    }
}

/// Counts and hashes what goes by.
struct Hashing<R> {
    inner: R,
    hash: sha2::Sha256,
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.hash.update(&buf[..n]);
        Ok(n)
    }
}

fn decompress(
    archive: impl Read,
    limits: BundleLimits,
) -> Result<(File, u64, Digest), Box<Diagnostic>> {
    let unreadable = |what: String| fault(&codes::BUNDLE_READ, what);
    let spool = |error: io::Error| {
        Box::new(
            Diagnostic::new(&codes::BUNDLE_READ, format!("it cannot be unpacked: {error}"))
                .help("free some space for temporary files"),
        )
    };
    let mut tar = tempfile::tempfile().map_err(spool)?;
    let hashing = Hashing { inner: archive, hash: sha2::Sha256::new() };
    let mut unpacked = GzDecoder::new(BufReader::with_capacity(64 << 10, hashing));
    let most = limits.bytes.saturating_add(OVERHEAD);
    let mut length: u64 = 0;
    let mut buffer = vec![0; 64 << 10];
    loop {
        let n = match unpacked.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(unreadable(format!("it is no whole gzip stream: {error}"))),
        };
        length += n as u64;
        if length > most {
            let what = format!("it unpacks to more than {} bytes", limits.bytes);
            return Err(fault(&codes::BUNDLE_LIMIT, what));
        }
        tar.write_all(&buffer[..n]).map_err(spool)?;
    }
    let mut rest = unpacked.into_inner();
    match rest.fill_buf() {
        Ok([]) => {}
        Ok(_) => return Err(unreadable("bytes follow the end of the gzip stream".to_owned())),
        Err(error) => return Err(unreadable(error.to_string())),
    }
    tar.seek(SeekFrom::Start(0)).map_err(spool)?;
    let hash = rest.into_inner().hash.finalize();
    Ok((tar, length, Digest::new(Algorithm::Sha256, hash.into())))
}

/// The members of the tar: regular files and directories of sane names, each once.
fn members(
    tar: &File,
    length: u64,
    limits: BundleLimits,
) -> Result<BTreeMap<TreePath, Node>, Box<Diagnostic>> {
    let unreadable = |error: holdall_tar::TarError| {
        fault(&codes::BUNDLE_READ, format!("the tar in it is damaged: {error}"))
    };
    let mut reader = Reader::positioned(Spooled(tar, length)).map_err(unreadable)?;
    let mut nodes: BTreeMap<TreePath, Node> = BTreeMap::new();
    let (mut entries, mut bytes) = (0_usize, 0_u64);
    while let Some(member) = reader.next_member().map_err(unreadable)? {
        entries += 1;
        if entries > limits.entries {
            let what = format!("it has more than {} entries", limits.entries);
            return Err(fault(&codes::BUNDLE_LIMIT, what));
        }
        let shown = String::from_utf8_lossy(member.path()).into_owned();
        if member.path().len() > limits.path {
            let what = format!("a path has more than {} bytes", limits.path);
            return Err(fault(&codes::BUNDLE_LIMIT, what));
        }
        let path = safe_path(member.path(), member.kind() == Kind::Directory)
            .map_err(|what| fault(&codes::BUNDLE_PATH, format!("the name `{shown}` {what}")))?;
        let node = match member.kind() {
            Kind::Directory => Node::Directory,
            Kind::File if member.segments().is_none() => {
                bytes = bytes.saturating_add(member.size());
                if bytes > limits.bytes {
                    let what = format!("its files have more than {} bytes", limits.bytes);
                    return Err(fault(&codes::BUNDLE_LIMIT, what));
                }
                let executable = member.mode() & 0o111 != 0;
                Node::File { offset: member.data_offset(), size: member.size(), executable }
            }
            kind => {
                let what = format!("`{shown}` is a {kind}, not a file or directory");
                return Err(fault(&codes::BUNDLE_ENTRY, what));
            }
        };
        if path.is_root() {
            continue;
        }
        match (nodes.get(&path), node) {
            (None, _) => {
                nodes.insert(path, node);
            }
            (Some(Node::Directory), Node::Directory) => {}
            (Some(_), _) => {
                return Err(fault(&codes::BUNDLE_FILES, format!("`{path}` is there twice")));
            }
        }
    }
    match reader.end() {
        Some(end) if end.trailing.is_some() => {
            return Err(fault(&codes::BUNDLE_READ, "data follow the end of the tar"));
        }
        _ => {}
    }
    // Directories above files need no member of their own.
    let paths: Vec<TreePath> = nodes.keys().cloned().collect();
    for path in paths {
        let mut above = path.parent();
        while let Some(dir) = above.filter(|dir| !dir.is_root()) {
            match nodes.get(&dir) {
                Some(Node::File { .. }) => {
                    let what = format!("`{dir}` is a file, and `{path}` lies below it");
                    return Err(fault(&codes::BUNDLE_FILES, what));
                }
                Some(Node::Directory) => break,
                None => {
                    above = dir.parent();
                    nodes.insert(dir, Node::Directory);
                }
            }
        }
    }
    if let Some((first, second)) = portable::collisions(nodes.keys().map(TreePath::as_str)).first()
    {
        let what =
            format!("`{first}` and `{second}` are one name where letter case does not count");
        return Err(fault(&codes::BUNDLE_FILES, what));
    }
    Ok(nodes)
}

/// A name of the tar as a path. `./` in front is what `tar -c .` writes, a slash behind marks a
/// directory; nothing else is bent into shape.
fn safe_path(name: &[u8], directory: bool) -> Result<TreePath, &'static str> {
    let name = std::str::from_utf8(name).map_err(|_| "is not UTF-8")?;
    let name = if name == "." { "" } else { name.strip_prefix("./").unwrap_or(name) };
    let name = if directory { name.strip_suffix('/').unwrap_or(name) } else { name };
    listed_path(name, directory)
}

/// A path as the manifest lists it.
fn listed_path(name: &str, may_be_root: bool) -> Result<TreePath, &'static str> {
    if name.is_empty() {
        return if may_be_root { Ok(TreePath::root()) } else { Err("is empty") };
    }
    if name.starts_with(['/', '\\']) {
        return Err("is absolute");
    }
    if name.contains(['\\', '\0']) || name.chars().any(char::is_control) {
        return Err("has a backslash or a control character");
    }
    if name.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err("has an empty, `.` or `..` component");
    }
    if matches!(name.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic()) {
        return Err("begins with a drive letter");
    }
    TreePath::new(name).map_err(|_| "is no usable path")
}

fn manifest(
    tar: &File,
    nodes: &mut BTreeMap<TreePath, Node>,
) -> Result<BundleManifest, Box<Diagnostic>> {
    let absent = || {
        Box::new(
            Diagnostic::new(&codes::BUNDLE_NO_MANIFEST, "there is no `manifest.json` at its root")
                .help("make the bundle with `holdall pack APP -o NAME.agentapp`"),
        )
    };
    let path = TreePath::new(BUNDLE_MANIFEST).map_err(|_| absent())?;
    let Some(Node::File { offset, size, .. }) = nodes.remove(&path) else { return Err(absent()) };
    if size > MAX_BYTES {
        return Err(fault(&codes::BUNDLE_LIMIT, "its `manifest.json` is larger than 32 MiB"));
    }
    let mut bytes = vec![0; usize::try_from(size).unwrap_or_default()];
    tar.read_exact_at(&mut bytes, offset)
        .map_err(|error| fault(&codes::BUNDLE_READ, error.to_string()))?;
    BundleManifest::parse(&bytes)
}

/// What is listed is what is there, and has the digest that the manifest says.
fn check(
    tar: &File,
    nodes: &BTreeMap<TreePath, Node>,
    manifest: &BundleManifest,
) -> Result<(), Box<Diagnostic>> {
    let mut listed = Vec::with_capacity(manifest.files.len());
    for name in &manifest.files {
        let path = listed_path(name, false).map_err(|what| {
            let what = format!("the listed path `{name}` {what}");
            Box::new(fault(&codes::BUNDLE_PATH, what).at(BUNDLE_MANIFEST))
        })?;
        listed.push(path);
    }
    let files = |what: String| Err(Box::new(fault(&codes::BUNDLE_FILES, what).at(BUNDLE_MANIFEST)));
    // Packers sort by bytes or, as JavaScript does, by UTF-16 units.
    let by_bytes = manifest.files.is_sorted_by(|a, b| a < b);
    let by_units = manifest.files.is_sorted_by(|a, b| a.encode_utf16().lt(b.encode_utf16()));
    if !by_bytes && !by_units {
        return files("the list of files is not sorted, or names one twice".to_owned());
    }
    let is_file = |path: &&TreePath| matches!(nodes.get(*path), Some(Node::File { .. }));
    if let Some(path) = listed.iter().find(|path| !is_file(path)) {
        return files(format!("`{path}` is listed and not there"));
    }
    let known: std::collections::HashSet<&TreePath> = listed.iter().collect();
    for (path, node) in nodes {
        if matches!(node, Node::File { .. }) && !known.contains(path) {
            return files(format!("`{path}` is there and not listed"));
        }
    }
    let differs = |what: String| {
        let help = "the bundle was damaged or changed: get it again from its publisher";
        let found = Diagnostic::new(&codes::BUNDLE_DIGEST, what).at(BUNDLE_MANIFEST);
        Err(Box::new(found.help(help)))
    };
    if manifest.file_count != listed.len() as u64 {
        let (says, has) = (manifest.file_count, listed.len());
        return differs(format!("`fileCount` is {says}, and {has} files are there"));
    }
    let mut hash = sha2::Sha256::new();
    let mut total = 0_u64;
    let mut buffer = vec![0; 64 << 10];
    for path in &listed {
        let Some(Node::File { offset, size, .. }) = nodes.get(path) else { continue };
        total += size;
        let mut at = 0;
        while at < *size {
            let want = buffer.len().min(usize::try_from(size - at).unwrap_or(buffer.len()));
            tar.read_exact_at(&mut buffer[..want], offset + at)
                .map_err(|error| fault(&codes::BUNDLE_READ, error.to_string()))?;
            hash.update(&buffer[..want]);
            at += want as u64;
        }
    }
    if manifest.total_size != total {
        let says = manifest.total_size;
        return differs(format!("`totalSize` is {says}, and the files have {total} bytes"));
    }
    let found = Digest::new(Algorithm::AgentappV1, hash.finalize().into());
    if found != manifest.sha256 {
        return differs(format!("the digest of the files is {found}, not {}", manifest.sha256));
    }
    Ok(())
}

impl Tree for Bundle {
    fn metadata(&self, path: &TreePath) -> Result<Metadata, TreeError> {
        let (kind, size, mode) = match self.node(path)? {
            Node::Directory => (FileKind::Directory, 0, 0o755),
            Node::File { size, executable: true, .. } => (FileKind::File, size, 0o755),
            Node::File { size, .. } => (FileKind::File, size, 0o644),
        };
        Ok(Metadata { kind, size, mode, mtime: 0 })
    }

    fn open(&self, path: &TreePath) -> Result<Box<dyn TreeFile>, TreeError> {
        match self.node(path)? {
            Node::Directory => {
                Err(TreeError::new(TreeErrorKind::IsADirectory, path, "a directory, not a file"))
            }
            Node::File { offset, size, .. } => Ok(Box::new(BundleFile {
                tar: Arc::clone(&self.tar),
                path: path.clone(),
                offset,
                size,
            })),
        }
    }

    fn read_dir(&self, path: &TreePath) -> Result<Vec<DirEntry>, TreeError> {
        if let Node::File { .. } = self.node(path)? {
            return Err(TreeError::new(TreeErrorKind::NotADirectory, path, "not a directory"));
        }
        let child = |(at, node): (&TreePath, &Node)| {
            (at.parent().as_ref() == Some(path)).then(|| DirEntry {
                name: EntryName::Utf8(at.file_name().unwrap_or_default().to_owned()),
                kind: match node {
                    Node::Directory => FileKind::Directory,
                    Node::File { .. } => FileKind::File,
                },
            })
        };
        let mut entries: Vec<_> = self.nodes.iter().filter_map(child).collect();
        entries.sort();
        Ok(entries)
    }

    fn read_link(&self, path: &TreePath) -> Result<String, TreeError> {
        self.node(path)?;
        Err(TreeError::new(TreeErrorKind::WrongKind, path, "not a link"))
    }
}

/// A file of a bundle.
#[derive(Debug)]
struct BundleFile {
    tar: Arc<File>,
    path: TreePath,
    offset: u64,
    size: u64,
}

impl TreeFile for BundleFile {
    fn len(&self) -> u64 {
        self.size
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<usize, TreeError> {
        let Some(left) = self.size.checked_sub(offset).filter(|left| *left > 0) else {
            return Ok(0);
        };
        let len = usize::try_from(left).unwrap_or(usize::MAX).min(buf.len());
        FileExt::read_at(self.tar.as_ref(), &mut buf[..len], self.offset + offset)
            .map_err(|error| TreeError::from_io(&self.path, &error))
    }

    fn changed(&self) -> Result<bool, TreeError> {
        // Nobody else has the file: it never had a name.
        Ok(false)
    }
}
