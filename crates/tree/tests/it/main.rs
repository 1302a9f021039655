//! Trees on real directories, compared with trees in memory and with other implementations.

mod digest;
mod directory;
mod hash;
mod path;
mod portable;
mod race;
mod same;
mod stage;
mod walk;

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use holdall_tree::{DirTree, MemTree, TreePath};
use proptest::prelude::*;

fn p(path: &str) -> TreePath {
    TreePath::new(path).unwrap()
}

/// A tree as a value from which both kinds of tree are made.
#[derive(Debug, Clone)]
enum Node {
    File(Vec<u8>, bool),
    Link(String),
    Dir(BTreeMap<String, Node>),
}

fn name() -> impl Strategy<Value = String> {
    let odd = "[-a-zA-Z0-9 ._!~\\\\:*ÄäÉé漢🙂\u{200b}\n]{1,6}";
    prop_oneof![
        Just("a".to_owned()),
        Just("a-b".to_owned()),
        Just(".git".to_owned()),
        odd.prop_map(String::from)
    ]
    .prop_filter("not a name", |name| name != "." && name != "..")
}

fn node() -> impl Strategy<Value = Node> {
    let target = prop_oneof![
        "(\\.\\./){0,3}[a-c](/[a-c]){0,2}".prop_map(String::from),
        Just("/etc/passwd".to_owned()),
        Just("a".to_owned()),
        Just("./a//".to_owned()),
    ];
    let leaf = prop_oneof![
        3 => (proptest::collection::vec(any::<u8>(), 0..40), any::<bool>())
            .prop_map(|(bytes, x)| Node::File(bytes, x)),
        1 => target.prop_map(Node::Link),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        proptest::collection::btree_map(name(), inner, 0..5).prop_map(Node::Dir)
    })
}

/// The entries of a generated root.
fn root() -> impl Strategy<Value = BTreeMap<String, Node>> {
    proptest::collection::btree_map(name(), node(), 0..6)
}

fn fill_memory(tree: &mut MemTree, base: &str, entries: &BTreeMap<String, Node>) {
    for (name, node) in entries {
        let path = if base.is_empty() { name.clone() } else { format!("{base}/{name}") };
        match node {
            Node::File(bytes, true) => tree.add_executable(&path, bytes).unwrap(),
            Node::File(bytes, false) => tree.add_file(&path, bytes).unwrap(),
            Node::Link(target) => tree.add_symlink(&path, target).unwrap(),
            Node::Dir(below) => {
                tree.add_dir(&path).unwrap();
                fill_memory(tree, &path, below);
            }
        }
    }
}

/// Writes the entries, the last first if `backwards`.
fn fill_disk(base: &Path, entries: &BTreeMap<String, Node>, backwards: bool) {
    let mut entries: Vec<_> = entries.iter().collect();
    if backwards {
        entries.reverse();
    }
    for (name, node) in entries {
        let path = base.join(name);
        match node {
            Node::File(bytes, executable) => {
                std::fs::write(&path, bytes).unwrap();
                let mode = if *executable { 0o755 } else { 0o644 };
                std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            }
            Node::Link(target) => symlink(target, &path).unwrap(),
            Node::Dir(below) => {
                std::fs::create_dir(&path).unwrap();
                std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
                fill_disk(&path, below, backwards);
            }
        }
    }
}

fn memory(entries: &BTreeMap<String, Node>) -> MemTree {
    let mut tree = MemTree::new();
    fill_memory(&mut tree, "", entries);
    tree
}

fn disk(entries: &BTreeMap<String, Node>) -> (tempfile::TempDir, DirTree) {
    let dir = tempfile::tempdir().unwrap();
    fill_disk(dir.path(), entries, false);
    let tree = DirTree::open(dir.path()).unwrap();
    (dir, tree)
}
