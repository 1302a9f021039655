//! Which paths an artifact may name (section 3 of the format).

use holdall_tree::TreePath;

use crate::{ARTIFACT_MANIFEST_NAME, INSTALL_RECEIPT_NAME};

/// Why a text is no path of an artifact manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathFault {
    /// Nothing in it.
    #[error("is empty")]
    Empty,
    /// Has a backslash.
    #[error("has a backslash; segments are separated by `/`")]
    Backslash,
    /// Starts with `/`.
    #[error("is absolute; it must be relative")]
    Absolute,
    /// Starts with a drive letter.
    #[error("starts with a drive letter")]
    Drive,
    /// Has an empty segment.
    #[error("has an empty segment")]
    EmptySegment,
    /// Has a segment `.` or `..`.
    #[error("has a segment `.` or `..`")]
    DotSegment,
    /// Has a control character.
    #[error("has a control character")]
    Control,
    /// Has one of `< > : " | ? *`.
    #[error("has one of the characters < > : \" | ? *, which Windows reserves")]
    ReservedCharacter,
    /// Has a segment that ends with a dot or a space.
    #[error("has a segment that ends with a dot or a space")]
    TrailingDotOrSpace,
    /// Has a segment that Windows takes for a device.
    #[error("has a segment that is a device name on Windows")]
    Device,
    /// Names the artifact manifest itself.
    #[error("is the artifact manifest itself")]
    Manifest,
    /// Lies at or below `state` or the install receipt.
    #[error("lies at or under a root entry that belongs to the runtime or the installer")]
    NotOwned,
    /// Has more than one segment where a name is wanted.
    #[error("has more than one segment")]
    NotOneSegment,
}

/// Checks one segment of a path (3.1).
pub fn check_segment(segment: &str) -> Result<(), PathFault> {
    let Some(last) = segment.bytes().last() else { return Err(PathFault::EmptySegment) };
    if segment == "." || segment == ".." {
        return Err(PathFault::DotSegment);
    }
    for byte in segment.bytes() {
        match byte {
            0..0x20 => return Err(PathFault::Control),
            b'<' | b'>' | b':' | b'"' | b'|' | b'?' | b'*' => {
                return Err(PathFault::ReservedCharacter);
            }
            _ => {}
        }
    }
    if matches!(last, b'.' | b' ') {
        return Err(PathFault::TrailingDotOrSpace);
    }
    if is_device(segment) {
        return Err(PathFault::Device);
    }
    Ok(())
}

/// `con`, `prn`, `aux`, `nul`, `com0`..`com9`, `lpt0`..`lpt9` and those with a superscript 1, 2
/// or 3, in any letter case, with or without an extension.
fn is_device(segment: &str) -> bool {
    let stem = segment.split('.').next().unwrap_or_default();
    if !(3..=5).contains(&stem.len()) || !stem.is_char_boundary(3) {
        return false;
    }
    let (name, number) = stem.split_at(3);
    let is = |device: &str| name.eq_ignore_ascii_case(device);
    match number {
        "" => is("con") || is("prn") || is("aux") || is("nul"),
        "\u{b9}" | "\u{b2}" | "\u{b3}" => is("com") || is("lpt"),
        _ => number.len() == 1 && number.as_bytes()[0].is_ascii_digit() && (is("com") || is("lpt")),
    }
}

/// Takes a relocatable path: relative, `/`-separated, every segment portable (3.2).
pub fn relocatable_path(path: &str) -> Result<TreePath, PathFault> {
    if path.is_empty() {
        return Err(PathFault::Empty);
    }
    if path.contains('\\') {
        return Err(PathFault::Backslash);
    }
    if path.starts_with('/') {
        return Err(PathFault::Absolute);
    }
    if let [letter, b':', ..] = path.as_bytes()
        && letter.is_ascii_alphabetic()
    {
        return Err(PathFault::Drive);
    }
    path.split('/').try_for_each(check_segment)?;
    TreePath::new(path).map_err(|_| PathFault::DotSegment)
}

/// Checks that a path is one the artifact itself may own: not at or under the runtime's `state`
/// and not at or under the installer's receipt, in any letter case (3.4).
pub fn check_owned(path: &TreePath) -> Result<(), PathFault> {
    let first = path.components().next().unwrap_or_default();
    // Lower-cased by Unicode, as the producing tool does; no letter beyond ASCII lower-cases
    // into one of these names today, and should one ever do, it is refused as well.
    if first.to_lowercase() == "state" || first.to_lowercase() == INSTALL_RECEIPT_NAME {
        return Err(PathFault::NotOwned);
    }
    Ok(())
}

/// Takes a path of `files[]`: relocatable, owned by the artifact, not the artifact manifest.
pub fn owned_path(path: &str) -> Result<TreePath, PathFault> {
    let path = relocatable_path(path)?;
    if path.as_str() == ARTIFACT_MANIFEST_NAME {
        return Err(PathFault::Manifest);
    }
    check_owned(&path)?;
    Ok(path)
}
