//! A kill before every step of a change: afterwards everything is as before or as after, and
//! nothing is left lying about. Runs with `cargo test -p holdall --features fault`.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::support::{Place, Run};

fn skill(place: &Place, name: &str, body: &str) {
    let text = format!("---\nname: {name}\ndescription: Does {name}.\n---\n{body}\n");
    place.write(&format!("coder/skills/{name}/SKILL.md"), text);
}

fn app(place: &Place, at: &str, id: &str, version: &str) {
    let text = format!(
        "---\nschema: app/v1\nid: {id}\nversion: {version}\nagents:\n  - id: worker\n    path: \
         .agentproto/agents/worker/AGENT.md\nworkflows: []\n---\n"
    );
    place.write(&format!("{at}/.agentproto/APP.md"), text);
    place.write(&format!("{at}/.agentproto/agents/worker/AGENT.md"), "# Worker\n");
}

fn pack(place: &Place, version: &str) {
    let _ = fs::remove_dir_all(place.path().join("coder"));
    place.write(
        "coder/PACK.md",
        format!(
            "---\nschema: pack/v1\nname: coder\ntitle: C\ndescription: C.\nversion: \
             \"{version}\"\nplugin:\n  inline: true\napps:\n  - id: panel\n    path: \
             ./apps/panel\n---\n"
        ),
    );
    skill(place, "greet", version);
    skill(place, "edited", version);
    app(place, "coder/apps/panel", "panel", version);
}

/// What there is below a directory, but the moment of each record.
type State = BTreeMap<PathBuf, (u32, String)>;

fn state(place: &Place) -> State {
    let root = place.path().join("try");
    let mut found = State::new();
    let mut todo = vec![root.clone()];
    while let Some(directory) = todo.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten() {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            let text = if metadata.is_dir() {
                todo.push(path.clone());
                String::new()
            } else {
                without_times(&fs::read_to_string(&path).unwrap())
            };
            let below = path.strip_prefix(&root).unwrap().to_owned();
            // The store and its lock are made by whoever looks for an unfinished change.
            let is_store = Path::new(".local/share/holdall/lock").starts_with(&below);
            if !is_store {
                found.insert(below, (metadata.permissions().mode(), text));
            }
        }
    }
    found
}

fn without_times(text: &str) -> String {
    let mut rest = text;
    let mut kept = String::new();
    while let Some(at) = rest.find("At\":\"") {
        let from = at + "At\":\"".len();
        let len = rest[from..].find('"').unwrap_or(0);
        kept.push_str(&rest[..from]);
        rest = &rest[from + len..];
    }
    kept.push_str(rest);
    kept
}

/// Kills `arguments` before its first step, its second and so on, each time from the same start.
fn survives_every_kill(prepare: &dyn Fn(&Place), arguments: &[&str]) {
    let fresh = || {
        let place = Place::new();
        prepare(&place);
        place
    };
    let place = fresh();
    let old = masked(&place);
    let done = place.run(arguments.iter().chain(&["--home", "try"]));
    assert_eq!(done.code, 0, "{}", done.stderr);
    let new = masked(&place);
    assert_ne!(old, new, "the command changes something");
    for at in 1.. {
        let place = fresh();
        let all = arguments.iter().chain(&["--home", "try"]);
        let mut command = place.command(all);
        let output = command.env("HOLDALL_FAULT", at.to_string()).output().unwrap();
        if output.status.code().is_some() {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            assert!(at > 10, "only {at} steps");
            assert_eq!(masked(&place), new);
            return;
        }
        // Any command that changes things ends it first.
        let recovered = place.run(["uninstall", "skill:nobody", "--home", "try"]);
        assert_eq!(recovered.code, 0, "step {at}: {}", recovered.stderr);
        let found = masked(&place);
        assert!(found == old || found == new, "step {at}: {:#?}", difference(&found, &old, &new));
        // And the same command then does what it was to do.
        let again: Run = place.run(arguments.iter().chain(&["--home", "try"]));
        assert_eq!(again.code, 0, "step {at}: {}", again.stderr);
        assert_eq!(masked(&place), new, "step {at}");
    }
}

/// The state with the place's own path taken out of the records.
fn masked(place: &Place) -> State {
    let here = fs::canonicalize(place.path()).unwrap();
    let here = here.parent().unwrap().display().to_string();
    let key = here.replace('/', "%2F");
    let mask = |text: &str| text.replace(&here, "HERE").replace(&key, "HERE");
    let upper: String = here
        .bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        })
        .collect();
    state(place)
        .into_iter()
        .map(|(path, (mode, text))| {
            let path = mask(&path.display().to_string()).replace(&upper, "HERE");
            (PathBuf::from(path), (mode, mask(&text).replace(&upper, "HERE")))
        })
        .collect()
}

fn difference(found: &State, old: &State, new: &State) -> Vec<String> {
    let paths = found.keys().chain(old.keys()).chain(new.keys());
    let mut lines: Vec<String> = paths
        .filter(|path| found.get(*path) != old.get(*path) || found.get(*path) != new.get(*path))
        .map(|path| {
            let of = |state: &State| state.get(path).map_or("-".to_owned(), |it| it.1.clone());
            format!("{}: {} | {} | {}", path.display(), of(found), of(old), of(new))
        })
        .collect();
    lines.sort();
    lines.dedup();
    lines
}

const INSTALL: &[&str] = &["install", "./coder", "--host", "claude,codex"];

fn installed(place: &Place) {
    pack(place, "1.0.0");
    skill(place, "dropped", "1.0.0");
    let done = place.run(INSTALL.iter().chain(&["--home", "try"]));
    assert_eq!(done.code, 0, "{}", done.stderr);
    place.write("try/.local/share/holdall/app-data/panel/state", "mine");
}

#[test]
fn an_install_is_all_or_nothing() {
    let prepare = |place: &Place| {
        pack(place, "1.0.0");
        place.write("try/.claude/settings.json", "{}");
    };
    survives_every_kill(&prepare, INSTALL);
}

#[test]
fn an_upgrade_is_all_or_nothing() {
    let prepare = |place: &Place| {
        installed(place);
        place.write("try/.claude/skills/edited/SKILL.md", "mine");
        pack(place, "2.0.0");
        skill(place, "added", "2.0.0");
    };
    survives_every_kill(&prepare, INSTALL);
}

#[test]
fn an_uninstall_is_all_or_nothing() {
    survives_every_kill(&installed, &["uninstall", "coder"]);
}

#[test]
fn an_app_update_is_all_or_nothing() {
    let prepare = |place: &Place| {
        app(place, "tool", "tool", "1.0.0");
        place.run(["pack", "./tool", "-o", "tool.agentapp"]);
        let done = place.run(["install", "./tool.agentapp", "--yes", "--home", "try"]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        place.write("try/.local/share/holdall/app-data/tool/state", "mine");
        app(place, "tool", "tool", "2.0.0");
        fs::remove_file(place.path().join("tool.agentapp")).unwrap();
        place.run(["pack", "./tool", "-o", "tool.agentapp"]);
    };
    survives_every_kill(&prepare, &["update", "tool", "--yes"]);
}
