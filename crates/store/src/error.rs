//! What can go wrong with the store.

use std::io;
use std::path::{Path, PathBuf};

use holdall_diagnostics::{Diagnostic, SourceText};
use holdall_tree::stage::StageError;

use crate::codes::{HD0201, HD0202, HD0203, HD0204};

/// What can go wrong with the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The directory belongs to somebody else, or others may write to it.
    #[error("{}: {why}", path.display())]
    NotPrivate {
        /// The store's directory.
        path: PathBuf,
        /// Whose it is, or who may write.
        why: String,
    },
    /// A record does not parse, or is not about what its name says.
    #[error("{}: {why}", path.display())]
    Corrupt {
        /// The record.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A setting is wrong.
    #[error("{}: {message}", path.display())]
    Config {
        /// `config.toml`
        path: PathBuf,
        /// What is wrong with it.
        message: String,
        /// The file, for the caret.
        source_text: SourceText,
        /// The bytes it is about.
        span: std::ops::Range<usize>,
    },
    /// The operating system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Its words.
        source: io::Error,
    },
    /// Writing failed.
    #[error(transparent)]
    Stage(#[from] StageError),
}

impl StoreError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        |source| Self::Io { path, source }
    }

    /// The error for a person.
    pub fn diagnostic(&self) -> Diagnostic {
        let shown = |path: &Path| path.display().to_string();
        match self {
            Self::NotPrivate { path, why } => Diagnostic::new(&HD0201, why.clone())
                .at(shown(path))
                .help(format!("chmod 700 {}", path.display())),
            Self::Corrupt { path, why } => Diagnostic::new(&HD0202, why.clone())
                .at(shown(path))
                .help("put the file back from a backup, or move it away and run `holdall doctor`"),
            Self::Config { path, message, source_text, span } => {
                Diagnostic::new(&HD0204, message.clone())
                    .at(shown(path))
                    .span(source_text, span.clone())
            }
            Self::Io { path, source } => {
                Diagnostic::new(&HD0203, source.to_string()).at(shown(path))
            }
            Self::Stage(error) => {
                Diagnostic::new(&HD0203, error.to_string()).at(shown(&error.path))
            }
        }
    }
}
