//! Roots that npm unpacked: what it does to modes and puts at the top is no difference.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use holdall_artifact::npm::{self, NpmPackage};
use holdall_artifact::strays::{Detail, strays};
use holdall_artifact::{ManifestRead, read_artifact_manifest, rows};
use holdall_tree::DirTree;

/// A root with programs in a package, at `place` below a new directory; `bin` is that of
/// package.json.
fn unpacked(place: &str, inside: &str, bin: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    let top = tempfile::tempdir().unwrap();
    let package = top.path().join(place);
    let root = package.join(inside);
    let golden =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/artifacts/bench-board");
    copy(&golden, &root);
    let document = format!(r#"{{"name":"bench-board","version":"0.3.0","bin":{bin}}}"#);
    std::fs::write(package.join("package.json"), document).unwrap();
    (top, root)
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn differing(root: &Path) -> Vec<String> {
    let tree = DirTree::open(root).unwrap();
    let ManifestRead::Ok(open) = read_artifact_manifest(&tree) else { panic!("no manifest") };
    let package = NpmPackage::around(root);
    let found = rows::check(&tree, open.manifest(), npm::modes(package.as_ref()));
    let strays = strays(&tree, open.manifest(), package.as_ref(), Detail::Everything);
    let found = found.into_iter().map(|it| it.path.to_string());
    found.chain(strays.into_iter().map(|it| it.path.to_string())).collect()
}

fn chmod(root: &Path, path: &str, mode: u32) {
    std::fs::set_permissions(root.join(path), PermissionsExt::from_mode(mode)).unwrap();
}

const BIN: &str = "bin/bench-board.mjs";
const SCRIPT: &str = "skills/read-report/scripts/worst.sh";

#[test]
fn lost_execute_bits_are_tolerated_but_those_of_programs() {
    for (package, inside, bin) in [
        ("node_modules/bench-board", "dist", r#""./dist/bin/bench-board.mjs""#),
        ("node_modules/@scope/bench", "dist", r#"{"bench-board":"dist/bin/bench-board.mjs"}"#),
        ("node_modules/a/node_modules/b", "", r#"{"x":"bin/bench-board.mjs","y":"lib/y.js"}"#),
    ] {
        let (_top, root) = unpacked(package, inside, bin);
        assert_eq!(differing(&root), [""; 0], "{package}");
        // Other bits do not count.
        chmod(&root, SCRIPT, 0o640);
        chmod(&root, "INSTALL.md", 0o666);
        assert_eq!(differing(&root), [""; 0], "{package}");
        // A program has to run, and what is none must not.
        chmod(&root, BIN, 0o644);
        chmod(&root, "INSTALL.md", 0o755);
        assert_eq!(differing(&root), [BIN, "INSTALL.md"], "{package}");
        // The bytes count as ever.
        chmod(&root, BIN, 0o755);
        chmod(&root, "INSTALL.md", 0o644);
        std::fs::write(root.join(SCRIPT), "changed").unwrap();
        assert_eq!(differing(&root), [SCRIPT], "{package}");
    }
}

#[test]
fn a_program_that_its_row_does_not_call_one_may_be_one() {
    let (_top, root) = unpacked("node_modules/b", "", r#""hooks/hooks.json""#);
    chmod(&root, "hooks/hooks.json", 0o755);
    chmod(&root, BIN, 0o644);
    assert_eq!(differing(&root), [""; 0]);
    chmod(&root, "hooks/hooks.json", 0o644);
    assert_eq!(differing(&root), ["hooks/hooks.json"]);
}

#[test]
fn elsewhere_modes_are_exact() {
    for (package, inside) in
        [("packages/b", "dist"), ("node_modules", ""), ("node_modules_/b", ""), ("x/@scope/b", "")]
    {
        let (_top, root) = unpacked(package, inside, r#""bin/bench-board.mjs""#);
        std::fs::remove_file(root.parent().unwrap().join("package.json")).ok();
        std::fs::remove_file(root.join("package.json")).ok();
        chmod(&root, SCRIPT, 0o644);
        assert_eq!(differing(&root), [SCRIPT], "{package}");
    }
    // What is only linked into node_modules was not unpacked by npm.
    let (top, root) = unpacked("packages/b", "", "{}");
    std::fs::remove_file(root.join("package.json")).unwrap();
    chmod(&root, SCRIPT, 0o644);
    std::fs::create_dir(top.path().join("node_modules")).unwrap();
    let link = top.path().join("node_modules/b");
    symlink(&root, &link).unwrap();
    assert_eq!(differing(&link), [SCRIPT]);
}

#[test]
fn what_npm_puts_at_the_top_of_a_package_is_no_stray() {
    let (_top, root) = unpacked("node_modules/b", "", "{}");
    chmod(&root, BIN, 0o644);
    for name in ["README.md", "LICENSE", "LICENCE.txt", "node_modules/c/index.js"] {
        std::fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        std::fs::write(root.join(name), "").unwrap();
    }
    assert_eq!(differing(&root), [""; 0]);
    std::fs::write(root.join("notes.txt"), "").unwrap();
    std::fs::write(root.join("skills/README.md"), "").unwrap();
    assert_eq!(differing(&root), ["notes.txt", "skills/README.md"]);
    // In a root below the top nothing of it is npm's.
    let (_top, root) = unpacked("node_modules/b", "dist", "{}");
    std::fs::write(root.join("README.md"), "").unwrap();
    assert_eq!(differing(&root), ["README.md"]);
}

#[test]
fn a_package_that_says_nothing_usable_names_no_program() {
    for text in [
        "",
        "{",
        "[]",
        r#"{"bin":7}"#,
        r#"{"bin":["a"]}"#,
        r#"{"bin":{"a":null}}"#,
        r#"{"bin":"../../x"}"#,
    ] {
        let (_top, root) = unpacked("node_modules/b", "dist", "{}");
        std::fs::write(root.parent().unwrap().join("package.json"), text).unwrap();
        chmod(&root, BIN, 0o644);
        assert_eq!(differing(&root), [""; 0], "{text}");
    }
}
