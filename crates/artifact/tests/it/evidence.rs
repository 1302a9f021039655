//! The record of compile evidence, by itself and against the rows.

use holdall_artifact::evidence::{compare, parse_compile_evidence};
use holdall_artifact::json::Value;
use holdall_artifact::parse_artifact_manifest;

use crate::generate::{object, sample};
use crate::mutants::at;

/// A record that agrees with the sample document.
pub(crate) fn record(document: &Value) -> Value {
    let rows = document.as_object().unwrap().get("files").unwrap().as_array().unwrap();
    let mut assets = Vec::new();
    for row in rows.iter().map(|row| row.as_object().unwrap()) {
        if row.get("kind").unwrap().as_str() != Some("bundle") {
            continue;
        }
        let mut externals = vec![];
        if row.get("path").unwrap().as_str() == Some("bin/tool.mjs") {
            externals = vec![
                object! {
                    "externalType": "module", "issuers": vec!["./src/a.ts"], "kind": "builtin",
                    "request": "node:fs", "userRequest": "fs",
                },
                object! {
                    "externalType": "module", "issuers": vec!["./src/a.ts"],
                    "kind": "artifact-relative", "request": "../mcp/server.mjs",
                    "target": "mcp/server.mjs", "userRequest": "#server",
                },
            ];
        }
        assets.push(object! {
            "externals": Value::Array(externals), "packages": Value::Array(vec![]),
            "path": row.get("path").unwrap().clone(), "sha256": row.get("sha256").unwrap().clone(),
        });
    }
    object! {
        "assets": Value::Array(assets),
        "coverage": object! { "rewritable": false, "unobserved": vec!["require(<expression>)"] },
        "policy": object! { "name": "closed-world-externals", "revision": 1 },
        "producer": object! { "name": "agent-bundle", "rspack": "1.5.0", "version": "0.3.1" },
    }
}

fn answers(make: impl FnOnce(&mut Value)) -> Vec<String> {
    let document = sample();
    let mut value = record(&document);
    make(&mut value);
    let record = parse_compile_evidence(&value.to_canonical_bytes()).expect("a record");
    let manifest = parse_artifact_manifest(&document.to_canonical_bytes()).expect("valid");
    compare(&record, &manifest, |request| request == "node:fs")
}

#[test]
fn a_record_agrees_with_its_rows_or_says_where_not() {
    assert_eq!(answers(|_| {}), Vec::<String>::new());
    let one = |make: fn(&mut Value), part: &str| {
        let answers = answers(make);
        assert_eq!(answers.len(), 1, "{answers:?}");
        assert!(answers[0].contains(part), "{answers:?}");
    };
    one(|v| *at(v, "policy.revision") = 2.into(), "policy");
    one(|v| *at(v, "assets.0.sha256") = "0".repeat(64).into(), "other bytes");
    one(
        |v| {
            at(v, "assets").as_array_mut().unwrap().pop();
        },
        "no asset describes",
    );
    one(
        |v| {
            at(v, "assets").as_array_mut().unwrap().push(object! {
                "externals": Value::Array(vec![]), "packages": Value::Array(vec![]),
                "path": "zzz.mjs", "sha256": "0".repeat(64),
            });
        },
        "no compiled row",
    );
    let tool = |v: &mut Value| {
        let assets = at(v, "assets").as_array().unwrap();
        let is = |asset: &Value| {
            asset.as_object().unwrap().get("path").unwrap().as_str() == Some("bin/tool.mjs")
        };
        assets.iter().position(is).unwrap()
    };
    let broken = answers(|v| {
        let place = format!("assets.{}.externals.0.request", tool(v));
        *at(v, &place) = "left-pad".into();
    });
    assert!(broken[0].contains("left-pad"), "{broken:?}");
    let broken = answers(|v| {
        let place = format!("assets.{}.externals.1.request", tool(v));
        *at(v, &place) = "./server.mjs".into();
    });
    assert!(broken[0].contains("./server.mjs"), "{broken:?}");
}

#[test]
fn the_record_is_read_as_strictly_as_the_manifest() {
    let good = record(&sample());
    let rule = |value: &Value| {
        parse_compile_evidence(&value.to_canonical_bytes()).expect_err("refused")[0].rule.name()
    };
    let mut value = good.clone();
    value.as_object_mut().unwrap().insert("extra", 1);
    assert_eq!(rule(&value), "key");
    let mut value = good.clone();
    at(&mut value, "assets").as_array_mut().unwrap().reverse();
    assert_eq!(rule(&value), "order");
    let mut bytes = good.to_canonical_bytes();
    bytes.push(b'\n');
    assert_eq!(parse_compile_evidence(&bytes).expect_err("refused")[0].rule.name(), "canonical");
}
