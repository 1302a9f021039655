//! Agent hosts: Claude Code, Codex, Cursor, Amp and the others that read skills.
//!
//! What is known of a host is data, one file each under `data/`, with the version it was observed
//! in: its names, the directory whose presence says that it is installed, and the directories it
//! reads skills from. This crate answers where things belong and whether a host is here; it
//! changes nothing, starts nothing, and takes what it needs of the environment as a [`HostEnv`].

pub mod adapters;
pub mod cli;
pub mod documents;
pub mod events;
pub mod listing;
pub mod projections;
pub mod receipt;
pub mod validate;

mod host;

pub use host::{
    AgentHost, HostEnv, Scope, SkillDirs, UnknownHost, detected, find, hosts, readers_of,
};
