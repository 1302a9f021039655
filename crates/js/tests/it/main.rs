//! What a module imports, through the public interface.

use holdall_js::{ImportKind, Language, imports};
use proptest::prelude::*;

fn found(text: &str, language: Language) -> Vec<(String, ImportKind, String)> {
    let found = imports(text, language).expect("JavaScript");
    found
        .into_iter()
        .map(|import| (import.request, import.kind, text[import.span].to_owned()))
        .collect()
}

#[test]
fn every_form_with_a_literal_is_found() {
    use ImportKind::{Dynamic, Export, Require, RequireResolve, Static};
    let text = r#"import fs, { readFile } from "node:fs";
import './side.mjs';
export * from "./all.mjs";
export { a } from "./named.mjs";
export const later = () => import(`./later.mjs`);
const lazy = async () => { await import("x" + y); };
function old() { return require("left-pad") ?? require.resolve('right-pad'); }
const text = 'import "not me" from "here"';
import.meta.resolve("./unseen.mjs");
"#;
    let found = found(text, Language::Module);
    let found: Vec<_> = found.iter().map(|(r, k, s)| (r.as_str(), *k, s.as_str())).collect();
    assert_eq!(
        found,
        [
            ("node:fs", Static, "\"node:fs\""),
            ("./side.mjs", Static, "'./side.mjs'"),
            ("./all.mjs", Export, "\"./all.mjs\""),
            ("./named.mjs", Export, "\"./named.mjs\""),
            ("./later.mjs", Dynamic, "`./later.mjs`"),
            ("left-pad", Require, "\"left-pad\""),
            ("right-pad", RequireResolve, "'right-pad'"),
        ]
    );
}

#[test]
fn an_executable_script_and_a_commonjs_file_are_read() {
    let text = "#!/usr/bin/env node\nimport 'node:os';\n";
    assert_eq!(found(text, Language::Module).len(), 1);
    let text = "'use strict';\nconst fs = require('fs');\nreturn;\n";
    assert_eq!(found(text, Language::CommonJs).len(), 1);
    assert_eq!(found("const fs = require('fs');", Language::Unknown).len(), 1);
}

#[test]
fn a_require_that_a_bundler_hands_to_its_modules_is_not_that_of_node() {
    let text = "const all = { a: function (require, module) { require('./b'); import('c'); },
        d: (module, require) => { require.resolve('./e'); return () => require('./f'); } };
        require('g');\n";
    let found = found(text, Language::CommonJs);
    let found: Vec<_> = found.iter().map(|(request, ..)| request.as_str()).collect();
    assert_eq!(found, ["c", "g"]);
}

#[test]
fn what_is_no_javascript_has_a_place() {
    let error = imports("const a = ;\n", Language::Module).expect_err("broken");
    assert_eq!(error.span, 10..11);
    assert!(!error.message.is_empty());
}

#[test]
fn a_text_that_nests_too_deeply_is_refused() {
    for piece in ["(", "a=>", "new ", "`${", "if(a)b;else "] {
        let error = imports(&piece.repeat(200_000), Language::Module).expect_err("too deep");
        assert_eq!(error.message, "the text nests too deeply to be read", "{piece}");
    }
    let long = "f(a, 'b');\n".repeat(200_000);
    assert_eq!(imports(&long, Language::Module).expect("flat"), []);
    let sum = format!("const a = 1{};", " + 1".repeat(20_000));
    assert_eq!(imports(&sum, Language::Module).expect("a long sum"), []);
}

#[test]
fn languages_follow_the_extension() {
    assert_eq!(Language::of("a/b.mjs"), Some(Language::Module));
    assert_eq!(Language::of("b.cjs"), Some(Language::CommonJs));
    assert_eq!(Language::of("b.js"), Some(Language::Unknown));
    assert_eq!(Language::of("b.ts"), None);
    assert_eq!(Language::of("js"), None);
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(text in "\\PC{0,60}") {
        let _ = imports(&text, Language::Module);
    }
}
