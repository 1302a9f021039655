//! The JSON Schema and the parser agree on every document in `tests/data`.

use std::path::{Path, PathBuf};

use holdall_diagnostics::{Severity, SourceText};
use holdall_skill::frontmatter::Document;
use holdall_skill::{codes, skill, yaml};
use serde_json::Value;

/// Every `SKILL.md` below `tests/data` whose frontmatter is YAML, as JSON, and whether the fields
/// pass the parser. Faults that no schema can see are left out of account.
fn documents() -> Vec<(PathBuf, Value, bool)> {
    let mut todo = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data")];
    let mut found = Vec::new();
    while let Some(directory) = todo.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                todo.push(path);
            } else if path.file_name().is_some_and(|name| name == skill::FILE) {
                let source = SourceText::new(std::fs::read(&path).unwrap());
                let Ok(document) = Document::split(&source) else { continue };
                let Some(root) = yaml::parse(&document).root else { continue };
                let of_fields = [
                    codes::SKILL_NAME_MISSING.id,
                    codes::SKILL_NAME.id,
                    codes::SKILL_DESCRIPTION_MISSING.id,
                    codes::NOT_A_MAPPING.id,
                ];
                let accepted = skill::check(&source, None).diagnostics.iter().all(|found| {
                    found.severity != Severity::Error || !of_fields.contains(&found.code)
                });
                found.push((path, skill::to_json(&root), accepted));
            }
        }
    }
    assert!(found.len() > 30 && found.iter().any(|(_, _, accepted)| !accepted), "{}", found.len());
    found
}

#[test]
fn the_schema_agrees_with_the_parser() {
    let schema = skill::json_schema();
    assert!(jsonschema::meta::is_valid(&schema));
    let validator = jsonschema::validator_for(&schema).unwrap();
    for (path, document, accepted) in documents() {
        assert_eq!(validator.is_valid(&document), accepted, "{}: {document}", path.display());
    }
}

#[test]
#[ignore = "needs ajv"]
fn ajv_agrees_with_the_parser() {
    let ajv = std::env::var("HOLDALL_AJV").expect(
        "set HOLDALL_AJV to the directory of the npm package ajv 8: npm install ajv@8, then node_modules/ajv",
    );
    let documents = documents();
    let values: Vec<_> = documents.iter().map(|(_, document, _)| document).collect();
    let directory = tempfile::tempdir().unwrap();
    let input = directory.path().join("input.json");
    let json = serde_json::json!({ "schema": skill::json_schema(), "values": values });
    std::fs::write(&input, json.to_string()).unwrap();
    let program = "const Ajv = require(process.env.AJV + '/dist/2020').default;\
        const { schema, values } = JSON.parse(require('fs').readFileSync(process.argv[1], 'utf8'));\
        const validate = new Ajv({ strict: true }).compile(schema);\
        console.log(JSON.stringify(values.map((value) => validate(value))));";
    let output = std::process::Command::new("node")
        .args(["-e", program])
        .arg(&input)
        .env("AJV", ajv)
        .output()
        .expect("node has to be installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let results: Vec<bool> = serde_json::from_slice(&output.stdout).unwrap();
    for ((path, document, accepted), result) in documents.iter().zip(results) {
        assert_eq!(result, *accepted, "{}: {document}", path.display());
    }
}
