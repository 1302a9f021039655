//! Any bytes: the lean reader never panics, takes everything that the strict parser takes, and
//! what it gives agrees with that.
#![no_main]

use holdall_artifact::{lean, parse_artifact_manifest};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    match (lean::parse(data), parse_artifact_manifest(data)) {
        (Err(fault), strict) => {
            assert!(strict.is_err());
            assert!(fault.span.start <= fault.span.end && fault.span.end <= data.len());
        }
        (Ok(lean), strict) => {
            for server in lean.servers() {
                assert_eq!(lean.launch(server.name()), server.launch());
            }
            if let Ok(strict) = strict {
                let hosts: Vec<_> = strict.projections().iter().map(|it| it.host()).collect();
                assert_eq!(lean.hosts().collect::<Vec<_>>(), hosts);
                for server in strict.executables().mcp_servers().iter() {
                    assert_eq!(lean.launch(server.name()), server.launch());
                }
                assert_eq!(lean.web().is_some(), strict.web().is_some());
            }
        }
    }
});
