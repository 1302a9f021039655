//! Tests through the real binary: exit codes, what goes to which output, and the wording of
//! messages. One module a topic; what the libraries already test is not repeated here.

mod artifact;
mod bad_input;
mod documents;
mod frame;
mod install;
mod look;
mod package;
mod support;
mod validate;
