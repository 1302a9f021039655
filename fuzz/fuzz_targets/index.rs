//! Any bytes as an index chunk: what is accepted keeps its promises. Paths ascend, are normalised
//! and found by look-up, files lie in the mount, and children are exactly the entries one below.
#![no_main]

use holdall_aospkg::format::{EntryKind, Version};
use holdall_aospkg::{Index, encode_header, encode_index, parse_header};

const MOUNT: u64 = 4096;

fn check(chunk: &[u8], version: Version) {
    let bytes = encode_header(version, 0, chunk.len()).expect("short");
    let file_len = 16 + chunk.len() as u64 + MOUNT;
    let header = parse_header(&bytes, file_len).expect("a header");
    let Ok(index) = Index::new(chunk.to_vec(), &header) else { return };
    let unreachable: Vec<usize> = index.unreachable().collect();
    let mut reached = 0;
    let mut before = "";
    for (at, entry) in index.iter().enumerate() {
        assert!(before < entry.path && entry.path.starts_with('/'));
        before = entry.path;
        assert_eq!(index.find(entry.path), (!unreachable.contains(&at)).then_some(at));
        if entry.kind == EntryKind::File {
            assert!(entry.offset + entry.size <= MOUNT);
        }
        if entry.kind == EntryKind::Directory && !unreachable.contains(&at) {
            let mut last = "";
            for child in index.children(at, 0) {
                assert!(last < child.name && !child.name.contains('/'));
                last = child.name;
                let path = format!("{}/{}", entry.path.trim_end_matches('/'), child.name);
                assert_eq!(index.entry(child.index).path, path);
                reached += 1;
            }
        }
    }
    let roots = usize::from(index.find("/").is_some());
    assert_eq!(reached + roots + unreachable.len(), index.len());
    assert!(index.heap_size() <= chunk.len() + 16 * index.len() + 16);
    if index.tolerances().is_empty() {
        assert!(encode_index(index.iter(), version) == chunk);
    }
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    for version in Version::ALL {
        check(data, version);
        check(&[&version.number().to_le_bytes()[..], data].concat(), version);
    }
});
