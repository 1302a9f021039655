//! Git pins and includes: every row of the table.

use holdall_pack::{Convention, GitPin, Include, PinError};
use proptest::prelude::*;

use super::support::SHA;

#[test]
fn pins_that_are_taken() {
    for (text, url) in [
        ("git+https://git.example.org/o/r.git#S", "https://git.example.org/o/r.git"),
        ("git+https://git.example.org:8443/o/r#S", "https://git.example.org:8443/o/r"),
        ("git+https://h/o/r?x=1#S", "https://h/o/r?x=1"),
        ("git+https://h/r@v1#S", "https://h/r@v1"),
        ("git+https://x#S", "https://x"),
        ("git+https://[2001:db8::1]:8443/r#S", "https://[2001:db8::1]:8443/r"),
    ] {
        let text = text.replace('S', SHA);
        let pin = GitPin::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!((pin.url(), pin.commit()), (url, SHA));
        assert_eq!(pin.to_string(), text);
        assert_eq!(Include::parse(&text).unwrap().as_git(), Some(&pin));
    }
}

#[test]
fn texts_that_are_not_pinned() {
    for text in [
        "git+https://git.example.org/a#b/pack.git#S",
        "git+https://h/r#0123456789ABCDEF0123456789ABCDEF01234567",
        "git+https://h/r#0123456789abcdef0123456789abcdef0123456",
        "git+https://h/r#S0",
        "git+https://h/r#S#",
        "git+https://h/r#main",
        "git+https://h/r#v1.0",
        "git+https://h/r#0123456",
        "git+https://h/r#",
        "git+https://h/r",
        "git+https://#S",
        "git+https:///r#S",
        "git+https://h/a b#S",
        "git+https://h/r #S",
        "git+https://h/r# S",
        "git+https://h/r#S ",
        "git+https://h/r#S\n",
        "git+https://h/\u{feff}r#S",
        "git+https://h/\u{85}r#S",
        "git+https://h/\u{a0}r#S",
        "git+https://h/ü#S",
        "git+https://user:pass@h/r#S",
        "git+https://token@h/r#S",
        "git+https://-oProxyCommand=x/r#S",
        "git+https://h:port/r#S",
        "git+https://h:99999/r#S",
        "git+https://h\\r#S",
    ] {
        let text = text.replace('S', SHA);
        let error = GitPin::parse(&text).expect_err(&text);
        assert!(matches!(error, PinError::NotPinned { .. }), "{text:?}: {error}");
        assert_eq!(error.diagnostic().code, "PK0612");
        assert!(error.to_string().contains(text.trim_end_matches('\n')), "{error}");
    }
}

#[test]
fn transports_that_are_not_fetched() {
    for text in [
        "git+http://h/r#S",
        "git+ssh://git@h/r#S",
        "git+file:///r#S",
        "ext::sh -c date",
        "https://h/r#S",
        "git@h:o/r.git",
        "file:///r",
        "ssh://h/r",
        " git+https://h/r#S",
        "GIT+https://h/r#S",
        "git+HTTPS://h/r#S",
    ] {
        let text = text.replace('S', SHA);
        let error = GitPin::parse(&text).expect_err(&text);
        assert!(matches!(error, PinError::Transport(_)), "{text:?}: {error}");
        assert_eq!(error.diagnostic().code, "PK0611");
        // None of them is taken for a package name either.
        assert!(Include::parse(&text).is_err(), "{text}");
    }
}

#[test]
fn packages_are_told_by_their_names() {
    for (text, convention, name) in [
        ("@agentproto/skill-pack-code-review", Convention::FirstParty, "code-review"),
        ("@someone/agentproto-skill-pack-x", Convention::ThirdParty, "x"),
        ("@agentproto/skill-pack-", Convention::Other, "@agentproto/skill-pack-"),
        ("skill-pack-x", Convention::Other, "skill-pack-x"),
        ("left-pad", Convention::Other, "left-pad"),
        ("@a/b", Convention::Other, "@a/b"),
    ] {
        let Include::Package(package) = Include::parse(text).unwrap() else { panic!("{text}") };
        assert_eq!((package.convention(), package.pack_name()), (convention, name));
        assert_eq!(package.as_str(), text);
    }
    let longest = "a".repeat(214);
    assert!(Include::parse(&longest).is_ok());
    for text in [
        "",
        " ",
        "\t",
        "A",
        "@Scope/x",
        ".x",
        "_x",
        "@.s/x",
        "@s/_x",
        "a/b",
        "@a",
        "@a/",
        "@/b",
        "@a/b/c",
        "a b",
        "x\n",
        "..",
        "../x",
        "/abs",
        "ü",
        "node_modules",
        "a\\b",
        &format!("{longest}a"),
    ] {
        assert!(Include::parse(text).is_err(), "{text:?}");
    }
}

proptest! {
    #[test]
    fn what_is_written_reads_the_same(
        host in "[a-z0-9][a-z0-9.-]{0,20}",
        port in prop::option::of(1u16..),
        path in "(/[!-\"$-\\[\\]-~]{0,12}){0,3}",
        commit in "[0-9a-f]{40}",
    ) {
        let port = port.map_or_else(String::new, |port| format!(":{port}"));
        let text = format!("git+https://{host}{port}{path}#{commit}");
        let pin = GitPin::parse(&text).unwrap();
        prop_assert_eq!(pin.to_string(), text.as_str());
        prop_assert_eq!(GitPin::parse(&pin.to_string()).unwrap(), pin);
    }

    #[test]
    fn any_text_is_a_pin_or_an_error(text in ".{0,60}", sha in any::<bool>()) {
        let text = if sha { format!("git+https://{text}#{SHA}") } else { text };
        if let Ok(pin) = GitPin::parse(&text) {
            prop_assert_eq!(pin.to_string(), text.as_str());
        }
        if let Ok(include) = Include::parse(&text) {
            prop_assert_eq!(include.to_string(), text);
        }
    }
}
