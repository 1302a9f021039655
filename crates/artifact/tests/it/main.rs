//! Tests of the artifact manifest through the public interface.

mod against_node;
mod bad_input;
mod digests;
mod disk;
mod evidence;
mod families;
mod generate;
mod lean;
mod mutants;
mod npm;
mod pack;
mod prepack;
mod published;
mod reindex;
mod rows;
mod schema;
mod shapes;
mod strays;
