//! What a command hands back: an exit code, facts, data and findings. It prints none of it.

use std::io::Write;

use holdall_diagnostics::{Diagnostic, Severity};
use holdall_source::{OpenError, SourceError};
use serde_json::{Map, Value};

use crate::codes;

/// How the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0: done.
    Done,
    /// 1: a check or an operation failed, or was left incomplete.
    Failed,
    /// 2: wrong usage.
    Usage,
    /// 3: refused by policy.
    Refused,
}

impl Exit {
    /// The number.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Refused => 3,
        }
    }
}

/// What goes to standard output when text is asked for.
pub(crate) enum Data {
    /// Nothing.
    None,
    /// Lines that may hold foreign text: each is escaped when it is printed, so a line feed, a
    /// control or a hidden character in it is always foreign. Trailing line feeds are added.
    Lines(Vec<String>),
    /// Text of our own, printed as it is.
    Text(String),
    /// Bytes of a file, written by the closure. On a terminal the first control byte stops it,
    /// unless `raw`.
    Bytes {
        /// The file, for the error of a terminal.
        shown: String,
        /// Whether control bytes may reach a terminal.
        raw: bool,
        /// Writes everything.
        write: WriteBytes,
    },
}

/// Writes a file's bytes.
pub(crate) type WriteBytes = Box<dyn FnOnce(&mut dyn Write) -> Result<(), WriteError>>;

/// Why bytes did not arrive: the reading side or the writing side.
#[derive(Debug)]
pub(crate) enum WriteError {
    /// What was to be written could not be read.
    Read(Box<Diagnostic>),
    /// The output refused.
    Write(std::io::Error),
}

impl From<std::io::Error> for WriteError {
    fn from(error: std::io::Error) -> Self {
        Self::Write(error)
    }
}

/// The result of a command.
pub(crate) struct Outcome {
    /// How to end; [`Outcome::settled`] raises it where a finding is an error.
    pub(crate) exit: Exit,
    /// `kind` of the JSON object: what the source is, else the command's name.
    pub(crate) kind: &'static str,
    /// The other members of the JSON object.
    pub(crate) facts: Map<String, Value>,
    /// Standard output.
    pub(crate) data: Data,
    /// Findings: `diagnostics` of the JSON object; as text on standard error.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Whether the findings are the data, as those of `validate`: then they go to standard output
    /// before [`Outcome::data`], in every format.
    pub(crate) findings_are_data: bool,
    /// Lines for people on standard error, after the findings, escaped like data. Not in JSON.
    pub(crate) notes: Vec<String>,
}

impl Outcome {
    /// A success without anything yet.
    pub(crate) fn new(kind: &'static str) -> Self {
        Self {
            exit: Exit::Done,
            kind,
            facts: Map::new(),
            data: Data::None,
            diagnostics: Vec::new(),
            findings_are_data: false,
            notes: Vec::new(),
        }
    }

    /// Adds a member to the JSON object.
    #[must_use]
    pub(crate) fn fact(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.facts.insert(key.to_owned(), value.into());
        self
    }

    /// Sets the lines for standard output.
    #[must_use]
    pub(crate) fn lines(mut self, lines: Vec<String>) -> Self {
        self.data = Data::Lines(lines);
        self
    }

    /// Sets text of our own for standard output.
    #[must_use]
    pub(crate) fn text(mut self, text: impl Into<String>) -> Self {
        self.data = Data::Text(text.into());
        self
    }

    /// Fails if one of the findings is an error and the outcome was a success so far.
    #[must_use]
    pub(crate) fn settled(mut self) -> Self {
        let has_error = self.diagnostics.iter().any(|d| d.severity == Severity::Error);
        if has_error && self.exit == Exit::Done {
            self.exit = Exit::Failed;
        }
        self
    }
}

/// A command that could not do what it was asked for. Everything wrong is a finding with a code.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    diagnostics: Vec<Diagnostic>,
}

impl Failure {
    /// A failure with exit code 1.
    pub(crate) fn new(diagnostics: Vec<Diagnostic>) -> Self {
        Self { exit: Exit::Failed, diagnostics }
    }

    /// A wrong command line that clap could not see: exit code 2.
    pub(crate) fn usage(message: impl Into<String>, help: impl Into<String>) -> Self {
        let diagnostic = Diagnostic::new(&codes::USAGE, message).help(help);
        Self { exit: Exit::Usage, diagnostics: vec![diagnostic] }
    }

    /// The same with a finding that has a code of its own.
    pub(crate) fn misuse(diagnostic: Diagnostic) -> Self {
        Self { exit: Exit::Usage, diagnostics: vec![diagnostic] }
    }

    /// Something that policy refuses: exit code 3.
    pub(crate) fn refused(diagnostic: Diagnostic) -> Self {
        Self { exit: Exit::Refused, diagnostics: vec![diagnostic] }
    }

    /// The first thing that went wrong, to be reported as part of something larger.
    pub(crate) fn into_first(self) -> Diagnostic {
        let none = || Diagnostic::new(&codes::USAGE, "it failed");
        self.diagnostics.into_iter().next().unwrap_or_else(none)
    }

    /// What went wrong.
    #[cfg(test)]
    pub(crate) fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// What went wrong, for a command that goes on with something else.
    pub(crate) fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.diagnostics
    }

    /// The outcome that it is.
    pub(crate) fn into_outcome(self, command: &'static str) -> Outcome {
        let mut outcome = Outcome::new(command);
        outcome.exit = self.exit;
        outcome.diagnostics = self.diagnostics;
        outcome
    }
}

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::new(vec![diagnostic])
    }
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Self {
        OpenError::from(error).into()
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        let exit = if error.is_usage() { Exit::Usage } else { Exit::Failed };
        Self { exit, diagnostics: vec![error.diagnostic()] }
    }
}
