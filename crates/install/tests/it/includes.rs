//! Where included packages are found, and what happens where their skills meet.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use holdall_diagnostics::{Diagnostic, Severity};
use holdall_install::{HD0310, IncludePlaces, merge_includes, skills_of};
use holdall_pack::{GitPin, Include, PackageName};
use holdall_store::Store;
use holdall_tree::{MemTree, Tree};

const PIN: &str = "git+https://git.example.org/o/r.git#0123456789abcdef0123456789abcdef01234567";

struct Machine {
    dir: tempfile::TempDir,
    store: Store,
}

impl Machine {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::at(dir.path().join("home/.local/share/holdall")).unwrap();
        store.create().unwrap();
        fs::create_dir_all(dir.path().join("home/repo/.git")).unwrap();
        fs::create_dir_all(dir.path().join("home/repo/sub/pack")).unwrap();
        Self { dir, store }
    }

    fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    /// A package of skills at a path below the home.
    fn package(&self, at: &str, skill: &str, body: &str) -> PathBuf {
        let root = self.home().join(at);
        let dir = root.join("skills").join(skill);
        fs::create_dir_all(&dir).unwrap();
        let text = format!("---\nname: {skill}\ndescription: S.\n---\n{body}\n");
        fs::write(dir.join("SKILL.md"), text).unwrap();
        root
    }

    fn find(&self, name: &str, inside: Option<&Arc<dyn Tree>>) -> Result<String, Vec<String>> {
        let home = self.home();
        let from = home.join("repo/sub/pack");
        let places = IncludePlaces { store: &self.store, home: &home, inside, from: &from };
        let relative = |place: &str| {
            let home = format!("{}/", home.display());
            place.strip_prefix(&home).unwrap_or(place).to_owned()
        };
        places
            .find(&PackageName::parse(name).unwrap())
            .map(|found| relative(&found.place))
            .map_err(|missing| missing.looked.iter().map(|place| relative(place)).collect())
    }
}

#[test]
fn places_are_looked_at_in_the_order_of_the_reference() {
    let machine = Machine::new();
    let name = "@agentproto/skill-pack-code-review";
    let package = "node_modules/@agentproto/skill-pack-code-review";
    let order = [
        ".local/share/holdall/packs/code-review".to_owned(),
        ".agentproto/packs/code-review".to_owned(),
        "repo/sub/pack/.skills/code-review".to_owned(),
        "repo/sub/.skills/code-review".to_owned(),
        "repo/.skills/code-review".to_owned(),
        format!("repo/sub/pack/{package}"),
        format!("repo/sub/{package}"),
        format!("repo/{package}"),
    ];
    assert_eq!(machine.find(name, None).unwrap_err(), order);
    // Above the repository nobody looks.
    machine.package(".skills/code-review", "review", "x");
    machine.package(package, "review", "x");
    assert!(machine.find(name, None).is_err());
    for place in order.iter().rev() {
        machine.package(place, "review", "x");
        assert_eq!(machine.find(name, None).unwrap(), *place);
    }
}

#[test]
fn without_a_repository_it_ends_at_the_home() {
    let machine = Machine::new();
    fs::remove_dir(machine.home().join("repo/.git")).unwrap();
    machine.package(".skills/x", "x", "x");
    assert_eq!(machine.find("x", None).unwrap(), ".skills/x");
    let elsewhere = machine.dir.path().join("shared/pack");
    fs::create_dir_all(&elsewhere).unwrap();
    fs::create_dir_all(machine.dir.path().join("shared/.skills/y/skills/y")).unwrap();
    fs::write(machine.dir.path().join("shared/.skills/y/skills/y/SKILL.md"), "x").unwrap();
    let home = machine.home();
    let places =
        IncludePlaces { store: &machine.store, home: &home, inside: None, from: &elsewhere };
    let missing = places.find(&PackageName::parse("y").unwrap()).unwrap_err();
    assert!(missing.looked.iter().any(|at| at.ends_with("shared/pack/.skills/y")));
    assert!(!missing.looked.iter().any(|at| at.ends_with("shared/.skills/y")));
}

#[test]
fn short_names_mean_the_first_party_before_third_ones() {
    let machine = Machine::new();
    let third = "repo/node_modules/@acme/agentproto-skill-pack-lint";
    machine.package(third, "lint", "third");
    assert_eq!(machine.find("lint", None).unwrap(), third);
    let first = "repo/node_modules/@agentproto/skill-pack-lint";
    machine.package(first, "lint", "first");
    assert_eq!(machine.find("lint", None).unwrap(), first);
    // A whole name means that package and no other.
    assert_eq!(machine.find("@acme/agentproto-skill-pack-lint", None).unwrap(), third);
    fs::remove_dir_all(machine.home().join(first)).unwrap();
    assert!(machine.find("@agentproto/skill-pack-lint", None).is_err());
    // The store comes before packages.
    machine.package(".agentproto/packs/lint", "lint", "central");
    assert_eq!(machine.find("lint", None).unwrap(), ".agentproto/packs/lint");
}

#[test]
fn links_of_package_managers_are_followed_and_empty_packages_passed_over() {
    let machine = Machine::new();
    let real = machine.package("repo/.pnpm/lint", "lint", "x");
    fs::create_dir_all(machine.home().join("repo/node_modules/@agentproto")).unwrap();
    let link = machine.home().join("repo/node_modules/@agentproto/skill-pack-lint");
    std::os::unix::fs::symlink(real, link).unwrap();
    fs::create_dir_all(machine.home().join(".agentproto/packs/lint")).unwrap();
    let found = machine.find("@agentproto/skill-pack-lint", None).unwrap();
    assert_eq!(found, "repo/node_modules/@agentproto/skill-pack-lint");
    fs::remove_dir_all(machine.home().join("repo/.pnpm/lint/skills")).unwrap();
    let looked = machine.find("@agentproto/skill-pack-lint", None).unwrap_err();
    assert!(looked[1].contains("no skills/*/SKILL.md"), "{looked:?}");
}

#[test]
fn a_sealed_pack_is_looked_into_first() {
    let machine = Machine::new();
    let mut pack = MemTree::new();
    pack.add_file(".skills/lint/skills/lint/SKILL.md", "---\nname: lint\ndescription: L.\n---\n")
        .unwrap();
    let pack: Arc<dyn Tree> = Arc::new(pack);
    machine.package("repo/.skills/lint", "lint", "x");
    assert_eq!(machine.find("lint", Some(&pack)).unwrap(), ".skills/lint in the pack");
    machine.package(".agentproto/packs/lint", "lint", "x");
    assert_eq!(machine.find("lint", Some(&pack)).unwrap(), ".agentproto/packs/lint");
    let empty: Arc<dyn Tree> = Arc::new(MemTree::new());
    let looked = machine.find("nowhere", Some(&empty)).unwrap_err();
    assert_eq!(looked[2], ".skills/nowhere in the pack");
}

#[test]
fn merging_keeps_the_order_and_says_what_met() {
    let machine = Machine::new();
    let home = machine.home();
    let from = home.join("repo");
    let one = machine.package("repo/.skills/one", "greet", "one");
    fs::write(one.join("package.json"), r#"{"version": "1.4.0"}"#).unwrap();
    machine.package("repo/.skills/one", "shared", "same");
    machine.package("repo/.skills/two", "shared", "same");
    machine.package("repo/.skills/three", "shared", "other");
    let mut own = MemTree::new();
    own.add_file("skills/greet/SKILL.md", "---\nname: greet\ndescription: G.\n---\nown\n").unwrap();
    let own: Arc<dyn Tree> = Arc::new(own);
    let own = skills_of(&own, "inline", &|path| path.to_string()).unwrap();
    let places = IncludePlaces { store: &machine.store, home: &home, inside: None, from: &from };
    let includes =
        |names: &[&str]| names.iter().map(|n| Include::parse(n).unwrap()).collect::<Vec<_>>();
    let refuse = |pin: &GitPin| -> Result<Arc<dyn Tree>, Box<Diagnostic>> {
        Err(Box::new(Diagnostic::new(&HD0310, format!("{pin} is not fetched here"))))
    };

    let merged = merge_includes(own.clone(), &includes(&["one", "two"]), places, &refuse);
    let skills: Vec<_> =
        merged.skills.iter().map(|skill| (skill.name.as_str(), skill.origin.as_str())).collect();
    assert_eq!(skills, [("greet", "inline"), ("shared", "one@1.4.0")]);
    assert_eq!(merged.diagnostics.len(), 1);
    assert_eq!(merged.diagnostics[0].severity, Severity::Warning);
    assert!(merged.missing.is_empty());
    assert_eq!(merged.places[0].1, Path::new(&from).join(".skills/one"));

    let clash = merge_includes(own.clone(), &includes(&["one", "three"]), places, &refuse);
    let error = clash.diagnostics.iter().find(|found| found.severity == Severity::Error).unwrap();
    assert!(error.message.contains("one@1.4.0") && error.message.contains("three"));

    let pinned = merge_includes(own.clone(), &includes(&[PIN, "absent"]), places, &refuse);
    let missing: Vec<_> = pinned.missing.iter().map(|it| it.include.as_str()).collect();
    assert_eq!(missing, [PIN, "absent"]);
    let fetch = |pin: &GitPin| -> Result<Arc<dyn Tree>, Box<Diagnostic>> {
        assert_eq!(pin.url(), "https://git.example.org/o/r.git");
        let mut tree = MemTree::new();
        tree.add_file("skills/far/SKILL.md", "---\nname: far\ndescription: F.\n---\n").unwrap();
        Ok(Arc::new(tree))
    };
    let fetched = merge_includes(own, &includes(&[PIN]), places, &fetch);
    assert_eq!(fetched.skills[0].origin, PIN);
}
