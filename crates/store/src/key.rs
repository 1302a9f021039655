//! File names for keys that are not file names.

use holdall_tree::Digest;

/// Bytes of a name that any file system takes.
const LONGEST: usize = 200;

/// A file name for `key` that no other key has: letters, digits, `-`, `_` and `.` stand for
/// themselves, every other byte and a leading `.` as `%XX`; what gets too long ends with a digest
/// of the whole. `@owner/app` is `%40owner%2Fapp`.
///
/// Capital letters are written as `%XX` too, so that two keys stay apart where a file system
/// does not tell letter case.
pub fn file_key(key: &str) -> String {
    let mut name = String::new();
    for (at, byte) in key.bytes().enumerate() {
        let plain = byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.".contains(&byte);
        if plain && !(at == 0 && byte == b'.') {
            name.push(char::from(byte));
        } else {
            name.push_str(&format!("%{byte:02X}"));
        }
    }
    if name.len() > LONGEST || name.is_empty() {
        let digest = Digest::sha256(key.as_bytes());
        // `%.` appears in no name made above.
        name.truncate(LONGEST - 66);
        name.push_str("%.");
        name.push_str(&digest.hex());
    }
    name
}
