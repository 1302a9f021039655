//! A strict tar reader and writer.
//!
//! Two programs that disagree about where a member begins can be made to see different files in
//! one archive. So the reader here honours what every common reader honours (ustar, GNU long
//! names, PAX records, base-256 numbers, sparse files) and turns what they read differently into
//! an error with the member's name and byte offset. It knows the exact place of every header and
//! of every byte of data, and its memory is bounded by [`Limits`], whatever the archive says.
//!
//! [`Reader`] walks an archive, either a stream ([`Reader::streaming`]: standard input, a gzip
//! decoder) or something that is read by position ([`Reader::positioned`]: a file, a slice);
//! the second never touches data that is not asked for. [`Writer`] writes canonical members:
//! GNU magic, `L` and `K` records for what does not fit into a header, two zero blocks at the end.
//!
//! ```
//! use holdall_tar::{Content, NewMember, Reader, Writer};
//! use std::io::{Read as _, Write as _};
//!
//! let mut writer = Writer::new(Vec::new());
//! writer.append(&NewMember::new("bin/demo", Content::File { size: 2 }, 0o755)?)?;
//! writer.write_all(b"hi")?;
//! let archive = writer.finish()?;
//!
//! let mut reader = Reader::streaming(&archive[..]);
//! let member = reader.next_member()?.expect("one member");
//! assert_eq!((member.path(), member.data_offset()), (&b"bin/demo"[..], 512));
//! let mut text = String::new();
//! reader.data().read_to_string(&mut text)?;
//! assert_eq!(text, "hi");
//! assert!(reader.next_member()?.is_none());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod block;
mod error;
mod input;
mod member;
mod pax;
mod reader;
mod sparse;
mod writer;

pub use error::{TarError, TarErrorKind};
pub use input::{Input, Positioned, ReadAt, Stream};
pub use member::{Extension, Extent, Kind, Member, Segment};
pub use reader::{Data, End, Limits, Reader};
pub use writer::{Content, NewMember, NewMemberError, Writer};

/// Bytes of a block, the unit of the format.
pub const BLOCK: usize = 512;

/// Bytes of `len` bytes of data with their padding up to a whole block; `None` beyond `u64`.
pub const fn padded(len: u64) -> Option<u64> {
    len.checked_next_multiple_of(BLOCK as u64)
}
