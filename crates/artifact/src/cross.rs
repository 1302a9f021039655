//! The rules that span sections, R1 to R24 (1.13 of the format).
//!
//! A section is `None` here when it is not in order by itself; a rule that needs it does not run
//! then. R25 of the reference says that nothing has to point at a file.

use std::collections::{BTreeSet, HashSet};

use holdall_tree::TreePath;

use crate::checker::{Checker, Step, place};
use crate::containers::Sorted;
use crate::digest;
use crate::fault::Rule;
use crate::fields::Text;
use crate::manifest::FileIndex;
use crate::model::{
    Adapter, Bin, Contract, Distribution, FileKind, FileRow, Hook, HostStatus, Launch, McpServer,
    McpServerKind, Project, Projection, Provenance, Rendered, Route, Routes, Script, Validation,
    Web,
};

/// The sections that are in order by themselves.
pub(crate) struct Sections<'a> {
    pub(crate) project: Option<&'a Project>,
    pub(crate) provenance: Option<&'a Sorted<Provenance>>,
    pub(crate) adapters: Option<&'a Sorted<Adapter>>,
    pub(crate) validation: Option<&'a Validation>,
    pub(crate) bins: Option<&'a Sorted<Bin>>,
    pub(crate) hooks: Option<&'a Sorted<Hook>>,
    pub(crate) servers: Option<&'a Sorted<McpServer>>,
    pub(crate) scripts: Option<&'a Sorted<Script>>,
    pub(crate) distribution: Option<&'a Distribution>,
    pub(crate) files: Option<&'a Sorted<FileRow>>,
    pub(crate) index: &'a FileIndex,
    pub(crate) projections: Option<&'a Sorted<Projection>>,
    pub(crate) routes: Option<&'a Routes>,
    pub(crate) web: Option<&'a Web>,
}

impl Sections<'_> {
    /// Runs every rule whose sections are there.
    pub(crate) fn check(&self, cx: &mut Checker<'_>) {
        self.inputs(cx);
        self.rows_of_projections(cx);
        self.hosts(cx);
        if let Some(routes) = self.routes {
            check_routes(routes, cx);
        }
        self.route_pointers(cx);
        self.distribution(cx);
        self.servers(cx);
        self.pointers(cx);
    }

    /// R1 to R4: the configuration, the revision and the provenance against the inputs.
    fn inputs(&self, cx: &mut Checker<'_>) {
        if let (Some(provenance), Some(files)) = (self.provenance, self.files) {
            let paths = provenance.iter().map(Provenance::path);
            let rows = files.iter().map(FileRow::path);
            let where_ = &["compiler", "provenance"];
            same_lists(cx, 3, where_, "path", "files", paths, rows);
        }
        let Some(project) = self.project else { return };
        let inputs = project.source_inputs();
        let known: HashSet<&str> = inputs.iter().map(|input| input.path().as_str()).collect();
        let config = inputs.iter().find(|input| input.path() == project.config_path());
        let place = place!["compiler", "project", "configPath"];
        match config {
            None => {
                let message = format!("`{}` is not one of sourceInputs", project.config_path());
                cx.fault_at(place, Rule::Cross(1), message);
            }
            Some(input) if input.sha256() != project.config_digest() => {
                let message = format!("sourceInputs has {} for this file", input.sha256());
                let place = place!["compiler", "project", "configDigest"];
                cx.fault_at(place, Rule::Cross(1), message);
            }
            Some(_) => {}
        }
        let revision = digest::revision(inputs);
        if revision != project.revision() {
            let message = format!("is not the digest of sourceInputs, which is {revision}");
            cx.fault_at(place!["compiler", "project", "revision"], Rule::Cross(2), message);
        }
        for (at, row) in self.provenance.into_iter().flatten().enumerate() {
            for (input_at, input) in row.source_inputs().iter().enumerate() {
                if !known.contains(input.as_str()) {
                    let place = place!["compiler", "provenance", at, "sourceInputs", input_at];
                    let message = format!("`{input}` is not one of compiler.project.sourceInputs");
                    cx.fault_at(place, Rule::Cross(4), message);
                }
            }
        }
    }

    /// R5 to R7 and R24: one adapter and one status a projection, each projection once, a
    /// marketplace only with its document.
    fn rows_of_projections(&self, cx: &mut Checker<'_>) {
        cx.repeated_hosts();
        let Some(projections) = self.projections else { return };
        let hosts = || projections.iter().map(Projection::host);
        if let Some(adapters) = self.adapters {
            let rows = adapters.iter().map(Adapter::host);
            let where_ = &["compiler", "adapters"];
            same_lists(cx, 5, where_, "host", "projections", rows, hosts());
        }
        if let Some(validation) = self.validation {
            let rows = validation.projections().iter().map(HostStatus::host);
            let where_ = &["compiler", "validation", "projections"];
            same_lists(cx, 6, where_, "host", "projections", rows, hosts());
        }
        for (at, projection) in projections.iter().enumerate() {
            if projection.marketplace().is_some() && projection.documents().marketplace().is_none()
            {
                let message = "is only there together with documents.marketplace";
                cx.fault_at(place!["projections", at, "marketplace"], Rule::Cross(24), message);
            }
        }
    }

    /// R8: whatever names agent hosts names projections.
    fn hosts(&self, cx: &mut Checker<'_>) {
        let Some(projections) = self.projections else { return };
        let known: BTreeSet<&str> = projections.iter().map(Projection::host).collect();
        let mut check = |place: &[Step<'_>], hosts: &[Text]| {
            for (at, host) in hosts.iter().enumerate() {
                if !known.contains(&**host) {
                    let place = [place, place!["hosts", at]].concat();
                    cx.fault_at(&place, Rule::Cross(8), format!("`{host}` is no projection"));
                }
            }
        };
        for (at, bin) in self.bins.into_iter().flatten().enumerate() {
            check(place!["executables", "bins", at], bin.hosts());
        }
        for (at, server) in self.servers.into_iter().flatten().enumerate() {
            check(place!["executables", "mcpServers", at], server.hosts());
        }
        for (at, script) in self.scripts.into_iter().flatten().enumerate() {
            check(place!["executables", "scripts", at], script.hosts());
        }
        let payloads = self.distribution.map(Distribution::payloads);
        for (at, payload) in payloads.into_iter().flatten().enumerate() {
            check(place!["distribution", "payloads", at], payload.hosts());
        }
        for (at, hook) in self.hooks.into_iter().flatten().enumerate() {
            if !known.contains(hook.host()) {
                let place = place!["executables", "hooks", at, "host"];
                cx.fault_at(place, Rule::Cross(8), format!("`{}` is no projection", hook.host()));
            }
        }
    }

    /// R15 to R17: ids of routes.
    fn route_pointers(&self, cx: &mut Checker<'_>) {
        let Some(routes) = self.routes else { return };
        let has = |list: &[Route], id: &str| list.iter().any(|route| route.id() == id);
        if let Some((cli, commands)) = routes.cli().and_then(|cli| Some((cli, cli.commands()?))) {
            let known: BTreeSet<&str> = cli.routes().iter().map(Route::id).collect();
            for (at, command) in commands.iter().enumerate() {
                if !known.contains(command.route_id()) {
                    let place = place!["routes", "cli", "commands", at, "routeId"];
                    let message =
                        format!("`{}` is not one of routes.cli.routes", command.route_id());
                    cx.fault_at(place, Rule::Cross(15), message);
                }
            }
        }
        for (at, hook) in self.hooks.into_iter().flatten().enumerate() {
            if let Some(id) = hook.route_id().filter(|id| !has(routes.events(), id)) {
                let place = place!["executables", "hooks", at, "routeId"];
                let message = format!("`{id}` is not one of routes.events");
                cx.fault_at(place, Rule::Cross(16), message);
            }
        }
        for (at, script) in self.scripts.into_iter().flatten().enumerate() {
            let id = script.rendered().map(Rendered::route_id);
            if let Some(id) = id.filter(|id| !has(routes.scripts(), id)) {
                let place = place!["executables", "scripts", at, "rendered", "routeId"];
                let message = format!("`{id}` is not one of routes.scripts");
                cx.fault_at(place, Rule::Cross(17), message);
            }
        }
    }

    /// R18 and R19: channels and payloads.
    fn distribution(&self, cx: &mut Checker<'_>) {
        let Some(distribution) = self.distribution else { return };
        if let Some(project) = self.project {
            let named = project.package_name().is_some();
            if distribution.channels().npm() != named {
                let message = if named {
                    "must have npm, because compiler.project.packageName is there"
                } else {
                    "must not have npm, because compiler.project.packageName is not there"
                };
                cx.fault_at(place!["distribution", "channels"], Rule::Cross(18), message);
            }
        }
        let Some(files) = self.files else { return };
        for (at, payload) in distribution.payloads().iter().enumerate() {
            let mut rows = self.index.under(files, payload.name().as_str());
            if !rows.any(|row| row.kind() == FileKind::Prebuilt) {
                let place = place!["distribution", "payloads", at, "name"];
                let message = format!("no row of kind prebuilt lies under `{}/`", payload.name());
                cx.fault_at(place, Rule::Cross(19), message);
            }
        }
    }

    /// R21 to R23: servers and what is launched.
    fn servers(&self, cx: &mut Checker<'_>) {
        let Some(servers) = self.servers else { return };
        let mut seen = BTreeSet::new();
        for (at, server) in servers.iter().enumerate() {
            if !seen.insert(server.name()) {
                let place = place!["executables", "mcpServers", at, "name"];
                let message = format!("`{}` is the name of another server as well", server.name());
                cx.fault_at(place, Rule::Cross(22), message);
            }
            if let (Some(files), Some(launch)) = (self.files, server.launch()) {
                let launcher = Launcher { kind: server.kind(), launch, at };
                check_launch(&launcher, &IndexedRows(files, self.index), cx);
            }
        }
        let Some(web) = self.web else { return };
        for (at, app) in web.apps().iter().enumerate() {
            let launched = |server: &McpServer| server.launch().is_some();
            if !servers.iter().any(|server| server.name() == app.server() && launched(server)) {
                let place = place!["web", "apps", at, "server"];
                let message = format!("`{}` is no server that the artifact starts", app.server());
                cx.fault_at(place, Rule::Cross(23), message);
            }
        }
    }

    /// R20: what points at a file points at a row.
    fn pointers(&self, cx: &mut Checker<'_>) {
        let Some(files) = self.files else { return };
        let mut check = |place: &[Step<'_>], path: Option<&TreePath>| {
            if let Some(path) = path.filter(|path| self.index.find(files, path.as_str()).is_none())
            {
                cx.fault_at(place, Rule::Cross(20), format!("`{path}` is not one of files"));
            }
        };
        for (at, projection) in self.projections.into_iter().flatten().enumerate() {
            for (key, path) in projection.documents().iter() {
                check(place!["projections", at, "documents", key], Some(path));
            }
        }
        for (at, bin) in self.bins.into_iter().flatten().enumerate() {
            check(place!["executables", "bins", at, "path"], Some(bin.path()));
            check(place!["executables", "bins", at, "worker"], bin.worker());
        }
        for (at, hook) in self.hooks.into_iter().flatten().enumerate() {
            check(place!["executables", "hooks", at, "path"], Some(hook.path()));
        }
        for (at, server) in self.servers.into_iter().flatten().enumerate() {
            for (app_at, app) in server.apps().iter().enumerate() {
                let place = place!["executables", "mcpServers", at, "apps", app_at, "path"];
                check(place, app.path());
            }
        }
        for (at, script) in self.scripts.into_iter().flatten().enumerate() {
            check(place!["executables", "scripts", at, "path"], Some(script.path()));
            check(place!["executables", "scripts", at, "worker"], script.worker());
        }
        if let Some(install) = self.distribution.and_then(Distribution::install) {
            check(place!["distribution", "install", "instructions"], install.instructions());
            check(place!["distribution", "install", "script"], install.script());
        }
    }
}

/// What launch records point into.
pub(crate) trait Rows {
    /// The kind of a row.
    fn kind(&self, path: &str) -> Option<FileKind>;
    /// Whether rows lie below a directory.
    fn holds_some_under(&self, directory: &str) -> bool;
}

/// The rows of the full parser.
struct IndexedRows<'a>(&'a [FileRow], &'a FileIndex);

impl Rows for IndexedRows<'_> {
    fn kind(&self, path: &str) -> Option<FileKind> {
        self.1.find(self.0, path).map(FileRow::kind)
    }

    fn holds_some_under(&self, directory: &str) -> bool {
        self.1.under(self.0, directory).next().is_some()
    }
}

/// A launch record and the server it belongs to.
pub(crate) struct Launcher<'a> {
    pub(crate) kind: McpServerKind,
    pub(crate) launch: &'a Launch,
    /// The server's place in its array.
    pub(crate) at: usize,
}

/// R21: entry and worker are rows of the right kind, arguments lie inside the root.
pub(crate) fn check_launch(launcher: &Launcher<'_>, rows: &dyn Rows, cx: &mut Checker<'_>) {
    let Launcher { kind, launch, at } = *launcher;
    let entry_kind = match kind {
        McpServerKind::Prebuilt => FileKind::Prebuilt,
        _ => FileKind::Bundle,
    };
    let pointers = [
        ("entry", Some(launch.entry()), entry_kind),
        ("worker", launch.worker(), FileKind::Bundle),
    ];
    for (key, path, wanted) in pointers {
        let Some(path) = path else { continue };
        let message = match rows.kind(path.as_str()) {
            Some(found) if found == wanted => continue,
            Some(found) => format!("`{path}` is a row of kind {found}, not {wanted}"),
            None => format!("`{path}` is not one of files"),
        };
        let place = place!["executables", "mcpServers", at, "launch", key];
        cx.fault_at(place, Rule::Cross(21), message);
    }
    for (arg_at, arg) in launch.args().iter().enumerate() {
        let Some(path) = arg.path() else { continue };
        if rows.kind(path.as_str()).is_none() && !rows.holds_some_under(path.as_str()) {
            let place = place!["executables", "mcpServers", at, "launch", "args", arg_at, "path"];
            let message = format!("`{path}` is neither one of files nor a directory of some");
            cx.fault_at(place, Rule::Cross(21), message);
        }
    }
}

/// R9 to R14: the graph by itself.
fn check_routes(routes: &Routes, cx: &mut Checker<'_>) {
    for (at, server) in routes.servers().iter().enumerate() {
        for (route_at, route) in server.routes().iter().enumerate() {
            if route.server_id().is_some_and(|id| id != server.id()) {
                let place = place!["routes", "servers", at, "routes", route_at, "serverId"];
                cx.fault_at(place, Rule::Cross(9), format!("must be `{}`", server.id()));
            }
        }
    }
    for (at, layout) in routes.layouts().iter().enumerate() {
        let declared = |id: &str| routes.servers().iter().any(|server| server.id() == id);
        if let Some(id) = layout.server_id().filter(|id| !declared(id)) {
            let place = place!["routes", "layouts", at, "serverId"];
            cx.fault_at(place, Rule::Cross(10), format!("`{id}` is not one of routes.servers"));
        }
    }
    let bound = routes.all().filter_map(Route::contract).count() > 0;
    match routes.contracts() {
        None if bound => {
            let message = "contracts is missing, although a route has a contract";
            cx.fault_at(place!["routes"], Rule::Cross(11), message);
        }
        Some(_) if !bound => {
            let message = "must not be there, because no route has a contract";
            cx.fault_at(place!["routes", "contracts"], Rule::Cross(11), message);
        }
        Some(contracts) => check_contracts(routes, contracts, cx),
        None => {}
    }
}

/// R12 to R14: routes and contracts name each other.
fn check_contracts(routes: &Routes, contracts: &[Contract], cx: &mut Checker<'_>) {
    let known: BTreeSet<&str> = contracts.iter().map(Contract::id).collect();
    let mut check = |place: &[Step<'_>], list: &[Route]| {
        for (at, route) in list.iter().enumerate() {
            if let Some(id) = route.contract().filter(|id| !known.contains(id)) {
                let place = [place, place![at, "contract"]].concat();
                let message = format!("`{id}` is not one of routes.contracts");
                cx.fault_at(&place, Rule::Cross(12), message);
            }
        }
    };
    check(place!["routes", "events"], routes.events());
    check(place!["routes", "scripts"], routes.scripts());
    for (at, server) in routes.servers().iter().enumerate() {
        check(place!["routes", "servers", at, "routes"], server.routes());
    }
    if let Some(cli) = routes.cli() {
        check(place!["routes", "cli", "routes"], cli.routes());
    }
    let declared: BTreeSet<&str> = routes.all().map(Route::id).collect();
    for (at, contract) in contracts.iter().enumerate() {
        let listed: BTreeSet<&str> = contract.routes().iter().map(|id| &**id).collect();
        for (id_at, id) in contract.routes().iter().enumerate() {
            if !declared.contains(&**id) {
                let place = place!["routes", "contracts", at, "routes", id_at];
                cx.fault_at(place, Rule::Cross(13), format!("`{id}` is no route"));
            }
        }
        let binding: BTreeSet<&str> = routes
            .all()
            .filter(|route| route.contract() == Some(contract.id()))
            .map(Route::id)
            .collect();
        for id in binding.symmetric_difference(&listed).filter(|id| declared.contains(*id)) {
            let message = if listed.contains(id) {
                format!("lists `{id}`, which does not bind it")
            } else {
                format!("does not list `{id}`, which binds it")
            };
            cx.fault_at(place!["routes", "contracts", at, "routes"], Rule::Cross(14), message);
        }
    }
}

/// R3, R5 and R6: two lists agree position by position; the first difference is reported.
fn same_lists<T: PartialEq + std::fmt::Display>(
    cx: &mut Checker<'_>,
    rule: u8,
    section: &[&str],
    key: &str,
    other: &str,
    rows: impl ExactSizeIterator<Item = T>,
    wanted: impl ExactSizeIterator<Item = T>,
) {
    let place: Vec<Step<'_>> = section.iter().copied().map(Step::Key).collect();
    let (found, expected) = (rows.len(), wanted.len());
    for (at, (row, wanted)) in rows.zip(wanted).enumerate() {
        if row != wanted {
            let place = [&place, place![at, key]].concat();
            let message = format!("is `{row}`, where {other} has `{wanted}`");
            cx.fault_at(&place, Rule::Cross(rule), message);
            return;
        }
    }
    if found != expected {
        let message = format!("has {found} rows, where {other} has {expected}");
        cx.fault_at(&place, Rule::Cross(rule), message);
    }
}
