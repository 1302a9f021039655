//! The chunks: the published golden bytes, tolerance, errors, and the codec's properties.

use holdall_aospkg::format::{EntryKind, Version};
use holdall_aospkg::{
    AgentBlock, CommandTarget, Errno, ManPage, MapOrder, PackageManifest, ProvidesBlock,
    ProvidesFile, StringMap, TarEntry, Tolerance, ToleranceUse, decode_manifest, encode_head,
    encode_header, encode_index, encode_manifest, parse_header,
};
use proptest::prelude::*;

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn demo() -> PackageManifest {
    PackageManifest {
        name: "demo".into(),
        version: "2.1.0".into(),
        commands: vec![CommandTarget { command: "demo".into(), entry: "bin/demo".into() }],
        ..PackageManifest::default()
    }
}

fn demo_entries() -> Vec<TarEntry<'static>> {
    let entry = |path, kind, offset, size, mode, link_target| TarEntry {
        path,
        kind,
        offset,
        size,
        mode,
        uid: 0,
        gid: 0,
        mtime: 0,
        link_target,
    };
    vec![
        entry("/", EntryKind::Directory, 0, 0, 0x41ed, None),
        entry("/bin", EntryKind::Directory, 0, 0, 0x41ed, None),
        entry("/bin/demo", EntryKind::File, 0x200, 0x14, 0x81ed, None),
        entry("/lnk", EntryKind::Symlink, 0, 0, 0xa1ff, Some("bin/demo")),
    ]
}

const CHUNK1_V2: &str = "02 00 04 64656d6f 05 322e312e30 00 01 04 64656d6f 08 62696e2f64656d6f 00";
const CHUNK1_V1: &str =
    "01 00 04 64656d6f 05 322e312e30 00 00 01 04 64656d6f 08 62696e2f64656d6f 00 00";

/// The vector of the format's description, both versions, byte for byte.
#[test]
fn golden_bytes() {
    for (version, header, chunk1) in [
        (Version::V1, "89 41 4f 53 01 00 00 00 20 00 00 00 ba 00 00 00", CHUNK1_V1),
        (Version::V2, "89 41 4f 53 02 00 00 00 1e 00 00 00 ba 00 00 00", CHUNK1_V2),
    ] {
        let manifest = encode_manifest(&demo(), version, MapOrder::Canonical).unwrap();
        assert_eq!(manifest, hex(chunk1));
        let (decoded, tolerances) = decode_manifest(&hex(chunk1), 16, version).unwrap();
        assert_eq!(decoded, demo());
        assert!(tolerances.is_empty());

        let index = encode_index(demo_entries().into_iter(), version);
        assert_eq!(index.len(), 186);
        assert_eq!(index[..3], [version.number() as u8, 0, 4]);
        assert_eq!(encode_header(version, manifest.len(), index.len()).unwrap()[..], hex(header));
        let head =
            encode_head(&demo(), demo_entries().into_iter(), version, MapOrder::AsRead).unwrap();
        assert_eq!(head, [hex(header), manifest, index].concat());

        let parsed = parse_header(&hex(header), 16 + 32 + 186 + 2560).unwrap();
        assert_eq!(parsed.version(), version);
        assert_eq!(parsed.mount_range().start, head.len() as u64);
    }
}

/// Entries `/bin/demo` and `/lnk` written out by hand from the field list.
#[test]
fn golden_entries() {
    let index = encode_index(demo_entries().into_iter(), Version::V2);
    let expected = hex(concat!(
        "0200 04",
        "01 2f 01 0000000000000000 0000000000000000 ed410000 00000000 00000000 0000000000000000 00",
        "04 2f62696e 01 0000000000000000 0000000000000000 ed410000 00000000 00000000 0000000000000000 00",
        "09 2f62696e2f64656d6f 00 0002000000000000 1400000000000000 ed810000 00000000 00000000 0000000000000000 00",
        "04 2f6c6e6b 02 0000000000000000 0000000000000000 ffa10000 00000000 00000000 0000000000000000 01 08 62696e2f64656d6f",
    ));
    assert_eq!(index, expected);
}

#[test]
fn header_checks_come_in_the_published_order() {
    let good = hex("89414f53 0100 0000 20000000 ba000000");
    let change = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        bytes
    };
    let code = |bytes: &[u8], len| {
        let error = parse_header(bytes, len).unwrap_err();
        assert_eq!(error.errno(), Errno::EINVAL);
        (error.code().id, error.at())
    };
    let len = 16 + 32 + 186;
    assert!(parse_header(&good, len).is_ok());
    assert_eq!(code(&good[..15], len), ("AO0102", Some(15)));
    assert_eq!(code(&good, 15), ("AO0102", Some(15)));
    assert_eq!(code(b"", 0), ("AO0102", Some(0)));
    for at in 0..4 {
        assert_eq!(code(&change(at, 0), len), ("AO0102", Some(0)));
    }
    for version in [0, 3, 255] {
        assert_eq!(code(&change(4, version), len), ("AO0103", Some(4)));
    }
    assert_eq!(code(&change(5, 1), len), ("AO0103", Some(4)));
    assert_eq!(code(&change(6, 1), len), ("AO0104", Some(6)));
    assert_eq!(code(&change(7, 0x80), len), ("AO0104", Some(6)));
    assert_eq!(code(&good, len - 1), ("AO0105", Some(8)));
    assert_eq!(code(&change(11, 0xff), len), ("AO0105", Some(8)));
    assert_eq!(code(&change(15, 0xff), len), ("AO0105", Some(8)));
    // Several faults: the earlier check speaks.
    let mut all = change(0, 0);
    all[4] = 9;
    assert_eq!(code(&all, 0x10), ("AO0102", Some(0)));
    let both: [u8; 16] = [0xff; 16];
    assert!(parse_header(&both, u64::MAX).is_err());
}

#[test]
fn a_chunk_beyond_four_gib_is_eoverflow() {
    let too_long = usize::try_from(u32::MAX).unwrap() + 1;
    for (manifest, index) in [(too_long, 0), (0, too_long)] {
        let error = encode_header(Version::V1, manifest, index).unwrap_err();
        assert_eq!((error.errno(), error.code().id), (Errno::EOVERFLOW, "AO0116"));
    }
    assert!(encode_header(Version::V1, too_long - 1, too_long - 1).is_ok());
}

#[test]
fn schema_version_must_be_the_containers() {
    for (bytes, version) in [
        (CHUNK1_V1, Version::V2),
        (CHUNK1_V2, Version::V1),
        ("0000", Version::V1),
        ("03 00", Version::V2),
    ] {
        let error = decode_manifest(&hex(bytes), 16, version).unwrap_err();
        assert_eq!(
            (error.errno(), error.code().id, error.at()),
            (Errno::EINVAL, "AO0106", Some(16))
        );
    }
    for short in ["", "01"] {
        assert_eq!(decode_manifest(&hex(short), 16, Version::V1).unwrap_err().at(), Some(16));
    }
}

fn tolerated(bytes: &str) -> (PackageManifest, Vec<ToleranceUse>) {
    let (manifest, tolerances) = decode_manifest(&hex(bytes), 16, Version::V2).unwrap();
    (manifest, tolerances.iter().collect())
}

/// What the Rust reader takes and the TypeScript reader refuses: taken, and told.
#[test]
fn tolerances_are_used_and_told() {
    let used = |tolerance, offset, count| vec![ToleranceUse { tolerance, offset, count }];
    let (manifest, uses) = tolerated("0200 8100 61 0131 00 00 00");
    assert_eq!(manifest.name, "a");
    assert_eq!(uses, used(Tolerance::LongVarint, 18, 1));

    let (manifest, uses) = tolerated("0200 0161 0131 07 00 00 00 00");
    assert_eq!(manifest.provides, Some(ProvidesBlock::default()));
    assert_eq!(uses, used(Tolerance::LooseBool, 22, 1));

    let (manifest, uses) = tolerated("0200 0161 0131 01 02 016b0131 016b0132 00 00 00");
    let env = &manifest.provides.unwrap().env;
    assert_eq!((env.len(), env.get("k")), (1, Some("2")));
    assert_eq!(uses, used(Tolerance::DuplicateKey, 28, 1));

    let (_, uses) = tolerated("0200 0161 0131 00 00 00 ffff");
    assert_eq!(uses, used(Tolerance::TrailingBytes, 25, 2));
}

/// Of a key given again the last value wins, at the place of the first.
#[test]
fn the_last_value_of_a_key_wins() {
    let pairs = [("b", "1"), ("a", "2"), ("b", "3"), ("c", "4"), ("a", "5"), ("b", "6")];
    let map: StringMap = pairs.into_iter().collect();
    assert_eq!(map.iter().collect::<Vec<_>>(), [("b", "6"), ("a", "5"), ("c", "4")]);
    let (manifest, uses) = tolerated("0200 0161 0131 01 03 016b0131 016a0132 016b0133 00 00 00");
    let env = &manifest.provides.unwrap().env;
    assert_eq!(env.iter().collect::<Vec<_>>(), [("k", "3"), ("j", "2")]);
    assert_eq!(uses, [ToleranceUse { tolerance: Tolerance::DuplicateKey, offset: 32, count: 1 }]);
}

/// What both refuse, with the offset of the value.
#[test]
fn broken_manifests_say_where() {
    for (bytes, at, words) in [
        ("0200 0561", 18, "name: a text of 5 bytes"),
        ("0200 01ff 0131 00 00 00", 19, "name: a text is not UTF-8"),
        ("0200 0161 ffffffffffffffffff02", 20, "larger than 64 bits"),
        ("0200 0161 ffffffffffffffffffff01", 20, "64 bits"),
        ("0200 0161 0131 00 ffffff7f 00", 23, "commands: a count of 268435455"),
        ("0200 0161 0131 01 ffffffffff0f", 23, "provides: a count of"),
        ("0200 0161 0131 00 00", 24, "manPages"),
    ] {
        let error = decode_manifest(&hex(bytes), 16, Version::V2).unwrap_err();
        assert_eq!((error.errno(), error.at()), (Errno::EINVAL, Some(at)), "{error}");
        assert!(error.detail().contains(words), "{error}");
    }
}

#[test]
fn version_two_refuses_what_it_cannot_hold() {
    let manifest = PackageManifest {
        agent: Some(AgentBlock { acp_entrypoint: "pi".into(), ..AgentBlock::default() }),
        snapshot_bundle_path: Some("/dist/sdk-snapshot.js".into()),
        ..demo()
    };
    let error = encode_manifest(&manifest, Version::V2, MapOrder::Canonical).unwrap_err();
    assert_eq!(error.code().id, "AO0117");
    assert!(error.detail().contains("`pi`") && error.detail().contains("sdk-snapshot"), "{error}");
    assert_eq!(manifest.losses(Version::V2).len(), 2);
    assert_eq!(manifest.clone().reduced_to(Version::V1), manifest);
    assert_eq!(manifest.reduced_to(Version::V2), demo());
}

#[test]
fn maps_are_written_sorted_or_as_read() {
    let env: StringMap = [("B", "1"), ("A", "2")].into_iter().collect();
    let provides = Some(ProvidesBlock { env, files: Vec::new() });
    let manifest = PackageManifest { provides, ..demo() };
    let sorted = encode_manifest(&manifest, Version::V2, MapOrder::Canonical).unwrap();
    let as_read = encode_manifest(&manifest, Version::V2, MapOrder::AsRead).unwrap();
    assert_ne!(sorted, as_read);
    let reread = decode_manifest(&as_read, 16, Version::V2).unwrap().0;
    assert_eq!(reread, manifest);
    assert_eq!(encode_manifest(&reread, Version::V2, MapOrder::AsRead).unwrap(), as_read);
    assert_eq!(encode_manifest(&reread, Version::V2, MapOrder::Canonical).unwrap(), sorted);
}

fn text() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9/._ä€𐍈-]{0,40}"
}

fn map() -> impl Strategy<Value = StringMap> {
    prop::collection::vec((text(), text()), 0..6).prop_map(|pairs| pairs.into_iter().collect())
}

prop_compose! {
    fn any_manifest()(
        (name, version) in (text(), text()),
        agent in prop::option::of((text(), any::<bool>(), map(), prop::collection::vec(text(), 0..4))),
        provides in prop::option::of((map(), prop::collection::vec((text(), text()), 0..4))),
        commands in prop::collection::vec((text(), text()), 0..200),
        pages in prop::collection::vec((text(), text()), 0..4),
        snapshot_bundle_path in prop::option::of(text()),
    ) -> PackageManifest {
        PackageManifest {
            name,
            version,
            agent: agent.map(|(acp_entrypoint, snapshot, env, launch_args)| AgentBlock {
                acp_entrypoint, snapshot, env, launch_args,
            }),
            provides: provides.map(|(env, files)| ProvidesBlock {
                env,
                files: files.into_iter()
                    .map(|(source, target)| ProvidesFile { source, target }).collect(),
            }),
            commands: commands.into_iter()
                .map(|(command, entry)| CommandTarget { command, entry }).collect(),
            man_pages: pages.into_iter().map(|(section, page)| ManPage { section, page }).collect(),
            snapshot_bundle_path,
        }
    }
}

proptest! {
    #[test]
    fn decode_of_encode_is_the_identity(manifest in any_manifest(), two in any::<bool>()) {
        let version = if two { Version::V2 } else { Version::V1 };
        let manifest = manifest.reduced_to(version);
        let chunk = encode_manifest(&manifest, version, MapOrder::AsRead).unwrap();
        let (decoded, tolerances) = decode_manifest(&chunk, 16, version).unwrap();
        prop_assert_eq!(decoded, manifest);
        prop_assert!(tolerances.is_empty());
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse_header(&bytes, bytes.len() as u64);
        for version in Version::ALL {
            let _ = decode_manifest(&bytes, 16, version);
            let chunk = [&version.number().to_le_bytes()[..], &bytes].concat();
            if let Ok((manifest, tolerances)) = decode_manifest(&chunk, 16, version)
                && tolerances.is_empty()
            {
                // Nothing tolerated: the bytes are the canonical ones up to map order.
                let again = encode_manifest(&manifest, version, MapOrder::AsRead).unwrap();
                prop_assert_eq!(again, chunk);
            }
        }
    }

    #[test]
    fn a_changed_byte_never_panics(manifest in any_manifest(), at in any::<prop::sample::Index>(), byte: u8) {
        let mut chunk = encode_manifest(&manifest, Version::V1, MapOrder::AsRead).unwrap();
        let at = at.index(chunk.len());
        chunk[at] = byte;
        let _ = decode_manifest(&chunk, 16, Version::V1);
    }
}
