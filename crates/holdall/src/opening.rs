//! The arguments that name a source, and opening it.

use std::ffi::OsString;

use clap::Args;
use holdall_source::{Kind, OpenOptions, Opened, Source, open};
use holdall_tree::TreePath;

use crate::commands::Context;
use crate::outcome::Failure;

/// A source, and what narrows it down.
#[derive(Debug, Args)]
pub(crate) struct SourceArguments {
    #[arg(
        value_name = "SOURCE",
        help = "A path, git+https://URL#SHA40, https://…, or npm:NAME@VERSION"
    )]
    source: OsString,
    /// Take it for this kind, not for what it looks like
    #[arg(long, value_name = "KIND")]
    kind: Option<Kind>,
    /// Take this directory inside for the source
    #[arg(long, value_name = "DIR")]
    subdir: Option<String>,
}

impl SourceArguments {
    /// Opens the source.
    pub(crate) fn open(&self, context: &Context<'_>) -> Result<Opened, Failure> {
        let subdir = self.subdir.as_deref().map(tree_path).transpose()?.unwrap_or_default();
        let options = OpenOptions { kind: self.kind, subdir };
        let source = Source::parse(&self.source)?;
        Ok(open(&source, context.env.working_directory(), &options)?)
    }
}

/// A path inside a source as people type it; a `/` in front means the root of the source.
pub(crate) fn tree_path(text: &str) -> Result<TreePath, Failure> {
    TreePath::normalise(text.trim_start_matches('/'))
        .map_err(|error| Failure::usage(error.to_string(), "give a path inside the source"))
}
