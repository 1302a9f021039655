//! Any bytes as an app bundle, and any bytes as the tar in one: what opens is what it lists.
#![no_main]

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use holdall_pack::{Bundle, BundleLimits};
use holdall_tree::{Tree, TreePath};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut packed = GzEncoder::new(Vec::new(), Compression::none());
    packed.write_all(data).expect("memory");
    let packed = packed.finish().expect("memory");
    for bytes in [data, &packed] {
        let limits = BundleLimits { entries: 100, bytes: 1 << 20, path: 200 };
        match Bundle::open(bytes, limits) {
            Ok(bundle) => {
                for file in bundle.manifest().files() {
                    let path = TreePath::new(file).expect("a listed file has a safe name");
                    bundle.read(&path, 1 << 20).expect("a listed file can be read");
                }
            }
            Err(found) => assert!(found.code.starts_with("PK05"), "{found:?}"),
        }
    }
});
