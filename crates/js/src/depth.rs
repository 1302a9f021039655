//! How deep a text may nest.
//!
//! The parser and the visitor behind it are recursive, so a text of a hundred thousand opening
//! brackets would overflow the stack of whoever asks. [`bound`] finds, from the bytes alone and in
//! one pass, an upper bound of the stack that a text can need: never less than the truth, and for
//! code that people or bundlers write a tiny part of what [`STACK`] has.
//!
//! Strings, templates, comments and regular expressions are stepped over. Where the bytes do not
//! tell whether `/` divides or begins a regular expression, nothing after it is counted as closed.

/// Stack of the thread that parses. It is reserved, not touched, unless a text needs it.
pub(crate) const STACK: usize = 256 << 20;

/// Bytes of [`STACK`] that a text may be estimated at.
pub(crate) const MOST: usize = 224 << 20;

/// Stack of one level of brackets, measured without optimisation and rounded up.
const BRACKET: usize = 9 << 10;

/// Stack of one operator or keyword that may hold another expression or statement.
const OPERATOR: usize = 3 << 10;

/// What stood before, as far as it decides on a following `/`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// The end of an operand: `/` divides.
    Operand,
    /// An operator, an opening bracket or the start: `/` begins a regular expression.
    Operator,
    /// A closing brace: the end of a block or of an operand.
    Brace,
    /// A word that is a name in some places: both can be.
    Either,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bracket {
    /// An opening bracket or brace.
    Plain,
    /// A parenthesis after `if`, `while`, `for` or `with`: a statement follows it.
    Head,
    /// `${` in a template.
    Hole,
}

struct Frame {
    bracket: Bracket,
    operators: usize,
}

/// An upper bound of the bytes of stack that parsing and visiting `text` takes.
pub(crate) fn bound(text: &str) -> usize {
    let mut scan = Scan {
        text,
        bytes: text.as_bytes(),
        at: 0,
        line: false,
        before: Before::Operator,
        head: false,
        certain: true,
        frames: vec![Frame { bracket: Bracket::Plain, operators: 0 }],
        now: BRACKET,
        most: BRACKET,
    };
    if text.starts_with("#!") {
        scan.line_comment();
    }
    while scan.at < scan.bytes.len() && scan.most <= MOST {
        scan.step();
    }
    scan.most
}

struct Scan<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    /// Whether a line ended since the last token.
    line: bool,
    before: Before,
    /// Whether the last word was `if`, `while`, `for` or `with`.
    head: bool,
    /// Whether closing brackets can be trusted to close.
    certain: bool,
    frames: Vec<Frame>,
    now: usize,
    most: usize,
}

impl Scan<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn starts(&self, text: &str) -> bool {
        self.bytes[self.at..].starts_with(text.as_bytes())
    }

    fn step(&mut self) {
        let byte = self.peek(0);
        if !self.certain {
            // Only what can nest is counted, wherever it stands.
            match byte {
                b'(' | b'[' | b'{' => self.grow(BRACKET),
                b if is_operator(b) || b == b';' => self.grow(OPERATOR),
                _ if self.word_char() > 0 => {
                    if may_hold(self.word()) {
                        self.grow(OPERATOR);
                    }
                    return;
                }
                _ => {}
            }
            self.at += 1;
            return;
        }
        let line = self.line;
        self.line = false;
        match byte {
            b' ' | b'\t' => {
                self.at += 1;
                self.line = line;
            }
            b'\n' | b'\r' => {
                self.at += 1;
                self.line = true;
            }
            b'"' | b'\'' => self.quoted(byte),
            b'`' => {
                self.at += 1;
                self.template();
            }
            b'/' if self.peek(1) == b'/' => self.line_comment(),
            b'/' if self.peek(1) == b'*' => self.block_comment(),
            b'/' => self.slash(),
            b'<' if self.starts("<!--") => self.certain = false,
            b'-' if self.starts("-->") => self.certain = false,
            b'(' | b'[' | b'{' => self.open(byte),
            b')' | b']' | b'}' => self.close(byte),
            b';' | b',' => {
                // A statement or an element ends, but `;` before `else` ends nothing.
                self.at += 1;
                self.before = Before::Operator;
                if byte == b',' || !self.else_follows() {
                    self.end();
                }
            }
            b'+' | b'-' if self.peek(1) == byte => {
                self.at += 2;
                self.grow_operator();
            }
            b if is_operator(b) => {
                self.at += 1;
                self.grow_operator();
                self.before = Before::Operator;
            }
            _ if self.word_char() > 0 => self.read_word(line),
            _ => self.at += 1,
        }
    }

    /// Length of the character here if a word can have it, else 0.
    fn word_char(&self) -> usize {
        match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            Some(c) if c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '#' | '\\') => 1,
            Some(c) if !c.is_ascii() && !c.is_whitespace() && c != '\u{feff}' => c.len_utf8(),
            _ => 0,
        }
    }

    fn grow(&mut self, by: usize) {
        self.now = self.now.saturating_add(by);
        self.most = self.most.max(self.now);
    }

    fn grow_operator(&mut self) {
        self.head = false;
        self.grow(OPERATOR);
        if let Some(frame) = self.frames.last_mut() {
            frame.operators += OPERATOR;
        }
    }

    /// The operators of the innermost bracket hold nothing any more.
    fn end(&mut self) {
        self.head = false;
        if let Some(frame) = self.frames.last_mut() {
            self.now -= frame.operators;
            frame.operators = 0;
        }
    }

    fn else_follows(&self) -> bool {
        let rest = &self.bytes[self.at..];
        let start = rest.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(rest.len());
        // A comment may stand before `else`.
        [&b"else"[..], b"//", b"/*"].iter().any(|next| rest[start..].starts_with(next))
    }

    fn open(&mut self, byte: u8) {
        let bracket = if byte == b'(' && self.head { Bracket::Head } else { Bracket::Plain };
        self.at += 1;
        self.push(bracket);
    }

    fn push(&mut self, bracket: Bracket) {
        self.head = false;
        self.before = Before::Operator;
        self.frames.push(Frame { bracket, operators: 0 });
        self.grow(BRACKET);
    }

    fn close(&mut self, byte: u8) {
        self.at += 1;
        self.head = false;
        self.before = if byte == b'}' { Before::Brace } else { Before::Operand };
        if self.frames.len() == 1 {
            return;
        }
        let Some(frame) = self.frames.pop() else { return };
        self.now -= frame.operators + BRACKET;
        match frame.bracket {
            Bracket::Head => self.before = Before::Operator,
            Bracket::Hole if byte == b'}' => self.template(),
            Bracket::Hole | Bracket::Plain => {}
        }
    }

    fn word(&mut self) -> &str {
        let start = self.at;
        while let length @ 1.. = self.word_char() {
            self.at += length;
        }
        &self.text[start..self.at]
    }

    /// Reads a word; `line` says whether it is the first one of a line.
    fn read_word(&mut self, line: bool) {
        let property = self.at > 0 && self.bytes[self.at - 1] == b'.';
        let previous = self.before;
        let word = self.word();
        let holds = may_hold(word);
        let head = matches!(word, "if" | "while" | "for" | "with");
        // A word after a brace, or after an operand and a new line, begins a statement, but for
        // these.
        let continues = matches!(word, "in" | "instanceof" | "of" | "else" | "while");
        let ended = previous == Before::Brace || (line && previous == Before::Operand);
        let begins = ended && !continues;
        let before = match word {
            "await" | "yield" | "of" | "let" | "async" => Before::Either,
            "export" | "default" => Before::Operator,
            _ if holds => Before::Operator,
            _ => Before::Operand,
        };
        let for_await = self.head && before == Before::Either;
        if begins {
            self.end();
        }
        if holds {
            self.grow_operator();
        }
        self.head = !property && (head || for_await);
        self.before = if property { Before::Operand } else { before };
    }

    fn line_comment(&mut self) {
        while self.at < self.bytes.len() {
            let byte = self.bytes[self.at];
            if matches!(byte, b'\n' | b'\r') || self.starts("\u{2028}") || self.starts("\u{2029}") {
                return;
            }
            self.at += 1;
        }
    }

    fn block_comment(&mut self) {
        self.at += 2;
        while self.at < self.bytes.len() && !self.starts("*/") {
            self.at += 1;
        }
        self.at = (self.at + 2).min(self.bytes.len());
    }

    fn quoted(&mut self, quote: u8) {
        self.at += 1;
        while self.at < self.bytes.len() {
            match self.bytes[self.at] {
                b'\\' => self.at += 1,
                b'\n' | b'\r' => break,
                byte if byte == quote => {
                    self.at += 1;
                    break;
                }
                _ => {}
            }
            self.at += 1;
        }
        self.at = self.at.min(self.bytes.len());
        self.head = false;
        self.before = Before::Operand;
    }

    /// Inside a template, up to its end or its next hole.
    fn template(&mut self) {
        while self.at < self.bytes.len() {
            match self.bytes[self.at] {
                b'\\' => self.at += 1,
                b'`' => {
                    self.at += 1;
                    break;
                }
                b'$' if self.peek(1) == b'{' => {
                    self.at += 2;
                    self.push(Bracket::Hole);
                    return;
                }
                _ => {}
            }
            self.at += 1;
        }
        self.at = self.at.min(self.bytes.len());
        self.head = false;
        self.before = Before::Operand;
    }

    fn slash(&mut self) {
        match self.before {
            Before::Operand => {
                self.at += 1;
                self.grow_operator();
                self.before = Before::Operator;
            }
            Before::Brace | Before::Either => self.certain = false,
            Before::Operator => self.regular_expression(),
        }
    }

    fn regular_expression(&mut self) {
        self.at += 1;
        let mut class = false;
        while self.at < self.bytes.len() {
            match self.bytes[self.at] {
                b'\\' => self.at += 1,
                b'[' => class = true,
                b']' => class = false,
                b'/' if !class => {
                    self.at += 1;
                    break;
                }
                b'\n' | b'\r' => break,
                _ => {}
            }
            self.at += 1;
        }
        self.at = self.at.min(self.bytes.len());
        self.head = false;
        self.before = Before::Operand;
    }
}

fn is_operator(byte: u8) -> bool {
    matches!(
        byte,
        b'!' | b'~'
            | b'+'
            | b'-'
            | b'*'
            | b'%'
            | b'^'
            | b'&'
            | b'|'
            | b'<'
            | b'>'
            | b'='
            | b'?'
            | b':'
            | b'.'
            | b'@'
            | b'/'
    )
}

/// Whether what follows a word may stand inside of what the word begins.
fn may_hold(word: &str) -> bool {
    matches!(
        word,
        "new"
            | "typeof"
            | "void"
            | "delete"
            | "await"
            | "yield"
            | "in"
            | "instanceof"
            | "if"
            | "else"
            | "for"
            | "while"
            | "do"
            | "with"
            | "extends"
            | "async"
            | "return"
            | "throw"
            | "case"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each nests once more with every repetition.
    const DEEP: &[&str] = &[
        "(",
        "[",
        "{",
        "!",
        "a=>",
        "a?",
        "a**",
        "new ",
        "`${",
        "a:",
        "if(a)",
        "f(",
        "x={a:",
        "function f(){",
        "class A{static{",
        "async()=>{",
        "for(;;)",
        "a=",
        "a+",
        "({a:[",
        "(\")\",",
        "(/)/,",
        "(`)`,",
        "(/*)*/",
        "(//)\n",
        "if(a)/\"/;(/\"/;",
        "a}/\"/,(\")\",",
        "typeof ",
        "if(a)b;else ",
        "do ",
        "a.b/(",
        "-- >(",
        "a.",
        "(\u{2028}//\u{2028}",
        "new\u{a0}",
        "await\n",
        "(\"\\é)\",",
    ];

    #[test]
    fn what_nests_is_counted_and_what_does_not_is_not() {
        let deep = 100_000;
        for piece in DEEP {
            assert!(bound(&piece.repeat(deep)) > MOST, "{piece}");
        }
        for piece in [
            "();",
            "[],",
            "{}",
            "a=b;",
            "f(a,b);",
            "'(';",
            "`${a}(`;",
            "/[(/]/.test(a);",
            "//(\n",
            "/*(*/",
            "if(a){b()}",
            "a?b:c,",
            "x=(1)/(2);",
            "\"\\\"(\";",
            "while(a)/(/.test(b);",
            "a=b.c\n",
            "f(a)\n",
            "if(a){b=c}\n",
        ] {
            assert!(bound(&piece.repeat(deep)) < 1 << 20, "{piece}");
        }
    }

    #[test]
    fn the_deepest_text_that_is_read_has_stack_enough() {
        for piece in DEEP {
            let each = (bound(&piece.repeat(2000)) - bound(&piece.repeat(1000))) / 1000;
            let text = piece.repeat(MOST / each - 20);
            assert!((MOST / 2..=MOST).contains(&bound(&text)), "{piece}");
            let _ = crate::imports(&text, crate::Language::CommonJs);
        }
    }
}
