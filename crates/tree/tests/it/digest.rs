use holdall_tree::{Algorithm, Digest, DigestError};
use proptest::prelude::*;

/// FIPS 180-4, the message `abc`.
const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

#[test]
fn parses_and_shows_every_algorithm() {
    for name in [
        "sha256",
        "holdall-tree/v1",
        "agentproto-pack-digest/v1",
        "agent-bundle-content/v6",
        "agentapp/v1",
    ] {
        let text = format!("{name}:{ABC}");
        let digest: Digest = text.parse().unwrap();
        assert_eq!((digest.algorithm().as_str(), digest.hex().as_str()), (name, ABC));
        assert_eq!(digest.to_string(), text);
        assert_eq!(format!("{name}:{}", ABC.to_uppercase()).parse(), Ok(digest));
    }
    assert_eq!(Digest::sha256(b"abc").to_string(), format!("sha256:{ABC}"));
    let all: Vec<_> = Algorithm::ALL.iter().filter(|a| !a.covers_every_byte()).collect();
    assert_eq!(all, [&Algorithm::AgentprotoPackDigestV1]);
}

#[test]
fn tells_apart_what_is_wrong() {
    let parse = |text: &str| text.parse::<Digest>().unwrap_err();
    assert_eq!(parse(&format!("md5:{ABC}")), DigestError::UnknownAlgorithm("md5".into()));
    let v2 = parse(&format!("holdall-tree/v2:{ABC}"));
    assert_eq!(v2, DigestError::UnknownAlgorithm("holdall-tree/v2".into()));
    // An algorithm of another length is unknown before its digits are looked at.
    assert_eq!(parse("sha512:00"), DigestError::UnknownAlgorithm("sha512".into()));
    assert_eq!(parse("SHA256:00"), DigestError::UnknownAlgorithm("SHA256".into()));
    for text in [ABC, "", ":", &format!(":{ABC}")] {
        assert_eq!(parse(text), DigestError::MissingAlgorithm(text.into()));
    }
    for hex in
        ["", "00", &ABC[1..], &format!("{ABC}0"), &format!("{}g", &ABC[1..]), &"é".repeat(32)]
    {
        assert_eq!(parse(&format!("sha256:{hex}")), DigestError::Hex(hex.into()));
    }
}

proptest! {
    #[test]
    fn shown_and_parsed_is_the_same(bytes: [u8; 32], at in 0_usize..5) {
        let digest = Digest::new(Algorithm::ALL[at], bytes);
        prop_assert_eq!(digest.to_string().parse(), Ok(digest));
    }

    #[test]
    fn takes_any_text_without_panic(text in any::<String>()) {
        if let Ok(digest) = text.parse::<Digest>() {
            prop_assert_eq!(digest.to_string(), text.to_lowercase());
        }
    }
}
