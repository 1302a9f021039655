//! From parser events to a tree, within a budget.
//!
//! Aliases are written out and merge keys are applied here, so that no reader above has to know
//! them; both count against the budget before anything is copied. Nothing recurses.

use std::collections::HashMap;
use std::ops::Range;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, Tag};
use holdall_diagnostics::{Code, Diagnostic, SourceText};

use super::repair::Offsets;
use super::{CoreTag, Entry, Node, Scalar, Style, Value};
use crate::codes;

/// Levels of lists and mappings.
pub const MAX_DEPTH: usize = 64;

/// Values of one document with all aliases written out.
pub const MAX_NODES: usize = 20_000;

/// Bytes of text of one document with all aliases written out.
const MAX_TEXT: usize = 4 * 1024 * 1024;

const CORE: &str = "tag:yaml.org,2002:";

/// A tree, and the faults that did not stop the parser.
#[derive(Debug)]
pub(super) struct Built {
    pub root: Option<Node>,
    pub diagnostics: Vec<Diagnostic>,
}

/// The fault that stopped it.
#[derive(Debug)]
pub(super) struct Stop {
    /// The parser's word for it, if it was the parser that stopped.
    pub kind: Option<ErrorKind>,
    /// Where, in bytes of the file.
    pub at: usize,
    pub diagnostic: Box<Diagnostic>,
}

/// Reads `text`, which is the YAML of `source` with some quotes supplied.
pub(super) fn build(text: &str, offsets: &Offsets, source: &SourceText) -> Result<Built, Stop> {
    let options = granit_parser::options! {
        disallow_directives: true,
        emit_comments: false,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    let mut builder = Builder {
        text,
        offsets,
        source,
        frames: Vec::new(),
        anchors: HashMap::new(),
        root: None,
        diagnostics: Vec::new(),
        weight: Weight::default(),
        documents: 0,
    };
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.map_err(|error| builder.scan_error(&error))?;
        builder.event(event, &span)?;
    }
    Ok(Built { root: builder.root, diagnostics: builder.diagnostics })
}

/// What a value costs when it is copied.
#[derive(Debug, Clone, Copy, Default)]
struct Weight {
    nodes: usize,
    text: usize,
    depth: usize,
}

#[derive(Debug)]
struct Frame {
    start: usize,
    anchor: usize,
    before: Weight,
    depth: usize,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Sequence(Vec<Node>),
    Mapping {
        entries: Vec<Entry>,
        /// The keys that stand in the mapping itself, and where.
        index: HashMap<String, Range<usize>>,
        key: Option<Key>,
        /// Whether some entries came from a merge key.
        merged: bool,
    },
}

#[derive(Debug)]
struct Key {
    text: String,
    span: Range<usize>,
    /// Already reported: its value is read and dropped.
    dropped: bool,
    merge: bool,
}

struct Builder<'a> {
    text: &'a str,
    offsets: &'a Offsets,
    source: &'a SourceText,
    frames: Vec<Frame>,
    anchors: HashMap<usize, (Node, Weight)>,
    root: Option<Node>,
    diagnostics: Vec<Diagnostic>,
    weight: Weight,
    documents: usize,
}

impl Builder<'_> {
    fn event(&mut self, event: Event<'_>, span: &granit_parser::Span) -> Result<(), Stop> {
        let range = self.range(span);
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    let message = "the frontmatter holds a second YAML document";
                    return Err(self.stop(&codes::YAML_SYNTAX, range, message, "remove it"));
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                let tag = self.tag(tag.as_deref(), span)?;
                let node = self.scalar(&text, style, tag, range, span);
                self.spend(Weight { nodes: 1, text: text.len(), depth: 0 }, &node.span)?;
                self.define(anchor, &node, Weight { nodes: 1, text: text.len(), depth: 0 });
                self.attach(node);
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.tag(tag.as_deref(), span)?;
                self.open(range, anchor, Content::Sequence(Vec::new()))?;
            }
            Event::MappingStart(_, anchor, tag) => {
                self.tag(tag.as_deref(), span)?;
                let index = HashMap::new();
                let (entries, key) = (Vec::new(), None);
                self.open(range, anchor, Content::Mapping { entries, index, key, merged: false })?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(range.end),
            Event::Alias(id) => {
                let Some((node, weight)) = self.anchors.get(&id).cloned() else {
                    let message = "an alias stands inside the value it names";
                    return Err(self.stop(&codes::LIMIT, range, message, "write the value out"));
                };
                self.spend(weight, &range)?;
                self.attach(Node { span: range, value: node.value });
            }
            _ => {}
        }
        Ok(())
    }

    fn open(&mut self, range: Range<usize>, anchor: usize, content: Content) -> Result<(), Stop> {
        self.spend(Weight { nodes: 1, text: 0, depth: 1 }, &range)?;
        let before = self.weight;
        self.frames.push(Frame { start: range.start, anchor, before, depth: 1, content });
        Ok(())
    }

    fn close(&mut self, end: usize) {
        let Some(frame) = self.frames.pop() else { return };
        // Where a block collection ends only the parser's next token tells, so its last value does.
        let (last, value) = match frame.content {
            Content::Sequence(items) => {
                (items.last().map(|item| item.span.end), Value::Sequence(items))
            }
            Content::Mapping { entries, .. } => {
                (entries.last().map(|entry| entry.value.span.end), Value::Mapping(entries))
            }
        };
        let flow = matches!(self.source.bytes().get(frame.start), Some(b'[' | b'{'));
        let end = match (last, flow) {
            (Some(last), true) => self.flow_end(last.max(frame.start)),
            (Some(last), false) => last.max(frame.start),
            (None, _) => end.max(frame.start),
        };
        let node = Node { span: frame.start..end, value };
        let weight = Weight {
            nodes: self.weight.nodes - frame.before.nodes + 1,
            text: self.weight.text - frame.before.text,
            depth: frame.depth,
        };
        self.define(frame.anchor, &node, weight);
        if let Some(parent) = self.frames.last_mut() {
            parent.depth = parent.depth.max(frame.depth + 1);
        }
        self.attach(node);
    }

    /// The end of the first closing bracket at or behind `from`, across blanks, commas, comments.
    fn flow_end(&self, from: usize) -> usize {
        let bytes = self.source.bytes();
        let mut at = from;
        while let Some(&byte) = bytes.get(at) {
            at += 1;
            match byte {
                b']' | b'}' => return at,
                b'#' => {
                    at += bytes[at..].iter().position(|&byte| byte == b'\n').unwrap_or(0);
                }
                _ => {}
            }
        }
        from
    }

    fn attach(&mut self, node: Node) {
        let source = self.source;
        let Some(frame) = self.frames.last_mut() else {
            self.root = Some(node);
            return;
        };
        let (entries, index, key, merged) = match &mut frame.content {
            Content::Sequence(items) => {
                items.push(node);
                return;
            }
            Content::Mapping { entries, index, key, merged } => (entries, index, key, merged),
        };
        let Some(done) = key.take() else {
            let Value::Scalar(scalar) = node.value else {
                let message = "a list or a mapping stands where a key is wanted";
                let found = Diagnostic::new(&codes::KEY, message)
                    .span(source, node.span.clone())
                    .help("quote the key, or write it as a plain word");
                self.diagnostics.push(found);
                *key =
                    Some(Key { text: String::new(), span: node.span, dropped: true, merge: false });
                return;
            };
            let merge = scalar.style == Style::Plain && scalar.text == "<<";
            let mut dropped = false;
            if let Some(first) = index.get(&scalar.text)
                && !merge
            {
                let line = source.position(first.start).line;
                let message =
                    format!("`{}` is given twice, the first time on line {line}", scalar.text);
                let found = Diagnostic::new(&codes::DUPLICATE_KEY, message)
                    .span(source, node.span.clone())
                    .help("keep one of the two");
                self.diagnostics.push(found);
                dropped = true;
            }
            *key = Some(Key { text: scalar.text, span: node.span, dropped, merge });
            return;
        };
        if done.merge {
            let sources = match node.value {
                Value::Sequence(items) => items,
                Value::Mapping(_) | Value::Scalar(_) => vec![node],
            };
            *merged = true;
            for from in sources {
                let Value::Mapping(from) = from.value else {
                    let found = Diagnostic::new(&codes::YAML_SYNTAX, "`<<` wants a mapping")
                        .span(source, done.span.clone())
                        .help("quote the `<<` if it is meant as a key");
                    self.diagnostics.push(found);
                    continue;
                };
                for entry in from {
                    if !entries.iter().any(|known| known.key == entry.key) {
                        entries.push(entry);
                    }
                }
            }
        } else if !done.dropped {
            // A key of the file outranks the same key from a merge, wherever that stood.
            if *merged {
                entries.retain(|known| known.key != done.text);
            }
            index.insert(done.text.clone(), done.span.clone());
            entries.push(Entry { key: done.text, key_span: done.span, value: node });
        }
    }

    fn define(&mut self, anchor: usize, node: &Node, weight: Weight) {
        if anchor != 0 {
            self.anchors.insert(anchor, (node.clone(), weight));
        }
    }

    fn spend(&mut self, weight: Weight, span: &Range<usize>) -> Result<(), Stop> {
        self.weight.nodes += weight.nodes;
        self.weight.text += weight.text;
        let depth = self.frames.len() + weight.depth;
        if let Some(frame) = self.frames.last_mut() {
            frame.depth = frame.depth.max(weight.depth + 1);
        }
        let message = if depth > MAX_DEPTH {
            format!("more than {MAX_DEPTH} levels of lists and mappings")
        } else if self.weight.nodes > MAX_NODES {
            format!("more than {MAX_NODES} values with all aliases written out")
        } else if self.weight.text > MAX_TEXT {
            format!("more than {MAX_TEXT} bytes of text with all aliases written out")
        } else {
            return Ok(());
        };
        Err(self.stop(&codes::LIMIT, span.clone(), message, "make the frontmatter smaller"))
    }

    fn scalar(
        &self,
        text: &str,
        style: ScalarStyle,
        tag: Option<CoreTag>,
        range: Range<usize>,
        span: &granit_parser::Span,
    ) -> Node {
        let style = match style {
            ScalarStyle::Plain => Style::Plain,
            ScalarStyle::SingleQuoted => Style::SingleQuoted,
            ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
            ScalarStyle::Literal => Style::Literal,
            ScalarStyle::Folded => Style::Folded,
        };
        let absent = style == Style::Plain && range.is_empty();
        let text = if absent { String::new() } else { text.to_owned() };
        let comment = (style == Style::Plain && !absent).then(|| self.comment(span)).flatten();
        Node { span: range, value: Value::Scalar(Scalar { text, style, tag, comment }) }
    }

    /// The comment behind a plain scalar, on its line.
    fn comment(&self, span: &granit_parser::Span) -> Option<Range<usize>> {
        let end = span.end.byte_offset()?;
        let rest = self.text.get(end..)?;
        let line = rest.split(['\n', '\r']).next()?;
        let behind = line.trim_start_matches([' ', '\t']);
        // The scalar's span may or may not reach over the blanks before the comment.
        if !behind.starts_with('#') {
            return None;
        }
        let start = end + line.len() - behind.len();
        let range = start..start + behind.trim_end().len();
        Some(self.offsets.to_file(range.start)..self.offsets.to_file(range.end))
    }

    fn tag(
        &mut self,
        tag: Option<&Tag>,
        span: &granit_parser::Span,
    ) -> Result<Option<CoreTag>, Stop> {
        let Some(tag) = tag else { return Ok(None) };
        let name = format!("{}{}", tag.handle(), tag.suffix());
        let core = match name.strip_prefix(CORE) {
            Some("str") => CoreTag::Str,
            Some("int") => CoreTag::Int,
            Some("float") => CoreTag::Float,
            Some("bool") => CoreTag::Bool,
            Some("null") => CoreTag::Null,
            Some("seq" | "map") => return Ok(None),
            _ if name == "!" => CoreTag::Str,
            _ => {
                let range =
                    span.tag_span().map_or_else(|| self.range(span), |span| self.range(&span));
                let shown: String = tag.original().chars().take(60).collect();
                let message = format!("unknown tag `{shown}`");
                let help = "remove the tag, or quote the value if it is meant to begin with `!`";
                return Err(self.stop(&codes::UNKNOWN_TAG, range, message, help));
            }
        };
        Ok(Some(core))
    }

    fn range(&self, span: &granit_parser::Span) -> Range<usize> {
        let start = span.start.byte_offset().unwrap_or(0);
        let end = span.end.byte_offset().unwrap_or(start).max(start);
        self.offsets.to_file(start)..self.offsets.to_file(end)
    }

    fn stop(
        &self,
        code: &Code,
        range: Range<usize>,
        message: impl Into<String>,
        help: &str,
    ) -> Stop {
        let at = range.start;
        let diagnostic = Diagnostic::new(code, message).span(self.source, range).help(help);
        Stop { kind: None, at, diagnostic: Box::new(diagnostic) }
    }

    fn scan_error(&self, error: &granit_parser::ScanError) -> Stop {
        let at = self.offsets.to_file(error.marker().byte_offset().unwrap_or(0));
        let kind = error.kind();
        let (code, message, help) = match kind {
            ErrorKind::TabNotAllowed
            | ErrorKind::TabInBlockIndentation
            | ErrorKind::TabInIndentation
            | ErrorKind::TabAtBlockScalarStart => {
                (&codes::TAB, "a tab is used as indentation".to_owned(), "indent with blanks")
            }
            ErrorKind::RecursionLimitExceeded => (
                &codes::LIMIT,
                format!("more than {MAX_DEPTH} levels of lists and mappings"),
                "make the frontmatter flatter",
            ),
            ErrorKind::DirectiveDisallowed => (
                &codes::YAML_SYNTAX,
                "a line begins with `%`, which YAML takes for a directive".to_owned(),
                "quote the value, or remove the line",
            ),
            ErrorKind::UnknownAnchor => (
                &codes::YAML_SYNTAX,
                "an alias names an anchor that is not there".to_owned(),
                "quote the value if it is meant to begin with `*`",
            ),
            ErrorKind::MappingValueNotAllowed => (
                &codes::YAML_SYNTAX,
                "a `: ` stands where no key can be".to_owned(),
                "if the line is a field, indent it like the others; if it is text, quote the whole value",
            ),
            kind => (
                &codes::YAML_SYNTAX,
                format!("not valid YAML: {kind}"),
                "quote texts that hold `: `, ` #`, brackets, or begin with a sign",
            ),
        };
        let end = (at + 1).min(self.source.bytes().len());
        let diagnostic = Diagnostic::new(code, message).span(self.source, at..end).help(help);
        Stop { kind: Some(kind.clone()), at, diagnostic: Box::new(diagnostic) }
    }
}
