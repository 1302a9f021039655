//! The least that any program must do with the same bytes.

use std::fs::File;
use std::hint::black_box;
use std::os::unix::fs::FileExt as _;

use holdall_aospkg::TarFileSystem;
use holdall_aospkg::format::EntryKind;
use rayon::prelude::*;
use sha2::{Digest as _, Sha256};

use crate::MIB;

/// Every byte of a range into one buffer.
pub(crate) fn read(file: &File, offset: u64, len: u64) {
    let mut buffer = vec![0; MIB];
    for at in (0..len).step_by(MIB) {
        let want = usize::try_from(len - at).unwrap_or(MIB).min(MIB);
        file.read_exact_at(&mut buffer[..want], offset + at).expect("the file is there");
        black_box(&buffer);
    }
}

/// The whole file, and then every file in it.
pub(crate) fn places(fs: &TarFileSystem) -> Vec<(u64, u64)> {
    let header = fs.package().header();
    let start = header.mount_range().start;
    let files = fs.package().index().iter().filter(|entry| entry.kind == EntryKind::File);
    let whole = (0, header.file_len());
    std::iter::once(whole).chain(files.map(|entry| (start + entry.offset, entry.size))).collect()
}

/// Hashes each place on all cores.
pub(crate) fn hash(file: &File, places: &[(u64, u64)]) {
    let hashes: Vec<[u8; 32]> = places
        .par_iter()
        .map(|&(offset, len)| {
            let mut hash = Sha256::new();
            let mut buffer = vec![0; usize::try_from(len).unwrap_or(MIB).min(MIB)];
            let mut at = 0;
            while at < len {
                let want = usize::try_from(len - at).unwrap_or(MIB).min(MIB);
                file.read_exact_at(&mut buffer[..want], offset + at).expect("the file is there");
                hash.update(&buffer[..want]);
                at += want as u64;
            }
            hash.finalize().into()
        })
        .collect();
    black_box(hashes);
}
