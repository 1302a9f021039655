//! Writing whole or not at all, also under kill, full disks and readers.

use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use holdall_tree::stage::{
    CopyOptions, Leftover, Modes, Place, StageErrorKind, StagedDir, StagedFile, clean, set_aside,
    write_file,
};
use holdall_tree::{
    DirTree, FileKind, HashOptions, Limits, MemTree, Tree, TreeErrorKind, TreePath, tree_hash,
};
use proptest::prelude::*;

use crate::{disk, memory, p, root};

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

fn cleaned(dir: &Path) -> Vec<Leftover> {
    clean(&DirTree::open(dir).unwrap(), dir, &|_| false).unwrap()
}

/// A place that can exchange and one that cannot.
fn places(path: &Path) -> [Place; 2] {
    [Place::at(path).unwrap(), Place::at(path).unwrap().without_exchange()]
}

fn filled(place: Place, text: &str) -> StagedDir {
    let mut stage = StagedDir::beside(place, 0o755).unwrap();
    stage.write(&p("a"), text.as_bytes(), 0o644).unwrap();
    stage.write(&p("deep/er/b"), text.as_bytes(), 0o755).unwrap();
    stage
}

#[test]
fn a_file_takes_its_place_whole() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config");
    let mut file = StagedFile::create(Place::at(&path).unwrap(), 0o666).unwrap();
    file.write_all(b"first").unwrap();
    assert!(!path.exists());
    file.commit().unwrap();
    // The umask has no say.
    assert_eq!((fs::read(&path).unwrap(), mode(&path)), (b"first".to_vec(), 0o666));

    write_file(Place::at(&path).unwrap(), b"second", 0o640).unwrap();
    assert_eq!((fs::read(&path).unwrap(), mode(&path)), (b"second".to_vec(), 0o640));

    let tree = DirTree::open(dir.path()).unwrap();
    fs::create_dir(dir.path().join("d")).unwrap();
    write_file(Place::below(&tree, &p("d/x")).unwrap(), b"x", 0o600).unwrap();
    assert_eq!(fs::read(dir.path().join("d/x")).unwrap(), b"x");
    assert_eq!(names(dir.path()), ["config", "d"]);
}

#[test]
fn a_file_takes_the_place_of_no_device_pipe_or_socket() {
    use std::os::unix::fs::FileTypeExt as _;
    let dir = tempfile::tempdir().unwrap();
    let (pipe, socket) = (dir.path().join("pipe"), dir.path().join("socket"));
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    let _listening = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    fs::create_dir(dir.path().join("dir")).unwrap();
    let kind = |path: &Path| fs::symlink_metadata(path).unwrap().file_type();
    for path in [&pipe, &socket, &dir.path().join("dir")] {
        let before = kind(path);
        let error = write_file(Place::at(path).unwrap(), b"x", 0o644).unwrap_err();
        assert_eq!(error.kind, StageErrorKind::WrongKind, "{error}");
        assert_eq!(kind(path), before);
    }
    assert!(kind(&pipe).is_fifo() && kind(&socket).is_socket());
    // What comes to stand there while the file is written is not replaced either.
    let late = dir.path().join("late");
    let file = StagedFile::create(Place::at(&late).unwrap(), 0o644).unwrap();
    fs::rename(&pipe, &late).unwrap();
    assert_eq!(file.commit().unwrap_err().kind, StageErrorKind::WrongKind);
    assert!(kind(&late).is_fifo());
    assert_eq!(names(dir.path()), ["dir", "late", "socket"]);
}

#[test]
fn sweeping_takes_what_was_never_finished_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join(".holdall-stage-0123456789abcdef/a")).unwrap();
    fs::write(dir.path().join(".holdall-stage-fedcba9876543210"), "half").unwrap();
    fs::write(dir.path().join(".holdall-old-0123456789abcdef.name"), "whole").unwrap();
    let place = Place::at(&dir.path().join("new")).unwrap();
    let living = StagedFile::create(Place::at(&dir.path().join("other")).unwrap(), 0o644).unwrap();
    assert_eq!(place.sweep().unwrap().len(), 2);
    living.commit().unwrap();
    assert_eq!(names(dir.path()), [".holdall-old-0123456789abcdef.name", "other"]);
}

#[test]
fn a_new_file_replaces_nothing() {
    let dir = tempfile::tempdir().unwrap();
    symlink("nowhere", dir.path().join("link")).unwrap();
    fs::write(dir.path().join("file"), "kept").unwrap();
    fs::create_dir(dir.path().join("dir")).unwrap();
    for name in ["link", "file", "dir"] {
        let place = Place::at(&dir.path().join(name)).unwrap();
        let error = StagedFile::create(place, 0o644).unwrap().commit_new().unwrap_err();
        assert_eq!(error.kind, StageErrorKind::Exists);
        assert!(error.to_string().ends_with(&format!("{name}: something stands there already")));
    }
    assert_eq!(fs::read(dir.path().join("file")).unwrap(), b"kept");
    StagedFile::create(Place::at(&dir.path().join("new")).unwrap(), 0o600)
        .unwrap()
        .commit_new()
        .unwrap();
    assert_eq!(names(dir.path()), ["dir", "file", "link", "new"]);
}

#[test]
fn a_file_replaces_a_link_and_not_what_it_points_to() {
    let dir = tempfile::tempdir().unwrap();
    let outside = tempfile::NamedTempFile::new().unwrap();
    let path = dir.path().join("link");
    symlink(outside.path(), &path).unwrap();
    write_file(Place::at(&path).unwrap(), b"new", 0o644).unwrap();
    assert!(fs::symlink_metadata(&path).unwrap().is_file());
    assert_eq!(fs::read(outside.path()).unwrap(), b"");

    fs::create_dir(dir.path().join("d")).unwrap();
    let error = write_file(Place::at(&dir.path().join("d")).unwrap(), b"x", 0o644).unwrap_err();
    assert_eq!(error.kind, StageErrorKind::WrongKind);
}

#[test]
fn places_that_cannot_be() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    symlink("/", dir.path().join("out")).unwrap();
    let kind = |path: &str| Place::at(&dir.path().join(path)).unwrap_err().kind;
    assert_eq!(kind("none/x"), StageErrorKind::NotFound);
    assert_eq!(kind("file/x"), StageErrorKind::WrongKind);
    assert_eq!(kind(".."), StageErrorKind::WrongKind);
    assert_eq!(Place::at(Path::new("/")).unwrap_err().kind, StageErrorKind::WrongKind);
    let tree = DirTree::open(dir.path()).unwrap();
    let error = Place::below(&tree, &p("out/tmp")).unwrap_err();
    assert!(
        matches!(error.kind, StageErrorKind::Source(e) if e.kind == TreeErrorKind::NotADirectory)
    );
    assert_eq!(Place::below(&tree, &TreePath::root()).unwrap_err().kind, StageErrorKind::WrongKind);
}

#[test]
fn what_is_dropped_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut file = StagedFile::create(Place::at(&dir.path().join("f")).unwrap(), 0o644).unwrap();
    file.write_all(b"x").unwrap();
    let stage = filled(Place::at(&dir.path().join("d")).unwrap(), "x");
    assert_eq!(names(dir.path()).len(), 2);
    drop((file, stage));
    assert_eq!(names(dir.path()), [""; 0]);
}

#[test]
fn a_directory_takes_its_place_and_can_give_it_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("skill");
    for at in 0..2 {
        let place = || places(&path).into_iter().nth(at).unwrap();
        let read = || fs::read_to_string(path.join("deep/er/b")).unwrap();

        let swapped = filled(place(), "one").commit(false).unwrap();
        assert!(!swapped.replaced());
        swapped.finish().unwrap();
        assert_eq!(read(), "one");
        assert_eq!((mode(&path), mode(&path.join("a"))), (0o755, 0o644));
        assert_eq!(mode(&path.join("deep/er/b")), 0o755);

        let error = filled(place(), "two").commit(false).unwrap_err();
        assert_eq!((error.kind, read().as_str()), (StageErrorKind::Exists, "one"));

        let swapped = filled(place(), "two").commit(true).unwrap();
        assert_eq!((swapped.replaced(), read().as_str()), (true, "two"));
        assert_eq!(names(dir.path()).len(), 2);
        swapped.undo().unwrap();
        assert_eq!(read(), "one");

        filled(place(), "three").commit(true).unwrap().finish().unwrap();
        assert_eq!(read(), "three");
        assert_eq!(names(dir.path()), ["skill"]);

        let aside = set_aside(place()).unwrap();
        assert!(aside.replaced() && !path.exists());
        aside.undo().unwrap();
        assert_eq!(read(), "three");
        set_aside(place()).unwrap().finish().unwrap();
        assert_eq!(names(dir.path()), [""; 0]);
        let nothing = set_aside(place()).unwrap();
        assert!(!nothing.replaced());
        nothing.finish().unwrap();

        let new = filled(place(), "four").commit(false).unwrap();
        new.undo().unwrap();
        assert_eq!(names(dir.path()), [""; 0]);
    }
}

#[test]
fn a_directory_replaces_no_file_and_no_link() {
    let dir = tempfile::tempdir().unwrap();
    let real = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "kept").unwrap();
    symlink(real.path(), dir.path().join("link")).unwrap();
    for name in ["file", "link"] {
        let error =
            filled(Place::at(&dir.path().join(name)).unwrap(), "x").commit(true).unwrap_err();
        assert_eq!(error.kind, StageErrorKind::WrongKind);
    }
    assert_eq!(names(dir.path()), ["file", "link"]);
    assert_eq!(names(real.path()), [""; 0]);
}

#[test]
fn a_stage_may_stand_elsewhere() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("staging")).unwrap();
    let staging = DirTree::open(&dir.path().join("staging")).unwrap();
    let path = dir.path().join("d");
    for text in ["one", "two"] {
        let mut stage = StagedDir::within(&staging, Place::at(&path).unwrap(), 0o700).unwrap();
        stage.write(&p("f"), text.as_bytes(), 0o600).unwrap();
        assert_eq!(names(&dir.path().join("staging")).len(), 1);
        assert_eq!(stage.tree().read(&p("f"), 9).unwrap(), text.as_bytes());
        stage.commit(true).unwrap().finish().unwrap();
        assert_eq!(fs::read_to_string(path.join("f")).unwrap(), text);
    }
    assert_eq!(names(&dir.path().join("staging")), [""; 0]);

    assert_eq!(names(dir.path()), ["d", "staging"]);
}

#[test]
fn copies_with_the_modes_asked_for() {
    let from = tempfile::tempdir().unwrap();
    let set = |path: &str, mode| {
        fs::set_permissions(from.path().join(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    fs::create_dir(from.path().join("d")).unwrap();
    fs::write(from.path().join("d/plain"), "x").unwrap();
    fs::write(from.path().join("run"), "x").unwrap();
    symlink("d/plain", from.path().join("link")).unwrap();
    set("d/plain", 0o600);
    set("run", 0o4710);
    set("d", 0o1550);
    let tree = DirTree::open(from.path()).unwrap();
    let to = tempfile::tempdir().unwrap();
    let copy = |modes| {
        let path = to.path().join("copy");
        let mut stage = StagedDir::beside(Place::at(&path).unwrap(), 0o755).unwrap();
        let options = CopyOptions { modes, ..CopyOptions::default() };
        let copied = stage.copy_tree(&tree, options, &|_| true).unwrap();
        assert_eq!((copied.files, copied.links, copied.bytes), (2, 1, 2));
        stage.commit(true).unwrap().finish().unwrap();
        assert_eq!(fs::read_link(path.join("link")).unwrap(), Path::new("d/plain"));
        ["d", "d/plain", "run"].map(|name| mode(&path.join(name)))
    };
    assert_eq!(copy(Modes::Portable), [0o755, 0o644, 0o755]);
    assert_eq!(copy(Modes::Verbatim), [0o750, 0o600, 0o710]);
    set("d", 0o755);
}

#[test]
fn copies_no_link_that_leads_out() {
    let dir = tempfile::tempdir().unwrap();
    for (target, inside) in [
        ("/etc/passwd", false),
        ("../../x", false),
        ("../..", false),
        ("missing/../../../x", false),
        ("loop", false),
        ("../x", true),
        ("missing", true),
        ("../y/../x", true),
        (".", true),
    ] {
        let mut tree = MemTree::new();
        tree.add_file("x", "x").unwrap();
        tree.add_symlink("d/loop", target).unwrap();
        let mut stage =
            StagedDir::beside(Place::at(&dir.path().join("c")).unwrap(), 0o755).unwrap();
        let copied = stage.copy_tree(&tree, CopyOptions::default(), &|_| true);
        match copied {
            Ok(_) => assert!(inside, "{target}"),
            Err(error) => {
                assert!(!inside, "{target}");
                assert!(error.to_string().contains("d/loop"), "{error}");
            }
        }
    }
    assert_eq!(names(dir.path()), [""; 0]);
}

#[test]
fn copies_what_is_kept_and_no_more_than_allowed() {
    let mut tree = MemTree::new();
    for path in [".git/HEAD", "a/b", "a/.env", "c"] {
        tree.add_file(path, "12345").unwrap();
    }
    let dir = tempfile::tempdir().unwrap();
    let stage = || StagedDir::beside(Place::at(&dir.path().join("c")).unwrap(), 0o755).unwrap();
    let mut kept = stage();
    let keep = |entry: &holdall_tree::WalkEntry| {
        entry.path.as_str() != ".git" && entry.path.file_name() != Some(".env")
    };
    assert_eq!(kept.copy_tree(&tree, CopyOptions::default(), &keep).unwrap().files, 2);
    kept.commit(false).unwrap().finish().unwrap();
    assert_eq!(names(&dir.path().join("c")), ["a", "c"]);
    assert_eq!(names(&dir.path().join("c/a")), ["b"]);

    let options = CopyOptions { bytes: 19, ..CopyOptions::default() };
    let error = stage().copy_tree(&tree, options, &|_| true).unwrap_err();
    assert!(matches!(error.kind, StageErrorKind::Source(e) if e.kind == TreeErrorKind::TooLarge));
    let limits = Limits { entries: 3, ..Limits::default() };
    let options = CopyOptions { limits, ..CopyOptions::default() };
    assert!(stage().copy_tree(&tree, options, &|_| true).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn a_copy_has_the_hash_of_the_tree(entries in root()) {
        let tree = memory(&entries);
        let (_from, on_disk) = disk(&entries);
        let dir = tempfile::tempdir().unwrap();
        for tree in [&tree as &dyn Tree, &on_disk] {
            let place = Place::at(&dir.path().join("c")).unwrap();
            let mut stage = StagedDir::beside(place, 0o755).unwrap();
            match stage.copy_tree(tree, CopyOptions::default(), &|_| true) {
                Ok(_) => {
                    let hash = |tree: &dyn Tree| tree_hash(tree, HashOptions::default()).unwrap();
                    prop_assert_eq!(hash(stage.tree()), hash(tree));
                    stage.commit(true).unwrap().finish().unwrap();
                    prop_assert_eq!(hash(&DirTree::open(&dir.path().join("c")).unwrap()), hash(tree));
                }
                Err(error) => {
                    let StageErrorKind::Source(error) = error.kind else { panic!("{error}") };
                    prop_assert_eq!(tree.metadata(&error.path).unwrap().kind, FileKind::Symlink);
                }
            }
        }
        prop_assert!(names(dir.path()).iter().all(|name| name == "c"));
    }
}

#[test]
fn cleaning_leaves_alone_what_is_alive_or_wanted() {
    let dir = tempfile::tempdir().unwrap();
    let file = StagedFile::create(Place::at(&dir.path().join("f")).unwrap(), 0o644).unwrap();
    let stage = filled(Place::at(&dir.path().join("d")).unwrap(), "x");
    assert_eq!(cleaned(dir.path()), []);
    let (one, other) = (".holdall-stage-0000000000000001", ".holdall-stage-0000000000000002");
    for name in [one, other, ".holdall-other", ".holdall-old-short.x", ".holdall-stag"] {
        fs::create_dir(dir.path().join(name)).unwrap();
    }
    let tree = DirTree::open(dir.path()).unwrap();
    let done = clean(&tree, dir.path(), &|name| name == other).unwrap();
    assert_eq!(done, [Leftover::Removed(one.into())]);
    file.commit().unwrap();
    stage.commit(false).unwrap().finish().unwrap();
    assert_eq!(cleaned(dir.path()), [Leftover::Removed(other.into())]);
    assert_eq!(
        names(dir.path()),
        [".holdall-old-short.x", ".holdall-other", ".holdall-stag", "d", "f"]
    );
}

#[test]
fn cleaning_puts_back_what_has_no_successor() {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in [
        (".holdall-old-0123456789abcdef.my.skill", "old"),
        (".holdall-old-0123456789abcde0.other", "old"),
        ("other", "new"),
    ] {
        fs::create_dir(dir.path().join(name)).unwrap();
        fs::write(dir.path().join(name).join("f"), text).unwrap();
    }
    let removed: OsString = ".holdall-old-0123456789abcde0.other".into();
    assert_eq!(
        cleaned(dir.path()),
        [Leftover::Removed(removed), Leftover::PutBack("my.skill".into())]
    );
    assert_eq!(names(dir.path()), ["my.skill", "other"]);
    assert_eq!(fs::read(dir.path().join("my.skill/f")).unwrap(), b"old");
    assert_eq!(fs::read(dir.path().join("other/f")).unwrap(), b"new");
}

#[test]
fn cleaning_removes_whatever_stands_in_a_stage_but_nothing_behind_links() {
    let dir = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("kept"), "").unwrap();
    let stage = dir.path().join(".holdall-stage-0000000000000001");
    fs::create_dir_all(stage.join("a/b")).unwrap();
    symlink(outside.path(), stage.join("a/link")).unwrap();
    let odd: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(b"a/n\xff");
    fs::write(stage.join(odd), "").unwrap();
    assert!(Command::new("mkfifo").arg(stage.join("fifo")).status().unwrap().success());
    fs::set_permissions(stage.join("a"), fs::Permissions::from_mode(0o500)).unwrap();
    assert_eq!(cleaned(dir.path()).len(), 1);
    assert_eq!(names(dir.path()), [""; 0]);
    assert_eq!(names(outside.path()), ["kept"]);
}

#[test]
fn readers_see_one_state_or_the_other() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("d");
    filled(Place::at(&path).unwrap(), "0").commit(false).unwrap().finish().unwrap();
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 1..60 {
                let stage = filled(Place::at(&path).unwrap(), &n.to_string());
                stage.commit(true).unwrap().finish().unwrap();
            }
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        while !stop.load(std::sync::atomic::Ordering::Relaxed) {
            // There is always one, and it is of one piece until it is replaced and removed.
            let tree = DirTree::open(&path).expect("the place is never empty");
            if let (Ok(a), Ok(b)) = (tree.read(&p("a"), 9), tree.read(&p("deep/er/b"), 9)) {
                assert_eq!(a, b);
            }
        }
    });
}

/// Set in the child that [`killed_at_any_point`] kills: what it does over and over.
const CHILD: &str = "HOLDALL_TEST_STAGE_CHILD";

fn work_forever(dir: &Path, what: &str) -> ! {
    for n in 0_u64.. {
        let text = format!("{n:0>1000}");
        let path = dir.join("d");
        let place = Place::at(&path).unwrap();
        match what {
            "exchange" => filled(place, &text).commit(true).unwrap().finish().unwrap(),
            "renames" => {
                filled(place.without_exchange(), &text).commit(true).unwrap().finish().unwrap();
            }
            "undo" => {
                filled(place.without_exchange(), "wrong").commit(true).unwrap().undo().unwrap();
            }
            "aside" => {
                set_aside(place).unwrap().finish().unwrap();
                filled(Place::at(&path).unwrap(), &text).commit(false).unwrap().finish().unwrap();
            }
            _ => write_file(Place::at(&dir.join("f")).unwrap(), text.as_bytes(), 0o644).unwrap(),
        }
    }
    unreachable!("killed before")
}

#[test]
fn killed_at_any_point() {
    if let Some(what) = std::env::var_os(CHILD) {
        let dir = std::env::current_dir().unwrap();
        work_forever(&dir, what.to_str().unwrap());
    }
    for what in ["exchange", "renames", "undo", "aside", "file"] {
        let dir = tempfile::tempdir().unwrap();
        filled(Place::at(&dir.path().join("d")).unwrap(), "begin")
            .commit(false)
            .unwrap()
            .finish()
            .unwrap();
        let mut leftovers = 0;
        for round in 0..20_u64 {
            let mut child = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "stage::killed_at_any_point", "--nocapture"])
                .env(CHILD, what)
                .current_dir(dir.path())
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            std::thread::sleep(Duration::from_micros(15_000 + round * 977 % 20_000));
            child.kill().unwrap();
            child.wait().unwrap();
            let place = dir.path().join("d");
            if what == "exchange" || what == "file" {
                assert!(place.exists(), "the place is never empty");
            }
            leftovers += cleaned(dir.path()).len();
            assert!(names(dir.path()).iter().all(|name| name == "d" || name == "f"));
            if place.exists() {
                let a = fs::read_to_string(place.join("a")).unwrap();
                assert_eq!(a, fs::read_to_string(place.join("deep/er/b")).unwrap());
                assert_eq!(mode(&place), 0o755);
                // Killed before the undo, the new one stays: it is complete.
                let undone = what == "undo" && a == "wrong";
                assert!(a == "begin" || a.len() == 1000 || undone, "{what}: {a}");
            } else {
                assert_eq!(what, "aside");
            }
            if let Ok(text) = fs::read_to_string(dir.path().join("f")) {
                assert_eq!(text.len(), 1000);
            }
        }
        assert!(leftovers > 0, "{what} was never killed in the middle");
    }
}

/// Set in the child that runs with a file system of its own.
const MOUNTED: &str = "HOLDALL_TEST_STAGE_MOUNTED";

fn on_a_disk_of_its_own(disk: &Path) {
    // A stage on another file system than its place would have to be copied once more.
    let staging = DirTree::open(disk).unwrap();
    let path = disk.with_file_name("place");
    let mut stage = StagedDir::within(&staging, Place::at(&path).unwrap(), 0o755).unwrap();
    stage.write(&p("f"), b"x", 0o600).unwrap();
    assert_eq!(names(disk), [""; 0]);
    stage.commit(true).unwrap().finish().unwrap();
    assert_eq!(fs::read(path.join("f")).unwrap(), b"x");

    fs::create_dir(disk.join("d")).unwrap();
    fs::write(disk.join("d/old"), "old").unwrap();
    fs::write(disk.join("f"), "old").unwrap();
    let big = vec![7; 1 << 20];
    let error = write_file(Place::at(&disk.join("f")).unwrap(), &big, 0o644).unwrap_err();
    assert_eq!(error.kind, StageErrorKind::NoSpace);
    assert!(error.to_string().ends_with("f: no space left on the device"), "{error}");
    let mut tree = MemTree::new();
    tree.add_file("small", "x").unwrap();
    tree.add_file("zbig", &big).unwrap();
    let mut stage = StagedDir::beside(Place::at(&disk.join("d")).unwrap(), 0o755).unwrap();
    let error = stage.copy_tree(&tree, CopyOptions::default(), &|_| true).unwrap_err();
    assert_eq!(error.kind, StageErrorKind::NoSpace);
    drop(stage);
    assert_eq!(names(disk), ["d", "f"]);
    assert_eq!(
        (fs::read(disk.join("f")).unwrap(), names(&disk.join("d"))),
        (b"old".to_vec(), vec!["old".to_owned()])
    );

    assert!(Command::new("mount").args(["-o", "remount,ro"]).arg(disk).status().unwrap().success());
    let error = write_file(Place::at(&disk.join("f")).unwrap(), b"x", 0o644).unwrap_err();
    assert_eq!(error.kind, StageErrorKind::ReadOnly);
    assert!(error.to_string().ends_with("f: the file system is read-only"), "{error}");
    let error = StagedDir::beside(Place::at(&disk.join("d")).unwrap(), 0o755).unwrap_err();
    assert_eq!(error.kind, StageErrorKind::ReadOnly);
    assert_eq!(
        set_aside(Place::at(&disk.join("d")).unwrap()).unwrap_err().kind,
        StageErrorKind::ReadOnly
    );
    assert_eq!(names(disk), ["d", "f"]);
}

#[test]
#[ignore = "needs user namespaces (unshare -Urm)"]
fn other_full_and_read_only_disks() {
    if let Some(disk) = std::env::var_os(MOUNTED) {
        return on_a_disk_of_its_own(disk.as_ref());
    }
    let dir = tempfile::tempdir().unwrap();
    let disk = dir.path().join("disk");
    fs::create_dir(&disk).unwrap();
    let script = "mount -t tmpfs -o size=64k none \"$1\" && exec \"$2\" --ignored --exact \
                  stage::other_full_and_read_only_disks";
    let out = Command::new("unshare")
        .args(["-Urm", "sh", "-c", script, "sh"])
        .arg(&disk)
        .arg(std::env::current_exe().unwrap())
        .env(MOUNTED, &disk)
        .output()
        .expect("unshare (of util-linux) runs");
    assert!(
        out.status.success(),
        "as another user: sysctl kernel.unprivileged_userns_clone=1\n{}{}",
        String::from_utf8_lossy(&out.stdout),
        String::from_utf8_lossy(&out.stderr)
    );
}
