//! Roots on a real disk, and roots that change under the reader.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use holdall_artifact::digest::content_hash;
use holdall_artifact::rows::{Modes, RowFault, check};
use holdall_artifact::{ARTIFACT_MANIFEST_NAME, ManifestRead, lean, read_artifact_manifest};
use holdall_tree::{
    DirEntry, DirTree, MemTree, Metadata, Tree, TreeError, TreeErrorKind, TreeFile, TreePath,
};

use crate::digests::{SAY_HELLO, open, say_hello, say_hello_dir};

pub(crate) fn copy_to(root: &Path) {
    for path in SAY_HELLO {
        let to = root.join(path);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(say_hello_dir().join(path), to).unwrap();
    }
}

/// What `into_result` says: code and message.
fn refusal(root: &Path) -> (&'static str, String) {
    let tree = DirTree::open(root).unwrap();
    let found = read_artifact_manifest(&tree).into_result("root").expect_err("not valid");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].path.as_deref(), Some("root/agent-bundle.manifest.json"));
    (found[0].code, found[0].message.clone())
}

#[test]
fn moving_the_root_changes_nothing() {
    let place = tempfile::tempdir().unwrap();
    let mut hashes = Vec::new();
    for name in ["here", "other place/ünïcode", "node_modules/@scope/pkg/dist"] {
        let root = place.path().join(name);
        copy_to(&root);
        let tree = DirTree::open(&root).unwrap();
        let ManifestRead::Ok(open) = read_artifact_manifest(&tree) else { panic!("{name}") };
        assert_eq!(check(&tree, open.manifest(), Modes::Exact), [], "{name}");
        assert!(lean::parse(open.source().bytes()).is_ok());
        hashes.push(content_hash(&tree, open.manifest()).unwrap().to_string());
    }
    assert!(hashes.windows(2).all(|pair| pair[0] == pair[1]), "{hashes:?}");
}

#[test]
fn whatever_stands_in_place_of_the_manifest_is_one_clear_error() {
    let place = tempfile::tempdir().unwrap();
    let manifest = place.path().join(ARTIFACT_MANIFEST_NAME);
    let (code, message) = refusal(place.path());
    assert_eq!(
        (code, message.as_str()),
        ("AB6000", "no agent-bundle.manifest.json in this directory")
    );

    assert!(Command::new("mkfifo").arg(&manifest).status().unwrap().success());
    let (code, message) = refusal(place.path());
    assert_eq!(
        (code, message.as_str()),
        ("AB6000", "is a device, fifo or socket, not a regular file")
    );
    std::fs::remove_file(&manifest).unwrap();

    symlink(say_hello_dir().join(ARTIFACT_MANIFEST_NAME), &manifest).unwrap();
    let (code, message) = refusal(place.path());
    assert_eq!((code, message.as_str()), ("AB6000", "is a symbolic link, not a regular file"));
    std::fs::remove_file(&manifest).unwrap();

    std::fs::create_dir(&manifest).unwrap();
    let (code, message) = refusal(place.path());
    assert_eq!((code, message.as_str()), ("AB6000", "is a directory, not a file"));
    std::fs::remove_dir(&manifest).unwrap();

    std::fs::write(&manifest, b"\xff\xfe").unwrap();
    let (code, message) = refusal(place.path());
    assert_eq!(code, "AB6001");
    assert!(message.starts_with("encoding: "), "{message}");

    // Root may read everything, so that this says nothing there.
    copy_to(place.path());
    std::fs::set_permissions(&manifest, PermissionsExt::from_mode(0o000)).unwrap();
    if std::fs::read(&manifest).is_err() {
        let (code, message) = refusal(place.path());
        assert_eq!(code, "AB6000");
        assert!(message.starts_with("cannot be read: "), "{message}");
    }
}

#[test]
fn a_root_that_is_a_file_is_no_tree() {
    let file = say_hello_dir().join("INSTALL.md");
    let error = DirTree::open(&file).expect_err("a file");
    assert_eq!(error.kind, TreeErrorKind::NotADirectory);
}

#[test]
fn a_row_that_is_a_link_to_outside_is_not_read() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("root");
    copy_to(&root);
    let outside = place.path().join("INSTALL.md");
    std::fs::rename(root.join("INSTALL.md"), &outside).unwrap();
    symlink(&outside, root.join("INSTALL.md")).unwrap();
    let tree = DirTree::open(&root).unwrap();
    let manifest = open(&say_hello()).into_manifest();
    let found: Vec<_> =
        check(&tree, &manifest, Modes::Exact).into_iter().map(|m| m.fault).collect();
    assert_eq!(found, [RowFault::NotAFile("a symbolic link")]);
    assert!(content_hash(&tree, &manifest).is_err());
}

/// A tree one of whose files changes while it is read.
#[derive(Debug)]
struct Restless {
    tree: MemTree,
    path: TreePath,
    fault: Fault,
}

#[derive(Debug, Clone, Copy)]
enum Fault {
    /// It gets another time or length.
    Touched,
    /// It gets shorter.
    Shrunk,
    /// It gets longer between being looked at and opened.
    Grown,
    /// It is gone between being looked at and opened.
    Gone,
    /// The disk fails.
    Broken,
}

#[derive(Debug)]
struct RestlessFile {
    file: Box<dyn TreeFile>,
    path: TreePath,
    fault: Fault,
    reads: AtomicUsize,
}

impl TreeFile for RestlessFile {
    fn len(&self) -> u64 {
        self.file.len() + u64::from(matches!(self.fault, Fault::Grown))
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<usize, TreeError> {
        let reads = self.reads.fetch_add(1, Ordering::Relaxed);
        match self.fault {
            Fault::Shrunk => Err(TreeError::new(TreeErrorKind::Changed, &self.path, "shrank")),
            Fault::Broken => Err(TreeError::new(TreeErrorKind::Io, &self.path, "input/output")),
            Fault::Grown if offset == self.file.len() && reads > 0 && !buf.is_empty() => {
                buf[0] = b'\n';
                Ok(1)
            }
            _ => self.file.read_at(buf, offset),
        }
    }

    fn changed(&self) -> Result<bool, TreeError> {
        Ok(matches!(self.fault, Fault::Touched | Fault::Grown))
    }
}

impl Tree for Restless {
    fn metadata(&self, path: &TreePath) -> Result<Metadata, TreeError> {
        self.tree.metadata(path)
    }

    fn open(&self, path: &TreePath) -> Result<Box<dyn TreeFile>, TreeError> {
        let file = self.tree.open(path)?;
        if *path != self.path {
            return Ok(file);
        }
        if matches!(self.fault, Fault::Gone) {
            return Err(TreeError::new(TreeErrorKind::NotFound, path, "no such file"));
        }
        let path = path.clone();
        Ok(Box::new(RestlessFile { file, path, fault: self.fault, reads: AtomicUsize::new(0) }))
    }

    fn read_dir(&self, path: &TreePath) -> Result<Vec<DirEntry>, TreeError> {
        self.tree.read_dir(path)
    }

    fn read_link(&self, path: &TreePath) -> Result<String, TreeError> {
        self.tree.read_link(path)
    }
}

#[test]
fn a_file_that_changes_while_it_is_hashed_is_never_taken_for_its_row() {
    let manifest = open(&say_hello()).into_manifest();
    for (fault, expected) in [
        (Fault::Touched, "changed while it was read"),
        (Fault::Shrunk, "changed while it was read"),
        (Fault::Grown, "changed while it was read"),
        (Fault::Gone, "is missing"),
        (Fault::Broken, "cannot be read: INSTALL.md: input/output (EIO)"),
    ] {
        let path = TreePath::new("INSTALL.md").unwrap();
        let tree = Restless { tree: say_hello(), path: path.clone(), fault };
        let found = check(&tree, &manifest, Modes::Exact);
        assert_eq!(found.len(), 1, "{fault:?}: {found:?}");
        assert_eq!((&found[0].path, found[0].fault.to_string().as_str()), (&path, expected));
        assert!(content_hash(&tree, &manifest).is_err(), "{fault:?}");
    }
}
