//! The skills of an artifact: AB6015, AB6016, AB6034.

use holdall_artifact::evidence::resolve;
use holdall_diagnostics::{Diagnostic, Severity, SourceText};
use holdall_skill::codes::{SKILL_DESCRIPTION_LONG, SKILL_DIRECTORY, SKILL_FIELD};
use holdall_skill::frontmatter::Document;
use holdall_skill::{directory, links, skill};
use holdall_tree::TreePath;

use super::Run;
use super::codes::{AB6015, AB6016, AB6034};

impl Run<'_> {
    /// Checks every `skills/NAME/SKILL.md` that has a row.
    pub(super) fn skills(&mut self) {
        for row in self.manifest.files() {
            let path = row.path();
            let parts: Vec<&str> = path.components().collect();
            let ["skills", name, skill::FILE] = parts[..] else { continue };
            // What cannot be read was reported when the rows were compared.
            let Ok(source) = directory::read_document(self.root, path) else { continue };
            self.document(path, name, &source);
        }
    }

    fn document(&mut self, path: &TreePath, name: &str, source: &SourceText) {
        for finding in skill::check(source, Some(name)).diagnostics {
            // Keys beyond the specification are what the build lowers for single hosts, and links
            // are judged below by the rows.
            let of_the_shape = [SKILL_DIRECTORY.id, SKILL_DESCRIPTION_LONG.id, SKILL_FIELD.id];
            if finding.severity != Severity::Error && !of_the_shape.contains(&finding.code) {
                continue;
            }
            let mut diagnostic = finding.clone();
            diagnostic.code = AB6015.id;
            diagnostic.message = format!("{} ({})", finding.message, finding.code);
            self.report(path, diagnostic);
        }
        let Ok(document) = Document::split(source) else { return };
        if document.body().trim().is_empty() {
            let end = document.body_range();
            let diagnostic = Diagnostic::new(&AB6034, "has no body").span(source, end);
            self.report(path, diagnostic.help("say below the frontmatter what the agent is to do"));
        }
        let directory = path.parent().unwrap_or_default();
        let start = document.body_range().start;
        for link in links::relative(document.body()) {
            let range = start + link.range.start..start + link.range.end;
            let target = resolve(path, &link.path).and_then(|target| TreePath::new(target).ok());
            let inside = target.filter(|target| target.strip_prefix(&directory).is_some());
            let message = match inside {
                None => format!("refers to `{}`, which is outside the skill", link.path),
                Some(target)
                    if self.manifest.file(&target).is_none() && !self.is_directory(&target) =>
                {
                    format!("refers to `{}`, which is not shipped", link.path)
                }
                Some(_) => continue,
            };
            let diagnostic = Diagnostic::new(&AB6016, message).span(source, range);
            self.report(path, diagnostic.help("ship the file in the skill's directory"));
        }
    }

    /// Whether listed files lie below a path.
    fn is_directory(&self, path: &TreePath) -> bool {
        self.manifest.files_under(path).next().is_some()
    }
}
