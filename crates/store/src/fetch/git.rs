//! Commits of git repositories, through the system's git (pack reference 3.3 and 5.3).
//!
//! Git gets an environment without any configuration, no prompt, no hook, no filter, no submodule
//! and no redirect, and may speak https alone. What it leaves is a checkout without `.git`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use holdall_tree::{DirTree, Limits as WalkLimits, TreePath, walk};

use super::cache::{Cached, Stage, TreeRecord, check_tree, hash_of, put_tree, tree_in};
use super::error::About;
use super::{FetchError, Fetched, Fetcher, Limits, Pin};
use crate::{Child, Finished, StoreError};

/// Bytes that git may print; only `ls-remote` prints more than a line.
const OUTPUT: usize = 1 << 20;

/// Settings that no file can overrule.
const SETTINGS: [&str; 20] = [
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.askPass=",
    "core.fsmonitor=false",
    "core.symlinks=true",
    "core.autocrlf=false",
    "core.protectHFS=true",
    "core.protectNTFS=true",
    "credential.helper=",
    "http.followRedirects=false",
    "http.sslVerify=true",
    "http.cookieFile=",
    "http.lowSpeedLimit=1",
    "fetch.recurseSubmodules=false",
    "submodule.recurse=false",
    // Always the receiver that shows its progress inside an object too.
    "fetch.unpackLimit=1",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
    "init.templateDir=",
];

/// Variables of the user that say how to reach other machines.
const PASSED: [&str; 11] = [
    "PATH",
    "HTTPS_PROXY",
    "https_proxy",
    "ALL_PROXY",
    "all_proxy",
    "NO_PROXY",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
];

/// What git says when a server gives out no commit by its number, or has no short histories.
const ASK_FOR_ALL: [&str; 4] =
    ["not our ref", "unadvertised object", "does not support shallow", "allow request for"];

/// One git after the other in one stage, with one time limit for all of them.
struct Git<'a> {
    about: About<'a>,
    program: PathBuf,
    environment: BTreeMap<OsString, OsString>,
    stage: &'a Path,
    limits: Limits,
    deadline: Instant,
}

impl Fetcher {
    /// Fetches a commit of a repository: `url` begins with `https://`, `commit` has 40 lower-case
    /// hexadecimal digits. The answer is a directory without `.git`; links in it are kept as they
    /// are, submodules are empty directories.
    pub fn git(&self, url: &str, commit: &str) -> Result<Fetched, FetchError> {
        let address = format!("git+{url}#{commit}");
        let about = About(&address);
        self.check_url(about, url)?;
        let digits = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        if commit.len() != 40 || !commit.bytes().all(digits) {
            return Err(about.refused("a pin has 40 lower-case hexadecimal digits"));
        }
        let place = self.cache().tree("git", url, commit);
        if let Some(found) = self.cached_commit(about, &place, url, commit)? {
            return Ok(found);
        }
        if self.offline {
            return Err(about.offline());
        }
        let program = self.program(about, "git")?;
        let _lock = self.lock(&address)?;
        if let Some(found) = self.cached_commit(about, &place, url, commit)? {
            return Ok(found);
        }
        let mut stage = self.cache().stage(&place)?;
        let git = self.prepare(about, program, &stage)?;
        git.check_out(url, commit)?;
        let tree = tree_in(&stage.path);
        if tree.join(".gitmodules").exists() {
            (self.notice)(&format!("note: submodules of {address} are not fetched"));
        }
        let digest = hash_of(&tree).map_err(|error| about.tree(&error))?;
        let made = DirTree::open(&tree).map_err(|error| about.tree(&error))?;
        stage.staged.count(walk(&made, &TreePath::root(), WalkLimits::default()).count());
        let record = TreeRecord {
            address: url.to_owned(),
            pin: commit.to_owned(),
            tree: digest.to_string(),
            integrity: None,
        };
        put_tree(stage, &record)?;
        let (path, pin) = (tree_in(&place), Pin::Commit(commit.to_owned()));
        Ok(Fetched { path, digest, pin, from_cache: false })
    }

    /// Asks a repository which commit `reference` names now: a branch, else a tag (what it tags),
    /// else a full `refs/…`; `HEAD` is the repository's own choice.
    pub fn git_ref(&self, url: &str, reference: &str) -> Result<String, FetchError> {
        let address = format!("git+{url}");
        let about = About(&address);
        self.check_url(about, url)?;
        if !is_ref(reference) {
            return Err(about.refused(format!("`{reference}` is no ref")));
        }
        if self.offline {
            return Err(about.offline());
        }
        let program = self.program(about, "git")?;
        let _lock = self.lock(&address)?;
        let stage = self.cache().scratch()?;
        let git = self.prepare(about, program, &stage)?;
        let names = match reference {
            "HEAD" => vec!["HEAD".to_owned()],
            full if full.starts_with("refs/") => vec![format!("{full}^{{}}"), full.to_owned()],
            short => vec![
                format!("refs/heads/{short}"),
                format!("refs/tags/{short}^{{}}"),
                format!("refs/tags/{short}"),
            ],
        };
        let mut words = vec!["ls-remote", "--quiet", "--", url];
        words.extend(names.iter().map(String::as_str));
        let output = git.run(&words)?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let rows: Vec<_> = text.lines().filter_map(|line| line.split_once('\t')).collect();
        let found = names.iter().find_map(|name| {
            let row = rows.iter().find(|(commit, row)| row == name && commit.len() == 40)?;
            Some(row.0.to_owned())
        });
        found.ok_or_else(|| about.failed(format!("it has no branch or tag `{reference}`")))
    }

    fn check_url(&self, about: About<'_>, url: &str) -> Result<(), FetchError> {
        let schemes: &[&str] =
            if self.file_addresses { &["https://", "file://"] } else { &["https://"] };
        if !schemes.iter().any(|scheme| url.starts_with(scheme)) {
            return Err(about.refused("of repositories only https addresses are fetched"));
        }
        if url.contains("::") || !url.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(about.refused("git could take the address for something else"));
        }
        Ok(())
    }

    fn cached_commit(
        &self,
        about: About<'_>,
        place: &Path,
        url: &str,
        commit: &str,
    ) -> Result<Option<Fetched>, FetchError> {
        match check_tree(place, url, commit)? {
            Cached::Absent => Ok(None),
            Cached::Good((_, digest)) => {
                let (path, pin) = (tree_in(place), Pin::Commit(commit.to_owned()));
                Ok(Some(Fetched { path, digest, pin, from_cache: true }))
            }
            Cached::Changed(what) => self.changed(about, &what).map(|()| None),
        }
    }

    /// The environment of git: nothing but what says how to reach other machines.
    fn prepare<'a>(
        &self,
        about: About<'a>,
        program: PathBuf,
        stage: &'a Stage,
    ) -> Result<Git<'a>, FetchError> {
        let limits = self.limits()?;
        let mut environment = BTreeMap::new();
        for name in PASSED {
            if let Some(value) = self.variable(name) {
                environment.insert(name.into(), value.to_owned());
            }
        }
        let protocols = if self.file_addresses { "https:file" } else { "https" };
        for (name, value) in [
            ("LC_ALL", "C"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_ATTR_NOSYSTEM", "1"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_ALLOW_PROTOCOL", protocols),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
        ] {
            environment.insert(name.into(), value.into());
        }
        for name in ["HOME", "XDG_CONFIG_HOME", "TMPDIR"] {
            environment.insert(name.into(), stage.path.clone().into());
        }
        if self.ca_file.is_some() {
            let pem = self.authorities(about)?;
            let file = stage.path.join("authorities.pem");
            fs::write(&file, pem).map_err(StoreError::io(&file))?;
            environment.insert("GIT_SSL_CAINFO".into(), file.into());
        }
        let deadline = Instant::now() + limits.time;
        Ok(Git { about, program, environment, stage: &stage.path, limits, deadline })
    }
}

impl Git<'_> {
    /// Leaves the commit's files in the stage's tree, and nothing else.
    fn check_out(&self, url: &str, commit: &str) -> Result<(), FetchError> {
        let (repository, tree) = (self.stage.join("git"), tree_in(self.stage));
        self.run(&["init", "--quiet", "--bare", "--", "git"])?;
        // Progress is for nobody to read: should this process be killed, git ends at its next
        // word, because nobody reads it.
        let fetch = ["--git-dir=git", "fetch", "--progress", "--no-tags"];
        let one = [&fetch[..], &["--depth=1", "--", url, commit]].concat();
        match self.run(&one) {
            Err(FetchError::Failed { why, .. })
                if ASK_FOR_ALL.iter().any(|words| why.contains(words)) =>
            {
                let (branches, tags) = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*");
                self.run(&[&fetch[..], &["--", url, branches, tags]].concat())?;
            }
            done => drop(done?),
        }
        let named = format!("{commit}^{{commit}}");
        self.compare(
            &["--git-dir=git", "rev-parse", "--verify", "--end-of-options", &named],
            commit,
        )?;
        fs::create_dir(&tree).map_err(StoreError::io(&tree))?;
        self.run(&[
            "--git-dir=git",
            "--work-tree=tree",
            "checkout",
            "--quiet",
            "--detach",
            commit,
        ])?;
        self.compare(&["--git-dir=git", "rev-parse", "--verify", "HEAD"], commit)?;
        fs::remove_dir_all(&repository).map_err(StoreError::io(&repository))?;
        match fs::remove_file(self.stage.join("authorities.pem")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(StoreError::io(self.stage)(error).into())
            }
            _ => Ok(()),
        }
    }

    /// Runs a git that prints a commit, which has to be `commit`.
    fn compare(&self, words: &[&str], commit: &str) -> Result<(), FetchError> {
        let found = match self.run(words) {
            Ok(output) => String::from_utf8_lossy(&output.stdout).trim().to_owned(),
            Err(FetchError::Failed { .. }) => {
                return Err(self.about.differs("what came does not hold the commit"));
            }
            Err(error) => return Err(error),
        };
        if found != commit {
            return Err(self.about.differs(format!("the commit is {found}, not {commit}")));
        }
        Ok(())
    }

    fn run(&self, words: &[&str]) -> Result<Finished, FetchError> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left == Duration::ZERO {
            return Err(self.about.timed_out(self.limits.time));
        }
        let patience = format!("http.lowSpeedTime={}", self.limits.time.as_secs().max(1));
        let settings = SETTINGS.iter().copied().chain([patience.as_str()]);
        let settings = settings.flat_map(|setting| ["-c", setting]);
        let child = Child {
            program: &self.program,
            arguments: settings.chain(words.iter().copied()).map(OsString::from).collect(),
            environment: self.environment.clone(),
            directory: self.stage,
            limit: left,
            output: OUTPUT,
            fills: Some((self.stage, self.limits.bytes)),
        };
        let finished = child.run().map_err(|error| match error {
            crate::ChildError::TimedOut(_) => self.about.timed_out(self.limits.time),
            error => self.about.child(&error),
        })?;
        if finished.status.success() {
            return Ok(finished);
        }
        let words = finished.last_words(3);
        let why = if words.is_empty() { finished.status.to_string() } else { words };
        Err(self.about.failed(format!("git: {why}")))
    }
}

/// Whether a text can only be a ref: neither an option nor a pattern (git's own rules for names,
/// and a little stricter).
fn is_ref(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 255
        && !text.starts_with(['-', '/', '.'])
        && !text.ends_with(['/', '.'])
        && !text.contains("..")
        && !text.contains("//")
        && !text.contains("@{")
        && text.bytes().all(|byte| byte.is_ascii_graphic() && !b"~^:?*[\\".contains(&byte))
}
