//! Everything that can be wrong with a source, and the diagnostic it becomes.

use holdall_diagnostics::{Code, Diagnostic};

use crate::{Kind, UnknownKind, codes};

/// Why a source cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// A word that is neither a path nor an address.
    #[error("`{word}` is no source")]
    BareWord {
        /// What was typed.
        word: String,
    },
    /// A repository's address without a full commit.
    #[error("`{address}` is not pinned to a commit")]
    NotPinned {
        /// The address without what stood for a pin.
        address: String,
    },
    /// A scheme that is not read, or a malformed address.
    #[error("`{address}` cannot be used: {reason}")]
    BadAddress {
        /// What was typed.
        address: String,
        /// A lower-case fragment.
        reason: String,
        /// What to type instead, if that can be said.
        help: Option<String>,
    },
    /// A path with bytes that are not UTF-8.
    #[error("the path `{lossy}` is not UTF-8 (EILSEQ)")]
    NotUtf8 {
        /// The path with U+FFFD for what could not be read.
        lossy: String,
    },
}

impl SourceError {
    /// The code under which it is reported.
    pub const fn code(&self) -> &'static Code {
        match self {
            Self::BareWord { .. } => &codes::BARE_WORD,
            Self::NotPinned { .. } => &codes::NOT_PINNED,
            Self::BadAddress { .. } => &codes::BAD_ADDRESS,
            Self::NotUtf8 { .. } => &codes::NOT_UTF8,
        }
    }

    /// Whether the command line itself is wrong, so that no look at any file could help.
    pub const fn is_usage(&self) -> bool {
        matches!(self, Self::BareWord { .. } | Self::NotPinned { .. } | Self::BadAddress { .. })
    }

    /// The finding that the user sees.
    pub fn diagnostic(&self) -> Diagnostic {
        let diagnostic = Diagnostic::new(self.code(), self.to_string());
        match self {
            Self::BareWord { word } => diagnostic.help(format!("for the directory type ./{word}")),
            Self::NotPinned { address } => diagnostic.help(format!(
                "type {address}#SHA40 with the 40 digits that `git ls-remote {} HEAD` prints",
                address.trim_start_matches("git+")
            )),
            Self::BadAddress { help: Some(help), .. } => diagnostic.help(help),
            Self::NotUtf8 { .. } => diagnostic.help("rename the file so that its path is UTF-8"),
            Self::BadAddress { help: None, .. } => diagnostic,
        }
    }
}

impl UnknownKind {
    /// What to type instead.
    pub fn help() -> String {
        format!("the kinds are {}", Kind::ALL.map(Kind::as_str).join(", "))
    }
}
