//! Sparse files in their four forms, made by hand; `foreign` has those of GNU tar.

use holdall_tar::{Segment, TarErrorKind as E};

use crate::build::{Raw, archive, file, member, pax, record};
use crate::read_all;

/// 512 `a`s at 1024, 3 `b`s at 4096, 8192 bytes long.
fn expanded() -> Vec<u8> {
    let mut out = vec![0; 8192];
    out[1024..1536].fill(b'a');
    out[4096..4099].fill(b'b');
    out
}

fn stored() -> Vec<u8> {
    [&[b'a'; 512][..], b"bbb"].concat()
}

fn check(archive: &[u8], data_offset: u64) {
    let all = read_all(archive).expect("readable");
    let (sparse, data) = &all[0];
    assert_eq!(sparse.path(), b"dir/s");
    assert!(data == &expanded());
    assert_eq!(
        sparse.segments().unwrap(),
        [
            Segment { offset: 1024, len: 512, data_offset },
            Segment { offset: 4096, len: 3, data_offset: data_offset + 512 },
        ]
    );
    assert_eq!((sparse.size(), sparse.stored_size()), (8192, 515));
    assert_eq!((all[1].0.path(), &all[1].1[..]), (&b"after"[..], &b"x"[..]));
}

fn old(rows: &[(u64, u64)], real: u64, stored: &[u8]) -> Vec<u8> {
    let text = |rows: &[(u64, u64)]| {
        rows.iter().map(|(o, n)| format!("{o:011o}\0{n:011o}\0")).collect::<String>().into_bytes()
    };
    let (first, rest) = rows.split_at(rows.len().min(4));
    let raw = Raw::new(b"dir/s", b'S', stored.len() as u64).gnu().with(386, &text(first));
    let raw =
        raw.with(482, &[u8::from(!rest.is_empty())]).with(483, format!("{real:011o}\0").as_bytes());
    let mut out = raw.sealed().to_vec();
    let chunks: Vec<_> = rest.chunks(21).collect();
    for (at, chunk) in chunks.iter().enumerate() {
        let mut block = text(chunk);
        block.resize(512, 0);
        block[504] = u8::from(at + 1 < chunks.len());
        out.extend(block);
    }
    out.extend_from_slice(stored);
    out.resize(out.len().next_multiple_of(512), 0);
    out
}

#[test]
fn old_gnu() {
    check(
        &archive(&[
            old(&[(1024, 512), (4096, 3), (8192, 0)], 8192, &stored()),
            file("after", b"x"),
        ]),
        512,
    );
}

#[test]
fn old_gnu_with_extension_blocks() {
    let rows: Vec<_> = (0..60).map(|n| (n * 2048, 512)).collect();
    let data: Vec<u8> = (0..60u8).flat_map(|n| [n + 1; 512]).collect();
    let all = read_all(&archive(&[old(&rows, 60 * 2048, &data), file("after", b"x")])).unwrap();
    assert_eq!(all[0].0.data_offset(), 512 + 3 * 512);
    assert_eq!(all[0].1.len(), 60 * 2048);
    for (n, part) in all[0].1.chunks(2048).enumerate() {
        assert!(part[..512].iter().all(|&byte| usize::from(byte) == n + 1));
        assert!(part[512..].iter().all(|&byte| byte == 0));
    }
    assert_eq!(all[1].1, b"x");
}

#[test]
fn pax_0_0() {
    let records = [
        record("GNU.sparse.size", "8192"),
        record("GNU.sparse.numblocks", "3"),
        record("GNU.sparse.offset", "1024"),
        record("GNU.sparse.numbytes", "512"),
        record("GNU.sparse.offset", "4096"),
        record("GNU.sparse.numbytes", "3"),
        record("GNU.sparse.offset", "8192"),
        record("GNU.sparse.numbytes", "0"),
    ];
    let body = member(Raw::new(b"dir/s", b'0', 515), &stored());
    check(&archive(&[pax(&records), body, file("after", b"x")]), 1536);
}

#[test]
fn pax_0_1() {
    let records = [
        record("GNU.sparse.size", "8192"),
        record("GNU.sparse.numblocks", "3"),
        record("GNU.sparse.name", "dir/s"),
        record("GNU.sparse.map", "1024,512,4096,3,8192,0"),
    ];
    let body = member(Raw::new(b"dir/GNUSparseFile.1/s", b'0', 515), &stored());
    check(&archive(&[pax(&records), body, file("after", b"x")]), 1536);
}

#[test]
fn pax_1_0() {
    let records = [
        record("GNU.sparse.major", "1"),
        record("GNU.sparse.minor", "0"),
        record("GNU.sparse.name", "dir/s"),
        record("GNU.sparse.realsize", "8192"),
    ];
    let mut data = b"3\n1024\n512\n4096\n3\n8192\n0\n".to_vec();
    data.resize(512, 0);
    data.extend(stored());
    let body = member(Raw::new(b"dir/GNUSparseFile.1/s", b'0', data.len() as u64), &data);
    check(&archive(&[pax(&records), body, file("after", b"x")]), 2048);
}

#[test]
fn a_file_of_nothing_but_a_hole() {
    let all = read_all(&archive(&[old(&[(5000, 0)], 5000, b"")])).unwrap();
    assert_eq!((all[0].1.len(), all[0].0.segments()), (5000, Some(&[][..])));
}

#[test]
fn damaged_maps_are_refused() {
    let cases: [(&[(u64, u64)], u64, usize); 5] = [
        (&[(1024, 512), (1024, 3)], 8192, 515),
        (&[(4096, 512), (1024, 3)], 8192, 515),
        (&[(1024, 512), (4096, 3)], 4098, 515),
        (&[(1024, 512), (4096, 3)], 8192, 516),
        (&[(1024, 3), (4096, 512)], 8192, 515),
    ];
    for (rows, real, stored) in cases {
        let found = read_all(&archive(&[old(rows, real, &vec![1; stored])])).unwrap_err();
        assert!(matches!(found.kind(), E::Sparse(_)), "{rows:?}: {found}");
        assert_eq!(found.name(), Some(&b"dir/s"[..]));
    }
    let body = member(Raw::new(b"s", b'0', 3), b"abc");
    let pax_cases: [&[Vec<u8>]; 6] = [
        &[record("GNU.sparse.size", "10"), record("GNU.sparse.map", "0,3,5")],
        &[record("GNU.sparse.size", "10"), record("GNU.sparse.map", "0,x")],
        &[record("GNU.sparse.map", "0,3")],
        &[
            record("GNU.sparse.size", "10"),
            record("GNU.sparse.numblocks", "2"),
            record("GNU.sparse.map", "0,3"),
        ],
        &[record("GNU.sparse.size", "10"), record("GNU.sparse.numbytes", "3")],
        &[record("GNU.sparse.major", "2"), record("GNU.sparse.realsize", "10")],
    ];
    for records in pax_cases {
        let found = read_all(&archive(&[pax(records), body.clone()])).unwrap_err();
        assert!(matches!(found.kind(), E::Sparse(_) | E::Number { .. }), "{found}");
    }
    for map in
        ["", "3\n", "1\n0\n", "x\n", "99999999999999999999999\n", "1\n18446744073709551615\n5\n"]
    {
        let mut data = map.as_bytes().to_vec();
        data.resize(512, b'0');
        let body = member(Raw::new(b"s", b'0', 512), &data);
        let records = [
            record("GNU.sparse.major", "1"),
            record("GNU.sparse.minor", "0"),
            record("GNU.sparse.realsize", "10"),
        ];
        let found = read_all(&archive(&[pax(&records), body])).unwrap_err();
        assert!(matches!(found.kind(), E::Sparse(_)), "{map:?}: {found}");
    }
}

#[test]
fn a_map_of_too_many_runs_is_refused() {
    let mut data = b"4000000000\n".to_vec();
    data.resize(512, 0);
    let body = member(Raw::new(b"s", b'0', 512), &data);
    let records = [
        record("GNU.sparse.major", "1"),
        record("GNU.sparse.minor", "0"),
        record("GNU.sparse.realsize", "10"),
    ];
    let found = read_all(&archive(&[pax(&records), body])).unwrap_err();
    assert!(matches!(found.kind(), E::TooManySegments(_)), "{found}");
}
