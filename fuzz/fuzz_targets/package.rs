//! Any bytes as a package file, as they are and with a header that fits: opened, looked into,
//! asked for every path, verified.
#![no_main]

use std::sync::Arc;

use holdall_aospkg::format::Version;
use holdall_aospkg::{
    Package, PackageLimits, ReadFs, TarFileSystem, encode_header, inspect, oddities, verify,
};

fn check(path: &std::path::Path, bytes: &[u8]) {
    std::fs::write(path, bytes).expect("a temporary file");
    let _ = holdall_aospkg::read_manifest(path);
    let Ok(package) = Package::open(path) else { return };
    let package = Arc::new(package);
    let _ = verify(&package).expect("the file is still there");
    let Ok(fs) = TarFileSystem::new(Arc::clone(&package), "/") else { return };
    let mut buffer = [0; 64];
    for entry in package.index().iter() {
        let stat = fs.lstat(entry.path);
        if let Ok(stat) = stat {
            assert_eq!(fs.getattr(stat.ino), Ok(stat));
            let _ = fs.read_at(stat.ino, 1, &mut buffer);
        }
        let _ = (fs.stat(entry.path), fs.read_link(entry.path), fs.realpath(entry.path));
        if let Ok(read) = fs.read_file(entry.path) {
            assert_eq!(read.len() as u64, fs.stat(entry.path).expect("it was read").size);
        }
        if let Ok(rows) = fs.read_dir(entry.path) {
            assert!(rows.map(|row| row.name).is_sorted());
        }
    }
    let _ = oddities(&fs, &PackageLimits::default());
    let _ = inspect(&fs);
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let path = std::env::temp_dir().join(format!("holdall-fuzz-{}", std::process::id()));
    check(&path, data);
    // Lengths of the chunks in two bytes each, then the chunks without their prefixes.
    if let [version, m0, m1, i0, i1, rest @ ..] = data {
        let version = Version::ALL[usize::from(version % 2)];
        let (manifest, rest) =
            rest.split_at(usize::from(u16::from_le_bytes([*m0, *m1])).min(rest.len()));
        let (index, mount) =
            rest.split_at(usize::from(u16::from_le_bytes([*i0, *i1])).min(rest.len()));
        let prefix = version.number().to_le_bytes();
        let header = encode_header(version, manifest.len() + 2, index.len() + 2).expect("short");
        check(&path, &[&header[..], &prefix, manifest, &prefix, index, mount].concat());
    }
    let _ = std::fs::remove_file(&path);
});
