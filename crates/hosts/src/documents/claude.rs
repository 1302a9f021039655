//! Claude Code's documents (build reference 4.1), tempered by what published ones hold.

use holdall_artifact::json::Node;
use holdall_artifact::model::BuiltInHost;

use super::shape::{
    ARGUMENTS, Keyed, Object, PERSON, Shape, TEXT_MAP, TEXTS, address, any_text, may, need, pointer,
};
use crate::events;

/// A component pointer: one path, a list of paths, or the thing itself.
const COMPONENT: Shape = Shape::Either {
    text: Some(&Shape::Checked(pointer)),
    list: Some(&Shape::List(&Shape::Any)),
    object: Some(&Shape::Any),
};

pub(super) const PLUGIN: Shape = Shape::Object(&Object {
    what: "a plugin manifest",
    fields: &[
        need("name", Shape::Checked(plugin_name)),
        may("version", Shape::Text),
        may("description", Shape::Text),
        may("displayName", Shape::Text),
        may("author", PERSON),
        may("license", Shape::Text),
        may("keywords", TEXTS),
        may("homepage", Shape::Text),
        may("repository", Shape::Text),
        may("category", Shape::Text),
        may("tags", TEXTS),
        may("$schema", Shape::Text),
        may("commands", COMPONENT),
        may("agents", COMPONENT),
        may("skills", COMPONENT),
        may("hooks", COMPONENT),
        may("mcpServers", COMPONENT),
        may("lspServers", COMPONENT),
        may("outputStyles", COMPONENT),
        may("themes", COMPONENT),
        may("monitors", COMPONENT),
        may("workflows", COMPONENT),
        may("channels", Shape::Any),
        may("dependencies", Shape::Any),
        may("defaultEnabled", Shape::Bool),
        may("metadata", Shape::Any),
        may("userConfig", Shape::Map(&Shape::Any)),
        may("settings", Shape::Any),
        may("experimental", Shape::Any),
    ],
});

/// The host names directories and settings keys after it.
pub(super) fn plugin_name(text: &str) -> Result<(), String> {
    if text.is_empty() || text.contains(char::is_whitespace) || text.contains(['/', '\\', '@']) {
        return Err(format!("`{text}` is not a plugin name: no blanks, `/`, `\\` or `@`"));
    }
    Ok(())
}

pub(super) const MARKETPLACE: Shape = Shape::Object(&Object {
    what: "a marketplace",
    fields: &[
        need("name", Shape::Checked(plugin_name)),
        need("owner", PERSON),
        need("plugins", Shape::List(&ENTRY)),
        may("description", Shape::Text),
        may("metadata", Shape::Any),
        may("interface", Shape::Any),
        may("version", Shape::Text),
        may("$schema", Shape::Text),
        may("renames", Shape::Any),
        may("forceRemoveDeletedPlugins", Shape::Bool),
        may("allowCrossMarketplaceDependenciesOn", Shape::Any),
    ],
});

const ENTRY: Shape = Shape::Object(&Object {
    what: "a marketplace entry",
    fields: &[
        need("name", Shape::Checked(plugin_name)),
        need("source", SOURCE),
        may("description", Shape::Text),
        may("displayName", Shape::Text),
        may("category", Shape::Text),
        may("author", PERSON),
        may("homepage", Shape::Text),
        may("repository", Shape::Text),
        may("version", Shape::Text),
        may("license", Shape::Text),
        may("policy", Shape::Any),
        may("strict", Shape::Bool),
        may("keywords", TEXTS),
        may("tags", TEXTS),
        may("commands", COMPONENT),
        may("agents", COMPONENT),
        may("skills", COMPONENT),
        may("hooks", COMPONENT),
        may("mcpServers", COMPONENT),
        may("lspServers", COMPONENT),
        may("outputStyles", COMPONENT),
        may("dependencies", Shape::Any),
        may("metadata", Shape::Any),
        may("defaultEnabled", Shape::Bool),
    ],
});

/// Where an entry's plugin comes from: a path of the marketplace, or an object that says.
const SOURCE: Shape = Shape::Either {
    text: Some(&Shape::Checked(local_source)),
    list: None,
    object: Some(&Shape::Chosen(source_object)),
};

/// What 2.1.332 takes: `.`, `./` and paths below.
fn local_source(text: &str) -> Result<(), String> {
    if text == "." { Ok(()) } else { pointer(text) }
}

fn source_object(node: Node<'_>) -> Shape {
    let kind = node.get("source").and_then(|kind| kind.text().map(|text| text.into_owned()));
    match kind.as_deref() {
        Some("github") => GITHUB,
        Some("url" | "git") => GIT_URL,
        Some("git-subdir") => GIT_SUBDIR,
        Some("npm") => NPM,
        _ => UNKNOWN_SOURCE,
    }
}

const KINDS: Shape = Shape::OpenWord("source kind", &["github", "url", "git-subdir", "npm"]);

const GITHUB: Shape = Shape::Object(&Object {
    what: "a github source",
    fields: &[
        need("source", KINDS),
        need("repo", Shape::Text),
        may("ref", Shape::Text),
        may("sha", Shape::Checked(commit)),
        may("path", Shape::Text),
    ],
});

const GIT_URL: Shape = Shape::Object(&Object {
    what: "a url source",
    fields: &[
        need("source", Shape::Any),
        need("url", Shape::Text),
        may("ref", Shape::Text),
        may("sha", Shape::Checked(commit)),
        may("path", Shape::Text),
    ],
});

const GIT_SUBDIR: Shape = Shape::Object(&Object {
    what: "a git-subdir source",
    fields: &[
        need("source", KINDS),
        need("url", Shape::Text),
        need("path", Shape::Text),
        may("ref", Shape::Text),
        may("sha", Shape::Checked(commit)),
    ],
});

const NPM: Shape = Shape::Object(&Object {
    what: "an npm source",
    fields: &[
        need("source", KINDS),
        need("package", Shape::Text),
        may("version", Shape::Text),
        may("registry", Shape::Text),
    ],
});

/// A kind that only a newer host knows costs a warning, and never the other entries.
const UNKNOWN_SOURCE: Shape =
    Shape::Object(&Object { what: "a source", fields: &[need("source", KINDS)] });

fn commit(text: &str) -> Result<(), String> {
    let full = text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if full { Ok(()) } else { Err(format!("`{text}` is not a full commit (40 hex digits)")) }
}

/// A server map bare or below `mcpServers`: both are published, and both are read.
pub(super) const MCP: Shape = Shape::Chosen(|node| match node.get("mcpServers") {
    Some(_) => MCP_WRAPPED,
    None => SERVERS,
});

const MCP_WRAPPED: Shape = Shape::Object(&Object {
    what: "an MCP document",
    fields: &[need("mcpServers", SERVERS), may("$schema", Shape::Text)],
});

const SERVERS: Shape = Shape::Map(&Shape::Chosen(server));

fn server(node: Node<'_>) -> Shape {
    match node.get("type").and_then(|kind| kind.text()).as_deref() {
        Some("http" | "sse" | "ws" | "streamable-http") => REMOTE,
        None if node.get("command").is_none() && node.get("url").is_some() => REMOTE,
        _ => STDIO,
    }
}

const STDIO: Shape = Shape::Object(&Object {
    what: "a server",
    fields: &[
        may("type", Shape::OpenWord("transport", &["stdio"])),
        need("command", Shape::Text),
        may("args", ARGUMENTS),
        may("env", TEXT_MAP),
        may("cwd", Shape::Text),
        may("timeout", Shape::Positive),
        may("alwaysLoad", Shape::Bool),
    ],
});

const REMOTE: Shape = Shape::Object(&Object {
    what: "a remote server",
    fields: &[
        may("type", Shape::OpenWord("transport", &["http", "sse", "ws", "streamable-http"])),
        need("url", Shape::Checked(address)),
        may("headers", TEXT_MAP),
        may("headersHelper", Shape::Text),
        may("oauth", Shape::Any),
        may("timeout", Shape::Positive),
        may("alwaysLoad", Shape::Bool),
    ],
});

pub(super) const HOOKS: Shape = Shape::Object(&Object {
    what: "a hooks document",
    fields: &[
        need("hooks", Shape::Keyed(&BY_EVENT)),
        may("description", Shape::Checked(any_text)),
        may("$schema", Shape::Text),
    ],
});

const BY_EVENT: Keyed = Keyed {
    what: "event of Claude Code",
    known: &CLAUDE_EVENTS,
    elsewhere: |name| events::spelling_for(BuiltInHost::Claude, name),
    value: Shape::List(&GROUP),
};

/// The canonical events and those that the host has beyond them.
const CLAUDE_EVENTS: [&str; 25] = [
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PermissionRequest",
    "PermissionDenied",
    "Notification",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "TeammateIdle",
    "PreCompact",
    "PostCompact",
    "FileChanged",
    "ConfigChange",
    "TaskCreated",
    "TaskCompleted",
    "PreModelSwitch",
    "PostModelSwitch",
    "InstructionsLoaded",
    "Elicitation",
];

/// A matcher with its handlers; Codex has the same form.
pub(super) const GROUP: Shape = Shape::Object(&Object {
    what: "a hook group",
    fields: &[
        may("matcher", Shape::Checked(any_text)),
        need("hooks", Shape::List(&Shape::Chosen(handler))),
    ],
});

fn handler(node: Node<'_>) -> Shape {
    match node.get("type").and_then(|kind| kind.text()).as_deref() {
        None | Some("command") => COMMAND,
        _ => OTHER_HANDLER,
    }
}

const COMMAND: Shape = Shape::Object(&Object {
    what: "a command hook",
    fields: &[
        need("type", Shape::Word(&["command"])),
        need("command", Shape::Text),
        may("args", ARGUMENTS),
        may("timeout", Shape::Positive),
        may("statusMessage", Shape::Text),
        may("async", Shape::Bool),
        may("asyncRewake", Shape::Bool),
        may("once", Shape::Bool),
        may("if", Shape::Text),
        may("shell", Shape::Text),
    ],
});

/// Prompts, agents and addresses take keys of their own, which are the host's to judge.
const OTHER_HANDLER: Shape = Shape::Map(&Shape::Any);
