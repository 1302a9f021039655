//! `holdall schema NAME`

use clap::{Args, ValueEnum};
use serde_json::Value;

use super::{CommandResult, Context};
use crate::outcome::Outcome;

/// Print the JSON Schema of a document
///
/// Answers: which fields may a document have, in a form that editors and other programs read?
/// The schemas are JSON Schema 2020-12 and accept what `holdall validate` accepts.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  holdall schema skill > skill.schema.json")]
pub(crate) struct Schema {
    /// Which document
    #[arg(value_name = "NAME", value_enum)]
    name: Name,
}

/// The documents with a schema.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Name {
    /// The frontmatter of PACK.md
    Pack,
    /// The frontmatter of APP.md
    App,
    /// The frontmatter of SKILL.md
    Skill,
    /// The frontmatter of products/ID.md
    Product,
    /// agent-bundle.manifest.json, version 6
    ArtifactManifest,
}

impl Name {
    fn schema(self) -> Value {
        match self {
            Self::Pack => holdall_pack::pack_json_schema(),
            Self::App => holdall_pack::app_json_schema(),
            Self::Skill => holdall_skill::skill::json_schema(),
            Self::Product => holdall_pack::product_json_schema(),
            Self::ArtifactManifest => artifact_schema(),
        }
    }
}

#[expect(clippy::unnecessary_wraps, reason = "one of the commands, which may fail")]
pub(crate) fn run(arguments: &Schema, _context: &Context<'_>) -> CommandResult {
    let schema = arguments.name.schema();
    let text = format!("{schema:#}\n");
    Ok(Outcome::new("schema").fact("schema", schema).text(text))
}

/// The artifact manifest's schema, as the JSON that everything else here is.
fn artifact_schema() -> Value {
    let bytes = holdall_artifact::artifact_manifest_schema().to_canonical_bytes();
    serde_json::from_slice(&bytes).unwrap_or_default()
}
