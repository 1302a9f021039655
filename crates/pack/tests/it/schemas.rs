//! The JSON Schemas agree with the parsers.

use std::io::Write as _;
use std::process::{Command, Stdio};

use holdall_diagnostics::{Severity, SourceText};
use holdall_pack::{
    app_json_schema, check_app, check_pack, check_product, pack_json_schema, product_json_schema,
};
use holdall_skill::frontmatter::Document;
use holdall_skill::yaml;
use serde_json::{Value, json};

/// Mutations of a valid document: a place, and what stands there instead (nothing: removed).
fn mutants(valid: &Value) -> Vec<Value> {
    let others = [
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(""),
        json!("x"),
        json!("Not A Name"),
        json!([]),
        json!([1]),
        json!({}),
        json!({ "x": 1 }),
        json!("aip://64/x@1"),
    ];
    let mut all = vec![valid.clone()];
    for pointer in pointers(valid, "") {
        for other in &others {
            let mut mutant = valid.clone();
            if let Some(place) = mutant.pointer_mut(&pointer) {
                *place = other.clone();
            }
            all.push(mutant);
        }
        if let Some((above, key)) = pointer.rsplit_once('/') {
            let mut mutant = valid.clone();
            if let Some(Value::Object(object)) = mutant.pointer_mut(above) {
                object.remove(key);
                all.push(mutant);
            }
            let mut mutant = valid.clone();
            if let Some(Value::Object(object)) = mutant.pointer_mut(above) {
                object.insert("unheard-of".to_owned(), json!("x"));
                all.push(mutant);
            }
        }
    }
    all
}

fn pointers(value: &Value, base: &str) -> Vec<String> {
    let mut all = vec![base.to_owned()];
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                all.extend(pointers(value, &format!("{base}/{key}")));
            }
        }
        Value::Array(items) => {
            for (at, value) in items.iter().enumerate() {
                all.extend(pointers(value, &format!("{base}/{at}")));
            }
        }
        _ => {}
    }
    all
}

/// JSON is YAML.
fn document(value: &Value) -> SourceText {
    SourceText::new(format!("---\n{value}\n---\n"))
}

fn takes(
    check: impl Fn(&SourceText) -> Vec<holdall_diagnostics::Diagnostic>,
    value: &Value,
) -> bool {
    let source = document(value);
    check(&source).iter().all(|found| found.severity != Severity::Error)
}

type Check = fn(&SourceText) -> Vec<holdall_diagnostics::Diagnostic>;

fn kinds() -> [(&'static str, Value, Check, Value); 3] {
    let pack = json!({
        "schema": "pack/v1", "name": "the-pack", "title": "T", "description": "D",
        "version": "1.0.0",
        "plugin": { "inline": true, "includes": ["@agentproto/skill-pack-x"] },
        "apps": [{ "id": "a", "path": "apps/a" }],
        "knowledge": { "workspace": "w", "anyOf": ["t"], "allOf": ["t"], "kinds": ["k"] },
        "playbook": { "title": "P", "root": "r", "targetChapters": 3 },
        "pricing": { "ebook": 1.5, "bundle": 29, "step": 0 },
        "blockers": ["b"],
    });
    let app = json!({
        "schema": "app/v1", "id": "@o/a", "name": "n", "description": "d", "version": "1",
        "agents": [{ "id": "a", "path": "p" }], "workflows": [{ "id": "w", "path": "p" }],
        "workspace": "w", "requires": ["r"],
        "ui": { "path": "p", "title": "t", "description": "d", "port": 80,
                "csp": { "connectDomains": ["x"], "resourceDomains": ["y"] } },
        "artifact": { "path": "p" }, "skill": { "path": "p" },
        "artifacts": [{ "type": "t", "description": "d" }],
        "dev": { "launch": ["x"] }, "data": { "dir": "d" }, "externalReadRoots": ["/x"],
        "category": "c",
    });
    let product = json!({
        "schema": "product/v1", "id": "one", "kind": "pricing",
        "on": { "aip": 64, "id": "x", "version": "1.0.0" },
        "price": { "model": "pay-per-call", "unitPriceMinor": 5, "currency": "usd", "meter": "m" },
        "billingRail": { "rail": "stripe", "meterId": "m" },
        "title": "t", "description": "d", "metadata": { "x": 1 },
    });
    [
        ("pack", pack_json_schema(), |source| check_pack(source, None).diagnostics, pack),
        ("app", app_json_schema(), |source| check_app(source).diagnostics, app),
        (
            "product",
            product_json_schema(),
            |source| check_product(source, None).diagnostics,
            product,
        ),
    ]
}

#[test]
fn parser_and_schema_take_the_same_documents() {
    for (name, schema, check, valid) in kinds() {
        jsonschema::meta::validate(&schema).expect("a valid schema");
        let validator = jsonschema::validator_for(&schema).expect("a schema");
        let all = mutants(&valid);
        assert!(validator.is_valid(&valid), "{name}");
        for mutant in all {
            let by_schema = validator.is_valid(&mutant);
            assert_eq!(takes(check, &mutant), by_schema, "{name}: {mutant}");
        }
    }
}

#[test]
fn the_documents_of_the_repository_agree_too() {
    // What YAML makes of a document is judged by the schema as the parser judges the text, except
    // for texts that other parsers read as another type.
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut todo = vec![root.join("examples"), root.join("tests/data")];
    let kinds = kinds();
    // Ids given twice are beyond a schema.
    let unseen = ["PK0413", "PK0505"];
    let mut counts = [[0; 2]; 3];
    while let Some(directory) = todo.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                todo.push(path);
                continue;
            }
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let kind = match name {
                "PACK.md" => 0,
                "APP.md" => 1,
                _ if path.parent().is_some_and(|above| above.ends_with("products")) => 2,
                _ => continue,
            };
            let source = SourceText::new(std::fs::read(&path).unwrap());
            let (_, schema, check, _) = &kinds[kind];
            let codes: Vec<_> = check(&source)
                .into_iter()
                .filter(|found| found.severity == Severity::Error)
                .map(|found| found.code)
                .collect();
            // What is wrong with the text itself never gets to a schema.
            if codes.iter().any(|code| code.starts_with("PK01")) {
                continue;
            }
            let parsed = yaml::parse(&Document::split(&source).expect("frontmatter"));
            let value = parsed.root.expect("a mapping").to_json();
            let wrong = codes.iter().any(|code| !unseen.contains(code));
            assert_eq!(
                jsonschema::is_valid(schema, &value),
                !wrong,
                "{}: {codes:?}",
                path.display(),
            );
            counts[kind][usize::from(wrong)] += 1;
        }
    }
    assert!(counts.as_flattened().iter().all(|count| *count >= 4), "{counts:?}");
}

#[test]
#[ignore = "needs ajv: HOLDALL_AJV is the path of its module"]
fn ajv_says_the_same() {
    let ajv = std::env::var("HOLDALL_AJV")
        .expect("HOLDALL_AJV is not set: npm install ajv@8, and give the path of node_modules/ajv");
    let script = "
        const Ajv = require(process.argv[1] + '/dist/2020.js').default;
        const { schema, documents } = JSON.parse(require('fs').readFileSync(0, 'utf8'));
        const validate = new Ajv({ strict: false }).compile(schema);
        console.log(JSON.stringify(documents.map(each => validate(each))));";
    for (name, schema, check, valid) in kinds() {
        let documents = mutants(&valid);
        let mut child = Command::new("node")
            .args(["-e", script, &ajv])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("node runs");
        let input = json!({ "schema": schema, "documents": documents }).to_string();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let out = child.wait_with_output().unwrap();
        assert!(out.status.success());
        let answers: Vec<bool> = serde_json::from_slice(&out.stdout).unwrap();
        for (document, answer) in documents.iter().zip(answers) {
            assert_eq!(takes(check, document), answer, "{name}: {document}");
        }
    }
}
