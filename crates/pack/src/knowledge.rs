//! Knowledge: which entries of a workspace a pack's agents read (AIP-10, AIP-18; `pack-v1` 7.1
//! and 7.2).
//!
//! A workspace is a directory with `KNOWLEDGE.md`; its entries are Markdown documents with
//! frontmatter. An install records the selection alone; [`query`] looks at the files as they are
//! when somebody asks.

use std::path::{Path, PathBuf};

use holdall_diagnostics::{Diagnostic, Severity};
use holdall_skill::directory::read_document;
use holdall_skill::frontmatter::Document;
use holdall_skill::yaml;
use holdall_tree::{DirTree, EntryName, FileKind, Tree, TreePath};
use serde_json::Value;

use crate::codes;
use crate::definition::Knowledge;

/// The document that makes a directory a workspace.
pub const KNOWLEDGE_FILE: &str = "KNOWLEDGE.md";

/// Entries that one workspace may have.
const MAX_ENTRIES: usize = 100_000;

/// Directories below each other in a workspace.
const MAX_DEPTH: usize = 64;

/// An entry of a workspace.
#[derive(Debug, Clone, PartialEq)]
pub struct KnowledgeEntry {
    /// Its slug, or its id where it is a typed record.
    pub slug: String,
    /// Its kind, or its collection where it is a typed record.
    pub kind: String,
    /// Its title.
    pub title: String,
    /// Its tags, in the order of the document.
    pub tags: Vec<String>,
    /// How much to rely on it, 0 to 1; 1 where it says nothing.
    pub confidence: f64,
    /// Its document, below the workspace.
    pub path: TreePath,
    archived: bool,
}

/// The answer to a selection.
#[derive(Debug, Default)]
pub struct KnowledgeAnswer {
    /// The workspace, if there is one of that name.
    pub workspace: Option<PathBuf>,
    /// What is selected, by slug and then path.
    pub entries: Vec<KnowledgeEntry>,
    /// Documents that are no entries though they look like it, an absent workspace, several of
    /// one name.
    pub diagnostics: Vec<Diagnostic>,
}

impl KnowledgeEntry {
    /// Whether a selection has it: any of the tags, all of the tags, one of the kinds; what is
    /// absent or empty filters nothing. Tags are compared without letter case, kinds with it.
    pub fn is_selected_by(&self, selection: &Knowledge) -> bool {
        let has = |tag: &String| {
            let tag = tag.to_lowercase();
            self.tags.iter().any(|own| own.to_lowercase() == tag)
        };
        let list = |list: &Option<Vec<String>>| list.clone().unwrap_or_default();
        let (any, all, kinds) =
            (list(&selection.any_of), list(&selection.all_of), list(&selection.kinds));
        (any.is_empty() || any.iter().any(has))
            && all.iter().all(has)
            && (kinds.is_empty() || kinds.contains(&self.kind))
    }
}

/// Resolves a selection against the workspaces in `roots` as they are now.
pub fn query(roots: &[PathBuf], selection: &Knowledge) -> KnowledgeAnswer {
    let mut answer = KnowledgeAnswer::default();
    let name = &selection.workspace;
    if name.is_empty() || matches!(name.as_str(), "." | "..") || name.contains(['/', '\\', '\0']) {
        let message = format!("`{name}` is a path, not the name of a workspace");
        let help = "a workspace is named as its KNOWLEDGE.md names it";
        answer.diagnostics.push(Diagnostic::new(&codes::KNOWLEDGE_NAME, message).help(help));
        return answer;
    }
    let found = workspaces(roots, name);
    let path = match found.as_slice() {
        [one] => one.clone(),
        [] => {
            let roots: Vec<_> = roots.iter().map(|root| root.display().to_string()).collect();
            let message = format!("there is no knowledge workspace `{name}`");
            let help = if roots.is_empty() {
                "name directories of workspaces in `knowledge-roots` of config.toml".to_owned()
            } else {
                format!("looked in {}", roots.join(", "))
            };
            answer.diagnostics.push(Diagnostic::new(&codes::KNOWLEDGE_ABSENT, message).help(help));
            return answer;
        }
        several => {
            let places: Vec<_> = several.iter().map(|path| path.display().to_string()).collect();
            let message = format!("`{name}` names several workspaces: {}", places.join(", "));
            let help = "give each its own `name` in KNOWLEDGE.md";
            answer.diagnostics.push(Diagnostic::new(&codes::KNOWLEDGE_TWICE, message).help(help));
            return answer;
        }
    };
    match DirTree::open(&path) {
        Ok(tree) => {
            let (entries, mut found) = entries(&tree);
            for one in &mut found {
                one.path = one.path.take().map(|inside| path.join(inside).display().to_string());
            }
            answer.diagnostics.extend(found);
            answer.entries = entries
                .into_iter()
                .filter(|entry| !entry.archived && entry.is_selected_by(selection))
                .collect();
        }
        Err(error) => answer.diagnostics.push(
            Diagnostic::new(&codes::KNOWLEDGE_ABSENT, error.to_string())
                .at(path.display().to_string()),
        ),
    }
    answer.workspace = Some(path);
    answer
}

/// The workspaces of a name: those whose document says it, else those whose directory has it.
fn workspaces(roots: &[PathBuf], name: &str) -> Vec<PathBuf> {
    let mut by_document = Vec::new();
    let mut by_directory = Vec::new();
    for root in roots {
        let children = std::fs::read_dir(root).into_iter().flatten().flatten();
        let mut candidates: Vec<PathBuf> = children.map(|entry| entry.path()).collect();
        candidates.push(root.clone());
        candidates.sort();
        for path in candidates {
            if !path.join(KNOWLEDGE_FILE).is_file() {
                continue;
            }
            let real = path.canonicalize().unwrap_or(path);
            let list = match name_of(&real) {
                Some(own) if own == name => &mut by_document,
                _ if real.file_name().is_some_and(|own| own == name) => &mut by_directory,
                _ => continue,
            };
            if !list.contains(&real) {
                list.push(real);
            }
        }
    }
    if by_document.is_empty() { by_directory } else { by_document }
}

fn name_of(workspace: &Path) -> Option<String> {
    let tree = DirTree::open(workspace).ok()?;
    let source = read_document(&tree, &TreePath::new(KNOWLEDGE_FILE).ok()?).ok()?;
    let document = Document::split(&source).ok()?;
    let root = yaml::parse(&document).root?;
    root.get("name")?.as_scalar().map(|name| name.text.clone())
}

/// Every entry of a workspace, archived ones too, by slug and then path; and what is wrong with
/// documents that were passed over.
fn entries(tree: &dyn Tree) -> (Vec<KnowledgeEntry>, Vec<Diagnostic>) {
    let mut found = Vec::new();
    let mut diagnostics = Vec::new();
    let mut todo = vec![(TreePath::root(), 0)];
    while let Some((directory, depth)) = todo.pop() {
        let Ok(children) = tree.read_dir(&directory) else { continue };
        for child in children {
            let EntryName::Utf8(name) = child.name else { continue };
            let Ok(path) = directory.child(&name) else { continue };
            if child.kind == FileKind::Directory {
                let nested = path.child(KNOWLEDGE_FILE).is_ok_and(|file| tree.exists(&file));
                let skipped = name.starts_with('.') || (depth == 0 && name == "sources");
                if !nested && !skipped && depth < MAX_DEPTH {
                    todo.push((path, depth + 1));
                }
                continue;
            }
            let is_document =
                name.rsplit_once('.').is_some_and(|(stem, end)| end == "md" && !stem.is_empty());
            let is_other =
                matches!(name.as_str(), KNOWLEDGE_FILE | "AGENTS.md" | "_index.md" | "_log.md");
            if !is_document || is_other || found.len() >= MAX_ENTRIES {
                continue;
            }
            match entry(tree, &path) {
                Ok(Some(entry)) => found.push(entry),
                Ok(None) => {}
                Err(why) => diagnostics.push(
                    Diagnostic::new(&codes::KNOWLEDGE_ENTRY, format!("not an entry: {why}"))
                        .at(path.as_str())
                        .severity(Severity::Warning),
                ),
            }
        }
    }
    found.sort_by(|a, b| (&a.slug, &a.path).cmp(&(&b.slug, &b.path)));
    diagnostics.sort_by(|a, b| a.path.cmp(&b.path));
    (found, diagnostics)
}

/// The entry in a document; none for one with another schema, the error where it is malformed.
fn entry(tree: &dyn Tree, path: &TreePath) -> Result<Option<KnowledgeEntry>, String> {
    let source = read_document(tree, path).map_err(|found| found.message.clone())?;
    let document = Document::split(&source).map_err(|_| "it has no frontmatter".to_owned())?;
    let parsed = yaml::parse(&document);
    if !parsed.is_valid() {
        let first = parsed.diagnostics.iter().find(|found| found.severity == Severity::Error);
        return Err(first.map_or("it is no YAML".to_owned(), |found| found.message.clone()));
    }
    let Some(root) = parsed.root else { return Err("its frontmatter is empty".to_owned()) };
    let json = root.to_json();
    // A text stays a text, whatever other readers make of it: `slug: on`.
    let text = |key: &str| root.get(key)?.as_scalar().map(|scalar| scalar.text.clone());
    let (slug_key, kind_key) = match text("schema").as_deref() {
        Some("knowledge.entry/v1" | "knowledge/v1") => ("slug", "kind"),
        Some("collection.item/v1") => ("id", "collection"),
        Some(_) => return Ok(None),
        None => return Err("it has no `schema`".to_owned()),
    };
    let slug = text(slug_key).filter(|slug| is_slug(slug, 96));
    let slug = slug.ok_or_else(|| format!("`{slug_key}` is missing or wrong"))?;
    let kind = text(kind_key).filter(|kind| is_word(kind) && (2..=32).contains(&kind.len()));
    let kind = kind.ok_or_else(|| format!("`{kind_key}` is missing or wrong"))?;
    let title = text("title").filter(|title| (1..=200).contains(&title.chars().count()));
    let title = title.ok_or_else(|| "`title` is missing or wrong".to_owned())?;
    let tags = match root.get("tags") {
        None => Vec::new(),
        Some(tags) => {
            let items = tags.as_sequence().ok_or_else(|| "`tags` is no list".to_owned())?;
            let tag = |node: &yaml::Node| node.as_scalar().map(|scalar| scalar.text.clone());
            let read: Option<Vec<String>> = items.iter().map(tag).collect();
            read.filter(|tags| tags.iter().all(|tag| is_word(&tag.to_lowercase())))
                .ok_or_else(|| "a tag is wrong".to_owned())?
        }
    };
    let confidence = match json.get("confidence") {
        None => 1.0,
        Some(value) => value
            .as_f64()
            .filter(|value| (0.0..=1.0).contains(value))
            .ok_or_else(|| "`confidence` is not between 0 and 1".to_owned())?,
    };
    let status = json.pointer("/metadata/corpus/status").and_then(Value::as_str);
    let archived = status == Some("archived");
    Ok(Some(KnowledgeEntry { slug, kind, title, tags, confidence, path: path.clone(), archived }))
}

/// `^[a-z][a-z0-9-]*[a-z0-9]$`, 2 to `max` bytes.
fn is_slug(text: &str, max: usize) -> bool {
    is_word(text) && (2..=max).contains(&text.len()) && !text.ends_with('-')
}

/// `^[a-z][a-z0-9-]*$`
fn is_word(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_lowercase())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}
