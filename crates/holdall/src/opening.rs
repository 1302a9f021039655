//! The arguments that name a source, and opening it.

use std::ffi::{OsStr, OsString};

use clap::Args;
use holdall_artifact::ArtifactManifest;
use holdall_artifact::model::Projection;
use holdall_diagnostics::Diagnostic;
use holdall_install::HD0306;
use holdall_source::{Kind, OpenOptions, Opened, Origin, Source, open};
use holdall_store::fetch::Fetcher;
use holdall_tree::TreePath;

use crate::commands::Context;
use crate::outcome::Failure;
use crate::{installing, output};

/// A source, and what narrows it down.
#[derive(Debug, Args)]
pub(crate) struct SourceArguments {
    #[arg(
        value_name = "SOURCE",
        help = "A path, git+https://URL#SHA40, https://…, or npm:NAME@VERSION"
    )]
    source: OsString,
    #[command(flatten)]
    narrowing: Narrowing,
}

impl SourceArguments {
    /// Opens the source.
    pub(crate) fn open(&self, context: &Context<'_>) -> Result<Opened, Failure> {
        self.narrowing.open(&self.source, context)
    }

    /// The agent host that stands where a source would: a bare word that is one.
    pub(crate) fn host(&self) -> Option<String> {
        let word = self.source.to_str()?;
        holdall_hosts::find(word).ok().map(|host| host.id().to_owned())
    }

    /// Opens another source, narrowed in the same way.
    pub(crate) fn open_instead(
        &self,
        text: &OsStr,
        context: &Context<'_>,
    ) -> Result<Opened, Failure> {
        self.narrowing.open(text, context)
    }
}

impl SourceArguments {
    /// Opens the source where only an app may be unpinned: then `follow` is the branch or tag, and
    /// `sha` the commit that has to stand there, or without `follow` the commit that is meant.
    pub(crate) fn open_app(
        &self,
        follow: Option<&str>,
        sha: Option<&str>,
        context: &Context<'_>,
    ) -> Result<Opened, Failure> {
        let subdir = self.narrowing.subdir()?;
        let mut options =
            OpenOptions { kind: self.narrowing.kind, subdir, ..OpenOptions::default() };
        let mut source = Source::parse(&self.source)?;
        let Source::Git(address) = &source else {
            if follow.is_some() || sha.is_some() {
                let message = "--ref and --sha are for git repositories";
                return Err(Failure::usage(message, "--sha256 and --digest are for other sources"));
            }
            return open_source(&source, &options, context);
        };
        match (address.commit(), follow, sha) {
            (None, None, Some(sha)) => {
                let mut pinned = self.source.clone();
                pinned.push("#");
                pinned.push(sha.to_ascii_lowercase());
                source = Source::parse(&pinned)?;
            }
            (None, follow, _) => options.follow = Some(follow.unwrap_or("HEAD").to_owned()),
            (Some(_), Some(_), _) => {
                let message = "--ref is for an address without a commit";
                return Err(Failure::usage(message, "leave one of the two out"));
            }
            (Some(_), None, _) => {}
        }
        let opened = open_source(&source, &options, context)?;
        if let (Some(sha), Origin::Git { commit, .. }) = (sha, opened.origin())
            && !commit.eq_ignore_ascii_case(sha)
        {
            let message = format!("the repository has {commit} there, not {sha}");
            return Err(Diagnostic::new(&HD0306, message)
                .at(opened.location().as_str())
                .help("ask its publisher which commit is meant; nothing was installed")
                .into());
        }
        Ok(opened)
    }

    /// The directory inside, as typed.
    pub(crate) fn subdir(&self) -> Option<&str> {
        self.narrowing.subdir.as_deref()
    }
}

/// What narrows a source down.
#[derive(Debug, Args)]
pub(crate) struct Narrowing {
    /// Take it for this kind, not for what it looks like
    #[arg(long, value_name = "KIND")]
    kind: Option<Kind>,
    /// Take this directory inside for the source
    #[arg(long, value_name = "DIR")]
    subdir: Option<String>,
}

impl Narrowing {
    fn subdir(&self) -> Result<TreePath, Failure> {
        Ok(self.subdir.as_deref().map(tree_path).transpose()?.unwrap_or_default())
    }

    /// Opens a source so narrowed.
    pub(crate) fn open(&self, text: &OsStr, context: &Context<'_>) -> Result<Opened, Failure> {
        let subdir = self.subdir()?;
        let options = OpenOptions { kind: self.kind, subdir, ..OpenOptions::default() };
        open_source(&Source::parse(text)?, &options, context)
    }
}

/// Opens a source, fetching it first if it is an address.
pub(crate) fn open_source(
    source: &Source,
    options: &OpenOptions,
    context: &Context<'_>,
) -> Result<Opened, Failure> {
    let fetcher = match source {
        Source::Path(_) => None,
        _ => Some(fetcher(context)?),
    };
    Ok(open(source, context.env.working_directory(), options, fetcher.as_ref())?)
}

/// What fetches for this run: into its store, with its environment and certificate authorities.
pub(crate) fn fetcher(context: &Context<'_>) -> Result<Fetcher, Failure> {
    let env = &context.env;
    let authorities =
        env.variable("HOLDALL_CA_FILE").map(|file| env.working_directory().join(file));
    Ok(Fetcher::new(installing::store(env)?, env.variables().clone())
        .with_ca_file(authorities)
        .with_notice(output::notice)
        .offline(context.global.offline))
}

/// The artifact that `mcp` and `hooks` look at.
#[derive(Debug, Args)]
pub(crate) struct ArtifactArguments {
    /// The artifact
    #[arg(long, value_name = "SOURCE", default_value = ".")]
    artifact: OsString,
    /// Only what this agent host gets
    #[arg(long, visible_alias = "host", value_name = "HOST")]
    target: Option<String>,
}

impl ArtifactArguments {
    /// Opens the artifact.
    pub(crate) fn open(&self, context: &Context<'_>) -> Result<Opened, Failure> {
        Narrowing { kind: None, subdir: None }.open(&self.artifact, context)
    }

    /// The agent host asked for, as the artifact manifest names it; a wrong one lists those that
    /// the artifact was built for.
    pub(crate) fn target(&self, manifest: &ArtifactManifest) -> Result<Option<String>, Failure> {
        let Some(name) = &self.target else { return Ok(None) };
        let known = holdall_hosts::find(name).map(|host| host.id().to_owned());
        let id = known.unwrap_or_else(|_| name.clone());
        if manifest.projection(&id).is_some() {
            return Ok(Some(id));
        }
        let hosts: Vec<_> = manifest.projections().iter().map(Projection::host).collect();
        let message = format!("the artifact was not built for `{name}`");
        Err(Failure::usage(message, format!("it was built for {}", hosts.join(", "))))
    }
}

/// A path inside a source as people type it; a `/` in front means the root of the source.
pub(crate) fn tree_path(text: &str) -> Result<TreePath, Failure> {
    TreePath::normalise(text.trim_start_matches('/'))
        .map_err(|error| Failure::usage(error.to_string(), "give a path inside the source"))
}
