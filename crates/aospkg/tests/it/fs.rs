//! The file system: resolution, every operation and errno, nodes, sharing, changes of the file.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use holdall_aospkg::format::{EntryKind, Version};
use holdall_aospkg::{Change, Errno, Package, PackageSet, ReadFs, TarFileSystem};
use holdall_tree::{Tree, TreeErrorKind, TreePath};
use proptest::prelude::*;

use crate::support::{Maker, Ours, Row, peer, same_answers};

/// A package with a bit of everything.
fn zoo() -> Maker {
    let mut maker = Maker::new()
        .dir("/bin")
        .file("/bin/tool", "#!/bin/sh\necho tool\n")
        .link("/bin/alias", "tool")
        .link("/abs", "/bin/tool")
        .link("/absdir", "/bin")
        .link("/climb", "../../../../bin/tool")
        .link("/dangling", "nowhere")
        .link("/etcpasswd", "/etc/passwd")
        .link("/loop", "loop")
        .link("/empty", "")
        .link("/dot", ".")
        .link("/todir", "bin/")
        .link("/throughfile", "bin/tool/x")
        .dir("/d")
        .dir("/d/e")
        .file("/d/e/f", vec![7; 1500])
        .file("/d/zero", "")
        .link("/d/up", "../bin/tool")
        .link("/d/out", "/bin/tool")
        .link("/d/back", "/d/e/f")
        .link("/d/self", "/d")
        .file("/d-", "sorts between")
        .file("/d.x", "so does this")
        .dir("/hollow")
        .file("/sub-a", "")
        .dir("/sub")
        .file("/sub/1", "1")
        .file("/sub0", "")
        .file("/file", "in the way")
        .file("/file/below", "never seen")
        .file("/orphan/child", "never seen")
        .file("/ünï/x", "orphan too");
    let odd = Row {
        mode: 0o106_755,
        uid: 1000,
        gid: u32::MAX,
        mtime: 1_700_000_000,
        target: Some("ignored".into()),
        ..Row::new("/odd", EntryKind::File)
    };
    maker = maker.row(odd);
    // 45 links in a row: /c44 -> c43 -> ... -> c0.
    maker = maker.file("/c0", "end of the chain");
    for n in 1..45 {
        maker = maker.link(&format!("/c{n}"), &format!("c{}", n - 1));
    }
    maker.sorted()
}

const QUESTIONS: &[&str] = &[
    "/",
    "",
    ".",
    "/.",
    "/..",
    "//",
    "/bin",
    "bin",
    "/bin/",
    "./bin//tool",
    "/bin/tool",
    "/bin/tool/",
    "/bin/tool/x",
    "/bin/tool/..",
    "/bin/nope",
    "/nope/..",
    "/nope",
    "/nope/x",
    "/bin/alias",
    "/bin/alias/",
    "/bin/alias/x",
    "/abs",
    "/absdir",
    "/absdir/tool",
    "/absdir/alias",
    "/absdir/../d",
    "/climb",
    "/dangling",
    "/dangling/x",
    "/etcpasswd",
    "/loop",
    "/loop/x",
    "/empty",
    "/empty/x",
    "/dot",
    "/dot/bin",
    "/dot/dot/dot/bin/tool",
    "/todir",
    "/todir/tool",
    "/throughfile",
    "/d",
    "/d/e/f",
    "/d/zero",
    "/d/up",
    "/d/out",
    "/d/back",
    "/d/self",
    "/d/self/self/self/e/f",
    "/d-",
    "/d.x",
    "/hollow",
    "/sub",
    "/sub-a",
    "/sub0",
    "/sub/1",
    "/sub/1/2",
    "/file",
    "/file/below",
    "/orphan",
    "/orphan/child",
    "/ünï/x",
    "/odd",
    "/c40",
    "/c41",
    "/c39",
    "/c44",
    "/c41/x",
    "/\0",
    "/../../d/e/f",
    "/d/../../bin/./alias",
    "e/f",
    "/e/f",
    "/up",
    "/out",
    "/back",
    "/self",
    "/self/e",
    "/bin/../../x",
    "/e/..",
];

#[test]
fn every_answer_is_that_of_both_published_readers() {
    let dir = tempfile::tempdir().unwrap();
    for version in Version::ALL {
        let path = zoo().write(dir.path(), version);
        for root in ["/", "/d", "/bin", "/hollow", "/d/e"] {
            let mut ours = Ours::open(&path, root).unwrap();
            let mut peer = peer(&path, version, root).unwrap();
            for question in QUESTIONS {
                same_answers(&mut ours, peer.as_mut(), question);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Random trees with random links, random questions, random roots: the same answers.
    #[test]
    fn random_trees_give_the_same_answers(
        files in prop::collection::btree_map("(/[ab.\\-0]{1,2}){1,4}", "[abx/.]{0,8}", 1..30),
        kinds in prop::collection::vec(0..3_u8, 30),
        questions in prop::collection::vec("(/?[ab.\\-0]{1,2}){0,6}/?", 1..40),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut maker = Maker::new();
        for ((path, text), kind) in files.iter().zip(&kinds) {
            if path.split('/').any(|part| part == "." || part == "..") {
                continue;
            }
            maker = match kind {
                0 => maker.file(path, text),
                1 => maker.dir(path),
                _ => maker.link(path, text),
            };
        }
        let maker = maker.sorted();
        let path = maker.write(dir.path(), Version::V2);
        let roots: Vec<String> = maker.rows.iter()
            .filter(|row| row.kind == EntryKind::Directory).map(|row| row.path.clone()).take(3).collect();
        for root in roots {
            let Ok(mut ours) = Ours::open(&path, &root) else { continue };
            let mut peer = peer(&path, Version::V2, &root).unwrap();
            for question in questions.iter().chain(files.keys()) {
                same_answers(&mut ours, peer.as_mut(), question);
            }
        }
    }
}

fn opened(maker: &Maker) -> (tempfile::TempDir, TarFileSystem) {
    let dir = tempfile::tempdir().unwrap();
    let fs = TarFileSystem::open(maker.write(dir.path(), Version::V2)).unwrap();
    (dir, fs)
}

fn errno<T>(answer: Result<T, holdall_aospkg::FsError>) -> Errno {
    answer.err().unwrap().errno
}

#[test]
fn forty_links_and_not_one_more() {
    let (_dir, fs) = opened(&zoo());
    assert_eq!(fs.read_file("/c40").unwrap(), b"end of the chain");
    assert_eq!(errno(fs.read_file("/c41")), Errno::ELOOP);
    assert_eq!(errno(fs.stat("/loop")), Errno::ELOOP);
    assert_eq!(fs.read_link("/c44").unwrap(), "c43");
    assert!(fs.lstat("/loop").unwrap().is_symbolic_link());
}

#[test]
fn targets_stay_in_the_package() {
    let (_dir, fs) = opened(&zoo());
    assert_eq!(fs.realpath("/climb").unwrap(), "/bin/tool");
    assert_eq!(errno(fs.stat("/etcpasswd")), Errno::ENOENT);
    assert!(!fs.exists("/dangling"));
    assert!(fs.exists("/abs"));
}

#[test]
fn sub_roots_give_exdev_outside_and_follow_links_back_in() {
    let (_dir, fs) = opened(&zoo());
    let sub = TarFileSystem::new(fs.package().clone(), "/d").unwrap();
    assert_eq!(errno(sub.read_file("/out")), Errno::EXDEV);
    assert_eq!(errno(sub.stat("/up")), Errno::EXDEV);
    assert_eq!(sub.realpath("/back").unwrap(), "/e/f");
    assert_eq!(sub.realpath("/self").unwrap(), "/");
    assert_eq!(sub.read_file("/self/e/f").unwrap(), vec![7; 1500]);
    assert_eq!(sub.read_link("/out").unwrap(), "/bin/tool");
    assert_eq!(sub.stat("/../../..").unwrap().ino, sub.root());
}

#[test]
fn stat_fields() {
    let (_dir, fs) = opened(&zoo());
    let file = fs.stat("/d/e/f").unwrap();
    assert_eq!((file.size, file.blocks(), file.nlink(), file.rdev()), (1500, 3, 1, 0));
    assert_eq!((fs.stat("/d").unwrap().size, fs.stat("/d").unwrap().blocks()), (4096, 8));
    let link = fs.lstat("/abs").unwrap();
    assert_eq!((link.size, link.blocks(), link.mode), (9, 1, 0o120_777));
    let zero = fs.stat("/d/zero").unwrap();
    assert_eq!((zero.size, zero.blocks()), (0, 0));
    let odd = fs.stat("/odd").unwrap();
    assert_eq!(
        (odd.mode, odd.uid, odd.gid, odd.mtime_ms),
        (0o106_755, 1000, u32::MAX, 1_700_000_000_000)
    );
    assert_eq!(fs.stat("/").unwrap().ino, 1);
    assert_eq!(fs.stat("/").unwrap().dev, odd.dev);
}

#[test]
fn devices_differ_between_files_and_copies() {
    let dir = tempfile::tempdir().unwrap();
    let path = zoo().write(dir.path(), Version::V2);
    let copy = dir.path().join("copy.aospkg");
    fs::copy(&path, &copy).unwrap();
    let device = |path: &Path| TarFileSystem::open(path).unwrap().stat("/").unwrap().dev;
    assert_eq!(device(&path), device(&path));
    assert_ne!(device(&path), device(&copy));
}

#[test]
fn every_change_is_refused_whether_or_not_the_path_exists() {
    let (_dir, fs) = opened(&zoo());
    for change in Change::ALL {
        for path in ["/", "/bin/tool", "/nowhere/at/all"] {
            assert_eq!(fs.change(change, path).unwrap_err().errno, Errno::EROFS);
        }
    }
}

#[test]
fn ranges_name_the_bytes_in_the_file() {
    use std::os::unix::fs::FileExt;
    let (_dir, fs) = opened(&zoo());
    let range = fs.file_range("/bin/alias").unwrap();
    let mut buf = vec![0; usize::try_from(range.len()).unwrap()];
    range.file().read_exact_at(&mut buf, range.offset()).unwrap();
    assert_eq!(buf, b"#!/bin/sh\necho tool\n");
    assert_eq!(errno(fs.file_range("/bin")), Errno::EISDIR);
    assert!(fs.file_range("/d/zero").unwrap().is_empty());
}

#[test]
fn nodes_answer_by_inode() {
    let (_dir, fs) = opened(&zoo());
    let bin = fs.lookup(fs.root(), "bin").unwrap();
    assert_eq!(fs.lookup(fs.root(), "nope"), Err(Errno::ENOENT));
    assert_eq!(fs.lookup(bin, "."), Ok(bin));
    assert_eq!(fs.lookup(bin, ".."), Ok(fs.root()));
    assert_eq!(fs.lookup(fs.root(), ".."), Ok(fs.root()));
    for bad in ["", "tool/", "/tool", "a/b"] {
        assert_eq!(fs.lookup(bin, bad), Err(Errno::ENOENT), "{bad}");
    }
    let tool = fs.lookup(bin, "tool").unwrap();
    assert_eq!(fs.lookup(tool, "x"), Err(Errno::ENOTDIR));
    assert_eq!(fs.getattr(tool).unwrap(), fs.stat("/bin/tool").unwrap());
    for nowhere in [0, u64::MAX, 10_000] {
        assert_eq!(fs.getattr(nowhere), Err(Errno::ENOENT));
    }
    let alias = fs.lookup(bin, "alias").unwrap();
    assert_eq!(fs.readlink(alias), Ok("tool"));
    assert_eq!(fs.readlink(tool), Err(Errno::EINVAL));
    let mut buf = [0; 8];
    assert_eq!(fs.read_at(tool, 10, &mut buf), Ok(8));
    assert_eq!(&buf, b"echo too");
    assert_eq!(fs.read_at(tool, 15, &mut buf), Ok(5));
    assert_eq!(fs.read_at(tool, 20, &mut buf), Ok(0));
    assert_eq!(fs.read_at(bin, 0, &mut buf), Err(Errno::EISDIR));
    assert_eq!(fs.read_at(alias, 0, &mut buf), Err(Errno::EINVAL));
    let sub = TarFileSystem::new(fs.package().clone(), "/d").unwrap();
    assert_eq!(sub.lookup(sub.root(), ".."), Ok(sub.root()));
    let e = sub.lookup(sub.root(), "e").unwrap();
    assert_eq!(sub.lookup(e, ".."), Ok(sub.root()));
}

#[test]
fn a_listing_can_stop_and_go_on_anywhere() {
    let (_dir, fs) = opened(&zoo());
    for path in ["/", "/d", "/bin", "/hollow"] {
        let ino = fs.stat(path).unwrap().ino;
        let mut whole = Vec::new();
        let mut row = |row: holdall_aospkg::DirRow<'_>| {
            whole.push((row.name.to_owned(), row.ino, row.next));
            true
        };
        fs.readdir(ino, 0, &mut row).unwrap();
        let names: Vec<_> = fs.read_dir(path).unwrap().map(|row| row.name.to_owned()).collect();
        assert_eq!(whole.iter().map(|row| row.0.clone()).collect::<Vec<_>>(), names);
        assert!(names.is_sorted());
        for (at, (_, _, next)) in whole.iter().enumerate() {
            let mut first = None;
            let mut row = |row: holdall_aospkg::DirRow<'_>| {
                first = Some((row.name.to_owned(), row.ino, row.next));
                false
            };
            fs.readdir(ino, *next, &mut row).unwrap();
            assert_eq!(first.as_ref(), whole.get(at + 1));
        }
    }
    let mut none = |_: holdall_aospkg::DirRow<'_>| panic!("no row behind the end");
    fs.readdir(fs.root(), u64::MAX, &mut none).unwrap();
    let file = fs.stat("/bin/tool").unwrap().ino;
    assert_eq!(fs.readdir(file, 0, &mut |_| true), Err(Errno::ENOTDIR));
}

/// What breaks readers of the published crate does not break ours: the descriptor pins the file.
#[test]
fn renaming_replacing_deleting_and_chmod_leave_readers_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = zoo().write(dir.path(), Version::V2);
    let fs = TarFileSystem::open(&path).unwrap();
    let reads = |fs: &TarFileSystem| fs.read_file("/d/e/f").unwrap() == vec![7; 1500];
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    assert!(reads(&fs));
    fs::hard_link(&path, dir.path().join("second")).unwrap();
    assert!(reads(&fs));
    let moved = dir.path().join("moved.aospkg");
    fs::rename(&path, &moved).unwrap();
    assert!(reads(&fs));
    fs::write(dir.path().join("other"), Maker::new().bytes(Version::V2)).unwrap();
    fs::rename(dir.path().join("other"), &moved).unwrap();
    assert!(reads(&fs));
    fs::remove_file(&moved).unwrap();
    fs::remove_file(dir.path().join("second")).unwrap();
    assert!(reads(&fs));
}

#[test]
fn a_file_that_shrinks_or_is_rewritten_is_estale_and_never_a_signal() {
    let dir = tempfile::tempdir().unwrap();
    let path = zoo().write(dir.path(), Version::V2);
    let fs = TarFileSystem::open(&path).unwrap();
    let tree_file = Tree::open(&fs, &TreePath::new("d/e/f").unwrap()).unwrap();
    assert!(!tree_file.changed().unwrap());
    let bytes = fs::read(&path).unwrap();
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(40).unwrap();
    assert_eq!(errno(fs.read_file("/d/e/f")), Errno::ESTALE);
    let mut buf = [0; 10];
    assert_eq!(errno(fs.pread("/d/e/f", 0, &mut buf)), Errno::ESTALE);
    let ino = fs.stat("/d/e/f").unwrap().ino;
    assert_eq!(fs.read_at(ino, 0, &mut buf), Err(Errno::ESTALE));
    assert_eq!(tree_file.read_at(&mut buf, 0).unwrap_err().kind, TreeErrorKind::Changed);
    assert!(tree_file.changed().unwrap());
    // What was read at opening still answers.
    assert_eq!(fs.stat("/bin/tool").unwrap().size, 20);
    assert_eq!(fs.read_link("/abs").unwrap(), "/bin/tool");
    // The same bytes again are not the same file as before: its time says so.
    fs::write(&path, &bytes).unwrap();
    assert_eq!(errno(fs.read_file("/d/e/f")), Errno::ESTALE);
    assert!(TarFileSystem::open(&path).unwrap().read_file("/d/e/f").is_ok());
}

#[test]
fn one_file_under_many_spellings_is_one_package() {
    let dir = tempfile::tempdir().unwrap();
    let path = zoo().write(dir.path(), Version::V1);
    let link = dir.path().join("link.aospkg");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let copy = dir.path().join("copy.aospkg");
    fs::copy(&path, &copy).unwrap();
    let set = PackageSet::new();
    let first = set.open(&path).unwrap();
    let dotted = dir.path().join(".").join("made-1.aospkg");
    for other in [&link, &path, &dotted] {
        assert!(Arc::ptr_eq(&first, &set.open(other).unwrap()), "{}", other.display());
    }
    let sub = set.mount(&link, "/d").unwrap();
    assert!(Arc::ptr_eq(&first, sub.package()));
    assert!(!Arc::ptr_eq(&first, &set.open(&copy).unwrap()));
    assert_eq!(set.live(), 1, "the copy is not used any more");
    drop((first, sub));
    assert_eq!(set.live(), 0);
    // Replaced by another file under the same name: another package.
    let old = set.open(&path).unwrap();
    fs::write(dir.path().join("new"), Maker::new().bytes(Version::V2)).unwrap();
    fs::rename(dir.path().join("new"), &path).unwrap();
    let new = set.open(&path).unwrap();
    assert!(!Arc::ptr_eq(&old, &new));
    assert_eq!(new.header().version(), Version::V2);
    assert_eq!(old.header().version(), Version::V1);
    assert_eq!(set.live(), 2);
}

#[test]
fn threads_share_a_set_and_its_packages() {
    let dir = tempfile::tempdir().unwrap();
    let paths: Vec<_> = (0..8)
        .map(|n| {
            let path = dir.path().join(format!("{n}.aospkg"));
            let maker = Maker::new().file("/who", n.to_string());
            fs::write(&path, maker.bytes(Version::V2)).unwrap();
            path
        })
        .collect();
    let set = PackageSet::new();
    let keep: Vec<_> = paths.iter().map(|path| set.open(path).unwrap()).collect();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (set, paths, keep) = (&set, &paths, &keep);
            scope.spawn(move || {
                for round in 0..50 {
                    let n = (thread + round) % paths.len();
                    let fs = set.mount(&paths[n], "/").unwrap();
                    assert!(Arc::ptr_eq(fs.package(), &keep[n]));
                    assert_eq!(fs.read_file("/who").unwrap(), n.to_string().as_bytes());
                }
            });
        }
    });
    shared::<TarFileSystem>();
    shared::<Package>();
    shared::<PackageSet>();
}

fn shared<T: Send + Sync>() {}

#[test]
fn as_a_tree_no_link_is_followed() {
    let (_dir, fs) = opened(&zoo());
    let tree: &dyn Tree = &fs;
    let path = |text: &str| TreePath::new(text).unwrap();
    assert_eq!(tree.read(&path("bin/tool"), 100).unwrap(), b"#!/bin/sh\necho tool\n");
    assert_eq!(tree.read(&path("bin/tool"), 19).unwrap_err().kind, TreeErrorKind::TooLarge);
    let kind = |text: &str| tree.open(&path(text)).unwrap_err().kind;
    assert_eq!(kind("abs"), TreeErrorKind::WrongKind);
    assert_eq!(kind("absdir/tool"), TreeErrorKind::NotADirectory);
    assert_eq!(kind("bin/tool/x"), TreeErrorKind::NotADirectory);
    assert_eq!(kind("bin/nope"), TreeErrorKind::NotFound);
    assert_eq!(kind("orphan/child"), TreeErrorKind::NotFound);
    assert_eq!(kind(""), TreeErrorKind::IsADirectory);
    assert_eq!(tree.read_link(&path("d/up")).unwrap(), "../bin/tool");
    assert_eq!(tree.resolve(&path("d/up")).unwrap(), path("bin/tool"));
    assert_eq!(tree.resolve(&path("abs")).unwrap_err().kind, TreeErrorKind::Escapes);
    assert!(tree.metadata(&path("bin/tool")).unwrap().executable());
    assert_eq!(tree.metadata(&path("odd")).unwrap().mode, 0o6755);
    let names = |text: &str| tree.read_dir(&path(text)).unwrap().len();
    assert_eq!((names("bin"), names("hollow"), names("d")), (2, 0, 6));
    let sub = TarFileSystem::new(fs.package().clone(), "/d").unwrap();
    assert_eq!(Tree::read(&sub, &path("e/f"), 2000).unwrap(), vec![7; 1500]);
    assert_eq!(Tree::read_range(&sub, &path("e/f"), 1490, 100).unwrap(), vec![7; 10]);
}

#[test]
fn manifest_and_index_of_both_versions_in_one_process() {
    let dir = tempfile::tempdir().unwrap();
    for version in Version::ALL {
        let path = zoo().write(dir.path(), version);
        let head = holdall_aospkg::read_manifest(&path).unwrap();
        assert_eq!((head.header.version(), head.manifest.name.as_str()), (version, "t"));
        let package = Package::open(&path).unwrap();
        assert_eq!(package.manifest().unwrap(), &head.manifest);
        assert_eq!(package.header(), &head.header);
    }
}
