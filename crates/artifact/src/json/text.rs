//! Strings: the order of keys, the canonical escapes, and decoding.

use std::borrow::Cow;
use std::cmp::Ordering;

/// Compares two strings by their UTF-16 code units, which is how object keys are ordered.
///
/// It differs from Rust's order by code point only where a character beyond the BMP meets one of
/// U+E000..U+FFFF: the former is written with surrogates, which are smaller.
pub fn utf16_cmp(a: &str, b: &str) -> Ordering {
    let differs = a.bytes().zip(b.bytes()).find(|(x, y)| x != y);
    match differs {
        None => a.len().cmp(&b.len()),
        // Lead bytes: 0xEE and 0xEF start U+E000..U+FFFF, 0xF0 and above the rest.
        Some((x @ 0xEE.., y @ 0xEE..)) if (x >= 0xF0) != (y >= 0xF0) => y.cmp(&x),
        Some((x, y)) => x.cmp(&y),
    }
}

/// Writes a string with its quotes, escaped as `JSON.stringify` does: `"`, `\` and what lies
/// below U+0020, nothing else.
pub fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.extend_from_slice(&text.as_bytes()[from..at]);
        from = at + 1;
        match short_escape(byte) {
            Some(letter) => out.extend_from_slice(&[b'\\', letter]),
            None => {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                let (high, low) = (HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]);
                out.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
            }
        }
    }
    out.extend_from_slice(&text.as_bytes()[from..]);
    out.push(b'"');
}

/// The letter of the two-character escape that the canonical form wants for a byte.
const fn short_escape(byte: u8) -> Option<u8> {
    Some(match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        0x09 => b't',
        0x0A => b'n',
        0x0C => b'f',
        0x0D => b'r',
        _ => return None,
    })
}

/// One escape, read at the byte behind its backslash.
pub(super) enum Escape {
    /// The character it stands for, the bytes it takes behind the backslash, and whether the
    /// canonical form writes that character so.
    Char { value: char, len: usize, canonical: bool },
    /// A surrogate without its other half; legal JSON, but no Unicode text.
    LoneSurrogate,
    /// Not an escape of JSON.
    Invalid,
}

/// Reads the escape whose backslash stands just before `rest`.
pub(super) fn read_escape(rest: &[u8]) -> Escape {
    let Some(&letter) = rest.first() else { return Escape::Invalid };
    let value = match letter {
        b'"' | b'\\' | b'/' => char::from(letter),
        b'b' => '\u{8}',
        b't' => '\t',
        b'n' => '\n',
        b'f' => '\u{c}',
        b'r' => '\r',
        b'u' => return read_unicode_escape(rest),
        _ => return Escape::Invalid,
    };
    Escape::Char { value, len: 1, canonical: letter != b'/' }
}

fn read_unicode_escape(rest: &[u8]) -> Escape {
    let Some(unit) = hex4(rest.get(1..5)) else { return Escape::Invalid };
    if (0xDC00..0xE000).contains(&unit) {
        return Escape::LoneSurrogate;
    }
    if (0xD800..0xDC00).contains(&unit) {
        let low = match rest.get(5..7) {
            Some(b"\\u") => hex4(rest.get(7..11)),
            _ => None,
        };
        return match low {
            Some(low @ 0xDC00..0xE000) => {
                let code = 0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
                let value = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                Escape::Char { value, len: 11, canonical: false }
            }
            _ => Escape::LoneSurrogate,
        };
    }
    let Some(value) = char::from_u32(unit) else { return Escape::LoneSurrogate };
    let digits = &rest[1..5];
    let canonical = unit < 0x20
        && short_escape(unit as u8).is_none()
        && !digits.iter().any(u8::is_ascii_uppercase);
    Escape::Char { value, len: 5, canonical }
}

fn hex4(digits: Option<&[u8]>) -> Option<u32> {
    digits?.iter().try_fold(0, |sum, &digit| Some(sum * 16 + char::from(digit).to_digit(16)?))
}

/// The text of a string whose escapes were checked by the tokenizer; `raw` is what stands between
/// its quotes.
pub(super) fn decode(raw: &str, escaped: bool) -> Cow<'_, str> {
    if !escaped {
        return Cow::Borrowed(raw);
    }
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match read_escape(rest.as_bytes()) {
            Escape::Char { value, len, .. } => {
                text.push(value);
                rest = &rest[len..];
            }
            // The tokenizer let no other through.
            Escape::LoneSurrogate | Escape::Invalid => text.push(char::REPLACEMENT_CHARACTER),
        }
    }
    text.push_str(rest);
    Cow::Owned(text)
}
