//! Text that a person does not see and a model reads.
//!
//! [`scan`] finds characters without a glyph where no script needs them: tags, bidirectional
//! controls, zero-width characters, variation selectors in rows, fillers. What ordinary text is
//! made of passes: joiners in emoji and in Arabic and Indic scripts, direction marks beside
//! right-to-left letters, one variation selector behind a character that has variants, flags of
//! regions spelt in tags.

use std::ops::Range;

use holdall_diagnostics::{Code, Diagnostic, Severity, SourceText, is_hidden};

use crate::codes;

/// Findings of one file that are reported one by one; the rest is counted.
const MAX_FINDINGS: usize = 20;

/// A row of hidden characters of one sort.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hidden {
    /// The bytes.
    pub range: Range<usize>,
    /// Which sort.
    pub sort: Sort,
    /// How many characters.
    pub count: usize,
    /// The first of them.
    pub first: char,
    /// Whether there is no innocent reading.
    pub severe: bool,
}

/// Sorts of hidden characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sort {
    /// U+E0000 to U+E007F: ASCII text that nothing shows.
    Tag,
    /// Embeddings, overrides, isolates: the text reads in another order than it is stored.
    Bidi,
    /// Zero-width spaces and joiners.
    ZeroWidth,
    /// Variation selectors, of which a row can carry bytes.
    Variation,
    /// Everything else without a glyph: fillers, controls, separators, lone direction marks.
    Other,
}

/// Every row of hidden characters in `text` that no script needs.
pub fn scan(text: &str) -> Vec<Hidden> {
    // Most files have nothing but ASCII and need no look at characters.
    let plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r' | b'\x0c');
    if text.as_bytes().iter().all(plain) {
        return Vec::new();
    }
    let mut found: Vec<Hidden> = Vec::new();
    let mut before: Option<char> = None;
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let next = rest.peek().map(|&(_, c)| c);
        if c == FLAG
            && let Some(end) = region_flag(&text[at..])
        {
            while rest.next_if(|&(next, _)| next < at + end).is_some() {}
            before = Some(FLAG);
            continue;
        }
        if let Some((sort, severe)) = sort(text, at, c, before, next) {
            let range = at..at + c.len_utf8();
            match found.last_mut() {
                Some(last) if last.sort == sort && last.range.end == at => {
                    last.range.end = range.end;
                    last.count += 1;
                    // One stray selector is an accident of an editor, a row of them is a message.
                    last.severe |= severe || sort == Sort::Variation;
                }
                _ => found.push(Hidden { range, sort, count: 1, first: c, severe }),
            }
        }
        before = Some(c);
    }
    found
}

/// The findings of [`scan`] over a whole file, with places; nothing if it is not UTF-8.
pub fn diagnostics(source: &SourceText) -> Vec<Diagnostic> {
    let Ok(text) = std::str::from_utf8(source.bytes()) else { return Vec::new() };
    // A mark at the very start is reported where the document is split.
    let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let found = scan(&text[start..]);
    let mut reports: Vec<_> = found
        .iter()
        .take(MAX_FINDINGS)
        .map(|hidden| hidden.diagnostic(source, &text[start..], start))
        .collect();
    if let (Some(last), Some(next)) = (reports.last_mut(), found.get(MAX_FINDINGS)) {
        let more = found.len() - MAX_FINDINGS;
        let line = source.position(next.range.start + start).line;
        last.message += &format!("; {more} more from line {line} on");
    }
    reports
}

impl Hidden {
    fn diagnostic(&self, source: &SourceText, text: &str, start: usize) -> Diagnostic {
        let point = u32::from(self.first);
        let count = self.count;
        let (code, message): (&Code, String) = match self.sort {
            Sort::Tag => {
                let says: String = text[self.range.clone()]
                    .chars()
                    .filter_map(|c| char::from_u32(u32::from(c) - 0xe0000))
                    .map(|c| if c.is_ascii_graphic() || c == ' ' { c } else { '·' })
                    .take(80)
                    .collect();
                (&codes::HIDDEN_TAGS, format!("{count} invisible tag characters that say `{says}`"))
            }
            Sort::Bidi => (
                &codes::HIDDEN_BIDI,
                format!("bidirectional control U+{point:04X}: what follows reads in another order"),
            ),
            Sort::ZeroWidth => (
                &codes::HIDDEN_ZERO_WIDTH,
                match count {
                    1 => format!("zero-width character U+{point:04X}"),
                    _ => format!("{count} zero-width characters, the first U+{point:04X}"),
                },
            ),
            Sort::Variation if count > 1 => (
                &codes::HIDDEN_VARIATION,
                format!("{count} variation selectors in a row, which can carry hidden text"),
            ),
            Sort::Variation => (
                &codes::HIDDEN_VARIATION,
                format!("variation selector U+{point:04X} behind a character without variants"),
            ),
            Sort::Other => (&codes::HIDDEN_OTHER, format!("invisible character U+{point:04X}")),
        };
        let severity = if self.severe { Severity::Error } else { code.severity };
        Diagnostic::new(code, message)
            .severity(severity)
            .span(source, self.range.start + start..self.range.end + start)
            .help("delete it, or write it as an escape if the text is about it")
    }
}

const FLAG: char = '\u{1f3f4}';

/// The length of a flag spelt in tags: the black flag, letters and digits, the cancel tag.
fn region_flag(text: &str) -> Option<usize> {
    let mut letters = 0;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\u{e0030}'..='\u{e0039}' | '\u{e0061}'..='\u{e007a}' if letters < 6 => letters += 1,
            '\u{e007f}' if letters >= 3 => return Some(at + c.len_utf8()),
            _ => return None,
        }
    }
    None
}

fn sort(
    text: &str,
    at: usize,
    c: char,
    before: Option<char>,
    next: Option<char>,
) -> Option<(Sort, bool)> {
    if matches!(c, '\t' | '\n' | '\r' | '\x0c') || !is_hidden(c) {
        return None;
    }
    let beside = |test: fn(char) -> bool| before.is_some_and(test) || next.is_some_and(test);
    match c {
        '\u{e0000}'..='\u{e007f}' => Some((Sort::Tag, true)),
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            let line = line_around(text, at);
            let innocent = line.chars().any(is_right_to_left) && is_balanced(line);
            (!innocent).then_some((Sort::Bidi, true))
        }
        '\u{200e}' | '\u{200f}' | '\u{61c}' => {
            let innocent = line_around(text, at).chars().any(is_right_to_left);
            (!innocent).then_some((Sort::Other, false))
        }
        '\u{200d}' if before.is_some_and(is_emoji_part) && next.is_some_and(is_emoji_part) => None,
        '\u{200c}' | '\u{200d}' if beside(needs_joiners) => None,
        '\u{200b}' if beside(has_no_spaces) => None,
        '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' => Some((Sort::ZeroWidth, false)),
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => {
            let keycap = before.is_some_and(|c| matches!(c, '0'..='9' | '#' | '*'));
            let innocent = match before {
                Some(_) if c == '\u{fe0f}' && keycap => true,
                Some(before) => !before.is_ascii() && !is_hidden(before),
                None => false,
            };
            (!innocent).then_some((Sort::Variation, false))
        }
        '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' if beside(is_hangul) => None,
        '\u{180b}'..='\u{180f}' if beside(|c| matches!(c, '\u{1800}'..='\u{18af}')) => None,
        '\u{85}' => None,
        _ => Some((Sort::Other, false)),
    }
}

fn line_around(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |at| at + 1);
    let end = text[at..].find('\n').map_or(text.len(), |length| at + length);
    &text[start..end]
}

/// Whether every embedding and isolate of a line is closed on it, and no override is used.
fn is_balanced(line: &str) -> bool {
    let mut open = Vec::new();
    for c in line.chars() {
        match c {
            '\u{202a}' | '\u{202b}' => open.push('\u{202c}'),
            '\u{2066}'..='\u{2068}' => open.push('\u{2069}'),
            '\u{202d}' | '\u{202e}' => return false,
            '\u{202c}' | '\u{2069}' if open.pop() != Some(c) => return false,
            _ => {}
        }
    }
    open.is_empty()
}

/// Letters of Hebrew, Arabic, Syriac, Thaana, `NKo` and their neighbours.
const fn is_right_to_left(c: char) -> bool {
    matches!(c,
        '\u{590}'..='\u{60f}' | '\u{61d}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}'
        | '\u{fe70}'..='\u{fefc}' | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}

/// Scripts in which joiners decide how letters are shaped: Arabic and its kin, Indic, Mongolian.
const fn needs_joiners(c: char) -> bool {
    is_right_to_left(c)
        || matches!(c, '\u{900}'..='\u{109f}' | '\u{1780}'..='\u{18af}' | '\u{1b00}'..='\u{1b7f}'
            | '\u{a800}'..='\u{abff}' | '\u{11000}'..='\u{11fff}')
}

/// Scripts written without spaces, where a zero-width space says where a line may break.
const fn has_no_spaces(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{1950}'..='\u{19ff}'
        | '\u{1a00}'..='\u{1aaf}' | '\u{1b00}'..='\u{1bbf}' | '\u{a980}'..='\u{aadf}')
}

const fn is_hangul(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{11ff}' | '\u{3131}'..='\u{318e}' | '\u{ac00}'..='\u{d7ff}'
        | '\u{ffa1}'..='\u{ffdc}')
}

/// What an emoji sequence is joined from: pictures, skin tones, the emoji selector.
const fn is_emoji_part(c: char) -> bool {
    matches!(c, '\u{1f000}'..='\u{1faff}' | '\u{2190}'..='\u{2bff}' | '\u{fe0f}' | '\u{a9}' | '\u{ae}'
        | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}')
}
