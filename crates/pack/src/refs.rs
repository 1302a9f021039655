//! `aip://` refs: how an artifact is named, as a string and as an object.
//!
//! A ref is inert: it is no credential, and resolving it authorises nothing. The string form is
//! `aip://<aip>/<id>[@<version>]` without any escaping, so an id that holds `@` or a blank has an
//! object form only; writing such a ref as a string is an error, never a wrong string. The rules
//! are those of `pack-v1` sections 3.1 and 3.2, and those of AIP-64 for packs.

use std::collections::BTreeMap;
use std::fmt;

use holdall_diagnostics::Diagnostic;
use serde_json::{Value, json};

use crate::codes;
use crate::name::{NAME_PATTERN, is_pack_name};

/// The number of the pack family.
pub const PACK_FAMILY: u64 = 64;

/// The number of the app family.
pub const APP_FAMILY: u64 = 53;

/// The number that packs had as a placeholder before they got their own.
const OLD_PACK_FAMILY: u64 = 52;

/// Most characters of an id.
pub const MAX_ID: usize = 512;

/// The largest family number: what JSON readers hold exactly.
const MAX_FAMILY: u64 = (1 << 53) - 1;

/// A ref to any artifact: `{aip, id, version?}`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArtifactRef {
    aip: u64,
    id: String,
    version: Option<String>,
}

/// A ref to a pack: family 64, an id that is a pack's name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackRef {
    name: String,
    version: Option<String>,
}

/// Why something is no ref, or cannot be written as one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RefError {
    /// Not `aip://<number>/<id>`.
    #[error("`{0}` is not a ref: it does not have the form aip://NUMBER/ID[@VERSION]")]
    Form(String),
    /// A family number with a leading zero, zero itself, or one too large.
    #[error("`{text}` is not a ref: {reason}")]
    Family {
        /// The whole text.
        text: String,
        /// What is wrong with the number.
        reason: &'static str,
    },
    /// An id that is empty, too long or has a character that cannot stand there.
    #[error("`{text}` is not a ref: {reason}")]
    Id {
        /// The whole text, or the id of an object.
        text: String,
        /// What is wrong with the id.
        reason: &'static str,
    },
    /// A version that is empty, has a second `@`, or is not a semantic version.
    #[error("`{text}` is not a ref: {reason}")]
    Version {
        /// The whole text, or the version of an object.
        text: String,
        /// What is wrong with the version.
        reason: &'static str,
    },
    /// The object form has another shape.
    #[error("not a ref: {0}")]
    Object(String),
    /// A ref of another family where a pack is wanted.
    #[error("`{text}` does not name a pack: packs are family {PACK_FAMILY}, and this is {aip}")]
    NotAPack {
        /// The ref.
        text: String,
        /// Its family.
        aip: u64,
    },
    /// Family 64, and an id that no pack can have.
    #[error("`{text}` does not name a pack: `{id}` is not a pack name ({NAME_PATTERN}, 2 to 80)")]
    NotAPackName {
        /// The ref.
        text: String,
        /// Its id.
        id: String,
    },
    /// A valid ref whose id has no place in the string form.
    #[error("the id `{id}` has no string form: refs know no escape for `@` and blanks")]
    NoStringForm {
        /// The id.
        id: String,
    },
    /// A handle without any of the keys that its family is named by.
    #[error("no ref can be made: the handle has none of the keys {0}")]
    NoKey(String),
}

impl RefError {
    /// The finding to show for it, without a path.
    pub fn diagnostic(&self) -> Diagnostic {
        let (code, help) = match self {
            Self::NotAPack { aip: OLD_PACK_FAMILY, text } => {
                let id = text.split_once("://52/").map_or("NAME", |(_, id)| id);
                let help = format!("52 was a placeholder for packs; write aip://64/{id}");
                (&codes::REF_NOT_A_PACK, help)
            }
            Self::NotAPack { .. } => (&codes::REF_NOT_A_PACK, "write aip://64/NAME".to_owned()),
            Self::NotAPackName { .. } => {
                (&codes::REF_NOT_A_PACK, "a pack's name stands in its PACK.md".to_owned())
            }
            Self::NoStringForm { .. } => (
                &codes::REF_NO_STRING,
                "use the object form: {aip: 53, id: \"@owner/app\"}".to_owned(),
            ),
            Self::NoKey(_) => (&codes::REF_NO_STRING, "give the handle a name or an id".to_owned()),
            Self::Id { text, .. } if text.contains("/@") => (
                &codes::REF,
                "an id with `@` has no string form; write the object form {aip, id}".to_owned(),
            ),
            _ => (&codes::REF, "write it as aip://64/the-agentic-coder@1.2.0".to_owned()),
        };
        Diagnostic::new(code, self.to_string()).help(help)
    }
}

impl ArtifactRef {
    /// A ref from its parts. The id may be anything of 1 to 512 characters; a version has to be
    /// a semantic one.
    pub fn new(aip: u64, id: &str, version: Option<&str>) -> Result<Self, RefError> {
        if !(1..=MAX_FAMILY).contains(&aip) {
            let reason = "the family is a number from 1 to 2^53 - 1";
            return Err(RefError::Family { text: aip.to_string(), reason });
        }
        check_id_length(id, id)?;
        if let Some(version) = version {
            check_version(version, version)?;
        }
        Ok(Self { aip, id: id.to_owned(), version: version.map(str::to_owned) })
    }

    /// Parses the string form.
    pub fn parse(text: &str) -> Result<Self, RefError> {
        let form = || RefError::Form(shortened(text));
        let rest = text.strip_prefix("aip://").ok_or_else(form)?;
        let (number, rest) = rest.split_once('/').ok_or_else(form)?;
        let aip = family(text, number)?;
        let (id, version) = match rest.split_once('@') {
            Some((id, version)) => (id, Some(version)),
            None => (rest, None),
        };
        check_id_length(id, text)?;
        if !id.chars().all(may_be_in_string) {
            let reason = "the id has a blank or a control character";
            return Err(RefError::Id { text: shortened(text), reason });
        }
        if let Some(version) = version {
            check_version(version, text)?;
        }
        Ok(Self { aip, id: id.to_owned(), version: version.map(str::to_owned) })
    }

    /// Reads the object form; a key other than `aip`, `id` and `version` is an error.
    pub fn from_object(value: &Value) -> Result<Self, RefError> {
        let wrong = |what: &str| Err(RefError::Object(what.to_owned()));
        let Some(object) = value.as_object() else {
            return wrong("the object form is {aip, id, version?}");
        };
        if let Some(key) = object.keys().find(|k| !matches!(k.as_str(), "aip" | "id" | "version")) {
            return wrong(&format!("unknown key `{key}`"));
        }
        let Some(aip) = object.get("aip").and_then(Value::as_u64) else {
            return wrong("`aip` is a whole number from 1");
        };
        let Some(id) = object.get("id").and_then(Value::as_str) else {
            return wrong("`id` is a text");
        };
        let version = match object.get("version") {
            None => None,
            Some(Value::String(version)) => Some(version.as_str()),
            Some(_) => return wrong("`version` is a text"),
        };
        Self::new(aip, id, version)
    }

    /// The ref that names a handle of a family. Packs are named by `name`; everything else by the
    /// first of `id`, `provider`, `slug`, `name` that the handle has. A handle without a key has
    /// no ref.
    pub fn to_handle(aip: u64, handle: &Value) -> Result<Self, RefError> {
        let keys: &[&str] =
            if aip == PACK_FAMILY { &["name"] } else { &["id", "provider", "slug", "name"] };
        let key = keys
            .iter()
            .find_map(|key| handle.get(key)?.as_str().filter(|text| !text.is_empty()))
            .ok_or_else(|| RefError::NoKey(keys.join(", ")))?;
        Self::new(aip, key, None)
    }

    /// The family's number.
    pub const fn aip(&self) -> u64 {
        self.aip
    }

    /// The id within the family.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The version it is pinned to; none floats.
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// The object form.
    pub fn to_object(&self) -> Value {
        let mut object = json!({ "aip": self.aip, "id": self.id });
        if let Some(version) = &self.version {
            object["version"] = version.as_str().into();
        }
        object
    }

    /// The string form, if the id has one.
    pub fn to_uri(&self) -> Result<String, RefError> {
        if !self.id.chars().all(|c| c != '@' && may_be_in_string(c)) {
            return Err(RefError::NoStringForm { id: self.id.clone() });
        }
        let version = self.version.as_ref().map(|version| format!("@{version}"));
        Ok(format!("aip://{}/{}{}", self.aip, self.id, version.unwrap_or_default()))
    }

    /// The pack it names.
    pub fn to_pack(&self) -> Result<PackRef, RefError> {
        let text = || self.to_uri().unwrap_or_else(|_| self.to_object().to_string());
        if self.aip != PACK_FAMILY {
            return Err(RefError::NotAPack { text: text(), aip: self.aip });
        }
        if !is_pack_name(&self.id) {
            return Err(RefError::NotAPackName { text: text(), id: self.id.clone() });
        }
        Ok(PackRef { name: self.id.clone(), version: self.version.clone() })
    }
}

impl PackRef {
    /// A ref to the pack of this name, pinned if a version is given. A version that is not a
    /// semantic one cannot be pinned.
    pub fn new(name: &str, version: Option<&str>) -> Result<Self, RefError> {
        ArtifactRef::new(PACK_FAMILY, name, version)?.to_pack()
    }

    /// Parses `aip://64/<name>[@version]`.
    pub fn parse(text: &str) -> Result<Self, RefError> {
        ArtifactRef::parse(text)?.to_pack()
    }

    /// The pack's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The version it is pinned to; none means the host's current one.
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// Whether a pack of this version is meant: a pin is equal text, no range, and build metadata
    /// counts; without a pin every version is.
    pub fn accepts_version(&self, version: &str) -> bool {
        self.version.as_deref().is_none_or(|pinned| pinned == version)
    }

    /// The same as a ref to any artifact.
    pub fn to_artifact(&self) -> ArtifactRef {
        ArtifactRef { aip: PACK_FAMILY, id: self.name.clone(), version: self.version.clone() }
    }
}

impl fmt::Display for PackRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "aip://{PACK_FAMILY}/{}", self.name)?;
        self.version.as_ref().map_or(Ok(()), |version| write!(f, "@{version}"))
    }
}

/// What a host knows by ref: families, and in each the artifacts by id.
#[derive(Debug, Clone)]
pub struct RefIndex<T> {
    families: BTreeMap<u64, BTreeMap<String, T>>,
}

/// Why a ref leads to nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// The host knows no artifacts of this family.
    #[error("family {aip} is not known here")]
    UnknownFamily {
        /// The family's number.
        aip: u64,
    },
    /// The family is known and has no artifact of this id.
    #[error("nothing named `{id}` is known in family {aip}")]
    UnknownId {
        /// The family's number.
        aip: u64,
        /// The id that was asked for.
        id: String,
    },
}

impl<T> Default for RefIndex<T> {
    fn default() -> Self {
        Self { families: BTreeMap::new() }
    }
}

impl<T> RefIndex<T> {
    /// Makes a family known, empty as yet.
    pub fn add_family(&mut self, aip: u64) {
        self.families.entry(aip).or_default();
    }

    /// Adds an artifact under the id of `reference`, replacing the one that was there.
    pub fn insert(&mut self, reference: &ArtifactRef, artifact: T) -> Option<T> {
        self.families.entry(reference.aip).or_default().insert(reference.id.clone(), artifact)
    }

    /// What a ref leads to, or nothing. The version takes no part in it.
    pub fn find(&self, reference: &ArtifactRef) -> Option<&T> {
        self.families.get(&reference.aip)?.get(&reference.id)
    }

    /// What a ref leads to, or why it leads nowhere. The version takes no part in it.
    pub fn resolve(&self, reference: &ArtifactRef) -> Result<&T, ResolveError> {
        let aip = reference.aip;
        let family = self.families.get(&aip).ok_or(ResolveError::UnknownFamily { aip })?;
        let unknown = || ResolveError::UnknownId { aip, id: reference.id.clone() };
        family.get(&reference.id).ok_or_else(unknown)
    }
}

fn family(text: &str, number: &str) -> Result<u64, RefError> {
    let wrong = |reason| RefError::Family { text: shortened(text), reason };
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(RefError::Form(shortened(text)));
    }
    if number == "0" {
        return Err(wrong("families count from 1"));
    }
    if number.starts_with('0') {
        return Err(wrong("the family has a leading zero"));
    }
    number
        .parse()
        .ok()
        .filter(|&aip| aip <= MAX_FAMILY)
        .ok_or_else(|| wrong("the family is larger than 2^53 - 1"))
}

fn check_id_length(id: &str, text: &str) -> Result<(), RefError> {
    let reason = match id.chars().count() {
        0 => "the id is empty",
        1..=MAX_ID => return Ok(()),
        _ => "the id has more than 512 characters",
    };
    Err(RefError::Id { text: shortened(text), reason })
}

fn check_version(version: &str, text: &str) -> Result<(), RefError> {
    let reason = if version.is_empty() {
        "there is no version behind the `@`"
    } else if version.contains('@') {
        "there is a second `@`"
    } else if semver::Version::parse(version).is_err() {
        "its version is not a semantic version such as 1.2.0"
    } else {
        return Ok(());
    };
    Err(RefError::Version { text: shortened(text), reason })
}

/// JavaScript's `\s` has U+FEFF and Rust's white space has U+0085; neither belongs into an id.
fn may_be_in_string(c: char) -> bool {
    !c.is_whitespace() && !c.is_control() && c != '\u{feff}'
}

fn shortened(text: &str) -> String {
    text.chars().take(200).collect()
}
