//! The tokenizer and the flat document it makes.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

use super::number;
use super::text::{Escape, decode, read_escape, utf16_cmp};

/// Arrays and objects inside each other that a document may have.
pub const MAX_DEPTH: usize = 512;

/// Bytes a document may have. Published artifact manifests have less than one million.
pub const MAX_BYTES: usize = 64 << 20;

/// Why a text is no JSON document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextErrorKind {
    /// More than [`MAX_BYTES`].
    TooLarge,
    /// Not UTF-8, or begins with a byte order mark.
    Encoding,
    /// Not the grammar of RFC 8259.
    Syntax,
    /// More than [`MAX_DEPTH`] levels.
    Depth,
    /// An escape for half a surrogate pair: legal JSON, but no Unicode text.
    LoneSurrogate,
}

/// Where and why a text is no JSON document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TextError {
    /// The kind.
    pub kind: TextErrorKind,
    /// The bytes it is about.
    pub span: Range<usize>,
    /// A lower-case fragment.
    pub message: String,
}

/// A key that an object holds twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicate {
    /// Index of the second key's token.
    pub(crate) second: u32,
    /// The bytes of the first one, quotes included.
    pub first_span: Range<usize>,
    /// The bytes of the second one, quotes included.
    pub second_span: Range<usize>,
}

/// A way in which a text is not the canonical form of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DepartureKind {
    /// White space between tokens, or before the first.
    Space,
    /// A key that does not come after the one before it in UTF-16 order.
    KeyOrder,
    /// An escape that the canonical form does not write, or writes otherwise.
    Escape,
    /// A number that is not the shortest form of its double, or has none.
    Number,
    /// Not exactly one newline at the end.
    End,
}

/// The first place where a text departs from the canonical form in one way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Departure {
    /// In which way.
    pub kind: DepartureKind,
    /// Where.
    pub span: Range<usize>,
}

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeKind {
    /// `null`
    Null,
    /// `true`
    True,
    /// `false`
    False,
    /// A number.
    Number,
    /// A string, or the key of a member.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl NodeKind {
    /// The kind in words, with its article.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::True | Self::False => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Token {
    kind: NodeKind,
    escaped: bool,
    start: u32,
    end: u32,
    /// Index of the token behind this one and everything in it.
    next: u32,
}

/// A JSON text as a flat list of tokens: a container is followed by what it holds, a member by
/// its key and then its value.
#[derive(Debug)]
pub struct Document<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    duplicates: Vec<Duplicate>,
    departures: Vec<Departure>,
}

/// One value of a document, or the key of a member.
#[derive(Clone, Copy)]
pub struct Node<'d> {
    doc: &'d Document<'d>,
    at: u32,
}

impl<'t> Document<'t> {
    /// Reads a text: strict RFC 8259, UTF-8 without a byte order mark, at most [`MAX_BYTES`] and
    /// [`MAX_DEPTH`] levels. What is merely not canonical, and duplicate keys, are kept for the
    /// caller to judge.
    pub fn parse(bytes: &'t [u8]) -> Result<Self, TextError> {
        let fail =
            |kind, span, message: &str| TextError { kind, span, message: message.to_owned() };
        if bytes.len() > MAX_BYTES {
            let message = format!("{} bytes are more than the {MAX_BYTES} allowed", bytes.len());
            return Err(TextError { kind: TextErrorKind::TooLarge, span: 0..0, message });
        }
        if bytes.starts_with(b"\xEF\xBB\xBF") {
            let message = "not valid JSON: begins with a byte order mark";
            return Err(fail(TextErrorKind::Encoding, 0..3, message));
        }
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let at = error.valid_up_to();
            let end = at + error.error_len().unwrap_or(bytes.len() - at);
            fail(TextErrorKind::Encoding, at..end, "not valid JSON: not UTF-8")
        })?;
        let mut scanner = Scanner {
            text,
            bytes,
            at: 0,
            doc: Document { text, tokens: Vec::new(), duplicates: vec![], departures: vec![] },
            stack: Vec::new(),
        };
        scanner.run()?;
        let mut doc = scanner.doc;
        doc.departures.sort_by_key(|departure| departure.span.start);
        doc.duplicates.sort_by_key(|duplicate| duplicate.second);
        Ok(doc)
    }

    /// The text.
    pub fn text(&self) -> &'t str {
        self.text
    }

    /// The value of the whole text.
    pub fn root(&self) -> Node<'_> {
        Node { doc: self, at: 0 }
    }

    /// Every key that its object already held, in the order of the text.
    pub fn duplicates(&self) -> &[Duplicate] {
        &self.duplicates
    }

    /// The first place of every way in which the text is not canonical, in the order of the text.
    pub fn departures(&self) -> &[Departure] {
        &self.departures
    }

    pub(crate) fn node(&self, at: u32) -> Node<'_> {
        Node { doc: self, at }
    }

    fn token(&self, at: u32) -> Token {
        self.tokens[at as usize]
    }

    fn string(&self, token: Token) -> Cow<'t, str> {
        decode(&self.text[token.start as usize + 1..token.end as usize - 1], token.escaped)
    }
}

impl<'d> Node<'d> {
    /// What it is.
    pub fn kind(self) -> NodeKind {
        self.token().kind
    }

    /// Its bytes in the text, quotes and brackets included.
    pub fn span(self) -> Range<usize> {
        let token = self.token();
        token.start as usize..token.end as usize
    }

    /// Its text as it stands.
    pub fn raw(self) -> &'d str {
        &self.doc.text[self.span()]
    }

    /// The decoded text of a string.
    pub fn text(self) -> Option<Cow<'d, str>> {
        let token = self.token();
        (token.kind == NodeKind::String).then(|| self.doc.string(token))
    }

    /// The double nearest to a number, infinite where it overflows.
    pub fn number(self) -> Option<f64> {
        (self.kind() == NodeKind::Number).then(|| number::parse(self.raw()))
    }

    /// The items of an array; none of anything else.
    pub fn items(self) -> impl Iterator<Item = Node<'d>> {
        let children = if self.kind() == NodeKind::Array { self.children() } else { 0..0 };
        Children { doc: self.doc, at: children.start, end: children.end }
    }

    /// Keys and values of an object; none of anything else.
    pub fn members(self) -> impl Iterator<Item = (Node<'d>, Node<'d>)> {
        let children = if self.kind() == NodeKind::Object { self.children() } else { 0..0 };
        let mut nodes = Children { doc: self.doc, at: children.start, end: children.end };
        std::iter::from_fn(move || Some((nodes.next()?, nodes.next()?)))
    }

    /// The value of the last member with that key.
    pub fn get(self, key: &str) -> Option<Node<'d>> {
        self.members().filter(|(name, _)| name.is_text(key)).last().map(|(_, value)| value)
    }

    /// Whether it is the string `text`.
    pub fn is_text(self, text: &str) -> bool {
        let token = self.token();
        token.kind == NodeKind::String
            && if token.escaped {
                self.doc.string(token) == text
            } else {
                &self.doc.text[token.start as usize + 1..token.end as usize - 1] == text
            }
    }

    pub(crate) fn index(self) -> u32 {
        self.at
    }

    fn children(self) -> Range<u32> {
        self.at + 1..self.token().next
    }

    fn token(self) -> Token {
        self.doc.token(self.at)
    }

    pub(crate) fn holds(self, at: u32) -> bool {
        (self.at..self.token().next).contains(&at)
    }
}

impl std::fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.raw())
    }
}

struct Children<'d> {
    doc: &'d Document<'d>,
    at: u32,
    end: u32,
}

impl<'d> Iterator for Children<'d> {
    type Item = Node<'d>;

    fn next(&mut self) -> Option<Node<'d>> {
        if self.at >= self.end {
            return None;
        }
        let node = Node { doc: self.doc, at: self.at };
        self.at = node.token().next;
        Some(node)
    }
}

/// A container that is not closed yet.
struct Open {
    token: u32,
    /// The key read last, of an object.
    key: Option<u32>,
    /// Whether every key came after the one before: then none is there twice.
    ascending: bool,
}

struct Scanner<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    doc: Document<'t>,
    stack: Vec<Open>,
}

impl Scanner<'_> {
    fn run(&mut self) -> Result<(), TextError> {
        loop {
            self.value()?;
            loop {
                let Some(open) = self.stack.last() else {
                    return self.end();
                };
                let object = self.doc.token(open.token).kind == NodeKind::Object;
                self.space();
                match self.bytes.get(self.at) {
                    Some(b',') => {
                        self.at += 1;
                        if object {
                            self.key()?;
                        }
                        break;
                    }
                    Some(b'}') if object => self.close(),
                    Some(b']') if !object => self.close(),
                    _ if object => return Err(self.unexpected("`,` or `}`")),
                    _ => return Err(self.unexpected("`,` or `]`")),
                }
            }
        }
    }

    /// Reads a value; of a container that is not empty only its start, and an object's first key,
    /// so that the value of its first member or its first item comes next.
    fn value(&mut self) -> Result<(), TextError> {
        loop {
            self.space();
            let start = self.at;
            let kind = match self.bytes.get(self.at) {
                Some(b'"') => {
                    self.string()?;
                    return Ok(());
                }
                Some(b'-' | b'0'..=b'9') => {
                    let Some(len) = number::scan(&self.bytes[start..]) else {
                        return Err(self.syntax(start..start + 1, "not a number of JSON"));
                    };
                    self.at += len;
                    self.push(NodeKind::Number, start, false);
                    if !number::is_canonical(&self.text[start..self.at]) {
                        self.departs(DepartureKind::Number, start..self.at);
                    }
                    return Ok(());
                }
                Some(b'{') => NodeKind::Object,
                Some(b'[') => NodeKind::Array,
                _ => {
                    let words = [
                        ("true", NodeKind::True),
                        ("false", NodeKind::False),
                        ("null", NodeKind::Null),
                    ];
                    for (word, kind) in words {
                        if self.bytes[start..].starts_with(word.as_bytes()) {
                            self.at += word.len();
                            self.push(kind, start, false);
                            return Ok(());
                        }
                    }
                    return Err(self.unexpected("a value"));
                }
            };
            if self.stack.len() == MAX_DEPTH {
                return Err(TextError {
                    kind: TextErrorKind::Depth,
                    span: start..start + 1,
                    message: format!("more than {MAX_DEPTH} levels of nesting"),
                });
            }
            self.at += 1;
            let token = self.push(kind, start, false);
            self.stack.push(Open { token, key: None, ascending: true });
            self.space();
            match (kind, self.bytes.get(self.at)) {
                (NodeKind::Object, Some(b'}')) | (NodeKind::Array, Some(b']')) => {
                    self.close();
                    return Ok(());
                }
                (NodeKind::Object, _) => self.key()?,
                _ => {}
            }
        }
    }

    fn key(&mut self) -> Result<(), TextError> {
        self.space();
        if self.bytes.get(self.at) != Some(&b'"') {
            return Err(self.unexpected("a key"));
        }
        let key = self.string()?;
        if let Some(open) = self.stack.last_mut()
            && let Some(before) = open.key.replace(key)
        {
            let (before, key) = (self.doc.token(before), self.doc.token(key));
            let order = utf16_cmp(&self.doc.string(before), &self.doc.string(key));
            if order != Ordering::Less {
                open.ascending = false;
                // An equal neighbour is a duplicate, and reported as one.
                if order == Ordering::Greater {
                    self.departs(DepartureKind::KeyOrder, key.start as usize..key.end as usize);
                }
            }
        }
        self.space();
        if self.bytes.get(self.at) != Some(&b':') {
            return Err(self.unexpected("`:`"));
        }
        self.at += 1;
        Ok(())
    }

    /// Reads a string and returns its token.
    fn string(&mut self) -> Result<u32, TextError> {
        let start = self.at;
        self.at += 1;
        let mut escaped = false;
        loop {
            let rest = &self.bytes[self.at..];
            let plain = rest.iter().position(|&byte| matches!(byte, b'"' | b'\\' | 0..0x20));
            let Some(plain) = plain else {
                self.at = self.bytes.len();
                return Err(self.syntax(start..self.at, "a string that never ends"));
            };
            self.at += plain;
            let from = self.at;
            match self.bytes[from] {
                b'"' => {
                    self.at += 1;
                    return Ok(self.push(NodeKind::String, start, escaped));
                }
                b'\\' => match read_escape(&self.bytes[from + 1..]) {
                    Escape::Char { len, canonical, .. } => {
                        escaped = true;
                        self.at += 1 + len;
                        if !canonical {
                            self.departs(DepartureKind::Escape, from..self.at);
                        }
                    }
                    Escape::LoneSurrogate => {
                        return Err(TextError {
                            kind: TextErrorKind::LoneSurrogate,
                            span: from..from + 6,
                            message: format!(
                                "`{}` is half a surrogate pair, which is no character",
                                &self.text[from..from + 6]
                            ),
                        });
                    }
                    Escape::Invalid => {
                        return Err(self.syntax(from..from + 1, "not an escape of JSON"));
                    }
                },
                _ => {
                    return Err(self.syntax(from..from + 1, "a control character in a string"));
                }
            }
        }
    }

    fn close(&mut self) {
        self.at += 1;
        let Some(open) = self.stack.pop() else { return };
        let next = self.doc.tokens.len() as u32;
        let token = &mut self.doc.tokens[open.token as usize];
        (token.end, token.next) = (self.at as u32, next);
        if !open.ascending {
            self.find_duplicates(open.token);
        }
    }

    fn find_duplicates(&mut self, object: u32) {
        let doc = &self.doc;
        let mut keys: Vec<(Cow<'_, str>, u32)> = doc
            .node(object)
            .members()
            .map(|(key, _)| (doc.string(key.token()), key.index()))
            .collect();
        keys.sort();
        let mut found = Vec::new();
        for group in keys.chunk_by(|a, b| a.0 == b.0) {
            for (_, second) in &group[1..] {
                found.push(Duplicate {
                    second: *second,
                    first_span: doc.node(group[0].1).span(),
                    second_span: doc.node(*second).span(),
                });
            }
        }
        self.doc.duplicates.extend(found);
    }

    fn end(&mut self) -> Result<(), TextError> {
        let value_end = self.at;
        let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        self.at += self.bytes[self.at..].iter().take_while(|&byte| is_space(byte)).count();
        if self.at < self.bytes.len() {
            return Err(self.unexpected("the end"));
        }
        if &self.bytes[value_end..] != b"\n" {
            self.departs(DepartureKind::End, value_end..self.at);
        }
        Ok(())
    }

    fn space(&mut self) {
        if !matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            return;
        }
        let start = self.at;
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
        self.departs(DepartureKind::Space, start..self.at);
    }

    fn push(&mut self, kind: NodeKind, start: usize, escaped: bool) -> u32 {
        let index = self.doc.tokens.len() as u32;
        let (start, end) = (start as u32, self.at as u32);
        self.doc.tokens.push(Token { kind, escaped, start, end, next: index + 1 });
        index
    }

    fn departs(&mut self, kind: DepartureKind, span: Range<usize>) {
        if self.doc.departures.iter().all(|other| other.kind != kind) {
            self.doc.departures.push(Departure { kind, span });
        }
    }

    fn unexpected(&self, wanted: &str) -> TextError {
        let found = self.text[self.at..].chars().next();
        let span = self.at..self.at + found.map_or(0, char::len_utf8);
        match found {
            None => self.syntax(span, &format!("ends where {wanted} should stand")),
            Some(found) => self
                .syntax(span, &format!("`{}` where {wanted} should stand", found.escape_debug())),
        }
    }

    #[expect(clippy::unused_self, reason = "reads as a method beside `unexpected`")]
    fn syntax(&self, span: Range<usize>, what: &str) -> TextError {
        TextError { kind: TextErrorKind::Syntax, span, message: format!("not valid JSON: {what}") }
    }
}
