//! Writing the few files that commands write themselves: reports, manual pages. Each appears
//! whole or not at all.

use std::io;
use std::path::Path;

use holdall_diagnostics::Diagnostic;
use holdall_tree::stage::{Place, StageError, write_file};

use crate::codes;
use crate::outcome::Failure;

/// Creates a directory and those above it.
pub(crate) fn create_dir(path: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(path).map_err(|error| cannot_write(path, &error))
}

/// Puts a file in place of a file that stands there: staged beside it, synced, renamed.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let written = Place::at(path).and_then(|place| write_file(place, bytes, 0o644));
    written.map_err(|error| cannot_stage(path, &error))
}

/// Removes what interrupted runs left half-written in the directory of `path`. Whether it can be
/// written to at all is for the writing itself to find out.
pub(crate) fn sweep(path: &Path) {
    let _ = Place::at(path).and_then(|place| place.sweep());
}

/// The finding for a file that cannot be written.
pub(crate) fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    cannot_stage(path, &StageError::from_io(path, error))
}

/// The same of a stage.
pub(crate) fn cannot_stage(path: &Path, error: &StageError) -> Failure {
    Diagnostic::new(&codes::OUTPUT, error.told()).at(path.display().to_string()).into()
}
