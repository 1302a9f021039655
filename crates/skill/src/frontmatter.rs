//! Where the frontmatter of a document ends and its body begins.
//!
//! One splitter for every document there is (`SKILL.md`, `PACK.md`, `APP.md`, products), so that
//! two readers never disagree. The dialect is the one of `pack-v1` section 1.4: a byte order
//! mark and CRLF are read, the opening and the closing line are `---` followed by blanks only,
//! a missing closing line is an error, and no language but YAML is ever looked at. Nothing is
//! evaluated. All offsets are bytes of the whole file, a byte order mark included.

use std::ops::Range;

use holdall_diagnostics::{Diagnostic, SourceText};

use crate::codes;

/// Documents larger than this are not read at all.
pub const MAX_DOCUMENT: u64 = 16 * 1024 * 1024;

/// Frontmatter larger than this is refused before it is parsed.
pub const MAX_FRONTMATTER: usize = 1024 * 1024;

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// A document whose frontmatter has been found.
#[derive(Debug, Clone)]
pub struct Document {
    source: SourceText,
    bom: bool,
    yaml: Range<usize>,
    body: Range<usize>,
}

/// Why a file has no usable frontmatter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SplitError {
    /// The bytes are not UTF-8.
    #[error("not UTF-8: byte {byte:#04x} at offset {offset}")]
    NotUtf8 {
        /// Where the first wrong byte is.
        offset: usize,
        /// That byte.
        byte: u8,
    },
    /// The first line is not `---`.
    #[error("missing frontmatter: the file does not begin with a line `---`")]
    Missing {
        /// The first line's bytes.
        first: Range<usize>,
        /// What stands in the way, where that can be told.
        hint: &'static str,
    },
    /// There is frontmatter, and nothing in it but blanks and comments.
    #[error("empty frontmatter")]
    Empty {
        /// From the opening line to the closing one.
        span: Range<usize>,
    },
    /// The opening line names a language, as in `---js`.
    #[error("frontmatter in the language `{word}` is refused; only YAML is read")]
    Language {
        /// The word behind `---`.
        word: String,
        /// Where it stands.
        span: Range<usize>,
    },
    /// There is no closing line.
    #[error("frontmatter is not closed: there is no line `---` behind the opening one")]
    Unclosed {
        /// The opening line.
        opening: Range<usize>,
    },
    /// A line begins with `---` and goes on, which some readers take for the closing line.
    #[error("a line of the frontmatter begins with `---` and is not the closing line")]
    AmbiguousFence {
        /// The line.
        span: Range<usize>,
    },
    /// More than [`MAX_FRONTMATTER`] bytes.
    #[error("frontmatter is larger than {MAX_FRONTMATTER} bytes")]
    TooLarge {
        /// The opening line.
        opening: Range<usize>,
    },
    /// A character that YAML does not allow, or a carriage return without a line feed.
    #[error("frontmatter holds {what}")]
    Control {
        /// The character in words.
        what: String,
        /// Where it stands.
        span: Range<usize>,
    },
}

impl SplitError {
    /// Whether a reader without diagnostics of its own would say "missing or empty".
    pub const fn is_missing_or_empty(&self) -> bool {
        matches!(self, Self::Missing { .. } | Self::Empty { .. })
    }

    /// The bytes it concerns.
    pub fn span(&self) -> Range<usize> {
        match self {
            Self::NotUtf8 { offset, .. } => *offset..*offset + 1,
            Self::Missing { first: span, .. }
            | Self::Empty { span }
            | Self::Language { span, .. }
            | Self::Unclosed { opening: span }
            | Self::AmbiguousFence { span }
            | Self::TooLarge { opening: span }
            | Self::Control { span, .. } => span.clone(),
        }
    }

    /// The finding to show for it; `source` is the file it came from.
    pub fn diagnostic(&self, source: &SourceText) -> Diagnostic {
        let (code, help) = match self {
            Self::NotUtf8 { .. } => (&codes::NOT_UTF8, "save the file as UTF-8"),
            Self::Missing { hint, .. } => (&codes::FRONTMATTER_MISSING, *hint),
            Self::Empty { .. } => {
                (&codes::FRONTMATTER_MISSING, "write the document's fields between the two `---`")
            }
            Self::Language { .. } => {
                (&codes::FRONTMATTER_LANGUAGE, "write the fields as YAML below a plain `---`")
            }
            Self::Unclosed { .. } => {
                (&codes::FRONTMATTER_UNCLOSED, "end the fields with a line that is only `---`")
            }
            Self::AmbiguousFence { .. } => (
                &codes::FRONTMATTER_FENCE,
                "some readers close the frontmatter here: make it exactly `---`, or indent it",
            ),
            Self::TooLarge { .. } => {
                (&codes::LIMIT, "move the text into the body, behind the closing `---`")
            }
            Self::Control { .. } => (&codes::CONTROL, "remove the character"),
        };
        Diagnostic::new(code, self.to_string()).span(source, self.span()).help(help)
    }
}

impl Document {
    /// Finds the frontmatter of a file's bytes.
    pub fn split(source: &SourceText) -> Result<Self, SplitError> {
        let bytes = source.bytes();
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let offset = error.valid_up_to();
                return Err(SplitError::NotUtf8 { offset, byte: bytes[offset] });
            }
        };
        let start = if bytes.starts_with(BOM) { BOM.len() } else { 0 };
        let first = line_at(bytes, start);
        opening_line(text, &first)?;
        let yaml_start = first.next;
        let opening = first.start..first.end;

        let mut at = yaml_start;
        let closing = loop {
            if at - yaml_start > MAX_FRONTMATTER {
                return Err(SplitError::TooLarge { opening });
            }
            if at >= bytes.len() {
                // Characters that end a reader's view early explain the missing line best.
                check_characters(text, yaml_start..bytes.len().min(yaml_start + MAX_FRONTMATTER))?;
                return Err(SplitError::Unclosed { opening });
            }
            let line = line_at(bytes, at);
            let content = &bytes[line.start..line.end];
            if content.starts_with(b"---") {
                if content.ends_with(b"\r") {
                    check_characters(text, line.end - 1..line.end)?;
                }
                if !is_blank(&content[3..]) {
                    return Err(SplitError::AmbiguousFence { span: line.start..line.end });
                }
                break line;
            }
            at = line.next;
        };
        let yaml = yaml_start..closing.start;
        check_characters(text, yaml.clone())?;
        let empty = text[yaml.clone()].lines().all(|line| {
            let line = line.trim_matches([' ', '\t']);
            line.is_empty() || line.starts_with('#')
        });
        if empty {
            return Err(SplitError::Empty { span: first.start..closing.end });
        }
        let body = closing.next..bytes.len();
        Ok(Self { source: source.clone(), bom: start > 0, yaml, body })
    }

    /// The whole file.
    pub const fn source(&self) -> &SourceText {
        &self.source
    }

    /// Whether the file begins with a byte order mark.
    pub const fn has_bom(&self) -> bool {
        self.bom
    }

    /// The bytes of the YAML text between the two `---` lines.
    pub fn yaml_range(&self) -> Range<usize> {
        self.yaml.clone()
    }

    /// The YAML text.
    pub fn yaml(&self) -> &str {
        self.text(self.yaml.clone())
    }

    /// The bytes of the body, behind the line break of the closing line.
    pub fn body_range(&self) -> Range<usize> {
        self.body.clone()
    }

    /// The body.
    pub fn body(&self) -> &str {
        self.text(self.body.clone())
    }

    fn text(&self, range: Range<usize>) -> &str {
        // Checked to be UTF-8 by `split`, and both ranges begin and end at line breaks.
        std::str::from_utf8(&self.source.bytes()[range]).unwrap_or_default()
    }
}

/// A line: its content, and where the next begins. Lines end at LF; a CR before it is no content.
struct Line {
    start: usize,
    end: usize,
    next: usize,
}

fn line_at(bytes: &[u8], start: usize) -> Line {
    let break_at = bytes[start..].iter().position(|&byte| byte == b'\n').map(|at| start + at);
    let next = break_at.map_or(bytes.len(), |at| at + 1);
    let mut end = break_at.unwrap_or(bytes.len());
    if break_at.is_some() && end > start && bytes[end - 1] == b'\r' {
        end -= 1;
    }
    Line { start, end, next }
}

fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, b' ' | b'\t'))
}

fn opening_line(text: &str, line: &Line) -> Result<(), SplitError> {
    let content = &text[line.start..line.end];
    let missing = |hint| {
        // A file without any line break must not be quoted whole.
        let end = content.char_indices().nth(120).map_or(line.end, |(at, _)| line.start + at);
        Err(SplitError::Missing { first: line.start..end, hint })
    };
    let Some(rest) = content.strip_prefix("---") else {
        let before = text[line.start..].trim_start();
        return missing(if content.starts_with('\u{feff}') {
            "there are two byte order marks; remove them"
        } else if before.starts_with("---") && before.len() < text.len() - line.start {
            "remove what stands before the `---`: frontmatter begins at the first byte"
        } else {
            "begin the file with a line `---`, the fields as YAML, and another line `---`"
        });
    };
    let word = rest.trim_matches([' ', '\t']);
    if let Some(at) = content.find('\r') {
        let span = line.start + at..line.start + at + 1;
        return Err(SplitError::Control { what: LONE_CR.to_owned(), span });
    }
    if word.is_empty() || word == "yaml" {
        return Ok(());
    }
    if word.starts_with('-') {
        return missing("the first line has more than three `-`; make it exactly `---`");
    }
    let shown: String = word.chars().take(40).collect();
    let at = line.end - rest.trim_start_matches([' ', '\t']).len();
    let span = at..at + shown.len();
    Err(SplitError::Language { word: shown, span })
}

const LONE_CR: &str = "a carriage return without a line feed, which readers split differently";

/// YAML 1.2 section 5.1: what may stand in a YAML text at all. `PyYAML` and libyaml refuse the
/// rest, others end the text there, so the meaning would depend on the reader.
fn check_characters(text: &str, range: Range<usize>) -> Result<(), SplitError> {
    let bytes = text.as_bytes();
    // Nearly every frontmatter is clean, and bytes are quicker than characters.
    let suspicious = |byte: u8| byte < 0x20 && byte != b'\n' && byte != b'\t' || byte >= 0x7f;
    if !bytes[range.clone()].iter().any(|&byte| suspicious(byte)) {
        return Ok(());
    }
    let end = text.floor_char_boundary(range.end);
    for (at, c) in text[range.start..end].char_indices() {
        let at = range.start + at;
        let what = match c {
            '\t' | '\n' | '\u{85}' => continue,
            '\r' if bytes.get(at + 1) == Some(&b'\n') => continue,
            '\r' => LONE_CR.to_owned(),
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => {
                format!("the control character U+{:04X}, which YAML does not allow", c as u32)
            }
            '\u{feff}' => "a byte order mark that is not at the start of the file".to_owned(),
            _ => continue,
        };
        return Err(SplitError::Control { what, span: at..at + c.len_utf8() });
    }
    Ok(())
}
