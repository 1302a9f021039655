//! From one format version to the other: the head is written anew, the mount is copied as it is.

use std::io::{BufWriter, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use holdall_diagnostics::Diagnostic;

use super::codes;
use super::write::{not_written, stage, unwritable};
use crate::encode::{MapOrder, encode_head};
use crate::format::Version;
use crate::model::Loss;
use crate::package::Package;

/// Writes an open package in another format version and says which facts were left out. Without
/// `allow_loss` there must be none. Offsets, owners and times stay as they are.
pub fn convert(
    package: &Package,
    out: &Path,
    version: Version,
    allow_loss: bool,
) -> Result<Vec<Loss>, Box<Diagnostic>> {
    let boxed = |error: crate::PackageError| Box::new(error.diagnostic());
    let manifest = package.manifest().map_err(boxed)?;
    let losses = manifest.losses(version);
    let manifest = if allow_loss { manifest.clone().reduced_to(version) } else { manifest.clone() };
    let entries = package.index().iter();
    let head = encode_head(&manifest, entries, version, MapOrder::Canonical).map_err(boxed)?;
    let staged = stage(out)?;
    let mut writer = BufWriter::with_capacity(1 << 20, staged);
    writer.write_all(&head).map_err(|error| not_written(out, &error))?;
    let mount = package.header().mount_range();
    let (mut at, end) = (mount.start, mount.end);
    let mut buffer = vec![0; 1 << 20];
    while at < end {
        let want = usize::try_from(end - at).unwrap_or(buffer.len()).min(buffer.len());
        let n = match package.file().read_at(&mut buffer[..want], at) {
            Ok(0) => {
                let what = format!("the package ends at byte {at} of {end}");
                return Err(Box::new(Diagnostic::new(&codes::CHANGED, what)));
            }
            Ok(n) => n,
            Err(error) => return Err(Box::new(Diagnostic::new(&codes::READ, error.to_string()))),
        };
        writer.write_all(&buffer[..n]).map_err(|error| not_written(out, &error))?;
        at += n as u64;
    }
    package.check_unchanged().map_err(boxed)?;
    let staged = writer.into_inner().map_err(|error| not_written(out, error.error()))?;
    staged.commit().map_err(|error| unwritable(out, &error))?;
    Ok(losses)
}
