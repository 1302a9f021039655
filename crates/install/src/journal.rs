//! The journal of an unfinished change.
//!
//! It is written before the first step and says everything that is needed to take the change back,
//! or, after the commit mark, to tidy up behind it. It lies in the store, so it is found by the
//! next command, whatever directory that runs in.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use holdall_store::{Store, StoreError, canonical};
use holdall_tree::stage::{Place, write_file};
use serde::{Deserialize, Serialize};

use crate::plan::Command;

/// The only format that is read and written.
pub(crate) const FORMAT: &str = "holdall-journal/1";

/// An unfinished change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Journal {
    pub(crate) format: String,
    /// Whether every step was done. From then on the change stands.
    pub(crate) committed: bool,
    pub(crate) moves: Vec<Move>,
}

/// What one step does to the file system, in terms of paths that say how far it got.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Move {
    /// A directory that was not there.
    Make { path: PathBuf },
    /// `new` takes the place `dest`; what stood there waits at `old`.
    Place {
        dest: PathBuf,
        new: PathBuf,
        old: PathBuf,
        /// Whether something stood there.
        had: bool,
        /// The digest of what takes the place.
        digest: String,
    },
    /// What stands at `dest` waits at `old`.
    Remove { dest: PathBuf, old: PathBuf },
    /// A directory that is removed after the commit if nothing is left in it.
    Prune { path: PathBuf },
    /// A program. `started` is written before it runs.
    Run { undo: Option<Command>, started: bool },
}

impl Journal {
    /// The unfinished change of a store, if there is one.
    pub(crate) fn read(store: &Store) -> Result<Option<Self>, StoreError> {
        let path = store.journal();
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(StoreError::Io { path, source }),
        };
        let corrupt = |why: String| StoreError::Corrupt { path: path.clone(), why };
        let journal: Self = serde_json::from_slice(&bytes)
            .map_err(|error| corrupt(format!("the journal cannot be read: {error}")))?;
        if journal.format != FORMAT {
            return Err(corrupt(format!("the journal has the format `{}`", journal.format)));
        }
        Ok(Some(journal))
    }

    /// Makes what it says durable.
    pub(crate) fn write(&self, store: &Store) -> Result<(), StoreError> {
        Ok(write_file(Place::at(&store.journal())?, &canonical(self), 0o600)?)
    }

    /// Ends the change.
    pub(crate) fn remove(store: &Store) -> Result<(), StoreError> {
        let path = store.journal();
        fs::remove_file(&path).map_err(|source| StoreError::Io { path: path.clone(), source })?;
        sync_directory(store.root())
    }
}

/// Makes changes of names in a directory durable.
pub(crate) fn sync_directory(path: &Path) -> Result<(), StoreError> {
    let error = |source| StoreError::Io { path: path.to_owned(), source };
    fs::File::open(path).and_then(|directory| directory.sync_all()).map_err(error)
}
