//! The grammar of DESIGN "SOURCE" and the git pins of AIP-62, row by row.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use holdall_source::{Source, SourceError};
use proptest::prelude::*;

const SHA: &str = "0123456789abcdef0123456789abcdef01234567";

fn parse(text: &str) -> Result<Source, SourceError> {
    Source::parse(OsStr::new(text))
}

#[test]
fn paths() {
    for text in [
        ".",
        "..",
        "./x",
        "../x",
        "/x",
        "a/b",
        "demo.aospkg",
        "demo.agentapp",
        "@scope/name@1.0.0",
        "skills/",
    ] {
        assert_eq!(parse(text), Ok(Source::Path(text.into())), "{text}");
    }
    for (text, path) in
        [("file:x", "./x"), ("file:./x", "./x"), ("file:/x", "/x"), ("file:///x", "/x")]
    {
        assert_eq!(parse(text), Ok(Source::Path(path.into())), "{text}");
    }
    for text in ["file:", "file://", "file://host/x"] {
        assert!(matches!(parse(text), Err(SourceError::BadAddress { .. })), "{text}");
    }
}

#[test]
fn a_bare_word_names_the_directory_to_type() {
    for text in ["demo", "claude", "demo.zip", ".aospkg", "-", ""] {
        let error = parse(text).unwrap_err();
        assert_eq!(error, SourceError::BareWord { word: text.to_owned() });
        let diagnostic = error.diagnostic();
        assert_eq!(diagnostic.code, "HD0110");
        assert_eq!(diagnostic.help.unwrap(), format!("for the directory type ./{text}"));
        assert!(error.is_usage());
    }
}

#[test]
fn pinned_repositories() {
    for url in [
        "https://git.example.org/o/r.git",
        "https://git.example.org:8443/o/r",
        "https://h/o/r?x=1",
        "https://h/r@v1",
        "https://x",
    ] {
        let text = format!("git+{url}#{SHA}");
        let Ok(Source::Git(address)) = parse(&text) else { panic!("{text}") };
        assert_eq!((address.url(), address.pinned()), (url, Ok(SHA)));
        assert_eq!(address.to_string(), text);
    }
}

#[test]
fn repositories_that_are_refused() {
    let upper = SHA.to_uppercase();
    for text in [
        format!("git+https://h/a#b/pack.git#{SHA}"),
        format!("git+https://h/o#{upper}"),
        format!("git+https://h/o#{}", &SHA[1..]),
        format!("git+https://h/o#{SHA}0"),
        format!("git+https://h/o#{SHA}#"),
        format!("git+https://h/o#{SHA}\n"),
        "git+https://h/o#main".to_owned(),
        "git+https://h/o#v1.0".to_owned(),
        "git+https://h/o#".to_owned(),
    ] {
        let error = parse(&text).unwrap_err();
        assert!(matches!(error, SourceError::NotPinned { .. }), "{text}: {error:?}");
        assert!(error.diagnostic().help.unwrap().contains("git+https://h/"), "{text}");
    }
    for text in [
        format!("git+http://h/o#{SHA}"),
        format!("git+ssh://h/o#{SHA}"),
        format!("git+file:///o#{SHA}"),
        format!("git+https://#{SHA}"),
        format!("git+https://h/o r#{SHA}"),
        format!("git+https://u:p@h/o#{SHA}"),
        format!("git+https://-oProxy/o#{SHA}"),
        format!("git+https://h/\u{e9}#{SHA}"),
        format!("https://h/o#{SHA}"),
        format!("ssh://h/o#{SHA}"),
        "git@h:o/r.git".to_owned(),
    ] {
        let error = parse(&text).unwrap_err();
        assert!(matches!(error, SourceError::BadAddress { .. }), "{text}: {error:?}");
        assert!(error.diagnostic().help.is_some(), "{text}");
    }
}

#[test]
fn an_unpinned_repository_is_read_but_not_taken_for_pinned() {
    let Ok(Source::Git(address)) = parse("git+https://h/o") else { panic!() };
    assert_eq!(address.commit(), None);
    let help = address.pinned().unwrap_err().diagnostic().help.unwrap();
    assert_eq!(
        help,
        "type git+https://h/o#SHA40 with the 40 digits that `git ls-remote https://h/o HEAD` prints"
    );
}

#[test]
fn https_addresses() {
    for text in ["https://h/a/demo.aospkg", "https://h/x.agentapp?token=1"] {
        assert_eq!(parse(text), Ok(Source::Https(text.to_owned())));
    }
    let error = parse("https://h/o/r/").unwrap_err();
    assert_eq!(error.diagnostic().help.unwrap(), "for a repository type git+https://h/o/r#SHA40");
    assert_eq!(
        parse("http://h/x.aospkg").unwrap_err().diagnostic().help.unwrap(),
        "type https://h/x.aospkg"
    );
}

#[test]
fn npm_versions() {
    for (text, name, version) in [
        ("npm:@agentos-software/grep@0.3.4", "@agentos-software/grep", "0.3.4"),
        ("npm:left-pad@1.0.0-rc.1+b", "left-pad", "1.0.0-rc.1+b"),
    ] {
        let Ok(Source::Npm(spec)) = parse(text) else { panic!("{text}") };
        assert_eq!((spec.name(), spec.version()), (name, version));
        assert_eq!(spec.to_string(), text);
    }
    for text in [
        "npm:grep",
        "npm:@a/grep",
        "npm:grep@latest",
        "npm:grep@^1.0.0",
        "npm:grep@1.0",
        "npm:../x@1.0.0",
        "npm:@a/b/c@1.0.0",
        "npm:--flag@1.0.0",
        "npm:@1.0.0",
        "npm:",
    ] {
        assert!(matches!(parse(text), Err(SourceError::BadAddress { .. })), "{text}");
    }
}

#[test]
fn refs_are_kept_whole() {
    let text = "aip://64/the-agentic-coder@1.2.0";
    assert_eq!(parse(text), Ok(Source::Ref(text.to_owned())));
}

#[test]
fn a_path_that_is_not_utf8_has_its_errno() {
    let error = Source::parse(OsStr::from_bytes(b"./\xff.aospkg")).unwrap_err();
    assert_eq!(error.to_string(), "the path `./\u{fffd}.aospkg` is not UTF-8 (EILSEQ)");
    assert!(!error.is_usage());
}

proptest! {
    #[test]
    fn any_bytes_parse_or_fail(bytes: Vec<u8>) {
        let _ = Source::parse(OsStr::from_bytes(&bytes));
    }

    #[test]
    fn what_is_shown_parses_to_the_same(text in "(git\\+https://|npm:|https://|\\./|aip://|file:)[ -~]{0,60}") {
        if let Ok(source) = parse(&text) {
            prop_assert_eq!(parse(&source.to_string()), Ok(source));
        }
    }
}
