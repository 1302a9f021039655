//! The record of compile evidence, `agent-bundle.compile-evidence.json` (section 4 of the format).
//!
//! It says for every compiled file what that file imports from outside itself, so that an
//! artifact can be judged without bundling it again. It describes compiled bytes, so a record
//! that disagrees with the rows (AB6039) means that somebody edited one of them.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use holdall_tree::TreePath;

use crate::checker::Checker;
use crate::collate::collate;
use crate::containers::{List, SortKey, Sorted};
use crate::fault::Fault;
use crate::fields::{Integer, Json, MAX_SAFE, Sha256, Text, words};
use crate::json::Document;
use crate::model::{FileKind, ListedPath, ProducerName};
use crate::record::record;
use crate::shape::Condition;
use crate::{ArtifactManifest, check};

/// The policy by which externals are judged, and its revision.
pub const POLICY: (&str, u64) = ("closed-world-externals", 1);

words! {
    /// What a compiled file imports from outside itself.
    ExternalKind {
        /// Another compiled file of the artifact.
        ArtifactRelative = "artifact-relative",
        /// A module of Node.js.
        Builtin = "builtin",
    }
}

record! {
    /// An import that was left outside a compiled file.
    pub External "An import that was left outside a compiled file." {
        /// How it is imported.
        "externalType" external_type: req text Text,
        /// The modules that import it.
        "issuers" issuers: req get Sorted<Text>,
        /// What it is.
        "kind" kind: req copy ExternalKind,
        /// The request as it stands in the compiled file.
        "request" request: req text Text,
        /// The file it means, of an artifact-relative one.
        "target" target: opt path ListedPath,
        /// The request as its author wrote it.
        "userRequest" user_request: req text Text,
    }
    when [Condition::PresentIff { key: "target", by: "kind", words: &["artifact-relative"] }]
}

record! {
    /// One compiled file.
    pub Asset "One compiled file." {
        /// What it imports from outside itself.
        "externals" externals: req get List<External>,
        /// The packages that went into it.
        "packages" packages: req get Sorted<Text>,
        /// Where it lies.
        "path" path: req path ListedPath,
        /// Digest of its content.
        "sha256" sha256: req copy Sha256,
    }
}

impl SortKey for Asset {
    const BY: &'static str = "path";

    fn compare(&self, other: &Self) -> Ordering {
        collate(self.path().as_str(), other.path().as_str())
    }

    fn shown(&self) -> String {
        self.path().to_string()
    }
}

record! {
    /// What the compiler could not see.
    pub Coverage "What the compiler could not see." {
        /// Whether the record may be rewritten.
        "rewritable" rewritable: req copy bool,
        /// Forms of import that were not observed.
        "unobserved" unobserved: req get List<Text>,
    }
}

record! {
    /// The policy that was applied.
    pub Policy "The policy that was applied." {
        /// Its name.
        "name" name: req text Text,
        /// Its revision.
        "revision" revision: req number Integer<1, MAX_SAFE>,
    }
}

record! {
    /// The tool and the bundler that compiled.
    pub EvidenceProducer "The tool and the bundler that compiled." {
        "name" name: req hidden ProducerName,
        /// Version of the bundler.
        "rspack" rspack: req text Text,
        /// Version of the tool.
        "version" version: req text Text,
    }
}

record! {
    /// The record of compile evidence.
    pub CompileEvidence "The record of compile evidence." {
        /// The compiled files by path.
        "assets" assets: req get Sorted<Asset>,
        /// What the compiler could not see.
        "coverage" coverage: req get Coverage,
        /// The policy that was applied.
        "policy" policy: req get Policy,
        /// The tool and the bundler.
        "producer" producer: req get EvidenceProducer,
    }
}

/// Parses the canonical bytes of a record of compile evidence.
///
/// # Errors
///
/// Every fault, at least one, by the same rules as those of the artifact manifest.
pub fn parse_compile_evidence(bytes: &[u8]) -> Result<CompileEvidence, Vec<Fault>> {
    let doc = Document::parse(bytes).map_err(|error| vec![check::text_fault(&error)])?;
    let mut cx = Checker::new(&doc);
    check::duplicate_keys(&doc, &mut cx);
    let record = CompileEvidence::read(doc.root(), &mut cx);
    check::not_canonical(&doc, &mut cx);
    let faults = cx.into_faults();
    match record {
        Some(record) if faults.is_empty() => Ok(record),
        _ => Err(faults),
    }
}

/// Compares a record with the rows of its artifact (AB6039): the policy is the one known, every
/// compiled row has an asset of the same digest and every asset a compiled row, and each external
/// is what it says it is. `is_builtin` tells whether a request names a module of Node.js.
/// The answers are lower-case fragments, none when they agree.
pub fn compare(
    record: &CompileEvidence,
    manifest: &ArtifactManifest,
    is_builtin: impl Fn(&str) -> bool,
) -> Vec<String> {
    let mut answers = Vec::new();
    let policy = record.policy();
    if (policy.name(), policy.revision()) != POLICY {
        answers.push(format!(
            "the policy is {} {}, not {} {}",
            policy.name(),
            policy.revision(),
            POLICY.0,
            POLICY.1
        ));
    }
    let by_path: BTreeMap<&TreePath, &Asset> =
        record.assets().iter().map(|asset| (asset.path(), asset)).collect();
    for row in manifest.files().iter().filter(|row| row.kind() == FileKind::Bundle) {
        match by_path.get(row.path()) {
            None => answers.push(format!("no asset describes the compiled file {}", row.path())),
            Some(asset) if asset.sha256() != row.sha256() => {
                answers.push(format!("the asset {} describes other bytes", row.path()));
            }
            Some(_) => {}
        }
    }
    let is_bundle =
        |path: &TreePath| manifest.file(path).is_some_and(|row| row.kind() == FileKind::Bundle);
    for asset in record.assets() {
        if !is_bundle(asset.path()) {
            answers.push(format!("the asset {} is no compiled row", asset.path()));
        }
        for external in asset.externals() {
            let request = external.request();
            let good = match (external.kind(), external.target()) {
                (ExternalKind::Builtin, _) => is_builtin(request),
                (ExternalKind::ArtifactRelative, Some(target)) => {
                    resolve(asset.path(), request).as_deref() == Some(target.as_str())
                        && is_bundle(target)
                }
                (ExternalKind::ArtifactRelative, None) => false,
            };
            if !good {
                answers.push(format!(
                    "the asset {} imports {request}, which is not {}",
                    asset.path(),
                    match external.kind() {
                        ExternalKind::Builtin => "a module of Node.js",
                        ExternalKind::ArtifactRelative => "the compiled file it names",
                    }
                ));
            }
        }
    }
    answers
}

/// The path that a relative request means in a file, if it stays inside the root.
pub fn resolve(file: &TreePath, request: &str) -> Option<String> {
    let directory = file.parent().unwrap_or_default();
    let mut parts: Vec<&str> = directory.components().collect();
    for part in request.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}
