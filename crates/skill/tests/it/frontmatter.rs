//! `pack-v1` section 1.4, row by row, and the bad inputs.

use holdall_diagnostics::SourceText;
use holdall_skill::frontmatter::{Document, MAX_FRONTMATTER, SplitError};
use proptest::prelude::*;

fn split(text: impl AsRef<[u8]>) -> Result<(String, String), SplitError> {
    let source = SourceText::new(text.as_ref().to_vec());
    Document::split(&source)
        .map(|document| (document.yaml().to_owned(), document.body().to_owned()))
}

/// The two parts of a text that has frontmatter.
fn parts(yaml: &str, body: &str) -> (String, String) {
    (yaml.to_owned(), body.to_owned())
}

#[test]
fn one_line_break_behind_the_closing_line_is_not_body() {
    assert_eq!(split("---\na: 1\n---\nbody\n"), Ok(parts("a: 1\n", "body\n")));
    assert_eq!(split("---\na: 1\n---\n\nbody"), Ok(parts("a: 1\n", "\nbody")));
    assert_eq!(split("---\na: 1\n---"), Ok(parts("a: 1\n", "")));
    assert_eq!(split("---\na: 1\n---   "), Ok(parts("a: 1\n", "")));
}

#[test]
fn crlf_and_mixed_line_ends_split_at_the_same_places() {
    assert_eq!(split("---\r\na: 1\r\n---\r\nbody\r\n"), Ok(parts("a: 1\r\n", "body\r\n")));
    assert_eq!(split("---\r\na: 1\n---\nb"), Ok(parts("a: 1\n", "b")));
    assert_eq!(split("---\na: 1\r\n---\r\nb"), Ok(parts("a: 1\r\n", "b")));
}

#[test]
fn a_byte_order_mark_is_read_and_counted() {
    let source = SourceText::new("\u{feff}---\na: 1\n---\nbody".as_bytes().to_vec());
    let document = Document::split(&source).unwrap();
    assert!(document.has_bom());
    assert_eq!(document.yaml_range(), 7..12);
    assert_eq!(document.body_range(), 16..20);
}

#[test]
fn blanks_and_the_word_yaml_may_follow_the_opening_line() {
    assert_eq!(split("--- \t\na: 1\n---\n"), Ok(parts("a: 1\n", "")));
    assert_eq!(split("---yaml\na: 1\n---\n"), Ok(parts("a: 1\n", "")));
    assert_eq!(split("--- yaml\na: 1\n---\n"), Ok(parts("a: 1\n", "")));
}

#[test]
fn what_does_not_begin_with_the_opening_line_has_no_frontmatter() {
    for text in [
        "",
        "\n---\na: 1\n---\n",
        " ---\na: 1\n---\n",
        "----\na: 1\n---\n",
        "# Title\n\n---\na: 1\n---\n",
        "--\na: 1\n---\n",
        "\u{feff}\u{feff}---\na: 1\n---\n",
        "schema: pack/v1\nname: other-tool\n",
    ] {
        let error = split(text).unwrap_err();
        assert!(matches!(error, SplitError::Missing { .. }), "{text:?}: {error:?}");
    }
}

#[test]
fn nothing_but_blanks_and_comments_is_empty() {
    for text in ["---\n---\n", "---\n\n  \n---\n", "---\n# c\n  # d\r\n---\n"] {
        assert!(matches!(split(text), Err(SplitError::Empty { .. })), "{text:?}");
    }
}

#[test]
fn another_language_is_refused_by_name() {
    for (line, word) in [
        ("---js", "js"),
        ("---javascript", "javascript"),
        ("---json", "json"),
        ("---toml", "toml"),
        ("--- coffee", "coffee"),
    ] {
        match split(format!("{line}\nmodule.exports = process.exit(3)\n---\n")) {
            Err(SplitError::Language { word: found, span }) => {
                assert_eq!(found, word);
                assert_eq!(&line[span], word);
            }
            other => panic!("{line}: {other:?}"),
        }
    }
}

#[test]
fn a_missing_closing_line_is_an_error() {
    for text in ["---", "---\n", "---\na: 1\n", "---\na: 1\n ---\n", "---\na: 1\n...\n"] {
        assert!(matches!(split(text), Err(SplitError::Unclosed { .. })), "{text:?}");
    }
}

#[test]
fn a_line_that_only_some_readers_close_at_is_refused() {
    for line in ["----", "---tail", "--- tail", "---\u{a0}"] {
        let error = split(format!("---\na: 1\n{line}\nb: 2\n---\n")).unwrap_err();
        assert_eq!(error, SplitError::AmbiguousFence { span: 9..9 + line.len() }, "{line}");
    }
}

#[test]
fn frontmatter_of_exactly_the_limit_is_read_and_of_one_byte_more_refused() {
    let filler = |length: usize| format!("---\n{}\n---\nbody", "#".repeat(length - 1));
    let with_key = |length: usize| filler(length).replacen("####", "a: 1", 1).replacen('#', "", 0);
    // The text is one line `a: 1###…`: a value, not a comment.
    assert!(split(with_key(MAX_FRONTMATTER)).is_ok());
    assert!(matches!(split(with_key(MAX_FRONTMATTER + 1)), Err(SplitError::TooLarge { .. })));
    let ten_megabytes = format!("---\n{}---\n", "a: 1\n".repeat(2 * 1024 * 1024));
    assert!(matches!(split(ten_megabytes), Err(SplitError::TooLarge { .. })));
    let open = format!("---\n{}", "x".repeat(2 * MAX_FRONTMATTER));
    assert!(split(open).is_err());
}

#[test]
fn bytes_that_are_not_utf8_are_named_with_their_offset() {
    let error = split(b"---\na: caf\xe9\n---\n").unwrap_err();
    assert_eq!(error, SplitError::NotUtf8 { offset: 10, byte: 0xe9 });
    assert_eq!(error.to_string(), "not UTF-8: byte 0xe9 at offset 10");
    // UTF-16 as other editors save it.
    assert!(matches!(split(b"\xff\xfe-\0-\0-\0\n\0"), Err(SplitError::NotUtf8 { offset: 0, .. })));
}

#[test]
fn characters_that_readers_disagree_about_are_refused() {
    for (text, offset) in [
        ("---\na: \0b\n---\n", 7),
        ("---\na: \u{1b}[31m\n---\n", 7),
        ("---\na: \u{7f}\n---\n", 7),
        ("---\na: \u{9b}\n---\n", 7),
        ("---\na: 1\rb: 2\n---\n", 8),
        ("---\rname: x\r---\r", 3),
        ("---\na: 1\n---\r", 12),
        ("---\na: \u{feff}b\n---\n", 7),
    ] {
        match split(text) {
            Err(SplitError::Control { span, .. }) => assert_eq!(span.start, offset, "{text:?}"),
            other => panic!("{text:?}: {other:?}"),
        }
    }
    // In the body they are text.
    assert!(split("---\na: 1\n---\n\0\r\u{1b}").is_ok());
}

#[test]
fn a_body_that_looks_like_frontmatter_is_body() {
    let body = "---\nname: other\n---\n";
    assert_eq!(split(format!("---\na: 1\n---\n{body}")), Ok(parts("a: 1\n", body)));
}

#[test]
fn every_error_makes_a_diagnostic_with_a_place_and_a_next_step() {
    for text in
        ["", "# x", "---\n---\n", "---js\n---\n", "---\na", "---\n----\n", "---\na: \0\n---\n"]
    {
        let source = SourceText::new(text.as_bytes().to_vec());
        let diagnostic = Document::split(&source).unwrap_err().diagnostic(&source);
        assert!(diagnostic.span.is_some() && diagnostic.help.is_some(), "{text:?}");
    }
}

proptest! {
    #[test]
    fn any_bytes_split_or_fail(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = split(&bytes);
        let mut framed = b"---\n".to_vec();
        framed.extend_from_slice(&bytes);
        framed.extend_from_slice(b"\n---\n");
        let _ = split(&framed);
    }

    #[test]
    fn yaml_and_body_come_back_as_they_were(
        lines in proptest::collection::vec("[a-z][a-z: #-]{0,20}", 1..8),
        body in "(?s).{0,200}",
        crlf in any::<bool>(),
        bom in any::<bool>(),
    ) {
        let end = if crlf { "\r\n" } else { "\n" };
        let yaml = lines.join(end) + end;
        let mark = if bom { "\u{feff}" } else { "" };
        let whole = format!("{mark}---{end}{yaml}---{end}{body}");
        prop_assert_eq!(split(whole), Ok((yaml, body)));
    }
}
