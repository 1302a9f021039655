//! What lies in a root without being part of its artifact.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use holdall_artifact::strays::{Detail, strays};
use holdall_tree::DirTree;

use crate::digests::{open, say_hello};
use crate::disk::copy_to;

fn found(root: &Path, detail: Detail) -> Vec<(String, String)> {
    let tree = DirTree::open(root).unwrap();
    let manifest = open(&say_hello()).into_manifest();
    let mut found: Vec<_> = strays(&tree, &manifest, None, detail)
        .into_iter()
        .map(|stray| (stray.path.to_string(), stray.kind.to_string()))
        .collect();
    found.sort();
    found
}

fn root() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    copy_to(place.path());
    place
}

fn owned(rows: &[(&str, &str)]) -> Vec<(String, String)> {
    rows.iter().map(|(path, what)| ((*path).to_owned(), (*what).to_owned())).collect()
}

const UNLISTED: &str = "has no row in the artifact manifest";
const LINK: &str = "is a symbolic link; an artifact holds regular files only";
const DEVICE: &str = "is a device, fifo or socket; an artifact holds regular files only";

#[test]
fn a_whole_root_has_none() {
    let place = root();
    assert_eq!(found(place.path(), Detail::Everything), []);
    assert_eq!(found(place.path(), Detail::Directories), []);
}

#[test]
fn each_kind_is_told_apart() {
    let place = root();
    let at = |path: &str| place.path().join(path);
    std::fs::write(at("notes.txt"), "").unwrap();
    std::fs::write(at("skills/greet/more.md"), "").unwrap();
    std::fs::create_dir_all(at("skills/empty")).unwrap();
    std::fs::create_dir_all(at("extra/deep")).unwrap();
    std::fs::write(at("extra/deep/a"), "").unwrap();
    symlink("/etc", at("extra/out")).unwrap();
    symlink("nowhere", at("skills/greet/link")).unwrap();
    assert!(Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
    let name = std::ffi::OsStr::from_bytes(b"\xff");
    std::fs::write(at("skills").join(name), "").unwrap();
    let common = [
        ("notes.txt", UNLISTED),
        ("pipe", DEVICE),
        ("skills", "holds a file whose name is not UTF-8: `\u{fffd}`"),
        ("skills/empty", "is an empty directory"),
        ("skills/greet/link", LINK),
        ("skills/greet/more.md", UNLISTED),
    ];
    let mut everything = owned(&common);
    everything.extend(owned(&[("extra/deep/a", UNLISTED), ("extra/out", LINK)]));
    everything.sort();
    assert_eq!(found(place.path(), Detail::Everything), everything);
    let mut directories = owned(&common);
    directories
        .extend(owned(&[("extra", "is a directory of which the artifact manifest lists nothing")]));
    directories.sort();
    assert_eq!(found(place.path(), Detail::Directories), directories);
}

#[test]
fn what_others_own_is_tolerated_as_what_they_write_it_and_only_at_the_top() {
    let place = root();
    let at = |path: &str| place.path().join(path);
    for path in [".env", ".env.local", ".agent-bundle-install.json"] {
        std::fs::write(at(path), "").unwrap();
        std::fs::write(at("skills/greet").join(path), "").unwrap();
    }
    std::fs::create_dir(at("state")).unwrap();
    std::fs::write(at("state/x"), "").unwrap();
    let below = owned(&[
        ("skills/greet/.agent-bundle-install.json", UNLISTED),
        ("skills/greet/.env", UNLISTED),
        ("skills/greet/.env.local", UNLISTED),
    ]);
    assert_eq!(found(place.path(), Detail::Everything), below);
    // A link, a file for a directory or a directory for a file is what it is.
    let place = root();
    let at = |path: &str| place.path().join(path);
    symlink("/etc/passwd", at(".env")).unwrap();
    std::fs::create_dir(at(".env.local")).unwrap();
    std::fs::write(at(".env.local/x"), "").unwrap();
    std::fs::write(at("state"), "").unwrap();
    let others = owned(&[(".env", LINK), (".env.local/x", UNLISTED), ("state", UNLISTED)]);
    assert_eq!(found(place.path(), Detail::Everything), others);
    // Another case of an operator's file is another file.
    let place = root();
    std::fs::write(place.path().join(".ENV"), "").unwrap();
    assert_eq!(found(place.path(), Detail::Everything), owned(&[(".ENV", UNLISTED)]));
}

#[test]
fn deep_directories_are_walked_to_the_end() {
    // A path of the disk ends at 4096 bytes, so that this is as deep as it gets.
    let place = root();
    let deep = place.path().join("d/".repeat(1000));
    std::fs::create_dir_all(&deep).unwrap();
    std::fs::write(deep.join("x"), "").unwrap();
    assert_eq!(found(place.path(), Detail::Everything).len(), 1);
    assert_eq!(found(place.path(), Detail::Directories)[0].0, "d");
}
