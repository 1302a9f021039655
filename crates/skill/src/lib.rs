//! Documents with frontmatter, and skills.
//!
//! [`frontmatter::Document`] finds the YAML text of a file, [`yaml`] reads it into a tree in
//! which every value knows its bytes, and [`schema`] walks such a tree by the rules of a
//! document type, collecting all faults. On top of them stands the check of `SKILL.md`. Nothing here
//! touches a disk: documents come as bytes or through a [`holdall_tree::Tree`].

pub mod codes;
pub mod directory;
pub mod fix;
pub mod frontmatter;
pub mod hidden;
pub mod links;
pub mod risky;
pub mod schema;
pub mod skill;
pub mod yaml;

pub use codes::CODES;
