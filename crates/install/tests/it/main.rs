//! Tests of the executor through the public API.

mod executor;
mod packs;
mod skills;
