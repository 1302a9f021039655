//! Where we answer otherwise than the published readers and packers, in one table with the
//! reasons; and that packing says the same as theirs where it may.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use holdall_aospkg::format::Version;
use holdall_aospkg::pack::{Input, PackOptions, plan};
use holdall_aospkg::{Errno, Package, PackageError, PackageSet, TarFileSystem, read_manifest};

use crate::support::{Answer, Asked as _, Maker, Peer04};

fn named<T>(answer: Result<T, PackageError>) -> Answer<()> {
    answer.map(drop).map_err(|error| error.errno().name().to_owned())
}

fn their_manifest(path: &Path) -> Answer<()> {
    let read = vfs04::package_format::read_manifest_chunk_from_file(path);
    read.map(drop).map_err(|error| error.code().to_owned())
}

/// Ours and theirs of reading `/f` after something was done to the open package.
fn after(package: &Path, done: impl FnOnce(&Path)) -> [Answer<()>; 2] {
    let ours = TarFileSystem::open(package).unwrap();
    let mut theirs = Peer04::open(package, "/").unwrap();
    done(package);
    let read = ours.read_file("/f").map(drop).map_err(|error| error.errno.name().to_owned());
    [read, theirs.read_file("/f").map(drop)]
}

#[test]
fn known_differences() {
    type Row = (&'static str, &'static str, fn(&Path) -> [Answer<()>; 2], [Answer<()>; 2]);
    let no = |name: &str| Err(name.to_owned());
    // What, why, how it is asked, and both answers.
    let table: Vec<Row> = vec![
        (
            "the manifest of a file that is not there",
            "what is missing is not a failing disk, and opening says ENOENT too",
            |dir| [named(read_manifest(dir.join("no"))), their_manifest(&dir.join("no"))],
            [no("ENOENT"), no("EIO")],
        ),
        (
            "the manifest of a file shorter than a header",
            "it is no package, as opening it says",
            |dir| [named(read_manifest(dir.join("short"))), their_manifest(&dir.join("short"))],
            [no("EINVAL"), no("EIO")],
        ),
        (
            "opening a directory",
            "it can be opened, and is still no file",
            |dir| [named(Package::open(dir)), Peer04::open(dir, "/").map(drop)],
            [no("EISDIR"), no("EIO")],
        ),
        (
            "format version 1 in the reader of version 2",
            "every package published so far has version 1",
            |dir| {
                let one = Maker::new().write(dir, Version::V1);
                [named(Package::open(&one)), Peer04::open(&one, "/").map(drop)]
            },
            [Ok(()), no("EINVAL")],
        ),
        (
            "chmod under an open reader",
            "the bytes are the same; the time of the inode says nothing about them",
            |dir| {
                after(&dir.join("x.aospkg"), |path| {
                    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
                })
            },
            [Ok(()), no("ESTALE")],
        ),
        (
            "a new hard link under an open reader",
            "the same",
            |dir| {
                after(&dir.join("x.aospkg"), |path| {
                    fs::hard_link(path, path.with_extension("second")).unwrap();
                })
            },
            [Ok(()), no("ESTALE")],
        ),
        (
            "replacing the file under an open reader",
            "the descriptor pins the old file, so that updates do not break what runs",
            |dir| {
                after(&dir.join("x.aospkg"), |path| {
                    fs::write(path.with_extension("new"), "new").unwrap();
                    fs::rename(path.with_extension("new"), path).unwrap();
                })
            },
            [Ok(()), no("ESTALE")],
        ),
        (
            "deleting the file under an open reader",
            "the same",
            |dir| after(&dir.join("x.aospkg"), |path| fs::remove_file(path).unwrap()),
            [Ok(()), no("ESTALE")],
        ),
        (
            "one file by two paths",
            "it is one package, whatever it is called",
            |dir| {
                let path = dir.join("x.aospkg");
                symlink(&path, dir.join("link")).unwrap();
                let set = PackageSet::new();
                let (_ours, _theirs) =
                    (set.open(&path).unwrap(), Peer04::open(&path, "/").unwrap());
                [named(set.open(dir.join("link"))), Peer04::open(&dir.join("link"), "/").map(drop)]
            },
            [Ok(()), no("EINVAL")],
        ),
        (
            "65 packages at once",
            "an open package is an index and a descriptor; the system limits descriptors itself",
            |dir| {
                let bytes = Maker::new().bytes(Version::V2);
                let paths: Vec<_> = (0..65).map(|n| dir.join(format!("{n}.aospkg"))).collect();
                for path in &paths {
                    fs::write(path, &bytes).unwrap();
                }
                let set = PackageSet::new();
                let ours: Vec<_> = paths.iter().map(|path| set.open(path)).collect();
                let theirs: Vec<_> = paths.iter().map(|path| Peer04::open(path, "/")).collect();
                let first = ours.into_iter().find_map(Result::err);
                let first = first.map_or(Ok(()), |error| named::<()>(Err(error)));
                [first, theirs.into_iter().collect::<Answer<Vec<_>>>().map(drop)]
            },
            [Ok(()), no("ENOMEM")],
        ),
    ];
    for (what, why, ask, expected) in table {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("x.aospkg"), Maker::new().file("/f", "x").bytes(Version::V2))
            .unwrap();
        fs::write(dir.path().join("short"), "short").unwrap();
        assert_eq!(ask(dir.path()), expected, "{what} ({why})");
    }
}

/// A package that takes long to open keeps nobody from opening another one.
#[test]
fn opens_run_in_parallel() {
    let dir = tempfile::tempdir().unwrap();
    let mut large = Maker::new();
    for n in 0..60_000 {
        large = large.file(&format!("/{n:06}"), "");
    }
    let (slow, quick) = (dir.path().join("slow"), dir.path().join("quick"));
    fs::write(&slow, large.bytes(Version::V2)).unwrap();
    fs::write(&quick, Maker::new().bytes(Version::V2)).unwrap();
    let set = PackageSet::new();
    let (begun, done, meanwhile) =
        (AtomicBool::new(false), AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !begun.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            while !done.load(Ordering::SeqCst) {
                set.open(&quick).unwrap();
                meanwhile.fetch_add(1, Ordering::SeqCst);
            }
        });
        begun.store(true, Ordering::SeqCst);
        // Several times, since the other thread may not be running at once.
        for _ in 0..10 {
            set.open(&slow).unwrap();
        }
        done.store(true, Ordering::SeqCst);
    });
    // One behind the other, no more than one could come between two of the ten.
    assert!(meanwhile.load(Ordering::SeqCst) > 20, "{meanwhile:?} opened meanwhile");
}

#[test]
fn errnos_keep_their_names_and_numbers() {
    for (errno, raw, name) in [
        (Errno::EACCES, 13, "EACCES"),
        (Errno::EEXIST, 17, "EEXIST"),
        (Errno::EINVAL, 22, "EINVAL"),
        (Errno::EIO, 5, "EIO"),
        (Errno::EISDIR, 21, "EISDIR"),
        (Errno::ENOENT, 2, "ENOENT"),
        (Errno::ENOMEM, 12, "ENOMEM"),
        (Errno::ENOSPC, 28, "ENOSPC"),
        (Errno::ENOTDIR, 20, "ENOTDIR"),
        (Errno::EROFS, 30, "EROFS"),
    ] {
        assert_eq!((errno.name(), errno.raw(), errno.to_string()), (name, raw, name.to_owned()));
        assert_eq!(Errno::of_io(&std::io::Error::from_raw_os_error(raw)), errno);
    }
    let of = |raw| Errno::of_io(&std::io::Error::from_raw_os_error(raw));
    // EPERM is a permission too; what has no name here is EIO.
    assert_eq!((of(1), of(5), of(122)), (Errno::EACCES, Errno::EIO, Errno::EIO));
}

/// Packs the same tar with both published packers and with ours, and gives the manifests.
fn packed_by_all(dir: &Path, body: &str) -> [holdall_aospkg::PackageManifest; 3] {
    let source = dir.join("in.tar");
    let script = format!(
        "import io, sys, tarfile\nout = tarfile.open(sys.argv[1], 'w', format=tarfile.GNU_FORMAT)\n\
         def add(name, data=b'', **fields):\n    \
         member = tarfile.TarInfo(name)\n    \
         member.size = len(data)\n    \
         member.mode = 0o755\n    \
         [setattr(member, key, value) for key, value in fields.items()]\n    \
         out.addfile(member, io.BytesIO(data))\n{body}\nout.close()\n"
    );
    let status = Command::new("python3").args(["-c", &script]).arg(&source).status().unwrap();
    assert!(status.success());
    let [one, two, own] = ["1", "2", "own"].map(|name| dir.join(name));
    vfs02::package_format::pack::pack_aospkg_from_tar(&source, &one).unwrap();
    vfs04::package_format::pack::pack_aospkg_from_tar(&source, &two).unwrap();
    let archive = File::open(&source).unwrap();
    plan(Input::Tar(&archive), &PackOptions::default()).unwrap().write(&own).unwrap();
    let paths = |path: &PathBuf| {
        let package = Package::open(path).unwrap();
        package.index().iter().map(|entry| entry.path.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(paths(&own), paths(&one));
    assert_eq!(paths(&own), paths(&two));
    [one, two, own].map(|path| read_manifest(path).unwrap().manifest)
}

/// Commands, pages, agents and providers are derived as the published packers derive them.
#[test]
fn manifests_are_those_of_the_published_packers() {
    let plain = r#"{"name":"d","version":"1"}"#;
    let agent = r#"{"name":"d","version":"1","agent":{"acpEntrypoint":"a","snapshot":true,"env":{"K":"v"},"launchArgs":["-x"]}}"#;
    let provides = r#"{"name":"d","version":"1","provides":{"env":{"K":"v"},"files":[{"source":"share/x","target":"/usr/share/x"}]}}"#;
    let cases = [
        (plain, "", ""),
        (plain, r#"{"name":"@o/tool","bin":"./bin/a"}"#, ""),
        (plain, r#"{"name":"tool","bin":"bin/b"}"#, ""),
        (plain, r#"{"bin":"bin/a"}"#, ""),
        (
            plain,
            r#"{"name":"x","bin":{"two":"./bin/b","one":"bin/a","_hidden":"bin/a",".dot":"bin/a","n":3}}"#,
            "",
        ),
        (plain, r#"{"name":"x","bin":{}}"#, ""),
        (plain, r#"{"name":"x","bin":["bin/a"]}"#, ""),
        (plain, r#"{"name":"x","bin":7}"#, ""),
        (plain, r#"{"name":"x","bin":null}"#, ""),
        (plain, r#"{"name":"_x","bin":"bin/a"}"#, ""),
        (
            plain,
            "",
            "add('bin/_internal'); add('bin/.dot'); add('bin/link', type=tarfile.SYMTYPE, linkname='a')",
        ),
        (
            plain,
            "",
            "add('share/man/man8/z.8'); add('share/man/man1/b.1'); add('share/man/man1/a.1')",
        ),
        (agent, "", "add('dist/sdk-snapshot.js', b'js')"),
        (provides, "", "add('share/x/y', b'y')"),
    ];
    for (source, npm, more) in cases {
        let dir = tempfile::tempdir().unwrap();
        let npm = if npm.is_empty() {
            String::new()
        } else {
            format!("add('package.json', b'''{npm}''')")
        };
        let body = format!(
            "add('agentos-package.json', b'''{source}''')\nadd('bin/b', b'b')\nadd('bin/a', b'a')\n{npm}\n{more}"
        );
        let [one, two, own] = packed_by_all(dir.path(), &body);
        assert_eq!(own, one, "0.2.7: {source} {npm} {more}");
        assert_eq!(own.reduced_to(Version::V2), two, "0.4.7: {source} {npm} {more}");
    }
}
