//! Tests of packages through the public API.

mod bad;
mod differences;
mod extract;
mod format;
mod fs;
mod index;
mod inspect;
mod oddities;
mod pack;
mod pack_inputs;
mod real;
mod support;
mod verify;
