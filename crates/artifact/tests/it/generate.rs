//! A generator of valid artifact manifests that use every part of the format.

use holdall_artifact::json::{Object, Value};
use holdall_artifact::{Sha256, collate, parse_artifact_manifest};
use proptest::prelude::*;

/// What varies between generated documents.
#[derive(Debug, Clone)]
pub(crate) struct Spec {
    pub(crate) text: String,
    pub(crate) word: String,
    pub(crate) files: Vec<(String, bool)>,
    pub(crate) second_host: bool,
    pub(crate) npm: bool,
    pub(crate) number: f64,
    pub(crate) nested: Value,
}

/// A nested JSON value as `web.apps[].input` takes it.
fn nested() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number().prop_map(Value::Number),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::vec((".{0,6}", inner), 0..4).prop_map(|members| {
                members
                    .into_iter()
                    .map(|(key, value)| (key.into(), value))
                    .collect::<Object>()
                    .into()
            }),
        ]
    })
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<i32>().prop_map(f64::from),
        any::<f64>().prop_filter("finite", |value| value.is_finite()),
    ]
    // The canonical form has one zero.
    .prop_map(|value| if value == 0.0 { 0.0 } else { value })
}

pub(crate) fn spec() -> impl Strategy<Value = Spec> {
    let file = ("[a-zA-Z0-9_ -][a-zA-Z0-9é中_.+ -]{0,10}[a-zA-Z0-9]", any::<bool>());
    (
        ".{1,12}",
        "[a-z][a-z0-9-]{0,7}[a-z0-9]",
        prop::collection::vec(file, 0..12),
        any::<bool>(),
        any::<bool>(),
        number(),
        nested(),
    )
        .prop_map(|(text, word, files, second_host, npm, number, nested)| Spec {
            text,
            word,
            files,
            second_host,
            npm,
            number,
            nested,
        })
}

/// A fixed document, for tests that need just one.
pub(crate) fn sample() -> Value {
    document(&Spec {
        text: "What it does.".to_owned(),
        word: "hauler".to_owned(),
        files: vec![("notes".to_owned(), false), ("run me".to_owned(), true)],
        second_host: true,
        npm: true,
        number: 0.5,
        nested: Value::Null,
    })
}

/// Builds an object.
macro_rules! object {
    ($($key:literal : $value:expr),* $(,)?) => {
        holdall_artifact::json::Value::from(
            holdall_artifact::json::Object::new()
                $(.with($key, holdall_artifact::json::Value::from($value)))*
        )
    };
}
pub(crate) use object;

fn sorted(mut rows: Vec<Value>, key: &str) -> Value {
    let by = |row: &Value| match row {
        Value::String(text) => text.to_string(),
        row => row.as_object().unwrap().get(key).unwrap().as_str().unwrap().to_owned(),
    };
    rows.sort_by(|a, b| collate(&by(a), &by(b)));
    rows.dedup_by(|a, b| collate(&by(a), &by(b)).is_eq());
    Value::Array(rows)
}

fn words(list: &[&str]) -> Value {
    Value::Array(list.iter().map(|&word| Value::from(word)).collect())
}

fn hash(seed: &str) -> String {
    Sha256::of(seed.as_bytes()).to_string()
}

fn conventional() -> Value {
    object! { "kind": "conventional" }
}

fn input_schema(spec: &Spec) -> Value {
    object! {
        "additionalProperties": false,
        "properties": object! {
            "": object! { "type": "boolean" },
            "level": object! { "default": spec.number, "type": "number" },
            "mode": object! { "enum": words(&["b", "a"]), "type": "string", "description": &*spec.text },
            "tags": object! {
                "default": Value::Array(vec![Value::from("x"), Value::from(true)]),
                "items": object! { "enum": Value::Array(vec![]), "type": "string" },
                "type": "array"
            },
        },
        "required": words(&["mode", "mode"]),
        "type": "object"
    }
}

/// The document of a spec.
pub(crate) fn document(spec: &Spec) -> Value {
    let hosts: &[&str] = if spec.second_host { &["claude", "codex"] } else { &["claude"] };
    let server = format!("mcp:{}", spec.word);
    let tool = format!("tool:{}/status", spec.word);
    let contract = "contract:src/input.ts#Input";
    let file = |path: &str, kind: &str, mode: Option<u32>| {
        let mut row = Object::new()
            .with("bytes", path.len() as u32)
            .with("kind", kind)
            .with("path", path)
            .with("sha256", hash(path));
        if let Some(mode) = mode {
            row.insert("mode", mode);
        }
        Value::from(row)
    };
    let mut files = vec![
        file(".claude-plugin/marketplace.json", "generated", None),
        file(".claude-plugin/plugin.json", "generated", None),
        file(".mcp.json", "generated", None),
        file("INSTALL.md", "generated", None),
        file("bin/tool.mjs", "bundle", Some(0o755)),
        file("bin/tool-flight.mjs", "bundle", None),
        file("config/hauler.json", "copy", None),
        file("hooks/hooks.json", "generated", None),
        file("hooks/after.mjs", "bundle", None),
        file("install.mjs", "generated", None),
        file("mcp-apps/board.html", "bundle", None),
        file("mcp/server.mjs", "bundle", None),
        file("mcp/server-flight.mjs", "bundle", None),
        file("native/bin/serve", "prebuilt", Some(0o755)),
        file("scripts/report.mjs", "bundle", None),
    ];
    for (name, executable) in &spec.files {
        files.push(file(&format!("extra/{name}"), "copy", executable.then_some(0o750)));
    }
    let files = sorted(files, "path");
    let provenance: Vec<Value> = files
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            let path = row.as_object().unwrap().get("path").unwrap().clone();
            object! { "path": path, "sourceInputs": words(&["agent-bundle.config.ts"]) }
        })
        .collect();
    let inputs = sorted(
        vec![
            object! { "path": "agent-bundle.config.ts", "sha256": hash("config"), "executable": false },
            object! { "path": "package.json", "sha256": hash("package") },
            object! { "path": format!("src/{}.ts", spec.word), "sha256": hash("src") },
        ],
        "path",
    );
    let mut project = Object::new()
        .with("configDigest", hash("config"))
        .with("configPath", "agent-bundle.config.ts")
        .with("modelDigest", hash("model"))
        .with("packageVersion", "1.2.3-rc.1+build.5")
        .with("revision", revision(&inputs))
        .with("sourceInputs", inputs);
    if spec.npm {
        project.insert("packageName", format!("@scope/{}", spec.word));
    }
    let per_host = |row: fn(&str) -> Value| hosts.iter().map(|host| row(host)).collect::<Vec<_>>();
    let mut claude = Object::new()
        .with("builtInHost", "claude")
        .with(
            "documents",
            object! {
                "hooks": "hooks/hooks.json",
                "marketplace": ".claude-plugin/marketplace.json",
                "mcp": ".mcp.json",
                "plugin": ".claude-plugin/plugin.json",
            },
        )
        .with("host", "claude");
    claude.insert("marketplace", object! { "name": format!("{}-marketplace", spec.word) });
    let mut projections = vec![Value::from(claude)];
    if spec.second_host {
        projections.push(object! { "documents": object! {}, "host": "codex" });
    }
    let tool_route = object! {
        "contract": contract,
        "id": &*tool,
        "inputSchema": input_schema(spec),
        "kind": "tool",
        "provenance": conventional(),
        "serverId": &*server,
        "source": "src/mcp/status.tsx",
    };
    object! {
        "application": object! {
            "description": &*spec.text,
            "id": format!("plugin:{}", spec.word),
            "name": &*spec.word,
            "version": "1.4.2",
        },
        "compiler": object! {
            "adapters": per_host(|host| object! {
                "adapterRevision": "1.28.0",
                "host": host,
                "observedVersion": "2.1.260",
                "schemas": vec![object! { "name": "plugin", "revision": "1", "sha256": hash("schema") }],
            }),
            "agentSkills": object! {
                "schemaSha256": hash("skills"), "sourceRevision": "r", "specification": "s"
            },
            "producer": object! { "name": "agent-bundle", "version": "0.9.0" },
            "project": project,
            "provenance": provenance,
            "recordVersion": 1,
            "validation": object! {
                "artifact": object! { "status": "passed" },
                "projections": per_host(|host| object! { "host": host, "status": "passed" }),
                "source": object! { "status": "passed" },
            },
        },
        "distribution": object! {
            "channels": if spec.npm { words(&["local", "npm"]) } else { words(&["local"]) },
            "install": object! { "instructions": "INSTALL.md", "script": "install.mjs" },
            "payloads": vec![object! {
                "hosts": words(&["claude"]),
                "name": "native",
                "runtimeDependencies": words(&["left-pad", "right-pad"]),
            }],
        },
        "executables": object! {
            "bins": vec![object! {
                "hosts": words(hosts), "name": &*spec.word, "path": "bin/tool.mjs",
                "worker": "bin/tool-flight.mjs",
            }],
            "hooks": vec![
                object! {
                    "event": "afterTool", "host": "claude", "id": "hook:a", "kind": "event-route",
                    "name": "after", "path": "hooks/after.mjs", "routeId": "event:tool/after",
                    "timeout": 5,
                },
                object! {
                    "event": "stop", "host": "claude", "id": "hook:b", "kind": "config",
                    "name": "stop", "path": "hooks/after.mjs",
                },
            ],
            "mcpServers": vec![
                object! {
                    "apps": vec![object! {
                        "id": "mcp-app:h:board", "name": "board", "path": "mcp-apps/board.html",
                        "resourceUri": "ui://h/board",
                    }],
                    "hosts": words(hosts),
                    "id": &*server,
                    "kind": "compiled",
                    "launch": object! {
                        "args": vec![
                            object! { "kind": "literal", "value": "" },
                            object! { "kind": "artifact", "path": "config/hauler.json" },
                            object! { "kind": "artifact", "path": "native/bin" },
                        ],
                        "entry": "mcp/server.mjs",
                        "env": object! { "EMPTY": "", "TEXT": &*spec.text },
                        "worker": "mcp/server-flight.mjs",
                    },
                    "name": &*spec.word,
                    "transport": "stdio",
                },
                object! {
                    "apps": vec![object! {
                        "id": "mcp-app:n:view", "name": "view", "prebuilt": true,
                        "resourceUri": "ui://n/view",
                    }],
                    "hosts": words(&["claude"]),
                    "id": "zz:native",
                    "kind": "prebuilt",
                    "launch": object! { "args": Value::Array(vec![]), "entry": "native/bin/serve", "env": object! {} },
                    "name": "Native",
                    "transport": "stdio",
                },
                object! {
                    "apps": Value::Array(vec![]), "hosts": words(&["claude"]), "id": "zz:remote",
                    "kind": "remote", "name": "Remote", "transport": "streamable-http",
                },
            ],
            "scripts": vec![object! {
                "hosts": words(hosts), "id": "script:report", "mode": "bundle", "name": "report",
                "path": "scripts/report.mjs", "rendered": object! { "routeId": "script:report" },
            }],
        },
        "files": files,
        "manifestVersion": 6,
        "projections": projections,
        "routes": object! {
            "cli": object! {
                "commands": vec![
                    object! {
                        "aliases": words(&["s", "st"]),
                        "exitCode": "result",
                        "mcp": object! { "confirm": false, "server": &*spec.word, "tool": "status" },
                        "options": vec![object! {
                            "aliases": words(&["--lvl"]), "choices": words(&["b", "a"]), "key": "level",
                            "kind": "number", "option": "--level", "positional": 0, "repeated": false,
                            "required": true,
                        }],
                        "path": words(&["a", "status"]),
                        "projection": object! {
                            "defaults": object! { "level": spec.number, "__proto__": "kept" },
                            "mapInput": true, "module": "src/mcp/status.cli.ts",
                            "relaxed": words(&["mode"]),
                        },
                        "routeId": &*tool,
                    },
                    object! {
                        "aliases": Value::Array(vec![]), "exitCode": "zero", "input": "json",
                        "options": Value::Array(vec![]), "path": words(&["run"]),
                        "projection": object! {
                            "input": "json", "mapInput": false, "module": "src/run.cli.ts"
                        },
                        "routeId": "cli:run",
                    },
                ],
                "mode": "generated",
                "routes": vec![
                    object! {
                        "id": "cli:run", "kind": "cli", "provenance": conventional(),
                        "source": "src/cli/run.tsx",
                    },
                    tool_route.clone(),
                ],
            },
            "contracts": vec![object! {
                "id": contract,
                "input": input_schema(spec),
                "origin": object! { "binding": "Input", "module": "src/input.ts" },
                "routes": vec![Value::from(&*tool)],
            }],
            "digest": hash("graph"),
            "events": vec![object! {
                "event": "tool/after",
                "execution": object! {
                    "fallback": "none", "handler": "src/events/after.ts", "runtime": "shared"
                },
                "id": "event:tool/after",
                "kind": "event-route",
                "provenance": conventional(),
                "source": "src/events/after.ts",
            }],
            "layouts": vec![
                object! { "id": "layout:mcp", "scope": "server", "serverId": &*server, "source": "src/l.tsx" },
                object! { "id": "layout:root", "scope": "root", "source": "src/layout.tsx" },
            ],
            "providers": vec![object! { "id": "provider:db", "name": "db", "source": "src/db.ts" }],
            "scripts": vec![object! {
                "description": &*spec.text, "id": "script:report", "kind": "script",
                "provenance": conventional(), "source": "src/report.tsx",
            }],
            "servers": vec![object! {
                "id": &*server, "mode": "generated", "name": &*spec.word, "routes": vec![tool_route],
            }],
        },
        "runtime": object! { "node": "22.12.0" },
        "web": object! {
            "apps": vec![object! {
                "allow": words(&["open-external-link", "call-tool", "call-tool"]),
                "app": format!("{}/board", spec.word),
                "input": object! { "nested": spec.nested.clone(), "__proto__": Value::Null },
                "name": "board",
                "resourceUri": "ui://h/board",
                "server": &*spec.word,
                "tool": "status",
            }],
            "open": "never",
        },
    }
}

/// The digest of inputs by the recipe of the format, computed from a value.
pub(crate) fn revision(inputs: &Value) -> String {
    let mut text = Vec::new();
    object! { "inputs": inputs.clone() }.write(&mut text);
    Sha256::of(&text).to_string()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_generated_document_is_valid_and_keeps_its_bytes(spec in spec()) {
        let bytes = document(&spec).to_canonical_bytes();
        let manifest = parse_artifact_manifest(&bytes).map_err(|fault| {
            TestCaseError::fail(format!("{fault} in {}", String::from_utf8_lossy(&bytes)))
        })?;
        prop_assert_eq!(manifest.to_canonical_bytes(), bytes);
        for row in manifest.files() {
            prop_assert_eq!(manifest.file(row.path()), Some(row));
        }
        prop_assert_eq!(manifest.files_under(&holdall_tree::TreePath::root()).count(), manifest.files().len());
    }
}
