//! `APP.md`: fields, cross rules, and the files it names (`pack-v1` 4.1, 4.2).

use holdall_diagnostics::SourceText;
use holdall_pack::{check_app, read_app, safe_id};
use holdall_tree::TreePath;
use proptest::prelude::*;

use crate::{errors, lines, tree};

const FULL: &str = "---
schema: app/v1
id: '@owner/panel'
name: Panel
description: Reviews.
agents:
  - id: '@owner/lead'
    path: .agentproto/agents/lead
workflows:
  - id: review
    path: .agentproto/workflows/review/WORKFLOW.md
workspace: panel
requires: ['@owner/base']
ui:
  path: .agentproto/ui/index.html
  port: 3000
  csp:
    connectDomains: [https://example.org]
skill:
  path: .agentproto/skill/SKILL.md
artifacts:
  - type: report
dev:
  launch: [npm run dev]
data:
  dir: ./data
externalReadRoots: [/usr/share/dict]
category: review
library: whatever
---
# Panel
";

const FILES: [(&str, &str); 6] = [
    (".agentproto/APP.md", FULL),
    (".agentproto/agents/lead/AGENT.md", "x"),
    (".agentproto/workflows/review/WORKFLOW.md", "x"),
    (".agentproto/ui/index.html", "x"),
    (".agentproto/skill/SKILL.md", "x"),
    ("WORKSPACE.md", "x"),
];

#[test]
fn every_field_is_read() {
    let checked = read_app(&tree(&FILES), &TreePath::root());
    assert_eq!(lines(&checked.diagnostics), Vec::<String>::new());
    let app = checked.app.expect("an app");
    assert_eq!(app.id(), Some("@owner/panel"));
    assert_eq!(app.version(), "0.1.0", "the default");
    assert_eq!(app.agents()[0].id, "@owner/lead");
    assert_eq!(app.workflows()[0].path, ".agentproto/workflows/review/WORKFLOW.md");
    assert_eq!(app.requires(), ["@owner/base"]);
    assert_eq!(app.ui().expect("ui").path, ".agentproto/ui/index.html");
    assert_eq!(app.data_dir(), Some("./data"));
    assert_eq!(app.external_read_roots(), ["/usr/share/dict"]);
    assert_eq!(app.category(), Some("review"));
    assert!(!app.builds_ui());
    assert_eq!(app.to_json()["library"], "whatever", "keys of others are kept");
}

#[test]
fn faults_have_their_codes_and_places() {
    let check = |text: &str| lines(&check_app(&SourceText::new(text)).diagnostics);
    let with = |rest: &str| format!("---\nschema: app/v1\nid: one\n{rest}---\n");
    for (text, want) in [
        ("---\nid: one\n---\n".to_owned(), &["PK0501 :2", "PK0501 :2", "PK0501 :2"][..]),
        (with("agents: []\nworkflows: []\n"), &["PK0504 :4"]),
        (with("agents: no\nworkflows: []\n"), &["PK0502 :4"]),
        (with("agents:\n  - id: a\nworkflows: []\n"), &["PK0501 :5"]),
        (with("agents:\n  - {id: a, path: x}\n  - {id: a, path: y}\nworkflows: []\n"), &["PK0505 :6"]),
        (with("agents: []\nworkflows: []\nui: {}\n"), &["PK0501 :6"]),
        (with("agents: []\nworkflows: []\nui:\n  path: ''\n"), &["PK0503 :7"]),
        (with("agents: []\nworkflows: []\nui: {path: x}\ndev:\n  launch: []\n"), &["PK0503 :8"]),
        (with("agents: []\nworkflows: []\nui: {path: x}\nname:\n"), &["PK0502 :7"]),
        ("---\nschema: app/v2\nid: one\nagents: []\nworkflows: []\nui: {path: x}\n---\n".to_owned(), &["PK0503 :2"]),
        // The portable-scalar rule is an error here.
        ("---\nschema: app/v1\nid: one\nversion: 1.0\nagents: []\nworkflows: []\nui: {path: x}\n---\n".to_owned(), &["PK0113 :4"]),
    ] {
        let found = check(&text);
        let mut want: Vec<_> = want.iter().map(ToString::to_string).collect();
        if want == ["PK0113 :4"] {
            // The code is the one of portable scalars, whatever its number.
            want = vec![format!("{} :4", holdall_skill::codes::PORTABLE_SCALAR.id)];
        }
        assert_eq!(found, want, "{text}");
    }
    let unnamed = check_app(&SourceText::new(
        "---\nschema: app/v1\nagents: []\nworkflows: []\nui: {path: x}\n---\n",
    ));
    assert!(unnamed.app.is_some());
    assert_eq!(unnamed.diagnostics[0].code, "PK0508");
}

#[test]
fn files_are_there_and_stay_inside() {
    let without = |path: &str| {
        let rest: Vec<_> = FILES.iter().copied().filter(|(each, _)| *each != path).collect();
        lines(&read_app(&tree(&rest), &TreePath::root()).diagnostics)
    };
    assert_eq!(without(".agentproto/agents/lead/AGENT.md"), ["PK0506 .agentproto/APP.md:8"]);
    assert_eq!(
        without(".agentproto/workflows/review/WORKFLOW.md"),
        ["PK0506 .agentproto/APP.md:11"]
    );
    assert_eq!(without(".agentproto/ui/index.html"), ["PK0506 .agentproto/APP.md:15"]);
    assert_eq!(without("WORKSPACE.md"), ["PK0506 .agentproto/APP.md:12"]);
    assert_eq!(without(".agentproto/APP.md"), ["PK0509 ."]);
    for bad in ["../x", "/etc/passwd", "a/../../x", "C:\\x"] {
        let text = format!(
            "---\nschema: app/v1\nid: a\nagents: []\nworkflows: []\nui:\n  path: '{bad}'\n---\n"
        );
        let checked = read_app(&tree(&[("APP.md", &text)]), &TreePath::root());
        assert_eq!(errors(&checked.diagnostics), ["PK0507"], "{bad}");
        assert!(checked.app.is_none());
        let text = format!(
            "---\nschema: app/v1\nid: a\nagents: []\nworkflows: []\nui:\n  path: u\ndata:\n  dir: '{bad}'\n---\n"
        );
        let checked = read_app(&tree(&[("APP.md", &text), ("u", "x")]), &TreePath::root());
        assert_eq!(errors(&checked.diagnostics), ["PK0507"], "{bad}");
    }
    let mut linked = tree(&[
        (
            "app/APP.md",
            "---\nschema: app/v1\nid: a\nagents: []\nworkflows: []\nui:\n  path: u\n---\n",
        ),
        ("secret", "x"),
    ]);
    linked.add_symlink("app/u", "../secret").unwrap();
    let checked = read_app(&linked, &TreePath::new("app").unwrap());
    assert_eq!(errors(&checked.diagnostics), ["PK0507"]);
}

#[test]
fn ids_become_file_names() {
    for (id, name) in [
        ("@agentproto/job-application-kit", "agentproto-job-application-kit"),
        ("plain", "plain"),
        ("@@a//b c", "-a-b-c"),
        ("a.b_c-d", "a.b_c-d"),
        ("é", "-"),
    ] {
        assert_eq!(safe_id(id), name, "{id}");
    }
}

proptest! {
    #[test]
    fn nothing_panics(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        check_app(&SourceText::new(bytes.clone()));
        holdall_pack::check_pack(&SourceText::new(bytes.clone()), None);
        holdall_pack::check_product(&SourceText::new(bytes), None);
    }

    #[test]
    fn no_yaml_panics(text in "(schema|id|agents|workflows|ui|on|price|model)?: ?[\\[\\]{}a-z0-9\\-:'\"&*!|>% \n]{0,80}") {
        let text = format!("---\n{text}\n---\n");
        check_app(&SourceText::new(text.clone()));
        holdall_pack::check_pack(&SourceText::new(text.clone()), None);
        holdall_pack::check_product(&SourceText::new(text), None);
    }
}
