//! The order of arrays: ICU root collation, tertiary strength, punctuation not ignored.
//!
//! The producing tool sorts with JavaScript's `localeCompare`, so `hooks/hooks.json` stands before
//! `INSTALL.md`, and `-` before `.` before `/` (section 2.4 of the format). Object keys have
//! nothing to do with it: those go by UTF-16 units.
//!
//! Nearly every sort key is printable ASCII. There the collation needs one table: each of these
//! characters has a primary weight of its own, none is ignored, none contracts with another, all
//! secondary weights are equal, and the only tertiary difference is that of the letter's case. So
//! the first difference in primary weight decides, then length, then the first difference in
//! case. Everything else goes to `icu_collator`; the two are compared in the tests.
//!
//! One difference from the producing tool is known: two Chinese characters are compared by code
//! point here, and by radical and stroke there, which is another order for a few characters in a
//! hundred (`icu_collator` is built with the former tables).

use std::cmp::Ordering;

use icu_collator::options::CollatorOptions;
use icu_collator::{Collator, CollatorBorrowed, CollatorPreferences};

/// Printable ASCII in the order of its primary weights; letters stand for both cases.
const PRIMARY: &[u8] = b" _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz";

/// Weight of a byte: 0 for what the table does not know.
static WEIGHTS: [u8; 256] = {
    let mut weights = [0; 256];
    let mut at = 0;
    while at < PRIMARY.len() {
        weights[PRIMARY[at] as usize] = at as u8 + 1;
        weights[PRIMARY[at].to_ascii_uppercase() as usize] = at as u8 + 1;
        at += 1;
    }
    weights
};

/// Compares two strings as a sorted array of an artifact manifest has them.
///
/// `Equal` does not mean the same bytes: control characters count for nothing, and a composed
/// letter equals its decomposed form. In a sorted array such strings are duplicates.
pub fn collate(a: &str, b: &str) -> Ordering {
    let mut case = Ordering::Equal;
    for (&x, &y) in a.as_bytes().iter().zip(b.as_bytes()) {
        if x == y && WEIGHTS[usize::from(x)] != 0 {
            continue;
        }
        let (weight_x, weight_y) = (WEIGHTS[usize::from(x)], WEIGHTS[usize::from(y)]);
        if weight_x == 0 || weight_y == 0 {
            return collate_with_icu(a, b);
        }
        if weight_x != weight_y {
            // What follows cannot undo a primary difference, unless it combines with this very
            // character: nothing in ASCII does, so only what lies beyond needs the real thing.
            return if is_table_text(a) && is_table_text(b) {
                weight_x.cmp(&weight_y)
            } else {
                collate_with_icu(a, b)
            };
        }
        // Lower case comes first, and its byte is the larger one.
        case = case.then_with(|| y.cmp(&x));
    }
    let common = a.len().min(b.len());
    if is_table_text(&a[common..]) && is_table_text(&b[common..]) {
        a.len().cmp(&b.len()).then(case)
    } else {
        collate_with_icu(a, b)
    }
}

/// Compares two paths segment by segment, so that a directory's files stand together: the order
/// in which a content hash takes files (section 4 of the format).
pub fn collate_segments(a: &str, b: &str) -> Ordering {
    let mut segments = (a.split('/'), b.split('/'));
    loop {
        match (segments.0.next(), segments.1.next()) {
            (Some(x), Some(y)) => match collate(x, y) {
                Ordering::Equal => {}
                other => return other,
            },
            (None, None) => return Ordering::Equal,
            (x, y) => return x.is_some().cmp(&y.is_some()),
        }
    }
}

fn is_table_text(text: &str) -> bool {
    text.bytes().all(|byte| WEIGHTS[usize::from(byte)] != 0)
}

/// The order by ICU itself, whatever the strings are made of.
pub(crate) fn collate_with_icu(a: &str, b: &str) -> Ordering {
    collator().map_or_else(|| a.cmp(b), |collator| collator.compare(a, b))
}

/// The root collator over the tables compiled in; making one only looks up references to them.
fn collator() -> Option<CollatorBorrowed<'static>> {
    Collator::try_new(CollatorPreferences::default(), CollatorOptions::default()).ok()
}
