//! What is wrong with an artifact manifest: a rule, a place, words.
//!
//! Every fault names its rule, so that a tool can tell an unsorted array from a dangling pointer
//! without reading prose. `R1` to `R24` are the rules that span sections; the others are named
//! after what they check.

use std::fmt;
use std::ops::Range;

use holdall_diagnostics::{Code, Diagnostic, SourceText};

/// The rule that a document breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// The file is UTF-8 without a byte order mark.
    Encoding,
    /// The text is JSON, of bounded size.
    Json,
    /// Nesting is bounded.
    Depth,
    /// No object holds a key twice.
    DuplicateKey,
    /// `manifestVersion` is 6.
    ManifestVersion,
    /// `compiler.recordVersion` is 1.
    RecordVersion,
    /// Every object has its documented keys only.
    Key,
    /// A key that the format reserves is not written.
    ReservedKey,
    /// A required key is there.
    Missing,
    /// A value has the type of its key.
    Type,
    /// A value is one of those its key admits.
    Value,
    /// A path is relative, portable, and owned by the artifact.
    Path,
    /// An array is sorted by its key, without duplicates.
    Order,
    /// A key is there exactly when another value says so.
    Presence,
    /// `runtime.node` satisfies the floor.
    Node,
    /// The bytes are the canonical form of the document.
    Canonical,
    /// One of the rules that span sections, by its number.
    Cross(u8),
}

/// Names of the rules that span sections.
const CROSS: [&str; 24] = [
    "R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15",
    "R16", "R17", "R18", "R19", "R20", "R21", "R22", "R23", "R24",
];

impl Rule {
    /// The name as it stands in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Encoding => "encoding",
            Self::Json => "json",
            Self::Depth => "depth",
            Self::DuplicateKey => "duplicate-key",
            Self::ManifestVersion => "manifestVersion",
            Self::RecordVersion => "recordVersion",
            Self::Key => "key",
            Self::ReservedKey => "reserved-key",
            Self::Missing => "missing",
            Self::Type => "type",
            Self::Value => "value",
            Self::Path => "path",
            Self::Order => "order",
            Self::Presence => "presence",
            Self::Node => "node",
            Self::Canonical => "canonical",
            Self::Cross(number) => {
                CROSS.get(usize::from(number).wrapping_sub(1)).copied().unwrap_or("R?")
            }
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One thing that is wrong with a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The rule it breaks.
    pub rule: Rule,
    /// The value it is about, as `files[3].path`; empty for the whole text.
    pub place: String,
    /// The bytes it is about.
    pub span: Range<usize>,
    /// What is wrong, as a lower-case fragment.
    pub message: String,
    /// What to do, where that is not plain from the message.
    pub help: Option<String>,
}

impl Fault {
    /// The fault as a diagnostic of `code`, its rule's name first in the message.
    pub fn diagnostic(&self, code: &Code, path: &str, source: &SourceText) -> Diagnostic {
        let diagnostic =
            Diagnostic::new(code, self.to_string()).at(path).span(source, self.span.clone());
        match &self.help {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.rule)?;
        if !self.place.is_empty() {
            write!(f, "{} ", self.place)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

/// The order in which the first error of a document is found (1.15 of the format): a section's
/// place, or a rule that spans sections. A fault takes the rank of the longest place it lies in.
const RANKS: &[Rank] = &[
    Rank::At("files"),
    Rank::At("compiler"),
    Rank::At("compiler.recordVersion"),
    Rank::At("compiler.agentSkills"),
    Rank::At("compiler.producer"),
    Rank::At("compiler.project"),
    Rank::Of(1),
    Rank::Of(2),
    Rank::At("compiler.provenance"),
    Rank::Of(3),
    Rank::Of(4),
    Rank::At("compiler.adapters"),
    Rank::At("compiler.validation"),
    Rank::At("application"),
    Rank::At("projections"),
    Rank::Of(24),
    Rank::Of(7),
    Rank::Of(5),
    Rank::Of(6),
    Rank::At("routes"),
    Rank::At("routes.events"),
    Rank::At("routes.scripts"),
    Rank::At("routes.servers"),
    Rank::Of(9),
    Rank::At("routes.layouts"),
    Rank::At("routes.providers"),
    Rank::Of(10),
    Rank::At("routes.cli"),
    Rank::At("routes.contracts"),
    Rank::Of(11),
    Rank::Of(12),
    Rank::Of(13),
    Rank::Of(14),
    Rank::At("executables"),
    Rank::At("executables.bins"),
    Rank::At("executables.hooks"),
    Rank::At("executables.mcpServers"),
    Rank::Of(22),
    Rank::At("executables.scripts"),
    Rank::Of(8),
    Rank::At("distribution"),
    Rank::Of(17),
    Rank::Of(16),
    Rank::Of(15),
    Rank::Of(18),
    Rank::At("web"),
    Rank::Of(23),
    Rank::Of(19),
    Rank::Of(20),
    Rank::Of(21),
    Rank::At("runtime"),
];

enum Rank {
    At(&'static str),
    Of(u8),
}

/// Where a fault stands in the order of 1.15: text first, canonical bytes last.
pub(crate) fn rank(fault: &Fault) -> usize {
    match fault.rule {
        Rule::Encoding | Rule::Json | Rule::Depth => return 0,
        Rule::DuplicateKey => return 1,
        Rule::ManifestVersion => return 3,
        Rule::Canonical => return usize::MAX,
        Rule::Cross(number) => {
            let at = RANKS.iter().position(|rank| matches!(rank, Rank::Of(n) if *n == number));
            return at.map_or(usize::MAX, |at| at + 4);
        }
        _ => {}
    }
    // A root key that is unknown or missing comes before every section.
    let root_key = matches!(fault.rule, Rule::Key | Rule::ReservedKey | Rule::Missing)
        && !fault.place.contains(['.', '[']);
    if root_key {
        return 2;
    }
    let lies_in = |section: &str| {
        fault
            .place
            .strip_prefix(section)
            .is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    };
    let longest = RANKS
        .iter()
        .enumerate()
        .filter_map(|(at, rank)| match rank {
            Rank::At(section) if lies_in(section) => Some((section.len(), at)),
            _ => None,
        })
        .max();
    longest.map_or(2, |(_, at)| at + 4)
}
