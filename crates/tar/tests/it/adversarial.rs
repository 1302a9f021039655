//! Archives that readers take differently, and damaged ones: each a typed error with its place.

use holdall_tar::{Extension, Kind, Limits, Reader, TarError, TarErrorKind as E};

use crate::build::{Raw, archive, file, long, member, pax, record};
use crate::{read_all, text};

fn error(archive: &[u8]) -> TarError {
    read_all(archive).expect_err("refused")
}

fn names(archive: &[u8]) -> Vec<(String, u64)> {
    let all = read_all(archive).expect("readable");
    all.iter().map(|(member, _)| (text(member.path()).to_owned(), member.size())).collect()
}

/// A PAX size overrides a ustar size of 0 with a tar inside: no member of the inner one shows.
#[test]
fn pax_size_hides_no_member() {
    let inner = archive(&[]);
    let inner = [file("smuggled", b"")[..].to_vec(), inner[..512].to_vec()].concat();
    assert_eq!(inner.len(), 1024);
    let outer = archive(&[
        pax(&[record("size", "1024")]),
        member(Raw::new(b"nested.tar", b'0', 0), &inner),
        file("after", b"x"),
    ]);
    let all = read_all(&outer).expect("readable");
    assert_eq!(names(&outer), [("nested.tar".to_owned(), 1024), ("after".to_owned(), 1)]);
    assert_eq!(all[0].1, inner);
    assert_eq!(all[0].0.data_offset(), 3 * 512);
    assert_eq!(all[0].0.extension(), Extension::Pax);
}

/// PAX records and a GNU long name on one member, in both orders and with a sparse header.
#[test]
fn mixed_extension_headers_are_refused() {
    let name = "d/".repeat(60) + "longname.txt";
    let body = member(Raw::new(b"longname.txt", b'0', 16), &[b'x'; 16]);
    let pax_first =
        archive(&[pax(&[record("size", "2048")]), long(b'L', name.as_bytes()), body.clone()]);
    let found = error(&pax_first);
    assert!(matches!(found.kind(), E::MixedExtensions), "{found}");
    assert_eq!((found.offset(), found.name()), (1024, Some(name.as_bytes())));

    let gnu_first =
        archive(&[long(b'L', name.as_bytes()), pax(&[record("size", "2048")]), body.clone()]);
    let found = error(&gnu_first);
    assert!(matches!(found.kind(), E::MixedExtensions), "{found}");
    assert_eq!((found.offset(), found.name()), (1024, Some(name.as_bytes())));

    let link = archive(&[long(b'K', b"t"), pax(&[record("mtime", "1")]), body]);
    assert!(matches!(error(&link).kind(), E::MixedExtensions));

    let sparse = Raw::new(b"s", b'S', 0).gnu();
    let sparse = archive(&[pax(&[record("mtime", "1")]), member(sparse, b"")]);
    assert!(matches!(error(&sparse).kind(), E::MixedExtensions));
}

#[test]
fn an_extension_header_describes_one_member_once() {
    let body = file("f", b"x");
    for flag in [b'L', b'K'] {
        let twice = archive(&[long(flag, b"a"), long(flag, b"b"), body.clone()]);
        let found = error(&twice);
        assert!(matches!(found.kind(), E::RepeatedExtension(f) if *f == flag), "{found}");
    }
    let twice =
        archive(&[pax(&[record("mtime", "1")]), pax(&[record("mtime", "2")]), body.clone()]);
    assert!(matches!(error(&twice).kind(), E::RepeatedExtension(b'x')));
    for last in [pax(&[record("path", "a")]), long(b'L', b"a")] {
        let found = error(&archive(&[body.clone(), last]));
        assert!(matches!(found.kind(), E::DanglingExtension), "{found}");
        assert_eq!((found.offset(), found.name()), (1024, Some(&b"a"[..])));
    }
}

#[test]
fn a_record_that_decides_is_given_once_and_for_one_member() {
    let body = file("f", b"x");
    for key in ["path", "size", "linkpath", "mtime", "uid"] {
        let twice = archive(&[pax(&[record(key, "1"), record(key, "1")]), body.clone()]);
        assert!(matches!(error(&twice).kind(), E::PaxRepeated(found) if found == key), "{key}");
    }
    for key in ["path", "size", "linkpath", "GNU.sparse.major"] {
        let data = record(key, "1");
        let global = member(Raw::new(b"g", b'g', data.len() as u64), &data);
        let found = error(&archive(&[global, body.clone()]));
        assert!(matches!(found.kind(), E::PaxGlobal(found) if found == key), "{key}");
    }
}

#[test]
fn global_records_hold_until_changed_and_yield_to_local_ones() {
    let global = |records: &[Vec<u8>]| {
        let data = records.concat();
        member(Raw::new(b"g", b'g', data.len() as u64), &data)
    };
    let all = read_all(&archive(&[
        global(&[record("mtime", "5"), record("uid", "7"), record("comment", "c")]),
        file("a", b""),
        pax(&[record("mtime", "9.75")]),
        file("b", b""),
        global(&[record("mtime", "")]),
        file("c", b""),
    ]))
    .expect("readable");
    let facts: Vec<_> = all.iter().map(|(m, _)| (m.mtime(), m.uid())).collect();
    assert_eq!(facts, [(5, 7), (9, 7), (0, 7)]);
    assert_eq!(all[0].0.extension(), Extension::None);
}

#[test]
fn pax_times_round_down() {
    for (record_text, seconds) in
        [("-0.5", -1), ("-3", -3), ("3.999999999", 3), ("0.0", 0), ("-0.0", 0)]
    {
        let all =
            read_all(&archive(&[pax(&[record("mtime", record_text)]), file("a", b"")])).unwrap();
        assert_eq!(all[0].0.mtime(), seconds, "{record_text}");
    }
    for wrong in ["1e3", "+1", ".5", "1.5.2", " 1", "9223372036854775808"] {
        let found = error(&archive(&[pax(&[record("mtime", wrong)]), file("a", b"")]));
        assert!(
            matches!(found.kind(), E::Number { .. } | E::OutOfRange { .. }),
            "{wrong}: {found}"
        );
    }
}

#[test]
fn pax_lengths_count_bytes() {
    let name = "héé/ﬁle-ß-名前".to_owned() + &"é".repeat(80);
    let all = read_all(&archive(&[pax(&[record("path", &name)]), file("x", b"1")])).unwrap();
    assert_eq!(text(all[0].0.path()), name);
    // The same with the length in characters.
    let short = format!("{} path={name}\n", name.chars().count() + 9);
    let wrong = member(Raw::new(b"p", b'x', short.len() as u64), short.as_bytes());
    assert!(matches!(error(&archive(&[wrong, file("x", b"1")])).kind(), E::PaxRecord(_)));
    for malformed in [
        "",
        "12",
        "5 a=b",
        "x a=b\n",
        "6a=bb\n",
        "6 abb\n",
        "4 =\n",
        "99999999999999999999 a=b\n",
        "0 a=b\n",
    ] {
        if malformed.is_empty() {
            continue;
        }
        let header = member(Raw::new(b"p", b'x', malformed.len() as u64), malformed.as_bytes());
        let found = error(&archive(&[header, file("x", b"1")]));
        assert!(matches!(found.kind(), E::PaxRecord(_)), "{malformed:?}: {found}");
    }
}

#[test]
fn a_cut_archive_says_where_and_which_member() {
    let whole = archive(&[file("a", b"one"), file("b", &[7; 1500])]);
    let complete = Reader::positioned(&whole[..]).map(|mut reader| {
        while reader.next_member().expect("readable").is_some() {}
        reader.end().expect("at the end")
    });
    let complete = complete.unwrap();
    assert_eq!(
        (complete.offset, complete.zero_blocks, complete.trailing),
        (1024 + 512 + 1536, 2, None)
    );
    for cut in [1024 + 512 + 1, 1024 + 512 + 1499, 1024 + 512 + 1535] {
        let found = error(&whole[..cut]);
        assert!(matches!(found.kind(), E::Truncated { .. }), "{cut}: {found}");
        assert_eq!((found.offset(), found.name()), (cut as u64, Some(&b"b"[..])));
    }
    for cut in [1, 511, 1024 + 100] {
        assert!(matches!(error(&whole[..cut]).kind(), E::Truncated { .. }), "{cut}");
    }
    // Every other cut: never a panic, and never a member that is not there.
    for cut in 0..whole.len() {
        if let Ok(all) = read_all(&whole[..cut]) {
            assert!(all.len() <= 2);
        }
    }
}

#[test]
fn the_end_of_an_archive_is_reported() {
    let end = |bytes: &[u8]| {
        read_all(bytes).expect("readable");
        let mut reader = Reader::streaming(bytes);
        while reader.next_member().expect("readable").is_some() {}
        reader.end().expect("at the end")
    };
    let one = file("a", b"one");
    assert_eq!(end(&one).zero_blocks, 0);
    assert_eq!(end(&[]).zero_blocks, 0);
    assert_eq!(end(&[&one[..], &[0; 512]].concat()).zero_blocks, 1);
    let padded = [&one[..], &[0; 10240]].concat();
    assert_eq!((end(&padded).zero_blocks, end(&padded).trailing), (2, None));
    // Two archives in one file, and a member behind a lone zero block.
    let hidden = [archive(std::slice::from_ref(&one)), archive(&[file("hidden", b"x")])].concat();
    assert_eq!((end(&hidden).zero_blocks, end(&hidden).trailing), (2, Some(2048)));
    let lone = [&one[..], &[0; 512], &one[..]].concat();
    assert_eq!((end(&lone).zero_blocks, end(&lone).trailing), (1, Some(1536)));
    let late = [&archive(std::slice::from_ref(&one))[..], &vec![0; 70_000], b"x"].concat();
    assert_eq!(end(&late).trailing, Some((2048 + 70_000) / 512 * 512));
}

#[test]
fn numbers_in_every_notation() {
    let with = |at: usize, field: &[u8]| {
        let raw = Raw::new(b"f", b'0', 0).with(at, field);
        read_all(&archive(&[member(raw, b"")])).map(|all| all[0].0.clone())
    };
    assert_eq!(with(108, b"\x80\0\0\0\xff\xff\xff\xff").unwrap().uid(), 0xffff_ffff);
    assert_eq!(with(108, b" 17777\0 ").unwrap().uid(), 0o17777);
    assert_eq!(with(108, b"77777777").unwrap().uid(), 0o7777_7777);
    assert_eq!(with(108, b"\0\0\0\0\0\0\0\0").unwrap().uid(), 0);
    assert_eq!(with(136, b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xfe").unwrap().mtime(), -2);
    assert_eq!(with(100, b"0104755\0").unwrap().mode(), 0o4755);
    assert!(matches!(
        with(108, b"\xff\xff\xff\xff\xff\xff\xff\xfe").unwrap_err().kind(),
        E::OutOfRange { field: "uid", .. }
    ));
    assert!(matches!(
        with(124, b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff").unwrap_err().kind(),
        E::OutOfRange { field: "size", .. }
    ));
    assert!(matches!(
        with(124, b"\x80\0\0\x01\0\0\0\0\0\0\0\0").unwrap_err().kind(),
        E::OutOfRange { field: "size", .. }
    ));
    assert!(matches!(
        with(124, b"\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff").unwrap_err().kind(),
        E::OutOfRange { field: "size", .. }
    ));
    assert!(matches!(
        with(136, b"\x80\0\0\x01\0\0\0\0\0\0\0\0").unwrap_err().kind(),
        E::OutOfRange { field: "mtime", .. }
    ));
    assert!(matches!(
        with(124, b"\0\0\0\0\0\0\0\0\0\0\0\0").unwrap_err().kind(),
        E::Number { field: "size", .. }
    ));
    for wrong in [&b"0000008\0"[..], b"-000001\0", b"0x00001\0", b"000 001\0"] {
        let found = with(116, wrong);
        if wrong == b"000 001\0" {
            assert_eq!(found.unwrap().gid(), 0);
        } else {
            assert!(matches!(found.unwrap_err().kind(), E::Number { field: "gid", .. }));
        }
    }
}

#[test]
fn checksums_of_both_kinds_and_no_other() {
    let name = b"caf\xe9";
    let good = member(Raw::new(name, b'0', 0), b"");
    assert_eq!(read_all(&good).unwrap()[0].0.path(), name);
    let mut signed = good.clone();
    signed[148..156].fill(b' ');
    let sum: i32 = signed[..512].iter().map(|&byte| i32::from(byte.cast_signed())).sum();
    signed[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    assert_eq!(read_all(&signed).unwrap()[0].0.path(), name);
    let mut bad = [file("a", b""), good].concat();
    bad[512 + 5] ^= 1;
    let found = error(&bad);
    assert!(matches!(found.kind(), E::Checksum { .. }), "{found}");
    assert_eq!(found.offset(), 512);
    assert!(matches!(error(&[b'x'; 512]).kind(), E::Checksum { .. }));
}

#[test]
fn names_and_targets_that_cannot_be() {
    let one = |raw: Raw| error(&archive(&[member(raw, b"")]));
    assert!(matches!(one(Raw::new(b"", b'0', 0)).kind(), E::NoName));
    assert!(matches!(one(Raw::new(b"l", b'2', 0)).kind(), E::NoTarget));
    assert!(matches!(one(Raw::new(b"l", b'1', 0)).kind(), E::NoTarget));
    let nul = archive(&[pax(&[record("path", "a\0b")]), file("x", b"")]);
    assert!(matches!(error(&nul).kind(), E::Nul("name")));
    let nul = archive(&[long(b'L', b"a\0b"), file("x", b"")]);
    assert!(matches!(error(&nul).kind(), E::Nul(_)));
    let nul = archive(&[pax(&[record("linkpath", "a\0b")]), member(Raw::new(b"l", b'2', 0), b"")]);
    assert!(matches!(error(&nul).kind(), E::Nul("link target")));
}

#[test]
fn what_has_no_content_announces_no_data() {
    for flag in b'1'..=b'6' {
        let raw = Raw::new(b"d", flag, 512).with(157, b"target");
        let found = error(&archive(&[member(raw, &[0; 512])]));
        assert!(matches!(found.kind(), E::UnexpectedData { size: 512, .. }), "{found}");
        assert_eq!(found.name(), Some(&b"d"[..]));
    }
}

#[test]
fn kinds() {
    let kind = |name: &str, flag: u8| {
        let raw = Raw::new(name.as_bytes(), flag, 0).with(157, b"target");
        let all = read_all(&archive(&[member(raw, b"")])).unwrap();
        (all[0].0.kind(), text(all[0].0.link()).to_owned())
    };
    let none = String::new();
    for flag in [b'0', 0, b'7'] {
        assert_eq!(kind("f", flag), (Kind::File, none.clone()));
        assert_eq!(kind("f/", flag), (Kind::Directory, none.clone()));
    }
    assert_eq!(kind("f", b'1'), (Kind::HardLink, "target".to_owned()));
    assert_eq!(kind("f", b'2'), (Kind::Symlink, "target".to_owned()));
    assert_eq!(kind("f", b'3'), (Kind::CharDevice, none.clone()));
    assert_eq!(kind("f", b'4'), (Kind::BlockDevice, none.clone()));
    assert_eq!(kind("f", b'5'), (Kind::Directory, none.clone()));
    assert_eq!(kind("f", b'6'), (Kind::Fifo, none.clone()));
    assert_eq!(kind("f", b'V'), (Kind::Other(b'V'), none));
}

#[test]
fn extension_headers_are_limited() {
    let big = member(Raw::new(b"p", b'x', 1 << 30), b"");
    let found = error(&archive(&[big]));
    assert!(
        matches!(found.kind(), E::ExtensionTooLarge { size, .. } if *size == 1 << 30),
        "{found}"
    );
    let small = archive(&[long(b'L', &[b'a'; 200]), file("x", b"")]);
    let limits = Limits { extension: 200, ..Limits::default() };
    let mut reader = Reader::streaming(&small[..]).with_limits(limits);
    assert!(matches!(reader.next_member().unwrap_err().kind(), E::ExtensionTooLarge { .. }));
    assert!(reader.next_member().unwrap().is_none(), "nothing more after an error");
    assert!(reader.end().is_none());
}

#[test]
fn ustar_prefixes_count_only_under_their_magic() {
    let raw = Raw::new(b"name", b'0', 0).with(345, b"some/prefix");
    assert_eq!(names(&archive(&[member(raw, b"")]))[0].0, "some/prefix/name");
    // There GNU keeps times of access and change.
    let raw = Raw::new(b"name", b'0', 0).gnu().with(345, b"12345670123");
    assert_eq!(names(&archive(&[member(raw, b"")]))[0].0, "name");
}

#[test]
fn records_without_a_field_are_named() {
    let all = read_all(&archive(&[
        pax(&[record("SCHILY.xattr.user.k", "v"), record("atime", "1"), record("uname", "me")]),
        file("x", b""),
    ]))
    .unwrap();
    assert_eq!(all[0].0.ignored_records(), ["SCHILY.xattr.user.k"]);
}

#[test]
fn messages_name_the_member_and_the_byte() {
    let found = error(&archive(&[file("a", b""), member(Raw::new(b"caf\xe9\n", b'2', 0), b"")]));
    assert_eq!(
        found.to_string(),
        "`caf\\xe9\\n`: the link has no target (at byte 512 of the archive)"
    );
}
