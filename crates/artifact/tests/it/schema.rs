//! The JSON Schema against the parser.

use std::io::Write;
use std::process::{Command, Stdio};

use holdall_artifact::json::Value;
use holdall_artifact::{artifact_manifest_schema, parse_artifact_manifest};
use proptest::prelude::*;

use crate::generate::{document, sample, spec};
use crate::mutants::MUTANTS;

pub(crate) fn to_serde(value: &Value) -> serde_json::Value {
    serde_json::from_slice(&value.to_canonical_bytes()).expect("JSON")
}

fn validator() -> jsonschema::Validator {
    jsonschema::draft202012::new(&to_serde(&artifact_manifest_schema())).expect("a schema")
}

/// What a schema cannot state (1.16 of the format).
pub(crate) fn only_the_parser_can_tell(rule: &str, place: &str) -> bool {
    match rule {
        "canonical" | "order" | "node" | "duplicate-key" => true,
        // `required` of an input schema names its properties.
        "value" => place.contains(".required["),
        "R18" | "R24" => false,
        rule => rule.starts_with('R'),
    }
}

#[test]
fn the_schema_refuses_exactly_the_mutants_that_it_can() {
    let schema = validator();
    assert!(schema.is_valid(&to_serde(&sample())));
    for mutant in MUTANTS {
        let mut value = sample();
        (mutant.make)(&mut value);
        let accepted = schema.is_valid(&to_serde(&value));
        let expected = only_the_parser_can_tell(mutant.rule, mutant.place);
        assert_eq!(accepted, expected, "{} at {}", mutant.rule, mutant.place);
    }
}

/// Texts for a path, most of them odd.
fn odd_path() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z.:/\\\\ <>|?*\"\u{1}\u{7f}\n$~-]{0,12}",
        "((con|PRN|aux|NUL|com[0-9¹²³x]|LPT[0-9¹²³]|ab|state|STATE)[./ ]?){1,4}",
        Just(".agent-bundle-INSTALL.json".to_owned()),
        Just("agent-bundle.manifest.json".to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn what_the_parser_takes_satisfies_the_schema(spec in spec()) {
        prop_assert!(validator().is_valid(&to_serde(&document(&spec))));
    }
}

#[test]
fn schema_and_parser_agree_on_odd_paths() {
    let schema = validator();
    let places = ["routes.events.0.source", "files.0.path", "distribution.payloads.0.name"];
    let mut runner = proptest::test_runner::TestRunner::default();
    runner
        .run(&(odd_path(), 0..places.len()), |(path, which)| {
            let mut value = sample();
            *crate::mutants::at(&mut value, places[which]) = path.into();
            let accepted = schema.is_valid(&to_serde(&value));
            let refused_path = match parse_artifact_manifest(&value.to_canonical_bytes()) {
                Ok(_) => false,
                Err(fault) => fault.rule.name() == "path",
            };
            prop_assert_eq!(accepted, !refused_path);
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
}

#[test]
#[ignore = "needs HOLDALL_SHARED"]
fn needs_shared_the_published_manifest_satisfies_the_schema() {
    let value = serde_json::from_slice(&crate::published::plugin_library()).expect("JSON");
    assert!(validator().is_valid(&value));
}

#[test]
#[ignore = "needs ajv"]
fn needs_ajv_the_schema_means_the_same_to_ajv() {
    let ajv = std::env::var("HOLDALL_AJV").unwrap_or_else(|_| {
        panic!("HOLDALL_AJV is not set: run `npm install ajv@8` and set it to node_modules/ajv")
    });
    let mut cases = vec![(to_serde(&sample()), true)];
    for mutant in MUTANTS {
        let mut value = sample();
        (mutant.make)(&mut value);
        cases.push((to_serde(&value), only_the_parser_can_tell(mutant.rule, mutant.place)));
    }
    let input = serde_json::json!({
        "schema": to_serde(&artifact_manifest_schema()),
        "documents": cases.iter().map(|(document, _)| document).collect::<Vec<_>>(),
    });
    let script = "
        const Ajv = require(process.argv[1] + '/dist/2020').default;
        const { schema, documents } = JSON.parse(require('fs').readFileSync(0, 'utf8'));
        const validate = new Ajv({ strict: false }).compile(schema);
        process.stdout.write(JSON.stringify(documents.map(document => validate(document))));
    ";
    let mut child = Command::new("node")
        .args(["-e", script, &ajv])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("node runs");
    child.stdin.take().expect("stdin").write_all(input.to_string().as_bytes()).expect("written");
    let output = child.wait_with_output().expect("node ends");
    let verdicts: Vec<bool> = serde_json::from_slice(&output.stdout).expect("verdicts");
    let expected: Vec<bool> = cases.iter().map(|(_, expected)| *expected).collect();
    assert_eq!(verdicts, expected);
}
