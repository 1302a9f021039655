//! Any bytes as a `SKILL.md`: never a panic, and a skill exists exactly without errors.
#![no_main]

use holdall_diagnostics::{Severity, SourceText};
use holdall_skill::{links, skill};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut framed = b"---\nname: a\ndescription: d\n---\n".to_vec();
    framed.extend_from_slice(data);
    for bytes in [data.to_vec(), framed] {
        let source = SourceText::new(bytes);
        let checked = skill::check(&source, Some("a"));
        let errors = checked.diagnostics.iter().any(|found| found.severity == Severity::Error);
        assert_eq!(checked.skill.is_none(), errors);
        if let Ok(text) = std::str::from_utf8(source.bytes()) {
            for link in links::relative(text) {
                assert!(text.get(link.range).is_some());
            }
        }
    }
});
