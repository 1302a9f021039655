//! Memory: what a package makes us allocate is bounded by its length, an open package is its index
//! and a few tables, and packing does not depend on the size of files.
//!
//! A test binary of its own, since it counts every allocation.

use std::fs::{self, File};
use std::io::Read as _;

use allocation_counter::{AllocationInfo, measure};
use holdall_aospkg::format::{EntryKind, Version};
use holdall_aospkg::pack::{Input, PackOptions, plan};
use holdall_aospkg::{
    Index, MapOrder, PackageManifest, TarEntry, TarFileSystem, decode_manifest, encode_header,
    encode_index, encode_manifest, parse_header,
};
use holdall_tar::{Member, Reader};
use holdall_tree::DirTree;
use proptest::prelude::*;

/// What may be allocated at once whatever the input: buffers and messages.
const BASE: u64 = 200_000;

/// Allocated at once by `work`, with the buffers taken off, as a multiple of the input's length.
#[track_caller]
fn proportional(most: u64, len: usize, work: impl FnOnce()) -> AllocationInfo {
    let info = measure(work);
    let bound = BASE + most * len as u64;
    assert!(info.bytes_max <= bound, "{} bytes at once for {len}", info.bytes_max);
    info
}

fn manifest(chunk: &[u8]) {
    for version in Version::ALL {
        let framed = [&version.number().to_le_bytes()[..], chunk].concat();
        // A command or a key with its value is 2 bytes at least in the chunk, and two texts of 24
        // bytes in memory, with a dozen more while keys are compared.
        proportional(36, framed.len(), || drop(decode_manifest(&framed, 16, version)));
    }
}

fn index(chunk: &[u8]) {
    for version in Version::ALL {
        let framed = [&version.number().to_le_bytes()[..], chunk].concat();
        let header = encode_header(version, 0, framed.len()).unwrap();
        let header = parse_header(&header, 16 + framed.len() as u64 + 4096).unwrap();
        let len = framed.len();
        proportional(2, len, || {
            if let Ok(index) = Index::new(framed, &header) {
                index.find("/nowhere");
            }
        });
    }
}

fn tar(archive: &[u8]) {
    // A run of a sparse file is 4 bytes at least as text, and 24 in memory, twice while it grows.
    proportional(16, archive.len(), || {
        let Ok(mut reader) = Reader::positioned(archive) else { return };
        while let Ok(Some(member)) = reader.next_member() {
            drop::<Member>(member);
        }
    });
    proportional(16, archive.len(), || {
        let mut reader = Reader::streaming(archive);
        let mut buffer = vec![0; 1024];
        while let Ok(Some(_)) = reader.next_member() {
            // A hole may be of any size; reading some of it is enough.
            let _ = reader.data().read(&mut buffer);
        }
    });
}

/// Bytes that announce the most for their length.
#[test]
fn greedy_chunks_get_what_their_length_allows() {
    let many = |count: &[u8], fill: u8, len: usize| [count, &vec![fill; len]].concat();
    for count in [
        &b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"[..],
        b"\xff\xff\xff\xff\x0f",
        b"\xff\xff\xff\x7f",
        b"\xff\xff\x7f",
        b"\xa0\x8d\x06",
    ] {
        for fill in [0, 1, 0xff] {
            for front in ["", "\0\0", "\0\0\0", "\0\0\0\0", "\0\0\x01", "\0\0\x01\0"] {
                let chunk = [front.as_bytes(), &many(count, fill, 200_000)].concat();
                manifest(&chunk);
                index(&chunk);
            }
        }
    }
    // 100,000 commands without a letter, and as many keys as fit.
    manifest(&[&b"\0\0\0\0\xa0\x8d\x06"[..], &vec![0; 200_003]].concat());
    let mut keys = b"\0\0\x01\xd0\x86\x03".to_vec();
    for n in 0..50_000u32 {
        keys.extend([3, n as u8 & 0x7f, (n >> 7) as u8 & 0x7f, (n >> 14) as u8, 0]);
    }
    manifest(&[&keys[..], &[0; 9]].concat());
}

/// Numbers are written in a header as octal text.
fn header(name: &str, flag: u8, size: u64) -> [u8; 512] {
    let mut block = [0; 512];
    block[..name.len()].copy_from_slice(name.as_bytes());
    block[100..108].copy_from_slice(b"0000644\0");
    block[124..136].copy_from_slice(format!("{size:011o}\0").as_bytes());
    block[156] = flag;
    block[257..265].copy_from_slice(b"ustar\x0000");
    block[148..156].fill(b' ');
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
}

#[test]
fn greedy_archives_get_what_their_length_allows() {
    for flag in *b"xgLK0S" {
        for size in [1 << 10, 1 << 20, (1 << 20) + 1, 1 << 30, (1 << 33) - 1] {
            tar(&header("a", flag, size));
            tar(&[&header("a", flag, size)[..], &vec![b'7'; 100_000]].concat());
        }
    }
    // A sparse map that announces the most runs, and one that has many.
    let pax = |records: &str| {
        let mut out = header("p", b'x', records.len() as u64).to_vec();
        out.extend_from_slice(records.as_bytes());
        out.resize(out.len().next_multiple_of(512), 0);
        out
    };
    let record = |key: &str, value: &str| {
        let mut len = key.len() + value.len() + 3;
        len += len.to_string().len();
        let len = if (len - 1).to_string().len() < len.to_string().len() { len + 1 } else { len };
        let text = format!("{len} {key}={value}\n");
        if text.len() == len { text } else { format!("{} {key}={value}\n", text.len()) }
    };
    let one = record("GNU.sparse.major", "1")
        + &record("GNU.sparse.minor", "0")
        + &record("GNU.sparse.realsize", "9");
    let map = format!("{}\n", 1 << 18).into_bytes();
    tar(&[pax(&one), header("a", b'0', 1 << 20).to_vec(), map, vec![b'0'; 10_000]].concat());
    let runs = vec!["0,0"; 100_000].join(",");
    let zero = record("GNU.sparse.size", "9") + &record("GNU.sparse.map", &runs);
    tar(&[pax(&zero), header("a", b'0', 0).to_vec()].concat());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_get_what_their_length_allows(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        manifest(&bytes);
        index(&bytes);
        tar(&bytes);
    }

    #[test]
    fn damaged_chunks_get_what_their_length_allows(
        commands in prop::collection::vec("[a-z]{0,9}", 0..200),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut made = PackageManifest { name: "n".into(), version: "1".into(), ..PackageManifest::default() };
        made.commands = commands.iter()
            .map(|name| holdall_aospkg::CommandTarget { command: name.clone(), entry: name.clone() })
            .collect();
        let mut chunk = encode_manifest(&made, Version::V2, MapOrder::AsRead).unwrap().split_off(2);
        let mut paths = commands;
        paths.sort();
        paths.dedup();
        let paths: Vec<String> = paths.iter().map(|name| format!("/{name}")).collect();
        let mut entries = encode_index(paths.iter().map(|path| entry(path)), Version::V2).split_off(2);
        for (at, byte) in damage {
            let (one, two) = (at.index(chunk.len()), at.index(entries.len()));
            (chunk[one], entries[two]) = (byte, byte);
        }
        manifest(&chunk);
        index(&entries);
    }
}

fn entry(path: &str) -> TarEntry<'_> {
    let kind = if path == "/" { EntryKind::Directory } else { EntryKind::File };
    let mode = kind.mode_bits() | 0o755;
    TarEntry { path, kind, offset: 0, size: 0, mode, uid: 0, gid: 0, mtime: 0, link_target: None }
}

/// An open package is its index and at most 16 bytes an entry, and no object an entry.
#[test]
fn an_open_package_is_its_index_and_two_tables() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.aospkg");
    for count in [1_000u64, 20_000] {
        let mut paths: Vec<_> = (1..count).map(|n| format!("/file-{n:07}")).collect();
        paths.insert(0, "/".into());
        let chunk = encode_index(paths.iter().map(|path| entry(path)), Version::V2);
        let manifest = PackageManifest::default();
        let manifest = encode_manifest(&manifest, Version::V2, MapOrder::Canonical).unwrap();
        let header = encode_header(Version::V2, manifest.len(), chunk.len()).unwrap();
        fs::write(&path, [&header[..], &manifest, &chunk].concat()).unwrap();
        let mut held = None;
        let info = measure(|| {
            let fs = TarFileSystem::open(&path).unwrap();
            assert!(fs.exists("/file-0000001"));
            held = Some(fs);
        });
        let now = u64::try_from(info.bytes_current).unwrap();
        assert!(now <= chunk.len() as u64 + 16 * count + 8192, "{now} for {count}");
        assert!(info.count_current < 20, "{} objects for {count} entries", info.count_current);
        assert!(info.count_total < 60, "{} allocations for {count} entries", info.count_total);
        // Asking allocates nothing at all, and listing only the name that it goes by.
        let fs = held.unwrap();
        let asking = measure(|| {
            for path in &paths {
                assert!(fs.stat(path).is_ok());
            }
        });
        assert_eq!(asking.count_total, 0);
        let mut buffer = [0; 64];
        let reading = measure(|| assert_eq!(fs.pread("/file-0000002", 0, &mut buffer), Ok(0)));
        assert_eq!(reading.count_total, 0);
        let listing = measure(|| assert_eq!(fs.read_dir("/").unwrap().count() as u64, count - 1));
        assert!(listing.count_total < 5, "{}", listing.count_total);
    }
}

/// One buffer, whether the file has a megabyte or three hundred.
#[test]
fn packing_does_not_depend_on_the_size_of_files() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("in");
    fs::create_dir(&root).unwrap();
    let options = PackOptions {
        name: Some("n".into()),
        version_name: Some("1".into()),
        ..PackOptions::default()
    };
    let mut peaks = Vec::new();
    for len in [1 << 20, 300 << 20] {
        File::create(root.join("big")).unwrap().set_len(len).unwrap();
        let out = dir.path().join("out.aospkg");
        let info = measure(|| {
            let tree = DirTree::open(&root).unwrap();
            plan(Input::Tree(&tree), &options).unwrap().write(&out).unwrap();
        });
        assert_eq!(fs::metadata(&out).unwrap().len() >> 20, len >> 20);
        peaks.push(info.bytes_max);
    }
    assert!(peaks[1] < peaks[0] + 100_000 && peaks[1] < 8 << 20, "{peaks:?}");
}
