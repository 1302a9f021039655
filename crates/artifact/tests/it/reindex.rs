//! Re-indexing a variant, and what it refuses.

use holdall_artifact::model::FileKind;
use holdall_artifact::reindex::{Change, ReindexError, reindex};
use holdall_artifact::rows::{self, Modes};
use holdall_artifact::{Sha256, parse_artifact_manifest};
use holdall_tree::{MemTree, TreePath};

use crate::digests::{open, say_hello};
use crate::generate::sample;

fn path(text: &str) -> TreePath {
    TreePath::new(text).expect("a path")
}

#[test]
fn a_variant_is_measured_added_and_removed() {
    let mut tree = say_hello();
    let manifest = open(&tree).into_manifest();
    tree.add_file(".claude-plugin/plugin.json", "{}\n").unwrap();
    tree.add_executable("marker/dev.sh", "#!/bin/sh\n").unwrap();
    let changes = [
        Change::Measure(path(".claude-plugin/plugin.json")),
        Change::Measure(path("marker/dev.sh")),
        Change::Remove(path("skills/greet/SKILL.md")),
    ];
    let variant = reindex(&manifest, &tree, &changes).expect("a variant");
    let row = variant.file(&path(".claude-plugin/plugin.json")).expect("measured");
    assert_eq!((row.bytes(), row.sha256()), (3, Sha256::of(b"{}\n")));
    assert_eq!(row.kind(), FileKind::Generated);
    let added = variant.file(&path("marker/dev.sh")).expect("added");
    assert_eq!((added.mode(), added.kind()), (Some(0o755), FileKind::Generated));
    assert!(variant.file(&path("skills/greet/SKILL.md")).is_none());
    let provenance: Vec<_> = variant
        .compiler()
        .provenance()
        .iter()
        .map(|row| (row.path().as_str(), row.source_inputs().len()))
        .collect();
    assert_eq!(
        provenance,
        [
            (".claude-plugin/marketplace.json", 1),
            (".claude-plugin/plugin.json", 2),
            ("INSTALL.md", 1),
            ("marker/dev.sh", 0),
        ]
    );
    assert_eq!(rows::check(&tree, &variant, Modes::Exact), []);
}

#[test]
fn compiled_rows_and_the_evidence_are_out_of_reach() {
    let manifest = parse_artifact_manifest(&sample().to_canonical_bytes()).expect("valid");
    let mut tree = MemTree::new();
    tree.add_file("bin/tool.mjs", "x").unwrap();
    tree.add_file("agent-bundle.compile-evidence.json", "x").unwrap();
    let refused = |change: Change| reindex(&manifest, &tree, &[change]).expect_err("refused");
    let bundle = path("bin/tool.mjs");
    assert!(matches!(refused(Change::Measure(bundle.clone())), ReindexError::Compiled(_)));
    assert!(matches!(refused(Change::Remove(bundle)), ReindexError::Compiled(_)));
    let evidence = path("agent-bundle.compile-evidence.json");
    assert!(matches!(refused(Change::Measure(evidence.clone())), ReindexError::Evidence));
    assert!(matches!(refused(Change::Remove(evidence)), ReindexError::Evidence));
    assert!(matches!(refused(Change::Measure(path("state/x"))), ReindexError::Path { .. }));
    assert!(matches!(refused(Change::Measure(path("none"))), ReindexError::Tree(_)));
    assert!(matches!(refused(Change::Remove(path("none"))), ReindexError::NoRow(_)));
    // A pointer still names the row.
    let pointed = refused(Change::Remove(path("hooks/hooks.json")));
    assert!(
        matches!(&pointed, ReindexError::Invalid(fault) if fault.rule.name() == "R20"),
        "{pointed}"
    );
}
