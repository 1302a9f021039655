//! Reading the chunks: tolerant where the published readers are, with an offset in every error.

use crate::bare::{DecodeError, Reader, Tolerance, Tolerances};
use crate::codes;
use crate::error::PackageError;
use crate::format::{EntryKind, Version};
use crate::model::{
    self, AgentBlock, CommandTarget, ManPage, PackageManifest, ProvidesBlock, ProvidesFile,
    StringMap, TarEntry,
};

/// Reads a manifest chunk, its two-byte prefix included, that stands at `base` in its file.
///
/// Also tells which tolerances were needed. Errors are EINVAL with the offset of the value.
pub fn decode_manifest(
    chunk: &[u8],
    base: u64,
    version: Version,
) -> Result<(PackageManifest, Tolerances), PackageError> {
    let mut reader = Reader::new(chunk, base);
    let manifest = prefix(&mut reader, version)
        .and_then(|()| manifest(&mut reader, version))
        .map_err(|error| PackageError::decode(&codes::MANIFEST, "manifest", &error))?;
    Ok((manifest, reader.finish()))
}

/// The schema version in front of a chunk's value: it has to be the container's.
pub(crate) fn prefix(reader: &mut Reader<'_>, version: Version) -> Result<(), DecodeError> {
    let number = u16::from_le_bytes(reader.array()?);
    if number == version.number() {
        return Ok(());
    }
    reader.fail(
        reader.position() - 2,
        format_args!("schema version {number} in a package of format version {version}"),
    )
}

fn manifest(reader: &mut Reader<'_>, version: Version) -> Result<PackageManifest, DecodeError> {
    Ok(PackageManifest {
        name: field(reader, "name", Reader::str)?.to_owned(),
        version: field(reader, "version", Reader::str)?.to_owned(),
        agent: if version.has_agent() {
            field(reader, "agent", |reader| reader.optional(agent))?
        } else {
            None
        },
        provides: field(reader, "provides", |reader| reader.optional(provides))?,
        commands: field(reader, "commands", |reader| {
            reader.list(2, |reader, _| {
                Ok(CommandTarget {
                    command: reader.str()?.to_owned(),
                    entry: reader.str()?.to_owned(),
                })
            })
        })?,
        man_pages: field(reader, "manPages", |reader| {
            reader.list(2, |reader, _| {
                Ok(ManPage { section: reader.str()?.to_owned(), page: reader.str()?.to_owned() })
            })
        })?,
        snapshot_bundle_path: if version.has_agent() {
            field(reader, "snapshotBundlePath", |reader| reader.optional(Reader::str))?
                .map(str::to_owned)
        } else {
            None
        },
    })
}

fn agent(reader: &mut Reader<'_>) -> Result<AgentBlock, DecodeError> {
    Ok(AgentBlock {
        acp_entrypoint: reader.str()?.to_owned(),
        snapshot: reader.bool()?,
        env: map(reader)?,
        launch_args: reader.list(1, |reader, _| Ok(reader.str()?.to_owned()))?,
    })
}

fn provides(reader: &mut Reader<'_>) -> Result<ProvidesBlock, DecodeError> {
    Ok(ProvidesBlock {
        env: map(reader)?,
        files: reader.list(2, |reader, _| {
            Ok(ProvidesFile { source: reader.str()?.to_owned(), target: reader.str()?.to_owned() })
        })?,
    })
}

fn map(reader: &mut Reader<'_>) -> Result<StringMap, DecodeError> {
    let mut starts = Vec::new();
    let pairs = reader.list(2, |reader, _| {
        starts.push(reader.position() as u32);
        Ok((reader.str()?.to_owned(), reader.str()?.to_owned()))
    })?;
    for (_, again) in model::repeated(&pairs) {
        let at = reader.offset() - reader.position() as u64 + u64::from(starts[again as usize]);
        reader.tolerances.note(Tolerance::DuplicateKey, at, 1);
    }
    drop(starts);
    Ok(pairs.into_iter().collect())
}

fn field<'a, T>(
    reader: &mut Reader<'a>,
    name: &str,
    read: impl FnOnce(&mut Reader<'a>) -> Result<T, DecodeError>,
) -> Result<T, DecodeError> {
    read(reader).map_err(|error| DecodeError { what: format!("{name}: {}", error.what), ..error })
}

/// One entry of the index.
#[inline]
pub(crate) fn entry<'a>(reader: &mut Reader<'a>) -> Result<TarEntry<'a>, DecodeError> {
    let path = reader.str()?;
    let kind_at = reader.position();
    let ordinal = reader.uint()?;
    let Some(kind) = EntryKind::from_ordinal(ordinal) else {
        return reader.fail(kind_at, format_args!("entry kind {ordinal} is not known"));
    };
    let [o0, o1, o2, o3, o4, o5, o6, o7, s0, s1, s2, s3, s4, s5, s6, s7, rest @ ..] =
        reader.array::<36>()?;
    let [m0, m1, m2, m3, u0, u1, u2, u3, g0, g1, g2, g3, t0, t1, t2, t3, t4, t5, t6, t7] = rest;
    Ok(TarEntry {
        path,
        kind,
        offset: u64::from_le_bytes([o0, o1, o2, o3, o4, o5, o6, o7]),
        size: u64::from_le_bytes([s0, s1, s2, s3, s4, s5, s6, s7]),
        mode: u32::from_le_bytes([m0, m1, m2, m3]),
        uid: u32::from_le_bytes([u0, u1, u2, u3]),
        gid: u32::from_le_bytes([g0, g1, g2, g3]),
        mtime: i64::from_le_bytes([t0, t1, t2, t3, t4, t5, t6, t7]),
        link_target: reader.optional(Reader::str)?,
    })
}
