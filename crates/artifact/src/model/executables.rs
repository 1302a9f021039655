//! `executables`: every process that the artifact can start (1.8, 1.9).

use std::cmp::Ordering;

use super::ListedPath;
use crate::collate::collate;
use crate::containers::{List, Map, SortKey, Sorted};
use crate::fields::{Integer, MAX_SAFE, Text, True, words};
use crate::record::record;
use crate::shape::Condition;

/// The projections that something belongs to, at least one.
pub(crate) type Hosts = Sorted<Text, 1>;

record! {
    /// A routed executable.
    pub Bin "A routed executable." {
        /// The projections that carry it.
        "hosts" hosts: req get Hosts,
        /// The command's name.
        "name" name: req text Text,
        /// The file.
        "path" path: req path ListedPath,
        /// Its worker.
        "worker" worker: opt path ListedPath,
    }
}

words! {
    /// What a hook wrapper runs.
    HookKind {
        /// A hook declared in the configuration.
        Config = "config",
        /// A route of a canonical event.
        EventRoute = "event-route",
    }
}

record! {
    /// A hook wrapper for one agent host.
    pub Hook "A hook wrapper for one agent host." {
        /// The event, as `afterTool`.
        "event" event: req text Text,
        /// The projection it belongs to.
        "host" host: req text Text,
        /// Its identity.
        "id" id: req text Text,
        /// What it runs.
        "kind" kind: req copy HookKind,
        /// Its name.
        "name" name: req text Text,
        /// The file.
        "path" path: req path ListedPath,
        /// The event route it runs.
        "routeId" route_id: opt text Text,
        /// Seconds the agent host gives it.
        "timeout" timeout: opt number Integer<1, MAX_SAFE>,
    }
    when [Condition::PresentIff { key: "routeId", by: "kind", words: &["event-route"] }]
}

words! {
    /// How an MCP server comes to run.
    McpServerKind {
        /// The agent host runs a configured command.
        Command = "command",
        /// The artifact starts a compiled entry.
        Compiled = "compiled",
        /// The artifact starts a file of a payload.
        Prebuilt = "prebuilt",
        /// The agent host connects to an address.
        Remote = "remote",
    }
}

words! {
    /// What an argument of a launch is.
    LaunchArgKind {
        /// A path inside the root.
        Artifact = "artifact",
        /// Text, taken as it stands.
        Literal = "literal",
    }
}

record! {
    /// One argument after the entry.
    pub LaunchArg "One argument after the entry." {
        /// What it is.
        "kind" kind: req copy LaunchArgKind,
        /// A path inside the root: a row, or a directory that holds rows.
        "path" path: opt path ListedPath,
        /// Text, which may be empty.
        "value" value: opt text Box<str>,
    }
    when [
        Condition::PresentIff { key: "path", by: "kind", words: &["artifact"] },
        Condition::PresentIff { key: "value", by: "kind", words: &["literal"] },
    ]
}

record! {
    /// How the artifact starts a server.
    pub Launch "How the artifact starts a server." {
        /// The arguments after the entry, in order.
        "args" args: req get List<LaunchArg>,
        /// The executable.
        "entry" entry: req path ListedPath,
        /// The declared environment.
        "env" env: req get Map<Box<str>>,
        /// The entry's worker.
        "worker" worker: opt path ListedPath,
    }
}

record! {
    /// An MCP App of a server.
    pub App "An MCP App of a server." {
        /// Its identity, `mcp-app:SERVER:APP`.
        "id" id: req text Text,
        /// Its name.
        "name" name: req text Text,
        /// The address of its resource.
        "resourceUri" resource_uri: req text Text,
        /// Its self-contained HTML.
        "path" path: opt path ListedPath,
        /// Whether a payload already serves it.
        "prebuilt" prebuilt: opt has True,
    }
    when [Condition::OneOf(&["path", "prebuilt"])]
    reserved ["client" = "the generated client and web environment of an app"]
}

record! {
    /// An MCP server that reaches a projection.
    pub McpServer "An MCP server that reaches a projection." {
        /// Its identity, `mcp:NAME`.
        "id" id: req text Text,
        /// Its name.
        "name" name: req text Text,
        /// How it is spoken to: `stdio`, `streamable-http`.
        "transport" transport: req text Text,
        /// How it comes to run.
        "kind" kind: req copy McpServerKind,
        /// The projections that carry it.
        "hosts" hosts: req get Hosts,
        /// How the artifact starts it, of a compiled or prebuilt server.
        "launch" launch: opt get Launch,
        /// Its apps by id.
        "apps" apps: req get Sorted<App>,
    }
    when [Condition::PresentIff { key: "launch", by: "kind", words: &["compiled", "prebuilt"] }]
}

words! {
    /// How a script came to be.
    ScriptMode {
        /// Compiled.
        Bundle = "bundle",
        /// Copied.
        Copy = "copy",
    }
}

record! {
    /// The route that a script renders.
    pub Rendered "The route that a script renders." {
        /// Its id.
        "routeId" route_id: req text Text,
    }
}

record! {
    /// An emitted script.
    pub Script "An emitted script." {
        /// The projections that carry it.
        "hosts" hosts: req get Hosts,
        /// Its identity, `script:NAME`.
        "id" id: req text Text,
        /// How it came to be.
        "mode" mode: req copy ScriptMode,
        /// Its name.
        "name" name: req text Text,
        /// The file.
        "path" path: req path ListedPath,
        /// The route it renders.
        "rendered" rendered: opt get Rendered,
        /// Its worker.
        "worker" worker: opt path ListedPath,
    }
}

record! {
    /// Every process that the artifact can start.
    pub Executables "Every process that the artifact can start." {
        /// The routed executables by name.
        "bins" bins: req get Sorted<Bin>,
        /// The hook wrappers by agent host and id.
        "hooks" hooks: req get Sorted<Hook>,
        /// The MCP servers by id.
        "mcpServers" mcp_servers: req get Sorted<McpServer>,
        /// The scripts by id.
        "scripts" scripts: req get Sorted<Script>,
    }
    reserved ["noticeDelivery" = "the notice delivery baked into compiled wrappers"]
}

macro_rules! sorted_by_text {
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

sorted_by_text!(Bin by "name" name, McpServer by "id" id, App by "id" id, Script by "id" id);

impl SortKey for Hook {
    const BY: &'static str = "host and id";

    /// Ids only count where the agent hosts are the same string, not merely equal in collation.
    fn compare(&self, other: &Self) -> Ordering {
        if self.host() == other.host() {
            collate(self.id(), other.id())
        } else {
            collate(self.host(), other.host())
        }
    }

    fn shown(&self) -> String {
        format!("{} {}", self.host(), self.id())
    }
}
