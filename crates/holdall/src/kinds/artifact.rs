//! Artifacts: for which agent hosts one was built, what it starts there, and whether every byte
//! is the promised one. Everything comes out of the artifact manifest; nothing is started.

use std::collections::BTreeSet;

use holdall_artifact::model::{
    Hook, HookKind, McpServer, McpServerKind, Projection, Route, RouteKind,
};
use holdall_artifact::npm::{self, NpmPackage};
use holdall_artifact::rows::RowFault;
use holdall_artifact::strays::{Detail, strays};
use holdall_artifact::{
    AB7001, ARTIFACT_MANIFEST_NAME, ArtifactManifest, OpenManifest, Text, collate, digest,
    read_artifact_manifest, rows,
};
use holdall_diagnostics::Diagnostic;
use holdall_hosts::validate::{AB6004, stray_finding};
use holdall_source::{Opened, Origin};
use holdall_tree::{Algorithm, Digest, DirTree, Tree, TreePath};
use serde_json::{Map, Value, json};

use super::{Checked, Covered, Inspected};
use crate::outcome::Failure;
use crate::report::{Report, count, size};

/// Opens the artifact manifest of a source; every fault of it is a finding.
pub(crate) fn open(opened: &Opened) -> Result<OpenManifest, Failure> {
    let shown = opened.shown(&TreePath::root());
    read_artifact_manifest(opened.tree()).into_result(&shown).map_err(Failure::new)
}

/// What an artifact answers to `inspect`: section 5.10 of the format's reference, with what it
/// runs and reaches beside it.
pub(crate) fn inspect(opened: &Opened, answer: &mut Inspected) -> Result<(), Failure> {
    let shown = opened.shown(&TreePath::root());
    let open = read_artifact_manifest(opened.tree()).into_result(&shown).map_err(|mut found| {
        for diagnostic in &mut found {
            diagnostic.code = AB7001.id;
        }
        Failure::new(found)
    })?;
    let manifest = open.manifest();
    let documents = McpDocuments::read(opened.tree(), manifest);
    people(manifest, &documents, &mut answer.report);
    let facts = &mut answer.facts;
    facts.insert(
        "artifact".to_owned(),
        json!({ "application": application(manifest), "manifest": summary(manifest) }),
    );
    facts.insert("hosts".to_owned(), json!(host_table(manifest)));
    facts.insert("runs".to_owned(), json!(runs(manifest, &documents)));
    let reaches: Vec<Value> = remotes(manifest)
        .flat_map(|server| {
            documents.addresses(server).into_iter().map(move |(address, hosts)| {
                json!({ "server": server.name(), "address": address, "hosts": hosts })
            })
        })
        .collect();
    facts.insert("reaches".to_owned(), json!(reaches));
    facts.insert("signed".to_owned(), json!(false));
    let bytes: u64 = manifest.files().iter().map(|row| row.bytes()).sum();
    facts.insert("sizes".to_owned(), json!({ "files": manifest.files().len(), "bytes": bytes }));
    Ok(())
}

fn people(manifest: &ArtifactManifest, documents: &McpDocuments, report: &mut Report) {
    let about = manifest.application();
    let bytes: u64 = manifest.files().iter().map(|row| row.bytes()).sum();
    report.head(format!(
        "{} {}   artifact, {}, {}",
        about.name(),
        about.version(),
        count(manifest.files().len(), "file"),
        size(bytes)
    ));
    if let Some(description) = about.description() {
        report.row("is", description);
    }
    for line in table(manifest) {
        report.row("", line);
    }
    let mut runs = run_lines(manifest, documents, &[]);
    runs.extend(
        manifest
            .executables()
            .bins()
            .iter()
            .map(|bin| format!("command {}  {}", bin.name(), bin.path())),
    );
    runs.extend(
        manifest
            .executables()
            .scripts()
            .iter()
            .map(|script| format!("script {}  {}", script.name(), script.path())),
    );
    report.rows("runs", runs, "nothing by itself");
    let tools = names(manifest, RouteKind::Tool);
    if !tools.is_empty() {
        report.row("tools", tools.join(", "));
    }
    report.rows("reaches", reach_lines(manifest, documents), "no remote server");
    let channels = manifest.distribution().channels().as_slice().join(", ");
    let payloads: Vec<_> =
        manifest.distribution().payloads().iter().map(|payload| payload.name().as_str()).collect();
    let payloads = if payloads.is_empty() {
        String::new()
    } else {
        format!("; payloads {}", payloads.join(", "))
    };
    report.row("ships", format!("{channels}{payloads}"));
    report.row("needs", format!("Node {}", manifest.node()));
    let producer = manifest.compiler().producer();
    report.row("built by", format!("agent-bundle {}", producer.version()));
    report.row("signed", "no");
}

/// What agent hosts start by themselves, hooks and servers, as lines; of these hosts, or of all.
pub(crate) fn run_lines(
    manifest: &ArtifactManifest,
    documents: &McpDocuments,
    hosts: &[&str],
) -> Vec<String> {
    let wanted = |host: &str| hosts.is_empty() || hosts.contains(&host);
    let runs = manifest.executables();
    let hooks = runs.hooks().iter().filter(|hook| wanted(hook.host())).map(hook_line);
    let serves = |server: &&McpServer| server.hosts().iter().any(|host| wanted(host));
    let servers = runs.mcp_servers().iter().filter(serves);
    hooks.chain(servers.map(|server| server_line(server, documents))).collect()
}

/// The remote servers that an artifact reaches, as lines.
pub(crate) fn reach_lines(manifest: &ArtifactManifest, documents: &McpDocuments) -> Vec<String> {
    let lines = remotes(manifest).flat_map(|server| {
        let name = server.name();
        documents.addresses(server).into_iter().map(move |(address, hosts)| match address {
            Some(address) => format!("server {name} at {address} for {}", hosts.join(", ")),
            None => {
                let hosts = hosts.join(", ");
                format!("server {name}, whose address no document says, for {hosts}")
            }
        })
    });
    lines.collect()
}

fn hook_line(hook: &Hook) -> String {
    format!("hook {} on {} of {}  {}", hook.name(), hook.event(), hook.host(), hook.path())
}

fn server_line(server: &McpServer, documents: &McpDocuments) -> String {
    let hosts: Vec<_> = server.hosts().iter().map(|host| &**host).collect();
    let command = documents.command(server);
    let what = match (server.kind(), server.launch()) {
        (_, Some(launch)) => format!("node {}", launch.entry()),
        (McpServerKind::Command, None) if !command.is_empty() => command.join(" "),
        (McpServerKind::Command, None) => "a command that no document says".to_owned(),
        (_, None) => "remote".to_owned(),
    };
    let variables = documents.variables(server);
    let variables = if variables.is_empty() {
        String::new()
    } else {
        format!(" with {}", variables.join(", "))
    };
    format!("server {} for {}  {what}{variables}", server.name(), hosts.join(", "))
}

fn names(manifest: &ArtifactManifest, kind: RouteKind) -> Vec<String> {
    let name = |route: &Route| route_name(route).to_owned();
    manifest.routes().all().filter(|route| route.kind() == kind).map(name).collect()
}

/// The name of a route: its id without the kind and, where it belongs to a server, without that
/// server, as in `tool:<server>/<name>`.
fn route_name(route: &Route) -> &str {
    let id = route.id();
    let name = id.split_once(':').map_or(id, |(_, name)| name);
    let server = route.server_id().map(|id| id.strip_prefix("mcp:").unwrap_or(id));
    server
        .and_then(|server| name.strip_prefix(server)?.strip_prefix('/'))
        .filter(|name| !name.is_empty())
        .unwrap_or(name)
}

/// The components of an agent host, counted: documents, servers, hooks, commands, scripts.
fn components(manifest: &ArtifactManifest, host: &str) -> [(&'static str, usize); 4] {
    let has = |mut hosts: std::slice::Iter<'_, _>| hosts.any(|each: &Text| &**each == host);
    let runs = manifest.executables();
    [
        ("servers", runs.mcp_servers().iter().filter(|row| has(row.hosts().iter())).count()),
        ("hooks", runs.hooks().iter().filter(|row| row.host() == host).count()),
        ("commands", runs.bins().iter().filter(|row| has(row.hosts().iter())).count()),
        ("scripts", runs.scripts().iter().filter(|row| has(row.hosts().iter())).count()),
    ]
}

/// Agent hosts against components, with a line of column names.
fn table(manifest: &ArtifactManifest) -> Vec<String> {
    let width = manifest.projections().iter().map(|each| each.host().chars().count()).max();
    let width = width.unwrap_or(0).max("host".len());
    let mut lines = vec![format!(
        "{:<width$}  {:>7}  {:>5}  {:>8}  {:>7}  documents",
        "host", "servers", "hooks", "commands", "scripts"
    )];
    for projection in manifest.projections() {
        let host = projection.host();
        let [servers, hooks, commands, scripts] = components(manifest, host).map(|(_, n)| n);
        let documents: Vec<_> =
            projection.documents().iter().map(|(_, path)| path.as_str()).collect();
        lines.push(format!(
            "{host:<width$}  {servers:>7}  {hooks:>5}  {commands:>8}  {scripts:>7}  {}",
            documents.join(", ")
        ));
    }
    lines
}

fn host_table(manifest: &ArtifactManifest) -> Vec<Value> {
    let row = |host: &str| {
        let counts =
            components(manifest, host).into_iter().map(|(key, n)| (key.to_owned(), json!(n)));
        let mut row: Map<String, Value> = counts.collect();
        row.insert("host".to_owned(), json!(host));
        Value::Object(row)
    };
    manifest.projections().iter().map(|projection| row(projection.host())).collect()
}

/// Servers that are reached over the network.
fn remotes(manifest: &ArtifactManifest) -> impl Iterator<Item = &McpServer> {
    let servers = manifest.executables().mcp_servers().iter();
    servers.filter(|server| server.kind() == McpServerKind::Remote)
}

/// The MCP documents of the agent hosts: the artifact manifest leaves to them what remote servers
/// are reached at and what the others' commands are. One that cannot be read says nothing here;
/// `validate` says why.
#[derive(Debug)]
pub(crate) struct McpDocuments(Vec<(String, Value)>);

impl McpDocuments {
    /// Bytes of a document that are read.
    const LIMIT: u64 = 8 << 20;

    /// Reads them.
    pub(crate) fn read(tree: &dyn Tree, manifest: &ArtifactManifest) -> Self {
        let document = |projection: &Projection| {
            let bytes = tree.read(projection.documents().mcp()?, Self::LIMIT).ok()?;
            Some((projection.host().to_owned(), serde_json::from_slice(&bytes).ok()?))
        };
        Self(manifest.projections().iter().filter_map(document).collect())
    }

    /// What an agent host's document has of a server.
    fn entry(&self, host: &str, server: &McpServer) -> Option<&Value> {
        let (_, document) = self.0.iter().find(|(of, _)| of == host)?;
        document.get("mcpServers").unwrap_or(document).get(server.name())
    }

    fn entries<'a>(&'a self, server: &'a McpServer) -> impl Iterator<Item = &'a Value> {
        server.hosts().iter().filter_map(|host| self.entry(host, server))
    }

    /// Every address of a server with the agent hosts that reach it there; last the hosts whose
    /// documents say none.
    fn addresses<'a>(&self, server: &'a McpServer) -> Vec<(Option<String>, Vec<&'a str>)> {
        let mut found: Vec<(Option<String>, Vec<&str>)> = Vec::new();
        for host in server.hosts() {
            let entry = self.entry(host, server);
            let address = entry.and_then(|it| it.get("url").or_else(|| it.get("serverUrl")));
            let address = address.and_then(Value::as_str).map(str::to_owned);
            match found.iter_mut().find(|(known, _)| *known == address) {
                Some((_, hosts)) => hosts.push(&**host),
                None => found.push((address, vec![&**host])),
            }
        }
        found.sort_by_key(|(address, _)| address.is_none());
        found
    }

    /// The command line of a server that has no launch record, from the first document with one.
    fn command(&self, server: &McpServer) -> Vec<String> {
        let line = self.entries(server).find_map(|entry| {
            let command = entry.get("command")?.as_str()?;
            let arguments = entry.get("args").and_then(Value::as_array).into_iter().flatten();
            let words = std::iter::once(command).chain(arguments.filter_map(Value::as_str));
            Some(words.map(str::to_owned).collect())
        });
        line.filter(|_| server.launch().is_none()).unwrap_or_default()
    }

    /// Names of the variables that a server gets: those of its launch record, or of the documents.
    fn variables(&self, server: &McpServer) -> Vec<String> {
        if let Some(launch) = server.launch() {
            return launch.env().iter().map(|(key, _)| key.to_string()).collect();
        }
        let all = self.entries(server).filter_map(|entry| entry.get("env")?.as_object());
        let names: BTreeSet<&String> = all.flat_map(Map::keys).collect();
        names.into_iter().cloned().collect()
    }
}

fn runs(manifest: &ArtifactManifest, documents: &McpDocuments) -> Vec<Value> {
    let runs = manifest.executables();
    let mut rows: Vec<Value> = runs.hooks().iter().map(hook_fact).collect();
    rows.extend(runs.mcp_servers().iter().map(|server| {
        let entry = server.launch().map(|launch| launch.entry().as_str());
        let mut row = json!({
            "kind": "server",
            "name": server.name(),
            "entry": entry,
            "environment": documents.variables(server),
        });
        if server.kind() == McpServerKind::Command {
            row["command"] = json!(documents.command(server));
        }
        row
    }));
    rows.extend(
        runs.bins().iter().map(
            |bin| json!({ "kind": "command", "name": bin.name(), "entry": bin.path().as_str() }),
        ),
    );
    rows.extend(runs.scripts().iter().map(
        |script| json!({ "kind": "script", "name": script.name(), "entry": script.path().as_str() }),
    ));
    rows
}

fn hook_fact(hook: &Hook) -> Value {
    json!({
        "kind": "hook",
        "name": hook.name(),
        "event": hook.event(),
        "host": hook.host(),
        "entry": hook.path().as_str(),
    })
}

/// The summary of a manifest, `output.manifest` of section 5.10.
fn summary(manifest: &ArtifactManifest) -> Value {
    let raw = raw(manifest);
    let runs = manifest.executables();
    let projections: Vec<Value> = manifest
        .projections()
        .iter()
        .zip(raw["projections"].as_array().into_iter().flatten())
        .map(|(projection, raw)| {
            let mut row = json!({ "documents": raw["documents"], "host": projection.host() });
            if let Some(built_in) = raw.get("builtInHost") {
                row["builtInHost"] = built_in.clone();
            }
            row
        })
        .collect();
    let servers: Vec<Value> = runs
        .mcp_servers()
        .iter()
        .map(|server| {
            let hosts: Vec<_> = server.hosts().iter().map(|host| &**host).collect();
            json!({ "hosts": hosts, "kind": server.kind().as_str(), "name": server.name() })
        })
        .collect();
    let routes = manifest.routes();
    let mut counts = json!({
        "digest": routes.digest().to_string(),
        "events": routes.events().len(),
        "scripts": routes.scripts().len(),
        "servers": routes.servers().len(),
    });
    if let Some(cli) = routes.cli() {
        counts["cli"] = json!(cli.mode().as_str());
    }
    json!({
        "application": raw["application"],
        "executables": {
            "bins": runs.bins().iter().map(|bin| bin.name()).collect::<Vec<_>>(),
            "hooks": runs.hooks().len(),
            "mcpServers": servers,
            "scripts": runs.scripts().iter().map(|script| script.name()).collect::<Vec<_>>(),
        },
        "manifestVersion": raw["manifestVersion"],
        "path": ARTIFACT_MANIFEST_NAME,
        "projections": projections,
        "routes": counts,
    })
}

/// The document as JSON, for parts that are passed on as they are.
fn raw(manifest: &ArtifactManifest) -> Value {
    serde_json::from_slice(&manifest.to_canonical_bytes()).unwrap_or_default()
}

/// The application projection of section 5.10; every list sorted by collation.
fn application(manifest: &ArtifactManifest) -> Value {
    let raw = raw(manifest);
    let mut projection = json!({
        "identity": raw["application"],
        "hosts": hosts(manifest),
        "servers": servers(manifest),
        "events": events(manifest),
        "hooks": config_hooks(manifest),
        "scripts": raw["executables"]["scripts"].as_array().into_iter().flatten().map(|script| {
            json!({
                "id": script["id"], "name": script["name"], "mode": script["mode"],
                "path": script["path"], "hosts": script["hosts"],
            })
        }).collect::<Vec<_>>(),
        "distribution": raw["distribution"],
    });
    if let Some(cli) = manifest.routes().cli() {
        let bins: Vec<_> = manifest.executables().bins().iter().map(|bin| bin.name()).collect();
        let commands: Vec<Value> = cli
            .commands()
            .into_iter()
            .flat_map(|commands| commands.iter())
            .map(|command| {
                let path: Vec<_> = command.path().iter().map(|word| &**word).collect();
                json!({ "path": path, "routeId": command.route_id() })
            })
            .collect();
        projection["cli"] =
            json!({ "mode": cli.mode().as_str(), "bins": bins, "commands": commands });
    }
    projection
}

fn hosts(manifest: &ArtifactManifest) -> Vec<Value> {
    let row = |projection: &Projection| {
        // The keys come in the order of their names, which is the collation's too.
        let documents: Vec<Value> = projection
            .documents()
            .iter()
            .map(|(kind, path)| json!({ "kind": kind, "path": path.as_str() }))
            .collect();
        let mut row = json!({
            "host": projection.host(),
            "builtIn": projection.built_in_host().is_some(),
            "documents": documents,
        });
        if let Some(marketplace) = projection.marketplace() {
            row["marketplace"] = json!(marketplace.name());
        }
        row
    };
    manifest.projections().iter().map(row).collect()
}

fn servers(manifest: &ArtifactManifest) -> Vec<Value> {
    let routes_of = |id: &str, kind: RouteKind| -> Vec<Value> {
        let server = manifest.routes().servers().iter().find(|server| server.id() == id);
        let routes = server.into_iter().flat_map(|server| server.routes().iter());
        routes
            .filter(|route| route.kind() == kind)
            .map(|route| {
                let mut row = json!({ "id": route.id(), "name": route_name(route) });
                if let Some(description) = route.description() {
                    row["description"] = json!(description);
                }
                row
            })
            .collect()
    };
    let row = |server: &McpServer| {
        let apps: Vec<Value> = server
            .apps()
            .iter()
            .map(|app| {
                let mut row = json!({
                    "id": app.id(), "name": app.name(), "resourceUri": app.resource_uri()
                });
                if let Some(path) = app.path() {
                    row["path"] = json!(path.as_str());
                }
                row
            })
            .collect();
        let hosts: Vec<_> = server.hosts().iter().map(|host| &**host).collect();
        let mut row = json!({
            "id": server.id(),
            "name": server.name(),
            "kind": server.kind().as_str(),
            "transport": server.transport(),
            "hosts": hosts,
            "apps": apps,
            "tools": routes_of(server.id(), RouteKind::Tool),
            "resources": routes_of(server.id(), RouteKind::Resource),
            "prompts": routes_of(server.id(), RouteKind::Prompt),
        });
        if let Some(launch) = server.launch() {
            row["entry"] = json!(launch.entry().as_str());
        }
        row
    };
    manifest.executables().mcp_servers().iter().map(row).collect()
}

fn events(manifest: &ArtifactManifest) -> Vec<Value> {
    let hooks = manifest.executables().hooks();
    let row = |route: &Route| {
        let of_route = hooks.iter().filter(|hook| hook.route_id() == Some(route.id()));
        json!({
            "id": route.id(),
            "event": route.event(),
            "hooks": of_route.map(hook_row).collect::<Vec<_>>(),
        })
    };
    manifest.routes().events().iter().map(row).collect()
}

fn hook_row(hook: &Hook) -> Value {
    let mut row =
        json!({ "host": hook.host(), "kind": hook.kind().as_str(), "path": hook.path().as_str() });
    if let Some(timeout) = hook.timeout() {
        row["timeout"] = json!(timeout);
    }
    row
}

fn config_hooks(manifest: &ArtifactManifest) -> Vec<Value> {
    let config: Vec<&Hook> = manifest
        .executables()
        .hooks()
        .iter()
        .filter(|hook| hook.kind() == HookKind::Config)
        .collect();
    let mut hosts: Vec<&str> = config.iter().map(|hook| hook.host()).collect();
    hosts.sort_by(|a, b| collate(a, b));
    hosts.dedup();
    let of = |host: &str| -> Vec<Value> {
        config.iter().filter(|hook| hook.host() == host).map(|hook| hook_list_row(hook)).collect()
    };
    hosts.into_iter().map(|host| json!({ "host": host, "hooks": of(host) })).collect()
}

/// A hook as `hooks list` has it: its row of the artifact manifest.
pub(crate) fn hook_list_row(hook: &Hook) -> Value {
    let mut row = json!({
        "event": hook.event(),
        "host": hook.host(),
        "id": hook.id(),
        "kind": hook.kind().as_str(),
        "name": hook.name(),
        "path": hook.path().as_str(),
    });
    if let Some(route) = hook.route_id() {
        row["routeId"] = json!(route);
    }
    if let Some(timeout) = hook.timeout() {
        row["timeout"] = json!(timeout);
    }
    row
}

/// A server as `mcp list` has it without starting anything: the row joined with its routes.
pub(crate) fn server_list(manifest: &ArtifactManifest) -> Vec<Value> {
    servers(manifest)
}

/// Compares every row with its file, and looks for files without a row.
pub(super) fn check(opened: &Opened, checked: &mut Checked) -> Result<(), Failure> {
    let open = open(opened)?;
    let manifest = open.manifest();
    let npm = npm_package(opened);
    for mismatch in rows::check(opened.tree(), manifest, npm::modes(npm.as_ref())) {
        // A link or special file is among the strays, as what it is.
        if matches!(mismatch.fault, RowFault::NotAFile(kind) if kind != "a directory") {
            continue;
        }
        let found = Diagnostic::new(&AB6004, mismatch.fault.to_string());
        checked.differences.push(found.at(opened.shown(&mismatch.path)));
    }
    for stray in strays(opened.tree(), manifest, npm.as_ref(), Detail::Directories) {
        let mut found = stray_finding(&stray.kind).at(opened.shown(&stray.path));
        found.help = None;
        checked.differences.push(found);
    }
    // Once is enough: there may be thousands.
    if let Some(last) = checked.differences.pop() {
        let help = "get the artifact again from its publisher, or build it again";
        checked.differences.push(last.help(help));
    }
    let bytes: u64 = manifest.files().iter().map(|row| row.bytes()).sum();
    checked.compared.push(format!(
        "{} of the artifact manifest with all that lies there, {}",
        count(manifest.files().len(), "row"),
        size(bytes)
    ));
    Ok(())
}

/// The npm package that an artifact was unpacked with.
fn npm_package(opened: &Opened) -> Option<NpmPackage> {
    match opened.origin() {
        _ if opened.is_sealed() => None,
        Origin::Npm { .. } => {
            let package = DirTree::open(opened.file()).ok()?;
            Some(NpmPackage::of(&package, opened.subdir()))
        }
        _ => NpmPackage::around(&opened.file().join(opened.subdir().as_str())),
    }
}

/// The content hash.
pub(super) fn digests(opened: &Opened, all: &mut Vec<Covered>) -> Result<(), Failure> {
    let open = open(opened)?;
    let hash = digest::content_hash(opened.tree(), open.manifest())
        .map_err(|error| opened.error(error))?;
    all.push(Covered {
        digest: Digest::new(Algorithm::AgentBundleContentV6, *hash.as_bytes()),
        covers: "every listed path, byte and execute bit, the artifact manifest and .env files",
    });
    Ok(())
}
