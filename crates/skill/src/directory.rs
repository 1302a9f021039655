//! A skill as a directory: its document, where its links lead, and what it ships.

use holdall_diagnostics::{Diagnostic, Severity, SourceText};
use holdall_tree::{DirEntry, EntryName, FileKind, Tree, TreeError, TreeErrorKind, TreePath};

use crate::fix::Fix;
use crate::frontmatter::MAX_DOCUMENT;
use crate::skill::{self, FILE, Skill, SkillName};
use crate::{codes, hidden, links, risky};

/// Files larger than this are not looked into for hidden and risky text.
const MAX_SCANNED: u64 = 1024 * 1024;

/// A file with a NUL in this many first bytes is no text.
const SNIFFED: usize = 8 * 1024;

/// What came of checking a skill's directory.
#[derive(Debug, Clone, Default)]
pub struct CheckedDirectory {
    /// The skill, if its document has no error.
    pub skill: Option<Skill>,
    /// The name, if there is a usable one, whatever else is wrong.
    pub name: Option<SkillName>,
    /// The bytes of the name's value in the document.
    pub name_span: Option<std::ops::Range<usize>>,
    /// Everything found in the document and the other files; paths are those of the tree.
    pub diagnostics: Vec<Diagnostic>,
    /// The quotes that would cure some faults of the document.
    pub fixes: Vec<Fix>,
    /// The document's text, if it could be read.
    pub source: Option<SourceText>,
}

/// Reads a document through links that stay in the tree. What is no regular file, leads out, is
/// unreadable or beyond [`MAX_DOCUMENT`] is one finding.
pub fn read_document(tree: &dyn Tree, path: &TreePath) -> Result<SourceText, Box<Diagnostic>> {
    let read = || {
        let target = tree.resolve(path)?;
        match tree.metadata(&target)?.kind {
            FileKind::File => tree.read(&target, MAX_DOCUMENT),
            FileKind::Directory => Err(TreeError::new(
                TreeErrorKind::IsADirectory,
                path,
                "a directory, where a document is wanted",
            )),
            FileKind::Symlink | FileKind::Other => Err(TreeError::new(
                TreeErrorKind::WrongKind,
                path,
                "a named pipe, socket or device, where a document is wanted",
            )),
        }
    };
    read().map(SourceText::new).map_err(|error| Box::new(unreadable(path, &error)))
}

fn unreadable(path: &TreePath, error: &TreeError) -> Diagnostic {
    let (code, help) = match error.kind {
        TreeErrorKind::TooLarge => (&codes::LIMIT, "a document is a text that people read"),
        TreeErrorKind::Escapes => (
            &codes::NOT_A_FILE,
            "put the file itself there: links out of the directory are not followed",
        ),
        TreeErrorKind::PermissionDenied => (&codes::NOT_A_FILE, "make the file readable"),
        _ => (&codes::NOT_A_FILE, "put a regular file there"),
    };
    let detail = error.detail.strip_prefix(&format!("{path}: ")).unwrap_or(&error.detail);
    Diagnostic::new(code, detail).at(path.as_str()).help(help)
}

/// The directories `skills/*` with a document in them, sorted by path; none where there is no
/// such directory.
pub fn skill_directories(tree: &dyn Tree) -> Result<Vec<TreePath>, TreeError> {
    let Ok(skills) = TreePath::new("skills") else { return Ok(Vec::new()) };
    let entries = match tree.read_dir(&skills) {
        Ok(entries) => entries,
        Err(error)
            if matches!(error.kind, TreeErrorKind::NotFound | TreeErrorKind::NotADirectory) =>
        {
            return Ok(Vec::new());
        }
        Err(error) => return Err(error),
    };
    let child = |entry: DirEntry| match entry.name {
        EntryName::Utf8(name) => skills.child(&name).ok(),
        EntryName::Bytes(_) => None,
    };
    let document = |dir: &TreePath| dir.child(FILE).is_ok_and(|path| tree.exists(&path));
    let mut found: Vec<TreePath> = entries.into_iter().filter_map(child).filter(document).collect();
    found.sort();
    Ok(found)
}

/// Checks the skill in `dir`, a directory of the name `name` (that of the path, unless it is the
/// tree's root and the caller knows better): its document (see [`skill::check`]), the relative links of the
/// document's body, and every one of `files` for links that leave the skill and for hidden or risky
/// text. `files` are what the skill ships, as paths of the tree; entries elsewhere are ignored.
pub fn check<'f>(
    tree: &dyn Tree,
    dir: &TreePath,
    name: Option<&str>,
    files: impl IntoIterator<Item = (&'f TreePath, FileKind)>,
) -> CheckedDirectory {
    let mut result = CheckedDirectory::default();
    let Ok(document) = dir.child(FILE) else { return result };
    match read_document(tree, &document) {
        Ok(source) => {
            let checked = skill::check(&source, dir.file_name().or(name));
            result.skill = checked.skill;
            result.name = checked.name;
            result.name_span = checked.name_span;
            result.fixes = checked.fixes;
            result
                .diagnostics
                .extend(checked.diagnostics.into_iter().map(|found| found.at(document.as_str())));
            result.diagnostics.extend(dead_links(tree, dir, &document, &source));
            result.source = Some(source);
        }
        Err(found) => result.diagnostics.push(*found),
    }
    for (path, kind) in files {
        let elsewhere = path.strip_prefix(dir).is_none_or(|rest| rest.is_root());
        // A document that cannot be read has its finding already.
        if elsewhere || *path == document && result.source.is_none() {
            continue;
        }
        match kind {
            FileKind::Directory => {}
            FileKind::Symlink => result.diagnostics.extend(leaving_link(tree, dir, path)),
            FileKind::Other => {
                let message = "a named pipe, socket or device in a skill";
                let found = Diagnostic::new(&codes::SKILL_UNSAFE_FILE, message).at(path.as_str());
                result.diagnostics.push(found.help("remove it from the skill"));
            }
            FileKind::File if *path == document => {}
            FileKind::File => result.diagnostics.extend(scan(tree, path)),
        }
    }
    if result.diagnostics.iter().any(|found| found.severity == Severity::Error) {
        result.skill = None;
    }
    result
}

/// Hidden and risky text in a shipped file; nothing for what is no text or too large to be one.
/// A file that cannot be read is reported.
pub fn scan(tree: &dyn Tree, path: &TreePath) -> Vec<Diagnostic> {
    let bytes = match tree.read(path, MAX_SCANNED) {
        Ok(bytes) => bytes,
        Err(error) if error.kind == TreeErrorKind::TooLarge => return Vec::new(),
        Err(error) => return vec![unreadable(path, &error)],
    };
    if bytes[..bytes.len().min(SNIFFED)].contains(&0) || std::str::from_utf8(&bytes).is_err() {
        return Vec::new();
    }
    let source = SourceText::new(bytes);
    let mut found = hidden::diagnostics(&source);
    found.extend(risky::diagnostics(&source));
    found.into_iter().map(|found| found.at(path.as_str())).collect()
}

fn leaving_link(tree: &dyn Tree, dir: &TreePath, path: &TreePath) -> Option<Diagnostic> {
    let target = tree.read_link(path).unwrap_or_default();
    let message = match tree.resolve(path) {
        Ok(end) if end.strip_prefix(dir).is_some() => return None,
        Ok(_) => format!("a link to {target}, out of the skill"),
        Err(error) if error.kind == TreeErrorKind::Escapes => {
            format!("a link to {target}, out of the directory that is looked at")
        }
        Err(error) if error.kind == TreeErrorKind::NotFound => {
            format!("a link to {target}, where nothing is")
        }
        Err(error) => format!("a link to {target}: {}", error.kind.errno()),
    };
    let help = "put the file itself into the skill, or remove the link";
    Some(Diagnostic::new(&codes::SKILL_UNSAFE_FILE, message).at(path.as_str()).help(help))
}

/// Relative links of the document's body that lead nowhere, or out of the skill.
fn dead_links(
    tree: &dyn Tree,
    dir: &TreePath,
    document: &TreePath,
    source: &SourceText,
) -> Vec<Diagnostic> {
    let Ok(split) = crate::frontmatter::Document::split(source) else { return Vec::new() };
    let start = split.body_range().start;
    let links = links::relative(split.body());
    let check = |link: links::Link| {
        let (code, message, help) = match follow(dir, &link.path) {
            // Above the tree's root there is nothing to look at.
            None => (
                &codes::SKILL_LINK_OUTSIDE,
                format!("`{}` leads out of the skill", link.path),
                "it is not installed with the skill",
            ),
            Some(target) if tree.resolve(&target).is_err() => (
                &codes::SKILL_LINK,
                format!("`{}` leads nowhere: there is no {target}", link.path),
                "links are relative to the file they stand in",
            ),
            Some(target) if target.strip_prefix(dir).is_none() => (
                &codes::SKILL_LINK_OUTSIDE,
                format!("`{}` leads out of the skill", link.path),
                "it is not installed with the skill",
            ),
            Some(_) => return None,
        };
        let range = link.range.start + start..link.range.end + start;
        Some(Diagnostic::new(code, message).at(document.as_str()).span(source, range).help(help))
    };
    links.into_iter().filter_map(check).collect()
}

/// The path that a relative link of a file in `dir` names; nothing if it climbs above the root.
fn follow(dir: &TreePath, link: &str) -> Option<TreePath> {
    let mut parts: Vec<&str> = dir.components().collect();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    TreePath::new(parts.join("/")).ok()
}
