//! `SKILL.md`: what is an error, what a warning, what nothing.

use holdall_diagnostics::{Severity, SourceText};
use holdall_skill::fix;
use holdall_skill::skill::{Checked, SkillName, check};
use proptest::prelude::*;

fn skill(frontmatter: &str) -> Checked {
    document(&format!("---\n{frontmatter}---\nBody.\n"))
}

fn document(text: &str) -> Checked {
    check(&SourceText::new(text.as_bytes().to_vec()), Some("a-b"))
}

/// `code severity line:column` of every finding.
fn found(checked: &Checked) -> Vec<String> {
    let line = |found: &holdall_diagnostics::Diagnostic| {
        let start = found.span.expect("every finding has a place").start;
        format!("{} {} {}:{}", found.code, found.severity.as_str(), start.line, start.column)
    };
    checked.diagnostics.iter().map(line).collect()
}

#[test]
fn a_skill_has_its_fields() {
    let checked = skill(
        "name: a-b\ndescription: Does a thing. Use it when asked.\nlicense: MIT\ncompatibility: needs git\n\
         metadata:\n  author: me\n  version: \"1.0\"\nallowed-tools: Read Bash(git add:*), Write\n",
    );
    assert_eq!(found(&checked), [""; 0]);
    let skill = checked.skill.unwrap();
    assert_eq!(skill.name().as_str(), "a-b");
    assert_eq!(skill.description(), "Does a thing. Use it when asked.");
    assert_eq!(skill.license(), Some("MIT"));
    assert_eq!(skill.compatibility(), Some("needs git"));
    assert_eq!(skill.metadata()["version"], "1.0");
    assert_eq!(skill.allowed_tools(), ["Read", "Bash(git add:*)", "Write"]);
}

#[test]
fn a_list_of_allowed_tools_is_fine() {
    let checked = skill("name: a-b\ndescription: d\nallowed-tools: [Read, \"Bash(git add:*)\"]\n");
    assert_eq!(found(&checked), [""; 0]);
    assert_eq!(checked.skill.unwrap().allowed_tools(), ["Read", "Bash(git add:*)"]);
}

#[test]
fn what_published_skills_do_is_a_warning() {
    let long = "x".repeat(1025);
    for (frontmatter, wanted) in [
        ("name: a-c\ndescription: d\n".to_owned(), "PK0203 warning 2:7"),
        (format!("name: a-b\ndescription: {long}\n"), "PK0205 warning 3:14"),
        ("name: a-b\ndescription: d\nversion: 1.2.0\n".to_owned(), "PK0206 warning 4:1"),
        ("name: a-b\ndescription: d\nfoo: 1\n".to_owned(), "PK0206 warning 4:1"),
        ("name: a-b\ndescription: d\nmetadata: x\n".to_owned(), "PK0207 warning 4:11"),
        ("name: a-b\ndescription: d\nlicense: [MIT]\n".to_owned(), "PK0207 warning 4:10"),
        ("name: a-b\ndescription: d\nallowed-tools: {a: b}\n".to_owned(), "PK0207 warning 4:16"),
    ] {
        let checked = skill(&frontmatter);
        assert_eq!(found(&checked), [wanted], "{frontmatter}");
        assert!(checked.skill.is_some());
    }
    // 1,024 characters of any script are allowed.
    assert_eq!(found(&skill(&format!("name: a-b\ndescription: {}\n", "ü".repeat(1024)))), [""; 0]);
}

#[test]
fn name_and_description_are_errors() {
    for (frontmatter, wanted) in [
        ("description: d\n", vec!["PK0201 error 2:1"]),
        ("name:\ndescription: d\n", vec!["PK0201 error 2:5"]),
        ("name: [a]\ndescription: d\n", vec!["PK0201 error 2:7"]),
        ("name: \"\"\ndescription: d\n", vec!["PK0201 error 2:7"]),
        ("name: a-b\n", vec!["PK0204 error 2:1"]),
        ("name: a-b\ndescription: \"  \"\n", vec!["PK0204 error 3:14"]),
        ("name: a-b\ndescription: ~\n", vec!["PK0204 error 3:14"]),
        ("license: MIT\n", vec!["PK0201 error 2:1", "PK0204 error 2:1"]),
        ("- a\n", vec!["PK0120 error 2:1"]),
    ] {
        let checked = skill(frontmatter);
        assert_eq!(found(&checked), wanted, "{frontmatter}");
        assert!(checked.skill.is_none());
    }
}

#[test]
fn names_that_are_no_safe_directory_are_refused() {
    let long = "a".repeat(65);
    for name in
        ["..", "a/b", "/abs", "A-b", "a--b", "-a", "a-", "a_b", "a b", "ünï", "a\\b", long.as_str()]
    {
        let checked = skill(&format!("name: '{name}'\ndescription: d\n"));
        assert_eq!(found(&checked), ["PK0202 error 2:7"], "{name}");
        assert!(SkillName::new(name).is_err());
    }
    assert!(SkillName::new("a\n").is_err() && SkillName::new("").is_err());
    assert!(SkillName::new(&"a".repeat(64)).is_ok());
    let checked = skill("name: My Skill\ndescription: d\n");
    assert_eq!(checked.diagnostics[0].help.as_deref(), Some("`my-skill` would be one"));
}

#[test]
fn texts_that_other_parsers_read_otherwise_stay_texts() {
    let text =
        "---\nname: no\ndescription: yes\nversion: 1.10\nmetadata:\n  date: 2026-01-02\n---\n";
    let checked = check(&SourceText::new(text.as_bytes().to_vec()), Some("no"));
    assert_eq!(
        found(&checked),
        [
            "PK0116 warning 2:7",
            "PK0116 warning 3:14",
            "PK0206 warning 4:1",
            "PK0116 warning 4:10",
            "PK0116 warning 6:9",
        ],
    );
    let skill = checked.skill.unwrap();
    assert_eq!((skill.name().as_str(), skill.description()), ("no", "yes"));
    assert_eq!(skill.metadata()["date"], "2026-01-02");
    let fixed = String::from_utf8(fix::apply(text.as_bytes(), &checked.fixes)).unwrap();
    let wanted = "---\nname: \"no\"\ndescription: \"yes\"\nversion: \"1.10\"\nmetadata:\n  date: \"2026-01-02\"\n---\n";
    assert_eq!(fixed, wanted);
}

#[test]
fn a_comment_that_may_be_text_is_a_warning_without_a_fix() {
    let checked = skill("name: a-b\ndescription: Fixes issue #12 of the tracker\n");
    assert_eq!(found(&checked), ["PK0117 warning 3:26"]);
    assert_eq!(checked.skill.unwrap().description(), "Fixes issue");
    assert!(checked.fixes.is_empty());
}

#[test]
fn a_colon_does_not_lose_the_other_fields() {
    let checked = skill("name: a-b\ndescription: Use when: x\nfoo: 1\n");
    assert_eq!(found(&checked), ["PK0104 error 3:22", "PK0206 warning 4:1"]);
    assert!(checked.skill.is_none());
}

#[test]
fn a_byte_order_mark_and_crlf_are_read() {
    let checked = document("\u{feff}---\r\nname: a-b\r\ndescription: d\r\n---");
    assert_eq!(found(&checked), ["PK0115 warning 1:1"]);
    assert_eq!(checked.skill.unwrap().description(), "d");
}

#[test]
fn a_misspelt_key_is_recognised() {
    let checked = skill("name: a-b\ndescription: d\nlicence: MIT\n");
    assert_eq!(checked.diagnostics[0].help.as_deref(), Some("did you mean `license`?"));
}

proptest! {
    #[test]
    fn any_document_is_checked(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let checked = check(&SourceText::new(bytes), Some("a"));
        prop_assert!(checked.skill.is_some() || !checked.diagnostics.is_empty());
    }

    #[test]
    fn any_fields_are_checked(text in "(name|description|metadata|license|allowed-tools|x): ?[\\PC]{0,30}\n") {
        let checked = skill(&text);
        let errors = checked.diagnostics.iter().any(|found| found.severity == Severity::Error);
        prop_assert_eq!(checked.skill.is_none(), errors);
    }

    #[test]
    fn names_are_one_component(name in "\\PC{0,70}") {
        if let Ok(name) = SkillName::new(&name) {
            let path = holdall_tree::TreePath::new(name.as_str()).unwrap();
            prop_assert_eq!(path.components().count(), 1);
        }
    }
}
