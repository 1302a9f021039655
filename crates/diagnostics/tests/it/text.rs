use holdall_diagnostics::{Diagnostic, SourceText, render_text};
use proptest::prelude::*;

use crate::{COLON, LONG, NOTE, colon};

fn caret_of(rendered: &str) -> (String, String) {
    let mut lines = rendered.lines().filter(|line| line.contains(" | "));
    let code = lines.next().expect("a source line").split_once(" | ").unwrap().1.to_owned();
    let caret = lines.next().expect("a caret line").split_once(" | ").unwrap().1.to_owned();
    (code, caret)
}

/// What stands above the carets of a rendered finding.
fn marked(rendered: &str) -> String {
    let (code, caret) = caret_of(rendered);
    let from = caret.find('^').expect("a caret");
    code.chars().skip(from).take(caret.matches('^').count()).collect()
}

#[test]
fn has_the_form_of_the_design() {
    assert_eq!(
        render_text([&colon()], false),
        "\
PK0104 error skills/triage/SKILL.md:3:15 `: ` in a plain value
  |
3 | description: a: b
  |               ^^
help: put the value in double quotes
"
    );
}

#[test]
fn does_without_source_span_path_and_help() {
    let all = [
        Diagnostic::new(&LONG, "too long").at("a/SKILL.md").target("codex"),
        Diagnostic::new(&NOTE, "no licence"),
    ];
    assert_eq!(
        render_text(&all, false),
        "PK0210 warning a/SKILL.md too long [codex]\nAO0301 info no licence\n"
    );
}

#[test]
fn colours_only_when_told_to() {
    let plain = render_text([&colon()], false);
    let colored = render_text([&colon()], true);
    assert!(!plain.contains('\u{1b}'));
    assert!(colored.contains("\u{1b}[1m") && colored.contains("\u{1b}[91m"), "{colored:?}");
    let mut stripped = colored.clone();
    while let Some(at) = stripped.find('\u{1b}') {
        let end = at + stripped[at..].find('m').unwrap();
        stripped.replace_range(at..=end, "");
    }
    assert_eq!(stripped, plain);
}

#[test]
fn points_at_the_right_characters() {
    for (line, wanted) in [
        ("key: value", "value"),
        ("ключ: значение", "значение"),
        ("\u{feff}key: value", "value"),
        ("a\u{202e}b: value", "value"),
    ] {
        let text = format!("first\n{line}\r\nlast\n");
        let at = text.find(wanted).unwrap();
        let source = SourceText::new(text.as_str());
        let one = Diagnostic::new(&COLON, "x").at("f").span(&source, at..at + wanted.len());
        assert_eq!(marked(&render_text([&one], false)), wanted, "{line:?}");
    }
}

#[test]
fn keeps_the_caret_under_a_tabbed_line() {
    let source = SourceText::new("\tkey:\tvalue\n");
    let one = Diagnostic::new(&COLON, "x").at("f").span(&source, 6..11);
    assert_eq!(marked(&render_text([&one], false)), "value");
}

#[test]
fn marks_an_empty_span_and_one_past_the_end() {
    let source = SourceText::new("ab\ncd");
    for (range, caret) in [(1..1, " ^"), (2..2, "  ^"), (5..5, "  ^"), (9..12, "  ^")] {
        let one = Diagnostic::new(&COLON, "x").at("f").span(&source, range.clone());
        let rendered = render_text([&one], false);
        assert_eq!(caret_of(&rendered).1, caret, "{range:?}\n{rendered}");
    }
}

#[test]
fn marks_the_first_line_of_a_span_over_several() {
    let source = SourceText::new("one two\nthree\n");
    let one = Diagnostic::new(&COLON, "x").at("f").span(&source, 4..11);
    assert_eq!(marked(&render_text([&one], false)), "two");
}

#[test]
fn cuts_a_long_line_around_the_place() {
    for at in [0, 17, 5_000, 999_990] {
        let mut text = "é".repeat(1_000_000);
        let offset = at * 2;
        text.replace_range(offset..offset + 12, "WANTED");
        let source = SourceText::new(text);
        let one = Diagnostic::new(&COLON, "x").at("f").span(&source, offset..offset + 6);
        let rendered = render_text([&one], false);
        assert!(rendered.len() < 1_000, "{}", rendered.len());
        assert_eq!(marked(&rendered), "WANTED", "{rendered}");
        assert!(rendered.contains("..."));
    }
}

#[test]
fn shows_bytes_that_are_no_text() {
    let source = SourceText::new(b"key: \xff\xfe end".to_vec());
    let one = Diagnostic::new(&COLON, "x").at("f").span(&source, 5..7);
    assert_eq!(marked(&render_text([&one], false)), "\\xff\\xfe");
}

#[test]
fn foreign_text_cannot_forge_a_finding_or_move_the_cursor() {
    let source = SourceText::new("a\u{1b}[2J\u{202e}b\n");
    let one = Diagnostic::new(&COLON, "bad\nAB0000 error x")
        .at("dir\n/\u{1b}[0mf")
        .span(&source, 0..1)
        .help("run this\nAB0000 error\u{7} y");
    let rendered = render_text([&one], false);
    assert!(rendered.starts_with("PK0104 error dir\\n/\\u{1b}[0mf:1:1 bad\\nAB0000 error x\n"));
    assert!(rendered.ends_with("help: run this\n      AB0000 error\\u{7} y\n"), "{rendered}");
    assert!(rendered.contains("a\\u{1b}[2J\\u{202e}b"));
    assert!(rendered.chars().all(|c| c == '\n' || !c.is_control()));
}

proptest! {
    #[test]
    fn renders_every_span_of_any_bytes(
        bytes in proptest::collection::vec(any::<u8>(), 0..400),
        start in 0_usize..420,
        len in 0_usize..420,
    ) {
        let source = SourceText::new(bytes);
        let one = Diagnostic::new(&COLON, "x").at("f").span(&source, start..start + len);
        let rendered = render_text([&one], false);
        prop_assert!(rendered.contains('^'), "{rendered}");
        prop_assert!(rendered.chars().all(|c| c == '\n' || !c.is_control()));
    }
}
