//! Artifacts through the commands that only read.

use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::{Place, repository};

/// A golden artifact, copied so that it can be changed.
fn artifact(place: &Place, name: &str) {
    copy(&repository().join("tests/data/artifacts").join(name), &place.path().join(name));
}

pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), &to).unwrap();
        }
    }
}

fn document(place: &Place, name: &str) -> Value {
    let path = place.path().join(name).join("agent-bundle.manifest.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn inspect_has_the_shape_of_the_reference() {
    let place = Place::new();
    artifact(&place, "bench-board");
    let document = document(&place, "bench-board");
    let value = place.run(["inspect", "./bench-board", "--json"]).ok().json();
    assert_eq!(value["kind"], "artifact");
    let application = &value["artifact"]["application"];
    assert_eq!(application["identity"], document["application"]);
    assert_eq!(application["distribution"], document["distribution"]);
    assert_eq!(application["scripts"], json!([]));
    let hosts: Vec<_> =
        application["hosts"].as_array().unwrap().iter().map(|host| host["host"].clone()).collect();
    assert_eq!(json!(hosts), json!(["amp", "claude", "codex", "cursor", "portable"]));
    assert_eq!(
        application["hosts"][4],
        json!({ "host": "portable", "builtIn": true, "documents": [
            { "kind": "mcp", "path": "mcp.json" }, { "kind": "plugin", "path": "plugin.json" } ] })
    );
    assert_eq!(application["servers"][0]["id"], "mcp:bench");
    assert_eq!(application["servers"][0]["kind"], "compiled");
    assert_eq!(
        application["servers"][0]["entry"],
        document["executables"]["mcpServers"][0]["launch"]["entry"]
    );
    let event = &application["events"][0];
    assert_eq!(event["id"], document["routes"]["events"][0]["id"]);
    assert_eq!(event["hooks"].as_array().unwrap().len(), 2);
    assert_eq!(event["hooks"][0]["timeout"], 5);
    // Hooks of the configuration are grouped by agent host.
    let groups: Vec<_> = application["hooks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| group["host"].clone())
        .collect();
    assert_eq!(json!(groups), json!(["claude", "codex", "cursor"]));
    let summary = &value["artifact"]["manifest"];
    assert_eq!(summary["application"], document["application"]);
    assert_eq!(summary["manifestVersion"], 6);
    assert_eq!(summary["path"], "agent-bundle.manifest.json");
    assert_eq!(summary["executables"]["bins"], json!(["bench-board"]));
    assert_eq!(summary["executables"]["hooks"], 5);
    assert_eq!(summary["executables"]["mcpServers"][0]["name"], "bench");
    assert_eq!(summary["routes"]["digest"], document["routes"]["digest"]);
    assert_eq!(summary["routes"]["events"], 1);
    assert_eq!(summary["projections"][1]["documents"], document["projections"][1]["documents"]);
    assert_eq!(value["sizes"]["files"], document["files"].as_array().unwrap().len());
    assert_eq!(value["runs"].as_array().unwrap().len(), 5 + 1 + 1);
    assert_eq!(value["reaches"], json!([]));
    // The other spelling, and people's words.
    let other = place.run(["inspect", "--artifact", "./bench-board", "--json"]).ok().json();
    assert_eq!(other, value);
    let text = place.run(["inspect", "./bench-board"]).ok();
    for part in
        ["bench-board 0.3.0   artifact, 32 files", "cursor          1      2", "no remote server"]
    {
        assert!(text.text().contains(part), "no {part} in {}", text.text());
    }
}

#[test]
fn a_missing_or_invalid_manifest_is_said_with_its_code() {
    let place = Place::new();
    artifact(&place, "say-hello");
    place.write("empty/x", "");
    let missing = place.run(["inspect", "--artifact", "./empty"]);
    assert_eq!(missing.code, 1, "{}", missing.stderr);
    assert!(missing.stderr.starts_with("AB7001 error ./empty/agent-bundle"), "{}", missing.stderr);
    let path = place.path().join("say-hello/agent-bundle.manifest.json");
    let good = std::fs::read_to_string(&path).unwrap();
    for (bad, code) in [
        (good.replace("\"manifestVersion\":6", "\"manifestVersion\":5"), "AB6001"),
        (good.trim_end().to_owned(), "AB6001"),
        (String::new(), "AB6001"),
        (good.replace("\"application\"", "\"applicatio\""), "AB6001"),
    ] {
        std::fs::write(&path, bad).unwrap();
        for (command, code) in [
            (&["inspect", "./say-hello"][..], "AB7001"),
            (&["inspect", "--artifact", "./say-hello"], "AB7001"),
            (&["verify", "./say-hello"], code),
            (&["digest", "./say-hello"], code),
            (&["hooks", "list", "--artifact", "./say-hello"], code),
            (&["mcp", "list", "--artifact", "./say-hello"], code),
            (&["pack", "say-hello"], code),
        ] {
            let run = place.run(command);
            assert_eq!(run.code, 1, "{command:?}");
            assert!(run.stderr.contains(code), "{command:?}: {}", run.stderr);
            assert!(run.stderr.contains("say-hello/agent-bundle.manifest.json"), "{}", run.stderr);
        }
    }
}

#[test]
fn verify_finds_what_differs() {
    let place = Place::new();
    artifact(&place, "say-hello");
    let word = |place: &Place| {
        let run = place.run(["verify", "./say-hello", "--json"]);
        (run.code, run.json()["verify"]["word"].clone())
    };
    assert_eq!(word(&place), (0, json!("consistent")));
    // The content hash, made here by its recipe: path, NUL, x or -, NUL, bytes, NUL; in collation
    // order, which puts the letters of `.claude-plugin` and `agent-bundle` before `INSTALL.md`.
    let mut hash = Sha256::new();
    for path in [
        ".claude-plugin/marketplace.json",
        ".claude-plugin/plugin.json",
        "agent-bundle.manifest.json",
        "INSTALL.md",
        "skills/greet/SKILL.md",
    ] {
        hash.update(path);
        hash.update(b"\0-\0");
        hash.update(std::fs::read(place.path().join("say-hello").join(path)).unwrap());
        hash.update(b"\0");
    }
    let hex: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    let digest = place.run(["digest", "./say-hello"]).ok();
    assert!(
        digest.text().starts_with(&format!("{hex}  agent-bundle-content/v6  ./say-hello\n")),
        "{}",
        digest.text()
    );
    let matching =
        place.run(["verify", "./say-hello", "--digest", &format!("agent-bundle-content/v6:{hex}")]);
    assert_eq!(matching.code, 0, "{}", matching.stderr);
    assert!(matching.text().starts_with("matches  ./say-hello"), "{}", matching.text());
    // Moving the root elsewhere changes nothing.
    copy(&place.path().join("say-hello"), &place.path().join("else where"));
    assert!(place.run(["digest", "./else where"]).ok().text().starts_with(&hex));
    let skill = place.path().join("say-hello/skills/greet/SKILL.md");
    let text = std::fs::read(&skill).unwrap();
    std::fs::write(&skill, b"changed").unwrap();
    assert_eq!(word(&place), (1, json!("differs")));
    std::fs::remove_file(&skill).unwrap();
    assert_eq!(word(&place), (1, json!("differs")));
    std::os::unix::fs::symlink("/etc/passwd", &skill).unwrap();
    assert_eq!(word(&place), (1, json!("differs")));
    std::fs::remove_file(&skill).unwrap();
    std::fs::write(&skill, text).unwrap();
    assert_eq!(word(&place), (0, json!("consistent")));
}

#[test]
fn verify_names_what_lies_there_without_a_row() {
    let place = Place::new();
    artifact(&place, "say-hello");
    let verify = |place: &Place| {
        let run = place.run(["verify", "./say-hello", "--json"]);
        let value = run.json();
        let found = value["diagnostics"].as_array().unwrap().iter();
        let found: Vec<_> = found.map(|it| (it["code"].clone(), it["path"].clone())).collect();
        (run.code, value["verify"]["word"].clone(), found)
    };
    place.write("say-hello/.env", "A=1");
    place.write("say-hello/state/x", "");
    assert_eq!(verify(&place), (0, json!("consistent"), vec![]));
    place.write("say-hello/notes.txt", "");
    // A directory is one difference, whatever lies in it.
    for at in 0..50 {
        place.write(&format!("say-hello/.git/objects/{at}"), "");
    }
    std::fs::create_dir(place.path().join("say-hello/skills/none")).unwrap();
    std::os::unix::fs::symlink("/etc", place.path().join("say-hello/skills/etc")).unwrap();
    let row = |code: &str, path: &str| (json!(code), json!(format!("say-hello/{path}")));
    let mut expected = vec![
        row("AB6004", ".git"),
        row("AB6004", "notes.txt"),
        row("AB6013", "skills/etc"),
        row("AB6014", "skills/none"),
    ];
    let (code, word, mut found) = verify(&place);
    let key = |row: &(Value, Value)| row.1.to_string();
    found.sort_by_key(key);
    expected.sort_by_key(key);
    assert_eq!((code, word, found), (1, json!("differs"), expected));
    let text = place.run(["verify", "./say-hello"]);
    assert_eq!(text.stderr.matches("help:").count(), 1, "{}", text.stderr);
}

#[test]
fn a_root_that_npm_unpacked_is_compared_as_npm_leaves_it() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    for (name, code) in [("node_modules/@x/bench-board/dist", 0), ("bench-board/dist", 1)] {
        let root = place.path().join(name);
        copy(&repository().join("tests/data/artifacts/bench-board"), &root);
        let package = root.parent().unwrap().join("package.json");
        let document = r#"{"name":"@x/bench-board","bin":"dist/bin/bench-board.mjs"}"#;
        std::fs::write(package, document).unwrap();
        let script = root.join("skills/read-report/scripts/worst.sh");
        std::fs::set_permissions(script, PermissionsExt::from_mode(0o644)).unwrap();
        let verified = place.run(["verify", &format!("./{name}")]);
        assert_eq!(verified.code, code, "{name}: {}", verified.stderr);
        let valid = place.run(["validate", "--artifact", name]);
        assert_eq!(valid.code, code, "{name}: {}", valid.text());
        let bin = root.join("bin/bench-board.mjs");
        std::fs::set_permissions(bin, PermissionsExt::from_mode(0o644)).unwrap();
        let verified = place.run(["verify", &format!("./{name}")]);
        assert!(verified.stderr.contains("bin/bench-board.mjs"), "{}", verified.stderr);
        assert_eq!(verified.code, 1);
    }
}

/// Writes a changed artifact manifest; of ASCII text without fractions this is canonical.
fn rewrite(place: &Place, name: &str, document: &Value) {
    place.write(&format!("{name}/agent-bundle.manifest.json"), format!("{document}\n"));
}

#[test]
fn inspect_says_where_remote_servers_are_and_what_commands_run() {
    let place = Place::new();
    artifact(&place, "bench-board");
    let mut document = document(&place, "bench-board");
    let server = &mut document["executables"]["mcpServers"][0];
    server.as_object_mut().unwrap().remove("launch");
    server["kind"] = json!("remote");
    server["transport"] = json!("streamable-http");
    rewrite(&place, "bench-board", &document);
    let entry = |path: &str, entry: Value| {
        place.write(
            &format!("bench-board/{path}"),
            json!({ "mcpServers": { "bench": entry } }).to_string(),
        );
    };
    let remote = |address: &str| json!({ "type": "http", "url": address });
    entry(".mcp.json", remote("https://one.example/mcp"));
    entry(".codex-plugin/mcp.json", remote("https://two.example/mcp"));
    entry(".cursor-plugin/mcp.json", remote("https://one.example/mcp"));
    place.write("bench-board/mcp.json", "{}");
    let value = place.run(["inspect", "./bench-board", "--json"]).ok().json();
    let reaches = json!([
        { "server": "bench", "address": "https://one.example/mcp", "hosts": ["claude", "cursor"] },
        { "server": "bench", "address": "https://two.example/mcp", "hosts": ["codex"] },
        { "server": "bench", "address": null, "hosts": ["portable"] },
    ]);
    assert_eq!(value["reaches"], reaches);
    let text = place.run(["inspect", "./bench-board"]).ok();
    assert!(text.text().contains("server bench at https://two.example/mcp for codex"));

    document["executables"]["mcpServers"][0]["kind"] = json!("command");
    document["executables"]["mcpServers"][0]["transport"] = json!("stdio");
    rewrite(&place, "bench-board", &document);
    let line =
        json!({ "command": "uvx", "args": ["bench", "--fast"], "env": { "TOKEN": "${TOKEN}" } });
    for path in [".mcp.json", ".codex-plugin/mcp.json", ".cursor-plugin/mcp.json"] {
        entry(path, line.clone());
    }
    let value = place.run(["inspect", "./bench-board", "--json"]).ok().json();
    assert_eq!(value["reaches"], json!([]));
    let server = value["runs"].as_array().unwrap().iter().find(|row| row["kind"] == "server");
    let expected = json!({
        "kind": "server", "name": "bench", "entry": null,
        "command": ["uvx", "bench", "--fast"], "environment": ["TOKEN"],
    });
    assert_eq!(server, Some(&expected));
    let text = place.run(["inspect", "./bench-board"]).ok();
    assert!(text.text().contains("uvx bench --fast with TOKEN"), "{}", text.text());
}

#[test]
fn hooks_and_servers_are_listed_without_starting_anything() {
    let place = Place::new();
    artifact(&place, "bench-board");
    let document = document(&place, "bench-board");
    let all = place.run(["hooks", "list", "--artifact", "./bench-board", "--json"]).ok().json();
    assert_eq!(all["hooks"], document["executables"]["hooks"]);
    let claude = place
        .run(["hooks", "list", "--artifact", "./bench-board", "--target", "claude-code", "--json"])
        .ok()
        .json();
    assert_eq!(claude["hooks"].as_array().unwrap().len(), 2);
    let servers = place.run(["mcp", "list", "--artifact", "./bench-board", "--json"]).ok().json();
    assert_eq!(servers["mcp"][0]["name"], "bench");
    let amp = place
        .run(["mcp", "list", "--artifact", "./bench-board", "--target", "amp", "--json"])
        .ok()
        .json();
    assert_eq!(amp["mcp"], json!([]));
    let unknown = place.run(["mcp", "list", "--artifact", "./bench-board", "--target", "gemini"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("amp, claude, codex, cursor, portable"), "{}", unknown.stderr);
    // From inside the artifact no option is needed.
    let mut command = place.command(["hooks", "list"]);
    command.current_dir(place.path().join("bench-board"));
    assert_eq!(crate::support::Run::of(&mut command).ok().text().lines().count(), 5);
}

#[test]
fn an_artifact_is_sealed_with_exactly_its_rows() {
    let place = Place::new();
    artifact(&place, "bench-board");
    let refused = place.run(["pack", "bench-board"]);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("HD0451 error bench-board/.env"), "{}", refused.stderr);
    assert_eq!(place.run(["pack", "bench-board", "--exclude", ".env"]).code, 0);
    let package = "bench-board-0.3.0.aospkg";
    let value = place.run(["inspect", package, "--json"]).ok().json();
    assert_eq!(value["kind"], "artifact");
    let files = document(&place, "bench-board")["files"].as_array().unwrap().len();
    assert_eq!(value["package"]["holds"]["files"], files + 1, "the rows and the manifest");
    assert_eq!(value["package"]["version"], "0.3.0");
    // Its commands are the routed executables.
    let container = place.run(["inspect", package, "--kind", "package", "--json"]).ok().json();
    assert_eq!(container["runs"][0]["command"], "bench-board");
    assert_eq!(container["runs"][0]["entry"], "bin/bench-board.mjs");
    // Every command reads it there, and finds it whole.
    let verified = place.run(["verify", package]);
    assert_eq!(verified.code, 0, "{}", verified.stderr);
    let hooks = place.run(["hooks", "list", "--artifact", package, "--json"]).ok().json();
    assert_eq!(hooks["hooks"], document(&place, "bench-board")["executables"]["hooks"]);
    let valid = place.run(["validate", package]);
    assert!(
        valid.text().ends_with("checked 1 package, 1 artifact: 0 errors, 0 warnings\n"),
        "{}",
        valid.text()
    );
    // The digest is that of the directory without the file that was left out.
    std::fs::remove_file(place.path().join("bench-board/.env")).unwrap();
    let hash = |source: &str| {
        let digest = place.run(["digest", source]).ok();
        digest.text().lines().next().unwrap().split(' ').next().unwrap().to_owned()
    };
    assert_eq!(hash(package), hash("./bench-board"));
    place.write("bench-board/notes.txt", "x");
    let extra = place.run(["pack", "bench-board", "-o", "x.aospkg"]);
    assert!(extra.stderr.contains("bench-board/notes.txt"), "{}", extra.stderr);
    assert!(!place.path().join("x.aospkg").exists());
}

#[test]
fn validate_compares_the_whole_tree() {
    let place = Place::new();
    artifact(&place, "say-hello");
    let good = place.run(["validate", "--artifact", "say-hello"]).ok();
    assert_eq!(good.text(), "checked 1 artifact: 0 errors, 0 warnings\n");
    assert_eq!(place.run(["validate", "say-hello"]).ok().text(), good.text());
    place.write("say-hello/extra.txt", "x");
    let extra = place.run(["validate", "say-hello", "--json"]);
    assert_eq!(extra.code, 1);
    let value = extra.json();
    let found: Vec<_> = value["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|found| (found["code"].clone(), found["path"].clone()))
        .collect();
    assert!(found.contains(&(json!("AB6004"), json!("say-hello/extra.txt"))), "{found:?}");
    place.write("empty/x", "");
    let missing = place.run(["validate", "--artifact", "empty"]);
    assert_eq!(missing.code, 1);
    assert!(
        missing.text().contains("AB6000 error empty/agent-bundle.manifest.json"),
        "{}",
        missing.text()
    );
    let nowhere = place.run(["validate", "--artifact", "nowhere"]);
    assert!(nowhere.code == 1 && nowhere.text().contains("AB6000"), "{}", nowhere.text());
}

#[test]
fn prepack_asks_the_real_npm() {
    let place = Place::new();
    artifact(&place, "say-hello");
    std::fs::create_dir(place.path().join("package")).unwrap();
    std::fs::rename(place.path().join("say-hello"), place.path().join("package/dist")).unwrap();
    let script = "node -e \"require('fs').writeFileSync('ran','x')\"";
    let document = |version: &str, files: &str| {
        format!(
            r#"{{"name":"say-hello","version":"{version}","files":{files},"scripts":{{"prepack":{},"prepare":{}}}}}"#,
            json!(script),
            json!(script)
        )
    };
    place.write("package/package.json", document("1.2.3", r#"["dist"]"#));
    let good = place.run(["prepack", "package"]);
    assert_eq!(good.code, 0, "{}{}", good.text(), good.stderr);
    assert!(!place.path().join("package/ran").exists(), "no script of the package runs");
    place.write("package/package.json", document("1.2.4", r#"["dist"]"#));
    let version = place.run(["prepack", "package"]);
    assert!(version.code == 1 && version.text().contains("AB7013"), "{}", version.text());
    place.write("package/package.json", document("1.2.3", r#"["dist/skills"]"#));
    let missing = place.run(["prepack", "package"]);
    assert!(missing.code == 1 && missing.text().contains("AB7010"), "{}", missing.text());
    place.write("package/package.json", document("1.2.3", r#"["dist"]"#));
    place.write("package/dist/INSTALL.md", "changed");
    let changed = place.run(["prepack", "package"]);
    assert!(changed.code == 1 && changed.text().contains("AB7011"), "{}", changed.text());
}

#[test]
fn an_artifact_goes_into_hosts_that_scan_directories_and_out_again() {
    let place = Place::new();
    artifact(&place, "bench-board");
    let home = place.path().join("try");
    std::fs::create_dir_all(home.join(".cursor")).unwrap();
    std::fs::create_dir_all(home.join(".config/amp")).unwrap();
    std::fs::write(home.join(".cursor/mine.json"), "{}").unwrap();
    let run = |arguments: &[&str]| place.run([arguments, &["--home", "try"]].concat());
    let before = place.listing();
    let plan = run(&["install", "./bench-board", "--host", "cursor,amp", "--plan", "--json"]);
    assert_eq!(plan.code, 0, "{}", plan.stderr);
    assert_eq!(plan.json()["plan"].as_array().unwrap().len(), 2);
    assert_eq!(place.listing(), before, "a plan writes nothing");
    let value = run(&["install", "./bench-board", "--host", "cursor,amp", "--json"]).ok().json();
    assert_eq!(value["kind"], "artifact");
    let results = value["results"].as_array().unwrap();
    let states: Vec<_> =
        results.iter().map(|it| (it["host"].clone(), it["state"].clone())).collect();
    assert_eq!(states, [(json!("cursor"), json!("installed")), (json!("amp"), json!("installed"))]);
    for result in results {
        let destination = Path::new(result["destination"].as_str().unwrap());
        assert!(destination.is_dir(), "{result}");
        assert_eq!(result["contentHash"].as_str().unwrap().len(), 64);
    }
    let installed = place.listing();
    let again = run(&["install", "./bench-board", "--host", "cursor,amp", "--json"]).ok().json();
    assert_eq!(again["results"][0]["state"], "already-installed");
    assert_eq!(place.listing(), installed);
    let other = run(&["install", "./bench-board", "--host", "cursor,gemini"]);
    assert_eq!(other.code, 2, "{}", other.stderr);
    // The source is not needed to take it away, and what was there before stays.
    std::fs::remove_dir_all(place.path().join("bench-board")).unwrap();
    let gone = run(&["uninstall", "artifact:bench-board", "--json"]).ok().json();
    assert_eq!(gone["results"].as_array().unwrap().len(), 2);
    let files = |listing: Vec<std::path::PathBuf>| -> Vec<_> {
        listing.into_iter().filter(|path| path.is_file() && !path.ends_with("lock")).collect()
    };
    assert_eq!(files(place.listing()), [home.join(".cursor/mine.json")]);
    let twice = run(&["uninstall", "artifact:bench-board"]);
    assert_eq!(twice.code, 0);
    assert!(twice.stderr.contains("is not installed"), "{}", twice.stderr);
}
