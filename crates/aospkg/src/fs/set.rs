//! Sharing open packages: one file is opened once, whatever it is called.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::TarFileSystem;
use crate::error::PackageError;
use crate::file::{Identity, open_regular};
use crate::package::Package;

/// Open packages that are shared while somebody uses them.
///
/// Two paths, links or spellings of one file give one package; a copy of a file is another. The
/// set keeps nothing alive by itself. Different packages are opened in parallel; two openings of
/// one wait for each other and load it once.
#[derive(Debug, Default)]
pub struct PackageSet {
    slots: Mutex<HashMap<Identity, Arc<Slot>>>,
}

/// A package being used, or about to be.
type Slot = Mutex<Weak<Package>>;

impl PackageSet {
    /// An empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// The package of a file: the one already open, or a newly opened one.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Arc<Package>, PackageError> {
        let path = path.as_ref();
        let (file, identity) = open_regular(path).map_err(|error| error.file(path))?;
        let slot = {
            let mut slots = lock(&self.slots);
            if !slots.contains_key(&identity) {
                slots
                    .retain(|_, slot| Arc::strong_count(slot) > 1 || lock(slot).strong_count() > 0);
            }
            Arc::clone(slots.entry(identity).or_default())
        };
        let mut held = lock(&slot);
        if let Some(package) = held.upgrade() {
            return Ok(package);
        }
        let package = Arc::new(Package::load(file, identity, path)?);
        *held = Arc::downgrade(&package);
        Ok(package)
    }

    /// A directory of a package as a file system, the package shared.
    pub fn mount(&self, path: impl AsRef<Path>, root: &str) -> Result<TarFileSystem, PackageError> {
        TarFileSystem::new(self.open(path)?, root)
    }

    /// Number of packages that are in use.
    pub fn live(&self) -> usize {
        lock(&self.slots).values().filter(|slot| lock(slot).strong_count() > 0).count()
    }
}

/// A panic elsewhere leaves a weak reference at worst stale, never half-written.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
