//! `config.toml`: the user's settings.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use holdall_diagnostics::SourceText;
use serde::Deserialize;

use crate::StoreError;

/// The user's settings. Relative paths are relative to the store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Config {
    knowledge_roots: Vec<PathBuf>,
    products: Vec<PathBuf>,
    destinations: BTreeMap<String, PathBuf>,
    limits: Limits,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
struct Limits {
    fetch_bytes: u64,
    fetch_seconds: u64,
    command_seconds: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { fetch_bytes: 512 << 20, fetch_seconds: 300, command_seconds: 60 }
    }
}

impl Config {
    pub(crate) fn parse(path: &Path, bytes: &[u8]) -> Result<Self, StoreError> {
        let fault = |message: String, span: Option<std::ops::Range<usize>>| StoreError::Config {
            path: path.to_owned(),
            message,
            source_text: SourceText::new(bytes),
            span: span.unwrap_or(0..0),
        };
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let at = error.valid_up_to();
            fault("not UTF-8".to_owned(), Some(at..at + 1))
        })?;
        let mut config: Self = toml_edit::de::from_str(text)
            .map_err(|error| fault(error.message().to_owned(), error.span()))?;
        let base = path.parent().unwrap_or(Path::new("/"));
        let lists = config.knowledge_roots.iter_mut().chain(&mut config.products);
        for directory in lists.chain(config.destinations.values_mut()) {
            *directory = base.join(&*directory);
        }
        Ok(config)
    }

    /// Directories whose children are knowledge workspaces.
    pub fn knowledge_roots(&self) -> &[PathBuf] {
        &self.knowledge_roots
    }

    /// Directories with product documents.
    pub fn products(&self) -> &[PathBuf] {
        &self.products
    }

    /// The skill directory for an agent host, where the user wants another than the host's own.
    pub fn destination(&self, host: &str) -> Option<&Path> {
        self.destinations.get(host).map(PathBuf::as_path)
    }

    /// Bytes that are fetched at most.
    pub fn fetch_bytes(&self) -> u64 {
        self.limits.fetch_bytes
    }

    /// Seconds that a fetch may take.
    pub fn fetch_seconds(&self) -> u64 {
        self.limits.fetch_seconds
    }

    /// Seconds that an agent host's program may take.
    pub fn command_seconds(&self) -> u64 {
        self.limits.command_seconds
    }
}
