//! Any bytes: the splitter and the YAML tree never panic, spans lie in the file, and the quotes
//! of `--fix` need no second round.
#![no_main]

use holdall_diagnostics::SourceText;
use holdall_skill::fix;
use holdall_skill::frontmatter::Document;
use holdall_skill::yaml::{self, Node, Value};
use libfuzzer_sys::fuzz_target;

fn check(node: &Node, length: usize) {
    assert!(node.span.start <= node.span.end && node.span.end <= length);
    match &node.value {
        Value::Scalar(_) => {}
        Value::Sequence(items) => items.iter().for_each(|item| check(item, length)),
        Value::Mapping(entries) => entries.iter().for_each(|entry| {
            assert!(entry.key_span.end <= length);
            check(&entry.value, length);
        }),
    }
}

fuzz_target!(|data: &[u8]| {
    let mut bytes = b"---\n".to_vec();
    bytes.extend_from_slice(data);
    for bytes in [data.to_vec(), bytes] {
        let source = SourceText::new(bytes);
        let document = match Document::split(&source) {
            Ok(document) => document,
            Err(error) => {
                let _ = error.diagnostic(&source);
                continue;
            }
        };
        let parsed = yaml::parse(&document);
        if let Some(root) = &parsed.root {
            check(root, source.bytes().len());
            let _ = root.to_json();
        }
        assert!(parsed.root.is_some() || !parsed.is_valid());
        if !parsed.fixes.is_empty() {
            let fixed = SourceText::new(fix::apply(source.bytes(), &parsed.fixes));
            let again = Document::split(&fixed).map(|document| yaml::parse(&document));
            assert!(again.is_ok_and(|again| again.fixes.is_empty()));
        }
    }
});
