//! Carrying a change out: planned, shown, agreed to, locked, planned again, applied.

use std::io::IsTerminal as _;

use holdall_diagnostics::{Diagnostic, Severity};
use holdall_install::{
    Action, HD0301, HD0305, HD0308, HD0309, HD0315, NoPrograms, Planned, Repaired, apply,
    is_unfinished, repair,
};
use holdall_store::{Store, StoreLock};
use serde_json::Value;

use super::{apply_failure, fact, failure};
use crate::cli::Format;
use crate::commands::Context;
use crate::outcome::{Exit, Failure, Outcome};
use crate::output;

/// A change that is going to be made.
pub(crate) struct Change<'a> {
    /// `kind` of the JSON object.
    pub(crate) kind: &'static str,
    /// Makes the plan from what stands there now. It is asked again under the lock.
    pub(crate) plan: &'a dyn Fn() -> Result<Planned, Failure>,
    /// The lines before it, the same with and without `--plan`.
    pub(crate) preview: &'a dyn Fn(&Planned) -> Vec<String>,
    /// Why somebody has to agree; none where nobody has to.
    pub(crate) consent: &'a dyn Fn(&Planned) -> Option<String>,
    /// The lines after it.
    pub(crate) done: &'a dyn Fn(&Planned) -> Vec<String>,
}

/// What was said on the command line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wish {
    /// Show, and change nothing.
    pub(crate) only_plan: bool,
    /// Consent was given.
    pub(crate) agreed: bool,
}

/// Shows or makes a change. A change that has nothing to do takes no lock and writes nothing.
pub(crate) fn carry_out(
    context: &Context<'_>,
    store: &Store,
    change: &Change<'_>,
    wish: Wish,
) -> Result<Outcome, Failure> {
    let mut notes = Vec::new();
    if wish.only_plan {
        let planned = (change.plan)()?;
        if is_unfinished(store).map_err(failure)? {
            notes.push("note: an earlier change did not finish; it is ended first".to_owned());
        }
        return Ok(report(change, &planned, wish, notes));
    }
    let mut lock = None;
    if is_unfinished(store).map_err(failure)? {
        lock = Some(take(context, store, &mut notes)?);
    }
    let mut planned = (change.plan)();
    let refused =
        |planned: &Result<Planned, Failure>| planned.as_ref().map_or(true, Planned::has_errors);
    // What another process is in the middle of looks like anything; it is looked at again when
    // nobody else can be at work. Where there is no store there is nobody.
    if lock.is_none() && refused(&planned) && store.root().is_dir() {
        lock = Some(take(context, store, &mut notes)?);
        planned = (change.plan)();
    }
    let mut planned = planned?;
    if planned.has_errors() || planned.plan.is_empty() {
        return Ok(report(change, &planned, wish, notes));
    }
    let lines = (change.preview)(&planned);
    let mut shown = false;
    if let (Some(reason), false) = ((change.consent)(&planned), wish.agreed) {
        let ask = context.global.format() == Format::Text && std::io::stdin().is_terminal();
        if !ask || !output::ask(&lines, &format!("{reason}. Go on?")) {
            return Err(Failure::refused(Diagnostic::new(&HD0315, reason).help(
                "say --yes, or name the bytes you expect with --digest; --plan shows what would \
                 change",
            )));
        }
        shown = true;
    }
    let lock = match lock {
        Some(lock) => lock,
        None => {
            let lock = take(context, store, &mut notes)?;
            planned = (change.plan)()?;
            if planned.has_errors() {
                return Ok(report(change, &planned, wish, notes));
            }
            lock
        }
    };
    if shown && (change.preview)(&planned) != lines {
        return Err(Failure::refused(
            Diagnostic::new(&HD0315, "something else changed while you were asked")
                .help("run the same command again"),
        ));
    }
    apply(store, &lock, &planned.plan, &NoPrograms).map_err(|error| apply_failure(&error))?;
    let mut outcome = report(change, &planned, wish, notes);
    if shown {
        outcome = outcome.lines(Vec::new());
    }
    Ok(outcome)
}

/// Takes the lock, and ends what an earlier process left unfinished.
fn take(
    context: &Context<'_>,
    store: &Store,
    notes: &mut Vec<String>,
) -> Result<StoreLock, Failure> {
    let lock =
        store.lock(|| output::notice("waiting for another holdall to finish")).map_err(failure)?;
    // What is unfinished may be an artifact in an agent host.
    let programs = super::artifacts::programs(context, store)?;
    match repair(store, &lock, &programs).map_err(|error| apply_failure(&error))? {
        Repaired::Nothing => {}
        Repaired::Back => {
            notes.push("note: an earlier change that did not finish was taken back".to_owned());
        }
        Repaired::Forward => {
            notes.push("note: an earlier change was tidied up behind".to_owned());
        }
    }
    Ok(lock)
}

fn report(change: &Change<'_>, planned: &Planned, wish: Wish, mut notes: Vec<String>) -> Outcome {
    let mut outcome = Outcome::new(change.kind);
    outcome.diagnostics.clone_from(&planned.diagnostics);
    let lines = (change.preview)(planned);
    let key = if wish.only_plan { "plan" } else { "results" };
    if planned.has_errors() {
        outcome.exit = refusal(&planned.diagnostics);
        notes.extend(lines);
        notes.push("nothing was written".to_owned());
        outcome.notes = notes;
        return outcome.fact(key, Vec::<Value>::new());
    }
    if is_incomplete(planned) {
        outcome.exit = Exit::Failed;
    }
    if !wish.only_plan {
        notes.extend((change.done)(planned));
    }
    outcome.notes = notes;
    let rows: Vec<Value> = planned.outcomes.iter().map(fact).collect();
    outcome.fact(key, rows).lines(lines)
}

/// Whether something was left that a person has to look at: a link at a destination, a changed
/// file that was kept.
fn is_incomplete(planned: &Planned) -> bool {
    let kept = planned.outcomes.iter().any(|row| row.action == Action::Kept);
    let changed = planned.diagnostics.iter().any(|found| found.code == HD0305.id);
    planned.is_incomplete() || kept && changed
}

/// How a plan that has errors ends: policy refuses with 3, everything else fails with 1.
fn refusal(diagnostics: &[Diagnostic]) -> Exit {
    let policy = [HD0301.id, HD0308.id, HD0309.id];
    let mut errors = diagnostics.iter().filter(|found| found.severity == Severity::Error);
    if errors.any(|found| policy.contains(&found.code)) { Exit::Refused } else { Exit::Failed }
}
