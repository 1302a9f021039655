//! The whole tree against the rows: AB6004, AB6013, AB6014.

use std::collections::BTreeMap;

use holdall_artifact::digest::ENV_FILES;
use holdall_artifact::rows::{self, Modes, RowFault};
use holdall_artifact::{ARTIFACT_MANIFEST_NAME, COMPILE_EVIDENCE_NAME, INSTALL_RECEIPT_NAME};
use holdall_diagnostics::Diagnostic;
use holdall_tree::{EntryName, FileKind, TreePath};

use super::codes::{AB6004, AB6013, AB6014};
use super::{Run, has_extension};

/// Files at the top that agent hosts and installers read.
const ROOT_FILES: &[&str] = &[
    ".app.json",
    ".lsp.json",
    ".mcp.json",
    "INSTALL.md",
    COMPILE_EVIDENCE_NAME,
    "install.mjs",
    "mcp.json",
    "plugin.json",
    "settings.json",
];

/// Directories whose content has a meaning, whatever it is called.
const DIRECTORIES: &[&str] = &[
    ".agents/plugins",
    ".amp/plugins",
    ".claude-plugin",
    ".codex-plugin",
    ".cursor-plugin",
    "agents",
    "assets",
    "bin",
    "hooks",
    "mcp",
    "mcp-apps",
    "monitors",
    "output-styles",
    "scripts",
    "themes",
    "workflows",
];

impl Run<'_> {
    /// Compares the tree with the rows.
    pub(super) fn tree(&mut self) {
        for mismatch in rows::check(self.root, self.manifest, Modes::Exact) {
            // A link or special file is reported by the walk, as what it is.
            if matches!(mismatch.fault, RowFault::NotAFile(kind) if kind != "a directory") {
                continue;
            }
            let message = mismatch.fault.to_string();
            let help = match mismatch.fault {
                RowFault::Changed => "validate again when nothing writes to the root",
                _ => "an artifact is not edited by hand: build it again",
            };
            self.report(&mismatch.path, Diagnostic::new(&AB6004, message).help(help));
        }
        self.walk();
        self.letter_case();
        for row in self.manifest.files() {
            if !self.is_in_a_layout(row.path()) {
                let message = "lies where no layout of an artifact has files";
                self.report(row.path(), Diagnostic::new(&AB6014, message));
            }
        }
    }

    /// Visits everything, deepest paths last, without recursion and without following links.
    fn walk(&mut self) {
        let mut todo = vec![TreePath::root()];
        while let Some(directory) = todo.pop() {
            let entries = match self.root.read_dir(&directory) {
                Ok(entries) => entries,
                Err(error) => {
                    let message = format!("cannot be read: {}", error.detail);
                    self.report(&directory, Diagnostic::new(&AB6004, message));
                    continue;
                }
            };
            if entries.is_empty() && !directory.is_root() {
                self.report(&directory, Diagnostic::new(&AB6014, "is an empty directory"));
            }
            let mut below = Vec::new();
            for entry in entries {
                let path = match entry.name {
                    EntryName::Utf8(name) => directory.child(&name),
                    EntryName::Bytes(bytes) => {
                        let name = String::from_utf8_lossy(&bytes);
                        let message = format!("holds a file whose name is not UTF-8: `{name}`");
                        self.report(&directory, Diagnostic::new(&AB6004, message));
                        continue;
                    }
                };
                let Ok(path) = path else { continue };
                if directory.is_root() && is_not_owned(path.as_str()) {
                    continue;
                }
                match entry.kind {
                    FileKind::Directory => below.push(path),
                    FileKind::Symlink => self.special(&path, "a symbolic link"),
                    FileKind::Other => self.special(&path, "a device, fifo or socket"),
                    FileKind::File => self.file(&path),
                }
            }
            todo.extend(below.into_iter().rev());
        }
    }

    fn special(&mut self, path: &TreePath, what: &str) {
        let message = format!("is {what}; an artifact holds regular files only");
        self.report(path, Diagnostic::new(&AB6013, message).help("put the file itself there"));
    }

    fn file(&mut self, path: &TreePath) {
        if path.as_str() == ARTIFACT_MANIFEST_NAME || self.manifest.file(path).is_some() {
            return;
        }
        let message = "has no row in the artifact manifest";
        let help = "remove it, or build the root again if it belongs there";
        self.report(path, Diagnostic::new(&AB6004, message).help(help));
    }

    /// Rows that are one file on a disk without letter case.
    fn letter_case(&mut self) {
        let mut seen: BTreeMap<String, &TreePath> = BTreeMap::new();
        let manifest = self.manifest;
        for row in manifest.files() {
            if let Some(other) = seen.insert(row.path().as_str().to_lowercase(), row.path()) {
                let message = format!("differs from `{other}` in letter case only");
                let help = "rename one: on many disks they are the same file";
                self.report(row.path(), Diagnostic::new(&AB6004, message).help(help));
            }
        }
    }

    /// Whether some layout of an artifact has a file at `path` (a payload, a known directory, or
    /// anything that the artifact manifest points at).
    fn is_in_a_layout(&self, path: &TreePath) -> bool {
        let text = path.as_str();
        let under = |directory: &str| {
            text.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
        };
        let parts: Vec<&str> = path.components().collect();
        let known = ROOT_FILES.contains(&text)
            || DIRECTORIES.iter().any(|directory| under(directory))
            || match parts[..] {
                ["skills", _, _, ..] => true,
                ["commands", .., last] => has_extension(last, "md"),
                ["rules", .., last] => has_extension(last, "mdc"),
                _ => false,
            };
        known
            || self.manifest.distribution().payloads().iter().any(|p| under(p.name().as_str()))
            || self.is_pointed_at(path)
    }

    fn is_pointed_at(&self, path: &TreePath) -> bool {
        let manifest = self.manifest;
        let executables = manifest.executables();
        manifest.projections().iter().any(|p| p.documents().iter().any(|(_, at)| at == path))
            || executables.bins().iter().any(|b| b.path() == path || b.worker() == Some(path))
            || executables.hooks().iter().any(|hook| hook.path() == path)
            || executables.scripts().iter().any(|s| s.path() == path || s.worker() == Some(path))
            || executables.mcp_servers().iter().any(|server| {
                server.launch().is_some_and(|launch| {
                    launch.entry() == path
                        || launch.worker() == Some(path)
                        || launch
                            .args()
                            .iter()
                            .filter_map(|arg| arg.path())
                            .any(|argument| path.strip_prefix(argument).is_some())
                }) || server.apps().iter().any(|app| app.path() == Some(path))
            })
            || manifest.distribution().install().is_some_and(|install| {
                install.instructions() == Some(path) || install.script() == Some(path)
            })
    }
}

/// Entries at the top that belong to an operator, the runtime or an installer.
fn is_not_owned(name: &str) -> bool {
    let lower = name.to_lowercase();
    ENV_FILES.contains(&name) || lower == "state" || lower == INSTALL_RECEIPT_NAME
}
