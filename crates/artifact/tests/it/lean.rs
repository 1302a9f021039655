//! The lean reader against its own rules and against the full parser.

use holdall_artifact::json::Value;
use holdall_artifact::{lean, parse_artifact_manifest};
use proptest::prelude::*;

use crate::generate::{document, object, sample, spec};
use crate::mutants::{MUTANTS, at, members};

fn lean_rule(value: &Value) -> Option<&'static str> {
    lean::parse(&value.to_canonical_bytes()).err().map(|fault| fault.rule.name())
}

#[test]
fn it_gives_hosts_launch_records_and_web() {
    let manifest = lean::parse(&sample().to_canonical_bytes()).expect("valid");
    assert_eq!(manifest.hosts().collect::<Vec<_>>(), ["claude", "codex"]);
    let launch = manifest.launch("hauler").expect("launched");
    assert_eq!(launch.entry().as_str(), "mcp/server.mjs");
    assert_eq!(launch.args().len(), 3);
    assert!(manifest.launch("Remote").is_none());
    assert_eq!(manifest.servers().len(), 3);
    assert_eq!(manifest.web().expect("web").apps().len(), 1);
}

#[test]
fn it_ignores_what_it_does_not_launch_from() {
    let mut value = sample();
    members(&mut value, "").insert("extra", true);
    members(&mut value, "").remove("compiler");
    members(&mut value, "").remove("routes");
    members(&mut value, "files.0").insert("sha256", 5);
    at(&mut value, "files").as_array_mut().expect("rows").reverse();
    members(&mut value, "executables.mcpServers.0").insert("note", "kept");
    let pretty =
        String::from_utf8(value.to_canonical_bytes()).expect("UTF-8").replace("\":", "\": ");
    assert!(parse_artifact_manifest(pretty.as_bytes()).is_err());
    assert!(lean::parse(pretty.as_bytes()).is_ok());
}

#[test]
fn it_refuses_each_slice_that_is_wrong() {
    type Case = (&'static str, fn(&mut Value));
    let cases: &[Case] = &[
        ("manifestVersion", |v| *at(v, "manifestVersion") = 5.into()),
        ("manifestVersion", |v| {
            members(v, "").remove("manifestVersion");
        }),
        ("type", |v| *at(v, "executables") = Value::Array(vec![])),
        ("missing", |v| {
            members(v, "executables").remove("mcpServers");
        }),
        ("type", |v| *at(v, "executables.mcpServers.0") = 1.into()),
        ("value", |v| *at(v, "executables.mcpServers.0.name") = "".into()),
        ("R22", |v| *at(v, "executables.mcpServers.2.name") = "Native".into()),
        ("value", |v| *at(v, "executables.mcpServers.0.kind") = "local".into()),
        ("presence", |v| {
            members(v, "executables.mcpServers.0").remove("launch");
        }),
        ("presence", |v| *at(v, "executables.mcpServers.0.kind") = "command".into()),
        ("key", |v| members(v, "executables.mcpServers.0.launch").insert("cwd", "x")),
        ("path", |v| *at(v, "executables.mcpServers.0.launch.entry") = "/x".into()),
        ("path", |v| *at(v, "files.0.path") = "state/x".into()),
        ("value", |v| *at(v, "files.0.kind") = "link".into()),
        ("order", |v| {
            let first = at(v, "files.0").clone();
            at(v, "files").as_array_mut().unwrap().push(first);
        }),
        ("R21", |v| *at(v, "executables.mcpServers.0.launch.entry") = "install.mjs".into()),
        ("R21", |v| *at(v, "executables.mcpServers.0.launch.args.2.path") = "nat".into()),
        ("key", |v| members(v, "web").insert("port", 1)),
        ("value", |v| *at(v, "web.open") = "always".into()),
        ("order", |v| {
            let first = at(v, "web.apps.0").clone();
            at(v, "web.apps").as_array_mut().unwrap().push(first);
        }),
        ("R23", |v| *at(v, "web.apps.0.server") = "Remote".into()),
        ("missing", |v| {
            members(v, "").remove("projections");
        }),
        ("value", |v| *at(v, "projections.0.host") = "".into()),
        ("R7", |v| *at(v, "projections.1.host") = "claude".into()),
    ];
    for (rule, make) in cases {
        let mut value = sample();
        make(&mut value);
        assert_eq!(lean_rule(&value), Some(*rule), "{rule}");
    }
    let duplicate = br#"{"ignored":{"a":1,"\u0061":2},"manifestVersion":6}"#;
    assert_eq!(lean::parse(duplicate).expect_err("duplicate").rule.name(), "duplicate-key");
    assert_eq!(lean_rule(&object! { "manifestVersion": 6 }), Some("missing"));
}

proptest! {
    #[test]
    fn what_the_full_parser_takes_the_lean_reader_takes(spec in spec()) {
        prop_assert!(lean::parse(&document(&spec).to_canonical_bytes()).is_ok());
    }
}

#[test]
fn what_the_lean_reader_refuses_the_full_parser_refuses() {
    for mutant in MUTANTS {
        let mut value = sample();
        (mutant.make)(&mut value);
        let bytes = value.to_canonical_bytes();
        assert!(lean::parse(&bytes).is_ok() || parse_artifact_manifest(&bytes).is_err());
    }
}
