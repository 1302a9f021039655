//! A root of 3,000 files and 100 MB, with its artifact manifest.

use std::path::{Path, PathBuf};

use holdall_artifact::json::{Document, Object, Value};
use holdall_artifact::{ARTIFACT_MANIFEST_NAME, collate, parse_artifact_manifest};
use sha2::{Digest as _, Sha256};

const FILES: usize = 3000;
const SIZE: usize = 33_333;
const INPUTS: usize = 300;

fn hash(bytes: impl AsRef<[u8]>) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn object(members: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    let object =
        members.into_iter().fold(Object::new(), |object, (key, value)| object.with(key, value));
    Value::Object(object)
}

fn at<'v>(value: &'v mut Value, path: &str) -> &'v mut Value {
    path.split('.').fold(value, |value, key| {
        value.as_object_mut().and_then(|object| object.get_mut(key)).expect("a member")
    })
}

/// Fills `root` and gives the paths of its listed files in the order of the rows.
pub(crate) fn root(root: &Path) -> Vec<PathBuf> {
    let example =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/artifacts/say-hello");
    let text = std::fs::read(example.join(ARTIFACT_MANIFEST_NAME)).expect("the example");
    let document = Document::parse(&text).expect("JSON");
    let mut manifest = Value::from_node(document.root());

    let input = |number: usize| format!("src/modules/source-{number:03}.ts");
    let inputs: Vec<Value> = (0..INPUTS)
        .map(|number| {
            let path = input(number);
            let sha256 = hash(&path).into();
            object([("executable", false.into()), ("path", path.into()), ("sha256", sha256)])
        })
        .collect();
    *at(&mut manifest, "compiler.project.configPath") = input(0).into();
    *at(&mut manifest, "compiler.project.configDigest") = hash(input(0)).into();
    let inputs = Value::Array(inputs);
    let revision = object([("inputs", inputs.clone())]).to_canonical_bytes();
    let revision = revision.strip_suffix(b"\n").unwrap_or(&revision);
    *at(&mut manifest, "compiler.project.revision") = hash(revision).into();
    *at(&mut manifest, "compiler.project.sourceInputs") = inputs;

    let mut files: Vec<(String, Vec<u8>, &str)> = Vec::new();
    for path in [
        ".claude-plugin/marketplace.json",
        ".claude-plugin/plugin.json",
        "INSTALL.md",
        "skills/greet/SKILL.md",
    ] {
        let bytes = std::fs::read(example.join(path)).expect("the example");
        files.push((path.to_owned(), bytes, "generated"));
    }
    for number in files.len()..FILES {
        let path = format!("assets/Library-chunks-{:02}/module_{number:04}.js", number % 60);
        let bytes = (0..SIZE).map(|at| (at * 31 + number) as u8).collect();
        files.push((path, bytes, "copy"));
    }
    files.sort_by(|(a, ..), (b, ..)| collate(a, b));
    let mut paths = Vec::new();
    let (mut rows, mut provenance) = (Vec::new(), Vec::new());
    for (number, (path, bytes, kind)) in files.into_iter().enumerate() {
        let target = root.join(&path);
        std::fs::create_dir_all(target.parent().expect("a directory")).expect("made");
        std::fs::write(&target, &bytes).expect("written");
        paths.push(target);
        let sources = Value::Array(vec![input(number % INPUTS).into()]);
        provenance.push(object([("path", path.clone().into()), ("sourceInputs", sources)]));
        rows.push(object([
            ("bytes", u32::try_from(bytes.len()).expect("a small file").into()),
            ("kind", kind.into()),
            ("path", path.into()),
            ("sha256", hash(&bytes).into()),
        ]));
    }
    *at(&mut manifest, "files") = Value::Array(rows);
    *at(&mut manifest, "compiler.provenance") = Value::Array(provenance);
    let bytes = manifest.to_canonical_bytes();
    parse_artifact_manifest(&bytes).expect("a valid manifest");
    std::fs::write(root.join(ARTIFACT_MANIFEST_NAME), bytes).expect("written");
    paths
}
