//! Knowledge: the worked table of the reference, and files that are no entries.

use std::fs;
use std::path::PathBuf;

use holdall_diagnostics::Severity;
use holdall_pack::{Knowledge, query};

struct Roots(tempfile::TempDir);

impl Roots {
    fn new() -> Self {
        let roots = Self(tempfile::tempdir().unwrap());
        roots.workspace("engineering", "engineering");
        for (slug, kind, tags) in [
            ("aa", "runbook", "[coding, git]"),
            ("bb", "runbook", "[review]"),
            ("cc", "concept", "[coding, review]"),
            ("dd", "runbook", "[]"),
        ] {
            roots.entry(&format!("engineering/entries/{slug}.md"), slug, kind, tags);
        }
        roots
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn workspace(&self, at: &str, name: &str) {
        let text = format!("---\nschema: knowledge.workspace/v1\nname: {name}\n---\n");
        self.write(&format!("{at}/KNOWLEDGE.md"), &text);
    }

    fn entry(&self, at: &str, slug: &str, kind: &str, tags: &str) {
        let text = format!(
            "---\nschema: knowledge.entry/v1\nslug: {slug}\nkind: {kind}\ntitle: T\ntags: {tags}\n---\n"
        );
        self.write(at, &text);
    }

    fn roots(&self) -> Vec<PathBuf> {
        vec![self.0.path().to_owned()]
    }

    fn slugs(&self, selection: &Knowledge) -> String {
        let answer = query(&self.roots(), selection);
        answer.entries.iter().map(|entry| entry.slug.as_str()).collect::<Vec<_>>().join(" ")
    }
}

fn select(any: Option<&[&str]>, all: Option<&[&str]>, kinds: Option<&[&str]>) -> Knowledge {
    let owned = |list: &[&str]| list.iter().map(|&word| word.to_owned()).collect();
    Knowledge {
        workspace: "engineering".to_owned(),
        any_of: any.map(owned),
        all_of: all.map(owned),
        kinds: kinds.map(owned),
    }
}

/// The worked table of 7.2; its one-letter slugs are doubled, since a slug has two at least.
#[test]
fn the_worked_table() {
    let roots = Roots::new();
    let table: [(Knowledge, &str); 9] = [
        (select(None, None, None), "aa bb cc dd"),
        (select(Some(&["coding", "review"]), None, None), "aa bb cc"),
        (select(None, Some(&["coding", "review"]), None), "cc"),
        (select(Some(&["coding"]), Some(&["review"]), None), "cc"),
        (select(None, None, Some(&["runbook"])), "aa bb dd"),
        (select(Some(&["coding", "review"]), None, Some(&["runbook"])), "aa bb"),
        (select(Some(&["CODING"]), None, None), "aa cc"),
        (select(Some(&[]), None, Some(&[])), "aa bb cc dd"),
        (select(None, None, Some(&["Runbook"])), ""),
    ];
    for (selection, expected) in table {
        assert_eq!(roots.slugs(&selection), expected, "{selection:?}");
    }
}

#[test]
fn the_answer_follows_the_files_and_hides_what_is_archived() {
    let roots = Roots::new();
    let all = select(None, None, None);
    roots.entry("engineering/concepts/deep/ab.md", "ab", "concept", "[coding]");
    assert_eq!(roots.slugs(&all), "aa ab bb cc dd");
    roots.write(
        "engineering/entries/bb.md",
        "---\nschema: knowledge/v1\nslug: bb\nkind: runbook\ntitle: T\nmetadata:\n  corpus:\n    status: archived\n---\n",
    );
    assert_eq!(roots.slugs(&all), "aa ab cc dd");
    roots.write(
        "engineering/items/people/ee.md",
        "---\nschema: collection.item/v1\nid: ee\ncollection: people\ntitle: E\n---\n",
    );
    assert_eq!(roots.slugs(&select(None, None, Some(&["people"]))), "ee");
}

#[test]
fn what_is_no_entry_is_passed_over_with_a_note() {
    let roots = Roots::new();
    let all = select(None, None, None);
    for (path, text) in [
        ("entries/bad1.md", "no frontmatter\n"),
        ("entries/bad2.md", "---\nschema: knowledge.entry/v1\nkind: runbook\ntitle: T\n---\n"),
        (
            "entries/bad3.md",
            "---\nschema: knowledge.entry/v1\nslug: ok\nkind: Run Book\ntitle: T\n---\n",
        ),
        (
            "entries/bad4.md",
            "---\nschema: knowledge.entry/v1\nslug: ok\nkind: run\ntitle: T\ntags: x\n---\n",
        ),
        ("entries/bad5.md", "---\nslug: [\n---\n"),
        (
            "entries/bad6.md",
            "---\nschema: knowledge.entry/v1\nslug: ok\nkind: run\ntitle: T\nconfidence: 2\n---\n",
        ),
    ] {
        roots.write(&format!("engineering/{path}"), text);
    }
    // These are not even looked at.
    for path in ["sources/x.md", "AGENTS.md", "_index.md", "entries/_log.md", ".git/x.md", "a.txt"]
    {
        roots.write(&format!("engineering/{path}"), "x\n");
    }
    roots.workspace("engineering/nested", "nested");
    roots.write("engineering/nested/x.md", "x\n");
    roots.write("engineering/entries/other.md", "---\nschema: something/v1\n---\n");
    let answer = query(&roots.roots(), &all);
    assert_eq!(roots.slugs(&all), "aa bb cc dd");
    let at: Vec<_> = answer.diagnostics.iter().filter_map(|found| found.path.clone()).collect();
    assert_eq!(at.len(), 6, "{:?}", answer.diagnostics);
    assert!(answer.diagnostics.iter().all(|found| found.code == "PK0801"));
    assert!(at[0].ends_with("engineering/entries/bad1.md"));
    // A link out of the workspace is not followed.
    let secret = roots.0.path().join("secret.md");
    fs::write(&secret, "---\nschema: knowledge.entry/v1\nslug: zz\nkind: runbook\ntitle: T\n---\n")
        .unwrap();
    std::os::unix::fs::symlink(&secret, roots.0.path().join("engineering/entries/zz.md")).unwrap();
    assert_eq!(roots.slugs(&all), "aa bb cc dd");
}

#[test]
fn workspaces_are_found_by_name_and_never_by_path() {
    let roots = Roots::new();
    let named = |name: &str| Knowledge { workspace: name.to_owned(), ..Knowledge::default() };
    let absent = query(&roots.roots(), &named("absent"));
    assert!(absent.entries.is_empty());
    assert_eq!(
        (absent.diagnostics[0].code, absent.diagnostics[0].severity),
        ("PK0802", Severity::Warning)
    );
    for path in ["..", "../engineering", "/etc", "a/b", ".", ""] {
        let answer = query(&roots.roots(), &named(path));
        assert_eq!(answer.diagnostics[0].code, "PK0804", "{path}");
    }
    // The name in the document comes before the directory's.
    roots.workspace("team", "other");
    roots.workspace("elsewhere", "team");
    let team = query(&roots.roots(), &named("team"));
    assert!(team.workspace.unwrap().ends_with("elsewhere"));
    roots.workspace("second", "team");
    let twice = query(&roots.roots(), &named("team"));
    assert_eq!(twice.diagnostics[0].code, "PK0803");
    assert!(
        twice.diagnostics[0].message.contains("elsewhere")
            && twice.diagnostics[0].message.contains("second")
    );
}
