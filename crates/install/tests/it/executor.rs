//! Plans are applied whole or not at all.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use holdall_install::{
    ApplyError, Command, Found, NewTree, NoPrograms, Plan, Runner, Step, apply, found_at,
    is_unfinished,
};
use holdall_store::Store;
use holdall_tree::stage::Modes;
use holdall_tree::{HashOptions, MemTree, tree_hash};

struct Place {
    home: tempfile::TempDir,
    store: Store,
}

impl Place {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let store = Store::at(home.path().join("store")).unwrap();
        store.create().unwrap();
        fs::create_dir(home.path().join("host")).unwrap();
        Self { home, store }
    }

    fn host(&self) -> PathBuf {
        self.home.path().join("host")
    }

    fn apply(&self, plan: &Plan, runner: &dyn Runner) -> Result<(), ApplyError> {
        let lock = self.store.lock(|| ()).unwrap();
        let result = apply(&self.store, &lock, plan, runner);
        assert!(!is_unfinished(&self.store).unwrap());
        result
    }

    /// Everything below the host's directory, hidden names included.
    fn listing(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut todo = vec![self.host()];
        while let Some(dir) = todo.pop() {
            for entry in fs::read_dir(&dir).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    todo.push(path.clone());
                }
                found.push(path.strip_prefix(self.host()).unwrap().display().to_string());
            }
        }
        found.sort();
        found
    }
}

fn skill(text: &str) -> NewTree {
    let mut tree = MemTree::new();
    tree.add_file("SKILL.md", text).unwrap();
    tree.add_executable("scripts/run.sh", "#!/bin/sh\n").unwrap();
    let digest = tree_hash(&tree, HashOptions::default()).unwrap();
    NewTree { tree: Arc::new(tree), modes: Modes::Portable, digest }
}

fn place(dest: &Path, staging: &Path, new: NewTree) -> Step {
    let found = found_at(dest).unwrap();
    Step::PlaceTree { dest: dest.to_owned(), staging: staging.to_owned(), new, found }
}

#[test]
fn a_directory_is_created_then_replaced_whole() {
    let at = Place::new();
    let dest = at.host().join("skills/greet");
    let mut plan = Plan::new();
    assert_eq!(plan.make_dirs(&at.host().join("skills"), 0o755), [at.host().join("skills")]);
    plan.push(place(&dest, &at.host(), skill("one")));
    at.apply(&plan, &NoPrograms).unwrap();
    assert_eq!(fs::read_to_string(dest.join("SKILL.md")).unwrap(), "one");
    fs::write(dest.join("stale"), "").unwrap();

    let mut plan = Plan::new();
    plan.push(place(&dest, &at.host(), skill("two")));
    at.apply(&plan, &NoPrograms).unwrap();
    assert_eq!(
        at.listing(),
        [
            "skills",
            "skills/greet",
            "skills/greet/SKILL.md",
            "skills/greet/scripts",
            "skills/greet/scripts/run.sh"
        ]
    );
    assert_eq!(fs::read_to_string(dest.join("SKILL.md")).unwrap(), "two");
}

#[test]
fn what_changed_after_the_plan_stops_it_and_everything_is_as_it_was() {
    let at = Place::new();
    let (first, second) = (at.host().join("a"), at.host().join("b"));
    let mut plan = Plan::new();
    plan.push(place(&first, &at.host(), skill("one")));
    plan.push(place(&second, &at.host(), skill("two")));
    fs::create_dir(&second).unwrap();
    fs::write(second.join("mine"), "mine").unwrap();
    assert!(
        matches!(at.apply(&plan, &NoPrograms), Err(ApplyError::Changed { path }) if path == second)
    );
    assert_eq!(at.listing(), ["b", "b/mine"]);
}

#[test]
fn a_source_that_is_not_what_was_planned_writes_nothing() {
    let at = Place::new();
    let mut new = skill("one");
    new.digest = skill("two").digest;
    let mut plan = Plan::new();
    plan.push(place(&at.host().join("a"), &at.host(), new));
    assert!(matches!(at.apply(&plan, &NoPrograms), Err(ApplyError::SourceChanged { .. })));
    assert_eq!(at.listing(), Vec::<String>::new());
}

#[test]
fn files_and_removals_are_part_of_it() {
    let at = Place::new();
    let (record, gone) = (at.host().join("r.json"), at.host().join("gone"));
    fs::write(&record, "old").unwrap();
    fs::create_dir(&gone).unwrap();
    fs::write(gone.join("x"), "x").unwrap();
    let file = |bytes: &[u8]| Step::PlaceFile {
        dest: record.clone(),
        staging: at.host(),
        bytes: bytes.to_vec(),
        mode: 0o600,
        found: found_at(&record).unwrap(),
    };
    let remove = |found| Step::Remove { dest: gone.clone(), staging: at.host(), found };

    // A later step that fails puts both back.
    let mut plan = Plan::new();
    plan.push(file(b"new"));
    plan.push(remove(found_at(&gone).unwrap()));
    plan.push(Step::Remove {
        dest: at.host().join("never"),
        staging: at.host(),
        found: Found::File(holdall_tree::Digest::sha256(b"")),
    });
    assert!(at.apply(&plan, &NoPrograms).is_err());
    assert_eq!(fs::read_to_string(&record).unwrap(), "old");
    assert_eq!(at.listing(), ["gone", "gone/x", "r.json"]);

    let mut plan = Plan::new();
    plan.push(file(b"new"));
    plan.push(remove(found_at(&gone).unwrap()));
    plan.push(Step::RemoveEmptyDir { path: at.host() });
    at.apply(&plan, &NoPrograms).unwrap();
    assert_eq!(fs::read_to_string(&record).unwrap(), "new");
    assert_eq!(at.listing(), ["r.json"]);
}

/// Remembers what it ran and fails at one word.
struct Recorder(RefCell<Vec<String>>, &'static str);

impl Runner for Recorder {
    fn run(&self, command: &Command) -> Result<(), String> {
        let line = command.arguments.join(" ");
        self.0.borrow_mut().push(line.clone());
        if line == self.1 { Err(format!("{line} failed")) } else { Ok(()) }
    }
}

fn command(words: &str) -> Command {
    Command {
        program: "/bin/host".into(),
        arguments: words.split(' ').map(str::to_owned).collect(),
        directory: "/".into(),
    }
}

#[test]
fn a_program_that_fails_takes_back_what_ran_before_it() {
    let at = Place::new();
    let run =
        |words: &str, undo: &str| Step::Run { command: command(words), undo: Some(command(undo)) };
    let mut plan = Plan::new();
    plan.push(place(&at.host().join("root"), &at.host(), skill("one")));
    plan.push(run("marketplace add", "marketplace remove"));
    plan.push(run("plugin add", "plugin remove"));
    plan.push(run("never", "never back"));
    let runner = Recorder(RefCell::new(Vec::new()), "plugin add");
    let error = at.apply(&plan, &runner).unwrap_err();
    assert!(error.to_string().contains("plugin add failed"));
    // The failed program may have done half of it, so that it is taken back as well.
    assert_eq!(
        runner.0.into_inner(),
        ["marketplace add", "plugin add", "plugin remove", "marketplace remove"]
    );
    assert_eq!(at.listing(), Vec::<String>::new());
}

#[test]
fn an_empty_plan_writes_nothing_and_plans_compare() {
    let at = Place::new();
    at.apply(&Plan::new(), &NoPrograms).unwrap();
    let mut one = Plan::new();
    let mut other = Plan::new();
    one.push(place(&at.host().join("a"), &at.host(), skill("x")));
    other.push(place(&at.host().join("a"), &at.host(), skill("x")));
    assert_eq!(one, other);
    let shown = one.to_string();
    assert!(shown.starts_with("create /"), "{shown}");
    assert!(shown.contains("holdall-tree/v1:"), "{shown}");
}
