//! `holdall knowledge query PACK`

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use holdall_diagnostics::Diagnostic;
use holdall_install::HD0312;
use holdall_pack::{Knowledge, query};
use holdall_source::{OpenOptions, Source};
use holdall_store::PackRecord;
use serde_json::{Value, json};

use super::{CommandResult, Context};
use crate::installing::{self, packs, shown};
use crate::opening::open_source;
use crate::outcome::{Failure, Outcome};
use crate::report::Report;

/// Show which knowledge a pack's agents read
///
/// Answers: what do the agents of this pack know right now? An install records the selection; it
/// is resolved here, against the workspaces in `knowledge-roots` of the store's config.toml.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  holdall knowledge query the-agentic-coder")]
pub(crate) struct KnowledgeOf {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List the entries that a pack selects, as the files are now
    Query {
        /// The name of an installed pack, or the path of one
        #[arg(value_name = "PACK")]
        pack: String,
        /// A directory of workspaces, besides those of config.toml; repeatable
        #[arg(long, value_name = "DIR")]
        root: Vec<PathBuf>,
    },
}

pub(crate) fn run(arguments: &KnowledgeOf, context: &Context<'_>) -> CommandResult {
    let Verb::Query { pack, root } = &arguments.verb;
    let store = installing::store(&context.env)?;
    let Some(selection) = selection(pack, context)? else {
        let mut outcome = Outcome::new("knowledge").fact("knowledge", Value::Null);
        outcome.notes.push(format!("{pack} selects no knowledge"));
        return Ok(outcome);
    };
    let config = store.config().map_err(installing::failure)?;
    let here = context.env.working_directory();
    let mut roots: Vec<PathBuf> = root.iter().map(|root| here.join(root)).collect();
    roots.extend(config.knowledge_roots().iter().cloned());
    let answer = query(&roots, &selection);
    let mut report = Report::default();
    for entry in &answer.entries {
        report.head(format!("{}   {}   {}", entry.slug, entry.kind, entry.title));
        let place = answer.workspace.as_ref().map(|base| base.join(entry.path.as_str()));
        report.row("in", shown(&place.unwrap_or_default(), &context.env));
        if !entry.tags.is_empty() {
            report.row("tags", entry.tags.join(", "));
        }
    }
    let entries: Vec<Value> = answer
        .entries
        .iter()
        .map(|entry| {
            json!({"slug": entry.slug, "kind": entry.kind, "title": entry.title,
                "tags": entry.tags, "confidence": entry.confidence, "path": entry.path.as_str()})
        })
        .collect();
    let mut outcome = Outcome::new("knowledge").fact(
        "knowledge",
        json!({
            "pack": pack,
            "workspace": selection.workspace,
            "path": answer.workspace.as_ref().map(|path| path.display().to_string()),
            "entries": entries,
        }),
    );
    if answer.entries.is_empty() && answer.workspace.is_some() {
        outcome.notes.push(format!("nothing in `{}` is selected", selection.workspace));
    }
    outcome.diagnostics = answer.diagnostics;
    Ok(outcome.lines(report.into_lines()))
}

/// The selection of an installed pack, or of one that lies somewhere.
fn selection(pack: &str, context: &Context<'_>) -> Result<Option<Knowledge>, Failure> {
    let store = installing::store(&context.env)?;
    let name = pack.strip_prefix("pack:").unwrap_or(pack);
    let record: Option<PackRecord> = store.record(name).map_err(installing::failure)?;
    if let Some(record) = record {
        return Ok(record.knowledge.as_ref().map(recorded));
    }
    if !pack.contains('/') && pack != "." {
        let message = format!("no pack `{pack}` is installed");
        let help = format!("`holdall list` shows what is; for the directory type ./{pack}");
        return Err(Diagnostic::new(&HD0312, message).help(help).into());
    }
    let source = Source::parse(OsStr::new(pack))?;
    let opened = open_source(&source, &OpenOptions::default(), context)?;
    let (loaded, _) = packs::load(&opened, context)?;
    Ok(loaded.handle().knowledge().cloned())
}

fn recorded(value: &Value) -> Knowledge {
    let list = |key: &str| -> Option<Vec<String>> {
        let items = value.get(key)?.as_array()?;
        Some(items.iter().filter_map(Value::as_str).map(str::to_owned).collect())
    };
    Knowledge {
        workspace: value.get("workspace").and_then(Value::as_str).unwrap_or_default().to_owned(),
        any_of: list("anyOf"),
        all_of: list("allOf"),
        kinds: list("kinds"),
    }
}
