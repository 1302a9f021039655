//! What an install shows before it writes: at most [`MAX_LINES`] lines, whatever arrives.

use holdall_install::{Action, Destination, Planned};

use super::shown;
use crate::env::Env;
use crate::report::{Report, count};

/// Lines of a preview at most.
pub(crate) const MAX_LINES: usize = 12;

/// Names that are listed before the rest is counted.
const NAMES: usize = 6;

/// The facts of a preview. An empty list has no line.
#[derive(Debug, Default)]
pub(crate) struct Preview {
    /// Name, version, kind, status, origin.
    pub(crate) head: String,
    /// Digests, what each covers, and whether anything is signed.
    pub(crate) digests: Vec<String>,
    /// What arrives.
    pub(crate) adds: Vec<String>,
    /// What will run by itself, or can be run by agents.
    pub(crate) runs: Vec<String>,
    /// What of the machine and the network it reaches.
    pub(crate) reaches: Vec<String>,
    /// What to know first.
    pub(crate) warns: Vec<String>,
    /// What is recorded or stays.
    pub(crate) keeps: Vec<String>,
}

impl Preview {
    /// The lines for a plan.
    pub(crate) fn lines(
        &self,
        planned: &Planned,
        destinations: &[Destination],
        env: &Env,
    ) -> Vec<String> {
        let mut report = Report::default();
        let first = planned.outcomes.iter().all(|row| row.action == Action::Created);
        let same = planned.outcomes.iter().all(|row| row.action == Action::Unchanged);
        let was = match (first, same) {
            (true, _) => "first time",
            (_, true) => "installed already, nothing changes",
            _ => "was installed before",
        };
        report.head(format!("{}   {was}", self.head));
        for digest in self.digests.iter().take(2) {
            report.row("digest", digest);
        }
        report.row("adds", self.adds.join("; "));
        let places: Vec<String> = destinations.iter().map(|place| place_of(place, env)).collect();
        for place in cut(&places, 2) {
            report.row("into", place);
        }
        let otherwise = |list: &[String], nothing: &str| {
            if list.is_empty() { nothing.to_owned() } else { some(list, "; ") }
        };
        report.row("runs", otherwise(&self.runs, "nothing by itself"));
        report.row("reaches", otherwise(&self.reaches, "nothing it declares"));
        if !self.warns.is_empty() {
            report.row("warns", some(&self.warns, "; "));
        }
        if !self.keeps.is_empty() {
            report.row("keeps", some(&self.keeps, "; "));
        }
        let replaced = |action: Action| -> Vec<String> {
            let rows = planned.outcomes.iter().filter(|row| row.action == action);
            rows.filter(|row| row.kind != "pack").map(|row| shown(&row.destination, env)).collect()
        };
        for (label, action) in [("replaces", Action::Replaced), ("removes", Action::Removed)] {
            let rows = replaced(action);
            if !rows.is_empty() {
                report.row(label, some(&rows, ", "));
            }
        }
        let mut lines = report.into_lines();
        lines.truncate(MAX_LINES);
        lines
    }
}

fn place_of(place: &Destination, env: &Env) -> String {
    let also = match place.also_read_by.as_slice() {
        [] => String::new(),
        others => format!("; also read by {}", some(others, ", ")),
    };
    format!("{} ({}{also})", shown(&place.directory, env), some(&place.hosts, ", "))
}

/// The first few, and how many more there are.
pub(crate) fn some(list: &[String], between: &str) -> String {
    let named = list.get(..NAMES).unwrap_or(list).join(between);
    match list.len().saturating_sub(NAMES) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// At most `max` lines: the last one tells how many were left out.
fn cut(lines: &[String], max: usize) -> Vec<String> {
    if lines.len() <= max {
        return lines.to_vec();
    }
    let mut kept: Vec<String> = lines.iter().take(max).cloned().collect();
    let more = count(lines.len() - max, "more place");
    if let Some(last) = kept.last_mut() {
        last.push_str(&format!(" and {more}"));
    }
    kept
}

/// The lines after an install.
pub(crate) fn after(planned: &Planned, hosts: &[String], undo: &str) -> Vec<String> {
    let tally = |action: Action| planned.outcomes.iter().filter(|row| row.action == action).count();
    let words: Vec<String> = [
        Action::Created,
        Action::Replaced,
        Action::Unchanged,
        Action::Skipped,
        Action::Removed,
        Action::Kept,
    ]
    .into_iter()
    .filter(|action| tally(*action) > 0)
    .map(|action| format!("{} {}", tally(action), action.as_str()))
    .collect();
    let mut lines = vec![format!("done: {}", words.join(", "))];
    if tally(Action::Created) + tally(Action::Replaced) > 0 && !hosts.is_empty() {
        let hosts = some(hosts, ", ");
        lines
            .push(format!("next: start a new session of {hosts}; skills are read when one starts"));
    }
    lines.push(format!("undo: holdall uninstall {undo}"));
    lines
}
