//! Byte offsets into lines and columns.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;

/// A place in a text: `line` and `column` from 1, the column in Unicode scalar values, `offset`
/// in bytes from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in Unicode scalar values, from 1.
    pub column: usize,
    /// Bytes from the start of the file, a byte order mark included.
    pub offset: usize,
}

/// A range of a text; `end` is exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Span {
    /// The first place.
    pub start: Position,
    /// The place behind the last.
    pub end: Position,
}

/// The bytes of one file with its line table; cheap to clone.
///
/// The bytes need not be UTF-8: what is not counts one column a byte sequence that a lossy
/// decoder would replace.
#[derive(Clone, PartialEq, Eq)]
pub struct SourceText(Arc<Inner>);

#[derive(PartialEq, Eq)]
struct Inner {
    bytes: Vec<u8>,
    line_starts: Vec<usize>,
}

impl fmt::Debug for SourceText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SourceText({} bytes)", self.0.bytes.len())
    }
}

impl SourceText {
    /// Takes the bytes of a file. Lines end at `\n`, `\r\n` or a lone `\r`.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        let mut line_starts = vec![0];
        for (at, &byte) in bytes.iter().enumerate() {
            let ends_line = byte == b'\n' || (byte == b'\r' && bytes.get(at + 1) != Some(&b'\n'));
            if ends_line {
                line_starts.push(at + 1);
            }
        }
        Self(Arc::new(Inner { bytes, line_starts }))
    }

    /// The bytes of the file.
    pub fn bytes(&self) -> &[u8] {
        &self.0.bytes
    }

    /// Line, column and offset of a byte offset; one past the end is the end.
    pub fn position(&self, offset: usize) -> Position {
        let offset = offset.min(self.0.bytes.len());
        let line = self.0.line_starts.partition_point(|&start| start <= offset);
        let before = &self.0.bytes[self.0.line_starts[line - 1]..offset];
        // Lossy decoding copies; a minified file is one line of megabytes and mostly valid.
        let chars = match std::str::from_utf8(before) {
            Ok(text) => text.chars().count(),
            Err(_) => String::from_utf8_lossy(before).chars().count(),
        };
        Position { line, column: chars + 1, offset }
    }

    /// The span of a byte range.
    pub fn span(&self, range: Range<usize>) -> Span {
        Span { start: self.position(range.start), end: self.position(range.end.max(range.start)) }
    }

    /// The byte offset at which a line begins, `line` from 1; the end of the text beyond the last.
    pub fn line_start(&self, line: usize) -> usize {
        let start = line.checked_sub(1).and_then(|at| self.0.line_starts.get(at));
        start.copied().unwrap_or(self.0.bytes.len())
    }

    /// A line's bytes without its ending, `line` from 1; empty beyond the last.
    pub fn line(&self, line: usize) -> &[u8] {
        let Some(&start) = line.checked_sub(1).and_then(|at| self.0.line_starts.get(at)) else {
            return &[];
        };
        let end = self.0.line_starts.get(line).copied().unwrap_or(self.0.bytes.len());
        let mut text = &self.0.bytes[start..end];
        while let [rest @ .., b'\n' | b'\r'] = text {
            text = rest;
        }
        text
    }
}
