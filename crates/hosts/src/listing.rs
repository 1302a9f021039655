//! What an agent host's own program lists: plugins and marketplaces.
//!
//! The listings of Claude Code and Codex are other programs' output, so they are read with care:
//! a listing that lacks what a decision needs is *unusable* as a whole, and every decision that
//! would need it is refused, instead of being made on half of it (reference 5.2.1, 5.2.2).

use serde_json::{Map, Value};

use crate::Scope;

/// One installed plugin as the host lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedPlugin {
    /// `name@marketplace`.
    pub id: String,
    /// The scope, where the host has scopes.
    pub scope: Option<Scope>,
    /// The project of a project or local scope, where the host says so.
    pub project: Option<String>,
    /// The version as the host recorded it.
    pub version: Option<String>,
    /// The directory the host keeps its copy in.
    pub install_path: Option<String>,
    /// The directory the host really reads, where it reads one live instead of its copy.
    pub reads_from: Option<String>,
    /// Whether it is switched on; hosts that cannot switch list it as on.
    pub enabled: bool,
    /// What the host could not load of it.
    pub errors: Vec<String>,
}

/// Why a listing cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// The output is not JSON.
    #[error("the listing is not JSON: {0}")]
    NotJson(String),
    /// The output is JSON of another shape.
    #[error("the listing has no {0}")]
    Shape(&'static str),
    /// A row that is asked about lacks something.
    #[error("the row of {id} has no usable `{key}`")]
    Row {
        /// The plugin's id.
        id: String,
        /// The key that is missing or of another type.
        key: &'static str,
    },
}

/// Reads `claude plugin list --json`: an array of rows. Only rows of `id` must be complete.
pub fn claude_plugins(output: &[u8], id: &str) -> Result<Vec<ListedPlugin>, Unusable> {
    let value = json(output)?;
    let rows = value.as_array().ok_or(Unusable::Shape("array of plugins"))?;
    let mut found = Vec::new();
    for row in rows {
        let Some(row) = row.as_object() else { return Err(Unusable::Shape("objects as rows")) };
        if string(row, "id").as_deref() != Some(id) {
            continue;
        }
        let need = |key| string(row, key).ok_or(Unusable::Row { id: id.to_owned(), key });
        let scope = need("scope")?;
        found.push(ListedPlugin {
            id: id.to_owned(),
            // A scope that only a newer host knows is no scope of ours, and no reason to give up.
            scope: Scope::parse(&scope),
            project: string(row, "projectPath"),
            version: Some(need("version")?),
            install_path: Some(need("installPath")?),
            reads_from: string(row, "readFromFolder"),
            enabled: row.get("enabled") != Some(&Value::Bool(false)),
            errors: errors(row),
        });
    }
    Ok(found)
}

/// Reads `codex plugin list --json`: an object with `installed`; rows that say
/// `"installed": false` are offers, not plugins.
pub fn codex_plugins(output: &[u8], id: &str) -> Result<Vec<ListedPlugin>, Unusable> {
    let value = json(output)?;
    let rows = value.get("installed").and_then(Value::as_array);
    let rows = rows.ok_or(Unusable::Shape("array `installed`"))?;
    let mut found = Vec::new();
    for row in rows {
        let Some(row) = row.as_object() else { return Err(Unusable::Shape("objects as rows")) };
        let installed = row.get("installed") != Some(&Value::Bool(false));
        if string(row, "pluginId").as_deref() != Some(id) || !installed {
            continue;
        }
        found.push(ListedPlugin {
            id: id.to_owned(),
            scope: Some(Scope::User),
            project: None,
            version: string(row, "version"),
            install_path: string(row, "installPath"),
            reads_from: None,
            enabled: row.get("enabled") != Some(&Value::Bool(false)),
            errors: errors(row),
        });
    }
    Ok(found)
}

/// The ids of all plugins of a listing that belong to a marketplace, whichever host printed it.
pub fn plugins_of_marketplace(output: &[u8], marketplace: &str) -> Result<Vec<String>, Unusable> {
    let value = json(output)?;
    let rows = value.as_array().or_else(|| value.get("installed").and_then(Value::as_array));
    let rows = rows.ok_or(Unusable::Shape("array of plugins"))?;
    let mut ids = Vec::new();
    for row in rows {
        let Some(row) = row.as_object() else { return Err(Unusable::Shape("objects as rows")) };
        let id = string(row, "id").or_else(|| string(row, "pluginId"));
        let id = id.ok_or(Unusable::Shape("id in every row"))?;
        if id.rsplit_once('@').is_some_and(|(_, of)| of == marketplace) {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// Whether `marketplace list --json` knows a marketplace: Claude prints an array, Codex an object
/// with `marketplaces`.
pub fn has_marketplace(output: &[u8], name: &str) -> Result<bool, Unusable> {
    let value = json(output)?;
    let rows = value.as_array().or_else(|| value.get("marketplaces").and_then(Value::as_array));
    let rows = rows.ok_or(Unusable::Shape("array of marketplaces"))?;
    let mut known = false;
    for row in rows {
        let row = row.as_object().ok_or(Unusable::Shape("objects as rows"))?;
        let listed = string(row, "name").ok_or(Unusable::Shape("name in every row"))?;
        known |= listed == name;
    }
    Ok(known)
}

/// The directory that `marketplace list --json` has for a marketplace: `None` when it is not
/// known, `Some(None)` when the listing does not say where it is.
pub fn marketplace_root(output: &[u8], name: &str) -> Result<Option<Option<String>>, Unusable> {
    let value = json(output)?;
    let rows = value.as_array().or_else(|| value.get("marketplaces").and_then(Value::as_array));
    let rows = rows.ok_or(Unusable::Shape("array of marketplaces"))?;
    for row in rows {
        let row = row.as_object().ok_or(Unusable::Shape("objects as rows"))?;
        let listed = string(row, "name").ok_or(Unusable::Shape("name in every row"))?;
        if listed == name {
            let place = ["path", "root", "installLocation"].iter().find_map(|key| string(row, key));
            return Ok(Some(place));
        }
    }
    Ok(None)
}

/// Whether `marketplace list --json` knows a marketplace by this directory.
pub fn knows_root(output: &[u8], root: &str) -> Result<bool, Unusable> {
    let value = json(output)?;
    let rows = value.as_array().or_else(|| value.get("marketplaces").and_then(Value::as_array));
    let rows = rows.ok_or(Unusable::Shape("array of marketplaces"))?;
    let is = |row: &Value| {
        let row = row.as_object()?;
        Some(["path", "root"].iter().find_map(|key| string(row, key))? == root)
    };
    Ok(rows.iter().any(|row| is(row) == Some(true)))
}

/// The ids of all plugins of a listing with this name, whichever their marketplace.
pub fn ids_of_plugin(output: &[u8], plugin: &str) -> Result<Vec<String>, Unusable> {
    let value = json(output)?;
    let rows = value.as_array().or_else(|| value.get("installed").and_then(Value::as_array));
    let rows = rows.ok_or(Unusable::Shape("array of plugins"))?;
    let mut ids = Vec::new();
    for row in rows {
        let Some(row) = row.as_object() else { return Err(Unusable::Shape("objects as rows")) };
        let id = string(row, "id").or_else(|| string(row, "pluginId"));
        let id = id.ok_or(Unusable::Shape("id in every row"))?;
        let named = id.rsplit_once('@').is_some_and(|(name, _)| name == plugin);
        if named && row.get("installed") != Some(&Value::Bool(false)) && !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

fn json(output: &[u8]) -> Result<Value, Unusable> {
    serde_json::from_slice(output).map_err(|error| Unusable::NotJson(error.to_string()))
}

fn string(row: &Map<String, Value>, key: &str) -> Option<String> {
    row.get(key)?.as_str().map(str::to_owned)
}

/// Load errors are texts or objects with a `message`; what is neither is shown as it stands.
fn errors(row: &Map<String, Value>) -> Vec<String> {
    let Some(list) = row.get("errors").and_then(Value::as_array) else { return Vec::new() };
    let show = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Object(map) => string(map, "message").unwrap_or_else(|| value.to_string()),
        other => other.to_string(),
    };
    list.iter().map(show).collect()
}
