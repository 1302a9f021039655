//! One fault a mutant: each is refused by its rule, at its place.

use holdall_artifact::json::{Object, Value};
use holdall_artifact::{check_artifact_manifest, parse_artifact_manifest};
use proptest::prelude::*;

use crate::generate::{document, object, revision, sample, spec};

/// A single-fault mutant: the rule it breaks, where, and how it is made.
pub(crate) struct Mutant {
    pub(crate) rule: &'static str,
    pub(crate) place: &'static str,
    pub(crate) make: fn(&mut Value),
}

/// The value at a place, as `a.b.0.c`.
pub(crate) fn at<'v>(value: &'v mut Value, place: &str) -> &'v mut Value {
    place.split('.').fold(value, |value, step| match value {
        Value::Object(object) => object.get_mut(step).unwrap_or_else(|| panic!("no {step}")),
        Value::Array(items) => &mut items[step.parse::<usize>().expect("an index")],
        _ => panic!("nothing below {step}"),
    })
}

pub(crate) fn members<'v>(value: &'v mut Value, place: &str) -> &'v mut Object {
    let value = if place.is_empty() { value } else { at(value, place) };
    value.as_object_mut().expect("an object")
}

fn items<'v>(value: &'v mut Value, place: &str) -> &'v mut Vec<Value> {
    at(value, place).as_array_mut().expect("an array")
}

/// Index of the file row of a path.
fn row(value: &mut Value, path: &str) -> usize {
    let rows = items(value, "files");
    let is = |row: &Value| row.as_object().unwrap().get("path").unwrap().as_str() == Some(path);
    rows.iter().position(is).unwrap()
}

/// Takes a file out of `files` and `provenance`.
fn drop_file(value: &mut Value, path: &str) {
    let at = row(value, path);
    items(value, "files").remove(at);
    items(value, "compiler.provenance").remove(at);
}

fn mend_revision(value: &mut Value) {
    let digest = revision(at(value, "compiler.project.sourceInputs"));
    *at(value, "compiler.project.revision") = digest.into();
}

macro_rules! mutants {
    ($($rule:literal at $place:literal: |$v:ident| $make:expr;)*) => {
        &[$(Mutant { rule: $rule, place: $place, make: |$v| { $make; } }),*]
    };
}

/// Every rule at least once; the rules that span sections each by a document that is otherwise
/// in order.
pub(crate) const MUTANTS: &[Mutant] = mutants! {
    // Shapes
    "missing" at "": |v| members(v, "").remove("runtime");
    "missing" at "": |v| members(v, "").remove("application");
    "missing" at "": |v| members(v, "").remove("files");
    "missing" at "application": |v| members(v, "application").remove("name");
    "missing" at "compiler": |v| members(v, "compiler").remove("recordVersion");
    "key" at "extra": |v| members(v, "").insert("extra", true);
    "key" at "targets": |v| members(v, "").insert("targets", Value::Array(vec![]));
    "key" at "application.author": |v| members(v, "application").insert("author", "me");
    "key" at "files[0].sha512": |v| members(v, "files.0").insert("sha512", "x");
    "key" at "routes.events[0].execution.preflight":
        |v| members(v, "routes.events.0.execution").insert("preflight", "src/a.ts");
    "key" at "executables.mcpServers[0].launch.cwd":
        |v| members(v, "executables.mcpServers.0.launch").insert("cwd", ".");
    "key" at "executables.mcpServers[0].launch.env.__proto__":
        |v| members(v, "executables.mcpServers.0.launch.env").insert("__proto__", "x");
    "key" at "routes.contracts[0].input.properties.__proto__":
        |v| members(v, "routes.contracts.0.input.properties")
            .insert("__proto__", object! { "type": "boolean" });
    "reserved-key" at "projections[0].components":
        |v| members(v, "projections.0").insert("components", Value::Array(vec![]));
    "reserved-key" at "executables.noticeDelivery":
        |v| members(v, "executables").insert("noticeDelivery", true);
    "reserved-key" at "executables.mcpServers[0].apps[0].client":
        |v| members(v, "executables.mcpServers.0.apps.0").insert("client", true);
    "manifestVersion" at "manifestVersion": |v| *at(v, "manifestVersion") = 5.into();
    "manifestVersion" at "manifestVersion": |v| *at(v, "manifestVersion") = 7.into();
    "type" at "manifestVersion": |v| *at(v, "manifestVersion") = "6".into();
    "recordVersion" at "compiler.recordVersion": |v| *at(v, "compiler.recordVersion") = 2.into();
    "type" at "application.description":
        |v| *at(v, "application.description") = Value::Null;
    "type" at "web": |v| *at(v, "web") = Value::Null;
    "type" at "files": |v| *at(v, "files") = Value::Object(Object::new());
    "type" at "files[0].bytes": |v| *at(v, "files.0.bytes") = "12".into();
    "value" at "application.id": |v| *at(v, "application.id") = "".into();
    "value" at "files[0].bytes": |v| *at(v, "files.0.bytes") = 1.5.into();
    "value" at "files[0].bytes": |v| *at(v, "files.0.bytes") = 9_007_199_254_740_992.0.into();
    "value" at "files[0].kind": |v| *at(v, "files.0.kind") = "symlink".into();
    "value" at "files[0].mode": |v| members(v, "files.0").insert("mode", 512);
    "value" at "files[0].sha256":
        |v| { let upper = "A".repeat(64); *at(v, "files.0.sha256") = upper.into() };
    "value" at "runtime.node": |v| *at(v, "runtime.node") = "22.12".into();
    "value" at "runtime.node": |v| *at(v, "runtime.node") = "22.12.0-rc.1".into();
    "node" at "runtime.node": |v| *at(v, "runtime.node") = "22.11.9".into();
    "value" at "executables.hooks[0].timeout": |v| *at(v, "executables.hooks.0.timeout") = 0.into();
    "value" at "executables.bins[0].hosts":
        |v| *at(v, "executables.bins.0.hosts") = Value::Array(vec![]);
    "value" at "executables.mcpServers[1].apps[0].prebuilt":
        |v| *at(v, "executables.mcpServers.1.apps.0.prebuilt") = false.into();
    "value" at "distribution.channels":
        |v| *at(v, "distribution.channels") = Value::Array(vec!["npm".into(), "local".into()]);
    "value" at "compiler.project.packageVersion":
        |v| *at(v, "compiler.project.packageVersion") = "v1.2.3".into();
    "value" at "compiler.project.packageVersion":
        |v| *at(v, "compiler.project.packageVersion") = "1.2.3-01".into();
    "value" at "compiler.project.packageName":
        |v| members(v, "compiler.project").insert("packageName", "Node_Modules");
    "value" at "compiler.validation.source.status":
        |v| *at(v, "compiler.validation.source.status") = "failed".into();
    "value" at "compiler.producer.name": |v| *at(v, "compiler.producer.name") = "holdall".into();
    "value" at "routes.contracts[0].input.required[0]":
        |v| *at(v, "routes.contracts.0.input.required.0") = "absent".into();
    "value" at "routes.contracts[0].input.additionalProperties":
        |v| *at(v, "routes.contracts.0.input.additionalProperties") = true.into();
    "type" at "routes.contracts[0].input.properties.level.default":
        |v| *at(v, "routes.contracts.0.input.properties.level.default") = Object::new().into();
    "value" at "web.apps[0].allow[0]": |v| *at(v, "web.apps.0.allow.0") = "call-tools".into();
    "type" at "web.apps[0].input": |v| *at(v, "web.apps.0.input") = Value::Array(vec![]);
    "value" at "routes.cli.commands[0].path":
        |v| *at(v, "routes.cli.commands.0.path") = Value::Array(vec![]);
    "value" at "routes.cli.commands[0].projection.defaults":
        |v| *at(v, "routes.cli.commands.0.projection.defaults") = Object::new().into();
    // Presence
    "presence" at "routes.events[0]": |v| members(v, "routes.events.0").remove("event");
    "presence" at "routes.events[0]": |v| members(v, "routes.events.0").remove("execution");
    "presence" at "routes.scripts[0].serverId":
        |v| members(v, "routes.scripts.0").insert("serverId", "mcp:x");
    "presence" at "routes.layouts[1].serverId":
        |v| members(v, "routes.layouts.1").insert("serverId", "mcp:x");
    "presence" at "routes.cli": |v| members(v, "routes.cli").remove("commands");
    "presence" at "executables.hooks[0]": |v| members(v, "executables.hooks.0").remove("routeId");
    "presence" at "executables.mcpServers[0]":
        |v| members(v, "executables.mcpServers.0").remove("launch");
    "presence" at "executables.mcpServers[2].launch": |v| {
        let launch = at(v, "executables.mcpServers.1.launch").clone();
        members(v, "executables.mcpServers.2").insert("launch", launch);
    };
    "presence" at "executables.mcpServers[0].apps[0]":
        |v| members(v, "executables.mcpServers.0.apps.0").insert("prebuilt", true);
    "presence" at "executables.mcpServers[0].launch.args[0]":
        |v| *at(v, "executables.mcpServers.0.launch.args.0") = object! { "kind": "literal" };
    "presence" at "distribution.install":
        |v| *at(v, "distribution.install") = Object::new().into();
    "presence" at "routes.cli.commands[1].projection.mapInput":
        |v| *at(v, "routes.cli.commands.1.projection.mapInput") = true.into();
    "presence" at "routes.cli.commands[1].projection.relaxed":
        |v| members(v, "routes.cli.commands.1.projection").insert("relaxed", vec!["mode"]);
    "presence" at "routes.contracts[0].input.properties.level.enum":
        |v| members(v, "routes.contracts.0.input.properties.level").insert("enum", vec!["x"]);
    "presence" at "routes.contracts[0].input.properties.tags":
        |v| members(v, "routes.contracts.0.input.properties.tags").remove("items");
    // Paths
    "path" at "files[0].path": |v| *at(v, "files.0.path") = "/etc/passwd".into();
    "path" at "files[0].path": |v| *at(v, "files.0.path") = "a/../b".into();
    "path" at "files[0].path": |v| *at(v, "files.0.path") = "a\\b".into();
    "path" at "files[0].path": |v| *at(v, "files.0.path") = "STATE/x".into();
    "path" at "files[0].path": |v| *at(v, "files.0.path") = ".Agent-Bundle-Install.JSON/y".into();
    "path" at "files[0].path": |v| *at(v, "files.0.path") = "agent-bundle.manifest.json".into();
    "path" at "compiler.provenance[0].path":
        |v| *at(v, "compiler.provenance.0.path") = "agent-bundle.manifest.json".into();
    "path" at "routes.events[0].source": |v| *at(v, "routes.events.0.source") = "con.ts".into();
    "path" at "routes.events[0].execution.handler":
        |v| *at(v, "routes.events.0.execution.handler") = "src/nul".into();
    "path" at "compiler.project.configPath":
        |v| *at(v, "compiler.project.configPath") = "C:config.ts".into();
    "path" at "distribution.payloads[0].name":
        |v| *at(v, "distribution.payloads.0.name") = "native/bin".into();
    // Order
    "order" at "files[1]": |v| items(v, "files").swap(0, 1);
    "order" at "compiler.project.sourceInputs[1]": |v| {
        items(v, "compiler.project.sourceInputs").swap(0, 1);
        mend_revision(v);
    };
    "order" at "executables.hooks[1]": |v| items(v, "executables.hooks").swap(0, 1);
    "order" at "executables.mcpServers[2]": |v| items(v, "executables.mcpServers").swap(1, 2);
    "order" at "routes.cli.commands[1]": |v| items(v, "routes.cli.commands").swap(0, 1);
    "order" at "routes.layouts[1]": |v| items(v, "routes.layouts").swap(0, 1);
    "order" at "routes.cli.commands[0].aliases[1]":
        |v| items(v, "routes.cli.commands.0.aliases").swap(0, 1);
    "order" at "distribution.payloads[0].runtimeDependencies[1]":
        |v| items(v, "distribution.payloads.0.runtimeDependencies").swap(0, 1);
    "order" at "distribution.payloads[0].runtimeDependencies[1]": |v| {
        // Equal in collation, though the bytes differ: composed and decomposed.
        let names = items(v, "distribution.payloads.0.runtimeDependencies");
        *names = vec!["caf\u{e9}".into(), "cafe\u{301}".into()];
    };
    // Rules that span sections
    "R1" at "compiler.project.configPath":
        |v| *at(v, "compiler.project.configPath") = "other.config.ts".into();
    "R1" at "compiler.project.configDigest":
        |v| *at(v, "compiler.project.configDigest") = "0".repeat(64).into();
    "R2" at "compiler.project.revision":
        |v| *at(v, "compiler.project.revision") = "0".repeat(64).into();
    "R2" at "compiler.project.revision":
        |v| *at(v, "compiler.project.sourceInputs.0.executable") = true.into();
    "R3" at "compiler.provenance": |v| items(v, "compiler.provenance").pop();
    "R3" at "compiler.provenance[0].path": |v| items(v, "compiler.provenance").remove(0);
    "R4" at "compiler.provenance[0].sourceInputs[0]":
        |v| *at(v, "compiler.provenance.0.sourceInputs.0") = "nowhere.ts".into();
    "R5" at "compiler.adapters[0].host": |v| *at(v, "compiler.adapters.0.host") = "amp".into();
    "R5" at "compiler.adapters": |v| items(v, "compiler.adapters").pop();
    "R6" at "compiler.validation.projections":
        |v| items(v, "compiler.validation.projections").pop();
    "R8" at "executables.bins[0].hosts[0]":
        |v| *at(v, "executables.bins.0.hosts.0") = "amp".into();
    "R8" at "executables.hooks[0].host": |v| {
        *at(v, "executables.hooks.0.host") = "amp".into();
    };
    "R8" at "distribution.payloads[0].hosts[0]":
        |v| *at(v, "distribution.payloads.0.hosts.0") = "amp".into();
    "R9" at "routes.servers[0].routes[0].serverId":
        |v| *at(v, "routes.servers.0.routes.0.serverId") = "mcp:other".into();
    "R10" at "routes.layouts[0].serverId":
        |v| *at(v, "routes.layouts.0.serverId") = "mcp:other".into();
    "R11" at "routes": |v| members(v, "routes").remove("contracts");
    "R11" at "routes.contracts": |v| {
        members(v, "routes.servers.0.routes.0").remove("contract");
        members(v, "routes.cli.routes.1").remove("contract");
    };
    "R12" at "routes.servers[0].routes[0].contract":
        |v| *at(v, "routes.servers.0.routes.0.contract") = "contract:none".into();
    "R13" at "routes.contracts[0].routes[1]":
        |v| items(v, "routes.contracts.0.routes").push("zzz:nowhere".into());
    "R14" at "routes.contracts[0].routes": |v| {
        let routes = items(v, "routes.contracts.0.routes");
        routes.insert(0, "cli:run".into());
    };
    "R15" at "routes.cli.commands[1].routeId":
        |v| *at(v, "routes.cli.commands.1.routeId") = "cli:none".into();
    "R16" at "executables.hooks[0].routeId":
        |v| *at(v, "executables.hooks.0.routeId") = "event:none".into();
    "R17" at "executables.scripts[0].rendered.routeId":
        |v| *at(v, "executables.scripts.0.rendered.routeId") = "script:none".into();
    "R18" at "distribution.channels": |v| {
        let npm = items(v, "distribution.channels").len() == 2;
        let channels = items(v, "distribution.channels");
        if npm { channels.pop(); } else { channels.push("npm".into()); }
    };
    "R19" at "distribution.payloads[0].name":
        |v| *at(v, "distribution.payloads.0.name") = "hooks".into();
    "R20" at "projections[0].documents.mcp":
        |v| *at(v, "projections.0.documents.mcp") = "no.json".into();
    "R20" at "executables.bins[0].path": |v| *at(v, "executables.bins.0.path") = "no.mjs".into();
    "R20" at "executables.bins[0].worker":
        |v| *at(v, "executables.bins.0.worker") = "no.mjs".into();
    "R20" at "executables.hooks[1].path": |v| *at(v, "executables.hooks.1.path") = "no.mjs".into();
    "R20" at "executables.mcpServers[0].apps[0].path": |v| drop_file(v, "mcp-apps/board.html");
    "R20" at "executables.scripts[0].path": |v| drop_file(v, "scripts/report.mjs");
    "R20" at "distribution.install.script": |v| drop_file(v, "install.mjs");
    "R21" at "executables.mcpServers[0].launch.entry":
        |v| *at(v, "executables.mcpServers.0.launch.entry") = "install.mjs".into();
    "R21" at "executables.mcpServers[1].launch.entry":
        |v| *at(v, "executables.mcpServers.1.launch.entry") = "mcp/server.mjs".into();
    "R21" at "executables.mcpServers[0].launch.worker":
        |v| *at(v, "executables.mcpServers.0.launch.worker") = "install.mjs".into();
    "R21" at "executables.mcpServers[0].launch.args[1].path": |v| drop_file(v, "config/hauler.json");
    "R21" at "executables.mcpServers[0].launch.args[2].path":
        |v| *at(v, "executables.mcpServers.0.launch.args.2.path") = "native/bi".into();
    "R22" at "executables.mcpServers[2].name":
        |v| *at(v, "executables.mcpServers.2.name") = "Native".into();
    "R23" at "web.apps[0].server": |v| *at(v, "web.apps.0.server") = "Remote".into();
    "R24" at "projections[0].marketplace":
        |v| members(v, "projections.0.documents").remove("marketplace");
};

fn assert_refused(mut value: Value, mutant: &Mutant) -> Result<(), TestCaseError> {
    (mutant.make)(&mut value);
    let bytes = value.to_canonical_bytes();
    let fault = parse_artifact_manifest(&bytes).err();
    let found = fault.as_ref().map(|fault| (fault.rule.name(), &*fault.place));
    prop_assert_eq!(found, Some((mutant.rule, mutant.place)), "{:?}", fault);
    let fault = fault.unwrap();
    let named = fault.to_string().starts_with(&format!("{}: ", mutant.rule));
    prop_assert!(named, "{}", fault);
    prop_assert!(fault.span.end <= bytes.len() && fault.span.start < fault.span.end);
    Ok(())
}

#[test]
fn each_mutant_is_refused_by_its_rule_at_its_place() {
    for mutant in MUTANTS {
        let outcome = assert_refused(sample(), mutant);
        outcome.unwrap_or_else(|error| panic!("{} at {}: {error}", mutant.rule, mutant.place));
    }
}

#[test]
fn every_rule_that_spans_sections_has_a_mutant() {
    // R7 is implied by the order of projections, see below.
    for number in (1..=24).filter(|number| *number != 7) {
        let name = format!("R{number}");
        assert!(MUTANTS.iter().any(|mutant| mutant.rule == name), "{name}");
    }
}

#[test]
fn a_host_projected_twice_breaks_the_order_and_r7() {
    let mut value = sample();
    let first = at(&mut value, "projections.0").clone();
    items(&mut value, "projections").insert(0, first);
    let faults = check_artifact_manifest(&value.to_canonical_bytes()).unwrap_err();
    let found: Vec<_> = faults.iter().map(|fault| (fault.rule.name(), &*fault.place)).collect();
    assert_eq!(found, [("order", "projections[1]"), ("R7", "projections[1].host")]);
}

#[test]
fn all_faults_are_reported_in_the_order_of_the_format() {
    let mut value = sample();
    *at(&mut value, "runtime.node") = "22.11.0".into();
    *at(&mut value, "web.apps.0.server") = "Remote".into();
    *at(&mut value, "compiler.adapters.0.host") = "amp".into();
    *at(&mut value, "compiler.project.revision") = "0".repeat(64).into();
    *at(&mut value, "files.0.kind") = "link".into();
    members(&mut value, "").insert("extra", 1);
    let mut bytes = value.to_canonical_bytes();
    bytes.insert(0, b' ');
    let faults = check_artifact_manifest(&bytes).unwrap_err();
    let rules: Vec<_> = faults.iter().map(|fault| fault.rule.name()).collect();
    assert_eq!(rules, ["key", "value", "R2", "R5", "R23", "node", "canonical"], "{faults:?}");
}

#[test]
fn other_versions_are_refused_by_number_whatever_else_they_hold() {
    for version in [1_u32, 2, 3, 4, 5, 7] {
        let bytes = object! { "manifestVersion": version, "targets": true }.to_canonical_bytes();
        let faults = check_artifact_manifest(&bytes).unwrap_err();
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert_eq!(faults[0].rule.name(), "manifestVersion");
        assert!(faults[0].message.contains(&format!("is {version};")), "{}", faults[0]);
        assert!(faults[0].help.is_some());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn mutants_of_generated_documents_are_refused_alike(
        spec in spec(),
        which in 0..MUTANTS.len(),
    ) {
        let mutant = &MUTANTS[which];
        let mut spec = spec;
        // A few mutants take away what only the second agent host has.
        spec.second_host = true;
        assert_refused(document(&spec), mutant)?;
    }
}

#[test]
#[ignore = "needs HOLDALL_SHARED"]
fn needs_shared_each_rule_broken_in_the_published_manifest_is_found() {
    type Break = (&'static str, fn(&mut Value));
    let breaks: &[Break] = &[
        ("key", |v| members(v, "").insert("x", 1)),
        ("missing", |v| {
            members(v, "").remove("web");
            members(v, "").remove("routes");
        }),
        ("type", |v| *at(v, "application.name") = Value::Null),
        ("value", |v| *at(v, "files.0.kind") = "x".into()),
        ("path", |v| *at(v, "files.0.path") = "../x".into()),
        ("order", |v| items(v, "files").swap(0, 1)),
        ("recordVersion", |v| *at(v, "compiler.recordVersion") = 3.into()),
        ("manifestVersion", |v| *at(v, "manifestVersion") = 4.into()),
        ("node", |v| *at(v, "runtime.node") = "20.0.0".into()),
        ("R1", |v| *at(v, "compiler.project.configDigest") = "1".repeat(64).into()),
        ("R2", |v| *at(v, "compiler.project.revision") = "1".repeat(64).into()),
        ("R3", |v| {
            items(v, "compiler.provenance").pop();
        }),
        ("R4", |v| *at(v, "compiler.provenance.0.sourceInputs.0") = "none".into()),
        ("R5", |v| {
            items(v, "compiler.adapters").pop();
        }),
        ("R6", |v| {
            items(v, "compiler.validation.projections").pop();
        }),
        ("R8", |v| *at(v, "executables.scripts.0.hosts.0") = "amp".into()),
        ("R17", |v| {
            members(v, "executables.scripts.0").insert("rendered", object! { "routeId": "x" });
        }),
        ("R18", |v| {
            members(v, "compiler.project").remove("packageName");
        }),
        ("R19", |v| {
            items(v, "distribution.payloads").push(object! {
            "hosts": vec!["cursor"], "name": "none", "runtimeDependencies": Value::Array(vec![]),
        });
        }),
        ("R20", |v| *at(v, "executables.scripts.0.path") = "none".into()),
        ("R24", |v| {
            members(v, "projections.0.documents").remove("marketplace");
            members(v, "projections.0").insert("marketplace", object! { "name": "x" });
        }),
    ];
    let bytes = crate::published::plugin_library();
    let text = std::str::from_utf8(&bytes).expect("UTF-8");
    let doc = holdall_artifact::json::Document::parse(text.as_bytes()).expect("JSON");
    for (rule, make) in breaks {
        let mut value = Value::from_node(doc.root());
        make(&mut value);
        let fault = parse_artifact_manifest(&value.to_canonical_bytes()).expect_err(rule);
        assert_eq!(fault.rule.name(), *rule, "{fault}");
    }
}
