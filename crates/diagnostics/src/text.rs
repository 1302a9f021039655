//! Diagnostics for people: one line of facts, the source line with a caret, the next step.

use annotate_snippets::renderer::{DEFAULT_ERROR_STYLE, DEFAULT_HELP_STYLE, DEFAULT_INFO_STYLE};
use annotate_snippets::renderer::{DEFAULT_WARNING_STYLE, Effects, Style};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::escape::push_escaped;
use crate::{Diagnostic, Severity, SourceText, Span, escape_foreign};

/// Characters of a long source line shown before and from the place on.
const WINDOW: (usize, usize) = (40, 80);

/// Renders findings in the order given, each ending with a line feed:
///
/// ```text
/// PK0104 error skills/triage/SKILL.md:3:14 `: ` in a plain value
///   |
/// 3 | description: a: b
///   |               ^^
/// help: put the value in double quotes
/// ```
///
/// Foreign text is escaped ([`escape_foreign`]); of a long line the part around the place is
/// shown. `color` adds ANSI styles, for a terminal that wants them.
pub fn render_text<'a>(
    diagnostics: impl IntoIterator<Item = &'a Diagnostic>,
    color: bool,
) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut out = String::new();
    for diagnostic in diagnostics {
        head(diagnostic, color, &mut out);
        if let (Some(source), Some(span)) = (&diagnostic.source, diagnostic.span) {
            out.push_str(&snippet(source, span, diagnostic.severity, &renderer));
            out.push('\n');
        }
        if let Some(help) = &diagnostic.help {
            paint(&mut out, color, DEFAULT_HELP_STYLE, "help:");
            // Lines that continue are indented, so that no foreign text can look like a finding.
            for (at, line) in help.lines().enumerate() {
                out.push_str(if at == 0 { " " } else { "      " });
                out.push_str(&escape_foreign(line));
                out.push('\n');
            }
            if help.is_empty() {
                out.push('\n');
            }
        }
    }
    out
}

/// The first line of a finding, without styles and line feed.
pub(crate) fn short_line(diagnostic: &Diagnostic) -> String {
    let mut out = String::new();
    head(diagnostic, false, &mut out);
    out.pop();
    out
}

fn head(diagnostic: &Diagnostic, color: bool, out: &mut String) {
    let style = match diagnostic.severity {
        Severity::Error => DEFAULT_ERROR_STYLE,
        Severity::Warning => DEFAULT_WARNING_STYLE,
        Severity::Info => DEFAULT_INFO_STYLE,
    };
    paint(out, color, style, diagnostic.code);
    out.push(' ');
    paint(out, color, style, diagnostic.severity.as_str());
    out.push(' ');
    if let Some(path) = &diagnostic.path {
        out.push_str(&escape_foreign(path));
        if let Some(span) = diagnostic.span {
            out.push_str(&format!(":{}:{}", span.start.line, span.start.column));
        }
        out.push(' ');
    }
    paint(out, color, Style::new().effects(Effects::BOLD), &escape_foreign(&diagnostic.message));
    if let Some(target) = &diagnostic.target {
        out.push_str(&format!(" [{}]", escape_foreign(target)));
    }
    out.push('\n');
}

fn paint(out: &mut String, color: bool, style: Style, text: &str) {
    if color {
        out.push_str(&format!("{style}{text}{style:#}"));
    } else {
        out.push_str(text);
    }
}

fn snippet(source: &SourceText, span: Span, severity: Severity, renderer: &Renderer) -> String {
    let line = source.line(span.start.line);
    let line_start = source.line_start(span.start.line);
    let start = span.start.offset.saturating_sub(line_start).min(line.len());
    let end = span.end.offset.saturating_sub(line_start).clamp(start, line.len());
    let (shown, range) = window(line, start, end);
    let level = match severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    };
    let snippet = Snippet::source(shown)
        .line_start(span.start.line)
        .annotation(AnnotationKind::Primary.span(range));
    renderer.render(&[Group::with_level(level).element(snippet)])
}

/// What is shown of a line around `start..end`, escaped, and where that range is in it.
fn window(line: &[u8], start: usize, end: usize) -> (String, std::ops::Range<usize>) {
    // Four bytes a character at most; a cut inside a character moves to its first byte.
    let mut from = start.saturating_sub(WINDOW.0 * 4);
    while from > 0 && line[from] & 0xc0 == 0x80 && start - from < (WINDOW.0 + 1) * 4 {
        from -= 1;
    }
    let to = line.len().min(start + WINDOW.1 * 4);
    let pieces = pieces(&line[from..to], from);
    let at = pieces.partition_point(|&(offset, _)| offset < start);
    let first = at.saturating_sub(WINDOW.0);
    let last = pieces.len().min(at + WINDOW.1);

    let mut shown = String::new();
    let mut range = None;
    let mut stop = None;
    let cut_left = first > 0 || from > 0;
    if cut_left {
        shown.push_str("...");
    }
    let mut before = None;
    for &(offset, piece) in &pieces[first..last] {
        if offset >= start && range.is_none() {
            range = Some(shown.len());
        }
        if offset >= end && stop.is_none() {
            stop = Some(shown.len());
        }
        match piece {
            // The renderer expands tabs itself and keeps the caret under the right place.
            Ok('\t') => shown.push('\t'),
            Ok(c) => push_escaped(&mut shown, before, c),
            Err(byte) => shown.push_str(&format!("\\x{byte:02x}")),
        }
        before = piece.ok();
    }
    let range = range.unwrap_or(shown.len())..stop.unwrap_or(shown.len());
    if last < pieces.len() || to < line.len() {
        shown.push_str("...");
    }
    (shown, range)
}

/// The characters of a text with their offsets; bytes that are not UTF-8 stand for themselves.
fn pieces(bytes: &[u8], base: usize) -> Vec<(usize, Result<char, u8>)> {
    let mut pieces = Vec::with_capacity(bytes.len());
    let mut at = base;
    for chunk in bytes.utf8_chunks() {
        pieces.extend(chunk.valid().char_indices().map(|(i, c)| (at + i, Ok(c))));
        at += chunk.valid().len();
        for &byte in chunk.invalid() {
            pieces.push((at, Err(byte)));
            at += 1;
        }
    }
    pieces
}
