//! What a field can hold: one type for each kind of value of the format.
//!
//! A type says three things of itself, in one place: how it is read and judged ([`Json::read`]),
//! how it is written canonically ([`Json::write`]), and what a JSON Schema says of it
//! ([`Json::shape`]). Records are made of these by the `record!` macro.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use holdall_tree::TreePath;

use crate::ARTIFACT_MANIFEST_NAME;
use crate::checker::Checker;
use crate::fault::Rule;
use crate::json::{Node, NodeKind, write_string};
use crate::path::{self, PathFault};
use crate::shape::Shape;

/// Characters of a wrong value that a message repeats.
const SHOWN: usize = 40;

/// The largest integer that every double represents exactly.
pub(crate) const MAX_SAFE: u64 = 9_007_199_254_740_991;

/// A type that stands in an artifact manifest.
pub(crate) trait Json: Sized {
    /// What a schema says of it.
    fn shape() -> Shape;
    /// Reads and judges a value; `None` when it recorded a fault.
    fn read(node: Node<'_>, cx: &mut Checker<'_>) -> Option<Self>;
    /// Appends the canonical form.
    fn write(&self, out: &mut Vec<u8>);
}

/// The writing half of [`Json`], for lists of unlike members.
pub(crate) trait Write {
    /// Appends the canonical form.
    fn write_to(&self, out: &mut Vec<u8>);
}

impl<T: Json> Write for T {
    fn write_to(&self, out: &mut Vec<u8>) {
        self.write(out);
    }
}

/// Writes an object of the members that are there, already in the order of their keys.
pub(crate) fn write_members(members: &[(&str, Option<&dyn Write>)], out: &mut Vec<u8>) {
    out.push(b'{');
    let mut first = true;
    for (key, value) in members {
        let Some(value) = value else { continue };
        if !std::mem::take(&mut first) {
            out.push(b',');
        }
        write_string(key, out);
        out.push(b':');
        value.write_to(out);
    }
    out.push(b'}');
}

/// A string of at least one character; a single space will do.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Text(Box<str>);

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Json for Text {
    fn shape() -> Shape {
        Shape::Text { empty: false }
    }

    fn read(node: Node<'_>, cx: &mut Checker<'_>) -> Option<Self> {
        let Some(text) = node.text() else {
            cx.wrong_type(node, "a string");
            return None;
        };
        if text.is_empty() {
            cx.fault(node, Rule::Value, "must not be the empty string");
            return None;
        }
        Some(Self(text.into()))
    }

    fn write(&self, out: &mut Vec<u8>) {
        write_string(self, out);
    }
}

/// Any string, the empty one as well.
impl Json for Box<str> {
    fn shape() -> Shape {
        Shape::Text { empty: true }
    }

    fn read(node: Node<'_>, cx: &mut Checker<'_>) -> Option<Self> {
        let text = node.text();
        if text.is_none() {
            cx.wrong_type(node, "a string");
        }
        text.map(Into::into)
    }

    fn write(&self, out: &mut Vec<u8>) {
        write_string(self, out);
    }
}

/// A SHA-256 digest, written as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sha256([u8; 32]);

impl Sha256 {
    /// Takes the bytes of a digest.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        use sha2::Digest;
        Self(sha2::Sha256::digest(bytes).into())
    }

    /// The bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Reads 64 lower-case hexadecimal digits.
    pub fn from_hex(hex: &str) -> Option<Self> {
        let hex = hex.as_bytes();
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'a'..=b'f' => Some(byte - b'a' + 10),
            _ => None,
        };
        if hex.len() != 64 {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(hex.chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Some(Self(bytes))
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sha256({self})")
    }
}

impl Json for Sha256 {
    fn shape() -> Shape {
        Shape::Sha256
    }

    fn read(node: Node<'_>, cx: &mut Checker<'_>) -> Option<Self> {
        let Some(text) = node.text() else {
            cx.wrong_type(node, "a SHA-256 digest");
            return None;
        };
        let digest = Self::from_hex(&text);
        if digest.is_none() {
            let message = "must be a SHA-256 digest of 64 lower-case hexadecimal digits";
            cx.fault(node, Rule::Value, message);
        }
        digest
    }

    fn write(&self, out: &mut Vec<u8>) {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        out.push(b'"');
        for byte in self.0 {
            out.extend([HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
        }
        out.push(b'"');
    }
}

impl Json for bool {
    fn shape() -> Shape {
        Shape::Boolean
    }

    fn read(node: Node<'_>, cx: &mut Checker<'_>) -> Option<Self> {
        match node.kind() {
            NodeKind::True => Some(true),
            NodeKind::False => Some(false),
            _ => {
                cx.wrong_type(node, "a boolean");
                None
            }
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(if *self { b"true" } else { b"false" });
    }
}

/// An integer between two bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Integer<const MIN: u64, const MAX: u64>(u64);

impl<const MIN: u64, const MAX: u64> Integer<MIN, MAX> {
    pub(crate) const fn get(self) -> u64 {
        self.0
    }
}

impl<const MIN: u64, const MAX: u64> Json for Integer<MIN, MAX> {
    fn shape() -> Shape {
        Shape::Integer { min: MIN, max: MAX }
    }

    fn read(node: Node<'_>, cx: &mut Checker<'_>) -> Option<Self> {
        let Some(number) = node.number() else {
            cx.wrong_type(node, "a number");
            return None;
        };
        let value = safe_integer(number).filter(|value| (MIN..=MAX).contains(value));
        if value.is_none() {
            cx.fault(node, Rule::Value, format!("must be an integer from {MIN} to {MAX}"));
        }
        value.map(Self)
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.0.to_string().as_bytes());
    }
}

/// A version number that must be `N`: of the compiler record, or of the public contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Version<const N: u64, const RECORD: bool>;

impl<const N: u64, const RECORD: bool> Json for Version<N, RECORD> {
    fn shape() -> Shape {
        Shape::Integer { min: N, max: N }
    }

    fn read(node: Node<'_>, cx: &mut Checker<'_>) -> Option<Self> {
        let Some(number) = node.number() else {
            cx.wrong_type(node, &format!("the number {N}"));
            return None;
        };
        if safe_integer(number) == Some(N) {
            return Some(Self);
        }
        let rule = if RECORD { Rule::RecordVersion } else { Rule::ManifestVersion };
        let raw = node.raw();
        let dots = if raw.chars().nth(SHOWN).is_some() { "…" } else { "" };
        let raw: String = raw.chars().take(SHOWN).collect();
        let message = format!("must be {N}, not {raw}{dots}; no other version is read");
        cx.fault_with_help(
            node,
            rule,
            message,
            "rebuild the root with a tool that writes this version",
        );
        None
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(N.to_string().as_bytes());
    }
}

/// The integer that a double is, if it is one from 0 to [`MAX_SAFE`].
#[expect(clippy::cast_precision_loss, reason = "the bound is exact as a double")]
pub(crate) fn safe_integer(number: f64) -> Option<u64> {
    let in_range = (0.0..=MAX_SAFE as f64).contains(&number);
    #[expect(clippy::cast_sign_loss, reason = "the range was checked")]
    let value = in_range.then_some(number as u64);
    value.filter(|_| number.fract() == 0.0)
}

/// Which paths a [`Path`] takes.
pub(crate) trait PathUse {
    /// What else a schema has to say.
    const SHAPE: Shape;
    /// Takes or refuses a text.
    fn take(text: &str) -> Result<TreePath, PathFault>;
}

/// Any relocatable path (3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relocatable {}

/// A path that the artifact owns (3.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owned {}

/// Any relocatable path but the artifact manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotManifest {}

/// A single portable segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Segment {}

impl PathUse for Relocatable {
    const SHAPE: Shape = Shape::Path;

    fn take(text: &str) -> Result<TreePath, PathFault> {
        path::relocatable_path(text)
    }
}

impl PathUse for Owned {
    const SHAPE: Shape = Shape::OwnedPath;

    fn take(text: &str) -> Result<TreePath, PathFault> {
        path::owned_path(text)
    }
}

impl PathUse for NotManifest {
    const SHAPE: Shape = Shape::PathNotManifest;

    fn take(text: &str) -> Result<TreePath, PathFault> {
        match path::relocatable_path(text)? {
            path if path.as_str() == ARTIFACT_MANIFEST_NAME => Err(PathFault::Manifest),
            path => Ok(path),
        }
    }
}

impl PathUse for Segment {
    const SHAPE: Shape = Shape::PathSegment;

    fn take(text: &str) -> Result<TreePath, PathFault> {
        match path::relocatable_path(text)? {
            path if path.components().count() > 1 => Err(PathFault::NotOneSegment),
            path => Ok(path),
        }
    }
}

/// A path under the rule `U`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Path<U>(TreePath, PhantomData<U>);

impl<U> Path<U> {
    pub(crate) const fn tree_path(&self) -> &TreePath {
        &self.0
    }
}

impl<U: PathUse> Json for Path<U> {
    fn shape() -> Shape {
        U::SHAPE
    }

    fn read(node: Node<'_>, cx: &mut Checker<'_>) -> Option<Self> {
        let Some(text) = node.text() else {
            cx.wrong_type(node, "a path");
            return None;
        };
        match U::take(&text) {
            Ok(path) => Some(Self(path, PhantomData)),
            Err(fault) => {
                cx.fault(node, Rule::Path, format!("`{text}` {fault}"));
                None
            }
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        write_string(self.0.as_str(), out);
    }
}

/// A relocatable path, in lists.
impl Json for TreePath {
    fn shape() -> Shape {
        Shape::Path
    }

    fn read(node: Node<'_>, cx: &mut Checker<'_>) -> Option<Self> {
        Path::<Relocatable>::read(node, cx).map(|path| path.0)
    }

    fn write(&self, out: &mut Vec<u8>) {
        write_string(self.as_str(), out);
    }
}

/// A closed set of words as an enum.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $word:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$vmeta])* $variant),* }

        impl $name {
            /// Every word, in the order of the declaration.
            pub const WORDS: &'static [&'static str] = &[$($word),*];

            /// The word as it is written.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }

            /// The value of a word.
            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)* _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl $crate::fields::Json for $name {
            fn shape() -> $crate::shape::Shape {
                $crate::shape::Shape::Words(Self::WORDS)
            }

            fn read(
                node: $crate::json::Node<'_>,
                cx: &mut $crate::checker::Checker<'_>,
            ) -> Option<Self> {
                $crate::fields::read_word(node, cx, Self::WORDS, Self::from_word)
            }

            fn write(&self, out: &mut Vec<u8>) {
                $crate::json::write_string(self.as_str(), out);
            }
        }
    };
}
pub(crate) use words;

/// Reads one word of a closed set.
pub(crate) fn read_word<T>(
    node: Node<'_>,
    cx: &mut Checker<'_>,
    words: &[&str],
    from_word: fn(&str) -> Option<T>,
) -> Option<T> {
    let listed = || {
        let listed: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        match listed.len() {
            1 => listed.concat(),
            _ => format!("one of {}", listed.join(", ")),
        }
    };
    let Some(text) = node.text() else {
        cx.wrong_type(node, &listed());
        return None;
    };
    let value = from_word(&text);
    if value.is_none() {
        cx.fault(node, Rule::Value, format!("must be {}, not `{text}`", listed()));
    }
    value
}

/// Exactly `true`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct True;

impl Json for True {
    fn shape() -> Shape {
        Shape::True
    }

    fn read(node: Node<'_>, cx: &mut Checker<'_>) -> Option<Self> {
        match bool::read(node, cx) {
            Some(true) => Some(Self),
            Some(false) => {
                cx.fault(node, Rule::Value, "must be true, or left out");
                None
            }
            None => None,
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"true");
    }
}
