//! A member of an archive, with the place of each of its bytes.

use std::fmt;
use std::sync::Arc;

use crate::{ReadAt, TarError, TarErrorKind};

/// What a member is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A regular file: type `0`, NUL, `7` (contiguous), or a sparse one.
    File,
    /// Another name of a member before it.
    HardLink,
    /// A symbolic link.
    Symlink,
    /// A character device.
    CharDevice,
    /// A block device.
    BlockDevice,
    /// A directory, also the old form of an empty file whose name ends with `/`.
    Directory,
    /// A named pipe.
    Fifo,
    /// A type this crate gives no meaning to: volume labels, parts of multi-volume archives,
    /// directory dumps, vendors' own.
    Other(u8),
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File => f.write_str("file"),
            Self::HardLink => f.write_str("hard link"),
            Self::Symlink => f.write_str("symbolic link"),
            Self::CharDevice => f.write_str("character device"),
            Self::BlockDevice => f.write_str("block device"),
            Self::Directory => f.write_str("directory"),
            Self::Fifo => f.write_str("named pipe"),
            Self::Other(flag) => write!(f, "member of type {}", crate::error::quoted(&[*flag])),
        }
    }
}

/// Which extension headers a member had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Extension {
    /// None.
    None,
    /// GNU `L` or `K` records, or an old GNU sparse header.
    Gnu,
    /// PAX records of its own.
    Pax,
}

/// A run of data of a sparse file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Segment {
    /// Where it stands in the file.
    pub offset: u64,
    /// Bytes, never 0.
    pub len: u64,
    /// Where its bytes begin in the archive.
    pub data_offset: u64,
}

/// What stands at a place of a file; see [`Member::extent`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// `len` bytes that begin at `data_offset` of the archive.
    Data {
        /// Bytes from the start of the archive.
        data_offset: u64,
        /// Bytes up to the end of the run.
        len: u64,
    },
    /// `len` zeros that are not stored.
    Hole {
        /// Bytes up to the next run or the end.
        len: u64,
    },
    /// The end of the file.
    End,
}

/// A member: what its headers say, all extensions applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    pub(crate) start: u64,
    pub(crate) header_offset: u64,
    pub(crate) data_offset: u64,
    pub(crate) stored_size: u64,
    pub(crate) end: u64,
    pub(crate) size: u64,
    pub(crate) kind: Kind,
    pub(crate) type_flag: u8,
    pub(crate) mode: u32,
    pub(crate) uid: u64,
    pub(crate) gid: u64,
    pub(crate) mtime: i64,
    pub(crate) path: Vec<u8>,
    pub(crate) link: Vec<u8>,
    pub(crate) segments: Option<Arc<[Segment]>>,
    pub(crate) extension: Extension,
    pub(crate) ignored: Vec<String>,
}

impl Member {
    /// Offset of its first block, an extension header where it has one.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Offset of its own header.
    pub fn header_offset(&self) -> u64 {
        self.header_offset
    }

    /// Offset of its first byte of data, behind a sparse map.
    pub fn data_offset(&self) -> u64 {
        self.data_offset
    }

    /// Bytes of data in the archive; fewer than [`Self::size`] only for a sparse file.
    pub fn stored_size(&self) -> u64 {
        self.stored_size
    }

    /// Offset of what follows its data and padding.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Bytes of the file, holes included; 0 for everything else.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// What it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The type byte of its header.
    pub fn type_flag(&self) -> u8 {
        self.type_flag
    }

    /// Permission bits, `0o7777` at most.
    pub fn mode(&self) -> u32 {
        self.mode
    }

    /// Owner.
    pub fn uid(&self) -> u64 {
        self.uid
    }

    /// Group.
    pub fn gid(&self) -> u64 {
        self.gid
    }

    /// Modification time in Unix seconds, a fraction rounded down.
    pub fn mtime(&self) -> i64 {
        self.mtime
    }

    /// Its name as it stands in the archive: neither empty nor with a NUL, otherwise unchecked.
    pub fn path(&self) -> &[u8] {
        &self.path
    }

    /// Target of a symbolic or hard link, never empty there; empty for everything else.
    pub fn link(&self) -> &[u8] {
        &self.link
    }

    /// The runs of data of a sparse file, ascending; `None` for a file stored as a whole.
    pub fn segments(&self) -> Option<&[Segment]> {
        self.segments.as_deref()
    }

    /// Which extension headers described it.
    pub fn extension(&self) -> Extension {
        self.extension
    }

    /// Keys of its own PAX records that say something this type has no field for, such as
    /// extended attributes; times of access and user names are not among them.
    pub fn ignored_records(&self) -> &[String] {
        &self.ignored
    }

    /// What stands at byte `offset` of the file.
    pub fn extent(&self, offset: u64) -> Extent {
        if offset >= self.size {
            return Extent::End;
        }
        let Some(segments) = &self.segments else {
            return Extent::Data {
                data_offset: self.data_offset + offset,
                len: self.size - offset,
            };
        };
        let next = segments.partition_point(|segment| segment.offset + segment.len <= offset);
        match segments.get(next) {
            Some(segment) if segment.offset <= offset => {
                let inside = offset - segment.offset;
                let data_offset = segment.data_offset + inside;
                Extent::Data { data_offset, len: segment.len - inside }
            }
            Some(segment) => Extent::Hole { len: segment.offset - offset },
            None => Extent::Hole { len: self.size - offset },
        }
    }

    /// Reads at most `buf.len()` bytes of the file at `offset`, holes as zeros; 0 only at its
    /// end. `archive` is what the member was read from; one that has become shorter is
    /// [`TarErrorKind::Truncated`].
    pub fn read_at(
        &self,
        archive: &(impl ReadAt + ?Sized),
        buf: &mut [u8],
        offset: u64,
    ) -> Result<usize, TarError> {
        if buf.is_empty() {
            return Ok(0);
        }
        let fit = |len: u64| usize::try_from(len).unwrap_or(usize::MAX).min(buf.len());
        match self.extent(offset) {
            Extent::End => Ok(0),
            Extent::Hole { len } => {
                let n = fit(len);
                buf[..n].fill(0);
                Ok(n)
            }
            Extent::Data { data_offset, len } => {
                let n = fit(len);
                match archive.read_at(&mut buf[..n], data_offset) {
                    Ok(0) => {
                        let kind =
                            TarErrorKind::Truncated { what: "a member's data", missing: len };
                        Err(TarError::new(data_offset, kind).named(&self.path))
                    }
                    Ok(n) => Ok(n),
                    Err(error) => {
                        let kind = TarErrorKind::Io(error);
                        Err(TarError::new(data_offset, kind).named(&self.path))
                    }
                }
            }
        }
    }
}
