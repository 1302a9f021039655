//! What can go wrong when something is fetched.

use std::time::Duration;

use holdall_diagnostics::Diagnostic;
use holdall_tree::TreeError;

use crate::codes::{HD0206, HD0207, HD0208, HD0209, HD0210, HD0211};
use crate::{ChildError, StoreError};

/// Why something was not fetched. The cache is as it was.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The other side, or the way there, failed.
    #[error("{address}: {why}")]
    Failed {
        /// What was asked for.
        address: String,
        /// A lower-case fragment.
        why: String,
    },
    /// Fetching is forbidden, and there is no cached copy.
    #[error("{address} is not in the cache, and --offline opens no connection")]
    Offline {
        /// What was asked for.
        address: String,
    },
    /// What came, or lies in the cache, is not what was asked for.
    #[error("{address}: {why}")]
    Differs {
        /// What was asked for.
        address: String,
        /// A lower-case fragment.
        why: String,
    },
    /// More bytes than are allowed.
    #[error("{address}: more than {limit} bytes")]
    TooLarge {
        /// What was asked for.
        address: String,
        /// `limits.fetch-bytes` of the settings.
        limit: u64,
    },
    /// It took too long.
    #[error("{address}: not done after {} s", limit.as_secs())]
    TimedOut {
        /// What was asked for.
        address: String,
        /// `limits.fetch-seconds` of the settings.
        limit: Duration,
    },
    /// A program that is needed is not there.
    #[error("{address} needs the program `{program}`, which is not in PATH")]
    NoProgram {
        /// What was asked for.
        address: String,
        /// Its name.
        program: &'static str,
    },
    /// An address or ref that is never asked for, or a way that is never gone.
    #[error("{address}: {why}")]
    Refused {
        /// What was asked for.
        address: String,
        /// A lower-case fragment.
        why: String,
    },
    /// The cache could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl FetchError {
    /// The error for a person.
    pub fn diagnostic(&self) -> Diagnostic {
        let (code, help) = match self {
            Self::Failed { .. } => (
                &HD0206,
                "check the address and the connection; --offline reads what was fetched before",
            ),
            Self::Offline { .. } => (&HD0207, "fetch it once without --offline: `holdall fetch`"),
            Self::Differs { .. } => (
                &HD0208,
                "do not use it; compare the pin with what the publisher names, and try again",
            ),
            Self::TooLarge { .. } => {
                (&HD0209, "set fetch-bytes under [limits] in config.toml if this much is wanted")
            }
            Self::TimedOut { .. } => {
                (&HD0209, "try again, or set fetch-seconds under [limits] in config.toml")
            }
            Self::NoProgram { .. } => {
                (&HD0210, "install it, or fetch by other means and give the path")
            }
            Self::Refused { .. } => (&HD0211, "use the https address itself"),
            Self::Store(error) => return error.diagnostic(),
        };
        Diagnostic::new(code, self.to_string()).help(help)
    }
}

/// Makes the errors of one fetch, which all name what was asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct About<'a>(pub(super) &'a str);

impl About<'_> {
    pub(super) fn failed(self, why: impl Into<String>) -> FetchError {
        FetchError::Failed { address: self.0.to_owned(), why: why.into() }
    }

    pub(super) fn differs(self, why: impl Into<String>) -> FetchError {
        FetchError::Differs { address: self.0.to_owned(), why: why.into() }
    }

    pub(super) fn refused(self, why: impl Into<String>) -> FetchError {
        FetchError::Refused { address: self.0.to_owned(), why: why.into() }
    }

    pub(super) fn offline(self) -> FetchError {
        FetchError::Offline { address: self.0.to_owned() }
    }

    pub(super) fn too_large(self, limit: u64) -> FetchError {
        FetchError::TooLarge { address: self.0.to_owned(), limit }
    }

    pub(super) fn timed_out(self, limit: Duration) -> FetchError {
        FetchError::TimedOut { address: self.0.to_owned(), limit }
    }

    pub(super) fn child(self, error: &ChildError) -> FetchError {
        match error {
            ChildError::TimedOut(limit) => self.timed_out(*limit),
            ChildError::TooLarge(limit) => self.too_large(*limit),
            ChildError::Start { .. } | ChildError::TooMuchOutput(_) => {
                self.failed(error.to_string())
            }
        }
    }

    pub(super) fn tree(self, error: &TreeError) -> FetchError {
        self.failed(format!("it cannot be kept: {error}"))
    }
}
