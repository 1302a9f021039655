//! The package file on disk: opening it once, knowing it again, reading ranges of it.

use std::fs::{File, Metadata, OpenOptions};
use std::ops::Range;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::bare::Tolerances;
use crate::codes;
use crate::decode::decode_manifest;
use crate::error::{Errno, PackageError};
use crate::format::{HEADER_LEN, Header};
use crate::header::parse_header;
use crate::model::PackageManifest;

/// Bytes read at once from the start of a file: header and, nearly always, the whole manifest.
const FIRST_READ: usize = 4096;

/// What makes two openings the same package: device, inode, size and modification time.
///
/// Neither the path nor the change time: renaming, linking or `chmod` leave the bytes alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Identity {
    device: u64,
    inode: u64,
    size: u64,
    mtime: (i64, i64),
}

impl Identity {
    fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            mtime: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }

    /// A nonzero device number that is the same for all entries of the file and, very likely,
    /// different from that of any other file.
    pub(crate) fn guest_device(&self) -> u64 {
        // SplitMix64's finaliser over both numbers: stable between runs, and spread out.
        let mut mixed =
            self.device.rotate_left(32) ^ self.inode.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)).max(1)
    }
}

/// An open package file with its header.
#[derive(Debug)]
pub(crate) struct PackageFile {
    pub(crate) file: File,
    pub(crate) path: PathBuf,
    pub(crate) identity: Identity,
    pub(crate) header: Header,
    /// The first bytes of the file.
    first: Vec<u8>,
}

/// Opens without following anything into trouble: a fifo does not block, a device is refused.
pub(crate) fn open_regular(path: &Path) -> Result<(File, Identity), PackageError> {
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)
        .map_err(|error| PackageError::io("cannot be opened", &error))?;
    let metadata =
        file.metadata().map_err(|error| PackageError::io("cannot be examined", &error))?;
    if metadata.is_dir() {
        let detail = "a directory, not a package file";
        return Err(PackageError::new(&codes::UNREADABLE, Errno::EISDIR, detail)
            .help("name the .aospkg file; `holdall pack DIR` makes one from a directory"));
    }
    if !metadata.is_file() {
        let detail = "a fifo, socket or device, not a package file";
        return Err(PackageError::new(&codes::UNREADABLE, Errno::EINVAL, detail)
            .help("write it to a regular file first"));
    }
    Ok((file, Identity::of(&metadata)))
}

impl PackageFile {
    pub(crate) fn open(path: &Path) -> Result<Self, PackageError> {
        let (file, identity) = open_regular(path).map_err(|error| error.file(path))?;
        Self::of(file, identity, path)
    }

    pub(crate) fn of(file: File, identity: Identity, path: &Path) -> Result<Self, PackageError> {
        let read = || {
            let want = FIRST_READ.min(usize::try_from(identity.size).unwrap_or(FIRST_READ));
            let first = read_range(&file, 0..want as u64)?;
            let header = parse_header(&first, identity.size)?;
            Ok((first, header))
        };
        match read() {
            Ok((first, header)) => {
                Ok(Self { file, path: path.to_owned(), identity, header, first })
            }
            Err(error) => Err(PackageError::file(error, path)),
        }
    }

    /// A range of the file that the header vouches for.
    pub(crate) fn range(&self, range: Range<u64>) -> Result<Vec<u8>, PackageError> {
        let fit = |at: u64| usize::try_from(at).ok();
        if let (Some(start), Some(end)) = (fit(range.start), fit(range.end))
            && let Some(held) = self.first.get(start..end)
        {
            return Ok(held.to_vec());
        }
        read_range(&self.file, range)
    }

    pub(crate) fn manifest(&self) -> Result<(PackageManifest, Tolerances), PackageError> {
        let chunk = self.range(self.header.manifest_range()).map_err(|e| e.file(&self.path))?;
        decode_manifest(&chunk, HEADER_LEN as u64, self.header.version)
            .map_err(|error| error.file(&self.path))
    }

    /// Whether size or modification time are no longer those of the opening.
    pub(crate) fn changed(&self) -> std::io::Result<bool> {
        Ok(Identity::of(&self.file.metadata()?) != self.identity)
    }
}

/// Reads a whole range of a file into memory that was not written before. An end that comes too
/// early means that the file shrank; a range beyond the memory is ENOMEM, not an abort.
pub(crate) fn read_range(file: &File, range: Range<u64>) -> Result<Vec<u8>, PackageError> {
    let mut out = Vec::new();
    let len = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
    if out.try_reserve_exact(len).is_err() {
        let detail = format_args!("{len} bytes do not fit into memory");
        return Err(
            PackageError::new(&codes::UNREADABLE, Errno::ENOMEM, detail).offset(range.start)
        );
    }
    while out.len() < len {
        let at = range.start + out.len() as u64;
        match rustix::io::pread(file, rustix::buffer::spare_capacity(&mut out), at) {
            Ok(0) => return Err(shrank(at)),
            // The vector may have got more room than was asked for; what is too much is cut off.
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => {
                return Err(PackageError::io("cannot be read", &error.into()).offset(at));
            }
        }
    }
    out.truncate(len);
    Ok(out)
}

pub(crate) fn shrank(offset: u64) -> PackageError {
    PackageError::new(&codes::CHANGED, Errno::ESTALE, "the file shrank while it was read")
        .offset(offset)
        .help(
            "something truncates or rewrites the package in place; replace it by renaming instead",
        )
}

/// What can be known of a package without its index: the header and the manifest chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The header's facts.
    pub header: Header,
    /// The manifest.
    pub manifest: PackageManifest,
    /// The tolerances that reading it needed.
    pub tolerances: Tolerances,
}

/// Reads header and manifest chunk and nothing else, in four system calls (open, stat, read,
/// close; a fifth for a manifest beyond 4 KiB) whatever the size of the package.
///
/// Where the published readers say EIO for a file that is missing or may not be read, this says
/// ENOENT and EACCES, as opening the whole package does.
pub fn read_manifest(path: impl AsRef<Path>) -> Result<Head, PackageError> {
    let file = PackageFile::open(path.as_ref())?;
    let (manifest, tolerances) = file.manifest()?;
    Ok(Head { header: file.header, manifest, tolerances })
}
