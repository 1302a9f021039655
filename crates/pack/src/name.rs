//! What a pack may be named.

/// The form of a pack's name, as a regular expression.
pub const NAME_PATTERN: &str = "^[a-z][a-z0-9-]*[a-z0-9]$";

/// Fewest characters of a pack's name.
pub const MIN_NAME: usize = 2;

/// Most characters of a pack's name.
pub const MAX_NAME: usize = 80;

/// Whether a text has the form [`NAME_PATTERN`], whatever its length.
pub(crate) fn has_name_form(text: &str) -> bool {
    let bytes = text.as_bytes();
    let word = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    match bytes {
        [first, .., last] => {
            first.is_ascii_lowercase()
                && word(last)
                && bytes.iter().all(|byte| word(byte) || *byte == b'-')
        }
        _ => false,
    }
}

/// Whether a text can be a pack's name: the form, 2 to 80 characters.
pub fn is_pack_name(text: &str) -> bool {
    has_name_form(text) && (MIN_NAME..=MAX_NAME).contains(&text.len())
}
