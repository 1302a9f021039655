//! The two doors: a definition in code and the text of a document, one schema for both.

use holdall_pack::{
    AppEntry, PackDefinition, PackError, PackStatus, Plugin, Pricing, define_pack,
    pack_from_manifest, parse_pack_manifest,
};
use serde_json::{Value, json};

use super::support::{document, minimal, parse, source, with};

fn refused(pack: &Value) -> PackError {
    define_pack(pack).expect_err(&pack.to_string())
}

#[test]
fn a_minimal_pack_is_ready_and_keeps_its_fields() {
    let pack = define_pack(&with(json!({ "pricing": { "bundle": 79 } }))).unwrap();
    assert_eq!(pack.status(), PackStatus::Ready);
    assert_eq!((pack.name(), pack.title()), ("the-pack", "The Pack"));
    assert_eq!((pack.description(), pack.version()), ("A pack.", "1.0.0"));
    assert!(pack.is_inline() && pack.includes().is_empty() && pack.apps().is_empty());
    assert!(pack.knowledge().is_none() && pack.playbook().is_none());
    assert_eq!(pack.pricing().map(|prices| prices.bundle.to_bits()), Some(79f64.to_bits()));
    // A changed pack is another handle.
    let changed = PackDefinition { version: "1.0.1".into(), ..pack.to_definition() };
    assert_eq!(define_pack(&changed).unwrap().version(), "1.0.1");
    assert_eq!(pack.version(), "1.0.0");
}

#[test]
fn the_status_follows_from_blockers_and_plugin() {
    let pack = "@agentproto/skill-pack-x";
    for (plugin, blockers, status) in [
        (json!({ "inline": true }), json!([]), PackStatus::Ready),
        (json!({ "inline": true, "includes": [pack] }), json!([]), PackStatus::Ready),
        (json!({ "inline": true, "includes": [] }), json!([]), PackStatus::Ready),
        (json!({ "includes": [pack] }), json!([]), PackStatus::Assembling),
        (json!({ "inline": false, "includes": [pack] }), json!([]), PackStatus::Assembling),
        (json!({ "inline": true }), json!(["legal"]), PackStatus::Gated),
        (json!({ "includes": [pack] }), json!(["legal"]), PackStatus::Gated),
        (json!({ "inline": true }), json!([""]), PackStatus::Gated),
    ] {
        let made = with(json!({ "plugin": plugin, "blockers": blockers }));
        let handle = define_pack(&made).unwrap();
        assert_eq!(handle.status(), status, "{made}");
        assert_eq!(handle.to_json()["status"], status.as_str());
        assert_eq!(parse(&document(&made)).1, handle);
    }
    assert_eq!(PackStatus::derive(1, false, 0), PackStatus::Gated);
    assert_eq!(PackStatus::derive(0, false, 0), PackStatus::Planned);
}

#[test]
fn a_document_and_a_definition_give_one_handle() {
    let text = "---\nschema: pack/v1\nname: the-pack\ntitle: The Pack\ndescription: A pack.\nversion: 1.0.0\nplugin:\n  inline: true\napps:\n  - id: one\n    path: ./apps/one\npricing:\n  bundle: 79\n---\n\n# Read me\n";
    let (manifest, handle) = parse(text);
    let definition = PackDefinition {
        name: "the-pack".into(),
        title: "The Pack".into(),
        description: "A pack.".into(),
        version: "1.0.0".into(),
        plugin: Plugin { inline: Some(true), includes: None },
        apps: Some(vec![AppEntry { id: "one".into(), path: "./apps/one".into() }]),
        pricing: Some(Pricing { bundle: 79.0, ..Pricing::default() }),
        ..PackDefinition::default()
    };
    assert_eq!(handle, define_pack(&definition).unwrap());
    assert_eq!(manifest.frontmatter(), &definition);
    assert_eq!(manifest.body(), "\n# Read me\n");
    assert_eq!(define_pack(&handle).unwrap(), handle);
}

/// Faults of single fields, the text of each in zod's words.
fn field_faults() -> Vec<(Value, &'static str)> {
    let one = |id: &str, path: &str| json!({ "id": id, "path": path });
    vec![
        (json!({ "schema": "pack/v2" }), "schema: Invalid input: expected \"pack/v1\""),
        (json!({ "schema": null }), "schema: Invalid input: expected \"pack/v1\""),
        (json!({ "title": "" }), "title: Too small: expected string to have >=1 characters"),
        (
            json!({ "title": "x".repeat(201) }),
            "title: Too big: expected string to have <=200 characters",
        ),
        (json!({ "title": 3 }), "title: Invalid input: expected string, received number"),
        (json!({ "version": 1.5 }), "version: Invalid input: expected string, received number"),
        (json!({ "version": "" }), "version: Too small: expected string to have >=1 characters"),
        (json!({ "version": null }), "version: Invalid input: expected string, received undefined"),
        (json!({ "plugin": null }), "plugin: Invalid input: expected object, received undefined"),
        (json!({ "plugin": [] }), "plugin: Invalid input: expected object, received array"),
        (
            json!({ "plugin": { "inline": "yes" } }),
            "plugin.inline: Invalid input: expected boolean, received string",
        ),
        (
            json!({ "plugin": { "inline": true, "includes": null } }),
            "plugin.includes: Invalid input: expected array, received null",
        ),
        (
            json!({ "plugin": { "includes": [7] } }),
            "plugin.includes.0: Invalid input: expected string, received number",
        ),
        (
            json!({ "plugin": { "inline": true, "include": [] } }),
            "plugin: Unrecognized key: \"include\"",
        ),
        (json!({ "status": "ready" }), ": Unrecognized key: \"status\""),
        (json!({ "a": 1, "b": 2 }), ": Unrecognized keys: \"a\", \"b\""),
        (json!({ "apps": {} }), "apps: Invalid input: expected array, received object"),
        (
            json!({ "apps": [{ "id": "one" }] }),
            "apps.0.path: Invalid input: expected string, received undefined",
        ),
        (
            json!({ "apps": [one("", "x")] }),
            "apps.0.id: Too small: expected string to have >=1 characters",
        ),
        (
            json!({ "apps": [one("a", "x"), { "id": "b", "path": "y", "url": "z" }] }),
            "apps.1: Unrecognized key: \"url\"",
        ),
        (
            json!({ "knowledge": {} }),
            "knowledge.workspace: Invalid input: expected string, received undefined",
        ),
        (
            json!({ "knowledge": { "workspace": "w", "tags": [] } }),
            "knowledge: Unrecognized key: \"tags\"",
        ),
        (
            json!({ "playbook": { "title": "t", "targetChapters": 0 } }),
            "playbook.targetChapters: Too small: expected number to be >=1",
        ),
        (
            json!({ "playbook": { "title": "t", "targetChapters": 1.5 } }),
            "playbook.targetChapters: Invalid input: expected int, received number",
        ),
        (
            json!({ "playbook": { "title": "t", "pages": 3 } }),
            "playbook: Unrecognized key: \"pages\"",
        ),
        (
            json!({ "pricing": { "bundle": -1 } }),
            "pricing.bundle: Too small: expected number to be >=0",
        ),
        (
            json!({ "pricing": { "bundle": 1, "ebook": "29" } }),
            "pricing.ebook: Invalid input: expected number, received string",
        ),
        (json!({ "pricing": { "bundle": 1, "eur": 1 } }), "pricing: Unrecognized key: \"eur\""),
        (
            json!({ "pricing": {} }),
            "pricing.bundle: Invalid input: expected number, received undefined",
        ),
        (
            json!({ "blockers": "legal" }),
            "blockers: Invalid input: expected array, received string",
        ),
    ]
}

/// As `with`, but a null in the second level is a value.
fn faulty(changes: &Value) -> Value {
    with(changes.clone())
}

#[test]
fn the_same_fault_reads_the_same_through_both_doors() {
    for (changes, problem) in field_faults() {
        let pack = faulty(&changes);
        let code = refused(&pack);
        let text = parse_pack_manifest(&source(&document(&pack))).expect_err(&pack.to_string());
        assert_eq!(code.problem(), problem, "{changes}");
        assert_eq!(text.problem(), problem, "{changes}");
        assert_eq!(code.to_string(), format!("definePack (AIP-64): {problem}"));
        assert_eq!(
            text.to_string(),
            format!("parsePackManifest: invalid frontmatter \u{2014} {problem}"),
        );
    }
}

#[test]
fn rules_that_span_fields_hold_at_both_doors() {
    let app = |id: &str| json!({ "id": id, "path": "./a" });
    for (changes, words) in [
        (json!({ "plugin": {} }), ["inline", "includes"]),
        (json!({ "plugin": { "inline": false } }), ["inline", "includes"]),
        (json!({ "plugin": { "includes": [] } }), ["inline", "includes"]),
        (json!({ "pricing": { "bundle": 0 } }), ["pricing.bundle", "greater than 0"]),
        (json!({ "apps": [app("a"), app("a")] }), ["apps.1.id", "\"a\""]),
        (json!({ "plugin": { "includes": [""] } }), ["plugin.includes.0", "blank"]),
        (
            json!({ "plugin": { "includes": ["git+https://h/r#main"] } }),
            ["plugin.includes.0", "40"],
        ),
    ] {
        let pack = with(changes);
        let code = refused(&pack);
        let text = parse_pack_manifest(&source(&document(&pack)))
            .and_then(|manifest| pack_from_manifest(&manifest))
            .expect_err(&pack.to_string());
        assert_eq!(code.problem(), text.problem());
        assert!(code.to_string().starts_with("definePack (AIP-"), "{code}");
        for word in words {
            assert!(code.problem().contains(word), "{code}");
        }
    }
    // Ids are compared by their bytes, and two apps may be in one directory.
    assert!(define_pack(&with(json!({ "apps": [app("a"), app("A"), app("b")] }))).is_ok());
    assert!(define_pack(&with(json!({ "apps": [], "blockers": [] }))).is_ok());
}

#[test]
fn every_fault_of_a_document_is_in_its_one_message() {
    let pack = with(json!({
        "title": "", "version": 2, "plugin": { "inline": "no" }, "pricing": { "ebook": -1 }, "x": 1,
    }));
    let wanted = "title: Too small: expected string to have >=1 characters; version: Invalid input: expected string, received number; plugin.inline: Invalid input: expected boolean, received string; pricing.ebook: Too small: expected number to be >=0; pricing.bundle: Invalid input: expected number, received undefined; : Unrecognized key: \"x\"";
    assert_eq!(refused(&pack).problem(), wanted);
    let error = parse_pack_manifest(&source(&document(&pack))).unwrap_err();
    assert_eq!(error.problem(), wanted);
    assert_eq!(error.diagnostics().len(), 6);
    assert!(error.diagnostics().iter().all(|found| found.span.is_some()));
}

#[test]
fn the_code_door_looks_at_the_identity_first_and_then_at_the_description() {
    let broken = json!({ "description": "", "title": "", "plugin": {} });
    for name in ["a", "A", "Bad Name", "", "-a", ".a", "a/b", "ab\n", &"a".repeat(81)] {
        let mut pack = with(broken.clone());
        pack["name"] = name.into();
        let problem = refused(&pack).problem().to_owned();
        assert!(problem.starts_with("invalid id '"), "{problem}");
        assert!(problem.contains("^[a-z0-9][a-z0-9._-]{1,79}$"), "{problem}");
        assert!(!problem.contains("title"), "{problem}");
    }
    let mut pack = with(broken.clone());
    pack.as_object_mut().unwrap().remove("name");
    assert!(refused(&pack).problem().starts_with("invalid id '"));

    let problem = refused(&with(broken)).problem().to_owned();
    assert!(problem.contains("the-pack") && problem.contains("2000"), "{problem}");
    assert!(!problem.contains("title"), "{problem}");

    // What any document type may be named, but no pack.
    for name in ["a.b", "0a", "a_b", "ab-"] {
        let problem = refused(&with(json!({ "name": name }))).problem().to_owned();
        let wanted = "name: Invalid string: must match pattern /^[a-z][a-z0-9-]*[a-z0-9]$/";
        assert_eq!(problem, wanted);
    }
    for name in ["ab", "a--b", "a1", &"a".repeat(80)] {
        assert!(define_pack(&with(json!({ "name": name }))).is_ok(), "{name}");
    }
}

#[test]
fn a_name_that_breaks_two_rules_breaks_them_in_one_message() {
    let text = document(&with(json!({ "name": "A" })));
    let error = parse_pack_manifest(&source(&text)).unwrap_err();
    assert_eq!(error.diagnostics().len(), 2);
    assert_eq!(error.problem().matches("name: ").count(), 2);
}

#[test]
fn descriptions_are_counted_in_characters() {
    for (length, good) in [(0, false), (1, true), (2000, true), (2001, false)] {
        for letter in ["x", "ü", "\u{1f600}"] {
            let pack = with(json!({ "description": letter.repeat(length) }));
            assert_eq!(define_pack(&pack).is_ok(), good, "{length} {letter}");
            assert_eq!(parse_pack_manifest(&source(&document(&pack))).is_ok(), good);
        }
    }
}

#[test]
fn numbers_in_code_are_held_to_the_same_rules() {
    let definition = |pricing: Pricing| PackDefinition {
        pricing: Some(pricing),
        ..define_pack(&minimal()).unwrap().to_definition()
    };
    for (bundle, good) in [
        (1.0, true),
        (f64::MIN_POSITIVE, true),
        (f64::MAX, true),
        (0.0, false),
        (-0.0, false),
        (-1.0, false),
        (f64::NAN, false),
        (f64::INFINITY, false),
    ] {
        let made = define_pack(&definition(Pricing { bundle, ..Pricing::default() }));
        assert_eq!(made.is_ok(), good, "{bundle}");
        if let Ok(made) = made {
            assert_eq!(
                made.pricing().map(|prices| prices.bundle.to_bits()),
                Some(bundle.to_bits())
            );
        }
    }
}

#[test]
fn what_is_text_in_code_stays_text() {
    for text in ["true", "1.0", "null", "~", "2026-01-02", "- a", "a: b", "#", "\u{feff}", " "] {
        let pack = with(json!({ "title": text, "version": text }));
        let made = define_pack(&pack).unwrap();
        assert_eq!((made.title(), made.version()), (text, text));
        assert_eq!(define_pack(&made.to_definition()).unwrap(), made);
    }
}
