//! `holdall pack PATH`

mod bundle;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use holdall_aospkg::format::{EntryKind, Version};
use holdall_aospkg::pack::{Input, PackOptions, PackPlan, PlannedEntry, convert, left_out, plan};
use holdall_aospkg::{TarFileSystem, file_name};
use holdall_diagnostics::Diagnostic;
use holdall_pack::BUNDLE_SUFFIX;
use holdall_tree::TreePath;
use serde_json::{Value, json};

use super::{CommandResult, Context};
use crate::{codes, files};
use crate::kinds::{Inspected, PackageFacts};
use crate::opening::tree_path;
use crate::outcome::{Failure, Outcome};
use crate::packing::{Named, Packable, Sealed};

/// Seal a directory, a tar or an app as one file, or convert a package
///
/// Answers: how do I ship this as one file? A pack, an app or an artifact gives its name and
/// version; an app is written as a bundle where FILE ends in .agentapp. The same files give the same bytes on every machine.
/// Everything that a package could not hold, or would lose, is an error that names it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  holdall pack ./jq                                a directory with agentos-package.json, or an npm package
  holdall pack ./jq --list                         show what would go in
  holdall pack ./my-pack                           a directory with PACK.md, APP.md or an artifact manifest
  holdall pack ./panel -o panel.agentapp           an app as its own bundle
  tar -c . | holdall pack - --name jq --version 1.8.1
  holdall pack jq.aospkg -o jq2.aospkg --format-version 2")]
pub(crate) struct PackOf {
    /// A directory, a tar, a package to convert, or - for a tar on standard input
    #[arg(value_name = "PATH")]
    path: OsString,
    /// The file to write, instead of ./NAME-VERSION.aospkg
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Show what would go in, and write nothing
    #[arg(long)]
    list: bool,
    /// Write format version 1, which holds agents, or 2, which agentOS 0.4 needs
    #[arg(long, value_name = "1|2", value_parser = version)]
    format_version: Option<Version>,
    /// Leave out the facts that the format version has no place for
    #[arg(long)]
    allow_loss: bool,
    #[command(flatten)]
    facts: Facts,
}

/// What the input does not say, and how it is taken.
#[derive(Debug, Args)]
struct Facts {
    /// The package's name, where the input has none
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The package's version, where the input has none
    #[arg(long = "version", value_name = "VERSION")]
    version_name: Option<String>,
    /// The command that speaks ACP, which makes the package an agent
    #[arg(long, value_name = "COMMAND")]
    agent: Option<String>,
    /// Pack this though it looks like a secret; repeatable
    #[arg(long, value_name = "PATH")]
    include: Vec<String>,
    /// Leave this out, with all below it; repeatable
    #[arg(long, value_name = "PATH")]
    exclude: Vec<String>,
    /// Take names that do not exist on every system
    #[arg(long)]
    posix: bool,
    /// Keep owners, times and modes
    #[arg(long)]
    preserve: bool,
}

impl Facts {
    /// The first option that was given, by name.
    fn given(&self) -> Option<&'static str> {
        let given = [
            (self.name.is_some(), "--name"),
            (self.version_name.is_some(), "--version"),
            (self.agent.is_some(), "--agent"),
            (!self.include.is_empty(), "--include"),
            (!self.exclude.is_empty(), "--exclude"),
            (self.posix, "--posix"),
            (self.preserve, "--preserve"),
        ];
        given.into_iter().find_map(|(given, name)| given.then_some(name))
    }
}

fn version(text: &str) -> Result<Version, String> {
    let numbers = Version::ALL.map(|version| version.number().to_string());
    let known = Version::ALL.into_iter().find(|version| version.number().to_string() == text);
    known.ok_or_else(|| format!("the format versions are {}", numbers.join(" and ")))
}

pub(crate) fn run(arguments: &PackOf, context: &Context<'_>) -> CommandResult {
    let base = context.env.working_directory();
    if arguments.output.as_deref() == Some(Path::new("-")) {
        return Err(Failure::usage(
            "a package is not written to standard output",
            "say where with -o FILE; `-o ./-` is a file of that name",
        ));
    }
    let output = arguments.output.as_ref().map(|output| base.join(output));
    if !arguments.list {
        // Before the input is looked at: the output may lie in it.
        files::sweep(output.as_deref().unwrap_or(&base.join("output")));
    }
    let spool = output.as_deref().and_then(Path::parent).unwrap_or(base);
    let named = Named::open(&arguments.path, base, spool)?;
    let bundle = |output: &PathBuf| output.to_str().is_some_and(|it| it.ends_with(BUNDLE_SUFFIX));
    match &named.found {
        Packable::Package(package) => run_convert(arguments, base, package, &named.shown),
        Packable::Directory(opened) if arguments.output.as_ref().is_some_and(bundle) => {
            bundle::run(arguments, base, &named, opened)
        }
        Packable::Directory(opened) => {
            let options = options(arguments)?;
            let sealed = Sealed::of(opened, &options.exclude)?;
            let artifact = sealed.artifact.as_ref().map(|package| package.tree(opened.tree()));
            let input = artifact.as_ref().map_or(Input::Tree(opened.tree()), |it| Input::Tree(it));
            run_pack(arguments, base, &named, input, sealed)
        }
        Packable::Tar(file) => {
            run_pack(arguments, base, &named, Input::Tar(file), Sealed::default())
        }
    }
}

fn run_pack(
    arguments: &PackOf,
    base: &Path,
    named: &Named,
    input: Input<'_>,
    sealed: Sealed,
) -> CommandResult {
    let mut options = options(arguments)?;
    let known = [("--name", &mut options.name, sealed.name), ("--version", &mut options.version_name, sealed.version)];
    for (option, given, own) in known {
        match (&given, own) {
            (Some(given), Some(own)) if **given != own => {
                return Err(Failure::usage(
                    format!("{option} is `{given}`, and its document says `{own}`"),
                    format!("leave {option} out"),
                ));
            }
            (_, own) => *given = own.or_else(|| given.take()),
        }
    }
    options.commands = sealed.commands;
    if let Some(package) = &sealed.artifact {
        // What is left out is out of that tree already, and what is in it is meant.
        options.preserve |= package.has_unusual_modes();
        options.exclude.clear();
        options.include.push(TreePath::root());
    }
    let failed = |found: Vec<Diagnostic>| Failure::new(placed(found, named));
    let mut plan = plan(input, &options).map_err(failed)?;
    let shown = output_name(arguments, plan.manifest().name.as_str(), &plan.manifest().version)?;
    let output = base.join(&shown);
    let mut notes = Vec::new();
    // What an earlier run wrote into the directory is no part of it.
    if let Some(own) = named.inside(&output)
        && !options.exclude.contains(&own)
    {
        if plan.entries().any(|entry| entry.path.strip_prefix('/') == Some(own.as_str())) {
            notes.push(format!("left out {own}: it is the output"));
        }
        let mut options = options;
        options.exclude.push(own);
        plan = holdall_aospkg::pack::plan(input, &options).map_err(failed)?;
    }
    if arguments.format_version.is_none() {
        notes.push("format version 1, which agentOS 0.2 reads; agentOS 0.4 needs --format-version 2".to_owned());
    }
    let mut warnings = sealed.warnings;
    if sealed.artifact.is_none() {
        warnings.extend(unmatched(&input, arguments)?);
    }
    warnings.extend(placed(plan.warnings().to_vec(), named));
    let mut outcome = if arguments.list {
        list(&plan)
    } else {
        let packed = plan.write(&output).map_err(|error| Failure::from(*error))?;
        written(&output, &shown, packed.bytes)?
    };
    outcome.diagnostics = warnings;
    outcome.notes = notes;
    Ok(outcome)
}

fn options(arguments: &PackOf) -> Result<PackOptions, Failure> {
    let paths = |given: &[String]| -> Result<Vec<TreePath>, Failure> {
        given.iter().map(|path| tree_path(path)).collect()
    };
    let facts = &arguments.facts;
    if paths(&facts.exclude)?.iter().any(TreePath::is_root) {
        return Err(Failure::usage("--exclude leaves nothing to pack", "give a path inside it"));
    }
    Ok(PackOptions {
        version: arguments.format_version.unwrap_or_default(),
        name: facts.name.clone(),
        version_name: facts.version_name.clone(),
        agent: facts.agent.clone(),
        preserve: facts.preserve,
        posix: facts.posix,
        allow_loss: arguments.allow_loss,
        include: paths(&facts.include)?,
        exclude: paths(&facts.exclude)?,
        commands: None,
    })
}

/// Puts the input before the paths inside it.
fn placed(found: Vec<Diagnostic>, named: &Named) -> Vec<Diagnostic> {
    let place = |mut found: Diagnostic| {
        found.path = Some(match found.path {
            Some(path) => named.place(&path),
            None => named.shown.clone(),
        });
        found
    };
    found.into_iter().map(place).collect()
}

/// Paths of `--include` and `--exclude` that name nothing, which is a slip more often than not. An
/// archive has no paths to be asked for.
fn unmatched(input: &Input<'_>, arguments: &PackOf) -> Result<Vec<Diagnostic>, Failure> {
    let Input::Tree(tree) = input else { return Ok(Vec::new()) };
    let facts = &arguments.facts;
    let given = facts.exclude.iter().map(|path| ("--exclude", path));
    let given = given.chain(facts.include.iter().map(|path| ("--include", path)));
    let mut found = Vec::new();
    for (option, path) in given {
        if tree.metadata(&tree_path(path)?).is_err() {
            let what = format!("{option} {path} names nothing");
            found.push(
                Diagnostic::new(&codes::UNMATCHED, what).help("give the path inside the input"),
            );
        }
    }
    Ok(found)
}

/// Where the package goes, relative to the working directory.
fn output_name(arguments: &PackOf, name: &str, version: &str) -> Result<PathBuf, Failure> {
    if let Some(output) = &arguments.output {
        return Ok(output.clone());
    }
    match file_name(name, version) {
        Some(stem) => Ok(PathBuf::from(format!("{stem}.aospkg"))),
        None => {
            let what = format!("`{name}` `{version}` cannot name a file");
            Err(Diagnostic::new(&codes::NO_NAME, what).help("say where with -o FILE").into())
        }
    }
}

fn list(plan: &PackPlan<'_>) -> Outcome {
    let entries: Vec<PlannedEntry> = plan.entries().collect();
    let lines = entries.iter().map(entry_line).collect();
    let facts: Vec<Value> = entries.iter().map(entry_fact).collect();
    Outcome::new("package")
        .fact(
            "pack",
            json!({
                "name": plan.manifest().name,
                "version": plan.manifest().version,
                "formatVersion": plan.version().number(),
                "bytes": plan.len(),
                "entries": facts,
            }),
        )
        .lines(lines)
}

fn entry_line(entry: &PlannedEntry) -> String {
    let kind = match entry.kind {
        EntryKind::File => "-",
        EntryKind::Directory => "d",
        EntryKind::Symlink => "l",
    };
    let to = match (&entry.link_target, &entry.same_as) {
        (Some(target), _) => format!(" -> {target}"),
        (None, Some(first)) => format!(" (the same bytes as {first})"),
        (None, None) => String::new(),
    };
    format!("{kind}{:04o} {:>12} {}{to}", entry.mode, entry.size, entry.path)
}

fn entry_fact(entry: &PlannedEntry) -> Value {
    let kind = match entry.kind {
        EntryKind::File => "file",
        EntryKind::Directory => "directory",
        EntryKind::Symlink => "symlink",
    };
    let mode = format!("{:04o}", entry.mode);
    let mut fact = json!({ "path": entry.path, "kind": kind, "size": entry.size, "mode": mode });
    if let Some(target) = &entry.link_target {
        fact["link"] = json!(target);
    }
    if let Some(first) = &entry.same_as {
        fact["sameAs"] = json!(first);
    }
    fact
}

/// Opens what was written, as its first reader, and shows what is in it.
fn written(output: &Path, shown: &Path, bytes: u64) -> Result<Outcome, Failure> {
    let failed = |error: holdall_aospkg::PackageError| {
        Failure::from(error.diagnostic().at(shown.display().to_string()))
    };
    let package = TarFileSystem::open(output).map_err(failed)?;
    let mut answer = Inspected::default();
    PackageFacts::of(&package, &shown.display().to_string())?.tell(&mut answer);
    answer.report.head(format!("wrote {}", shown.display()));
    let mut outcome = Outcome::new("package");
    outcome.facts = answer.facts;
    let outcome = outcome.fact("pack", json!({ "output": shown, "bytes": bytes }));
    Ok(outcome.lines(answer.report.into_lines()))
}

fn run_convert(
    arguments: &PackOf,
    base: &Path,
    package: &TarFileSystem,
    shown: &str,
) -> CommandResult {
    let misplaced = arguments.facts.given().or(arguments.list.then_some("--list"));
    if let Some(option) = misplaced {
        return Err(Failure::usage(
            format!("{option} says nothing to a package that is converted"),
            "converting takes -o, --format-version and --allow-loss; `extract` it to pack it anew",
        ));
    }
    let Some(version) = arguments.format_version else {
        return Err(Failure::usage(
            format!("{shown} is a package already"),
            "say --format-version 1 or 2 to convert it",
        ));
    };
    let failed = |error: holdall_aospkg::PackageError| Failure::from(error.diagnostic().at(shown));
    let manifest = package.package().manifest().map_err(failed)?;
    let output = output_name(arguments, &manifest.name, &manifest.version)?;
    let target = base.join(&output);
    let same = |path: &Path| path.canonicalize().ok();
    if arguments.output.is_none() && same(&target).is_some() && same(&target) == same(&base.join(shown)) {
        return Err(Failure::usage(
            format!("the result would replace {shown}"),
            "say where it goes with -o FILE",
        ));
    }
    let losses = convert(package.package(), &target, version, arguments.allow_loss)
        .map_err(|error| Failure::from((*error).at(shown)))?;
    let bytes = std::fs::metadata(&target).map_or(0, |metadata| metadata.len());
    let mut outcome = written(&target, &output, bytes)?;
    outcome.diagnostics = losses.iter().map(|loss| left_out(loss).at(shown)).collect();
    Ok(outcome)
}
