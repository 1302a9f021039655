//! The 16-byte header: checks in the published order, and its bytes.

use crate::codes;
use crate::error::{Errno, PackageError};
use crate::format::{HEADER_LEN, Header, MAGIC, Version};

/// Reads the header from the first bytes of a file of `file_len` bytes.
///
/// In this order: 16 bytes are there, the file has 16 bytes, magic, format version, flags, and
/// the chunks end inside the file. Everything is EINVAL; on 64 bits no length overflows.
pub fn parse_header(prefix: &[u8], file_len: u64) -> Result<Header, PackageError> {
    let Some(bytes) = prefix.first_chunk::<HEADER_LEN>().filter(|_| file_len >= HEADER_LEN as u64)
    else {
        let have = file_len.min(prefix.len() as u64);
        let detail = format_args!("not a package: {have} bytes are too few for its 16-byte header");
        return Err(not_a_package(detail, have));
    };
    let [m0, m1, m2, m3, v0, v1, f0, f1, a0, a1, a2, a3, b0, b1, b2, b3] = *bytes;
    let magic = [m0, m1, m2, m3];
    if magic != MAGIC {
        let detail = format_args!("not a package: it begins with {}", looks_like(prefix));
        return Err(not_a_package(detail, 0));
    }
    let number = u16::from_le_bytes([v0, v1]);
    let Some(version) = Version::from_number(number) else {
        let detail = format_args!("package format version {number} is not known");
        return Err(PackageError::new(&codes::VERSION, Errno::EINVAL, detail)
            .offset(4)
            .help("this program reads versions 1 and 2; a newer one may read this package"));
    };
    let flags = u16::from_le_bytes([f0, f1]);
    if flags != 0 {
        let detail = format_args!("the reserved flags are {flags:#06x} and must be 0");
        return Err(PackageError::new(&codes::FLAGS, Errno::EINVAL, detail)
            .offset(6)
            .help("the package needs a newer reader, or its header is damaged"));
    }
    let manifest_len = u32::from_le_bytes([a0, a1, a2, a3]);
    let index_len = u32::from_le_bytes([b0, b1, b2, b3]);
    let end = HEADER_LEN as u64 + u64::from(manifest_len) + u64::from(index_len);
    if end > file_len {
        let detail = format_args!(
            "cut off: the chunks need {end} bytes (header 16, manifest {manifest_len}, index \
             {index_len}) and the file has {file_len}"
        );
        return Err(PackageError::new(&codes::TRUNCATED, Errno::EINVAL, detail)
            .offset(8)
            .help("fetch the package again and compare its digest with the publisher's"));
    }
    Ok(Header { version, manifest_len, index_len, file_len })
}

/// The header's bytes. A chunk longer than `u32::MAX` is EOVERFLOW.
pub fn encode_header(
    version: Version,
    manifest_len: usize,
    index_len: usize,
) -> Result<[u8; HEADER_LEN], PackageError> {
    let length = |name: &str, len: usize| {
        u32::try_from(len).map_err(|_| {
            let detail = format_args!("the {name} chunk of {len} bytes is longer than 4 GiB");
            PackageError::new(&codes::TOO_LARGE, Errno::EOVERFLOW, detail)
        })
    };
    let mut out = [0; HEADER_LEN];
    out[..4].copy_from_slice(&MAGIC);
    out[4..6].copy_from_slice(&version.number().to_le_bytes());
    out[8..12].copy_from_slice(&length("manifest", manifest_len)?.to_le_bytes());
    out[12..].copy_from_slice(&length("index", index_len)?.to_le_bytes());
    Ok(out)
}

fn not_a_package(detail: impl std::fmt::Display, at: u64) -> PackageError {
    PackageError::new(&codes::NOT_A_PACKAGE, Errno::EINVAL, detail)
        .offset(at)
        .help("a package begins with the bytes 89 41 4f 53; `holdall pack` makes one from a directory or a tar")
}

/// What a file that is no package seems to be, for its error message.
fn looks_like(prefix: &[u8]) -> String {
    let known: [(&[u8], &str); 7] = [
        (b"PK\x03\x04", "a zip archive"),
        (b"\x1f\x8b", "gzip data (an npm tarball or a .tar.gz)"),
        (b"\x7fELF", "an ELF program"),
        (b"#!", "a script"),
        (b"\0asm", "a WebAssembly module"),
        (b"\x28\xb5\x2f\xfd", "zstd data"),
        (b"BZh", "bzip2 data"),
    ];
    for (magic, name) in known {
        if prefix.starts_with(magic) {
            return name.to_owned();
        }
    }
    let first: Vec<String> = prefix.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    let text =
        prefix.iter().take(16).all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace());
    format!("{}{}", first.join(" "), if text { " (text)" } else { "" })
}
