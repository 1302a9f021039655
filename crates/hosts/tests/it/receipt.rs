//! Receipts of format 2 (reference 5.2.6).

use holdall_hosts::Scope;
use holdall_hosts::receipt::{
    InstallMode, InstallReceipt, Ownership, Registration, RegistrationKind, StateRoot, StateSource,
    Unowned,
};
use holdall_tree::TreePath;
use proptest::prelude::*;
use serde_json::{Value, json};

/// A receipt as another installer of the format would write it.
fn published() -> Value {
    json!({
        "contentHash": "ab".repeat(32),
        "directories": ["skills", "skills/greet"],
        "files": [".cursor-plugin/plugin.json", "agent-bundle.manifest.json", "skills/greet/SKILL.md"],
        "format": "agent-bundle-install-receipt/2",
        "host": "cursor",
        "hostDirectories": ["plugins/local"],
        "installedAt": "2026-11-01T08:00:00.000Z",
        "mode": "local",
        "plugin": "say-hello",
        "registrations": [{"id": "say-hello", "kind": "cursor-local-plugin"}],
        "scope": "user",
        "updatedAt": "2026-11-02T08:00:00.000Z",
        "version": "1.0.0"
    })
}

fn parse(value: &Value) -> Option<InstallReceipt> {
    InstallReceipt::parse(value.to_string().as_bytes())
}

#[test]
fn a_published_receipt_is_read_and_written_back_byte_for_byte() {
    let receipt = parse(&published()).unwrap();
    assert_eq!(receipt.plugin, "say-hello");
    assert_eq!(receipt.mode, InstallMode::Local);
    assert_eq!(receipt.files[1], TreePath::new("agent-bundle.manifest.json").unwrap());
    assert!(!receipt.is_remnant());
    assert_eq!(receipt.to_bytes(), format!("{}\n", published()).into_bytes());
}

#[test]
fn malformed_means_absent() {
    let with = |key: &str, value: Value| {
        let mut receipt = published();
        receipt[key] = value;
        receipt
    };
    let broken = [
        with("format", json!("agent-bundle-install-receipt/1")),
        with("format", json!(2)),
        with("plugin", json!(null)),
        with("mode", json!("copy")),
        with("scope", json!("global")),
        with("files", json!("skills")),
        with("files", json!(["../outside"])),
        with("files", json!(["/etc/passwd"])),
        with("files", json!(["a\\b"])),
        with("files", json!(["a//b"])),
        with("files", json!(["state/cache"])),
        with("files", json!(["State"])),
        with("directories", json!([".agent-bundle-install.json"])),
        with("hostDirectories", json!(["con/x"])),
        with("registrations", json!([{"kind": "floppy-disk"}])),
        with("registrations", json!([{"id": "x"}])),
        with("projectRoot", json!(1)),
        with("cursorExpansion", json!({"documents": {}})),
        with(
            "cursorExpansion",
            json!({"documents": {"../x": ""}, "pluginData": "", "pluginRoot": ""}),
        ),
        with("state", json!([])),
        json!([]),
        json!(null),
    ];
    for receipt in &broken {
        assert_eq!(parse(receipt), None, "{receipt}");
    }
    for key in ["contentHash", "installedAt", "updatedAt", "version", "host", "registrations"] {
        let mut receipt = published();
        receipt.as_object_mut().unwrap().remove(key);
        assert_eq!(parse(&receipt), None, "without {key}");
    }
    assert_eq!(InstallReceipt::parse(b"{"), None);
    assert_eq!(InstallReceipt::parse(b"\xff"), None);
}

#[test]
fn state_of_another_owner_is_dropped_alone() {
    let mut receipt = published();
    let owner = json!({"host": "cursor", "id": "say-hello", "mode": "local", "plugin": "say-hello",
        "scope": "user"});
    let root = json!({"canonicalRoot": "/s/x", "ownership": {"kind": "derived"}, "root": "/s/x",
        "servers": ["hello"], "source": "derived"});
    receipt["state"] = json!({"owner": owner, "roots": [root]});
    let ours = parse(&receipt).unwrap();
    assert_eq!(ours.state.as_ref().unwrap().len(), 1);

    receipt["state"]["owner"]["plugin"] = json!("other");
    let foreign = parse(&receipt).unwrap();
    assert_eq!(foreign.state, None);
    assert_eq!(InstallReceipt { state: None, ..ours }, foreign);
}

prop_compose! {
    fn path()(parts in prop::collection::vec("[a-z][a-z0-9-]{0,8}", 1..4)) -> TreePath {
        TreePath::new(format!("x-{}", parts.join("/"))).unwrap()
    }
}

fn ownership() -> impl Strategy<Value = Ownership> {
    prop_oneof![
        Just(Ownership::Derived),
        "[a-z.]{1,12}".prop_map(Ownership::Marker),
        Just(Ownership::Unowned(Unowned::PreExisting)),
        Just(Ownership::Unowned(Unowned::ForeignMarker)),
        Just(Ownership::Unowned(Unowned::Unproven)),
    ]
}

prop_compose! {
    fn state_root()(
        root in ".{0,12}", ownership in ownership(), servers in prop::collection::vec(".{0,6}", 0..3),
    ) -> StateRoot {
        let canonical_root = root.clone();
        StateRoot { canonical_root, root, ownership, servers, source: StateSource::Declared }
    }
}

prop_compose! {
    fn receipt()(
        texts in prop::array::uniform6(".{0,10}"),
        files in prop::collection::vec(path(), 0..4),
        directories in prop::collection::vec(path(), 0..4),
        id in prop::option::of(".{0,8}"),
        project_root in prop::option::of(".{0,8}"),
        state in prop::option::of(prop::collection::vec(state_root(), 0..3)),
    ) -> InstallReceipt {
        let [plugin, version, host, content_hash, installed_at, updated_at] = texts;
        let scope = Some(Scope::Project);
        let row = Registration { id, scope, ..Registration::new(RegistrationKind::ClaudePlugin) };
        InstallReceipt {
            plugin, version, host, content_hash, installed_at, updated_at,
            mode: InstallMode::HostCli,
            scope: Scope::Local,
            files,
            host_directories: directories.clone(),
            directories,
            registrations: vec![row],
            project_root,
            cursor_expansion: None,
            state,
            web_data_root: None,
        }
    }
}

proptest! {
    #[test]
    fn parse_of_write_is_the_identity(receipt in receipt()) {
        prop_assert_eq!(InstallReceipt::parse(&receipt.to_bytes()), Some(receipt));
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..256)) {
        InstallReceipt::parse(&bytes);
    }
}
