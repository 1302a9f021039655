//! Archives that once made readers see different files, listed by GNU tar and by bsdtar: where we
//! read one, they see the same members, kinds, sizes and targets.

use std::path::Path;
use std::process::Command;

use holdall_tar::{Kind, Member};

use crate::build::{Raw, archive, file, long, member, pax, record};
use crate::{read_all, text};

/// `TYPE SIZE NAME -> TARGET`, as both programs can be made to say it.
type Line = (char, u64, String);

fn ours(archive: &[u8]) -> Vec<Line> {
    let line = |member: &Member| {
        let name = text(member.path()).trim_end_matches('/');
        let (kind, target) = match member.kind() {
            Kind::File => ('-', String::new()),
            Kind::Directory => ('d', String::new()),
            Kind::Symlink => ('l', format!(" -> {}", text(member.link()))),
            Kind::HardLink => ('h', format!(" link to {}", text(member.link()))),
            Kind::Fifo => ('p', String::new()),
            other => panic!("{other}"),
        };
        (kind, member.size(), format!("{name}{target}"))
    };
    read_all(archive).expect("readable").iter().map(|(member, _)| line(member)).collect()
}

fn theirs(program: &str, path: &Path) -> Vec<Line> {
    let done = Command::new(program)
        .arg("-tvf")
        .arg(path)
        .arg("--numeric-owner")
        .env("LC_ALL", "C.UTF-8")
        .env("TZ", "UTC")
        .output()
        .unwrap_or_else(|error| {
            panic!("{program} must be installed (apt-get install tar libarchive-tools): {error}")
        });
    assert!(done.status.success(), "{program}: {}", String::from_utf8_lossy(&done.stderr));
    // GNU tar: MODE OWNER SIZE DATE TIME NAME; bsdtar: MODE LINKS UID GID SIZE MONTH DAY TIME NAME.
    let (size_at, name_at) = if program == "tar" { (2, 5) } else { (4, 8) };
    let line = |line: &str| {
        let mut rest = line;
        let mut fields = Vec::new();
        for _ in 0..name_at {
            let (field, after) = rest.split_once(' ').expect("a field");
            fields.push(field);
            rest = after.trim_start();
        }
        let kind = line.chars().next().expect("a mode");
        // GNU tar tells contiguous files apart, which everybody reads as files.
        let kind = if kind == 'C' { '-' } else { kind };
        let kind = if rest.contains(" link to ") { 'h' } else { kind };
        let size = fields[size_at].parse().expect("a size");
        let (name, target) = match rest.find(" -> ").or_else(|| rest.find(" link to ")) {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        (kind, size, format!("{}{target}", name.trim_end_matches('/')))
    };
    String::from_utf8(done.stdout).expect("UTF-8").lines().map(line).collect()
}

/// A tar of two members, as something to hide.
fn inner() -> Vec<u8> {
    let mut out = archive(&[file("smuggled", b"x")]);
    out.truncate(1024);
    out
}

fn cases() -> Vec<(&'static str, Vec<u8>)> {
    let name = "d/".repeat(60) + "longname.txt";
    let target = "t/".repeat(90) + "target";
    let dir = "directory/".repeat(15);
    let link = |flag: u8, name: &[u8]| member(Raw::new(name, flag, 0).with(157, b"after"), b"");
    let pax_link = [record("linkpath", &target), record("path", &name)];
    let global = [record("mtime", "5"), record("comment", "c")].concat();
    vec![
        (
            "a PAX size over a header's size of 0",
            archive(&[
                pax(&[record("size", "1024")]),
                member(Raw::new(b"nested.tar", b'0', 0), &inner()),
                file("after", b"x"),
            ]),
        ),
        (
            "a PAX size below the header's",
            archive(&[
                pax(&[record("size", "512")]),
                member(Raw::new(b"short", b'0', 2048), &[b'x'; 512]),
                file("after", b"x"),
            ]),
        ),
        (
            "a long name of GNU",
            archive(&[
                long(b'L', name.as_bytes()),
                member(Raw::new(b"cut", b'0', 16).gnu(), &[b'x'; 16]),
                file("after", b"x"),
            ]),
        ),
        (
            "a long link target of GNU, before and behind the name",
            archive(&[
                long(b'K', target.as_bytes()),
                long(b'L', name.as_bytes()),
                member(Raw::new(b"cut", b'2', 0).gnu().with(157, b"t/t"), b""),
                long(b'L', b"other"),
                long(b'K', target.as_bytes()),
                member(Raw::new(b"cut", b'2', 0).gnu().with(157, b"t/t"), b""),
                file("after", b"x"),
            ]),
        ),
        (
            "PAX names and targets, a directory's too",
            archive(&[
                pax(&pax_link),
                link(b'2', b"cut"),
                pax(&[record("path", &dir)]),
                member(Raw::new(b"cut", b'5', 0), b""),
                file("after", b"x"),
            ]),
        ),
        (
            "a prefix, and GNU times where the prefix is",
            archive(&[
                member(Raw::new(b"name", b'0', 0).with(345, b"some/prefix"), b""),
                member(
                    Raw::new(b"name", b'0', 0).gnu().with(345, b"12345670123\x0012345670123"),
                    b"",
                ),
            ]),
        ),
        (
            "every kind, old types too",
            archive(&[
                file("after", b"x"),
                member(Raw::new(b"contiguous", b'7', 1), b"y"),
                member(Raw::new(b"old", 0, 1), b"z"),
                member(Raw::new(b"olddir/", 0, 0), b""),
                member(Raw::new(b"dir/", b'5', 0), b""),
                link(b'1', b"hard"),
                link(b'2', b"soft"),
                member(Raw::new(b"pipe", b'6', 0), b""),
            ]),
        ),
        (
            "a global header, and local records that win",
            archive(&[
                member(Raw::new(b"g", b'g', global.len() as u64), &global),
                file("a", b""),
                pax(&[record("mtime", "9.75"), record("path", "ünï")]),
                file("b", b"12"),
            ]),
        ),
        (
            "a size in base-256",
            archive(&[
                member(
                    Raw::new(b"f", b'0', 0).with(124, b"\x80\0\0\0\0\0\0\0\0\0\x02\0"),
                    &[b'x'; 512],
                ),
                file("after", b"x"),
            ]),
        ),
        (
            "a member behind the end blocks",
            [archive(&[file("seen", b"x")]), archive(&[file("hidden", b"x")])].concat(),
        ),
        ("no end blocks", file("a", b"x")),
    ]
}

fn compare(program: &str) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.tar");
    for (what, archive) in cases() {
        std::fs::write(&path, &archive).unwrap();
        assert_eq!(theirs(program, &path), ours(&archive), "{what}, by {program}");
    }
}

#[test]
fn gnu_tar_lists_the_same() {
    compare("tar");
}

#[test]
#[ignore = "needs bsdtar"]
fn bsdtar_lists_the_same() {
    compare("bsdtar");
}
