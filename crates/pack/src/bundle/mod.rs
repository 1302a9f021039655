//! `.agentapp`, agentapp/v1: an app as one file (`pack-v1` 4.3).
//!
//! A bundle is a gzip-compressed tar of an app's directory with `manifest.json` at its root, which
//! lists the files and has one SHA-256 over all their bytes. That sum has no names and no
//! boundaries in it, so the reader here is stricter than the format: what is listed and what is
//! there have to be the same, sorted, regular files of sane names and sizes, and nothing is given
//! out before all of it was checked. [`Bundle`] is the [`Tree`](holdall_tree::Tree) of the app.

mod manifest;
mod read;
mod write;

pub use manifest::BundleManifest;
pub use read::{Bundle, BundleLimits};
pub use write::{BundleOptions, Bundled, write_bundle};

/// Name of the list of files at the root of a bundle.
pub const BUNDLE_MANIFEST: &str = "manifest.json";

/// What `format` has to be.
pub const BUNDLE_FORMAT: &str = "agentapp/v1";

/// How a bundle's file name ends.
pub const BUNDLE_SUFFIX: &str = ".agentapp";
