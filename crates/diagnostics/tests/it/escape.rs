use std::process::Command;

use holdall_diagnostics::{escape_foreign, is_hidden};
use proptest::prelude::*;

#[test]
fn shows_what_hides() {
    for (text, shown) in [
        ("plain text, ünïcode 漢字 🙂", "plain text, ünïcode 漢字 🙂"),
        ("a\u{1b}[31mred", "a\\u{1b}[31mred"),
        ("a\tb\r\nc", "a\\tb\\r\\nc"),
        ("user\u{202e}txt.exe", "user\\u{202e}txt.exe"),
        ("zero\u{200b}width\u{feff}", "zero\\u{200b}width\\u{feff}"),
        ("tag\u{e0041}", "tag\\u{e0041}"),
        ("\u{9b}31m", "\\u{9b}31m"),
        ("warn ⚠\u{fe0f} ok", "warn ⚠\u{fe0f} ok"),
        ("a\u{fe0f}\u{fe00}⚠\u{fe0f}\u{fe0f}", "a\\u{fe0f}\\u{fe00}⚠\u{fe0f}\\u{fe0f}"),
        ("👩\u{200d}💻", "👩\\u{200d}💻"),
    ] {
        assert_eq!(escape_foreign(text), shown, "{text:?}");
    }
}

/// Python's `unicodedata` is the other implementation: every control, format and separator
/// character is hidden, and nothing with a glyph is.
#[test]
fn agrees_with_the_unicode_categories() {
    let script = "
import sys, unicodedata
for c in range(0x110000):
    if not 0xD800 <= c < 0xE000:
        print(c, unicodedata.category(chr(c)))
";
    let out = Command::new("python3").args(["-c", script]).output().expect("python3 runs");
    assert!(out.status.success());
    // Format characters with a glyph: Arabic number signs and the like.
    let visible: &[std::ops::RangeInclusive<u32>] = &[
        0x600..=0x605,
        0x6dd..=0x6dd,
        0x70f..=0x70f,
        0x890..=0x891,
        0x8e2..=0x8e2,
        0x110bd..=0x110bd,
        0x110cd..=0x110cd,
        0x13430..=0x1343f,
    ];
    // Letters and marks that are default ignorable.
    let blank: &[std::ops::RangeInclusive<u32>] = &[
        0x34f..=0x34f,
        0x115f..=0x1160,
        0x17b4..=0x17b5,
        0x180b..=0x180f,
        0x3164..=0x3164,
        0xfe00..=0xfe0f,
        0xffa0..=0xffa0,
        0xe0100..=0xe01ef,
    ];
    let within = |set: &[std::ops::RangeInclusive<u32>], c| set.iter().any(|r| r.contains(&c));
    for line in std::str::from_utf8(&out.stdout).unwrap().lines() {
        let (code, category) = line.split_once(' ').unwrap();
        let code: u32 = code.parse().unwrap();
        let hidden = is_hidden(char::from_u32(code).unwrap());
        match category {
            "Cc" | "Zl" | "Zp" => assert!(hidden, "U+{code:04X}"),
            "Cf" => assert_eq!(hidden, !within(visible, code), "U+{code:04X}"),
            // Unassigned and private characters may be either.
            "Cn" | "Co" => {}
            _ => assert_eq!(hidden, within(blank, code), "U+{code:04X} {category}"),
        }
    }
}

proptest! {
    #[test]
    fn leaves_nothing_hidden(text in any::<String>()) {
        let shown = escape_foreign(&text).into_owned();
        let kept = |c| matches!(c, '\u{fe0e}' | '\u{fe0f}');
        prop_assert!(shown.chars().all(|c| !is_hidden(c) || kept(c)));
        // What is visible already is not changed again.
        prop_assert_eq!(escape_foreign(&shown).into_owned(), shown.clone());
    }
}
