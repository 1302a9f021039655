//! Which files make a source what it is, and which of several win.

use holdall_source::{Kind, detect};
use holdall_tree::MemTree;

fn tree(files: &[&str]) -> MemTree {
    let mut tree = MemTree::new();
    for file in files {
        tree.add_file(file, b"x").unwrap();
    }
    tree
}

#[test]
fn each_kind_by_its_file() {
    for (files, kind) in [
        (&["agent-bundle.manifest.json"][..], Kind::Artifact),
        (&["PACK.md"], Kind::Pack),
        (&["APP.md"], Kind::App),
        (&[".agentproto/APP.md"], Kind::App),
        (&["agent-bundle.config.ts"], Kind::Project),
        (&["SKILL.md"], Kind::Skill),
        (&["skills/x/SKILL.md"], Kind::Skills),
        (&["agentos-package.json"], Kind::Package),
    ] {
        assert_eq!(detect(&tree(files)).unwrap(), Some(kind), "{files:?}");
    }
    for files in [
        &[][..],
        &["pack.md"],
        &["x/PACK.md"],
        &["skills/SKILL.md"],
        &["skills/x/y/SKILL.md"],
        &["skills"],
    ] {
        assert_eq!(detect(&tree(files)).unwrap(), None, "{files:?}");
    }
}

#[test]
fn of_several_the_first_in_the_order_of_the_design_wins() {
    let order = [
        ("agent-bundle.manifest.json", Kind::Artifact),
        ("PACK.md", Kind::Pack),
        ("APP.md", Kind::App),
        ("agent-bundle.config.mjs", Kind::Project),
        ("SKILL.md", Kind::Skill),
        ("skills/x/SKILL.md", Kind::Skills),
        ("agentos-package.json", Kind::Package),
    ];
    for first in 0..order.len() {
        let files: Vec<_> = order[first..].iter().map(|&(file, _)| file).collect();
        assert_eq!(detect(&tree(&files)).unwrap(), Some(order[first].1), "{files:?}");
    }
}

#[test]
fn a_document_counts_whatever_it_is() {
    // A link that leads out, and a directory of the name, make an unreadable pack, not an unknown
    // directory: what digests and verifies has to refuse it.
    let names =
        ["agent-bundle.manifest.json", "PACK.md", "APP.md", ".agentproto/APP.md", "SKILL.md"];
    for name in names {
        let mut link = MemTree::new();
        link.add_symlink(name, "/etc/passwd").unwrap();
        let kind = detect(&tree(&[name])).unwrap();
        assert_eq!(detect(&link).unwrap(), kind, "{name}");
        assert_eq!(detect(&tree(&[&format!("{name}/x")])).unwrap(), kind, "{name}");
    }
    let mut elsewhere = MemTree::new();
    elsewhere.add_symlink("skills", "/etc").unwrap();
    elsewhere.add_symlink("agentos-package.json", "/etc/passwd").unwrap();
    assert_eq!(detect(&elsewhere).unwrap(), None);
}

#[test]
fn the_words_parse_back() {
    for kind in Kind::ALL {
        assert_eq!(kind.as_str().parse(), Ok(kind));
    }
    assert!("bundle".parse::<Kind>().is_err());
}
