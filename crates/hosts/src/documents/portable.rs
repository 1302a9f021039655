//! The portable documents: Agent Plugins 1.0.0 (build reference 4.4).

use holdall_artifact::json::Node;

use super::shape::{ARGUMENTS, Object, PERSON, Shape, TEXTS, any_text, may, need, web_address};

pub(super) const PLUGIN: Shape = Shape::Object(&Object {
    what: "a plugin manifest",
    fields: &[
        need("$schema", Shape::Checked(schema)),
        need("name", Shape::Text),
        may("version", Shape::Text),
        may("description", Shape::Text),
        may("author", PERSON),
        may("homepage", Shape::Text),
        may("repository", Shape::Text),
        may("license", Shape::Text),
        may("keywords", TEXTS),
        may("extensions", Shape::Map(&Shape::Any)),
    ],
});

fn schema(text: &str) -> Result<(), String> {
    let known = text.starts_with("https://agent-plugins.org/schemas/1.");
    if known { Ok(()) } else { Err(format!("`{text}` is no schema of Agent Plugins 1")) }
}

pub(super) const MCP: Shape = Shape::Object(&Object {
    what: "an MCP document",
    fields: &[
        need("$schema", Shape::Checked(schema)),
        need("mcpServers", Shape::Map(&Shape::Chosen(server))),
    ],
});

fn server(node: Node<'_>) -> Shape {
    if node.get("url").is_some() { REMOTE } else { STDIO }
}

const STDIO: Shape = Shape::Object(&Object {
    what: "a server",
    fields: &[
        need("type", Shape::Word(&["stdio"])),
        need("command", Shape::Checked(command)),
        may("args", ARGUMENTS),
        may("cwd", Shape::Text),
        may("env", Shape::MapOf(variable, &Shape::Checked(any_text))),
    ],
});

const REMOTE: Shape = Shape::Object(&Object {
    what: "a remote server",
    fields: &[
        need("type", Shape::Word(&["streamable-http", "sse"])),
        need("url", Shape::Checked(remote)),
        may("headers", Shape::MapOf(header, &Shape::Checked(any_text))),
    ],
});

/// A bare name or a file of the root; no placeholder is ever expanded in it.
fn command(text: &str) -> Result<(), String> {
    if text.contains("${") {
        return Err(format!("`{text}` has a placeholder, which is not expanded in a command"));
    }
    if text.is_empty() || (text.contains('/') && super::shape::pointer(text).is_err()) {
        return Err(format!("`{text}` is neither a bare name nor a `./` path of the root"));
    }
    Ok(())
}

fn remote(text: &str) -> Result<(), String> {
    web_address(text)?;
    let authority = text.split("//").nth(1).unwrap_or_default();
    let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err(format!("`{text}` holds a user name"));
    }
    if text.contains('#') {
        return Err(format!("`{text}` has a fragment"));
    }
    Ok(())
}

/// The two names that the host sets itself may not be set by a plugin.
fn variable(name: &str) -> Result<(), String> {
    if matches!(name, "PLUGIN_ROOT" | "PLUGIN_DATA") {
        return Err(format!("`{name}` is set by the host itself"));
    }
    Ok(())
}

/// ASCII, as HTTP has it.
fn header(name: &str) -> Result<(), String> {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let good = !name.is_empty() && name.bytes().all(token);
    if good { Ok(()) } else { Err(format!("`{name}` is not a header name")) }
}
