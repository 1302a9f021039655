//! Foreign text on a terminal.
//!
//! File names, YAML values and JSON strings come from strangers. A control character in them can
//! move the cursor, a bidirectional override can make a line read backwards, and tag or zero-width
//! characters carry text nobody sees. Everything that is shown to people goes through
//! [`escape_foreign`]; JSON output stays exact.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether a character is a control character or has no glyph of its own: controls (C0, C1, DEL),
/// line and paragraph separators, bidirectional controls, zero-width characters and joiners,
/// variation selectors, tags, fillers and invisible operators.
///
/// These are Unicode's `Default_Ignorable_Code_Point`s plus `Cc`, `Zl`, `Zp` and the interlinear
/// annotation marks.
pub const fn is_hidden(c: char) -> bool {
    matches!(c,
        '\0'..='\x1f' | '\x7f'..='\u{9f}'
        | '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Shows what [`is_hidden`] of a text on one line: tab, line feed and carriage return as `\t`,
/// `\n`, `\r`, all others as `\u{…}`.
///
/// One text or emoji presentation selector right after a visible character outside ASCII is left
/// alone, because that is how ordinary emoji are written. The result is for eyes only: a backslash
/// that was there stays as it is.
pub fn escape_foreign(text: &str) -> Cow<'_, str> {
    let Some(first) = text.char_indices().find(|&(_, c)| is_hidden(c)).map(|(at, _)| at) else {
        return Cow::Borrowed(text);
    };
    let mut shown = String::with_capacity(text.len() + 16);
    shown.push_str(&text[..first]);
    let mut before = text[..first].chars().next_back();
    for c in text[first..].chars() {
        push_escaped(&mut shown, before, c);
        before = Some(c);
    }
    Cow::Owned(shown)
}

/// Appends `c` as [`escape_foreign`] shows it behind `before`.
pub(crate) fn push_escaped(shown: &mut String, before: Option<char>, c: char) {
    match c {
        '\t' => shown.push_str("\\t"),
        '\n' => shown.push_str("\\n"),
        '\r' => shown.push_str("\\r"),
        '\u{fe0e}' | '\u{fe0f}' if before.is_some_and(|b| !b.is_ascii() && !is_hidden(b)) => {
            shown.push(c);
        }
        c if is_hidden(c) => {
            // Writing into a String cannot fail.
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
        }
        c => shown.push(c),
    }
}
