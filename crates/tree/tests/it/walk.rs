use std::fs;

use holdall_tree::{DirTree, Limits, MemTree, Tree, TreeErrorKind, TreePath, walk};
use proptest::prelude::*;

use crate::{memory, p, root};

fn paths(tree: &dyn Tree, root: &str) -> Vec<String> {
    walk(tree, &p(root), Limits::default()).map(|e| e.unwrap().path.to_string()).collect()
}

#[test]
fn goes_in_the_order_of_path_bytes() {
    let mut tree = MemTree::new();
    for path in ["a/c", "a/b/x", "a-b", "a.txt", "a0", "B"] {
        tree.add_file(path, "").unwrap();
    }
    assert_eq!(paths(&tree, ""), ["B", "a", "a-b", "a.txt", "a/b", "a/b/x", "a/c", "a0"]);
    assert_eq!(paths(&tree, "a"), ["a/b", "a/b/x", "a/c"]);
}

#[test]
fn leaves_out_what_is_skipped() {
    let mut tree = MemTree::new();
    for path in ["a/c", "node_modules/x/y", "z"] {
        tree.add_file(path, "").unwrap();
    }
    let mut entries = walk(&tree, &TreePath::root(), Limits::default());
    let mut seen = Vec::new();
    while let Some(entry) = entries.next() {
        let path = entry.unwrap().path.to_string();
        if path == "node_modules" {
            entries.skip_children();
        }
        seen.push(path);
    }
    assert_eq!(seen, ["a", "a/c", "node_modules", "z"]);
}

#[test]
fn ends_at_its_limits() {
    let mut tree = MemTree::new();
    tree.add_file("a/b/c/d", "").unwrap();
    tree.add_file("z", "").unwrap();
    let run = |depth, entries| {
        let items: Vec<_> = walk(&tree, &TreePath::root(), Limits { depth, entries }).collect();
        (items.len(), items.last().unwrap().as_ref().err().map(|error| error.kind))
    };
    assert_eq!(run(4, 5), (5, None));
    assert_eq!(run(3, 5), (4, Some(TreeErrorKind::TooLarge)));
    assert_eq!(run(4, 4), (4, Some(TreeErrorKind::TooLarge)));
    assert_eq!(run(0, 9), (1, Some(TreeErrorKind::TooLarge)));
}

#[test]
fn a_deep_tree_is_no_deep_stack() {
    let dir = tempfile::tempdir().unwrap();
    let mut path = dir.path().to_path_buf();
    for _ in 0..300 {
        path.push("dddddd");
        fs::create_dir(&path).unwrap();
    }
    let tree = DirTree::open(dir.path()).unwrap();
    let deep = Limits { depth: 1_000, ..Limits::default() };
    assert_eq!(walk(&tree, &TreePath::root(), deep).flatten().count(), 300);
    let last = walk(&tree, &TreePath::root(), Limits::default()).last().unwrap();
    assert_eq!(last.unwrap_err().kind, TreeErrorKind::TooLarge);
}

#[test]
fn goes_on_behind_a_directory_it_may_not_read() {
    let dir = tempfile::tempdir().unwrap();
    for path in ["a", "b", "c"] {
        fs::create_dir(dir.path().join(path)).unwrap();
        fs::write(dir.path().join(path).join("f"), "").unwrap();
    }
    // No permission stops the superuser; a directory that vanishes fails for everybody.
    let tree = DirTree::open(dir.path()).unwrap();
    let mut seen = Vec::new();
    let mut failed = Vec::new();
    for entry in walk(&tree, &TreePath::root(), Limits::default()) {
        match entry {
            Ok(entry) => {
                if entry.path.as_str() == "b" {
                    fs::remove_dir_all(dir.path().join("b")).unwrap();
                }
                seen.push(entry.path.to_string());
            }
            Err(error) => failed.push((error.path.to_string(), error.kind)),
        }
    }
    assert_eq!(seen, ["a", "a/f", "b", "c", "c/f"]);
    assert_eq!(failed, [("b".to_owned(), TreeErrorKind::NotFound)]);
}

proptest! {
    #[test]
    fn is_sorted_and_complete(entries in root()) {
        let tree = memory(&entries);
        let all = paths(&tree, "");
        prop_assert!(all.is_sorted_by(|a, b| a.as_bytes() < b.as_bytes()));
        for path in &all {
            prop_assert!(tree.exists(&p(path)));
        }
    }
}
