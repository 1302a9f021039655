//! Digests against values that were computed elsewhere.

use std::path::PathBuf;

use holdall_artifact::digest::{EMPTY_GRAPH, content_hash, content_hash_of_tree};
use holdall_artifact::json::Value;
use holdall_artifact::rows::{self, Modes};
use holdall_artifact::{ManifestRead, OpenManifest, Sha256, read_artifact_manifest};
use holdall_tree::MemTree;
use sha2::Digest;

use crate::generate::object;

/// The files of the built root of the example project.
pub(crate) const SAY_HELLO: [&str; 5] = [
    "agent-bundle.manifest.json",
    ".claude-plugin/marketplace.json",
    ".claude-plugin/plugin.json",
    "INSTALL.md",
    "skills/greet/SKILL.md",
];

pub(crate) fn say_hello_dir() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/artifacts/say-hello")
}

pub(crate) fn say_hello() -> MemTree {
    let mut tree = MemTree::new();
    for path in SAY_HELLO {
        let bytes = std::fs::read(say_hello_dir().join(path)).expect("the example root");
        tree.add_file(path, bytes).expect("a path");
    }
    tree
}

pub(crate) fn open(tree: &MemTree) -> OpenManifest {
    match read_artifact_manifest(tree) {
        ManifestRead::Ok(open) => *open,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_digest_of_an_empty_graph_is_known() {
    let empty = || Value::Array(vec![]);
    let mut text = Vec::new();
    object! { "events": empty(), "providers": empty(), "scripts": empty(), "servers": empty() }
        .write(&mut text);
    assert_eq!(Sha256::of(&text).to_string(), EMPTY_GRAPH);
}

#[test]
fn the_example_root_is_what_its_description_says() {
    let tree = say_hello();
    let open = open(&tree);
    assert_eq!(open.source().bytes().len(), 3870);
    assert_eq!(
        Sha256::of(open.source().bytes()).to_string(),
        "de2b1341b4bc5d1fd3eadc3cda3f32775e94824925627c44ce5f15a5eb5bc7bb"
    );
    assert_eq!(
        open.manifest().compiler().project().revision().to_string(),
        "a3c3cf19f73bddea3f54c714b9de799fd607534d53b9f0f4881abd8ced26b753"
    );
    assert_eq!(rows::check(&tree, open.manifest(), Modes::Exact), []);
}

/// The recipe by hand: path, NUL, flag, NUL, bytes, NUL, in segment-wise collation order.
fn by_hand(entries: &[(&str, u8, &[u8])]) -> String {
    let mut hash = sha2::Sha256::new();
    for (path, flag, bytes) in entries {
        hash.update(path.as_bytes());
        hash.update([0, *flag, 0]);
        hash.update(bytes);
        hash.update([0]);
    }
    Sha256::new(hash.finalize().into()).to_string()
}

#[test]
fn the_content_hash_follows_its_recipe() {
    let mut tree = say_hello();
    let open = open(&tree);
    let manifest = open.source().bytes().to_vec();
    let bytes = |path: &str| std::fs::read(say_hello_dir().join(path)).expect("a file");
    let rest = [
        (".claude-plugin/marketplace.json", bytes(".claude-plugin/marketplace.json")),
        (".claude-plugin/plugin.json", bytes(".claude-plugin/plugin.json")),
        ("agent-bundle.manifest.json", manifest),
        ("INSTALL.md", bytes("INSTALL.md")),
        ("skills/greet/SKILL.md", bytes("skills/greet/SKILL.md")),
    ];
    let entries: Vec<_> = rest.iter().map(|(path, bytes)| (*path, b'-', &**bytes)).collect();
    let hash = content_hash(&tree, open.manifest()).expect("hashed");
    assert_eq!(hash.to_string(), by_hand(&entries));
    // An installed copy that is walked gives the same, its receipt and state left out.
    let mut installed = tree.clone();
    installed.add_file(".agent-bundle-install.json", "{}").unwrap();
    installed.add_file("State/db", "x").unwrap();
    installed.add_dir("empty").unwrap();
    assert_eq!(content_hash_of_tree(&installed).expect("walked"), hash);
    // Unlisted files count for nothing; operator files do, with the bit they have on disk.
    tree.add_file("stray", "x").unwrap();
    assert_eq!(content_hash(&tree, open.manifest()).expect("hashed"), hash);
    tree.add_executable(".env", "A=1\n").unwrap();
    let mut entries = entries.clone();
    entries.insert(2, (".env", b'x', b"A=1\n"));
    let hash = content_hash(&tree, open.manifest()).expect("hashed");
    assert_eq!(hash.to_string(), by_hand(&entries));
}

#[test]
fn a_walked_tree_with_a_link_has_no_content_hash() {
    let mut tree = MemTree::new();
    tree.add_symlink("a/link", "../b").unwrap();
    assert!(content_hash_of_tree(&tree).is_err());
    let mut tree = MemTree::new();
    tree.add_file("a/con", "x").unwrap();
    assert!(content_hash_of_tree(&tree).is_err());
}
