//! What is unusual about a package that can be read: warnings with a code for each kind.
//!
//! What concerns many entries is one finding with a count and the first example. Nothing here
//! reads file contents but the first bytes of commands; what takes a walk over the tar's headers
//! is in `verify`.

use std::collections::HashSet;

use holdall_diagnostics::{Code, Diagnostic};
use holdall_tree::portable;

use crate::bare::{Tolerance, Tolerances};
use crate::codes;
use crate::error::PackageError;
use crate::format::{EntryKind, MODE_TYPE, SNAPSHOT_BUNDLE_PATH, Version};
use crate::fs::{TarFileSystem, normalise};
use crate::inspect::{flagged_target, flagged_variable, is_well_known};
use crate::model::{PackageManifest, TarEntry};

/// What agentOS 0.4 accepts of a package, the defaults of [`oddities`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackageLimits {
    /// Bytes of the manifest chunk.
    pub manifest: u64,
    /// Bytes of the index chunk.
    pub index: u64,
    /// Bytes of the file.
    pub package: u64,
    /// Commands.
    pub commands: usize,
    /// Environment keys, and provided directories.
    pub provides: usize,
    /// Characters of a name or version.
    pub name: usize,
    /// Characters of a command.
    pub command: usize,
    /// Bytes of a command's entry.
    pub entry: usize,
}

impl Default for PackageLimits {
    fn default() -> Self {
        Self {
            manifest: 1 << 20,
            index: 64 << 20,
            package: 512 << 20,
            commands: 1024,
            provides: 1024,
            name: 128,
            command: 255,
            entry: 4096,
        }
    }
}

/// Whether a name can be a directory: 1 to `most` characters of `A-Z a-z 0-9 . _ @ -`, and not `.`
/// or `..`.
pub(crate) fn is_plain_name(name: &str, most: usize) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._@-".contains(&byte);
    (1..=most).contains(&name.len()) && name.bytes().all(plain) && !matches!(name, "." | "..")
}

/// Everything unusual that manifest and index show, with the package's path. `fs` is served from
/// the package's root.
pub fn oddities(
    fs: &TarFileSystem,
    limits: &PackageLimits,
) -> Result<Vec<Diagnostic>, PackageError> {
    let package = fs.package();
    let mut found = Found::default();
    tolerances(&mut found, "manifest", package.manifest_tolerances()?);
    tolerances(&mut found, "index", package.index().tolerances());
    let manifest = package.manifest()?;
    if package.header().version() == Version::V1 {
        found.say(&codes::FORMAT_ONE, "format version 1: agentOS 0.4 reads only version 2");
    }
    sizes(&mut found, fs, manifest, limits);
    names(&mut found, manifest, limits);
    commands(&mut found, fs, manifest, limits);
    provides(&mut found, fs, manifest);
    agent(&mut found, fs, manifest);
    entries(&mut found, fs);
    links(&mut found, fs);
    let path = package.path().display().to_string();
    Ok(found.0.into_iter().map(|each| each.at(path.clone())).collect())
}

#[derive(Debug, Default)]
struct Found(Vec<Diagnostic>);

impl Found {
    fn say(&mut self, code: &Code, message: impl Into<String>) {
        self.0.push(Diagnostic::new(code, message));
    }

    fn help(&mut self, code: &Code, message: impl Into<String>, help: &str) {
        self.0.push(Diagnostic::new(code, message).help(help));
    }
}

/// Counts entries with something in common, and keeps the first.
#[derive(Debug, Default)]
struct Tally {
    count: usize,
    first: Option<String>,
}

impl Tally {
    fn add(&mut self, example: impl FnOnce() -> String) {
        self.count += 1;
        if self.first.is_none() {
            self.first = Some(example());
        }
    }

    fn tell(self, found: &mut Found, code: &Code, what: &str) {
        if let Some(first) = self.first {
            let entries = if self.count == 1 { "entry" } else { "entries" };
            found.say(code, format!("{} {entries} {what}, first {first}", self.count));
        }
    }
}

fn tolerances(found: &mut Found, chunk: &str, used: &Tolerances) {
    for used in used.iter() {
        let (code, what) = match used.tolerance {
            Tolerance::LongVarint => (&codes::LONG_VARINT, "numbers written longer than needed"),
            Tolerance::LooseBool => (&codes::LOOSE_BOOL, "yes-or-no bytes other than 0 and 1"),
            Tolerance::DuplicateKey => (&codes::DUPLICATE_KEY, "map keys given twice"),
            Tolerance::TrailingBytes => (&codes::TRAILING_BYTES, "bytes behind the value"),
        };
        let (count, offset) = (used.count, used.offset);
        found.say(code, format!("the {chunk} chunk has {count} {what}, first at byte {offset}"));
    }
}

fn sizes(
    found: &mut Found,
    fs: &TarFileSystem,
    manifest: &PackageManifest,
    limits: &PackageLimits,
) {
    let header = fs.package().header();
    let length = |range: std::ops::Range<u64>| range.end - range.start;
    let provides = manifest.provides.as_ref();
    let counts: [(&str, u64, u64); 6] = [
        ("bytes of manifest", length(header.manifest_range()), limits.manifest),
        ("bytes of index", length(header.index_range()), limits.index),
        ("bytes of package", header.file_len(), limits.package),
        ("commands", manifest.commands.len() as u64, limits.commands as u64),
        ("environment keys", provides.map_or(0, |it| it.env.len() as u64), limits.provides as u64),
        (
            "provided directories",
            provides.map_or(0, |it| it.files.len() as u64),
            limits.provides as u64,
        ),
    ];
    for (what, have, most) in counts {
        if have > most {
            found.say(&codes::LIMIT, format!("{have} {what}, agentOS 0.4 takes {most}"));
        }
    }
}

fn names(found: &mut Found, manifest: &PackageManifest, limits: &PackageLimits) {
    for (what, text) in [("name", &manifest.name), ("version", &manifest.version)] {
        if !is_plain_name(text, limits.name) {
            let help = "use 1 to 128 characters of A-Z a-z 0-9 . _ @ -";
            found.help(&codes::NAME, format!("the package {what} `{text}` is no plain name"), help);
        }
    }
    for (place, map) in manifest.maps() {
        if !map.is_sorted() {
            found.say(&codes::UNSORTED_MAP, format!("the keys of {place} are not sorted"));
        }
    }
}

fn commands(
    found: &mut Found,
    fs: &TarFileSystem,
    manifest: &PackageManifest,
    limits: &PackageLimits,
) {
    let mut seen = HashSet::new();
    let mut shadows = Vec::new();
    for each in &manifest.commands {
        let (command, entry) = (&each.command, &each.entry);
        if !is_plain_name(command, limits.command) && command != "[" {
            let help = "use 1 to 255 characters of A-Z a-z 0-9 . _ @ -";
            found.help(&codes::NAME, format!("the command `{command}` is no plain name"), help);
        }
        if !seen.insert(command) {
            found.say(&codes::COMMAND_TWICE, format!("the command `{command}` is declared twice"));
        }
        if is_well_known(command) {
            shadows.push(format!("`{command}`"));
        }
        let path = format!("/{entry}");
        if normalise(&path) != path || entry.is_empty() || entry.len() > limits.entry {
            let what = format!(
                "the entry `{entry}` of the command `{command}` is not a normalised relative path"
            );
            found.say(&codes::ENTRY_PATH, what);
        }
        match fs.stat(&path) {
            Err(error) => {
                let what = format!(
                    "the command `{command}` runs `{entry}`: {} ({})",
                    error.what, error.errno
                );
                found.say(&codes::COMMAND_MISSING, what);
            }
            Ok(stat) if stat.kind != EntryKind::File => {
                let what =
                    format!("the command `{command}` runs `{entry}`, which is a {}", stat.kind);
                found.say(&codes::COMMAND_MISSING, what);
            }
            Ok(stat) if stat.mode & 0o111 == 0 => {
                let mode = stat.mode & 0o7777;
                let what = format!(
                    "the command `{command}` runs `{entry}`, which has mode {mode:04o} and no x bit"
                );
                found.help(&codes::NOT_EXECUTABLE, what, "chmod +x the file and pack again");
            }
            Ok(_) => {}
        }
    }
    if !shadows.is_empty() {
        let more = shadows.len().saturating_sub(8);
        shadows.truncate(8);
        let rest = if more == 0 { String::new() } else { format!(" and {more} more") };
        found.say(&codes::SHADOWS, format!("replaces {}{rest}", shadows.join(", ")));
    }
    for page in &manifest.man_pages {
        let path = format!("/share/man/{}/{}", page.section, page.page);
        if !fs.stat(&path).is_ok_and(|stat| stat.kind == EntryKind::File) {
            found.say(&codes::PAGE_MISSING, format!("the man page `{path}` is not a file"));
        }
    }
}

fn provides(found: &mut Found, fs: &TarFileSystem, manifest: &PackageManifest) {
    let Some(provides) = &manifest.provides else { return };
    for (key, _) in provides.env.sorted() {
        if let Some(why) = flagged_variable(key) {
            found
                .say(&codes::ENVIRONMENT, format!("sets `{key}` for the whole guest, which {why}"));
        }
    }
    for file in &provides.files {
        let source = normalise(&file.source);
        let index = fs.package().index();
        let wrong = match index.find(&source).map(|at| index.entry(at).kind) {
            None => Some("is not in the package (ENOENT)"),
            Some(EntryKind::Directory) => None,
            Some(_) => Some("is not a directory (ENOTDIR)"),
        };
        if let Some(wrong) = wrong {
            let what = format!("the provided directory `{}` {wrong}", file.source);
            found.say(&codes::PROVIDES_SOURCE, what);
        }
        if let Some(why) = flagged_target(&file.target) {
            let what = format!("`{}` is shown at `{}`: {why}", file.source, file.target);
            found.say(&codes::PROVIDES_TARGET, what);
        }
    }
}

fn agent(found: &mut Found, fs: &TarFileSystem, manifest: &PackageManifest) {
    if let Some(agent) = &manifest.agent {
        let entrypoint = &agent.acp_entrypoint;
        if !manifest.commands.iter().any(|each| each.command == *entrypoint) {
            let what = format!("the agent's entrypoint `{entrypoint}` is none of the commands");
            found.say(&codes::AGENT, what);
        }
        if agent.snapshot && manifest.snapshot_bundle_path.is_none() {
            let what =
                format!("the agent announces a snapshot, and there is no `{SNAPSHOT_BUNDLE_PATH}`");
            found.say(&codes::AGENT, what);
        }
    }
    if let Some(path) = &manifest.snapshot_bundle_path
        && !fs.stat(path).is_ok_and(|stat| stat.kind == EntryKind::File)
    {
        found.say(&codes::AGENT, format!("the snapshot bundle `{path}` is not a file"));
    }
}

fn entries(found: &mut Found, fs: &TarFileSystem) {
    let index = fs.package().index();
    let (mut places, mut owners, mut times, mut modes) =
        (Tally::default(), Tally::default(), Tally::default(), Tally::default());
    let (mut targets, mut setids, mut names) =
        (Tally::default(), Tally::default(), Tally::default());
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for entry in index.iter() {
        let TarEntry { path, kind, offset, size, mode, uid, gid, mtime, link_target } = entry;
        let quoted = || format!("`{path}`");
        if kind != EntryKind::File && (offset, size) != (0, 0) {
            places.add(|| format!("`{path}` (offset {offset}, size {size})"));
        }
        if (uid, gid) != (0, 0) {
            owners.add(|| format!("`{path}` ({uid}:{gid})"));
        }
        if mtime != 0 {
            times.add(|| format!("`{path}` ({mtime})"));
        }
        if mode & MODE_TYPE != kind.mode_bits() {
            modes.add(|| format!("`{path}` (a {kind} with mode {mode:o})"));
        }
        if kind != EntryKind::Symlink && link_target.is_some() {
            targets.add(quoted);
        }
        if kind == EntryKind::File && mode & 0o7000 != 0 {
            setids.add(|| format!("`{path}` ({:04o})", mode & 0o7777));
        }
        let name = path.rsplit('/').next().unwrap_or_default();
        if path != "/" && (name.contains('\0') || portable::portability(name).is_some()) {
            names.add(quoted);
        }
        if kind == EntryKind::File && size > 0 {
            ranges.push((offset, offset + size));
        }
    }
    places.tell(found, &codes::NONZERO_OFFSET, "with an offset or a size that are no files");
    owners.tell(found, &codes::OWNER, "with an owner other than 0");
    times.tell(found, &codes::MTIMES, "with a modification time other than 0");
    modes.tell(found, &codes::MODE_KIND, "with a mode of another kind");
    targets.tell(found, &codes::TARGET_ON_OTHER, "with a link target that are no links");
    setids.tell(found, &codes::SETID, "with a set-id or sticky bit");
    names.tell(found, &codes::NAME_COLLISION, "with names that do not exist on every system");
    let paths = index.iter().map(|entry| entry.path.trim_start_matches('/'));
    for (one, other) in portable::collisions(paths).into_iter().take(20) {
        let what = format!("`/{one}` and `/{other}` are one name where case does not count");
        found.say(&codes::NAME_COLLISION, what);
    }
    ranges.sort_unstable();
    ranges.dedup();
    if let Some(pair) = ranges.windows(2).find(|pair| pair[1].0 < pair[0].1) {
        let ((a, b), (c, d)) = (pair[0], pair[1]);
        let what = format!("two files overlap in part: bytes {a}..{b} and {c}..{d} of the mount");
        found.say(&codes::EXPANDED, what);
    }
    let mut lost = Tally::default();
    for at in index.unreachable() {
        lost.add(|| format!("`{}`", index.entry(at).path));
    }
    lost.tell(found, &codes::UNREACHABLE, "that no path reaches");
    if index.find("/agentos-package.json").is_some() {
        let help = "pack again: packers leave the file out";
        found.help(&codes::SOURCE_MANIFEST, "holds `/agentos-package.json`", help);
    }
}

fn links(found: &mut Found, fs: &TarFileSystem) {
    let (mut away, mut nowhere) = (Tally::default(), Tally::default());
    for entry in fs.package().index().iter().filter(|entry| entry.kind == EntryKind::Symlink) {
        let target = entry.link_target.unwrap_or_default();
        if crate::extract::leads_out(fs, entry.path, target) {
            away.add(|| format!("`{}` -> `{target}`", entry.path));
        } else if let Err(error) = fs.stat(entry.path) {
            nowhere.add(|| format!("`{}` -> `{target}` ({})", entry.path, error.errno));
        }
    }
    away.tell(found, &codes::LINK_ESCAPES, "that are links and lead out of the package");
    nowhere.tell(found, &codes::LINK_ESCAPES, "that are links and lead nowhere");
}
