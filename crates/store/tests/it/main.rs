//! The store through its public API, on real directories.

mod child;
mod fetching;
mod server;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use holdall_store::{
    AppRecord, AppSource, DigestRecord, PackRecord, Store, StoreError, canonical, file_key,
};
use proptest::prelude::*;

fn pack(name: &str) -> PackRecord {
    PackRecord {
        name: name.to_owned(),
        version: "1.2.0".to_owned(),
        title: "A pack".to_owned(),
        origin: "/src/pack".to_owned(),
        subdir: None,
        status: "ready".to_owned(),
        digest: DigestRecord { alg: "agentproto-pack-digest/v1".to_owned(), hex: "0".repeat(64) },
        tree: format!("holdall-tree/v1:{}", "1".repeat(64)),
        apps: vec!["@owner/app".to_owned()],
        skills: Vec::new(),
        missing: Vec::new(),
        knowledge: None,
        playbook: None,
        pricing: None,
        installed_at: "2026-11-30T00:00:00.000Z".to_owned(),
        updated_at: "2026-11-30T00:00:00.000Z".to_owned(),
    }
}

fn put(store: &Store, record: &PackRecord) -> std::path::PathBuf {
    let path = store.record_path::<PackRecord>(&record.name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, canonical(record)).unwrap();
    path
}

#[test]
fn a_record_is_found_by_its_key_and_listed_in_order() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::at(home.path().join("store")).unwrap();
    assert_eq!(store.records::<PackRecord>().unwrap(), []);
    store.create().unwrap();
    for name in ["zeta-pack", "alpha-pack"] {
        put(&store, &pack(name));
    }
    assert_eq!(store.record::<PackRecord>("zeta-pack").unwrap(), Some(pack("zeta-pack")));
    assert_eq!(store.record::<PackRecord>("other").unwrap(), None);
    let names: Vec<_> =
        store.records::<PackRecord>().unwrap().into_iter().map(|pack| pack.name).collect();
    assert_eq!(names, ["alpha-pack", "zeta-pack"]);
}

#[test]
fn a_corrupt_record_is_an_error_and_never_absent() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::at(home.path().join("store")).unwrap();
    store.create().unwrap();
    let path = put(&store, &pack("a-pack"));
    let whole = fs::read(&path).unwrap();
    let broken: [&[u8]; 5] = [b"", b"{", b"null", &whole[..whole.len() / 2], b"\xff"];
    for bytes in broken {
        fs::write(&path, bytes).unwrap();
        assert!(matches!(store.record::<PackRecord>("a-pack"), Err(StoreError::Corrupt { .. })));
        let error = store.records::<PackRecord>().unwrap_err();
        let diagnostic = error.diagnostic();
        assert_eq!(diagnostic.code, "HD0202");
        assert_eq!(diagnostic.path.as_deref(), path.to_str());
        assert!(diagnostic.help.is_some());
    }
    // A record under another's name would be two records of one thing.
    fs::write(&path, canonical(&pack("b-pack"))).unwrap();
    assert!(matches!(store.record::<PackRecord>("a-pack"), Err(StoreError::Corrupt { .. })));
    // What a killed process left beside it is not a record.
    fs::write(&path, &whole).unwrap();
    fs::write(path.with_file_name(".holdall-stage-1"), "{").unwrap();
    assert_eq!(store.records::<PackRecord>().unwrap().len(), 1);
}

#[test]
fn the_store_must_be_private() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("a/b/store");
    let store = Store::at(&root).unwrap();
    store.create().unwrap();
    assert_eq!(fs::metadata(&root).unwrap().permissions().mode() & 0o7777, 0o700);
    for mode in [0o770, 0o702, 0o777] {
        fs::set_permissions(&root, fs::Permissions::from_mode(mode)).unwrap();
        assert!(matches!(Store::at(&root), Err(StoreError::NotPrivate { .. })), "{mode:o}");
    }
    fs::set_permissions(&root, fs::Permissions::from_mode(0o755)).unwrap();
    Store::at(&root).unwrap();
    fs::write(home.path().join("file"), "").unwrap();
    assert!(Store::at(home.path().join("file")).is_err());
}

#[test]
fn two_processes_wait_for_each_other_and_say_so() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::at(home.path().join("store")).unwrap();
    let first = store.lock(|| unreachable!("nobody else has it")).unwrap();
    let waited = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let second = scope.spawn(|| {
            store.lock(|| waited.store(true, std::sync::atomic::Ordering::SeqCst)).unwrap()
        });
        std::thread::sleep(std::time::Duration::from_millis(1500));
        assert!(!second.is_finished());
        drop(first);
        drop(second.join().unwrap());
    });
    assert!(waited.into_inner());
}

#[test]
fn settings_are_strict_and_say_where() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::at(home.path().join("store")).unwrap();
    store.create().unwrap();
    assert_eq!(store.config().unwrap().command_seconds(), 60);
    let path = store.root().join("config.toml");
    fs::write(&path, "knowledge-roots = [\"k\", \"/abs\"]\n[destinations]\nclaude = \"s\"\n")
        .unwrap();
    let config = store.config().unwrap();
    assert_eq!(config.knowledge_roots(), [store.root().join("k"), "/abs".into()]);
    assert_eq!(config.destination("claude"), Some(store.root().join("s").as_path()));
    for (text, line) in
        [("knowledge-rots = []", 1), ("\n[limits]\nfetch-bytes = \"many\"", 3), ("products = [", 1)]
    {
        fs::write(&path, text).unwrap();
        let diagnostic = store.config().unwrap_err().diagnostic();
        assert_eq!(diagnostic.code, "HD0204", "{text}");
        assert_eq!(diagnostic.span.unwrap().start.line, line, "{text}: {}", diagnostic.message);
    }
}

#[test]
fn an_app_record_keeps_its_source() {
    let record = AppRecord {
        app_id: "@owner/app".to_owned(),
        version: "0.1.0".to_owned(),
        name: None,
        dir: "/s/apps/%40owner%2Fapp".to_owned(),
        data_dir: "/s/app-data/%40owner%2Fapp".to_owned(),
        pack: None,
        tree: String::new(),
        source: AppSource::Git {
            url: "https://h.example/r".to_owned(),
            reference: Some("main".to_owned()),
            sha: "0".repeat(40),
            subdir: None,
        },
        check: "shallow".to_owned(),
        installed_at: String::new(),
        updated_at: String::new(),
    };
    let bytes = canonical(&record);
    assert_eq!(serde_json::from_slice::<AppRecord>(&bytes).unwrap(), record);
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.contains(r#""source":{"kind":"git","ref":"main","sha":"0000"#), "{text}");
    assert!(text.starts_with(r#"{"appId":"@owner/app","check":"shallow","#), "{text}");
}

#[test]
fn keys_become_the_expected_names() {
    assert_eq!(file_key("the-agentic-coder"), "the-agentic-coder");
    assert_eq!(file_key("@owner/app"), "%40owner%2Fapp");
    assert_eq!(file_key(".."), "%2E.");
    assert_eq!(file_key("A"), "%41");
    assert_ne!(file_key(""), "");
}

proptest! {
    #[test]
    fn keys_never_collide_and_are_plain_names(a in ".{0,300}", b in ".{0,300}") {
        let (x, y) = (file_key(&a), file_key(&b));
        prop_assert_eq!(a == b, x == y);
        prop_assert!(x.len() <= 200 && !x.contains('/') && x != ".." && x != ".");
        prop_assert_eq!(Path::new(&x).components().count(), 1);
        prop_assert_eq!(x.to_lowercase() == y.to_lowercase(), a == b);
    }
}
