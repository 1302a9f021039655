//! The checks before publishing, against what npm itself would pack.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use holdall_artifact::prepack::{PackList, PackListError, Prepacked, prepack};
use holdall_diagnostics::Diagnostic;
use holdall_tree::{DirTree, TreePath};

use crate::digests::{SAY_HELLO, say_hello_dir};

/// A package whose artifact lies in `dist`.
fn package() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    write(
        place.path(),
        "package.json",
        r#"{"name":"say-hello","version":"1.2.3","files":["dist"]}"#,
    );
    for path in SAY_HELLO {
        let bytes = std::fs::read(say_hello_dir().join(path)).unwrap();
        write(place.path(), &format!("dist/{path}"), bytes);
    }
    place
}

fn write(root: &Path, path: &str, bytes: impl AsRef<[u8]>) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

fn npm_pack(package: &Path) -> Vec<u8> {
    let cache = tempfile::tempdir().unwrap();
    let output = Command::new("npm")
        .args(["pack", "--dry-run", "--json", "--ignore-scripts", "--offline"])
        .current_dir(package)
        .env("npm_config_cache", cache.path())
        .env("npm_config_update_notifier", "false")
        .output()
        .expect("npm comes with Node.js; install that");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn check(package: &Path, list: &[u8]) -> Prepacked {
    let tree = DirTree::open(package).unwrap();
    prepack(&tree, &TreePath::new("dist").unwrap(), list, ".")
}

fn found(package: &Path) -> Vec<Diagnostic> {
    check(package, &npm_pack(package)).diagnostics
}

fn shown(found: &[Diagnostic]) -> Vec<(&str, &str)> {
    found.iter().map(|found| (found.code, found.path.as_deref().unwrap_or(""))).collect()
}

#[test]
fn a_package_that_ships_its_artifact_whole_passes() {
    let package = package();
    let checked = check(package.path(), &npm_pack(package.path()));
    assert_eq!(checked.diagnostics, []);
    let list = checked.list.unwrap();
    assert_eq!((list.name(), list.version()), ("say-hello", "1.2.3"));
    assert!(list.has("package.json") && list.has("dist/skills/greet/SKILL.md"));
    assert!(checked.manifest.is_some());
}

#[test]
fn an_artifact_at_the_top_of_its_package_passes_too() {
    let package = package();
    let dist = package.path().join("dist");
    write(&dist, "package.json", r#"{"name":"say-hello","version":"1.2.3"}"#);
    let tree = DirTree::open(&dist).unwrap();
    assert_eq!(prepack(&tree, &TreePath::root(), &npm_pack(&dist), ".").diagnostics, []);
}

#[test]
fn what_npm_would_leave_out_is_named() {
    let package = package();
    write(
        package.path(),
        "package.json",
        r#"{"name":"say-hello","version":"1.2.3","files":["dist","!dist/skills"]}"#,
    );
    assert_eq!(shown(&found(package.path())), [("AB7010", "dist/skills/greet/SKILL.md")]);
    write(
        package.path(),
        "package.json",
        r#"{"name":"say-hello","version":"1.2.3","files":["lib"]}"#,
    );
    let found = found(package.path());
    assert_eq!(found.len(), SAY_HELLO.len());
    assert!(found.iter().all(|found| found.code == "AB7010"), "{found:?}");
    assert_eq!(found[0].path.as_deref(), Some("dist/agent-bundle.manifest.json"));
}

#[test]
fn a_file_that_changed_after_the_build_is_named() {
    let package = package();
    write(package.path(), "dist/INSTALL.md", "# Install say-HELLO\n");
    let changed = found(package.path());
    assert_eq!(shown(&changed), [("AB7011", "dist/INSTALL.md")]);
    write(package.path(), "dist/INSTALL.md", "# Install say-hello\n");
    let file = package.path().join("dist/INSTALL.md");
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
    assert_eq!(shown(&found(package.path())), [("AB7011", "dist/INSTALL.md")]);
    std::fs::remove_file(&file).unwrap();
    let gone = found(package.path());
    let expected = [("AB7010", "dist/INSTALL.md"), ("AB7011", "dist/INSTALL.md")];
    assert_eq!(shown(&gone), expected);
}

#[test]
fn versions_that_disagree_are_named_where_they_stand() {
    let package = package();
    write(
        package.path(),
        "package.json",
        r#"{"name":"say-hello","version":"1.2.4","files":["dist"]}"#,
    );
    let found = found(package.path());
    assert_eq!(shown(&found), [("AB7013", "package.json")], "once");
    assert!(found[0].message.contains("`1.2.4`") && found[0].message.contains("`1.2.3`"));
    // A list of another version is a second fact.
    let list = String::from_utf8(npm_pack(package.path())).unwrap().replace("1.2.4", "1.2.5");
    let found = check(package.path(), list.as_bytes()).diagnostics;
    assert_eq!(shown(&found), [("AB7013", "package.json"); 2]);
    assert!(found[1].message.contains("npm would pack is `1.2.5`"), "{}", found[1].message);
}

#[test]
fn a_plugin_document_of_another_version_is_named() {
    let package = package();
    let path = "dist/.claude-plugin/plugin.json";
    let text = std::fs::read_to_string(package.path().join(path)).unwrap();
    write(package.path(), path, text.replace("1.2.3", "1.2.2"));
    assert_eq!(shown(&found(package.path())), [("AB7011", path), ("AB7013", path)]);
}

#[test]
fn every_shape_of_the_list_is_read_and_others_are_refused() {
    let entry = |name: &str| {
        format!(
            r#"{{"name":"{name}","version":"1.0.0","files":[{{"path":"./a"}},{{"path":"b/c"}}]}}"#
        )
    };
    let (one, other) = (entry("@s/one"), entry("other"));
    for text in [
        format!("[{one}]"),
        format!("[{other},{one}]"),
        one.clone(),
        format!(r#"{{"@s/one":{one}}}"#),
        format!(r#"{{"other":{other},"@s/one":{one}}}"#),
    ] {
        let list = PackList::parse(text.as_bytes(), "@s/one").expect(&text);
        assert!(list.has("a") && list.has("b/c") && !list.has("./a") && !list.has("b"));
    }
    let parse = |text: &str| PackList::parse(text.as_bytes(), "@s/one").expect_err(text);
    assert!(matches!(parse("> say-hello@1.0.0 prepack\n[]"), PackListError::Json(_)));
    for text in ["1", "[1]", "[{}]", r#"{"a":1}"#, r#"[{"name":"a","version":"1","files":[1]}]"#] {
        assert_eq!(parse(text), PackListError::Shape, "{text}");
    }
    for (text, count) in
        [("[]".to_owned(), 0), (format!("[{other}]"), 0), (format!("[{one},{one}]"), 2)]
    {
        let error = parse(&text);
        assert!(matches!(error, PackListError::Entry { count: c, .. } if c == count), "{error}");
    }
}

#[test]
fn what_cannot_be_checked_says_why() {
    let package = package();
    let list = npm_pack(package.path());
    let checked = check(package.path(), b"nothing");
    assert_eq!(shown(&checked.diagnostics), [("HD0452", "")]);
    assert!(checked.manifest.is_some() && checked.list.is_none());
    write(package.path(), "package.json", r#"{"version":"1.2.3"}"#);
    assert_eq!(shown(&check(package.path(), &list).diagnostics), [("HD0452", "package.json")]);
    std::fs::remove_file(package.path().join("package.json")).unwrap();
    assert_eq!(shown(&check(package.path(), &list).diagnostics), [("HD0452", "package.json")]);
    std::fs::remove_file(package.path().join("dist/agent-bundle.manifest.json")).unwrap();
    let missing = check(package.path(), &list).diagnostics;
    assert_eq!(shown(&missing), [("AB6000", "dist/agent-bundle.manifest.json")]);
}
