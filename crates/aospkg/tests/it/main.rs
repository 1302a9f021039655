//! Tests of packages through the public API.

mod format;
