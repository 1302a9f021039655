//! `aip://` refs: every row of the table, both forms, and what they lead to.

use holdall_pack::{
    ArtifactRef, PackHandle, PackRef, RefError, RefIndex, ResolveError, define_pack,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::support::{minimal, with};

#[test]
fn every_row_of_the_table() {
    // The text, whether any artifact can be meant by it, whether a pack can.
    let at_most = format!("aip://64/{}", "a".repeat(80));
    let too_long = format!("aip://64/{}", "a".repeat(81));
    let longest = format!("aip://53/{}", "é".repeat(512));
    let beyond = format!("aip://53/{}", "é".repeat(513));
    for (text, artifact, pack) in [
        ("aip://64/the-agentic-coder", true, true),
        ("aip://64/the-agentic-coder@1.2.0", true, true),
        ("aip://64/x@1.0.0-rc.1+b", true, false),
        ("aip://64/ab@1.0.0-rc.1+b", true, true),
        ("aip://064/xy", false, false),
        ("aip://0/xy", false, false),
        ("aip://99999999999999999999/xy", false, false),
        ("aip://9007199254740991/xy", true, false),
        ("aip://9007199254740992/xy", false, false),
        ("aip://+64/xy", false, false),
        ("aip://-1/xy", false, false),
        ("aip:///xy", false, false),
        ("aip://64/", false, false),
        ("aip://64", false, false),
        ("aip:/64/xy", false, false),
        ("aip://64/xy@", false, false),
        ("aip://64/xy@1@2", false, false),
        ("aip://64/xy@1.0.0@2.0.0", false, false),
        ("aip://64/xy@1 2", false, false),
        ("aip://64/xy@1", false, false),
        ("aip://64/xy@v1.0.0", false, false),
        ("aip://64/xy@^1.0.0", false, false),
        ("AIP://64/xy", false, false),
        (" aip://64/xy", false, false),
        ("aip://64/xy\n", false, false),
        ("aip://64/xy@1.0.0\n", false, false),
        ("aip://64/X_Y", true, false),
        ("aip://64/a/b", true, false),
        ("aip://64/xy#f", true, false),
        ("aip://64/xy?q=1", true, false),
        ("aip://53/@owner/app", false, false),
        ("aip://64/%40a", true, false),
        ("aip://52/the-agentic-coder", true, false),
        ("aip://53/review-panel", true, false),
        ("ws://64/xy", false, false),
        ("", false, false),
        ("aip://64/a b", false, false),
        ("aip://64/a\u{feff}b", false, false),
        ("aip://64/a\u{85}b", false, false),
        ("aip://64/a", true, false),
        ("aip://64/ab-", true, false),
        (&at_most, true, true),
        (&too_long, true, false),
        (&longest, true, false),
        (&beyond, false, false),
    ] {
        assert_eq!(ArtifactRef::parse(text).is_ok(), artifact, "{text:?}");
        assert_eq!(PackRef::parse(text).is_ok(), pack, "{text:?}");
        if let Ok(reference) = ArtifactRef::parse(text) {
            assert_eq!(reference.to_uri().unwrap(), text);
        }
        if let Ok(reference) = PackRef::parse(text) {
            assert_eq!(reference.to_string(), text);
            assert_eq!(reference.to_artifact().to_pack().unwrap(), reference);
        }
        for found in [ArtifactRef::parse(text).err(), PackRef::parse(text).err()].iter().flatten() {
            let found = found.diagnostic();
            assert!(matches!(found.code, "PK0601" | "PK0602"), "{text:?}: {}", found.code);
            assert!(found.help.is_some());
        }
    }
}

#[test]
fn the_old_number_of_packs_gets_a_hint() {
    let found = PackRef::parse("aip://52/the-agentic-coder").unwrap_err().diagnostic();
    assert_eq!(found.code, "PK0602");
    assert!(found.help.unwrap().contains("aip://64/the-agentic-coder"));
}

#[test]
fn the_object_form() {
    let text = "aip://64/the-agentic-coder@1.2.0";
    let object = json!({ "aip": 64, "id": "the-agentic-coder", "version": "1.2.0" });
    assert_eq!(ArtifactRef::parse(text).unwrap().to_object(), object);
    assert_eq!(ArtifactRef::from_object(&object).unwrap(), ArtifactRef::parse(text).unwrap());
    let floating = json!({ "aip": 64, "id": "the-agentic-coder" });
    assert_eq!(ArtifactRef::from_object(&floating).unwrap().to_object(), floating);

    // An id that the string form has no place for is no wrong string, but an error.
    for id in ["@owner/app", "two words"] {
        let scoped = ArtifactRef::from_object(&json!({ "aip": 53, "id": id })).unwrap();
        assert_eq!(scoped.id(), id);
        assert!(matches!(scoped.to_uri(), Err(RefError::NoStringForm { .. })));
    }
    for wrong in [
        json!(null),
        json!("aip://64/ab"),
        json!({ "aip": 0, "id": "ab" }),
        json!({ "aip": -1, "id": "ab" }),
        json!({ "aip": 1.5, "id": "ab" }),
        json!({ "aip": "64", "id": "ab" }),
        json!({ "aip": 64 }),
        json!({ "aip": 64, "id": "" }),
        json!({ "aip": 64, "id": "a".repeat(513) }),
        json!({ "aip": 64, "id": "ab", "version": null }),
        json!({ "aip": 64, "id": "ab", "version": "" }),
        json!({ "aip": 64, "id": "ab", "version": "1" }),
        json!({ "aip": 64, "id": "ab", "extra": true }),
        json!({ "id": "ab" }),
    ] {
        assert!(ArtifactRef::from_object(&wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_handle_without_a_key_has_no_ref() {
    for (aip, handle, id) in [
        (64, json!({ "name": "ab", "id": "cd" }), Some("ab")),
        (53, json!({ "id": "cd", "name": "ab" }), Some("cd")),
        (53, json!({ "slug": "s", "provider": "p", "name": "n" }), Some("p")),
        (53, json!({ "slug": "s", "name": "n" }), Some("s")),
        (53, json!({ "id": "", "name": "n" }), Some("n")),
        (64, json!({ "id": "cd" }), None),
        (53, json!({ "title": "t" }), None),
        (53, json!({ "id": 3 }), None),
        (53, Value::Null, None),
    ] {
        let made = ArtifactRef::to_handle(aip, &handle);
        assert_eq!(made.as_ref().ok().map(ArtifactRef::id), id, "{handle}");
        if id.is_none() {
            assert!(matches!(made, Err(RefError::NoKey(_))), "{handle}");
        }
    }
}

#[test]
fn a_pack_knows_its_refs() {
    let pack = |version: &str| define_pack(&with(json!({ "version": version }))).unwrap();
    let shown = |made: Result<PackRef, RefError>| made.map(|made| made.to_string()).ok();
    let both = |pack: &PackHandle| (shown(pack.reference()), shown(pack.pinned_reference()));
    let floating = Some("aip://64/the-pack".to_owned());
    assert_eq!(both(&pack("1.2.0")), (floating.clone(), Some("aip://64/the-pack@1.2.0".into())));
    for version in ["summer", "1", "v1.0.0", "1.0.0@2", "a/b", "1 2"] {
        assert_eq!(both(&pack(version)), (floating.clone(), None), "{version}");
    }
}

#[test]
fn a_pin_is_equal_text() {
    let pinned = PackRef::parse("aip://64/ab@1.0.0").unwrap();
    let floating = PackRef::parse("aip://64/ab").unwrap();
    for (version, meant) in
        [("1.0.0", true), ("1.0.0+b", false), ("1.0.1", false), ("v1.0.0", false)]
    {
        assert_eq!(pinned.accepts_version(version), meant);
        assert!(floating.accepts_version(version));
    }
}

#[test]
fn unknown_families_and_unknown_ids_are_two_errors() {
    let at = |text: &str| ArtifactRef::parse(text).unwrap();
    let mut index = RefIndex::default();
    index.add_family(53);
    assert_eq!(index.insert(&at("aip://64/ab"), 1), None);
    assert_eq!(index.insert(&at("aip://64/ab@2.0.0"), 2), Some(1));
    // A version does not take part in finding.
    assert_eq!(index.resolve(&at("aip://64/ab@9.9.9")), Ok(&2));
    for (text, error) in [
        ("aip://64/cd", ResolveError::UnknownId { aip: 64, id: "cd".into() }),
        ("aip://53/ab", ResolveError::UnknownId { aip: 53, id: "ab".into() }),
        ("aip://52/ab", ResolveError::UnknownFamily { aip: 52 }),
    ] {
        assert_eq!(index.find(&at(text)), None);
        assert_eq!(index.resolve(&at(text)), Err(error));
    }
    assert!(define_pack(&minimal()).is_ok());
}

fn versions() -> impl Strategy<Value = Option<String>> {
    let version =
        (any::<u32>(), any::<u32>(), any::<u32>(), "(-[a-z][a-z0-9-]{0,4})?(\\+[a-z0-9]{1,4})?")
            .prop_map(|(major, minor, patch, rest)| format!("{major}.{minor}.{patch}{rest}"));
    prop::option::of(version)
}

proptest! {
    #[test]
    fn what_is_written_reads_the_same(
        aip in 1u64..(1 << 53),
        id in "[^@\\s\\p{C}]{1,40}",
        version in versions(),
    ) {
        let reference = ArtifactRef::new(aip, &id, version.as_deref()).unwrap();
        prop_assert_eq!(ArtifactRef::parse(&reference.to_uri().unwrap()).unwrap(), reference.clone());
        prop_assert_eq!(ArtifactRef::from_object(&reference.to_object()).unwrap(), reference);
    }

    #[test]
    fn the_object_form_holds_any_id(aip in 1u64..(1 << 53), id in ".{1,40}", version in versions()) {
        let reference = ArtifactRef::new(aip, &id, version.as_deref()).unwrap();
        prop_assert_eq!(ArtifactRef::from_object(&reference.to_object()).unwrap(), reference.clone());
        if let Ok(text) = reference.to_uri() {
            prop_assert_eq!(ArtifactRef::parse(&text).unwrap(), reference);
        }
    }

    #[test]
    fn packs_read_the_same(name in "[a-z][a-z0-9-]{0,30}[a-z0-9]", version in versions()) {
        let reference = PackRef::new(&name, version.as_deref()).unwrap();
        prop_assert_eq!(PackRef::parse(&reference.to_string()).unwrap(), reference);
    }

    #[test]
    fn any_text_is_a_ref_or_an_error(text in "(aip://[0-9]{0,3}/?)?.{0,40}") {
        if let Ok(reference) = ArtifactRef::parse(&text) {
            prop_assert_eq!(reference.to_uri().unwrap(), text);
        }
    }
}
