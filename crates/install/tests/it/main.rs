//! Tests of the executor through the public API.

mod executor;
mod includes;
mod packs;
mod skills;
