//! Skills in real directories: created, left alone, replaced, taken over, taken away.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use holdall_hosts::{HostEnv, Scope, find};
use holdall_install::{
    Action, NoPrograms, Planned, SkillsRequest, apply, destinations, merge_skills, plan_removal,
    plan_skills, receipts_of, skills_of,
};
use holdall_store::{Owner, Store};
use holdall_tree::{MemTree, Tree};

const NOW: &str = "2026-11-30T12:00:00.000Z";
const LATER: &str = "2026-12-01T12:00:00.000Z";

struct Home {
    dir: tempfile::TempDir,
    store: Store,
}

fn tree(skills: &[(&str, &str)]) -> Arc<dyn Tree> {
    let mut tree = MemTree::new();
    for (name, body) in skills {
        let text =
            format!("---\nname: {name}\ndescription: Does {name}. Use when asked.\n---\n{body}\n");
        tree.add_file(&format!("skills/{name}/SKILL.md"), text).unwrap();
        tree.add_executable(&format!("skills/{name}/scripts/run.sh"), "#!/bin/sh\n").unwrap();
    }
    Arc::new(tree)
}

fn owner(name: &str) -> Owner {
    Owner { name: name.to_owned(), version: Some("1.0.0".to_owned()), origin: "inline".to_owned() }
}

impl Home {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::at(dir.path().join(".local/share/holdall")).unwrap();
        store.create().unwrap();
        Self { dir, store }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.dir.path().join(below)
    }

    fn plan(
        &self,
        who: &str,
        what: &Arc<dyn Tree>,
        hosts: &[&str],
        take_over: bool,
        now: &str,
    ) -> Planned {
        let hosts: Vec<_> = hosts.iter().map(|id| find(id).unwrap()).collect();
        let env = HostEnv::new(self.dir.path());
        let config = self.store.config().unwrap();
        let destinations = destinations(&hosts, Scope::User, &env, self.dir.path(), &config);
        let skills = skills_of(what, "inline", &|path| path.to_string()).unwrap();
        let mut planned = Planned::default();
        let request = SkillsRequest {
            store: &self.store,
            owner: owner(who),
            skills: &skills,
            destinations: &destinations,
            scope: Scope::User,
            take_over,
            replace_origin: false,
            drop_others: true,
            now,
        };
        plan_skills(&request, &mut planned).unwrap();
        planned
    }

    fn apply(&self, planned: &Planned) {
        assert!(!planned.has_errors(), "{:?}", planned.diagnostics);
        let lock = self.store.lock(|| ()).unwrap();
        apply(&self.store, &lock, &planned.plan, &NoPrograms).unwrap();
    }

    fn install(&self, who: &str, what: &Arc<dyn Tree>, hosts: &[&str]) -> Vec<Action> {
        let planned = self.plan(who, what, hosts, false, NOW);
        self.apply(&planned);
        planned.outcomes.iter().map(|row| row.action).collect()
    }

    fn uninstall(&self, who: &str) -> Planned {
        let mut planned = Planned::default();
        for receipt in receipts_of(&self.store, who).unwrap() {
            plan_removal(&self.store, &receipt, &mut planned).unwrap();
        }
        let lock = self.store.lock(|| ()).unwrap();
        apply(&self.store, &lock, &planned.plan, &NoPrograms).unwrap();
        planned
    }

    /// Every path below the home but the store's, with the bytes of files.
    fn outside(&self) -> Vec<(PathBuf, Vec<u8>)> {
        snapshot(self.dir.path(), &self.path(".local"))
    }

    fn inside(&self) -> Vec<(PathBuf, Vec<u8>)> {
        snapshot(self.store.root(), Path::new("/nowhere"))
    }
}

fn snapshot(root: &Path, without: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut todo = vec![root.to_owned()];
    while let Some(dir) = todo.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            if path == without {
                continue;
            }
            let real_dir = path.is_dir() && !path.is_symlink();
            let bytes = if path.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
            found.push((path.clone(), bytes));
            if real_dir {
                todo.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn one_write_per_directory_however_many_hosts_read_it() {
    let home = Home::new();
    let hosts = ["codex", "cline", "kimi", "claude"].map(|id| find(id).unwrap());
    let env = HostEnv::new(home.dir.path());
    let config = home.store.config().unwrap();
    let found = destinations(&hosts, Scope::User, &env, home.dir.path(), &config);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].directory, home.path(".agents/skills"));
    assert_eq!(found[0].hosts, ["codex", "cline", "kimi"]);
    assert_eq!(found[0].also_read_by, ["cursor"]);
    assert_eq!(found[1].also_read_by, ["cursor"]);
}

#[test]
fn applying_twice_writes_nothing_the_second_time() {
    let home = Home::new();
    let skills = tree(&[("greet", "Hello."), ("part", "Bye.")]);
    assert_eq!(home.install("a-pack", &skills, &["claude", "codex"]), [Action::Created; 4]);
    let run = home.path(".claude/skills/greet/scripts/run.sh");
    assert!(std::os::unix::fs::MetadataExt::mode(&fs::metadata(run).unwrap()) & 0o111 != 0);
    let before = (home.outside(), home.inside());
    let again = home.plan("a-pack", &skills, &["claude", "codex"], false, LATER);
    assert!(again.plan.is_empty(), "{}", again.plan);
    assert!(again.outcomes.iter().all(|row| row.action == Action::Unchanged));
    home.apply(&again);
    assert_eq!((home.outside(), home.inside()), before);
}

#[test]
fn uninstall_leaves_everything_outside_the_store_as_it_was() {
    let home = Home::new();
    fs::create_dir_all(home.path(".claude")).unwrap();
    fs::write(home.path(".claude/settings.json"), "{}").unwrap();
    let before = home.outside();
    let skills = tree(&[("greet", "Hello."), ("part", "Bye.")]);
    home.install("a-pack", &skills, &["claude", "codex", "opencode"]);
    // A second pack in the same directory, removed last.
    home.install("b-pack", &tree(&[("other", "Other.")]), &["codex"]);
    home.uninstall("a-pack");
    assert!(home.path(".agents/skills/other").is_dir());
    home.uninstall("b-pack");
    assert_eq!(home.outside(), before);
    assert!(receipts_of(&home.store, "a-pack").unwrap().is_empty());
    // Twice is a no-op.
    assert!(home.uninstall("a-pack").plan.is_empty());
}

#[test]
fn a_new_version_replaces_drops_and_leaves_nothing_stale() {
    let home = Home::new();
    home.install(
        "a-pack",
        &tree(&[("greet", "One."), ("gone", "x"), ("edited", "x")]),
        &["claude"],
    );
    fs::write(home.path(".claude/skills/edited/SKILL.md"), "mine").unwrap();
    let planned = home.plan("a-pack", &tree(&[("greet", "Two.")]), &["claude"], false, LATER);
    home.apply(&planned);
    let actions: Vec<_> =
        planned.outcomes.iter().map(|row| (row.name.as_str(), row.action)).collect();
    assert_eq!(
        actions,
        [("greet", Action::Replaced), ("edited", Action::Kept), ("gone", Action::Removed)]
    );
    assert!(!home.path(".claude/skills/gone").exists());
    assert_eq!(fs::read_to_string(home.path(".claude/skills/edited/SKILL.md")).unwrap(), "mine");
    let receipts = receipts_of(&home.store, "a-pack").unwrap();
    let greet = receipts.iter().find(|receipt| receipt.name == "greet").unwrap();
    assert_eq!((greet.installed_at.as_str(), greet.updated_at.as_str()), (NOW, LATER));
}

#[test]
fn a_changed_byte_is_noticed_and_the_edited_copy_kept() {
    let home = Home::new();
    let skills = tree(&[("greet", "Hello.")]);
    home.install("a-pack", &skills, &["claude"]);
    let document = home.path(".claude/skills/greet/SKILL.md");
    fs::write(&document, "edited").unwrap();
    let planned = home.plan("a-pack", &skills, &["claude"], false, LATER);
    assert_eq!(planned.outcomes[0].action, Action::Replaced);
    home.apply(&planned);
    assert!(fs::read_to_string(&document).unwrap().contains("Hello."));
    let kept = home.inside().into_iter().any(|(path, bytes)| {
        path.starts_with(home.store.root().join("backups")) && bytes == b"edited"
    });
    assert!(kept);
}

#[test]
fn what_is_somebody_elses_is_never_replaced_unasked_and_comes_back() {
    let home = Home::new();
    let dest = home.path(".claude/skills/greet");
    fs::create_dir_all(&dest).unwrap();
    fs::write(dest.join("SKILL.md"), "mine").unwrap();
    let before = home.outside();
    let skills = tree(&[("greet", "Hello.")]);
    let refused = home.plan("a-pack", &skills, &["claude"], false, NOW);
    assert!(refused.has_errors());
    assert_eq!(refused.diagnostics[0].code, "HD0301");
    assert!(refused.diagnostics[0].message.contains("no receipt owns it"));

    let taken = home.plan("a-pack", &skills, &["claude"], true, NOW);
    home.apply(&taken);
    assert!(fs::read_to_string(dest.join("SKILL.md")).unwrap().contains("Hello."));
    let other = home.plan("b-pack", &skills, &["claude"], false, NOW);
    assert!(other.diagnostics[0].message.contains("it belongs to `a-pack`"));
    home.uninstall("a-pack");
    assert_eq!(home.outside(), before);

    // A plain file makes way for the directory, and comes back too.
    fs::remove_dir_all(&dest).unwrap();
    fs::write(&dest, "a file").unwrap();
    let before = home.outside();
    home.apply(&home.plan("a-pack", &skills, &["claude"], true, NOW));
    assert!(dest.is_dir());
    home.uninstall("a-pack");
    assert_eq!(home.outside(), before);
}

#[test]
fn links_are_left_alone_and_base_links_are_followed() {
    let home = Home::new();
    let skills = tree(&[("greet", "Hello.")]);
    let elsewhere = home.path("work/greet");
    fs::create_dir_all(&elsewhere).unwrap();
    fs::create_dir_all(home.path(".claude/skills")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, home.path(".claude/skills/greet")).unwrap();
    let planned = home.plan("a-pack", &skills, &["claude"], true, NOW);
    assert_eq!(planned.outcomes[0].action, Action::Skipped);
    assert!(planned.is_incomplete() && !planned.has_errors());
    assert!(planned.plan.is_empty());

    // People link the whole directory of skills; what is in it is installed through the link.
    fs::create_dir_all(home.path("dotfiles/skills")).unwrap();
    fs::create_dir_all(home.path(".codex")).unwrap();
    fs::create_dir_all(home.path(".agents")).unwrap();
    std::os::unix::fs::symlink(home.path("dotfiles/skills"), home.path(".agents/skills")).unwrap();
    home.install("a-pack", &skills, &["codex"]);
    assert!(home.path("dotfiles/skills/greet/SKILL.md").is_file());
    assert!(home.path(".agents/skills").is_symlink());
}

#[test]
fn skills_that_lead_out_or_are_named_like_paths_are_refused_before_anything_is_touched() {
    for (name, path) in
        [("..", "skills/x"), ("a/b", "skills/x"), ("Upper", "skills/Upper"), ("", "skills/x")]
    {
        let mut bad = MemTree::new();
        let text = format!("---\nname: \"{name}\"\ndescription: Bad.\n---\nx\n");
        bad.add_file(&format!("{path}/SKILL.md"), text).unwrap();
        let bad: Arc<dyn Tree> = Arc::new(bad);
        assert!(skills_of(&bad, "inline", &|path| path.to_string()).is_err(), "{name}");
    }
    let mut leak = MemTree::new();
    leak.add_file("skills/leak/SKILL.md", "---\nname: leak\ndescription: Leaks.\n---\nx\n")
        .unwrap();
    leak.add_symlink("skills/leak/passwd", "/etc/passwd").unwrap();
    let leak: Arc<dyn Tree> = Arc::new(leak);
    let faults = skills_of(&leak, "inline", &|path| path.to_string()).unwrap_err();
    assert!(faults[0].path.as_deref().unwrap().contains("skills/leak"), "{faults:?}");
}

#[test]
fn a_directory_need_not_be_named_like_its_skill_but_two_of_one_name_are_an_error() {
    let mut odd = MemTree::new();
    let text = "---\nname: vercel-react\ndescription: Published so.\n---\nx\n";
    odd.add_file("skills/react/SKILL.md", text).unwrap();
    let one: Arc<dyn Tree> = Arc::new(odd.clone());
    let skills = skills_of(&one, "inline", &|path| path.to_string()).unwrap();
    assert_eq!(skills[0].name.as_str(), "vercel-react");
    odd.add_file("skills/again/SKILL.md", text).unwrap();
    let two: Arc<dyn Tree> = Arc::new(odd);
    let faults = skills_of(&two, "inline", &|path| path.to_string()).unwrap_err();
    assert!(
        faults[0].message.contains("skills/again") && faults[0].message.contains("skills/react")
    );
}

#[test]
fn includes_add_and_never_replace() {
    let list = |origin: &str, skills: &[(&str, &str)]| {
        skills_of(&tree(skills), origin, &|path| path.to_string()).unwrap()
    };
    let mut skills = list("inline", &[("greet", "One.")]);
    assert!(
        merge_skills(&mut skills, list("@x/a", &[("more", "M."), ("greet", "One.")])).is_empty()
    );
    assert_eq!(skills.len(), 2);
    let inline = merge_skills(&mut skills, list("@x/b", &[("greet", "Two.")]));
    assert_eq!(inline[0].severity, holdall_diagnostics::Severity::Warning);
    let clash = merge_skills(&mut skills, list("@x/c", &[("more", "Other.")]));
    assert_eq!(clash[0].severity, holdall_diagnostics::Severity::Error);
    assert!(clash[0].message.contains("@x/a") && clash[0].message.contains("@x/c"));
}
