//! Paths: what is accepted is normalised, and a normalised path is accepted as it is.
#![no_main]

use holdall_tree::TreePath;

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(path) = TreePath::normalise(text) {
        let again = TreePath::new(path.as_str()).expect("a normalised path is a path");
        assert_eq!(again, path);
        assert!(path.components().all(|part| !matches!(part, "" | "." | "..")));
        let joined = path
            .components()
            .fold(TreePath::root(), |at, part| at.child(part).expect("a component is a name"));
        assert_eq!(joined, path);
    }
});
