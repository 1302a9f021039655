//! A tree in memory and the same tree on a disk give the same answers.

use holdall_tree::{
    DirTree, FileKind, HashOptions, Limits, MemTree, SubTree, Tree, TreeErrorKind, TreePath,
    tree_hash, walk,
};
use proptest::prelude::*;

use crate::{disk, memory, p, root};

/// Everything a tree answers about a path; errors by kind.
fn answers(tree: &dyn Tree, path: &TreePath) -> String {
    let meta = tree.metadata(path).map(|meta| (meta.kind, meta.size, meta.executable()));
    let kind = |error: holdall_tree::TreeError| error.kind;
    format!(
        "{path} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
        meta.map_err(kind),
        tree.read(path, 1_000).map_err(kind),
        tree.read(path, 10).map_err(kind),
        tree.read_range(path, 3, 7).map_err(kind),
        tree.read_dir(path).map_err(kind),
        tree.read_link(path).map_err(kind),
        tree.resolve(path).map_err(kind),
    )
}

fn compare(memory: &MemTree, disk: &DirTree) {
    let entries = |tree: &dyn Tree| {
        walk(tree, &TreePath::root(), Limits::default()).collect::<Result<Vec<_>, _>>().unwrap()
    };
    let all = entries(memory);
    assert_eq!(all, entries(disk));
    let mut paths: Vec<_> = all.iter().map(|entry| entry.path.clone()).collect();
    paths.push(TreePath::root());
    paths.push(p("missing"));
    for entry in &all {
        paths.push(entry.path.join(&p("a")));
        paths.push(entry.path.join(&p("a/b")));
    }
    for path in paths {
        assert_eq!(answers(memory, &path), answers(disk, &path));
    }
    for dir in all.iter().filter(|entry| entry.kind == FileKind::Directory) {
        let one = SubTree::new(memory, dir.path.clone()).unwrap();
        let other = SubTree::new(disk, dir.path.clone()).unwrap();
        for entry in entries(&one) {
            assert_eq!(answers(&one, &entry.path), answers(&other, &entry.path));
        }
    }
    let hash = |tree: &dyn Tree| tree_hash(tree, HashOptions::default()).unwrap();
    assert_eq!(hash(memory), hash(disk));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn memory_and_disk_answer_alike(entries in root()) {
        let memory = memory(&entries);
        let (_dir, disk) = disk(&entries);
        compare(&memory, &disk);
        compare(&memory, &disk.without_openat2());
    }
}

#[test]
fn a_subtree_keeps_links_inside_it() {
    let mut tree = MemTree::new();
    tree.add_file("top", "x").unwrap();
    tree.add_file("sub/in", "y").unwrap();
    tree.add_symlink("sub/up", "../top").unwrap();
    tree.add_symlink("sub/ok", "in").unwrap();
    tree.add_symlink("alias", "sub").unwrap();
    assert_eq!(tree.resolve(&p("sub/up")), Ok(p("top")));
    let sub = SubTree::new(&tree, p("sub")).unwrap();
    assert_eq!(sub.resolve(&p("up")).unwrap_err().kind, TreeErrorKind::Escapes);
    assert_eq!(sub.resolve(&p("ok")), Ok(p("in")));
    let error = sub.open(&p("none")).unwrap_err();
    assert_eq!((error.path.as_str(), error.detail.starts_with("sub/none: ")), ("none", true));
    for not in ["top", "alias"] {
        let error = SubTree::new(&tree, p(not)).unwrap_err();
        assert_eq!(error.kind, TreeErrorKind::NotADirectory);
    }
}
