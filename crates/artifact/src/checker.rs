//! Collects what is wrong while a document is read.

use std::ops::Range;

use crate::fault::{Fault, Rule};
use crate::json::{Document, Node, NodeKind};

/// Faults kept of one document; a text that breaks more is hopeless, and a report of it unread.
pub const MAX_FAULTS: usize = 1000;

/// One step from a value to one inside it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

impl<'a> From<&'a str> for Step<'a> {
    fn from(key: &'a str) -> Self {
        Self::Key(key)
    }
}

impl From<usize> for Step<'_> {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

/// A place in a document, from its root.
macro_rules! place {
    ($($step:expr),* $(,)?) => { &[$($crate::checker::Step::from($step)),*][..] };
}
pub(crate) use place;

/// The document under the check, and its faults so far.
#[derive(Debug)]
pub(crate) struct Checker<'d> {
    doc: &'d Document<'d>,
    faults: Vec<Fault>,
}

impl<'d> Checker<'d> {
    pub(crate) fn new(doc: &'d Document<'d>) -> Self {
        Self { doc, faults: Vec::new() }
    }

    /// Whether nothing is wrong so far.
    pub(crate) fn is_clean(&self) -> bool {
        self.faults.is_empty()
    }

    pub(crate) fn into_faults(self) -> Vec<Fault> {
        self.faults
    }

    /// Records a fault of a value.
    pub(crate) fn fault(&mut self, node: Node<'_>, rule: Rule, message: impl Into<String>) {
        self.push(node.index(), node.span(), rule, message.into(), None);
    }

    /// Records a fault of a value, and what to do about it.
    pub(crate) fn fault_with_help(
        &mut self,
        node: Node<'_>,
        rule: Rule,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.push(node.index(), node.span(), rule, message.into(), Some(help.into()));
    }

    /// Records a fault of the value at `place`, or of the nearest one around it that exists.
    pub(crate) fn fault_at(&mut self, place: &[Step<'_>], rule: Rule, message: impl Into<String>) {
        let mut node = self.doc.root();
        for step in place {
            let next = match *step {
                Step::Key(key) => node.get(key),
                Step::Index(index) => node.items().nth(index),
            };
            match next {
                Some(next) => node = next,
                None => break,
            }
        }
        self.fault(node, rule, message);
    }

    /// Records a fault of the text as such.
    pub(crate) fn fault_in_text(
        &mut self,
        span: Range<usize>,
        rule: Rule,
        message: impl Into<String>,
        help: &str,
    ) {
        self.push(0, span, rule, message.into(), Some(help.to_owned()));
    }

    /// R7: an agent host that is projected twice. The order of the array says so too, but by
    /// collation, in which unlike names may be equal; this compares the names.
    pub(crate) fn repeated_hosts(&mut self) {
        let Some(projections) = self.doc.root().get("projections") else { return };
        let mut seen = std::collections::BTreeSet::new();
        for host in projections.items().filter_map(|projection| projection.get("host")) {
            let Some(name) = host.text() else { continue };
            if seen.contains(&*name) {
                self.fault(host, Rule::Cross(7), format!("`{name}` is projected twice"));
            }
            seen.insert(name.into_owned());
        }
    }

    /// Records that a value has the wrong type.
    pub(crate) fn wrong_type(&mut self, node: Node<'_>, wanted: &str) {
        let found = node.kind();
        let mut message = format!("must be {wanted}, not {}", found.describe());
        if found == NodeKind::Null {
            message.push_str("; what is absent is left out, not null");
        }
        self.fault(node, Rule::Type, message);
    }

    fn push(
        &mut self,
        at: u32,
        span: Range<usize>,
        rule: Rule,
        message: String,
        help: Option<String>,
    ) {
        if self.faults.len() < MAX_FAULTS {
            let place = place_of(self.doc, at);
            self.faults.push(Fault { rule, place, span, message, help });
        }
    }
}

/// The place of a token as people write it: `files[3].path`. A key's place is its member's.
pub(crate) fn place_of(doc: &Document<'_>, at: u32) -> String {
    let mut place = String::new();
    let mut node = doc.root();
    loop {
        if node.index() == at {
            return place;
        }
        let next = match node.kind() {
            NodeKind::Object => node.members().find_map(|(key, value)| {
                (key.index() == at || value.holds(at)).then(|| {
                    push_key(&mut place, &key.text().unwrap_or_default());
                    (key, value)
                })
            }),
            NodeKind::Array => {
                node.items().enumerate().find(|(_, item)| item.holds(at)).map(|(index, item)| {
                    place.push_str(&format!("[{index}]"));
                    (item, item)
                })
            }
            _ => None,
        };
        match next {
            Some((key, _)) if key.index() == at => return place,
            Some((_, value)) => node = value,
            None => return place,
        }
    }
}

fn push_key(place: &mut String, key: &str) {
    let plain =
        !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if plain {
        if !place.is_empty() {
            place.push('.');
        }
        place.push_str(key);
    } else {
        let mut quoted = Vec::new();
        crate::json::write_string(key, &mut quoted);
        place.push('[');
        place.push_str(&String::from_utf8_lossy(&quoted));
        place.push(']');
    }
}
