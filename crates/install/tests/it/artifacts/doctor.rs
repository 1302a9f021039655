//! Every finding that needs no running server, and that looking changes nothing.

use std::fs;
use std::path::Path;
use std::time::Duration;

use holdall_diagnostics::Severity;
use holdall_install::ArtifactHost::{self, Amp, Claude, Codex, Cursor};
use holdall_install::{DataPolicy, Doctor, DoctorReport, doctor};

use super::{World, edit, outside, set_version};

const SKILL: &str = "skills/read-report/SKILL.md";
const NEW: &str = "---\nname: read-report\ndescription: Reads.\n---\nNew.\n";
const CURSOR: &str = ".cursor/plugins/local/bench-board";

/// What doctor says; it must not have changed anything but the stand-in's log.
fn look(world: &World, host: ArtifactHost, from: Option<&Path>) -> DoctorReport {
    let seen = || {
        let mut all = outside(world);
        all.retain(|(name, _, _)| !name.ends_with("fake.log") && !name.ends_with("fake.json"));
        all
    };
    let _ = look_only(world, host, from);
    let before = seen();
    let report = look_only(world, host, from);
    assert_eq!(seen(), before);
    report
}

fn look_only(world: &World, host: ArtifactHost, from: Option<&Path>) -> DoctorReport {
    doctor(&Doctor {
        store: &world.store,
        env: &world.env,
        project: &world.path("project"),
        programs: &world.programs(),
        hosts: &[host],
        from,
    })
}

fn codes(report: &DoctorReport) -> Vec<&str> {
    let mut codes: Vec<_> = report.all().map(|found| found.code).collect();
    codes.sort_unstable();
    codes
}

fn comparison(report: &DoctorReport) -> &'static str {
    report.hosts[0].bundle.as_ref().unwrap().comparison
}

#[test]
fn cursor_at_every_point() {
    let world = World::new();
    let root = world.root("bench-board", "root");
    let from = Some(root.as_path());
    let report = look(&world, Cursor, from);
    assert_eq!(
        (comparison(&report), codes(&report)),
        ("not-installed", vec!["AB7307", "AB7330", "AB7331"])
    );
    world.install(Cursor, &root).unwrap();
    let report = look(&world, Cursor, from);
    assert_eq!((comparison(&report), codes(&report)), ("current", vec!["AB7330", "AB7331"]));
    assert_eq!(report.hosts[0].receipts[0].version, "0.3.0");
    assert_eq!(report.hosts[0].bundle.as_ref().unwrap().lifecycle.placed, "observed");
    edit(&root, SKILL, NEW);
    let report = look(&world, Cursor, from);
    assert_eq!(
        (comparison(&report), codes(&report)),
        ("stale", vec!["AB7308", "AB7330", "AB7331"])
    );
    set_version(&root, "0.4.0");
    let report = look(&world, Cursor, from);
    assert_eq!(comparison(&report), "version-mismatch");
    assert_eq!(codes(&report)[0], "AB7309");
    assert_eq!(report.count(Severity::Error), 0);
    fs::write(world.path(CURSOR).join(SKILL), "mine").unwrap();
    assert_eq!(codes(&look(&world, Cursor, None)), ["AB7310"]);
    fs::create_dir(world.path(CURSOR).join("state")).unwrap();
    world.uninstall(Cursor, holdall_hosts::Scope::User, DataPolicy::Keep, true).unwrap();
    let report = look(&world, Cursor, from);
    assert_eq!(comparison(&report), "not-installed", "only a remnant");
    fs::write(world.path(CURSOR).join(".agent-bundle-install.json"), "{}").unwrap();
    let report = look(&world, Cursor, from);
    assert_eq!(comparison(&report), "foreign");
    assert!(codes(&report).contains(&"AB7321"));
}

#[test]
fn what_else_lies_among_cursors_plugins() {
    let world = World::new();
    let local = world.path(".cursor/plugins/local");
    fs::create_dir_all(local.join("empty")).unwrap();
    fs::create_dir_all(local.join(".x.stage-ab12")).unwrap();
    fs::write(local.join("file"), "").unwrap();
    fs::create_dir_all(local.join("own/.cursor-plugin")).unwrap();
    fs::write(local.join("own/.cursor-plugin/plugin.json"), "{}").unwrap();
    assert_eq!(codes(&look(&world, Cursor, None)), ["AB7304", "AB7304", "AB7305"]);
    fs::remove_dir_all(world.path(".cursor")).unwrap();
    assert_eq!(codes(&look(&world, Cursor, None)), ["AB7300"]);
    fs::write(world.path(".cursor"), "").unwrap();
    let report = look(&world, Cursor, None);
    assert_eq!(codes(&report), ["AB7302"]);
    assert_eq!(report.hosts[0].probe.status, "failed");
}

#[test]
fn amp_in_both_scopes() {
    let world = World::new();
    let root = world.root("bench-board", "root");
    world.install_as(Amp, &root, holdall_hosts::Scope::Project, false).unwrap();
    let report = look(&world, Amp, Some(&root));
    assert_eq!(comparison(&report), "current");
}

#[test]
fn programs_at_every_point() {
    for host in [Claude, Codex] {
        let mut world = World::new().with_fake();
        let root = world.root("bench-board", "root");
        let from = Some(root.as_path());
        let report = look(&world, host, from);
        assert_eq!(comparison(&report), "not-installed");
        world.install(host, &root).unwrap();
        let report = look(&world, host, from);
        assert_eq!((comparison(&report), codes(&report)), ("current", vec!["AB7330", "AB7331"]));
        assert_eq!(report.hosts[0].probe.version.as_deref(), Some("1.0.0 (fake)"));
        let lifecycle = report.hosts[0].bundle.as_ref().unwrap().lifecycle;
        assert_eq!((lifecycle.placed, lifecycle.registered), ("observed", "observed"));
        assert_eq!((lifecycle.enabled, lifecycle.active), ("observed", "unavailable"));
        edit(&root, SKILL, NEW);
        assert_eq!(comparison(&look(&world, host, from)), "stale");
        // The program's own listing breaks.
        for (fault, expected) in [("garbage plugin list", "AB7303"), ("fail plugin list", "AB7303")]
        {
            world.set("FAKE", fault);
            assert!(codes(&look(&world, host, from)).contains(&expected), "{fault}");
        }
        world.limit = Duration::from_secs(1);
        world.set("FAKE", "hang --version");
        let report = look(&world, host, None);
        assert_eq!(codes(&report), ["AB7301"]);
        assert_eq!(report.hosts[0].probe.status, "failed");
        world.set("FAKE", "flood --version");
        assert_eq!(codes(&look(&world, host, None)), ["AB7301"]);
        world.set("PATH", "/nowhere");
        assert_eq!(codes(&look(&world, host, None)), ["AB7300"]);
    }
}

#[test]
fn load_errors_a_switch_and_orphans() {
    let mut world = World::new().with_fake();
    let root = world.root("bench-board", "root");
    let from = Some(root.as_path());
    let summary = world.install(Claude, &root).unwrap();
    world.set("FAKE_ERRORS", "hooks are broken");
    let report = look(&world, Claude, from);
    assert_eq!(comparison(&report), "load-failed");
    assert!(codes(&report).contains(&"AB7325"));
    world.environment.remove(std::ffi::OsStr::new("FAKE_ERRORS"));
    let state = world.path(".claude/fake.json");
    let text = fs::read_to_string(&state).unwrap();
    fs::write(&state, text.replace("\"enabled\":true", "\"enabled\":false")).unwrap();
    assert!(codes(&look(&world, Claude, from)).contains(&"AB7327"));
    fs::write(summary.destination.join(SKILL), "mine").unwrap();
    assert_eq!(codes(&look(&world, Claude, None)), ["AB7310"]);
    fs::remove_file(&state).unwrap();
    assert_eq!(codes(&look(&world, Claude, None)), ["AB7310", "AB7328"]);
    fs::write(&summary.receipt, "{}").unwrap();
    assert_eq!(codes(&look(&world, Claude, None)), ["AB7328"]);
}

#[test]
fn a_root_with_faults() {
    let world = World::new();
    let root = world.root("bench-board", "root");
    fs::write(root.join(SKILL), "x").unwrap();
    let report = look(&world, Cursor, Some(&root));
    assert!(codes(&report).contains(&"AB7001") && codes(&report).contains(&"AB7319"));
    let report = look(&world, Cursor, Some(&world.path("nowhere")));
    assert_eq!(codes(&report), ["AB7001"]);
}
