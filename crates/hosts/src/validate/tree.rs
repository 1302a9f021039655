//! The whole tree against the rows: AB6004, AB6013, AB6014.

use holdall_artifact::rows::{self, RowFault};
use holdall_artifact::strays::{Detail, StrayKind, strays};
use holdall_artifact::{ARTIFACT_MANIFEST_NAME, COMPILE_EVIDENCE_NAME, npm};
use holdall_diagnostics::Diagnostic;
use holdall_tree::TreePath;
use holdall_tree::portable::collisions;

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
        for mismatch in rows::check(self.root, self.manifest, npm::modes(self.npm)) {
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
        self.strays();
        self.collisions();
        for row in self.manifest.files() {
            if !self.is_in_a_layout(row.path()) {
                let message = "lies where no layout of an artifact has files";
                self.report(row.path(), Diagnostic::new(&AB6014, message));
            }
        }
    }

    /// What the tree has and the rows have not.
    fn strays(&mut self) {
        for stray in strays(self.root, self.manifest, self.npm, Detail::Everything) {
            self.report(&stray.path, stray_finding(&stray.kind));
        }
    }

    /// Rows that are one file, or lie in one directory, on a disk that folds letter case and
    /// normalises. The artifact manifest counts as a row here.
    fn collisions(&mut self) {
        let manifest = self.manifest;
        let rows = manifest.files().iter().map(|row| row.path().as_str());
        for (other, path) in collisions(std::iter::once(ARTIFACT_MANIFEST_NAME).chain(rows)) {
            let how = if other.to_lowercase() == path.to_lowercase() {
                "letter case only"
            } else {
                "how its letters are encoded only"
            };
            let Ok(place) = TreePath::new(path) else { continue };
            let message = format!("differs from `{other}` in {how}");
            let help = "rename one: on many disks they are the same";
            self.report(&place, Diagnostic::new(&AB6004, message).help(help));
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

/// What is said of something that is no part of an artifact: AB6004, AB6013 or AB6014.
pub fn stray_finding(stray: &StrayKind) -> Diagnostic {
    let (code, help) = match stray {
        StrayKind::Unlisted | StrayKind::Directory => {
            (&AB6004, Some("remove it, or build the root again if it belongs there"))
        }
        StrayKind::Name(_) => (&AB6004, Some("remove it")),
        StrayKind::Unreadable(_) => (&AB6004, None),
        StrayKind::Special(_) => (&AB6013, Some("put the file itself there")),
        StrayKind::EmptyDirectory => (&AB6014, Some("remove it: no package can hold it")),
    };
    let diagnostic = Diagnostic::new(code, stray.to_string());
    match help {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}
