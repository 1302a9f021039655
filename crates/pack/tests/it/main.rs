//! Packs, apps and products through the public API, on trees in memory.

mod apps;
mod bundles;
mod digest;
mod documents;
mod doors;
mod example;
mod knowledge;
mod packs;
mod pins;
mod products;
mod refs;
mod schemas;
mod support;

use holdall_diagnostics::{Diagnostic, Severity};
use holdall_tree::MemTree;

/// A tree of text files.
pub(crate) fn tree(files: &[(&str, &str)]) -> MemTree {
    let mut tree = MemTree::new();
    for (path, text) in files {
        tree.add_file(path, text.as_bytes()).expect("a path");
    }
    tree
}

/// `CODE path:line` of every finding.
pub(crate) fn lines(found: &[Diagnostic]) -> Vec<String> {
    let line = |each: &Diagnostic| {
        let at = each.span.map(|span| format!(":{}", span.start.line)).unwrap_or_default();
        format!("{} {}{at}", each.code, each.path.as_deref().unwrap_or_default())
    };
    found.iter().map(line).collect()
}

/// The codes of all errors.
pub(crate) fn errors(found: &[Diagnostic]) -> Vec<&str> {
    let error = |each: &&Diagnostic| each.severity == Severity::Error;
    found.iter().filter(error).map(|each| each.code).collect()
}
