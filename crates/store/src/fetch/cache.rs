//! The cache: what was fetched, named by digest, commit or version, and checked before every use.
//!
//! ```text
//! sha256/HEX.aospkg             files, by the digest of their bytes
//! https/KEY.json                which digest an address had when it was last asked
//! git/KEY/COMMIT/               record.json and tree/, a checkout without `.git`
//! npm/KEY/VERSION/              record.json and tree/, an unpacked package
//! locks/ stages/                one lock an address; what is being written
//! ```
//!
//! A key is made of the whole address, so that one address never answers for another. What stands
//! at its place is complete; everything half-written is below `stages/` and goes away with the
//! next fetch after its process has ended.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use holdall_tree::stage::{Place, StagedDir, clean, write_file};
use holdall_tree::{
    Algorithm, Digest, DirTree, HashOptions, Tree as _, TreeErrorKind, TreePath, sha256_file,
    tree_hash,
};
use serde::{Deserialize, Serialize};

use crate::layout::make_private;
use crate::lock::lock_file;
use crate::records::canonical;
use crate::{Store, StoreError, file_key};

/// Name of a record beside a tree.
const RECORD: &str = "record.json";
/// Name of the tree beside its record.
const TREE: &str = "tree";

/// What is known of a cached tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct TreeRecord {
    /// The address without its pin.
    pub(super) address: String,
    /// The commit or version.
    pub(super) pin: String,
    /// `holdall-tree/v1` of the tree.
    pub(super) tree: String,
    /// What the registry says of the tarball, in the form of Subresource Integrity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) integrity: Option<String>,
}

/// What an address had when it was last asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct AddressRecord {
    /// The address.
    pub(super) address: String,
    /// The SHA-256 of the file, in hex.
    pub(super) sha256: String,
    /// The server's name for these bytes, to ask whether they are still the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) etag: Option<String>,
    /// When it was asked, in nanoseconds since 1970 as a decimal number; tells two answers apart.
    pub(super) asked: String,
}

/// What lies at a place of the cache.
#[derive(Debug)]
pub(super) enum Cached<T> {
    /// Nothing.
    Absent,
    /// What was put there.
    Good(T),
    /// Something else; a lower-case fragment says what.
    Changed(String),
}

/// The cache of a store.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cache<'a>(pub(super) &'a Store);

/// A directory of its own for a child or a download; dropped, it is gone.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) staged: StagedDir,
    pub(super) path: PathBuf,
}

impl Cache<'_> {
    /// A path below the cache, which may not exist.
    fn path(self, parts: &[&str]) -> PathBuf {
        let mut path = self.0.cache();
        path.extend(parts);
        path
    }

    /// The place of a file with this digest.
    pub(super) fn file(self, digest: &Digest, ending: &str) -> PathBuf {
        self.path(&["sha256", &format!("{}.{ending}", digest.hex())])
    }

    /// The place of a tree.
    pub(super) fn tree(self, kind: &str, address: &str, pin: &str) -> PathBuf {
        self.path(&[kind, &file_key(address), pin])
    }

    /// Makes the directory in which `place` is, private to the user.
    fn make_parent(self, place: &Path) -> Result<(), StoreError> {
        self.0.create()?;
        let root = self.0.cache();
        let below = place.parent().and_then(|parent| parent.strip_prefix(&root).ok());
        let mut directory = root.clone();
        make_private(&directory)?;
        for part in below.into_iter().flatten() {
            directory.push(part);
            make_private(&directory)?;
        }
        Ok(())
    }

    /// Waits for whoever fetches the same, and cleans up after those who ended in the middle.
    pub(super) fn lock(self, address: &str, waiting: impl FnOnce()) -> Result<File, StoreError> {
        let path = self.path(&["locks", &file_key(address)]);
        self.make_parent(&path)?;
        let lock = lock_file(&path, waiting)?;
        let stages = self.stages()?;
        let _alone = self.lock_stages()?;
        // What a child of a killed process still writes to goes away the next time.
        let _ = clean(&stages, &self.path(&["stages"]), &|_| false);
        Ok(lock)
    }

    /// A stage is only safe from being cleaned away once its maker has locked it, so that nobody
    /// may clean between the two.
    fn lock_stages(self) -> Result<File, StoreError> {
        lock_file(&self.path(&["locks", ".stages"]), || {})
    }

    fn stages(self) -> Result<DirTree, StoreError> {
        let path = self.path(&["stages"]);
        self.make_parent(&path)?;
        make_private(&path)?;
        DirTree::open(&path).map_err(|error| StoreError::io(&path)(io::Error::other(error)))
    }

    /// Begins a directory that may take `place` later.
    pub(super) fn stage(self, place: &Path) -> Result<Stage, StoreError> {
        self.make_parent(place)?;
        let _alone = self.lock_stages()?;
        let staged = StagedDir::within(&self.stages()?, Place::at(place)?, 0o700)?;
        let mut path = self.path(&["stages"]).join(staged.temp_name());
        if !path.exists() {
            path = place.with_file_name(staged.temp_name());
        }
        Ok(Stage { staged, path })
    }

    /// Begins a directory that is only worked in.
    pub(super) fn scratch(self) -> Result<Stage, StoreError> {
        self.stage(&self.path(&["stages", "none"]))
    }

    /// Moves a complete file to its place.
    pub(super) fn put_file(self, file: &File, at: &Path, place: &Path) -> Result<(), StoreError> {
        self.make_parent(place)?;
        file.sync_all().map_err(StoreError::io(at))?;
        fs::rename(at, place).map_err(StoreError::io(place))?;
        let directory = place.parent().unwrap_or(Path::new("/"));
        File::open(directory)
            .and_then(|directory| directory.sync_all())
            .map_err(StoreError::io(directory))
    }

    /// What an address had when it was last asked; a record that does not fit counts as none,
    /// because it can be made again.
    pub(super) fn address(self, address: &str) -> Option<AddressRecord> {
        let bytes = fs::read(self.address_path(address)).ok()?;
        let record: AddressRecord = serde_json::from_slice(&bytes).ok()?;
        (record.address == address).then_some(record)
    }

    /// Remembers what an address has.
    pub(super) fn put_address(self, record: &AddressRecord) -> Result<(), StoreError> {
        let path = self.address_path(&record.address);
        self.make_parent(&path)?;
        Ok(write_file(Place::at(&path)?, &canonical(record), 0o600)?)
    }

    fn address_path(self, address: &str) -> PathBuf {
        self.path(&["https", &format!("{}.json", file_key(address))])
    }
}

/// The directory of the tree in a place or stage.
pub(super) fn tree_in(directory: &Path) -> PathBuf {
    directory.join(TREE)
}

/// The tree hash of a directory.
pub(super) fn hash_of(directory: &Path) -> Result<Digest, holdall_tree::TreeError> {
    tree_hash(&DirTree::open(directory)?, HashOptions::default())
}

/// Whether the file with this digest is there, and still has it.
pub(super) fn check_file(place: &Path, digest: &Digest) -> Result<Cached<()>, StoreError> {
    let name = place.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let Ok(name) = TreePath::new(name) else { return Ok(Cached::Absent) };
    let directory = match DirTree::open(place.parent().unwrap_or(Path::new("/"))) {
        Ok(directory) => directory,
        Err(error) if error.kind == TreeErrorKind::NotFound => return Ok(Cached::Absent),
        Err(error) => return Err(StoreError::io(place)(io::Error::other(error))),
    };
    let hashed = directory.open(&name).and_then(|file| sha256_file(&name, file.as_ref()));
    match hashed {
        Ok(found) if Digest::new(Algorithm::Sha256, found) == *digest => Ok(Cached::Good(())),
        Ok(_) => Ok(Cached::Changed("its bytes are not those that were fetched".to_owned())),
        Err(error) if error.kind == TreeErrorKind::NotFound => Ok(Cached::Absent),
        Err(error) => Ok(Cached::Changed(error.to_string())),
    }
}

/// Whether a tree is there, and still what was put there.
pub(super) fn check_tree(
    place: &Path,
    address: &str,
    pin: &str,
) -> Result<Cached<(TreeRecord, Digest)>, StoreError> {
    match fs::symlink_metadata(place) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => return Ok(Cached::Changed("its directory was replaced".to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Cached::Absent),
        Err(error) => return Err(StoreError::io(place)(error)),
    }
    let record = fs::read(place.join(RECORD)).map_err(|error| error.to_string());
    let record = record.and_then(|bytes| {
        serde_json::from_slice::<TreeRecord>(&bytes).map_err(|error| error.to_string())
    });
    let record = match record {
        Ok(record) if record.address == address && record.pin == pin => record,
        Ok(_) => return Ok(Cached::Changed("its record is about something else".to_owned())),
        Err(error) => return Ok(Cached::Changed(format!("its record is gone: {error}"))),
    };
    Ok(match hash_of(&place.join(TREE)) {
        Ok(found) if found.to_string() == record.tree => Cached::Good((record, found)),
        Ok(found) => Cached::Changed(format!("it has {found}, not {}", record.tree)),
        Err(error) => Cached::Changed(error.to_string()),
    })
}

/// Gives a complete stage its place, with its record; what stood there goes away.
pub(super) fn put_tree(mut stage: Stage, record: &TreeRecord) -> Result<(), StoreError> {
    let name = TreePath::new(RECORD).unwrap_or_default();
    stage.staged.write(&name, &canonical(record), 0o600)?;
    stage.staged.commit(true)?.finish()?;
    Ok(())
}
