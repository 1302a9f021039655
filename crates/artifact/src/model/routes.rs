//! `routes`: the compiled route graph, the same for every agent host (1.6).

use std::cmp::Ordering;

use super::ListedPath;
use super::schema_types::InputSchema;
use crate::collate::collate;
use crate::containers::{List, Literal, Map, SortKey, Sorted};
use crate::fields::{Integer, MAX_SAFE, Sha256, Text, words};
use crate::record::record;
use crate::shape::Condition;

words! {
    /// What a route is.
    RouteKind {
        /// An MCP App.
        App = "app",
        /// A command of the routed executable.
        Cli = "cli",
        /// A handler of a canonical event.
        EventRoute = "event-route",
        /// An MCP prompt.
        Prompt = "prompt",
        /// An MCP resource.
        Resource = "resource",
        /// A script.
        Script = "script",
        /// An MCP tool.
        Tool = "tool",
    }
}

words! {
    /// How a route was found.
    ProvenienceKind {
        /// By its place in the project.
        Conventional = "conventional",
    }
}

record! {
    /// How a route was found.
    pub Provenience "How a route was found." {
        /// Always by its place in the project.
        "kind" kind: req copy ProvenienceKind,
    }
}

words! {
    /// What renders an event when its handler has nothing to say.
    Fallback {
        /// Nothing.
        None = "none",
        /// The standalone renderer.
        Standalone = "standalone",
    }
}

words! {
    /// Where an event is rendered.
    ExecutionRuntime {
        /// In the shared renderer.
        Shared = "shared",
        /// On its own.
        Standalone = "standalone",
    }
}

record! {
    /// How an event route is run.
    pub Execution "How an event route is run." {
        /// What renders it when the handler has nothing to say.
        "fallback" fallback: req copy Fallback,
        /// The cheap handler's module in the project.
        "handler" handler: opt path ListedPath,
        /// Where it is rendered.
        "runtime" runtime: req copy ExecutionRuntime,
    }
}

record! {
    /// One route of the graph.
    pub Route "One route of the graph." {
        /// Its identity, as `tool:SERVER/STEM`.
        "id" id: req text Text,
        /// What it is.
        "kind" kind: req copy RouteKind,
        /// Its module in the project.
        "source" source: req path ListedPath,
        "provenance" provenance: req hidden Provenience,
        /// The canonical event, of an event route.
        "event" event: opt text Text,
        /// How it is run, of an event route.
        "execution" execution: opt get Execution,
        /// The owning server's id, of an app, prompt, resource or tool.
        "serverId" server_id: opt text Text,
        /// What it is for.
        "description" description: opt text Text,
        /// Its input.
        "inputSchema" input_schema: opt get InputSchema,
        /// The contract it binds.
        "contract" contract: opt text Text,
    }
    when [
        Condition::PresentIff { key: "event", by: "kind", words: &["event-route"] },
        Condition::PresentIff { key: "execution", by: "kind", words: &["event-route"] },
        Condition::PresentIff {
            key: "serverId",
            by: "kind",
            words: &["app", "prompt", "resource", "tool"],
        },
    ]
}

words! {
    /// How an MCP server's routes came to be.
    ServerMode {
        /// Configured as a command.
        Command = "command",
        /// Declared twice.
        Conflict = "conflict",
        /// A server module of the author's.
        Custom = "custom",
        /// Generated from routes.
        Generated = "generated",
        /// At a remote address.
        Remote = "remote",
    }
}

record! {
    /// The routes of one MCP server.
    pub ServerRoutes "The routes of one MCP server." {
        /// The server's identity, `mcp:NAME`.
        "id" id: req text Text,
        /// How its routes came to be.
        "mode" mode: req copy ServerMode,
        /// The server's name.
        "name" name: req text Text,
        /// Its routes by id.
        "routes" routes: req get Sorted<Route>,
    }
}

record! {
    /// A provider module.
    pub Provider "A provider module." {
        /// Its identity, `provider:STEM`.
        "id" id: req text Text,
        /// Its name.
        "name" name: req text Text,
        /// Its module in the project.
        "source" source: req path ListedPath,
    }
}

words! {
    /// What a layout wraps.
    LayoutScope {
        /// Every route.
        Root = "root",
        /// The routes of one server.
        Server = "server",
    }
}

record! {
    /// A layout module.
    pub Layout "A layout module." {
        /// Its identity.
        "id" id: req text Text,
        /// What it wraps.
        "scope" scope: req copy LayoutScope,
        /// Its module in the project.
        "source" source: req path ListedPath,
        /// The server it wraps.
        "serverId" server_id: opt text Text,
    }
    when [Condition::PresentIff { key: "serverId", by: "scope", words: &["server"] }]
}

record! {
    /// Where a contract is declared.
    pub ContractOrigin "Where a contract is declared." {
        /// The exported name.
        "binding" binding: req text Text,
        /// The module in the project.
        "module" module: req path ListedPath,
    }
}

record! {
    /// An input that several routes share.
    pub Contract "An input that several routes share." {
        /// Its identity, `contract:MODULE#BINDING`.
        "id" id: req text Text,
        /// The input.
        "input" input: req get InputSchema,
        /// Where it is declared.
        "origin" origin: req get ContractOrigin,
        /// The ids of the routes that bind it.
        "routes" routes: req get Sorted<Text, 1>,
    }
}

words! {
    /// How the routed executable came to be.
    CliMode {
        /// Declared twice.
        Conflict = "conflict",
        /// A hand-written module.
        Conventional = "conventional",
        /// Generated from routes.
        Generated = "generated",
    }
}

words! {
    /// The type of a command's option.
    OptionKind {
        /// A flag.
        Boolean = "boolean",
        /// One of a set.
        Enum = "enum",
        /// A number.
        Number = "number",
        /// A string.
        String = "string",
    }
}

words! {
    /// What a command's exit code says.
    ExitCode {
        /// The result's own.
        Result = "result",
        /// Always zero.
        Zero = "zero",
    }
}

words! {
    /// The form in which a command takes its input as a whole.
    InputFormat {
        /// One JSON document in `--input`.
        Json = "json",
    }
}

record! {
    /// An option of a command.
    pub CliOption "An option of a command." {
        /// The property it sets.
        "key" key: req text Text,
        /// Its type.
        "kind" kind: req copy OptionKind,
        /// Its spelling.
        "option" option: req text Text,
        /// Whether it may come more than once.
        "repeated" repeated: req copy bool,
        /// Whether it must be there.
        "required" required: req copy bool,
        /// Further spellings.
        "aliases" aliases: opt get Sorted<Text>,
        /// The values it takes.
        "choices" choices: opt get List<Text>,
        /// What it is for.
        "description" description: opt text Text,
        /// Its place among the arguments.
        "positional" positional: opt number Integer<0, MAX_SAFE>,
    }
}

record! {
    /// The MCP tool that a command calls.
    pub CommandMcp "The MCP tool that a command calls." {
        /// Whether to ask before the call.
        "confirm" confirm: req copy bool,
        /// The server.
        "server" server: req text Text,
        /// The tool.
        "tool" tool: req text Text,
    }
}

record! {
    /// How a tool becomes a command.
    pub CliProjection "How a tool becomes a command." {
        /// Whether the module exports a mapper.
        "mapInput" map_input: req copy bool,
        /// The module in the project.
        "module" module: req path ListedPath,
        /// Whether the input is taken as one JSON document.
        "input" input: opt copy InputFormat,
        /// Values of flags that only the command has.
        "defaults" defaults: opt get Map<Literal, 1>,
        /// Required keys that the command may leave out.
        "relaxed" relaxed: opt get Sorted<Text, 1>,
    }
    when [Condition::Excludes {
        key: "input",
        falsy: "mapInput",
        absent: &["defaults", "relaxed"],
    }]
}

record! {
    /// A command of the routed executable.
    pub CliCommand "A command of the routed executable." {
        /// The route it runs.
        "routeId" route_id: req text Text,
        /// The words that call it.
        "path" path: req get List<Text, 1>,
        /// Further names.
        "aliases" aliases: req get Sorted<Text>,
        /// Its options by key.
        "options" options: req get Sorted<CliOption>,
        /// What its exit code says.
        "exitCode" exit_code: req copy ExitCode,
        /// What it is for.
        "description" description: opt text Text,
        /// Whether it takes its input as one JSON document.
        "input" input: opt copy InputFormat,
        /// The MCP tool it calls.
        "mcp" mcp: opt get CommandMcp,
        /// How the tool becomes a command.
        "projection" projection: opt get CliProjection,
    }
}

impl CliCommand {
    /// The words that call it, joined with spaces.
    pub fn joined_path(&self) -> String {
        self.path().iter().map(|word| &**word).collect::<Vec<_>>().join(" ")
    }
}

record! {
    /// The routed executable.
    pub Cli "The routed executable." {
        /// How it came to be.
        "mode" mode: req copy CliMode,
        /// Its routes by id.
        "routes" routes: req get Sorted<Route>,
        /// Its commands by path, when it is generated.
        "commands" commands: opt get Sorted<CliCommand>,
    }
    when [Condition::PresentIff { key: "commands", by: "mode", words: &["generated"] }]
}

record! {
    /// The compiled route graph.
    pub Routes "The compiled route graph." {
        /// Digest over the graph's identity; opaque to readers.
        "digest" digest: req copy Sha256,
        /// The event routes by id.
        "events" events: req get Sorted<Route>,
        /// The script routes by id.
        "scripts" scripts: req get Sorted<Route>,
        /// The MCP servers by id.
        "servers" servers: req get Sorted<ServerRoutes>,
        /// The layouts by id.
        "layouts" layouts: req get Sorted<Layout>,
        /// The providers by id.
        "providers" providers: req get Sorted<Provider>,
        /// The routed executable.
        "cli" cli: opt get Cli,
        /// The shared inputs by id.
        "contracts" contracts: opt get Sorted<Contract>,
    }
}

impl Routes {
    /// Every route: events, scripts, those of the servers, those of the executable. A tool that
    /// the executable projects comes twice.
    pub fn all(&self) -> impl Iterator<Item = &Route> {
        self.events()
            .iter()
            .chain(self.scripts())
            .chain(self.servers().iter().flat_map(|server| server.routes().iter()))
            .chain(self.cli().into_iter().flat_map(|cli| cli.routes().iter()))
    }
}

macro_rules! sorted_by_id {
    ($($name:ident by $key:literal $field:ident),* $(,)?) => {$(
        impl SortKey for $name {
            const BY: &'static str = $key;

            fn compare(&self, other: &Self) -> Ordering {
                collate(self.$field(), other.$field())
            }

            fn shown(&self) -> String {
                self.$field().to_owned()
            }
        }
    )*};
}

sorted_by_id!(
    Route by "id" id,
    ServerRoutes by "id" id,
    Provider by "id" id,
    Layout by "id" id,
    Contract by "id" id,
    CliOption by "key" key,
);

impl SortKey for CliCommand {
    const BY: &'static str = "path";

    fn compare(&self, other: &Self) -> Ordering {
        collate(&self.joined_path(), &other.joined_path())
    }

    fn shown(&self) -> String {
        self.joined_path()
    }
}
