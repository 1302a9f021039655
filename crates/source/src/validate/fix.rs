//! Writing the quotes that values lack, and nothing else.

use std::io::Write;

use camino::{Utf8Path, Utf8PathBuf};
use holdall_diagnostics::{Diagnostic, SourceText};
use holdall_skill::fix::{self, Fix};
use holdall_skill::frontmatter::Document;
use holdall_skill::yaml::{self, Node, Value};
use holdall_tree::TreePath;

use super::codes;
use super::listing::shown;

/// A document that quotes would cure.
#[derive(Debug, Clone)]
pub struct Repair {
    path: TreePath,
    shown: String,
    directory: Option<Utf8PathBuf>,
    source: SourceText,
    fixes: Vec<Fix>,
}

/// What a repair did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fixed {
    /// The document, as its findings name it.
    pub path: String,
    /// How many values got their quotes.
    pub values: usize,
}

impl Repair {
    pub(super) fn new(path: TreePath, root: &str, source: SourceText, fixes: Vec<Fix>) -> Self {
        let shown = shown(root, path.as_str());
        Self { path, shown, directory: None, source, fixes }
    }

    /// Says where on the disk the tree is.
    pub(super) fn set_directory(&mut self, directory: &Utf8Path) {
        self.directory = Some(directory.to_owned());
    }

    /// Writes the document: staged beside it, synced, renamed, with its permissions. A link, a
    /// document in a sealed file, one that changed since it was read, and a result that would not
    /// read as the same texts are refused, and nothing is touched.
    pub fn apply(&self) -> Result<Fixed, Box<Diagnostic>> {
        let fail = |message: String| {
            Box::new(Diagnostic::new(&codes::CANNOT_FIX, message).at(self.shown.as_str()))
        };
        let Some(directory) = &self.directory else {
            return Err(fail(format!("{} is in a sealed file", self.shown)));
        };
        let file = directory.join(self.path.as_str());
        let io = |error: std::io::Error| fail(format!("{}: {error}", self.shown));
        let metadata = std::fs::symlink_metadata(&file).map_err(io)?;
        if !metadata.is_file() {
            let help = "fix the file that the link leads to";
            return Err(Box::new(fail(format!("{} is a link", self.shown)).help(help)));
        }
        if std::fs::read(&file).map_err(io)? != self.source.bytes() {
            return Err(fail(format!("{} has changed since it was read", self.shown)));
        }
        let bytes = fix::apply(self.source.bytes(), &self.fixes);
        if !self.reads_the_same(&bytes) {
            return Err(fail(format!(
                "with quotes {} would not read as the same texts",
                self.shown
            )));
        }
        let write = || -> std::io::Result<()> {
            let above = file.parent().unwrap_or(directory);
            let mut staged =
                tempfile::Builder::new().prefix(".holdall-").tempfile_in(above.as_std_path())?;
            staged.write_all(&bytes)?;
            staged.as_file().set_permissions(metadata.permissions())?;
            staged.as_file().sync_all()?;
            staged.persist(file.as_std_path()).map_err(|error| error.error)?;
            std::fs::File::open(above)?.sync_all()
        };
        write().map_err(io)?;
        Ok(Fixed { path: self.shown.clone(), values: self.fixes.len() })
    }

    /// Whether the fixed bytes parse, and every text is what it was, or was to be.
    fn reads_the_same(&self, bytes: &[u8]) -> bool {
        let before = Document::split(&self.source).map(|document| yaml::parse(&document));
        let after = SourceText::new(bytes.to_vec());
        let after = Document::split(&after).map(|document| yaml::parse(&document));
        let (Ok(before), Ok(after)) = (before, after) else { return false };
        match (&before.root, &after.root) {
            (Some(before), Some(after)) => same_texts(before, after),
            // Another fault stops the reader in both.
            (None, None) => true,
            _ => false,
        }
    }
}

/// Compares all texts and keys, not how they are written. The parser bounds the depth.
fn same_texts(a: &Node, b: &Node) -> bool {
    match (&a.value, &b.value) {
        (Value::Scalar(a), Value::Scalar(b)) => a.text == b.text,
        (Value::Sequence(a), Value::Sequence(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_texts(a, b))
        }
        (Value::Mapping(a), Value::Mapping(b)) => {
            a.len() == b.len()
                && a.iter().zip(b).all(|(a, b)| a.key == b.key && same_texts(&a.value, &b.value))
        }
        _ => false,
    }
}
