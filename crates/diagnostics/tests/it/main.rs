//! The renderings of diagnostics, each against what reads it.

mod escape;
mod github;
mod json;
mod registry;
mod sarif;
mod text;

use holdall_diagnostics::{Code, Diagnostic, Registry, Severity, SourceText};

const COLON: Code = Code {
    id: "PK0104",
    severity: Severity::Error,
    title: "`: ` in a plain value",
    explain: "YAML reads `: ` as the beginning of another mapping.\n\nPut the value in quotes.",
};
const LONG: Code = Code {
    id: "PK0210",
    severity: Severity::Warning,
    title: "a description | a table",
    explain: "Agent hosts cut long descriptions.",
};
const NOTE: Code = Code {
    id: "AO0301",
    severity: Severity::Info,
    title: "no licence",
    explain: "Nothing says under which terms the package may be used.",
};
const CODES: &[Code] = &[COLON, LONG];
const MORE: &[Code] = &[NOTE];

fn registry() -> Registry {
    Registry::new(&[CODES, MORE])
}

/// The example of the design: line 3, column 14.
fn colon() -> Diagnostic {
    let text = "---\nname: triage\ndescription: a: b\n---\n";
    let source = SourceText::new(text);
    let at = text.find("a: b").unwrap() + 1;
    Diagnostic::new(&COLON, "`: ` in a plain value")
        .at("skills/triage/SKILL.md")
        .span(&source, at..at + 2)
        .help("put the value in double quotes")
}
