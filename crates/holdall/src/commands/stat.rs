//! `holdall stat SOURCE [PATH]`

use clap::Args;
use holdall_source::Kind;
use serde_json::json;

use super::{CommandResult, Context};
use crate::entry::{Entry, date};
use crate::opening::{SourceArguments, tree_path};
use crate::outcome::Outcome;

/// Show what is known of an entry of a package or directory
///
/// Answers: what is this entry, how large is it, what may it do? A link is shown, not followed.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  holdall stat demo.aospkg bin/demo")]
pub(crate) struct Stat {
    #[command(flatten)]
    source: SourceArguments,
    /// The entry inside; the root without it
    #[arg(value_name = "PATH", default_value = "", hide_default_value = true)]
    path: String,
}

pub(crate) fn run(arguments: &Stat, context: &Context<'_>) -> CommandResult {
    let opened = arguments.source.open(context)?;
    let path = tree_path(&arguments.path)?;
    let entry = Entry::of(opened.tree(), &path).map_err(|error| opened.error(error))?;
    let shown = if path.is_root() { "/" } else { path.as_str() };
    let mut lines = vec![
        format!("path  {shown}"),
        format!("kind  {}", entry.kind()),
        format!("size  {}", entry.metadata.size),
        format!("mode  {:04o} {}", entry.metadata.mode, entry.mode()),
        format!("time  {} UTC", date(entry.metadata.mtime)),
    ];
    let mut fact = entry.fact();
    fact["mtime"] = json!(entry.metadata.mtime);
    if let Some(link) = &entry.link {
        lines.push(format!("link  {link}"));
    }
    let kind = opened.kind().map_or("stat", Kind::as_str);
    Ok(Outcome::new(kind).fact("stat", fact).lines(lines))
}
