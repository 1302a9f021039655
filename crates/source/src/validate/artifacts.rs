//! Artifacts: each root whole, by the validator of agent hosts. What lies in one is judged there,
//! as part of it, and not a second time by itself.

use holdall_diagnostics::Diagnostic;
use holdall_hosts::validate::{NpmPackage, validate_artifact};
use holdall_tree::{SubTree, Tree, TreePath};

use super::listing::shown;
use super::{Checked, Report, Root};
use crate::Kind;

pub(super) fn check(tree: &dyn Tree, roots: &[TreePath], root: &Root<'_>, report: &mut Report) {
    for dir in roots {
        let here = shown(root.shown, dir.as_str());
        let here = if here.is_empty() { ".".to_owned() } else { here };
        report.checked.push(Checked { kind: Kind::Artifact, path: here.clone() });
        match SubTree::new(tree, dir.clone()) {
            Ok(inside) => {
                let npm = root.place.and_then(|place| {
                    NpmPackage::around(&place.join(dir.as_str()).into_std_path_buf())
                });
                let found = validate_artifact(&inside, &here, npm.as_ref()).diagnostics;
                report.diagnostics.extend(found);
            }
            Err(error) => {
                let found = Diagnostic::new(&crate::codes::CANNOT_OPEN, error.to_string());
                report.diagnostics.push(found.at(here));
            }
        }
    }
}
