//! One lock for everything that changes.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use crate::{Store, StoreError};

/// The right to change the store, and what it stands for elsewhere, until it is dropped. The
/// operating system drops it too when the process ends, however it ends.
#[derive(Debug)]
pub struct StoreLock {
    _file: File,
}

/// How long another process is waited for in silence.
const SILENT: Duration = Duration::from_secs(1);

impl Store {
    /// Makes the store and waits for its lock. `waiting` is called once if that takes more than a
    /// second.
    pub fn lock(&self, waiting: impl FnOnce()) -> Result<StoreLock, StoreError> {
        self.create()?;
        let file = lock_file(&self.root().join("lock"), waiting)?;
        Ok(StoreLock { _file: file })
    }
}

/// Makes a file and waits for its lock, which lasts as long as the answer. `waiting` is called
/// once if that takes more than a second.
pub(crate) fn lock_file(path: &Path, waiting: impl FnOnce()) -> Result<File, StoreError> {
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
        .map_err(StoreError::io(path))?;
    let mut left = 20;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(StoreError::io(path)(error)),
            Err(TryLockError::WouldBlock) if left > 0 => {
                left -= 1;
                std::thread::sleep(SILENT / 20);
            }
            Err(TryLockError::WouldBlock) => break,
        }
    }
    waiting();
    file.lock().map_err(StoreError::io(path))?;
    Ok(file)
}
