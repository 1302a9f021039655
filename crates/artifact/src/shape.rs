//! What is said of a field once, for the parser and the JSON Schema alike.

use crate::checker::Checker;
use crate::fault::Rule;
use crate::json::{Node, NodeKind};

/// What a value may be.
#[derive(Debug)]
pub(crate) enum Shape {
    /// A string, not empty unless it says so.
    Text { empty: bool },
    /// A SHA-256 digest.
    Sha256,
    /// `true` or `false`.
    Boolean,
    /// Exactly `true`.
    True,
    /// Exactly `false`.
    False,
    /// An integer between two bounds, both included.
    Integer { min: u64, max: u64 },
    /// A string of a closed set.
    Words(&'static [&'static str]),
    /// A string under a regular expression of ECMAScript and a greatest length.
    Pattern { pattern: &'static str, max: Option<usize>, not: Option<&'static str> },
    /// A relocatable path.
    Path,
    /// A path that the artifact owns.
    OwnedPath,
    /// A relocatable path other than the artifact manifest.
    PathNotManifest,
    /// A relocatable path of one segment.
    PathSegment,
    /// An array.
    List { item: Box<Shape>, min: usize, unique: bool },
    /// An array that is one of these.
    Arrays(&'static [&'static [&'static str]]),
    /// An object with keys of the author's choice.
    Map { values: Box<Shape>, min: usize, proto: bool },
    /// Any object.
    AnyObject,
    /// A boolean, number or string.
    Scalar,
    /// A scalar or a flat array of scalars.
    Literal,
    /// A record.
    Record(fn() -> Table),
}

/// A closed object.
#[derive(Debug)]
pub(crate) struct Table {
    /// Its name among the definitions of the schema.
    pub(crate) name: &'static str,
    /// What it is.
    pub(crate) doc: &'static str,
    /// Its fields, in the order in which they are checked.
    pub(crate) fields: &'static [Field],
    /// The shape of each field, in the same order.
    pub(crate) shapes: Vec<Shape>,
    /// What the presence of a key depends on.
    pub(crate) conditions: &'static [Condition],
}

/// A key of a closed object.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) key: &'static str,
    pub(crate) required: bool,
}

/// What the presence of a key depends on.
#[derive(Debug)]
pub(crate) enum Condition {
    /// `key` is there exactly when the word at `by` is one of `words`.
    PresentIff { key: &'static str, by: &'static str, words: &'static [&'static str] },
    /// `key` may be there only when the word at `by` is one of `words`.
    AllowedIf { key: &'static str, by: &'static str, words: &'static [&'static str] },
    /// At least one of the keys is there.
    SomeOf(&'static [&'static str]),
    /// Exactly one of the keys is there.
    OneOf(&'static [&'static str]),
    /// When `key` is there, `falsy` is false and none of `absent` is there.
    Excludes { key: &'static str, falsy: &'static str, absent: &'static [&'static str] },
}

/// Keys that the format reserves: refused like any unknown key, but by their name.
#[derive(Debug)]
pub(crate) struct Reserved {
    pub(crate) key: &'static str,
    pub(crate) meaning: &'static str,
}

/// Finds the members of a closed object: each lands in the slot of its field. Faults are recorded
/// for what is not an object, unknown and missing keys, and broken conditions; the answer is
/// whether there were none.
pub(crate) fn read_members<'d>(
    node: Node<'d>,
    cx: &mut Checker<'_>,
    fields: &[Field],
    reserved: &[Reserved],
    conditions: &[Condition],
    slots: &mut [Option<Node<'d>>],
) -> bool {
    if node.kind() != NodeKind::Object {
        cx.wrong_type(node, "an object");
        return false;
    }
    let mut good = true;
    for (key, value) in node.members() {
        match fields.iter().position(|field| key.is_text(field.key)) {
            Some(at) => slots[at] = Some(value),
            None => {
                unknown_key(key, cx, fields, reserved);
                good = false;
            }
        }
    }
    for (field, slot) in fields.iter().zip(&*slots) {
        if field.required && slot.is_none() {
            cx.fault(node, Rule::Missing, format!("the key `{}` is missing", field.key));
            good = false;
        }
    }
    for condition in conditions {
        good &= holds(condition, node, cx, fields, slots);
    }
    good
}

fn unknown_key(key: Node<'_>, cx: &mut Checker<'_>, fields: &[Field], reserved: &[Reserved]) {
    let name = key.text().unwrap_or_default();
    if let Some(reserved) = reserved.iter().find(|reserved| reserved.key == name) {
        let message = format!(
            "the key `{name}` is reserved for {} and not written in version 6",
            reserved.meaning
        );
        cx.fault(key, Rule::ReservedKey, message);
        return;
    }
    let known: Vec<_> = fields.iter().map(|field| field.key).collect();
    let message = format!("the key `{}` is unknown here", name.escape_debug());
    cx.fault_with_help(key, Rule::Key, message, format!("known keys: {}", known.join(", ")));
}

fn holds(
    condition: &Condition,
    node: Node<'_>,
    cx: &mut Checker<'_>,
    fields: &[Field],
    slots: &[Option<Node<'_>>],
) -> bool {
    let slot = |key: &str| {
        let at = fields.iter().position(|field| field.key == key)?;
        slots[at]
    };
    // A discriminator that is missing or no word at all is a fault of its own.
    let word_is = |by: &str, words: &[&str]| {
        let text = slot(by)?.text()?;
        Some(words.contains(&&*text))
    };
    let listed = |words: &[&str]| words.join(", ");
    match condition {
        Condition::PresentIff { key, by, words } => match (slot(key), word_is(by, words)) {
            (Some(value), Some(false)) => {
                let message = format!("is only there when `{by}` is one of: {}", listed(words));
                cx.fault(value, Rule::Presence, message);
                false
            }
            (None, Some(true)) => {
                let message = format!("`{key}` is missing: `{by}` is one of: {}", listed(words));
                cx.fault(node, Rule::Presence, message);
                false
            }
            _ => true,
        },
        Condition::AllowedIf { key, by, words } => match (slot(key), word_is(by, words)) {
            (Some(value), Some(false)) => {
                let message = format!("is only there when `{by}` is one of: {}", listed(words));
                cx.fault(value, Rule::Presence, message);
                false
            }
            _ => true,
        },
        Condition::SomeOf(keys) => {
            let good = keys.iter().any(|key| slot(key).is_some());
            if !good {
                let message = format!("must have at least one of: {}", listed(keys));
                cx.fault(node, Rule::Presence, message);
            }
            good
        }
        Condition::OneOf(keys) => {
            let good = keys.iter().filter(|key| slot(key).is_some()).count() == 1;
            if !good {
                let message = format!("must have exactly one of: {}", listed(keys));
                cx.fault(node, Rule::Presence, message);
            }
            good
        }
        Condition::Excludes { key, falsy, absent } => {
            if slot(key).is_none() {
                return true;
            }
            let mut good = true;
            if let Some(value) = slot(falsy).filter(|value| value.kind() == NodeKind::True) {
                cx.fault(value, Rule::Presence, format!("must be false beside `{key}`"));
                good = false;
            }
            for other in *absent {
                if let Some(value) = slot(other) {
                    cx.fault(value, Rule::Presence, format!("must not be there beside `{key}`"));
                    good = false;
                }
            }
            good
        }
    }
}
