//! Everything that can be wrong with a source, as typed and as found, and the diagnostic it
//! becomes.

use std::sync::Arc;

use holdall_aospkg::PackageError;
use holdall_diagnostics::{Code, Diagnostic};
use holdall_store::fetch::FetchError;
use holdall_tree::TreeError;

use crate::{Kind, codes};

/// Why a text is no source.
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

/// Why a source cannot be opened or read.
#[derive(Debug, Clone, thiserror::Error)]
pub enum OpenError {
    /// It is no source to begin with.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The file is a package, and a faulty one.
    #[error("{error}")]
    Package {
        /// The path, as typed.
        path: String,
        /// What is wrong with it.
        error: PackageError,
    },
    /// The file is an app bundle, and a faulty one.
    #[error("{}", found.message)]
    Bundle {
        /// The path, as typed.
        path: String,
        /// What is wrong with it; its path is one inside the bundle.
        found: Box<Diagnostic>,
    },
    /// The operating system refused.
    #[error("{detail} ({errno})")]
    CannotOpen {
        /// The path, as typed.
        path: String,
        /// The errno name.
        errno: &'static str,
        /// What the system says.
        detail: String,
    },
    /// A file that is neither a package nor an app bundle.
    #[error("{found}, not a package or app bundle (EINVAL)")]
    NotATree {
        /// The path, as typed.
        path: String,
        /// What it looks like, with its article: `a zip archive`.
        found: String,
    },
    /// It could not be fetched.
    #[error("{0}")]
    Fetch(Arc<FetchError>),
    /// A form of source that needs to be fetched first.
    #[error("`{address}` has to be fetched before it can be read")]
    NotFetched {
        /// What was typed.
        address: String,
    },
    /// `--kind` does not hold.
    #[error("there is no {kind} at its root{}", found.map(|found| format!(", but this: {found}")).unwrap_or_default())]
    WrongKind {
        /// The path, as typed.
        path: String,
        /// What was asked for.
        kind: Kind,
        /// What is there.
        found: Option<Kind>,
    },
    /// A command needs to know what it has before it, and nothing known is there.
    #[error("nothing known is at its root")]
    NothingKnown {
        /// The path, as typed.
        path: String,
    },
    /// A question to the opened tree failed.
    #[error("{error}")]
    Tree {
        /// The path of the source, as typed.
        path: String,
        /// The failure, with the path in the tree and its errno name.
        error: TreeError,
    },
}

impl From<FetchError> for OpenError {
    fn from(error: FetchError) -> Self {
        Self::Fetch(Arc::new(error))
    }
}

impl OpenError {
    /// Whether the command line itself is wrong.
    pub const fn is_usage(&self) -> bool {
        matches!(self, Self::Source(error) if error.is_usage())
    }

    /// The finding that the user sees.
    pub fn diagnostic(&self) -> Diagnostic {
        let of = |code| Diagnostic::new(code, self.to_string());
        match self {
            Self::Source(error) => error.diagnostic(),
            Self::Package { path, error } => error.diagnostic().at(path),
            Self::Bundle { path, found } => {
                let inside = found.path.as_deref().map(|inside| format!("{path}/{inside}"));
                let mut found = Diagnostic::clone(found);
                found.message.push_str(" (EINVAL)");
                found.at(inside.unwrap_or_else(|| path.clone()))
            }
            Self::CannotOpen { path, errno, .. } => {
                of(&codes::CANNOT_OPEN).at(path).help(help_for(errno))
            }
            Self::Tree { path, error } => {
                of(&codes::CANNOT_OPEN).at(path).help(help_for(error.kind.errno()))
            }
            Self::NotATree { path, .. } => of(&codes::NOT_A_TREE)
                .at(path)
                .help("give a directory, an .aospkg or an .agentapp file"),
            Self::Fetch(error) => error.diagnostic(),
            Self::NotFetched { .. } => {
                of(&codes::CANNOT_FETCH).help("fetch it, and give the path of what was fetched")
            }
            Self::WrongKind { path, .. } => of(&codes::WRONG_KIND)
                .at(path)
                .help("leave out --kind, or look further inside with --subdir DIR"),
            Self::NothingKnown { path } => of(&codes::NOTHING_KNOWN).at(path).help(
                "give the directory with PACK.md, SKILL.md, APP.md, agent-bundle.manifest.json or agentos-package.json; \
                 --subdir DIR looks further inside",
            ),
        }
    }
}

/// The next step after a refusal of the operating system.
pub(crate) fn help_for(errno: &str) -> &'static str {
    match errno {
        "ENOENT" | "ENOTDIR" => "see whether the path is spelt right, from the working directory",
        "EACCES" | "EPERM" => "make it readable for this user",
        "ELOOP" | "EXDEV" => "give the place that the link leads to",
        "EINVAL" | "EISDIR" => "put a regular file there, or leave it out",
        _ => "see whether the file system is in order",
    }
}
