//! Bad input: one typed error each, the errno that the published readers give, never a panic, a
//! signal or a wait.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use holdall_aospkg::format::{EntryKind, Version};
use holdall_aospkg::{
    Errno, ExtractOptions, Package, PackageError, PackageSet, TarFileSystem, digests, extract,
    read_manifest, verify,
};
use proptest::prelude::*;

use crate::support::{Maker, Ours, Row, peer, same_answers};

/// A package whose chunks alone are longer than 4 KiB, with files at the end of its mount.
fn large() -> Maker {
    let mut maker = Maker::new().dir("/d").link("/d/link", "file-0001");
    for n in 0..90 {
        maker = maker.file(&format!("/d/file-{n:04}"), vec![n as u8; n]);
    }
    maker.sorted()
}

/// Everything that opens a file gives the same error; the published readers give the same errno.
fn refused(path: &Path, version: Version) -> PackageError {
    let error = TarFileSystem::open(path).expect_err("refused");
    assert_eq!(error.path(), Some(path));
    let shared = PackageSet::new().open(path).expect_err("refused");
    assert_eq!(shared.to_string(), error.to_string());
    assert_eq!(peer(path, version, "/").expect_err("refused"), error.errno().name(), "{error}");
    error
}

#[test]
fn a_package_cut_anywhere_is_one_error() {
    let dir = tempfile::tempdir().unwrap();
    for version in Version::ALL {
        let whole = large().bytes(version);
        assert!(whole.len() > 8000);
        let head = whole.len() - large().mount.len();
        let path = dir.path().join("cut.aospkg");
        let later = (4096..whole.len()).step_by(89).chain([head - 1, head, whole.len() - 1]);
        for cut in (0..4096).chain(later) {
            fs::write(&path, &whole[..cut]).unwrap();
            let error = refused(&path, version);
            let (errno, code) = match cut {
                0..16 => (Errno::EINVAL, "AO0102"),
                _ if cut < head => (Errno::EINVAL, "AO0105"),
                // The chunks are whole: the first file whose bytes are gone is named.
                _ => (Errno::EIO, "AO0111"),
            };
            assert_eq!((error.errno(), error.code().id), (errno, code), "cut at {cut}: {error}");
            // The manifest is answered for as long as the header's promise is kept.
            assert_eq!(read_manifest(&path).is_ok(), cut >= head, "cut at {cut}");
        }
        // One byte too many is part of the mount.
        fs::write(&path, [&whole[..], b"x"].concat()).unwrap();
        assert!(TarFileSystem::open(&path).is_ok());
    }
}

#[test]
fn every_header_field_changed_is_one_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("changed.aospkg");
    for version in Version::ALL {
        let good = large().bytes(version);
        for at in 0..16 {
            for change in [0x01, 0x02, 0x80, 0xff] {
                let mut bytes = good.clone();
                bytes[at] ^= change;
                // The other known version is read by another published reader.
                if at == 4 && Version::from_number(u16::from(bytes[4])).is_some() {
                    continue;
                }
                fs::write(&path, &bytes).unwrap();
                let error = refused(&path, version);
                let errno = error.errno();
                assert!(matches!(errno, Errno::EINVAL | Errno::EIO), "byte {at}: {error}");
                let words = match at {
                    0..4 => "not a package",
                    4..6 => "format version",
                    6..8 => "reserved flags",
                    _ => "",
                };
                assert!(error.detail().contains(words), "byte {at}: {error}");
            }
        }
        let mut other = good.clone();
        other[4] ^= 3;
        fs::write(&path, &other).unwrap();
        let error = Package::open(&path).unwrap_err();
        assert_eq!((error.errno(), error.code().id), (Errno::EINVAL, "AO0107"), "{error}");
        let three = [&good[..4], &[3, 0], &good[6..]].concat();
        fs::write(&path, three).unwrap();
        let error = Package::open(&path).unwrap_err();
        assert!(error.detail().contains("format version 3"), "{error}");
        assert_eq!(error.at(), Some(4));
    }
}

#[test]
fn what_is_no_package_file_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("empty"), "").unwrap();
    fs::write(at("text"), "just text, long enough for a header").unwrap();
    fs::write(at("zip"), b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0\0\0").unwrap();
    assert!(Command::new("mkfifo").arg(at("fifo")).status().unwrap().success());
    std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    std::os::unix::fs::symlink("loop", at("loop")).unwrap();
    std::os::unix::fs::symlink("gone", at("dangling")).unwrap();
    for (name, errno, words) in [
        ("missing", Errno::ENOENT, "cannot be opened"),
        ("text/below", Errno::ENOTDIR, "cannot be opened"),
        ("loop", Errno::ELOOP, "cannot be opened"),
        ("dangling", Errno::ENOENT, "cannot be opened"),
        (".", Errno::EISDIR, "a directory"),
        ("fifo", Errno::EINVAL, "a fifo"),
        ("empty", Errno::EINVAL, "0 bytes are too few"),
        ("text", Errno::EINVAL, "6a 75 73 74 (text)"),
        ("zip", Errno::EINVAL, "a zip archive"),
    ] {
        for error in [
            Package::open(at(name)).unwrap_err(),
            read_manifest(at(name)).unwrap_err(),
            PackageSet::new().open(at(name)).unwrap_err(),
        ] {
            assert_eq!(error.errno(), errno, "{error}");
            assert!(error.detail().contains(words), "{error}");
            let shown = error.diagnostic();
            assert!(shown.message.contains(errno.name()), "{shown:?}");
            assert!(shown.path.unwrap().ends_with(name));
        }
    }
    assert!(Package::open(at("socket")).is_err());
    assert_eq!(Package::open("/dev/null").unwrap_err().errno(), Errno::EINVAL);
    // A name that is not UTF-8 is a name like any other.
    let odd = dir.path().join(OsStr::from_bytes(b"\xff.aospkg"));
    fs::write(&odd, large().bytes(Version::V2)).unwrap();
    assert!(TarFileSystem::open(&odd).is_ok());
    fs::write(&odd, "x").unwrap();
    assert!(TarFileSystem::open(&odd).unwrap_err().to_string().contains(".aospkg"));
}

/// The first chunk is read alone: nothing behind it matters, or is even looked at.
#[test]
fn the_manifest_is_read_without_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.aospkg");
    let good = large().bytes(Version::V1);
    let end = usize::try_from(u32::from_le_bytes(good[8..12].try_into().unwrap())).unwrap() + 16;
    let mut bytes = good.clone();
    bytes[end..].fill(0xff);
    fs::write(&path, &bytes).unwrap();
    assert_eq!(read_manifest(&path).unwrap().manifest, large().manifest);
    assert_eq!(Package::open(&path).unwrap_err().code().id, "AO0107");
    // And the other way round: opening never decodes the manifest.
    let mut bytes = good;
    bytes[16..end].fill(0xff);
    fs::write(&path, &bytes).unwrap();
    let package = Package::open(&path).unwrap();
    let error = package.manifest().unwrap_err();
    assert_eq!((error.errno(), error.code().id, error.at()), (Errno::EINVAL, "AO0106", Some(16)));
    assert_eq!(package.manifest().unwrap_err().to_string(), error.to_string(), "and again");
    assert!(TarFileSystem::new(Arc::new(package), "/").unwrap().exists("/d/link"));
}

/// A manifest longer than what is read at first, and one that claims to be longer than the file.
#[test]
fn long_manifests_are_read_whole() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.aospkg");
    let mut maker = Maker::new();
    maker.manifest.name = "n".repeat(100_000);
    fs::write(&path, maker.bytes(Version::V2)).unwrap();
    assert_eq!(read_manifest(&path).unwrap().manifest.name.len(), 100_000);
    fs::write(&path, &maker.bytes(Version::V2)[..50_000]).unwrap();
    assert_eq!(read_manifest(&path).unwrap_err().code().id, "AO0105");
}

#[test]
fn a_file_that_shrinks_meanwhile_is_estale_wherever_it_is_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.aospkg");
    let whole = Maker::new().dir("/d").file("/d/big", vec![5; 300_000]).bytes(Version::V2);
    let opened = |cut: u64| {
        fs::write(&path, &whole).unwrap();
        let fs = TarFileSystem::open(&path).unwrap();
        fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(cut).unwrap();
        fs
    };
    for cut in [0, 16, 200, 150_000, whole.len() as u64 - 1] {
        let fs = opened(cut);
        assert_eq!(digests(&fs).unwrap_err().errno(), Errno::ESTALE, "digests, cut to {cut}");
        assert_eq!(verify(fs.package()).unwrap_err().errno(), Errno::ESTALE, "cut to {cut}");
        let out = dir.path().join("out");
        let error = extract(&fs, &[] as &[&str], &out, ExtractOptions::default()).unwrap_err();
        assert_eq!(error.errno(), Errno::ESTALE, "extract, cut to {cut}: {error}");
        assert!(!out.exists());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no stage is left");
        assert_eq!(fs.read_file("/d/big").unwrap_err().errno, Errno::ESTALE);
    }
    // Manifests beyond the first bytes are read at the first question; the file may be gone then.
    let mut maker = Maker::new();
    maker.manifest.name = "n".repeat(9000);
    fs::write(&path, maker.bytes(Version::V1)).unwrap();
    let package = Package::open(&path).unwrap();
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(5000).unwrap();
    assert_eq!(package.manifest().unwrap_err().errno(), Errno::ESTALE);
}

/// Texts in the index that are not UTF-8, numbers that end nowhere, lists longer than the chunk.
#[test]
fn broken_index_values_say_where() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.aospkg");
    let maker = Maker::new().file("/file", "x").link("/link", "file");
    for version in Version::ALL {
        let good = maker.bytes(version);
        let index = good.windows(2).rposition(|pair| pair == b"\x01/").unwrap() - 3;
        let place = |text: &[u8]| good.windows(text.len()).position(|at| at == text).unwrap();
        let (file, link, target) = (place(b"/file"), place(b"/link"), place(b"\x04file") + 1);
        for (at, bytes, words) in [
            (index + 2, &b"\xff\xff\xff\x7f"[..], "a count of"),
            (index + 2, b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", "64 bits"),
            (file + 1, b"\xff", "not UTF-8"),
            (target + 3, b"\xc3", "not UTF-8"),
            (file - 1, b"\x7f", "a text of 127 bytes"),
            (link - 1, b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "a text of"),
            (link + 5, b"\x03", "kind 3"),
        ] {
            let mut broken = good.clone();
            broken[at..at + bytes.len()].copy_from_slice(bytes);
            fs::write(&path, &broken).unwrap();
            let error = refused(&path, version);
            assert_eq!((error.errno(), error.code().id), (Errno::EINVAL, "AO0107"), "{error}");
            assert!(error.detail().contains(words), "{words}: {error}");
            assert!(error.at().is_some_and(|at| at >= index as u64), "{error}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Damaged at random, a package opens or not as with the published reader of its version,
    /// with the same errno, and answers the same if it does.
    #[test]
    fn damaged_packages_fare_as_with_the_published_readers(
        two in any::<bool>(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let version = if two { Version::V2 } else { Version::V1 };
        let odd = Row { mtime: 1_700_000_000, uid: 1000, ..Row::new("/odd", EntryKind::Directory) };
        let maker = Maker::new().dir("/d").file("/d/f", "content").file("/d/g", "more")
            .link("/l", "d/f").row(odd).file("/z", "");
        let mut bytes = maker.bytes(version);
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let path = dir.path().join("x.aospkg");
        fs::write(&path, &bytes).unwrap();
        // A changed version byte makes it another format's package, for another reader.
        prop_assume!(u16::from(bytes[4]) == version.number());
        let (ours, theirs) = (Ours::open(&path, "/"), peer(&path, version, "/"));
        match (ours, theirs) {
            (Ok(mut ours), Ok(mut theirs)) => {
                let package = Package::open(&path).unwrap();
                for entry in package.index().iter() {
                    same_answers(&mut ours, theirs.as_mut(), entry.path);
                }
                let _ = (package.manifest(), verify(&package));
            }
            (Err(ours), Err(theirs)) => prop_assert_eq!(ours, theirs),
            (ours, theirs) => {
                prop_assert!(false, "ours {:?}, theirs {:?}", ours.err(), theirs.err());
            }
        }
    }
}
