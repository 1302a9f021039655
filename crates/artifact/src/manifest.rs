//! The validated document with its look-ups.

use holdall_tree::TreePath;

use crate::containers::Sorted;
use crate::fields::Json;
use crate::model::{
    Application, BuiltInHost, Compiler, Distribution, Executables, FileRow, ManifestBody,
    McpServer, Projection, Routes, Web,
};

/// An artifact manifest that obeys every rule of the format.
///
/// It only comes out of [`crate::parse_artifact_manifest`] and never changes.
#[derive(Debug, Clone, PartialEq)]
pub struct ArtifactManifest {
    body: ManifestBody,
    files: FileIndex,
}

impl ArtifactManifest {
    pub(crate) fn new(body: ManifestBody, files: FileIndex) -> Self {
        Self { body, files }
    }

    /// The identity of the application.
    pub fn application(&self) -> &Application {
        self.body.application()
    }

    /// The record of the compiler's run.
    pub fn compiler(&self) -> &Compiler {
        self.body.compiler()
    }

    /// How the root is shipped.
    pub fn distribution(&self) -> &Distribution {
        self.body.distribution()
    }

    /// Every process that the artifact can start.
    pub fn executables(&self) -> &Executables {
        self.body.executables()
    }

    /// Every file but the artifact manifest, by path.
    pub fn files(&self) -> &Sorted<FileRow> {
        self.body.files()
    }

    /// The agent hosts it was built for.
    pub fn projections(&self) -> &Sorted<Projection> {
        self.body.projections()
    }

    /// The compiled route graph.
    pub fn routes(&self) -> &Routes {
        self.body.routes()
    }

    /// The least Node.js version, `major.minor.patch`.
    pub fn node(&self) -> &str {
        self.body.runtime().node().as_str()
    }

    /// The apps that are served on the web.
    pub fn web(&self) -> Option<&Web> {
        self.body.web()
    }

    /// The row of a path, by binary search.
    pub fn file(&self, path: &TreePath) -> Option<&FileRow> {
        self.files.find(self.files(), path.as_str())
    }

    /// The rows below a directory, by binary search; in the order of their bytes.
    pub fn files_under(&self, directory: &TreePath) -> impl Iterator<Item = &FileRow> {
        self.files.under(self.files(), directory.as_str())
    }

    /// The server of a name; names are unique (R22).
    pub fn server(&self, name: &str) -> Option<&McpServer> {
        self.executables().mcp_servers().iter().find(|server| server.name() == name)
    }

    /// The first projection that a shipped adapter planned: how consumers choose.
    pub fn projection_of(&self, host: BuiltInHost) -> Option<&Projection> {
        self.projections().iter().find(|projection| projection.built_in_host() == Some(host))
    }

    /// The projection selected under a name.
    pub fn projection(&self, host: &str) -> Option<&Projection> {
        self.projections().iter().find(|projection| projection.host() == host)
    }

    /// The bytes of the file: the canonical form with its newline. They are the ones it was
    /// parsed from.
    pub fn to_canonical_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.body.write(&mut out);
        out.push(b'\n');
        out
    }
}

/// Rows by the bytes of their path. The array's own order is that of the collation, in which
/// neither a path nor what lies below a directory can be found without an ICU comparison each.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct FileIndex(Box<[u32]>);

impl FileIndex {
    pub(crate) fn new(files: &[FileRow]) -> Self {
        let mut order: Vec<u32> = (0..files.len() as u32).collect();
        order.sort_unstable_by_key(|&at| files[at as usize].path().as_str());
        Self(order.into())
    }

    pub(crate) fn find<'f>(&self, files: &'f [FileRow], path: &str) -> Option<&'f FileRow> {
        let key = |at: &u32| files[*at as usize].path().as_str();
        let at = self.0.binary_search_by_key(&path, key).ok()?;
        Some(&files[self.0[at] as usize])
    }

    /// The rows below a directory, all of them for the root.
    pub(crate) fn under<'f>(
        &self,
        files: &'f [FileRow],
        directory: &str,
    ) -> impl Iterator<Item = &'f FileRow> {
        let prefix = if directory.is_empty() { String::new() } else { format!("{directory}/") };
        let start = self.0.partition_point(|&at| files[at as usize].path().as_str() < &*prefix);
        let rows: Vec<_> = self.0[start..]
            .iter()
            .map(|&at| &files[at as usize])
            .take_while(|row| row.path().as_str().starts_with(&prefix))
            .collect();
        rows.into_iter()
    }
}
