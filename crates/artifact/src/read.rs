//! Opening the artifact manifest of a root (`readArtifactManifest`).

use holdall_diagnostics::{Diagnostic, SourceText};
use holdall_tree::{FileKind, Tree, TreeErrorKind, TreePath};

use crate::codes::{AB6000, AB6001};
use crate::json::MAX_BYTES;
use crate::{ARTIFACT_MANIFEST_NAME, ArtifactManifest, Fault, check_artifact_manifest};

/// A path of a root as people see it: below how the root is shown, where `.` and the empty text
/// are the working directory.
pub fn shown_at(root: &str, path: &str) -> String {
    match root.trim_end_matches('/') {
        "" if root.starts_with('/') => format!("/{path}"),
        "" | "." => path.to_owned(),
        root if path.is_empty() => root.to_owned(),
        root => format!("{root}/{path}"),
    }
}

/// What stands at the top of a root.
#[derive(Debug)]
pub enum ManifestRead {
    /// A valid artifact manifest.
    Ok(Box<OpenManifest>),
    /// No such file.
    Missing,
    /// Something that cannot be read, or is not valid.
    Invalid(UnreadableManifest),
}

/// A valid artifact manifest and the bytes it came from.
#[derive(Debug)]
pub struct OpenManifest {
    manifest: ArtifactManifest,
    source: SourceText,
}

impl OpenManifest {
    /// The document.
    pub fn manifest(&self) -> &ArtifactManifest {
        &self.manifest
    }

    /// The bytes of the file.
    pub fn source(&self) -> &SourceText {
        &self.source
    }

    /// The document alone.
    pub fn into_manifest(self) -> ArtifactManifest {
        self.manifest
    }
}

/// Why what stands there is no valid artifact manifest.
#[derive(Debug)]
pub struct UnreadableManifest {
    detail: String,
    faults: Vec<Fault>,
    source: Option<SourceText>,
}

impl UnreadableManifest {
    /// The first fault, or why the file could not be read, as a lower-case fragment.
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// Every fault of the document; none when the file could not be read at all.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// The bytes of the file, when it could be read.
    pub fn source(&self) -> Option<&SourceText> {
        self.source.as_ref()
    }
}

impl ManifestRead {
    /// The document, or what `validate` says about its absence: AB6000 when there is no file to
    /// read, AB6001 for every fault of the one that is there. `root` is how the root is shown.
    pub fn into_result(self, root: &str) -> Result<OpenManifest, Vec<Diagnostic>> {
        let path = shown_at(root, ARTIFACT_MANIFEST_NAME);
        match self {
            Self::Ok(open) => Ok(*open),
            Self::Missing => Err(vec![
                Diagnostic::new(&AB6000, format!("no {ARTIFACT_MANIFEST_NAME} in this directory"))
                    .at(path)
                    .help("name the directory that the build wrote, or build it again"),
            ]),
            Self::Invalid(UnreadableManifest { detail, faults, source }) => match source {
                None => Err(vec![Diagnostic::new(&AB6000, detail).at(path)]),
                Some(source) => {
                    Err(faults.iter().map(|f| f.diagnostic(&AB6001, &path, &source)).collect())
                }
            },
        }
    }
}

/// Opens the artifact manifest at the top of `root`: the one way to find out what a root holds.
/// It must be a regular file; a link is not followed, and a fifo not opened.
pub fn read_artifact_manifest(root: &dyn Tree) -> ManifestRead {
    let unreadable = |detail: String| {
        ManifestRead::Invalid(UnreadableManifest { detail, faults: vec![], source: None })
    };
    let path = match TreePath::new(ARTIFACT_MANIFEST_NAME) {
        Ok(path) => path,
        Err(error) => return unreadable(error.to_string()),
    };
    let read = match root.metadata(&path) {
        Ok(metadata) => match metadata.kind {
            FileKind::File => root.read(&path, MAX_BYTES as u64),
            FileKind::Directory => return unreadable("is a directory, not a file".to_owned()),
            FileKind::Symlink => {
                return unreadable("is a symbolic link, not a regular file".to_owned());
            }
            FileKind::Other => {
                return unreadable("is a device, fifo or socket, not a regular file".to_owned());
            }
        },
        Err(error) => Err(error),
    };
    match read {
        Err(error) if error.kind == TreeErrorKind::NotFound => ManifestRead::Missing,
        Err(error) => unreadable(format!("cannot be read: {error}")),
        Ok(bytes) => match check_artifact_manifest(&bytes) {
            Ok(manifest) => {
                let source = SourceText::new(bytes);
                ManifestRead::Ok(Box::new(OpenManifest { manifest, source }))
            }
            Err(faults) => ManifestRead::Invalid(UnreadableManifest {
                detail: faults.first().map(ToString::to_string).unwrap_or_default(),
                faults,
                source: Some(SourceText::new(bytes)),
            }),
        },
    }
}
