//! The pack digest: the published vectors, and what is compared with what.

use holdall_pack::{ALG, Comparison, Refusal, define_pack, pack_digest};
use holdall_tree::Digest;
use proptest::prelude::*;
use serde_json::json;

use super::support::minimal;

const TINY: &str = "---\nschema: pack/v1\nname: tiny-pack\ntitle: Tiny Pack\ndescription: Smallest pack.\nversion: 0.1.0\nplugin:\n  inline: true\n---\n";

const DUO: &str = "---\nschema: pack/v1\nname: duo-pack\ntitle: Duo Pack\ndescription: Two apps.\nversion: 1.2.0\nplugin:\n  inline: true\napps:\n  - id: review-panel\n    path: ./apps/review-panel\n  - id: repo-maintenance\n    path: ./apps/repo-maintenance\n---\n\n# Duo Pack\n";

fn app(id: &str) -> String {
    format!("---\nschema: app/v1\nid: {id}\nagents: []\nworkflows: []\n---\n")
}

fn hex(inputs: &[(&str, &[u8])]) -> String {
    pack_digest(inputs.iter().copied()).digest().hex()
}

#[test]
fn the_vector_of_the_recipes_origin() {
    let inputs: [(&str, &[u8]); 2] =
        [("REVIEW.md", b"pack-md\n"), ("./rubrics/correctness.md", b"rubric\n")];
    assert_eq!(hex(&inputs), "fe060a88f5bb7f3fdc86d883b1681665cd633d5a8cc5bcdb6d0b32112ed173a7");
}

#[test]
fn a_pack_without_apps() {
    assert_eq!(TINY.len(), 123);
    let digest = |text: &str| hex(&[("PACK.md", text.as_bytes())]);
    assert_eq!(digest(TINY), "481654f1dd1cfbfd17700bb5edc456164d3da9b7ed1a6b44053854b02faf32f8");
    assert_eq!(
        digest(&TINY.replace('\n', "\r\n")),
        "9e5a186fffd652eb4c19685a0dc5d69a9704446e4863aed92ab9166fef3f5487",
    );
    assert_eq!(
        digest(&format!("\u{feff}{TINY}")),
        "c23494ced4e04228c888c6bb8aa7050e39f725c9da8f59197c8cc10264efadf8",
    );
}

#[test]
fn a_pack_with_two_apps_in_either_order() {
    let (maintenance, panel) = (app("repo-maintenance"), app("review-panel"));
    assert_eq!((DUO.len(), maintenance.len(), panel.len()), (244, 69, 65));
    let mut inputs: [(&str, &[u8]); 3] = [
        ("PACK.md", DUO.as_bytes()),
        ("./apps/review-panel", panel.as_bytes()),
        ("./apps/repo-maintenance", maintenance.as_bytes()),
    ];
    let wanted = "00b5d843a52604eb96095c2fa5617489eb59da058189414ffc56f8c6f945762f";
    assert_eq!(hex(&inputs), wanted);
    inputs.reverse();
    assert_eq!(hex(&inputs), wanted);
    let changed = maintenance.replace("[]", "[ ]");
    inputs[0].1 = changed.as_bytes();
    assert_ne!(hex(&inputs), wanted);
}

#[test]
fn labels_are_sorted_by_their_bytes() {
    let inputs: [(&str, &[u8]); 3] =
        [("PACK.md", b"P\n"), ("apps/\u{ff21}", b"x\n"), ("apps/\u{1f600}", b"y\n")];
    let digest = pack_digest(inputs);
    assert_eq!(
        digest.digest().hex(),
        "f430e5e6ba143b76fe3c0048e8e24f93553a33de2fae52c18974d69610a843e7",
    );
    assert!(!digest.is_portable(), "JavaScript sorts these two the other way round");
    assert!(pack_digest([("PACK.md", &b"P\n"[..])]).is_portable());

    // No folding of case, and a label sorts before those that it begins.
    let sorted = ["./apps/q", "Apps/z", "PACK.md", "apps/B", "apps/a", "apps/a-b"];
    let given = ["PACK.md", "apps/a", "apps/a-b", "Apps/z", "./apps/q", "apps/B"];
    let lines = sorted.map(|label| format!("{label}\0{}", Digest::sha256(label.as_bytes()).hex()));
    let wanted = Digest::sha256(lines.join("\n").as_bytes()).hex();
    assert_eq!(pack_digest(given.map(|label| (label, label.as_bytes()))).digest().hex(), wanted);
}

#[test]
fn equal_labels_stay_two_lines() {
    let inputs: [(&str, &[u8]); 3] = [("PACK.md", b"P\n"), ("apps/a", b"x\n"), ("apps/a", b"x\n")];
    assert_eq!(hex(&inputs), "3c3019ff735bfe5c862261612d7eb8946b59a72c043cee78415230190106f85f");
}

#[test]
fn bytes_that_are_no_text_are_digested_as_they_are() {
    assert_eq!(
        hex(&[("PACK.md", b"\xff\xfeabc\n")]),
        "284bc3b1c86985361d867807498d123ef7f37f63b96899f51d298d63085ef965",
    );
}

#[test]
fn what_is_not_recorded_well_is_refused_and_no_mismatch() {
    let digest = pack_digest([("PACK.md", TINY.as_bytes())]);
    let hex = digest.digest().hex();
    let other = "0".repeat(64);
    assert_eq!(digest.compare(Some(ALG), &hex), Comparison::Matches);
    assert_eq!(digest.compare(Some(ALG), &hex.to_uppercase()), Comparison::Matches);
    assert_eq!(digest.compare(Some(ALG), &other), Comparison::Differs);
    let v2 = "agentproto-pack-digest/v2";
    for sha256 in [&hex, &other] {
        assert_eq!(digest.compare(None, sha256), Comparison::Refused(Refusal::NoAlgorithm));
        assert_eq!(
            digest.compare(Some(v2), sha256),
            Comparison::Refused(Refusal::UnknownAlgorithm(v2.to_owned())),
        );
    }
    for text in ["", "481654f1", &format!("{hex}0"), &format!(" {hex}"), &"g".repeat(64)] {
        let refused = Comparison::Refused(Refusal::NotADigest(text.to_owned()));
        assert_eq!(digest.compare(Some(ALG), text), refused);
    }
}

#[test]
fn a_record_says_what_it_is_of() {
    let pack = define_pack(&minimal()).unwrap();
    let digest = pack_digest([("PACK.md", TINY.as_bytes())]);
    let record = digest.record(&pack);
    assert_eq!(
        record,
        json!({
            "kind": "pack",
            "name": "the-pack",
            "version": "1.0.0",
            "alg": "agentproto-pack-digest/v1",
            "sha256": "481654f1dd1cfbfd17700bb5edc456164d3da9b7ed1a6b44053854b02faf32f8",
        }),
    );
    assert_eq!(digest.compare_record(&record), Comparison::Matches);
    let mut review = record.clone();
    review["kind"] = "review".into();
    assert!(matches!(digest.compare_record(&review), Comparison::Refused(Refusal::OtherKind(_))));
    let mut silent = record;
    silent.as_object_mut().unwrap().remove("alg");
    assert_eq!(digest.compare_record(&silent), Comparison::Refused(Refusal::NoAlgorithm));
}

proptest! {
    #[test]
    fn the_order_of_inputs_never_matters(
        inputs in prop::collection::vec((".{0,8}", prop::collection::vec(any::<u8>(), 0..9)), 0..6),
    ) {
        let digest = |inputs: &[(String, Vec<u8>)]| {
            pack_digest(inputs.iter().map(|(label, bytes)| (label.as_str(), bytes.as_slice())))
        };
        let mut backward = inputs.clone();
        backward.reverse();
        prop_assert_eq!(digest(&inputs), digest(&backward));
    }
}
