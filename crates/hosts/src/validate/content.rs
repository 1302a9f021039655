//! What the files hold: AB6005, AB6006, AB6008, AB6039.

use holdall_artifact::evidence::{self, parse_compile_evidence};
use holdall_artifact::json::Document;
use holdall_artifact::model::FileKind;
use holdall_artifact::{ARTIFACT_MANIFEST_NAME, COMPILE_EVIDENCE_NAME};
use holdall_diagnostics::{Diagnostic, Severity, SourceText};
use holdall_js::{Language, imports, is_node_builtin};
use holdall_tree::TreePath;

use super::codes::{AB6005, AB6006, AB6008, AB6039};
use super::{Run, at, has_extension};

/// The specification that skills are validated against: the digest of its schema, the revision of
/// its source, its address.
const AGENT_SKILLS: [&str; 3] = [
    "6d06b61e423317421de2295ea1fd0c7b4491bfa36c5b7705c28616dfe76d4047",
    "69ef37e9424c0a7ea9dd2293b559e43ec8176379",
    "https://raw.githubusercontent.com/agentskills/agentskills/69ef37e9424c0a7ea9dd2293b559e43ec8176379/docs/specification.mdx",
];

/// Largest module or JSON file that is looked into.
const MAX_READ: u64 = 256 << 20;

impl Run<'_> {
    /// Checks the content of every listed file.
    pub(super) fn content(&mut self) {
        self.agent_skills();
        for row in self.manifest.files() {
            let path = row.path();
            let emitted = matches!(row.kind(), FileKind::Bundle | FileKind::Generated);
            let language = Language::of(path.as_str()).filter(|_| emitted);
            let json = row.kind() != FileKind::Prebuilt && has_extension(path.as_str(), "json");
            if language.is_none() && !json {
                continue;
            }
            if row.bytes() > MAX_READ {
                let code = if json { &AB6006 } else { &AB6005 };
                let mut diagnostic = Diagnostic::new(code, "is larger than what is looked into");
                diagnostic.severity = Severity::Warning;
                self.report(path, diagnostic);
                continue;
            }
            // What cannot be read was reported when the rows were compared.
            let Ok(bytes) = self.root.read(path, MAX_READ) else { continue };
            if let Some(language) = language {
                self.module(path, bytes, language);
            } else if path.as_str() == COMPILE_EVIDENCE_NAME {
                self.evidence(path, bytes);
            } else {
                self.json(path, bytes);
            }
        }
    }

    fn module(&mut self, path: &TreePath, bytes: Vec<u8>, language: Language) {
        let Ok(text) = std::str::from_utf8(&bytes) else {
            self.report(path, Diagnostic::new(&AB6005, "is not UTF-8, so no module"));
            return;
        };
        let found = imports(text, language);
        let source = SourceText::new(bytes);
        match found {
            Err(error) => {
                let message = format!("is not JavaScript: {}", error.message);
                self.report(path, Diagnostic::new(&AB6005, message).span(&source, error.span));
            }
            Ok(imports) => {
                for import in imports {
                    let request = &import.request;
                    let relative = request.starts_with("./") || request.starts_with("../");
                    let listed = relative && self.is_listed(path, request);
                    if listed || is_node_builtin(request) {
                        continue;
                    }
                    let message = format!("imports `{request}`, which the artifact does not hold");
                    let help = if relative {
                        "ship the file, so that it has a row"
                    } else {
                        "bundle the dependency: nothing is installed where an artifact runs"
                    };
                    let diagnostic = Diagnostic::new(&AB6005, message);
                    self.report(path, diagnostic.span(&source, import.span).help(help));
                }
            }
        }
    }

    /// Whether a relative request leads to a listed file.
    fn is_listed(&self, path: &TreePath, request: &str) -> bool {
        let request = request.split(['?', '#']).next().unwrap_or_default();
        evidence::resolve(path, request)
            .and_then(|target| TreePath::new(target).ok())
            .is_some_and(|target| self.manifest.file(&target).is_some())
    }

    /// JSON as every reader takes it: keys may repeat, and text need not be whole.
    fn json(&mut self, path: &TreePath, bytes: Vec<u8>) {
        let text = std::str::from_utf8(&bytes);
        let error = match text.map(serde_json::from_str::<serde::de::IgnoredAny>) {
            Ok(Ok(_)) => return,
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };
        let (message, span) = match Document::parse(&bytes) {
            Err(error) => (error.message, error.span),
            Ok(_) => (error, 0..0),
        };
        let source = SourceText::new(bytes);
        self.report(path, Diagnostic::new(&AB6006, message).span(&source, span));
    }

    /// AB6039; the record need not be there.
    fn evidence(&mut self, path: &TreePath, bytes: Vec<u8>) {
        let help = "only a rebuild produces another record";
        match parse_compile_evidence(&bytes) {
            Ok(record) => {
                for answer in evidence::compare(&record, self.manifest, is_node_builtin) {
                    self.report(path, Diagnostic::new(&AB6039, answer).help(help));
                }
            }
            Err(faults) => {
                let source = SourceText::new(bytes);
                for fault in faults {
                    let shown = at(self.shown, path.as_str());
                    self.found.push(fault.diagnostic(&AB6039, &shown, &source));
                }
            }
        }
    }

    fn agent_skills(&mut self) {
        let pin = self.manifest.compiler().agent_skills();
        let digest = pin.schema_sha256().to_string();
        let found = [digest.as_str(), pin.source_revision(), pin.specification()];
        let keys = ["schemaSha256", "sourceRevision", "specification"];
        for ((key, found), known) in keys.iter().zip(found).zip(AGENT_SKILLS) {
            if found != known {
                let message = format!("compiler.agentSkills.{key} is `{found}`, not `{known}`");
                let diagnostic = Diagnostic::new(&AB6008, message);
                self.found.push(diagnostic.at(at(self.shown, ARTIFACT_MANIFEST_NAME)));
            }
        }
    }
}
