//! Tests of the artifact manifest through the public interface.

mod published;
