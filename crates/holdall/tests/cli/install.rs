//! Installing, listing and uninstalling skills through the binary.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Place, Run, Snapshot};

/// `skills/NAME/SKILL.md` with a script.
fn skill(place: &Place, dir: &str, name: &str, body: &str) {
    let text = format!("---\nname: {name}\ndescription: Does {name}.\n---\n{body}\n");
    place.write(&format!("{dir}/skills/{name}/SKILL.md"), text);
    let run = place.write(&format!("{dir}/skills/{name}/scripts/run.sh"), "#!/bin/sh\n");
    fs::set_permissions(run, fs::Permissions::from_mode(0o755)).unwrap();
}

fn two_skills() -> Place {
    let place = Place::new();
    skill(&place, "src", "greet", "Hello.");
    skill(&place, "src", "part", "Bye.");
    place
}

fn install(place: &Place, more: &[&str]) -> Run {
    place.run(["install", "./src", "--home", "try"].iter().chain(more))
}

fn actions(run: &Run, key: &str) -> Vec<(String, String)> {
    let object: Value = serde_json::from_slice(&run.stdout).unwrap();
    let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
    let rows = object[key].as_array().unwrap();
    rows.iter().map(|row| (text(row, "name"), text(row, "action"))).collect()
}

fn same(action: &str) -> Vec<(String, String)> {
    ["greet", "part"].map(|name| (name.to_owned(), action.to_owned())).to_vec()
}

fn receipts(place: &Place) -> usize {
    let dir = place.path().join("try/.local/share/holdall/records/receipts");
    fs::read_dir(dir).map_or(0, Iterator::count)
}

#[test]
fn a_plan_writes_nothing_and_says_what_the_install_then_says() {
    let place = two_skills();
    let before = place.listing();
    let plan = install(&place, &["--host", "claude,codex", "--plan"]);
    assert_eq!(plan.code, 0, "{}", plan.stderr);
    assert_eq!(place.listing(), before);
    assert!(plan.text().lines().count() <= 12, "{}", plan.text());
    for word in [
        "2 skills",
        "greet",
        "part",
        "try/.claude/skills",
        "try/.agents/skills",
        "also read by",
        "cursor",
        "holdall-tree/v1:",
        "signed no",
        "nothing by itself",
        "first time",
    ] {
        assert!(plan.text().contains(word), "{word}: {}", plan.text());
    }
    let done = install(&place, &["--host", "claude,codex"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(done.text(), plan.text());
    assert!(done.stderr.contains("undo: holdall uninstall skill:greet skill:part"));
    assert!(done.stderr.contains("next: "), "{}", done.stderr);
    assert!(done.stderr.contains("Codex is not detected"), "{}", done.stderr);
}

#[test]
fn twice_writes_nothing_the_second_time() {
    let place = two_skills();
    assert_eq!(install(&place, &["--host", "claude,codex", "--json"]).code, 0);
    let run = place.path().join("try/.claude/skills/greet/scripts/run.sh");
    assert_eq!(fs::metadata(&run).unwrap().mode() & 0o777, 0o755);
    let before = Snapshot::of(&place.path().join("try"));
    let again = install(&place, &["--host", "claude,codex", "--json"]);
    assert_eq!(again.code, 0);
    assert_eq!(actions(&again, "results"), [same("unchanged"), same("unchanged")].concat());
    before.assert_same(&Snapshot::of(&place.path().join("try")));
}

#[test]
fn the_json_has_the_promised_shape() {
    let place = two_skills();
    let home = fs::canonicalize(place.path()).unwrap().join("try");
    let run = install(&place, &["--host", "codex,cline", "--json", "--skill", "greet"]);
    let object = run.json();
    assert_eq!(object["kind"], "skills");
    let row = json!({
        "kind": "skill", "name": "greet", "host": "codex", "hosts": ["codex", "cline"],
        "destination": home.join(".agents/skills/greet"), "action": "created",
    });
    assert_eq!(object["results"], json!([row]));
    let gone = place.run(["uninstall", "skill:greet", "--home", "try", "--json"]).json();
    assert_eq!(gone["kind"], "uninstall");
    assert_eq!(gone["results"][0]["action"], "removed");
    let nothing = place.run(["list", "--home", "try", "--json"]).json();
    assert_eq!(nothing["list"], json!([]));
}

#[test]
fn edited_is_replaced_with_a_backup_and_uninstall_keeps_what_was_edited() {
    let place = two_skills();
    install(&place, &["--host", "claude"]);
    let document = place.path().join("try/.claude/skills/greet/SKILL.md");
    fs::write(&document, "mine").unwrap();
    let again = install(&place, &["--host", "claude", "--json"]);
    assert_eq!(again.code, 0);
    assert_eq!(again.json()["diagnostics"][0]["code"], "HD0305");
    assert!(fs::read_to_string(&document).unwrap().contains("Hello."));
    let backups = place.path().join("try/.local/share/holdall/backups");
    let backup = fs::read_dir(backups).unwrap().next().unwrap().unwrap().path();
    assert_eq!(fs::read_to_string(backup.join("SKILL.md")).unwrap(), "mine");

    fs::write(&document, "mine again").unwrap();
    let kept = place.run(["uninstall", "skill:greet", "--home", "try"]);
    assert_eq!(kept.code, 1, "{}", kept.stderr);
    assert!(kept.stderr.contains("was changed by hand and is kept"), "{}", kept.stderr);
    assert_eq!(fs::read_to_string(&document).unwrap(), "mine again");
    fs::remove_dir_all(document.parent().unwrap()).unwrap();
    assert_eq!(place.run(["uninstall", "skill:greet", "--home", "try"]).code, 0);
}

#[test]
fn what_nobody_or_somebody_else_owns_is_refused_and_taken_over_on_request() {
    let place = two_skills();
    let mine = place.write("try/.claude/skills/greet/SKILL.md", "mine");
    let before = Snapshot::of(&place.path().join("try"));
    let refused = install(&place, &["--host", "claude"]);
    assert_eq!(refused.code, 3);
    assert!(refused.stderr.contains("HD0301") && refused.stderr.contains("--take-over"));
    before.assert_same(&Snapshot::of(&place.path().join("try")));

    let taken = install(&place, &["--host", "claude", "--take-over"]);
    assert_eq!(taken.code, 0, "{}", taken.stderr);
    assert!(taken.text().contains("replaces  try/.claude/skills/greet"), "{}", taken.text());
    skill(&place, "other", "greet", "Other.");
    let other = place.run(["install", "./other", "--host", "claude", "--home", "try"]);
    assert_eq!(other.code, 3, "{}", other.stderr);
    assert!(other.stderr.contains("it belongs to"), "{}", other.stderr);
    assert_eq!(place.run(["uninstall", "skill:greet", "skill:part", "--home", "try"]).code, 0);
    assert_eq!(fs::read_to_string(mine).unwrap(), "mine");
}

#[test]
fn a_destination_that_is_a_link_is_left_alone_and_the_install_counts_as_incomplete() {
    let place = two_skills();
    let work = place.write("elsewhere/greet/SKILL.md", "work in progress");
    let link = place.path().join("try/.claude/skills/greet");
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink(work.parent().unwrap(), &link).unwrap();
    for arguments in
        [&["--host", "claude", "--json"][..], &["--host", "claude", "--json", "--take-over"]]
    {
        let run = install(&place, arguments);
        assert_eq!(run.code, 1);
        assert_eq!(run.json()["diagnostics"][0]["code"], "HD0302");
        assert_eq!(actions(&run, "results")[0].1, "skipped");
    }
    assert!(link.is_symlink());
    assert_eq!(fs::read_to_string(work).unwrap(), "work in progress");
    assert!(place.path().join("try/.claude/skills/part/SKILL.md").is_file());
}

#[test]
fn without_hosts_it_goes_to_all_that_are_here_or_nowhere() {
    let place = two_skills();
    let none = install(&place, &[]);
    assert_eq!(none.code, 1);
    assert!(none.stderr.contains("HD0307") && none.stderr.contains("claude, codex"));
    assert!(!place.path().join("try").exists());

    for home in [".claude", ".cursor", ".factory"] {
        fs::create_dir_all(place.path().join("try").join(home)).unwrap();
    }
    assert_eq!(install(&place, &[]).code, 0);
    for home in [".claude", ".cursor", ".factory"] {
        assert!(place.path().join("try").join(home).join("skills/greet/SKILL.md").is_file());
    }
    let unknown = install(&place, &["--host", "clyde"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("known are claude, codex"), "{}", unknown.stderr);
}

#[test]
fn one_write_a_real_directory_however_many_hosts_read_it() {
    let place = two_skills();
    let run = install(&place, &["--host", "codex,cline,kimi", "--json"]);
    assert_eq!(run.json()["results"].as_array().unwrap().len(), 2);
    assert_eq!(receipts(&place), 2);
    // Two hosts whose directories are one through a link.
    fs::create_dir_all(place.path().join("try/.claude/skills")).unwrap();
    fs::create_dir_all(place.path().join("try/.cursor")).unwrap();
    symlink("../.claude/skills", place.path().join("try/.cursor/skills")).unwrap();
    let linked = install(&place, &["--host", "claude,cursor", "--json"]);
    assert_eq!(linked.json()["results"].as_array().unwrap().len(), 2);
    // From one of them only: the other still uses it.
    let one =
        place.run(["uninstall", "skill:greet", "--host", "cursor", "--home", "try", "--json"]);
    assert_eq!(
        (one.code, actions(&one, "results")),
        (0, vec![("greet".to_owned(), "kept".to_owned())])
    );
    assert!(place.path().join("try/.claude/skills/greet/SKILL.md").is_file());
    let two =
        place.run(["uninstall", "skill:greet", "--host", "claude", "--home", "try", "--json"]);
    assert_eq!(actions(&two, "results")[0].1, "removed");
    assert!(!place.path().join("try/.claude/skills/greet").exists());
}

#[test]
fn install_then_uninstall_leaves_everything_outside_the_store_byte_for_byte() {
    let hosts = ["claude", "codex", "opencode", "goose", "copilot", "windsurf", "amp"];
    for (at, _) in hosts.iter().enumerate() {
        let place = two_skills();
        // Some hosts are there with files of their own, some are not.
        place.write("try/.claude/settings.json", "{}\n");
        place.write("try/.claude/skills/own/SKILL.md", "own\n");
        place.write("try/.agents/notes", "n\n");
        let outside = |place: &Place| Snapshot::without(&place.path().join("try"), ".local");
        let before = outside(&place);
        let chosen = hosts[at..].join(",");
        assert_eq!(install(&place, &["--host", &chosen]).code, 0);
        assert_eq!(install(&place, &["--host", hosts[at]]).code, 0);
        fs::remove_dir_all(place.path().join("src")).unwrap();
        let gone = place.run(["uninstall", "skill:greet", "skill:part", "--home", "try"]);
        assert_eq!(gone.code, 0, "{}", gone.stderr);
        before.assert_same_content(&outside(&place));
        assert_eq!(receipts(&place), 0);
        let again = place.run(["uninstall", "skill:greet", "--home", "try"]);
        assert_eq!((again.code, again.stderr.as_str()), (0, "skill:greet is not installed\n"));
    }
}

#[test]
fn project_scope_is_the_nearest_repository_and_is_printed() {
    let place = two_skills();
    fs::create_dir_all(place.path().join("repo/.git")).unwrap();
    fs::create_dir_all(place.path().join("repo/deep/er")).unwrap();
    let mut command =
        place.command(["install", "../../../src", "--host", "claude", "--scope", "project"]);
    let run = Run::of(command.current_dir(place.path().join("repo/deep/er")));
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("project: ") && run.stderr.contains("/repo"), "{}", run.stderr);
    assert!(place.path().join("repo/.claude/skills/greet/SKILL.md").is_file());
    let given = install(&place, &["--host", "claude", "--scope", "local", "--project", "here"]);
    assert_eq!(given.code, 0, "{}", given.stderr);
    assert!(place.path().join("here/.claude/skills/greet/SKILL.md").is_file());
}

#[test]
fn consent_by_digest_names_other_bytes() {
    let place = two_skills();
    let wrong = format!("holdall-tree/v1:{}", "0".repeat(64));
    let refused = install(&place, &["--host", "claude", "--digest", &wrong]);
    assert_eq!(refused.code, 1, "{}", refused.stderr);
    assert!(!place.path().join("try").exists());
    let unknown = install(&place, &["--host", "claude", "--digest", "md5:00"]);
    assert_ne!(unknown.code, 0);
}

#[test]
fn bad_skills_are_one_clear_error_and_nothing_is_written() {
    let documents: [(&str, &str, &str); 4] = [
        ("skills/x/SKILL.md", "---\nname: ..\ndescription: Bad.\n---\n", "name"),
        ("skills/x/SKILL.md", "---\nname: a/b\ndescription: Bad.\n---\n", "name"),
        ("skills/x/SKILL.md", "---\nname: Upper\ndescription: Bad.\n---\n", "name"),
        ("skills/x/SKILL.md", "no frontmatter\n", "SKILL.md"),
    ];
    for (path, text, word) in documents {
        let place = Place::new();
        place.write(&format!("src/{path}"), text);
        let run = install(&place, &["--host", "claude"]);
        assert_eq!(run.code, 1, "{text}: {}", run.stderr);
        assert!(run.stderr.contains(word), "{text}: {}", run.stderr);
        assert!(!place.path().join("try").exists(), "{text}");
    }
    // A skill that is a link, or that has a link out of itself.
    let place = two_skills();
    symlink("/etc", place.path().join("src/skills/etc")).unwrap();
    symlink("/etc/passwd", place.path().join("src/skills/greet/passwd")).unwrap();
    let run = install(&place, &["--host", "claude"]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(run.stderr.contains("passwd"), "{}", run.stderr);
    assert!(!place.path().join("try").exists());
    // A destination that is a file.
    let place = two_skills();
    place.write("try/.claude/skills", "a file");
    let run = install(&place, &["--host", "claude"]);
    assert!(run.code == 3 && run.stderr.contains("is not a directory"), "{}", run.stderr);
    assert_eq!(fs::read_to_string(place.path().join("try/.claude/skills")).unwrap(), "a file");
}

#[test]
fn a_skill_that_is_a_link_to_somewhere_else_is_not_followed() {
    let place = two_skills();
    let out: PathBuf = place.write("outside/SKILL.md", "---\nname: out\ndescription: O.\n---\n");
    symlink(out.parent().unwrap(), place.path().join("src/skills/out")).unwrap();
    let run = install(&place, &["--host", "claude"]);
    assert!(!place.path().join("try/.claude/skills/out").exists());
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(run.stderr.contains("is a link"), "{}", run.stderr);
}

#[test]
fn a_directory_without_a_document_is_no_skill_and_is_named() {
    let place = two_skills();
    place.write("src/skills/shared/notes.txt", "for both");
    let run = install(&place, &["--host", "claude"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.text().contains("not skills, for want of a SKILL.md: src/skills/shared"));
}

#[test]
fn a_store_that_others_may_write_to_or_a_broken_record_stops_everything() {
    let place = two_skills();
    install(&place, &["--host", "claude"]);
    let store = place.path().join("try/.local/share/holdall");
    let receipt = fs::read_dir(store.join("records/receipts")).unwrap().next().unwrap().unwrap();
    let text = fs::read(receipt.path()).unwrap();
    fs::write(receipt.path(), "{").unwrap();
    for arguments in [
        &["install", "./src", "--host", "claude", "--home", "try"][..],
        &["uninstall", "skill:greet", "--home", "try"],
        &["list", "--home", "try"],
    ] {
        let run = place.run(arguments);
        assert_eq!(run.code, 1);
        assert!(run.stderr.contains("HD0202"), "{}", run.stderr);
        assert!(run.stderr.contains(receipt.file_name().to_str().unwrap()), "{}", run.stderr);
    }
    assert_eq!(fs::read(receipt.path()).unwrap(), b"{");
    fs::write(receipt.path(), text).unwrap();
    fs::set_permissions(&store, fs::Permissions::from_mode(0o777)).unwrap();
    let run = place.run(["list", "--home", "try"]);
    assert!(run.code == 1 && run.stderr.contains("HD0201"), "{}", run.stderr);
    assert!(Path::new(&store).is_dir());
}

#[test]
fn sixteen_at_once_end_like_one() {
    let place = two_skills();
    let children: Vec<_> = (0..16)
        .map(|at| {
            let hosts = if at % 2 == 0 { "claude,codex" } else { "codex,claude" };
            let mut command =
                place.command(["install", "./src", "--home", "try", "--host", hosts, "--json"]);
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(receipts(&place), 4);
    let home = place.path().join("try");
    let left: Vec<_> = Snapshot::of(&home)
        .paths()
        .filter(|path| {
            path.to_string_lossy().contains("holdall-change") || path.ends_with("journal.json")
        })
        .map(Path::to_owned)
        .collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(
        actions(&install(&place, &["--host", "claude", "--json"]), "results"),
        same("unchanged")
    );
}
