//! `validate --artifact` as a library: golden roots, and a root for every code.

use std::collections::BTreeSet;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use holdall_diagnostics::{Diagnostic, Severity};
use holdall_hosts::validate::{CODES, NpmPackage, Validated, validate_artifact};
use holdall_tree::{
    DirEntry, DirTree, FileKind, Limits, MemTree, Metadata, Tree, TreeError, TreeFile, TreePath,
    walk,
};

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data")
}

fn validate(root: &Path) -> Validated {
    validate_artifact(&DirTree::open(root).unwrap(), "root", NpmPackage::around(root).as_ref())
}

/// The text that a finding points at.
fn pointed_at(diagnostic: &Diagnostic) -> &str {
    let (Some(span), Some(source)) = (diagnostic.span, &diagnostic.source) else { return "" };
    let bytes = &source.bytes()[span.start.offset..span.end.offset];
    std::str::from_utf8(bytes).unwrap_or("?")
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn in_memory(root: &str) -> MemTree {
    let root = DirTree::open(&data().join(root)).unwrap();
    let mut tree = MemTree::new();
    for entry in walk(&root, &TreePath::root(), Limits::default()) {
        let entry = entry.unwrap();
        if entry.kind == FileKind::File {
            let bytes = root.read(&entry.path, 1 << 20).unwrap();
            tree.add_file(entry.path.as_str(), bytes).unwrap();
        }
    }
    tree
}

/// A copy of the smallest golden root that may be changed.
fn say_hello() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    copy(&data().join("artifacts/say-hello"), place.path());
    place
}

#[test]
fn golden_roots_have_no_finding_wherever_they_lie() {
    for name in ["say-hello", "bench-board"] {
        let found = validate(&data().join("artifacts").join(name));
        assert_eq!(found.diagnostics, [], "{name}");
        assert!(found.manifest.is_some());
        let place = tempfile::tempdir().unwrap();
        let moved = place.path().join("node_modules/@scope/moved here");
        copy(&data().join("artifacts").join(name), &moved);
        assert_eq!(validate(&moved).diagnostics, [], "{name}");
    }
}

/// Code, case, where, what is pointed at, a part of the message.
const CASES: &[(&str, &str, &str, &str, &str)] = &[
    ("AB6000", "missing", "agent-bundle.manifest.json", "", "no agent-bundle.manifest.json"),
    ("AB6000", "directory", "agent-bundle.manifest.json", "", "is a directory"),
    ("AB6001", "pretty", "agent-bundle.manifest.json", "\n  ", "canonical"),
    ("AB6001", "unsorted", "agent-bundle.manifest.json", "", "order"),
    ("AB6001", "version-5", "agent-bundle.manifest.json", "5", "5"),
    ("AB6001", "twice", "agent-bundle.manifest.json", "\"instructions\"", "instructions"),
    ("AB6004", "missing", "INSTALL.md", "", "is missing"),
    ("AB6004", "extra", "notes.txt", "", "has no row"),
    ("AB6004", "changed", "INSTALL.md", "", "has the SHA-256 digest"),
    ("AB6004", "size", "INSTALL.md", "", "has 21 bytes, not 20"),
    ("AB6004", "executable", "INSTALL.md", "", "has the mode 0o755"),
    ("AB6004", "not-executable", "scripts/run.sh", "", "the row records 0o755"),
    ("AB6004", "directory", "INSTALL.md", "", "is a directory"),
    ("AB6004", "letter-case", "assets/Logo.svg", "", "in letter case only"),
    ("AB6005", "package", "scripts/tidy.mjs", "\"left-pad\"", "imports `left-pad`"),
    ("AB6005", "not-shipped", "scripts/tidy.mjs", "\"./parts/a.mjs\"", "does not hold"),
    ("AB6005", "outside", "scripts/tidy.mjs", "\"../../a.mjs\"", "does not hold"),
    ("AB6005", "require", "scripts/tidy.cjs", "\"chalk\"", "imports `chalk`"),
    ("AB6005", "broken", "scripts/tidy.mjs", ";", "is not JavaScript"),
    ("AB6005", "address", "scripts/tidy.mjs", "\"https://example.org/a.mjs\"", "does not hold"),
    ("AB6005", "not-text", "scripts/tidy.mjs", "", "is not UTF-8"),
    ("AB6006", "comma", "assets/table.json", "}", "key"),
    ("AB6006", "empty", "assets/table.json", "", "end"),
    ("AB6006", "byte-order-mark", "assets/table.json", "\u{feff}", "byte order mark"),
    ("AB6006", "comment", "assets/table.json", "/", ""),
    ("AB6006", "not-text", "assets/table.json", "?", "UTF-8"),
    ("AB6008", "schema", "agent-bundle.manifest.json", "", "compiler.agentSkills.schemaSha256"),
    ("AB6008", "revision", "agent-bundle.manifest.json", "", "`main`"),
    ("AB6013", "link", "assets/read-me.md", "", "is a symbolic link"),
    ("AB6013", "row", "assets/copy.md", "", "is a symbolic link"),
    ("AB6013", "directory", "assets/a", "", "is a symbolic link"),
    ("AB6014", "top", "notes.txt", "", "where no layout"),
    ("AB6014", "directory", "lib/a.mjs", "", "where no layout"),
    ("AB6014", "beside-skills", "skills/README.md", "", "where no layout"),
    ("AB6015", "no-description", "skills/greet/SKILL.md", "", "PK0204"),
    ("AB6015", "other-name", "skills/greet/SKILL.md", "hello", "PK0203"),
    ("AB6015", "no-frontmatter", "skills/greet/SKILL.md", "", "PK0101"),
    (
        "AB6016",
        "not-shipped",
        "skills/greet/SKILL.md",
        "[the list](references/list.md)",
        "is not shipped",
    ),
    (
        "AB6016",
        "outside",
        "skills/greet/SKILL.md",
        "[how to install](../../INSTALL.md)",
        "outside the skill",
    ),
    ("AB6034", "no-body", "skills/greet/SKILL.md", "", "has no body"),
    ("AB6034", "blank", "skills/greet/SKILL.md", "\n \n", "has no body"),
    ("AB6039", "stale", "agent-bundle.compile-evidence.json", "", "scripts/a.mjs describes other"),
    ("AB6039", "no-asset", "agent-bundle.compile-evidence.json", "", "no asset describes"),
    ("AB6039", "not-compiled", "agent-bundle.compile-evidence.json", "", "is no compiled row"),
    ("AB6039", "policy", "agent-bundle.compile-evidence.json", "", "closed-world-externals 2"),
    ("AB6039", "not-built-in", "agent-bundle.compile-evidence.json", "", "not a module of Node"),
    ("AB6039", "other-target", "agent-bundle.compile-evidence.json", "", "the compiled file it"),
    ("AB6039", "pretty", "agent-bundle.compile-evidence.json", "\n ", "canonical"),
    ("AB6039", "unknown-key", "agent-bundle.compile-evidence.json", "\"extra\"", "extra"),
    ("HD0450", "instructions", "agent-bundle.manifest.json", "", "`READ-ME.md`"),
];

#[test]
fn every_invalid_root_is_found_out_under_its_code_at_its_place() {
    let mut wrong = Vec::new();
    for (code, case, path, points, says) in CASES {
        let found = validate(&data().join("invalid").join(code).join(case)).diagnostics;
        let hit = found.iter().find(|diagnostic| diagnostic.code == *code);
        let hit = hit.unwrap_or_else(|| panic!("{code}/{case}: {found:#?}"));
        let place = hit.path.as_deref() == Some(&*format!("root/{path}"));
        let pointed = points.is_empty() || pointed_at(hit) == *points;
        // A fault gives no finding of another code, but for a row that a link stands for.
        let alone = found
            .iter()
            .all(|other| other.code == *code || (*code == "AB6013" && other.code == "AB6004"));
        if !(place && pointed && alone && hit.message.contains(says)) {
            wrong.push(format!("{code}/{case}: at {:?} in {found:#?}", pointed_at(hit)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_invalid_root_is_in_the_table_and_every_code_has_one() {
    let mut on_disk = BTreeSet::new();
    for code in std::fs::read_dir(data().join("invalid")).unwrap() {
        let code = code.unwrap();
        let name = code.file_name().into_string().unwrap();
        if name.starts_with("AB60") || name == "HD0450" {
            for case in std::fs::read_dir(code.path()).unwrap() {
                on_disk.insert((name.clone(), case.unwrap().file_name().into_string().unwrap()));
            }
        }
    }
    let table: BTreeSet<_> =
        CASES.iter().map(|(code, case, ..)| (code.to_string(), case.to_string())).collect();
    assert_eq!(on_disk, table);
    for code in CODES {
        assert!(table.iter().any(|(with, _)| with == code.id), "{}", code.id);
    }
}

#[test]
fn what_a_folder_cannot_carry_is_found_too() {
    let place = say_hello();
    std::fs::create_dir_all(place.path().join("assets/empty")).unwrap();
    make_fifo(&place.path().join("pipe"));
    symlink("/", place.path().join("everything")).unwrap();
    symlink("nowhere", place.path().join("dangling")).unwrap();
    let found = validate(place.path()).diagnostics;
    let found: BTreeSet<_> = found.iter().map(|d| (d.code, d.path.as_deref().unwrap())).collect();
    let expected = [
        ("AB6013", "root/dangling"),
        ("AB6013", "root/everything"),
        ("AB6013", "root/pipe"),
        ("AB6014", "root/assets/empty"),
    ];
    assert_eq!(found, BTreeSet::from(expected));
}

fn make_fifo(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn a_row_behind_a_link_is_refused_and_not_read() {
    let place = say_hello();
    let outside = tempfile::tempdir().unwrap();
    let skills = place.path().join("skills");
    std::fs::rename(&skills, outside.path().join("skills")).unwrap();
    symlink(outside.path().join("skills"), &skills).unwrap();
    let found = validate(place.path()).diagnostics;
    let codes: Vec<_> = found.iter().map(|d| (d.code, d.path.as_deref().unwrap())).collect();
    assert_eq!(codes, [("AB6004", "root/skills/greet/SKILL.md"), ("AB6013", "root/skills")]);
}

#[test]
fn operator_runtime_and_installer_files_are_nobodys_rows() {
    let place = say_hello();
    for path in [".env", ".env.local", ".agent-bundle-install.json"] {
        std::fs::write(place.path().join(path), "A=1\n").unwrap();
    }
    std::fs::create_dir(place.path().join("state")).unwrap();
    symlink("/", place.path().join("state/link")).unwrap();
    assert_eq!(validate(place.path()).diagnostics, []);
    // As a link none of them is.
    std::fs::remove_file(place.path().join(".env")).unwrap();
    symlink("/etc/passwd", place.path().join(".env")).unwrap();
    let found = validate(place.path()).diagnostics;
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].code, found[0].path.as_deref()), ("AB6013", Some("root/.env")));
    std::fs::remove_file(place.path().join(".env")).unwrap();
    // Not anywhere else.
    std::fs::write(place.path().join("skills/greet/.env"), "A=1\n").unwrap();
    let found = validate(place.path()).diagnostics;
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].code, found[0].path.as_deref()),
        ("AB6004", Some("root/skills/greet/.env"))
    );
}

#[test]
fn what_npm_does_to_modes_is_excused_below_node_modules_only() {
    let place = tempfile::tempdir().unwrap();
    let script = "skills/read-report/scripts/worst.sh";
    for (name, expected) in [("node_modules/bench", vec![]), ("bench", vec![script])] {
        let root = place.path().join(name);
        copy(&data().join("artifacts/bench-board"), &root);
        std::fs::set_permissions(root.join(script), PermissionsExt::from_mode(0o644)).unwrap();
        let found = validate(&root).diagnostics;
        let expected: Vec<_> = expected.iter().map(|path| format!("root/{path}")).collect();
        let paths: Vec<_> = found.iter().map(|found| found.path.clone().unwrap()).collect();
        assert_eq!(paths, expected, "{name}: {found:?}");
    }
}

#[test]
fn a_file_whose_permission_is_missing_is_said_to_be_unreadable() {
    let place = say_hello();
    let file = place.path().join("INSTALL.md");
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o000)).unwrap();
    let found = validate(place.path()).diagnostics;
    // Root reads everything.
    if std::fs::read(&file).is_err() {
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].code, "AB6004");
        assert!(found[0].message.starts_with("cannot be read"), "{}", found[0].message);
    }
}

#[test]
fn json_that_repeats_keys_or_halves_a_pair_is_json() {
    for text in [r#"{"a":1,"a":2}"#, r#"["\ud800"]"#, "[1e999]", " 1 "] {
        let mut tree = in_memory("invalid/AB6006/comma");
        tree.add_file("assets/table.json", text).unwrap();
        let found = validate_artifact(&tree, ".", None).diagnostics;
        assert!(found.iter().all(|other| other.code == "AB6004"), "{text}: {found:?}");
    }
    let found = validate(&data().join("invalid/AB6006/comma")).diagnostics;
    assert_eq!(found[0].severity, Severity::Error);
}

/// A root whose artifact manifest is another one from the second reading on.
#[derive(Debug)]
struct Rewritten {
    tree: DirTree,
    reads: std::sync::atomic::AtomicUsize,
}

impl Tree for Rewritten {
    fn metadata(&self, path: &TreePath) -> Result<Metadata, TreeError> {
        self.tree.metadata(path)
    }

    fn open(&self, path: &TreePath) -> Result<Box<dyn TreeFile>, TreeError> {
        let manifest = path.as_str() == "agent-bundle.manifest.json";
        if manifest && self.reads.fetch_add(1, std::sync::atomic::Ordering::Relaxed) > 0 {
            return self.tree.open(&TreePath::new("INSTALL.md").unwrap());
        }
        self.tree.open(path)
    }

    fn read_dir(&self, path: &TreePath) -> Result<Vec<DirEntry>, TreeError> {
        self.tree.read_dir(path)
    }

    fn read_link(&self, path: &TreePath) -> Result<String, TreeError> {
        self.tree.read_link(path)
    }
}

#[test]
fn an_artifact_manifest_that_changes_meanwhile_is_not_called_valid() {
    let place = say_hello();
    let tree = DirTree::open(place.path()).unwrap();
    let found = validate_artifact(&Rewritten { tree, reads: 0.into() }, ".", None).diagnostics;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].code, "AB6001");
    assert_eq!(found[0].path.as_deref(), Some("agent-bundle.manifest.json"));
    assert!(found[0].message.contains("changed"), "{}", found[0].message);
}

#[test]
fn modules_that_would_overflow_a_stack_are_findings() {
    for piece in ["(", "a=>", "`${", "[", "!"] {
        let mut tree = in_memory("invalid/AB6005/broken");
        tree.add_file("scripts/tidy.mjs", piece.repeat(1 << 20)).unwrap();
        let found = validate_artifact(&tree, ".", None).diagnostics;
        let deep = found.iter().find(|found| found.code == "AB6005").expect("a finding");
        assert!(deep.message.ends_with("the text nests too deeply to be read"), "{}", deep.message);
    }
}
