//! Packages of npm, through the system's npm.
//!
//! `npm pack` downloads a tarball by the user's own settings (registry, proxy, credentials) and
//! compares it with what the registry says of it; no script of the package is run, and npm's
//! cache is a directory of ours that goes away. Unpacking is done here, strictly.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::read::MultiGzDecoder;
use holdall_tar::{Kind, Reader};
use holdall_tree::stage::StagedDir;
use holdall_tree::{Digest, DirTree, FileKind, Tree as _, TreePath, sha256_file};
use serde_json::Value;
use sha2::{Digest as _, Sha512};

use super::cache::{Cached, TreeRecord, check_tree, hash_of, put_tree, tree_in};
use super::error::About;
use super::{FetchError, Fetched, Fetcher, Limits, Pin};
use crate::{Child, Finished, StoreError};

/// Bytes that npm may print.
const OUTPUT: usize = 16 << 20;
/// Entries of a package.
const ENTRIES: usize = 200_000;
/// A package of ours in a package of npm's.
const SEALED: &str = "dist/package.aospkg";

impl Fetcher {
    /// Fetches an exact version of an npm package. The answer is `dist/package.aospkg` in it if
    /// there is one, else the directory of the package.
    pub fn npm(&self, name: &str, version: &str) -> Result<Fetched, FetchError> {
        let spec = format!("npm:{name}@{version}");
        let about = About(&spec);
        let usable = |text: &str| {
            !text.starts_with('-') && text.bytes().all(|b| b.is_ascii_graphic() && b != b'\\')
        };
        if name.is_empty() || version.is_empty() || version.contains('/') {
            return Err(about.refused("the name or the version is missing"));
        }
        if !usable(name) || !usable(version) || name.contains("..") || name.contains(':') {
            return Err(about.refused("npm could take it for something else"));
        }
        let address = self.npm_address(name);
        let place = self.cache().tree("npm", &address, version);
        if let Some(found) = self.cached_version(about, &place, &address, version)? {
            return Ok(found);
        }
        if self.offline {
            return Err(about.offline());
        }
        let program = self.program(about, "npm")?;
        let _lock = self.lock(&format!("{address}@{version}"))?;
        if let Some(found) = self.cached_version(about, &place, &address, version)? {
            return Ok(found);
        }
        let limits = self.limits()?;
        let (scratch, mut stage) = (self.cache().scratch()?, self.cache().stage(&place)?);
        let (tarball, integrity) =
            self.pack(about, &program, &scratch.path, (name, version), limits)?;
        unpack(about, &tarball, &mut stage.staged, limits)?;
        let digest = hash_of(&tree_in(&stage.path)).map_err(|error| about.tree(&error))?;
        let record = TreeRecord {
            address,
            pin: version.to_owned(),
            tree: digest.to_string(),
            integrity: Some(integrity),
        };
        put_tree(stage, &record)?;
        let mut fetched = version_of(about, &place, digest, record)?;
        fetched.from_cache = false;
        Ok(fetched)
    }

    /// The key of a package: its name, and the variables that lead to another registry. What the
    /// user's npm files say is for npm to know.
    fn npm_address(&self, name: &str) -> String {
        let leads = |variable: &&OsString| {
            let variable = variable.to_string_lossy().to_ascii_lowercase();
            variable.strip_prefix("npm_config_").is_some_and(|setting| {
                setting.ends_with("registry") || ["userconfig", "globalconfig"].contains(&setting)
            })
        };
        let mut others = Vec::new();
        for variable in self.environment.keys().filter(leads) {
            let value = self.environment.get(variable).map(|value| value.as_encoded_bytes());
            others.extend(variable.as_encoded_bytes());
            others.push(b'=');
            others.extend(value.unwrap_or_default());
            others.push(0);
        }
        if others.is_empty() {
            return format!("npm:{name}");
        }
        format!("npm:{name}?{}", &Digest::sha256(&others).hex()[..16])
    }

    fn cached_version(
        &self,
        about: About<'_>,
        place: &Path,
        address: &str,
        version: &str,
    ) -> Result<Option<Fetched>, FetchError> {
        match check_tree(place, address, version)? {
            Cached::Absent => Ok(None),
            Cached::Good((record, digest)) => version_of(about, place, digest, record).map(Some),
            Cached::Changed(what) => self.changed(about, &what).map(|()| None),
        }
    }

    /// Lets npm download a tarball into `directory`: its path and its integrity.
    fn pack(
        &self,
        about: About<'_>,
        program: &Path,
        directory: &Path,
        (name, version): (&str, &str),
        limits: Limits,
    ) -> Result<(PathBuf, String), FetchError> {
        let (work, cache) = (directory.join("work"), directory.join("cache"));
        fs::create_dir(&work).map_err(StoreError::io(&work))?;
        let mut environment = self.environment.clone();
        environment.insert("TMPDIR".into(), directory.into());
        if let Some(file) = &self.ca_file {
            environment.entry("NODE_EXTRA_CA_CERTS".into()).or_insert_with(|| file.into());
        }
        let mut arguments: Vec<OsString> = [
            "pack",
            "--json",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "--no-update-notifier",
            "--no-workspaces",
            "--loglevel=error",
            "--logs-max=0",
            "--dry-run=false",
        ]
        .map(OsString::from)
        .into();
        for (option, value) in [("prefix", &work), ("pack-destination", &work), ("cache", &cache)] {
            let mut argument = OsString::from(format!("--{option}="));
            argument.push(value);
            arguments.push(argument);
        }
        arguments.extend(["--".into(), format!("{name}@{version}").into()]);
        let child = Child {
            program,
            arguments,
            environment,
            directory: &work,
            limit: limits.time,
            output: OUTPUT,
            // The tarball lies in npm's cache too.
            fills: Some((directory, limits.bytes.saturating_mul(2))),
        };
        let finished = child.run().map_err(|error| match error {
            crate::ChildError::TooLarge(_) => about.too_large(limits.bytes),
            error => about.child(&error),
        })?;
        if !finished.status.success() {
            return Err(about.failed(format!("npm: {}", why(&finished))));
        }
        let unclear = || about.failed("npm does not say what it fetched");
        let said: Value = serde_json::from_slice(&finished.stdout).map_err(|_| unclear())?;
        let said = said.get(0).ok_or_else(unclear)?;
        let text = |key: &str| said.get(key).and_then(Value::as_str).ok_or_else(unclear);
        if (text("name")?, text("version")?) != (name, version) {
            let why = format!("npm fetched {}@{}", text("name")?, text("version")?);
            return Err(about.differs(why));
        }
        let integrity = text("integrity")?.to_owned();
        let mut tarballs = Vec::new();
        for entry in fs::read_dir(&work).map_err(StoreError::io(&work))? {
            tarballs.push(entry.map_err(StoreError::io(&work))?.path());
        }
        let [tarball] = tarballs.as_slice() else { return Err(unclear()) };
        let found = integrity_of(tarball).map_err(StoreError::io(tarball))?;
        if found != integrity {
            return Err(about.differs(format!("the tarball has {found}, not {integrity}")));
        }
        Ok((tarball.clone(), integrity))
    }
}

/// Why npm failed: its own summary, else its last words.
fn why(finished: &Finished) -> String {
    let said: Option<Value> = serde_json::from_slice(&finished.stdout).ok();
    let summary = said.as_ref().and_then(|said| said.pointer("/error/summary")?.as_str());
    let summary = summary.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    let words = summary.filter(|summary| !summary.is_empty());
    let words = words.unwrap_or_else(|| finished.last_words(4));
    if words.is_empty() { finished.status.to_string() } else { words }
}

/// The answer for a cached version.
fn version_of(
    about: About<'_>,
    place: &Path,
    tree: Digest,
    record: TreeRecord,
) -> Result<Fetched, FetchError> {
    let (version, integrity) = (record.pin, record.integrity.unwrap_or_default());
    let pin = Pin::Version { version, integrity };
    let directory = tree_in(place);
    let root = DirTree::open(&directory).map_err(|error| about.tree(&error))?;
    let sealed = TreePath::new(SEALED).unwrap_or_default();
    if !root.metadata(&sealed).is_ok_and(|found| found.kind == FileKind::File) {
        return Ok(Fetched { path: directory, digest: tree, pin, from_cache: true });
    }
    let file = root.open(&sealed).map_err(|error| about.tree(&error))?;
    let digest = sha256_file(&sealed, file.as_ref()).map_err(|error| about.tree(&error))?;
    let digest = Digest::new(holdall_tree::Algorithm::Sha256, digest);
    Ok(Fetched { path: directory.join(SEALED), digest, pin, from_cache: true })
}

/// Digest of a tarball as npm writes it.
fn integrity_of(path: &Path) -> io::Result<String> {
    let (mut file, mut hash) = (File::open(path)?, Sha512::new());
    let mut buffer = vec![0; 128 * 1024];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(format!("sha512-{}", BASE64.encode(hash.finalize()))),
            count => hash.update(&buffer[..count]),
        }
    }
}

/// Unpacks a tarball as npm does: the first component of every name is dropped, a file is
/// executable or not. Whatever npm would leave out is an error here.
fn unpack(
    about: About<'_>,
    tarball: &Path,
    staged: &mut StagedDir,
    limits: Limits,
) -> Result<(), FetchError> {
    let root = TreePath::new("tree").unwrap_or_default();
    staged.make_dir(&root, 0o755).map_err(StoreError::from)?;
    let file = File::open(tarball).map_err(StoreError::io(tarball))?;
    let mut reader = Reader::streaming(MultiGzDecoder::new(file));
    let broken = |error: &dyn std::fmt::Display| about.failed(format!("its tarball: {error}"));
    let (mut bytes, mut entries) = (0_u64, 0);
    while let Some(member) = reader.next_member().map_err(|error| broken(&error))? {
        let shown = String::from_utf8_lossy(member.path()).into_owned();
        let odd = |what: &str| about.failed(format!("its tarball: `{shown}` {what}"));
        entries += 1;
        bytes = bytes.saturating_add(member.size());
        if bytes > limits.bytes {
            return Err(about.too_large(limits.bytes));
        }
        if entries > ENTRIES {
            return Err(about.failed(format!("its tarball has more than {ENTRIES} entries")));
        }
        let name = std::str::from_utf8(member.path()).map_err(|_| odd("is not UTF-8"))?;
        let inside = name.split_once('/').map_or("", |(_, inside)| inside);
        if name.starts_with('/') || name.split('/').any(|part| part == "..") {
            return Err(odd("leads out of the package"));
        }
        let inside = TreePath::normalise(inside).map_err(|error| odd(&error.to_string()))?;
        let path = root.join(&inside);
        match member.kind() {
            Kind::Directory => staged.make_dir(&path, 0o755).map_err(StoreError::from)?,
            Kind::File if inside.is_root() => return Err(odd("stands beside the package")),
            Kind::File => {
                let mode = if member.mode() & 0o111 == 0 { 0o644 } else { 0o755 };
                let done = staged.write_stream(&path, &mut reader.data(), mode);
                done.map_err(|error| about.failed(format!("its tarball: {error}")))?;
            }
            kind => return Err(odd(&format!("is a {kind}, which npm packages do not have"))),
        }
    }
    Ok(())
}
