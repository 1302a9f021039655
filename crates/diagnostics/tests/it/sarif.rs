use std::path::PathBuf;
use std::process::Command;

use holdall_diagnostics::{Diagnostic, SarifTool, SourceText, sarif};
use serde_json::Value;

use crate::{COLON, LONG, NOTE, colon, registry};

const TOOL: SarifTool<'_> = SarifTool { name: "holdall", version: "0.1.0" };

/// The SARIF 2.1.0 schema as the `serde-sarif` crate ships it.
fn schema() -> Value {
    // Of this platform alone: nothing else was downloaded to run the test.
    let rustc = Command::new("rustc").arg("-vV").output().expect("rustc runs");
    let rustc = String::from_utf8(rustc.stdout).unwrap();
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc's host");
    let out = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline", "--filter-platform", host])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let metadata: Value = serde_json::from_slice(&out.stdout).unwrap();
    let manifest = metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .find(|package| package["name"] == "serde-sarif")
        .expect("serde-sarif is a dependency")["manifest_path"]
        .as_str()
        .map(PathBuf::from)
        .unwrap();
    let text = std::fs::read_to_string(manifest.with_file_name("src").join("schema.json")).unwrap();
    // The published pattern for languages has a stray `]`, which Unicode-aware engines refuse.
    serde_json::from_str(&text.replace("{2}]?$", "{2}$")).unwrap()
}

fn everything() -> Vec<Diagnostic> {
    let source = SourceText::new("x\ny\n");
    vec![
        colon(),
        colon(),
        Diagnostic::new(&LONG, "at the end").at("a b/ü%:c.md").span(&source, 4..4).target("claude"),
        Diagnostic::new(&NOTE, "over lines").at("/abs/olute.json").span(&source, 0..3),
        Diagnostic::new(&NOTE, "no place"),
    ]
}

#[test]
fn conforms_to_the_schema() {
    let validator = jsonschema::validator_for(&schema()).expect("the schema compiles");
    for diagnostics in [everything(), Vec::new()] {
        let log = sarif(&diagnostics, &registry(), TOOL);
        let errors: Vec<_> = validator.iter_errors(&log).map(|error| error.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new());
    }
    // The schema does find faults.
    let mut broken = sarif(&everything(), &registry(), TOOL);
    broken["runs"][0]["results"][0]["level"] = "fatal".into();
    assert!(!validator.is_valid(&broken));
}

#[test]
fn is_read_by_another_implementation() {
    let log: serde_sarif::sarif::Sarif =
        serde_json::from_value(sarif(&everything(), &registry(), TOOL)).unwrap();
    let run = &log.runs[0];
    assert_eq!(run.tool.driver.name, "holdall");
    assert_eq!(serde_json::to_value(&run.column_kind).unwrap(), "unicodeCodePoints");
    let rules = run.tool.driver.rules.as_ref().unwrap();
    let ids: Vec<_> = rules.iter().map(|rule| rule.id.as_str()).collect();
    assert_eq!(ids, ["AO0301", "PK0104", "PK0210"]);
    assert_eq!(rules[1].short_description.as_ref().unwrap().text, COLON.title);
    assert_eq!(rules[1].full_description.as_ref().unwrap().text, COLON.explain);
    assert!(rules.iter().all(|rule| rule.help.is_some()));

    let results = run.results.as_ref().unwrap();
    assert_eq!(results.len(), 5);
    for result in results {
        let index = usize::try_from(result.rule_index.unwrap()).unwrap();
        assert_eq!(Some(&rules[index].id), result.rule_id.as_ref());
    }
    let place = results[0].locations.as_ref().unwrap()[0].physical_location.as_ref().unwrap();
    let region = place.region.as_ref().unwrap();
    assert_eq!((region.start_line, region.start_column), (Some(3), Some(15)));
    assert_eq!((region.end_line, region.end_column), (Some(3), Some(17)));
    let uri = |at: usize| {
        let place: &Vec<_> = results[at].locations.as_ref().unwrap();
        let artifact = place[0].physical_location.as_ref().unwrap().artifact_location.clone();
        artifact.unwrap().uri.unwrap()
    };
    assert_eq!(uri(0), "skills/triage/SKILL.md");
    assert_eq!(uri(2), "a%20b/%C3%BC%25%3Ac.md");
    assert_eq!(uri(3), "file:///abs/olute.json");
    assert!(results[4].locations.is_none());
}

fn fingerprints(diagnostics: &[Diagnostic]) -> Vec<String> {
    let log = sarif(diagnostics, &registry(), TOOL);
    let results = log["runs"][0]["results"].as_array().unwrap();
    let of = |result: &Value| {
        result["partialFingerprints"]["holdallFinding/v1"].as_str().map(str::to_owned)
    };
    results.iter().map(|result| of(result).unwrap()).collect()
}

#[test]
fn fingerprints_tell_findings_apart_and_survive_moved_lines() {
    let all = fingerprints(&everything());
    let distinct: std::collections::BTreeSet<_> = all.iter().collect();
    assert_eq!(distinct.len(), all.len(), "{all:?}");

    let moved = |before: &str| {
        let text = format!("{before}  key: a: b  \n");
        let at = text.find("a: b").unwrap();
        let source = SourceText::new(text);
        fingerprints(&[Diagnostic::new(&COLON, "x").at("f").span(&source, at..at + 4)])
    };
    assert_eq!(moved(""), moved("more\nlines\n  "));
}
