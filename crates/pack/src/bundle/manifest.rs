//! `manifest.json` of a bundle.

use std::fmt;

use holdall_diagnostics::Diagnostic;
use holdall_tree::{Algorithm, Digest};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value, json};

use super::{BUNDLE_FORMAT, BUNDLE_MANIFEST};
use crate::codes;

/// Largest `manifest.json`: 20,000 paths of 1,024 bytes and what is around them.
pub(super) const MAX_BYTES: u64 = 32 << 20;

/// A valid `manifest.json`; whether it is true is for [`super::Bundle`] to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleManifest {
    pub(super) id: String,
    pub(super) name: Option<String>,
    pub(super) version: String,
    pub(super) description: Option<String>,
    pub(super) agents: Vec<String>,
    pub(super) workflows: Vec<String>,
    pub(super) ui: Vec<String>,
    pub(super) files: Vec<String>,
    pub(super) file_count: u64,
    pub(super) total_size: u64,
    pub(super) sha256: Digest,
    pub(super) created_at: String,
    pub(super) agentproto_version: String,
}

impl BundleManifest {
    /// The app's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The app's name.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The app's version.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The files, sorted.
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// The aggregate, `agentapp/v1`: SHA-256 of all files' bytes in the order of the list.
    pub const fn aggregate(&self) -> Digest {
        self.sha256
    }

    /// The document, keys in the order of the format's description.
    pub(super) fn to_json(&self) -> Value {
        let mut json = json!({ "format": BUNDLE_FORMAT, "id": self.id });
        let mut put = |key: &str, value: Value| json[key] = value;
        if let Some(name) = &self.name {
            put("name", json!(name));
        }
        put("version", json!(self.version));
        if let Some(description) = &self.description {
            put("description", json!(description));
        }
        put("agents", json!(self.agents));
        put("workflows", json!(self.workflows));
        if !self.ui.is_empty() {
            put("ui", json!(self.ui));
        }
        put("files", json!(self.files));
        put("fileCount", json!(self.file_count));
        put("totalSize", json!(self.total_size));
        put("sha256", json!(self.sha256.hex()));
        put("createdAt", json!(self.created_at));
        put("agentprotoVersion", json!(self.agentproto_version));
        json
    }

    /// Parses the bytes. The first fault is the error; another format is told before anything
    /// else that is wrong with a document of it.
    pub fn parse(bytes: &[u8]) -> Result<Self, Box<Diagnostic>> {
        let malformed = |what: String| {
            Box::new(
                Diagnostic::new(&codes::BUNDLE_MANIFEST, what)
                    .at(BUNDLE_MANIFEST)
                    .help("make the bundle anew with `holdall pack APP -o NAME.agentapp`"),
            )
        };
        let Unique(value) = serde_json::from_slice(bytes)
            .map_err(|error| malformed(format!("it is no JSON object: {error}")))?;
        let Value::Object(object) = value else {
            return Err(malformed("it is no JSON object".to_owned()));
        };
        let read = Fields(&object);
        let format = read.text("format").map_err(malformed)?;
        if format != BUNDLE_FORMAT {
            let shown: String = format.chars().take(100).collect();
            return Err(Box::new(
                Diagnostic::new(&codes::BUNDLE_FORMAT, format!("the format is `{shown}`"))
                    .at(BUNDLE_MANIFEST)
                    .help(format!("only {BUNDLE_FORMAT} can be read")),
            ));
        }
        read.all().map_err(malformed)
    }
}

/// The members of the document, by name.
struct Fields<'a>(&'a Map<String, Value>);

impl Fields<'_> {
    fn all(&self) -> Result<BundleManifest, String> {
        let sha256 = self.text("sha256")?;
        let sha256 = Digest::from_hex(Algorithm::AgentappV1, &sha256)
            .map_err(|_| "`sha256` is not 64 hexadecimal digits".to_owned())?;
        Ok(BundleManifest {
            id: self.some("id")?,
            name: self.optional("name")?,
            version: self.some("version")?,
            description: self.optional("description")?,
            agents: self.texts("agents")?,
            workflows: self.texts("workflows")?,
            ui: if self.0.contains_key("ui") { self.texts("ui")? } else { Vec::new() },
            files: self.texts("files")?,
            file_count: self.number("fileCount")?,
            total_size: self.number("totalSize")?,
            sha256,
            created_at: self.text("createdAt")?,
            agentproto_version: self.text("agentprotoVersion")?,
        })
    }

    fn get(&self, key: &str) -> Result<&Value, String> {
        self.0.get(key).ok_or_else(|| format!("`{key}` is missing"))
    }

    fn text(&self, key: &str) -> Result<String, String> {
        let text = self.get(key)?.as_str().ok_or_else(|| format!("`{key}` is no text"))?;
        Ok(text.to_owned())
    }

    fn some(&self, key: &str) -> Result<String, String> {
        let text = self.text(key)?;
        if text.is_empty() { Err(format!("`{key}` is empty")) } else { Ok(text) }
    }

    fn optional(&self, key: &str) -> Result<Option<String>, String> {
        if self.0.contains_key(key) { self.text(key).map(Some) } else { Ok(None) }
    }

    fn texts(&self, key: &str) -> Result<Vec<String>, String> {
        let wrong = || format!("`{key}` is no list of texts");
        let items = self.get(key)?.as_array().ok_or_else(wrong)?;
        items.iter().map(|item| item.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
    }

    fn number(&self, key: &str) -> Result<u64, String> {
        self.get(key)?.as_u64().ok_or_else(|| format!("`{key}` is no whole number"))
    }
}

/// A JSON value without a key given twice, of which readers would take one or the other.
struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueVisitor)
    }
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Unique;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Unique, E> {
        Ok(Unique(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Unique, E> {
        Ok(Unique(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Unique, E> {
        Ok(Unique(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Unique, E> {
        Ok(Unique(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Unique, E> {
        Ok(Unique(value.into()))
    }

    fn visit_unit<E>(self) -> Result<Unique, E> {
        Ok(Unique(Value::Null))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Unique, A::Error> {
        let mut all = Vec::new();
        while let Some(Unique(item)) = items.next_element()? {
            all.push(item);
        }
        Ok(Unique(all.into()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Unique, A::Error> {
        let mut all = Map::new();
        while let Some((key, Unique(value))) = entries.next_entry::<String, Unique>()? {
            if all.insert(key.clone(), value).is_some() {
                return Err(A::Error::custom(format_args!("the key `{key}` is given twice")));
            }
        }
        Ok(Unique(all.into()))
    }
}
