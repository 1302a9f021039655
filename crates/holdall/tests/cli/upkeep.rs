//! Keeping what is installed: update, doctor, knowledge, and apps from bundles and repositories.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::server::{Server, repository};
use crate::support::{Place, Run, Snapshot};

fn skill(place: &Place, at: &str, name: &str, body: &str) {
    let text = format!("---\nname: {name}\ndescription: Does {name}.\n---\n{body}\n");
    place.write(&format!("{at}/skills/{name}/SKILL.md"), text);
}

fn app_document(id: &str, version: &str) -> String {
    format!(
        "---\nschema: app/v1\nid: \"{id}\"\nversion: {version}\nagents:\n  - id: worker\n    path: \
         .agentproto/agents/worker/AGENT.md\nworkflows: []\n---\n"
    )
}

fn app(place: &Place, at: &str, id: &str, version: &str) {
    place.write(&format!("{at}/.agentproto/APP.md"), app_document(id, version));
    place.write(&format!("{at}/.agentproto/agents/worker/AGENT.md"), "# Worker\n");
}

fn pack(place: &Place, version: &str, includes: &str) {
    place.write(
        "coder/PACK.md",
        format!(
            "---\nschema: pack/v1\nname: coder\ntitle: Coder\ndescription: Codes.\nversion: \
             \"{version}\"\nplugin:\n  inline: true\n{includes}apps:\n  - id: panel\n    path: \
             ./apps/panel\nknowledge:\n  workspace: engineering\n  anyOf: [coding]\n---\n"
        ),
    );
    skill(place, "coder", "greet", version);
    app(place, "coder/apps/panel", "panel", version);
}

fn holdall(place: &Place, arguments: &[&str]) -> Run {
    place.run(arguments.iter().chain(&["--home", "try"]))
}

fn store(place: &Place) -> PathBuf {
    place.path().join("try/.local/share/holdall")
}

fn rows(run: &Run) -> Vec<(String, String)> {
    let object: Value = serde_json::from_slice(&run.stdout).unwrap();
    let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
    let rows = object["results"].as_array().unwrap();
    rows.iter().map(|row| (text(row, "name"), text(row, "action"))).collect()
}

fn codes(run: &Run) -> Vec<String> {
    let object: Value = serde_json::from_slice(&run.stdout).unwrap();
    let found = object["diagnostics"].as_array().unwrap();
    let mut codes: Vec<_> =
        found.iter().map(|found| found["code"].as_str().unwrap().to_owned()).collect();
    codes.sort();
    codes
}

#[test]
fn update_reads_directories_again_where_they_went_before() {
    let place = Place::new();
    pack(&place, "1.0.0", "");
    skill(&place, "alone", "single", "one");
    assert_eq!(holdall(&place, &["install", "./coder", "--host", "claude,codex"]).code, 0);
    assert_eq!(holdall(&place, &["install", "./alone", "--host", "claude"]).code, 0);
    let before = Snapshot::of(&place.path().join("try"));
    let same = holdall(&place, &["update"]);
    assert_eq!(same.code, 0, "{}", same.stderr);
    assert!(same.text().contains("coder 1.0.0 is up to date"), "{}", same.text());
    assert_eq!(same.text().lines().count(), 2, "{}", same.text());
    before.assert_same(&Snapshot::of(&place.path().join("try")));

    pack(&place, "1.1.0", "");
    skill(&place, "coder", "extra", "new");
    skill(&place, "alone", "single", "two");
    let plan = holdall(&place, &["update", "coder", "--plan"]);
    assert!(plan.text().contains("coder 1.1.0, was 1.0.0"), "{}", plan.text());
    before.assert_same(&Snapshot::of(&place.path().join("try")));
    let done = holdall(&place, &["resync", "coder", "--json"]);
    assert_eq!(done.code, 0);
    assert_eq!(done.json()["kind"], "update");
    let names = |name: &str| {
        rows(&done).into_iter().filter(|row| row.0 == name).map(|r| r.1).collect::<Vec<_>>()
    };
    assert_eq!(names("extra"), ["created", "created"]);
    assert_eq!(names("greet"), ["replaced", "replaced"]);
    assert!(place.path().join("try/.agents/skills/extra/SKILL.md").is_file());
    assert_eq!(
        rows(&holdall(&place, &["update", "skill:single", "--json"])),
        [("single".into(), "replaced".into())]
    );
    // A pack's app is updated with it, one from a directory has nothing to ask.
    let part = holdall(&place, &["update", "app:panel"]);
    assert!(part.code == 1 && part.stderr.contains("holdall update coder"), "{}", part.stderr);
    app(&place, "tool", "tool", "1.0.0");
    assert_eq!(holdall(&place, &["install", "./tool"]).code, 0);
    let alone = holdall(&place, &["update", "tool"]);
    assert!(alone.code == 1 && alone.stderr.contains("nothing to resync"), "{}", alone.stderr);
    let unknown = holdall(&place, &["update", "nobody"]);
    assert!(unknown.code == 1 && unknown.stderr.contains("HD0312"), "{}", unknown.stderr);
    assert_eq!(holdall(&place, &["update"]).code, 0);
}

#[test]
fn an_update_gets_includes_that_were_missing() {
    let place = Place::new();
    pack(&place, "1.0.0", "  includes: [lint]\n");
    assert_eq!(holdall(&place, &["install", "./coder", "--host", "claude", "--partial"]).code, 0);
    let doctor = holdall(&place, &["doctor", "--json"]);
    assert_eq!((doctor.code, codes(&doctor)), (0, vec!["HD0310".to_owned()]));
    skill(&place, "try/.agentproto/packs/lint", "lint", "x");
    let done = holdall(&place, &["update", "coder", "--json"]);
    assert!(rows(&done).contains(&("lint".into(), "created".into())));
    assert_eq!(codes(&holdall(&place, &["doctor", "--json"])), Vec::<String>::new());
}

#[test]
fn doctor_finds_what_is_missing_changed_foreign_and_orphaned() {
    let place = Place::new();
    let none = holdall(&place, &["doctor"]);
    assert_eq!((none.code, none.text()), (0, "0 packs, 0 apps, 0 skills: all is well\n"));
    pack(&place, "1.0.0", "");
    for name in ["one", "two", "three"] {
        skill(&place, "coder", name, "x");
    }
    assert_eq!(holdall(&place, &["install", "./coder", "--host", "claude"]).code, 0);
    let well = holdall(&place, &["doctor"]);
    assert_eq!((well.code, well.text()), (0, "1 pack, 1 app, 4 skills: all is well\n"));

    let skills = place.path().join("try/.claude/skills");
    fs::remove_dir_all(skills.join("one")).unwrap();
    fs::write(skills.join("two/SKILL.md"), "mine").unwrap();
    fs::remove_dir_all(skills.join("three")).unwrap();
    symlink("/somewhere", skills.join("three")).unwrap();
    fs::write(store(&place).join("apps/panel/extra"), "x").unwrap();
    fs::create_dir_all(store(&place).join("app-data/gone")).unwrap();
    let before = Snapshot::of(&place.path().join("try"));
    let doctor = holdall(&place, &["doctor", "--json"]);
    assert_eq!(doctor.code, 1);
    assert_eq!(codes(&doctor), ["HD0305", "HD0305", "HD0317", "HD0318", "HD0319"]);
    before.assert_same(&Snapshot::of(&place.path().join("try")));
    // A journal that was left is told by those that look, and ended by those that change.
    let journal = json!({"format": "holdall-journal/1", "committed": false, "moves": []});
    fs::write(store(&place).join("journal.json"), journal.to_string()).unwrap();
    assert!(codes(&holdall(&place, &["doctor", "--json"])).contains(&"HD0205".to_owned()));
    let list = holdall(&place, &["list"]);
    assert!(list.stderr.contains("did not finish"), "{}", list.stderr);
    assert!(store(&place).join("journal.json").exists());
    let update = holdall(&place, &["update", "coder"]);
    assert!(update.stderr.contains("was taken back"), "{}", update.stderr);
    assert!(!store(&place).join("journal.json").exists());
}

#[test]
fn knowledge_is_resolved_when_it_is_asked() {
    let place = Place::new();
    pack(&place, "1.0.0", "");
    assert_eq!(holdall(&place, &["install", "./coder", "--host", "claude"]).code, 0);
    let none = holdall(&place, &["knowledge", "query", "coder", "--json"]);
    assert_eq!((none.code, codes(&none)), (0, vec!["PK0802".to_owned()]));
    place.write(
        "kb/eng/KNOWLEDGE.md",
        "---\nschema: knowledge.workspace/v1\nname: engineering\n---\n",
    );
    let entry = |slug: &str, tag: &str| {
        let text = format!(
            "---\nschema: knowledge.entry/v1\nslug: {slug}\nkind: runbook\ntitle: T\ntags: [{tag}]\n---\n"
        );
        place.write(&format!("kb/eng/entries/{slug}.md"), text);
    };
    entry("deploy", "coding");
    entry("hire", "people");
    let kb = place.path().join("kb");
    fs::write(
        store(&place).join("config.toml"),
        format!("knowledge-roots = [{:?}]\n", kb.display().to_string()),
    )
    .unwrap();
    let slugs = |name: &str| {
        let object = holdall(&place, &["knowledge", "query", name, "--json"]).json();
        let entries = object["knowledge"]["entries"].as_array().unwrap().clone();
        entries.iter().map(|entry| entry["slug"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(slugs("coder"), ["deploy"]);
    // Without installing again.
    entry("review", "CODING");
    assert_eq!(slugs("coder"), ["deploy", "review"]);
    assert_eq!(slugs("./coder"), ["deploy", "review"]);
    let text = holdall(&place, &["knowledge", "query", "coder"]);
    assert!(text.text().contains("deploy   runbook   T"), "{}", text.text());
    let unknown = holdall(&place, &["knowledge", "query", "nobody"]);
    assert!(unknown.code == 1 && unknown.stderr.contains("HD0312"), "{}", unknown.stderr);
}

#[test]
fn a_bundle_is_installed_checked_pinned_and_asked_again() {
    let place = Place::new();
    app(&place, "tool", "@own/tool", "1.0.0");
    let packed = place.run(["pack", "./tool", "-o", "tool.agentapp"]);
    assert_eq!(packed.code, 0, "{}", packed.stderr);
    let unasked = holdall(&place, &["install", "./tool.agentapp"]);
    assert_eq!(unasked.code, 3, "{}", unasked.stderr);
    let zeros = "0".repeat(64);
    let wrong = holdall(&place, &["install", "./tool.agentapp", "--yes", "--sha256", &zeros]);
    assert!(wrong.code == 1 && wrong.stderr.contains(&zeros), "{}", wrong.stderr);
    assert!(!place.path().join("try").exists());
    let done = holdall(&place, &["install", "./tool.agentapp", "--yes", "--json"]);
    assert_eq!(done.code, 0);
    let path = store(&place).join("records/apps/%40own%2Ftool.json");
    let record: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(record["source"]["kind"], "agentapp");
    let sum = record["source"]["sha256"].as_str().unwrap().to_owned();
    let installed = store(&place).join("apps/%40own%2Ftool");
    assert!(installed.join(".agentproto/APP.md").is_file());
    assert!(!installed.join("manifest.json").exists());
    let pinned = holdall(&place, &["install", "./tool.agentapp", "--sha256", &sum, "--json"]);
    assert_eq!(rows(&pinned)[0].1, "unchanged");
    let same = holdall(&place, &["update", "@own/tool"]);
    assert!(same.text().contains("is up to date"), "{}{}", same.text(), same.stderr);
    // The file moved on.
    app(&place, "tool", "@own/tool", "2.0.0");
    fs::remove_file(place.path().join("tool.agentapp")).unwrap();
    assert_eq!(place.run(["pack", "./tool", "-o", "tool.agentapp"]).code, 0);
    let refused = holdall(&place, &["update", "@own/tool"]);
    assert_eq!(refused.code, 3, "{}", refused.stderr);
    let moved = holdall(&place, &["update", "@own/tool", "--yes", "--json"]);
    assert_eq!((moved.code, rows(&moved)[0].1.as_str()), (0, "replaced"));
    // A damaged one changes nothing.
    let before = Snapshot::of(&place.path().join("try"));
    let mut bytes = fs::read(place.path().join("tool.agentapp")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xff;
    fs::write(place.path().join("tool.agentapp"), bytes).unwrap();
    let damaged = holdall(&place, &["update", "@own/tool", "--yes"]);
    assert_eq!(damaged.code, 1, "{}", damaged.stderr);
    before.assert_same(&Snapshot::of(&place.path().join("try")));
}

#[test]
#[ignore = "needs openssl"]
fn an_app_of_a_repository_follows_its_ref_and_is_pinned_by_a_commit() {
    let (server, place) = (Server::https(), Place::new());
    let (one, two) = (app_document("tool", "1.0.0"), app_document("tool", "2.0.0"));
    let agent = (".agentproto/agents/worker/AGENT.md", "# Worker\n");
    let first = [(".agentproto/APP.md", one.as_str()), agent];
    let second = [(".agentproto/APP.md", two.as_str()), agent];
    let bare = server.root().join("git/r");
    let commits = repository(&bare, &[&first]);
    let ca = server.ca().to_str().unwrap().to_owned();
    let run = |arguments: &[&str]| {
        let all = arguments.iter().chain(&["--home", "try"]);
        Run::of(place.command(all).env("HOLDALL_CA_FILE", &ca))
    };
    let source = format!("git+{}", server.url("git/r"));
    let record = || -> Value {
        let path = store(&place).join("records/apps/tool.json");
        serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
    };
    // Another commit than the one that is expected installs nothing.
    let wrong = "0123456789abcdef0123456789abcdef01234567";
    let refused = run(&["install", &source, "--ref", "main", "--sha", wrong, "--yes"]);
    assert_eq!(refused.code, 1, "{}", refused.stderr);
    assert!(refused.stderr.contains(wrong) && refused.stderr.contains(&commits[0]));
    assert!(!store(&place).join("records").exists());

    let done = run(&["install", &source, "--yes", "--json"]);
    assert_eq!(done.code, 0, "{}", String::from_utf8_lossy(&done.stdout));
    assert_eq!(record()["source"]["sha"], commits[0].as_str());
    assert_eq!(record()["source"]["ref"], "HEAD");
    let same = run(&["update", "tool"]);
    assert!(same.text().contains("is up to date"), "{}{}", same.text(), same.stderr);

    fs::remove_dir_all(&bare).unwrap();
    let moved = repository(&bare, &[&first, &second]);
    let data = PathBuf::from(record()["dataDir"].as_str().unwrap());
    fs::create_dir_all(&data).unwrap();
    fs::write(data.join("state"), "mine").unwrap();
    let updated = run(&["update", "tool", "--yes", "--json"]);
    assert_eq!((updated.code, rows(&updated)[0].1.as_str()), (0, "replaced"));
    assert_eq!(record()["source"]["sha"], moved[1].as_str());
    assert_eq!(record()["version"], "2.0.0");
    assert_eq!(fs::read_to_string(data.join("state")).unwrap(), "mine");
    // An annotated tag is the commit behind it.
    let tagged = run(&["install", &source, "--ref", "v1", "--yes", "--json"]);
    assert_eq!(tagged.code, 0);
    let pin = record()["source"].clone();
    assert_eq!((&pin["sha"], &pin["ref"]), (&json!(moved[0]), &json!("v1")));
    assert!(run(&["update", "tool"]).text().contains("is up to date"));
    // A full pin does not move, and the line for another is printed.
    let pinned = run(&["install", &source, "--sha", &moved[1], "--yes", "--json"]);
    assert_eq!(pinned.code, 0);
    let unmoved = run(&["update", "tool"]);
    assert_eq!(unmoved.code, 0);
    let line = format!("holdall install {source}#NEW-COMMIT");
    assert!(unmoved.stderr.contains(&line), "{}", unmoved.stderr);
    // From elsewhere only when that is said.
    app(&place, "tool", "tool", "3.0.0");
    let elsewhere = run(&["install", "./tool"]);
    assert!(elsewhere.code == 1 && elsewhere.stderr.contains("HD0311"), "{}", elsewhere.stderr);
    assert_eq!(run(&["install", "./tool", "--replace"]).code, 0);
}
