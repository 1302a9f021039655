//! `SKILL.md`: a skill's fields, by the Agent Skills specification, tempered by what published
//! skills do (`pack-v1` 6.1, `field-data`).
//!
//! [`check`] reads one document. Only what makes a skill unusable or unsafe is an error: no
//! frontmatter, no usable name, no description. The rest of the specification is a warning,
//! which `--strict` turns into an error. A [`Skill`] exists only if its document has no error.

use std::collections::BTreeMap;
use std::fmt;

use holdall_diagnostics::{Code, Diagnostic, Severity, SourceText};

use crate::codes;
use crate::fix::Fix;
use crate::frontmatter::Document;
use crate::schema::{Fields, Issue, IssueKind, Strings, TextRule, Walk, did_you_mean};
use crate::yaml::{self, Node, Parsed, Value};

/// The file that makes a directory a skill.
pub const FILE: &str = "SKILL.md";

/// Most characters of a name.
pub const MAX_NAME: usize = 64;

/// Most characters of a description before it is a warning.
pub const MAX_DESCRIPTION: usize = 1024;

/// Most characters of `compatibility` before it is a warning.
pub const MAX_COMPATIBILITY: usize = 500;

/// The form of a name, as a regular expression.
pub const NAME_PATTERN: &str = "^[a-z0-9]+(-[a-z0-9]+)*$";

/// The keys of the specification, in its order.
pub const KEYS: [&str; 6] =
    ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];

/// Keys that are not in the specification and that some agent host or older text reads.
const OTHER_KEYS: [(&str, &str); 17] = [
    ("agent", "Claude Code"),
    ("argument-hint", "Claude Code"),
    ("arguments", "Claude Code"),
    ("context", "Claude Code"),
    ("disable-model-invocation", "Claude Code"),
    ("hooks", "Claude Code"),
    ("model", "Claude Code"),
    ("user-invocable", "Claude Code"),
    ("when_to_use", "Claude Code"),
    ("examples", "AIP-3"),
    ("inputs", "AIP-3"),
    ("schema", "AIP-3"),
    ("tags", "AIP-3"),
    ("title", "AIP-3"),
    ("tools", "AIP-3"),
    ("version", "AIP-3"),
    ("author", "no agent host"),
];

/// A name that is safe as a directory: [`NAME_PATTERN`], at most [`MAX_NAME`] characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SkillName(String);

/// A text that is no skill name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a skill name: 1 to 64 lower-case letters and digits, words joined by single hyphens"
)]
pub struct NotASkillName(String);

impl SkillName {
    /// Takes a text that has the form of a name.
    pub fn new(name: &str) -> Result<Self, NotASkillName> {
        if is_name(name) && name.len() <= MAX_NAME {
            Ok(Self(name.to_owned()))
        } else {
            Err(NotASkillName(name.chars().take(100).collect()))
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SkillName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.split('-').all(|word| {
            !word.is_empty()
                && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        })
}

/// The fields of a `SKILL.md` that has no error.
#[derive(Debug, Clone, PartialEq)]
pub struct Skill {
    name: SkillName,
    description: String,
    license: Option<String>,
    compatibility: Option<String>,
    metadata: BTreeMap<String, String>,
    allowed_tools: Vec<String>,
    frontmatter: Node,
}

impl Skill {
    /// The name; equal to the directory's by the specification, not always in practice.
    pub const fn name(&self) -> &SkillName {
        &self.name
    }

    /// What it does and when to use it; not blank.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The licence, verbatim.
    pub fn license(&self) -> Option<&str> {
        self.license.as_deref()
    }

    /// What it needs, verbatim.
    pub fn compatibility(&self) -> Option<&str> {
        self.compatibility.as_deref()
    }

    /// The publisher's own keys; texts only.
    pub const fn metadata(&self) -> &BTreeMap<String, String> {
        &self.metadata
    }

    /// Tool patterns such as `Bash(git add:*)`, from either form.
    pub fn allowed_tools(&self) -> &[String] {
        &self.allowed_tools
    }

    /// The whole frontmatter, unknown keys included.
    pub const fn frontmatter(&self) -> &Node {
        &self.frontmatter
    }
}

/// What came of checking a `SKILL.md`.
#[derive(Debug, Clone, Default)]
pub struct Checked {
    /// The skill, if no diagnostic is an error.
    pub skill: Option<Skill>,
    /// The name, if there is a usable one, whatever else is wrong.
    pub name: Option<SkillName>,
    /// The bytes of its value in the document.
    pub name_span: Option<std::ops::Range<usize>>,
    /// Everything found, in the order of the file, without a path.
    pub diagnostics: Vec<Diagnostic>,
    /// The quotes that would cure some of it.
    pub fixes: Vec<Fix>,
}

/// Checks the bytes of a `SKILL.md`. `directory` is the name of the directory it stands in, where
/// that is known: the name of a package's root or of a bare file is not.
pub fn check(source: &SourceText, directory: Option<&str>) -> Checked {
    let document = match Document::split(source) {
        Ok(document) => document,
        Err(error) => {
            let diagnostics = vec![error.diagnostic(source)];
            return Checked { diagnostics, ..Checked::default() };
        }
    };
    let Parsed { root, mut diagnostics, mut fixes } = yaml::parse(&document);
    let mut skill = None;
    let mut name = None;
    let mut name_span = None;
    if let Some(root) = root {
        let mut walk = Walk::new(Strings::Lenient, Some(source));
        skill = walk_skill(&mut walk, &root, source, directory, &mut diagnostics);
        let text = root.get("name").and_then(Node::as_scalar).map(|scalar| scalar.text.as_str());
        name = text.and_then(|text| SkillName::new(text).ok());
        name_span = root.get("name").map(|node| node.span.clone());
        let (issues, cures) = walk.finish();
        diagnostics.extend(issues.iter().map(|issue| diagnostic(issue, source)));
        fixes.extend(cures);
    }
    diagnostics.extend(crate::hidden::diagnostics(source));
    diagnostics.extend(crate::risky::diagnostics(source));
    diagnostics.sort_by_key(|found| found.span.map(|span| span.start.offset));
    if diagnostics.iter().any(|found| found.severity == Severity::Error) {
        skill = None;
    }
    Checked { skill, name, name_span, diagnostics, fixes }
}

fn walk_skill(
    walk: &mut Walk,
    root: &Node,
    source: &SourceText,
    directory: Option<&str>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Skill> {
    if root.as_mapping().is_none() {
        let message = "the frontmatter is not a mapping of fields";
        let found = Diagnostic::new(&codes::NOT_A_MAPPING, message)
            .span(source, root.span.clone())
            .help("write `name: …` and `description: …`");
        diagnostics.push(found);
        return None;
    }
    let mut fields = walk.object(root)?;

    let name = fields.required(walk, "name", "string").and_then(|node| {
        let text =
            walk.at("name", |walk| walk.text(node, TextRule { min: 1, ..TextRule::default() }))?;
        check_name(&text, node, source, directory, diagnostics)
    });
    let description = fields.required(walk, "description", "string").and_then(|node| {
        let text = walk.at("description", |walk| {
            walk.text(node, TextRule { min: 1, ..TextRule::default() })
        })?;
        check_description(text, node, source, diagnostics)
    });
    let license = text_field(walk, &mut fields, "license", TextRule::default());
    let compatibility = text_field(
        walk,
        &mut fields,
        "compatibility",
        TextRule { min: 1, max: Some(MAX_COMPATIBILITY), ..TextRule::default() },
    );
    let metadata = fields
        .optional("metadata")
        .and_then(|node| walk.at("metadata", |walk| metadata(walk, node)))
        .unwrap_or_default();
    let allowed_tools = fields
        .optional("allowed-tools")
        .and_then(|node| walk.at("allowed-tools", |walk| allowed_tools(walk, node)))
        .unwrap_or_default();
    for entry in fields.unknown() {
        diagnostics.push(unknown_key(&entry.key, source, entry.key_span.clone()));
        // A number, a date or a null may be meant under a key that nobody defines, a text may not.
        if let ("version" | "title" | "argument-hint", Value::Scalar(_)) =
            (entry.key.as_str(), &entry.value.value)
        {
            walk.at(&entry.key, |walk| walk.text(&entry.value, TextRule::default()));
        }
    }
    fields.leave_open();
    Some(Skill {
        name: name?,
        description: description?,
        license,
        compatibility,
        metadata,
        allowed_tools,
        frontmatter: root.clone(),
    })
}

fn check_name(
    text: &str,
    node: &Node,
    source: &SourceText,
    directory: Option<&str>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<SkillName> {
    let name = match SkillName::new(text) {
        Ok(name) => name,
        Err(error) => {
            let help = match suggestion(text) {
                Some(name) => format!("`{name}` would be one"),
                None => "it becomes the name of a directory".to_owned(),
            };
            let found = Diagnostic::new(&codes::SKILL_NAME, error.to_string());
            diagnostics.push(found.span(source, node.span.clone()).help(help));
            return None;
        }
    };
    if let Some(directory) = directory
        && directory != text
    {
        let message = format!("the skill is named `{text}` and its directory `{directory}`");
        let help = "rename one of the two; the skill is installed under its name";
        let found = Diagnostic::new(&codes::SKILL_DIRECTORY, message);
        diagnostics.push(found.span(source, node.span.clone()).help(help));
    }
    Some(name)
}

/// A name made from a text that is none.
fn suggestion(text: &str) -> Option<SkillName> {
    let words: Vec<_> = text
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    SkillName::new(&words.join("-")).ok()
}

fn check_description(
    text: String,
    node: &Node,
    source: &SourceText,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<String> {
    if text.trim().is_empty() {
        let found = Diagnostic::new(&codes::SKILL_DESCRIPTION_MISSING, "`description` is blank");
        let help = "say what the skill does and when to use it";
        diagnostics.push(found.span(source, node.span.clone()).help(help));
        return None;
    }
    let length = text.chars().count();
    if length > MAX_DESCRIPTION {
        let message =
            format!("`description` has {length} characters, {MAX_DESCRIPTION} are allowed");
        let help = "shorten it, and move details into the body";
        let found = Diagnostic::new(&codes::SKILL_DESCRIPTION_LONG, message);
        diagnostics.push(found.span(source, node.span.clone()).help(help));
    }
    Some(text)
}

fn text_field(
    walk: &mut Walk,
    fields: &mut Fields<'_>,
    key: &'static str,
    rule: TextRule,
) -> Option<String> {
    let node = fields.optional(key)?;
    walk.at(key, |walk| walk.text(node, rule))
}

fn metadata(walk: &mut Walk, node: &Node) -> Option<BTreeMap<String, String>> {
    let fields = walk.object(node)?;
    let texts = fields
        .unknown()
        .filter_map(|entry| {
            let text = walk.at(&entry.key, |walk| walk.text(&entry.value, TextRule::default()))?;
            Some((entry.key.clone(), text))
        })
        .collect();
    fields.leave_open();
    Some(texts)
}

fn allowed_tools(walk: &mut Walk, node: &Node) -> Option<Vec<String>> {
    match &node.value {
        Value::Scalar(_) => Some(split_tools(&walk.text(node, TextRule::default())?)),
        Value::Sequence(_) => walk.texts(node, TextRule { min: 1, ..TextRule::default() }),
        Value::Mapping(_) => walk.text(node, TextRule::default()).map(|text| vec![text]),
    }
}

/// Tool patterns between blanks or commas; a pair of brackets keeps its blanks together.
fn split_tools(text: &str) -> Vec<String> {
    let mut depth = 0usize;
    text.split(|c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (c.is_whitespace() || c == ',')
    })
    .filter(|tool| !tool.is_empty())
    .map(str::to_owned)
    .collect()
}

fn unknown_key(key: &str, source: &SourceText, span: std::ops::Range<usize>) -> Diagnostic {
    let other = OTHER_KEYS.iter().find(|(known, _)| *known == key);
    let (message, help) = match (other, did_you_mean(key, &KEYS)) {
        (Some((_, reader @ ("Claude Code" | "AIP-3"))), _) => (
            format!("`{key}` is not in the Agent Skills specification ({reader} reads it)"),
            "move it below `metadata`, or keep it if only those are to read the skill".to_owned(),
        ),
        (None, Some(known)) => (
            format!("`{key}` is not in the Agent Skills specification"),
            format!("did you mean `{known}`?"),
        ),
        _ => (
            format!("`{key}` is not in the Agent Skills specification"),
            "move it below `metadata`".to_owned(),
        ),
    };
    Diagnostic::new(&codes::SKILL_KEY, message).span(source, span).help(help)
}

/// The finding for a broken rule: which code depends on the field.
fn diagnostic(issue: &Issue, source: &SourceText) -> Diagnostic {
    let code: &Code = match (issue.kind, issue.path.as_str()) {
        (IssueKind::Portable | IssueKind::Word, _) => &codes::PORTABLE_SCALAR,
        (IssueKind::Comment, _) => &codes::COMMENT_CUTS,
        (_, "name") => &codes::SKILL_NAME_MISSING,
        (_, "description") => &codes::SKILL_DESCRIPTION_MISSING,
        _ => &codes::SKILL_FIELD,
    };
    let message = match issue.kind {
        IssueKind::Missing => format!("`{}` is missing", issue.path),
        IssueKind::Comment => issue.message.clone(),
        _ => format!("`{}`: {}", issue.path, issue.sentence()),
    };
    let mut found = Diagnostic::new(code, message).span(source, issue.span.clone());
    found.help = issue.help.clone().or_else(|| Some(format!("write a text: `{}: …`", issue.path)));
    found
}

/// The frontmatter as JSON, as [`check`] reads it: what the specification wants to be a text is
/// the text as it is written, also where YAML alone would see a number or a boolean in it.
pub fn to_json(frontmatter: &Node) -> serde_json::Value {
    let mut json = frontmatter.to_json();
    if let (Some(object), Some(entries)) = (json.as_object_mut(), frontmatter.as_mapping()) {
        for entry in entries {
            if let ("name" | "description" | "license" | "compatibility", Value::Scalar(scalar)) =
                (entry.key.as_str(), &entry.value.value)
                && scalar.reading() != yaml::Reading::Null
            {
                object.insert(entry.key.clone(), scalar.text.clone().into());
            }
        }
    }
    json
}

/// The JSON Schema (2020-12) of a skill's frontmatter: what [`check`] takes without an error.
///
/// Rules that are only warnings (lengths of optional fields, unknown keys) are annotations in
/// descriptions, so that a document fails the schema exactly when the parser refuses it.
pub fn json_schema() -> serde_json::Value {
    serde_json::json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "SKILL.md frontmatter",
        "description": "The fields of an Agent Skills document. Other keys are allowed and reported.",
        "type": "object",
        "required": ["name", "description"],
        "properties": {
            "name": {
                "description": "Equal to the name of the directory.",
                "type": "string", "pattern": NAME_PATTERN, "maxLength": MAX_NAME,
            },
            "description": {
                "description": format!(
                    "What the skill does and when to use it; at most {MAX_DESCRIPTION} characters."
                ),
                "type": "string", "pattern": "\\S",
            },
            "license": { "description": "A text." },
            "compatibility": {
                "description": format!("A text of 1 to {MAX_COMPATIBILITY} characters."),
            },
            "metadata": { "description": "A mapping from texts to texts." },
            "allowed-tools": { "description": "A text with blanks between the tools, or a list." },
        },
    })
}
