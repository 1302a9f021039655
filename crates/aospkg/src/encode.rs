//! Writing the chunks, in canonical form: shortest varints, map keys sorted by bytes.

use crate::bare::Writer;
use crate::codes;
use crate::error::{Errno, PackageError};
use crate::format::{ENTRY_FIXED_LEN, Version};
use crate::header::encode_header;
use crate::model::{PackageManifest, StringMap, TarEntry};

/// The order in which maps are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MapOrder {
    /// Sorted by the keys' bytes: the same facts always give the same bytes.
    #[default]
    Canonical,
    /// As they were read, for a byte-exact copy of another packer's chunk.
    AsRead,
}

/// The manifest chunk, its two-byte prefix included.
///
/// A manifest with facts that `version` cannot hold is an error that names them;
/// [`PackageManifest::reduced_to`] gives them up.
pub fn encode_manifest(
    manifest: &PackageManifest,
    version: Version,
    order: MapOrder,
) -> Result<Vec<u8>, PackageError> {
    let losses = manifest.losses(version);
    if !losses.is_empty() {
        let named: Vec<_> = losses.iter().map(ToString::to_string).collect();
        let detail =
            format_args!("format version {version} has no place for {}", named.join(" and "));
        return Err(PackageError::new(&codes::LOSS, Errno::EINVAL, detail)
            .help("write format version 1, or say `--allow-loss` to leave it out"));
    }
    let mut out = Writer::default();
    out.bytes(&version.number().to_le_bytes());
    out.str(&manifest.name);
    out.str(&manifest.version);
    if version.has_agent() {
        out.optional(manifest.agent.as_ref(), |out, agent| {
            out.str(&agent.acp_entrypoint);
            out.bool(agent.snapshot);
            map(out, &agent.env, order);
            out.list(&agent.launch_args, |out, argument| out.str(argument));
        });
    }
    out.optional(manifest.provides.as_ref(), |out, provides| {
        map(out, &provides.env, order);
        out.list(&provides.files, |out, file| {
            out.str(&file.source);
            out.str(&file.target);
        });
    });
    out.list(&manifest.commands, |out, command| {
        out.str(&command.command);
        out.str(&command.entry);
    });
    out.list(&manifest.man_pages, |out, page| {
        out.str(&page.section);
        out.str(&page.page);
    });
    if version.has_agent() {
        out.optional(manifest.snapshot_bundle_path.as_ref(), |out, path| out.str(path));
    }
    Ok(out.0)
}

fn map(out: &mut Writer, map: &StringMap, order: MapOrder) {
    let pairs: Vec<(&str, &str)> = match order {
        MapOrder::Canonical => map.sorted(),
        MapOrder::AsRead => map.iter().collect(),
    };
    out.list(&pairs, |out, (key, value)| {
        out.str(key);
        out.str(value);
    });
}

/// The index chunk, its two-byte prefix included. Entries are written as they come: sorted by
/// the bytes of their whole paths, or no reader will open the package.
pub fn encode_index<'a>(
    entries: impl ExactSizeIterator<Item = TarEntry<'a>>,
    version: Version,
) -> Vec<u8> {
    let mut out = Writer(Vec::with_capacity(16 + entries.len() * (ENTRY_FIXED_LEN + 24)));
    out.bytes(&version.number().to_le_bytes());
    out.uint(entries.len() as u64);
    for entry in entries {
        out.str(entry.path);
        out.uint(u64::from(entry.kind.ordinal()));
        out.bytes(&entry.offset.to_le_bytes());
        out.bytes(&entry.size.to_le_bytes());
        out.bytes(&entry.mode.to_le_bytes());
        out.bytes(&entry.uid.to_le_bytes());
        out.bytes(&entry.gid.to_le_bytes());
        out.bytes(&entry.mtime.to_le_bytes());
        out.optional(entry.link_target, Writer::str);
    }
    out.0
}

/// Everything in front of the mount: header, manifest and index chunk.
pub fn encode_head<'a>(
    manifest: &PackageManifest,
    entries: impl ExactSizeIterator<Item = TarEntry<'a>>,
    version: Version,
    order: MapOrder,
) -> Result<Vec<u8>, PackageError> {
    let manifest = encode_manifest(manifest, version, order)?;
    let index = encode_index(entries, version);
    let header = encode_header(version, manifest.len(), index.len())?;
    Ok([&header[..], &manifest, &index].concat())
}
