use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::process::Command;

use holdall_tree::{DirTree, EntryName, FileKind, Limits, Tree, TreeErrorKind, TreePath, walk};

use crate::p;

/// Both ways of going through directories must agree.
fn both(path: &std::path::Path) -> [DirTree; 2] {
    [DirTree::open(path).unwrap(), DirTree::open(path).unwrap().without_openat2()]
}

#[test]
fn follows_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "secret").unwrap();
    symlink(outside.path(), dir.path().join("out")).unwrap();
    symlink(outside.path().join("secret"), dir.path().join("direct")).unwrap();
    symlink("/proc/self/root", dir.path().join("magic")).unwrap();
    fs::create_dir(dir.path().join("d")).unwrap();
    symlink("../../..", dir.path().join("d/up")).unwrap();
    for tree in both(dir.path()) {
        for (path, kind) in [
            ("direct", TreeErrorKind::WrongKind),
            ("out", TreeErrorKind::WrongKind),
            ("out/secret", TreeErrorKind::NotADirectory),
            ("d/up/etc/passwd", TreeErrorKind::NotADirectory),
            ("magic/etc/passwd", TreeErrorKind::NotADirectory),
        ] {
            assert_eq!(tree.open(&p(path)).unwrap_err().kind, kind, "{path}");
        }
        for path in ["out/secret", "d/up/etc"] {
            let kind = TreeErrorKind::NotADirectory;
            assert_eq!(tree.metadata(&p(path)).unwrap_err().kind, kind);
            assert_eq!(tree.read_link(&p(path)).unwrap_err().kind, kind);
            assert_eq!(tree.read_dir(&p(path)).unwrap_err().kind, kind);
            assert_eq!(tree.resolve(&p(path)).unwrap_err().kind, TreeErrorKind::Escapes);
        }
        for path in ["out", "direct"] {
            assert_eq!(tree.read_dir(&p(path)).unwrap_err().kind, TreeErrorKind::NotADirectory);
            assert_eq!(tree.metadata(&p(path)).unwrap().kind, FileKind::Symlink);
        }
        assert_eq!(tree.read_link(&p("d/up")).unwrap(), "../../..");
    }
}

#[test]
fn never_waits_for_a_fifo_and_reads_no_socket_or_device() {
    let dir = tempfile::tempdir().unwrap();
    assert!(Command::new("mkfifo").arg(dir.path().join("fifo")).status().unwrap().success());
    let _socket = UnixListener::bind(dir.path().join("socket")).unwrap();
    for tree in both(dir.path()) {
        for path in ["fifo", "socket"] {
            assert_eq!(tree.metadata(&p(path)).unwrap().kind, FileKind::Other);
            assert_eq!(tree.open(&p(path)).unwrap_err().kind, TreeErrorKind::WrongKind);
        }
    }
    let dev = DirTree::open("/dev".as_ref()).unwrap();
    assert_eq!(dev.open(&p("zero")).unwrap_err().kind, TreeErrorKind::WrongKind);
}

#[test]
fn gives_names_and_targets_that_are_not_utf8() {
    let dir = tempfile::tempdir().unwrap();
    let odd = OsStr::from_bytes(b"a\xff\n");
    fs::write(dir.path().join(odd), "x").unwrap();
    fs::write(dir.path().join("a"), "x").unwrap();
    fs::write(dir.path().join("b"), "x").unwrap();
    symlink(OsStr::from_bytes(b"\xfe"), dir.path().join("link")).unwrap();
    for tree in both(dir.path()) {
        let names: Vec<_> = tree
            .read_dir(&TreePath::root())
            .unwrap()
            .into_iter()
            .map(|entry| entry.name.as_bytes().to_vec())
            .collect();
        assert_eq!(names, [b"a".to_vec(), b"a\xff\n".to_vec(), b"b".to_vec(), b"link".to_vec()]);
        let error = tree.read_link(&p("link")).unwrap_err();
        assert_eq!(error.kind, TreeErrorKind::NotUtf8);
        assert!(error.detail.contains("\\xfe"), "{error}");

        let (good, bad): (Vec<_>, Vec<_>) =
            walk(&tree, &TreePath::root(), Limits::default()).partition(Result::is_ok);
        assert_eq!(good.len(), 3);
        let bad = bad[0].as_ref().unwrap_err();
        assert_eq!(bad.to_string(), "/: the name a\\xff\\n is not UTF-8 (EILSEQ)");
    }
    assert_eq!(EntryName::new(b"\xff".to_vec()), EntryName::Bytes(b"\xff".to_vec()));
}

#[test]
fn tells_when_an_open_file_changes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    fs::write(&path, vec![7; 100_000]).unwrap();
    let tree = DirTree::open(dir.path()).unwrap();
    let file = tree.open(&p("f")).unwrap();
    assert_eq!((file.len(), file.changed()), (100_000, Ok(false)));

    // A rename and a new file of that name are nothing to a file that is open.
    fs::rename(&path, dir.path().join("g")).unwrap();
    fs::write(&path, "new").unwrap();
    let mut buf = [0; 10];
    assert_eq!((file.changed(), file.read_at(&mut buf, 5)), (Ok(false), Ok(10)));

    let mut appended = fs::OpenOptions::new().append(true).open(dir.path().join("g")).unwrap();
    appended.write_all(b"more").unwrap();
    assert_eq!(file.changed(), Ok(true));
    // What was appended is not part of what was opened.
    assert_eq!(file.read_at(&mut buf, 99_996), Ok(4));
    assert_eq!(file.read_at(&mut buf, 100_000), Ok(0));

    appended.set_len(50_000).unwrap();
    assert_eq!(file.read_at(&mut buf, 60_000).unwrap_err().kind, TreeErrorKind::Changed);
    assert_eq!(tree.read(&p("g"), 50_000).map(|bytes| bytes.len()), Ok(50_000));
}

#[test]
fn stays_with_the_directory_it_opened() {
    let dir = tempfile::tempdir().unwrap();
    let here = dir.path().join("here");
    fs::create_dir(&here).unwrap();
    fs::write(here.join("f"), "old").unwrap();
    let tree = DirTree::open(&here).unwrap();
    fs::rename(&here, dir.path().join("there")).unwrap();
    fs::create_dir(&here).unwrap();
    fs::write(here.join("f"), "new").unwrap();
    assert_eq!(tree.read(&p("f"), 10).unwrap(), b"old");
    let below = dir.path().join("there/d");
    fs::create_dir(&below).unwrap();
    fs::write(below.join("g"), "g").unwrap();
    let sub = tree.open_dir(&p("d")).unwrap();
    assert_eq!(sub.read(&p("g"), 10).unwrap(), b"g");
    assert_eq!(tree.open_dir(&TreePath::root()).unwrap().read(&p("f"), 10).unwrap(), b"old");
}

#[test]
fn says_which_directory_cannot_be_opened() {
    let error = DirTree::open("/nowhere/at/all".as_ref()).unwrap_err();
    assert_eq!(error.kind, TreeErrorKind::NotFound);
    assert!(error.to_string().starts_with("/nowhere/at/all: "), "{error}");
    let file = tempfile::NamedTempFile::new().unwrap();
    assert_eq!(DirTree::open(file.path()).unwrap_err().kind, TreeErrorKind::NotADirectory);
}

#[test]
fn tells_modes_owners_and_which_names_are_one_file() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("d")).unwrap();
    let path = dir.path().join("d/f");
    fs::write(&path, "x").unwrap();
    fs::hard_link(&path, dir.path().join("g")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o4755)).unwrap();
    let std = fs::metadata(&path).unwrap();
    let tree = DirTree::open(dir.path()).unwrap();
    let owner = tree.owner(&p("d/f")).unwrap().unwrap();
    assert_eq!((owner.uid, owner.gid, owner.links), (std.uid(), std.gid(), 2));
    assert_eq!(owner.inode, Some((std.dev(), std.ino())));
    assert_eq!(tree.owner(&p("g")).unwrap(), Some(owner));
    let meta = tree.metadata(&p("d/f")).unwrap();
    assert_eq!((meta.mode, meta.mtime), (0o4755, std.mtime()));
    assert_eq!(tree.owner(&p("none")).unwrap_err().kind, TreeErrorKind::NotFound);
    assert_eq!(holdall_tree::MemTree::new().owner(&TreePath::root()), Ok(None));
}
