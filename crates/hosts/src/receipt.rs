//! The receipt an installer leaves beside or in what it installed, so that uninstall and doctor
//! know exactly what is theirs (reference 5.2.6, format 2).
//!
//! A receipt is read as a whole or not at all: another format, a path that leaves the directory, a
//! registration nobody knows make it *absent*, never half-trusted. Only a state block that names
//! another owner is dropped alone, as the format asks.

use std::collections::BTreeMap;

use holdall_artifact::{check_owned, relocatable_path};
use holdall_tree::TreePath;
use serde_json::{Map, Value, json};

use crate::Scope;

/// The only format that is read and written.
pub const RECEIPT_FORMAT: &str = "agent-bundle-install-receipt/2";

/// Name of the receipt at the top of an installed directory (Cursor local mode, Amp).
pub const RECEIPT_NAME: &str = ".agent-bundle-install.json";

/// How an artifact was handed to its agent host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstallMode {
    /// By the host's own program.
    HostCli,
    /// As a directory that the host scans.
    Local,
    /// As a staged marketplace that the user registers in the host.
    Marketplace,
}

impl InstallMode {
    const ALL: [Self; 3] = [Self::HostCli, Self::Local, Self::Marketplace];

    /// The word in a receipt.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::HostCli => "host-cli",
            Self::Local => "local",
            Self::Marketplace => "marketplace",
        }
    }
}

/// One thing that an install made a host know of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registration {
    /// What kind of thing.
    pub kind: RegistrationKind,
    /// The host's id of a plugin, `name@marketplace`.
    pub id: Option<String>,
    /// The name of a marketplace.
    pub name: Option<String>,
    /// The commit of a staged repository.
    pub commit: Option<String>,
    /// The scope the host knows it in.
    pub scope: Option<Scope>,
}

impl Registration {
    /// A registration of `kind` with nothing else said.
    pub const fn new(kind: RegistrationKind) -> Self {
        Self { kind, id: None, name: None, commit: None, scope: None }
    }
}

macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name { $($(#[$vmeta])* $variant,)* }

        impl $name {
            /// The word in a receipt.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            fn parse(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

words! {
    /// The kinds of registration.
    RegistrationKind {
        /// An Amp plugin directory of one project.
        AmpProjectPlugin = "amp-project-plugin",
        /// An Amp plugin directory of the user.
        AmpSystemPlugin = "amp-system-plugin",
        /// A marketplace added to Claude Code.
        ClaudeMarketplace = "claude-marketplace",
        /// A plugin installed in Claude Code.
        ClaudePlugin = "claude-plugin",
        /// A marketplace added to Codex.
        CodexMarketplace = "codex-marketplace",
        /// A plugin installed in Codex.
        CodexPlugin = "codex-plugin",
        /// A directory among Cursor's local plugins.
        CursorLocalPlugin = "cursor-local-plugin",
        /// A repository staged for Cursor's marketplace.
        CursorMarketplaceStaging = "cursor-marketplace-staging",
    }
}

words! {
    /// Where a state root comes from.
    StateSource {
        /// The host's MCP document or the environment names it.
        Declared = "declared",
        /// It follows from the place of the plugin.
        Derived = "derived",
    }
}

words! {
    /// Why a state root is not ours to remove.
    Unowned {
        /// A marker names another owner.
        ForeignMarker = "foreign-marker",
        /// It was there before the install.
        PreExisting = "pre-existing",
        /// Nothing proves who made it.
        Unproven = "unproven",
    }
}

/// Whether a state root may be removed with the plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ownership {
    /// Its name is derived from the plugin's place, so it can be nobody else's.
    Derived,
    /// The file of this name in it says whose it is.
    Marker(String),
    /// Not ours.
    Unowned(Unowned),
}

/// One directory in which a plugin's servers keep state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateRoot {
    /// The path with links followed.
    pub canonical_root: String,
    /// The path as declared or derived.
    pub root: String,
    /// Whether it is ours.
    pub ownership: Ownership,
    /// The servers that use it.
    pub servers: Vec<String>,
    /// Where the path comes from.
    pub source: StateSource,
}

/// What one install wrote, from what, into which agent host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallReceipt {
    /// The plugin's name.
    pub plugin: String,
    /// Its version.
    pub version: String,
    /// The agent host's id.
    pub host: String,
    /// The content hash of what was installed, 64 hex digits.
    pub content_hash: String,
    /// ISO 8601 in UTC with milliseconds; survives replacement.
    pub installed_at: String,
    /// The same of the last change.
    pub updated_at: String,
    /// How it was handed over.
    pub mode: InstallMode,
    /// For whom.
    pub scope: Scope,
    /// The files that are ours, relative to the installed directory.
    pub files: Vec<TreePath>,
    /// The directories in it that the install made.
    pub directories: Vec<TreePath>,
    /// The directories of the host that the install made, relative to the host's home.
    pub host_directories: Vec<TreePath>,
    /// What the host was told.
    pub registrations: Vec<Registration>,
    /// The project of a project or local install.
    pub project_root: Option<String>,
    /// Documents rewritten for Cursor with their original text, kept as it was read.
    pub cursor_expansion: Option<CursorExpansion>,
    /// Where the plugin's servers keep state.
    pub state: Option<Vec<StateRoot>>,
    /// Where the plugin's web host keeps data.
    pub web_data_root: Option<String>,
}

/// What was rewritten for Cursor, and what it said before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CursorExpansion {
    /// Original texts by path.
    pub documents: BTreeMap<String, String>,
    /// What `${PLUGIN_DATA}` became.
    pub plugin_data: String,
    /// What `${PLUGIN_ROOT}` became.
    pub plugin_root: String,
}

impl InstallReceipt {
    /// Reads a receipt; `None` if it is malformed or of another format, which means absent.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(bytes).ok()?;
        let map = value.as_object()?;
        if text(map, "format")? != RECEIPT_FORMAT {
            return None;
        }
        let mode_word = text(map, "mode")?;
        let mut receipt = Self {
            plugin: text(map, "plugin")?,
            version: text(map, "version")?,
            host: text(map, "host")?,
            content_hash: text(map, "contentHash")?,
            installed_at: text(map, "installedAt")?,
            updated_at: text(map, "updatedAt")?,
            mode: InstallMode::ALL.into_iter().find(|mode| mode.as_str() == mode_word)?,
            scope: Scope::parse(&text(map, "scope")?)?,
            files: paths(map, "files")?,
            directories: paths(map, "directories")?,
            host_directories: paths(map, "hostDirectories")?,
            registrations: list(map, "registrations")?
                .iter()
                .map(registration)
                .collect::<Option<_>>()?,
            project_root: optional_text(map, "projectRoot")?,
            cursor_expansion: match map.get("cursorExpansion") {
                None => None,
                Some(value) => Some(expansion(value.as_object()?)?),
            },
            state: None,
            web_data_root: optional_text(map, "webDataRoot")?,
        };
        receipt.state = match map.get("state") {
            None => None,
            Some(value) => {
                let state = value.as_object()?;
                let roots = list(state, "roots")?.iter().map(state_root).collect::<Option<_>>()?;
                (state.get("owner")? == &receipt.owner()).then_some(roots)
            }
        };
        Some(receipt)
    }

    /// The bytes of the file: canonical JSON with a line feed behind it.
    pub fn to_bytes(&self) -> Vec<u8> {
        let text = self.to_json().to_string();
        // What serde_json writes is JSON, so that the second half never happens.
        holdall_artifact::json::Document::parse(text.as_bytes()).map_or_else(
            |_| text.clone().into_bytes(),
            |document| {
                holdall_artifact::json::Value::from_node(document.root()).to_canonical_bytes()
            },
        )
    }

    /// The receipt as JSON.
    pub fn to_json(&self) -> Value {
        let mut map = Map::new();
        let mut put = |key: &str, value: Value| {
            map.insert(key.to_owned(), value);
        };
        put("format", json!(RECEIPT_FORMAT));
        put("plugin", json!(self.plugin));
        put("version", json!(self.version));
        put("host", json!(self.host));
        put("contentHash", json!(self.content_hash));
        put("installedAt", json!(self.installed_at));
        put("updatedAt", json!(self.updated_at));
        put("mode", json!(self.mode.as_str()));
        put("scope", json!(self.scope.as_str()));
        put("files", path_list(&self.files));
        put("directories", path_list(&self.directories));
        put("hostDirectories", path_list(&self.host_directories));
        put("registrations", self.registrations.iter().map(registration_json).collect());
        if let Some(root) = &self.project_root {
            put("projectRoot", json!(root));
        }
        if let Some(expansion) = &self.cursor_expansion {
            let CursorExpansion { documents, plugin_data, plugin_root } = expansion;
            put(
                "cursorExpansion",
                json!({"documents": documents, "pluginData": plugin_data, "pluginRoot": plugin_root}),
            );
        }
        if let Some(roots) = &self.state {
            let roots: Vec<_> = roots.iter().map(state_root_json).collect();
            put("state", json!({"owner": self.owner(), "roots": roots}));
        }
        if let Some(root) = &self.web_data_root {
            put("webDataRoot", json!(root));
        }
        Value::Object(map)
    }

    /// Whether it is what an uninstall that kept data left behind: nothing installed, only a name.
    pub fn is_remnant(&self) -> bool {
        self.files.is_empty() && self.registrations.is_empty()
    }

    /// The host's id of the plugin: the first registration that has one, else the plugin's name.
    fn owner(&self) -> Value {
        let id = self.registrations.iter().find_map(|row| row.id.as_deref());
        let mut owner = json!({
            "host": self.host,
            "id": id.unwrap_or(&self.plugin),
            "mode": self.mode.as_str(),
            "plugin": self.plugin,
            "scope": self.scope.as_str(),
        });
        if let (Some(root), Some(map)) = (&self.project_root, owner.as_object_mut()) {
            map.insert("projectRoot".to_owned(), json!(root));
        }
        owner
    }
}

fn text(map: &Map<String, Value>, key: &str) -> Option<String> {
    map.get(key)?.as_str().map(str::to_owned)
}

/// `Some(None)` when absent, `None` when it is there and no string.
#[expect(clippy::option_option, reason = "`?` on the outer one is what makes it short")]
fn optional_text(map: &Map<String, Value>, key: &str) -> Option<Option<String>> {
    map.get(key).map_or(Some(None), |value| value.as_str().map(|text| Some(text.to_owned())))
}

fn list<'a>(map: &'a Map<String, Value>, key: &str) -> Option<&'a [Value]> {
    map.get(key)?.as_array().map(Vec::as_slice)
}

fn texts(map: &Map<String, Value>, key: &str) -> Option<Vec<String>> {
    list(map, key)?.iter().map(|value| value.as_str().map(str::to_owned)).collect()
}

/// Paths under the rule of 3.5: relocatable, and never the runtime's or the installer's own.
fn paths(map: &Map<String, Value>, key: &str) -> Option<Vec<TreePath>> {
    let path = |value: &Value| {
        let path = relocatable_path(value.as_str()?).ok()?;
        check_owned(&path).is_ok().then_some(path)
    };
    list(map, key)?.iter().map(path).collect()
}

fn path_list(paths: &[TreePath]) -> Value {
    paths.iter().map(|path| json!(path.as_str())).collect()
}

fn registration(value: &Value) -> Option<Registration> {
    let map = value.as_object()?;
    Some(Registration {
        kind: RegistrationKind::parse(&text(map, "kind")?)?,
        id: optional_text(map, "id")?,
        name: optional_text(map, "name")?,
        commit: optional_text(map, "commit")?,
        scope: match optional_text(map, "scope")? {
            None => None,
            Some(word) => Some(Scope::parse(&word)?),
        },
    })
}

fn registration_json(row: &Registration) -> Value {
    let mut map = Map::new();
    map.insert("kind".to_owned(), json!(row.kind.as_str()));
    let scope = row.scope.map(Scope::as_str);
    let texts = [
        ("id", row.id.as_deref()),
        ("name", row.name.as_deref()),
        ("commit", row.commit.as_deref()),
        ("scope", scope),
    ];
    for (key, value) in texts {
        if let Some(value) = value {
            map.insert(key.to_owned(), json!(value));
        }
    }
    Value::Object(map)
}

fn expansion(map: &Map<String, Value>) -> Option<CursorExpansion> {
    let document = |(path, value): (&String, &Value)| {
        relocatable_path(path).ok()?;
        Some((path.clone(), value.as_str()?.to_owned()))
    };
    Some(CursorExpansion {
        documents: map
            .get("documents")?
            .as_object()?
            .iter()
            .map(document)
            .collect::<Option<_>>()?,
        plugin_data: text(map, "pluginData")?,
        plugin_root: text(map, "pluginRoot")?,
    })
}

fn state_root(value: &Value) -> Option<StateRoot> {
    let map = value.as_object()?;
    let ownership = map.get("ownership")?.as_object()?;
    Some(StateRoot {
        canonical_root: text(map, "canonicalRoot")?,
        root: text(map, "root")?,
        ownership: match text(ownership, "kind")?.as_str() {
            "derived" => Ownership::Derived,
            "marker" => Ownership::Marker(text(ownership, "marker")?),
            "unowned" => Ownership::Unowned(Unowned::parse(&text(ownership, "reason")?)?),
            _ => return None,
        },
        servers: texts(map, "servers")?,
        source: StateSource::parse(&text(map, "source")?)?,
    })
}

fn state_root_json(root: &StateRoot) -> Value {
    let ownership = match &root.ownership {
        Ownership::Derived => json!({"kind": "derived"}),
        Ownership::Marker(marker) => json!({"kind": "marker", "marker": marker}),
        Ownership::Unowned(why) => json!({"kind": "unowned", "reason": why.as_str()}),
    };
    json!({
        "canonicalRoot": root.canonical_root,
        "ownership": ownership,
        "root": root.root,
        "servers": root.servers,
        "source": root.source.as_str(),
    })
}
