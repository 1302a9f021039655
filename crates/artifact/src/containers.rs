//! What a field can hold that holds something else: arrays, objects of the author's, defaults.

use std::ops::Deref;

use holdall_tree::TreePath;

use crate::checker::Checker;
use crate::collate::collate;
use crate::fault::Rule;
use crate::fields::{Json, Text};
use crate::json::{Node, NodeKind, Object, Value, write_number, write_string};
use crate::shape::Shape;

/// An array in the order of its author, of at least `MIN` items.
#[derive(Debug, Clone, PartialEq)]
pub struct List<T, const MIN: usize = 0>(Box<[T]>);

impl<T, const MIN: usize> Deref for List<T, MIN> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<'a, T, const MIN: usize> IntoIterator for &'a List<T, MIN> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<T: Json, const MIN: usize> Json for List<T, MIN> {
    fn shape() -> Shape {
        Shape::List { item: Box::new(T::shape()), min: MIN, unique: false }
    }

    fn read(node: Node<'_>, cx: &mut Checker<'_>) -> Option<Self> {
        read_items(node, cx, MIN, |_, _, _| true).map(|items| Self(items.into()))
    }

    fn write(&self, out: &mut Vec<u8>) {
        write_items(&self.0, out);
    }
}

/// What an array is sorted by.
pub(crate) trait SortKey {
    /// The key in words, as `path`, or nothing where the items are strings.
    const BY: &'static str;
    /// Compares two items.
    fn compare(&self, other: &Self) -> std::cmp::Ordering;
    /// The key's value for messages.
    fn shown(&self) -> String;
}

impl SortKey for Text {
    const BY: &'static str = "";

    fn compare(&self, other: &Self) -> std::cmp::Ordering {
        collate(self, other)
    }

    fn shown(&self) -> String {
        self.to_string()
    }
}

impl SortKey for TreePath {
    const BY: &'static str = "";

    fn compare(&self, other: &Self) -> std::cmp::Ordering {
        collate(self.as_str(), other.as_str())
    }

    fn shown(&self) -> String {
        self.to_string()
    }
}

/// An array sorted by its key under the collation of [`collate`], each key once, of at least
/// `MIN` items.
#[derive(Debug, Clone, PartialEq)]
pub struct Sorted<T, const MIN: usize = 0>(Box<[T]>);

impl<T, const MIN: usize> Deref for Sorted<T, MIN> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<'a, T, const MIN: usize> IntoIterator for &'a Sorted<T, MIN> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<T: Json + SortKey, const MIN: usize> Json for Sorted<T, MIN> {
    fn shape() -> Shape {
        Shape::List { item: Box::new(T::shape()), min: MIN, unique: true }
    }

    fn read(node: Node<'_>, cx: &mut Checker<'_>) -> Option<Self> {
        let items =
            read_items(node, cx, MIN, |before: &T, item: &T, at: (Node<'_>, &mut Checker<'_>)| {
                let order = before.compare(item);
                if order == std::cmp::Ordering::Less {
                    return true;
                }
                let (node, cx) = at;
                let by = if T::BY.is_empty() { String::new() } else { format!("{} ", T::BY) };
                let (before, item) = (before.shown(), item.shown());
                let message = if order == std::cmp::Ordering::Equal {
                    format!("{by}`{item}` is there twice, or sorts as equal to `{before}`")
                } else {
                    format!("{by}`{item}` must not come after `{before}`; the array is sorted")
                };
                cx.fault(node, Rule::Order, message);
                false
            });
        items.map(|items| Self(items.into()))
    }

    fn write(&self, out: &mut Vec<u8>) {
        write_items(&self.0, out);
    }
}

/// Reads every item; `fits` judges each against the one before.
fn read_items<T: Json>(
    node: Node<'_>,
    cx: &mut Checker<'_>,
    min: usize,
    fits: impl Fn(&T, &T, (Node<'_>, &mut Checker<'_>)) -> bool,
) -> Option<Vec<T>> {
    if node.kind() != NodeKind::Array {
        cx.wrong_type(node, "an array");
        return None;
    }
    let mut items: Vec<T> = Vec::new();
    let mut good = true;
    for child in node.items() {
        match T::read(child, cx) {
            Some(item) => {
                if let Some(before) = items.last() {
                    good &= fits(before, &item, (child, &mut *cx));
                }
                items.push(item);
            }
            None => good = false,
        }
    }
    if good && items.len() < min {
        cx.fault(node, Rule::Value, "must not be empty");
        return None;
    }
    good.then_some(items)
}

fn write_items<T: Json>(items: &[T], out: &mut Vec<u8>) {
    out.push(b'[');
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        item.write(out);
    }
    out.push(b']');
}

/// An object with keys of the author's choice, in UTF-16 order, of at least `MIN` members.
#[derive(Debug, Clone, PartialEq)]
pub struct Map<T, const MIN: usize = 0>(Box<[(Box<str>, T)]>);

impl<T, const MIN: usize> Map<T, MIN> {
    /// The members.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &T)> {
        self.0.iter().map(|(key, value)| (&**key, value))
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&T> {
        self.0.iter().find(|(other, _)| &**other == key).map(|(_, value)| value)
    }

    /// How many members there are.
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Whether a [`Map`] takes the key `__proto__`: the producing tool loses it where it rebuilds an
/// object key by key, so there no canonical document can have it.
pub(crate) trait MapValue: Json {
    /// Whether it does.
    const PROTO: bool;
}

impl<T: MapValue, const MIN: usize> Json for Map<T, MIN> {
    fn shape() -> Shape {
        Shape::Map { values: Box::new(T::shape()), min: MIN, proto: T::PROTO }
    }

    fn read(node: Node<'_>, cx: &mut Checker<'_>) -> Option<Self> {
        if node.kind() != NodeKind::Object {
            cx.wrong_type(node, "an object");
            return None;
        }
        let mut members: Vec<(Box<str>, T)> = Vec::new();
        let mut good = true;
        for (key, value) in node.members() {
            if !T::PROTO && key.is_text("__proto__") {
                cx.fault(key, Rule::Key, "`__proto__` is no usable name here");
                good = false;
            }
            match T::read(value, cx) {
                Some(value) => members.push((key.text().unwrap_or_default().into(), value)),
                None => good = false,
            }
        }
        if good && members.len() < MIN {
            cx.fault(node, Rule::Value, "must not be empty");
            return None;
        }
        members.sort_by(|(a, _), (b, _)| crate::json::utf16_cmp(a, b));
        good.then(|| Self(members.into()))
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        for (at, (key, value)) in self.0.iter().enumerate() {
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

/// Any JSON object, nested as it likes.
impl Json for Object {
    fn shape() -> Shape {
        Shape::AnyObject
    }

    fn read(node: Node<'_>, cx: &mut Checker<'_>) -> Option<Self> {
        match Value::from_node(node) {
            Value::Object(object) => Some(object),
            _ => {
                cx.wrong_type(node, "an object");
                None
            }
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        Value::Object(self.clone()).write(out);
    }
}

/// A default: a boolean, a number, a string, or a flat array of those.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// A boolean, number or string.
    One(Scalar),
    /// An array of them.
    Many(Box<[Scalar]>),
}

/// A boolean, a number or a string.
#[derive(Debug, Clone, PartialEq)]
pub enum Scalar {
    /// `true` or `false`
    Bool(bool),
    /// A finite number.
    Number(f64),
    /// A string, which may be empty.
    String(Box<str>),
}

impl Json for Scalar {
    fn shape() -> Shape {
        Shape::Scalar
    }

    fn read(node: Node<'_>, cx: &mut Checker<'_>) -> Option<Self> {
        match node.kind() {
            NodeKind::True => Some(Self::Bool(true)),
            NodeKind::False => Some(Self::Bool(false)),
            NodeKind::Number => node.number().map(Self::Number),
            NodeKind::String => node.text().map(|text| Self::String(text.into())),
            _ => {
                cx.wrong_type(node, "a boolean, a number or a string");
                None
            }
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Bool(value) => value.write(out),
            Self::Number(value) => write_number(*value, out),
            Self::String(text) => write_string(text, out),
        }
    }
}

impl Json for Literal {
    fn shape() -> Shape {
        Shape::Literal
    }

    fn read(node: Node<'_>, cx: &mut Checker<'_>) -> Option<Self> {
        if node.kind() == NodeKind::Array {
            return List::<Scalar>::read(node, cx).map(|list| Self::Many(list.0));
        }
        Scalar::read(node, cx).map(Self::One)
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::One(scalar) => scalar.write(out),
            Self::Many(scalars) => write_items(scalars, out),
        }
    }
}

impl MapValue for Literal {
    const PROTO: bool = true;
}

impl MapValue for Box<str> {
    const PROTO: bool = false;
}
