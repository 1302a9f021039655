//! The public behaviour of the crate.

mod agentskills;
mod directory;
mod frontmatter;
mod schema;
mod skill;
mod text;
mod yaml;
