//! What a package says about itself: one model over both format versions.
//!
//! Version 2 is version 1 without [`PackageManifest::agent`] and
//! [`PackageManifest::snapshot_bundle_path`]; [`PackageManifest::losses`] tells what a version
//! cannot hold. These are plain facts as read: whether names and paths make sense is for
//! `oddities` to say, since published packages have to be readable whatever they say.

use std::fmt;

use crate::format::{EntryKind, Version};

/// The manifest chunk.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PackageManifest {
    /// Package name; names the directory `/opt/agentos/pkgs/NAME`.
    pub name: String,
    /// Package version; names the directory below it.
    pub version: String,
    /// Present for packages that can be launched as an agent; format version 1 only.
    pub agent: Option<AgentBlock>,
    /// What the package gives to the whole guest; an empty block is not the same as none.
    pub provides: Option<ProvidesBlock>,
    /// Commands linked into the guest's path.
    pub commands: Vec<CommandTarget>,
    /// Man pages below `/share/man`.
    pub man_pages: Vec<ManPage>,
    /// The prebuilt snapshot bundle, a path from the mount's root; format version 1 only.
    pub snapshot_bundle_path: Option<String>,
}

/// Agent metadata (format version 1).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentBlock {
    /// The command that speaks ACP on its standard streams.
    pub acp_entrypoint: String,
    /// Whether a snapshot bundle is shipped.
    pub snapshot: bool,
    /// Environment of the agent process.
    pub env: StringMap,
    /// Arguments in front of the caller's.
    pub launch_args: Vec<String>,
}

/// Environment and directories for the whole guest.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProvidesBlock {
    /// Guest-wide environment defaults; the first package that sets a key wins.
    pub env: StringMap,
    /// Directories mounted at fixed guest paths.
    pub files: Vec<ProvidesFile>,
}

/// A directory of the package shown at a fixed guest path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProvidesFile {
    /// Directory in the package.
    pub source: String,
    /// Absolute guest path.
    pub target: String,
}

/// A command and the file it runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommandTarget {
    /// What the guest types.
    pub command: String,
    /// The executable, relative to the mount's root.
    pub entry: String,
}

/// A man page, `/share/man/SECTION/PAGE` in the mount.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ManPage {
    /// Section directory, `man1`.
    pub section: String,
    /// File in it, `jq.1`.
    pub page: String,
}

/// A `map<str><str>`: keys are unique, and the order they were read in is kept beside the sorted
/// one, since the format defines none and every packer writes another.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StringMap(Vec<(String, String)>);

impl StringMap {
    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(have, _)| have == key).map(|(_, value)| value.as_str())
    }

    /// Pairs in the order they were read or inserted.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// Pairs sorted by the keys' bytes: the canonical order.
    pub fn sorted(&self) -> Vec<(&str, &str)> {
        let mut pairs: Vec<_> = self.iter().collect();
        pairs.sort_unstable();
        pairs
    }

    /// Whether the kept order is the canonical one.
    pub fn is_sorted(&self) -> bool {
        self.0.is_sorted_by(|a, b| a.0 < b.0)
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for StringMap {
    /// The last value of a key given twice wins, at the place of the first.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        let pairs = pairs.into_iter().map(|(key, value)| (key.into(), value.into()));
        let mut all: Vec<(String, String)> = pairs.collect();
        let again = repeated(&all);
        if again.is_empty() {
            return Self(all);
        }
        for (first, at) in &again {
            all[*first as usize].1 = std::mem::take(&mut all[*at as usize].1);
        }
        let mut at = 0;
        all.retain(|_| {
            at += 1;
            again.binary_search_by_key(&(at - 1), |(_, again)| *again).is_err()
        });
        Self(all)
    }
}

/// Pairs whose key stood before, ascending: where it stood first, and where it stands again. By
/// sorting, since a set of the keys would be larger than they are.
pub(crate) fn repeated<K: Ord, V>(pairs: &[(K, V)]) -> Vec<(u32, u32)> {
    let mut order: Vec<u32> = (0..pairs.len() as u32).collect();
    order.sort_by_key(|at| &pairs[*at as usize].0);
    let mut again = Vec::new();
    // Sorting keeps the order of equal keys: the first of a run is the first of all.
    for run in order.chunk_by(|one, two| pairs[*one as usize].0 == pairs[*two as usize].0) {
        again.extend(run[1..].iter().map(|at| (run[0], *at)));
    }
    again.sort_unstable_by_key(|(_, at)| *at);
    again
}

/// A fact of a manifest that a format version has no place for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Loss {
    /// The whole agent block, with its entrypoint.
    Agent(String),
    /// The path of the snapshot bundle.
    SnapshotBundlePath(String),
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Agent(entrypoint) => {
                write!(
                    f,
                    "the agent block (entrypoint `{entrypoint}`, its environment and arguments)"
                )
            }
            Self::SnapshotBundlePath(path) => write!(f, "the snapshot bundle path `{path}`"),
        }
    }
}

impl PackageManifest {
    /// What would be lost by writing this manifest in `version`.
    pub fn losses(&self, version: Version) -> Vec<Loss> {
        if version.has_agent() {
            return Vec::new();
        }
        let agent = self.agent.as_ref().map(|agent| Loss::Agent(agent.acp_entrypoint.clone()));
        let snapshot = self.snapshot_bundle_path.clone().map(Loss::SnapshotBundlePath);
        agent.into_iter().chain(snapshot).collect()
    }

    /// The same manifest without what `version` cannot hold.
    #[must_use]
    pub fn reduced_to(mut self, version: Version) -> Self {
        if !version.has_agent() {
            self.agent = None;
            self.snapshot_bundle_path = None;
        }
        self
    }

    /// The maps of the manifest, each with the words for where it stands.
    pub fn maps(&self) -> impl Iterator<Item = (&'static str, &StringMap)> {
        let agent = self.agent.iter().map(|agent| ("agent.env", &agent.env));
        agent.chain(self.provides.iter().map(|provides| ("provides.env", &provides.env)))
    }
}

/// One row of the index, `TarEntry`. Borrowed: a reader's rows point into the index chunk, a
/// writer's into its own names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TarEntry<'a> {
    /// Absolute path in the mount, `/bin/jq`.
    pub path: &'a str,
    /// File, directory or link.
    pub kind: EntryKind,
    /// Where a file's bytes begin, from the start of the mount. 0 in canonical form for others.
    pub offset: u64,
    /// Bytes of a file. 0 in canonical form for others.
    pub size: u64,
    /// Type and permission bits, shown by stat as they are.
    pub mode: u32,
    /// Owner shown by stat.
    pub uid: u32,
    /// Group shown by stat.
    pub gid: u32,
    /// Modification time in Unix seconds.
    pub mtime: i64,
    /// A link's target, verbatim.
    pub link_target: Option<&'a str>,
}
