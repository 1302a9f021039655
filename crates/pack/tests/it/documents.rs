//! `PACK.md` files: those of `tests/data` by their code and line, and the oddities of frontmatter.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use holdall_diagnostics::{Severity, SourceText};
use holdall_pack::{CheckedPack, PackStatus, check_pack, pack_from_manifest, parse_pack_manifest};
use holdall_skill::fix;
use proptest::prelude::*;

use super::support::{document, minimal, source};

/// Every invalid document and the line that the finding of its code is on.
const INVALID: &[(&str, usize)] = &[
    ("PK0101/pack-blank-line-first", 1),
    ("PK0101/pack-comments-only", 1),
    ("PK0101/pack-without-frontmatter", 1),
    ("PK0102/pack-closed-by-dots", 1),
    ("PK0104/pack-title", 4),
    ("PK0106/pack-package", 9),
    ("PK0107/pack-tab", 10),
    ("PK0108/pack-name-twice", 9),
    ("PK0110/pack-function", 9),
    ("PK0111/pack-javascript", 1),
    ("PK0111/pack-toml", 1),
    ("PK0112/pack-latin", 4),
    ("PK0116/pack-version-boolean", 6),
    ("PK0116/pack-version-date", 6),
    ("PK0116/pack-version-exponent", 6),
    ("PK0116/pack-version-grouped", 6),
    ("PK0116/pack-version-number", 6),
    ("PK0116/pack-version-octal", 6),
    ("PK0116/pack-version-octal-prefix", 6),
    ("PK0116/pack-version-one-dot", 6),
    ("PK0116/pack-version-sexagesimal", 6),
    ("PK0120/pack-list", 2),
    ("PK0401/app-without-path", 10),
    ("PK0401/knowledge-without-workspace", 10),
    ("PK0401/no-name", 2),
    ("PK0401/playbook-without-title", 10),
    ("PK0401/pricing-without-bundle", 10),
    ("PK0402/grouped-price", 10),
    ("PK0402/half-a-chapter", 11),
    ("PK0402/infinite-price", 10),
    ("PK0402/inline-yes", 8),
    ("PK0402/null-apps", 9),
    ("PK0402/null-blockers", 9),
    ("PK0402/null-includes", 9),
    ("PK0402/quoted-price", 10),
    ("PK0402/text-for-list", 9),
    ("PK0403/empty-app-id", 10),
    ("PK0403/empty-title", 4),
    ("PK0403/empty-version", 6),
    ("PK0403/long-description", 5),
    ("PK0403/long-title", 4),
    ("PK0403/negative-price", 10),
    ("PK0403/no-chapters", 11),
    ("PK0403/one-letter", 3),
    ("PK0403/too-many-chapters", 11),
    ("PK0404/capitals", 3),
    ("PK0404/dots", 3),
    ("PK0404/hyphen-at-the-end", 3),
    ("PK0404/line-end-in-name", 3),
    ("PK0404/other-schema", 2),
    ("PK0405/in-apps", 12),
    ("PK0405/in-knowledge", 11),
    ("PK0405/in-playbook", 11),
    ("PK0405/in-plugin", 9),
    ("PK0405/in-pricing", 11),
    ("PK0405/prototype", 9),
    ("PK0405/status", 9),
    ("PK0406/catalogue", 2),
    ("PK0406/other-tool", 2),
    ("PK0411/empty-plugin", 7),
    ("PK0411/nothing-included", 7),
    ("PK0412/free", 10),
    ("PK0413/app-twice", 12),
    ("PK0414/blank", 8),
    ("PK0414/capitals", 9),
    ("PK0421/another-name", 3),
    ("PK0422/year", 6),
    ("PK0423/plain-package", 9),
    ("PK0611/helper", 9),
    ("PK0611/ssh", 9),
    ("PK0612/branch", 9),
    ("PK0612/comment", 9),
    ("PK0612/second-hash", 9),
];

/// Codes that need a whole root: a pack that is wrong in a member.
const OF_A_ROOT: [&str; 5] = ["PK0424", "PK0431", "PK0432", "PK0433", "PK0434"];

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data")
}

fn read(path: &Path) -> SourceText {
    SourceText::new(
        std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())),
    )
}

fn check(text: &str) -> CheckedPack {
    check_pack(&source(text), None)
}

/// `code line:column` of every finding.
fn found(checked: &CheckedPack) -> Vec<String> {
    let line = |found: &holdall_diagnostics::Diagnostic| {
        let start = found.span.expect("every finding has a place").start;
        format!("{} {}:{}", found.code, start.line, start.column)
    };
    checked.diagnostics.iter().map(line).collect()
}

#[test]
fn every_invalid_document_has_its_code_at_its_line() {
    for &(case, line) in INVALID {
        let (code, name) = case.split_once('/').unwrap();
        let text = read(&data().join("invalid").join(case).join("PACK.md"));
        let checked = check_pack(&text, Some(name));
        let lines: Vec<_> = checked
            .diagnostics
            .iter()
            .filter(|found| found.code == code)
            .map(|found| found.span.map_or(0, |span| span.start.line))
            .collect();
        assert!(lines.contains(&line), "{case}: {:?}", checked.diagnostics);
        let worst = checked.diagnostics.iter().map(|found| found.severity).max();
        let error = worst == Some(Severity::Error);
        assert_eq!(checked.pack.is_none(), error, "{case}");
        // A document with an error comes through no door, one with a warning through both.
        let handle = parse_pack_manifest(&text).and_then(|read| pack_from_manifest(&read));
        assert_eq!(handle.is_err(), error, "{case}: {handle:?}");
    }
}

#[test]
fn every_file_is_in_the_table() {
    let mut files = BTreeSet::new();
    for code in std::fs::read_dir(data().join("invalid")).unwrap() {
        let code = code.unwrap();
        if !code.file_type().unwrap().is_dir() {
            continue;
        }
        for case in std::fs::read_dir(code.path()).unwrap() {
            let case = case.unwrap().path();
            let code = code.file_name().into_string().unwrap();
            let of_a_member = OF_A_ROOT.contains(&&*code)
                || ["PK0621", "PK07"].iter().any(|of| code.starts_with(of));
            if case.join("PACK.md").is_file() && !of_a_member {
                let name = case.file_name().unwrap().to_str().unwrap().to_owned();
                files.insert(format!("{code}/{name}"));
            }
        }
    }
    let table: BTreeSet<_> = INVALID.iter().map(|(case, _)| (*case).to_owned()).collect();
    assert_eq!(files, table);
}

#[test]
fn every_code_of_a_pack_document_has_a_file() {
    for code in holdall_pack::CODES.iter().filter(|code| code.id.starts_with("PK04")) {
        let has = INVALID.iter().any(|(case, _)| case.starts_with(code.id));
        assert!(has || OF_A_ROOT.contains(&code.id), "{}", code.id);
    }
}

#[test]
fn every_valid_document_is_a_pack_without_a_word() {
    let mut count = 0;
    for directory in std::fs::read_dir(data().join("valid/packs")).unwrap() {
        let directory = directory.unwrap();
        let name = directory.file_name().into_string().unwrap();
        let text = read(&directory.path().join("PACK.md"));
        let checked = check_pack(&text, Some(&name));
        assert_eq!(found(&checked), [""; 0], "{name}");
        let (manifest, handle) = checked.pack.unwrap();
        assert_eq!(handle.name(), name);
        assert_eq!(manifest.frontmatter(), &handle.to_definition());
        count += 1;
    }
    assert!(count >= 7);
}

#[test]
fn the_fields_of_a_document_are_those_of_the_handle() {
    let text = read(&data().join("valid/packs/all-fields/PACK.md"));
    let manifest = parse_pack_manifest(&text).unwrap();
    let pack = pack_from_manifest(&manifest).unwrap();
    assert_eq!(pack.title().chars().count(), 200);
    assert_eq!(pack.description().len(), 2000);
    assert_eq!(pack.apps()[0].id, "@owner/one");
    assert_eq!(pack.apps()[0].path, "./apps/one");
    let knowledge = pack.knowledge().unwrap();
    assert_eq!(knowledge.any_of.as_deref(), Some(&["coding".to_owned()][..]));
    assert_eq!(knowledge.all_of.as_deref(), Some(&["kept".to_owned()][..]));
    assert_eq!(knowledge.kinds.as_deref(), Some(&["runbook".to_owned()][..]));
    let playbook = pack.playbook().unwrap();
    assert_eq!((playbook.root.as_deref(), playbook.target_chapters), (Some(""), Some(12)));
    let pricing = pack.pricing().unwrap();
    assert_eq!((pricing.ebook, pricing.bundle, pricing.step), (Some(0.0), 79.5, Some(1.5)));
    assert_eq!(pack.blockers(), ["", "legal review"]);
    assert_eq!(pack.status(), PackStatus::Gated);
    assert_eq!(manifest.body(), "\n# A pack\n");
}

#[test]
fn the_place_of_every_value_is_known() {
    let text = read(&data().join("valid/packs/all-fields/PACK.md"));
    let manifest = parse_pack_manifest(&text).unwrap();
    let at = |path: &[&str]| {
        let span = manifest.span_of(path);
        std::str::from_utf8(&text.bytes()[span]).unwrap().to_owned()
    };
    assert_eq!(at(&["apps", "0", "path"]), "./apps/one");
    assert_eq!(at(&["plugin", "includes", "0"]), "\"@agentproto/skill-pack-review\"");
    assert_eq!(at(&["pricing", "bundle"]), "79.5");
    assert!(at(&["apps", "7"]).starts_with("schema: pack/v1"));
}

/// Section 1.4 of the format's reference: where frontmatter begins and ends.
#[test]
fn every_oddity_of_the_splitter() {
    let lines = "schema: pack/v1\nname: the-pack\ntitle: T\ndescription: D\nversion: 1.0.0\nplugin:\n  inline: true\n";
    for (text, body) in [
        (format!("---\n{lines}---\nBody\n"), "Body\n"),
        (format!("---\n{lines}---\n\n\nBody"), "\n\nBody"),
        (format!("---\n{lines}---\n"), ""),
        (format!("---\n{lines}---"), ""),
        (format!("--- \t\n{lines}---  \nBody"), "Body"),
        (format!("---yaml\n{lines}---\nBody"), "Body"),
        (format!("---\n{lines}---\nA\n---\nname: other\n---\n"), "A\n---\nname: other\n---\n"),
        (format!("---\n{lines}---\nBody\n").replace('\n', "\r\n"), "Body\r\n"),
        (format!("---\r\n{lines}---\r\nBody"), "Body"),
    ] {
        let manifest =
            parse_pack_manifest(&source(&text)).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!((manifest.body(), manifest.frontmatter().name.as_str()), (body, "the-pack"));
        assert_eq!(found(&check(&text)), [""; 0], "{text}");
    }
    // A byte order mark is taken, with a word about it.
    let marked = format!("\u{feff}---\n{lines}---\nBody");
    assert_eq!(parse_pack_manifest(&source(&marked)).unwrap().body(), "Body");
    assert_eq!(found(&check(&marked)), ["PK0115 1:1"]);

    for (text, code) in [
        (String::new(), "PK0101"),
        ("\u{feff}".to_owned(), "PK0101"),
        (format!("\n---\n{lines}---\n"), "PK0101"),
        (format!(" ---\n{lines}---\n"), "PK0101"),
        (format!("----\n{lines}---\n"), "PK0101"),
        ("---\n---\n".to_owned(), "PK0101"),
        ("---\n\n---\n".to_owned(), "PK0101"),
        ("---\n# a comment\n---\n".to_owned(), "PK0101"),
        ("---\n~\n---\n".to_owned(), "PK0101"),
        ("---\nnull\n---\n".to_owned(), "PK0101"),
    ] {
        let error = parse_pack_manifest(&source(&text)).unwrap_err();
        assert_eq!(error.diagnostics()[0].code, code, "{text:?}");
        assert_eq!(
            error.to_string(),
            "parsePackManifest: missing or empty frontmatter",
            "{text:?}"
        );
        // And again, as nothing is remembered between calls.
        assert_eq!(parse_pack_manifest(&source(&text)).unwrap_err().to_string(), error.to_string());
    }
    for (text, code) in [
        (format!("---json\n{}\n---\n", minimal()), "PK0111"),
        (format!("---js\n{lines}---\n"), "PK0111"),
        (format!("---javascript\n{lines}---\n"), "PK0111"),
        (format!("---toml\n{lines}---\n"), "PK0111"),
        (format!("---\n{lines}"), "PK0102"),
        (format!("---\n{lines}..."), "PK0102"),
        (format!("---\n{lines}---tail\n---\n"), "PK0114"),
        (format!("---\n{lines}----\n---\n"), "PK0114"),
    ] {
        let error = parse_pack_manifest(&source(&text)).unwrap_err();
        assert!(error.diagnostics().iter().any(|found| found.code == code), "{text:?}: {error}");
        let shown = error.to_string();
        assert!(shown.starts_with("parsePackManifest: "), "{shown}");
        assert!(shown.contains("line ") && shown.contains("column "), "{shown}");
    }
}

#[test]
fn a_list_or_a_word_is_no_manifest() {
    for (text, received) in [("- a\n", "array"), ("just words\n", "string"), ("12\n", "number")] {
        let error = parse_pack_manifest(&source(&format!("---\n{text}---\n"))).unwrap_err();
        assert_eq!(
            error.problem(),
            format!(": Invalid input: expected object, received {received}"),
        );
    }
}

/// Section 1.5: what one dialect reads as text and another as something else.
#[test]
fn texts_that_depend_on_the_reader_are_errors_with_quotes_as_the_cure() {
    for version in [
        "1.0",
        "1",
        "1e3",
        "010",
        "0o17",
        "0x1F",
        "1_0",
        "1:30",
        "2026-01-02",
        "true",
        "True",
        "TRUE",
        ".inf",
        ".nan",
    ] {
        let text = document(&minimal()).replace("\"1.0.0\"", version);
        let checked = check(&text);
        let key = "  \"version\": ";
        let at = text.find(key).unwrap();
        let line = 1 + text[..at].matches('\n').count();
        let column = 1 + key.len();
        let wanted = [format!("PK0116 {line}:{column}")];
        assert_eq!(found(&checked), wanted, "{version}");
        assert_eq!(checked.diagnostics[0].severity, Severity::Error);
        let cured = fix::apply(text.as_bytes(), &checked.fixes);
        let cured = String::from_utf8(cured).unwrap();
        assert_eq!(cured, document(&minimal()).replace("1.0.0", version));
        assert_eq!(found(&check(&cured)).iter().filter(|line| line.contains("PK0116")).count(), 0);
    }
    for null in ["~", "null", "Null"] {
        let text = document(&minimal()).replace("\"1.0.0\"", null);
        assert_eq!(check(&text).diagnostics[0].code, "PK0402", "{null}");
    }
    // As a text, `yes` is one to every reader of this format; the warning is for the others.
    let text = document(&minimal()).replace("\"The Pack\"", "yes");
    assert_eq!(check(&text).diagnostics[0].code, "PK0116");
    assert_eq!(check(&text).diagnostics[0].severity, Severity::Warning);
    assert_eq!(check(&text).pack.unwrap().1.title(), "yes");
}

#[test]
fn numbers_are_read_alike_by_every_reader_or_refused() {
    let with_bundle = |number: &str| {
        let pack = document(&minimal())
            .replace("\"plugin\"", &format!("\"pricing\": {{\"bundle\": {number}}}, \"plugin\""));
        check(&pack).pack.map(|(_, handle)| handle.pricing().unwrap().bundle)
    };
    for (number, value) in [("79", 79.0), ("0.5", 0.5), ("1e2", 100.0), ("1.5e+1", 15.0)] {
        assert_eq!(with_bundle(number), Some(value), "{number}");
    }
    for number in [
        "1_000", "0x1F", "010", "0o17", "1:30", ".inf", "-.inf", ".nan", "\"29\"", "ten", "~",
        "true",
    ] {
        assert_eq!(with_bundle(number), None, "{number}");
    }
}

#[test]
fn limits_are_one_error() {
    let head = "---\nschema: pack/v1\n";
    let bomb = "a: &a [x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c]\ne: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d]\nf: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e]\ng: [*f, *f, *f, *f, *f, *f, *f, *f, *f]\n";
    for text in [
        format!("{head}{}---\n", "x: y\n".repeat(2 * 1024 * 1024)),
        format!("{head}{bomb}---\n"),
        format!("{head}deep: {}{}\n---\n", "[".repeat(100), "]".repeat(100)),
    ] {
        let checked = check(&text);
        assert_eq!(checked.diagnostics[0].code, "PK0109");
        assert!(checked.pack.is_none());
    }
}

#[test]
fn anchors_are_legal() {
    let text = "---\nschema: pack/v1\nname: &n the-pack\ntitle: *n\ndescription: D\nversion: 1.0.0\nplugin: {inline: true}\n---\n";
    assert_eq!(check(text).pack.unwrap().1.title(), "the-pack");
}

proptest! {
    #[test]
    fn any_bytes_are_a_pack_or_findings(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let text = SourceText::new(bytes);
        let checked = check_pack(&text, Some("x"));
        prop_assert!(checked.pack.is_some() || !checked.diagnostics.is_empty());
    }

    #[test]
    fn any_frontmatter_goes_one_way_through_all_doors(
        lines in prop::collection::vec(
            prop_oneof![
                Just("schema: pack/v1".to_owned()),
                "(name|title|description|version): [a-z0-9. #:~'\"-]{0,12}",
                "(plugin|apps|knowledge|playbook|pricing|blockers):( [{}\\[\\]a-z~]{0,6})?",
                "  (- )?(id|path|inline|includes|bundle|workspace): [a-z0-9./~]{0,8}",
                ".{0,20}",
            ],
            0..12,
        ),
    ) {
        let text = source(&format!("---\n{}\n---\n", lines.join("\n")));
        let checked = check_pack(&text, None);
        let doors = parse_pack_manifest(&text).and_then(|read| pack_from_manifest(&read));
        prop_assert_eq!(checked.pack.is_some(), doors.is_ok());
    }
}
