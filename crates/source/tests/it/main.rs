//! Tests of the source grammar and of telling kinds apart, through the public interface.

mod grammar;
mod kinds;
mod validate;
