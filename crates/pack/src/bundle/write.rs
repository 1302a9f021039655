//! Making a bundle out of an app.

use std::io::{self, Write};

use flate2::{Compression, GzBuilder};
use holdall_diagnostics::{Diagnostic, Severity};
use holdall_skill::directory::read_document;
use holdall_tar::{Content, NewMember, Writer};
use holdall_tree::{
    Algorithm, Digest, FileKind, Limits, Tree, TreeError, TreePath, portable, walk,
};
use sha2::Digest as _;

use super::{BUNDLE_MANIFEST, BundleLimits, BundleManifest};
use crate::app::{APP_DIRECTORY, APP_FILE, AppManifest, check_app};
use crate::codes;

/// The time in every bundle, so that the same app is the same bytes whenever it is packed.
const CREATED_AT: &str = "1970-01-01T00:00:00.000Z";

/// The hosts that can read what is packed.
const AGENTPROTO_VERSION: &str = ">=0.1.0";

/// How an app is packed.
#[derive(Debug, Clone, Default)]
pub struct BundleOptions {
    /// What is left out, with all below it; the output itself belongs here.
    pub exclude: Vec<TreePath>,
    /// Secrets that are meant to be packed.
    pub include: Vec<TreePath>,
}

/// What was written.
#[derive(Debug, Clone, PartialEq)]
pub struct Bundled {
    /// The list of files that is in it.
    pub manifest: BundleManifest,
    /// What was left out, as warnings.
    pub diagnostics: Vec<Diagnostic>,
}

/// Writes the app at the root of `tree` as a bundle. The error is everything that keeps it from
/// being one; what `out` has by then is nothing to keep. Files are read twice, once for the list
/// and once for the archive; one that changed in between is an error.
pub fn write_bundle(
    tree: &dyn Tree,
    options: &BundleOptions,
    out: impl Write,
) -> Result<Bundled, Vec<Diagnostic>> {
    let app = document(tree)?;
    let (files, diagnostics) = collect(tree, options);
    if diagnostics.iter().any(|found| found.severity == Severity::Error) {
        return Err(diagnostics);
    }
    let one = |error: TreeError| {
        vec![Diagnostic::new(&codes::APP_FILE, error.to_string()).at(error.path.as_str())]
    };
    let (total_size, sha256) = measure(tree, &files).map_err(one)?;
    let manifest = describe(&app, &files, total_size, sha256);
    let written = archive(tree, &files, &manifest, out).map_err(|error| match error {
        ArchiveError::Tree(error) => one(error),
        ArchiveError::Changed(path) => {
            vec![
                Diagnostic::new(&codes::APP_FILE, "it changed while it was packed")
                    .at(path.as_str())
                    .help("pack again when nothing writes to the app"),
            ]
        }
        ArchiveError::Write(error) => {
            vec![Diagnostic::new(&codes::BUNDLE_READ, format!("it cannot be written: {error}"))]
        }
    })?;
    if written != sha256 {
        let what = "a file changed while it was packed";
        let help = "pack again when nothing writes to the app";
        return Err(vec![Diagnostic::new(&codes::APP_FILE, what).help(help)]);
    }
    Ok(Bundled { manifest, diagnostics })
}

/// The app's document. The format knows it at `.agentproto/APP.md` alone.
fn document(tree: &dyn Tree) -> Result<AppManifest, Vec<Diagnostic>> {
    let path = format!("{APP_DIRECTORY}/{APP_FILE}");
    let absent = || {
        let help = "bundles are made of apps whose document stands there; move APP.md";
        vec![Diagnostic::new(&codes::NOT_AN_APP, format!("there is no `{path}`")).help(help)]
    };
    let path = TreePath::new(path.clone()).map_err(|_| absent())?;
    if !tree.exists(&path) {
        return Err(absent());
    }
    let source = read_document(tree, &path).map_err(|found| vec![*found])?;
    let checked = check_app(&source);
    checked.app.ok_or_else(|| {
        checked.diagnostics.into_iter().map(|found| found.at(path.as_str())).collect()
    })
}

/// A file that goes in.
#[derive(Debug)]
struct Entry {
    path: TreePath,
    size: u64,
    executable: bool,
}

fn collect(tree: &dyn Tree, options: &BundleOptions) -> (Vec<Entry>, Vec<Diagnostic>) {
    let limits = BundleLimits::default();
    let mut files = Vec::new();
    let mut found = Vec::new();
    let left_out = |path: &TreePath, what: &str| {
        Diagnostic::new(&codes::BUNDLE_LEFT_OUT, what.to_owned()).at(path.as_str())
    };
    let mut steps = walk(tree, &TreePath::root(), Limits::default());
    let mut bytes = 0_u64;
    while let Some(step) = steps.next() {
        let entry = match step {
            Ok(entry) => entry,
            Err(error) => {
                let fault = Diagnostic::new(&codes::APP_FILE, error.to_string());
                found.push(fault.at(error.path.as_str()));
                continue;
            }
        };
        let path = &entry.path;
        let name = path.file_name().unwrap_or_default();
        let below = |all: &[TreePath]| all.iter().any(|each| path.strip_prefix(each).is_some());
        let directory = entry.kind == FileKind::Directory;
        if below(&options.exclude) {
            steps.skip_children();
            continue;
        }
        if directory && matches!(name, "node_modules" | ".git") {
            found.push(left_out(path, "left out: the format has no such directories"));
            steps.skip_children();
            continue;
        }
        if directory {
            continue;
        }
        if path.as_str() == BUNDLE_MANIFEST {
            found.push(left_out(path, "left out: a bundle has a `manifest.json` of its own"));
            continue;
        }
        match entry.kind {
            FileKind::Symlink => {
                found.push(left_out(path, "left out: the format has no links"));
                continue;
            }
            FileKind::Other => {
                let fault = Diagnostic::new(&codes::BUNDLE_ENTRY, "a device, named pipe or socket");
                found.push(fault.at(path.as_str()).help("remove it, or say --exclude"));
                continue;
            }
            _ => {}
        }
        if is_secret(name) && !below(&options.include) {
            let fault =
                Diagnostic::new(&codes::BUNDLE_SECRET, "it is rarely meant to be published");
            let help = "say --exclude to leave it out, or --include if it is meant";
            found.push(fault.at(path.as_str()).help(help));
            continue;
        }
        match tree.metadata(path) {
            Ok(metadata) => {
                bytes = bytes.saturating_add(metadata.size);
                let executable = metadata.executable();
                files.push(Entry { path: path.clone(), size: metadata.size, executable });
            }
            Err(error) => {
                found.push(Diagnostic::new(&codes::APP_FILE, error.to_string()).at(path.as_str()));
            }
        }
    }
    files.sort_by(|a, b| a.path.as_str().cmp(b.path.as_str()));
    if files.len() + 1 > limits.entries || bytes > limits.bytes {
        let what = format!("the app has {} files of {bytes} bytes", files.len());
        found.push(Diagnostic::new(&codes::BUNDLE_LIMIT, what));
    }
    if let Some(entry) = files.iter().find(|entry| entry.path.as_str().len() > limits.path) {
        let what = format!("its path has more than {} bytes", limits.path);
        found.push(Diagnostic::new(&codes::BUNDLE_LIMIT, what).at(entry.path.as_str()));
    }
    for (first, second) in portable::collisions(files.iter().map(|entry| entry.path.as_str())) {
        let what = format!("`{first}` is the same name where letter case does not count");
        found.push(Diagnostic::new(&codes::BUNDLE_FILES, what).at(second).help("rename one"));
    }
    (files, found)
}

/// Files with keys and passwords, by their names.
fn is_secret(name: &str) -> bool {
    let key = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"].contains(&name);
    name == ".env" || name.starts_with(".env.") || key
}

/// Bytes of all files and their aggregate.
fn measure(tree: &dyn Tree, files: &[Entry]) -> Result<(u64, Digest), TreeError> {
    let mut hash = sha2::Sha256::new();
    let mut total = 0;
    for entry in files {
        total += each_chunk(tree, &entry.path, |bytes| {
            hash.update(bytes);
            Ok::<(), TreeError>(())
        })?;
    }
    Ok((total, Digest::new(Algorithm::AgentappV1, hash.finalize().into())))
}

/// Gives a file's bytes piece by piece, and says how many there were.
fn each_chunk<E: From<TreeError>>(
    tree: &dyn Tree,
    path: &TreePath,
    mut give: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<u64, E> {
    let file = tree.open(path)?;
    let mut buffer = vec![0; 64 << 10];
    let mut at = 0;
    loop {
        let n = file.read_at(&mut buffer, at)?;
        if n == 0 {
            return Ok(at);
        }
        give(&buffer[..n])?;
        at += n as u64;
    }
}

fn describe(app: &AppManifest, files: &[Entry], total: u64, sha256: Digest) -> BundleManifest {
    let frontmatter = app.to_json();
    let slug = frontmatter.get("slug").and_then(serde_json::Value::as_str);
    let id = app.id().or(slug.filter(|slug| !slug.is_empty())).unwrap_or("app");
    let base = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    BundleManifest {
        id: id.to_owned(),
        name: app.name().map(str::to_owned),
        version: app.version().to_owned(),
        description: app.description().map(str::to_owned),
        agents: app.agents().iter().map(|agent| agent.id.clone()).collect(),
        workflows: app.workflows().iter().map(|workflow| workflow.id.clone()).collect(),
        ui: app.ui().map(|ui| base(&ui.path)).into_iter().collect(),
        files: files.iter().map(|entry| entry.path.to_string()).collect(),
        file_count: files.len() as u64,
        total_size: total,
        sha256,
        created_at: CREATED_AT.to_owned(),
        agentproto_version: AGENTPROTO_VERSION.to_owned(),
    }
}

/// Why the archive could not be written.
enum ArchiveError {
    Tree(TreeError),
    Changed(TreePath),
    Write(io::Error),
}

impl From<TreeError> for ArchiveError {
    fn from(error: TreeError) -> Self {
        Self::Tree(error)
    }
}

impl From<io::Error> for ArchiveError {
    fn from(error: io::Error) -> Self {
        Self::Write(error)
    }
}

/// Writes the tar, `manifest.json` first, and gives back the aggregate of what was written.
fn archive(
    tree: &dyn Tree,
    files: &[Entry],
    manifest: &BundleManifest,
    out: impl Write,
) -> Result<Digest, ArchiveError> {
    let gzip = GzBuilder::new().mtime(0).write(out, Compression::default());
    let mut tar = Writer::new(gzip);
    let text = format!("{:#}\n", manifest.to_json());
    append(&mut tar, BUNDLE_MANIFEST, text.len() as u64, false)?;
    tar.write_all(text.as_bytes())?;
    let mut hash = sha2::Sha256::new();
    for entry in files {
        append(&mut tar, entry.path.as_str(), entry.size, entry.executable)?;
        let mut left = entry.size;
        each_chunk(tree, &entry.path, |bytes| {
            left = left
                .checked_sub(bytes.len() as u64)
                .ok_or_else(|| ArchiveError::Changed(entry.path.clone()))?;
            hash.update(bytes);
            Ok::<(), ArchiveError>(tar.write_all(bytes)?)
        })?;
        if left > 0 {
            return Err(ArchiveError::Changed(entry.path.clone()));
        }
    }
    let gzip = tar.finish()?;
    gzip.finish()?.flush()?;
    Ok(Digest::new(Algorithm::AgentappV1, hash.finalize().into()))
}

fn append<W: Write>(
    tar: &mut Writer<W>,
    path: &str,
    size: u64,
    executable: bool,
) -> Result<(), ArchiveError> {
    let mode = if executable { 0o755 } else { 0o644 };
    let member = NewMember::new(path, Content::File { size }, mode)
        .map_err(|error| io::Error::other(error.to_string()))?;
    Ok(tar.append(&member)?)
}
