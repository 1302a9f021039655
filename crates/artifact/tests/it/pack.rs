//! What of a root goes into a package.

use std::path::PathBuf;

use holdall_artifact::pack::{ArtifactPackage, pack_artifact};
use holdall_artifact::{ArtifactManifest, parse_artifact_manifest};
use holdall_diagnostics::Diagnostic;
use holdall_tree::{DirTree, FileKind, Limits, MemTree, Tree, TreeErrorKind, TreePath, walk};

use crate::digests::{open, say_hello};

fn bench_board() -> DirTree {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    DirTree::open(&root.join("../../tests/data/artifacts/bench-board")).unwrap()
}

fn manifest(tree: &dyn Tree) -> ArtifactManifest {
    let path = TreePath::new("agent-bundle.manifest.json").unwrap();
    parse_artifact_manifest(&tree.read(&path, 1 << 20).unwrap()).unwrap()
}

fn pack(tree: &dyn Tree, exclude: &[&str]) -> Result<ArtifactPackage, Vec<Diagnostic>> {
    let exclude: Vec<_> = exclude.iter().map(|path| TreePath::new(*path).unwrap()).collect();
    pack_artifact(tree, &manifest(tree), &exclude, "root")
}

#[test]
fn exactly_the_rows_and_the_artifact_manifest_go_in() {
    let root = bench_board();
    let package = pack(&root, &[".env"]).expect("whole");
    assert_eq!((package.name(), package.version()), ("bench-board", "0.3.0"));
    let commands: Vec<_> =
        package.commands().iter().map(|c| (c.name.as_str(), c.path.as_str())).collect();
    assert_eq!(commands, [("bench-board", "bin/bench-board.mjs")]);
    let manifest = manifest(&root);
    assert_eq!(package.entries().len(), manifest.files().len() + 1);
    for (path, mode) in package.entries() {
        let row = manifest.file(path);
        let recorded = row.and_then(|row| row.mode());
        assert_eq!(u64::from(mode), recorded.unwrap_or(0o644), "{path}");
        assert!(row.is_some() || path.as_str() == "agent-bundle.manifest.json");
    }
    assert!(!package.has_unusual_modes());

    let tree = package.tree(&root);
    let files: Vec<_> = walk(&tree, &TreePath::root(), Limits::default())
        .map(Result::unwrap)
        .filter(|entry| entry.kind == FileKind::File)
        .map(|entry| entry.path)
        .collect();
    assert_eq!(files, package.entries().map(|(path, _)| path.clone()).collect::<Vec<_>>());
    for path in files {
        assert_eq!(tree.read(&path, 1 << 20).unwrap(), root.read(&path, 1 << 20).unwrap());
        let metadata = tree.metadata(&path).unwrap();
        assert_eq!(metadata.size, root.metadata(&path).unwrap().size);
        assert_eq!(metadata.mtime, 0);
        assert_eq!(tree.open(&path).unwrap().mode(), Some(metadata.mode));
    }
    let kind = |path: &str| tree.metadata(&TreePath::new(path).unwrap()).map_err(|e| e.kind);
    assert_eq!(kind("skills").unwrap().kind, FileKind::Directory);
    assert_eq!(kind(".env"), Err(TreeErrorKind::NotFound));
    assert_eq!(kind("skill"), Err(TreeErrorKind::NotFound));
    let env = TreePath::new(".env").unwrap();
    assert_eq!(tree.open(&env).unwrap_err().kind, TreeErrorKind::NotFound);
    assert_eq!(tree.read_dir(&env).unwrap_err().kind, TreeErrorKind::NotFound);
}

#[test]
fn anything_else_that_lies_there_is_named_and_refused() {
    let mut tree = say_hello();
    tree.add_file(".env", "TOKEN=1\n").unwrap();
    tree.add_file("node_modules/a/index.js", "").unwrap();
    tree.add_file("node_modules/b/index.js", "").unwrap();
    tree.add_file("skills/greet/draft.md", "").unwrap();
    tree.add_dir("state").unwrap();
    tree.add_symlink("skills/other", "greet").unwrap();
    let found = pack(&tree, &[]).expect_err("strangers");
    let named: Vec<_> = found.iter().map(|f| (f.code, f.path.as_deref().unwrap())).collect();
    let expected = [
        ("HD0451", "root/.env"),
        ("HD0451", "root/node_modules"),
        ("HD0451", "root/skills/greet/draft.md"),
        ("HD0451", "root/skills/other"),
        ("HD0451", "root/state"),
    ];
    assert_eq!(named, expected);
    assert_eq!(found[0].help.as_deref(), Some("remove it, or say --exclude .env"));
    let all = [".env", "node_modules", "skills/greet/draft.md", "skills/other", "state"];
    assert!(pack(&tree, &all).is_ok());
    assert!(pack(&tree, &all[..4]).is_err());
}

#[test]
fn rows_that_are_not_what_they_say_are_refused_but_modes_are_the_rows() {
    let mut tree = say_hello();
    tree.add_executable("INSTALL.md", "# Install say-hello\n").unwrap();
    let package = pack(&tree, &[]).expect("the same bytes");
    let mode = package.entries().find(|(path, _)| path.as_str() == "INSTALL.md").unwrap().1;
    assert_eq!(mode, 0o644);
    tree.add_file("INSTALL.md", "# Install say-HELLO\n").unwrap();
    let found = pack(&tree, &[]).expect_err("other bytes");
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].code, found[0].path.as_deref()), ("AB7001", Some("root/INSTALL.md")));
    let mut less = MemTree::new();
    for path in crate::digests::SAY_HELLO.into_iter().filter(|path| *path != "INSTALL.md") {
        let bytes = say_hello().read(&TreePath::new(path).unwrap(), 1 << 20).unwrap();
        less.add_file(path, bytes).unwrap();
    }
    assert_eq!(pack(&less, &[]).expect_err("missing").len(), 1);
}

#[test]
fn a_document_that_says_what_the_package_is_may_lie_there() {
    let mut tree = say_hello();
    tree.add_file("agentos-package.json", "{}").unwrap();
    let package = pack(&tree, &[]).expect("whole");
    let path = TreePath::new("agentos-package.json").unwrap();
    assert!(package.entries().all(|(entry, _)| *entry != path));
    assert_eq!(package.tree(&tree).read(&path, 10).unwrap(), b"{}");
    assert_eq!(open(&tree).manifest().application().name(), package.name());
}
