//! Any bytes as a tar: read as a stream and by position, with one answer; every place that the
//! reader names lies in the archive.
#![no_main]

mod sealed;

use holdall_tar::{Extent, Limits, Member, ReadAt, Reader, TarErrorKind};

/// Holes are free to claim any size; no more than this is read of one file.
const MOST: u64 = 1 << 16;

fn content(member: &Member, archive: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut buffer = [0; 700];
    while (out.len() as u64) < MOST {
        match member.read_at(archive, &mut buffer, out.len() as u64).expect("inside the archive") {
            0 => break,
            n => out.extend_from_slice(&buffer[..n]),
        }
    }
    out
}

fn check(archive: &[u8]) {
    let limits = Limits { extension: 1 << 16, segments: 1 << 10 };
    let mut positioned = Reader::positioned(archive).expect("a slice").with_limits(limits);
    let mut streaming = Reader::streaming(archive).with_limits(limits);
    let mut last = 0;
    loop {
        let (one, other) = (positioned.next_member(), streaming.next_member());
        let member = match (one, other) {
            (Ok(Some(one)), Ok(Some(other))) => {
                assert_eq!(one, other);
                one
            }
            (Ok(None), Ok(None)) => {
                assert_eq!(positioned.end(), streaming.end());
                return;
            }
            (Err(one), Err(other)) => {
                let _ = (one.to_string(), other.to_string());
                return;
            }
            // By position it is known at the header that the data is cut off.
            (Err(one), Ok(_)) => {
                assert!(matches!(one.kind(), TarErrorKind::Truncated { .. }), "{one}");
                return;
            }
            (one, other) => panic!("{one:?} by position, {other:?} as a stream"),
        };
        assert!(last <= member.start() && member.start() <= member.header_offset());
        assert!(member.data_offset() + member.stored_size() <= ReadAt::len(archive).expect("len"));
        last = member.end();
        let mut at = 0;
        while at < member.size() {
            at += match member.extent(at) {
                Extent::Data { data_offset, len } => {
                    assert!(data_offset + len <= archive.len() as u64);
                    len
                }
                Extent::Hole { len } => len,
                Extent::End => 0,
            };
        }
        assert_eq!(at, member.size());
        let by_position = content(&member, archive);
        let mut streamed = vec![0; by_position.len()];
        let mut filled = 0;
        while filled < streamed.len() {
            match streaming.read(&mut streamed[filled..]).expect("the data is there") {
                0 => break,
                n => filled += n,
            }
        }
        assert!(filled == streamed.len() && streamed == by_position);
    }
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    check(data);
    check(&sealed::sealed(data));
});
