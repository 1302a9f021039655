//! Pack roots: members, confinement and digest (`pack-v1` 3.4).

use holdall_pack::{PackStatus, pack_digest, read_pack};

use crate::{errors, lines, tree};

/// Vector B of the reference: 123 bytes.
const TINY: &str = "---\nschema: pack/v1\nname: tiny-pack\ntitle: Tiny Pack\ndescription: Smallest pack.\nversion: 0.1.0\nplugin:\n  inline: true\n---\n";

/// Vector C of the reference: 244 bytes.
const DUO: &str = "---\nschema: pack/v1\nname: duo-pack\ntitle: Duo Pack\ndescription: Two apps.\nversion: 1.2.0\nplugin:\n  inline: true\napps:\n  - id: review-panel\n    path: ./apps/review-panel\n  - id: repo-maintenance\n    path: ./apps/repo-maintenance\n---\n\n# Duo Pack\n";

fn app(id: &str) -> String {
    format!("---\nschema: app/v1\nid: {id}\nagents: []\nworkflows: []\nui:\n  path: ui.html\n---\n")
}

/// The document of the vector, which is no valid app: it has neither agents nor `ui`.
fn vector_app(id: &str) -> String {
    format!("---\nschema: app/v1\nid: {id}\nagents: []\nworkflows: []\n---\n")
}

fn hex(inputs: &[(&str, &[u8])]) -> String {
    pack_digest(inputs.iter().copied()).digest().hex()
}

#[test]
fn digests_are_those_of_the_reference() {
    assert_eq!((TINY.len(), DUO.len()), (123, 244));
    let b = "481654f1dd1cfbfd17700bb5edc456164d3da9b7ed1a6b44053854b02faf32f8";
    assert_eq!(hex(&[("PACK.md", TINY.as_bytes())]), b);
    let crlf = TINY.replace('\n', "\r\n");
    let want = "9e5a186fffd652eb4c19685a0dc5d69a9704446e4863aed92ab9166fef3f5487";
    assert_eq!(hex(&[("PACK.md", crlf.as_bytes())]), want);
    let bom = format!("\u{feff}{TINY}");
    let want = "c23494ced4e04228c888c6bb8aa7050e39f725c9da8f59197c8cc10264efadf8";
    assert_eq!(hex(&[("PACK.md", bom.as_bytes())]), want);
    let (panel, repo) = (vector_app("review-panel"), vector_app("repo-maintenance"));
    assert_eq!((panel.len(), repo.len()), (65, 69));
    let c = "00b5d843a52604eb96095c2fa5617489eb59da058189414ffc56f8c6f945762f";
    let inputs = [
        ("PACK.md", DUO.as_bytes()),
        ("./apps/review-panel", panel.as_bytes()),
        ("./apps/repo-maintenance", repo.as_bytes()),
    ];
    assert_eq!(hex(&inputs), c);
    let mut turned = inputs;
    turned.reverse();
    assert_eq!(hex(&turned), c, "the order of the apps does not matter");
    // The recipe's origin.
    assert_eq!(
        hex(&[("REVIEW.md", b"pack-md\n"), ("./rubrics/correctness.md", b"rubric\n")]),
        "fe060a88f5bb7f3fdc86d883b1681665cd633d5a8cc5bcdb6d0b32112ed173a7"
    );
    // D: an order on which readers differ.
    let d: [(&str, &[u8]); 3] =
        [("PACK.md", b"P\n"), ("apps/\u{ff21}", b"x\n"), ("apps/\u{1f600}", b"y\n")];
    assert_eq!(hex(&d), "f430e5e6ba143b76fe3c0048e8e24f93553a33de2fae52c18974d69610a843e7");
    assert!(!pack_digest(d).is_portable());
    // F: equal labels stay two lines. G: bytes are bytes.
    assert_eq!(
        hex(&[("PACK.md", b"P\n"), ("apps/a", b"x\n"), ("apps/a", b"x\n")]),
        "3c3019ff735bfe5c862261612d7eb8946b59a72c043cee78415230190106f85f"
    );
    assert_eq!(
        hex(&[("PACK.md", b"\xff\xfeabc\n")]),
        "284bc3b1c86985361d867807498d123ef7f37f63b96899f51d298d63085ef965"
    );
}

#[test]
fn a_root_is_read_with_its_members() {
    let files = [
        ("PACK.md", DUO.to_owned()),
        ("apps/review-panel/APP.md", app("review-panel")),
        ("apps/review-panel/ui.html", "<p>".to_owned()),
        ("apps/repo-maintenance/.agentproto/APP.md", app("repo-maintenance")),
        ("apps/repo-maintenance/ui.html", "<p>".to_owned()),
        ("skills/b/SKILL.md", "---\nname: b\ndescription: B.\n---\nB\n".to_owned()),
        ("skills/a/SKILL.md", "---\nname: a\ndescription: A.\n---\nA\n".to_owned()),
        ("skills/notes.md", "no skill".to_owned()),
    ];
    let borrowed: Vec<_> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let root = read_pack(&tree(&borrowed), Some("duo-pack"));
    assert_eq!(lines(&root.diagnostics), Vec::<String>::new());
    let pack = root.pack.expect("a pack");
    assert_eq!(pack.handle().status(), PackStatus::Ready);
    let apps: Vec<_> =
        pack.apps().iter().map(|app| (app.id.as_str(), app.directory.as_str())).collect();
    assert_eq!(
        apps,
        [("review-panel", "apps/review-panel"), ("repo-maintenance", "apps/repo-maintenance")]
    );
    let skills: Vec<_> = pack.skills().iter().map(|skill| skill.as_str()).collect();
    assert_eq!(skills, ["skills/a", "skills/b"]);
    let digest = |files: &[(&str, &str)]| {
        read_pack(&tree(files), None).pack.expect("a pack").digest().digest().hex()
    };
    let before = digest(&borrowed);
    // One byte of a document counts, a skill does not.
    let mut changed = borrowed.clone();
    changed[5].1 = "---\nname: b\ndescription: Another.\n---\nB\n";
    assert_eq!(digest(&changed), before);
    let longer = format!("{}x", files[1].1);
    let mut changed = borrowed.clone();
    changed[1].1 = &longer;
    assert_ne!(digest(&changed), before);
    let longer = format!("{DUO}x");
    let mut changed = borrowed.clone();
    changed[0].1 = &longer;
    assert_ne!(digest(&changed), before);
}

fn with_app(path: &str, files: &[(&str, &str)]) -> holdall_pack::CheckedRoot {
    let pack =
        format!("{}apps:\n  - id: one\n    path: {path}\n---\n", TINY.trim_end_matches("---\n"));
    let mut all = vec![("PACK.md", pack.as_str()), ("skills/a/SKILL.md", "x")];
    all.extend(files);
    read_pack(&tree(&all), None)
}

#[test]
fn an_app_has_to_be_there_and_to_be_the_declared_one() {
    let good = app("one");
    let ui = ("apps/one/ui.html", "<p>");
    let ok = with_app("apps/one", &[("apps/one/APP.md", &good), ui]);
    assert!(ok.pack.is_some(), "{:?}", ok.diagnostics);
    for (path, files, code) in [
        ("apps/one", &[][..], "PK0431"),
        ("apps/one", &[("apps/one", "a file")], "PK0431"),
        ("apps/one", &[("apps/one/other.md", "x")], "PK0431"),
        ("../one", &[], "PK0432"),
        ("/apps/one", &[], "PK0432"),
        ("C:/apps/one", &[], "PK0432"),
        ("apps/../../one", &[], "PK0432"),
        ("apps/one", &[("apps/one/APP.md", app("two").as_str()), ui], "PK0433"),
        (
            "apps/one",
            &[
                (
                    "apps/one/APP.md",
                    "---\nschema: app/v1\nagents: []\nworkflows: []\nui:\n  path: ui.html\n---\n",
                ),
                ui,
            ],
            "PK0433",
        ),
        (
            "apps/one",
            &[("apps/one/APP.md", &good), ("apps/one/.agentproto/APP.md", "other"), ui],
            "PK0434",
        ),
    ] {
        let root = with_app(path, files);
        assert!(root.pack.is_none(), "{path} {files:?}");
        assert_eq!(errors(&root.diagnostics), [code], "{path} {files:?}: {:?}", root.diagnostics);
    }
    // Equal documents in both places are one.
    let both = [("apps/one/APP.md", good.as_str()), ("apps/one/.agentproto/APP.md", &good), ui];
    assert!(with_app("apps/one", &both).pack.is_some());
    // The finding stands at the entry of the pack.
    let root = with_app("apps/one", &[]);
    assert_eq!(lines(&root.diagnostics), ["PK0431 PACK.md:11"]);
}

#[test]
fn links_do_not_lead_out() {
    let pack =
        format!("{}apps:\n  - id: one\n    path: apps/one\n---\n", TINY.trim_end_matches("---\n"));
    let good = app("one");
    let base = [
        ("PACK.md", pack.as_str()),
        ("skills/a/SKILL.md", "x"),
        ("real/APP.md", &good),
        ("real/ui.html", "<p>"),
    ];
    let mut inside = tree(&base);
    inside.add_symlink("apps/one", "../real").unwrap();
    let root = read_pack(&inside, None);
    assert!(root.pack.is_some(), "a link inside the pack is fine: {:?}", root.diagnostics);
    let mut outside = tree(&base);
    outside.add_symlink("apps/one", "../../elsewhere").unwrap();
    assert_eq!(errors(&read_pack(&outside, None).diagnostics), ["PK0432"]);
    let mut absolute = tree(&base);
    absolute.add_symlink("apps/one", "/etc").unwrap();
    let root = read_pack(&absolute, None);
    assert!(root.pack.is_none());
    let mut document = tree(&base[1..]);
    document.add_symlink("PACK.md", "/etc/passwd").unwrap();
    assert!(read_pack(&document, None).pack.is_none());
    // An app's document must be the app's own.
    let mut other = tree(&base);
    other.add_file("apps/one/ui.html", b"<p>").unwrap();
    other.add_symlink("apps/one/APP.md", "../../real/APP.md").unwrap();
    assert_eq!(errors(&read_pack(&other, None).diagnostics), ["PK0507"]);
}

#[test]
fn an_inline_plugin_without_skills_is_said() {
    let root = read_pack(&tree(&[("PACK.md", TINY)]), Some("other"));
    assert!(root.pack.is_some());
    assert_eq!(lines(&root.diagnostics), ["PK0421 PACK.md:3", "PK0424 PACK.md:8"]);
}
