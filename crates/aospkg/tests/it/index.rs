//! Opening: every check of the index in the published order, compared with both readers.

use holdall_aospkg::format::{EntryKind, MAX_ENTRIES, Version};
use holdall_aospkg::{Errno, Package, TarFileSystem, Tolerance};

use crate::support::{Maker, Row, peer};

/// Opens the package in both versions and wants one errno, one code, and the same errno from the
/// published reader of that version.
fn refused(maker: &Maker, errno: Errno, code: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let mut words = String::new();
    for version in Version::ALL {
        let path = maker.write(dir.path(), version);
        let error = TarFileSystem::open(&path).unwrap_err();
        assert_eq!((error.errno(), error.code().id), (errno, code), "{error}");
        assert_eq!(error.path(), Some(path.as_path()));
        assert_eq!(peer(&path, version, "/").unwrap_err(), errno.name(), "{error}");
        words = error.to_string();
    }
    words
}

fn accepted(maker: &Maker) {
    let dir = tempfile::tempdir().unwrap();
    for version in Version::ALL {
        let path = maker.write(dir.path(), version);
        TarFileSystem::open(&path).unwrap();
        assert!(peer(&path, version, "/").is_ok());
    }
}

fn file(path: &str, offset: u64, size: u64) -> Row {
    Row { offset, size, ..Row::new(path, EntryKind::File) }
}

#[test]
fn sorted_by_the_bytes_of_whole_paths() {
    accepted(&Maker::new().dir("/a").dir("/a-b").dir("/a/b").dir("/a0"));
    let words = refused(&Maker::new().dir("/a").dir("/a/b").dir("/a-b"), Errno::EINVAL, "AO0108");
    assert!(words.contains("`/a/b` stands before `/a-b`") && words.contains("at byte"), "{words}");
    let words = refused(&Maker::new().dir("/a").dir("/a"), Errno::EINVAL, "AO0108");
    assert!(words.contains("`/a` stands twice"), "{words}");
    // By UTF-16 code units U+1D11E stands before U+FF5E; by bytes it does not.
    refused(&Maker::new().file("/\u{1d11e}", "").file("/\u{ff5e}", ""), Errno::EINVAL, "AO0108");
    accepted(&Maker::new().file("/\u{ff5e}", "").file("/\u{1d11e}", ""));
}

#[test]
fn paths_are_absolute_and_normalised() {
    for bad in ["/a/", "a", "/a/../b", "/a/.", "/./a", "/..", "//", "//a", "/a//b", "/."] {
        let maker = Maker::new().dir(bad).sorted();
        refused(&maker, Errno::EINVAL, "AO0109");
    }
    let mut empty = Maker::new();
    empty.rows.insert(0, Row::new("", EntryKind::File));
    refused(&empty, Errno::EINVAL, "AO0109");
    // Sorting is checked over all entries before any path.
    refused(&Maker::new().dir("/a/").dir("/0"), Errno::EINVAL, "AO0108");
    accepted(&Maker::new().dir("/...").dir("/..a").dir("/.a").file("/a\0b", ""));
}

#[test]
fn files_stay_inside_the_mount() {
    let base = Maker::new().file("/a", "0123456789");
    accepted(&base.clone().row(file("/b", 10, 0)).row(file("/c", 9, 1)));
    for (offset, size) in [(11, 0), (9, 2), (0, 11), (u64::MAX / 2, 1)] {
        let words = refused(&base.clone().row(file("/b", offset, size)), Errno::EIO, "AO0111");
        assert!(words.contains(&format!("offset {offset}, size {size}")), "{words}");
    }
    for (offset, size) in [(u64::MAX, 1), (1, u64::MAX), (u64::MAX, 0)] {
        refused(&base.clone().row(file("/b", offset, size)), Errno::EOVERFLOW, "AO0111");
    }
    // Nobody looks at the range of what is no file.
    let odd = Row { offset: u64::MAX, size: u64::MAX, ..Row::new("/d", EntryKind::Directory) };
    accepted(&base.row(odd));
}

#[test]
fn links_have_targets_and_times_fit() {
    refused(&Maker::new().row(Row::new("/l", EntryKind::Symlink)), Errno::EINVAL, "AO0112");
    accepted(&Maker::new().link("/l", ""));
    let at = |mtime| Maker::new().row(Row { mtime, ..file("/f", 0, 0) });
    refused(&at(-1), Errno::EINVAL, "AO0113");
    refused(&at(i64::MIN), Errno::EINVAL, "AO0113");
    refused(&at(i64::MAX), Errno::EOVERFLOW, "AO0113");
    let most = i64::try_from(u64::MAX / 1000).unwrap();
    accepted(&at(most));
    refused(&at(most + 1), Errno::EOVERFLOW, "AO0113");
}

#[test]
fn the_first_fault_of_an_entry_speaks() {
    let all = Row { mtime: -1, ..file("/a/", 1 << 40, 1) };
    refused(&Maker::new().row(all.clone()), Errno::EINVAL, "AO0109");
    refused(&Maker::new().row(Row { path: "/a".into(), ..all }), Errno::EIO, "AO0111");
    let link = Row { mtime: i64::MAX, ..Row::new("/l", EntryKind::Symlink) };
    refused(&Maker::new().row(link), Errno::EINVAL, "AO0112");
    // Of two entries the first.
    let late = Row { mtime: -1, ..file("/b", 0, 0) };
    refused(&Maker::new().row(file("/a", 1 << 40, 1)).row(late), Errno::EIO, "AO0111");
}

#[test]
fn the_root_must_be_there_and_be_a_directory() {
    let none = Maker { rows: Vec::new(), ..Maker::new() };
    refused(&none, Errno::ENOENT, "AO0114");
    refused(&none.clone().dir("/a"), Errno::ENOENT, "AO0114");
    refused(&none.file("/", ""), Errno::ENOTDIR, "AO0114");
}

#[test]
fn sub_roots_are_taken_as_they_stand() {
    let maker = Maker::new().dir("/d").file("/f", "").link("/l", "d");
    let dir = tempfile::tempdir().unwrap();
    let path = maker.write(dir.path(), Version::V2);
    let package = std::sync::Arc::new(Package::open(&path).unwrap());
    for (root, expected) in [
        ("/d", None),
        ("d/", None),
        ("/x/../d", None),
        ("/", None),
        ("", None),
        ("/x", Some(Errno::ENOENT)),
        ("/f", Some(Errno::ENOTDIR)),
        ("/l", Some(Errno::ENOTDIR)),
    ] {
        let got = TarFileSystem::new(package.clone(), root).err().map(|error| error.errno());
        assert_eq!(got, expected, "{root}");
        let theirs = peer(&path, Version::V2, root).err();
        assert_eq!(theirs.as_deref(), expected.map(Errno::name), "{root}");
    }
}

#[test]
fn two_hundred_thousand_entries_and_no_more() {
    let mut maker = Maker::new();
    maker.rows.extend((1..MAX_ENTRIES).map(|n| Row::new(&format!("/{n:06}"), EntryKind::File)));
    accepted(&maker);
    let one_more = maker.row(Row::new("/200000", EntryKind::File));
    let words = refused(&one_more, Errno::ENOMEM, "AO0110");
    assert!(words.contains("200001 entries"), "{words}");
}

#[test]
fn chunk_faults_are_einval_with_an_offset() {
    let dir = tempfile::tempdir().unwrap();
    let maker = Maker::new().file("/f", "x").link("/l", "f");
    for version in Version::ALL {
        let good = maker.bytes(version);
        let manifest =
            usize::try_from(u32::from_le_bytes(good[8..12].try_into().unwrap())).unwrap();
        let index = 16 + manifest;
        let path = dir.path().join("x.aospkg");
        // Schema version 0 and another one; count; kind of the first entry.
        for (at, byte) in
            [(index, 0), (index, 3), (index + 1, 1), (index + 2, 0x7f), (index + 5, 3)]
        {
            let mut bytes = good.clone();
            bytes[at] = byte;
            std::fs::write(&path, &bytes).unwrap();
            let error = Package::open(&path).unwrap_err();
            assert_eq!((error.errno(), error.code().id), (Errno::EINVAL, "AO0107"), "{at} {error}");
            assert!(error.at().is_some_and(|at| at >= index as u64));
            assert_eq!(peer(&path, version, "/").unwrap_err(), "EINVAL");
        }
    }
}

#[test]
fn index_tolerances_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    let good = Maker::new().file("/f", "x").bytes(Version::V2);
    let manifest = usize::try_from(u32::from_le_bytes(good[8..12].try_into().unwrap())).unwrap();
    let index = 16 + manifest;
    // The count as two bytes, the last optional as 2, and one byte behind.
    let mut bytes = good;
    bytes.splice(index + 2..index + 3, [0x82, 0x00]);
    let end = bytes.len() - 1;
    bytes[end - 1] = 0;
    bytes.insert(end, 0xee);
    let len = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) + 2;
    bytes[12..16].copy_from_slice(&len.to_le_bytes());
    let path = dir.path().join("x.aospkg");
    std::fs::write(&path, &bytes).unwrap();
    let package = Package::open(&path).unwrap();
    let used: Vec<_> = package.index().tolerances().iter().collect();
    let kinds: Vec<_> = used.iter().map(|used| used.tolerance).collect();
    assert_eq!(kinds, [Tolerance::LongVarint, Tolerance::TrailingBytes]);
    assert_eq!(used[0].offset, index as u64 + 2);
    assert_eq!(used[1].offset, end as u64);
    assert!(peer(&path, Version::V2, "/").is_ok(), "the Rust reader takes it");
}

#[test]
fn entries_without_directories_above_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let maker = Maker::new()
        .file("/a", "")
        .dir("/a/b")
        .file("/a/b/c", "")
        .dir("/d")
        .dir("/x/y")
        .file("/x/y/z", "");
    let package = Package::open(maker.write(dir.path(), Version::V1)).unwrap();
    let paths: Vec<_> =
        package.index().unreachable().map(|at| package.index().entry(at).path).collect();
    assert_eq!(paths, ["/a/b", "/a/b/c", "/x/y", "/x/y/z"]);
}

#[test]
fn tables_take_sixteen_bytes_an_entry_at_most() {
    let dir = tempfile::tempdir().unwrap();
    let mut maker = Maker::new();
    maker.rows.extend((1..10_000).map(|n| Row::new(&format!("/{n:06}"), EntryKind::File)));
    let package = Package::open(maker.write(dir.path(), Version::V2)).unwrap();
    assert!(package.index().find("/000777").is_some());
    let chunk = package.header().index_range();
    let beside = package.index().heap_size() as u64 - (chunk.end - chunk.start);
    assert!(beside <= 16 * 10_000, "{beside}");
}
