//! Packs and apps in the store: gated, applied N times, upgraded, taken away.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use holdall_diagnostics::{Severity, SourceText};
use holdall_hosts::{HostEnv, Scope, find};
use holdall_install::{
    Action, AppToInstall, MissingInclude, NoPrograms, PackRequest, PackToInstall, Planned, apply,
    destinations, plan_pack, plan_pack_removal, same_origin, skills_of,
};
use holdall_pack::{pack_from_manifest, parse_pack_manifest};
use holdall_store::{AppRecord, AppSource, DigestRecord, PackRecord, Store};
use holdall_tree::{HashOptions, MemTree, Tree, tree_hash};

const NOW: &str = "2026-11-30T12:00:00.000Z";
const LATER: &str = "2026-12-01T12:00:00.000Z";

struct Home(tempfile::TempDir, Store);

fn pack(name: &str, version: &str, apps: &[(&str, &str)], blockers: &[&str]) -> PackToInstall {
    let mut text = format!(
        "---\nschema: pack/v1\nname: {name}\ntitle: A pack\ndescription: Does things.\n\
         version: \"{version}\"\nplugin:\n  inline: true\nknowledge:\n  workspace: engineering\n"
    );
    if !apps.is_empty() {
        text.push_str("apps:\n");
        for (id, _) in apps {
            text.push_str(&format!("  - id: \"{id}\"\n    path: ./apps/x\n"));
        }
    }
    if !blockers.is_empty() {
        text.push_str("blockers:\n");
        for blocker in blockers {
            text.push_str(&format!("  - \"{blocker}\"\n"));
        }
    }
    text.push_str("---\n");
    let manifest = parse_pack_manifest(&SourceText::new(text)).unwrap();
    let mut skills = MemTree::new();
    let document = format!("---\nname: greet\ndescription: Greets.\n---\n{version}\n");
    skills.add_file("skills/greet/SKILL.md", document).unwrap();
    let skills: Arc<dyn Tree> = Arc::new(skills);
    let digest = tree_hash(skills.as_ref(), HashOptions::default()).unwrap();
    PackToInstall {
        handle: pack_from_manifest(&manifest).unwrap(),
        digest: DigestRecord { alg: "agentproto-pack-digest/v1".to_owned(), hex: "0".repeat(64) },
        tree: digest,
        origin: "/src/pack".to_owned(),
        subdir: None,
        apps: apps.iter().map(|(id, text)| app(id, text)).collect(),
        skills: skills_of(&skills, "inline", &|path| path.to_string()).unwrap(),
        missing: Vec::new(),
        diagnostics: Vec::new(),
    }
}

fn app(id: &str, text: &str) -> AppToInstall {
    let mut tree = MemTree::new();
    tree.add_file("APP.md", text).unwrap();
    let digest = tree_hash(&tree, HashOptions::default()).unwrap();
    AppToInstall {
        id: id.to_owned(),
        version: "0.1.0".to_owned(),
        name: None,
        data_hint: None,
        tree: Arc::new(tree),
        digest,
        source: AppSource::Dir { path: "/src/pack/apps/x".to_owned() },
    }
}

impl Home {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::at(dir.path().join("store")).unwrap();
        store.create().unwrap();
        Self(dir, store)
    }

    fn removal(&self, name: &str, purge_data: bool) -> Planned {
        let mut planned = Planned::default();
        plan_pack_removal(&self.1, name, purge_data, &mut planned).unwrap();
        planned
    }

    fn plan(
        &self,
        pack: &PackToInstall,
        now: &str,
        change: impl Fn(&mut PackRequest<'_>),
    ) -> Planned {
        let env = HostEnv::new(self.0.path());
        let config = self.1.config().unwrap();
        let hosts = [find("claude").unwrap()];
        let destinations = destinations(&hosts, Scope::User, &env, self.0.path(), &config);
        let mut request = PackRequest {
            store: &self.1,
            destinations: &destinations,
            scope: Scope::User,
            take_over: false,
            partial: false,
            replace: false,
            data_dir: None,
            now,
        };
        change(&mut request);
        plan_pack(request, pack).unwrap()
    }

    fn apply(&self, planned: &Planned) {
        assert!(!planned.has_errors(), "{:?}", planned.diagnostics);
        let lock = self.1.lock(|| ()).unwrap();
        apply(&self.1, &lock, &planned.plan, &NoPrograms).unwrap();
    }

    fn record(&self, name: &str) -> Option<PackRecord> {
        self.1.record(name).unwrap()
    }

    fn app(&self, id: &str) -> Option<AppRecord> {
        self.1.record(id).unwrap()
    }
}

#[test]
fn a_gated_pack_changes_nothing_and_says_every_blocker_verbatim() {
    let home = Home::new();
    let blockers = ["legal review", "  ", "launch ☂ on Mönday"];
    let planned = home.plan(&pack("a-pack", "1.0.0", &[], &blockers), NOW, |_| ());
    assert!(planned.plan.is_empty());
    let said: Vec<_> = planned.diagnostics.iter().map(|found| found.message.as_str()).collect();
    assert_eq!(said.len(), 3);
    for (said, blocker) in said.iter().zip(blockers) {
        assert_eq!(*said, format!("a-pack is gated: {blocker}"));
    }
}

#[test]
fn applying_three_times_is_applying_once() {
    let home = Home::new();
    let one = pack("a-pack", "1.0.0", &[("@o/app", "app")], &[]);
    home.apply(&home.plan(&one, NOW, |_| ()));
    let before = home.record("a-pack").unwrap();
    assert_eq!(before.knowledge.as_ref().unwrap()["workspace"], "engineering");
    assert_eq!(
        (before.apps.as_slice(), before.skills.as_slice()),
        (["@o/app".to_owned()].as_slice(), ["greet".to_owned()].as_slice())
    );
    for _ in 0..2 {
        let again = home.plan(&one, LATER, |_| ());
        assert!(again.plan.is_empty(), "{}", again.plan);
        assert!(again.outcomes.iter().all(|row| row.action == Action::Unchanged));
        home.apply(&again);
    }
    assert_eq!(home.record("a-pack").unwrap(), before);
}

#[test]
fn a_new_version_replaces_and_keeps_data_and_the_first_date() {
    let home = Home::new();
    home.apply(&home.plan(&pack("a-pack", "1.0.0", &[("x", "one"), ("y", "y")], &[]), NOW, |_| ()));
    let data = PathBuf::from(home.app("x").unwrap().data_dir);
    fs::create_dir_all(&data).unwrap();
    fs::write(data.join("notes"), "mine").unwrap();
    let planned = home.plan(&pack("a-pack", "2.0.0", &[("x", "two")], &[]), LATER, |_| ());
    let warned: Vec<_> = planned.diagnostics.iter().map(|found| found.code).collect();
    assert_eq!(warned, ["HD0314"], "the app that is gone stays, and that is said");
    home.apply(&planned);
    let record = home.record("a-pack").unwrap();
    assert_eq!((record.version.as_str(), record.installed_at.as_str()), ("2.0.0", NOW));
    assert_eq!(record.updated_at, LATER);
    let app = home.app("x").unwrap();
    assert_eq!(fs::read_to_string(PathBuf::from(&app.dir).join("APP.md")).unwrap(), "two");
    assert_eq!(fs::read_to_string(data.join("notes")).unwrap(), "mine");
    assert_eq!((app.installed_at.as_str(), app.updated_at.as_str()), (NOW, LATER));
}

#[test]
fn an_app_of_another_pack_is_refused_naming_both() {
    let home = Home::new();
    home.apply(&home.plan(&pack("a-pack", "1.0.0", &[("x", "one")], &[]), NOW, |_| ()));
    let planned = home.plan(&pack("b-pack", "1.0.0", &[("x", "one")], &[]), NOW, |_| ());
    let found = planned.diagnostics.iter().find(|found| found.code == "HD0309").unwrap();
    assert!(
        found.message.contains("a-pack") && found.message.contains("b-pack"),
        "{}",
        found.message
    );
}

#[test]
fn missing_includes_stop_it_unless_it_may_be_partial() {
    let home = Home::new();
    let mut one = pack("a-pack", "1.0.0", &[], &[]);
    one.missing.push(MissingInclude {
        include: "@x/skill-pack-y".to_owned(),
        looked: vec![".skills/y".to_owned(), "node_modules/@x/skill-pack-y".to_owned()],
    });
    let refused = home.plan(&one, NOW, |_| ());
    assert!(refused.has_errors());
    assert!(refused.diagnostics[0].help.as_ref().unwrap().contains(".skills/y, node_modules/"));
    let partial = home.plan(&one, NOW, |request| request.partial = true);
    assert_eq!(partial.diagnostics[0].severity, Severity::Warning);
    home.apply(&partial);
    assert_eq!(home.record("a-pack").unwrap().missing, ["@x/skill-pack-y"]);
}

#[test]
fn an_origin_is_only_left_with_a_word() {
    let pin = |sha: &str| format!("git+https://h.example/r#{}", sha.repeat(40));
    for (before, now, same) in [
        ("/a", "/b", true),
        ("/a", "https://h.example/x.aospkg", true),
        (pin("0").as_str(), pin("1").as_str(), true),
        (pin("0").as_str(), "git+https://h.example/other#0", false),
        (pin("0").as_str(), "/a", false),
        ("npm:@o/a@1.0.0", "npm:@o/a@2.0.0", true),
        ("npm:a@1.0.0", "npm:b@1.0.0", false),
        ("npm:@o/a@1.0.0", "npm:@o/b@1.0.0", false),
        ("https://h.example/x.aospkg", "https://h.example/y.aospkg", false),
    ] {
        assert_eq!(same_origin(before, now), same, "{before} then {now}");
    }
    let home = Home::new();
    let mut one = pack("a-pack", "1.0.0", &[], &[]);
    one.origin = pin("0");
    home.apply(&home.plan(&one, NOW, |_| ()));
    one.origin = "/elsewhere".to_owned();
    assert_eq!(home.plan(&one, NOW, |_| ()).diagnostics[0].code, "HD0311");
    assert!(!home.plan(&one, NOW, |request| request.replace = true).has_errors());
}

#[test]
fn uninstall_takes_everything_but_data_and_twice_is_a_no_op() {
    let home = Home::new();
    home.apply(&home.plan(&pack("a-pack", "1.0.0", &[("x", "one")], &[]), NOW, |_| ()));
    let data = PathBuf::from(home.app("x").unwrap().data_dir);
    fs::create_dir_all(&data).unwrap();
    fs::write(data.join("notes"), "mine").unwrap();
    let planned = home.removal("a-pack", false);
    home.apply(&planned);
    assert!(planned.outcomes.iter().all(|row| row.action == Action::Removed));
    assert!(!home.0.path().join(".claude").exists());
    assert_eq!((home.record("a-pack"), home.app("x")), (None, None));
    assert!(data.join("notes").is_file());
    assert!(home.removal("a-pack", false).plan.is_empty());

    home.apply(&home.plan(&pack("a-pack", "1.0.0", &[("x", "one")], &[]), NOW, |_| ()));
    home.apply(&home.removal("a-pack", true));
    assert!(!data.exists());
}

#[test]
fn a_data_directory_of_the_users_choice_wins_and_stays() {
    let home = Home::new();
    let chosen = home.0.path().join("my-data");
    let one = pack("a-pack", "1.0.0", &[("x", "one")], &[]);
    home.apply(&home.plan(&one, NOW, |request| {
        request.data_dir = Some(Box::leak(Box::new(chosen.clone())));
    }));
    assert_eq!(home.app("x").unwrap().data_dir, chosen.display().to_string());
    home.apply(&home.plan(&one, LATER, |_| ()));
    assert_eq!(home.app("x").unwrap().data_dir, chosen.display().to_string());
    fs::create_dir(&chosen).unwrap();
    home.apply(&home.removal("a-pack", true));
    assert!(chosen.is_dir(), "what lies outside the store is not ours");

    fs::remove_dir(&chosen).unwrap();
    fs::write(&chosen, "a file").unwrap();
    let planned = home.plan(&one, NOW, |request| {
        request.data_dir = Some(Box::leak(Box::new(chosen.clone())));
    });
    assert_eq!(planned.diagnostics[0].code, "HD0313");
}
