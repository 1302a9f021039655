//! Checking a tree against the rules of a document type, all faults at once.
//!
//! A [`Walk`] goes down a [`Node`] in the order of the schema and collects [`Issue`]s: where
//! (a path such as `apps.1.id`, and the bytes), what, and which quotes would cure it. The
//! messages are those of zod 4, which the reference implementation of `pack/v1` uses, so that a
//! definition built in code and the same one written as Markdown fail with the same text
//! (`pack-v1` section 1.6). Lengths count Unicode scalar values.

use std::fmt::Write as _;
use std::ops::Range;

use holdall_diagnostics::{Code, Diagnostic, Severity, SourceText};

use crate::codes;
use crate::fix::Fix;
use crate::yaml::{Elsewhere, Entry, Node, Reading, Scalar, Style, Value};

/// One broken rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// Keys and list indexes with dots between them; empty for the document itself.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// The bytes it concerns; `0..0` for a value built in code.
    pub span: Range<usize>,
    /// Which sort of rule.
    pub kind: IssueKind,
    /// What to do, where the message alone does not say it.
    pub help: Option<String>,
}

/// Which sort of rule an [`Issue`] broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IssueKind {
    /// A required key is absent.
    Missing,
    /// The value has another type.
    Type,
    /// A text without quotes that a parser reads as another type.
    Portable,
    /// `yes`, `no`, `on`, `off` without quotes: a text here, a boolean to YAML 1.1.
    Word,
    /// Too short, too long, too small, too big.
    Bounds,
    /// The text does not have the wanted form, or is not one of the allowed values.
    Form,
    /// A key that the schema does not know.
    UnknownKey,
    /// ` #` ends an unquoted text.
    Comment,
    /// A rule of the document type's own, see [`Walk::issue`].
    Rule,
}

impl Issue {
    /// `path: message`, or the message alone for the document itself.
    pub fn line(&self) -> String {
        if self.path.is_empty() {
            // zod's own join keeps the empty path and its colon.
            format!(": {}", self.message)
        } else {
            format!("{}: {}", self.path, self.message)
        }
    }
}

impl Issue {
    /// The message as a lower-case fragment, for diagnostics that have words of their own.
    pub fn sentence(&self) -> String {
        let message = self.message.strip_prefix("Invalid input: ").unwrap_or(&self.message);
        let mut chars = message.chars();
        chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
    }
}

impl Issue {
    /// The finding for it, with the place in `source` if it came from a text. `code` is the document
    /// type's own; faults that are every document's (quotes, comments, no mapping at all) have the
    /// code they have everywhere.
    pub fn diagnostic(&self, code: &Code, source: Option<&SourceText>) -> Diagnostic {
        let code = match (self.kind, self.path.as_str()) {
            (IssueKind::Portable | IssueKind::Word, _) => &codes::PORTABLE_SCALAR,
            (IssueKind::Comment, _) => &codes::COMMENT_CUTS,
            (IssueKind::Type, "") => &codes::NOT_A_MAPPING,
            _ => code,
        };
        let message = match (self.kind, self.path.as_str()) {
            (IssueKind::Missing, path) => format!("`{path}` is missing"),
            (IssueKind::Comment, _) | (_, "") => self.sentence(),
            (_, path) => format!("`{path}`: {}", self.sentence()),
        };
        let mut found = Diagnostic::new(code, message);
        if self.kind == IssueKind::Portable {
            found = found.severity(Severity::Error);
        }
        if let Some(source) = source {
            found = found.span(source, self.span.clone());
        }
        found.help.clone_from(&self.help);
        found
    }
}

/// What a text must be.
#[derive(Debug, Clone, Copy, Default)]
pub struct TextRule {
    /// Fewest characters.
    pub min: usize,
    /// Most characters.
    pub max: Option<usize>,
    /// A form it must have, and the regular expression that describes it in messages.
    pub form: Option<Form>,
    /// The only text it may be.
    pub literal: Option<&'static str>,
}

/// A form that a text must have.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    /// Whether a text has it.
    pub matches: fn(&str) -> bool,
    /// The regular expression that says the same, for messages and schemas.
    pub pattern: &'static str,
}

/// What a number must be.
#[derive(Debug, Clone, Copy, Default)]
pub struct NumberRule {
    /// Smallest value.
    pub min: Option<f64>,
    /// Largest value.
    pub max: Option<f64>,
    /// Whether a fraction is an issue; `12.0` has none.
    pub integer: bool,
}

/// zod's `int` is a safe integer of JavaScript, 2^53 - 1 at most.
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

/// How a document type takes texts without quotes that other parsers read as another type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strings {
    /// They are issues of type, and no text comes of them (`PACK.md`, `APP.md`).
    Strict,
    /// They stay texts; the issue only tells (`SKILL.md`).
    Lenient,
}

/// A walk over one document.
#[derive(Debug)]
pub struct Walk {
    strings: Strings,
    path: Vec<String>,
    issues: Vec<Issue>,
    fixes: Vec<Fix>,
    /// The file that fixes are made for; none for a value built in code.
    source: Option<SourceText>,
}

/// The keys of a mapping that has not been checked for unknown ones yet; see [`Walk::object`].
#[derive(Debug)]
pub struct Fields<'n> {
    entries: &'n [Entry],
    span: Range<usize>,
    known: Vec<&'static str>,
}

impl Walk {
    /// A walk over a tree that was read from `source`; none for one that was built in code.
    pub fn new(strings: Strings, source: Option<&SourceText>) -> Self {
        let source = source.cloned();
        Self { strings, path: Vec::new(), issues: Vec::new(), fixes: Vec::new(), source }
    }

    /// All issues in the order they were found, and the quotes that cure some of them.
    pub fn finish(self) -> (Vec<Issue>, Vec<Fix>) {
        (self.issues, self.fixes)
    }

    /// Whether no issue of a kind that makes a document wrong has been found yet.
    pub fn is_clean(&self) -> bool {
        self.issues.iter().all(|issue| {
            matches!(issue.kind, IssueKind::Word | IssueKind::Comment)
                || issue.kind == IssueKind::Portable && self.strings == Strings::Lenient
        })
    }

    /// Reports a rule of the document type's own at the place the walk is at.
    pub fn issue(&mut self, span: Range<usize>, message: impl Into<String>) -> &mut Issue {
        self.report(IssueKind::Rule, span, message)
    }

    /// Goes down to a key or an index, and back up afterwards.
    pub fn at<T>(&mut self, step: &str, visit: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(step.to_string());
        let result = visit(self);
        self.path.pop();
        result
    }

    /// The keys of a mapping. Take them in the order of the schema, then [`Fields::close`] or
    /// [`Fields::leave_open`].
    pub fn object<'n>(&mut self, node: &'n Node) -> Option<Fields<'n>> {
        let Some(entries) = node.as_mapping() else {
            self.type_issue(node, "object");
            return None;
        };
        Some(Fields { entries, span: node.span.clone(), known: Vec::new() })
    }

    /// Every item of a list, visited with its index in the path.
    pub fn list<T>(
        &mut self,
        node: &Node,
        mut visit: impl FnMut(&mut Self, &Node) -> Option<T>,
    ) -> Option<Vec<T>> {
        let Some(items) = node.as_sequence() else {
            self.type_issue(node, "array");
            return None;
        };
        let before = self.issues.len();
        let taken: Vec<T> = items
            .iter()
            .enumerate()
            .filter_map(|(at, item)| self.at(&at.to_string(), |walk| visit(walk, item)))
            .collect();
        (taken.len() == items.len() || self.issues.len() == before).then_some(taken)
    }

    /// A list of texts.
    pub fn texts(&mut self, node: &Node, rule: TextRule) -> Option<Vec<String>> {
        self.list(node, |walk, item| walk.text(item, rule))
    }

    /// A text.
    pub fn text(&mut self, node: &Node, rule: TextRule) -> Option<String> {
        let Some(scalar) = node.as_scalar() else {
            self.text_type_issue(node, rule);
            return None;
        };
        if let Some(other) = scalar.elsewhere()
            && !self.text_elsewhere(node, scalar, other, rule)
        {
            return None;
        }
        if let Some(comment) = &scalar.comment {
            self.comment_issue(comment.clone());
        }
        let before = self.issues.len();
        self.check_text(node, &scalar.text, rule);
        (self.issues.len() == before).then(|| scalar.text.clone())
    }

    /// A boolean.
    pub fn boolean(&mut self, node: &Node) -> Option<bool> {
        if let Some(scalar) = node.as_scalar() {
            if let Reading::Bool(value) = scalar.reading() {
                return Some(value);
            }
            if scalar.elsewhere() == Some(Elsewhere::Word) {
                let yes = matches!(scalar.text.to_ascii_lowercase().as_str(), "yes" | "on");
                let help = format!("write `{yes}`");
                self.type_issue(node, "boolean").help = Some(help);
                return None;
            }
        }
        self.type_issue(node, "boolean");
        None
    }

    /// A number in decimal or exponent form.
    pub fn number(&mut self, node: &Node, rule: NumberRule) -> Option<f64> {
        let Some(value) = node.as_scalar().and_then(Scalar::portable_number) else {
            let scalar = node.as_scalar();
            let elsewhere = scalar.and_then(Scalar::elsewhere) == Some(Elsewhere::Number);
            if elsewhere {
                // Some readers take it for a number, so the type is not what is wrong with it.
                let message = "Invalid input: expected number in decimal digits";
                let issue = self.report(IssueKind::Type, node.span.clone(), message);
                issue.help = Some("leave out `_`, `:` and prefixes such as `0x`".into());
            } else {
                self.type_issue(node, "number");
            }
            return None;
        };
        if !value.is_finite() {
            self.type_issue(node, "number");
            return None;
        }
        let before = self.issues.len();
        let span = &node.span;
        if rule.integer && value.fract() != 0.0 {
            let message = "Invalid input: expected int, received number";
            self.report(IssueKind::Type, span.clone(), message);
            return None;
        }
        if let Some(min) = rule.min
            && value < min
        {
            let message = format!("Too small: expected number to be >={min}");
            self.report(IssueKind::Bounds, span.clone(), message);
        }
        let (max, noun) = match rule.max {
            None if rule.integer => (Some(MAX_SAFE_INTEGER), "int"),
            max => (max, "number"),
        };
        if let Some(max) = max
            && value > max
        {
            let message = format!("Too big: expected {noun} to be <={max}");
            self.report(IssueKind::Bounds, span.clone(), message);
        }
        (self.issues.len() == before).then_some(value)
    }

    fn check_text(&mut self, node: &Node, text: &str, rule: TextRule) {
        let span = || node.span.clone();
        if let Some(literal) = rule.literal
            && text != literal
        {
            let message = format!("Invalid input: expected \"{literal}\"");
            self.report(IssueKind::Form, span(), message);
            return;
        }
        if let Some(form) = rule.form
            && !(form.matches)(text)
        {
            let message = format!("Invalid string: must match pattern /{}/", form.pattern);
            self.report(IssueKind::Form, span(), message);
        }
        let length = text.chars().count();
        if length < rule.min {
            let message = format!("Too small: expected string to have >={} characters", rule.min);
            self.report(IssueKind::Bounds, span(), message);
        }
        if let Some(max) = rule.max
            && length > max
        {
            let message = format!("Too big: expected string to have <={max} characters");
            self.report(IssueKind::Bounds, span(), message).help = Some(format!("it has {length}"));
        }
    }

    /// Reports a text that is not one elsewhere. Returns whether it is a text here.
    fn text_elsewhere(
        &mut self,
        node: &Node,
        scalar: &Scalar,
        other: Elsewhere,
        rule: TextRule,
    ) -> bool {
        let lenient = self.strings == Strings::Lenient;
        match other {
            Elsewhere::Null => {
                self.text_type_issue(node, rule);
                return false;
            }
            Elsewhere::Word | Elsewhere::Indicator => {}
            Elsewhere::Bool | Elsewhere::Number | Elsewhere::Date if lenient => {}
            _ => {
                let received = match other {
                    Elsewhere::Bool => "boolean",
                    Elsewhere::Number => received(scalar),
                    _ => "Date",
                };
                let message = expected_text(rule, received);
                let fix = self.fix(node, scalar);
                let issue = self.report(IssueKind::Portable, node.span.clone(), message);
                issue.help = Some(quote_help(scalar));
                self.fixes.extend(fix);
                return false;
            }
        }
        let kind = if matches!(other, Elsewhere::Word | Elsewhere::Indicator) && !lenient {
            IssueKind::Word
        } else {
            IssueKind::Portable
        };
        let message = format!("other parsers read {} in `{}`", other.noun(), scalar.text);
        let fix = self.fix(node, scalar);
        self.report(kind, node.span.clone(), message).help = Some(quote_help(scalar));
        self.fixes.extend(fix);
        true
    }

    fn comment_issue(&mut self, span: Range<usize>) {
        let message = "` #` ends the value here; the rest is a comment";
        let help =
            "quote the value if this belongs to it, else put the comment on a line of its own";
        self.report(IssueKind::Comment, span, message).help = Some(help.to_owned());
    }

    fn fix(&self, node: &Node, scalar: &Scalar) -> Option<Fix> {
        let bytes = self.source.as_ref()?.bytes();
        let written = bytes.get(node.span.clone())?;
        // An alias's span is the alias, and what stands at the anchor may be meant as it is.
        (scalar.style == Style::Plain && !written.is_empty() && written == scalar.text.as_bytes())
            .then(|| Fix::quote(bytes, node.span.clone()))
    }

    fn text_type_issue(&mut self, node: &Node, rule: TextRule) {
        let received = received_node(node);
        let message = expected_text(rule, received);
        self.report(IssueKind::Type, node.span.clone(), message);
    }

    fn type_issue(&mut self, node: &Node, expected: &str) -> &mut Issue {
        let received = received_node(node);
        let message = format!("Invalid input: expected {expected}, received {received}");
        self.report(IssueKind::Type, node.span.clone(), message)
    }

    fn report(
        &mut self,
        kind: IssueKind,
        span: Range<usize>,
        message: impl Into<String>,
    ) -> &mut Issue {
        let path = self.path.join(".");
        self.issues.push(Issue { path, message: message.into(), span, kind, help: None });
        let last = self.issues.len() - 1;
        &mut self.issues[last]
    }
}

impl<'n> Fields<'n> {
    /// The value of a key that must be there. `expected` is the type that zod would name, or a
    /// literal in double quotes.
    pub fn required(
        &mut self,
        walk: &mut Walk,
        key: &'static str,
        expected: &str,
    ) -> Option<&'n Node> {
        let found = self.optional(key);
        if found.is_none() {
            let span = self.span.start..self.span.start;
            walk.at(key, |walk| {
                // zod does not say what it received in place of a literal.
                let received = if expected.starts_with('"') { "" } else { ", received undefined" };
                let message = format!("Invalid input: expected {expected}{received}");
                let issue = walk.report(IssueKind::Missing, span, message);
                issue.help = Some(format!("add `{key}:`"));
            });
        }
        found
    }

    /// The value of a key that may be there.
    pub fn optional(&mut self, key: &'static str) -> Option<&'n Node> {
        self.known.push(key);
        self.entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    /// The entries that were not asked for, in the order of the file.
    pub fn unknown(&self) -> impl Iterator<Item = &'n Entry> {
        self.entries.iter().filter(|entry| !self.known.contains(&entry.key.as_str()))
    }

    /// Ends a closed object: every key that was not asked for is an issue, reported at the
    /// object as zod does, with the span of the first one.
    pub fn close(self, walk: &mut Walk) {
        let unknown: Vec<_> = self.unknown().collect();
        let Some(first) = unknown.first() else { return };
        let mut message = String::from(if unknown.len() == 1 {
            "Unrecognized key: "
        } else {
            "Unrecognized keys: "
        });
        for (at, entry) in unknown.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            let _ = write!(message, "{comma}\"{}\"", entry.key);
        }
        let meant: Vec<_> = unknown
            .iter()
            .filter_map(|entry| {
                let known = did_you_mean(&entry.key, &self.known)?;
                Some(format!("did you mean `{known}`?"))
            })
            .collect();
        let known = self.known.join("`, `");
        let issue = walk.report(IssueKind::UnknownKey, first.key_span.clone(), message);
        issue.help =
            Some(if meant.is_empty() { format!("known here: `{known}`") } else { meant.join(" ") });
    }

    /// Ends an open object: unknown keys are fine.
    pub fn leave_open(self) {}
}

/// The known word that `word` is probably a misspelling of.
pub fn did_you_mean<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    let lower = word.to_lowercase();
    let allowed = (lower.chars().count() / 3).clamp(1, 3);
    known
        .iter()
        .map(|&known| (strsim::damerau_levenshtein(&lower, &known.to_lowercase()), known))
        .filter(|&(distance, _)| distance <= allowed)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, known)| known)
}

fn expected_text(rule: TextRule, received: &str) -> String {
    match rule.literal {
        Some(literal) => format!("Invalid input: expected \"{literal}\""),
        None => format!("Invalid input: expected string, received {received}"),
    }
}

fn quote_help(scalar: &Scalar) -> String {
    format!("quote it: `\"{}\"`, or let `holdall validate --fix` do it", scalar.text)
}

fn received_node(node: &Node) -> &'static str {
    match &node.value {
        Value::Sequence(_) => "array",
        Value::Mapping(_) => "object",
        Value::Scalar(scalar) => received(scalar),
    }
}

fn received(scalar: &Scalar) -> &'static str {
    match scalar.elsewhere() {
        _ if scalar.style != Style::Plain => "string",
        Some(Elsewhere::Null) => "null",
        Some(Elsewhere::Bool) => "boolean",
        Some(Elsewhere::Date) => "Date",
        Some(Elsewhere::Number) => match scalar.reading() {
            Reading::Number(value) if value.is_nan() => "NaN",
            Reading::Number(value) if value.is_infinite() => "Infinity",
            _ => "number",
        },
        Some(Elsewhere::Word | Elsewhere::Indicator) | None => "string",
    }
}
