use std::process::Command;

use holdall_tree::portable::{PortabilityFault as Fault, collisions, fold, portability};
use proptest::prelude::*;

#[test]
fn names_what_windows_refuses() {
    for (name, fault) in [
        ("", Fault::Empty),
        (".", Fault::Ending('.')),
        ("..", Fault::Ending('.')),
        ("a.", Fault::Ending('.')),
        ("a ", Fault::Ending(' ')),
        ("a\tb", Fault::Control('\t')),
        ("\0", Fault::Control('\0')),
        ("a:b", Fault::Reserved(':')),
        ("a\\b", Fault::Reserved('\\')),
        ("a/b", Fault::Reserved('/')),
        ("why?", Fault::Reserved('?')),
        ("<", Fault::Reserved('<')),
        ("a\"", Fault::Reserved('"')),
        ("|", Fault::Reserved('|')),
        ("*", Fault::Reserved('*')),
        ("con", Fault::Device),
        ("Nul.txt", Fault::Device),
        ("aux.tar.gz", Fault::Device),
        ("PRN", Fault::Device),
        ("com0", Fault::Device),
        ("LPT9.x", Fault::Device),
        ("Com¹", Fault::Device),
        ("lpt³.log", Fault::Device),
    ] {
        assert_eq!(portability(name), Some(fault), "{name:?}");
    }
    for name in [
        "a", ".env", "a b", "com10", "console", "clock$", "conin$", "com", "lpt", "null", "xcon",
        "a.con", "é", "漢字", "🙂", "a\u{7f}", "com⁴", "lptx",
    ] {
        assert_eq!(portability(name), None, "{name:?}");
    }
}

/// The rule of artifact manifests as Python's regular expressions say it.
#[test]
fn agrees_with_the_rule_as_a_regular_expression() {
    let script = r#"
import re, sys
for line in sys.stdin.buffer.read().decode().split('\0'):
    bad = (line in ('', '.', '..') or re.search('[<>:"|?*\\\\/\x01-\x1f]', line) or line[-1] in '. '
           or re.match('(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\\.|$)', line, re.I))
    print(0 if bad else 1)
"#;
    let mut names: Vec<String> = Vec::new();
    for stem in ["con", "PRN", "Aux", "nul", "com", "lpt", "x", ""] {
        for digit in ["", "0", "5", "9", "¹", "²", "³", "⁴", "10", "a"] {
            for end in ["", ".", ".x", ".x.", " ", "-", "..", " .x"] {
                names.push(format!("{stem}{digit}{end}"));
            }
        }
    }
    names.extend((1..0x250_u32).filter_map(char::from_u32).map(|c| format!("a{c}b")));
    let mut child = Command::new("python3")
        .args(["-c", script])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("python3 runs");
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), names.join("\0").as_bytes())
        .unwrap();
    let out = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    let theirs: Vec<_> = out.lines().collect();
    assert_eq!(theirs.len(), names.len());
    for (name, theirs) in names.iter().zip(theirs) {
        assert_eq!(portability(name).is_none(), theirs == "1", "{name:?}");
    }
}

#[test]
fn finds_names_that_fall_together() {
    for (a, b) in [
        ("README", "readme"),
        ("é", "e\u{301}"),
        ("É", "e\u{301}"),
        ("straße", "STRASSE"),
        ("ﬁ", "FI"),
        ("Σ", "ς"),
        ("K", "k"),
        ("Å", "a\u{30a}"),
    ] {
        assert_eq!(collisions([a, b]), [(a, b)]);
        assert_eq!(fold(a), fold(b));
    }
    for (a, b) in [("a", "b"), ("e", "é"), ("i", "ı"), ("a", "ａ"), ("a b", "ab")] {
        assert_eq!(collisions([a, b]), []);
    }
}

#[test]
fn compares_within_a_directory_and_reports_the_topmost() {
    let paths = ["a/x", "a/X", "b/x", "B/X/y", "b/X", "c", "C/d", "d/e/f", "d/E/f", "d/e/F"];
    assert_eq!(
        collisions(paths),
        [
            ("a/x", "a/X"),
            ("b", "B"),
            ("b/x", "b/X"),
            ("c", "C"),
            ("d/e", "d/E"),
            ("d/e/f", "d/e/F")
        ]
    );
    assert_eq!(collisions(["x", "x", "x/y"]), []);
    assert_eq!(collisions(["a", "A", "a", "A"]), [("a", "A")]);
}

proptest! {
    #[test]
    fn folding_is_stable(name in any::<String>()) {
        prop_assert_eq!(fold(&fold(&name)), fold(&name));
        prop_assert_eq!(fold(&name.to_uppercase().to_lowercase()).is_empty(), name.is_empty());
        let _ = portability(&name);
    }

    #[test]
    fn every_pair_folds_to_the_same_name(paths in proptest::collection::vec("[aAbBéÉ](/[aAbBéÉ]){0,3}", 0..8)) {
        for (a, b) in collisions(paths.iter().map(String::as_str)) {
            prop_assert!(a != b && fold(a) == fold(b));
        }
    }
}
