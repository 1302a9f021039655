//! The pack digest, `agentproto-pack-digest/v1`: what binds a pack to its documents.
//!
//! One line an input, the label, a NUL and the SHA-256 of the bytes in lower-case hexadecimal;
//! sorted by bytes, joined by line feeds, hashed (AIP-64 "Content digest", `pack-v1` 3.4). It
//! covers `PACK.md` and the `APP.md` of every declared app and nothing else: no skill, no other
//! file of an app. It binds and does not sign: digests "match", nothing becomes trusted by them.

use holdall_tree::{Algorithm, Digest};
use serde_json::{Value, json};

use crate::handle::PackHandle;

/// The name that stands in every record beside the digest.
pub const ALG: &str = "agentproto-pack-digest/v1";

/// The label of the pack's own document.
pub const PACK_LABEL: &str = "PACK.md";

/// A pack digest and whether every reader sorts its lines alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackDigest {
    digest: Digest,
    portable: bool,
}

impl PackDigest {
    /// The digest, written `agentproto-pack-digest/v1:HEX`.
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// Whether sorting by UTF-16 units, as JavaScript does, gives the same digest. It differs
    /// only for labels with characters above U+FFFF.
    pub const fn is_portable(&self) -> bool {
        self.portable
    }

    /// The record of it: `{kind, name, version, alg, sha256}`. The kind is in it because review
    /// packs have digests of the same `alg` over other inputs.
    pub fn record(&self, pack: &PackHandle) -> Value {
        json!({
            "kind": "pack",
            "name": pack.name(),
            "version": pack.version(),
            "alg": ALG,
            "sha256": self.digest.hex(),
        })
    }

    /// Compares with what somebody recorded.
    pub fn compare(&self, alg: Option<&str>, sha256: &str) -> Comparison {
        let Some(alg) = alg else { return Comparison::Refused(Refusal::NoAlgorithm) };
        if alg != ALG {
            return Comparison::Refused(Refusal::UnknownAlgorithm(alg.to_owned()));
        }
        match Digest::from_hex(Algorithm::AgentprotoPackDigestV1, sha256) {
            Ok(recorded) if recorded == self.digest => Comparison::Matches,
            Ok(_) => Comparison::Differs,
            Err(_) => Comparison::Refused(Refusal::NotADigest(sha256.chars().take(100).collect())),
        }
    }

    /// Compares with a record such as [`PackDigest::record`] writes. A record of another kind is
    /// refused.
    pub fn compare_record(&self, record: &Value) -> Comparison {
        let text = |key: &str| record.get(key).and_then(Value::as_str);
        match record.get("kind") {
            None => {}
            Some(kind) if kind == "pack" => {}
            Some(kind) => return Comparison::Refused(Refusal::OtherKind(kind.to_string())),
        }
        self.compare(text("alg"), text("sha256").unwrap_or_default())
    }
}

/// What comes of comparing two digests: three outcomes, and only the first is good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparison {
    /// The documents are those that were recorded.
    Matches,
    /// They are others.
    Differs,
    /// They cannot be compared; the pack is not verified.
    Refused(Refusal),
}

/// Why two digests cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The record does not say how its digest was made.
    #[error("the recorded digest does not name its algorithm, so it is not compared")]
    NoAlgorithm,
    /// An algorithm that is not known here.
    #[error("the recorded digest is of the unknown algorithm `{0}`, so it is not compared")]
    UnknownAlgorithm(String),
    /// A record about something else than a pack.
    #[error("the record is of kind {0}, not of a pack, so it is not compared")]
    OtherKind(String),
    /// The recorded text is no digest at all.
    #[error("`{0}` is not 64 hexadecimal digits, so it is not compared")]
    NotADigest(String),
}

/// The digest of labelled bytes, in any order. Equal labels stay two lines.
pub fn pack_digest<'a>(inputs: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> PackDigest {
    let line = |(label, bytes): (&str, &[u8])| format!("{label}\0{}", Digest::sha256(bytes).hex());
    let mut lines: Vec<String> = inputs.into_iter().map(line).collect();
    lines.sort_unstable();
    let portable = lines.is_sorted_by(|a, b| a.encode_utf16().le(b.encode_utf16()));
    let bytes = *Digest::sha256(lines.join("\n").as_bytes()).as_bytes();
    PackDigest { digest: Digest::new(Algorithm::AgentprotoPackDigestV1, bytes), portable }
}
