//! Running the binary in a directory of its own, with an environment of its own.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// A working directory with an empty home, both gone afterwards.
pub(crate) struct Place {
    directory: tempfile::TempDir,
}

/// What a run left.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("home")).unwrap();
        std::fs::create_dir(directory.path().join("work")).unwrap();
        Self { directory }
    }

    /// The working directory.
    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("work")
    }

    /// The user's home.
    pub(crate) fn home(&self) -> PathBuf {
        self.directory.path().join("home")
    }

    /// A file below the working directory, its parents created.
    pub(crate) fn write(&self, path: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// The command, not yet run: nothing of the caller's environment but PATH is left.
    #[expect(clippy::disallowed_methods, reason = "tests have no `Env`")]
    pub(crate) fn command<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(
        &self,
        arguments: I,
    ) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_holdall"));
        command
            .args(arguments)
            .current_dir(self.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.directory.path().join("home"))
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(&self, arguments: I) -> Run {
        Run::of(&mut self.command(arguments))
    }

    /// Everything below the working directory, sorted: to show that nothing was written.
    pub(crate) fn listing(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut todo = vec![self.path()];
        while let Some(directory) = todo.pop() {
            for entry in std::fs::read_dir(directory).unwrap() {
                let entry = entry.unwrap();
                if entry.file_type().unwrap().is_dir() {
                    todo.push(entry.path());
                }
                found.push(entry.path());
            }
        }
        found.sort();
        found
    }
}

impl Run {
    pub(crate) fn of(command: &mut Command) -> Self {
        let output = command.output().unwrap();
        Self {
            code: output.status.code().expect("ended by a signal"),
            stdout: output.stdout,
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).unwrap()
    }

    /// The JSON object, with what every object has checked.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.stderr, "", "words beside a JSON object");
        let value: Value = serde_json::from_slice(&self.stdout).unwrap();
        assert_eq!(value["schemaVersion"], 1);
        assert!(value["kind"].is_string());
        assert!(value["diagnostics"].is_array());
        value
    }

    /// Exit 0 and nothing on standard error.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!((self.code, self.stderr.as_str()), (0, ""));
        self
    }
}

/// Everything below a directory, with what tells whether anything was written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Snapshot(BTreeMap<PathBuf, Entry>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    mode: u32,
    bytes: Vec<u8>,
    inode: u64,
    written: (i64, i64),
}

impl Snapshot {
    pub(crate) fn of(root: &Path) -> Self {
        Self::without(root, "\0")
    }

    /// Leaves out one entry of the root.
    pub(crate) fn without(root: &Path, name: &str) -> Self {
        let mut found = BTreeMap::new();
        let mut todo = vec![root.to_owned()];
        while let Some(directory) = todo.pop() {
            for entry in std::fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                if path == root.join(name) {
                    continue;
                }
                let metadata = std::fs::symlink_metadata(&path).unwrap();
                let bytes = if metadata.is_dir() {
                    todo.push(path.clone());
                    Vec::new()
                } else if metadata.is_symlink() {
                    std::fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
                } else {
                    std::fs::read(&path).unwrap()
                };
                let written = (metadata.mtime(), metadata.mtime_nsec());
                let entry = Entry { mode: metadata.mode(), bytes, inode: metadata.ino(), written };
                found.insert(path, entry);
            }
        }
        Self(found)
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.keys().map(PathBuf::as_path)
    }

    /// Nothing was written: the same files with the same bytes, inodes and times.
    #[track_caller]
    pub(crate) fn assert_same(&self, other: &Self) {
        let differing: Vec<_> = self
            .0
            .keys()
            .chain(other.0.keys())
            .filter(|path| self.0.get(*path) != other.0.get(*path))
            .collect();
        assert!(differing.is_empty(), "{differing:?}");
    }

    /// The same files with the same bytes and modes, whenever they were written.
    #[track_caller]
    pub(crate) fn assert_same_content(&self, other: &Self) {
        let content = |entry: &Entry| (entry.mode, entry.bytes.clone());
        let differing: Vec<_> = self
            .0
            .keys()
            .chain(other.0.keys())
            .filter(|path| self.0.get(*path).map(content) != other.0.get(*path).map(content))
            .collect();
        assert!(differing.is_empty(), "{differing:?}");
    }
}

/// The root of the repository.
pub(crate) fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}
