//! Tests through the real binary: exit codes, what goes to which output, and the wording of
//! messages. One module a topic; what the libraries already test is not repeated here.

mod bad_input;
mod frame;
mod look;
mod package;
mod support;
mod validate;
