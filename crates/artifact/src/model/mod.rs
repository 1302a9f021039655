//! The document: one type for each object of section 1 of the format.
//!
//! Every type is closed (exactly its documented keys) and immutable, and can only come out of
//! [`crate::parse_artifact_manifest`], so a value that exists obeys every rule.

mod compiler;
mod distribution;
mod executables;
mod routes;
mod schema_types;

use std::cmp::Ordering;

pub use compiler::{
    Adapter, AdapterSchema, AgentSkills, Compiler, HostStatus, NodeVersion, PackageName,
    PackageVersion, Passed, PassedStatus, Producer, ProducerName, Project, Provenance, SourceInput,
    Validation,
};
pub use distribution::{
    Channels, Consent, Distribution, Install, OpenBrowser, Payload, Web, WebApp,
};
pub use executables::{
    App, Bin, Executables, Hook, HookKind, Launch, LaunchArg, LaunchArgKind, McpServer,
    McpServerKind, Rendered, Script, ScriptMode,
};
pub use routes::{
    Cli, CliCommand, CliMode, CliOption, CliProjection, CommandMcp, Contract, ContractOrigin,
    Execution, ExecutionRuntime, ExitCode, Fallback, InputFormat, Layout, LayoutScope, OptionKind,
    Provenience, ProvenienceKind, Provider, Route, RouteKind, Routes, ServerMode, ServerRoutes,
};
pub use schema_types::{
    InputSchema, ItemSchema, ItemType, NoExtra, ObjectType, PropertySchema, PropertyType,
};

use crate::collate::collate;
use crate::containers::{SortKey, Sorted};
use crate::fields::{Integer, MAX_SAFE, Owned, Path, Relocatable, Sha256, Text, Version, words};
use crate::record::record;

pub(crate) type Uint = Integer<0, MAX_SAFE>;
pub(crate) type ListedPath = Path<Relocatable>;

words! {
    /// Where a file of an artifact comes from.
    FileKind {
        /// A compiled entry.
        Bundle = "bundle",
        /// A byte-for-byte copy.
        Copy = "copy",
        /// A document that the compiler wrote.
        Generated = "generated",
        /// A file of a prebuilt payload.
        Prebuilt = "prebuilt",
    }
}

words! {
    /// An adapter that the producing tool ships, by its identity.
    BuiltInHost {
        /// Amp
        Amp = "amp",
        /// Claude Code
        Claude = "claude",
        /// Codex
        Codex = "codex",
        /// Cursor
        Cursor = "cursor",
        /// Agent Plugins 1.0.0
        Portable = "portable",
    }
}

record! {
    /// The identity of the application, the same for every agent host.
    pub Application "The identity of the application, the same for every agent host." {
        /// Identity of the plugin, `plugin:NAME` by convention.
        "id" id: req text Text,
        /// The plugin's name.
        "name" name: req text Text,
        /// The plugin's version.
        "version" version: req text Text,
        /// The plugin's description.
        "description" description: opt text Text,
    }
}

record! {
    /// One file of the artifact.
    pub FileRow "One file of the artifact." {
        /// Size in bytes.
        "bytes" bytes: req number Uint,
        /// Where it comes from.
        "kind" kind: req copy FileKind,
        /// Permission bits, at most `0o777`. Absent means: not executable.
        "mode" mode: opt number Integer<0, 511>,
        /// Where it lies under the root.
        "path" path: req path Path<Owned>,
        /// Digest of its content.
        "sha256" sha256: req copy Sha256,
    }
}

impl FileRow {
    /// Whether its mode has an execute bit; without a mode it has none.
    pub fn executable(&self) -> bool {
        self.mode().is_some_and(|mode| mode & 0o111 != 0)
    }
}

impl SortKey for FileRow {
    const BY: &'static str = "path";

    fn compare(&self, other: &Self) -> Ordering {
        collate(self.path().as_str(), other.path().as_str())
    }

    fn shown(&self) -> String {
        self.path().to_string()
    }
}

record! {
    /// The documents that a host projection emitted.
    pub Documents "Pointers to the documents that a projection emitted." {
        /// An executable plugin entry, where the agent host has no manifest of its own.
        "entry" entry: opt path ListedPath,
        /// The agent host's hooks document.
        "hooks" hooks: opt path ListedPath,
        /// The marketplace document.
        "marketplace" marketplace: opt path ListedPath,
        /// The agent host's MCP document.
        "mcp" mcp: opt path ListedPath,
        /// The agent host's plugin manifest.
        "plugin" plugin: opt path ListedPath,
    }
}

impl Documents {
    /// The documents that are there, each with its key, sorted by key.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &holdall_tree::TreePath)> {
        [
            ("entry", self.entry()),
            ("hooks", self.hooks()),
            ("marketplace", self.marketplace()),
            ("mcp", self.mcp()),
            ("plugin", self.plugin()),
        ]
        .into_iter()
        .filter_map(|(key, path)| Some((key, path?)))
    }
}

record! {
    /// A marketplace that a projection's document registers.
    pub Marketplace "A marketplace that the marketplace document registers." {
        /// Its name.
        "name" name: req text Text,
    }
}

record! {
    /// One agent host that the artifact was built for.
    pub Projection "One agent host that the artifact was built for." {
        /// The name under which the project selected it.
        "host" host: req text Text,
        /// The shipped adapter that planned it; consumers choose by this and not by `host`.
        "builtInHost" built_in_host: opt copy BuiltInHost,
        /// The documents it emitted.
        "documents" documents: req get Documents,
        /// The marketplace its document registers.
        "marketplace" marketplace: opt get Marketplace,
    }
    reserved ["components" = "the component accounting of an agent host"]
}

impl SortKey for Projection {
    const BY: &'static str = "host";

    fn compare(&self, other: &Self) -> Ordering {
        collate(self.host(), other.host())
    }

    fn shown(&self) -> String {
        self.host().to_owned()
    }
}

record! {
    /// What the generated executables need to run.
    pub Runtime "What the generated executables need to run." {
        /// The least Node.js version, `major.minor.patch`.
        "node" node: req get NodeVersion,
    }
}

record! {
    /// The root of the document.
    pub(crate) ManifestBody "The index of a composite plugin root." {
        "application" application: req get Application,
        "compiler" compiler: req get Compiler,
        "distribution" distribution: req get Distribution,
        "executables" executables: req get Executables,
        "files" files: req get Sorted<FileRow>,
        "manifestVersion" manifest_version: req hidden Version<6, false>,
        "projections" projections: req get Sorted<Projection>,
        "routes" routes: req get Routes,
        "runtime" runtime: req get Runtime,
        "web" web: opt get Web,
    }
}
