//! The manifest that follows from what is there: name and version, commands, man pages, what is
//! provided (reference 2.2, 2.5), with the faults that would only show in a guest.

use holdall_diagnostics::Diagnostic;
use holdall_tree::TreePath;

use super::collect::{Collected, Node};
use super::source::{Bin, NpmManifest, SOURCE_MANIFEST, SourceManifest, parse};
use super::{Input, PackOptions, codes};
use crate::format::SNAPSHOT_BUNDLE_PATH;
use crate::model::{AgentBlock, CommandTarget, ManPage, PackageManifest, ProvidesBlock};

/// Derives the manifest, and takes `agentos-package.json` out of what is packed.
pub(super) fn derive(
    input: &Input<'_>,
    options: &PackOptions,
    all: &mut Collected,
) -> PackageManifest {
    let source: SourceManifest = document(input, all, SOURCE_MANIFEST).unwrap_or_default();
    let npm: Option<NpmManifest> = document(input, all, "package.json");
    if let Ok(path) = TreePath::new(SOURCE_MANIFEST) {
        all.entries.remove(&path);
    }
    let npm_name = npm.as_ref().and_then(|npm| npm.name.clone());
    let unscoped =
        npm_name.as_deref().map(|name| name.rsplit('/').next().unwrap_or(name).to_owned());
    let npm_version = npm.as_ref().and_then(|npm| npm.version.clone());
    let name = fact("name", source.name, options.name.clone(), unscoped, all);
    let version = fact("version", source.version, options.version_name.clone(), npm_version, all);
    let commands = commands(options, npm.as_ref(), all);
    let mut agent = source.agent.map(AgentBlock::from);
    if let Some(command) = &options.agent {
        let block = agent.get_or_insert_with(AgentBlock::default);
        if !block.acp_entrypoint.is_empty() && block.acp_entrypoint != *command {
            let what = format!(
                "{SOURCE_MANIFEST} names the agent `{}`, --agent names `{command}`",
                block.acp_entrypoint
            );
            all.report(Diagnostic::new(&codes::AGENT, what).help("leave --agent out"));
        }
        block.acp_entrypoint.clone_from(command);
    }
    if let Some(agent) = &agent
        && !commands.iter().any(|command| command.command == agent.acp_entrypoint)
    {
        let names: Vec<_> = commands.iter().map(|command| command.command.as_str()).collect();
        let what = format!("`{}` is no command of the package", agent.acp_entrypoint);
        let help = format!("its commands are: {}", names.join(", "));
        all.report(Diagnostic::new(&codes::AGENT, what).help(help));
    }
    let provides = source.provides.map(ProvidesBlock::from);
    if let Some(provides) = &provides {
        check_provides(provides, all);
    }
    let snapshot = agent.as_ref().is_some_and(|agent| agent.snapshot);
    let snapshot_bundle_path = snapshot.then(|| snapshot_path(all)).flatten();
    let man_pages = man_pages(all);
    PackageManifest { name, version, agent, provides, commands, man_pages, snapshot_bundle_path }
}

fn document<T: serde::de::DeserializeOwned>(
    input: &Input<'_>,
    all: &mut Collected,
    name: &str,
) -> Option<T> {
    let path = TreePath::new(name).ok()?;
    let fault = match all.read(input, &path)? {
        Ok(bytes) => match parse(name, bytes) {
            Ok(value) => return Some(value),
            Err(fault) => *fault,
        },
        Err(what) => Diagnostic::new(&codes::SOURCE_MANIFEST, what).at(name),
    };
    all.report(fault);
    None
}

/// A fact that the document, the command line or `package.json` gives, in this order; two that
/// differ are a fault, since only one of them can be meant.
fn fact(
    key: &str,
    document: Option<String>,
    given: Option<String>,
    npm: Option<String>,
    all: &mut Collected,
) -> String {
    if let (Some(document), Some(given)) = (&document, &given)
        && document != given
    {
        let what = format!("{SOURCE_MANIFEST} has the {key} `{document}`, --{key} is `{given}`");
        all.report(
            Diagnostic::new(&codes::SOURCE_MANIFEST, what).help(format!("leave --{key} out")),
        );
    }
    let value = document.or(given).or(npm).unwrap_or_default();
    if value.is_empty() {
        let what = format!("the package has no {key}");
        let help = format!("say --{key}, or write it into {SOURCE_MANIFEST}");
        all.report(Diagnostic::new(&codes::MISSING_FACT, what).help(help));
    } else if !is_usable_name(&value) {
        let what = format!("the {key} `{value}` cannot name a directory");
        let help = "use letters, digits, `.`, `_`, `-` and `+`";
        all.report(Diagnostic::new(&codes::SOURCE_MANIFEST, what).help(help));
    }
    value
}

/// Names become directories of the guest, so that they must not lead anywhere else. A scope is
/// two of them.
fn is_usable_name(text: &str) -> bool {
    let part = |part: &str| {
        !part.is_empty()
            && part != "."
            && part != ".."
            && part.len() <= 128
            && !part.contains(|c: char| c.is_control() || c.is_whitespace() || c == '\\')
    };
    match text.strip_prefix('@').and_then(|scoped| scoped.split_once('/')) {
        Some((scope, name)) => part(scope) && part(name) && !name.contains('/'),
        None => part(text) && !text.contains('/'),
    }
}

fn hidden(command: &str) -> bool {
    command.starts_with(['_', '.'])
}

fn commands(
    options: &PackOptions,
    npm: Option<&NpmManifest>,
    all: &mut Collected,
) -> Vec<CommandTarget> {
    let bin = npm.and_then(|npm| npm.bin.as_ref());
    let named = npm.and_then(|npm| npm.name.as_deref());
    let given = options.commands.as_ref().map(|commands| {
        commands.iter().map(|given| (given.command.clone(), given.entry.clone())).collect()
    });
    let from_map = || match (bin, named) {
        (Some(Bin::Many(commands)), _) => Some(
            commands
                .iter()
                .filter_map(|(command, entry)| Some((command.clone(), entry.clone()?)))
                .collect::<Vec<_>>(),
        ),
        (Some(Bin::One(entry)), Some(name)) => {
            let command = name.rsplit('/').next().unwrap_or(name).to_owned();
            Some(vec![(command, entry.clone())])
        }
        (Some(Bin::One(_) | Bin::Other) | None, _) => None,
    };
    let candidates = given.or_else(from_map).unwrap_or_else(|| {
        let direct = |(path, entry): (&TreePath, &super::collect::Entry)| {
            let name = path.as_str().strip_prefix("bin/")?;
            let plain = !name.contains('/') && !matches!(entry.node, Node::Directory);
            plain.then(|| (name.to_owned(), path.to_string()))
        };
        all.entries.iter().filter_map(direct).collect()
    });
    let mut commands = Vec::new();
    for (command, entry) in candidates {
        if hidden(&command) {
            continue;
        }
        if command.is_empty() || command.contains('/') || command.contains('\0') {
            let what = format!("`{command}` cannot be the name of a command");
            all.report(Diagnostic::new(&codes::COMMAND, what).at("package.json"));
            continue;
        }
        let written = entry.strip_prefix("./").unwrap_or(&entry);
        match executable(written, all) {
            // A link below bin/ to a directory is no command, as a directory is none.
            Ok(false) => {}
            Ok(true) => commands.push(CommandTarget { command, entry: written.to_owned() }),
            Err((what, help)) => all.report(
                Diagnostic::new(&codes::COMMAND, format!("the command `{command}`: {what}"))
                    .at(written)
                    .help(help),
            ),
        }
    }
    commands.sort();
    commands
}

/// Whether an entry can be run; `false` is a link below `bin/` to a directory.
fn executable(entry: &str, all: &Collected) -> Result<bool, (String, String)> {
    let correct = || "correct `bin` in package.json".to_owned();
    let path = TreePath::normalise(entry).map_err(|error| (error.to_string(), correct()))?;
    let is_link = all.entries.get(&path).is_some_and(|at| matches!(at.node, Node::Symlink { .. }));
    let Some((target, found)) = all.resolve(&path) else {
        let what = format!("`{entry}` does not exist in the package");
        let help = if is_link { "correct the link, or remove it".to_owned() } else { correct() };
        return Err((what, help));
    };
    match found.node {
        Node::Directory if is_link => Ok(false),
        Node::Directory | Node::Symlink { .. } => {
            Err((format!("`{entry}` is a directory"), correct()))
        }
        Node::File { .. } if found.mode & 0o111 == 0 => {
            let what = format!("`{target}` has no execute bit (mode {:04o})", found.mode & 0o7777);
            Err((what, format!("chmod +x {target}")))
        }
        Node::File { .. } => Ok(true),
    }
}

fn man_pages(all: &Collected) -> Vec<ManPage> {
    let page = |(path, entry): (&TreePath, &super::collect::Entry)| {
        let (section, page) = path.as_str().strip_prefix("share/man/")?.split_once('/')?;
        if page.contains('/') || matches!(entry.node, Node::Directory) {
            return None;
        }
        let file = matches!(all.resolve(path)?.1.node, Node::File { .. });
        file.then(|| ManPage { section: section.to_owned(), page: page.to_owned() })
    };
    let mut pages: Vec<_> = all.entries.iter().filter_map(page).collect();
    pages.sort();
    pages
}

fn check_provides(provides: &ProvidesBlock, all: &mut Collected) {
    let mut faults = Vec::new();
    for (at, file) in provides.files.iter().enumerate() {
        let inside = file.source.trim().trim_start_matches('/');
        let source = match TreePath::normalise(inside) {
            Err(error) => Some((error.to_string(), "name a directory of the package")),
            Ok(path) if path.is_root() => None,
            Ok(path) => match all.resolve(&path).map(|(_, entry)| &entry.node) {
                Some(Node::Directory) => None,
                Some(_) => {
                    let what = format!("`{}` is not a directory", file.source);
                    Some((what, "provide the directory it is in"))
                }
                None => Some((format!("`{}` does not exist", file.source), "correct the path")),
            },
        };
        let absolute = file.target.strip_prefix('/').map(TreePath::new);
        let good = matches!(&absolute, Some(Ok(path)) if !path.is_root());
        let what = format!("the target `{}` is no absolute, normalised path below /", file.target);
        let target = (!good).then_some((what, "write it as /usr/local/share/NAME"));
        for (what, help) in source.into_iter().chain(target) {
            let what = format!("provides.files.{at}: {what}");
            faults.push(Diagnostic::new(&codes::PROVIDES, what).at(SOURCE_MANIFEST).help(help));
        }
    }
    all.found.extend(faults);
}

fn snapshot_path(all: &mut Collected) -> Option<String> {
    let path = TreePath::normalise(SNAPSHOT_BUNDLE_PATH.trim_start_matches('/')).ok()?;
    let there =
        all.resolve(&path).is_some_and(|(_, entry)| matches!(entry.node, Node::File { .. }));
    if !there {
        let what = format!("agent.snapshot is true, but there is no {path}");
        all.report(Diagnostic::new(&codes::SNAPSHOT, what).at(SOURCE_MANIFEST));
    }
    there.then(|| SNAPSHOT_BUNDLE_PATH.to_owned())
}
