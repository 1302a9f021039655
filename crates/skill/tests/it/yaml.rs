//! The spanned tree: values, faults all at once, budgets, and the quotes that cure.

use holdall_diagnostics::{Diagnostic, SourceText};
use holdall_skill::fix;
use holdall_skill::frontmatter::Document;
use holdall_skill::yaml::{self, Node, Parsed, Value};
use proptest::prelude::*;
use serde_json::json;

fn parse(yaml: &str) -> (String, Parsed) {
    let text = format!("---\n{yaml}---\n");
    let source = SourceText::new(text.as_bytes().to_vec());
    let document = Document::split(&source).unwrap();
    (text, yaml::parse(&document))
}

/// Lines, each with its end.
fn lines(lines: impl Iterator<Item = String>) -> String {
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

/// `code line:column` of every diagnostic.
fn places(found: &[Diagnostic]) -> Vec<String> {
    let place = |found: &Diagnostic| {
        let start = found.span.expect("every fault has a place").start;
        format!("{} {}:{}", found.code, start.line, start.column)
    };
    found.iter().map(place).collect()
}

fn value(yaml: &str) -> serde_json::Value {
    let (_, parsed) = parse(yaml);
    assert!(parsed.diagnostics.is_empty(), "{yaml}: {:?}", parsed.diagnostics);
    parsed.root.unwrap().to_json()
}

#[test]
fn the_seeds_example_is_read() {
    let yaml = "schema: pack/v1\ntitle: \"The Agentic Coder\"\nversion: 1.2.0\nplugin:\n  inline: true\n  \
                includes:\n    - \"@agentproto/skill-pack-code-review\"\nknowledge:\n  anyOf: [\"coding\", \
                \"review\"]\npricing:\n  ebook: 29\nblockers: []\n";
    let wanted = json!({
        "schema": "pack/v1", "title": "The Agentic Coder", "version": "1.2.0",
        "plugin": {"inline": true, "includes": ["@agentproto/skill-pack-code-review"]},
        "knowledge": {"anyOf": ["coding", "review"]}, "pricing": {"ebook": 29}, "blockers": [],
    });
    assert_eq!(value(yaml), wanted);
}

#[test]
fn spans_are_bytes_of_the_file_behind_every_character() {
    let (text, parsed) = parse("é: \"ü: x\"\nlist:\n  - [a, {b: ç}]\n  - plain text  # c\n");
    let root = parsed.root.unwrap();
    let at = |node: &Node| text[node.span.clone()].to_owned();
    assert_eq!(at(root.get("é").unwrap()), "\"ü: x\"");
    let items = root.get("list").unwrap().as_sequence().unwrap();
    assert_eq!(at(&items[0]), "[a, {b: ç}]");
    assert_eq!(at(&items[1]), "plain text");
    let comment = items[1].as_scalar().unwrap().comment.clone().unwrap();
    assert_eq!(&text[comment], "# c");
    assert_eq!(&text[root.as_mapping().unwrap()[0].key_span.clone()], "é");
}

#[test]
fn a_colon_in_a_plain_value_is_placed_and_cured() {
    let (text, parsed) = parse("name: a\ndescription: Use when: x\n");
    assert_eq!(places(&parsed.diagnostics), ["PK0104 3:22"]);
    let help = parsed.diagnostics[0].help.as_deref().unwrap();
    assert!(
        help.contains("description: \"Use when: x\"") && help.contains("holdall validate --fix")
    );
    // The other fields are not dropped.
    let wanted = json!({"name": "a", "description": "Use when: x"});
    assert_eq!(parsed.root.unwrap().to_json(), wanted);
    let fixed = fix::apply(text.as_bytes(), &parsed.fixes);
    assert_eq!(fixed, b"---\nname: a\ndescription: \"Use when: x\"\n---\n");
}

#[test]
fn all_faults_are_reported_at_once() {
    let (text, parsed) = parse(
        "description: Use when: x\nname: a: b\nargument-hint: [a or b] [with x|y]\nbar: @x/y\nname: c\nglob: *.md\n",
    );
    assert_eq!(
        places(&parsed.diagnostics),
        ["PK0104 2:22", "PK0104 3:8", "PK0105 4:25", "PK0106 5:6", "PK0106 7:7", "PK0108 6:1"],
    );
    let fixed = String::from_utf8(fix::apply(text.as_bytes(), &parsed.fixes)).unwrap();
    let wanted = "---\ndescription: \"Use when: x\"\nname: \"a: b\"\nargument-hint: \"[a or b] [with x|y]\"\n\
                  bar: \"@x/y\"\nname: c\nglob: \"*.md\"\n---\n";
    assert_eq!(fixed, wanted);
}

#[test]
fn quotes_are_chosen_so_that_the_text_stays() {
    for (value, quoted) in [
        ("it's: fine", "\"it's: fine\""),
        ("say \"x\": y", "'say \"x\": y'"),
        ("a\\b: c", "'a\\b: c'"),
        ("it's \"x\": y", "'it''s \"x\": y'"),
        ("Use when:", "\"Use when:\""),
        ("@scope/name", "\"@scope/name\""),
        ("`code`: x", "\"`code`: x\""),
        (">50 items", "\">50 items\""),
        ("%s", "\"%s\""),
    ] {
        let (text, parsed) = parse(&format!("k: {value}\nz: 1\n"));
        let fixed = String::from_utf8(fix::apply(text.as_bytes(), &parsed.fixes)).unwrap();
        assert_eq!(fixed, format!("---\nk: {quoted}\nz: 1\n---\n"));
        let (_, again) = parse(&fixed[4..fixed.len() - 4]);
        assert!(again.diagnostics.is_empty() && again.fixes.is_empty());
        assert_eq!(again.root.unwrap().get("k").unwrap().as_scalar().unwrap().text, value);
    }
}

#[test]
fn a_folded_value_is_quoted_whole() {
    let (text, parsed) = parse("k: Use when: x\n  and more\nz: 1\r\n");
    let fixed = String::from_utf8(fix::apply(text.as_bytes(), &parsed.fixes)).unwrap();
    assert_eq!(fixed, "---\nk: \"Use when: x\n  and more\"\nz: 1\r\n---\n");
    assert_eq!(parsed.root.unwrap().to_json()["k"], "Use when: x and more");
}

#[test]
fn a_wrongly_indented_field_is_not_taken_for_text() {
    let (_, parsed) = parse("name: x\n  description: y\n");
    assert_eq!(places(&parsed.diagnostics), ["PK0103 3:14"]);
    assert!(parsed.fixes.is_empty());
}

#[test]
fn what_is_no_missing_quote_gets_none() {
    for yaml in [
        "a: \"x\" y\n",
        "a: [b, c\nd: e\n",
        "a: \"b\nd: e\n",
        "a: - b\n",
        "a: [@x]\n",
        "a: b\nc\nd: e\n",
        "a: !foo b\n",
    ] {
        let (_, parsed) = parse(yaml);
        assert!(parsed.fixes.is_empty() && !parsed.is_valid(), "{yaml}");
        assert_eq!(parsed.diagnostics.len(), 1, "{yaml}: {:?}", parsed.diagnostics);
    }
}

#[test]
fn tabs_tags_keys_and_second_documents_are_errors() {
    for (yaml, wanted) in [
        ("a:\n\tb: 1\n", "PK0107 3:2"),
        ("a: !!js/function 'x'\n", "PK0110 2:4"),
        ("a: !foo b\n", "PK0110 2:4"),
        ("? [a]\n: b\n", "PK0118 2:3"),
        ("a: x\n...\nb: y\n", "PK0103 4:1"),
        ("%YAML 1.1\n", "PK0103 2:1"),
        ("a: *b\n", "PK0106 2:4"),
    ] {
        let (_, parsed) = parse(yaml);
        assert_eq!(places(&parsed.diagnostics), [wanted], "{yaml:?}");
    }
}

#[test]
fn duplicate_keys_name_both_places_at_every_depth() {
    let (_, parsed) = parse("a: 1\nb:\n  c: 1\n  'c': 2\na: 2\n");
    assert_eq!(places(&parsed.diagnostics), ["PK0108 5:3", "PK0108 6:1"]);
    assert_eq!(parsed.diagnostics[1].message, "`a` is given twice, the first time on line 2");
}

#[test]
fn anchors_and_merge_keys_are_written_out() {
    let yaml =
        "base: &b {x: 1, y: 2}\nd: {<<: *b, y: 3}\ne: {y: 4, <<: [{y: 5, z: 6}, *b]}\nf: *b\n";
    let wanted = json!({
        "base": {"x": 1, "y": 2}, "d": {"x": 1, "y": 3}, "e": {"y": 4, "z": 6, "x": 1},
        "f": {"x": 1, "y": 2},
    });
    assert_eq!(value(yaml), wanted);
}

#[test]
fn core_tags_decide_the_type() {
    assert_eq!(value("a: !!str 1\nb: !!int \"2\"\nc: ! 3\n"), json!({"a": "1", "b": 2, "c": "3"}));
}

#[test]
fn budgets_stop_bombs() {
    let mut laughs = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    laughs += &lines((1..12).map(|level| {
        let alias = format!("*a{}", level - 1);
        format!("a{level}: &a{level} [{}]", vec![alias; 10].join(", "))
    }));
    let long = format!("a: &a {}\nb: [{}]\n", "x".repeat(500_000), ["*a"; 10].join(", "));
    let deep_flow = format!("a: {}{}\n", "[".repeat(100_000), "]".repeat(100_000));
    let deep_block = lines((0..100).map(|level| " ".repeat(level) + "a:"));
    let many = "- x\n".repeat(30_000);
    let aliased_depth = lines((0..50).map(|level| match level {
        0 => "- &a0 [x]".to_owned(),
        _ => format!("- &a{level} [[*a{}]]", level - 1),
    }));
    for (name, yaml) in [
        ("laughs", laughs),
        ("long", long),
        ("deep flow", deep_flow),
        ("deep block", deep_block),
        ("many", many),
        ("aliased depth", aliased_depth),
        ("itself", "a: &a [*a]\n".to_owned()),
    ] {
        let (_, parsed) = parse(&yaml);
        let codes: Vec<_> = parsed.diagnostics.iter().map(|found| found.code).collect();
        assert_eq!(codes, ["PK0109"], "{name}");
        assert!(parsed.root.is_none());
    }
}

#[test]
fn a_text_without_a_document_is_an_error() {
    let (_, parsed) = parse("\n...\n");
    assert_eq!(places(&parsed.diagnostics), ["PK0101 2:1"]);
}

#[test]
fn quotes_that_do_not_get_the_reader_further_are_no_fix() {
    // The fault is the lone bracket; the value before it only looks like one without quotes.
    let (text, parsed) = parse("-   ` f\n\n  - ` faa\n\n]\nf\n");
    assert!(!parsed.is_valid());
    let fixed = String::from_utf8(fix::apply(text.as_bytes(), &parsed.fixes)).unwrap();
    let (_, again) = parse(&fixed[4..fixed.len() - 4]);
    assert!(again.fixes.is_empty());
}

#[test]
fn a_byte_order_mark_is_one_warning() {
    let source = SourceText::new("\u{feff}---\na: 1\n---\n".as_bytes().to_vec());
    let parsed = yaml::parse(&Document::split(&source).unwrap());
    assert_eq!(places(&parsed.diagnostics), ["PK0115 1:1"]);
    assert!(parsed.is_valid());
}

#[test]
fn crlf_reads_like_lf() {
    let yaml = "name: a\ndescription: >-\n  two\n  lines\nlist:\n  - x\n";
    assert_eq!(value(yaml), value(&yaml.replace('\n', "\r\n")));
}

/// Depth of the tree, to see that the budget really bounds recursion.
fn depth(node: &Node) -> usize {
    match &node.value {
        Value::Scalar(_) => 0,
        Value::Sequence(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Mapping(entries) => {
            1 + entries.iter().map(|entry| depth(&entry.value)).max().unwrap_or(0)
        }
    }
}

proptest! {
    #[test]
    fn any_text_parses_or_fails(text in "[a-z:\\- \\[\\]{}\"'#&*!|>@`%?,\n\t]{0,80}") {
        let source = SourceText::new(format!("---\n{text}\n---\n").into_bytes());
        if let Ok(document) = Document::split(&source) {
            let parsed = yaml::parse(&document);
            for found in &parsed.diagnostics {
                prop_assert!(found.span.unwrap().end.offset <= source.bytes().len());
            }
            if let Some(root) = &parsed.root {
                prop_assert!(depth(root) <= yaml::MAX_DEPTH);
            }
        }
    }

    /// What `--fix` writes needs no further fix, and differs by quotes alone.
    #[test]
    fn fixing_is_idempotent(
        values in proptest::collection::vec("[a-zA-Z@*`\\[][a-z:' \"\\]#\\\\-]{0,24}", 1..6),
    ) {
        let yaml = lines(values.iter().enumerate().map(|(at, value)| format!("k{at}: {value}")));
        let (text, parsed) = parse(&yaml);
        let fixed = fix::apply(text.as_bytes(), &parsed.fixes);
        let fixed = String::from_utf8(fixed).unwrap();
        let (_, again) = parse(&fixed[4..fixed.len() - 4]);
        prop_assert!(again.fixes.is_empty(), "{} -> {}", text, fixed);
        for fix in &parsed.fixes {
            let plain = &text[fix.span.clone()];
            if let Some(root) = &again.root {
                let stays = root.as_mapping().unwrap().iter().any(|entry| {
                    entry.value.as_scalar().is_some_and(|scalar| scalar.text == plain)
                });
                prop_assert!(stays, "{} -> {}", text, fixed);
            }
        }
    }

    /// A JSON value written as flow YAML reads back as itself.
    #[test]
    fn json_is_read_as_json(words in proptest::collection::btree_map("[a-z]{1,8}", "\\PC{0,20}", 1..6)) {
        let json = json!({ "map": words, "list": words.keys().collect::<Vec<_>>(), "n": 12, "t": true });
        let (_, parsed) = parse(&format!("{json}\n"));
        prop_assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
        prop_assert_eq!(parsed.root.unwrap().to_json(), json.clone());
        prop_assert_eq!(Node::from_json(&json).to_json(), json);
    }
}
