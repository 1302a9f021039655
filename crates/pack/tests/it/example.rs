//! The format's own example, made real in `examples/the-agentic-coder`.

use std::path::Path;

use holdall_pack::{Comparison, PackStatus, read_pack};
use holdall_tree::{DirTree, Tree, TreePath};
use serde_json::json;

/// Made with Python's `hashlib` from the recipe in AIP-64: one line for each document, sorted.
const DIGEST: &str = "b4629813e250df0b8470be3e8204c7c0ec5a136179583d0941f4b445aa6de89f";

#[test]
fn the_example_is_the_pack_of_the_format() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/the-agentic-coder");
    let tree = DirTree::open(&root).unwrap();
    let checked = read_pack(&tree, Some("the-agentic-coder"));
    assert!(checked.diagnostics.is_empty(), "{:?}", checked.diagnostics);
    let pack = checked.pack.unwrap();
    let handle = pack.handle();
    assert_eq!(handle.status(), PackStatus::Ready);
    let pinned = handle.pinned_reference().unwrap().to_string();
    assert_eq!(pinned, "aip://64/the-agentic-coder@1.2.0");
    let labels: Vec<_> = pack.apps().iter().map(|app| app.label.as_str()).collect();
    assert_eq!(labels, ["./apps/repo-maintenance", "./apps/review-panel"]);
    let skills: Vec<_> = pack.skills().iter().map(TreePath::as_str).collect();
    assert_eq!(skills, ["skills/failing-test-first", "skills/small-commits"]);
    assert_eq!(pack.digest().digest().hex(), DIGEST);
    let record = json!({ "kind": "pack", "alg": "agentproto-pack-digest/v1", "sha256": DIGEST });
    assert_eq!(pack.digest().compare_record(&record), Comparison::Matches);

    // Its include is kept beside it, where packs of skills are looked for.
    let [include] = handle.includes() else { panic!("one include") };
    assert_eq!(include.to_string(), "@agentproto/skill-pack-code-review");
    let skills = TreePath::new(".skills/code-review/skills").unwrap();
    assert_eq!(tree.read_dir(&skills).unwrap().len(), 1);
}
