//! The on-disk format, versions 1 and 2: constants and types, nothing else.
//!
//! A package is a 16-byte header, the *manifest* chunk, the *index* chunk and the *mount* (an
//! uncompressed tar that runs to the end of the file). Each of the first two chunks is a
//! little-endian `u16` schema version followed by the BARE encoding of its root struct. The
//! reader is in `decode`, the writer in `encode`; both follow the field order written down here.
//!
//! | struct | fields, in wire order |
//! |---|---|
//! | `PackageManifest` | `name` str, `version` str, **version 1 only** `agent` optional, `provides` optional, `commands` list, `manPages` list, **version 1 only** `snapshotBundlePath` optional str |
//! | `AgentBlock` | `acpEntrypoint` str, `snapshot` bool, `env` map, `launchArgs` list of str |
//! | `ProvidesBlock` | `env` map, `files` list of (`source` str, `target` str) |
//! | `CommandTarget` | `command` str, `entry` str |
//! | `ManPage` | `section` str, `page` str |
//! | `MountIndex` | `tarEntries` list |
//! | `TarEntry` | `path` str, `kind` uint, `offset` u64, `size` u64, `mode` u32, `uid` u32, `gid` u32, `mtime` i64, `linkTarget` optional str |

use std::fmt;

/// The first four bytes of every package.
pub const MAGIC: [u8; 4] = [0x89, b'A', b'O', b'S'];

/// Bytes of the header: magic, `u16` format version, `u16` flags, `u32` manifest length, `u32`
/// index length, all little-endian.
pub const HEADER_LEN: usize = 16;

/// Bytes of the schema version in front of a chunk's BARE value.
pub const CHUNK_PREFIX_LEN: usize = 2;

/// Bytes of an entry besides its path, the path's length, and the link target behind the last
/// byte: kind 1, offset 8, size 8, mode 4, uid 4, gid 4, mtime 8, optional 1.
pub const ENTRY_FIXED_LEN: usize = 38;

/// Entries an index may hold, the root and directories without a member of their own included.
pub const MAX_ENTRIES: usize = 200_000;

/// Where the seed's `snapshotBundlePath` always points.
pub const SNAPSHOT_BUNDLE_PATH: &str = "/dist/sdk-snapshot.js";

/// Type bits of a mode.
pub const MODE_TYPE: u32 = 0o170_000;
/// Type bits of a regular file.
pub const MODE_FILE: u32 = 0o100_000;
/// Type bits of a directory.
pub const MODE_DIRECTORY: u32 = 0o040_000;
/// Type bits of a symbolic link.
pub const MODE_SYMLINK: u32 = 0o120_000;

/// A format version. The container's and both chunks' schema versions are the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Version {
    /// The seed's format: agents, snapshots. Read by agentOS 0.2.
    #[default]
    V1,
    /// Without the agent block and the snapshot path. Read by agentOS 0.4, which refuses 1.
    V2,
}

impl Version {
    /// All versions, oldest first.
    pub const ALL: [Self; 2] = [Self::V1, Self::V2];

    /// The number on disk.
    pub const fn number(self) -> u16 {
        match self {
            Self::V1 => 1,
            Self::V2 => 2,
        }
    }

    /// The version with this number.
    pub const fn from_number(number: u16) -> Option<Self> {
        match number {
            1 => Some(Self::V1),
            2 => Some(Self::V2),
            _ => None,
        }
    }

    /// Whether the manifest has the agent block and the snapshot path.
    pub const fn has_agent(self) -> bool {
        matches!(self, Self::V1)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.number())
    }
}

/// `TarEntryKind`; the discriminant is the ordinal on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntryKind {
    /// A regular file, ordinal 0.
    File = 0,
    /// A directory, ordinal 1.
    Directory = 1,
    /// A symbolic link, ordinal 2.
    Symlink = 2,
}

impl EntryKind {
    /// The ordinal on the wire.
    pub const fn ordinal(self) -> u8 {
        self as u8
    }

    /// The kind of an ordinal.
    pub const fn from_ordinal(ordinal: u64) -> Option<Self> {
        match ordinal {
            0 => Some(Self::File),
            1 => Some(Self::Directory),
            2 => Some(Self::Symlink),
            _ => None,
        }
    }

    /// The type bits a mode of this kind carries.
    pub const fn mode_bits(self) -> u32 {
        match self {
            Self::File => MODE_FILE,
            Self::Directory => MODE_DIRECTORY,
            Self::Symlink => MODE_SYMLINK,
        }
    }
}

impl fmt::Display for EntryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File => "file",
            Self::Directory => "directory",
            Self::Symlink => "link",
        })
    }
}

/// The header's facts. A value exists only for a header whose chunks fit into its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    pub(crate) version: Version,
    pub(crate) manifest_len: u32,
    pub(crate) index_len: u32,
    pub(crate) file_len: u64,
}

impl Header {
    /// The format version.
    pub const fn version(&self) -> Version {
        self.version
    }

    /// Byte range of the manifest chunk in the file, its two-byte prefix included.
    pub const fn manifest_range(&self) -> std::ops::Range<u64> {
        HEADER_LEN as u64..HEADER_LEN as u64 + self.manifest_len as u64
    }

    /// Byte range of the index chunk in the file, its two-byte prefix included.
    pub const fn index_range(&self) -> std::ops::Range<u64> {
        let start = self.manifest_range().end;
        start..start + self.index_len as u64
    }

    /// Byte range of the mount in the file: to its end.
    pub const fn mount_range(&self) -> std::ops::Range<u64> {
        self.index_range().end..self.file_len
    }

    /// Length of the file the header was read from.
    pub const fn file_len(&self) -> u64 {
        self.file_len
    }
}
