//! A small language for the shapes of host documents, and the one walk that checks them.
//!
//! It is less than JSON Schema on purpose: every fault has a span, a place and a next step, what
//! is unknown is only ever a warning, and the build can read the same tables.

use holdall_artifact::json::{Node, NodeKind};
use holdall_diagnostics::Severity;

use super::{DocumentFault, FaultRule};

/// What a value must be.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    /// Anything.
    Any,
    /// A string, not empty.
    Text,
    /// A string that a check of its own accepts, else its message.
    Checked(fn(&str) -> Result<(), String>),
    /// One of these words; another is an error, because the host refuses the whole document.
    Word(&'static [&'static str]),
    /// One of these words; another may be known to a newer host.
    OpenWord(&'static str, &'static [&'static str]),
    /// `true` or `false`.
    Bool,
    /// A number above 0.
    Positive,
    /// Exactly this integer.
    Integer(u32),
    /// An array of one shape.
    List(&'static Shape),
    /// An object with free keys.
    Map(&'static Shape),
    /// An object with free keys that a check accepts.
    MapOf(fn(&str) -> Result<(), String>, &'static Shape),
    /// An object whose keys should be among these, each warned about otherwise.
    Keyed(&'static Keyed),
    /// An object with known keys.
    Object(&'static Object),
    /// The shape that the kind of the value selects: a string, an array, an object.
    Either {
        /// Of a string.
        text: Option<&'static Shape>,
        /// Of an array.
        list: Option<&'static Shape>,
        /// Of an object.
        object: Option<&'static Shape>,
    },
    /// An object that a function chooses the shape of by looking at it.
    Chosen(fn(Node<'_>) -> Shape),
}

/// An object with known keys.
#[derive(Debug)]
pub(super) struct Object {
    /// What it is, for messages: `a server`.
    pub(super) what: &'static str,
    /// Its fields.
    pub(super) fields: &'static [Field],
}

/// One key of an object.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) key: &'static str,
    pub(super) required: bool,
    pub(super) shape: Shape,
}

/// An object whose keys are names of one vocabulary.
#[derive(Debug)]
pub(super) struct Keyed {
    /// What a key is: `event`.
    pub(super) what: &'static str,
    /// The known keys.
    pub(super) known: &'static [&'static str],
    /// The same thing under other hosts' spellings, for the hint.
    pub(super) elsewhere: fn(&str) -> Option<&'static str>,
    /// The shape of every value.
    pub(super) value: Shape,
}

pub(super) const fn need(key: &'static str, shape: Shape) -> Field {
    Field { key, required: true, shape }
}

pub(super) const fn may(key: &'static str, shape: Shape) -> Field {
    Field { key, required: false, shape }
}

/// Checks a value and everything in it, all faults at once.
pub(super) fn check(shape: &Shape, node: Node<'_>, faults: &mut Vec<DocumentFault>) {
    Walk { faults, place: Vec::new() }.value(shape, node);
}

struct Walk<'a> {
    faults: &'a mut Vec<DocumentFault>,
    place: Vec<String>,
}

impl Walk<'_> {
    fn fault(&mut self, node: Node<'_>, severity: Severity, what: &str, help: Option<String>) {
        self.fault_of(FaultRule::Shape, node, severity, what, help);
    }

    fn fault_of(
        &mut self,
        rule: FaultRule,
        node: Node<'_>,
        severity: Severity,
        what: &str,
        help: Option<String>,
    ) {
        let place = self.place.join(".");
        let message = if place.is_empty() { what.to_owned() } else { format!("{place}: {what}") };
        self.faults.push(DocumentFault { span: node.span(), severity, rule, message, help });
    }

    fn wrong(&mut self, node: Node<'_>, wanted: &str) {
        let what = format!("{} where {wanted} is wanted", node.kind().describe());
        self.fault(node, Severity::Error, &what, None);
    }

    fn inside(&mut self, name: impl Into<String>, visit: impl FnOnce(&mut Self)) {
        self.place.push(name.into());
        visit(self);
        self.place.pop();
    }

    fn value(&mut self, shape: &Shape, node: Node<'_>) {
        match *shape {
            Shape::Any => {}
            Shape::Text => match node.text() {
                None => self.wrong(node, "a string"),
                Some(text) if text.is_empty() => {
                    self.fault(node, Severity::Error, "an empty string", None);
                }
                Some(_) => {}
            },
            Shape::Checked(check) => match node.text() {
                None => self.wrong(node, "a string"),
                Some(text) => {
                    if let Err(what) = check(&text) {
                        self.fault_of(FaultRule::Text, node, Severity::Error, &what, None);
                    }
                }
            },
            Shape::Word(words) => self.word(node, "value", words, Severity::Error),
            Shape::OpenWord(what, words) => self.word(node, what, words, Severity::Warning),
            Shape::Bool => {
                if !matches!(node.kind(), NodeKind::True | NodeKind::False) {
                    self.wrong(node, "true or false");
                }
            }
            Shape::Positive => match node.number() {
                Some(number) if number > 0.0 => {}
                Some(_) => self.fault(node, Severity::Error, "a number that is not above 0", None),
                None => self.wrong(node, "a number"),
            },
            Shape::Integer(wanted) => {
                if node.number() != Some(f64::from(wanted)) {
                    let what = format!("{} where the number {wanted} is wanted", node.raw());
                    self.fault(node, Severity::Error, &what, None);
                }
            }
            Shape::List(item) => self.list(item, node),
            Shape::Map(value) => self.map(any_text, value, node),
            Shape::MapOf(key, value) => self.map(key, value, node),
            Shape::Keyed(keyed) => self.keyed(keyed, node),
            Shape::Object(object) => self.object(object, node),
            Shape::Either { text, list, object } => {
                let chosen = match node.kind() {
                    NodeKind::String => text,
                    NodeKind::Array => list,
                    NodeKind::Object => object,
                    _ => None,
                };
                if let Some(shape) = chosen {
                    return self.value(shape, node);
                }
                let kinds = [("a string", text), ("an array", list), ("an object", object)];
                let kinds: Vec<_> =
                    kinds.iter().filter(|(_, shape)| shape.is_some()).map(|k| k.0).collect();
                self.wrong(node, &kinds.join(" or "));
            }
            Shape::Chosen(choose) => {
                let chosen = choose(node);
                self.value(&chosen, node);
            }
        }
    }

    fn word(&mut self, node: Node<'_>, what: &str, words: &[&str], severity: Severity) {
        let Some(text) = node.text() else { return self.wrong(node, "a string") };
        if words.contains(&text.as_ref()) {
            return;
        }
        let said = format!("`{text}` is not a known {what}");
        self.fault(node, severity, &said, Some(format!("known are {}", words.join(", "))));
    }

    fn list(&mut self, item: &Shape, node: Node<'_>) {
        if node.kind() != NodeKind::Array {
            return self.wrong(node, "an array");
        }
        for (at, member) in node.items().enumerate() {
            self.inside(at.to_string(), |walk| walk.value(item, member));
        }
    }

    fn map(&mut self, check: fn(&str) -> Result<(), String>, value: &Shape, node: Node<'_>) {
        if node.kind() != NodeKind::Object {
            return self.wrong(node, "an object");
        }
        for (key, member) in node.members() {
            let name = key.text().unwrap_or_default().into_owned();
            if let Err(what) = check(&name) {
                self.fault_of(FaultRule::Text, key, Severity::Error, &what, None);
            }
            self.inside(name, |walk| walk.value(value, member));
        }
    }

    fn keyed(&mut self, keyed: &Keyed, node: Node<'_>) {
        if node.kind() != NodeKind::Object {
            return self.wrong(node, "an object");
        }
        for (key, member) in node.members() {
            let name = key.text().unwrap_or_default().into_owned();
            if !keyed.known.contains(&name.as_str()) {
                let what = format!("`{name}` is not a known {}", keyed.what);
                let help = match (keyed.elsewhere)(&name) {
                    Some(here) => format!("did you mean `{here}`?"),
                    None => {
                        format!("a newer host may know it; known are {}", keyed.known.join(", "))
                    }
                };
                self.fault(key, Severity::Warning, &what, Some(help));
            }
            self.inside(name, |walk| walk.value(&keyed.value, member));
        }
    }

    fn object(&mut self, object: &Object, node: Node<'_>) {
        if node.kind() != NodeKind::Object {
            return self.wrong(node, "an object");
        }
        for field in object.fields {
            match node.get(field.key) {
                Some(member) => self.inside(field.key, |walk| walk.value(&field.shape, member)),
                None if field.required => {
                    let what = format!("{} has no `{}`", object.what, field.key);
                    self.fault(node, Severity::Error, &what, None);
                }
                None => {}
            }
        }
        for (key, _) in node.members() {
            let name = key.text().unwrap_or_default();
            if !object.fields.iter().any(|field| field.key == name) {
                let what = format!("`{name}` is not a known key of {}", object.what);
                let help = "the host ignores keys it does not know; a newer one may know it";
                self.fault(key, Severity::Warning, &what, Some(help.to_owned()));
            }
        }
    }
}

/// A path of the root that begins with `./` and stays inside: what hosts take as a pointer.
pub(super) fn pointer(text: &str) -> Result<(), String> {
    let Some(rest) = text.strip_prefix("./") else {
        return Err(format!("`{text}` does not begin with `./`"));
    };
    if rest.contains('\\') || rest.split('/').any(|part| part == "..") {
        return Err(format!("`{text}` leaves the root"));
    }
    Ok(())
}

/// An `https` address, or `http` on this machine.
pub(super) fn web_address(text: &str) -> Result<(), String> {
    let rest = text.strip_prefix("https://").or_else(|| {
        let rest = text.strip_prefix("http://")?;
        let host = rest.split(['/', ':', '?', '#']).next().unwrap_or_default();
        let local =
            matches!(host, "localhost" | "127.0.0.1" | "[::1]") || rest.starts_with("[::1]");
        local.then_some(rest)
    });
    match rest {
        Some(rest) if !rest.is_empty() && !rest.starts_with('/') => Ok(()),
        _ => Err(format!("`{text}` is not an https address")),
    }
}

/// Any `http` or `https` address, or one with a `${…}` that only the host can fill.
pub(super) fn address(text: &str) -> Result<(), String> {
    let web = ["http://", "https://", "${"].iter().any(|scheme| text.starts_with(scheme));
    if web { Ok(()) } else { Err(format!("`{text}` is not an http or https address")) }
}

/// `author`, `owner`: an object with a name. Published documents always have the object form.
pub(super) const PERSON: Shape = Shape::Object(&Object {
    what: "an author",
    fields: &[need("name", Shape::Text), may("email", Shape::Text), may("url", Shape::Text)],
});

pub(super) const TEXTS: Shape = Shape::List(&Shape::Text);
pub(super) const TEXT_MAP: Shape = Shape::Map(&Shape::Checked(any_text));

/// A string that may be empty, such as the value of a variable.
#[expect(clippy::unnecessary_wraps, reason = "one of the checks that `Shape::Checked` holds")]
pub(super) fn any_text(_: &str) -> Result<(), String> {
    Ok(())
}

/// Arguments of a program, which may be empty strings.
pub(super) const ARGUMENTS: Shape = Shape::List(&Shape::Checked(any_text));
