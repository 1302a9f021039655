//! Installing skills on their own: one, or those of `skills/*/SKILL.md`.

use holdall_install::{
    Action, Destination, Planned, SkillToInstall, SkillsRequest, not_skills, plan_skills, skills_of,
};
use holdall_source::Opened;
use holdall_store::{Owner, Store};
use holdall_tree::Digest;

use super::preview::{Preview, after, some};
use super::{Change, Wish, apply_failure, carry_out, is_local_directory};
use crate::commands::Context;
use crate::outcome::{Failure, Outcome};
use crate::report::{count, size};

/// How skills are to be installed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SkillsWish<'a> {
    /// Only these; all of them if empty.
    pub(crate) only: &'a [String],
    /// For whom.
    pub(crate) scope: holdall_hosts::Scope,
    /// Whether what others own makes way.
    pub(crate) take_over: bool,
    /// Whether the origin may change.
    pub(crate) replace: bool,
    /// Where it comes from, as it would be typed again from anywhere.
    pub(crate) origin: &'a str,
    /// The tree hash of the source.
    pub(crate) digest: Digest,
    /// The time to record.
    pub(crate) now: &'a str,
}

/// Installs skills.
pub(crate) fn install(
    context: &Context<'_>,
    store: &Store,
    opened: &Opened,
    destinations: &[Destination],
    skills_wish: SkillsWish<'_>,
    wish: Wish,
) -> Result<Outcome, Failure> {
    let skills = chosen(skills_wish, opened)?;
    let plan = || -> Result<Planned, Failure> {
        let mut planned = Planned::default();
        let origin = skills_wish.origin;
        let request = SkillsRequest {
            store,
            owner: Owner { name: origin.to_owned(), version: None, origin: origin.to_owned() },
            skills: &skills,
            destinations,
            scope: skills_wish.scope,
            take_over: skills_wish.take_over,
            replace_origin: skills_wish.replace,
            drop_others: false,
            now: skills_wish.now,
        };
        plan_skills(&request, &mut planned).map_err(|error| apply_failure(&error))?;
        Ok(planned)
    };
    let names: Vec<String> = skills.iter().map(|skill| skill.name.to_string()).collect();
    let files: usize = skills.iter().map(|skill| skill.files).sum();
    let bytes: u64 = skills.iter().map(|skill| skill.bytes).sum();
    let arrives =
        format!("{}, {}, {}", count(skills.len(), "skill"), count(files, "file"), size(bytes));
    let preview = Preview {
        head: format!("{}   {arrives}", opened.location()),
        digests: vec![format!("{} covers every file; signed no", skills_wish.digest)],
        adds: vec![some(&names, ", ")],
        warns: without_document(opened),
        ..Preview::default()
    };
    let hosts: Vec<String> = destinations.iter().flat_map(|place| place.hosts.clone()).collect();
    let undo: Vec<String> = names.iter().map(|name| format!("skill:{name}")).collect();
    let change = Change {
        kind: "skills",
        plan: &plan,
        preview: &|planned| preview.lines(planned, destinations, &context.env),
        consent: &|planned| {
            let replaces = planned.outcomes.iter().any(|row| row.action == Action::Replaced);
            (!is_local_directory(opened) && replaces)
                .then(|| "this replaces skills, and its source is no local directory".to_owned())
        },
        done: &|planned| after(planned, &hosts, &undo.join(" ")),
    };
    carry_out(context, store, &change, wish)
}

/// A line about directories that look as if they were meant to be skills.
pub(crate) fn without_document(opened: &Opened) -> Vec<String> {
    let others: Vec<_> =
        not_skills(opened.tree().as_ref()).iter().map(|path| opened.shown(path)).collect();
    if others.is_empty() {
        return Vec::new();
    }
    vec![format!("not skills, for want of a SKILL.md: {}", some(&others, ", "))]
}

fn chosen(wish: SkillsWish<'_>, opened: &Opened) -> Result<Vec<SkillToInstall>, Failure> {
    let shown = |path: &holdall_tree::TreePath| opened.shown(path);
    let mut skills = skills_of(opened.tree(), wish.origin, &shown).map_err(Failure::new)?;
    for wanted in wish.only {
        if !skills.iter().any(|skill| skill.name.as_str() == wanted) {
            let names: Vec<_> = skills.iter().map(|skill| skill.name.as_str()).collect();
            let message = format!("there is no skill `{wanted}`");
            return Err(Failure::usage(message, format!("there are {}", names.join(", "))));
        }
    }
    if !wish.only.is_empty() {
        skills.retain(|skill| wish.only.iter().any(|wanted| wanted == skill.name.as_str()));
    }
    Ok(skills)
}
