//! What a command is going to change, as a value: to be shown, compared and then applied.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use holdall_tree::stage::Modes;
use holdall_tree::{Digest, Tree};

/// What stands at a place when the plan is made. It must still stand there when it is applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// Nothing.
    Nothing,
    /// A directory with this tree hash.
    Tree(Digest),
    /// A file with this SHA-256.
    File(Digest),
}

/// A tree to be copied to a place.
#[derive(Debug, Clone)]
pub struct NewTree {
    /// Where it is read from.
    pub tree: Arc<dyn Tree>,
    /// How its permission bits are taken over.
    pub modes: Modes,
    /// The tree hash that the copy must have.
    pub digest: Digest,
}

impl PartialEq for NewTree {
    /// Two trees of one digest are one.
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest && self.modes == other.modes
    }
}

/// One step.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Make a directory that is not there.
    MakeDir {
        /// Absolute.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// Put a directory in its place, whole, instead of what was found there.
    PlaceTree {
        /// Absolute.
        dest: PathBuf,
        /// An existing directory on the same file system in which it is staged.
        staging: PathBuf,
        /// What is put there.
        new: NewTree,
        /// What is there.
        found: Found,
    },
    /// Put a file in its place.
    PlaceFile {
        /// Absolute.
        dest: PathBuf,
        /// An existing directory on the same file system in which it is staged.
        staging: PathBuf,
        /// What is put there.
        bytes: Vec<u8>,
        /// Its permission bits.
        mode: u32,
        /// What is there.
        found: Found,
    },
    /// Take away what was found.
    Remove {
        /// Absolute.
        dest: PathBuf,
        /// An existing directory on the same file system in which it waits for the commit.
        staging: PathBuf,
        /// What is there.
        found: Found,
    },
    /// Remove a directory that an earlier install made, if nothing is left in it.
    RemoveEmptyDir {
        /// Absolute.
        path: PathBuf,
    },
    /// Run a program, and how to take that back.
    Run {
        /// The program and its arguments.
        command: Command,
        /// What is run if a later step fails.
        undo: Option<Command>,
    },
}

/// A program to run, without a shell.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// Absolute.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Its working directory.
    pub directory: PathBuf,
}

impl Step {
    /// The place it changes.
    pub fn place(&self) -> Option<&Path> {
        match self {
            Self::MakeDir { path, .. } | Self::RemoveEmptyDir { path } => Some(path),
            Self::PlaceTree { dest, .. }
            | Self::PlaceFile { dest, .. }
            | Self::Remove { dest, .. } => Some(dest),
            Self::Run { .. } => None,
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MakeDir { path, .. } => write!(f, "make {}", path.display()),
            Self::PlaceTree { dest, found, new, .. } => {
                let verb = if *found == Found::Nothing { "create" } else { "replace" };
                write!(f, "{verb} {} ({})", dest.display(), new.digest)
            }
            Self::PlaceFile { dest, found, .. } => {
                let verb = if *found == Found::Nothing { "write" } else { "rewrite" };
                write!(f, "{verb} {}", dest.display())
            }
            Self::Remove { dest, .. } => write!(f, "remove {}", dest.display()),
            Self::RemoveEmptyDir { path } => write!(f, "remove {} if empty", path.display()),
            Self::Run { command, .. } => {
                write!(f, "run {} {}", command.program.display(), command.arguments.join(" "))
            }
        }
    }
}

/// Steps in the order in which they are applied; all of them or none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    steps: Vec<Step>,
}

impl Plan {
    /// A plan that changes nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a step behind the others. Steps of one place must be put together by the caller.
    pub fn push(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// Adds the steps that make `path` and what is missing above it, and says which those are,
    /// outermost first. What an earlier step makes is not made twice.
    pub fn make_dirs(&mut self, path: &Path, mode: u32) -> Vec<PathBuf> {
        let mut missing: Vec<PathBuf> = path
            .ancestors()
            .take_while(|dir| !dir.as_os_str().is_empty() && !dir.is_dir() && !self.makes(dir))
            .map(Path::to_path_buf)
            .collect();
        missing.reverse();
        for path in &missing {
            self.push(Step::MakeDir { path: path.clone(), mode });
        }
        missing
    }

    fn makes(&self, path: &Path) -> bool {
        self.steps
            .iter()
            .any(|step| matches!(step, Step::MakeDir { path: made, .. } if made == path))
    }

    /// The steps.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.steps.iter().try_for_each(|step| writeln!(f, "{step}"))
    }
}
