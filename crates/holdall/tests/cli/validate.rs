//! `validate`, `init` and `schema` through the binary.

use crate::support::Place;

const BAD: &str = "---\nname: a\ndescription: Use when: x\n---\n";
const WARNED: &str = "---\nname: a\ndescription: Does a thing.\nversion: 1.2.0\n---\n";

#[test]
fn findings_are_data_and_the_last_line_counts() {
    let place = Place::new();
    place.write("skills/a/SKILL.md", BAD);
    place.write("skills/b/SKILL.md", WARNED.replace("name: a", "name: b"));
    let run = place.run(["validate"]);
    assert_eq!((run.code, run.stderr.as_str()), (1, ""));
    insta::assert_snapshot!("validate", run.text());
    assert_eq!(run.text().lines().last(), Some("checked 2 skills: 1 error, 1 warning"));
}

#[test]
fn the_policy_decides_the_exit_code() {
    let place = Place::new();
    place.write("a/SKILL.md", WARNED);
    for (arguments, code, last) in [
        (&["validate", "a"][..], 0, "checked 1 skill: 0 errors, 1 warning"),
        (&["validate", "a", "--strict"], 1, "checked 1 skill: 1 error, 0 warnings"),
        (&["validate", "a", "--deny", "PK0206"], 1, "checked 1 skill: 1 error, 0 warnings"),
        (
            &["validate", "a", "--strict", "--allow", "pk0206"],
            0,
            "checked 1 skill: 0 errors, 0 warnings",
        ),
        (&["validate", "a", "--deny", "PK0203,PK0205"], 0, "checked 1 skill: 0 errors, 1 warning"),
    ] {
        let run = place.run(arguments);
        assert_eq!((run.code, run.text().lines().last()), (code, Some(last)), "{arguments:?}");
    }
    for (arguments, help) in [
        (&["validate", "--allow", "PK9999"][..], "holdall explain --all"),
        (&["validate", "--allow", "PK0104"], "--exclude GLOB"),
        (&["validate", "--allow", "PK0206", "--deny", "PK0206"], "with --allow or with --deny"),
        (&["validate", "--exclude", "{a"], ".gitignore"),
    ] {
        let run = place.run(arguments);
        assert_eq!(run.code, 2, "{arguments:?}");
        assert!(run.stderr.contains(help), "{}", run.stderr);
    }
}

#[test]
fn json_has_checked_and_summary() {
    let place = Place::new();
    place.write("a/SKILL.md", BAD);
    let run = place.run(["validate", "a", "--json"]);
    assert_eq!(run.code, 1);
    let value = run.json();
    assert_eq!(value["kind"], "validate");
    assert_eq!(value["checked"], serde_json::json!([{ "kind": "skill", "path": "a" }]));
    assert_eq!(value["summary"], serde_json::json!({ "errors": 1, "warnings": 0, "infos": 0 }));
    let found = &value["diagnostics"][0];
    assert_eq!((&found["code"], &found["path"]), (&"PK0104".into(), &"a/SKILL.md".into()));
    let start = serde_json::json!({ "line": 3, "column": 22, "offset": 33 });
    assert_eq!(found["span"]["start"], start);
}

#[test]
fn sarif_and_github_show_the_same_finding() {
    let place = Place::new();
    place.write("a/SKILL.md", BAD);
    let run = place.run(["validate", "a", "--format", "github", "--sarif", "out.sarif"]);
    assert_eq!(run.code, 1);
    assert!(run.text().starts_with("::error file=a/SKILL.md,line=3,"), "{}", run.text());
    let file: serde_json::Value =
        serde_json::from_slice(&std::fs::read(place.path().join("out.sarif")).unwrap()).unwrap();
    assert_eq!(file["runs"][0]["results"][0]["ruleId"], "PK0104");
    let printed = place.run(["validate", "a", "--format", "sarif"]);
    let printed: serde_json::Value = serde_json::from_slice(&printed.stdout).unwrap();
    assert_eq!(printed, file);
}

#[test]
fn fix_adds_quotes_and_nothing_else() {
    let place = Place::new();
    let file = place.write("a/SKILL.md", BAD);
    let run = place.run(["validate", "a", "--fix"]);
    assert_eq!((run.code, run.text()), (0, "checked 1 skill: 0 errors, 0 warnings\n"));
    assert_eq!(run.stderr, "a/SKILL.md: quoted 1 value\n");
    let fixed = std::fs::read_to_string(&file).unwrap();
    assert_eq!(fixed, BAD.replace("Use when: x", "\"Use when: x\""));
    place.run(["validate", "a", "--fix"]).ok();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), fixed);
}

#[test]
fn fix_does_not_write_through_a_link() {
    let place = Place::new();
    let real = place.write("real.md", BAD);
    std::fs::create_dir(place.path().join("a")).unwrap();
    std::os::unix::fs::symlink("../real.md", place.path().join("a/SKILL.md")).unwrap();
    let run = place.run(["validate", "--fix"]);
    assert_eq!(run.code, 1);
    assert!(run.text().contains("HD0132 error a/SKILL.md"), "{}", run.text());
    assert_eq!(std::fs::read_to_string(real).unwrap(), BAD);
}

#[test]
fn nothing_to_check_is_exit_1() {
    let place = Place::new();
    let run = place.run(["validate"]);
    assert_eq!(run.code, 1);
    assert!(run.text().starts_with("HD0130 error ."), "{}", run.text());
    assert_eq!(place.run(["validate", "gone"]).code, 1);
}

#[test]
fn hidden_characters_of_a_document_reach_no_terminal() {
    let place = Place::new();
    place.write("a/SKILL.md", "---\nname: \"x\u{202e}y\"\ndescription: d\n---\n\u{e0041}\n");
    let run = place.run(["validate"]);
    assert!(!run.text().contains(['\u{202e}', '\u{e0041}']), "{}", run.text());
}

#[test]
fn init_writes_what_validates_and_overwrites_nothing() {
    for template in ["skills", "pack"] {
        let place = Place::new();
        let run = place.run(["init", "my-thing", "--template", template]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        place.run(["validate", "my-thing", "--strict"]).ok();
        let before = place.listing();
        let file = place.path().join("my-thing/skills/say-hello/SKILL.md");
        std::fs::write(&file, "mine").unwrap();
        let run = place.run(["init", "my-thing", "--template", template]);
        assert_eq!(run.code, 1);
        assert!(run.stderr.starts_with("HD0105 error my-thing"), "{}", run.stderr);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
        assert_eq!(place.listing(), before);
    }
    // A pack's name is its directory's.
    let place = Place::new();
    place.run(["init", "My Pack", "--template", "pack"]);
    let pack = std::fs::read_to_string(place.path().join("My Pack/PACK.md")).unwrap();
    assert!(pack.contains("\nname: my-pack\n"), "{pack}");
}

#[test]
fn init_leaves_nothing_half_written() {
    let place = Place::new();
    place.write("here/skills", "a file where a directory is wanted");
    let run = place.run(["init", "here", "--template", "pack"]);
    assert_eq!(run.code, 1);
    assert!(!place.path().join("here/PACK.md").exists());
}

#[test]
fn schemas_are_printed() {
    {
        let name = "skill";
        let text = Place::new().run(["schema", name]).ok();
        let schema: serde_json::Value = serde_json::from_str(text.text()).unwrap();
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
        let json = Place::new().run(["schema", name, "--json"]).ok().json();
        assert_eq!(json["schema"], schema);
    }
}
