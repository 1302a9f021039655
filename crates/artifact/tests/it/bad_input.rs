//! Hostile bytes: one clear error each, and nothing panics.

use holdall_artifact::json::{Document, MAX_DEPTH, TextErrorKind};
use holdall_artifact::{
    ManifestRead, check_artifact_manifest, lean, parse_artifact_manifest, read_artifact_manifest,
};
use holdall_tree::MemTree;
use proptest::prelude::*;

use crate::generate::{document, sample, spec};

fn rule_of(bytes: &[u8]) -> &'static str {
    parse_artifact_manifest(bytes).expect_err("not valid").rule.name()
}

fn canonical() -> String {
    String::from_utf8(sample().to_canonical_bytes()).expect("UTF-8")
}

#[test]
fn what_is_no_text_is_refused_before_anything_else() {
    assert_eq!(rule_of(b"\xFF{}"), "encoding");
    let mut bom = "\u{feff}".as_bytes().to_vec();
    bom.extend(canonical().into_bytes());
    assert_eq!(rule_of(&bom), "encoding");
    assert_eq!(rule_of(b""), "json");
    assert_eq!(rule_of(b"[1,]"), "json");
    assert_eq!(rule_of(b"{\"a\":1} x"), "json");
    assert_eq!(rule_of(br#"{"a":"\ud800"}"#), "json");
    assert_eq!(rule_of(br#"{"a":"\udc00\ud800"}"#), "json");
    assert_eq!(rule_of(b"// comment\n{}"), "json");
    assert_eq!(rule_of(b"[NaN]"), "json");
    assert_eq!(rule_of(b"[01]"), "json");
}

#[test]
fn a_hundred_thousand_levels_are_one_error() {
    for open in ["[", "{\"a\":"] {
        assert_eq!(rule_of(open.repeat(100_000).as_bytes()), "depth");
    }
    let deepest = format!("{}{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH));
    assert!(Document::parse(deepest.as_bytes()).is_ok());
    let deeper = format!("[{deepest}]");
    let error = Document::parse(deeper.as_bytes()).expect_err("too deep");
    assert_eq!(error.kind, TextErrorKind::Depth);
}

#[test]
fn a_number_of_ten_thousand_digits_is_not_canonical() {
    for number in ["9".repeat(10_000), format!("0.{}1", "0".repeat(10_000)), "1e999".to_owned()] {
        let text = canonical().replacen("\"nested\":null", &format!("\"nested\":{number}"), 1);
        assert_eq!(rule_of(text.as_bytes()), "canonical");
    }
    let text = canonical().replacen("\"bytes\":", &format!("\"bytes\":{}", "9".repeat(10_000)), 1);
    assert_eq!(rule_of(text.as_bytes()), "value");
}

#[test]
fn duplicate_keys_are_found_at_every_depth_with_both_places() {
    let text = canonical().replacen(
        "\"nested\":null",
        "\"nested\":{\"a\":[{\"b\":1,\"c\":2,\"\\u0062\":3}]}",
        1,
    );
    let fault = parse_artifact_manifest(text.as_bytes()).expect_err("a duplicate");
    assert_eq!(fault.rule.name(), "duplicate-key");
    assert_eq!(&text[fault.span.clone()], "\"\\u0062\"");
    assert_eq!(fault.place, "web.apps[0].input.nested.a[0].b");
    let first = text.find("{\"b\":1").expect("there") + 2;
    assert!(fault.message.ends_with(&format!("first at 1:{first}")), "{}", fault.message);
}

#[test]
fn every_departure_from_the_canonical_bytes_is_refused() {
    let good = canonical();
    let cases = [
        good.replacen('\n', "", 1),
        format!("{good}\n"),
        good.replacen('\n', "\r\n", 1),
        format!(" {good}"),
        good.replacen("\":", "\": ", 1),
        good.replacen("\"manifestVersion\":6", "\"manifestVersion\":6.0", 1),
        good.replacen("\"recordVersion\":1", "\"recordVersion\":1e0", 1),
        good.replacen("\"positional\":0", "\"positional\":-0", 1),
        good.replacen("plugin:hauler", "plugin\\u003ahauler", 1),
        good.replacen("bin/tool.mjs", "bin\\/tool.mjs", 1),
        good.replacen("\"nested\":null", "\"nested\":\"\\u001F\"", 1),
        good.replacen("\"nested\":null", "\"nested\":\"\\u000a\"", 1),
        good.replacen(
            "\"name\":\"agent-bundle\",\"version\":\"0.9.0\"",
            "\"version\":\"0.9.0\",\"name\":\"agent-bundle\"",
            1,
        ),
    ];
    for text in cases {
        assert_ne!(text, good);
        assert_eq!(rule_of(text.as_bytes()), "canonical", "{text}");
    }
    let raw = good.replacen("\"nested\":null", "\"nested\":\"\\u001f\\n\u{7f}\u{2028}/é😀\"", 1);
    assert!(parse_artifact_manifest(raw.as_bytes()).is_ok());
}

#[test]
fn keys_beyond_the_bmp_sort_by_their_surrogates() {
    let with = |keys: [&str; 2]| {
        let nested = format!("\"nested\":{{\"{}\":1,\"{}\":1}}", keys[0], keys[1]);
        canonical().replacen("\"nested\":null", &nested, 1)
    };
    assert!(parse_artifact_manifest(with(["\u{1f600}", "\u{ff5e}"]).as_bytes()).is_ok());
    assert_eq!(rule_of(with(["\u{ff5e}", "\u{1f600}"]).as_bytes()), "canonical");
    assert!(parse_artifact_manifest(with(["10", "2"]).as_bytes()).is_ok());
}

#[test]
fn a_root_says_missing_or_invalid_but_never_panics() {
    let name = holdall_artifact::ARTIFACT_MANIFEST_NAME;
    assert!(matches!(read_artifact_manifest(&MemTree::new()), ManifestRead::Missing));
    let mut tree = MemTree::new();
    tree.add_dir(name).unwrap();
    assert!(matches!(read_artifact_manifest(&tree), ManifestRead::Invalid(_)));
    let mut tree = MemTree::new();
    tree.add_file("elsewhere", canonical()).unwrap();
    tree.add_symlink(name, "elsewhere").unwrap();
    let ManifestRead::Invalid(invalid) = read_artifact_manifest(&tree) else { panic!("a link") };
    assert_eq!(invalid.detail(), "is a symbolic link, not a regular file");
    let mut tree = MemTree::new();
    tree.add_file(name, canonical()).unwrap();
    assert!(matches!(read_artifact_manifest(&tree), ManifestRead::Ok(_)));
    let mut tree = MemTree::new();
    tree.add_file(name, "{").unwrap();
    let diagnostics = read_artifact_manifest(&tree).into_result("root").expect_err("broken");
    assert_eq!(diagnostics[0].code, "AB6001");
    assert_eq!(diagnostics[0].path.as_deref(), Some("root/agent-bundle.manifest.json"));
}

#[test]
fn case_folded_neighbours_are_two_rows() {
    // The format allows them; the validator is the one to complain.
    let mut spec_files = vec![("A".to_owned(), false), ("a".to_owned(), false)];
    spec_files.sort();
    let document = document(&crate::generate::Spec {
        text: "t".into(),
        word: "w".into(),
        files: spec_files,
        second_host: false,
        npm: false,
        number: 1.0,
        nested: holdall_artifact::json::Value::Null,
    });
    assert!(parse_artifact_manifest(&document.to_canonical_bytes()).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = check_artifact_manifest(&bytes);
        let _ = lean::parse(&bytes);
        let _ = holdall_artifact::evidence::parse_compile_evidence(&bytes);
    }

    #[test]
    fn damaged_documents_never_panic_and_are_never_taken_as_they_were(
        spec in spec(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        cut in any::<bool>(),
    ) {
        let good = document(&spec).to_canonical_bytes();
        let mut bytes = good.clone();
        let at = at.index(bytes.len());
        if cut { bytes.truncate(at) } else { bytes[at] = byte }
        if let Ok(manifest) = check_artifact_manifest(&bytes) {
            // One byte of a text may well give another valid document: then that is its form.
            prop_assert_eq!(manifest.to_canonical_bytes(), bytes.clone());
            prop_assert!(lean::parse(&bytes).is_ok());
        }
    }
}
