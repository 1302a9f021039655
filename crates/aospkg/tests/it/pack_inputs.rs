//! Packing what other programs made and what changes meanwhile: one tree gives one package,
//! whichever program archived it, and nothing that moves is packed half old and half new.

use std::fs::{self, File};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use holdall_aospkg::format::{EntryKind, MAX_ENTRIES};
use holdall_aospkg::pack::{Input, PackOptions, plan};
use holdall_aospkg::{Package, TarFileSystem};
use holdall_diagnostics::{Diagnostic, Severity};
use holdall_tree::{DirEntry, DirTree, MemTree, Metadata, Tree, TreeError, TreeFile, TreePath};

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::create_dir(place.root()).unwrap();
        place
    }

    fn root(&self) -> PathBuf {
        self.0.path().join("in")
    }

    fn out(&self) -> PathBuf {
        self.0.path().join("out.aospkg")
    }

    fn file(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// What others find hard: long names and targets, holes, links, odd characters, modes.
    fn fill(&self) {
        self.file("agentos-package.json", r#"{"name":"demo","version":"2.1.0"}"#);
        self.file("bin/demo", "#!/bin/sh\necho demo\n");
        let mode = fs::Permissions::from_mode(0o750);
        fs::set_permissions(self.root().join("bin/demo"), mode).unwrap();
        let deep = format!("{}/{}", "directory-".repeat(9), "another-".repeat(8));
        let long = format!("{deep}/{}", "n".repeat(120));
        self.file(&long, "long");
        self.file(&format!("{}é", "x".repeat(99)), "hundred and one bytes");
        self.file("sub/agentos-package.json", "kept");
        self.file("package.json", r#"{"name":"demo"}"#);
        self.file("zero", "");
        self.file("big", vec![b'z'; 100_000]);
        fs::create_dir(self.root().join("empty")).unwrap();
        fs::hard_link(self.root().join(&long), self.root().join("hard")).unwrap();
        symlink(&long, self.root().join("soft")).unwrap();
        let mut sparse = File::create(self.root().join("sparse")).unwrap();
        for n in 0..6u64 {
            sparse.seek(SeekFrom::Start(n * 200_000)).unwrap();
            sparse.write_all(&[n as u8 + 1; 4096]).unwrap();
        }
        sparse.set_len(6 * 200_000 + 77).unwrap();
    }

    fn pack_dir(&self, options: &PackOptions) -> Result<Vec<u8>, Vec<Diagnostic>> {
        let tree = DirTree::open(&self.root()).unwrap();
        self.pack(Input::Tree(&tree), options).map(|(bytes, _)| bytes)
    }

    /// The package's bytes, and the warnings.
    fn pack(
        &self,
        input: Input<'_>,
        options: &PackOptions,
    ) -> Result<(Vec<u8>, Vec<Diagnostic>), Vec<Diagnostic>> {
        let plan = plan(input, options)?;
        plan.write(&self.out()).map_err(|fault| vec![*fault])?;
        Ok((fs::read(self.out()).unwrap(), plan.warnings().to_vec()))
    }

    /// The errors, and that nothing was written.
    fn refused(&self, options: &PackOptions) -> Vec<Diagnostic> {
        let mut found = self.pack_dir(options).expect_err("refused");
        assert!(!self.out().exists());
        found.retain(|each| each.severity == Severity::Error);
        found
    }

    /// A tar made by Python's tarfile.
    fn python(&self, body: &str) -> File {
        let out = self.0.path().join("python.tar");
        let script = format!(
            "import io, sys, tarfile\nout = tarfile.open(sys.argv[1], 'w', format=tarfile.PAX_FORMAT)\n\
             def add(name, data=b'', **fields):\n    \
             member = tarfile.TarInfo(name)\n    \
             member.size = len(data)\n    \
             [setattr(member, key, value) for key, value in fields.items()]\n    \
             out.addfile(member, io.BytesIO(data))\n\
             add('agentos-package.json', b'{{\"name\":\"d\",\"version\":\"1\"}}')\n{body}\nout.close()\n"
        );
        let status = Command::new("python3").args(["-c", &script]).arg(&out).status().unwrap();
        assert!(status.success());
        File::open(out).unwrap()
    }
}

fn same_as_the_directory(program: &str, cases: &[&[&str]]) {
    let at = Place::new();
    at.fill();
    let expected = at.pack_dir(&PackOptions::default()).unwrap();
    for options in cases {
        let file = at.0.path().join("a.tar");
        let mut command = Command::new(program);
        command.args(*options).arg("-cf").arg(&file).arg("-C").arg(at.root()).arg(".");
        let done = command.output().unwrap_or_else(|error| {
            panic!("{program} must be installed (apt-get install tar libarchive-tools): {error}")
        });
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let archive = File::open(&file).unwrap();
        let (bytes, _) = at.pack(Input::Tar(&archive), &PackOptions::default()).unwrap();
        assert!(bytes == expected, "{program} {options:?}");
    }
    let package = Package::open(at.out()).unwrap();
    let paths: Vec<_> = package.index().iter().map(|entry| entry.path).collect();
    assert!(!paths.contains(&"/agentos-package.json"), "{paths:?}");
    assert!(paths.contains(&"/sub/agentos-package.json") && paths.contains(&"/package.json"));
}

#[test]
fn archives_of_gnu_tar_in_every_format_pack_to_the_same_bytes() {
    same_as_the_directory(
        "tar",
        &[
            &["--format=gnu"],
            &["--format=gnu", "--sparse"],
            &["--format=oldgnu", "--sparse"],
            &["--format=pax"],
            &["--format=pax", "--sparse", "--sparse-version=0.0"],
            &["--format=pax", "--sparse", "--sparse-version=0.1"],
            &["--format=pax", "--sparse", "--sparse-version=1.0"],
            &[
                "--format=pax",
                "--sort=name",
                "--owner=nobody",
                "--mtime=@1",
                "--no-recursion",
                "-T",
                "/dev/null",
                "--recursion",
            ],
        ],
    );
}

#[test]
#[ignore = "needs bsdtar"]
fn archives_of_bsdtar_pack_to_the_same_bytes() {
    same_as_the_directory(
        "bsdtar",
        &[
            &["--format=gnutar"],
            &["--format=pax", "--no-xattrs"],
            &["--format=pax", "--no-xattrs", "--read-sparse"],
        ],
    );
}

#[test]
fn what_a_directory_holds_and_a_package_cannot_is_named() {
    let at = Place::new();
    at.file("agentos-package.json", r#"{"name":"d","version":"1"}"#);
    assert!(Command::new("mkfifo").arg(at.root().join("fifo")).status().unwrap().success());
    std::os::unix::net::UnixListener::bind(at.root().join("socket")).unwrap();
    let bad = std::ffi::OsStr::from_bytes(b"caf\xe9.txt");
    fs::write(at.root().join(bad), "x").unwrap();
    at.file("suid", "x");
    fs::set_permissions(at.root().join("suid"), fs::Permissions::from_mode(0o4755)).unwrap();
    symlink("/etc/passwd", at.root().join("leak")).unwrap();
    symlink("../../..", at.root().join("up")).unwrap();
    symlink("suid", at.root().join("kept")).unwrap();
    let found = at.refused(&PackOptions::default());
    let mut said: Vec<_> =
        found.iter().map(|each| (each.code, each.path.as_deref().unwrap_or_default())).collect();
    said.sort_unstable();
    assert_eq!(
        said,
        [
            ("AO0205", ""),
            ("AO0207", "fifo"),
            ("AO0207", "socket"),
            ("AO0208", "leak"),
            ("AO0208", "up"),
            ("AO0210", "suid"),
        ],
        "{found:?}"
    );
    let name = found.iter().find(|each| each.code == "AO0205").unwrap();
    assert!(name.message.contains(r"caf\xe9.txt"), "{name:?}");
    let leak = found.iter().find(|each| each.path.as_deref() == Some("leak")).unwrap();
    assert!(leak.message.contains("/etc/passwd"), "{leak:?}");
}

#[test]
fn links_to_nothing_and_to_themselves_are_warnings_and_kept() {
    let at = Place::new();
    at.file("agentos-package.json", r#"{"name":"d","version":"1"}"#);
    symlink("loop", at.root().join("loop")).unwrap();
    symlink("gone", at.root().join("dangling")).unwrap();
    let tree = DirTree::open(&at.root()).unwrap();
    let (_, warnings) = at.pack(Input::Tree(&tree), &PackOptions::default()).unwrap();
    let said: Vec<_> =
        warnings.iter().map(|each| (each.code, each.path.as_deref().unwrap())).collect();
    assert_eq!(said, [("AO0209", "dangling"), ("AO0209", "loop")]);
    let fs = TarFileSystem::open(at.out()).unwrap();
    assert_eq!(fs.read_link("/loop").unwrap(), "loop");
    assert_eq!(fs.stat("/loop").unwrap_err().errno.name(), "ELOOP");
}

#[test]
fn what_a_tar_says_and_a_package_cannot_is_a_warning() {
    let at = Place::new();
    let body = "add('f', b'x', pax_headers={'SCHILY.xattr.user.k': 'v'})";
    let archive = at.python(body);
    let (_, warnings) = at.pack(Input::Tar(&archive), &PackOptions::default()).unwrap();
    let said: Vec<_> = warnings.iter().map(|each| (each.code, each.path.as_deref())).collect();
    assert_eq!(said, [("AO0222", Some("f"))]);
    assert!(warnings[0].message.contains("SCHILY.xattr.user.k"));
    // Without end blocks nothing is missing that can be told.
    let mut bytes = fs::read(at.0.path().join("python.tar")).unwrap();
    let end = bytes.iter().rposition(|byte| *byte != 0).unwrap();
    bytes.truncate((end + 1).next_multiple_of(512));
    fs::write(at.0.path().join("short.tar"), bytes).unwrap();
    let archive = File::open(at.0.path().join("short.tar")).unwrap();
    let (_, warnings) = at.pack(Input::Tar(&archive), &PackOptions::default()).unwrap();
    assert!(warnings.iter().any(|each| each.code == "AO0204"), "{warnings:?}");
}

/// `ß` folds to `ss`; PAX and GNU headers on one member; two documents for one name; a document
/// that is a directory.
#[test]
fn what_readers_take_differently_is_refused() {
    for (body, code) in [
        ("add('Stra\\u00dfe'); add('strasse')", "AO0212"),
        ("add('agentos-package.json', b'{}')", "AO0206"),
        ("add('./agentos-package.json', b'{}')", "AO0206"),
        (
            "pax = tarfile.TarInfo._create_pax_generic_header({'mtime': '1.5'}, tarfile.XHDTYPE, 'utf-8')\n\
             gnu = tarfile.TarInfo('n' * 150).tobuf(tarfile.GNU_FORMAT)\n\
             out.fileobj.write(pax + gnu)\nout.offset = out.fileobj.tell()",
            "AO0202",
        ),
    ] {
        let at = Place::new();
        let archive = at.python(body);
        let found = plan(Input::Tar(&archive), &PackOptions::default()).unwrap_err();
        assert!(found.iter().any(|each| each.code == code), "{body}: {found:?}");
    }
    let at = Place::new();
    fs::create_dir(at.root().join("agentos-package.json")).unwrap();
    let found = at.refused(&PackOptions::default());
    assert!(
        found.iter().any(|each| each.path.as_deref() == Some("agentos-package.json")),
        "{found:?}"
    );
}

/// Null is none, an empty block is there, and fields of other tools are nothing to us.
#[test]
fn the_documents_optional_fields() {
    for (text, provides) in [
        (r#"{"name":"d","version":"1","agent":null,"provides":null}"#, false),
        (r#"{"name":"d","version":"1","provides":{}}"#, true),
        (r#"{"name":"d","version":"1","commands":["x"],"aliases":{"a":"b"},"registry":3}"#, false),
    ] {
        let at = Place::new();
        at.file("agentos-package.json", text);
        at.pack_dir(&PackOptions::default()).unwrap();
        let package = Package::open(at.out()).unwrap();
        let manifest = package.manifest().unwrap();
        assert!(manifest.agent.is_none(), "{text}");
        assert_eq!(manifest.provides.is_some(), provides, "{text}");
    }
}

#[test]
fn a_preserved_directory_keeps_owners_times_and_modes() {
    let at = Place::new();
    at.fill();
    let options = PackOptions { preserve: true, ..PackOptions::default() };
    at.pack_dir(&options).unwrap();
    let package = Package::open(at.out()).unwrap();
    for entry in package.index().iter().filter(|entry| entry.path != "/") {
        let known = fs::symlink_metadata(at.root().join(&entry.path[1..])).unwrap();
        if entry.kind != EntryKind::Symlink {
            assert_eq!(entry.mode & 0o7777, known.mode() & 0o7777, "{}", entry.path);
        }
        let owner = (known.uid(), known.gid(), known.mtime());
        assert_eq!((entry.uid, entry.gid, entry.mtime), owner, "{}", entry.path);
    }
    // A tar of it says the same, and so gives the same bytes.
    let file = at.0.path().join("a.tar");
    let made = Command::new("tar")
        .arg("--format=gnu")
        .arg("-cf")
        .arg(&file)
        .arg("-C")
        .arg(at.root())
        .arg(".")
        .status();
    assert!(made.unwrap().success());
    let directory = fs::read(at.out()).unwrap();
    let (bytes, _) = at.pack(Input::Tar(&File::open(file).unwrap()), &options).unwrap();
    assert!(bytes == directory);
}

/// In a tar a directory may stand behind what is in it, or be named again: its own facts count.
#[test]
fn a_directory_named_late_counts() {
    let at = Place::new();
    let archive = at.python(
        "add('d/f', b'x'); add('d', type=tarfile.DIRTYPE, mode=0o700, mtime=5); \
         add('d/', type=tarfile.DIRTYPE, mode=0o750, mtime=7)",
    );
    let options = PackOptions { preserve: true, ..PackOptions::default() };
    at.pack(Input::Tar(&archive), &options).unwrap();
    let package = Package::open(at.out()).unwrap();
    let found = package.index().find("/d").map(|at| package.index().entry(at)).unwrap();
    assert_eq!((found.mode, found.mtime), (0o040_750, 7));
}

/// A directory whose file `big` is changed by somebody while it is read.
#[derive(Debug)]
struct Moving {
    inner: DirTree,
    change: fn(&Path),
    file: PathBuf,
}

#[derive(Debug)]
struct MovingFile {
    inner: Box<dyn TreeFile>,
    change: fn(&Path),
    file: PathBuf,
}

impl Tree for Moving {
    fn metadata(&self, path: &TreePath) -> Result<Metadata, TreeError> {
        self.inner.metadata(path)
    }

    fn open(&self, path: &TreePath) -> Result<Box<dyn TreeFile>, TreeError> {
        let inner = self.inner.open(path)?;
        if path.as_str() != "big" {
            return Ok(inner);
        }
        Ok(Box::new(MovingFile { inner, change: self.change, file: self.file.clone() }))
    }

    fn read_dir(&self, path: &TreePath) -> Result<Vec<DirEntry>, TreeError> {
        self.inner.read_dir(path)
    }

    fn read_link(&self, path: &TreePath) -> Result<String, TreeError> {
        self.inner.read_link(path)
    }
}

impl TreeFile for MovingFile {
    fn len(&self) -> u64 {
        self.inner.len()
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<usize, TreeError> {
        let read = self.inner.read_at(buf, offset)?;
        if offset == 0 {
            (self.change)(&self.file);
        }
        Ok(read)
    }

    fn changed(&self) -> Result<bool, TreeError> {
        self.inner.changed()
    }
}

fn resize(path: &Path, len: u64) {
    File::options().write(true).open(path).unwrap().set_len(len).unwrap();
}

#[test]
fn a_file_that_changes_while_it_is_read_is_an_error() {
    let changes: [(&str, fn(&Path)); 4] = [
        ("shrinks", |path| resize(path, 1_500_000)),
        ("vanishes in part", |path| resize(path, 0)),
        ("grows", |path| resize(path, 4_000_000)),
        ("is rewritten", |path| fs::write(path, vec![2; 3_000_000]).unwrap()),
    ];
    for (what, change) in changes {
        let at = Place::new();
        at.file("agentos-package.json", r#"{"name":"d","version":"1"}"#);
        at.file("big", vec![1; 3_000_000]);
        let inner = DirTree::open(&at.root()).unwrap();
        let tree = Moving { inner, change, file: at.root().join("big") };
        fs::write(at.out(), "before").unwrap();
        let plan = plan(Input::Tree(&tree), &PackOptions::default()).unwrap();
        let fault = plan.write(&at.out()).expect_err(what);
        assert_eq!((fault.code, fault.path.as_deref()), ("AO0221", Some("big")), "{what}");
        assert_eq!(fs::read_to_string(at.out()).unwrap(), "before", "{what}");
        assert_eq!(fs::read_dir(at.0.path()).unwrap().count(), 2, "no stage is left");
    }
}

#[test]
fn what_is_gone_or_moved_between_the_passes_is_an_error() {
    let changes: [(&str, fn(&Path)); 4] = [
        ("deleted", |path| fs::remove_file(path).unwrap()),
        ("a directory", |path| {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
        }),
        ("longer", |path| fs::write(path, "longer than before").unwrap()),
        ("a link", |path| {
            fs::remove_file(path).unwrap();
            symlink("/etc/passwd", path).unwrap();
        }),
    ];
    for (what, change) in changes {
        let at = Place::new();
        at.file("agentos-package.json", r#"{"name":"d","version":"1"}"#);
        at.file("f", "before");
        let tree = DirTree::open(&at.root()).unwrap();
        let plan = plan(Input::Tree(&tree), &PackOptions::default()).unwrap();
        change(&at.root().join("f"));
        let fault = plan.write(&at.out()).expect_err(what);
        assert!(matches!(fault.code, "AO0201" | "AO0221"), "{what}: {fault:?}");
        assert_eq!(fault.path.as_deref(), Some("f"), "{what}");
        assert!(!at.out().exists());
    }
}

#[test]
fn a_tar_that_changes_between_the_passes_is_an_error() {
    let changes: [(&str, fn(&Path)); 3] = [
        ("longer", |path| resize(path, fs::metadata(path).unwrap().len() + 512)),
        ("shorter", |path| resize(path, 1024)),
        ("rewritten", |path| {
            let bytes = fs::read(path).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(20));
            fs::write(path, bytes).unwrap();
        }),
    ];
    for (what, change) in changes {
        let at = Place::new();
        let archive = at.python("add('f', b'x' * 5000)");
        let plan = plan(Input::Tar(&archive), &PackOptions::default()).unwrap();
        change(&at.0.path().join("python.tar"));
        let fault = plan.write(&at.out()).expect_err(what);
        assert_eq!(fault.code, "AO0221", "{what}: {fault:?}");
        assert!(!at.out().exists());
    }
}

#[test]
fn where_nothing_can_be_written_nothing_is_left() {
    let at = Place::new();
    at.fill();
    let tree = DirTree::open(&at.root()).unwrap();
    let plan = plan(Input::Tree(&tree), &PackOptions::default()).unwrap();
    fs::create_dir(at.0.path().join("taken")).unwrap();
    for out in ["no/such/out.aospkg", "taken"] {
        let fault = plan.write(&at.0.path().join(out)).expect_err(out);
        assert_eq!(fault.code, "AO0223", "{out}: {fault:?}");
    }
    assert_eq!(fs::read_dir(at.0.path()).unwrap().count(), 2);
}

#[test]
fn two_hundred_thousand_entries_and_no_more() {
    let mut tree = MemTree::new();
    // The root and the directory count too.
    for n in 0..MAX_ENTRIES - 2 {
        tree.add_file(&format!("d/{n:06}"), "").unwrap();
    }
    let options = PackOptions {
        name: Some("n".into()),
        version_name: Some("1".into()),
        ..PackOptions::default()
    };
    let at = Place::new();
    plan(Input::Tree(&tree), &options).unwrap().write(&at.out()).unwrap();
    assert_eq!(Package::open(at.out()).unwrap().index().len(), MAX_ENTRIES);
    tree.add_file("one-more", "").unwrap();
    let found = plan(Input::Tree(&tree), &options).unwrap_err();
    assert!(found.iter().any(|each| each.code == "AO0211"), "{found:?}");
}
