//! Opening what has to be fetched first.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use holdall_source::{Kind, OpenError, OpenOptions, Opened, Origin, Source, SourceError, open};
use holdall_store::Store;
use holdall_store::fetch::Fetcher;
use holdall_tree::TreePath;

use crate::server::{Server, repository};

const APP: &[(&str, &str)] = &[("APP.md", "---\nschema: app/v1\nid: one\n---\n")];
const SKILL: &[(&str, &str)] = &[("SKILL.md", "---\nname: a\ndescription: b\n---\n")];

fn source(text: &str) -> Source {
    Source::parse(OsStr::new(text)).unwrap()
}

#[test]
fn without_a_fetcher_an_address_is_not_opened() {
    for text in [
        "https://h.example/x.aospkg",
        "npm:a@1.0.0",
        "git+https://h.example/r#0123456789abcdef0123456789abcdef01234567",
        "aip://pack.agentproto.dev/x",
    ] {
        let result = open(&source(text), Path::new("/"), &OpenOptions::default(), None);
        assert!(matches!(result, Err(OpenError::NotFetched { .. })), "{text}");
    }
}

#[test]
#[ignore = "needs openssl"]
fn only_an_app_may_follow_a_ref() {
    let server = Server::https();
    let app = repository(&server.root().join("git/app"), &[APP, &[("new", "")]]);
    let skill = repository(&server.root().join("git/skill"), &[SKILL]);
    let place = tempfile::tempdir().unwrap();
    let mut environment = BTreeMap::new();
    environment.insert("PATH".into(), std::env::var_os("PATH").unwrap());
    let fetcher = Fetcher::new(Store::at(place.path().join("store")).unwrap(), environment)
        .with_ca_file(Some(server.ca()));
    let opened = |text: &str, follow: Option<&str>| -> Result<Opened, OpenError> {
        let follow = follow.map(str::to_owned);
        let options = OpenOptions { follow, ..OpenOptions::default() };
        open(&source(text), Path::new("/"), &options, Some(&fetcher))
    };
    let is_not_pinned = |result: Result<Opened, OpenError>| {
        matches!(result, Err(OpenError::Source(SourceError::NotPinned { .. })))
    };
    let (apps, skills) = (server.url("git/app"), server.url("git/skill"));
    let unpinned = format!("git+{apps}");
    for (reference, at) in [("HEAD", 1), ("main", 1), ("v1", 0)] {
        let opened = opened(&unpinned, Some(reference)).unwrap();
        assert_eq!(opened.kind(), Some(Kind::App));
        assert_eq!(opened.location(), unpinned.as_str());
        assert!(opened.file().join("APP.md").is_file());
        let expected = Origin::Git {
            url: apps.clone(),
            commit: app[at].clone(),
            reference: Some(reference.to_owned()),
        };
        assert_eq!(
            (opened.origin(), opened.origin().address()),
            (&expected, Some(unpinned.clone()))
        );
    }
    assert!(is_not_pinned(opened(&unpinned, None)));
    assert!(is_not_pinned(opened(&format!("git+{skills}"), Some("HEAD"))));
    let pinned = opened(&format!("git+{skills}#{}", skill[0]), None).unwrap();
    assert_eq!((pinned.kind(), pinned.is_fetched()), (Some(Kind::Skill), true));
    assert_eq!(pinned.origin().address(), Some(format!("git+{skills}")));
    let path = TreePath::new("SKILL.md").unwrap();
    assert_eq!(pinned.shown(&path), format!("git+{skills}#{}/SKILL.md", skill[0]));
}
