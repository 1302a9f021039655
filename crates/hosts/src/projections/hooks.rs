//! Hooks documents against the wrapper rows (AB6018).

use std::collections::BTreeMap;

use holdall_artifact::ArtifactManifest;
use holdall_artifact::json::{Document, Node};
use holdall_artifact::model::{BuiltInHost, Hook};
use holdall_tree::TreePath;

use super::{AB6018, Fault};
use crate::events;

pub(super) fn check(
    manifest: &ArtifactManifest,
    projection: &str,
    host: BuiltInHost,
    document: &Document<'_>,
) -> Vec<Fault> {
    let rows: BTreeMap<&TreePath, &Hook> = manifest
        .executables()
        .hooks()
        .iter()
        .filter(|hook| hook.host() == projection)
        .map(|hook| (hook.path(), hook))
        .collect();
    let mut runs: BTreeMap<&TreePath, usize> = BTreeMap::new();
    let mut faults = Vec::new();
    for (event, command) in commands(document.root()) {
        let Some(text) = command.text() else { continue };
        let Some(path) = wrapper(host, &text) else { continue };
        if let Some((path, row)) = rows.get_key_value(&path) {
            *runs.entry(path).or_default() += 1;
            let native = events::by_manifest_name(row.event()).and_then(|known| known.native(host));
            if native.is_some_and(|native| native != event) {
                let message =
                    format!("`{path}` is the wrapper of {}, but runs on {event}", row.event());
                faults.push(Fault { code: AB6018, message, span: command.span() });
            }
        } else if is_wrapper(manifest, &path) {
            let message =
                format!("`{path}` is run, but has no row in executables.hooks for this host");
            faults.push(Fault { code: AB6018, message, span: command.span() });
        }
    }
    let whole = document.root().get("hooks").unwrap_or(document.root()).span();
    for path in rows.keys() {
        let count = runs.get(path).copied().unwrap_or_default();
        if count != 1 {
            let times =
                if count == 0 { "by no command".to_owned() } else { format!("{count} times") };
            let message = format!("the wrapper `{path}` is run {times}; exactly one has to");
            faults.push(Fault { code: AB6018, message, span: whole.clone() });
        }
    }
    faults
}

/// Every command with the event it runs on. Claude and Codex group handlers below a matcher;
/// Cursor lists them flat.
fn commands(root: Node<'_>) -> Vec<(String, Node<'_>)> {
    let mut found = Vec::new();
    let Some(events) = root.get("hooks") else { return found };
    for (event, entries) in events.members() {
        let name = event.text().unwrap_or_default().into_owned();
        for entry in entries.items() {
            let handlers: Vec<_> = match entry.get("hooks") {
                Some(handlers) => handlers.items().collect(),
                None => vec![entry],
            };
            for handler in handlers {
                if let Some(command) = handler.get("command") {
                    found.push((name.clone(), command));
                }
            }
        }
    }
    found
}

/// The file of the root that a generated command runs: `node "${ROOT}/hooks/x.mjs"`.
fn wrapper(host: BuiltInHost, command: &str) -> Option<TreePath> {
    let token = match host {
        BuiltInHost::Claude => "${CLAUDE_PLUGIN_ROOT}/",
        BuiltInHost::Codex => "${PLUGIN_ROOT}/",
        BuiltInHost::Cursor => "${CURSOR_PLUGIN_ROOT}/",
        BuiltInHost::Portable | BuiltInHost::Amp => return None,
    };
    let rest = &command[command.find(token)? + token.len()..];
    let end = rest.find(['"', '\'']).unwrap_or(rest.len());
    let path = rest[..end].split_whitespace().next()?;
    TreePath::normalise(path).ok()
}

/// Whether the file is one of the compiler's wrappers, for whichever host: an author's own
/// command may run any other file of the root.
fn is_wrapper(manifest: &ArtifactManifest, path: &TreePath) -> bool {
    manifest.executables().hooks().iter().any(|hook| hook.path() == path)
}
