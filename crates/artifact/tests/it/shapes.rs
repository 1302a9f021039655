//! Small grammars of single fields.

use holdall_artifact::{
    PathFault, check_segment, collate, collate_segments, owned_path, relocatable_path,
};

#[test]
fn paths_are_portable() {
    for good in [
        "a",
        "a/b.c",
        "console",
        "com10",
        "clock$",
        "conin$",
        "sub/state/x",
        "stateful/x",
        "a b/c",
        "\u{7f}",
        "é/中",
        ".hidden",
        "..a",
        "comx",
        "lpt",
        "nulll.txt",
        "com¹x",
    ] {
        assert!(owned_path(good).is_ok(), "{good}");
    }
    for (bad, fault) in [
        ("", PathFault::Empty),
        ("/a", PathFault::Absolute),
        ("a//b", PathFault::EmptySegment),
        ("a/", PathFault::EmptySegment),
        ("a/./b", PathFault::DotSegment),
        ("..", PathFault::DotSegment),
        ("a\\b", PathFault::Backslash),
        ("c:x", PathFault::Drive),
        ("Z:/x", PathFault::Drive),
        ("a\u{1}", PathFault::Control),
        ("a\n", PathFault::Control),
        ("ab:c", PathFault::ReservedCharacter),
        ("1:b", PathFault::ReservedCharacter),
        ("a*", PathFault::ReservedCharacter),
        ("a.", PathFault::TrailingDotOrSpace),
        ("a /b", PathFault::TrailingDotOrSpace),
        ("x/CON", PathFault::Device),
        ("nul.txt", PathFault::Device),
        ("Aux.a.b", PathFault::Device),
        ("com0", PathFault::Device),
        ("lpt³.log", PathFault::Device),
        ("PRN", PathFault::Device),
    ] {
        assert_eq!(relocatable_path(bad), Err(fault), "{bad}");
    }
    for bad in ["State", "STATE/x", "state", ".Agent-Bundle-Install.json/y"] {
        assert_eq!(owned_path(bad), Err(PathFault::NotOwned), "{bad}");
        assert!(relocatable_path(bad).is_ok());
    }
    assert_eq!(owned_path("agent-bundle.manifest.json"), Err(PathFault::Manifest));
    for character in "<>:\"|?*".chars() {
        assert_eq!(check_segment(&format!("a{character}")), Err(PathFault::ReservedCharacter));
    }
}

#[test]
fn arrays_have_the_order_that_the_format_writes_down() {
    let sorted: &[&[&str]] = &[
        &["hooks/hooks.json", "INSTALL.md", "install.mjs", "mcp.json"],
        &["mcp-apps/x", "mcp.json", "mcp/x"],
        &["test-pkg-fail/x", "test-pkg/x"],
        &["package-lock.json", "package.json"],
        &[".agents/x", "bin/x"],
        &["x1", "x10", "x2"],
        &["a", "A", "b", "B"],
        &["strasse", "straße", "strata"],
        &["_", "-", ",", ";", ":", "!", "?", ".", "'", "\"", "(", ")", "[", "]", "{", "}", "@"],
        &["@", "*", "/", "\\", "&", "#", "%", "`", "^", "+", "<", "=", ">", "|", "~", "$", "0"],
    ];
    for list in sorted {
        for pair in list.windows(2) {
            assert!(collate(pair[0], pair[1]).is_lt(), "{pair:?}");
            assert!(collate(pair[1], pair[0]).is_gt(), "{pair:?}");
        }
    }
    for (a, b) in [("caf\u{e9}", "cafe\u{301}"), ("a\u{1}b", "ab"), ("", "\u{7f}")] {
        assert!(collate(a, b).is_eq(), "{a:?} {b:?}");
    }
    // A path that another begins with comes first, segment by segment.
    assert!(collate_segments("a/b", "a-b/c").is_lt());
    assert!(collate("a/b", "a-b/c").is_gt());
}
