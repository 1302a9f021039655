//! Skills of a listing: each by itself, and those of one name beside each other.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use holdall_diagnostics::{Diagnostic, SourceText};
use holdall_skill::directory::{self, CheckedDirectory};
use holdall_skill::skill::FILE;
use holdall_skill::{codes, fix::Fix};
use holdall_tree::{FileKind, Tree, TreePath, WalkEntry};
use rayon::prelude::*;

use super::listing::{shown, shown_root};
use super::{Checked, Repair, Report, Root, below, is_file, place};
use crate::Kind;

/// A document and the bytes of its name in it.
type Place = (SourceText, Range<usize>);

/// Fewer skills than this are not worth waking other threads for.
const PARALLEL: usize = 8;

pub(super) fn check(
    tree: &dyn Tree,
    roots: &[TreePath],
    entries: &[WalkEntry],
    root: &Root<'_>,
    report: &mut Report,
) {
    let Root { shown: root, name, .. } = *root;
    let all: HashSet<&TreePath> = roots.iter().collect();
    let one = |dir: &TreePath| directory::check(tree, dir, name, files(entries, dir, &all));
    let results: Vec<CheckedDirectory> = if roots.len() < PARALLEL {
        roots.iter().map(one).collect()
    } else {
        roots.par_iter().map(one).collect()
    };
    let mut names: HashMap<(TreePath, String), Vec<(usize, TreePath, Option<Place>)>> =
        HashMap::new();
    for (at, (dir, result)) in roots.iter().zip(results).enumerate() {
        if let Some(name) = &result.name {
            let beside = dir.parent().unwrap_or_default();
            let place = result.source.clone().zip(result.name_span.clone());
            names.entry((beside, name.to_string())).or_default().push((at, dir.clone(), place));
        }
        report.checked.push(Checked { kind: Kind::Skill, path: shown_root(root, dir) });
        report.diagnostics.extend(place(result.diagnostics, root));
        if let Some(source) = result.source
            && !result.fixes.is_empty()
            && let Ok(document) = dir.child(FILE)
        {
            let fixes: Vec<Fix> = result.fixes;
            report.repairs.push(Repair::new(document, root, source, fixes));
        }
    }
    let twice: BTreeMap<usize, _> = names
        .into_iter()
        .filter(|(_, dirs)| dirs.len() > 1)
        .map(|((_, name), dirs)| (dirs[0].0, (name, dirs)))
        .collect();
    for (name, dirs) in twice.into_values() {
        let first = shown_root(root, &dirs[0].1);
        for (_, dir, place) in &dirs[1..] {
            let path = shown_root(root, dir);
            let message = format!("{path} and {first} are both named `{name}`");
            let mut found = Diagnostic::new(&codes::SKILL_TWICE, message)
                .at(format!("{path}/{FILE}"))
                .help("rename one: installed side by side, one would replace the other");
            if let Some((source, span)) = place {
                found = found.span(source, span.clone());
            }
            report.diagnostics.push(found);
        }
    }
}

/// Files that are meant as skills and have the wrong name.
pub(super) fn misspelt(entries: &[WalkEntry], root: &str, report: &mut Report) {
    for entry in entries.iter().filter(|entry| is_file(entry)) {
        let name = entry.path.file_name().unwrap_or_default();
        if name != FILE && name.eq_ignore_ascii_case(FILE) {
            let path = shown(root, entry.path.as_str());
            let message = format!("{path} is not spelt `{FILE}`");
            let found = Diagnostic::new(&codes::SKILL_FILE_NAME, message).at(path);
            report
                .diagnostics
                .push(found.help("rename it: agent hosts look for exactly `SKILL.md`"));
        }
    }
}

/// What a skill ships: the entries below its directory but those of skills inside it.
fn files<'e>(
    entries: &'e [WalkEntry],
    dir: &TreePath,
    all: &HashSet<&TreePath>,
) -> impl Iterator<Item = (&'e TreePath, FileKind)> {
    below(entries, dir)
        .iter()
        .filter(move |entry| {
            let mut above = entry.path.parent();
            while let Some(at) = above {
                if at == *dir {
                    return true;
                }
                if all.contains(&at) {
                    return false;
                }
                above = at.parent();
            }
            true
        })
        .map(|entry| (&entry.path, entry.kind))
}
