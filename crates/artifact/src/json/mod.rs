//! JSON as an artifact manifest needs it: every value with its place, every oddity kept.
//!
//! A general JSON library drops what this format is judged by: where a value stands, which key
//! came twice, whether a string was written with a needless escape. [`Document`] is a flat list
//! of tokens over the text; it is made in one pass, without recursion, and remembers duplicate
//! keys and every kind of departure from the canonical form (section 2 of the format). [`Value`]
//! is the other direction: a tree that is always written canonically.

mod document;
mod number;
mod text;
mod value;

pub use document::{
    Departure, DepartureKind, Document, Duplicate, MAX_BYTES, MAX_DEPTH, Node, NodeKind, TextError,
    TextErrorKind,
};
pub use number::write_number;
pub use text::{utf16_cmp, write_string};
pub use value::{Object, Value};
