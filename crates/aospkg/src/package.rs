//! An open package: its file, its header, its index, and its manifest when asked for.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::OnceLock;

use crate::bare::Tolerances;
use crate::codes;
use crate::error::{Errno, PackageError};
use crate::file::{Identity, PackageFile, open_regular, shrank};
use crate::format::Header;
use crate::index::Index;
use crate::model::PackageManifest;

/// An open package. Its descriptor pins the file: renaming, deleting or replacing the path,
/// `chmod` and new links do not disturb it.
#[derive(Debug)]
pub struct Package {
    file: PackageFile,
    index: Index,
    manifest: OnceLock<Result<(PackageManifest, Tolerances), PackageError>>,
}

impl Package {
    /// Opens a package: file, header and index are checked, tar headers and manifest not looked
    /// at.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, PackageError> {
        let path = path.as_ref();
        let (file, identity) = open_regular(path).map_err(|error| error.file(path))?;
        Self::load(file, identity, path)
    }

    pub(crate) fn load(file: File, identity: Identity, path: &Path) -> Result<Self, PackageError> {
        let file = PackageFile::of(file, identity, path)?;
        let load = || {
            let index = Index::new(file.range(file.header.index_range())?, &file.header)?;
            match file.changed() {
                Ok(false) => Ok(index),
                Ok(true) => Err(changed()),
                Err(error) => Err(PackageError::io("cannot be examined", &error)),
            }
        };
        let index = load().map_err(|error: PackageError| error.file(path))?;
        Ok(Self { file, index, manifest: OnceLock::new() })
    }

    /// The path it was opened by, for messages; the file may have moved since.
    pub fn path(&self) -> &Path {
        &self.file.path
    }

    /// The header's facts.
    pub const fn header(&self) -> &Header {
        &self.file.header
    }

    /// The entries.
    pub const fn index(&self) -> &Index {
        &self.index
    }

    /// The manifest, decoded at the first question.
    pub fn manifest(&self) -> Result<&PackageManifest, PackageError> {
        Ok(&self.decoded_manifest()?.0)
    }

    /// The tolerances that reading the manifest needed.
    pub fn manifest_tolerances(&self) -> Result<&Tolerances, PackageError> {
        Ok(&self.decoded_manifest()?.1)
    }

    fn decoded_manifest(&self) -> Result<&(PackageManifest, Tolerances), PackageError> {
        self.manifest.get_or_init(|| self.file.manifest()).as_ref().map_err(Clone::clone)
    }

    /// What tells whether two openings are the same package.
    pub const fn identity(&self) -> Identity {
        self.file.identity
    }

    /// The open file, positioned nowhere in particular: use positioned reads.
    pub const fn file(&self) -> &File {
        &self.file.file
    }

    /// ESTALE when size or modification time are no longer those of the opening.
    pub fn check_unchanged(&self) -> Result<(), PackageError> {
        match self.file.changed() {
            Ok(false) => Ok(()),
            Ok(true) => Err(changed().file(self.path())),
            Err(error) => Err(PackageError::io("cannot be examined", &error).file(self.path())),
        }
    }

    /// Reads at most `buf.len()` bytes of the file, and not beyond `range`, from `offset` bytes
    /// into it; 0 only at the range's end. The end of the file inside the range is ESTALE.
    pub(crate) fn read_in(
        &self,
        range: Range<u64>,
        buf: &mut [u8],
        offset: u64,
    ) -> Result<usize, PackageError> {
        let Some(left) = (range.end - range.start).checked_sub(offset).filter(|left| *left > 0)
        else {
            return Ok(0);
        };
        let len = usize::try_from(left).unwrap_or(usize::MAX).min(buf.len());
        if len == 0 {
            return Ok(0);
        }
        let at = range.start + offset;
        loop {
            match self.file.file.read_at(&mut buf[..len], at) {
                Ok(0) => return Err(shrank(at).file(self.path())),
                Ok(read) => return Ok(read),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let made = PackageError::io("cannot be read", &error);
                    return Err(made.offset(at).file(self.path()));
                }
            }
        }
    }
}

fn changed() -> PackageError {
    PackageError::new(&codes::CHANGED, Errno::ESTALE, "the package changed since it was opened")
        .help("open it again; packages are replaced by renaming, never rewritten in place")
}
