//! Cursor's documents (build reference 4.3): camel-case events, an integer `version` in the hooks
//! document, no `type` on servers.

use holdall_artifact::json::Node;
use holdall_artifact::model::BuiltInHost;

use super::shape::{
    ARGUMENTS, Keyed, Object, PERSON, Shape, TEXT_MAP, TEXTS, address, any_text, may, need, pointer,
};
use crate::events;

/// Checks a plugin name: `^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$`, 64 at most.
pub fn cursor_plugin_name(name: &str) -> Result<(), String> {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = name.as_bytes();
    let ends = bytes.first().is_some_and(|&b| inner(b)) && bytes.last().is_some_and(|&b| inner(b));
    let all = bytes.iter().all(|&byte| inner(byte) || matches!(byte, b'.' | b'-'));
    if ends && all && name.len() <= 64 {
        return Ok(());
    }
    Err(format!(
        "`{name}` is not a plugin name for Cursor: lower-case letters, digits, `.` and `-`, \
         beginning and ending with a letter or digit, 64 at most"
    ))
}

pub(super) const PLUGIN: Shape = Shape::Object(&Object {
    what: "a plugin manifest",
    fields: &[
        need("name", Shape::Checked(cursor_plugin_name)),
        may("version", Shape::Text),
        may("displayName", Shape::Text),
        may("description", Shape::Text),
        may("author", PERSON),
        may("publisher", Shape::Text),
        may("homepage", Shape::Text),
        may("repository", Shape::Text),
        may("license", Shape::Text),
        may("keywords", TEXTS),
        may("tags", TEXTS),
        may("category", Shape::Text),
        may("logo", Shape::Text),
        may("commands", POINTER),
        may("rules", POINTER),
        may("skills", POINTER),
        may("agents", POINTER),
        may("hooks", POINTER),
        may("mcpServers", POINTER),
        may("minClientVersions", Shape::Any),
        may("variables", Shape::Map(&Shape::Any)),
        may("$schema", Shape::Text),
    ],
});

const POINTER: Shape = Shape::Either {
    text: Some(&Shape::Checked(pointer)),
    list: Some(&Shape::List(&Shape::Checked(pointer))),
    object: Some(&Shape::Any),
};

pub(super) const MARKETPLACE: Shape = Shape::Object(&Object {
    what: "a marketplace",
    fields: &[
        need("name", Shape::Text),
        need("owner", PERSON),
        need("plugins", Shape::List(&ENTRY)),
        may("description", Shape::Text),
        may("metadata", Shape::Any),
        may("$schema", Shape::Text),
    ],
});

const ENTRY: Shape = Shape::Object(&Object {
    what: "a marketplace entry",
    fields: &[
        need("name", Shape::Checked(cursor_plugin_name)),
        need("source", Shape::Checked(source)),
        may("description", Shape::Text),
        may("version", Shape::Text),
        may("category", Shape::Text),
        may("keywords", TEXTS),
    ],
});

/// A directory of the marketplace, with or without `./`.
fn source(text: &str) -> Result<(), String> {
    let rest = text.strip_prefix("./").unwrap_or(text);
    let leaves = rest.starts_with('/') || rest.contains('\\') || rest.split('/').any(|p| p == "..");
    if leaves || text.is_empty() { Err(format!("`{text}` leaves the marketplace")) } else { Ok(()) }
}

pub(super) const MCP: Shape = Shape::Object(&Object {
    what: "an MCP document",
    fields: &[need("mcpServers", Shape::Map(&Shape::Chosen(server))), may("$schema", Shape::Text)],
});

fn server(node: Node<'_>) -> Shape {
    if node.get("url").is_some() { REMOTE } else { STDIO }
}

const STDIO: Shape = Shape::Object(&Object {
    what: "a server",
    fields: &[
        need("command", Shape::Text),
        may("args", ARGUMENTS),
        may("env", TEXT_MAP),
        may("envFile", Shape::Text),
        may("cwd", Shape::Text),
        may("type", Shape::OpenWord("transport", &["stdio"])),
    ],
});

const REMOTE: Shape = Shape::Object(&Object {
    what: "a remote server",
    fields: &[
        need("url", Shape::Checked(address)),
        may("headers", TEXT_MAP),
        may("auth", Shape::Any),
    ],
});

pub(super) const HOOKS: Shape = Shape::Object(&Object {
    what: "a hooks document",
    fields: &[need("version", Shape::Integer(1)), need("hooks", Shape::Keyed(&BY_EVENT))],
});

const BY_EVENT: Keyed = Keyed {
    what: "event of Cursor",
    known: &[
        "sessionStart",
        "sessionEnd",
        "beforeSubmitPrompt",
        "preToolUse",
        "postToolUse",
        "postToolUseFailure",
        "stop",
        "subagentStart",
        "subagentStop",
        "preCompact",
        "workspaceOpen",
        "beforeShellExecution",
        "afterShellExecution",
        "beforeMCPExecution",
        "afterMCPExecution",
        "beforeReadFile",
        "afterFileEdit",
        "afterAgentResponse",
        "afterAgentThought",
    ],
    elsewhere: |name| events::spelling_for(BuiltInHost::Cursor, name),
    value: Shape::List(&HOOK),
};

const HOOK: Shape = Shape::Object(&Object {
    what: "a hook",
    fields: &[
        need("command", Shape::Text),
        may("matcher", Shape::Checked(any_text)),
        may("timeout", Shape::Positive),
        may("type", Shape::OpenWord("hook type", &["command"])),
        may("failClosed", Shape::Bool),
    ],
});
