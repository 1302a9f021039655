use holdall_diagnostics::{Diagnostic, Summary};
use serde_json::json;

use crate::{LONG, NOTE, colon};

#[test]
fn is_the_shape_of_every_answer() {
    assert_eq!(
        serde_json::to_value(colon()).unwrap(),
        json!({
            "code": "PK0104",
            "severity": "error",
            "message": "`: ` in a plain value",
            "path": "skills/triage/SKILL.md",
            "span": {
                "start": { "line": 3, "column": 15, "offset": 31 },
                "end": { "line": 3, "column": 17, "offset": 33 },
            },
            "help": "put the value in double quotes",
        })
    );
}

#[test]
fn leaves_out_what_is_not_there_and_escapes_nothing() {
    let one = Diagnostic::new(&LONG, "too\u{202e} long\u{1b}[31m").target("claude");
    assert_eq!(
        serde_json::to_value(one).unwrap(),
        json!({
            "code": "PK0210",
            "severity": "warning",
            "message": "too\u{202e} long\u{1b}[31m",
            "target": "claude",
        })
    );
}

#[test]
fn counts_by_severity() {
    let all = [colon(), colon(), Diagnostic::new(&LONG, "x"), Diagnostic::new(&NOTE, "y")];
    assert_eq!(
        serde_json::to_value(Summary::of(&all)).unwrap(),
        json!({ "errors": 2, "warnings": 1, "infos": 1 })
    );
}
