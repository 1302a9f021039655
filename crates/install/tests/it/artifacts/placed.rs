//! Cursor and Amp: the replace policy, whose files are whose, and refusals before writing.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use holdall_hosts::Scope;
use holdall_hosts::receipt::InstallReceipt;
use holdall_install::ArtifactHost::{Amp, Cursor};
use holdall_install::{Bundle, DataPolicy, InstallState, UninstallState};

use super::{World, edit, mode, outside, set_mode, set_version, snapshot};

const CURSOR: &str = ".cursor/plugins/local/bench-board";
const AMP: &str = ".config/amp/plugins/bench-board";
const RECEIPT: &str = ".agent-bundle-install.json";
const SKILL: &str = "skills/read-report/SKILL.md";

fn receipt(directory: &Path) -> InstallReceipt {
    InstallReceipt::parse(&fs::read(directory.join(RECEIPT)).unwrap()).unwrap()
}

/// The content hash of the format, by another program that shares no code with ours.
fn hash_by_node(directory: &Path, files: &[&str]) -> String {
    let script = r#"
        const { createHash } = require("node:crypto");
        const { readFileSync, statSync } = require("node:fs");
        const hash = createHash("sha256");
        for (const path of process.argv.slice(2)) {
            const full = process.argv[1] + "/" + path;
            hash.update(path).update("\0").update(statSync(full).mode & 0o111 ? "x" : "-");
            hash.update("\0").update(readFileSync(full)).update("\0");
        }
        console.log(hash.digest("hex"));
    "#;
    let output = Command::new("node").arg("-e").arg(script).arg(directory).args(files).output();
    String::from_utf8(output.unwrap().stdout).unwrap().trim().to_owned()
}

#[test]
fn cursor_gets_exactly_the_listed_files_and_the_env() {
    let world = World::new();
    let root = world.root("bench-board", "root");
    fs::write(root.join("stray.txt"), "not listed").unwrap();
    let summary = world.install(Cursor, &root).unwrap();
    assert_eq!(summary.state, InstallState::Installed);
    let dest = world.path(CURSOR);
    assert_eq!(summary.destination, dest);
    let manifest: serde_json::Value =
        serde_json::from_slice(&fs::read(root.join("agent-bundle.manifest.json")).unwrap())
            .unwrap();
    let mut expected: BTreeMap<String, u32> = manifest["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            let mode = row.get("mode").map_or(0o644, |mode| mode.as_u64().unwrap() as u32);
            (row["path"].as_str().unwrap().to_owned(), mode)
        })
        .collect();
    expected.insert("agent-bundle.manifest.json".to_owned(), 0o644);
    expected.insert(".env".to_owned(), 0o600);
    expected.insert(RECEIPT.to_owned(), 0o644);
    let found: BTreeMap<String, u32> = snapshot(&dest)
        .into_iter()
        .filter(|(name, _, _)| !name.ends_with('/'))
        .map(|(name, mode, _)| (name, mode))
        .collect();
    assert_eq!(found, expected);
    let receipt = receipt(&dest);
    let files: Vec<_> = receipt.files.iter().map(|path| path.as_str()).collect();
    assert_eq!(files.len(), expected.len() - 1, "the receipt does not list itself");
    assert_eq!(receipt.content_hash, hash_by_node(&dest, &files));
    assert_eq!(receipt.content_hash, summary.content_hash);
    let made: Vec<_> = receipt.host_directories.iter().map(|path| path.as_str()).collect();
    assert_eq!(made, ["plugins", "plugins/local"]);
}

#[test]
fn the_same_again_writes_nothing() {
    let world = World::new();
    let root = world.root("bench-board", "root");
    for host in [Cursor, Amp] {
        world.install(host, &root).unwrap();
        let prepared = world.plan(host, &root, Scope::User, true).unwrap();
        assert!(prepared.plan.is_empty(), "{}", prepared.plan);
        assert_eq!(prepared.summary.state, InstallState::AlreadyInstalled);
    }
    let onto_itself = world.plan(Cursor, &world.path(CURSOR), Scope::User, false).unwrap();
    assert!(onto_itself.plan.is_empty());
    assert_eq!(onto_itself.summary.state, InstallState::AlreadyInstalled);
}

#[test]
fn the_replace_policy() {
    let world = World::new();
    for (host, dest, skill) in [
        (Cursor, CURSOR, SKILL),
        (Amp, AMP, ".amp/plugins/bench-board/skills/read-report/SKILL.md"),
    ] {
        let root = world.root("bench-board", &format!("root-{}", host.id()));
        let dest = world.path(dest);
        let before = world.install(host, &root).unwrap().content_hash;
        edit(&root, skill, "---\nname: read-report\ndescription: Reads.\n---\nNew.\n");
        let summary = world.install(host, &root).unwrap();
        assert_eq!(summary.state, InstallState::Replaced);
        assert_eq!(summary.previous_content_hash.as_deref(), Some(before.as_str()));
        assert_eq!(summary.backup, None, "nobody had changed it");
        assert_eq!(receipt(&dest).content_hash, summary.content_hash);
        set_version(&root, "0.4.0");
        let refusal = world.install(host, &root).unwrap_err();
        assert!(refusal.starts_with("AB7005 version 0.3.0"), "{refusal}");
        let summary = world.install_as(host, &root, Scope::User, true).unwrap();
        assert_eq!(summary.state, InstallState::Replaced);
        assert_eq!(receipt(&dest).version, "0.4.0");
        // Another format reads as absent, and what has no receipt is nobody's to replace.
        let text = fs::read_to_string(dest.join(RECEIPT)).unwrap();
        for broken in [text.replace("receipt/2", "receipt/1"), "{".to_owned(), String::new()] {
            fs::write(dest.join(RECEIPT), broken).unwrap();
            for replace in [false, true] {
                let refusal = world.install_as(host, &root, Scope::User, replace).unwrap_err();
                assert!(refusal.starts_with("AB7005"), "{refusal}");
            }
        }
    }
}

#[test]
fn what_was_changed_by_hand_is_kept_before_it_is_replaced() {
    let world = World::new();
    let root = world.root("bench-board", "root");
    world.install(Cursor, &root).unwrap();
    let file = world.path(CURSOR).join(SKILL);
    fs::write(&file, "mine").unwrap();
    let summary = world.install(Cursor, &root).unwrap();
    assert_eq!(summary.state, InstallState::Replaced);
    assert_eq!(fs::read(&file).unwrap(), fs::read(root.join(SKILL)).unwrap());
    assert_eq!(fs::read_to_string(summary.backup.unwrap().join(SKILL)).unwrap(), "mine");
}

#[test]
fn unowned_entries_survive_replacement_and_keep_a_remnant() {
    let world = World::new();
    let root = world.root("bench-board", "root");
    world.install(Cursor, &root).unwrap();
    let dest = world.path(CURSOR);
    fs::create_dir(dest.join("state")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(dest.join("state/s")).unwrap();
    fs::write(dest.join(".env.local"), "LATER=1").unwrap();
    fs::write(dest.join("skills/read-report/note.txt"), "mine").unwrap();
    edit(&root, SKILL, "---\nname: read-report\ndescription: Reads.\n---\nNew.\n");
    world.install(Cursor, &root).unwrap();
    assert_eq!(fs::read(dest.join(SKILL)).unwrap(), fs::read(root.join(SKILL)).unwrap());
    assert_eq!(fs::read_to_string(dest.join(".env.local")).unwrap(), "LATER=1");
    let summary = world.uninstall(Cursor, Scope::User, DataPolicy::Keep, false).unwrap();
    assert_eq!(summary.data.outcome, "kept");
    let left: Vec<_> = snapshot(&dest).into_iter().map(|(name, _, _)| name).collect();
    let expected = [
        RECEIPT,
        ".env.local",
        "skills/",
        "skills/read-report/",
        "skills/read-report/note.txt",
        "state/",
        "state/s",
    ];
    assert_eq!(left, expected.map(str::to_owned).to_vec());
    assert!(receipt(&dest).is_remnant());
    assert_eq!(
        receipt(&dest).content_hash,
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    );
    let again = world.uninstall(Cursor, Scope::User, DataPolicy::Keep, false).unwrap();
    assert_eq!(again.state, UninstallState::NotInstalled);
    let summary = world.install(Cursor, &root).unwrap();
    assert_eq!(summary.state, InstallState::Installed);
    assert_eq!(fs::read_to_string(dest.join("skills/read-report/note.txt")).unwrap(), "mine");
}

#[test]
fn an_unowned_file_in_the_way_is_refused() {
    let world = World::new();
    let root = world.root("bench-board", "root");
    world.install(Cursor, &root).unwrap();
    let dest = world.path(CURSOR);
    fs::remove_file(dest.join(SKILL)).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", dest.join(SKILL)).unwrap();
    let before = outside(&world);
    let refusal = world.install(Cursor, &root).unwrap_err();
    assert!(refusal.starts_with("AB7004 stands where a file"), "{refusal}");
    assert_eq!(outside(&world), before);
}

#[test]
fn uninstalling_leaves_no_trace_and_is_a_no_op_twice() {
    for (host, scope) in [(Cursor, Scope::User), (Amp, Scope::User), (Amp, Scope::Project)] {
        let world = World::new();
        fs::create_dir(world.path(".config")).unwrap();
        let root = world.root("bench-board", "root");
        let before = outside(&world);
        world.install_as(host, &root, scope, false).unwrap();
        assert_ne!(outside(&world), before);
        let summary = world.uninstall(host, scope, DataPolicy::Keep, false).unwrap();
        assert_eq!(summary.receipt.status, "consumed");
        assert_eq!(outside(&world), before, "{host:?} {scope:?}");
        let again = world.uninstall(host, scope, DataPolicy::Keep, false).unwrap();
        assert_eq!(again.state, UninstallState::NotInstalled);
    }
}

#[test]
fn what_was_changed_is_only_removed_when_forced() {
    let world = World::new();
    let root = world.root("bench-board", "root");
    world.install(Cursor, &root).unwrap();
    fs::write(world.path(CURSOR).join(SKILL), "mine").unwrap();
    let before = outside(&world);
    let refusal = world.uninstall(Cursor, Scope::User, DataPolicy::Keep, false).unwrap_err();
    assert!(refusal.starts_with("AB7007"), "{refusal}");
    assert_eq!(outside(&world), before);
    let summary = world.uninstall(Cursor, Scope::User, DataPolicy::Keep, true).unwrap();
    assert_eq!(summary.receipt.status, "forced-mismatch");
    assert!(!world.path(CURSOR).exists());
}

#[test]
fn what_has_no_receipt_is_never_removed() {
    for (host, dest, code) in [(Cursor, CURSOR, "AB7007"), (Amp, AMP, "AB7009")] {
        let world = World::new();
        fs::create_dir_all(world.path(dest)).unwrap();
        fs::write(world.path(dest).join("index.js"), "mine").unwrap();
        for force in [false, true] {
            let refusal = world.uninstall(host, Scope::User, DataPolicy::Purge, force).unwrap_err();
            assert!(refusal.starts_with(code), "{refusal}");
        }
    }
}

#[test]
fn purging_removes_the_state_too() {
    let world = World::new();
    let root = world.root("bench-board", "root");
    world.install(Cursor, &root).unwrap();
    fs::create_dir(world.path(CURSOR).join("state")).unwrap();
    fs::write(world.path(CURSOR).join("state/db"), "x").unwrap();
    world.uninstall(Cursor, Scope::User, DataPolicy::Keep, false).unwrap();
    assert!(world.path(CURSOR).join("state/db").exists());
    let summary = world.uninstall(Cursor, Scope::User, DataPolicy::Purge, false).unwrap();
    assert_eq!(summary.data.outcome, "purged");
    assert!(!world.path(".cursor/plugins").exists());
}

#[test]
fn links_are_never_written_through() {
    for (host, link) in [
        (Cursor, ".cursor/plugins"),
        (Cursor, ".cursor/plugins/local"),
        (Cursor, CURSOR),
        (Amp, ".config/amp"),
        (Amp, ".config/amp/plugins"),
        (Amp, AMP),
    ] {
        let world = World::new();
        let root = world.root("bench-board", "root");
        fs::create_dir_all(world.path(link).parent().unwrap()).unwrap();
        fs::create_dir(world.path("elsewhere")).unwrap();
        std::os::unix::fs::symlink(world.path("elsewhere"), world.path(link)).unwrap();
        let before = outside(&world);
        let refusal = world.install_as(host, &root, Scope::User, true).unwrap_err();
        assert!(refusal.starts_with("AB700"), "{refusal}");
        assert_eq!(outside(&world), before);
    }
}

#[test]
fn hosts_and_scopes_that_cannot() {
    let world = World::new();
    let root = world.root("bench-board", "root");
    for (host, scope) in [(Cursor, Scope::Project), (Cursor, Scope::Local), (Amp, Scope::Local)] {
        let refusal = world.install_as(host, &root, scope, false).unwrap_err();
        assert!(refusal.starts_with("AB7003"), "{refusal}");
    }
    fs::remove_dir(world.path(".cursor")).unwrap();
    let refusal = world.install(Cursor, &root).unwrap_err();
    assert!(refusal.starts_with("AB7002"), "{refusal}");
}

#[test]
fn roots_that_are_not_what_they_say() {
    let world = World::new();
    let check = |name: &str, host, spoil: &dyn Fn(&Path), said: &str| {
        let root = world.root("bench-board", name);
        spoil(&root);
        let refusal = world.install(host, &root).unwrap_err();
        assert!(refusal.starts_with("AB7001") && refusal.contains(said), "{name}: {refusal}");
    };
    let manifest = "agent-bundle.manifest.json";
    check("a", Cursor, &|root| fs::remove_file(root.join(manifest)).unwrap(), "no agent-bundle");
    check("b", Cursor, &|root| fs::write(root.join(manifest), "{}").unwrap(), "");
    check("c", Cursor, &|root| fs::write(root.join(SKILL), "x").unwrap(), "bytes");
    check("d", Cursor, &|root| set_mode(&root.join(SKILL), 0o755), "mode");
    check(
        "e",
        Amp,
        &|root| {
            fs::write(root.join(".amp/plugins/bench-board/extra.js"), "x").unwrap();
        },
        "not listed",
    );
    check(
        "f",
        Cursor,
        &|root| {
            fs::remove_file(root.join(".env")).unwrap();
            std::os::unix::fs::symlink("/etc/hostname", root.join(".env")).unwrap();
        },
        "not a regular file",
    );
    let root = world.root("say-hello", "claude-only");
    let found = Bundle::open(&root, Cursor).unwrap_err();
    assert!(found[0].message.contains("not built for Cursor"), "{found:?}");
    assert_eq!(Bundle::hosts_of(&root).unwrap(), [holdall_install::ArtifactHost::Claude]);
}

#[test]
fn modes_that_npm_lost_are_restored_in_the_copy_alone() {
    let world = World::new();
    let root = world.root("bench-board", "node_modules/@acme/bench-board");
    let tool = "skills/read-report/scripts/worst.sh";
    set_mode(&root.join(tool), 0o644);
    world.install(Cursor, &root).unwrap();
    assert_eq!(mode(&world.path(CURSOR).join(tool)), 0o755);
    assert_eq!(mode(&root.join(tool)), 0o644, "the root is not touched");
    set_mode(&root.join(SKILL), 0o755);
    let refusal = world.install(Cursor, &root).unwrap_err();
    assert!(refusal.starts_with("AB7001"), "{refusal}");
}

#[test]
fn a_root_that_changes_while_it_is_copied_is_not_installed() {
    let world = World::new();
    let root = world.root("bench-board", "root");
    let prepared = world.plan(Cursor, &root, Scope::User, false).unwrap();
    fs::write(root.join(SKILL), "other").unwrap();
    let before = outside(&world);
    assert!(world.apply(&prepared).is_err());
    assert_eq!(outside(&world), before);
}
