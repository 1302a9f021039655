//! Tests through the real binary: exit codes, what goes to which output, and the wording of
//! messages. One module a topic; what the libraries already test is not repeated here.

mod artifact;
mod bad_input;
mod disks;
mod documents;
#[cfg(feature = "fault")]
mod faults;
mod fetch;
mod frame;
mod install;
mod look;
mod package;
mod packs;
#[path = "../../../store/tests/it/server.rs"]
mod server;
mod support;
mod upkeep;
mod validate;
