//! `holdall cat SOURCE PATH`

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use clap::Args;
use holdall_source::{Kind, Opened};
use holdall_tree::{TreeError, TreeErrorKind, TreeFile, TreePath};
use serde_json::json;

use super::{CommandResult, Context};
use crate::cli::Format;
use crate::opening::{SourceArguments, tree_path};
use crate::outcome::{Data, Outcome, WriteError};

/// Bytes read at a time.
const CHUNK: usize = 256 << 10;
/// Largest file that is put into a JSON object.
const MAX_JSON: u64 = 64 << 20;

/// Print a file of a package or directory
///
/// Answers: what does this file say? Links are followed inside the source. On a terminal, control
/// bytes are refused unless --raw is given; elsewhere every byte is written as it is.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  holdall cat demo.aospkg bin/demo")]
pub(crate) struct Cat {
    #[command(flatten)]
    source: SourceArguments,
    /// The file inside
    #[arg(value_name = "PATH")]
    path: String,
    /// Write control bytes to a terminal too
    #[arg(long)]
    raw: bool,
}

pub(crate) fn run(arguments: &Cat, context: &Context<'_>) -> CommandResult {
    let opened = arguments.source.open(context)?;
    let path = tree_path(&arguments.path)?;
    let failed = |error| opened.error(error);
    let target = opened.tree().resolve(&path).map_err(failed)?;
    let kind = opened.kind().map_or("cat", Kind::as_str);
    if context.global.format() == Format::Json {
        let bytes = opened.tree().read(&target, MAX_JSON).map_err(failed)?;
        let mut content = json!({ "path": path.as_str(), "size": bytes.len() });
        match std::str::from_utf8(&bytes) {
            Ok(text) => content["text"] = json!(text),
            Err(_) => content["base64"] = json!(BASE64.encode(&bytes)),
        }
        return Ok(Outcome::new(kind).fact("cat", content));
    }
    let file = opened.tree().open(&target).map_err(failed)?;
    let mut outcome = Outcome::new(kind);
    outcome.data = bytes_of(opened, target, Arc::from(file), arguments.raw);
    Ok(outcome)
}

/// The file piece by piece, so that memory does not depend on its size.
fn bytes_of(opened: Opened, path: TreePath, file: Arc<dyn TreeFile>, raw: bool) -> Data {
    let shown = opened.shown(&path);
    let write = move |out: &mut dyn std::io::Write| {
        let failed = |error: TreeError| WriteError::Read(Box::new(opened.error(error).diagnostic()));
        let mut buffer = vec![0; CHUNK];
        let mut at = 0;
        while at < file.len() {
            let wanted = CHUNK.min(usize::try_from(file.len() - at).unwrap_or(CHUNK));
            let read = file.read_at(&mut buffer[..wanted], at).map_err(failed)?;
            if read == 0 {
                let what = "shrank while it was read";
                return Err(failed(TreeError::new(TreeErrorKind::Changed, &path, what)));
            }
            out.write_all(&buffer[..read])?;
            at += read as u64;
        }
        Ok(())
    };
    Data::Bytes { shown, raw, write: Box::new(write) }
}
