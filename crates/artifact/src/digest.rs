//! The digests of the format (section 4).

use crate::fields::{Json, Sha256, Sorted};
use crate::model::SourceInput;

/// `compiler.project.revision`: the digest of the project's inputs (4.2), that is of the
/// canonical form of `{"inputs": sourceInputs}` without a newline.
pub fn revision(inputs: &Sorted<SourceInput>) -> Sha256 {
    let mut text = br#"{"inputs":"#.to_vec();
    inputs.write(&mut text);
    text.push(b'}');
    Sha256::of(&text)
}

/// `routes.digest` of a project without routes (4.5). The digest of a graph that has some covers
/// configuration that the artifact does not hold, so that no reader can compute it again.
pub const EMPTY_GRAPH: &str = "d3f44eea2211698634fb9e2fc28997db775625774579eb44460cca873ce5c683";
