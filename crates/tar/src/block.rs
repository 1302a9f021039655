//! One header block: its fields, its numbers, its checksum.

use crate::error::TarErrorKind;
use crate::{BLOCK, Kind};

/// The dialects that use the last 167 bytes of a header differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Before POSIX: name, numbers, link.
    Old,
    /// POSIX: with a prefix of the name.
    Ustar,
    /// GNU: times and a sparse map where POSIX has the prefix.
    Gnu,
}

/// A header block whose checksum is right.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    bytes: [u8; BLOCK],
}

const CHECKSUM: std::ops::Range<usize> = 148..156;

/// The sum over a header's bytes, its checksum field taken as blanks.
pub(crate) fn checksum(bytes: &[u8; BLOCK]) -> u32 {
    let sum = |bytes: &[u8]| bytes.iter().map(|&byte| u32::from(byte)).sum::<u32>();
    let blanks: u32 = CHECKSUM.map(|_| u32::from(b' ')).sum();
    sum(bytes) - sum(&bytes[CHECKSUM]) + blanks
}

/// The same with each byte taken as signed, as some old writers did it.
fn signed_checksum(bytes: &[u8; BLOCK]) -> i32 {
    let blanks: i32 = CHECKSUM.map(|_| i32::from(b' ')).sum();
    let sum = |bytes: &[u8]| bytes.iter().map(|&byte| i32::from(byte.cast_signed())).sum::<i32>();
    sum(bytes) - sum(&bytes[CHECKSUM]) + blanks
}

impl Block {
    /// Takes a block with a right checksum.
    #[expect(clippy::large_types_passed_by_value, reason = "a block is moved into its view once")]
    pub(crate) fn new(bytes: [u8; BLOCK]) -> Result<Self, TarErrorKind> {
        let unsigned = checksum(&bytes);
        let field = &bytes[CHECKSUM];
        let stated = octal(field);
        let is_signed = |stated| u64::try_from(signed_checksum(&bytes)) == Ok(stated);
        if stated == Some(u64::from(unsigned)) || stated.is_some_and(is_signed) {
            return Ok(Self { bytes });
        }
        let stated =
            stated.map_or_else(|| crate::error::quoted(field), |number| number.to_string());
        Err(TarErrorKind::Checksum { stated, computed: unsigned })
    }

    pub(crate) fn dialect(&self) -> Dialect {
        match &self.bytes[257..265] {
            b"ustar  \0" => Dialect::Gnu,
            [b'u', b's', b't', b'a', b'r', 0, ..] => Dialect::Ustar,
            _ => Dialect::Old,
        }
    }

    pub(crate) fn type_flag(&self) -> u8 {
        self.bytes[156]
    }

    /// The name as a POSIX reader joins it.
    pub(crate) fn name(&self) -> Vec<u8> {
        let name = until_nul(&self.bytes[..100]);
        let prefix = match self.dialect() {
            Dialect::Ustar => until_nul(&self.bytes[345..500]),
            Dialect::Old | Dialect::Gnu => &[],
        };
        if prefix.is_empty() { name.to_vec() } else { [prefix, b"/", name].concat() }
    }

    pub(crate) fn link(&self) -> &[u8] {
        until_nul(&self.bytes[157..257])
    }

    pub(crate) fn mode(&self) -> Result<u32, TarErrorKind> {
        // Some writers put the file type there too; only the permission bits mean anything.
        Ok((self.unsigned("mode", 100..108)? & 0o7777) as u32)
    }

    pub(crate) fn uid(&self) -> Result<u64, TarErrorKind> {
        self.unsigned("uid", 108..116)
    }

    pub(crate) fn gid(&self) -> Result<u64, TarErrorKind> {
        self.unsigned("gid", 116..124)
    }

    pub(crate) fn mtime(&self) -> Result<i64, TarErrorKind> {
        let value = number("mtime", &self.bytes[136..148])?;
        i64::try_from(value).map_err(|_| out_of_range("mtime", &value))
    }

    /// The size; blank is an error, since everything behind it would shift.
    pub(crate) fn size(&self) -> Result<u64, TarErrorKind> {
        let field = &self.bytes[124..136];
        if blank(field) {
            return Err(TarErrorKind::Number { field: "size", bytes: field.to_vec() });
        }
        self.unsigned("size", 124..136)
    }

    /// Old GNU sparse: the file's full size.
    pub(crate) fn real_size(&self) -> Result<u64, TarErrorKind> {
        self.unsigned("real size", 483..495)
    }

    /// Old GNU sparse: the rows of the header, and whether extension blocks follow.
    pub(crate) fn sparse_rows(&self) -> (&[u8], bool) {
        (&self.bytes[386..482], self.bytes[482] != 0)
    }

    fn unsigned(
        &self,
        name: &'static str,
        range: std::ops::Range<usize>,
    ) -> Result<u64, TarErrorKind> {
        let value = number(name, &self.bytes[range])?;
        u64::try_from(value).map_err(|_| out_of_range(name, &value))
    }
}

/// A numeric field: octal digits between blanks, or base-256 with the top bit set. Blank is 0.
pub(crate) fn number(field: &'static str, bytes: &[u8]) -> Result<i128, TarErrorKind> {
    let wrong = || TarErrorKind::Number { field, bytes: bytes.to_vec() };
    match bytes {
        // Two's complement in the bits behind the first; twelve bytes at most, so it fits.
        [first, rest @ ..] if first & 0x80 != 0 => {
            let mut value = i128::from(first & 0x3f) - i128::from(first & 0x40);
            for byte in rest {
                value = (value << 8) | i128::from(*byte);
            }
            Ok(value)
        }
        _ if blank(bytes) => Ok(0),
        _ => octal(bytes).map(i128::from).ok_or_else(wrong),
    }
}

fn blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, 0 | b' '))
}

/// Octal digits with blanks in front and blanks or NULs behind, nothing else.
fn octal(bytes: &[u8]) -> Option<u64> {
    let text = bytes.trim_ascii_start();
    let digits = text.iter().take_while(|byte| matches!(byte, b'0'..=b'7')).count();
    if digits == 0 {
        return None;
    }
    let (digits, rest) = text.split_at(digits);
    // What follows the first NUL was never cleared by some writers.
    if !matches!(rest, [] | [0 | b' ', ..]) {
        return None;
    }
    // Twelve digits at most: 36 bits.
    Some(digits.iter().fold(0, |value, digit| value * 8 + u64::from(digit - b'0')))
}

pub(crate) fn out_of_range(field: &'static str, value: &impl ToString) -> TarErrorKind {
    TarErrorKind::OutOfRange { field, value: value.to_string() }
}

pub(crate) fn until_nul(field: &[u8]) -> &[u8] {
    field.split(|&byte| byte == 0).next().unwrap_or_default()
}

/// The kind of a type byte; sparse and contiguous files are files.
pub(crate) fn kind(type_flag: u8, path: &[u8]) -> Kind {
    match type_flag {
        b'0' | 0 | b'7' if path.ends_with(b"/") => Kind::Directory,
        b'0' | 0 | b'7' | b'S' => Kind::File,
        b'1' => Kind::HardLink,
        b'2' => Kind::Symlink,
        b'3' => Kind::CharDevice,
        b'4' => Kind::BlockDevice,
        b'5' => Kind::Directory,
        b'6' => Kind::Fifo,
        other => Kind::Other(other),
    }
}
