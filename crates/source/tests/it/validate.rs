//! Validation of places: the documents in `tests/data`, and directories made here.

use std::collections::BTreeSet;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use camino::{Utf8Path, Utf8PathBuf};
use holdall_diagnostics::{Severity, Summary};
use holdall_source::Kind;
use holdall_source::validate::{self, Excludes, Report};
use holdall_tree::MemTree;

const GOOD: &str = "---\nname: NAME\ndescription: Does a thing.\n---\nBody.\n";

fn data() -> Utf8PathBuf {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data")
}

fn none() -> Excludes {
    Excludes::new::<&str>(&[]).unwrap()
}

fn check(path: &Utf8Path) -> Report {
    validate::path(path, "at", &none())
}

/// `code path` of every finding.
fn found(report: &Report) -> Vec<String> {
    let line = |found: &holdall_diagnostics::Diagnostic| {
        format!("{} {}", found.code, found.path.as_deref().unwrap_or("-"))
    };
    report.diagnostics.iter().map(line).collect()
}

fn checked(report: &Report) -> Vec<String> {
    report.checked.iter().map(|checked| format!("{} {}", checked.kind, checked.path)).collect()
}

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Utf8Path {
        Utf8Path::from_path(self.0.path()).unwrap()
    }

    fn write(&self, path: &str, bytes: impl AsRef<[u8]>) -> Utf8PathBuf {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn skill(&self, dir: &str) -> Utf8PathBuf {
        let name = dir.rsplit('/').next().unwrap();
        self.write(&format!("{dir}/SKILL.md"), GOOD.replace("NAME", name))
    }
}

/// The directories of `tests/data/invalid/CODE` with documents, with their code.
fn invalid() -> Vec<(String, Utf8PathBuf)> {
    let mut cases = Vec::new();
    for code in data().join("invalid").read_dir_utf8().unwrap() {
        let code = code.unwrap();
        if !code.file_name().starts_with("PK") {
            continue;
        }
        for case in code.path().read_dir_utf8().unwrap() {
            cases.push((code.file_name().to_owned(), case.unwrap().path().to_owned()));
        }
    }
    cases.sort();
    cases
}

#[test]
fn every_invalid_document_is_found_out_under_its_code() {
    let mut bad = Vec::new();
    for (code, case) in invalid() {
        let report = check(&case);
        let codes: Vec<_> = report.diagnostics.iter().map(|found| found.code).collect();
        if !codes.contains(&code.as_str()) {
            bad.push(format!("{case}: {codes:?}"));
        }
        for found in &report.diagnostics {
            if !(found.path.is_some() && found.help.is_some()) {
                bad.push(format!("{case} {} {}", found.code, found.message));
            }
        }
    }
    assert!(bad.is_empty(), "{bad:#?}");
}

#[test]
fn every_code_of_a_skill_has_an_invalid_document() {
    let with: BTreeSet<String> = invalid().into_iter().map(|(code, _)| code).collect();
    for code in holdall_skill::CODES {
        assert!(with.contains(code.id), "{}", code.id);
    }
}

#[test]
fn every_code_of_a_pack_an_app_or_a_bundle_has_an_invalid_document() {
    let with: BTreeSet<String> = invalid().into_iter().map(|(code, _)| code).collect();
    let no_document = [
        "PK0509", // a directory without any document
        "PK0529", // more than a gigabyte
        "PK0530", "PK0531", // what is said while a bundle is made
        "PK0601", "PK0602", "PK0603", // what is typed for a ref; in a product it is PK0703
        "PK0622", "PK0623", // a digest that is given beside the pack
    ];
    for code in holdall_pack::CODES {
        // PK08: what is said of a pack's knowledge when it is asked.
        let expected = !no_document.contains(&code.id) && !code.id.starts_with("PK08");
        assert_eq!(with.contains(code.id), expected, "{}", code.id);
    }
}

#[test]
fn findings_about_a_product_are_at_its_file_whatever_its_id() {
    let place = Place::new();
    place.write("pp/PACK.md", "---\nschema: pack/v1\nname: pp\ntitle: P\ndescription: D\nversion: 1.0.0\nplugin:\n  inline: true\npricing:\n  bundle: 30\n---\n");
    place.skill("pp/skills/one");
    let product = |id: &str, on: &str| {
        format!(
            "---\nschema: product/v1\nid: {id}\nkind: pricing\non: {on}\nprice: {{model: one-time, amountMinor: 2900, currency: eur}}\n---\n"
        )
    };
    place.write("pp/products/other.md", product("gone", "aip://64/nobody"));
    place.write("pp/products/old.md", product("old", "aip://52/pp"));
    place.write("pp/products/good.md", product("good", "{aip: 64, id: pp}"));
    let report = check(&place.path().join("pp"));
    let line = |found: &holdall_diagnostics::Diagnostic| {
        let line = found.span.map_or(0, |span| span.start.line);
        format!("{} {}:{line}", found.code, found.path.as_deref().unwrap_or("-"))
    };
    let found: Vec<_> = report.diagnostics.iter().map(line).collect();
    assert_eq!(
        found,
        [
            "PK0713 at/PACK.md:10",
            "PK0712 at/products/old.md:5",
            "PK0705 at/products/other.md:3",
            "PK0711 at/products/other.md:5",
        ]
    );
}

#[test]
fn every_valid_document_passes_strictly() {
    let report = check(&data().join("valid"));
    let strict: Vec<_> =
        report.diagnostics.iter().filter(|found| found.severity > Severity::Info).collect();
    assert!(strict.is_empty(), "{strict:?}");
    let skills = report.checked.iter().filter(|checked| checked.kind == Kind::Skill).count();
    assert!(skills >= 10, "{skills}");
}

#[test]
fn a_fix_cures_what_it_can_and_changes_nothing_else() {
    for (code, case) in invalid() {
        let place = Place::new();
        let Ok(before) = std::fs::read(case.join("SKILL.md")) else { continue };
        let file = place.write("skill/SKILL.md", &before);
        let dir = place.path().join("skill");
        let repairs = check(&dir).repairs;
        if matches!(code.as_str(), "PK0104" | "PK0105" | "PK0106" | "PK0116") {
            assert_eq!(repairs.len(), 1, "{case}");
        }
        for repair in &repairs {
            repair.apply().unwrap();
        }
        let after = std::fs::read(&file).unwrap();
        let unquoted = |bytes: &[u8]| {
            bytes.iter().copied().filter(|byte| !matches!(byte, b'"' | b'\'')).collect::<Vec<_>>()
        };
        assert_eq!(unquoted(&after), unquoted(&before), "{case}");
        let again = check(&dir);
        assert!(again.repairs.is_empty(), "{case}");
        let cured = ["PK0104", "PK0105", "PK0106", "PK0116"];
        assert!(again.diagnostics.iter().all(|found| !cured.contains(&found.code)), "{case}");
        assert_eq!(place.path().join("skill").read_dir_utf8().unwrap().count(), 1, "{case}");
    }
}

#[test]
fn a_fix_keeps_permissions_line_ends_and_the_byte_order_mark() {
    let place = Place::new();
    let before = "\u{feff}---\r\nname: a\r\ndescription: Use when: x\r\n---\r\nBody: y\r\n";
    let file = place.write("a/SKILL.md", before);
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o640)).unwrap();
    check(&place.path().join("a")).repairs[0].apply().unwrap();
    let after = std::fs::read_to_string(&file).unwrap();
    assert_eq!(after, before.replace("Use when: x", "\"Use when: x\""));
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o7777, 0o640);
}

#[test]
fn a_fix_refuses_links_sealed_files_and_documents_that_changed() {
    let place = Place::new();
    let bad = "---\nname: b\ndescription: Use when: x\n---\n";
    let real = place.write("shared/real.md", bad);
    std::fs::create_dir(place.path().join("b")).unwrap();
    symlink("../shared/real.md", place.path().join("b/SKILL.md")).unwrap();
    let report = check(place.path());
    let error = report.repairs[0].apply().unwrap_err();
    assert_eq!((error.code, error.path.as_deref()), ("HD0132", Some("at/b/SKILL.md")));
    assert_eq!(std::fs::read_to_string(&real).unwrap(), bad);

    let mut sealed = MemTree::new();
    sealed.add_file("SKILL.md", bad).unwrap();
    let report = validate::tree(&sealed, "x.aospkg", &none());
    assert_eq!(report.repairs[0].apply().unwrap_err().code, "HD0132");

    let file = place.write("c/SKILL.md", bad);
    let report = check(&place.path().join("c"));
    std::fs::write(&file, "changed").unwrap();
    assert_eq!(report.repairs[0].apply().unwrap_err().code, "HD0132");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "changed");
}

#[test]
fn a_repository_is_walked_without_what_git_ignores() {
    let place = Place::new();
    for dir in [
        "skills/a",
        "deep/er/skills/b",
        ".hidden/skills/c",
        "node_modules/p/skills/d",
        "out/skills/e",
        ".git/f",
    ] {
        place.skill(dir);
    }
    place.write(".gitignore", "out/\n*.log\n");
    place.write("skills/a/debug.log", "curl https://x.test | sh\n");
    let report = check(place.path());
    assert_eq!(
        checked(&report),
        ["skill at/.hidden/skills/c", "skill at/deep/er/skills/b", "skill at/skills/a"],
    );
    assert_eq!(found(&report), [""; 0]);
    // What is named is looked at.
    for named in ["out", "node_modules", "out/skills", "node_modules/p/skills/d", ".git"] {
        assert_eq!(check(&place.path().join(named)).checked.len(), 1, "{named}");
    }
}

#[test]
fn excludes_are_patterns_of_a_gitignore() {
    let place = Place::new();
    for dir in ["skills/a", "skills/b", "old/skills/c"] {
        place.skill(dir);
    }
    let left = |patterns: &[&str]| {
        let report = validate::path(place.path(), ".", &Excludes::new(patterns).unwrap());
        checked(&report)
    };
    assert_eq!(left(&["old"]), ["skill skills/a", "skill skills/b"]);
    assert_eq!(left(&["/skills/b", "old/**"]), ["skill skills/a"]);
    assert_eq!(left(&["SKILL.md"]), [""; 0]);
    assert!(Excludes::new(&["{a"]).is_err());
}

#[test]
fn skills_of_one_name_are_an_error_beside_each_other_only() {
    let place = Place::new();
    let bird = GOOD.replace("NAME", "bird");
    for path in ["skills/bird", "skills/other", "plugins/x/skills/bird", "plugins/y/skills/bird"] {
        place.write(&format!("{path}/SKILL.md"), &bird);
    }
    let report = check(place.path());
    assert_eq!(
        found(&report),
        ["PK0203 at/skills/other/SKILL.md", "PK0212 at/skills/other/SKILL.md"]
    );
    // It points at the name, and says where the other is.
    assert_eq!(report.diagnostics[1].span.unwrap().start.line, 2);
    assert!(report.diagnostics[1].message.contains("at/skills/bird"));
    assert!(report.diagnostics[1].message.contains("at/skills/other"));
}

#[test]
fn a_single_document_is_checked_as_what_it_is() {
    let place = Place::new();
    let file = place.skill("skills/a");
    place.skill("skills/a/inner/b");
    place.skill("skills/c");
    assert_eq!(checked(&validate::path(&file, "skills/a/SKILL.md", &none())), ["skill skills/a"]);
    // The directory's name is known although the path does not say it.
    let wrong = place.write("skills/d/SKILL.md", GOOD.replace("NAME", "other"));
    assert_eq!(found(&validate::path(&wrong, "SKILL.md", &none())), ["PK0203 SKILL.md"]);
    assert_eq!(found(&validate::path(wrong.parent().unwrap(), ".", &none())), ["PK0203 SKILL.md"]);
}

#[test]
fn nothing_to_check_is_an_error() {
    let place = Place::new();
    let readme = place.write("README.md", "# x\n");
    assert_eq!(found(&check(place.path())), ["HD0130 at"]);
    assert_eq!(found(&check(&readme)), ["HD0130 at"]);
    assert_eq!(found(&check(&place.path().join("gone"))), ["HD0120 at"]);
    assert_eq!(found(&validate::tree(&MemTree::new(), "x", &none())), ["HD0130 x"]);
}

#[test]
fn what_is_no_regular_file_is_one_error() {
    let place = Place::new();
    let fifo = |path: &str| {
        let path = place.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let status = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(status.success());
    };
    fifo("fifo/SKILL.md");
    std::fs::create_dir_all(place.path().join("directory/SKILL.md")).unwrap();
    std::fs::create_dir_all(place.path().join("passwd")).unwrap();
    symlink("/etc/passwd", place.path().join("passwd/SKILL.md")).unwrap();
    std::fs::create_dir_all(place.path().join("loop")).unwrap();
    symlink("SKILL.md", place.path().join("loop/SKILL.md")).unwrap();
    let report = check(place.path());
    assert_eq!(
        found(&report),
        [
            "PK0119 at/directory/SKILL.md",
            "PK0119 at/fifo/SKILL.md",
            "PK0119 at/loop/SKILL.md",
            "PK0119 at/passwd/SKILL.md",
        ],
    );
    assert!(report.diagnostics[3].message.contains("/etc/passwd"));

    place.skill("ok");
    fifo("ok/pipe");
    symlink("/etc/passwd", place.path().join("ok/leak")).unwrap();
    symlink("SKILL.md", place.path().join("ok/inside")).unwrap();
    let report = check(&place.path().join("ok"));
    assert_eq!(found(&report), ["PK0215 at/leak", "PK0215 at/pipe"]);
}

#[test]
fn ten_megabytes_of_frontmatter_are_one_error() {
    let place = Place::new();
    let big = format!("---\nname: a\n{}---\n", "x: y\n".repeat(2 * 1024 * 1024));
    place.write("a/SKILL.md", big);
    assert_eq!(found(&check(place.path())), ["PK0109 at/a/SKILL.md"]);
    place.write("a/SKILL.md", vec![b'x'; 17 * 1024 * 1024]);
    assert_eq!(found(&check(place.path())), ["PK0109 at/a/SKILL.md"]);
}

#[test]
fn names_that_are_not_utf8_are_reported() {
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new();
    place.skill("a");
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.txt");
    std::fs::write(place.0.path().join(Path::new("a")).join(name), "x").unwrap();
    let report = check(place.path());
    assert_eq!(report.diagnostics[0].code, "HD0133");
}

#[test]
fn a_sealed_tree_is_checked_like_a_directory() {
    let mut tree = MemTree::new();
    tree.add_file(".gitignore", "skills/\n").unwrap();
    tree.add_file("skills/a/SKILL.md", GOOD.replace("NAME", "b")).unwrap();
    let report = validate::tree(&tree, "x.aospkg", &none());
    assert_eq!(checked(&report), ["skill x.aospkg/skills/a"]);
    assert_eq!(found(&report), ["PK0203 x.aospkg/skills/a/SKILL.md"]);
}

#[test]
fn the_last_line_counts() {
    let place = Place::new();
    place.skill("a");
    let report = check(place.path());
    let line = report.summary_line(&Summary { errors: 2, warnings: 1, infos: 0 });
    assert_eq!(line, "checked 1 skill: 2 errors, 1 warning");
    place.skill("b");
    let line = check(place.path()).summary_line(&Summary::default());
    assert_eq!(line, "checked 2 skills: 0 errors, 0 warnings");
}

const PACK: &str = "---\nschema: pack/v1\nname: NAME\ntitle: T\ndescription: D\nversion: 1.0.0\nplugin:\n  inline: true\n";
const APP: &str =
    "---\nschema: app/v1\nid: one\nagents: []\nworkflows: []\nui:\n  path: index.html\n---\n";

impl Place {
    fn pack(&self, dir: &str, more: &str) -> Utf8PathBuf {
        let name = dir.rsplit('/').next().unwrap();
        self.skill(&format!("{dir}/skills/a"));
        self.write(&format!("{dir}/PACK.md"), PACK.replace("NAME", name) + more + "---\n")
    }

    fn app(&self, dir: &str, document: &str) {
        self.write(&format!("{dir}/{document}"), APP);
        self.write(&format!("{dir}/index.html"), "<title>One</title>\n");
    }
}

#[test]
fn a_pack_is_checked_with_its_members_and_each_of_them_once() {
    let place = Place::new();
    let apps = "apps:\n  - id: one\n    path: ./apps/one\n";
    place.pack("packs/the-pack", apps);
    place.app("packs/the-pack/apps/one", ".agentproto/APP.md");
    place.app("elsewhere", "APP.md");
    let report = check(place.path());
    assert_eq!(found(&report), [""; 0]);
    assert_eq!(
        checked(&report),
        [
            "skill at/packs/the-pack/skills/a",
            "pack at/packs/the-pack",
            "app at/elsewhere",
            "app at/packs/the-pack/apps/one",
        ],
    );
    assert_eq!(
        report.summary_line(&Summary::default()),
        "checked 2 apps, 1 skill, 1 pack: 0 errors, 0 warnings",
    );

    // A fault of a member is said once, with the path as the user sees it.
    place.write("packs/the-pack/apps/one/index.html", "");
    place.write("packs/the-pack/skills/a/SKILL.md", "---\nname: a\n---\n");
    assert_eq!(
        found(&check(place.path())),
        [
            "PK0506 at/packs/the-pack/apps/one/.agentproto/APP.md",
            "PK0204 at/packs/the-pack/skills/a/SKILL.md",
        ],
    );
}

#[test]
fn a_single_pack_document_is_checked_with_its_members() {
    let place = Place::new();
    let document = place.pack("the-pack", "apps:\n  - id: one\n    path: ./one\n");
    let report = validate::path(&document, "the-pack/PACK.md", &none());
    assert_eq!(checked(&report), ["skill the-pack/skills/a", "pack the-pack"]);
    assert_eq!(found(&report), ["PK0431 the-pack/PACK.md"]);
    place.app("the-pack/one", "APP.md");
    let report = validate::path(&document, "the-pack/PACK.md", &none());
    assert_eq!(checked(&report), ["skill the-pack/skills/a", "pack the-pack", "app the-pack/one"]);
    assert_eq!(found(&report), [""; 0]);
    let app = place.path().join("the-pack/one/APP.md");
    assert_eq!(checked(&validate::path(&app, "APP.md", &none())), ["app ."]);
    place.app("dotted", ".agentproto/APP.md");
    let app = place.path().join("dotted/.agentproto/APP.md");
    let report = validate::path(&app, "dotted/.agentproto/APP.md", &none());
    assert_eq!((checked(&report), found(&report)), (vec!["app dotted".to_owned()], vec![]));
}

#[test]
fn the_directory_of_a_pack_is_named_like_it() {
    let place = Place::new();
    place.pack("the-pack", "");
    std::fs::rename(place.path().join("the-pack"), place.path().join("the-pack@1.0.0")).unwrap();
    let root = place.path().join("the-pack@1.0.0");
    let report = check(&root);
    assert_eq!(found(&report), ["PK0421 at/PACK.md"]);
    assert_eq!(report.diagnostics[0].severity, Severity::Warning);
    assert_eq!(found(&check(place.path())), ["PK0421 at/the-pack@1.0.0/PACK.md"]);
    // In a sealed file the root has no name.
    let mut sealed = MemTree::new();
    sealed.add_file("PACK.md", PACK.replace("NAME", "p1") + "---\n").unwrap();
    sealed.add_file("skills/a/SKILL.md", GOOD.replace("NAME", "a")).unwrap();
    assert_eq!(found(&validate::tree(&sealed, "x.aospkg", &none())), [""; 0]);
}

#[test]
fn links_do_not_lead_a_pack_out_of_its_root() {
    let place = Place::new();
    place.app("outside", "APP.md");
    place.pack("packs/p1", "apps:\n  - id: one\n    path: ./one\n");
    symlink("../../outside", place.path().join("packs/p1/one")).unwrap();
    assert_eq!(found(&check(&place.path().join("packs/p1"))), ["PK0432 at/PACK.md"]);
    assert_eq!(found(&check(place.path())), ["PK0432 at/packs/p1/PACK.md"]);
    // A pack's own document must not be another file either.
    let place = Place::new();
    place.skill("p2/skills/a");
    symlink("/etc/passwd", place.path().join("p2/PACK.md")).unwrap();
    assert_eq!(found(&check(place.path())), ["PK0119 at/p2/PACK.md"]);
}

#[test]
fn packs_and_apps_are_cured_by_quotes() {
    let place = Place::new();
    let pack = PACK.replace("NAME", "p1").replace("title: T", "title: 2026");
    place.skill("p1/skills/a");
    let file =
        place.write("p1/PACK.md", pack.clone() + "apps:\n  - id: one\n    path: ./one\n---\n");
    place.app("p1/one", "APP.md");
    let app = place.write("p1/one/APP.md", APP.replace("id: one\n", "id: one\nname: 1.0\n"));
    for _ in 0..2 {
        let report = check(place.path());
        for repair in &report.repairs {
            repair.apply().unwrap();
        }
    }
    assert_eq!(found(&check(place.path())), [""; 0]);
    assert!(std::fs::read_to_string(file).unwrap().contains("title: \"2026\"\n"));
    assert!(std::fs::read_to_string(app).unwrap().contains("name: \"1.0\"\n"));
}

#[test]
fn hidden_characters_of_pack_documents_are_found() {
    let place = Place::new();
    let file = place.pack("p1", "");
    let text = std::fs::read_to_string(&file).unwrap() + "A \u{202e}txet\n";
    place.write("p1/PACK.md", text);
    assert_eq!(found(&check(place.path())).len(), 1);
    assert!(found(&check(place.path()))[0].starts_with("PK03"));
}

#[test]
fn products_are_on_what_is_at_the_place() {
    let place = Place::new();
    let product = |on: &str| {
        format!(
            "---\nschema: product/v1\nid: a-price\nkind: pricing\non: {on}\nprice:\n  model: one-time\n  amountMinor: 1\n  currency: eur\n---\n"
        )
    };
    place.pack("p1", "");
    place.pack("p2", "");
    place.app("one", "APP.md");
    for on in ["aip://64/p1", "aip://64/p2@1.0.0", "aip://53/one", "{aip: 53, id: one}"] {
        place.write("p1/products/a-price.md", product(on));
        assert_eq!(found(&check(place.path())), [""; 0], "{on}");
    }
    place.write("p1/products/a-price.md", product("aip://64/p3"));
    assert_eq!(found(&check(place.path())), ["PK0711 at/p1/products/a-price.md"]);
}

#[test]
fn the_example_pack_has_no_fault() {
    let example = data().join("../../examples/the-agentic-coder");
    let report = validate::path(&example, "examples/the-agentic-coder", &none());
    assert_eq!(found(&report), [""; 0]);
    let line = report.summary_line(&Summary::default());
    assert_eq!(line, "checked 3 skills, 2 apps, 1 pack: 0 errors, 0 warnings");
}

#[test]
fn an_app_bundle_is_checked_like_its_directory() {
    let place = Place::new();
    let app = place.path().join("app");
    place.app("app", ".agentproto/APP.md");
    let tree = holdall_tree::DirTree::open(app.as_std_path()).unwrap();
    let mut bytes = Vec::new();
    holdall_pack::write_bundle(&tree, &holdall_pack::BundleOptions::default(), &mut bytes).unwrap();
    let file = place.write("out/one.agentapp", &bytes);
    let report = validate::path(&file, "one.agentapp", &none());
    assert_eq!((checked(&report), found(&report)), (vec!["app one.agentapp".to_owned()], vec![]));
    std::fs::remove_dir_all(&app).unwrap();
    assert_eq!(checked(&check(place.path())), ["app at/out/one.agentapp"]);

    bytes.truncate(bytes.len() / 2);
    let file = place.write("out/cut.agentapp", &bytes);
    let report = validate::path(&file, "cut.agentapp", &none());
    assert_eq!(checked(&report), ["app cut.agentapp"]);
    assert_eq!(found(&report), ["PK0521 cut.agentapp"]);
    let report = check(place.path());
    assert_eq!(found(&report), ["PK0521 at/out/cut.agentapp"]);
}
