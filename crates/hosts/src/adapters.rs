//! What published artifacts record of the adapters that planned their projections: a revision,
//! the host version it was observed against, and the pinned schemas (build reference 4).

use std::collections::BTreeMap;
use std::sync::LazyLock;

use holdall_artifact::model::BuiltInHost;
use serde::Deserialize;

/// The facts of one adapter.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct AdapterPins {
    adapter_revision: String,
    observed_version: String,
    schemas: BTreeMap<String, String>,
}

impl AdapterPins {
    /// The adapter's own revision.
    pub fn adapter_revision(&self) -> &str {
        &self.adapter_revision
    }

    /// The host version its evidence was recorded against, and the revision of every schema.
    pub fn observed_version(&self) -> &str {
        &self.observed_version
    }

    /// Schema names with the SHA-256 of the pinned file, sorted by name.
    pub fn schemas(&self) -> &BTreeMap<String, String> {
        &self.schemas
    }
}

static PINS: LazyLock<[AdapterPins; 5]> = LazyLock::new(|| {
    [
        include_str!("../data/adapters/amp.toml"),
        include_str!("../data/adapters/claude.toml"),
        include_str!("../data/adapters/codex.toml"),
        include_str!("../data/adapters/cursor.toml"),
        include_str!("../data/adapters/portable.toml"),
    ]
    .map(|text| {
        toml_edit::de::from_str(text).unwrap_or_else(|error| panic!("built-in pins: {error}"))
    })
});

/// The pins of a shipped adapter.
pub fn pins(host: BuiltInHost) -> &'static AdapterPins {
    let [amp, claude, codex, cursor, portable] = &*PINS;
    match host {
        BuiltInHost::Amp => amp,
        BuiltInHost::Claude => claude,
        BuiltInHost::Codex => codex,
        BuiltInHost::Cursor => cursor,
        BuiltInHost::Portable => portable,
    }
}
