//! `holdall init [DIR]`

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::json;

use super::{CommandResult, Context};
use crate::files;
use crate::outcome::{Failure, Outcome};

/// Begin a pack or a directory of skills
///
/// Answers: how do I start? Writes the few files that a pack or a directory of skills needs, each
/// ready to be edited. What is there already is never overwritten; the result validates.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  holdall init my-skills
  holdall init my-pack --template pack")]
pub(crate) struct Init {
    /// Where to write; created if it is not there
    #[arg(value_name = "DIR", default_value = ".")]
    directory: PathBuf,
    /// What to begin with
    #[arg(long, value_enum, default_value_t = Template::Skills)]
    template: Template,
}

/// What `init` can begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Template {
    /// PACK.md and a skill
    Pack,
    /// A skill in `skills/`
    Skills,
}

const SKILL: &str = "---
name: say-hello
description: \"Greets people by name in the language they write in. Use when: somebody asks for a greeting.\"
---

# Say hello

1. Look at the language of the request.
2. Greet the person by name in that language, in one sentence.
";

pub(crate) fn run(arguments: &Init, context: &Context<'_>) -> CommandResult {
    let directory = context.env.working_directory().join(&arguments.directory);
    let mut made = vec![("skills/say-hello/SKILL.md", SKILL.to_owned())];
    if arguments.template == Template::Pack {
        made.insert(0, ("PACK.md", pack(&name_of(&directory))));
    }
    let taken: Vec<_> = made
        .iter()
        .map(|(path, _)| *path)
        .filter(|path| directory.join(path).symlink_metadata().is_ok())
        .collect();
    if !taken.is_empty() {
        let message = format!("already there: {}", taken.join(", "));
        let diagnostic = holdall_diagnostics::Diagnostic::new(&crate::codes::EXISTS, message)
            .at(arguments.directory.display().to_string())
            .help("nothing was written; name another directory");
        return Err(diagnostic.into());
    }
    write(&directory, &made)?;
    let shown = arguments.directory.display();
    let lines: Vec<_> = made.iter().map(|(path, _)| format!("wrote {shown}/{path}")).collect();
    let paths: Vec<_> = made.iter().map(|(path, _)| *path).collect();
    let mut outcome = Outcome::new("init").fact("init", json!({ "written": paths })).lines(lines);
    outcome.notes.push(format!("next: holdall validate {shown}"));
    Ok(outcome)
}

/// Writes new files only; if one of them cannot be written, those before it are removed again.
fn write(directory: &Path, made: &[(&str, String)]) -> Result<(), Failure> {
    for (at, (path, text)) in made.iter().enumerate() {
        let file = directory.join(path);
        let written = || -> Result<(), Failure> {
            files::create_dir(file.parent().unwrap_or(directory))?;
            let mut new = OpenOptions::new()
                .write(true)
                .create_new(true)
                .open(&file)
                .map_err(|error| files::cannot_write(&file, &error))?;
            let done = new.write_all(text.as_bytes()).and_then(|()| new.sync_all());
            done.map_err(|error| {
                let _ = std::fs::remove_file(&file);
                files::cannot_write(&file, &error)
            })
        };
        if let Err(failure) = written() {
            for (path, _) in &made[..at] {
                // What was made a moment ago; if it cannot go, the failure below says enough.
                let _ = std::fs::remove_file(directory.join(path));
            }
            return Err(failure);
        }
    }
    Ok(())
}

/// A pack's name made from its directory's.
fn name_of(directory: &Path) -> String {
    let name = directory.file_name().map(|name| name.to_string_lossy().to_lowercase());
    let words: Vec<String> = name
        .unwrap_or_default()
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    let name: String = words.join("-").chars().take(80).collect();
    let name = name.trim_matches('-');
    if name.len() >= 2 && name.starts_with(|c: char| c.is_ascii_lowercase()) {
        name.to_owned()
    } else {
        "my-pack".to_owned()
    }
}

fn pack(name: &str) -> String {
    format!(
        "---
schema: pack/v1
name: {name}
title: \"{name}\"
description: \"What the pack brings, in one or two sentences.\"
version: 0.1.0
plugin:
  inline: true
---

# {name}

For people: what is in the pack, and how to begin. The fields above are what programs read.
The skills are in `skills/`.
"
    )
}
