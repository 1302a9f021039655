//! A kill at every point of every installer, in a process of its own: what the next command finds
//! is ended, and then everything is as it was, or as it should be, and nothing in between.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use holdall_hosts::{HostEnv, Scope};
use holdall_install::ArtifactHost::{self, Amp, Claude, Codex, Cursor};
use holdall_install::{DataPolicy, repair};
use holdall_store::Store;

use super::{World, edit, snapshot};

const SKILL: &str = "skills/read-report/SKILL.md";
const NEW: &str = "---\nname: read-report\ndescription: Reads.\n---\nNew.\n";
const WORLD: &str = "HOLDALL_TEST_WORLD";
const DO: &str = "HOLDALL_TEST_DO";

/// The state of everything that an install may touch, but for the log, times and the lock. Empty
/// directories of the store, where backups and copies go, are not counted.
fn state(home: &Path) -> Vec<(String, Vec<u8>)> {
    let all = snapshot(home).into_iter();
    let kept = all.filter(|(name, _, _)| {
        let own = name.starts_with("store/") && name.ends_with('/');
        !name.ends_with("fake.log")
            && name != "store/lock"
            && !own
            && !name.contains("/cache/")
            && !name.ends_with("plugins/cache/")
            && !name.ends_with("plugins/")
    });
    kept.map(|(name, _, bytes)| (name, bytes)).collect()
}

fn act(world: &World, host: ArtifactHost, what: &str) {
    if what == "uninstall" {
        world.uninstall(host, Scope::User, DataPolicy::Keep, false).unwrap();
    } else {
        world.install(host, &world.path("root")).unwrap();
    }
}

/// What a killed process does; started by the test below, with a home to do it in.
#[test]
#[ignore = "needs a parent: it is started by the test beside it"]
fn child() {
    let (Some(home), Ok(what)) = (std::env::var_os(WORLD), std::env::var(DO)) else { return };
    let (host, what) = what.split_once(' ').unwrap();
    let world = World::at(PathBuf::from(home));
    act(&world, ArtifactHost::find(host).unwrap(), what);
}

/// Copies a home, because the stand-in and receipts hold absolute paths: back to the same place.
fn restore(saved: &Path, home: &Path) {
    for entry in fs::read_dir(home).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            fs::remove_dir_all(path).unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
    }
    let copied = Command::new("cp").arg("-a").arg(saved.join(".")).arg(home).status();
    assert!(copied.unwrap().success());
}

#[test]
fn a_kill_at_any_point_is_ended_by_the_next_command() {
    for host in [Cursor, Amp, Claude, Codex] {
        for what in ["install", "replace", "uninstall"] {
            let world = World::new().with_fake();
            let root = world.root("bench-board", "root");
            // The stand-in makes its own state when it is first asked, not by an install.
            world.plan(host, &root, Scope::User, false).unwrap();
            fs::create_dir_all(world.path(".config")).unwrap();
            if what != "install" {
                world.install(host, &root).unwrap();
            }
            if what == "replace" {
                edit(&root, SKILL, NEW);
                edit(&root, ".amp/plugins/bench-board/index.js", "export default () => {};\n");
            }
            let saved = tempfile::tempdir().unwrap();
            restore_into(world.dir.path(), saved.path());
            let before = state(world.dir.path());
            act(&world, host, what);
            let after = state(world.dir.path());
            assert_ne!(before, after, "{host:?} {what}");
            let mut point = 1;
            loop {
                restore(saved.path(), world.dir.path());
                let child = Command::new(std::env::current_exe().unwrap())
                    .args(["--exact", "artifacts::faults::child", "--ignored", "--quiet"])
                    .env(WORLD, world.dir.path())
                    .env(DO, format!("{} {what}", host.id()))
                    .env("HOLDALL_FAULT", point.to_string())
                    .output()
                    .unwrap();
                if child.status.success() {
                    break;
                }
                let aborted = child.status.signal() == Some(6);
                let said = String::from_utf8_lossy(&child.stdout);
                assert!(aborted, "{host:?} {what} at {point}: {said}");
                let lock = world.store.lock(|| {}).unwrap();
                repair(&world.store, &lock, &world.programs()).unwrap();
                drop(lock);
                let found = state(world.dir.path());
                assert!(
                    found == before || found == after,
                    "{host:?} {what} at {point}: {:?}",
                    found.iter().map(|row| &row.0).collect::<Vec<_>>()
                );
                point += 1;
            }
            assert!(point > 5, "{host:?} {what}: only {point} points");
        }
    }
}

fn restore_into(home: &Path, saved: &Path) {
    let copied = Command::new("cp").arg("-a").arg(home.join(".")).arg(saved).status();
    assert!(copied.unwrap().success());
}

impl World {
    /// The world of a home that is there.
    fn at(home: PathBuf) -> Self {
        let mut world = Self::new();
        world.store = Store::at(home.join("store")).unwrap();
        world.env = HostEnv::new(&home);
        let path = std::env::join_paths(
            [home.join("bin")]
                .into_iter()
                .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
        );
        world.environment.insert("PATH".into(), path.unwrap());
        world.environment.insert("HOME".into(), home.clone().into());
        world.home = Some(home);
        world
    }
}
