//! Installing packs and apps through the binary: whole, N times, upgraded, gated, taken away.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::{Place, Run, Snapshot};

const HOSTS: &str = "claude,codex";

fn skill(place: &Place, at: &str, name: &str, body: &str) {
    let text = format!("---\nname: {name}\ndescription: Does {name}.\n---\n{body}\n");
    place.write(&format!("{at}/skills/{name}/SKILL.md"), text);
}

fn app(place: &Place, at: &str, id: &str, more: &str) {
    let text = format!(
        "---\nschema: app/v1\nid: \"{id}\"\nagents:\n  - id: worker\n    path: \
         .agentproto/agents/worker/AGENT.md\nworkflows: []\n{more}---\n"
    );
    place.write(&format!("{at}/.agentproto/APP.md"), text);
    place.write(&format!("{at}/.agentproto/agents/worker/AGENT.md"), "# Worker\n");
}

/// A pack of two skills and two apps, with everything else a pack can have.
fn pack(place: &Place, at: &str, version: &str, more: &str) {
    place.write(
        &format!("{at}/PACK.md"),
        format!(
            "---\nschema: pack/v1\nname: coder\ntitle: Coder\ndescription: Codes.\nversion: \
             \"{version}\"\nplugin:\n  inline: true\napps:\n  - id: panel\n    path: ./apps/panel\n  \
             - id: maint\n    path: ./apps/maint\nknowledge:\n  workspace: engineering\n  kinds: \
             [runbook]\nplaybook:\n  title: The Book\n  targetChapters: 12\n{more}---\n# Coder\n"
        ),
    );
    skill(place, at, "greet", version);
    skill(place, at, "review", version);
    app(place, &format!("{at}/apps/panel"), "panel", "");
    app(place, &format!("{at}/apps/maint"), "maint", "");
}

fn install(place: &Place, source: &str, more: &[&str]) -> Run {
    place.run(["install", source, "--host", HOSTS, "--home", "try"].iter().chain(more))
}

fn store(place: &Place) -> PathBuf {
    place.path().join("try/.local/share/holdall")
}

fn rows(run: &Run) -> Vec<(String, String, String)> {
    let object: Value = serde_json::from_slice(&run.stdout).unwrap();
    let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
    let rows = object["results"].as_array().unwrap();
    rows.iter().map(|row| (text(row, "kind"), text(row, "name"), text(row, "action"))).collect()
}

fn all(action: &str, run: &Run) -> bool {
    let rows = rows(run);
    !rows.is_empty() && rows.iter().all(|(_, _, found)| found == action)
}

fn record(place: &Place, kind: &str, name: &str) -> Value {
    let path = store(place).join(format!("records/{kind}/{name}.json"));
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn a_pack_arrives_whole_and_says_what_arrives_first() {
    let place = Place::new();
    pack(&place, "pack", "1.0.0", "");
    let before = place.listing();
    let plan = install(&place, "./pack", &["--plan"]);
    assert_eq!(plan.code, 0, "{}", plan.stderr);
    assert_eq!(place.listing(), before);
    assert!(plan.text().lines().count() <= 12, "{}", plan.text());
    for word in [
        "coder 1.0.0   pack, ready   from ./pack",
        "first time",
        "agentproto-pack-digest/v1:",
        "covers PACK.md and each APP.md",
        "holdall-tree/v1:",
        "signed no",
        "2 apps: panel, maint",
        "2 skills: greet, review",
        "try/.claude/skills (claude; also read by cursor)",
        "1 agent of `panel` when it is started",
        "knowledge of `engineering`",
        "playbook `The Book`",
    ] {
        assert!(plan.text().contains(word), "{word}: {}", plan.text());
    }
    let done = install(&place, "./pack", &["--json"]);
    assert_eq!(done.code, 0);
    let object = done.json();
    assert_eq!(object["kind"], "pack");
    assert!(all("created", &done));
    let kinds: Vec<_> = rows(&done).into_iter().map(|(kind, ..)| kind).collect();
    assert_eq!(kinds, ["app", "app", "skill", "skill", "skill", "skill", "pack"]);
    for at in ["try/.claude/skills/greet/SKILL.md", "try/.agents/skills/review/SKILL.md"] {
        assert!(place.path().join(at).is_file(), "{at}");
    }
    assert!(store(&place).join("apps/panel/.agentproto/APP.md").is_file());
    assert!(!place.path().join("try/book").exists());
    let record = record(&place, "packs", "coder");
    assert_eq!(record["digest"]["alg"], "agentproto-pack-digest/v1");
    assert_eq!(record["status"], "ready");
    assert_eq!(record["apps"], serde_json::json!(["panel", "maint"]));
    assert_eq!(record["knowledge"]["workspace"], "engineering");
    assert_eq!(record["playbook"]["targetChapters"], 12);
    let list = place.run(["list", "--home", "try", "--json"]).json();
    let kinds: Vec<_> =
        list["list"].as_array().unwrap().iter().map(|row| row["kind"].clone()).collect();
    assert_eq!(kinds, ["pack", "app", "app", "skill", "skill", "skill", "skill"]);
    let shown = place.run(["list", "--home", "try"]);
    assert!(shown.text().contains("The Book"), "{}", shown.text());
}

#[test]
fn three_times_is_once_and_writes_once() {
    let place = Place::new();
    pack(&place, "pack", "1.0.0", "");
    assert_eq!(install(&place, "./pack", &[]).code, 0);
    let before = Snapshot::of(&place.path().join("try"));
    for _ in 0..2 {
        let again = install(&place, "./pack", &["--json"]);
        assert_eq!(again.code, 0);
        assert!(all("unchanged", &again));
        before.assert_same(&Snapshot::of(&place.path().join("try")));
    }
    // A changed byte is noticed though the version is the same.
    fs::write(place.path().join("pack/apps/panel/notes.txt"), "n").unwrap();
    let changed = install(&place, "./pack", &["--json"]);
    let replaced: Vec<_> =
        rows(&changed).into_iter().filter(|row| row.2 == "replaced").map(|row| row.1).collect();
    assert_eq!(replaced, ["panel", "coder"]);
}

#[test]
fn an_upgrade_drops_skills_keeps_data_and_names_the_apps_that_stay() {
    let place = Place::new();
    pack(&place, "pack", "1.0.0", "");
    assert_eq!(install(&place, "./pack", &[]).code, 0);
    let data = store(&place).join("app-data/panel");
    fs::create_dir_all(&data).unwrap();
    fs::write(data.join("state"), "mine").unwrap();
    let installed = record(&place, "packs", "coder")["installedAt"].clone();
    fs::remove_dir_all(place.path().join("pack/skills/review")).unwrap();
    let text = fs::read_to_string(place.path().join("pack/PACK.md")).unwrap();
    let text = text
        .replace("  - id: maint\n    path: ./apps/maint\n", "")
        .replace("version: \"1.0.0\"", "version: \"2.0.0\"");
    place.write("pack/PACK.md", text);
    skill(&place, "pack", "greet", "2.0.0");
    let run = install(&place, "./pack", &["--json"]);
    assert_eq!(run.code, 0);
    let of = |name: &str| rows(&run).into_iter().find(|row| row.1 == name).map(|row| row.2);
    assert_eq!(of("greet").as_deref(), Some("replaced"));
    assert_eq!(of("review").as_deref(), Some("removed"));
    assert_eq!(of("panel").as_deref(), Some("unchanged"));
    let found = run.json()["diagnostics"].clone();
    let stays = found.as_array().unwrap().iter().find(|it| it["code"] == "HD0314").unwrap();
    assert!(stays["message"].as_str().unwrap().contains("`maint` of coder 1.0.0"));
    assert!(!place.path().join("try/.claude/skills/review").exists());
    assert_eq!(fs::read_to_string(data.join("state")).unwrap(), "mine");
    let record = record(&place, "packs", "coder");
    assert_eq!((&record["installedAt"], &record["version"]), (&installed, &"2.0.0".into()));
    assert_ne!(record["updatedAt"], installed);
}

#[test]
fn a_gated_pack_is_refused_with_every_blocker_and_nothing_is_written() {
    let place = Place::new();
    let blockers = "blockers:\n  - \"legal: review pending — ask  Ann\"\n  - \"\"\n  - \"esc \\e[31m\"\n  - \"数 👩‍💻\"\n";
    pack(&place, "pack", "1.0.0", blockers);
    // Not even a host is asked for.
    let run = place.run(["install", "./pack", "--home", "try"]);
    assert_eq!(run.code, 3);
    assert!(run.stderr.contains("legal: review pending — ask  Ann"), "{}", run.stderr);
    assert!(run.stderr.contains("esc \\u{1b}[31m") && run.stderr.contains('数'), "{}", run.stderr);
    assert_eq!(run.stderr.matches("HD0308").count(), 4);
    assert!(!place.path().join("try").exists());
    let json = install(&place, "./pack", &["--json", "--yes"]);
    assert_eq!(json.code, 3);
    let messages: Vec<_> = json.json()["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|found| found["message"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(messages[1], "coder is gated: ");
    assert_eq!(messages[2], "coder is gated: esc \u{1b}[31m");
    assert_eq!(messages[3], "coder is gated: 数 👩‍💻");
}

#[test]
fn uninstall_works_from_receipts_alone_and_purges_data_only_when_told_twice() {
    let place = Place::new();
    place.write("try/.claude/settings.json", "{}");
    pack(&place, "pack", "1.0.0", "");
    let outside = |place: &Place| Snapshot::without(&place.path().join("try"), ".local");
    let before = outside(&place);
    assert_eq!(install(&place, "./pack", &[]).code, 0);
    let data = store(&place).join("app-data/panel/state");
    fs::create_dir_all(data.parent().unwrap()).unwrap();
    fs::write(&data, "mine").unwrap();
    fs::remove_dir_all(place.path().join("pack")).unwrap();
    let run = place.run(["uninstall", "coder", "--home", "try"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.text().contains("its data is kept in"), "{}", run.text());
    before.assert_same_content(&outside(&place));
    assert!(!store(&place).join("apps/panel").exists());
    assert_eq!(fs::read_to_string(&data).unwrap(), "mine");
    let list = place.run(["list", "--home", "try", "--json"]).json();
    assert_eq!(list["list"], serde_json::json!([]));

    pack(&place, "pack", "1.0.0", "");
    install(&place, "./pack", &[]);
    let once = place.run(["uninstall", "app:panel", "--purge-data", "--home", "try"]);
    assert_eq!(once.code, 2);
    let arguments = ["uninstall", "app:panel", "--purge-data", "--confirm-purge", "--home", "try"];
    assert_eq!(place.run(arguments).code, 0);
    assert!(!data.exists());
    // Installing again brings back what is missing.
    let again = install(&place, "./pack", &["--json"]);
    assert!(rows(&again).contains(&("app".into(), "panel".into(), "created".into())));
    assert_eq!(place.run(["uninstall", "pack:coder", "--home", "try"]).code, 0);
    before.assert_same_content(&outside(&place));
}

#[test]
fn an_app_of_another_pack_is_refused_with_both_named() {
    let place = Place::new();
    pack(&place, "pack", "1.0.0", "");
    install(&place, "./pack", &[]);
    pack(&place, "other", "1.0.0", "");
    let text = fs::read_to_string(place.path().join("other/PACK.md")).unwrap();
    place.write("other/PACK.md", text.replace("name: coder", "name: rival"));
    fs::remove_dir_all(place.path().join("other/skills/greet")).unwrap();
    fs::rename(place.path().join("other/skills/review"), place.path().join("other/skills/rev2"))
        .unwrap();
    place.write("other/skills/rev2/SKILL.md", "---\nname: rev2\ndescription: R.\n---\n");
    let before = Snapshot::of(&place.path().join("try"));
    let run = install(&place, "./other", &[]);
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(run.stderr.contains("`rival`") && run.stderr.contains("`coder`"), "{}", run.stderr);
    before.assert_same(&Snapshot::of(&place.path().join("try")));
    let alone = place.run(["install", "./pack/apps/panel", "--home", "try"]);
    assert_eq!(alone.code, 3, "{}", alone.stderr);
}

#[test]
fn includes_are_merged_or_missing_and_named() {
    let place = Place::new();
    place.write(
        "pack/PACK.md",
        "---\nschema: pack/v1\nname: team\ntitle: T\ndescription: D.\nversion: \"1.0.0\"\nplugin:\n  \
         includes:\n    - \"@agentproto/skill-pack-review\"\n    - \"@agentproto/skill-pack-lint\"\n---\n",
    );
    fs::create_dir_all(place.path().join(".git")).unwrap();
    skill(&place, "node_modules/@agentproto/skill-pack-review", "review", "x");
    let refused = install(&place, "./pack", &[]);
    assert_eq!(refused.code, 1, "{}", refused.stderr);
    assert!(refused.stderr.contains("@agentproto/skill-pack-lint was not found"));
    for at in [
        "try/.agentproto/packs/lint",
        "pack/.skills/lint",
        "node_modules/@agentproto/skill-pack-lint",
        "--partial",
    ] {
        assert!(refused.stderr.contains(at), "{at}: {}", refused.stderr);
    }
    assert!(!place.path().join("try").exists());
    let partial = install(&place, "./pack", &["--partial"]);
    assert_eq!(partial.code, 0, "{}", partial.stderr);
    assert!(partial.text().contains("pack, assembling"));
    assert!(partial.stderr.contains("then run: holdall update team"), "{}", partial.stderr);
    let missing = record(&place, "packs", "team")["missing"].clone();
    assert_eq!(missing, serde_json::json!(["@agentproto/skill-pack-lint"]));
    skill(&place, ".skills/lint", "lint", "x");
    let whole = install(&place, "./pack", &["--json"]);
    assert!(rows(&whole).contains(&("skill".into(), "lint".into(), "created".into())));
    assert_eq!(record(&place, "packs", "team").get("missing"), None);
}

#[test]
fn bad_apps_and_paths_are_one_clear_error_and_nothing_is_written() {
    let cases: [(&str, &dyn Fn(&Place), &str); 6] = [
        (
            "out",
            &|place| {
                let text = fs::read_to_string(place.path().join("pack/PACK.md")).unwrap();
                place.write("pack/PACK.md", text.replace("./apps/panel", "../panel"));
            },
            "leads out",
        ),
        (
            "link",
            &|place| {
                fs::remove_dir_all(place.path().join("pack/apps/panel")).unwrap();
                app(place, "elsewhere", "panel", "");
                symlink(place.path().join("elsewhere"), place.path().join("pack/apps/panel"))
                    .unwrap();
            },
            "leads out",
        ),
        ("id", &|place| app(place, "pack/apps/panel", "other", ""), "not `panel`"),
        (
            "inner link",
            &|place| {
                symlink("/etc/passwd", place.path().join("pack/apps/panel/passwd")).unwrap();
            },
            "leads out of the app",
        ),
        (
            "roots",
            &|place| {
                app(place, "pack/apps/panel", "panel", "externalReadRoots: [/no/such/place]\n");
            },
            "/no/such/place",
        ),
        (
            "no document",
            &|place| {
                fs::remove_file(place.path().join("pack/apps/panel/.agentproto/APP.md")).unwrap();
            },
            "has no document",
        ),
    ];
    for (name, spoil, words) in cases {
        let place = Place::new();
        pack(&place, "pack", "1.0.0", "");
        spoil(&place);
        let run = install(&place, "./pack", &[]);
        assert_eq!(run.code, 1, "{name}: {}", run.stderr);
        assert!(run.stderr.contains(words), "{name}: {}", run.stderr);
        assert!(!place.path().join("try").exists(), "{name}");
    }
}

#[test]
fn apps_alone_are_upserted_with_one_record_and_keep_their_data() {
    let place = Place::new();
    app(&place, "app", "@own/tool", "version: 1.0.0\ndata:\n  dir: db\n");
    let run = place.run(["install", "./app", "--home", "try", "--json"]);
    assert_eq!(run.code, 0);
    assert_eq!(run.json()["kind"], "app");
    let key = "%40own%2Ftool";
    let first = record(&place, "apps", key);
    let data = first["dataDir"].as_str().unwrap().to_owned();
    assert!(data.ends_with("app-data/%40own%2Ftool/db"), "{data}");
    assert_eq!(first["source"]["kind"], "dir");
    fs::create_dir_all(&data).unwrap();
    fs::write(PathBuf::from(&data).join("state"), "mine").unwrap();

    // Moved, upgraded, and with another hint: the data stays where it is.
    fs::rename(place.path().join("app"), place.path().join("moved")).unwrap();
    app(&place, "moved", "@own/tool", "version: 2.0.0\ndata:\n  dir: other\n");
    let run = place.run(["install", "./moved", "--home", "try", "--json"]);
    assert_eq!((run.code, rows(&run)[0].2.as_str()), (0, "replaced"));
    let second = record(&place, "apps", key);
    assert_eq!((&second["dataDir"], &second["version"]), (&data.clone().into(), &"2.0.0".into()));
    assert_eq!(second["installedAt"], first["installedAt"]);
    assert_eq!(fs::read_dir(store(&place).join("records/apps")).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(PathBuf::from(&data).join("state")).unwrap(), "mine");
    // An explicit directory wins; one that is a file is refused.
    let moved = place.run(["install", "./moved", "--home", "try", "--data-dir", "~/data"]);
    assert_eq!(moved.code, 0, "{}", moved.stderr);
    let dir = record(&place, "apps", key)["dataDir"].as_str().unwrap().to_owned();
    assert!(dir.ends_with("try/data"), "{dir}");
    place.write("file", "x");
    let file = place.run(["install", "./moved", "--home", "try", "--data-dir", "file"]);
    assert!(file.code == 1 && file.stderr.contains("is a file"), "{}", file.stderr);
    // Without an id there is nothing to install it under.
    let text = fs::read_to_string(place.path().join("moved/.agentproto/APP.md")).unwrap();
    place.write(
        "anon/.agentproto/APP.md",
        text.replace("id: \"@own/tool\"\n", "").replace("version: 2.0.0\n", ""),
    );
    place.write("anon/.agentproto/agents/worker/AGENT.md", "# W\n");
    let anon = place.run(["install", "./anon", "--home", "try"]);
    assert!(anon.code == 1 && anon.stderr.contains("no id"), "{}", anon.stderr);
}

#[test]
fn a_sealed_pack_is_the_same_pack_and_asks_before_it_brings_apps() {
    let place = Place::new();
    pack(&place, "pack", "1.0.0", "");
    let packed = place.run([
        "pack",
        "./pack",
        "-o",
        "coder.aospkg",
        "--name",
        "coder",
        "--version",
        "1.0.0",
    ]);
    assert_eq!(packed.code, 0, "{}", packed.stderr);
    let refused = install(&place, "./coder.aospkg", &[]);
    assert_eq!(refused.code, 3, "{}", refused.stderr);
    assert!(refused.stderr.contains("HD0315") && refused.stderr.contains("--yes"));
    assert!(!place.path().join("try").exists());
    let digest = place.run(["digest", "./pack", "--json"]).json();
    let tree = digest["digests"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["alg"] == "holdall-tree/v1")
        .unwrap()["hex"]
        .as_str()
        .unwrap()
        .to_owned();
    let by_digest = install(
        &place,
        "./coder.aospkg",
        &["--json", "--digest", &format!("holdall-tree/v1:{tree}")],
    );
    assert_eq!(by_digest.code, 0, "{}", String::from_utf8_lossy(&by_digest.stdout));
    assert!(all("created", &by_digest));
    // The directory it was made from holds the same bytes.
    let same = install(&place, "./pack", &["--json"]);
    let changed: Vec<_> = rows(&same).into_iter().filter(|row| row.2 != "unchanged").collect();
    let names: Vec<_> = changed.iter().map(|row| row.1.as_str()).collect();
    assert_eq!(names, ["coder"], "only the record says another origin");
    let gone = place.run(["uninstall", "coder", "--home", "try"]);
    assert_eq!(gone.code, 0, "{}", gone.stderr);
}
