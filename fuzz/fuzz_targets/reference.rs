//! Any text as an `aip://` ref: what reads is written back as it was, in both forms.
#![no_main]

use holdall_pack::{ArtifactRef, PackRef};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for text in [text.to_owned(), format!("aip://64/{text}")] {
        match ArtifactRef::parse(&text) {
            Ok(reference) => {
                assert_eq!(reference.to_uri().expect("it had a string form"), text);
                let object = reference.to_object();
                assert_eq!(ArtifactRef::from_object(&object).expect("its own object"), reference);
            }
            Err(error) => {
                error.diagnostic();
                assert!(PackRef::parse(&text).is_err());
            }
        }
        if let Ok(pack) = PackRef::parse(&text) {
            assert_eq!(pack.to_string(), text);
        }
    }
});
