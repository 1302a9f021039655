//! Reading on behind a missing quote.
//!
//! When the parser stops at a value that only lacks its quotes, the quotes are supplied in
//! memory and the text is read again. The supplied quotes become the [`Fix`]es of the document,
//! so what `--fix` writes is what was read here.

use std::borrow::Cow;
use std::ops::Range;

use granit_parser::ErrorKind;
use holdall_diagnostics::{Diagnostic, SourceText};

use super::Parsed;
use super::build::{Stop, build};
use crate::codes;
use crate::fix::Fix;
use crate::frontmatter::Document;

/// Values that are repaired in one document before the parser's word is final.
const MAX_REPAIRS: usize = 100;

/// From offsets of the repaired YAML text to offsets of the file.
#[derive(Debug, Default)]
pub(super) struct Offsets {
    base: usize,
    /// Insertions in the order of the text, each at its offset in the repaired text.
    inserted: Vec<usize>,
}

impl Offsets {
    fn new(base: usize, fixes: &[Fix]) -> Self {
        let mut at: Vec<_> =
            fixes.iter().flat_map(Fix::insertions).map(|(at, _)| at - base).collect();
        at.sort_unstable();
        let inserted = at.into_iter().enumerate().map(|(before, at)| at + before).collect();
        Self { base, inserted }
    }

    pub(super) fn to_file(&self, offset: usize) -> usize {
        self.base + offset - self.inserted.partition_point(|&at| at < offset)
    }
}

pub(super) fn parse(document: &Document) -> Parsed {
    let source = document.source();
    let mut diagnostics = Vec::new();
    if document.has_bom() {
        let message = "the file begins with a byte order mark";
        let found = Diagnostic::new(&codes::BOM, message)
            .span(source, 0..3)
            .help("save it as UTF-8 without one: several agent hosts see no frontmatter behind it");
        diagnostics.push(found);
    }
    let mut fixes = Vec::new();
    let mut result = attempt(document, &fixes);
    while let Err(stop) = &result {
        if fixes.len() >= MAX_REPAIRS {
            break;
        }
        let Some((fix, found)) = find(document, stop) else { break };
        let end = fix.span.end;
        if fixes.iter().any(|known: &Fix| known.span.start < end && fix.span.start < known.span.end)
        {
            break;
        }
        fixes.push(fix);
        let next = attempt(document, &fixes);
        // Quotes that do not get the parser past the value were not what it lacked.
        if next.as_ref().is_err_and(|next| next.at < end || next.at <= stop.at) {
            fixes.pop();
            break;
        }
        diagnostics.push(found);
        result = next;
    }
    let root = match result {
        Ok(built) => {
            diagnostics.extend(built.diagnostics);
            if built.root.is_none() {
                // `...` alone: lines, and no document in them.
                let found = Diagnostic::new(&codes::FRONTMATTER_MISSING, "empty frontmatter")
                    .span(source, document.yaml_range())
                    .help("write the document's fields between the two `---`");
                diagnostics.push(found);
            }
            built.root
        }
        Err(stop) => {
            diagnostics.push(*stop.diagnostic);
            None
        }
    };
    Parsed { root, diagnostics, fixes }
}

fn attempt(document: &Document, fixes: &[Fix]) -> Result<super::build::Built, Stop> {
    let range = document.yaml_range();
    let offsets = Offsets::new(range.start, fixes);
    let text = if fixes.is_empty() {
        Cow::Borrowed(document.yaml())
    } else {
        // Insertions beyond the frontmatter do not exist, so the prefix of the file is enough.
        let whole = crate::fix::apply(&document.source().bytes()[..range.end], fixes);
        Cow::Owned(String::from_utf8(whole).unwrap_or_default().split_off(range.start))
    };
    build(&text, &offsets, document.source())
}

/// The value that the parser stopped in, with the quotes it lacks and the finding to show.
fn find(document: &Document, stop: &Stop) -> Option<(Fix, Diagnostic)> {
    stop.kind.as_ref()?;
    let source = document.source();
    let bytes = source.bytes();
    let yaml = document.yaml_range();
    let mut at = stop.at.min(yaml.end.saturating_sub(1));
    // The parser often notices only at the next token: look at the line it stopped in, then at
    // the last line with content before it.
    for _ in 0..2 {
        let line = line_of(bytes, &yaml, at);
        if let Some(value) = value_of(bytes, &line)
            && let Some(fault) = Fault::of(bytes, &value, stop)
        {
            let value = value_and_continuation(bytes, &yaml, &line, value)?;
            let fix = Fix::quote(bytes, value);
            let found = fault.diagnostic(source, &fix, &line);
            return Some((fix, found));
        }
        at = bytes[yaml.start..line.start].iter().rposition(|byte| !byte.is_ascii_whitespace())?
            + yaml.start;
    }
    None
}

/// What a value without quotes lacks them for.
enum Fault {
    Colon(usize),
    BehindBracket(usize),
    Reserved(usize),
}

impl Fault {
    fn of(bytes: &[u8], value: &Range<usize>, stop: &Stop) -> Option<Self> {
        let text = &bytes[value.clone()];
        match text.first()? {
            b'[' | b'{' => {
                let close = closing_bracket(text)?;
                let behind = text[close..].iter().position(|byte| !matches!(byte, b' ' | b'\t'))?;
                let at = value.start + close + behind;
                (text[close + behind] != b'#').then_some(Self::BehindBracket(at))
            }
            b'@' | b'`' | b'%' | b',' | b']' | b'}' => Some(Self::Reserved(value.start)),
            b'*' if matches!(stop.kind, Some(ErrorKind::UnknownAnchor))
                || stop.at >= value.start =>
            {
                Some(Self::Reserved(value.start))
            }
            b'|' | b'>' | b'&' if text.len() > 1 => {
                // Indicators with a meaning of their own: only what can be no such thing.
                let next = text[1];
                let is_text = match text[0] {
                    b'|' | b'>' => matches!(
                        stop.kind,
                        Some(
                            ErrorKind::InvalidBlockScalarHeader | ErrorKind::ZeroBlockScalarIndent
                        )
                    ),
                    _ => matches!(next, b' ' | b'&'),
                };
                is_text.then_some(Self::Reserved(value.start))
            }
            b'"' | b'\'' | b'|' | b'>' | b'&' | b'!' => None,
            _ => colon(text).map(|at| Self::Colon(value.start + at)),
        }
    }

    fn diagnostic(&self, source: &SourceText, fix: &Fix, line: &Range<usize>) -> Diagnostic {
        let quoted = fix.quoted(source.bytes());
        let before = String::from_utf8_lossy(&source.bytes()[line.start..fix.span.start]);
        let short = quoted.chars().count() <= 60 && !quoted.contains('\n');
        let shown = if short { quoted } else { format!("{0}…{0}", &quoted[..1]) };
        let help = format!(
            "put the value in quotes, `{}{shown}`, or let `holdall validate --fix` do it",
            before.trim_start(),
        );
        match *self {
            Self::Colon(at) => {
                let message = "`: ` in a value without quotes";
                Diagnostic::new(&codes::COLON_IN_PLAIN, message).span(source, at..at + 1)
            }
            Self::BehindBracket(at) => {
                let message = "the value goes on behind its closing bracket";
                Diagnostic::new(&codes::TEXT_BEHIND_BRACKET, message).span(source, at..at + 1)
            }
            Self::Reserved(at) => {
                let c = char::from(source.bytes()[at]);
                let message = format!("a value without quotes begins with `{c}`");
                Diagnostic::new(&codes::RESERVED_START, message).span(source, at..at + 1)
            }
        }
        .help(help)
    }
}

/// The line that holds `at`, without its ending.
fn line_of(bytes: &[u8], yaml: &Range<usize>, at: usize) -> Range<usize> {
    let at = at.clamp(yaml.start, yaml.end);
    let start = bytes[yaml.start..at]
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(yaml.start, |before| yaml.start + before + 1);
    let mut end = bytes[start..yaml.end]
        .iter()
        .position(|&byte| byte == b'\n')
        .map_or(yaml.end, |length| start + length);
    if end > start && bytes[end - 1] == b'\r' {
        end -= 1;
    }
    start..end
}

/// The value of a line `key: value`, `- value` or `- key: value`, without its comment.
fn value_of(bytes: &[u8], line: &Range<usize>) -> Option<Range<usize>> {
    let text = &bytes[line.clone()];
    let mut at = blanks(text, 0);
    let mut item = false;
    while text.get(at) == Some(&b'-') && matches!(text.get(at + 1), Some(b' ' | b'\t')) {
        at = blanks(text, at + 1);
        item = true;
    }
    let start = match key_end(text, at) {
        Some(colon) => blanks(text, colon + 1),
        None if item => at,
        None => return None,
    };
    let mut end = text.len();
    let plain = !matches!(text.get(start), Some(b'"' | b'\''));
    if plain {
        let comment =
            (start..end).find(|&at| text[at] == b'#' && at > start && is_blank(text[at - 1]));
        end = comment.unwrap_or(end);
    }
    while end > start && is_blank(text[end - 1]) {
        end -= 1;
    }
    (end > start).then_some(line.start + start..line.start + end)
}

/// Where the colon of the line's key stands.
fn key_end(text: &[u8], start: usize) -> Option<usize> {
    match text.get(start)? {
        quote @ (b'"' | b'\'') => {
            let close = start + 1 + text[start + 1..].iter().position(|byte| byte == quote)?;
            let colon = blanks(text, close + 1);
            (text.get(colon) == Some(&b':')).then_some(colon)
        }
        b'[' | b'{' | b'#' | b'@' | b'`' | b'%' | b'*' | b'&' | b'!' | b'|' | b'>' | b'?' => None,
        _ => Some(start + colon(&text[start..])?),
    }
}

/// The first colon that YAML takes for the end of a key: one before a blank or the line's end.
fn colon(text: &[u8]) -> Option<usize> {
    (0..text.len())
        .find(|&at| text[at] == b':' && text.get(at + 1).is_none_or(|&byte| is_blank(byte)))
}

/// The offset behind the bracket that closes the one `text` begins with.
fn closing_bracket(text: &[u8]) -> Option<usize> {
    let mut depth = 0usize;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// A plain value goes on in the lines below it that are indented deeper than its own. Lines that
/// look like keys may be wrongly indented fields rather than text; then nothing is proposed.
fn value_and_continuation(
    bytes: &[u8],
    yaml: &Range<usize>,
    line: &Range<usize>,
    value: Range<usize>,
) -> Option<Range<usize>> {
    let indent = blanks(&bytes[line.clone()], 0);
    let mut end = value.end;
    let mut at = next_line(bytes, line.end);
    // A comment ends the value; what follows it is no continuation.
    let commented = bytes[value.end..line.end].iter().any(|&byte| !is_blank(byte));
    while at < yaml.end {
        let next = line_of(bytes, yaml, at);
        let text = &bytes[next.clone()];
        let start = blanks(text, 0);
        let blank = start == text.len();
        if !blank && start <= indent {
            break;
        }
        if !blank {
            let comment = text
                .iter()
                .enumerate()
                .any(|(at, &byte)| byte == b'#' && (at == 0 || is_blank(text[at - 1])));
            if commented || comment || colon(&text[start..]).is_some() {
                return None;
            }
            end = next.end - text.iter().rev().take_while(|&&byte| is_blank(byte)).count();
        }
        at = next_line(bytes, next.end);
    }
    Some(value.start..end)
}

fn next_line(bytes: &[u8], end: usize) -> usize {
    match bytes.get(end..) {
        Some([b'\r', b'\n', ..]) => end + 2,
        _ => end + 1,
    }
}

fn blanks(text: &[u8], from: usize) -> usize {
    from + text[from..].iter().take_while(|&&byte| is_blank(byte)).count()
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}
