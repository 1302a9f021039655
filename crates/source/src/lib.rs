//! What a command reads: the one grammar of sources, what a source turns out to be, and opening
//! it as a [`Tree`](holdall_tree::Tree).
//!
//! A [`Source`] is what the user typed, parsed and nothing more: no file was looked at. A
//! [`Kind`] is what is found there, decided by the files at the root of the tree. Everything
//! behind this crate works on trees and does not know whether they are directories or sealed
//! files.

pub mod codes;
mod error;
mod kind;
mod open;
mod spec;
pub mod validate;

pub use codes::CODES;
pub use error::{OpenError, SourceError};
pub use kind::{Kind, UnknownKind, detect};
pub use open::{Container, OpenOptions, Opened, Origin, open};
pub use spec::{GitAddress, NpmSpec, Source};
