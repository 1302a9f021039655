//! `holdall install SOURCE`

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::Args;
use holdall_diagnostics::Diagnostic;
use holdall_install::HD0306;
use holdall_source::{Kind, Opened};
use holdall_tree::{Digest, DigestError, HashOptions, tree_hash};

use super::{CommandResult, Context};
use crate::installing::apps::{self, AppWish};
use crate::installing::artifacts::{self, ArtifactWish};
use crate::installing::packs::{self, PackWish, Places};
use crate::installing::skills::{self, SkillsWish};
use crate::installing::{self, Target, Wish};
use crate::opening::SourceArguments;
use crate::outcome::Failure;

/// Install packs, apps, skills and artifacts into agent hosts
///
/// Answers: can my agents use this now? Shows what arrives, from where, and what it will run; then
/// does all of it or nothing. Every install has a receipt, and uninstall removes what it lists.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  holdall install ./my-pack                          for every agent host that is here
  holdall install ./my-skills --host claude,codex    for these two
  holdall install ./my-skills --plan                 show what would change
  holdall install claude --from ./dist               an artifact into one agent host")]
pub(crate) struct Install {
    #[command(flatten)]
    source: SourceArguments,
    #[command(flatten)]
    target: Target,
    /// The artifact, where SOURCE is an agent host instead
    #[arg(long, value_name = "DIR")]
    from: Option<OsString>,
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
    /// Install a pack though some of its includes are not there; they are recorded
    #[arg(long)]
    partial: bool,
    /// Where an app keeps its data, instead of in the store
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// The branch or tag of an app's repository that updates follow; HEAD without this and --sha
    #[arg(long = "ref", value_name = "REF")]
    reference: Option<String>,
    /// The commit of an app's repository
    #[arg(long, value_name = "SHA40")]
    sha: Option<String>,
    /// The sum that an .agentapp must have
    #[arg(long, value_name = "HEX")]
    sha256: Option<String>,
    /// Refuse other bytes than these; a digest of every byte also counts as consent
    #[arg(long, value_name = "ALG:HEX")]
    digest: Option<String>,
}

pub(crate) fn run(arguments: &Install, context: &Context<'_>) -> CommandResult {
    // The seeds' form: the agent host first, the artifact behind --from or here.
    let host = arguments.source.host();
    let opened = match (&host, &arguments.from) {
        (Some(_), from) => {
            let from = from.as_deref().unwrap_or(OsStr::new("."));
            arguments.source.open_instead(from, context)?
        }
        (None, None) => {
            let follow = arguments.reference.as_deref();
            arguments.source.open_app(follow, arguments.sha.as_deref(), context)?
        }
        (None, Some(_)) => {
            return Err(Failure::usage(
                "--from goes with an agent host: `install HOST --from DIR`",
                "name the source alone",
            ));
        }
    };
    let store = installing::store(&context.env)?;
    let digest = tree_digest(&opened)?;
    let covered = expected(arguments.digest.as_deref(), digest)?;
    if let Some(asked) = &arguments.sha256 {
        apps::check_sum(&opened, asked)?;
    }
    let wish = Wish { only_plan: arguments.plan, agreed: arguments.yes || covered };
    let now = installing::now();
    let (origin, typed) = (origin(&opened, context), typed(&opened, context));
    let data_dir = arguments.data_dir.as_ref().map(|dir| home_path(dir, context)).transpose()?;
    match opened.known_kind()? {
        Kind::Skill | Kind::Skills => {
            let (destinations, notes) = arguments.target.destinations(&context.env, &store)?;
            let skills_wish = SkillsWish {
                only: &arguments.skill,
                scope: arguments.target.scope.into(),
                take_over: arguments.take_over,
                replace: arguments.replace,
                origin: &origin,
                digest,
                now: &now,
            };
            let mut outcome =
                skills::install(context, &store, &opened, &destinations, skills_wish, wish)?;
            outcome.notes.splice(0..0, notes);
            Ok(outcome)
        }
        Kind::Pack => {
            let pack_wish = PackWish {
                take_over: arguments.take_over,
                replace: arguments.replace,
                partial: arguments.partial,
                data_dir: data_dir.as_deref(),
                origin: &typed,
                subdir: arguments.source.subdir(),
                now: &now,
            };
            let places = Places::Target(&arguments.target);
            packs::install(context, &store, &opened, &places, pack_wish, wish)
        }
        Kind::App => {
            let source = apps::source_of(&opened, &typed, arguments.source.subdir());
            let replace = arguments.replace;
            let app_wish = AppWish { replace, data_dir: data_dir.as_deref(), now: &now };
            apps::install(context, &store, &opened, source, app_wish, wish)
        }
        Kind::Artifact => {
            let hosts: Vec<String> = arguments.target.host.iter().cloned().chain(host).collect();
            let project = arguments.target.project(&context.env);
            let artifact_wish = ArtifactWish {
                hosts: &hosts,
                scope: arguments.target.scope.into(),
                project: &project,
                replace: arguments.replace,
                now: &now,
            };
            artifacts::install(context, &store, &opened, artifact_wish, wish)
        }
        other => {
            let message = format!("a {} cannot be installed by this version", other.as_str());
            let help = "packs, apps, skills and artifacts can: directories with PACK.md, APP.md, \
                        SKILL.md, skills/*/SKILL.md or agent-bundle.manifest.json";
            Err(Failure::usage(message, help))
        }
    }
}

/// A directory as typed, absolute, with `~` for the home.
fn home_path(path: &Path, context: &Context<'_>) -> Result<PathBuf, Failure> {
    match path.strip_prefix("~") {
        Ok(rest) => Ok(context.env.home()?.join(rest)),
        Err(_) => Ok(context.env.working_directory().join(path)),
    }
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
    opened.origin().address().unwrap_or_else(|| typed(opened, context))
}

/// Where it comes from, as it would be typed again from anywhere.
fn typed(opened: &Opened, context: &Context<'_>) -> String {
    if opened.is_fetched() {
        return opened.location().to_string();
    }
    let path = context.env.working_directory().join(opened.location());
    path.canonicalize().unwrap_or(path).display().to_string()
}
