//! Where things are in the store, and making it.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use crate::StoreError;
use crate::config::Config;
use crate::key::file_key;

/// The store: a directory that may not exist yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    root: PathBuf,
}

impl Store {
    /// The store at `root`, an absolute path. Nothing is made; a directory that is there must be
    /// private to its user.
    pub fn at(root: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let store = Self { root: root.into() };
        match fs::symlink_metadata(&store.root) {
            Ok(_) => store.check_private()?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(StoreError::io(&store.root)(error)),
        }
        Ok(store)
    }

    /// Makes the directory with mode 0700, and those above it, if they are not there.
    pub fn create(&self) -> Result<(), StoreError> {
        if let Some(above) = self.root.parent() {
            fs::create_dir_all(above).map_err(StoreError::io(above))?;
        }
        make_private(&self.root)?;
        self.check_private()
    }

    fn check_private(&self) -> Result<(), StoreError> {
        let not_private = |why: String| StoreError::NotPrivate { path: self.root.clone(), why };
        let metadata = fs::metadata(&self.root).map_err(StoreError::io(&self.root))?;
        if !metadata.is_dir() {
            return Err(not_private("the store is not a directory".to_owned()));
        }
        let me = rustix::process::geteuid().as_raw();
        if metadata.uid() != me {
            return Err(not_private(format!("the store belongs to user {}", metadata.uid())));
        }
        if metadata.mode() & 0o022 != 0 {
            let mode = metadata.mode() & 0o7777;
            return Err(not_private(format!("others may write to the store (mode {mode:o})")));
        }
        Ok(())
    }

    /// The directory itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The settings; the defaults where there is no file.
    pub fn config(&self) -> Result<Config, StoreError> {
        let path = self.root.join("config.toml");
        match fs::read(&path) {
            Ok(bytes) => Config::parse(&path, &bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Config::default()),
            Err(error) => Err(StoreError::io(&path)(error)),
        }
    }

    /// The journal of an unfinished change.
    pub fn journal(&self) -> PathBuf {
        self.root.join("journal.json")
    }

    /// The directory of an installed app.
    pub fn app(&self, id: &str) -> PathBuf {
        self.root.join("apps").join(file_key(id))
    }

    /// The directory an app keeps its data in.
    pub fn app_data(&self, id: &str) -> PathBuf {
        self.root.join("app-data").join(file_key(id))
    }

    /// The copy of an artifact that agent hosts read, by plugin and content hash.
    pub fn artifact_root(&self, plugin: &str, content_hash: &str) -> PathBuf {
        self.root.join("roots").join(file_key(plugin)).join(content_hash)
    }

    /// Where what was replaced is kept, by a name of the caller.
    pub fn backup(&self, name: &str) -> PathBuf {
        self.root.join("backups").join(name)
    }

    /// What was fetched.
    pub fn cache(&self) -> PathBuf {
        self.root.join("cache")
    }
}

/// Makes one directory with mode 0700; one that is there is left as it is.
pub(crate) fn make_private(path: &Path) -> Result<(), StoreError> {
    match fs::DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(StoreError::io(path)(error)),
    }
}
