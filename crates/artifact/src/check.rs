//! The full check of a document.
//!
//! One pass reads every section by its field tables and records what is wrong; a rule that spans
//! sections runs when the sections it compares are in order by themselves, so that one mistake is
//! not reported as ten. In the end the faults are put in the order in which the format checks
//! ([`crate::fault::rank`]), and the first one is the error of [`parse_artifact_manifest`].

use std::collections::HashSet;
use std::ops::Range;

use crate::checker::Checker;
use crate::cross::Sections;
use crate::fault::{Fault, Rule, rank};
use crate::fields::safe_integer;
use crate::json::{DepartureKind, Document, Node, TextError, TextErrorKind};
use crate::manifest::{ArtifactManifest, FileIndex};
use crate::model::{Compiler, Executables, ManifestBody};
use crate::{ARTIFACT_MANIFEST_NAME, ARTIFACT_MANIFEST_VERSION};

/// Parses and validates the canonical bytes of an artifact manifest (`parseArtifactManifest`).
///
/// # Errors
///
/// The fault that comes first in the order of the format; [`check_artifact_manifest`] gives all.
pub fn parse_artifact_manifest(bytes: &[u8]) -> Result<ArtifactManifest, Fault> {
    check_artifact_manifest(bytes)
        .map_err(|faults| faults.into_iter().next().unwrap_or_else(|| broken(bytes.len())))
}

/// Parses and validates the canonical bytes of an artifact manifest.
///
/// # Errors
///
/// Every fault, at least one and at most [`crate::MAX_FAULTS`], in the order of the format. A
/// text that is no JSON has one fault, and so has a document of another version: the rules of
/// version 6 say nothing about it.
pub fn check_artifact_manifest(bytes: &[u8]) -> Result<ArtifactManifest, Vec<Fault>> {
    let doc = Document::parse(bytes).map_err(|error| vec![text_fault(&error)])?;
    let mut cx = Checker::new(&doc);
    duplicate_keys(&doc, &mut cx);
    if is_other_version(doc.root(), &mut cx) {
        return Err(cx.into_faults());
    }
    let (_, parts) = ManifestBody::parts(doc.root(), &mut cx);
    let (_, compiler, distribution, executables, files, _, projections, routes, _, web) = &parts;
    // What is left of a section that is not in order can still be compared with the others.
    let part = |key| doc.root().get(key).unwrap_or(doc.root());
    let mut scratch = Checker::new(&doc);
    let compiler_parts =
        compiler.is_none().then(|| Compiler::parts(part("compiler"), &mut scratch).1);
    let executable_parts =
        executables.is_none().then(|| Executables::parts(part("executables"), &mut scratch).1);
    macro_rules! piece {
        ($whole:ident . $getter:ident, $parts:ident . $at:tt) => {
            match ($whole, &$parts) {
                (Some(whole), _) => Some(whole.$getter()),
                (None, Some(parts)) => parts.$at.as_ref(),
                (None, None) => None,
            }
        };
    }
    let index = FileIndex::new(files.as_ref().map_or(&[], |files| files));
    let sections = Sections {
        project: piece!(compiler.project, compiler_parts.3),
        provenance: piece!(compiler.provenance, compiler_parts.4),
        adapters: piece!(compiler.adapters, compiler_parts.5),
        validation: piece!(compiler.validation, compiler_parts.6),
        bins: piece!(executables.bins, executable_parts.0),
        hooks: piece!(executables.hooks, executable_parts.1),
        servers: piece!(executables.mcp_servers, executable_parts.2),
        scripts: piece!(executables.scripts, executable_parts.3),
        distribution: distribution.as_ref(),
        files: files.as_ref(),
        index: &index,
        projections: projections.as_ref(),
        routes: routes.as_ref(),
        web: web.as_ref().and_then(Option::as_ref),
    };
    sections.check(&mut cx);
    not_canonical(&doc, &mut cx);
    let mut faults = cx.into_faults();
    if faults.is_empty() {
        return match ManifestBody::assemble(parts) {
            Some(body) => Ok(ArtifactManifest::new(body, index)),
            None => Err(vec![broken(bytes.len())]),
        };
    }
    // How a value is written is no second fault where the value itself is wrong.
    let wrong: HashSet<Range<usize>> =
        faults.iter().filter(|it| it.rule != Rule::Canonical).map(|it| it.span.clone()).collect();
    faults.retain(|it| it.rule != Rule::Canonical || !wrong.contains(&it.span));
    faults.sort_by_cached_key(rank);
    Err(faults)
}

/// A document that no rule refuses and no type takes; there is none.
pub(crate) fn broken(len: usize) -> Fault {
    Fault {
        rule: Rule::Type,
        place: String::new(),
        span: 0..len,
        message: "could not be read".to_owned(),
        help: None,
    }
}

/// The fault of a text that is no JSON document.
pub(crate) fn text_fault(error: &TextError) -> Fault {
    let (rule, help) = match error.kind {
        TextErrorKind::Encoding => {
            (Rule::Encoding, Some("save the file as UTF-8 without a byte order mark"))
        }
        TextErrorKind::TooLarge | TextErrorKind::Syntax | TextErrorKind::LoneSurrogate => {
            (Rule::Json, None)
        }
        TextErrorKind::Depth => (Rule::Depth, None),
    };
    Fault {
        rule,
        place: String::new(),
        span: error.span.clone(),
        message: error.message.clone(),
        help: help.map(str::to_owned),
    }
}

/// Records every key that its object already held, with the place of the first one.
pub(crate) fn duplicate_keys(doc: &Document<'_>, cx: &mut Checker<'_>) {
    for duplicate in doc.duplicates() {
        let key = doc.node(duplicate.second);
        let text = doc.text();
        let before = &text[..duplicate.first_span.start];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let message = format!("stands twice in its object, first at {line}:{column}");
        cx.fault(key, Rule::DuplicateKey, message);
    }
}

/// Whether the document is of another version; then that is recorded.
fn is_other_version(root: Node<'_>, cx: &mut Checker<'_>) -> bool {
    let Some(node) = root.get("manifestVersion") else { return false };
    let Some(version) = node.number().and_then(safe_integer) else { return false };
    if version == ARTIFACT_MANIFEST_VERSION {
        return false;
    }
    let message = format!("is {version}; only version {ARTIFACT_MANIFEST_VERSION} is read");
    let help = if version < ARTIFACT_MANIFEST_VERSION {
        format!(
            "build the root again with an agent-bundle that writes {ARTIFACT_MANIFEST_NAME} \
             version {ARTIFACT_MANIFEST_VERSION}"
        )
    } else {
        format!(
            "the root is newer than this reader: use a newer holdall, or build it again for \
             version {ARTIFACT_MANIFEST_VERSION}"
        )
    };
    cx.fault_with_help(node, Rule::ManifestVersion, message, help);
    true
}

/// Records every way in which the text departs from its canonical form, at its first place.
pub(crate) fn not_canonical(doc: &Document<'_>, cx: &mut Checker<'_>) {
    for departure in doc.departures() {
        let what = match departure.kind {
            DepartureKind::Space => "white space between tokens",
            DepartureKind::KeyOrder => "a key that must stand before the one ahead of it",
            DepartureKind::Escape => "an escape that the canonical form writes otherwise",
            DepartureKind::Number => "a number that is not in its shortest form",
            DepartureKind::End => "must end with exactly one newline",
        };
        let message = format!("not the canonical bytes of the document: {what}");
        let help = "nothing in this file is edited by hand; build the root again";
        cx.fault_in_text(departure.span.clone(), Rule::Canonical, message, help);
    }
}
