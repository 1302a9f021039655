//! `validate --artifact`: is a root what its artifact manifest says, and will it work?
//!
//! The artifact manifest comes first; without a valid one nothing else is looked at. Then the
//! whole tree is compared with the rows, modes included and nothing followed through links, and
//! the contents are checked: emitted modules import nothing from outside, JSON is JSON, skills
//! are whole, the compile evidence describes these bytes, and the documents do for each agent host
//! what the artifact manifest says. In the end the artifact manifest is
//! read once more, so that a root that changes meanwhile is not called valid.

mod codes;
mod content;
mod skills;
mod tree;

use holdall_artifact::{
    AB6001, ARTIFACT_MANIFEST_NAME, ArtifactManifest, ManifestRead, OpenManifest,
    read_artifact_manifest, shown_at as at,
};
use holdall_diagnostics::Diagnostic;
use holdall_tree::{Tree, TreePath};

pub use codes::*;
pub use holdall_artifact::npm::NpmPackage;
pub use tree::stray_finding;

use crate::projections::check_projections;

/// What came of validating a root.
#[derive(Debug)]
pub struct Validated {
    /// The artifact manifest, when it is valid.
    pub manifest: Option<ArtifactManifest>,
    /// Everything found, in the order of the checks and within one by path. Paths begin with how
    /// the root is shown.
    pub diagnostics: Vec<Diagnostic>,
}

/// Validates the artifact at the top of `root`, which is shown to people as `shown`.
///
/// `npm` is the npm package that the root was unpacked with, which excuses the modes of its files
/// as far as npm changes them. Nothing of the root is run, and nothing is followed through a link.
pub fn validate_artifact(root: &dyn Tree, shown: &str, npm: Option<&NpmPackage>) -> Validated {
    let open = match read_artifact_manifest(root).into_result(shown) {
        Ok(open) => open,
        Err(diagnostics) => return Validated { manifest: None, diagnostics },
    };
    let mut run = Run { root, shown, npm, manifest: open.manifest(), found: Vec::new() };
    run.tree();
    run.content();
    run.skills();
    run.projections();
    run.install_pointers(&open);
    let mut diagnostics = run.found;
    let unchanged = matches!(
        read_artifact_manifest(root),
        ManifestRead::Ok(again) if again.source().bytes() == open.source().bytes()
    );
    if !unchanged {
        diagnostics.push(
            Diagnostic::new(&AB6001, "the artifact manifest changed while it was validated")
                .at(at(shown, ARTIFACT_MANIFEST_NAME))
                .help("validate again when nothing writes to the root"),
        );
    }
    Validated { manifest: Some(open.into_manifest()), diagnostics }
}

/// Whether a name, or the last name of a path, has an extension, in this letter case.
fn has_extension(name: &str, extension: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, found)| !stem.is_empty() && found == extension)
}

/// One run over a root.
struct Run<'r> {
    root: &'r dyn Tree,
    shown: &'r str,
    npm: Option<&'r NpmPackage>,
    manifest: &'r ArtifactManifest,
    found: Vec<Diagnostic>,
}

impl Run<'_> {
    fn report(&mut self, path: &TreePath, diagnostic: Diagnostic) {
        self.found.push(diagnostic.at(at(self.shown, path.as_str())));
    }

    /// What the documents do for each agent host.
    fn projections(&mut self) {
        for mut diagnostic in check_projections(self.root, self.manifest) {
            diagnostic.path = diagnostic.path.map(|path| at(self.shown, &path));
            self.found.push(diagnostic);
        }
    }

    /// Install pointers that are read but not usual.
    fn install_pointers(&mut self, open: &OpenManifest) {
        let Some(install) = open.manifest().distribution().install() else { return };
        let pointers = [
            ("instructions", install.instructions(), "INSTALL.md"),
            ("script", install.script(), "install.mjs"),
        ];
        for (key, path, usual) in pointers {
            let Some(path) = path.filter(|path| path.as_str() != usual) else { continue };
            let message = format!("distribution.install.{key} is `{path}`, not `{usual}`");
            let diagnostic = Diagnostic::new(&HD0450, message);
            self.found.push(diagnostic.at(at(self.shown, ARTIFACT_MANIFEST_NAME)));
        }
    }
}
