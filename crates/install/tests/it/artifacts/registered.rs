//! Claude Code and Codex, by a stand-in for their programs that can fail in every way, and by the
//! real ones.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use holdall_hosts::Scope;
use holdall_hosts::receipt::InstallReceipt;
use holdall_install::ArtifactHost::{self, Claude, Codex};
use holdall_install::{DataPolicy, InstallState, UninstallState};

use super::{World, edit, outside, set_version};

const SKILL: &str = "skills/read-report/SKILL.md";
const NEW: &str = "---\nname: read-report\ndescription: Reads.\n---\nNew.\n";

fn receipt_path(world: &World, host: ArtifactHost) -> PathBuf {
    let name = "bench-board.bench-board-marketplace.user.json";
    world.path(&format!(".{}/agent-bundle/receipts/{name}", host.id()))
}

fn receipt(world: &World, host: ArtifactHost) -> InstallReceipt {
    InstallReceipt::parse(&fs::read(receipt_path(world, host)).unwrap()).unwrap()
}

/// What the stand-in keeps.
fn fake(world: &World, host: ArtifactHost) -> serde_json::Value {
    let file = world.path(&format!(".{}/fake.json", host.id()));
    serde_json::from_slice(&fs::read(file).unwrap()).unwrap()
}

#[test]
fn the_commands_in_their_order() {
    let world = World::new().with_fake();
    let root = world.root("bench-board", "root");
    let id = "bench-board@bench-board-marketplace";
    let market = "bench-board-marketplace";
    let first = world.install(Claude, &root).unwrap();
    let copy = |hash: &str| format!("~/store/roots/bench-board/{hash}");
    assert_eq!(
        world.told(),
        [
            format!("claude plugin marketplace add {}", copy(&first.content_hash)),
            format!("claude plugin install {id} --scope user"),
        ]
    );
    world.install(Codex, &root).unwrap();
    assert_eq!(
        world.told(),
        [
            format!("codex plugin marketplace add {}", copy(&first.content_hash)),
            format!("codex plugin add {id}"),
        ]
    );
    edit(&root, SKILL, NEW);
    let second = world.install(Claude, &root).unwrap();
    assert_eq!(second.state, InstallState::Replaced);
    assert_eq!(second.previous_content_hash, Some(first.content_hash.clone()));
    assert_eq!(
        world.told(),
        [
            format!("claude plugin uninstall {id} --scope user --keep-data"),
            format!("claude plugin marketplace add {}", copy(&second.content_hash)),
            format!("claude plugin install {id} --scope user"),
        ]
    );
    assert!(world.path("store/roots/bench-board").join(&first.content_hash).is_dir(), "Codex's");
    world.install(Codex, &root).unwrap();
    assert_eq!(
        world.told(),
        [
            format!("codex plugin remove {id}"),
            format!("codex plugin marketplace remove {market}"),
            format!("codex plugin marketplace add {}", copy(&second.content_hash)),
            format!("codex plugin add {id}"),
        ]
    );
    assert!(!world.path("store/roots/bench-board").join(&first.content_hash).exists());
    world.uninstall(Claude, Scope::User, DataPolicy::Keep, false).unwrap();
    assert_eq!(
        world.told(),
        [
            format!("claude plugin uninstall {id} --scope user --keep-data"),
            format!("claude plugin marketplace remove {market}"),
        ]
    );
    world.uninstall(Codex, Scope::User, DataPolicy::Purge, false).unwrap();
    assert_eq!(
        world.told(),
        [format!("codex plugin remove {id}"), format!("codex plugin marketplace remove {market}"),]
    );
    assert!(!world.path("store/roots/bench-board").exists());
    assert!(!world.path(".claude/agent-bundle").exists());
    let again = world.uninstall(Claude, Scope::User, DataPolicy::Keep, false).unwrap();
    assert_eq!(again.state, UninstallState::NotInstalled);
}

#[test]
fn the_copy_is_what_is_listed_and_outlives_its_source() {
    let world = World::new().with_fake();
    for host in [Claude, Codex] {
        let root = world.root("bench-board", "root");
        fs::write(root.join("stray.md"), "not listed").unwrap();
        let summary = world.install(host, &root).unwrap();
        fs::remove_dir_all(&root).unwrap();
        let copy = summary.destination;
        assert!(copy.join(".env").is_file() && copy.join(SKILL).is_file());
        assert!(!copy.join("stray.md").exists());
        assert_eq!(super::mode(&copy.join(".env")), 0o600);
        let marketplaces = fake(&world, host)["marketplaces"].clone();
        assert_eq!(marketplaces["bench-board-marketplace"], copy.display().to_string());
        assert_eq!(receipt(&world, host).content_hash, summary.content_hash);
    }
}

#[test]
fn the_same_again_changes_nothing_and_another_version_asks() {
    let world = World::new().with_fake();
    for host in [Claude, Codex] {
        let root = world.root("bench-board", &format!("root-{}", host.id()));
        world.install(host, &root).unwrap();
        let prepared = world.plan(host, &root, Scope::User, true).unwrap();
        assert_eq!(prepared.summary.state, InstallState::AlreadyInstalled);
        assert!(prepared.plan.is_empty());
        set_version(&root, "0.4.0");
        let refusal = world.install(host, &root).unwrap_err();
        assert!(refusal.starts_with("AB7005 version 0.3.0"), "{refusal}");
        let summary = world.install_as(host, &root, Scope::User, true).unwrap();
        assert_eq!(summary.state, InstallState::Replaced);
        assert_eq!(receipt(&world, host).version, "0.4.0");
    }
}

#[test]
fn whatever_the_program_does_nothing_is_left_half_done() {
    let verbs = [
        (Claude, "plugin list"),
        (Claude, "plugin marketplace list"),
        (Claude, "plugin marketplace add"),
        (Claude, "plugin install"),
        (Codex, "plugin list"),
        (Codex, "plugin marketplace add"),
        (Codex, "plugin add"),
    ];
    for (host, verb) in verbs {
        for fault in ["fail", "lie", "hang", "garbage", "flood"] {
            if fault == "garbage" && !verb.ends_with("list") {
                continue;
            }
            let mut world = World::new().with_fake();
            let root = world.root("bench-board", "root");
            let before = outside(&world);
            world.limit = Duration::from_secs(if fault == "hang" { 1 } else { 60 });
            world.set("FAKE", &format!("{fault} {verb}"));
            let refusal = world.install(host, &root).unwrap_err();
            assert!(refusal.starts_with("AB7004"), "{fault} {verb}: {refusal}");
            let mut after = outside(&world);
            // What the program itself keeps in its home is its own.
            let own = |name: &str| name.starts_with(&format!(".{}", host.id()));
            after.retain(|(name, _, _)| !own(name) && name != "fake.log");
            assert_eq!(after, before, "{fault} {verb}");
            assert!(!receipt_path(&world, host).exists(), "{fault} {verb}");
            assert!(!world.path("store/roots/bench-board").exists(), "{fault} {verb}");
            assert!(!world.path("store/journal.json").exists(), "{fault} {verb}");
            if world.path(&format!(".{}/fake.json", host.id())).exists() {
                let state = fake(&world, host);
                assert_eq!(state["plugins"], serde_json::json!([]), "{fault} {verb}");
                assert_eq!(state["marketplaces"], serde_json::json!({}), "{fault} {verb}");
            }
        }
    }
}

#[test]
fn a_failed_replacement_puts_the_old_one_back() {
    for (host, verb) in [
        (Claude, "plugin marketplace add"),
        (Claude, "plugin uninstall"),
        (Codex, "plugin marketplace remove"),
    ] {
        let mut world = World::new().with_fake();
        let root = world.root("bench-board", "root");
        let old = world.install(host, &root).unwrap();
        edit(&root, SKILL, NEW);
        world.set("FAKE", &format!("fail {verb}"));
        let refusal = world.install(host, &root).unwrap_err();
        assert!(refusal.starts_with("AB7004"), "{verb}: {refusal}");
        assert_eq!(receipt(&world, host).content_hash, old.content_hash);
        let state = fake(&world, host);
        assert_eq!(state["plugins"][0]["version"], "0.3.0", "{verb}");
        let known = &state["marketplaces"]["bench-board-marketplace"];
        assert_eq!(*known, old.destination.display().to_string(), "{verb}");
    }
}

#[test]
fn load_errors_are_said_and_the_receipt_stays() {
    let mut world = World::new().with_fake();
    let root = world.root("bench-board", "root");
    world.set("FAKE_ERRORS", "hooks are broken");
    let said = world.install(Claude, &root).unwrap_err();
    assert!(said.starts_with("AB7006") && said.contains("hooks are broken"), "{said}");
    assert!(receipt_path(&world, Claude).exists());
    let again = world.install(Claude, &root).unwrap_err();
    assert!(again.starts_with("AB7006"), "{again}");
}

#[test]
fn what_is_not_ours_is_left_alone() {
    let world = World::new().with_fake();
    let root = world.root("bench-board", "root");
    // The user's own marketplace of that name, made by hand.
    let own = world.root("bench-board", "own");
    let run = |words: &[&str]| {
        let mut command = std::process::Command::new(world.path("bin/claude"));
        command.args(words).env_clear().envs(&world.environment);
        assert!(command.status().unwrap().success());
    };
    run(&["plugin", "marketplace", "add", own.to_str().unwrap()]);
    let refusal = world.install_as(Claude, &root, Scope::User, true).unwrap_err();
    assert!(refusal.starts_with("AB7005 Claude Code knows the marketplace"), "{refusal}");
    run(&["plugin", "install", "bench-board@bench-board-marketplace", "--scope", "user"]);
    let refusal = world.install_as(Claude, &root, Scope::User, true).unwrap_err();
    assert!(refusal.starts_with("AB7005") && refusal.contains("without a receipt"), "{refusal}");
    let refusal = world.uninstall(Claude, Scope::User, DataPolicy::Keep, false).unwrap_err();
    assert!(refusal.starts_with("AB7009"), "{refusal}");
    let refusal = world.uninstall(Claude, Scope::User, DataPolicy::Purge, true).unwrap_err();
    assert!(refusal.starts_with("AB7008"), "{refusal}");
    let summary = world.uninstall(Claude, Scope::User, DataPolicy::Keep, true).unwrap();
    assert_eq!(summary.receipt.status, "forced-missing");
    let state = fake(&world, Claude);
    assert_eq!(state["plugins"], serde_json::json!([]));
    assert!(state["marketplaces"]["bench-board-marketplace"].is_string(), "never ours to remove");
}

#[test]
fn receipts_that_say_nothing_are_absent_and_those_that_are_no_files_are_errors() {
    let world = World::new().with_fake();
    let root = world.root("bench-board", "root");
    world.install(Claude, &root).unwrap();
    let path = receipt_path(&world, Claude);
    let good = fs::read_to_string(&path).unwrap();
    edit(&root, SKILL, NEW);
    let spoilt = [
        String::new(),
        "null".to_owned(),
        good.replace("receipt/2", "receipt/3"),
        good.replace("claude-plugin", "unknown-plugin"),
        good.replace("\"plugin\":\"bench-board\"", "\"plugin\":\"other\""),
    ];
    for text in spoilt {
        fs::write(&path, &text).unwrap();
        for replace in [false, true] {
            let refusal = world.install_as(Claude, &root, Scope::User, replace).unwrap_err();
            assert!(refusal.contains("without a receipt"), "{text}: {refusal}");
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", &path).unwrap();
    let refusal = world.install(Claude, &root).unwrap_err();
    assert!(refusal.starts_with("AB7004 the receipt is not a regular file"), "{refusal}");
    fs::remove_file(&path).unwrap();
    fs::write(&path, &good).unwrap();
    assert_eq!(world.install(Claude, &root).unwrap().state, InstallState::Replaced);
}

#[test]
fn what_is_installed_by_the_receipts_alone() {
    let world = World::new().with_fake();
    let root = world.root("bench-board", "root");
    let rows = || {
        holdall_install::installed_artifacts(&world.env, &world.path("project"))
            .into_iter()
            .map(|row| (row.host, row.plugin, row.scope))
            .collect::<Vec<_>>()
    };
    assert_eq!(rows(), []);
    let name = || "bench-board".to_owned();
    for host in ArtifactHost::ALL {
        world.install(host, &root).unwrap();
    }
    world.install_as(Claude, &root, Scope::Local, false).unwrap();
    world.install_as(ArtifactHost::Amp, &root, Scope::Project, false).unwrap();
    let expected = [
        ("amp", name(), "user"),
        ("amp", name(), "project"),
        ("claude", name(), "local"),
        ("claude", name(), "user"),
        ("codex", name(), "user"),
        ("cursor", name(), "user"),
    ];
    assert_eq!(rows(), expected);
    for host in ArtifactHost::ALL {
        world.uninstall(host, Scope::User, DataPolicy::Keep, false).unwrap();
    }
    assert_eq!(rows(), [("amp", name(), "project"), ("claude", name(), "local")]);
}

#[test]
fn a_damaged_copy_in_the_store_is_put_right() {
    let world = World::new().with_fake();
    let root = world.root("bench-board", "root");
    let summary = world.install(Claude, &root).unwrap();
    fs::write(summary.destination.join(SKILL), "mine").unwrap();
    let again = world.install(Claude, &root).unwrap();
    assert_eq!(again.state, InstallState::Replaced);
    let installed = fs::read(summary.destination.join(SKILL)).unwrap();
    assert_eq!(installed, fs::read(root.join(SKILL)).unwrap());
    fs::remove_dir_all(&summary.destination).unwrap();
    let refusal = world.install(Claude, &root).unwrap_err();
    assert!(refusal.starts_with("AB7004"), "{refusal}");
    world.install_as(Claude, &root, Scope::User, true).unwrap();
    assert!(summary.destination.join(SKILL).is_file());
}

#[test]
fn a_changed_copy_is_only_removed_when_forced() {
    let world = World::new().with_fake();
    let root = world.root("bench-board", "root");
    let summary = world.install(Claude, &root).unwrap();
    fs::write(summary.destination.join(SKILL), "mine").unwrap();
    let refusal = world.uninstall(Claude, Scope::User, DataPolicy::Keep, false).unwrap_err();
    assert!(refusal.starts_with("AB7007"), "{refusal}");
    assert!(summary.destination.exists());
    let report = world.uninstall(Claude, Scope::User, DataPolicy::Keep, true).unwrap();
    assert_eq!(report.receipt.status, "forced-mismatch");
    assert!(!summary.destination.exists());
}

#[test]
fn a_marketplace_stays_while_another_scope_needs_it() {
    let world = World::new().with_fake();
    let root = world.root("bench-board", "root");
    world.install(Claude, &root).unwrap();
    world.install_as(Claude, &root, Scope::Project, false).unwrap();
    let summary = world.uninstall(Claude, Scope::User, DataPolicy::Keep, false).unwrap();
    let row = summary.registrations.iter().find(|row| row.kind == "claude-marketplace").unwrap();
    assert_eq!(row.action, "retained");
    assert!(fake(&world, Claude)["marketplaces"]["bench-board-marketplace"].is_string());
    // The claim has moved, so that the last one to go removes it.
    world.uninstall(Claude, Scope::Project, DataPolicy::Keep, false).unwrap();
    assert_eq!(fake(&world, Claude)["marketplaces"], serde_json::json!({}));
    assert!(!world.path("store/roots/bench-board").exists());
}

#[test]
fn a_plugin_that_was_switched_off_stays_off() {
    let world = World::new().with_fake();
    let root = world.root("bench-board", "root");
    world.install(Claude, &root).unwrap();
    let mut state = fake(&world, Claude);
    state["plugins"][0]["enabled"] = false.into();
    fs::write(world.path(".claude/fake.json"), state.to_string()).unwrap();
    edit(&root, SKILL, NEW);
    world.install(Claude, &root).unwrap();
    assert_eq!(fake(&world, Claude)["plugins"][0]["enabled"], false);
}

#[test]
fn hosts_and_scopes_that_cannot() {
    let mut world = World::new().with_fake();
    let root = world.root("bench-board", "root");
    for scope in [Scope::Project, Scope::Local] {
        let refusal = world.install_as(Codex, &root, scope, false).unwrap_err();
        assert!(refusal.starts_with("AB7003"), "{refusal}");
    }
    world.set("PATH", "/nowhere");
    for host in [Claude, Codex] {
        let refusal = world.install(host, &root).unwrap_err();
        assert!(refusal.starts_with("AB7002"), "{refusal}");
    }
}

/// A world with the real program, which the variable names.
fn real(host: ArtifactHost) -> World {
    let variable = format!("HOLDALL_{}", host.id().to_uppercase());
    let program = std::env::var_os(&variable).unwrap_or_else(|| {
        panic!("{variable} must name the program `{}`; npm installs it", host.id())
    });
    let mut world = World::new();
    fs::create_dir(world.path("bin")).unwrap();
    let program = Path::new(&program).canonicalize().unwrap();
    std::os::unix::fs::symlink(program, world.path("bin").join(host.id())).unwrap();
    for name in ["DISABLE_AUTOUPDATER", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"] {
        world.set(name, "1");
    }
    fs::create_dir(world.path(&format!(".{}", host.id()))).unwrap();
    world
}

/// What the program prints.
fn prints(world: &World, host: ArtifactHost, words: &[&str]) -> String {
    let output = std::process::Command::new(world.path("bin").join(host.id()))
        .args(words)
        .env_clear()
        .envs(&world.environment)
        .current_dir(world.dir.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn the_whole_way(host: ArtifactHost) {
    let world = real(host);
    let root = world.root("bench-board", "root");
    assert_eq!(world.install(host, &root).unwrap().state, InstallState::Installed);
    let id = "bench-board@bench-board-marketplace";
    let listed = prints(&world, host, &["plugin", "list", "--json"]);
    assert!(listed.contains(id) && !listed.contains("\"errors\""), "{listed}");
    let servers = prints(&world, host, &["mcp", "list"]);
    assert!(servers.contains("bench"), "{servers}");
    assert_eq!(world.install(host, &root).unwrap().state, InstallState::AlreadyInstalled);
    edit(&root, SKILL, NEW);
    let replaced = world.install(host, &root).unwrap();
    assert_eq!(replaced.state, InstallState::Replaced);
    fs::remove_dir_all(&root).unwrap();
    let listed = prints(&world, host, &["plugin", "list", "--json"]);
    assert!(listed.contains(id), "the source is gone, the copy is not: {listed}");
    let root = world.root("bench-board", "root");
    set_version(&root, "0.4.0");
    assert!(world.install(host, &root).unwrap_err().starts_with("AB7005"));
    world.install_as(host, &root, Scope::User, true).unwrap();
    let summary = world.uninstall(host, Scope::User, DataPolicy::Keep, false).unwrap();
    assert_eq!(summary.state, UninstallState::Uninstalled);
    let listed = prints(&world, host, &["plugin", "list", "--json"]);
    assert!(!listed.contains(id), "{listed}");
    let markets = prints(&world, host, &["plugin", "marketplace", "list", "--json"]);
    assert!(!markets.contains("bench-board"), "{markets}");
    assert!(!world.path("store/roots/bench-board").exists());
    let again = world.uninstall(host, Scope::User, DataPolicy::Keep, false).unwrap();
    assert_eq!(again.state, UninstallState::NotInstalled);
}

#[test]
#[ignore = "needs claude"]
fn the_real_claude() {
    the_whole_way(Claude);
}

#[test]
#[ignore = "needs codex"]
fn the_real_codex() {
    the_whole_way(Codex);
}
