//! Records and how they are read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::key::file_key;
use crate::{Store, StoreError};

/// A record: what it is about, and where it lies.
pub trait Record: Serialize + DeserializeOwned {
    /// The directory below `records/`.
    const DIRECTORY: &'static str;

    /// What it is about, unique among records of its kind.
    fn key(&self) -> &str;
}

/// A digest as it is recorded: never without its recipe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DigestRecord {
    /// The recipe.
    pub alg: String,
    /// Lower-case hex.
    pub hex: String,
}

/// An applied pack, by name (reference 5.6).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PackRecord {
    /// The pack's name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its title.
    pub title: String,
    /// Where it came from, as it would be typed again.
    pub origin: String,
    /// The directory inside that was taken for the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subdir: Option<String>,
    /// Its status when it was applied.
    pub status: String,
    /// The pack digest.
    pub digest: DigestRecord,
    /// The tree hash of the whole pack root.
    pub tree: String,
    /// The ids of its apps.
    pub apps: Vec<String>,
    /// The names of its skills.
    pub skills: Vec<String>,
    /// Includes that were not found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The knowledge selection, resolved when somebody asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knowledge: Option<Value>,
    /// The playbook directive, acted on when somebody asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub playbook: Option<Value>,
    /// The legacy prices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pricing: Option<Value>,
    /// When it was first applied: ISO 8601, UTC.
    pub installed_at: String,
    /// When it last changed.
    pub updated_at: String,
}

impl Record for PackRecord {
    const DIRECTORY: &'static str = "packs";

    fn key(&self) -> &str {
        &self.name
    }
}

/// Where an app came from, so that it can be asked for again (reference 5.2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", deny_unknown_fields)]
pub enum AppSource {
    /// A directory, which has nothing to ask.
    Dir {
        /// Absolute.
        path: String,
    },
    /// A git repository.
    Git {
        /// Without `git+`.
        url: String,
        /// The ref to follow.
        #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
        reference: Option<String>,
        /// The installed commit.
        sha: String,
        /// The directory in it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subdir: Option<String>,
    },
    /// A bundle.
    Agentapp {
        /// `https:` or `file:`
        url: String,
        /// The bundle's own aggregate.
        sha256: String,
        /// The digest of the file.
        archive: String,
        /// The version it had.
        version: String,
    },
}

/// An installed app, by id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AppRecord {
    /// The app's id.
    pub app_id: String,
    /// Its version.
    pub version: String,
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its directory in the store.
    pub dir: String,
    /// Where it keeps its data.
    pub data_dir: String,
    /// The pack that owns it; none for an app installed alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pack: Option<String>,
    /// The tree hash of the directory as it was installed.
    pub tree: String,
    /// Where it came from.
    pub source: AppSource,
    /// The app was checked shallowly: frontmatter, id, files.
    pub check: String,
    /// When it was first installed: ISO 8601, UTC.
    pub installed_at: String,
    /// When it last changed.
    pub updated_at: String,
}

impl Record for AppRecord {
    const DIRECTORY: &'static str = "apps";

    fn key(&self) -> &str {
        &self.app_id
    }
}

/// What kind of thing a receipt is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A skill in a directory that agent hosts read.
    Skill,
    /// An artifact handed to an agent host; the host's own receipt is the authority.
    Artifact,
}

/// Who owns an installed skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Owner {
    /// The pack, or the origin of a skill installed alone.
    pub name: String,
    /// Its version, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// `inline`, an include as the pack declares it, or the origin of a skill installed alone.
    pub origin: String,
}

/// The receipt of one installed thing, by destination.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Receipt {
    /// What was installed.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// The absolute destination.
    pub destination: String,
    /// `user`, `project` or `local`.
    pub scope: String,
    /// The agent hosts that it was installed for.
    pub hosts: Vec<String>,
    /// Whose it is.
    pub owner: Owner,
    /// The tree hash of what was written.
    pub tree: String,
    /// The directories above it that the install had to make, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made: Vec<String>,
    /// Where what stood there before is kept; uninstall puts it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced: Option<String>,
    /// When it was first installed: ISO 8601, UTC.
    pub installed_at: String,
    /// When it last changed.
    pub updated_at: String,
}

impl Record for Receipt {
    const DIRECTORY: &'static str = "receipts";

    fn key(&self) -> &str {
        &self.destination
    }
}

/// Canonical JSON: keys sorted, no white space, one newline.
pub fn canonical(record: &impl Serialize) -> Vec<u8> {
    // Through `Value`, whose maps are sorted; a record has string keys only, so it always works.
    let value = serde_json::to_value(record).unwrap_or(Value::Null);
    let mut bytes = value.to_string().into_bytes();
    bytes.push(b'\n');
    bytes
}

impl Store {
    /// Where the record with this key lies.
    pub fn record_path<R: Record>(&self, key: &str) -> PathBuf {
        let directory = self.root().join("records").join(R::DIRECTORY);
        directory.join(format!("{}.json", file_key(key)))
    }

    /// The record with this key; none if there is none.
    pub fn record<R: Record>(&self, key: &str) -> Result<Option<R>, StoreError> {
        let path = self.record_path::<R>(key);
        match fs::read(&path) {
            Ok(bytes) => parse(&path, &bytes).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::io(&path)(error)),
        }
    }

    /// Every record of a kind, sorted by key.
    pub fn records<R: Record>(&self) -> Result<Vec<R>, StoreError> {
        let directory = self.root().join("records").join(R::DIRECTORY);
        let entries = match fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(StoreError::io(&directory)(error)),
        };
        let mut records: Vec<R> = Vec::new();
        for entry in entries {
            let path = entry.map_err(StoreError::io(&directory))?.path();
            // What a killed process left half-written has no such ending.
            if path.extension().is_some_and(|ending| ending == "json") {
                let bytes = fs::read(&path).map_err(StoreError::io(&path))?;
                records.push(parse(&path, &bytes)?);
            }
        }
        records.sort_by(|a, b| a.key().cmp(b.key()));
        Ok(records)
    }
}

fn parse<R: Record>(path: &Path, bytes: &[u8]) -> Result<R, StoreError> {
    let corrupt = |why: String| StoreError::Corrupt { path: path.to_owned(), why };
    let record: R = serde_json::from_slice(bytes)
        .map_err(|error| corrupt(format!("the record cannot be read: {error}")))?;
    let expected = format!("{}.json", file_key(record.key()));
    if path.file_name().is_none_or(|name| name != expected.as_str()) {
        return Err(corrupt(format!(
            "the record is about `{}`, not what its name says",
            record.key()
        )));
    }
    Ok(record)
}
