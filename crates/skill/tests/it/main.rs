//! The public behaviour of the crate.

mod agentskills;
mod directory;
mod frontmatter;
mod skill;
mod text;
mod yaml;
