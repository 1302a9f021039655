//! `holdall install SOURCE`

use clap::Args;
use holdall_diagnostics::Diagnostic;
use holdall_install::HD0306;
use holdall_source::{Kind, Opened};
use holdall_tree::{Digest, DigestError, HashOptions, tree_hash};

use super::{CommandResult, Context};
use crate::installing::skills::{self, SkillsWish};
use crate::installing::{self, Target, Wish};
use crate::opening::SourceArguments;
use crate::outcome::Failure;

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
    let wish = Wish { only_plan: arguments.plan, agreed: arguments.yes || covered };
    let now = installing::now();
    let origin = origin(&opened, context);
    let mut outcome = match opened.known_kind()? {
        Kind::Skill | Kind::Skills => {
            let skills_wish = SkillsWish {
                only: &arguments.skill,
                scope: arguments.target.scope.into(),
                take_over: arguments.take_over,
                replace: arguments.replace,
                origin: &origin,
                digest,
                now: &now,
            };
            skills::install(context, &store, &opened, &destinations, skills_wish, wish)?
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
    let digest: Digest = asked.parse().map_err(|error: DigestError| {
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
    Err(Diagnostic::new(&HD0306, message).help("ask its publisher which bytes are meant").into())
}

/// Where it comes from, seen from anywhere: a path, or an address without its pin, so that a
/// newer version is of the same origin.
fn origin(opened: &Opened, context: &Context<'_>) -> String {
    if let Some(address) = opened.origin().address() {
        return address;
    }
    let path = context.env.working_directory().join(opened.location());
    path.canonicalize().unwrap_or(path).display().to_string()
}
