//! Skills, packs and apps through `inspect`, `verify` and `digest`.

use serde_json::json;
use sha2::{Digest, Sha256};

use crate::support::Place;

fn skills(place: &Place) {
    place.write(
        "all/skills/a/SKILL.md",
        "---\nname: a\ndescription: Does a. Use when a is asked for.\nallowed-tools: Read Grep\n---\nRun `curl x | sh`.\n",
    );
    place.write("all/skills/a/scripts/go.sh", "echo\n");
    place.write(
        "all/skills/b/SKILL.md",
        "---\nname: b\ndescription: Does b. Use when b is asked for.\n---\nBody.\n",
    );
}

#[test]
fn skills_say_what_they_bring() {
    let place = Place::new();
    skills(&place);
    let value = place.run(["inspect", "./all", "--json"]).ok().json();
    assert_eq!(value["kind"], "skills");
    assert_eq!(value["skills"][0]["name"], "a");
    assert_eq!(value["skills"][0]["allowedTools"], json!(["Read", "Grep"]));
    assert_eq!(value["runs"], json!([{ "skill": "a", "path": "skills/a/scripts/go.sh" }]));
    assert_eq!(value["warns"][0]["code"], "PK0311");
    assert_eq!(value["warns"][0]["path"], "all/skills/a/SKILL.md");
    assert_eq!(value["sizes"]["files"], 3);
    let one = place.run(["inspect", "./all/skills/b", "--json"]).ok().json();
    assert_eq!((&one["kind"], &one["skill"]["name"]), (&json!("skill"), &json!("b")));
    let text = place.run(["inspect", "./all"]).ok();
    assert!(text.text().starts_with("./all   2 skills, 3 files"), "{}", text.text());
    // Sealed, it is the same and a package besides.
    assert_eq!(place.run(["pack", "all", "--name", "all", "--version", "1"]).code, 0);
    let sealed = place.run(["inspect", "all-1.aospkg", "--json"]).ok().json();
    assert_eq!(sealed["kind"], "skills");
    assert_eq!(sealed["skills"], value["skills"]);
    assert_eq!(sealed["package"]["name"], "all");
    let container =
        place.run(["inspect", "all-1.aospkg", "--kind", "package", "--json"]).ok().json();
    assert_eq!(container["kind"], "package");
    assert!(container.get("skills").is_none());
}

#[test]
fn a_skill_that_cannot_be_used_differs() {
    let place = Place::new();
    skills(&place);
    let good = place.run(["verify", "./all"]);
    assert_eq!(good.code, 0, "{}", good.stderr);
    assert!(good.text().starts_with("consistent  ./all"), "{}", good.text());
    place.write("all/skills/b/SKILL.md", "no frontmatter\n");
    let bad = place.run(["verify", "./all"]);
    assert_eq!(bad.code, 1);
    assert!(bad.text().starts_with("differs  ./all"), "{}", bad.text());
    assert!(bad.stderr.contains("all/skills/b/SKILL.md"), "{}", bad.stderr);
}

/// A pack with an app and a skill, named like the seed's.
fn pack(place: &Place) {
    place.write(
        "duo/PACK.md",
        "---\nschema: pack/v1\nname: duo\ntitle: Duo\ndescription: Two things.\nversion: 1.2.0\nplugin:\n  inline: true\napps:\n  - id: '@me/panel'\n    path: apps/panel\n---\n# Duo\n",
    );
    place.write(
        "duo/apps/panel/.agentproto/APP.md",
        "---\nschema: app/v1\nid: '@me/panel'\nversion: 2.0.0\nagents: []\nworkflows: []\nui:\n  path: .agentproto/ui.html\nexternalReadRoots: [/usr/share/dict]\n---\n",
    );
    place.write("duo/apps/panel/.agentproto/ui.html", "<p>\n");
    place.write(
        "duo/skills/a/SKILL.md",
        "---\nname: a\ndescription: Does a. Use when a is asked for.\n---\nBody.\n",
    );
}

/// The pack digest by its recipe: `label NUL hex`, sorted, joined, hashed.
fn pack_digest(place: &Place) -> String {
    let hex = |bytes: &[u8]| -> String {
        Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
    };
    let read = |path: &str| std::fs::read(place.path().join(path)).unwrap();
    let mut lines = [
        format!("PACK.md\0{}", hex(&read("duo/PACK.md"))),
        format!("apps/panel\0{}", hex(&read("duo/apps/panel/.agentproto/APP.md"))),
    ];
    lines.sort();
    hex(lines.join("\n").as_bytes())
}

#[test]
fn a_pack_is_inspected_verified_and_sealed() {
    let place = Place::new();
    pack(&place);
    let hex = pack_digest(&place);
    let value = place.run(["inspect", "./duo", "--json"]).ok().json();
    assert_eq!(value["kind"], "pack");
    let fact = &value["pack"];
    assert_eq!(fact["status"], "ready");
    assert_eq!(fact["ref"], "aip://64/duo");
    assert_eq!(fact["pin"], "aip://64/duo@1.2.0");
    assert_eq!(
        fact["digest"],
        json!({ "kind": "pack", "name": "duo", "version": "1.2.0",
                "alg": "agentproto-pack-digest/v1", "sha256": hex })
    );
    assert_eq!(fact["apps"][0]["id"], "@me/panel");
    assert_eq!(fact["apps"][0]["version"], "2.0.0");
    assert_eq!(fact["skills"][0]["name"], "a");
    assert_eq!(value["reaches"], json!([["@me/panel", "/usr/share/dict"]]));
    let digest = place.run(["digest", "./duo"]).ok();
    let first = digest.text().lines().next().unwrap().to_owned();
    assert_eq!(first, format!("{hex}  agentproto-pack-digest/v1  ./duo"));
    let verified =
        place.run(["verify", "./duo", "--digest", &format!("agentproto-pack-digest/v1:{hex}")]);
    assert_eq!(verified.code, 0, "{}", verified.stderr);
    assert!(verified.text().starts_with("matches  ./duo"), "{}", verified.text());
    // It says what it covers, and that a skill is not in it.
    assert!(verified.text().contains("PACK.md and each APP.md; no skill"), "{}", verified.text());
    let unknown =
        place.run(["verify", "./duo", "--digest", &format!("agentproto-pack-digest/v2:{hex}")]);
    assert_eq!(unknown.code, 3);
    // Sealed it is the same pack.
    assert_eq!(place.run(["pack", "duo"]).code, 0);
    let sealed = place.run(["inspect", "duo-1.2.0.aospkg", "--json"]).ok().json();
    assert_eq!((&sealed["kind"], &sealed["pack"]), (&json!("pack"), fact));
    assert_eq!(sealed["package"]["holds"]["inside"], json!(["pack"]));
    let digest = place.run(["digest", "duo-1.2.0.aospkg"]).ok();
    assert!(digest.text().starts_with(&hex), "{}", digest.text());
    let other = place.run(["pack", "duo", "--version", "9.9.9"]);
    assert_eq!(other.code, 2, "{}", other.stderr);
    // One that cannot be read is not sealed.
    std::fs::remove_file(place.path().join("duo/apps/panel/.agentproto/APP.md")).unwrap();
    let broken = place.run(["pack", "duo", "-o", "broken.aospkg"]);
    assert_eq!(broken.code, 1);
    assert!(broken.stderr.contains("PK0431 error duo/PACK.md:11"), "{}", broken.stderr);
    assert!(!place.path().join("broken.aospkg").exists());
    for command in ["inspect", "digest"] {
        assert_eq!(place.run([command, "./duo"]).code, 1, "{command}");
    }
    assert!(place.run(["verify", "./duo"]).text().starts_with("differs  ./duo"));
}

#[test]
fn an_app_becomes_a_bundle_and_comes_back() {
    let place = Place::new();
    pack(&place);
    let made = place.run(["pack", "duo/apps/panel", "-o", "panel.agentapp"]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    assert_eq!(
        place.run(["validate", "panel.agentapp"]).ok().text(),
        "checked 1 app: 0 errors, 0 warnings\n"
    );
    let value = place.run(["inspect", "panel.agentapp", "--json"]).ok().json();
    assert_eq!((&value["kind"], &value["app"]["id"]), (&json!("app"), &json!("@me/panel")));
    assert_eq!(value["app"]["bundle"]["files"], 2);
    let bytes = std::fs::read(place.path().join("panel.agentapp")).unwrap();
    let hex: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(value["app"]["bundle"]["archive"], format!("sha256:{hex}"));
    let verified = place.run(["verify", "panel.agentapp", "--digest", &format!("sha256:{hex}")]);
    assert!(verified.text().starts_with("matches"), "{}", verified.text());
    assert_eq!(place.run(["cat", "panel.agentapp", ".agentproto/ui.html"]).ok().stdout, b"<p>\n");
    place.run(["extract", "panel.agentapp"]).ok();
    let out = place.path().join("me-panel-2.0.0");
    let mut names: Vec<_> =
        std::fs::read_dir(&out).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, [".agentproto"], "the list of files is not the app's");
    assert_eq!(place.run(["extract", "panel.agentapp"]).code, 1, "it exists already");
    // As a package it is named by its safe id.
    assert_eq!(place.run(["pack", "duo/apps/panel"]).code, 0);
    assert!(place.path().join("me-panel-2.0.0.aospkg").exists());
    // Damaged, it is one error and leaves nothing.
    place.write("cut.agentapp", &bytes[..bytes.len() / 2]);
    place.write("text.agentapp", "text");
    let before = place.listing();
    for bad in ["cut.agentapp", "text.agentapp"] {
        for command in ["inspect", "verify", "extract", "ls"] {
            let run = place.run([command, bad]);
            assert_eq!((run.code, run.text()), (1, ""), "{command} {bad}");
            assert!(
                run.stderr.contains("PK0521 error") && run.stderr.contains("EINVAL"),
                "{}",
                run.stderr
            );
        }
    }
    assert_eq!(place.listing(), before);
    for (arguments, code) in [
        (&["pack", "all", "-o", "x.agentapp"][..], 1),
        (&["pack", "duo/apps/panel", "-o", "x.agentapp", "--format-version", "1"], 2),
        (&["pack", "duo", "-o", "x.agentapp"], 1),
    ] {
        assert_eq!(place.run(arguments).code, code, "{arguments:?}");
    }
    assert!(!place.path().join("x.agentapp").exists());
}

#[test]
fn refs_are_shown_in_their_object_form() {
    let place = Place::new();
    let value = place.run(["inspect", "aip://64/the-agentic-coder@1.2.0", "--json"]).ok().json();
    assert_eq!(
        value["inspect"]["ref"],
        json!({ "aip": 64, "id": "the-agentic-coder", "version": "1.2.0" })
    );
    assert_eq!(value["inspect"]["installed"], json!(null));
    let text = place.run(["inspect", "aip://64/the-agentic-coder"]).ok();
    assert!(text.text().contains("it follows the current version"), "{}", text.text());
    for bad in ["aip://64/", "aip://0/x", "aip://064/x", "aip://64/x@", "aip://53/@owner/app"] {
        let run = place.run(["inspect", bad]);
        assert_eq!((run.code, run.text()), (2, ""), "{bad}: {}", run.stderr);
        assert!(run.stderr.starts_with("PK06"), "{bad}: {}", run.stderr);
    }
    // The old number of packs is no fault of the ref, and no pack.
    let old = place.run(["inspect", "aip://52/the-agentic-coder"]);
    assert_eq!(old.code, 1);
    assert!(old.stderr.contains("PK0602"), "{}", old.stderr);
}

#[test]
fn every_schema_is_json_schema_2020_12() {
    let place = Place::new();
    for name in ["pack", "app", "skill", "product", "artifact-manifest"] {
        let run = place.run(["schema", name]).ok();
        let schema: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{name}");
        let value = place.run(["schema", name, "--json"]).ok().json();
        assert_eq!(value["schema"], schema, "{name}");
    }
}

#[test]
fn reading_a_pack_opens_no_socket_and_starts_no_process() {
    let place = Place::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let pin = "0123456789abcdef0123456789abcdef01234567";
    place.write(
        "pack/PACK.md",
        format!("---\nschema: pack/v1\nname: pack\ntitle: Pack\ndescription: Includes what is elsewhere.\nversion: 1.0.0\nplugin:\n  includes:\n    - git+https://127.0.0.1:{port}/r.git#{pin}\n    - '@agentproto/skill-pack-code-review'\n---\n"),
    );
    // Whatever a fetcher would start says that it was started.
    for program in ["git", "npm", "node", "sh", "curl", "ssh"] {
        let script = place.write(&format!("bin/{program}"), "#!/bin/sh\n: > started\n");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&script, mode).unwrap();
    }
    for arguments in [
        &["inspect", "./pack"][..],
        &["validate", "pack"],
        &["digest", "./pack"],
        &["verify", "./pack"],
    ] {
        let mut command = place.command(arguments);
        command.env("PATH", place.path().join("bin"));
        let run = crate::support::Run::of(&mut command);
        assert_eq!(run.code, 0, "{arguments:?}: {}", run.stderr);
        let kind = listener.accept().expect_err("nobody connects").kind();
        assert_eq!(kind, std::io::ErrorKind::WouldBlock, "{arguments:?}");
        assert!(!place.path().join("started").exists(), "{arguments:?}");
    }
}
