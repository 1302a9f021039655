//! Any 16 bytes and any file length: a header that is accepted is written back as it was.
#![no_main]

use holdall_aospkg::{encode_header, parse_header};

libfuzzer_sys::fuzz_target!(|input: (u64, &[u8])| {
    let (file_len, bytes) = input;
    for len in [file_len, bytes.len() as u64] {
        if let Ok(header) = parse_header(bytes, len) {
            let (manifest, index, mount) =
                (header.manifest_range(), header.index_range(), header.mount_range());
            assert_eq!((manifest.start, manifest.end, index.end), (16, index.start, mount.start));
            assert!(mount.start <= mount.end && mount.end == len);
            let lens = [manifest, index].map(|range| (range.end - range.start) as usize);
            let again = encode_header(header.version(), lens[0], lens[1]).expect("it was one");
            assert_eq!(again, bytes[..16]);
        }
    }
});
