//! What each kind of source answers to `inspect`, `verify` and `digest`: one module a kind.
//!
//! The commands open the source, ask here, and print what comes back; what a package is, a pack
//! or an artifact is known only below. To add a kind, write its module and give it its arm in
//! each function here.

pub(crate) mod app;
pub(crate) mod artifact;
pub(crate) mod pack;
mod package;
mod skills;

use holdall_diagnostics::Diagnostic;
use holdall_source::{Kind, Opened};
use holdall_tree::{Digest, HashOptions, tree_hash};
use serde_json::{Map, Value, json};

use crate::outcome::Failure;
use crate::report::Report;

pub(crate) use package::Facts as PackageFacts;
pub(crate) use skills::placed;

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

/// The answer to `inspect`: lines for people, and the members of the JSON object.
#[derive(Debug, Default)]
pub(crate) struct Inspected {
    /// The lines.
    pub(crate) report: Report,
    /// The members.
    pub(crate) facts: Map<String, Value>,
}

/// What a source says of itself, compared with itself.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    /// What was compared, as fragments: `9 entries of the index with 8 tar headers`.
    pub(crate) compared: Vec<String>,
    /// Where it contradicts itself, as errors.
    pub(crate) differences: Vec<Diagnostic>,
    /// What is only unusual, as warnings.
    pub(crate) oddities: Vec<Diagnostic>,
}

/// What it is, what it will run, what it reaches.
pub(crate) fn inspect(opened: &Opened) -> Result<Inspected, Failure> {
    let mut answer = Inspected::default();
    match opened.kind() {
        Some(Kind::Skill) => skills::inspect(opened, true, &mut answer)?,
        Some(Kind::Skills) => skills::inspect(opened, false, &mut answer)?,
        Some(Kind::Artifact) => artifact::inspect(opened, &mut answer)?,
        Some(Kind::Pack) => pack::inspect(opened, &mut answer)?,
        Some(Kind::App) => app::inspect(opened, &mut answer)?,
        Some(Kind::Package | Kind::Project) | None => {}
    }
    if let Some(package) = opened.package() {
        package::Facts::of(package, opened.location().as_str())?.tell(&mut answer);
    }
    Ok(answer)
}

/// Whether everything in it is as it says itself.
pub(crate) fn check(opened: &Opened) -> Result<Checked, Failure> {
    let mut checked = Checked::default();
    match opened.kind() {
        Some(Kind::Skill | Kind::Skills) => skills::check(opened, &mut checked)?,
        Some(Kind::Artifact) => artifact::check(opened, &mut checked)?,
        Some(Kind::Pack) => pack::check(opened, &mut checked)?,
        Some(Kind::App) => app::check(opened, &mut checked),
        Some(Kind::Package | Kind::Project) | None => {}
    }
    if let Some(package) = opened.package() {
        package::check(package, opened.location().as_str(), &mut checked)?;
    }
    Ok(checked)
}

/// Every digest a source has, the one that its kind is known by first.
pub(crate) fn digests(opened: &Opened) -> Result<Vec<Covered>, Failure> {
    let mut digests = Vec::new();
    match opened.kind() {
        Some(Kind::Artifact) => artifact::digests(opened, &mut digests)?,
        Some(Kind::Pack) => pack::digests(opened, &mut digests)?,
        Some(Kind::App) => app::digests(opened, &mut digests),
        _ => {}
    }
    if let Some(package) = opened.package() {
        package::digests(package, &mut digests)?;
    } else {
        digests.push(tree_digest(opened)?);
    }
    Ok(digests)
}

/// The word for it in the JSON object: what it is, else the command's name.
pub(crate) fn word(opened: &Opened, command: &'static str) -> &'static str {
    opened.kind().map_or(command, Kind::as_str)
}

fn tree_digest(opened: &Opened) -> Result<Covered, Failure> {
    let options = HashOptions { without_git: true, ..HashOptions::default() };
    let digest = tree_hash(opened.tree(), options).map_err(|error| opened.error(error))?;
    Ok(Covered { digest, covers: "every path, executable bit, link and byte of the tree" })
}
