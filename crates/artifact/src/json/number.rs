//! Numbers: the grammar of JSON and the shortest form of ECMAScript.

/// Writes a number as ECMAScript's `Number::toString` does, `-0` as `0`; what is not finite is
/// `null`, as in `JSON.stringify`.
pub fn write_number(value: f64, out: &mut Vec<u8>) {
    if value.is_finite() {
        out.extend_from_slice(ryu_js::Buffer::new().format_finite(value).as_bytes());
    } else {
        out.extend_from_slice(b"null");
    }
}

/// Length of the JSON number that `bytes` start with.
pub(super) fn scan(bytes: &[u8]) -> Option<usize> {
    let mut at = usize::from(bytes.first() == Some(&b'-'));
    at = match bytes.get(at)? {
        b'0' => at + 1,
        b'1'..=b'9' => digits(bytes, at),
        _ => return None,
    };
    if bytes.get(at) == Some(&b'.') {
        let end = digits(bytes, at + 1);
        if end == at + 1 {
            return None;
        }
        at = end;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let end = digits(bytes, at + 1 + sign);
        if end == at + 1 + sign {
            return None;
        }
        at = end;
    }
    Some(at)
}

fn digits(bytes: &[u8], from: usize) -> usize {
    from + bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Whether a scanned number is written in its canonical form.
pub(super) fn is_canonical(text: &str) -> bool {
    // Integers of up to 15 digits are exact, and the grammar allows no leading zero.
    if text.len() <= 15 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return true;
    }
    let value = parse(text);
    value.is_finite() && ryu_js::Buffer::new().format_finite(value) == text
}

/// The double nearest to a scanned number, infinite where it overflows.
pub(super) fn parse(text: &str) -> f64 {
    // Rust's grammar of floating point numbers holds all of JSON's.
    text.parse().unwrap_or(f64::NAN)
}
