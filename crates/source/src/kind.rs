//! What a source is, told from the files at its root.

use std::fmt;
use std::str::FromStr;

use holdall_tree::{EntryName, FileKind, Tree, TreeError, TreeErrorKind, TreePath};

/// What a source is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A package, or a directory with `agentos-package.json`.
    Package,
    /// A directory with `PACK.md` at its root.
    Pack,
    /// A directory with `APP.md` or `.agentproto/APP.md`, or an `.agentapp`.
    App,
    /// A directory with `SKILL.md`.
    Skill,
    /// A directory with `skills/*/SKILL.md`.
    Skills,
    /// A directory topped by `agent-bundle.manifest.json`.
    Artifact,
    /// An author's source tree with `agent-bundle.config.*`.
    Project,
}

/// A word that names no kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no kind of source; the kinds are {kinds}", kinds = Kind::ALL.map(Kind::as_str).join(", "))]
pub struct UnknownKind(pub String);

impl Kind {
    /// All kinds, in the order in which help lists them.
    pub const ALL: [Self; 7] = [
        Self::Package,
        Self::Pack,
        Self::App,
        Self::Skill,
        Self::Skills,
        Self::Artifact,
        Self::Project,
    ];

    /// The order in which [`detect`] looks. A pack may hold skills and a package's description,
    /// so what holds more comes first.
    const DETECTION: [Self; 7] = [
        Self::Artifact,
        Self::Pack,
        Self::App,
        Self::Project,
        Self::Skill,
        Self::Skills,
        Self::Package,
    ];

    /// The word for it in every output and for `--kind`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Package => "package",
            Self::Pack => "pack",
            Self::App => "app",
            Self::Skill => "skill",
            Self::Skills => "skills",
            Self::Artifact => "artifact",
            Self::Project => "project",
        }
    }

    /// Whether the files that make a source of this kind are at the root of `tree`.
    ///
    /// A document counts by its name alone, also where it is a link, a directory or a named pipe:
    /// whoever reads it says what is wrong with that, and the pack that it makes unreadable is not
    /// taken for an unknown directory. Errors other than an absent file are passed on: a directory
    /// that cannot be read is not "nothing".
    pub fn is_at_root(self, tree: &dyn Tree) -> Result<bool, TreeError> {
        match self {
            Self::Artifact => is_there(tree, "agent-bundle.manifest.json"),
            Self::Pack => is_there(tree, "PACK.md"),
            Self::App => Ok(is_there(tree, "APP.md")? || is_there(tree, ".agentproto/APP.md")?),
            Self::Project => has_config(tree),
            Self::Skill => is_there(tree, "SKILL.md"),
            Self::Skills => has_skills(tree),
            Self::Package => is_file(tree, "agentos-package.json"),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(word: &str) -> Result<Self, UnknownKind> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.as_str() == word)
            .ok_or_else(|| UnknownKind(word.to_owned()))
    }
}

/// What is at the root of `tree`, by its files alone; `None` if nothing known is there. The tree
/// inside a package has no file that says "package": the caller knows what it opened.
pub fn detect(tree: &dyn Tree) -> Result<Option<Kind>, TreeError> {
    for kind in Kind::DETECTION {
        if kind.is_at_root(tree)? {
            return Ok(Some(kind));
        }
    }
    Ok(None)
}

/// What `path`, which is a constant of this module, is, if it is there.
fn kind_of(tree: &dyn Tree, path: &str) -> Result<Option<FileKind>, TreeError> {
    let Ok(path) = TreePath::new(path) else { return Ok(None) };
    match tree.metadata(&path) {
        Ok(metadata) => Ok(Some(metadata.kind)),
        Err(error) => absent(error).map(|()| None),
    }
}

fn is_there(tree: &dyn Tree, path: &str) -> Result<bool, TreeError> {
    Ok(kind_of(tree, path)?.is_some())
}

fn is_file(tree: &dyn Tree, path: &str) -> Result<bool, TreeError> {
    Ok(kind_of(tree, path)? == Some(FileKind::File))
}

fn has_config(tree: &dyn Tree) -> Result<bool, TreeError> {
    let entries = tree.read_dir(&TreePath::root())?;
    Ok(entries.iter().any(|entry| {
        entry.kind == FileKind::File
            && matches!(&entry.name, EntryName::Utf8(name) if name.starts_with("agent-bundle.config."))
    }))
}

fn has_skills(tree: &dyn Tree) -> Result<bool, TreeError> {
    let Ok(skills) = TreePath::new("skills") else { return Ok(false) };
    let entries = match tree.read_dir(&skills) {
        Ok(entries) => entries,
        Err(error) => return absent(error).map(|()| false),
    };
    for entry in entries {
        if let (FileKind::Directory, EntryName::Utf8(name)) = (entry.kind, &entry.name)
            && is_file(tree, &format!("skills/{name}/SKILL.md"))?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Lets "it is not there" pass, and a link or file where a directory would have to be.
fn absent(error: TreeError) -> Result<(), TreeError> {
    match error.kind {
        TreeErrorKind::NotFound
        | TreeErrorKind::NotADirectory
        | TreeErrorKind::WrongKind
        | TreeErrorKind::TooManyLinks
        | TreeErrorKind::Escapes => Ok(()),
        _ => Err(error),
    }
}
