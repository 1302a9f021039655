//! What Holdall says about a file: one value, many renderings.
//!
//! A [`Diagnostic`] names a stable [`Code`], a severity, a file, a place in it, what is wrong and
//! what to do. Libraries make these values and never print; the binary renders them once, as
//! text, JSON, SARIF or GitHub workflow commands. Every crate lists the codes it owns in a
//! `CODES` table, so that `holdall explain CODE` and `docs/diagnostics.md` come from the code.

mod escape;
mod github;
mod policy;
mod registry;
mod sarif;
mod source;
mod table;
mod text;

pub use escape::{escape_foreign, is_hidden};
pub use github::github_commands;
pub use policy::{Policy, PolicyError, Summary};
pub use registry::{Registry, UnknownCode};
pub use sarif::{SarifTool, sarif};
pub use source::{Position, SourceText, Span};
pub use text::render_text;

use serde::Serialize;

/// How much a finding weighs. `--strict` turns warnings into errors at the edge, not here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something worth knowing; never changes an exit code.
    Info,
    /// Works today, but is likely not what was meant.
    Warning,
    /// Wrong: the command fails with exit code 1.
    Error,
}

impl Severity {
    /// The word used in every rendering: `info`, `warning` or `error`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A stable diagnostic code and what `holdall explain` says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code {
    /// `AB6001`, `PK0104`, `AO0101`, `HD0101`: never reused, never renumbered.
    pub id: &'static str,
    /// The severity unless the place that reports it says otherwise.
    pub severity: Severity,
    /// One line, lower case, without a full stop.
    pub title: &'static str,
    /// A paragraph or two in Markdown: when it is given, why it matters, what to do.
    pub explain: &'static str,
}

/// One finding.
///
/// Serialised it is the same object in every `--json` answer: `code severity message path? span?
/// {start {line, column, offset}, end} help? target?`; texts are exact there, nothing is escaped
/// beyond what JSON asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// Which kind of fault.
    pub code: &'static str,
    /// How bad it is here.
    pub severity: Severity,
    /// What is wrong, as a lower-case fragment that names the offending value.
    pub message: String,
    /// The file, relative to the working directory where there is one; `/`-separated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The place in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// The agent host it concerns, where only one is meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The text that `span` points into, so that a renderer can quote the line.
    #[serde(skip)]
    pub source: Option<SourceText>,
}

impl Diagnostic {
    /// A finding of `code` at its usual severity.
    pub fn new(code: &Code, message: impl Into<String>) -> Self {
        Self {
            code: code.id,
            severity: code.severity,
            message: message.into(),
            path: None,
            span: None,
            help: None,
            target: None,
            source: None,
        }
    }

    /// Sets the file.
    #[must_use]
    pub fn at(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Points at a byte range of `source`, and keeps the source for quoting.
    #[must_use]
    pub fn span(mut self, source: &SourceText, range: std::ops::Range<usize>) -> Self {
        self.span = Some(source.span(range));
        self.source = Some(source.clone());
        self
    }

    /// Sets the next step.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Sets the agent host it concerns.
    #[must_use]
    pub fn target(mut self, target: impl Into<String>) -> Self {
        self.target = Some(target.into());
        self
    }

    /// Overrides the severity.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }
}
