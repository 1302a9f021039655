//! The table of agent hosts and the questions it answers.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use serde::Deserialize;

/// The data files, in the order in which hosts are listed: those with an artifact projection
/// first, then by name.
const DATA: &[&str] = &[
    include_str!("../data/claude.toml"),
    include_str!("../data/codex.toml"),
    include_str!("../data/cursor.toml"),
    include_str!("../data/amp.toml"),
    include_str!("../data/cline.toml"),
    include_str!("../data/copilot.toml"),
    include_str!("../data/droid.toml"),
    include_str!("../data/gemini.toml"),
    include_str!("../data/goose.toml"),
    include_str!("../data/hermes.toml"),
    include_str!("../data/kimi.toml"),
    include_str!("../data/kiro.toml"),
    include_str!("../data/opencode.toml"),
    include_str!("../data/roo.toml"),
    include_str!("../data/windsurf.toml"),
];

static HOSTS: LazyLock<Vec<AgentHost>> = LazyLock::new(|| {
    DATA.iter()
        .map(|text| {
            let data = toml_edit::de::from_str(text);
            AgentHost(data.unwrap_or_else(|error| panic!("built-in host data: {error}")))
        })
        .collect()
});

/// One agent host, as its data file describes it.
#[derive(Debug)]
pub struct AgentHost(Data);

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Data {
    id: String,
    name: String,
    #[serde(default)]
    aliases: Vec<String>,
    observed_version: String,
    program: Option<String>,
    home: Home,
    skills: Skills,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Home {
    variable: Option<String>,
    default: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Skills {
    user: Vec<String>,
    project: Vec<String>,
}

/// How far an install reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Every project of this user.
    User,
    /// One project, shared with whoever works on it.
    Project,
    /// One project, this user alone; hosts keep skills of both in the same directories.
    Local,
}

impl Scope {
    /// The word on the command line and in receipts.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        }
    }

    /// The scope with this word.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::User, Self::Project, Self::Local].into_iter().find(|scope| scope.as_str() == word)
    }
}

/// What of the environment decides where a host keeps things.
#[derive(Debug, Clone)]
pub struct HostEnv {
    home: PathBuf,
    variables: BTreeMap<String, OsString>,
}

impl HostEnv {
    /// An environment with a home directory and no variable set.
    pub fn new(home: impl Into<PathBuf>) -> Self {
        Self { home: home.into(), variables: BTreeMap::new() }
    }

    /// Sets a variable such as `CLAUDE_CONFIG_DIR`. An empty value counts as unset.
    #[must_use]
    pub fn with_var(mut self, name: &str, value: impl Into<OsString>) -> Self {
        let value = value.into();
        if !value.is_empty() {
            self.variables.insert(name.to_owned(), value);
        }
        self
    }

    /// The user's home directory.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// A variable, if it is set and not empty.
    pub fn var(&self, name: &str) -> Option<&OsString> {
        self.variables.get(name)
    }

    /// Names of the variables that any host's data looks at, for whoever reads the environment.
    pub fn variable_names() -> Vec<&'static str> {
        let mut names: Vec<_> =
            hosts().iter().filter_map(|host| host.0.home.variable.as_deref()).collect();
        names.push("XDG_CONFIG_HOME");
        names
    }

    /// `$XDG_CONFIG_HOME` if it is absolute, as its specification asks, else `~/.config`.
    fn config(&self) -> PathBuf {
        match self.variables.get("XDG_CONFIG_HOME").map(PathBuf::from) {
            Some(dir) if dir.is_absolute() => dir,
            _ => self.home.join(".config"),
        }
    }
}

/// The directories one host reads skills from in one scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillDirs {
    /// The one an install writes to.
    pub write: PathBuf,
    /// Further ones that the host reads too.
    pub also_reads: Vec<PathBuf>,
}

impl SkillDirs {
    /// All of them, the written one first.
    pub fn all(&self) -> impl Iterator<Item = &PathBuf> {
        std::iter::once(&self.write).chain(&self.also_reads)
    }
}

/// A name that no agent host has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is not an agent host")]
pub struct UnknownHost {
    /// What was asked for.
    pub name: String,
    /// Every known id, in the order of the table.
    pub known: Vec<&'static str>,
}

impl AgentHost {
    /// The id used on the command line, in manifests and receipts: `claude`.
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// The product's name: `Claude Code`.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Other ids that mean this host.
    pub fn aliases(&self) -> &[String] {
        &self.0.aliases
    }

    /// The version in which the facts of the data file were observed.
    pub fn observed_version(&self) -> &str {
        &self.0.observed_version
    }

    /// The host's command-line program, where it has one.
    pub fn program(&self) -> Option<&str> {
        self.0.program.as_deref()
    }

    /// The variable that moves the host's home directory.
    pub fn home_variable(&self) -> Option<&str> {
        self.0.home.variable.as_deref()
    }

    /// The directory in which the host keeps its own state, absolute if the user's home is.
    pub fn home_dir(&self, env: &HostEnv) -> PathBuf {
        let moved = self.0.home.variable.as_ref().and_then(|name| env.variables.get(name));
        match moved {
            Some(dir) => env.home.join(dir),
            None => expand(&self.0.home.default, env, Path::new("")),
        }
    }

    /// Whether the host's home directory is there, which is what being installed means here.
    pub fn is_detected(&self, env: &HostEnv) -> bool {
        self.home_dir(env).is_dir()
    }

    /// Where the host reads skills from (reference 6.3). `project` is the project directory.
    pub fn skill_dirs(&self, scope: Scope, env: &HostEnv, project: &Path) -> SkillDirs {
        let home = self.home_dir(env);
        let mut dirs: Vec<PathBuf> = match scope {
            Scope::User => self.0.skills.user.iter().map(|dir| expand(dir, env, &home)).collect(),
            Scope::Project | Scope::Local => {
                self.0.skills.project.iter().map(|dir| project.join(dir)).collect()
            }
        };
        let write = dirs.remove(0);
        SkillDirs { write, also_reads: dirs }
    }
}

fn expand(text: &str, env: &HostEnv, home: &Path) -> PathBuf {
    let (base, rest) = text.split_once('/').unwrap_or((text, ""));
    match base {
        "~" => env.home.join(rest),
        "{config}" => env.config().join(rest),
        "{home}" => home.join(rest),
        _ => PathBuf::from(text),
    }
}

/// Every known agent host.
pub fn hosts() -> &'static [AgentHost] {
    &HOSTS
}

/// The host with this id or alias.
pub fn find(name: &str) -> Result<&'static AgentHost, UnknownHost> {
    let known = |host: &&AgentHost| host.id() == name || host.aliases().iter().any(|a| a == name);
    hosts().iter().find(known).ok_or_else(|| UnknownHost {
        name: name.to_owned(),
        known: hosts().iter().map(AgentHost::id).collect(),
    })
}

/// The hosts that are installed, in the order of the table.
pub fn detected(env: &HostEnv) -> Vec<&'static AgentHost> {
    hosts().iter().filter(|host| host.is_detected(env)).collect()
}

/// The hosts that read skills from `dir`, whichever of their directories it is. Paths are compared
/// after links are followed where they exist, so that two names of one directory are one.
pub fn readers_of(
    dir: &Path,
    scope: Scope,
    env: &HostEnv,
    project: &Path,
) -> Vec<&'static AgentHost> {
    let wanted = real(dir);
    let reads = |host: &&AgentHost| {
        host.skill_dirs(scope, env, project).all().any(|candidate| real(candidate) == wanted)
    };
    hosts().iter().filter(reads).collect()
}

/// The path with the links of its longest existing part followed, so that a directory that is yet
/// to be made compares equal under every name of its parents.
fn real(path: &Path) -> PathBuf {
    let mut missing = Vec::new();
    let mut here = path;
    loop {
        if let Ok(found) = here.canonicalize() {
            return missing.iter().rev().fold(found, |at, part: &Component<'_>| at.join(part));
        }
        match (here.components().next_back(), here.parent()) {
            (Some(last), Some(parent)) => {
                missing.push(last);
                here = parent;
            }
            _ => return path.to_path_buf(),
        }
    }
}
