//! What several modules use.

use holdall_diagnostics::SourceText;
use holdall_pack::{PackHandle, PackManifest, pack_from_manifest, parse_pack_manifest};
use serde_json::{Value, json};

/// A commit, as the tables of the format have it.
pub(crate) const SHA: &str = "0123456789abcdef0123456789abcdef01234567";

pub(crate) fn source(text: &str) -> SourceText {
    SourceText::new(text.as_bytes().to_vec())
}

/// The smallest pack, as another language would pass it.
pub(crate) fn minimal() -> Value {
    json!({
        "schema": "pack/v1",
        "name": "the-pack",
        "title": "The Pack",
        "description": "A pack.",
        "version": "1.0.0",
        "plugin": { "inline": true },
    })
}

/// The minimal pack with some members replaced or added; a null removes one.
pub(crate) fn with(changes: Value) -> Value {
    let mut pack = minimal();
    let Value::Object(changes) = changes else { return pack };
    for (key, value) in changes {
        if value.is_null() {
            pack.as_object_mut().unwrap().remove(&key);
        } else {
            pack[key] = value;
        }
    }
    pack
}

/// A `PACK.md` with these members: JSON is YAML.
pub(crate) fn document(pack: &Value) -> String {
    format!("---\n{}\n---\n", serde_json::to_string_pretty(pack).unwrap())
}

pub(crate) fn parse(text: &str) -> (PackManifest, PackHandle) {
    let manifest = parse_pack_manifest(&source(text)).unwrap();
    let handle = pack_from_manifest(&manifest).unwrap();
    (manifest, handle)
}
