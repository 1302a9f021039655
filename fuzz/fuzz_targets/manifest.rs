//! Any bytes as a manifest chunk of either version: what decodes without tolerance is encoded to
//! the same bytes, and everything that decodes survives being written canonically.
#![no_main]

use holdall_aospkg::format::Version;
use holdall_aospkg::{MapOrder, decode_manifest, encode_manifest};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    for version in Version::ALL {
        let framed = [&version.number().to_le_bytes()[..], data].concat();
        for chunk in [data, &framed] {
            let Ok((manifest, tolerances)) = decode_manifest(chunk, 16, version) else { continue };
            let again = encode_manifest(&manifest, version, MapOrder::AsRead).expect("it was read");
            assert!(!tolerances.is_empty() || again == chunk);
            let (decoded, tolerances) = decode_manifest(&again, 16, version).expect("ours");
            assert!(tolerances.is_empty() && decoded == manifest);
            let canonical = encode_manifest(&manifest, version, MapOrder::Canonical).expect("same");
            assert_eq!(canonical.len(), again.len());
        }
    }
});
