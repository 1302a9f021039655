//! Host documents: one good root for every host, and single faults in it.

use std::path::Path;

use holdall_artifact::model::BuiltInHost::{self, Claude, Codex, Cursor, Portable};
use holdall_diagnostics::Severity::{self, Error, Warning};
use holdall_hosts::documents::DocumentKind::{self, Hooks, Marketplace, Mcp, Plugin};
use holdall_hosts::documents::{
    DocumentFault, amp_plugin_name, check_document, cursor_plugin_name,
};
use proptest::prelude::*;

const DOCUMENTS: &[(BuiltInHost, DocumentKind, &str)] = &[
    (Claude, Plugin, ".claude-plugin/plugin.json"),
    (Claude, Marketplace, ".claude-plugin/marketplace.json"),
    (Claude, Mcp, ".mcp.json"),
    (Claude, Hooks, "hooks/hooks.json"),
    (Codex, Plugin, ".codex-plugin/plugin.json"),
    (Codex, Marketplace, ".agents/plugins/marketplace.json"),
    (Codex, Mcp, ".codex-plugin/mcp.json"),
    (Codex, Hooks, ".codex-plugin/hooks.json"),
    (Cursor, Plugin, ".cursor-plugin/plugin.json"),
    (Cursor, Marketplace, ".cursor-plugin/marketplace.json"),
    (Cursor, Mcp, ".cursor-plugin/mcp.json"),
    (Cursor, Hooks, ".cursor-plugin/hooks.json"),
    (Portable, Plugin, "plugin.json"),
    (Portable, Mcp, "mcp.json"),
];

fn good(host: BuiltInHost, kind: DocumentKind) -> String {
    let row = DOCUMENTS.iter().find(|(h, k, _)| (*h, *k) == (host, kind)).unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/artifacts/bench-board");
    std::fs::read_to_string(root.join(row.2)).unwrap()
}

fn check(host: BuiltInHost, kind: DocumentKind, text: &str) -> Vec<DocumentFault> {
    check_document(host, kind, text.as_bytes()).unwrap()
}

#[test]
fn documents_in_the_published_forms_have_no_fault() {
    for (host, kind, path) in DOCUMENTS {
        assert_eq!(check(*host, *kind, &good(*host, *kind)), [], "{path}");
    }
    let shields = [
        (Codex, Mcp, r#"{"mcpServers":{}}"#),
        (Codex, Hooks, r#"{"hooks":{}}"#),
        (Cursor, Hooks, r#"{"hooks":{},"version":1}"#),
        (Claude, Mcp, r#"{"bench":{"command":"node","args":[]}}"#),
        (Claude, Mcp, r#"{"x":{"type":"http","url":"https://x.example/mcp","headers":{"A":"b"}}}"#),
        (
            Claude,
            Plugin,
            r#"{"name":"x","description":"d","author":{"name":"a"},"agents":["./a.md"]}"#,
        ),
    ];
    for (host, kind, text) in shields {
        assert_eq!(check(host, kind, text), [], "{text}");
    }
}

const SERVERS: &str = r#""mcpServers":{"#;

/// One replacement in a good document, and the one fault it makes.
#[test]
fn single_faults_are_found_where_they_are() {
    let table: &[(BuiltInHost, DocumentKind, &str, &str, Severity, &str)] = &[
        (
            Claude,
            Plugin,
            r#""name":"bench-board","version""#,
            r#""version""#,
            Error,
            "has no `name`",
        ),
        (
            Claude,
            Plugin,
            r#""version":"0.3.0""#,
            r#""version":3"#,
            Error,
            "version: a number where a string",
        ),
        (
            Claude,
            Plugin,
            r#"{"author":{"#,
            r#"{"authors":1,"author":{"#,
            Warning,
            "`authors` is not a known key",
        ),
        (
            Claude,
            Plugin,
            r#"{"author":"#,
            r#"{"hooks":"../hooks.json","author":"#,
            Error,
            "does not begin with `./`",
        ),
        (
            Claude,
            Marketplace,
            r#""source":"./""#,
            r#""source":"../x""#,
            Error,
            "plugins.0.source: `../x`",
        ),
        (
            Claude,
            Marketplace,
            r#""source":"./""#,
            r#""source":"github:o/r""#,
            Error,
            "plugins.0.source",
        ),
        (
            Claude,
            Marketplace,
            r#""source":"./""#,
            r#""source":{"source":"ipfs","cid":"x"}"#,
            Warning,
            "`ipfs` is not a known source kind",
        ),
        (
            Claude,
            Mcp,
            r#""command":"node","#,
            "",
            Error,
            "mcpServers.bench: a server has no `command`",
        ),
        (
            Claude,
            Mcp,
            SERVERS,
            r#""mcpServers":{"t":{"type":"http","url":"ftp://x"},"#,
            Error,
            "mcpServers.t.url",
        ),
        (
            Claude,
            Hooks,
            "SessionStart",
            "sessionStart",
            Warning,
            "`sessionStart` is not a known event",
        ),
        (Claude, Hooks, r#""timeout":5"#, r#""timeout":0"#, Error, "not above 0"),
        (Claude, Hooks, r#"{"hooks":{"#, r#"{"hoks":{"#, Error, "has no `hooks`"),
        (Codex, Marketplace, "AVAILABLE", "SOMETIMES", Error, "`SOMETIMES` is not a known value"),
        (Codex, Marketplace, r#""path":"./""#, r#""path":"/abs""#, Error, "plugins.0.source.path"),
        (Codex, Plugin, "./.codex-plugin/mcp.json", "./../mcp.json", Error, "leaves the root"),
        (
            Codex,
            Hooks,
            "SessionStart",
            "Notification",
            Warning,
            "`Notification` is not a known event",
        ),
        (
            Cursor,
            Plugin,
            r#""name":"bench-board","repo"#,
            r#""name":"Bench_Board","repo"#,
            Error,
            "name: `Bench_Board`",
        ),
        (Cursor, Hooks, r#""version":1"#, r#""version":2"#, Error, "version: 2 where the number 1"),
        (Cursor, Hooks, r#","version":1"#, "", Error, "has no `version`"),
        (
            Cursor,
            Hooks,
            "postToolUse",
            "PostToolUse",
            Warning,
            "`PostToolUse` is not a known event",
        ),
        (
            Portable,
            Mcp,
            r#""command":"node""#,
            r#""command":"${PLUGIN_ROOT}/x""#,
            Error,
            "placeholder",
        ),
        (
            Portable,
            Mcp,
            r#""AGENT_BUNDLE_PLUGIN_ROOT":"#,
            r#""PLUGIN_ROOT":"#,
            Error,
            "set by the host itself",
        ),
        (
            Portable,
            Mcp,
            SERVERS,
            r#""mcpServers":{"t":{"type":"sse","url":"http://x.example/"},"#,
            Error,
            "not an https address",
        ),
        (
            Portable,
            Mcp,
            SERVERS,
            r#""mcpServers":{"t":{"type":"sse","url":"https://me@x.example/"},"#,
            Error,
            "holds a user name",
        ),
        (Portable, Plugin, "agent-plugins.org/schemas/1.0.0", "example.org", Error, "$schema"),
    ];
    for (host, kind, from, to, severity, message) in table {
        let before = good(*host, *kind);
        let text = before.replacen(from, to, 1);
        assert_ne!(text, before, "`{from}` stands in the document");
        let faults = check(*host, *kind, &text);
        let found: Vec<_> = faults.iter().filter(|f| f.message.contains(message)).collect();
        assert_eq!(found.len(), 1, "{to}: {faults:?}");
        assert_eq!(found[0].severity, *severity, "{to}");
        let errors = faults.iter().filter(|fault| fault.severity == Error).count();
        assert!(errors <= 1, "{to}: {faults:?}");
    }
}

#[test]
fn another_hosts_spelling_is_answered_with_this_hosts() {
    let text = r#"{"hooks":{"sessionStart":[],"beforeSubmitPrompt":[],"madeUp":[]}}"#;
    let helps: Vec<_> =
        check(Claude, Hooks, text).into_iter().map(|fault| fault.help.unwrap()).collect();
    assert_eq!(helps[0], "did you mean `SessionStart`?");
    assert_eq!(helps[1], "did you mean `UserPromptSubmit`?");
    assert!(helps[2].starts_with("a newer host may know it"));
}

#[test]
fn a_key_that_stands_twice_is_an_error_at_the_second() {
    let text = r#"{"name":"demo","name":"evil"}"#;
    let faults = check(Claude, Plugin, text);
    assert_eq!((faults[0].severity, faults[0].span.clone()), (Error, 15..21));
    assert!(check_document(Claude, Plugin, b"\xef\xbb\xbf{}").is_err());
}

#[test]
fn names_are_checked_as_each_host_does() {
    for name in ["a", "bench-board", "a.b", "0a"] {
        assert_eq!(cursor_plugin_name(name), Ok(()), "{name}");
    }
    for name in ["", "A", "a-", ".a", "a_b", &"a".repeat(65)] {
        assert!(cursor_plugin_name(name).is_err(), "{name}");
    }
    for name in ["My_Plugin", "a", "x.y-z"] {
        assert_eq!(amp_plugin_name(name), Ok(()), "{name}");
    }
    for name in ["../../escape", "", ".x", "a/b", "con", "x."] {
        assert!(amp_plugin_name(name).is_err(), "{name}");
    }
}

proptest! {
    #[test]
    fn no_text_panics(text in r#"[\[\]{}":,a-z0-9 ]{0,60}"#, at in 0..DOCUMENTS.len()) {
        let (host, kind, _) = DOCUMENTS[at];
        let _ = check_document(host, kind, text.as_bytes());
    }
}
