//! The manifest of a published root passes, and keeps its bytes.

use holdall_artifact::{check_artifact_manifest, parse_artifact_manifest};

/// The manifest of a published version 6 root.
pub(crate) fn plugin_library() -> Vec<u8> {
    let shared = std::env::var("HOLDALL_SHARED").expect("HOLDALL_SHARED names the shared data");
    let path = format!("{shared}/data/artifact-manifests/plugin-library.json");
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
#[ignore = "needs HOLDALL_SHARED"]
fn needs_shared_the_published_manifest_is_valid_and_round_trips() {
    let bytes = plugin_library();
    let manifest = parse_artifact_manifest(&bytes).expect("valid");
    assert_eq!(manifest.application().name(), "plugin-library");
    assert_eq!(manifest.application().version(), "0.4.0");
    assert_eq!(manifest.files().len(), 18);
    assert_eq!(manifest.to_canonical_bytes(), bytes);
}

#[test]
#[ignore = "needs HOLDALL_SHARED"]
fn needs_shared_a_reformatted_manifest_has_only_canonical_faults() {
    let value: serde_json::Value = serde_json::from_slice(&plugin_library()).expect("JSON");
    let pretty = serde_json::to_vec_pretty(&value).expect("JSON");
    let faults = check_artifact_manifest(&pretty).expect_err("not canonical");
    assert!(faults.iter().all(|fault| fault.rule.name() == "canonical"), "{faults:?}");
}
