//! Packing: golden bytes, canonical results from any input, nothing lost silently.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use holdall_aospkg::format::{EntryKind, Version};
use holdall_aospkg::pack::{Input, PackOptions, convert, plan};
use holdall_aospkg::{CommandTarget, Package, TarFileSystem};
use holdall_diagnostics::{Diagnostic, Severity};
use holdall_tree::{DirTree, Tree as _, TreePath};

use crate::support::{Ours, peer, same_answers};

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A file of the directory that is packed.
    fn file(&self, path: &str, bytes: impl AsRef<[u8]>, mode: u32) {
        let path = self.path("in").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn demo(&self) {
        self.file("agentos-package.json", r#"{"name":"demo","version":"2.1.0"}"#, 0o644);
        self.file("bin/demo", "#!/bin/sh\necho demo\n", 0o755);
    }

    /// A tar made by Python's tarfile with this body; `add(name, data=b"", **fields)` is there.
    fn tar(&self, body: &str) -> PathBuf {
        let out = self.path("in.tar");
        let script = format!(
            r#"
import io, sys, tarfile
out = tarfile.open(sys.argv[1], "w", format=tarfile.GNU_FORMAT)
def add(name, data=b"", **fields):
    member = tarfile.TarInfo(name)
    member.size = len(data)
    for key, value in fields.items():
        setattr(member, key, value)
    out.addfile(member, io.BytesIO(data))
DIR, LNK, HARD = tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE
{body}
out.close()
"#
        );
        let status = Command::new("python3").args(["-c", &script]).arg(&out).status().unwrap();
        assert!(status.success());
        out
    }

    fn pack_dir(&self, options: &PackOptions) -> Result<PathBuf, Vec<Diagnostic>> {
        let tree = DirTree::open(&self.path("in")).unwrap();
        self.pack(Input::Tree(&tree), options)
    }

    fn pack_tar(&self, body: &str, options: &PackOptions) -> Result<PathBuf, Vec<Diagnostic>> {
        let file = File::open(self.tar(body)).unwrap();
        self.pack(Input::Tar(&file), options)
    }

    fn pack(&self, input: Input<'_>, options: &PackOptions) -> Result<PathBuf, Vec<Diagnostic>> {
        let out = self.path("out.aospkg");
        let plan = plan(input, options)?;
        let packed = plan.write(&out).map_err(|fault| vec![*fault])?;
        assert_eq!(packed.bytes, fs::metadata(&out).unwrap().len());
        assert_eq!(packed.bytes, plan.len());
        Ok(out)
    }
}

fn v1() -> PackOptions {
    PackOptions::default()
}

fn v2() -> PackOptions {
    PackOptions { version: Version::V2, ..PackOptions::default() }
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

const DEMO_TAR: &str = r#"
add("agentos-package.json", b'{"name":"demo","version":"2.1.0"}')
add("bin/demo", b"\x23!/bin/sh\necho demo\n", mode=0o755)
add("lnk", type=LNK, linkname="bin/demo", mode=0o777)
"#;

/// The vector of the reference, section 1.7, for both versions.
#[test]
fn golden_bytes() {
    let at = Place::new();
    let head = |version: &str, manifest: &str| {
        let mut bytes = hex(version);
        bytes.extend(hex(manifest));
        bytes
    };
    let one = head(
        "89414f53 0100 0000 20000000 ba000000",
        "0100 04 64656d6f 05 322e312e30 00 00 01 04 64656d6f 08 62696e2f64656d6f 00 00",
    );
    let two = head(
        "89414f53 0200 0000 1e000000 ba000000",
        "0200 04 64656d6f 05 322e312e30 00 01 04 64656d6f 08 62696e2f64656d6f 00",
    );
    for (options, expected) in [(v1(), one), (v2(), two)] {
        let out = at.pack_tar(DEMO_TAR, &options).unwrap();
        let bytes = fs::read(&out).unwrap();
        assert_eq!(&bytes[..expected.len()], expected);
        let index = &bytes[expected.len()..expected.len() + 186];
        assert_eq!(index[2], 4, "four entries");
        assert_eq!(bytes.len(), expected.len() + 186 + 2560);
        let mount = &bytes[expected.len() + 186..];
        assert_eq!(&mount[..8], b"bin/demo");
        assert_eq!(&mount[257..265], b"ustar  \0", "GNU magic");
        assert_eq!(&mount[512..532], b"#!/bin/sh\necho demo\n");
        assert_eq!(&mount[1024..1027], b"lnk");
        assert!(mount[1536..].iter().all(|&byte| byte == 0));
        let package = Package::open(&out).unwrap();
        let entries: Vec<_> = package
            .index()
            .iter()
            .map(|entry| (entry.path, entry.kind, entry.offset, entry.size, entry.mode))
            .collect();
        assert_eq!(
            entries,
            [
                ("/", EntryKind::Directory, 0, 0, 0x41ed),
                ("/bin", EntryKind::Directory, 0, 0, 0x41ed),
                ("/bin/demo", EntryKind::File, 0x200, 0x14, 0x81ed),
                ("/lnk", EntryKind::Symlink, 0, 0, 0xa1ff),
            ]
        );
    }
}

#[test]
fn a_directory_and_a_tar_of_it_in_any_order_give_the_same_bytes() {
    let at = Place::new();
    at.demo();
    at.file("share/man/man1/demo.1", ".TH demo 1\n", 0o600);
    at.file("z", "z", 0o664);
    at.file("a-b", "1", 0o644);
    at.file("a/b", "2", 0o777);
    fs::create_dir_all(at.path("in/empty")).unwrap();
    symlink("bin/demo", at.path("in/lnk")).unwrap();
    fs::hard_link(at.path("in/z"), at.path("in/a/hard")).unwrap();
    let dir = fs::read(at.pack_dir(&v1()).unwrap()).unwrap();
    let members = [
        r#"add("./", type=DIR, mode=0o700)"#,
        r#"add("./z", b"z", mode=0o640, uid=1000, uname="me", mtime=1700000000)"#,
        r#"add("lnk", type=LNK, linkname="bin/demo")"#,
        r#"add("a", type=DIR, mode=0o755)"#,
        r#"add("a/hard", type=HARD, linkname="./z")"#,
        r#"add("a/b", b"2", mode=0o711)"#,
        r#"add("a-b", b"1")"#,
        r#"add("empty/", type=DIR, mode=0o700)"#,
        r#"add("share/man/man1/demo.1", b".TH demo 1\n")"#,
        r#"add("bin//demo", b"\x23!/bin/sh\necho demo\n", mode=0o755)"#,
        r#"add("agentos-package.json", b'{"version":"2.1.0","name":"demo"}')"#,
    ];
    let forward = members.join("\n");
    assert_eq!(fs::read(at.pack_tar(&forward, &v1()).unwrap()).unwrap(), dir);
    // A hard link must follow its file; everything else may stand anywhere.
    let mut shuffled = members;
    shuffled.reverse();
    shuffled.swap(6, 9);
    assert_eq!(fs::read(at.pack_tar(&shuffled.join("\n"), &v1()).unwrap()).unwrap(), dir);

    let package = Package::open(at.path("out.aospkg")).unwrap();
    let manifest = package.manifest().unwrap();
    assert_eq!(manifest.man_pages[0].page, "demo.1");
    let index = package.index();
    let entry = |path: &str| index.entry(index.find(path).unwrap());
    assert_eq!(entry("/z").offset, entry("/a/hard").offset);
    assert_eq!((entry("/z").mode, entry("/a/b").mode), (0o100_644, 0o100_755));
    assert!(index.iter().all(|entry| (entry.uid, entry.gid, entry.mtime) == (0, 0, 0)));
}

#[test]
fn what_is_packed_opens_in_both_published_readers_with_equal_answers() {
    let at = Place::new();
    at.demo();
    let long = format!("deep/{}/file", "n".repeat(150));
    at.file(&long, vec![7; 5000], 0o644);
    symlink("../bin/demo", at.path("in/deep/link")).unwrap();
    fs::hard_link(at.path("in/bin/demo"), at.path("in/other")).unwrap();
    for (options, version) in [(v1(), Version::V1), (v2(), Version::V2)] {
        let out = at.pack_dir(&options).unwrap();
        let files = TarFileSystem::open(&out).unwrap();
        let mut ours = Ours::open(&out, "/").unwrap();
        let mut theirs = peer(&out, version, "/").unwrap();
        for entry in Package::open(&out).unwrap().index().iter() {
            same_answers(&mut ours, theirs.as_mut(), entry.path);
        }
        for path in ["bin/demo", "other", long.as_str()] {
            let bytes = files.read(&TreePath::new(path).unwrap(), 1 << 20).unwrap();
            assert_eq!(bytes, fs::read(at.path("in").join(path)).unwrap(), "{path}");
        }
    }
}

fn faults(result: Result<PathBuf, Vec<Diagnostic>>) -> Vec<Diagnostic> {
    let mut found = result.expect_err("a fault");
    found.retain(|diagnostic| diagnostic.severity == Severity::Error);
    found
}

#[test]
fn everything_a_package_cannot_hold_is_an_error_with_its_name() {
    let facts = r#"add("agentos-package.json", b'{"name":"d","version":"1"}')"#;
    let table = [
        (r#"add("dev", type=tarfile.CHRTYPE)"#, "AO0207", "character device"),
        (r#"add("pipe", type=tarfile.FIFOTYPE)"#, "AO0207", "named pipe"),
        (r#"add("blk", type=tarfile.BLKTYPE)"#, "AO0207", "block device"),
        (
            r#"out.encoding, out.errors = "latin-1", "strict"; add("caf\xe9.txt")"#,
            "AO0205",
            "caf\\xe9",
        ),
        (r#"add("../x")"#, "AO0205", "../x"),
        (r#"add("/etc/x")"#, "AO0205", "absolute"),
        (r#"add("a"); add("./a")"#, "AO0206", "`a` stands at offset"),
        (r#"add("f"); add("f/x")"#, "AO0206", "`f` is no directory"),
        (r#"add("l", type=LNK, linkname="/etc/passwd")"#, "AO0208", "/etc/passwd"),
        (r#"add("d/l", type=LNK, linkname="../../x")"#, "AO0208", "../../x"),
        (r#"add("h", type=HARD, linkname="gone")"#, "AO0208", "gone"),
        (r#"add("s", mode=0o4755)"#, "AO0210", "4755"),
        (r#"add("u", uid=1 << 40)"#, "AO0211", "1099511627776"),
        (r#"add("t", mtime=-5)"#, "AO0211", "-5"),
        (r#"add("Skill/x"); add("skill/x")"#, "AO0212", "`Skill` and `skill`"),
        (r#"add("e\u0301"); add("\u00e9")"#, "AO0212", "are one name"),
        (r#"add("CON")"#, "AO0213", ""),
        (r#"add("a:b")"#, "AO0213", ""),
        (r#"add("dot.")"#, "AO0213", ""),
        (r#"add("bs\\x")"#, "AO0213", ""),
    ];
    for (body, code, words) in table {
        let at = Place::new();
        let found = faults(at.pack_tar(&format!("{facts}\n{body}"), &v1()));
        assert_eq!(found[0].code, code, "{body}: {found:?}");
        assert!(found[0].message.contains(words), "{body}: {}", found[0].message);
        assert!(!at.path("out.aospkg").exists(), "{body}");
        if matches!(code, "AO0212" | "AO0213") {
            let posix = PackOptions { posix: true, ..v1() };
            assert!(
                at.pack_tar(&format!("{facts}\n{body}"), &posix).is_ok(),
                "{body} with --posix"
            );
        }
    }
}

#[test]
fn cut_and_joined_archives_are_refused() {
    let at = Place::new();
    let whole = fs::read(at.tar(DEMO_TAR)).unwrap();
    let pack = |bytes: &[u8]| {
        fs::write(at.path("cut.tar"), bytes).unwrap();
        at.pack(Input::Tar(&File::open(at.path("cut.tar")).unwrap()), &v1())
    };
    let end = whole.len() - whole.iter().rev().take_while(|&&byte| byte == 0).count();
    let end = end.div_ceil(512) * 512;
    assert!(pack(&whole[..end]).is_ok(), "no end blocks is a warning");
    for cut in [1, 511, 600, 1030, end - 20] {
        assert!(!faults(pack(&whole[..cut])).is_empty(), "cut at {cut}");
    }
    let joined = [&whole[..], &whole[..]].concat();
    assert_eq!(faults(pack(&joined))[0].code, "AO0203");
    assert!(pack(b"").is_err());
    assert!(pack(&[0; 10240]).is_err());
    assert!(
        pack(
            b"not a tar, just text that is long enough to fill more than one block"
                .repeat(20)
                .as_slice()
        )
        .is_err()
    );
}

#[test]
fn sparse_files_are_expanded() {
    let at = Place::new();
    let body = r#"
add("agentos-package.json", b'{"name":"d","version":"1"}')
import struct
head = tarfile.TarInfo("sparse")
data = b"A" * 512
body = b"1\n4096\n512\n".ljust(512, b"\0") + data
pax = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "sparse", "GNU.sparse.realsize": "8192"}
head = tarfile.TarInfo("GNUSparseFile.0/sparse"); head.size = len(body); head.pax_headers = pax
out.fileobj.write(head.tobuf(tarfile.PAX_FORMAT)); out.fileobj.write(body)
out.offset = out.fileobj.tell()
"#;
    let out = at.pack_tar(body, &v1()).unwrap();
    let package = TarFileSystem::open(&out).unwrap();
    let bytes = package.read(&TreePath::new("sparse").unwrap(), 1 << 20).unwrap();
    assert_eq!(bytes.len(), 8192);
    assert!(bytes[4096..4608].iter().all(|&byte| byte == b'A'));
    assert_eq!(bytes.iter().filter(|&&byte| byte != 0).count(), 512);
}

#[test]
fn commands_that_are_given_are_the_only_ones_and_must_run() {
    let at = Place::new();
    at.demo();
    at.file("lib/real.mjs", "x", 0o755);
    let given = |entry: &str| PackOptions {
        commands: Some(vec![CommandTarget { command: "tool".into(), entry: entry.into() }]),
        ..v1()
    };
    let out = at.pack_dir(&given("lib/real.mjs")).unwrap();
    let package = Package::open(&out).unwrap();
    let commands = &package.manifest().unwrap().commands;
    assert_eq!(commands, &given("lib/real.mjs").commands.unwrap());
    let found = faults(at.pack_dir(&given("lib/gone.mjs")));
    assert_eq!((found.len(), found[0].code), (1, "AO0217"));
}

#[test]
fn commands_that_cannot_run_are_errors_and_directories_are_none() {
    let at = Place::new();
    at.demo();
    at.file("bin/sub/x", "x", 0o755);
    at.file("bin/_hidden", "x", 0o644);
    at.file("share/man/de/man1/d.1", "x", 0o644);
    at.file("share/man/man1/real.1", "x", 0o644);
    symlink("demo", at.path("in/bin/alias")).unwrap();
    let out = at.pack_dir(&v1()).unwrap();
    let package = Package::open(&out).unwrap();
    let manifest = package.manifest().unwrap();
    let names: Vec<_> = manifest.commands.iter().map(|command| command.command.as_str()).collect();
    assert_eq!(names, ["alias", "demo"]);
    let pages: Vec<_> = manifest.man_pages.iter().map(|page| page.page.as_str()).collect();
    assert_eq!(pages, ["real.1"]);

    at.file("bin/plain", "x", 0o644);
    let found = faults(at.pack_dir(&v1()));
    assert_eq!((found.len(), found[0].code), (1, "AO0217"));
    assert_eq!(found[0].help.as_deref(), Some("chmod +x bin/plain"));

    for (bin, words) in [
        (r#"{"x":"../../x"}"#, "leaves the tree"),
        (r#"{"x":"/bin/demo"}"#, "absolute"),
        (r#"{"x":"gone.js"}"#, "does not exist"),
        (r#"{"x":"bin"}"#, "is a directory"),
        (r#"{"x":"./bin/plain"}"#, "no execute bit"),
    ] {
        at.file("package.json", format!(r#"{{"name":"@o/demo","bin":{bin}}}"#), 0o644);
        let found = faults(at.pack_dir(&v1()));
        assert!(found[0].message.contains(words), "{bin}: {}", found[0].message);
    }
    // An empty map means no commands, and no fallback.
    at.file("package.json", r#"{"name":"@o/demo","bin":{}}"#, 0o644);
    let out = at.pack_dir(&v1()).unwrap();
    assert!(Package::open(out).unwrap().manifest().unwrap().commands.is_empty());
    // A string is one command, named like the package without its scope.
    at.file("package.json", r#"{"name":"@o/tool","bin":"./bin/demo"}"#, 0o644);
    let out = at.pack_dir(&v1()).unwrap();
    let package = Package::open(out).unwrap();
    let command = &package.manifest().unwrap().commands[0];
    assert_eq!((command.command.as_str(), command.entry.as_str()), ("tool", "bin/demo"));
}

#[test]
fn source_manifests_are_read_strictly_and_say_where() {
    for (text, words, line) in [
        ("", "EOF", Some(1)),
        ("\u{feff}{}", "expected value", Some(1)),
        ("{\n  \"name\": 3\n}", "invalid type", Some(2)),
        ("{\"name\":\"a\",\n\"name\":\"b\"}", "duplicate field `name`", Some(2)),
        (r#"{"name":"a","version":"1","provides":{"env":{"A":1}}}"#, "invalid type", Some(1)),
        (
            r#"{"name":"a","version":"1","provides":{"env":{"A":"1","A":"2"}}}"#,
            "duplicate field `A`",
            Some(1),
        ),
        (
            r#"{"name":"a","version":"1","provides":{"files":[{"source":"x"}]}}"#,
            "missing field",
            Some(1),
        ),
        (r#"{"name":"a","version":""}"#, "has no version", None),
        (r#"{"name":"../../x","version":"1"}"#, "cannot name a directory", None),
        (
            r#"{"name":"a","version":"1","provides":{"files":[{"source":"bin/demo","target":"/x"}]}}"#,
            "is not a directory",
            None,
        ),
        (
            r#"{"name":"a","version":"1","provides":{"files":[{"source":"gone","target":"/x"}]}}"#,
            "does not exist",
            None,
        ),
        (
            r#"{"name":"a","version":"1","provides":{"files":[{"source":"bin","target":"x/../y"}]}}"#,
            "the target",
            None,
        ),
        (r#"{"name":"a","version":"1","agent":{"acpEntrypoint":"nope"}}"#, "no command", None),
    ] {
        let at = Place::new();
        at.demo();
        at.file("agentos-package.json", text, 0o644);
        let found = faults(at.pack_dir(&v1()));
        assert!(found.iter().any(|fault| fault.message.contains(words)), "{text}: {found:?}");
        if let Some(line) = line {
            assert_eq!(found[0].span.unwrap().start.line, line, "{text}");
        }
    }
}

#[test]
fn agents_need_version_1_or_a_word() {
    let at = Place::new();
    at.demo();
    let text = r#"{"name":"a","version":"1","agent":{"acpEntrypoint":"demo","snapshot":true,"env":{"B":"2","A":"1"},"launchArgs":["-x"]},"provides":{}}"#;
    at.file("agentos-package.json", text, 0o644);
    at.file("dist/sdk-snapshot.js", "js", 0o644);
    let out = at.pack_dir(&v1()).unwrap();
    let package = Package::open(&out).unwrap();
    let manifest = package.manifest().unwrap();
    let agent = manifest.agent.as_ref().unwrap();
    assert_eq!(agent.env.iter().collect::<Vec<_>>(), [("A", "1"), ("B", "2")]);
    assert_eq!(manifest.snapshot_bundle_path.as_deref(), Some("/dist/sdk-snapshot.js"));
    assert!(manifest.provides.is_some(), "an empty block is not none");

    let found = faults(at.pack_dir(&v2()));
    assert!(found[0].message.contains("agent"), "{found:?}");
    let out = at.pack_dir(&PackOptions { allow_loss: true, ..v2() }).unwrap();
    assert!(Package::open(out).unwrap().manifest().unwrap().agent.is_none());
}

#[test]
fn converting_copies_the_mount_and_names_what_is_lost() {
    let at = Place::new();
    at.demo();
    let text = r#"{"name":"a","version":"1","agent":{"acpEntrypoint":"demo"}}"#;
    at.file("agentos-package.json", text, 0o644);
    let one = at.pack_dir(&v1()).unwrap();
    let package = Package::open(&one).unwrap();
    let two = at.path("two.aospkg");
    assert!(convert(&package, &two, Version::V2, false).is_err());
    assert!(!two.exists());
    let losses = convert(&package, &two, Version::V2, true).unwrap();
    assert_eq!(losses.len(), 1);
    let converted = Package::open(&two).unwrap();
    let mount = |package: &Package, path: &Path| {
        let range = package.header().mount_range();
        fs::read(path).unwrap()[range.start as usize..].to_vec()
    };
    assert_eq!(mount(&package, &one), mount(&converted, &two));
    assert!(package.index().iter().eq(converted.index().iter()));
    // And back: version 1 holds everything that version 2 does.
    let back = at.path("back.aospkg");
    assert!(convert(&converted, &back, Version::V1, false).unwrap().is_empty());
}

#[test]
fn secrets_of_a_directory_need_a_word() {
    let at = Place::new();
    at.demo();
    at.file(".git/config", "x", 0o644);
    at.file(".env.local", "TOKEN=1", 0o600);
    at.file("keys/id_ed25519", "-----BEGIN OPENSSH PRIVATE KEY-----\n", 0o600);
    at.file("keys/id_ed25519.pub", "ssh-ed25519 AAAA", 0o644);
    at.file("cert.pem", "-----BEGIN CERTIFICATE-----\n", 0o644);
    let found = faults(at.pack_dir(&v1()));
    let paths: Vec<_> = found.iter().map(|fault| fault.path.as_deref().unwrap()).collect();
    assert_eq!(paths, [".env.local", ".git", "keys/id_ed25519"]);
    assert!(found.iter().all(|fault| fault.code == "AO0214"));
    let path = |text: &str| TreePath::new(text).unwrap();
    let options = PackOptions {
        exclude: vec![path(".git"), path(".env.local")],
        include: vec![path("keys")],
        ..v1()
    };
    let out = at.pack_dir(&options).unwrap();
    let package = Package::open(out).unwrap();
    assert!(package.index().find("/keys/id_ed25519").is_some());
    assert!(
        package
            .index()
            .iter()
            .all(|entry| !entry.path.contains(".git") && !entry.path.contains(".env"))
    );
}

#[test]
fn npm_directories_take_name_and_version_from_package_json() {
    let at = Place::new();
    at.file("package.json", r#"{"name":"@o/tool","version":"3.2.1","bin":{"t":"t.mjs"}}"#, 0o644);
    at.file("t.mjs", "#!/usr/bin/env node\n", 0o755);
    let options = PackOptions { agent: Some("t".to_owned()), ..v1() };
    let out = at.pack_dir(&options).unwrap();
    let package = Package::open(out).unwrap();
    let manifest = package.manifest().unwrap();
    assert_eq!((manifest.name.as_str(), manifest.version.as_str()), ("tool", "3.2.1"));
    assert_eq!(manifest.agent.as_ref().unwrap().acp_entrypoint, "t");
    let named = PackOptions { name: Some("other".to_owned()), ..v1() };
    let out = at.pack_dir(&named).unwrap();
    assert_eq!(Package::open(out).unwrap().manifest().unwrap().name, "other");
    fs::remove_file(at.path("in/package.json")).unwrap();
    let found = faults(at.pack_dir(&v1()));
    assert_eq!(found.iter().map(|fault| fault.code).collect::<Vec<_>>(), ["AO0216", "AO0216"]);
}

#[test]
fn what_is_kept_is_kept() {
    let at = Place::new();
    let body = r#"
add("agentos-package.json", b'{"name":"d","version":"1"}')
add("d", type=DIR, mode=0o750, uid=1000, gid=1001, mtime=1700000000)
add("d/f", b"x", mode=0o640, uid=1000, gid=1001, mtime=1700000001)
"#;
    let out = at.pack_tar(body, &PackOptions { preserve: true, ..v1() }).unwrap();
    let package = Package::open(&out).unwrap();
    let index = package.index();
    let entry = |path: &str| {
        let entry = index.entry(index.find(path).unwrap());
        (entry.mode & 0o7777, entry.uid, entry.gid, entry.mtime)
    };
    assert_eq!(entry("/d"), (0o750, 1000, 1001, 1_700_000_000));
    assert_eq!(entry("/d/f"), (0o640, 1000, 1001, 1_700_000_001));
}

#[test]
fn a_file_that_changes_stops_it_and_leaves_what_was_there() {
    let at = Place::new();
    at.demo();
    at.file("big", vec![1; 100_000], 0o644);
    let tree = DirTree::open(&at.path("in")).unwrap();
    let planned = plan(Input::Tree(&tree), &v1()).unwrap();
    at.file("big", vec![1; 99_000], 0o644);
    let out = at.path("out.aospkg");
    fs::write(&out, "before").unwrap();
    let fault = planned.write(&out).unwrap_err();
    assert_eq!((fault.code, fault.path.as_deref()), ("AO0221", Some("big")));
    assert_eq!(fs::read_to_string(&out).unwrap(), "before");
    assert_eq!(fs::read_dir(at.0.path()).unwrap().count(), 2, "no stage is left");
}

#[test]
fn a_plan_lists_what_goes_in() {
    let at = Place::new();
    at.demo();
    fs::hard_link(at.path("in/bin/demo"), at.path("in/z")).unwrap();
    let tree = DirTree::open(&at.path("in")).unwrap();
    let plan = plan(Input::Tree(&tree), &v1()).unwrap();
    let rows: Vec<_> = plan.entries().map(|row| (row.path, row.size, row.same_as)).collect();
    assert_eq!(
        rows,
        [
            ("/".to_owned(), 0, None),
            ("/bin".to_owned(), 0, None),
            ("/bin/demo".to_owned(), 20, None),
            ("/z".to_owned(), 20, Some("/bin/demo".to_owned())),
        ]
    );
}
