//! BARE, the encoding inside the chunks: primitives with offsets, limits and measured tolerance.
//!
//! The two published decoders differ in what they let pass; [`Reader`] accepts whatever either
//! of them accepts and counts each tolerance it needed in [`Tolerances`], so that a validator can
//! say so. [`Writer`] writes only the canonical form.

use std::fmt;

/// Something one published decoder accepts and the other refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tolerance {
    /// A varint longer than its value needs.
    LongVarint,
    /// A bool or optional byte other than 0 and 1, taken as true.
    LooseBool,
    /// A map key given again; the last value wins.
    DuplicateKey,
    /// Bytes behind the root value of a chunk.
    TrailingBytes,
}

impl Tolerance {
    const ALL: [Self; 4] =
        [Self::LongVarint, Self::LooseBool, Self::DuplicateKey, Self::TrailingBytes];
}

/// How often a tolerance was needed, and where first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToleranceUse {
    /// Which one.
    pub tolerance: Tolerance,
    /// Offset in the file of the first use.
    pub offset: u64,
    /// Number of uses; for [`Tolerance::TrailingBytes`] the number of bytes.
    pub count: u64,
}

/// The tolerances needed while reading. Its size does not depend on the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tolerances([Option<(u64, u64)>; 4]);

impl Tolerances {
    /// Each tolerance that was needed.
    pub fn iter(&self) -> impl Iterator<Item = ToleranceUse> {
        Tolerance::ALL.into_iter().filter_map(|tolerance| {
            let (offset, count) = self.0[tolerance as usize]?;
            Some(ToleranceUse { tolerance, offset, count })
        })
    }

    /// Whether none was needed: both published decoders accept the bytes.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    pub(crate) fn note(&mut self, tolerance: Tolerance, offset: u64, count: u64) {
        let slot = self.0[tolerance as usize].get_or_insert((offset, 0));
        slot.1 += count;
    }
}

/// Why bytes are not the value they should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}, at byte {offset}")]
pub struct DecodeError {
    /// Offset in the file of the value that is wrong.
    pub offset: u64,
    /// A lower-case fragment.
    pub what: String,
}

/// A cursor over one chunk.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    base: u64,
    pub(crate) tolerances: Tolerances,
}

impl<'a> Reader<'a> {
    /// Reads `bytes`, whose first byte stands at `base` in the file.
    pub(crate) fn new(bytes: &'a [u8], base: u64) -> Self {
        Self { bytes, at: 0, base, tolerances: Tolerances::default() }
    }

    /// Position in the chunk.
    pub(crate) const fn position(&self) -> usize {
        self.at
    }

    /// Offset in the file.
    pub(crate) const fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    /// Bytes left.
    pub(crate) const fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub(crate) fn fail<T>(&self, at: usize, what: impl fmt::Display) -> Result<T, DecodeError> {
        Err(DecodeError { offset: self.base + at as u64, what: what.to_string() })
    }

    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8], DecodeError> {
        match self.bytes.get(self.at..).and_then(|rest| rest.get(..len)) {
            Some(taken) => {
                self.at += len;
                Ok(taken)
            }
            None => self.fail(
                self.at,
                format_args!("{len} bytes are wanted and {} are left", self.remaining()),
            ),
        }
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N)?);
        Ok(out)
    }

    #[inline]
    pub(crate) fn uint(&mut self) -> Result<u64, DecodeError> {
        match self.bytes.get(self.at) {
            Some(&byte) if byte < 0x80 => {
                self.at += 1;
                Ok(u64::from(byte))
            }
            _ => self.long_uint(),
        }
    }

    #[cold]
    fn long_uint(&mut self) -> Result<u64, DecodeError> {
        let start = self.at;
        let mut value = 0;
        for group in 0..10 {
            let [byte] = self.array()?;
            if group == 9 && byte > 1 {
                return self.fail(start, "a varint is larger than 64 bits");
            }
            value |= u64::from(byte & 0x7f) << (7 * group);
            if byte < 0x80 {
                if byte == 0 && group > 0 {
                    self.tolerances.note(Tolerance::LongVarint, self.base + start as u64, 1);
                }
                return Ok(value);
            }
        }
        self.fail(start, "a varint is longer than 10 bytes")
    }

    #[inline]
    pub(crate) fn bool(&mut self) -> Result<bool, DecodeError> {
        let [byte] = self.array()?;
        if byte > 1 {
            self.tolerances.note(Tolerance::LooseBool, self.base + self.at as u64 - 1, 1);
        }
        Ok(byte != 0)
    }

    #[inline]
    pub(crate) fn str(&mut self) -> Result<&'a str, DecodeError> {
        let start = self.at;
        let len = self.uint()?;
        let text_at = self.at;
        let taken = usize::try_from(len).ok().filter(|len| *len <= self.remaining());
        let Some(len) = taken else {
            return self.fail(
                start,
                format_args!("a text of {len} bytes with {} bytes left", self.remaining()),
            );
        };
        match std::str::from_utf8(self.take(len)?) {
            Ok(text) => Ok(text),
            Err(error) => self.fail(text_at + error.valid_up_to(), "a text is not UTF-8"),
        }
    }

    pub(crate) fn optional<T>(
        &mut self,
        item: impl FnOnce(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<Option<T>, DecodeError> {
        if self.bool()? { item(self).map(Some) } else { Ok(None) }
    }

    /// A list whose items take at least `least` bytes each. What is reserved is bounded by the
    /// bytes that are there, whatever the count says.
    pub(crate) fn list<T>(
        &mut self,
        least: usize,
        mut item: impl FnMut(&mut Self, usize) -> Result<T, DecodeError>,
    ) -> Result<Vec<T>, DecodeError> {
        let count = self.count(least)?;
        let mut out = Vec::with_capacity(count);
        for index in 0..count {
            out.push(item(self, index)?);
        }
        Ok(out)
    }

    /// The count of a list or map whose items take at least `least` bytes.
    pub(crate) fn count(&mut self, least: usize) -> Result<usize, DecodeError> {
        let start = self.at;
        let count = self.uint()?;
        let most = self.remaining() / least;
        match usize::try_from(count) {
            Ok(count) if count <= most => Ok(count),
            _ => self.fail(
                start,
                format_args!("a count of {count} with {} bytes left", self.remaining()),
            ),
        }
    }

    /// Notes what is left behind the root value.
    pub(crate) fn finish(mut self) -> Tolerances {
        if self.remaining() > 0 {
            let (offset, left) = (self.offset(), self.remaining() as u64);
            self.tolerances.note(Tolerance::TrailingBytes, offset, left);
        }
        self.tolerances
    }
}

/// Bytes written in canonical form.
#[derive(Debug, Default)]
pub(crate) struct Writer(pub(crate) Vec<u8>);

impl Writer {
    pub(crate) fn uint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    pub(crate) fn bool(&mut self, value: bool) {
        self.0.push(u8::from(value));
    }

    pub(crate) fn str(&mut self, text: &str) {
        self.uint(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    pub(crate) fn optional<T>(&mut self, value: Option<T>, item: impl FnOnce(&mut Self, T)) {
        self.bool(value.is_some());
        if let Some(value) = value {
            item(self, value);
        }
    }

    pub(crate) fn list<T>(&mut self, items: &[T], mut item: impl FnMut(&mut Self, &T)) {
        self.uint(items.len() as u64);
        for each in items {
            item(self, each);
        }
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}
