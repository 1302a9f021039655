//! The public behaviour of the crate.

mod frontmatter;
mod yaml;
