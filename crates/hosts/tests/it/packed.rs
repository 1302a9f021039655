//! An artifact inside its package: what is packed from its rows is valid there, bit for bit.

use std::path::Path;

use holdall_aospkg::pack::{Input, PackOptions, plan};
use holdall_aospkg::{CommandTarget, TarFileSystem};
use holdall_artifact::pack::pack_artifact;
use holdall_artifact::{ArtifactManifest, digest::content_hash, read_artifact_manifest};
use holdall_hosts::validate::validate_artifact;
use holdall_tree::{DirTree, MemTree, Tree, TreePath};

fn manifest(root: &dyn Tree) -> ArtifactManifest {
    read_artifact_manifest(root).into_result(".").unwrap().into_manifest()
}

/// Packs a root as `holdall pack` is to do it, and gives the bytes of the package.
fn packed(root: &dyn Tree, exclude: &[TreePath], output: &Path) -> Vec<u8> {
    let package = pack_artifact(root, &manifest(root), exclude, ".").unwrap();
    let commands = package.commands().iter().map(|command| CommandTarget {
        command: command.name.clone(),
        entry: command.path.to_string(),
    });
    let options = PackOptions {
        name: Some(package.name().to_owned()),
        version_name: Some(package.version().to_owned()),
        commands: Some(commands.collect()),
        preserve: package.has_unusual_modes(),
        ..PackOptions::default()
    };
    let tree = package.tree(root);
    plan(Input::Tree(&tree), &options).unwrap().write(output).unwrap();
    std::fs::read(output).unwrap()
}

#[test]
fn a_golden_root_is_valid_inside_its_package() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/artifacts/bench-board");
    let root = DirTree::open(&root).unwrap();
    let place = tempfile::tempdir().unwrap();
    let output = place.path().join("bench-board.aospkg");
    packed(&root, &[TreePath::new(".env").unwrap()], &output);

    let inside = TarFileSystem::open(&output).unwrap();
    assert_eq!(validate_artifact(&inside, "package", None).diagnostics, []);
    let package = holdall_aospkg::Package::open(&output).unwrap();
    let written = package.manifest().unwrap();
    assert_eq!((written.name.as_str(), written.version.as_str()), ("bench-board", "0.3.0"));
    let commands: Vec<_> =
        written.commands.iter().map(|it| (it.command.as_str(), it.entry.as_str())).collect();
    assert_eq!(commands, [("bench-board", "bin/bench-board.mjs")]);
    // The root has a `.env`, which is hashed where it lies and is not in the package.
    let (outside, inside) =
        (content_hash(&root, &manifest(&root)), content_hash(&inside, &manifest(&inside)));
    assert_ne!(outside.unwrap(), inside.unwrap());
}

#[test]
fn unusual_modes_survive_and_the_bytes_are_the_same_everywhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/artifacts/say-hello");
    let root = DirTree::open(&root).unwrap();
    let mut value: serde_json::Value =
        serde_json::from_slice(&manifest(&root).to_canonical_bytes()).unwrap();
    value["files"][2]["mode"] = 0o750.into();
    let place = tempfile::tempdir().unwrap();
    let mut all = Vec::new();
    for number in 0..2 {
        let mut tree = MemTree::new();
        let rows = manifest(&root);
        for row in rows.files() {
            tree.add_file(row.path().as_str(), root.read(row.path(), 1 << 20).unwrap()).unwrap();
        }
        tree.add_file("agent-bundle.manifest.json", format!("{value}\n")).unwrap();
        let output = place.path().join(format!("{number}.aospkg"));
        all.push(packed(&tree, &[], &output));
        let inside = TarFileSystem::open(&output).unwrap();
        let mode = inside.metadata(&TreePath::new("INSTALL.md").unwrap()).unwrap().mode;
        assert_eq!(mode & 0o7777, 0o750);
        assert_eq!(validate_artifact(&inside, "package", None).diagnostics, []);
    }
    assert_eq!(all[0], all[1]);
}
