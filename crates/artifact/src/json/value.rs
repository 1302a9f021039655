//! A JSON value that is always written canonically.

use super::{Node, NodeKind, utf16_cmp, write_number, write_string};

/// A JSON value. Written by [`Value::write`] it is canonical whatever it holds: keys in UTF-16
/// order, the shortest numbers, no white space.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A double; one that is not finite is written `null`, as `JSON.stringify` does.
    Number(f64),
    /// A string.
    String(Box<str>),
    /// An array, in its own order.
    Array(Vec<Value>),
    /// An object.
    Object(Object),
}

/// An object: each key once, in UTF-16 order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Object(Vec<(Box<str>, Value)>);

impl Object {
    /// An empty object.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Sets a member, replacing the one of that key.
    pub fn insert(&mut self, key: impl Into<Box<str>>, value: impl Into<Value>) {
        let (key, value) = (key.into(), value.into());
        match self.0.binary_search_by(|(other, _)| utf16_cmp(other, &key)) {
            Ok(at) => self.0[at].1 = value,
            Err(at) => self.0.insert(at, (key, value)),
        }
    }

    /// Sets a member, and hands the object back.
    #[must_use]
    pub fn with(mut self, key: impl Into<Box<str>>, value: impl Into<Value>) -> Self {
        self.insert(key, value);
        self
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        let at = self.0.binary_search_by(|(other, _)| utf16_cmp(other, key)).ok()?;
        Some(&self.0[at].1)
    }

    /// The value of a key, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        let at = self.0.binary_search_by(|(other, _)| utf16_cmp(other, key)).ok()?;
        Some(&mut self.0[at].1)
    }

    /// Takes a member out.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        let at = self.0.binary_search_by(|(other, _)| utf16_cmp(other, key)).ok()?;
        Some(self.0.remove(at).1)
    }

    /// The members in UTF-16 order of their keys.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        self.0.iter().map(|(key, value)| (&**key, value))
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(Box<str>, Value)> for Object {
    /// Of members with the same key the last one stays.
    fn from_iter<I: IntoIterator<Item = (Box<str>, Value)>>(members: I) -> Self {
        let mut members: Vec<_> = members.into_iter().collect();
        members.sort_by(|(a, _), (b, _)| utf16_cmp(a, b));
        members.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                std::mem::swap(&mut later.1, &mut kept.1);
            }
            same
        });
        Self(members)
    }
}

impl Value {
    /// The value of a node, duplicate keys resolved to the last one. The depth is bounded by
    /// [`super::MAX_DEPTH`].
    pub fn from_node(node: Node<'_>) -> Self {
        match node.kind() {
            NodeKind::Null => Self::Null,
            NodeKind::True => Self::Bool(true),
            NodeKind::False => Self::Bool(false),
            NodeKind::Number => Self::Number(node.number().unwrap_or(f64::NAN)),
            NodeKind::String => Self::String(node.text().unwrap_or_default().into()),
            NodeKind::Array => Self::Array(node.items().map(Self::from_node).collect()),
            NodeKind::Object => Self::Object(
                node.members()
                    .map(|(key, value)| {
                        (key.text().unwrap_or_default().into(), Self::from_node(value))
                    })
                    .collect(),
            ),
        }
    }

    /// Appends the canonical form.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend_from_slice(b"null"),
            Self::Bool(true) => out.extend_from_slice(b"true"),
            Self::Bool(false) => out.extend_from_slice(b"false"),
            Self::Number(value) => write_number(*value, out),
            Self::String(text) => write_string(text, out),
            Self::Array(items) => {
                out.push(b'[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(b',');
                    }
                    item.write(out);
                }
                out.push(b']');
            }
            Self::Object(object) => {
                out.push(b'{');
                for (at, (key, value)) in object.iter().enumerate() {
                    if at > 0 {
                        out.push(b',');
                    }
                    write_string(key, out);
                    out.push(b':');
                    value.write(out);
                }
                out.push(b'}');
            }
        }
    }

    /// The canonical form with its final newline, as it stands in a file.
    pub fn to_canonical_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out);
        out.push(b'\n');
        out
    }

    /// The object, if it is one.
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The array, if it is one.
    pub fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The string, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The object, if it is one, to be changed.
    pub fn as_object_mut(&mut self) -> Option<&mut Object> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The array, if it is one, to be changed.
    pub fn as_array_mut(&mut self) -> Option<&mut Vec<Self>> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text.into())
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl From<u32> for Value {
    fn from(value: u32) -> Self {
        Self::Number(value.into())
    }
}

impl From<i32> for Value {
    fn from(value: i32) -> Self {
        Self::Number(value.into())
    }
}

impl From<Object> for Value {
    fn from(object: Object) -> Self {
        Self::Object(object)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Self {
        Self::Array(items.into_iter().map(Into::into).collect())
    }
}
