//! Quotes that a plain value needs, as insertions.
//!
//! A fix never removes or replaces a byte: it puts one quote before the value, one behind it,
//! and doubles the quotes inside where there is no way around it. The text the value then has
//! is the text as it stood.

use std::ops::Range;

/// The quotes for one value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// The value, in bytes of the file.
    pub span: Range<usize>,
    quote: u8,
    /// Offsets of the inner quotes to double.
    doubled: Vec<usize>,
}

impl Fix {
    /// The quotes for the bytes `span` of a file; double ones if they need no escape.
    pub fn quote(bytes: &[u8], span: Range<usize>) -> Self {
        let value = &bytes[span.clone()];
        let quote =
            if value.iter().any(|byte| matches!(byte, b'"' | b'\\')) { b'\'' } else { b'"' };
        let inner = value.iter().enumerate().filter(|&(_, &byte)| byte == quote);
        let doubled = inner.map(|(at, _)| span.start + at).collect();
        Self { span, quote, doubled }
    }

    /// The value with its quotes, as it will stand in the file.
    pub fn quoted(&self, bytes: &[u8]) -> String {
        let mut out = Vec::new();
        let whole = &bytes[..self.span.end];
        insert(whole, self.insertions(), self.span.start, &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    pub(crate) fn insertions(&self) -> impl Iterator<Item = (usize, u8)> {
        let quote = self.quote;
        let ends = [(self.span.end, quote)];
        let inner = self.doubled.iter().map(move |&at| (at, quote));
        [(self.span.start, quote)].into_iter().chain(inner).chain(ends)
    }
}

/// The bytes of a file with the quotes of all `fixes` put in; everything else is as it was.
pub fn apply(bytes: &[u8], fixes: &[Fix]) -> Vec<u8> {
    let mut insertions: Vec<_> = fixes.iter().flat_map(Fix::insertions).collect();
    insertions.sort_by_key(|&(at, _)| at);
    let mut out = Vec::with_capacity(bytes.len() + insertions.len());
    insert(bytes, insertions.into_iter(), 0, &mut out);
    out
}

fn insert(
    bytes: &[u8],
    insertions: impl Iterator<Item = (usize, u8)>,
    mut at: usize,
    out: &mut Vec<u8>,
) {
    for (next, quote) in insertions {
        out.extend_from_slice(&bytes[at..next]);
        out.push(quote);
        at = next;
    }
    out.extend_from_slice(&bytes[at..]);
}
