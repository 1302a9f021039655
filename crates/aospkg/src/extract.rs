//! Unpacking into a new directory, whole or not at all.
//!
//! Everything is written beside the destination and renamed into place at the end. Modes are
//! `& 0777`, owners are the caller's, and a link is made only where its target stays inside.

use std::path::Path;

use holdall_tree::stage::{Place, StageError, StageErrorKind, StagedDir};
use holdall_tree::{Tree, TreeErrorKind, TreePath};

use crate::codes;
use crate::error::{Errno, PackageError};
use crate::format::EntryKind;
use crate::fs::{TarFileSystem, normalise};
use crate::model::TarEntry;

/// How to extract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExtractOptions {
    /// Turns absolute link targets, and those that leave the package, into relative ones that
    /// mean what they mean in a mounted package. Without it they are an error.
    pub rewrite_links: bool,
}

/// What was extracted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Extracted {
    /// Files.
    pub files: usize,
    /// Directories, the destination not counted.
    pub directories: usize,
    /// Links.
    pub links: usize,
    /// Bytes of the files.
    pub bytes: u64,
    /// Paths of links whose target was rewritten.
    pub rewritten: Vec<String>,
    /// Paths of entries that no path leads to, and that therefore were left out.
    pub unreachable: Vec<String>,
}

/// Extracts the entries at and below `paths` (all, if there are none) into the new directory
/// `dest`, each at its path in the package. `fs` is served from the package's root.
///
/// EEXIST if something stands at `dest`, ENOENT for a path that is not in the package, EXDEV
/// for a link that leads out. After an error nothing is left behind.
pub fn extract(
    fs: &TarFileSystem,
    paths: &[impl AsRef<str>],
    dest: &Path,
    options: ExtractOptions,
) -> Result<Extracted, PackageError> {
    let package = fs.package();
    let index = package.index();
    let run = || {
        let wanted = wanted(fs, paths)?;
        let place = Place::at(dest).map_err(|error| staging(&error))?;
        if place.metadata().map_err(|error| staging(&error))?.is_some() {
            let detail = format_args!("{} exists already", dest.display());
            return Err(PackageError::new(&codes::EXTRACT, Errno::EEXIST, detail)
                .help("name another directory with `-o`, or remove this one"));
        }
        let mut staged = StagedDir::beside(place, 0o755).map_err(|error| staging(&error))?;
        let mut done = Extracted::default();
        let mut lost = index.unreachable().peekable();
        for position in 0..index.len() {
            let entry = index.entry(position);
            if lost.next_if_eq(&position).is_some() {
                if is_wanted(&wanted, entry.path) {
                    done.unreachable.push(entry.path.to_owned());
                }
            } else if entry.path != "/" && is_wanted(&wanted, entry.path) {
                write(fs, &entry, &mut staged, &mut done, options)?;
            }
        }
        let swapped = staged.commit(false).map_err(|error| staging(&error))?;
        swapped.finish().map_err(|error| staging(&error))?;
        Ok(done)
    };
    run().map_err(|error| error.file(package.path()))
}

fn wanted(fs: &TarFileSystem, paths: &[impl AsRef<str>]) -> Result<Vec<String>, PackageError> {
    let mut wanted = Vec::new();
    for path in paths {
        let normal = normalise(path.as_ref());
        if fs.package().index().find(&normal).is_none() {
            let detail = format_args!("`{}` is not in the package", path.as_ref());
            return Err(PackageError::new(&codes::IN_PACKAGE, Errno::ENOENT, detail)
                .help("`holdall ls --recursive` shows every path; links are not followed here"));
        }
        wanted.push(normal);
    }
    Ok(wanted)
}

fn is_wanted(wanted: &[String], path: &str) -> bool {
    wanted.is_empty()
        || wanted.iter().any(|root| {
            root == "/"
                || path
                    .strip_prefix(root.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
}

fn write(
    fs: &TarFileSystem,
    entry: &TarEntry<'_>,
    staged: &mut StagedDir,
    done: &mut Extracted,
    options: ExtractOptions,
) -> Result<(), PackageError> {
    let path = TreePath::new(&entry.path[1..]).map_err(|error| {
        PackageError::new(&codes::EXTRACT, Errno::EINVAL, format_args!("cannot be a file: {error}"))
    })?;
    match entry.kind {
        EntryKind::Directory => {
            staged.make_dir(&path, entry.mode & 0o777).map_err(|error| staging(&error))?;
            done.directories += 1;
        }
        EntryKind::File => {
            let file = Tree::open(fs, &path)
                .map_err(|error| PackageError::new(&codes::EXTRACT, Errno::EIO, error))?;
            staged
                .write_from(&path, file.as_ref(), entry.mode & 0o777)
                .map_err(|error| staging(&error))?;
            done.files += 1;
            done.bytes += entry.size;
        }
        EntryKind::Symlink => {
            let target = entry.link_target.unwrap_or_default();
            let out = leads_out(fs, entry.path, target);
            if out && !options.rewrite_links {
                let detail = format_args!(
                    "the link `{}` -> `{target}` leads out of the package",
                    entry.path
                );
                return Err(PackageError::new(&codes::EXTRACT, Errno::EXDEV, detail)
                    .help("`--rewrite-links` keeps it inside"));
            }
            if target.is_empty() {
                let detail = format_args!("the link `{}` has an empty target", entry.path);
                return Err(PackageError::new(&codes::EXTRACT, Errno::EINVAL, detail));
            }
            if out {
                let inside = relative(entry.path, target);
                staged.symlink(&path, &inside).map_err(|error| staging(&error))?;
                done.rewritten.push(entry.path.to_owned());
            } else {
                staged.symlink(&path, target).map_err(|error| staging(&error))?;
            }
            done.links += 1;
        }
    }
    Ok(())
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// Whether an unpacked link would lead out of the directory it was unpacked into: by an absolute
/// target, by `..` in its text, or through another link.
pub(crate) fn leads_out(fs: &TarFileSystem, link: &str, target: &str) -> bool {
    if target.starts_with('/') {
        return true;
    }
    let mut depth = parent(link).split('/').filter(|part| !part.is_empty()).count();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." if depth == 0 => return true,
            ".." => depth -= 1,
            _ => depth += 1,
        }
    }
    let resolved =
        TreePath::new(link.trim_start_matches('/')).ok().map(|path| Tree::resolve(fs, &path));
    matches!(resolved, Some(Err(error)) if error.kind == TreeErrorKind::Escapes)
}

/// A target, taken as a mounted package takes it, relative to the link's directory.
fn relative(link: &str, target: &str) -> String {
    let base = if target.starts_with('/') { "" } else { parent(link) };
    let reached = normalise(&format!("{base}/{target}"));
    let up = parent(link).split('/').filter(|part| !part.is_empty()).count();
    let text = format!("{}{}", "../".repeat(up), &reached[1..]);
    match text.trim_end_matches('/') {
        "" => ".".to_owned(),
        kept => kept.to_owned(),
    }
}

fn staging(error: &StageError) -> PackageError {
    let errno = match &error.kind {
        StageErrorKind::NoSpace => Errno::ENOSPC,
        StageErrorKind::ReadOnly => Errno::EROFS,
        StageErrorKind::PermissionDenied => Errno::EACCES,
        StageErrorKind::NotFound => Errno::ENOENT,
        StageErrorKind::Exists => Errno::EEXIST,
        StageErrorKind::Source(inner) if inner.kind == TreeErrorKind::Changed => Errno::ESTALE,
        _ => Errno::EIO,
    };
    PackageError::new(&codes::EXTRACT, errno, error)
}
