//! Any bytes as an `APP.md`: never a panic, and an app exactly where nothing found is an error.
#![no_main]

use holdall_diagnostics::{Severity, SourceText};
use holdall_pack::check_app;
use holdall_skill::fix;
use libfuzzer_sys::fuzz_target;

const HEAD: &[u8] = b"---\nschema: app/v1\nid: ab\nagents: []\nworkflows: []\nui: {path: a}\n";

fuzz_target!(|data: &[u8]| {
    let framed = [HEAD, data, b"\n---\n"].concat();
    for bytes in [data.to_vec(), framed] {
        let source = SourceText::new(bytes);
        let checked = check_app(&source);
        let errors = checked.diagnostics.iter().any(|found| found.severity == Severity::Error);
        assert_eq!(checked.app.is_none(), errors);
        fix::apply(source.bytes(), &checked.fixes);
    }
});
