//! The documents an artifact holds for each agent host, and what that host makes of them.
//!
//! Plugin manifests, marketplaces, MCP documents and hooks documents are judged by what the host
//! accepts: a value of the wrong type, a missing key, a source that leaves the root are errors,
//! since the host refuses the document for them; an unknown key, event or source kind is a
//! warning, since a newer host may know it (and dropping one entry of a marketplace must never
//! cost the others). The shapes are tables (`shape.rs`), one module a host.

mod amp;
mod claude;
mod codex;
mod cursor;
mod portable;
mod shape;

use std::ops::Range;

use holdall_artifact::json::{Document, TextError};
use holdall_artifact::model::BuiltInHost;
use holdall_diagnostics::Severity;

pub use amp::{AMP_ENTRY_LIMIT, amp_plugin_name};
pub use cursor::cursor_plugin_name;

/// Which document of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DocumentKind {
    /// `.claude-plugin/plugin.json` and its like.
    Plugin,
    /// The document that offers the plugin.
    Marketplace,
    /// The servers.
    Mcp,
    /// The hooks.
    Hooks,
}

impl DocumentKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Plugin, Self::Marketplace, Self::Mcp, Self::Hooks];

    /// The key of `projections[].documents` that points at it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Plugin => "plugin",
            Self::Marketplace => "marketplace",
            Self::Mcp => "mcp",
            Self::Hooks => "hooks",
        }
    }
}

/// What kind of rule a fault breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultRule {
    /// Types, keys, words: what a schema can say.
    Shape,
    /// The form of a text: what only code can say.
    Text,
}

/// One finding in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentFault {
    /// The bytes it is about.
    pub span: Range<usize>,
    /// Whether the host refuses the document for it.
    pub severity: Severity,
    /// What kind of rule is broken.
    pub rule: FaultRule,
    /// What is wrong, with the place in dotted form: `plugins.0.source: …`.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

/// Reads and judges a document of a host. A host that has no document of the kind accepts
/// anything. The error is that of a text that is no JSON at all.
pub fn check_document(
    host: BuiltInHost,
    kind: DocumentKind,
    bytes: &[u8],
) -> Result<Vec<DocumentFault>, TextError> {
    let document = Document::parse(bytes)?;
    let mut faults: Vec<DocumentFault> = document
        .duplicates()
        .iter()
        .map(|duplicate| DocumentFault {
            span: duplicate.second_span.clone(),
            severity: Severity::Error,
            rule: FaultRule::Shape,
            message: format!(
                "the key {} stands twice in one object",
                &document.text()[duplicate.second_span.clone()]
            ),
            help: Some("keep one of them; readers differ in which they take".to_owned()),
        })
        .collect();
    let shape = match (host, kind) {
        (BuiltInHost::Claude, DocumentKind::Plugin) => claude::PLUGIN,
        (BuiltInHost::Claude, DocumentKind::Marketplace) => claude::MARKETPLACE,
        (BuiltInHost::Claude, DocumentKind::Mcp) => claude::MCP,
        (BuiltInHost::Claude, DocumentKind::Hooks) => claude::HOOKS,
        (BuiltInHost::Codex, DocumentKind::Plugin) => codex::PLUGIN,
        (BuiltInHost::Codex, DocumentKind::Marketplace) => codex::MARKETPLACE,
        (BuiltInHost::Codex, DocumentKind::Mcp) => codex::MCP,
        (BuiltInHost::Codex, DocumentKind::Hooks) => codex::HOOKS,
        (BuiltInHost::Cursor, DocumentKind::Plugin) => cursor::PLUGIN,
        (BuiltInHost::Cursor, DocumentKind::Marketplace) => cursor::MARKETPLACE,
        (BuiltInHost::Cursor, DocumentKind::Mcp) => cursor::MCP,
        (BuiltInHost::Cursor, DocumentKind::Hooks) => cursor::HOOKS,
        (BuiltInHost::Portable, DocumentKind::Plugin) => portable::PLUGIN,
        (BuiltInHost::Portable, DocumentKind::Mcp) => portable::MCP,
        (BuiltInHost::Amp | BuiltInHost::Portable, _) => return Ok(faults),
    };
    shape::check(&shape, document.root(), &mut faults);
    faults.sort_by_key(|fault| (fault.span.start, fault.span.end));
    Ok(faults)
}
