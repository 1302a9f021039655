//! Tests of the source grammar and of telling kinds apart, through the public interface.

mod fetched;
mod grammar;
mod kinds;
#[expect(dead_code, reason = "other tests ask more of a server")]
#[path = "../../../store/tests/it/server.rs"]
mod server;
mod validate;
