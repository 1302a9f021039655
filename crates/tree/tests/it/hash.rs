use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use holdall_tree::{DirTree, HashOptions, MemTree, Tree, TreeErrorKind, tree_hash};
use proptest::prelude::*;

use crate::{Node, disk, fill_disk, memory, root};

/// The same hash by other means, from the description alone.
const PYTHON: &str = r"
import hashlib, os, struct, sys
root = os.fsencode(sys.argv[1])
rows = []
for at, dirs, files in os.walk(root):
    for name in dirs + files:
        full = os.path.join(at, name)
        path = os.path.relpath(full, root)
        if os.path.islink(full):
            kind, content = b'l', os.readlink(full)
        elif os.path.isdir(full):
            if os.listdir(full):
                continue
            kind, content = b'd', b''
        else:
            kind = b'x' if os.stat(full).st_mode & 0o111 else b'f'
            content = open(full, 'rb').read()
        rows.append((path, kind, content))
out = b'holdall-tree/v1\0'
for path, kind, content in sorted(rows):
    out += kind + struct.pack('<I', len(path)) + path + struct.pack('<Q', len(content))
    out += hashlib.sha256(content).digest()
print(hashlib.sha256(out).hexdigest())
";

fn python(dir: &Path) -> String {
    let out = Command::new("python3").args(["-c", PYTHON]).arg(dir).output().expect("python3 runs");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap().trim().to_owned()
}

fn hash(tree: &dyn Tree) -> String {
    tree_hash(tree, HashOptions::default()).unwrap().hex()
}

#[test]
fn of_nothing_is_the_hash_of_the_first_line() {
    use sha2::Digest as _;
    let empty = holdall_tree::Digest::new(
        holdall_tree::Algorithm::HoldallTreeV1,
        sha2::Sha256::digest(b"holdall-tree/v1\0").into(),
    );
    assert_eq!(tree_hash(&MemTree::new(), HashOptions::default()), Ok(empty));
}

#[test]
fn agrees_with_another_implementation() {
    let dir = tempfile::tempdir().unwrap();
    for path in ["a/b/c", "empty", "a-b", "full"] {
        fs::create_dir_all(dir.path().join(path)).unwrap();
    }
    fs::write(dir.path().join("a/b/f"), "text\n").unwrap();
    fs::write(dir.path().join("a/é"), "").unwrap();
    fs::write(dir.path().join("full/big"), vec![42; 1_000_003]).unwrap();
    fs::write(dir.path().join("run"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(dir.path().join("run"), fs::Permissions::from_mode(0o710)).unwrap();
    std::os::unix::fs::symlink("a/b", dir.path().join("link")).unwrap();
    std::os::unix::fs::symlink("/dangling", dir.path().join("a/gone")).unwrap();
    assert_eq!(hash(&DirTree::open(dir.path()).unwrap()), python(dir.path()));
}

#[test]
fn leaves_out_only_the_top_git() {
    let mut plain = MemTree::new();
    plain.add_file("f", "x").unwrap();
    plain.add_file("sub/.git/HEAD", "y").unwrap();
    let mut checkout = plain.clone();
    checkout.add_file(".git/HEAD", "z").unwrap();
    let mut worktree = plain.clone();
    worktree.add_file(".git", "gitdir: elsewhere").unwrap();
    let options = HashOptions { without_git: true, ..HashOptions::default() };
    for tree in [&checkout, &worktree, &plain] {
        assert_eq!(tree_hash(tree, options).unwrap().hex(), hash(&plain));
    }
    assert_ne!(hash(&checkout), hash(&plain));
}

#[test]
fn names_what_has_no_hash() {
    let dir = tempfile::tempdir().unwrap();
    let tree = DirTree::open(dir.path()).unwrap();
    let error = || tree_hash(&tree, HashOptions::default()).unwrap_err();

    fs::create_dir(dir.path().join("d")).unwrap();
    let fifo = dir.path().join("d/fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    assert_eq!((error().kind, error().path.as_str()), (TreeErrorKind::WrongKind, "d/fifo"));
    fs::remove_file(fifo).unwrap();

    fs::write(dir.path().join(std::ffi::OsStr::from_bytes(b"d/n\xff")), "").unwrap();
    assert_eq!(error().kind, TreeErrorKind::NotUtf8);
    assert_eq!(error().to_string(), "d: the name n\\xff is not UTF-8 (EILSEQ)");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_tree_agrees_with_the_other_implementation(entries in root()) {
        let (dir, tree) = disk(&entries);
        prop_assert_eq!(hash(&tree), python(dir.path()));
    }
}

/// All trees that differ from `entries` in one thing.
fn changes(
    entries: &std::collections::BTreeMap<String, Node>,
) -> Vec<std::collections::BTreeMap<String, Node>> {
    let mut all = Vec::new();
    for (name, node) in entries {
        let mut with = |node: Node| {
            let mut changed = entries.clone();
            changed.insert(name.clone(), node);
            all.push(changed);
        };
        match node {
            Node::File(bytes, executable) => {
                with(Node::File(bytes.clone(), !executable));
                with(Node::File([bytes.as_slice(), b"!"].concat(), *executable));
                with(Node::Link(String::from_utf8_lossy(bytes).replace('\0', "") + "x"));
                if let Some((first, rest)) = bytes.split_first() {
                    with(Node::File([&[first ^ 1], rest].concat(), *executable));
                }
            }
            Node::Link(target) => {
                with(Node::Link(format!("{target}x")));
                with(Node::File(target.clone().into_bytes(), false));
            }
            Node::Dir(below) => {
                for changed in changes(below) {
                    with(Node::Dir(changed));
                }
            }
        }
        let mut removed = entries.clone();
        let node = removed.remove(name).unwrap();
        all.push(removed.clone());
        let mut renamed = format!("{name}x");
        while entries.contains_key(&renamed) {
            renamed.push('x');
        }
        removed.insert(renamed, node);
        all.push(removed);
    }
    let mut more = entries.clone();
    more.insert("an added name".into(), Node::Dir(std::collections::BTreeMap::new()));
    all.push(more);
    all
}

proptest! {
    #[test]
    fn every_change_changes_it(entries in root()) {
        let before = hash(&memory(&entries));
        for changed in changes(&entries) {
            prop_assert_ne!(&hash(&memory(&changed)), &before, "{:?}", changed);
        }
    }

    #[test]
    fn order_of_creation_and_place_do_not_matter(entries in root()) {
        let (_dir, tree) = disk(&entries);
        let other = tempfile::tempdir().unwrap();
        let deep = other.path().join("some/where");
        fs::create_dir_all(&deep).unwrap();
        fill_disk(&deep, &entries, true);
        prop_assert_eq!(hash(&tree), hash(&DirTree::open(&deep).unwrap()));
    }
}
