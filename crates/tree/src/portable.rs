//! Names that exist on every system, and names that are one where case does not count.
//!
//! A [`crate::TreePath`] may hold what Linux allows. Whoever packs or installs for other machines
//! asks here first: [`portability`] judges one name, [`collisions`] finds names that fall together
//! on file systems that fold case or normalise.

use std::collections::{HashMap, HashSet};

use caseless::Caseless as _;
use unicode_normalization::UnicodeNormalization as _;

/// Why a name cannot exist everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PortabilityFault {
    /// The empty name.
    #[error("an empty name")]
    Empty,
    /// A character below U+0020.
    #[error("the control character U+{:04X}", u32::from(*.0))]
    Control(char),
    /// One of `<` `>` `:` `"` `|` `?` `*` `\` (and `/`, which is no part of a name).
    #[error("the character `{0}`, which Windows refuses")]
    Reserved(char),
    /// `CON`, `PRN`, `AUX`, `NUL`, `COM0` to `COM9`, `LPT0` to `LPT9`, with superscript digits
    /// too, in any case and with any extension.
    #[error("a name that Windows keeps for a device")]
    Device,
    /// Ends in a full stop or a space, which Windows drops; `.` and `..` do.
    #[error("a `{0}` at the end, which Windows drops")]
    Ending(char),
}

/// Judges one component of a path; `None` is a name that exists on every system.
pub fn portability(name: &str) -> Option<PortabilityFault> {
    if let Some(c) = name.chars().find(|&c| c < ' ') {
        return Some(PortabilityFault::Control(c));
    }
    if let Some(c) = name.chars().find(|c| r#"<>:"|?*\/"#.contains(*c)) {
        return Some(PortabilityFault::Reserved(c));
    }
    if is_device(name.split('.').next().unwrap_or_default()) {
        return Some(PortabilityFault::Device);
    }
    match name.chars().next_back() {
        None => Some(PortabilityFault::Empty),
        Some(c @ ('.' | ' ')) => Some(PortabilityFault::Ending(c)),
        Some(_) => None,
    }
}

fn is_device(stem: &str) -> bool {
    let lower = stem.to_ascii_lowercase();
    if matches!(lower.as_str(), "con" | "prn" | "aux" | "nul") {
        return true;
    }
    let number = lower.strip_prefix("com").or_else(|| lower.strip_prefix("lpt"));
    let mut digits = number.unwrap_or_default().chars();
    matches!((digits.next(), digits.next()), (Some('0'..='9' | '¹' | '²' | '³'), None))
}

/// A name as file systems compare it that fold case and normalise: canonical caseless matching
/// (Unicode 3.13, D145), full folding between two decompositions.
pub fn fold(name: &str) -> String {
    // Without accents there is nothing to decompose, and folding is the alphabet's.
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    name.nfd().default_case_fold().nfd().collect()
}

/// The entries of one directory, among these paths (as of [`crate::TreePath`]), whose names differ but [`fold`]
/// to the same: pairs of paths, the one that came first before the other, files and directories
/// alike. What lies below two directories that collide is not compared.
pub fn collisions<'a>(paths: impl IntoIterator<Item = &'a str>) -> Vec<(&'a str, &'a str)> {
    let mut seen = HashSet::new();
    let mut first: HashMap<(&str, String), &str> = HashMap::new();
    let mut pairs = Vec::new();
    let mut previous = "";
    for path in paths {
        // Sorted paths share nearly all of their directories with the one before.
        let known = |entry: &str| {
            let rest = previous.strip_prefix(entry);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        for entry in ends.map(|end| &path[..end]) {
            if known(entry) || !seen.insert(entry) {
                continue;
            }
            let (dir, name) = entry.rsplit_once('/').unwrap_or(("", entry));
            let other = *first.entry((dir, fold(name))).or_insert(entry);
            if other != entry {
                pairs.push((other, entry));
            }
        }
        previous = path;
    }
    pairs
}
