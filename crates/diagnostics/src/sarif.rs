//! Diagnostics as SARIF 2.1.0 (OASIS), the format of code scanning services.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::{Diagnostic, Registry, Severity};

/// The schema that the standard names as its own.
const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The base that relative paths are meant to: the working directory, in practice the checkout.
const BASE: &str = "%SRCROOT%";

/// RFC 3986 unreserved characters and `/` stay; a colon would look like a scheme.
const PATH: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// Who ran: the `tool.driver` of the log.
#[derive(Debug, Clone, Copy)]
pub struct SarifTool<'a> {
    /// The program's name.
    pub name: &'a str,
    /// Its semantic version.
    pub version: &'a str,
}

/// A SARIF 2.1.0 log with one run. `rules` describes the codes used, taken from `registry`;
/// columns count Unicode code points; paths are percent-encoded URIs. Each result has a
/// fingerprint over code, path, target and the text of its line, which stays the same while lines
/// move.
pub fn sarif(diagnostics: &[Diagnostic], registry: &Registry, tool: SarifTool<'_>) -> Value {
    let used: BTreeSet<_> = diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
    let rules: Vec<_> = used.iter().map(|id| rule(id, registry)).collect();
    let index: HashMap<_, _> = used.iter().enumerate().map(|(at, id)| (*id, at)).collect();
    let mut seen = HashMap::new();
    let results: Vec<_> = diagnostics
        .iter()
        .map(|diagnostic| {
            let base = fingerprint(diagnostic);
            let nth = seen.entry(base.clone()).or_insert(0_usize);
            *nth += 1;
            result(diagnostic, index[diagnostic.code], &format!("{base}:{nth}"))
        })
        .collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": tool.name,
                "version": tool.version,
                "semanticVersion": tool.version,
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn rule(id: &str, registry: &Registry) -> Value {
    let Some(code) = registry.get(id) else {
        return json!({ "id": id });
    };
    json!({
        "id": code.id,
        "shortDescription": { "text": code.title },
        "fullDescription": { "text": code.explain },
        "help": { "text": code.explain, "markdown": code.explain },
        "defaultConfiguration": { "level": level(code.severity) },
    })
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

fn result(diagnostic: &Diagnostic, rule: usize, fingerprint: &str) -> Value {
    let mut text = diagnostic.message.clone();
    if let Some(help) = &diagnostic.help {
        text.push_str(&format!("\nhelp: {help}"));
    }
    let mut result = json!({
        "ruleId": diagnostic.code,
        "ruleIndex": rule,
        "level": level(diagnostic.severity),
        "message": { "text": text },
        "partialFingerprints": { "holdallFinding/v1": fingerprint },
    });
    if let Some(path) = &diagnostic.path {
        let mut place = json!({ "artifactLocation": location(path) });
        if let Some(span) = diagnostic.span {
            place["region"] = json!({
                "startLine": span.start.line,
                "startColumn": span.start.column,
                "endLine": span.end.line,
                "endColumn": span.end.column,
            });
        }
        result["locations"] = json!([{ "physicalLocation": place }]);
    }
    if let Some(target) = &diagnostic.target {
        result["properties"] = json!({ "target": target });
    }
    result
}

fn location(path: &str) -> Value {
    let uri = utf8_percent_encode(path, PATH);
    if path.starts_with('/') {
        json!({ "uri": format!("file://{uri}") })
    } else {
        json!({ "uri": uri.to_string(), "uriBaseId": BASE })
    }
}

fn fingerprint(diagnostic: &Diagnostic) -> String {
    let line = match (&diagnostic.source, diagnostic.span) {
        (Some(source), Some(span)) => source.line(span.start.line),
        _ => diagnostic.message.as_bytes(),
    };
    let mut hash = Sha256::new();
    for part in [
        diagnostic.code.as_bytes(),
        diagnostic.path.as_deref().unwrap_or_default().as_bytes(),
        diagnostic.target.as_deref().unwrap_or_default().as_bytes(),
        line.trim_ascii(),
    ] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().iter().take(16).fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
