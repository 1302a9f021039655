//! The lean reader: what a generated executable reads of the artifact manifest it lies beside
//! (section 6 of the format).
//!
//! It validates only the slices from which it launches, and refuses those rather than filtering
//! them; every other key is ignored, and so are canonical bytes. A document can pass here and
//! fail the full parser; the converse never happens.

use std::collections::{BTreeMap, BTreeSet};

use crate::ARTIFACT_MANIFEST_VERSION;
use crate::check::{duplicate_keys, text_fault};
use crate::checker::{Checker, place};
use crate::cross::{Launcher, Rows, check_launch};
use crate::fault::{Fault, Rule};
use crate::fields::{Json, Owned, Path, Text};
use crate::json::{Document, Node, NodeKind};
use crate::model::{FileKind, Launch, McpServerKind, Web};

/// What a generated executable launches from.
#[derive(Debug, Clone, PartialEq)]
pub struct LeanManifest {
    hosts: Vec<Box<str>>,
    servers: Vec<LeanServer>,
    web: Option<Web>,
}

/// A server as the lean reader sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct LeanServer {
    name: Box<str>,
    kind: McpServerKind,
    launch: Option<Launch>,
}

impl LeanServer {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How it comes to run.
    pub fn kind(&self) -> McpServerKind {
        self.kind
    }

    /// How the artifact starts it.
    pub fn launch(&self) -> Option<&Launch> {
        self.launch.as_ref()
    }
}

impl LeanManifest {
    /// The names of the projections, in the order of the document.
    pub fn hosts(&self) -> impl ExactSizeIterator<Item = &str> {
        self.hosts.iter().map(|host| &**host)
    }

    /// The launch record of a server.
    pub fn launch(&self, server: &str) -> Option<&Launch> {
        self.servers.iter().find(|row| &*row.name == server)?.launch()
    }

    /// The servers, in the order of the document.
    pub fn servers(&self) -> &[LeanServer] {
        &self.servers
    }

    /// The apps that are served on the web.
    pub fn web(&self) -> Option<&Web> {
        self.web.as_ref()
    }
}

/// Reads the slices that a launch needs.
///
/// # Errors
///
/// The first fault, in the order of section 6.
pub fn parse(bytes: &[u8]) -> Result<LeanManifest, Fault> {
    let doc = Document::parse(bytes).map_err(|error| text_fault(&error))?;
    let mut cx = Checker::new(&doc);
    duplicate_keys(&doc, &mut cx);
    let manifest = if cx.is_clean() { read(doc.root(), &mut cx) } else { None };
    match (manifest, cx.into_faults().into_iter().next()) {
        (_, Some(fault)) => Err(fault),
        (Some(manifest), None) => Ok(manifest),
        (None, None) => Err(crate::check::broken(bytes.len())),
    }
}

/// Every step stops at its first fault, so that `?` keeps the order.
fn read(root: Node<'_>, cx: &mut Checker<'_>) -> Option<LeanManifest> {
    object(root, cx)?;
    let version = root.get("manifestVersion").and_then(Node::number);
    #[expect(clippy::cast_precision_loss, reason = "a small constant")]
    if version != Some(ARTIFACT_MANIFEST_VERSION as f64) {
        let node = root.get("manifestVersion").unwrap_or(root);
        let message = format!("manifestVersion must be {ARTIFACT_MANIFEST_VERSION}");
        cx.fault(node, Rule::ManifestVersion, message);
        return None;
    }
    let executables = member(root, "executables", cx)?;
    object(executables, cx)?;
    let servers = servers(member(executables, "mcpServers", cx)?, cx)?;
    let rows = files(member(root, "files", cx)?, cx)?;
    for (at, server) in servers.iter().enumerate() {
        if let Some(launch) = &server.launch {
            check_launch(&Launcher { kind: server.kind, launch, at }, &rows, cx);
            cx.is_clean().then_some(())?;
        }
    }
    let web = match root.get("web") {
        None => None,
        Some(node) => Some(Web::read(node, cx)?),
    };
    for (at, app) in web.iter().flat_map(Web::apps).enumerate() {
        let launched =
            |server: &LeanServer| &*server.name == app.server() && server.launch.is_some();
        if !servers.iter().any(launched) {
            let place = place!["web", "apps", at, "server"];
            let message = format!("`{}` is no server that the artifact starts", app.server());
            cx.fault_at(place, Rule::Cross(23), message);
            return None;
        }
    }
    let hosts = hosts(member(root, "projections", cx)?, cx)?;
    Some(LeanManifest { hosts, servers, web })
}

fn servers(rows: Node<'_>, cx: &mut Checker<'_>) -> Option<Vec<LeanServer>> {
    array(rows, cx)?;
    let mut servers: Vec<LeanServer> = Vec::new();
    let mut seen = BTreeSet::new();
    for row in rows.items() {
        object(row, cx)?;
        let node = member(row, "name", cx)?;
        let name = Text::read(node, cx)?;
        if !seen.insert(name.to_string()) {
            let message = format!("`{name}` is the name of another server as well");
            cx.fault(node, Rule::Cross(22), message);
            return None;
        }
        let kind = McpServerKind::read(member(row, "kind", cx)?, cx)?;
        let starts = matches!(kind, McpServerKind::Compiled | McpServerKind::Prebuilt);
        let launch = match (row.get("launch"), starts) {
            (Some(node), true) => Some(Launch::read(node, cx)?),
            (None, false) => None,
            (Some(node), false) => {
                let message = format!("is not there when `kind` is {kind}");
                cx.fault(node, Rule::Presence, message);
                return None;
            }
            (None, true) => {
                let message = format!("`launch` is missing: `kind` is {kind}");
                cx.fault(row, Rule::Presence, message);
                return None;
            }
        };
        servers.push(LeanServer { name: (*name).into(), kind, launch });
    }
    Some(servers)
}

/// The rows by path; size, digest, mode and order are not looked at.
#[derive(Debug)]
struct LeanRows(BTreeMap<String, FileKind>);

impl Rows for LeanRows {
    fn kind(&self, path: &str) -> Option<FileKind> {
        self.0.get(path).copied()
    }

    fn holds_some_under(&self, directory: &str) -> bool {
        let prefix = format!("{directory}/");
        self.0.range(prefix.clone()..).next().is_some_and(|(path, _)| path.starts_with(&prefix))
    }
}

fn files(rows: Node<'_>, cx: &mut Checker<'_>) -> Option<LeanRows> {
    array(rows, cx)?;
    let mut found = BTreeMap::new();
    for row in rows.items() {
        object(row, cx)?;
        let node = member(row, "path", cx)?;
        let path = Path::<Owned>::read(node, cx)?.tree_path().to_string();
        let kind = FileKind::read(member(row, "kind", cx)?, cx)?;
        if found.insert(path.clone(), kind).is_some() {
            cx.fault(node, Rule::Order, format!("`{path}` is there twice"));
            return None;
        }
    }
    Some(LeanRows(found))
}

fn hosts(rows: Node<'_>, cx: &mut Checker<'_>) -> Option<Vec<Box<str>>> {
    array(rows, cx)?;
    let mut hosts: Vec<Box<str>> = Vec::new();
    for row in rows.items() {
        object(row, cx)?;
        let node = member(row, "host", cx)?;
        let host = Text::read(node, cx)?;
        if hosts.iter().any(|other| **other == *host) {
            cx.fault(node, Rule::Cross(7), format!("`{host}` is projected twice"));
            return None;
        }
        hosts.push((*host).into());
    }
    Some(hosts)
}

fn object(node: Node<'_>, cx: &mut Checker<'_>) -> Option<()> {
    kind(node, NodeKind::Object, cx)
}

fn array(node: Node<'_>, cx: &mut Checker<'_>) -> Option<()> {
    kind(node, NodeKind::Array, cx)
}

fn kind(node: Node<'_>, wanted: NodeKind, cx: &mut Checker<'_>) -> Option<()> {
    if node.kind() != wanted {
        cx.wrong_type(node, wanted.describe());
        return None;
    }
    Some(())
}

fn member<'d>(node: Node<'d>, key: &str, cx: &mut Checker<'_>) -> Option<Node<'d>> {
    let value = node.get(key);
    if value.is_none() {
        cx.fault(node, Rule::Missing, format!("the key `{key}` is missing"));
    }
    value
}
