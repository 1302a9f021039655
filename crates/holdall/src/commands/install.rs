//! `holdall install SOURCE`

use clap::Args;
use holdall_install::{
    Action, Destination, Planned, SkillToInstall, SkillsRequest, plan_skills, skills_of,
};
use holdall_source::{Kind, Opened};
use holdall_store::{Owner, Store};
use holdall_tree::{Digest, HashOptions, tree_hash};

use super::{CommandResult, Context};
use crate::installing::{self, Consent, Target, shown};
use crate::opening::SourceArguments;
use crate::outcome::Failure;
use crate::report::{Report, count, size};

/// Install packs, apps and skills into agent hosts
///
/// Answers: can my agents use this now? Shows what arrives, from where, and what it will run; then
/// does all of it or nothing. Every install has a receipt, and uninstall removes what it lists.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  holdall install ./my-skills                        for every agent host that is here
  holdall install ./my-skills --host claude,codex    for these two
  holdall install ./my-skills --plan                 show what would change")]
pub(crate) struct Install {
    #[command(flatten)]
    source: SourceArguments,
    #[command(flatten)]
    target: Target,
    /// Only these of several skills; repeatable, takes commas
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    skill: Vec<String>,
    /// Show what would change, and change nothing
    #[arg(long, visible_alias = "dry-run")]
    plan: bool,
    /// Agree to what the preview shows
    #[arg(long)]
    yes: bool,
    /// Let the same name come from elsewhere now
    #[arg(long, visible_alias = "force")]
    replace: bool,
    /// Replace skills that others own; each is backed up, and uninstall puts it back
    #[arg(long)]
    take_over: bool,
    /// Refuse other bytes than these; a digest of every byte also counts as consent
    #[arg(long, value_name = "ALG:HEX")]
    digest: Option<String>,
}

pub(crate) fn run(arguments: &Install, context: &Context<'_>) -> CommandResult {
    let opened = arguments.source.open(context)?;
    let store = installing::store(&context.env)?;
    let (destinations, notes) = arguments.target.destinations(&context.env, &store)?;
    let digest = tree_digest(&opened)?;
    let covered = expected(arguments.digest.as_deref(), digest)?;
    let mut outcome = match opened.known_kind()? {
        Kind::Skill | Kind::Skills => {
            let skills = skills(arguments, &opened)?;
            let origin = origin(&opened, context);
            let planned = plan(arguments, &store, &origin, &skills, &destinations)?;
            let preview = preview(&opened, &skills, &destinations, digest, &planned, context);
            let replaces = planned.outcomes.iter().any(|row| row.action == Action::Replaced);
            let needed_for = (opened.is_sealed() && replaces)
                .then_some("this replaces skills by ones from a sealed source");
            let consent = Consent { needed_for, given: arguments.yes || covered };
            let mut outcome = installing::finish(
                context, &store, &planned, preview, arguments.plan, consent, "skills",
            )?;
            if !arguments.plan && !planned.has_errors() {
                outcome.notes.extend(done(&planned, &skills));
            }
            outcome
        }
        other => {
            let message = format!("a {} cannot be installed by this version", other.as_str());
            return Err(Failure::usage(message, "skills can: name a directory with SKILL.md or skills/*/SKILL.md"));
        }
    };
    outcome.notes.splice(0..0, notes);
    Ok(outcome)
}

fn tree_digest(opened: &Opened) -> Result<Digest, Failure> {
    let options = HashOptions { without_git: true, ..HashOptions::default() };
    tree_hash(opened.tree(), options).map_err(|error| opened.error(error).into())
}

/// Compares what was asked for, and says whether it covers every byte.
fn expected(asked: Option<&str>, found: Digest) -> Result<bool, Failure> {
    let Some(asked) = asked else { return Ok(false) };
    let digest: Digest = asked.parse().map_err(|error: holdall_tree::DigestError| {
        Failure::usage(error.to_string(), "`holdall digest SOURCE` prints digests in this form")
    })?;
    if digest.algorithm() != found.algorithm() {
        let message = format!("{} is not what an install compares", digest.algorithm().as_str());
        return Err(Failure::usage(message, format!("give the tree hash, {found}")));
    }
    if digest == found {
        return Ok(true);
    }
    let message = format!("the source has {found}, not {digest}");
    Err(holdall_diagnostics::Diagnostic::new(&holdall_install::HD0306, message)
        .help("ask its publisher which bytes are meant")
        .into())
}

/// Where it comes from, as it would be typed again from anywhere.
fn origin(opened: &Opened, context: &Context<'_>) -> String {
    let path = context.env.working_directory().join(opened.location());
    path.canonicalize().unwrap_or(path).display().to_string()
}

fn skills(arguments: &Install, opened: &Opened) -> Result<Vec<SkillToInstall>, Failure> {
    let shown = |path: &holdall_tree::TreePath| opened.shown(path);
    let mut skills = skills_of(opened.tree(), "inline", &shown).map_err(Failure::new)?;
    for wanted in &arguments.skill {
        if !skills.iter().any(|skill| skill.name.as_str() == wanted) {
            let names: Vec<_> = skills.iter().map(|skill| skill.name.as_str()).collect();
            let message = format!("there is no skill `{wanted}`");
            return Err(Failure::usage(message, format!("there are {}", names.join(", "))));
        }
    }
    if !arguments.skill.is_empty() {
        skills.retain(|skill| arguments.skill.iter().any(|wanted| wanted == skill.name.as_str()));
    }
    Ok(skills)
}

fn plan(
    arguments: &Install,
    store: &Store,
    origin: &str,
    skills: &[SkillToInstall],
    destinations: &[Destination],
) -> Result<Planned, Failure> {
    let mut planned = Planned::default();
    let own: Vec<_> = skills
        .iter()
        .map(|skill| SkillToInstall { origin: origin.to_owned(), ..skill.clone() })
        .collect();
    let request = SkillsRequest {
        store,
        owner: Owner { name: origin.to_owned(), version: None, origin: origin.to_owned() },
        skills: &own,
        destinations,
        scope: arguments.target.scope.into(),
        take_over: arguments.take_over,
        replace_origin: arguments.replace,
        drop_others: false,
        now: &installing::now(),
    };
    plan_skills(&request, &mut planned).map_err(|error| installing::apply_failure(&error))?;
    Ok(planned)
}

fn preview(
    opened: &Opened,
    skills: &[SkillToInstall],
    destinations: &[Destination],
    digest: Digest,
    planned: &Planned,
    context: &Context<'_>,
) -> Vec<String> {
    let mut report = Report::default();
    let files: usize = skills.iter().map(|skill| skill.files).sum();
    let bytes: u64 = skills.iter().map(|skill| skill.bytes).sum();
    let first = planned.outcomes.iter().all(|row| row.action == Action::Created);
    let was = if first { "first time" } else { "was there before" };
    report.head(format!(
        "{}   {}, {}, {}      {was}",
        opened.location(),
        count(skills.len(), "skill"),
        count(files, "file"),
        size(bytes)
    ));
    let names: Vec<_> = skills.iter().take(6).map(|skill| skill.name.as_str()).collect();
    let more = skills.len().saturating_sub(names.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    report.row("adds", format!("{}{more}", names.join(", ")));
    for destination in destinations {
        let also = match destination.also_read_by.as_slice() {
            [] => String::new(),
            others => format!("; also read by {}", others.join(", ")),
        };
        let hosts = destination.hosts.join(", ");
        report.row("into", format!("{} ({hosts}{also})", shown(&destination.directory, &context.env)));
    }
    report.row("runs", "nothing by itself");
    report.row("digest", format!("{digest}     signed no"));
    let replaced: Vec<_> = planned
        .outcomes
        .iter()
        .filter(|row| row.action == Action::Replaced)
        .map(|row| shown(&row.destination, &context.env))
        .collect();
    if !replaced.is_empty() {
        report.row("replaces", replaced.join(", "));
    }
    report.into_lines()
}

fn done(planned: &Planned, skills: &[SkillToInstall]) -> Vec<String> {
    let changed = planned
        .outcomes
        .iter()
        .filter(|row| matches!(row.action, Action::Created | Action::Replaced))
        .count();
    let word = if changed == 0 { "unchanged" } else { "installed" };
    let undo: Vec<_> = skills.iter().map(|skill| format!("skill:{}", skill.name)).collect();
    match undo.as_slice() {
        [one] => vec![format!("{word}     undo: holdall uninstall {one}")],
        several => vec![format!("{word}     undo: holdall uninstall {}", several.join(" "))],
    }
}
