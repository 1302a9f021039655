//! Published packages: opened, listed, read, extracted, and compared with the published readers,
//! with GNU tar and with bsdtar. `.ci/fetch-packages DIR` fetches them.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use holdall_aospkg::format::{EntryKind, Version};
use holdall_aospkg::{
    ExtractOptions, MapOrder, Package, PackageLimits, RunKind, TarFileSystem, encode_head,
    encode_manifest, extract, inspect, oddities, read_manifest, verify,
};

use holdall_aospkg::pack::{Input, PackOptions, plan};

use crate::support::{Ours, peer, same_answers};

const PACKAGES: [&str; 5] = ["tar-0.3.5", "grep-0.3.4", "coreutils-0.3.4", "vim-0.3.3", "pi-0.2.7"];

fn package(name: &str) -> PathBuf {
    let dir = std::env::var_os("HOLDALL_PACKAGES").expect(
        "HOLDALL_PACKAGES names no directory: run `.ci/fetch-packages DIR` and set it to DIR",
    );
    let path = Path::new(&dir).join(format!("{name}.aospkg"));
    assert!(path.is_file(), "{} is missing: run `.ci/fetch-packages DIR`", path.display());
    path
}

/// The same package in format version 2, the agent block given up.
fn as_version_two(from: &Package, dir: &Path) -> PathBuf {
    let manifest = from.manifest().unwrap().clone().reduced_to(Version::V2);
    let mut bytes =
        encode_head(&manifest, from.index().iter(), Version::V2, MapOrder::AsRead).unwrap();
    let whole = std::fs::read(from.path()).unwrap();
    bytes.extend_from_slice(&whole[usize::try_from(from.header().mount_range().start).unwrap()..]);
    let path = dir.join("two.aospkg");
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
#[ignore = "needs HOLDALL_PACKAGES"]
fn every_answer_about_every_entry_is_that_of_the_published_readers() {
    for name in PACKAGES {
        let path = package(name);
        let opened = Package::open(&path).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let two = as_version_two(&opened, dir.path());
        for (path, version) in [(&path, Version::V1), (&two, Version::V2)] {
            let mut ours = Ours::open(path, "/").unwrap();
            let mut theirs = peer(path, version, "/").unwrap();
            for entry in opened.index().iter() {
                same_answers(&mut ours, theirs.as_mut(), entry.path);
                if entry.path.len() % 7 == 0 {
                    same_answers(&mut ours, theirs.as_mut(), &format!("{}/nope", entry.path));
                    same_answers(&mut ours, theirs.as_mut(), &format!("{}/../", entry.path));
                }
            }
        }
    }
}

#[test]
#[ignore = "needs HOLDALL_PACKAGES"]
fn manifests_and_indexes_are_written_back_byte_for_byte() {
    for name in PACKAGES {
        let path = package(name);
        let head = read_manifest(&path).unwrap();
        assert!(head.tolerances.is_empty(), "{name}");
        // The version is not asked: vim 0.3.3 says 0.1.0 inside.
        assert_eq!(name.split_once('-').unwrap().0, head.manifest.name);
        let opened = Package::open(&path).unwrap();
        let whole = std::fs::read(&path).unwrap();
        let range = head.header.manifest_range();
        let chunk =
            &whole[usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()];
        let again = encode_manifest(&head.manifest, Version::V1, MapOrder::AsRead).unwrap();
        assert_eq!(again, chunk, "{name}");
        let entries = opened.index().iter();
        let head = encode_head(&head.manifest, entries, Version::V1, MapOrder::AsRead).unwrap();
        assert!(head == whole[..head.len()], "{name}: header and chunks");
    }
}

#[test]
#[ignore = "needs HOLDALL_PACKAGES"]
fn what_published_packages_break_is_a_warning() {
    for name in PACKAGES {
        let fs = TarFileSystem::open(package(name)).unwrap();
        let found = oddities(&fs, &PackageLimits::default()).unwrap();
        let codes: Vec<_> = found.iter().map(|each| each.code).collect();
        for code in ["AO0306", "AO0307", "AO0308", "AO0328"] {
            assert!(codes.contains(&code), "{name}: {code} is not among {codes:?}");
        }
        assert!(!codes.contains(&"AO0322"), "{name}: every entry can be reached");
    }
}

#[test]
#[ignore = "needs HOLDALL_PACKAGES"]
fn inspection_says_what_is_known_of_them() {
    let coreutils = inspect(&TarFileSystem::open(package("coreutils-0.3.4")).unwrap()).unwrap();
    assert_eq!(coreutils.sizes.file, 67_222_550);
    assert_eq!((coreutils.holds.entries, coreutils.runs.len()), (120, 118));
    assert!(coreutils.runs.iter().any(|run| run.command == "ls" && run.shadows));
    for run in &coreutils.runs {
        let RunKind::Wasm { host_modules: Some(modules) } = &run.kind else {
            panic!("{} is {:?}", run.command, run.kind)
        };
        assert!(modules.iter().any(|module| module.starts_with("host_")), "{modules:?}");
    }
    let pi = inspect(&TarFileSystem::open(package("pi-0.2.7")).unwrap()).unwrap();
    assert_eq!((pi.sizes.file, pi.sizes.index), (131_434_625, 1_616_838));
    assert_eq!(pi.holds.entries, 16_279);
    let agent = pi.agent.unwrap();
    let run = pi.runs.iter().find(|run| run.command == agent.acp_entrypoint).unwrap();
    assert_eq!(run.kind, RunKind::Script { interpreter: "/usr/bin/env node".into() });
}

/// All file offsets are those of the tar's data, whatever directories and links carry.
#[test]
#[ignore = "needs HOLDALL_PACKAGES"]
fn index_and_tar_of_every_package_say_the_same() {
    for name in PACKAGES {
        let opened = Package::open(package(name)).unwrap();
        let answer = verify(&opened).unwrap();
        assert_eq!(answer.differences, [], "{name}");
        assert_eq!(answer.entries, opened.index().len());
        let records = answer.oddities.iter().find(|each| each.code == "AO0310");
        if name.starts_with("pi-") {
            assert!(records.unwrap().message.starts_with("565 "), "{records:?}");
        }
    }
}

/// Path to type letter, mode and size, as a tar program lists the mount.
fn listed(program: &str, path: &Path, mount: u64) -> BTreeMap<String, (char, u64)> {
    let mut child = Command::new(program)
        .args(["-tvf", "-", "--numeric-owner"])
        .env("LC_ALL", "C")
        .env("TZ", "UTC")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{program}: {error}; install tar and libarchive-tools"));
    let mut file = std::fs::File::open(path).unwrap();
    std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(mount)).unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let feed = std::thread::spawn(move || {
        // The program may stop reading at the end blocks.
        let _ = std::io::copy(&mut file, &mut stdin);
    });
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    feed.join().unwrap();
    assert!(child.wait().unwrap().success(), "{program}");
    // GNU tar: MODE OWNER SIZE DATE TIME NAME; bsdtar: MODE LINKS UID GID SIZE MONTH DAY TIME NAME.
    let (size_at, name_at) = if program == "tar" { (2, 5) } else { (4, 8) };
    text.lines()
        .map(|line| {
            let mut rest = line;
            let mut fields = Vec::new();
            for _ in 0..name_at {
                let (field, after) = rest.split_once(' ').unwrap();
                fields.push(field);
                rest = after.trim_start();
            }
            let name = rest.split(" -> ").next().unwrap();
            let name = name.strip_prefix("./").unwrap_or(name).trim_end_matches('/');
            let size = fields[size_at].parse().unwrap();
            (
                format!("/{}", if name == "." { "" } else { name }),
                (line.chars().next().unwrap(), size),
            )
        })
        .collect()
}

#[test]
#[ignore = "needs HOLDALL_PACKAGES"]
fn listings_are_those_of_gnu_tar_and_bsdtar() {
    for name in PACKAGES {
        let path = package(name);
        let opened = Package::open(&path).unwrap();
        let ours: BTreeMap<String, (char, u64)> = opened
            .index()
            .iter()
            .map(|entry| match entry.kind {
                EntryKind::File => (entry.path.to_owned(), ('-', entry.size)),
                EntryKind::Directory => (entry.path.to_owned(), ('d', 0)),
                EntryKind::Symlink => (entry.path.to_owned(), ('l', 0)),
            })
            .collect();
        for program in ["tar", "bsdtar"] {
            let theirs = listed(program, &path, opened.header().mount_range().start);
            for (path, what) in &theirs {
                assert_eq!(ours.get(path), Some(what), "{name} {path} by {program}");
            }
            let files = |all: &BTreeMap<String, (char, u64)>| {
                all.values().filter(|(kind, _)| *kind != 'd').count()
            };
            assert_eq!(files(&ours), files(&theirs), "{name} by {program}");
        }
    }
}

#[test]
#[ignore = "needs HOLDALL_PACKAGES"]
fn extraction_gives_what_gnu_tar_extracts() {
    for name in PACKAGES {
        let path = package(name);
        let fs = TarFileSystem::open(&path).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let dest = dir.path().join("out");
        let all: [&str; 0] = [];
        let done = extract(&fs, &all, &dest, ExtractOptions::default()).unwrap();
        let holds = inspect(&fs).unwrap().holds;
        assert_eq!((done.files, done.links, done.bytes), (holds.files, holds.links, holds.bytes));
        assert_eq!(done.directories + 1, holds.directories);
        let other = dir.path().join("tar");
        std::fs::create_dir(&other).unwrap();
        let skip = fs.package().header().mount_range().start + 1;
        let script = "tail -c +$1 \"$2\" | tar -xf - --no-same-owner --no-same-permissions -C \"$3\" && diff -r --no-dereference \"$3\" \"$4\"";
        let status = Command::new("bash")
            .args(["-o", "pipefail", "-c", script, "-", &skip.to_string()])
            .args([&path, &other, &dest])
            .status()
            .unwrap();
        assert!(status.success(), "{name}");
    }
}

#[test]
#[ignore = "needs HOLDALL_PACKAGES"]
fn packing_what_is_in_a_package_gives_the_same_files_and_commands() {
    for name in PACKAGES {
        let path = package(name);
        let before = TarFileSystem::open(&path).unwrap();
        let opened = Package::open(&path).unwrap();
        let manifest = opened.manifest().unwrap();
        let options = PackOptions {
            name: Some(manifest.name.clone()),
            version_name: Some(manifest.version.clone()),
            agent: manifest.agent.as_ref().map(|agent| agent.acp_entrypoint.clone()),
            // Published trees hold names that Windows reserves.
            posix: true,
            ..PackOptions::default()
        };
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("again.aospkg");
        let plan = plan(Input::Tree(&before), &options)
            .unwrap_or_else(|found| panic!("{name}: {found:#?}"));
        plan.write(&out).unwrap();
        let again = Package::open(&out).unwrap();
        let rows = |package: &Package| -> Vec<_> {
            let row = |entry: holdall_aospkg::TarEntry<'_>| {
                let link = entry.link_target.map(str::to_owned);
                (entry.path.to_owned(), entry.kind, entry.size, link)
            };
            package.index().iter().map(row).collect()
        };
        assert_eq!(rows(&opened), rows(&again), "{name}");
        assert_eq!(manifest.commands, again.manifest().unwrap().commands, "{name}");
        let after = TarFileSystem::open(&out).unwrap();
        for entry in opened.index().iter().filter(|entry| entry.kind == EntryKind::File) {
            let same =
                before.read_file(entry.path).unwrap() == after.read_file(entry.path).unwrap();
            assert!(same, "{name}: {}", entry.path);
        }
        let checked = verify(&again).unwrap();
        assert!(checked.differences.is_empty(), "{name}: {:?}", checked.differences);
        // Canonical: packing the result once more changes nothing.
        let twice = dir.path().join("twice.aospkg");
        let plan = holdall_aospkg::pack::plan(Input::Tree(&after), &options).unwrap();
        plan.write(&twice).unwrap();
        assert!(std::fs::read(&out).unwrap() == std::fs::read(&twice).unwrap(), "{name}");
    }
}
