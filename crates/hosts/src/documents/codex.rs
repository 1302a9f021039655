//! Codex's documents (build reference 4.2). Codex drops a *whole* marketplace for one policy word
//! it does not know, so those words are closed here.

use holdall_artifact::json::Node;
use holdall_artifact::model::BuiltInHost;

use super::claude::{GROUP, plugin_name};
use super::shape::{
    ARGUMENTS, Keyed, Object, PERSON, Shape, TEXT_MAP, TEXTS, address, any_text, may, need, pointer,
};
use crate::events;

pub(super) const PLUGIN: Shape = Shape::Object(&Object {
    what: "a plugin manifest",
    fields: &[
        need("name", Shape::Checked(plugin_name)),
        may("version", Shape::Text),
        may("description", Shape::Text),
        may("author", PERSON),
        may("homepage", Shape::Text),
        may("repository", Shape::Text),
        may("license", Shape::Text),
        may("keywords", TEXTS),
        may("skills", POINTER),
        may("hooks", POINTER),
        may("mcpServers", POINTER),
        may("apps", POINTER),
        may("interface", INTERFACE),
        may("$schema", Shape::Text),
    ],
});

const POINTER: Shape = Shape::Either {
    text: Some(&Shape::Checked(pointer)),
    list: Some(&Shape::List(&Shape::Checked(pointer))),
    object: Some(&Shape::Any),
};

/// Without this block the host lists nothing of the plugin in its screens.
const INTERFACE: Shape = Shape::Object(&Object {
    what: "an interface",
    fields: &[
        may("displayName", Shape::Text),
        may("shortDescription", Shape::Text),
        may("longDescription", Shape::Text),
        may("developerName", Shape::Text),
        may("category", Shape::Text),
        may("capabilities", TEXTS),
        may("defaultPrompt", PROMPTS),
        may("logo", Shape::Checked(pointer)),
        may("logoDark", Shape::Checked(pointer)),
        may("composerIcon", Shape::Checked(pointer)),
        may("brandColor", Shape::Text),
        may("websiteURL", Shape::Text),
        may("privacyPolicyURL", Shape::Text),
        may("termsOfServiceURL", Shape::Text),
        may("screenshots", Shape::List(&Shape::Checked(pointer))),
    ],
});

const PROMPTS: Shape = Shape::Either {
    text: Some(&Shape::Checked(prompt)),
    list: Some(&Shape::List(&Shape::Checked(prompt))),
    object: None,
};

fn prompt(text: &str) -> Result<(), String> {
    match text.chars().count() {
        0..=128 => Ok(()),
        n => Err(format!("a prompt of {n} characters; the host takes 128")),
    }
}

pub(super) const MARKETPLACE: Shape = Shape::Object(&Object {
    what: "a marketplace",
    fields: &[
        need("name", Shape::Checked(plugin_name)),
        need("plugins", Shape::List(&ENTRY)),
        may("interface", INTERFACE),
        may("$schema", Shape::Text),
        may("description", Shape::Text),
        may("owner", PERSON),
        may("metadata", Shape::Any),
    ],
});

const ENTRY: Shape = Shape::Object(&Object {
    what: "a marketplace entry",
    fields: &[
        need("name", Shape::Checked(plugin_name)),
        need("source", SOURCE),
        may("category", Shape::Text),
        may("policy", POLICY),
        may("description", Shape::Text),
        may("version", Shape::Text),
        may("author", PERSON),
        may("homepage", Shape::Text),
        may("license", Shape::Text),
        may("keywords", TEXTS),
        may("interface", INTERFACE),
    ],
});

const SOURCE: Shape = Shape::Either {
    text: Some(&Shape::Checked(pointer)),
    list: None,
    object: Some(&Shape::Chosen(source)),
};

fn source(node: Node<'_>) -> Shape {
    match node.get("source").and_then(|kind| kind.text()).as_deref() {
        Some("local") => LOCAL,
        _ => OTHER_SOURCE,
    }
}

const LOCAL: Shape = Shape::Object(&Object {
    what: "a local source",
    fields: &[need("source", Shape::Any), need("path", Shape::Checked(pointer))],
});

const OTHER_SOURCE: Shape = Shape::Object(&Object {
    what: "a source",
    fields: &[
        need("source", Shape::OpenWord("source kind", &["local", "url", "git-subdir"])),
        may("url", Shape::Text),
        may("path", Shape::Text),
        may("ref", Shape::Text),
        may("sha", Shape::Text),
    ],
});

const POLICY: Shape = Shape::Object(&Object {
    what: "a policy",
    fields: &[
        may("installation", Shape::Word(&["AVAILABLE", "INSTALLED_BY_DEFAULT", "NOT_AVAILABLE"])),
        may("authentication", Shape::Word(&["ON_INSTALL", "ON_USE"])),
        may("products", TEXTS),
    ],
});

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
        may("type", Shape::OpenWord("transport", &["stdio"])),
        need("command", Shape::Text),
        may("args", ARGUMENTS),
        may("cwd", Shape::Text),
        may("env", TEXT_MAP),
        may("env_vars", TEXTS),
        may("startup_timeout_sec", Shape::Positive),
        may("tool_timeout_sec", Shape::Positive),
        may("enabled", Shape::Bool),
    ],
});

const REMOTE: Shape = Shape::Object(&Object {
    what: "a remote server",
    fields: &[
        may("type", Shape::OpenWord("transport", &["streamable-http", "http"])),
        need("url", Shape::Checked(address)),
        may("headers", TEXT_MAP),
        may("http_headers", TEXT_MAP),
        may("bearer_token_env_var", Shape::Text),
        may("startup_timeout_sec", Shape::Positive),
        may("tool_timeout_sec", Shape::Positive),
        may("enabled", Shape::Bool),
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
    what: "event of Codex",
    known: &[
        "SessionStart",
        "SessionEnd",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PermissionRequest",
        "Stop",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
        "PostCompact",
    ],
    elsewhere: |name| events::spelling_for(BuiltInHost::Codex, name),
    value: Shape::List(&GROUP),
};
