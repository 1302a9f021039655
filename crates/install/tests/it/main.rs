//! Tests of the executor through the public API.

mod artifacts;
mod executor;
mod includes;
mod packs;
mod skills;
