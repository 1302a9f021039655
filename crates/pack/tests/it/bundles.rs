//! `.agentapp` bundles: round trip, and everything a hostile one may hold (`pack-v1` 4.3).

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use holdall_pack::{Bundle, BundleLimits, BundleOptions, write_bundle};
use holdall_tree::{Algorithm, Digest, MemTree, Tree, TreePath, tree_hash};
use proptest::prelude::*;
use serde_json::{Value, json};
use sha2::Digest as _;

use crate::{lines, tree};

const DOCUMENT: &str = "---\nschema: app/v1\nid: '@owner/panel'\nname: Panel\nversion: 1.2.0\nagents:\n  - {id: lead, path: .agentproto/agents/lead/AGENT.md}\nworkflows: []\nui:\n  path: .agentproto/ui/index.html\n---\n";

const FILES: [(&str, &str); 5] = [
    (".agentproto/APP.md", DOCUMENT),
    (".agentproto/agents/lead/AGENT.md", "lead\n"),
    (".agentproto/ui/index.html", "<p>\n"),
    ("b.txt", "b\n"),
    ("a/empty", ""),
];

fn app() -> MemTree {
    let mut tree = tree(&FILES);
    tree.add_executable("run.sh", "#!/bin/sh\n").unwrap();
    tree
}

fn bundle(tree: &MemTree) -> Vec<u8> {
    let mut out = Vec::new();
    write_bundle(tree, &BundleOptions::default(), &mut out).expect("a bundle");
    out
}

fn open(bytes: &[u8]) -> Result<Bundle, String> {
    Bundle::open(bytes, BundleLimits::default()).map_err(|found| found.code.to_owned())
}

fn sha256(parts: &[&str]) -> String {
    let mut hash = sha2::Sha256::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn what_goes_in_comes_out() {
    let mut with = app();
    with.add_file("node_modules/x/index.js", "x").unwrap();
    with.add_file("sub/.git/HEAD", "x").unwrap();
    with.add_file("manifest.json", "{}").unwrap();
    with.add_symlink("link", "b.txt").unwrap();
    let mut bytes = Vec::new();
    let made = write_bundle(&with, &BundleOptions::default(), &mut bytes).expect("a bundle");
    assert_eq!(
        lines(&made.diagnostics),
        ["PK0530 link", "PK0530 manifest.json", "PK0530 node_modules", "PK0530 sub/.git"]
    );
    let read = open(&bytes).expect("it opens");
    assert_eq!(read.manifest().id(), "@owner/panel");
    assert_eq!(read.manifest().version(), "1.2.0");
    let sorted = [
        ".agentproto/APP.md",
        ".agentproto/agents/lead/AGENT.md",
        ".agentproto/ui/index.html",
        "a/empty",
        "b.txt",
        "run.sh",
    ];
    assert_eq!(read.manifest().files(), sorted);
    // The aggregate by the format's recipe, and the archive's own digest.
    let aggregate = sha256(&[DOCUMENT, "lead\n", "<p>\n", "", "b\n", "#!/bin/sh\n"]);
    assert_eq!(read.aggregate(), Digest::from_hex(Algorithm::AgentappV1, &aggregate).unwrap());
    assert_eq!(read.archive(), Digest::sha256(&bytes));
    // The same tree as the app without what is left out, modes included.
    let hash = |tree: &dyn Tree| tree_hash(tree, holdall_tree::HashOptions::default()).unwrap();
    assert_eq!(hash(&read), hash(&app()));
    assert!(read.metadata(&TreePath::new("run.sh").unwrap()).unwrap().executable());
    assert!(!read.exists(&TreePath::new("manifest.json").unwrap()));
    // The same bytes whenever it is packed, whatever is left out.
    assert!(bundle(&app()) == bytes);
}

#[test]
fn what_is_no_app_is_no_bundle() {
    let refused = |tree: &MemTree| {
        let mut out = Vec::new();
        let found = write_bundle(tree, &BundleOptions::default(), &mut out).expect_err("refused");
        lines(&found)
    };
    assert_eq!(refused(&tree(&[("APP.md", DOCUMENT)])), ["PK0509 "]);
    assert_eq!(refused(&tree(&[("x", "y")])), ["PK0509 "]);
    let broken = DOCUMENT.replace("app/v1", "app/v2");
    assert_eq!(refused(&tree(&[(".agentproto/APP.md", &broken)])), ["PK0503 .agentproto/APP.md:2"]);
    let mut secret = app();
    secret.add_file(".env", "TOKEN=x").unwrap();
    assert_eq!(refused(&secret), ["PK0531 .env"]);
    let path = TreePath::new(".env").unwrap();
    let included = BundleOptions { include: vec![path.clone()], ..BundleOptions::default() };
    assert!(write_bundle(&secret, &included, &mut Vec::new()).is_ok());
    let excluded = BundleOptions { exclude: vec![path], ..BundleOptions::default() };
    let mut bytes = Vec::new();
    write_bundle(&secret, &excluded, &mut bytes).unwrap();
    assert!(bytes == bundle(&app()));
    let mut twice = app();
    twice.add_file("B.txt", "x").unwrap();
    assert_eq!(refused(&twice).len(), 1);
}

/// A member of a made-up tar.
#[derive(Clone)]
struct Entry(&'static str, Vec<u8>, u8);

fn file(name: &'static str, text: &str) -> Entry {
    Entry(name, text.as_bytes().to_vec(), b'0')
}

/// A tar by hand, so that it can hold what no writer writes.
fn tar(entries: &[Entry]) -> Vec<u8> {
    let mut out = Vec::new();
    for Entry(name, data, kind) in entries {
        let mut header = [0_u8; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..108].copy_from_slice(b"0000644\0");
        header[108..116].copy_from_slice(b"0000000\0");
        header[116..124].copy_from_slice(b"0000000\0");
        let size = if *kind == b'0' { data.len() } else { 0 };
        header[124..136].copy_from_slice(format!("{size:011o}\0").as_bytes());
        header[136..148].copy_from_slice(b"00000000000\0");
        header[156] = *kind;
        if *kind == b'2' || *kind == b'1' {
            header[157..157 + data.len()].copy_from_slice(data);
        }
        header[257..265].copy_from_slice(b"ustar\x0000");
        header[148..156].fill(b' ');
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        out.extend_from_slice(&header);
        if *kind == b'0' {
            out.extend_from_slice(data);
            out.resize(out.len().next_multiple_of(512), 0);
        }
    }
    out.resize(out.len() + 1024, 0);
    out
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn listing(files: &[(&str, &str)]) -> Value {
    let texts: Vec<&str> = files.iter().map(|(_, text)| *text).collect();
    json!({
        "format": "agentapp/v1", "id": "a", "version": "1.0.0", "agents": [], "workflows": [],
        "files": files.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        "fileCount": files.len(),
        "totalSize": texts.iter().map(|text| text.len()).sum::<usize>(),
        "sha256": sha256(&texts),
        "createdAt": "2026-01-01T00:00:00.000Z", "agentprotoVersion": ">=0.1.0",
    })
}

fn made(listing: &Value, entries: &[Entry]) -> Vec<u8> {
    let mut all = vec![Entry("manifest.json", listing.to_string().into_bytes(), b'0')];
    all.extend_from_slice(entries);
    gzip(&tar(&all))
}

const TWO: [(&str, &str); 2] = [("a", "alpha\n"), ("b", "beta\n")];

fn two() -> Vec<Entry> {
    vec![file("a", "alpha\n"), file("b", "beta\n")]
}

#[test]
fn bundles_of_other_tools_open() {
    assert!(open(&made(&listing(&TWO), &two())).is_ok());
    // `tar -c .` writes `./` in front and members for directories; the manifest may be last.
    let entries = [
        Entry("./", Vec::new(), b'5'),
        file("./a", "alpha\n"),
        file("./b", "beta\n"),
        Entry("./manifest.json", listing(&TWO).to_string().into_bytes(), b'0'),
    ];
    assert!(open(&gzip(&tar(&entries))).is_ok());
    // Unknown members of the manifest are newer tools'.
    let mut newer = listing(&TWO);
    newer["release"] = json!(true);
    assert!(open(&made(&newer, &two())).is_ok());
}

#[test]
fn what_is_not_as_listed_is_refused() {
    let ok = listing(&TWO);
    let with = |key: &str, value: Value| {
        let mut changed = ok.clone();
        changed[key] = value;
        made(&changed, &two())
    };
    let without = |key: &str| {
        let mut changed = ok.clone();
        changed.as_object_mut().unwrap().remove(key);
        made(&changed, &two())
    };
    let entries = |entries: Vec<Entry>| made(&ok, &entries);
    let more = |entry: Entry| [two(), vec![entry]].concat();
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("tampered", entries(vec![file("a", "alphA\n"), file("b", "beta\n")]), "PK0526"),
        ("other split", entries(vec![file("a", "alpha\nb"), file("b", "eta\n")]), ""),
        ("sha256", with("sha256", json!("0".repeat(64))), "PK0526"),
        ("fileCount", with("fileCount", json!(3)), "PK0526"),
        ("totalSize", with("totalSize", json!(1)), "PK0526"),
        ("extra", entries(more(file("c", "x"))), "PK0527"),
        ("missing", entries(vec![file("a", "alpha\n")]), "PK0527"),
        ("unsorted", with("files", json!(["b", "a"])), "PK0527"),
        ("listed twice", with("files", json!(["a", "a"])), "PK0527"),
        ("there twice", entries(more(file("a", "alpha\n"))), "PK0527"),
        (
            "case",
            made(
                &listing(&[("A", "alpha\n"), ("a", "beta\n")]),
                &[file("A", "alpha\n"), file("a", "beta\n")],
            ),
            "PK0527",
        ),
        ("file and directory", entries(more(file("a/x", "x"))), "PK0527"),
        ("listed ..", with("files", json!(["../a", "b"])), "PK0525"),
        ("listed absolute", with("files", json!(["/a", "b"])), "PK0525"),
        ("listed empty", with("files", json!(["", "b"])), "PK0525"),
        ("entry ..", entries(more(file("../c", "x"))), "PK0525"),
        ("entry absolute", entries(more(file("/c", "x"))), "PK0525"),
        ("symlink", entries(more(Entry("c", b"/etc/passwd".to_vec(), b'2'))), "PK0528"),
        ("hard link", entries(more(Entry("c", b"a".to_vec(), b'1'))), "PK0528"),
        ("fifo", entries(more(Entry("c", Vec::new(), b'6'))), "PK0528"),
        ("no manifest", gzip(&tar(&two())), "PK0522"),
        ("no JSON", gzip(&tar(&[file("manifest.json", "x")])), "PK0523"),
        ("no object", gzip(&tar(&[file("manifest.json", "[]")])), "PK0523"),
        (
            "key twice",
            gzip(&tar(&[file("manifest.json", r#"{"format":"agentapp/v1","format":"x"}"#)])),
            "PK0523",
        ),
        ("no id", without("id"), "PK0523"),
        ("no files", without("files"), "PK0523"),
        ("no sha256", without("sha256"), "PK0523"),
        ("sha256 is none", with("sha256", json!("xyz")), "PK0523"),
        ("format", with("format", json!("agentapp/v2")), "PK0524"),
        ("no gzip", tar(&two()), "PK0521"),
        ("empty", Vec::new(), "PK0521"),
        ("text", b"hello\n".to_vec(), "PK0521"),
        ("no tar", gzip(b"hello\n"), "PK0521"),
    ];
    for (name, bytes, code) in cases {
        let found = open(&bytes).err();
        if name == "other split" {
            // The weakness of the aggregate: the bytes are the same, only the sizes moved.
            assert_eq!(found, None, "the format cannot tell");
            continue;
        }
        assert_eq!(found.as_deref(), Some(code), "{name}");
    }
    let good = made(&ok, &two());
    for cut in 0..good.len() {
        assert!(open(&good[..cut]).is_err(), "cut at {cut}");
    }
    assert_eq!(open(&[good.clone(), vec![0]].concat()).err().as_deref(), Some("PK0521"));
    assert_eq!(open(&[good.clone(), good].concat()).err().as_deref(), Some("PK0521"));
}

#[test]
fn the_list_says_what_the_app_says() {
    let app = |fields: &str| {
        let text = format!(
            "---\nschema: app/v1\n{fields}agents: []\nworkflows: []\nui: {{path: b}}\n---\n"
        );
        let files = [("APP.md", text.as_str()), ("b", "beta\n")];
        let entries = [file("APP.md", &text), file("b", "beta\n")];
        // The list has the id `a` and the version 1.0.0.
        let opened = Bundle::open(&*made(&listing(&files), &entries), BundleLimits::default());
        opened.map(|bundle| lines(bundle.warnings())).map_err(|found| found.code)
    };
    let (none, warned) = (Vec::<String>::new(), vec!["PK0533 manifest.json".to_owned()]);
    assert_eq!(app("id: a\nversion: 1.0.0\n"), Ok(none.clone()));
    assert_eq!(app("id: a\nversion: 1.0.1\n"), Ok(warned.clone()));
    assert_eq!(app("id: a\n"), Ok(warned.clone()), "without one it is 0.1.0");
    assert_eq!(app("id: b\nversion: 1.0.0\n"), Err("PK0532"));
    assert_eq!(app("id: '@owner/a'\nversion: 1.0.0\n"), Err("PK0532"));
    // Packers call an app without an id after its directory, or `app`.
    assert_eq!(app("version: 1.0.0\n"), Ok(none.clone()));
    assert_eq!(app("id: [\n"), Ok(none), "what is no document is said by who reads it");
}

#[test]
fn nothing_grows_beyond_its_limit() {
    let limits = BundleLimits { entries: 3, bytes: 20, path: 10 };
    let code = |bytes: &[u8]| Bundle::open(bytes, limits).err().map(|found| found.code);
    let small = |entries: &[Entry]| gzip(&tar(entries));
    assert_eq!(
        code(&small(&[file("a", "x"), file("b", "x"), file("c", "x"), file("d", "x")])),
        Some("PK0529")
    );
    assert_eq!(code(&small(&[file("a", &"x".repeat(21))])), Some("PK0529"));
    assert_eq!(code(&small(&[file("a-long-name", "x")])), Some("PK0529"));
    // Gigabytes of zeros in a few kilobytes are refused while they are unpacked.
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let zeros = vec![0; 1 << 20];
    for _ in 0..80 {
        encoder.write_all(&zeros).unwrap();
    }
    let bomb = encoder.finish().unwrap();
    assert!(bomb.len() < 1 << 20);
    assert_eq!(code(&bomb), Some("PK0529"));
}

proptest! {
    #[test]
    fn nothing_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = open(&bytes);
        let _ = open(&gzip(&bytes));
        let _ = open(&gzip(&tar(&[Entry("manifest.json", bytes, b'0')])));
    }

    #[test]
    fn every_app_comes_back(files in proptest::collection::btree_map("[a-z]{1,6}(/[a-z]{1,6}){0,2}", proptest::collection::vec(any::<u8>(), 0..700), 0..6)) {
        let mut app = tree(&[(".agentproto/APP.md", DOCUMENT)]);
        for (path, bytes) in &files {
            let taken = files.keys().any(|other| other != path && (other.starts_with(&format!("{path}/")) || path.starts_with(&format!("{other}/"))));
            if !taken {
                app.add_file(path, bytes).unwrap();
            }
        }
        let made = bundle(&app);
        let read = open(&made).expect("it opens");
        let hash = |tree: &dyn Tree| tree_hash(tree, holdall_tree::HashOptions::default()).unwrap();
        prop_assert_eq!(hash(&read), hash(&app));
    }
}
