//! Any bytes: the strict parser of artifact manifests and of compile evidence never panics, a
//! document that it takes has exactly the bytes that it would write, and faults lie in the text.
#![no_main]

use holdall_artifact::evidence::parse_compile_evidence;
use holdall_artifact::json::{Document, Value};
use holdall_artifact::{AB6001, Fault, check_artifact_manifest, lean, parse_artifact_manifest};
use holdall_diagnostics::SourceText;
use libfuzzer_sys::fuzz_target;

fn check(bytes: &[u8]) {
    match check_artifact_manifest(bytes) {
        Ok(manifest) => {
            assert_eq!(manifest.to_canonical_bytes(), bytes);
            assert!(lean::parse(bytes).is_ok());
            assert!(parse_artifact_manifest(bytes).is_ok());
        }
        Err(faults) => {
            let first = parse_artifact_manifest(bytes).expect_err("refused");
            assert_eq!(faults.first().map(|fault| &fault.rule), Some(&first.rule));
            show(&faults, bytes);
        }
    }
    if let Err(faults) = parse_compile_evidence(bytes) {
        show(&faults, bytes);
    }
}

fn show(faults: &[Fault], bytes: &[u8]) {
    assert!(!faults.is_empty());
    let source = SourceText::new(bytes.to_vec());
    for fault in faults {
        assert!(fault.span.start <= fault.span.end && fault.span.end <= bytes.len());
        let _ = fault.diagnostic(&AB6001, "agent-bundle.manifest.json", &source);
    }
}

fuzz_target!(|data: &[u8]| {
    check(data);
    // What is merely not canonical comes closer when it is written again.
    let Ok(document) = Document::parse(data) else { return };
    let unique = document.duplicates().is_empty();
    let canonical = Value::from_node(document.root()).to_canonical_bytes();
    let again = Document::parse(&canonical).expect("what is written can be read");
    assert!(again.duplicates().is_empty());
    assert_eq!(Value::from_node(again.root()).to_canonical_bytes(), canonical);
    if unique && document.departures().is_empty() {
        assert_eq!(canonical, data);
    }
    check(&canonical);
});
