//! Writing the few files that commands write themselves: reports, manual pages. Each appears
//! whole or not at all.

use std::io::{self, Write};
use std::path::Path;

use holdall_diagnostics::Diagnostic;

use crate::codes;
use crate::outcome::Failure;

/// Creates a directory and those above it.
pub(crate) fn create_dir(path: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(path).map_err(|error| cannot_write(path, &error))
}

/// Puts a file in place of what stands there: staged beside it, synced, renamed.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let write = || -> io::Result<()> {
        let directory = path.parent().filter(|dir| !dir.as_os_str().is_empty());
        let mut staged = tempfile::Builder::new()
            .prefix(".holdall-")
            .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))
            .tempfile_in(directory.unwrap_or(Path::new(".")))?;
        staged.write_all(bytes)?;
        staged.as_file().sync_all()?;
        staged.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(|error| cannot_write(path, &error))
}

/// The finding for a file that cannot be written.
pub(crate) fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Diagnostic::new(&codes::OUTPUT, error.to_string()).at(path.display().to_string()).into()
}
