//! The artifact manifest, `agent-bundle.manifest.json` version 6: the one file that says what a
//! composite plugin root holds, for which agent hosts, and what it can start.
//!
//! [`parse_artifact_manifest`] takes the bytes of the file and gives an [`ArtifactManifest`] or
//! the first fault; [`check_artifact_manifest`] gives all of them, each with its rule and place;
//! [`read_artifact_manifest`] opens a root. [`lean`] is the lenient reader that generated
//! executables use. Around it: the canonical writer ([`json::Value`]), the order of arrays
//! ([`collate()`]), digests ([`digest`]), comparing rows with a tree ([`rows`]) and a tree with rows
//! ([`strays`]), roots that npm unpacked ([`npm`]), re-indexing
//! ([`reindex`]), the record of compile evidence ([`evidence`]), what of a root goes into a package
//! ([`pack`]), the checks before `npm publish` ([`prepack`]), and the JSON Schema
//! ([`artifact_manifest_schema`]), which is made from the same field tables as the parser.

mod check;
mod checker;
mod codes;
mod collate;
mod containers;
mod cross;
pub mod digest;
pub mod evidence;
mod fault;
mod fields;
pub mod json;
pub mod lean;
mod manifest;
pub mod model;
pub mod npm;
pub mod pack;
mod path;
pub mod prepack;
mod read;
mod record;
pub mod reindex;
pub mod rows;
mod schema;
mod shape;
pub mod strays;

pub use check::{check_artifact_manifest, parse_artifact_manifest};
pub use checker::MAX_FAULTS;
pub use codes::{AB6000, AB6001, AB7001, AB7010, AB7011, AB7013, CODES, HD0451, HD0452};
pub use collate::{collate, collate_segments};
pub use containers::{List, Literal, Map, Scalar, Sorted};
pub use fault::{Fault, Rule};
pub use fields::{Sha256, Text};
pub use manifest::ArtifactManifest;
pub use path::{PathFault, check_owned, check_segment, owned_path, relocatable_path};
pub use read::{ManifestRead, OpenManifest, UnreadableManifest, read_artifact_manifest, shown_at};
pub use schema::artifact_manifest_schema;

/// Name of the artifact manifest at the top of a root (`artifactManifestName`).
pub const ARTIFACT_MANIFEST_NAME: &str = "agent-bundle.manifest.json";

/// The version of the public contract that is read (`artifactManifestVersion`).
pub const ARTIFACT_MANIFEST_VERSION: u64 = 6;

/// The version of the compiler record that is read (`artifactCompilerRecordVersion`).
pub const ARTIFACT_COMPILER_RECORD_VERSION: u64 = 1;

/// Name of an installer's receipt at the top of an installed root, never part of an artifact.
pub const INSTALL_RECEIPT_NAME: &str = ".agent-bundle-install.json";

/// Name of the record of compile evidence at the top of a root.
pub const COMPILE_EVIDENCE_NAME: &str = "agent-bundle.compile-evidence.json";
