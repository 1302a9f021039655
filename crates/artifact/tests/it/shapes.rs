//! Small grammars of single fields.

use holdall_artifact::{PathFault, check_segment, owned_path, relocatable_path};

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
