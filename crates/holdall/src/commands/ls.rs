//! `holdall ls SOURCE [PATH]`

use clap::Args;
use holdall_diagnostics::Diagnostic;
use holdall_source::Opened;
use holdall_tree::{EntryName, FileKind, Limits, TreePath, walk};
use serde_json::Value;

use super::{CommandResult, Context};
use crate::entry::Entry;
use crate::opening::{SourceArguments, tree_path};
use crate::outcome::{Failure, Outcome};

/// List what a package or directory holds
///
/// Answers: which files are in there? A package is listed without being extracted. Directories end
/// with a slash; links are listed and not followed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  holdall ls demo.aospkg\n  holdall ls -l --recursive demo.aospkg bin")]
pub(crate) struct Ls {
    #[command(flatten)]
    source: SourceArguments,
    /// The directory inside to list
    #[arg(value_name = "PATH", default_value = "", hide_default_value = true)]
    path: String,
    /// Show mode, size, time and link target
    #[arg(short, long)]
    long: bool,
    /// List everything below, with paths from the root of the source
    #[arg(short, long, visible_short_alias = 'R')]
    recursive: bool,
}

pub(crate) fn run(arguments: &Ls, context: &Context<'_>) -> CommandResult {
    let opened = arguments.source.open(context)?;
    let path = tree_path(&arguments.path)?;
    let mut entries = Vec::new();
    let diagnostics = collect(&opened, &path, arguments.recursive, &mut entries)?;
    let shown = |entry: &Entry| {
        let below = if arguments.recursive { None } else { entry.path.strip_prefix(&path) };
        let name = below.filter(|rest| !rest.is_root()).unwrap_or_else(|| entry.path.clone());
        entry.line(name.as_str(), arguments.long)
    };
    let lines = entries.iter().map(shown).collect();
    let facts: Vec<Value> = entries.iter().map(Entry::fact).collect();
    let kind = opened.kind().map_or("ls", holdall_source::Kind::as_str);
    let mut outcome = Outcome::new(kind).fact("entries", facts).lines(lines);
    outcome.diagnostics = diagnostics;
    Ok(outcome)
}

/// Fills in the entries; what could not be listed comes back as findings.
fn collect(
    opened: &Opened,
    path: &TreePath,
    recursive: bool,
    entries: &mut Vec<Entry>,
) -> Result<Vec<Diagnostic>, Failure> {
    let tree = opened.tree();
    let failed = |error| opened.error(error);
    // A link that is asked for by name is followed to a directory, as `ls` does.
    let target = tree.resolve(path).map_err(failed)?;
    if tree.metadata(&target).map_err(failed)?.kind != FileKind::Directory {
        entries.push(Entry::of(tree, path).map_err(failed)?);
        return Ok(Vec::new());
    }
    let mut diagnostics = Vec::new();
    if recursive {
        for step in walk(tree, &target, Limits::default()) {
            match step.and_then(|step| Entry::of(tree, &step.path)) {
                Ok(entry) => entries.push(entry),
                Err(error) => diagnostics.push(failed(error).diagnostic()),
            }
        }
        return Ok(diagnostics);
    }
    for row in tree.read_dir(&target).map_err(failed)? {
        let EntryName::Utf8(name) = &row.name else {
            let name = String::from_utf8_lossy(row.name.as_bytes()).into_owned();
            let message = format!("the name `{name}` is not UTF-8 (EILSEQ)");
            let code = &holdall_source::codes::NOT_UTF8;
            diagnostics.push(Diagnostic::new(code, message).at(opened.shown(&target)));
            continue;
        };
        let listed = target.child(name).ok().map(|path| Entry::of(tree, &path));
        match listed {
            Some(Ok(mut entry)) => {
                if let Ok(below) = path.child(name) {
                    entry.path = below;
                }
                entries.push(entry);
            }
            Some(Err(error)) => diagnostics.push(failed(error).diagnostic()),
            None => {}
        }
    }
    Ok(diagnostics)
}
