//! Whether the documents of an artifact do for each agent host what the artifact manifest says.
//!
//! The artifact manifest is one description for all hosts; each host reads documents of its own.
//! The checks here hold the two against each other: every document is there and acceptable
//! ([`documents`](crate::documents)), MCP documents start what the launch records say, hooks
//! documents run the wrappers, pointers lead to files of the artifact.

mod codes;
mod hooks;
mod mcp;

use holdall_artifact::ArtifactManifest;
use holdall_artifact::json::Document;
use holdall_artifact::model::{BuiltInHost, McpServerKind, Projection};
use holdall_diagnostics::{Code, Diagnostic, SourceText};
use holdall_tree::{Tree, TreePath};

pub use codes::*;

use crate::adapters;
use crate::documents::{DocumentKind, FaultRule, check_document};

/// Bytes of a host document that are read; published ones have a few thousand.
const MAX_DOCUMENT: u64 = 16 << 20;

/// Checks every projection of an artifact. The rows have been compared with the tree before; a
/// document that cannot be read is left to that comparison. Paths are relative to the root.
pub fn check_projections(root: &dyn Tree, manifest: &ArtifactManifest) -> Vec<Diagnostic> {
    let mut check = Check { root, manifest, found: Vec::new() };
    for projection in manifest.projections() {
        check.projection(projection);
    }
    check.install_files();
    check.found
}

struct Check<'a> {
    root: &'a dyn Tree,
    manifest: &'a ArtifactManifest,
    found: Vec<Diagnostic>,
}

/// A document that was read.
struct Text {
    path: TreePath,
    source: SourceText,
}

impl Text {
    fn diagnostic(&self, code: &Code, message: String, span: std::ops::Range<usize>) -> Diagnostic {
        Diagnostic::new(code, message).at(self.path.as_str()).span(&self.source, span)
    }
}

impl Check<'_> {
    fn push(&mut self, host: &str, diagnostic: Diagnostic) {
        self.found.push(diagnostic.target(host));
    }

    fn manifest_says(&mut self, host: &str, code: &Code, message: String, help: &str) {
        let diagnostic =
            Diagnostic::new(code, message).at(holdall_artifact::ARTIFACT_MANIFEST_NAME).help(help);
        self.push(host, diagnostic);
    }

    fn projection(&mut self, projection: &Projection) {
        let name = projection.host();
        let Some(host) = projection.built_in_host() else {
            let message =
                format!("the projection `{name}` is of an adapter that is not known here");
            self.manifest_says(
                name,
                &AB6009,
                message,
                "leave the target out, or use the tool that knows the host",
            );
            return;
        };
        self.adapter(projection, host);
        self.required(projection, host);
        for kind in DocumentKind::ALL {
            let Some(text) = self.read(projection, kind) else { continue };
            self.document(name, host, kind, &text);
            let bytes = text.source.bytes().to_vec();
            let Ok(document) = Document::parse(&bytes) else { continue };
            let faults = match kind {
                DocumentKind::Mcp => mcp::check(self.manifest, name, host, &document),
                DocumentKind::Hooks => hooks::check(self.manifest, name, host, &document),
                DocumentKind::Plugin => self.logo(host, &document),
                DocumentKind::Marketplace => Vec::new(),
            };
            for fault in faults {
                let Fault { code, message, span } = fault;
                self.push(name, text.diagnostic(&code, message, span));
            }
        }
        if host == BuiltInHost::Portable {
            self.skill_directories(name);
        }
    }

    fn adapter(&mut self, projection: &Projection, host: BuiltInHost) {
        let name = projection.host();
        let adapters = self.manifest.compiler().adapters();
        let Some(row) = adapters.iter().find(|row| row.host() == name) else { return };
        let pins = adapters::pins(host);
        let mut differs = Vec::new();
        if row.adapter_revision() != pins.adapter_revision() {
            let known = pins.adapter_revision();
            differs
                .push(format!("adapterRevision is {}, known is {known}", row.adapter_revision()));
        }
        if row.observed_version() != pins.observed_version() {
            let known = pins.observed_version();
            differs
                .push(format!("observedVersion is {}, known is {known}", row.observed_version()));
        }
        let recorded: Vec<_> = row
            .schemas()
            .iter()
            .map(|schema| (schema.name(), schema.sha256().to_string()))
            .collect();
        let known: Vec<_> =
            pins.schemas().iter().map(|(name, hash)| (name.as_str(), hash.clone())).collect();
        if recorded != known {
            differs.push("the pinned schemas differ".to_owned());
        }
        if !differs.is_empty() {
            let message = format!("the adapter of `{name}`: {}", differs.join("; "));
            self.manifest_says(
                name,
                &AB6010,
                message,
                "build the root again if the host refuses it",
            );
        }
    }

    fn required(&mut self, projection: &Projection, host: BuiltInHost) {
        let name = projection.host();
        let documents = projection.documents();
        let reaches = |hosts: &[holdall_artifact::Text]| hosts.iter().any(|host| &**host == name);
        let servers = self.manifest.executables().mcp_servers();
        let servers = servers.iter().any(|server| reaches(server.hosts()));
        let hooks = self.manifest.executables().hooks().iter().any(|hook| hook.host() == name);
        let json = host != BuiltInHost::Amp;
        let marketplace = matches!(host, BuiltInHost::Claude | BuiltInHost::Codex);
        let table = [
            ("plugin", json, documents.plugin().is_some()),
            ("entry", !json, documents.entry().is_some()),
            ("marketplace", marketplace, documents.marketplace().is_some()),
            ("mcp", json && servers, documents.mcp().is_some()),
            ("hooks", json && hooks, documents.hooks().is_some()),
        ];
        for (key, needed, there) in table {
            if needed && !there {
                let message = format!("the projection `{name}` has no documents.{key}");
                self.manifest_says(name, &AB6011, message, "build the root again for this host");
            }
        }
    }

    fn read(&self, projection: &Projection, kind: DocumentKind) -> Option<Text> {
        let documents = projection.documents();
        let path = match kind {
            DocumentKind::Plugin => documents.plugin(),
            DocumentKind::Marketplace => documents.marketplace(),
            DocumentKind::Mcp => documents.mcp(),
            DocumentKind::Hooks => documents.hooks(),
        }?;
        let bytes = self.root.read(path, MAX_DOCUMENT).ok()?;
        Some(Text { path: path.clone(), source: SourceText::new(bytes) })
    }

    fn document(&mut self, name: &str, host: BuiltInHost, kind: DocumentKind, text: &Text) {
        match check_document(host, kind, text.source.bytes()) {
            Err(error) => {
                let code = code_of(host, kind, FaultRule::Shape);
                self.push(name, text.diagnostic(&code, error.message, error.span));
            }
            Ok(faults) => {
                for fault in faults {
                    let code = code_of(host, kind, fault.rule);
                    let mut diagnostic = text.diagnostic(&code, fault.message, fault.span);
                    diagnostic.severity = fault.severity;
                    diagnostic.help = fault.help;
                    self.push(name, diagnostic);
                }
            }
        }
    }

    /// Cursor names the logo at the top, Codex in its interface block.
    fn logo(&self, host: BuiltInHost, document: &Document<'_>) -> Vec<Fault> {
        let logo = match host {
            BuiltInHost::Cursor => document.root().get("logo"),
            BuiltInHost::Codex => document.root().get("interface").and_then(|it| it.get("logo")),
            _ => None,
        };
        let Some((node, path)) = logo.and_then(|node| Some((node, node.text()?))) else {
            return Vec::new();
        };
        if path.starts_with("https://") {
            return Vec::new();
        }
        let listed =
            TreePath::normalise(&path).is_ok_and(|path| self.manifest.file(&path).is_some());
        if listed {
            return Vec::new();
        }
        let message = format!("the logo `{path}` is no file of the artifact");
        vec![Fault { code: AB6025, message, span: node.span() }]
    }

    fn skill_directories(&mut self, name: &str) {
        let mut directories: Vec<&str> = Vec::new();
        for row in self.manifest.files() {
            let mut parts = row.path().components();
            if let (Some("skills"), Some(skill), Some(_)) =
                (parts.next(), parts.next(), parts.next())
            {
                directories.push(skill);
            }
        }
        directories.sort_unstable();
        directories.dedup();
        for skill in directories {
            let document = TreePath::new(format!("skills/{skill}/SKILL.md"));
            if !document.is_ok_and(|path| self.manifest.file(&path).is_some()) {
                let message = format!("`skills/{skill}` has no SKILL.md");
                let diagnostic = Diagnostic::new(&AB6037, message).at(format!("skills/{skill}"));
                self.push(name, diagnostic.help("add one, or move the files elsewhere"));
            }
        }
    }

    fn install_files(&mut self) {
        let hosts: Vec<_> =
            self.manifest.projections().iter().filter_map(Projection::built_in_host).collect();
        let told = hosts.iter().any(|host| *host != BuiltInHost::Amp);
        let own =
            hosts.iter().any(|host| matches!(host, BuiltInHost::Cursor | BuiltInHost::Portable));
        for (name, needed, code) in [("INSTALL.md", told, AB6023), ("install.mjs", own, AB6024)] {
            let there = TreePath::new(name).is_ok_and(|path| self.manifest.file(&path).is_some());
            if needed && !there {
                let message = format!("the artifact has no {name}");
                let diagnostic = Diagnostic::new(&code, message).at(name);
                self.found.push(diagnostic.help("build the root again"));
            }
        }
    }
}

/// One finding in a document.
struct Fault {
    code: Code,
    message: String,
    span: std::ops::Range<usize>,
}

fn code_of(host: BuiltInHost, kind: DocumentKind, rule: FaultRule) -> Code {
    use DocumentKind::{Hooks, Marketplace, Mcp, Plugin};
    match (host, kind) {
        (BuiltInHost::Cursor, Plugin) => AB6026,
        (BuiltInHost::Cursor, Marketplace) => AB6027,
        (BuiltInHost::Cursor, Mcp) => AB6028,
        (BuiltInHost::Cursor, Hooks) => AB6029,
        (BuiltInHost::Codex, Plugin) => AB6030,
        (BuiltInHost::Codex, Marketplace) => AB6031,
        (BuiltInHost::Codex, Mcp) => AB6032,
        (BuiltInHost::Codex, Hooks) => AB6033,
        (BuiltInHost::Portable, Mcp) if rule == FaultRule::Text => AB6038,
        (BuiltInHost::Portable, Mcp) => AB6036,
        (BuiltInHost::Portable, _) => AB6035,
        (BuiltInHost::Claude | BuiltInHost::Amp, _) => AB6012,
    }
}

/// Whether a server of the artifact is started from a launch record.
fn is_launched(kind: McpServerKind) -> bool {
    matches!(kind, McpServerKind::Compiled | McpServerKind::Prebuilt)
}
