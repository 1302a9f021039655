//! Writing canonical members.
//!
//! Each header has the GNU magic, no user names and no device numbers. A name or a link target
//! over 100 bytes stands in an `L` or `K` record in front of it. Numbers that octal digits cannot
//! hold are written in base-256. The layout can be known before a byte is written:
//! [`NewMember::header_len`] and [`crate::padded`].

use std::io::{self, Write};

use crate::{BLOCK, block, padded};

const NAME: usize = 100;

/// What a new member holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content<'a> {
    /// A regular file; exactly `size` bytes are written behind its header.
    File {
        /// Its length.
        size: u64,
    },
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink {
        /// Written as it is.
        target: &'a str,
    },
    /// Another name of an earlier member.
    HardLink {
        /// The earlier member's path.
        target: &'a str,
    },
}

/// A member to be written. A value is always writable: the path and the target are neither empty
/// nor hold a NUL, and the size is below 2^63.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewMember<'a> {
    path: &'a str,
    content: Content<'a>,
    mode: u32,
    uid: u32,
    gid: u32,
    mtime: i64,
}

/// Why something cannot be a member.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NewMemberError {
    /// No path, or a link without target.
    #[error("the {0} is empty")]
    Empty(&'static str),
    /// A NUL would end the name early.
    #[error("a NUL byte in the {0}")]
    Nul(&'static str),
    /// Beyond what readers take.
    #[error("a size of {0} bytes does not fit")]
    Size(u64),
}

impl<'a> NewMember<'a> {
    /// A member with owner 0 and time 0. Of `mode` the permission bits count.
    pub fn new(path: &'a str, content: Content<'a>, mode: u32) -> Result<Self, NewMemberError> {
        check("path", path)?;
        match content {
            Content::Symlink { target } | Content::HardLink { target } => {
                check("link target", target)?;
            }
            Content::File { size } if size > i64::MAX as u64 - BLOCK as u64 => {
                return Err(NewMemberError::Size(size));
            }
            Content::File { .. } | Content::Directory => {}
        }
        Ok(Self { path, content, mode: mode & 0o7777, uid: 0, gid: 0, mtime: 0 })
    }

    /// Sets owner and group.
    #[must_use]
    pub const fn owned_by(mut self, uid: u32, gid: u32) -> Self {
        self.uid = uid;
        self.gid = gid;
        self
    }

    /// Sets the modification time in Unix seconds.
    #[must_use]
    pub const fn modified(mut self, mtime: i64) -> Self {
        self.mtime = mtime;
        self
    }

    /// The link target, empty for what is no link.
    fn link(&self) -> &'a str {
        match self.content {
            Content::Symlink { target } | Content::HardLink { target } => target,
            Content::File { .. } | Content::Directory => "",
        }
    }

    /// Bytes of data behind the header, without padding.
    pub const fn data_len(&self) -> u64 {
        match self.content {
            Content::File { size } => size,
            Content::Directory | Content::Symlink { .. } | Content::HardLink { .. } => 0,
        }
    }

    /// Bytes of the header with the records in front of it.
    pub fn header_len(&self) -> u64 {
        let record = |text: &str| {
            let long = text.len() > NAME;
            if long { BLOCK as u64 + padded(text.len() as u64 + 1).unwrap_or(0) } else { 0 }
        };
        BLOCK as u64 + record(self.path) + record(self.link())
    }

    /// The header with the records in front of it, [`Self::header_len`] bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(usize::try_from(self.header_len()).unwrap_or(BLOCK));
        long_record(&mut out, b'L', self.path);
        let link = self.link();
        long_record(&mut out, b'K', link);
        let flag = match self.content {
            Content::File { .. } => b'0',
            Content::HardLink { .. } => b'1',
            Content::Symlink { .. } => b'2',
            Content::Directory => b'5',
        };
        let mut header = [0; BLOCK];
        put(&mut header[..NAME], cut(self.path));
        octal(&mut header[100..108], u64::from(self.mode));
        number(&mut header[108..116], i64::from(self.uid));
        number(&mut header[116..124], i64::from(self.gid));
        number(&mut header[124..136], i64::try_from(self.data_len()).unwrap_or(i64::MAX));
        number(&mut header[136..148], self.mtime);
        header[156] = flag;
        put(&mut header[157..257], cut(link));
        seal(&mut header);
        out.extend_from_slice(&header);
        out
    }
}

fn check(what: &'static str, text: &str) -> Result<(), NewMemberError> {
    if text.is_empty() {
        return Err(NewMemberError::Empty(what));
    }
    if text.contains('\0') {
        return Err(NewMemberError::Nul(what));
    }
    Ok(())
}

/// As much of a text as fits into its field, in whole characters.
fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(NAME)]
}

fn long_record(out: &mut Vec<u8>, flag: u8, text: &str) {
    if text.len() <= NAME {
        return;
    }
    let mut header = [0; BLOCK];
    put(&mut header[..NAME], "././@LongLink");
    octal(&mut header[100..108], 0o644);
    octal(&mut header[108..116], 0);
    octal(&mut header[116..124], 0);
    // The NUL behind the text counts.
    number(&mut header[124..136], i64::try_from(text.len() + 1).unwrap_or(i64::MAX));
    octal(&mut header[136..148], 0);
    header[156] = flag;
    seal(&mut header);
    out.extend_from_slice(&header);
    out.extend_from_slice(text.as_bytes());
    out.push(0);
    out.resize(out.len().next_multiple_of(BLOCK), 0);
}

fn put(field: &mut [u8], text: &str) {
    field[..text.len()].copy_from_slice(text.as_bytes());
}

/// Octal digits filling the field up to a NUL; the value is known to fit.
fn octal(field: &mut [u8], mut value: u64) {
    let digits = field.len() - 1;
    for slot in field[..digits].iter_mut().rev() {
        *slot = b'0' + (value & 7) as u8;
        value >>= 3;
    }
}

/// Octal where it fits, else base-256: two's complement with the top bit of the field set.
fn number(field: &mut [u8], value: i64) {
    let room = 3 * (field.len() as u32 - 1);
    match u64::try_from(value) {
        Ok(value) if value.checked_shr(room).unwrap_or(0) == 0 => octal(field, value),
        _ => {
            let fill = if value < 0 { 0xff } else { 0 };
            let bytes = value.to_be_bytes();
            let start = field.len().saturating_sub(bytes.len());
            field[..start].fill(fill);
            let len = field.len() - start;
            field[start..].copy_from_slice(&bytes[bytes.len() - len..]);
            field[0] |= 0x80;
        }
    }
}

/// Magic and checksum.
fn seal(header: &mut [u8; BLOCK]) {
    header[257..265].copy_from_slice(b"ustar  \0");
    let sum = block::checksum(header);
    octal(&mut header[148..156], u64::from(sum));
}

/// Writes an archive: [`Self::append`] a member, write its data, and so on, then
/// [`Self::finish`]. Too few or too many bytes of data are an error, never a damaged archive.
#[derive(Debug)]
pub struct Writer<W> {
    inner: W,
    /// Bytes of data the current member still wants.
    left: u64,
    /// Bytes of padding behind them.
    padding: usize,
    position: u64,
}

impl<W: Write> Writer<W> {
    /// An empty archive.
    pub fn new(inner: W) -> Self {
        Self { inner, left: 0, padding: 0, position: 0 }
    }

    /// Bytes written so far: where the next header, or the current member's next data, goes.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Writes a header; the member's data follows through [`Write`].
    pub fn append(&mut self, member: &NewMember<'_>) -> io::Result<()> {
        self.close_member()?;
        let header = member.encode();
        self.inner.write_all(&header)?;
        self.position += header.len() as u64;
        self.left = member.data_len();
        let padding = padded(self.left).unwrap_or(self.left) - self.left;
        self.padding = usize::try_from(padding).unwrap_or(0);
        if self.left == 0 {
            self.close_member()?;
        }
        Ok(())
    }

    fn close_member(&mut self) -> io::Result<()> {
        if self.left > 0 {
            let what = format!("{} bytes of a member's data are missing", self.left);
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, what));
        }
        self.inner.write_all(&[0; BLOCK][..self.padding])?;
        self.position += self.padding as u64;
        self.padding = 0;
        Ok(())
    }

    /// Writes the two end blocks and flushes.
    pub fn finish(mut self) -> io::Result<W> {
        self.close_member()?;
        self.inner.write_all(&[0; 2 * BLOCK])?;
        self.inner.flush()?;
        Ok(self.inner)
    }
}

impl<W: Write> Write for Writer<W> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        let n = usize::try_from(self.left).unwrap_or(usize::MAX).min(buf.len());
        if n == 0 {
            return Err(io::Error::other("more data than the member's header announces"));
        }
        let n = self.inner.write(&buf[..n])?;
        self.left -= n as u64;
        self.position += n as u64;
        if self.left == 0 {
            self.close_member()?;
        }
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
