//! Rows against files (5.1 and section 7 of the format).

use std::collections::BTreeSet;

use holdall_artifact::json::{Document, Value};
use holdall_artifact::rows::{Modes, RowFault, check};
use holdall_artifact::{ArtifactManifest, parse_artifact_manifest};
use holdall_tree::{MemTree, TreePath};

use crate::digests::{open, say_hello, say_hello_dir};
use crate::mutants::{at, members};

fn faults(tree: &MemTree, manifest: &ArtifactManifest) -> Vec<(String, RowFault)> {
    let rows = check(tree, manifest, Modes::Exact);
    rows.into_iter().map(|row| (row.path.to_string(), row.fault)).collect()
}

#[test]
fn each_difference_is_named() {
    let manifest = open(&say_hello()).into_manifest();
    let path = "INSTALL.md";
    let good = std::fs::read(say_hello_dir().join(path)).expect("a file");
    let mut changed = good.clone();
    changed[0] ^= 1;

    let mut tree = say_hello();
    tree.add_file(path, &changed).unwrap();
    assert!(matches!(&faults(&tree, &manifest)[..], [(p, RowFault::Content { .. })] if p == path));
    tree.add_file(path, &good[1..]).unwrap();
    assert_eq!(
        faults(&tree, &manifest),
        [(path.to_owned(), RowFault::Size { expected: 20, found: 19 })]
    );
    tree.add_executable(path, &good).unwrap();
    assert!(matches!(&faults(&tree, &manifest)[..], [(_, RowFault::Mode { found: 0o755, .. })]));
    tree.add_symlink(path, "skills/greet/SKILL.md").unwrap();
    assert_eq!(
        faults(&tree, &manifest),
        [(path.to_owned(), RowFault::NotAFile("a symbolic link"))]
    );
    tree.add_dir(path).unwrap();
    assert_eq!(faults(&tree, &manifest), [(path.to_owned(), RowFault::NotAFile("a directory"))]);
    let mut tree = MemTree::new();
    for path in [".claude-plugin/marketplace.json", ".claude-plugin/plugin.json", "INSTALL.md"] {
        tree.add_file(path, std::fs::read(say_hello_dir().join(path)).expect("a file")).unwrap();
    }
    tree.add_symlink("skills", "/elsewhere").unwrap();
    let found = faults(&tree, &manifest);
    assert!(matches!(&found[..], [(_, RowFault::Ancestor)]), "{found:?}");
}

/// The example's manifest with a mode on one row.
fn with_mode(mode: u32) -> ArtifactManifest {
    let bytes = std::fs::read(say_hello_dir().join("agent-bundle.manifest.json")).expect("a file");
    let doc = Document::parse(&bytes).expect("JSON");
    let mut value = Value::from_node(doc.root());
    members(&mut value, "files.2").insert("mode", mode);
    assert_eq!(at(&mut value, "files.2.path").as_str(), Some("INSTALL.md"));
    parse_artifact_manifest(&value.to_canonical_bytes()).expect("valid")
}

#[test]
fn modes_are_compared_exactly_but_not_as_npm_leaves_them() {
    let good = std::fs::read(say_hello_dir().join("INSTALL.md")).expect("a file");
    let manifest = with_mode(0o755);
    let plain = say_hello();
    assert!(matches!(&faults(&plain, &manifest)[..], [(_, RowFault::Mode { found: 0o644, .. })]));
    let mut executable = say_hello();
    executable.add_executable("INSTALL.md", good).unwrap();
    assert_eq!(faults(&executable, &manifest), []);
    // npm may have taken the bit away, but not from the programs it links, and never gives it.
    let none = BTreeSet::new();
    let bins = BTreeSet::from([TreePath::new("INSTALL.md").unwrap()]);
    assert_eq!(check(&plain, &manifest, Modes::Npm { bins: &none }), []);
    assert_eq!(check(&plain, &manifest, Modes::Npm { bins: &bins }).len(), 1);
    let without = open(&say_hello()).into_manifest();
    assert_eq!(check(&executable, &without, Modes::Npm { bins: &none }).len(), 1);
    assert_eq!(check(&executable, &without, Modes::Npm { bins: &bins }), []);
}
