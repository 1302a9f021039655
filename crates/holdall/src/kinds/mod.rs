//! What each kind of source answers to `inspect`, `verify` and `digest`: one module a kind.
//!
//! The commands open the source, ask here, and print what comes back; what a package is, a pack
//! or an artifact is known only below. To add a kind, write its module and give it its arm in
//! each function here.

use holdall_source::Opened;
use holdall_tree::{Digest, HashOptions, tree_hash};
use serde_json::{Value, json};

use crate::outcome::Failure;

/// A digest of a source and what it covers.
#[derive(Debug)]
pub(crate) struct Covered {
    /// The digest.
    pub(crate) digest: Digest,
    /// What it covers, as a fragment.
    pub(crate) covers: &'static str,
}

impl Covered {
    /// The row of `digests[]`.
    pub(crate) fn fact(&self) -> Value {
        json!({
            "alg": self.digest.algorithm().as_str(),
            "hex": self.digest.hex(),
            "covers": self.covers,
        })
    }
}

/// Every digest a source has, the one that its kind is known by first.
pub(crate) fn digests(opened: &Opened) -> Result<Vec<Covered>, Failure> {
    let options = HashOptions { without_git: true, ..HashOptions::default() };
    let digest = tree_hash(opened.tree(), options).map_err(|error| opened.error(error))?;
    Ok(vec![Covered { digest, covers: "every path, executable bit, link and byte of the tree" }])
}
