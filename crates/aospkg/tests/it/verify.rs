//! Index against tar headers, and digests.

use std::path::Path;

use holdall_aospkg::format::{EntryKind, Version};
use holdall_aospkg::{Package, TarFileSystem, Verification, digests, verify};
use holdall_tar::{Content, NewMember, Writer};
use holdall_tree::{MemTree, tree_hash};

use crate::support::{Maker, Row};

/// A package whose mount is a real tar: the seed's demo with a hard link.
fn sealed() -> Maker {
    let mut maker = Maker::new().dir("/bin");
    let mut tar = Writer::new(Vec::new());
    let mut add = |path: &str, content: Content<'_>, bytes: &[u8]| {
        let at = tar.position();
        let member = NewMember::new(path, content, 0o755).unwrap();
        tar.append(&member).unwrap();
        std::io::Write::write_all(&mut tar, bytes).unwrap();
        at + member.header_len()
    };
    add("bin", Content::Directory, b"");
    let script = b"#!/bin/sh\necho demo\n";
    let at = add("bin/demo", Content::File { size: 20 }, script);
    add("bin/same", Content::HardLink { target: "bin/demo" }, b"");
    add("lnk", Content::Symlink { target: "bin/demo" }, b"");
    maker.mount = tar.finish().unwrap();
    for path in ["/bin/demo", "/bin/same"] {
        maker = maker.row(Row { offset: at, size: 20, ..Row::new(path, EntryKind::File) });
    }
    maker.link("/lnk", "bin/demo")
}

fn verified(maker: &Maker) -> Verification {
    let dir = tempfile::tempdir().unwrap();
    let path = maker.write(dir.path(), Version::V1);
    verify(&Package::open(&path).unwrap()).unwrap()
}

/// One difference, of the code for it, with these words.
fn differs(maker: &Maker, words: &str) {
    let answer = verified(maker);
    assert!(!answer.is_consistent());
    let said: Vec<_> = answer.differences.iter().map(|each| each.message.as_str()).collect();
    assert!(said.iter().any(|message| message.contains(words)), "{words}: {said:?}");
    assert!(answer.differences.iter().all(|each| each.code == "AO0120"), "{said:?}");
}

#[test]
fn a_package_whose_index_is_its_tar_is_consistent() {
    let answer = verified(&sealed());
    assert_eq!(answer.differences, []);
    assert_eq!(answer.oddities, []);
    assert_eq!((answer.entries, answer.members, answer.bytes), (5, 4, 40));
}

#[test]
fn every_way_to_differ_is_found() {
    let change = |path: &str, change: &dyn Fn(&mut Row)| {
        let mut maker = sealed();
        change(maker.rows.iter_mut().find(|row| row.path == path).unwrap());
        maker
    };
    differs(
        &change("/bin/demo", &|row| row.offset += 1),
        "begins at 1025 by the index and at 1024",
    );
    differs(&change("/bin/same", &|row| row.offset -= 1), "`/bin/same` begins at 1023");
    differs(&change("/bin/demo", &|row| row.size -= 1), "has 19 bytes by the index and 20");
    differs(
        &change("/bin/demo", &|row| row.kind = EntryKind::Directory),
        "is a directory in the index and a file",
    );
    differs(
        &change("/lnk", &|row| row.target = Some("/etc/passwd".into())),
        "leads to `/etc/passwd` by the index and to `bin/demo`",
    );
    differs(
        &change("/lnk", &|row| row.kind = EntryKind::File),
        "is a file in the index and a symbolic link",
    );
    differs(&change("/lnk", &|row| row.path = "/more".into()), "`/more` has no member");
    differs(
        &change("/lnk", &|row| row.path = "/more".into()),
        "a symbolic link `lnk` that the index has not",
    );
    let without = |path: &str| {
        let mut maker = sealed();
        maker.rows.retain(|row| row.path != path);
        maker
    };
    differs(&without("/bin/same"), "a hard link `bin/same` that the index has not");
    differs(&without("/bin"), "a directory `bin` that the index has not");
}

#[test]
fn a_tar_that_is_none_or_hides_data_is_told() {
    let mut noise = sealed();
    noise.mount[1024 - 512] ^= 1;
    let answer = verified(&noise);
    assert_eq!(answer.differences.last().unwrap().code, "AO0121");
    let mut trailing = sealed();
    trailing.mount.extend_from_slice(&[7; 512]);
    let answer = verified(&trailing);
    assert!(answer.is_consistent());
    assert_eq!(answer.oddities.iter().map(|each| each.code).collect::<Vec<_>>(), ["AO0311"]);
    let mut cut = sealed();
    cut.mount.truncate(cut.mount.len() - 1024);
    let answer = verified(&cut);
    assert!(answer.is_consistent());
    assert!(answer.oddities[0].message.contains("no end blocks"));
}

#[test]
fn digests_are_those_of_the_file_and_of_the_same_tree_elsewhere() {
    let dir = tempfile::tempdir().unwrap();
    let path = sealed().write(dir.path(), Version::V2);
    let fs = TarFileSystem::open(&path).unwrap();
    let got = digests(&fs).unwrap();
    let by_node = |path: &Path| {
        let script = "process.stdout.write(require('crypto').createHash('sha256').update(require('fs').readFileSync(process.argv[1])).digest('hex'))";
        let out =
            std::process::Command::new("node").args(["-e", script]).arg(path).output().unwrap();
        String::from_utf8(out.stdout).unwrap()
    };
    assert_eq!(got.sha256.hex(), by_node(&path));
    let mut tree = MemTree::new();
    tree.add_executable("bin/demo", "#!/bin/sh\necho demo\n").unwrap();
    tree.add_executable("bin/same", "#!/bin/sh\necho demo\n").unwrap();
    tree.add_symlink("lnk", "bin/demo").unwrap();
    assert_eq!(got.tree, tree_hash(&tree, holdall_tree::HashOptions::default()).unwrap());
}

/// The digest goes by the index; the walk of the same tree gives the same.
#[test]
fn the_tree_hash_is_that_of_the_walked_tree() {
    let dir = tempfile::tempdir().unwrap();
    let maker = Maker::new()
        .dir("/d")
        .file("/d-", "between the directory and what is in it")
        .dir("/d/empty")
        .file("/d/empty-not", "")
        .row(Row { mode: 0o100_711, ..Row::new("/d/x", EntryKind::File) })
        .link("/d/loop", "loop")
        .dir("/full")
        .dir("/full/of")
        .file("/full/of/bytes", vec![3; 600_000])
        .file("/orphan/child", "no path leads here")
        .file("/ünï", "x");
    let path = maker.sorted().write(dir.path(), Version::V1);
    let fs = TarFileSystem::open(&path).unwrap();
    let walked = tree_hash(&fs, holdall_tree::HashOptions::default()).unwrap();
    assert_eq!(digests(&fs).unwrap().tree, walked);
}
