//! YAML as a tree in which every value knows its bytes.
//!
//! [`parse`] reads the frontmatter of a document and reports every fault it can find in one go:
//! where a plain value lacks its quotes, they are supplied in memory and reading goes on, so that
//! the next fault is seen too; the same quotes are what `--fix` writes. Scalars stay texts: what
//! a text means is asked with [`Scalar::reading`] (this YAML 1.2 parser) and
//! [`Scalar::elsewhere`] (other parsers), at the place that knows which type it wants.

mod build;
mod portable;
mod repair;

use std::ops::Range;

use holdall_diagnostics::Diagnostic;

pub use build::{MAX_DEPTH, MAX_NODES};
pub use portable::{Elsewhere, Reading};

use crate::fix::Fix;
use crate::frontmatter::Document;

/// A value and the bytes it stands at; `0..0` for one that was built in code.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Bytes of the whole file, quotes and brackets included. An alias's own bytes.
    pub span: Range<usize>,
    /// The value.
    pub value: Value,
}

/// What a node is.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A text, number, boolean or null.
    Scalar(Scalar),
    /// A list.
    Sequence(Vec<Node>),
    /// A mapping, in the order of the file.
    Mapping(Vec<Entry>),
}

/// One key of a mapping.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key's text.
    pub key: String,
    /// The key's bytes.
    pub key_span: Range<usize>,
    /// The value.
    pub value: Node,
}

/// How a scalar is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Without quotes: the only style whose text can be another type.
    Plain,
    /// `'…'`
    SingleQuoted,
    /// `"…"`
    DoubleQuoted,
    /// `|`
    Literal,
    /// `>`
    Folded,
}

/// A scalar as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scalar {
    /// The text behind quotes, escapes and folding; empty for a value that is not there.
    pub text: String,
    /// How it is written.
    pub style: Style,
    /// The type a tag such as `!!str` gives it.
    pub tag: Option<CoreTag>,
    /// A comment behind it on the same line, with its `#`.
    pub comment: Option<Range<usize>>,
}

/// The tags of YAML's own types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoreTag {
    /// `!!str`, and the lone `!`
    Str,
    /// `!!int`
    Int,
    /// `!!float`
    Float,
    /// `!!bool`
    Bool,
    /// `!!null`
    Null,
}

impl Node {
    /// A text built in code.
    pub fn text(text: impl Into<String>) -> Self {
        Self::detached(text.into(), Style::DoubleQuoted)
    }

    /// A number, boolean or null built in code, from its YAML 1.2 spelling.
    pub fn plain(text: impl Into<String>) -> Self {
        Self::detached(text.into(), Style::Plain)
    }

    /// A list built in code.
    pub fn list(items: Vec<Self>) -> Self {
        Self { span: 0..0, value: Value::Sequence(items) }
    }

    /// A mapping built in code.
    pub fn map<K: Into<String>>(entries: impl IntoIterator<Item = (K, Self)>) -> Self {
        let entry = |(key, value): (K, Self)| Entry { key: key.into(), key_span: 0..0, value };
        Self { span: 0..0, value: Value::Mapping(entries.into_iter().map(entry).collect()) }
    }

    fn detached(text: String, style: Style) -> Self {
        let scalar = Scalar { text, style, tag: None, comment: None };
        Self { span: 0..0, value: Value::Scalar(scalar) }
    }

    /// The value as `JSON.parse` would have made it. Numbers that JSON cannot hold become null.
    pub fn from_json(value: &serde_json::Value) -> Self {
        use serde_json::Value as Json;
        match value {
            Json::Null => Self::plain("null"),
            Json::Bool(value) => Self::plain(value.to_string()),
            Json::Number(value) => Self::plain(value.to_string()),
            Json::String(value) => Self::text(value),
            Json::Array(items) => Self::list(items.iter().map(Self::from_json).collect()),
            Json::Object(map) => {
                Self::map(map.iter().map(|(key, value)| (key.clone(), Self::from_json(value))))
            }
        }
    }

    /// The value as JSON, read by the YAML 1.2 core schema. `.inf` and `.nan` become null.
    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match &self.value {
            Value::Scalar(scalar) => match scalar.reading() {
                Reading::Null => Json::Null,
                Reading::Bool(value) => Json::Bool(value),
                Reading::Number(value) => portable::json_number(&scalar.text, value),
                Reading::Text => Json::String(scalar.text.clone()),
            },
            Value::Sequence(items) => Json::Array(items.iter().map(Self::to_json).collect()),
            Value::Mapping(entries) => Json::Object(
                entries.iter().map(|entry| (entry.key.clone(), entry.value.to_json())).collect(),
            ),
        }
    }

    /// The scalar, if it is one.
    pub const fn as_scalar(&self) -> Option<&Scalar> {
        match &self.value {
            Value::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    /// The items, if it is a list.
    pub fn as_sequence(&self) -> Option<&[Self]> {
        match &self.value {
            Value::Sequence(items) => Some(items),
            _ => None,
        }
    }

    /// The entries, if it is a mapping.
    pub fn as_mapping(&self) -> Option<&[Entry]> {
        match &self.value {
            Value::Mapping(entries) => Some(entries),
            _ => None,
        }
    }

    /// The value of a key, if it is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.as_mapping()?.iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }
}

/// What came of reading a document's frontmatter.
#[derive(Debug, Clone, Default)]
pub struct Parsed {
    /// The top-level value; absent where a fault left nothing to look at.
    pub root: Option<Node>,
    /// Every fault of the YAML text, and the warning about a byte order mark.
    pub diagnostics: Vec<Diagnostic>,
    /// The quotes that would cure some of them.
    pub fixes: Vec<Fix>,
}

impl Parsed {
    /// Whether the text is valid YAML within the limits: no diagnostic is an error.
    pub fn is_valid(&self) -> bool {
        let error = holdall_diagnostics::Severity::Error;
        self.diagnostics.iter().all(|diagnostic| diagnostic.severity != error)
    }
}

/// Reads the frontmatter of a document. Diagnostics carry spans but no path.
pub fn parse(document: &Document) -> Parsed {
    repair::parse(document)
}
