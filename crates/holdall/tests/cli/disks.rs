//! Installing where the disk is full, cannot be written to, or is another one. Each runs in a
//! mount namespace of its own, so that nobody has to be root.

use std::fs;
use std::process::Command;

use crate::support::Place;

fn two_skills(place: &Place) {
    for name in ["greet", "large"] {
        let body = "x".repeat(if name == "large" { 300_000 } else { 10 });
        let text = format!("---\nname: {name}\ndescription: Does {name}.\n---\n");
        place.write(&format!("src/skills/{name}/SKILL.md"), text);
        place.write(&format!("src/skills/{name}/references/body.md"), body);
    }
}

/// Runs shell commands with `$HOLDALL` in namespaces of their own; the last command's output.
fn inside(place: &Place, script: &str) -> (i32, String) {
    let output = Command::new("unshare")
        .args(["-Urm", "sh", "-euc", script])
        .env("HOLDALL", env!("CARGO_BIN_EXE_holdall"))
        .env("HOME", place.path().join("try"))
        .env_remove("HOLDALL_HOME")
        .current_dir(place.path())
        .output()
        .expect("unshare is needed: apt-get install util-linux");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.code().unwrap(), text + &String::from_utf8_lossy(&output.stderr))
}

#[test]
#[ignore = "needs unshare"]
fn a_full_disk_leaves_nothing_half_done() {
    let place = Place::new();
    two_skills(&place);
    // The second directory is on the full disk, so the first one's skills are taken back.
    let script = "mkdir -p try/.agents/skills; mount -t tmpfs -o size=100k none try/.agents/skills
        set +e; $HOLDALL install ./src --host claude,codex; code=$?; set -e
        find try -name '*holdall-change*' -o -name SKILL.md -o -name journal.json -o -path '*records/*'
        exit $((code + 10))";
    let (code, text) = inside(&place, script);
    assert_eq!(code, 11, "{text}");
    assert!(text.contains("HD0306") && text.contains("no space left"), "{text}");
    let left: Vec<_> = text.lines().filter(|line| line.starts_with("try/")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
#[ignore = "needs unshare"]
fn a_full_store_leaves_nothing_half_done() {
    let place = Place::new();
    two_skills(&place);
    let script = "mkdir -p try/.local/share/holdall; mount -t tmpfs -o size=8k,mode=700 none \
                  try/.local/share/holdall
        set +e; $HOLDALL install ./src --host claude,codex; code=$?; set -e
        find try -name '*holdall-change*' -o -name SKILL.md; exit $((code + 10))";
    let (code, text) = inside(&place, script);
    assert_eq!(code, 11, "{text}");
    let left: Vec<_> = text.lines().filter(|line| line.starts_with("try/")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
#[ignore = "needs unshare"]
fn a_destination_that_cannot_be_written_to_is_named_and_the_others_stay_as_they_were() {
    let place = Place::new();
    two_skills(&place);
    let script = "mkdir -p try/.agents/skills; mount -t tmpfs -o ro none try/.agents/skills
        set +e; $HOLDALL install ./src --host claude,codex; code=$?; set -e
        find try -name '*holdall-change*' -o -name SKILL.md -o -name journal.json; exit $((code + 10))";
    let (code, text) = inside(&place, script);
    assert_eq!(code, 11, "{text}");
    assert!(text.contains(".agents/skills") && text.contains("read-only"), "{text}");
    let left: Vec<_> = text.lines().filter(|line| line.starts_with("try/")).collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(!place.path().join("try/.claude").exists());
}

#[test]
#[ignore = "needs unshare"]
fn a_destination_on_another_file_system_is_staged_there() {
    let place = Place::new();
    two_skills(&place);
    let script = "mkdir -p try/.claude/skills; mount -t tmpfs none try/.claude/skills
        $HOLDALL install ./src --host claude,codex >/dev/null 2>&1
        $HOLDALL install ./src --host claude,codex --json
        ls -A try/.claude/skills; $HOLDALL uninstall skill:greet skill:large >/dev/null
        ls -A try/.claude/skills | wc -l";
    let (code, text) = inside(&place, script);
    assert_eq!(code, 0, "{text}");
    assert_eq!(text.matches("\"action\":\"unchanged\"").count(), 4, "{text}");
    assert!(text.ends_with("greet\nlarge\n0\n"), "{text}");
    assert!(fs::read_dir(place.path().join("src/skills")).unwrap().count() == 2);
}
