//! What can be wrong with an archive: always with the byte offset, and the member's name once
//! it is known.

use std::fmt;
use std::io;

use crate::Kind;

/// An archive that cannot be read, or that readers would not read alike.
#[derive(Debug)]
pub struct TarError {
    offset: u64,
    name: Option<Vec<u8>>,
    kind: TarErrorKind,
}

/// The kinds of [`TarError`].
#[derive(Debug, thiserror::Error)]
pub enum TarErrorKind {
    /// The input could not be read.
    #[error("cannot be read: {0}")]
    Io(io::Error),
    /// The archive ends inside `what`.
    #[error("the archive is cut off inside {what}: {missing} more bytes are announced")]
    Truncated {
        /// A header, an extension header or a member's data.
        what: &'static str,
        /// Bytes that are missing at least.
        missing: u64,
    },
    /// Neither the unsigned nor the signed sum of the header is the one it states.
    #[error("the header's checksum is {stated}, its bytes give {computed}: not a tar header")]
    Checksum {
        /// What the field says, octal digits or what stands there.
        stated: String,
        /// The unsigned sum.
        computed: u32,
    },
    /// A field that should hold a number holds something else.
    #[error("the {field} field holds {}, not a number", quoted(.bytes))]
    Number {
        /// Which field or record.
        field: &'static str,
        /// What stands there.
        bytes: Vec<u8>,
    },
    /// A number that is negative or too large for what it counts.
    #[error("the {field} of {value} does not fit")]
    OutOfRange {
        /// Which field or record.
        field: &'static str,
        /// The number, as text since it may be beyond every integer type.
        value: String,
    },
    /// PAX records and GNU `L`, `K` or `S` headers describe the same member.
    #[error(
        "PAX and GNU extension headers are mixed on one member, which readers take differently"
    )]
    MixedExtensions,
    /// Two extension headers of one kind for the same member.
    #[error("two `{}` extension headers describe one member", char::from(*.0))]
    RepeatedExtension(u8),
    /// An extension header with no member behind it.
    #[error("an extension header is not followed by its member")]
    DanglingExtension,
    /// An extension header larger than [`Limits::extension`](crate::Limits::extension).
    #[error("an extension header of {size} bytes is over the limit of {limit}")]
    ExtensionTooLarge {
        /// Its size.
        size: u64,
        /// The limit.
        limit: u64,
    },
    /// PAX records that are not `LENGTH KEY=VALUE\n`, with the length counted in bytes.
    #[error("malformed PAX records: {0}")]
    PaxRecord(&'static str),
    /// A PAX key that decides what is read is given twice for one member.
    #[error("the PAX record `{0}` is given twice")]
    PaxRepeated(String),
    /// A global PAX record of a key that makes sense for a single member only.
    #[error("the PAX record `{0}` is global, which readers take differently")]
    PaxGlobal(String),
    /// The member has no name.
    #[error("the member has no name")]
    NoName,
    /// A NUL byte inside a name or a link target.
    #[error("a NUL byte inside the {0}")]
    Nul(&'static str),
    /// A link without target.
    #[error("the link has no target")]
    NoTarget,
    /// Something without content announces data; readers disagree about whether it follows.
    #[error("a {kind} announces {size} bytes of data, which readers take differently")]
    UnexpectedData {
        /// What it is.
        kind: Kind,
        /// The size it states.
        size: u64,
    },
    /// The map of a sparse file contradicts itself or the member's size.
    #[error("the map of the sparse file is damaged: {0}")]
    Sparse(&'static str),
    /// More segments than [`Limits::segments`](crate::Limits::segments).
    #[error("the map of the sparse file has more than {0} segments")]
    TooManySegments(usize),
}

impl TarError {
    pub(crate) fn new(offset: u64, kind: TarErrorKind) -> Self {
        Self { offset, name: None, kind }
    }

    /// Fills in the name unless a closer place knew it.
    pub(crate) fn named(mut self, name: &[u8]) -> Self {
        if !name.is_empty() {
            self.name.get_or_insert_with(|| name.to_vec());
        }
        self
    }

    /// Bytes from the start of the archive: of the header at fault, or of where it is cut off.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The member's name as it stands in the archive, once it is known.
    pub fn name(&self) -> Option<&[u8]> {
        self.name.as_deref()
    }

    /// What is wrong.
    pub fn kind(&self) -> &TarErrorKind {
        &self.kind
    }
}

impl fmt::Display for TarError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(f, "{}: ", quoted(name))?;
        }
        write!(f, "{} (at byte {} of the archive)", self.kind, self.offset)
    }
}

impl std::error::Error for TarError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            TarErrorKind::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<TarError> for io::Error {
    fn from(error: TarError) -> Self {
        let kind = match &error.kind {
            TarErrorKind::Io(error) => error.kind(),
            TarErrorKind::Truncated { .. } => io::ErrorKind::UnexpectedEof,
            _ => io::ErrorKind::InvalidData,
        };
        Self::new(kind, error)
    }
}

/// Bytes between back-quotes, what is not printable ASCII or valid UTF-8 escaped.
pub(crate) fn quoted(bytes: &[u8]) -> String {
    let mut out = String::from("`");
    for chunk in bytes.utf8_chunks() {
        for char in chunk.valid().chars() {
            if char.is_control() {
                out.extend(char.escape_default());
            } else {
                out.push(char);
            }
        }
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
    out.push('`');
    out
}
