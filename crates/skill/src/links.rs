//! Relative links of a Markdown body.

use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag};

/// A link or an image whose target is a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The link, in bytes of the text.
    pub range: Range<usize>,
    /// The path, percent-decoded, without fragment and query.
    pub path: String,
}

/// Every relative link of a Markdown text. Addresses, anchors, absolute paths, and targets with
/// a placeholder such as `${CLAUDE_PLUGIN_ROOT}` are none.
pub fn relative(markdown: &str) -> Vec<Link> {
    if !markdown.contains("](") && !markdown.contains("]:") {
        return Vec::new();
    }
    let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES;
    Parser::new_ext(markdown, options)
        .into_offset_iter()
        .filter_map(|(event, range)| {
            let (Tag::Link { link_type, dest_url, .. } | Tag::Image { link_type, dest_url, .. }) =
                (match event {
                    Event::Start(tag) => tag,
                    _ => return None,
                })
            else {
                return None;
            };
            let written = !matches!(link_type, LinkType::Autolink | LinkType::Email);
            let path = if written { target(&dest_url) } else { None };
            path.map(|path| Link { range, path })
        })
        .collect()
}

fn target(url: &str) -> Option<String> {
    let placeholder =
        ["${", "{{", "$(", "<", ">", "*", "|", " "].iter().any(|sign| url.contains(sign));
    if placeholder || url.starts_with(['/', '#', '?', '$', '\\', '~']) || has_scheme(url) {
        return None;
    }
    let path = url.split(['#', '?']).next().unwrap_or_default();
    let decoded = percent_decode(path)?;
    (!decoded.is_empty() && !decoded.contains('\0')).then_some(decoded)
}

fn has_scheme(url: &str) -> bool {
    url.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c))
    })
}

fn percent_decode(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        let hex = behind.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(value) if byte == b'%' => {
                bytes.push(value);
                rest = &behind[2..];
            }
            _ => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).ok()
}
