//! Skills, one or a directory of them: what each says of itself, and what it brings along.

use holdall_diagnostics::{Diagnostic, Severity};
use holdall_skill::directory::{self, CheckedDirectory};
use holdall_skill::skill;
use holdall_source::Opened;
use holdall_tree::{FileKind, Limits, Tree, TreePath, walk};
use serde_json::{Value, json};

use super::{Checked, Inspected};
use crate::outcome::Failure;
use crate::report::{Report, count, size};

/// A skill with what lies beside its document.
#[derive(Debug)]
pub(super) struct Looked {
    path: TreePath,
    checked: CheckedDirectory,
    files: usize,
    bytes: u64,
    /// Files with an execute bit, and what lies below `scripts`: what an agent may start.
    scripts: Vec<TreePath>,
}

impl Looked {
    /// The name as far as there is one: the document's, else that of the directory.
    pub(super) fn name(&self) -> String {
        match &self.checked.name {
            Some(name) => name.to_string(),
            None => self.path.file_name().unwrap_or(".").to_owned(),
        }
    }

    /// Everything found in it, with the paths of the tree.
    pub(super) fn findings(&self) -> Vec<Diagnostic> {
        self.checked.diagnostics.clone()
    }

    /// What an agent may start of it, as lines.
    pub(super) fn script_lines(&self) -> impl Iterator<Item = String> {
        self.scripts.iter().map(|path| format!("brings {path}, which an agent may start"))
    }

    /// The same as facts.
    pub(super) fn script_facts(&self) -> impl Iterator<Item = Value> {
        let name = self.name();
        self.scripts.iter().map(move |path| json!({ "skill": name, "path": path.as_str() }))
    }

    /// Its facts.
    pub(super) fn fact(&self) -> Value {
        let scripts: Vec<_> = self.scripts.iter().map(TreePath::as_str).collect();
        let mut fact = json!({
            "name": self.name(),
            "path": self.path.as_str(),
            "files": self.files,
            "bytes": self.bytes,
            "scripts": scripts,
        });
        if let Some(skill) = &self.checked.skill {
            fact["description"] = json!(skill.description());
            fact["license"] = json!(skill.license());
            fact["compatibility"] = json!(skill.compatibility());
            fact["allowedTools"] = json!(skill.allowed_tools());
            fact["metadata"] = json!(skill.metadata());
        }
        fact
    }
}

/// Looks at the skill at `path`. Findings keep the paths of the tree.
pub(super) fn look(opened: &Opened, path: &TreePath) -> Result<Looked, Failure> {
    let tree = opened.tree();
    let mut entries = Vec::new();
    let mut looked = Looked {
        path: path.clone(),
        checked: CheckedDirectory::default(),
        files: 0,
        bytes: 0,
        scripts: Vec::new(),
    };
    for step in walk(tree, path, Limits::default()) {
        let entry = step.map_err(|error| opened.error(error))?;
        if entry.kind == FileKind::File {
            let metadata = tree.metadata(&entry.path).map_err(|error| opened.error(error))?;
            looked.files += 1;
            looked.bytes += metadata.size;
            let inside = entry.path.strip_prefix(path).unwrap_or_default();
            if metadata.mode & 0o111 != 0 || inside.components().next() == Some("scripts") {
                looked.scripts.push(entry.path.clone());
            }
        }
        entries.push(entry);
    }
    // An address says nothing of how its publisher named the directory.
    let own_name = opened.location().file_name().filter(|name| *name != "." && *name != "..");
    let own_name = own_name.filter(|_| !opened.is_fetched());
    let files = entries.iter().map(|entry| (&entry.path, entry.kind));
    looked.checked = directory::check(tree, path, own_name, files);
    Ok(looked)
}

/// The directories of the skills a tree offers: its root, or `skills/*`.
pub(super) fn directories(opened: &Opened) -> Result<Vec<TreePath>, Failure> {
    let tree = opened.tree();
    let document = |dir: &TreePath| dir.child(skill::FILE).is_ok_and(|path| tree.exists(&path));
    if document(&TreePath::root()) {
        return Ok(vec![TreePath::root()]);
    }
    directory::skill_directories(tree).map_err(|error| opened.error(error).into())
}

/// Puts the source before the paths of findings.
pub(crate) fn placed(opened: &Opened, found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let place = |mut found: Diagnostic| {
        let path = found.path.as_deref().and_then(|path| TreePath::new(path).ok());
        found.path = Some(opened.shown(&path.unwrap_or_default()));
        found
    };
    found.into_iter().map(place).collect()
}

/// What a skill or a directory of them answers to `inspect`.
pub(super) fn inspect(opened: &Opened, one: bool, answer: &mut Inspected) -> Result<(), Failure> {
    let mut all = Vec::new();
    for path in directories(opened)? {
        all.push(look(opened, &path)?);
    }
    let files: usize = all.iter().map(|skill| skill.files).sum();
    let bytes: u64 = all.iter().map(|skill| skill.bytes).sum();
    let what = if one { "skill".to_owned() } else { count(all.len(), "skill") };
    let report = &mut answer.report;
    report.head(format!(
        "{}   {what}, {}, {}",
        opened.location(),
        count(files, "file"),
        size(bytes)
    ));
    for skill in &all {
        report.row("skill", line(skill));
    }
    if let ([only], true) = (all.as_slice(), one)
        && let Some(skill) = &only.checked.skill
    {
        facts(skill, report);
    }
    report.rows("runs", all.iter().flat_map(Looked::script_lines), "nothing by itself");
    report.row("signed", "no");
    let warns: Vec<Diagnostic> = all.iter().flat_map(Looked::findings).collect();
    let warns = placed(opened, warns);
    report.rows(
        "warns",
        warns.iter().map(|found| {
            let path = found.path.as_deref().unwrap_or_default();
            format!("{} {path}: {}", found.code, found.message)
        }),
        "nothing",
    );
    let rows: Vec<Value> = all.iter().map(Looked::fact).collect();
    let scripts: Vec<Value> = all.iter().flat_map(Looked::script_facts).collect();
    let facts = &mut answer.facts;
    if one {
        facts.insert("skill".to_owned(), rows.into_iter().next().unwrap_or_default());
    } else {
        facts.insert("skills".to_owned(), json!(rows));
    }
    facts.insert("runs".to_owned(), json!(scripts));
    facts.insert("reaches".to_owned(), json!([]));
    facts.insert("signed".to_owned(), json!(false));
    facts.insert("sizes".to_owned(), json!({ "files": files, "bytes": bytes }));
    facts.insert("warns".to_owned(), json!(warns));
    Ok(())
}

fn line(skill: &Looked) -> String {
    let about = skill.checked.skill.as_ref().map_or("", |skill| skill.description());
    let short: String = about.chars().take(100).collect();
    let dots = if short.len() < about.len() { "…" } else { "" };
    format!("{}   {short}{dots}", skill.name())
}

fn facts(skill: &holdall_skill::skill::Skill, report: &mut Report) {
    if let Some(license) = skill.license() {
        report.row("license", license);
    }
    if let Some(needs) = skill.compatibility() {
        report.row("needs", needs);
    }
    if !skill.allowed_tools().is_empty() {
        report.row("tools", skill.allowed_tools().join(", "));
    }
}

/// Whether every skill can be read.
pub(super) fn check(opened: &Opened, checked: &mut Checked) -> Result<(), Failure> {
    let mut number = 0;
    for path in directories(opened)? {
        let looked = look(opened, &path)?;
        number += 1;
        for found in placed(opened, looked.checked.diagnostics) {
            if found.severity == Severity::Error {
                checked.differences.push(found);
            } else {
                checked.oddities.push(found);
            }
        }
    }
    checked.compared.push(format!("{} with the rules of Agent Skills", count(number, "skill")));
    Ok(())
}
