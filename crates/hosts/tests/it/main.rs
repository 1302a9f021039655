//! Tests of the agent host tables through the public API.

mod cli;
mod documents;
mod hosts;
mod listing;
mod packed;
mod projections;
mod receipt;
mod validate;
