//! The checks of projections on a whole root for five hosts, and on single faults in it.

use std::path::Path;

use holdall_artifact::{ArtifactManifest, parse_artifact_manifest};
use holdall_diagnostics::{Diagnostic, Severity};
use holdall_hosts::projections::check_projections;
use holdall_tree::{DirTree, FileKind, Limits, MemTree, Tree, TreePath, walk};

fn golden() -> (MemTree, ArtifactManifest) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/artifacts/bench-board");
    let disk = DirTree::open(&root).unwrap();
    let mut tree = MemTree::new();
    for entry in walk(&disk, &TreePath::root(), Limits::default()) {
        let entry = entry.unwrap();
        if entry.kind == FileKind::File {
            tree.add_file(entry.path.as_str(), disk.read(&entry.path, 1 << 20).unwrap()).unwrap();
        }
    }
    let manifest = TreePath::new("agent-bundle.manifest.json").unwrap();
    let manifest = parse_artifact_manifest(&tree.read(&manifest, 1 << 20).unwrap()).unwrap();
    (tree, manifest)
}

fn text(tree: &MemTree, path: &str) -> String {
    String::from_utf8(tree.read(&TreePath::new(path).unwrap(), 1 << 20).unwrap()).unwrap()
}

/// The findings after one replacement in one file.
fn after(path: &str, from: &str, to: &str) -> Vec<Diagnostic> {
    let (mut tree, manifest) = golden();
    let before = text(&tree, path);
    let changed = before.replacen(from, to, 1);
    assert_ne!(changed, before, "`{from}` stands in {path}");
    tree.add_file(path, changed).unwrap();
    check_projections(&tree, &manifest)
}

/// The findings with a changed artifact manifest (which stays valid).
fn with_manifest(edit: impl Fn(&mut serde_json::Value)) -> Vec<Diagnostic> {
    let (tree, manifest) = golden();
    let mut value: serde_json::Value =
        serde_json::from_slice(&manifest.to_canonical_bytes()).unwrap();
    edit(&mut value);
    let manifest = parse_artifact_manifest(format!("{value}\n").as_bytes()).unwrap();
    check_projections(&tree, &manifest)
}

fn remove_file(value: &mut serde_json::Value, path: &str) {
    let paths = |row: &serde_json::Value| row["path"] != path;
    value["files"].as_array_mut().unwrap().retain(paths);
    value["compiler"]["provenance"].as_array_mut().unwrap().retain(paths);
}

#[test]
fn a_root_for_five_hosts_has_no_finding() {
    let (tree, manifest) = golden();
    assert_eq!(manifest.projections().len(), 5);
    assert_eq!(check_projections(&tree, &manifest), []);
}

#[test]
fn every_fault_in_a_document_has_its_code_host_and_place() {
    let table = [
        (".mcp.json", "mcp/mcp-bench-1b32c28c.mjs", "mcp/gone.mjs", "AB6007", "claude"),
        (".mcp.json", "mcp/mcp-bench-1b32c28c.mjs", "../outside.mjs", "AB6017", "claude"),
        (".mcp.json", r#"type":"stdio"#, r#"type":"http"#, "AB6017", "claude"),
        (".mcp.json", "{\"bench\":", "{\"other\":", "AB6017", "claude"),
        (".mcp.json", "/config/default.json", "/INSTALL.md", "AB6017", "claude"),
        (".mcp.json", "{\"mcpServers\"", "{\"mcpServers\":1,\"mcpServers\"", "AB6012", "claude"),
        (
            ".claude-plugin/plugin.json",
            "{\"author\"",
            "{\"author\":1,\"author\"",
            "AB6012",
            "claude",
        ),
        (".claude-plugin/plugin.json", "}\n", "", "AB6012", "claude"),
        (
            "hooks/hooks.json",
            "session-start-greet.claude",
            "session-start-greet.codex",
            "AB6018",
            "claude",
        ),
        ("hooks/hooks.json", "SessionStart", "SessionEnd", "AB6018", "claude"),
        (
            ".cursor-plugin/plugin.json",
            r#""name":"bench-board","repo"#,
            r#""name":"B","repo"#,
            "AB6026",
            "cursor",
        ),
        (
            ".cursor-plugin/plugin.json",
            r#"{"author""#,
            r#"{"logo":"assets/x.svg","author""#,
            "AB6025",
            "cursor",
        ),
        (
            ".cursor-plugin/marketplace.json",
            r#""source":"./""#,
            r#""source":"/x""#,
            "AB6027",
            "cursor",
        ),
        (".cursor-plugin/mcp.json", r#""command":"node","#, "", "AB6028", "cursor"),
        (".cursor-plugin/hooks.json", r#","version":1"#, "", "AB6029", "cursor"),
        (".codex-plugin/plugin.json", r#""version":"0.3.0""#, r#""version":3"#, "AB6030", "codex"),
        (
            ".codex-plugin/plugin.json",
            r#"{"capabilities""#,
            r#"{"logo":"../x","capabilities""#,
            "AB6025",
            "codex",
        ),
        (".agents/plugins/marketplace.json", "AVAILABLE", "SOMETIMES", "AB6031", "codex"),
        (".codex-plugin/mcp.json", r#""command":"node","#, "", "AB6032", "codex"),
        (".codex-plugin/hooks.json", r#"{"hooks":"#, r#"{"hoks":"#, "AB6033", "codex"),
        ("plugin.json", r#""name":"bench-board","#, "", "AB6035", "portable"),
        ("mcp.json", r#","type":"stdio""#, "", "AB6036", "portable"),
        (
            "mcp.json",
            r#""command":"node""#,
            r#""command":"${PLUGIN_ROOT}/x""#,
            "AB6038",
            "portable",
        ),
    ];
    for (path, from, to, code, host) in table {
        let found = after(path, from, to);
        let hit = found.iter().find(|diagnostic| diagnostic.code == code);
        let hit = hit.unwrap_or_else(|| panic!("{code} for {to} in {path}: {found:?}"));
        assert_eq!(hit.severity, Severity::Error, "{code}");
        assert_eq!(hit.path.as_deref(), Some(path), "{code}");
        assert_eq!(hit.target.as_deref(), Some(host), "{code}");
        assert!(hit.span.is_some(), "{code}");
        assert!(found.iter().all(|other| other.target.as_deref() == Some(host)), "{found:?}");
    }
}

#[test]
fn what_only_a_newer_host_knows_is_a_warning() {
    let found = after("hooks/hooks.json", "{\"PostToolUse\"", "{\"BrandNew\":[],\"PostToolUse\"");
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].code, found[0].severity), ("AB6012", Severity::Warning));
}

#[test]
fn a_hook_that_runs_twice_is_found() {
    let group = r#"{"hooks":[{"command":"node \"${CLAUDE_PLUGIN_ROOT}/hooks/session-start-greet.claude.mjs\"","type":"command"}]}"#;
    let found = after("hooks/hooks.json", group, &format!("{group},{group}"));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].code, "AB6018");
    assert!(found[0].message.contains("2 times"), "{}", found[0].message);
    // An author's own command beside the wrappers is nobody's business.
    let own = r#"{"hooks":[{"command":"./scripts/own.sh","type":"command"}]}"#;
    assert_eq!(after("hooks/hooks.json", group, &format!("{group},{own}")), []);
}

#[test]
fn faults_of_the_artifact_manifest_have_their_codes() {
    let codes = |found: &[Diagnostic]| found.iter().map(|d| d.code).collect::<Vec<_>>();

    let foreign = with_manifest(|value| {
        value["projections"][0].as_object_mut().unwrap().remove("builtInHost");
    });
    assert_eq!(codes(&foreign), ["AB6009"]);

    let newer = with_manifest(|value| {
        value["compiler"]["adapters"][1]["adapterRevision"] = "9.0.0".into();
    });
    assert_eq!(codes(&newer), ["AB6010"]);
    assert_eq!(newer[0].severity, Severity::Warning);
    assert!(newer[0].message.contains("9.0.0"));

    for key in ["plugin", "mcp", "hooks"] {
        let less = with_manifest(|value| {
            value["projections"][1]["documents"].as_object_mut().unwrap().remove(key);
        });
        assert_eq!(codes(&less), ["AB6011"], "{key}");
        assert_eq!(less[0].target.as_deref(), Some("claude"));
    }

    let silent = with_manifest(|value| {
        remove_file(value, "INSTALL.md");
        value["distribution"]["install"].as_object_mut().unwrap().remove("instructions");
    });
    assert_eq!(codes(&silent), ["AB6023"]);

    let bare = with_manifest(|value| {
        remove_file(value, "install.mjs");
        value["distribution"]["install"].as_object_mut().unwrap().remove("script");
    });
    assert_eq!(codes(&bare), ["AB6024"]);

    let skill = with_manifest(|value| remove_file(value, "skills/read-report/SKILL.md"));
    assert_eq!(codes(&skill), ["AB6037"]);
}
