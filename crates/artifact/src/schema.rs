//! The JSON Schema of the artifact manifest, made from the tables of the parser (1.16).
//!
//! A schema cannot say everything: canonical bytes, array order, what one section says of
//! another, digests, the Node.js floor. So every document that the parser takes satisfies the
//! schema, and one that satisfies it and is refused all the same is refused for one of those
//! reasons. The tests hold the two against each other.

use std::collections::BTreeMap;

use crate::ARTIFACT_MANIFEST_NAME;
use crate::fields::Json;
use crate::json::{Object, Value};
use crate::model::ManifestBody;
use crate::shape::{Condition, Shape, Table};

/// The JSON Schema (draft 2020-12) of `agent-bundle.manifest.json`, closed at every level.
pub fn artifact_manifest_schema() -> Value {
    let mut schemas = Schemas::default();
    let root = match ManifestBody::shape() {
        Shape::Record(table) => schemas.record(&table()),
        other => schemas.shape(&other),
    };
    let Value::Object(mut root) = root else { return root };
    root.insert("$schema", "https://json-schema.org/draft/2020-12/schema");
    root.insert("title", ARTIFACT_MANIFEST_NAME);
    root.insert("if", package_name_present());
    root.insert("then", channels(&["local", "npm"]));
    root.insert("else", channels(&["local"]));
    let projection = schemas.definitions.get_mut("Projection").and_then(Value::as_object_mut);
    if let Some(projection) = projection {
        projection.insert("dependentSchemas", marketplace_needs_document());
    }
    let definitions = schemas.definitions.into_iter().collect::<Object>();
    root.insert("$defs", definitions);
    Value::Object(root)
}

/// R18, which a schema can state.
fn package_name_present() -> Object {
    let project = Object::new().with("required", vec!["packageName"]);
    at("compiler", at("project", project))
}

fn channels(words: &[&str]) -> Object {
    let words: Vec<Value> = words.iter().map(|&word| word.into()).collect();
    at("distribution", at("channels", Object::new().with("const", Value::Array(words))))
}

/// R24, which a schema can state.
fn marketplace_needs_document() -> Object {
    let document = Object::new().with("required", vec!["marketplace"]);
    Object::new().with("marketplace", at("documents", document))
}

/// A schema for one property.
fn at(key: &str, schema: impl Into<Value>) -> Object {
    Object::new().with("properties", Object::new().with(key, schema.into()))
}

#[derive(Default)]
struct Schemas {
    definitions: BTreeMap<Box<str>, Value>,
}

impl Schemas {
    fn reference(&mut self, name: &str, schema: impl FnOnce(&mut Self) -> Value) -> Value {
        if !self.definitions.contains_key(name) {
            // Taken first, so that no record could define itself for ever.
            self.definitions.insert(name.into(), Value::Null);
            let schema = schema(self);
            self.definitions.insert(name.into(), schema);
        }
        Object::new().with("$ref", format!("#/$defs/{name}")).into()
    }

    fn shape(&mut self, shape: &Shape) -> Value {
        let typed = |name: &str| Object::new().with("type", name);
        match shape {
            Shape::Text { empty: true } => typed("string").into(),
            Shape::Text { empty: false } => {
                self.reference("Text", |_| typed("string").with("minLength", 1).into())
            }
            Shape::Sha256 => self.reference("Sha256", |_| pattern("^[0-9a-f]{64}$").into()),
            Shape::Boolean => typed("boolean").into(),
            Shape::True => Object::new().with("const", true).into(),
            Shape::False => Object::new().with("const", false).into(),
            Shape::Integer { min, max } if min == max => {
                Object::new().with("const", number(*min)).into()
            }
            Shape::Integer { min, max } => {
                typed("integer").with("minimum", number(*min)).with("maximum", number(*max)).into()
            }
            Shape::Words([word]) => Object::new().with("const", *word).into(),
            Shape::Words(words) => Object::new().with("enum", words.to_vec()).into(),
            Shape::Pattern { pattern: text, max, not } => {
                let mut schema = pattern(text);
                if let Some(max) = max {
                    schema.insert("maxLength", number(*max as u64));
                }
                if let Some(not) = not {
                    schema.insert("not", Object::new().with("pattern", *not));
                }
                schema.into()
            }
            Shape::Path => self.reference("Path", |_| pattern(&path_pattern(true)).into()),
            Shape::PathSegment => {
                self.reference("PathSegment", |_| pattern(&path_pattern(false)).into())
            }
            Shape::PathNotManifest => self.reference("PathNotManifest", |schemas| {
                let not = Object::new().with("const", ARTIFACT_MANIFEST_NAME);
                let path = schemas.shape(&Shape::Path);
                Object::new().with("allOf", vec![path]).with("not", not).into()
            }),
            Shape::OwnedPath => self.reference("OwnedPath", |schemas| {
                let path = schemas.shape(&Shape::Path);
                Object::new()
                    .with("allOf", vec![path])
                    .with("not", Object::new().with("pattern", NOT_OWNED))
                    .into()
            }),
            Shape::List { item, min, unique } => {
                let mut schema = typed("array").with("items", self.shape(item));
                if *min > 0 {
                    schema.insert("minItems", number(*min as u64));
                }
                if *unique {
                    schema.insert("uniqueItems", true);
                }
                schema.into()
            }
            Shape::Arrays(arrays) => {
                let arrays: Vec<Value> = arrays.iter().map(|words| words.to_vec().into()).collect();
                Object::new().with("enum", Value::Array(arrays)).into()
            }
            Shape::Map { values, min, proto } => {
                let mut schema = typed("object").with("additionalProperties", self.shape(values));
                if *min > 0 {
                    schema.insert("minProperties", number(*min as u64));
                }
                if !proto {
                    let name = Object::new().with("const", "__proto__");
                    schema.insert("propertyNames", Object::new().with("not", name));
                }
                schema.into()
            }
            Shape::AnyObject => typed("object").into(),
            Shape::Scalar => self.reference("Scalar", |_| {
                Object::new().with("type", vec!["boolean", "number", "string"]).into()
            }),
            Shape::Literal => self.reference("Literal", |schemas| {
                let scalar = schemas.shape(&Shape::Scalar);
                let array = typed("array").with("items", scalar.clone());
                Object::new().with("anyOf", vec![scalar, array.into()]).into()
            }),
            Shape::Record(table) => {
                let table = table();
                self.reference(table.name, |schemas| schemas.record(&table))
            }
        }
    }

    fn record(&mut self, table: &Table) -> Value {
        let mut properties = Object::new();
        for (field, shape) in table.fields.iter().zip(&table.shapes) {
            properties.insert(field.key, self.shape(shape));
        }
        let required: Vec<&str> =
            table.fields.iter().filter(|field| field.required).map(|field| field.key).collect();
        let mut schema = Object::new()
            .with("type", "object")
            .with("description", table.doc)
            .with("additionalProperties", false)
            .with("properties", properties);
        if !required.is_empty() {
            schema.insert("required", required);
        }
        let conditions: Vec<Value> = table.conditions.iter().map(condition).collect();
        if !conditions.is_empty() {
            schema.insert("allOf", Value::Array(conditions));
        }
        schema.into()
    }
}

fn condition(condition: &Condition) -> Value {
    let required = |key: &str| Object::new().with("required", vec![key]);
    let absent = |key: &str| Object::new().with("not", Object::new().with("required", vec![key]));
    let is = |by: &str, words: &[&str]| {
        at(by, Object::new().with("enum", words.to_vec())).with("required", vec![by])
    };
    match condition {
        Condition::PresentIff { key, by, words } => Object::new()
            .with("if", is(by, words))
            .with("then", required(key))
            .with("else", absent(key)),
        Condition::AllowedIf { key, by, words } => {
            Object::new().with("if", required(key)).with("then", is(by, words))
        }
        Condition::SomeOf(keys) => {
            let each: Vec<Value> = keys.iter().map(|key| required(key).into()).collect();
            Object::new().with("anyOf", Value::Array(each))
        }
        Condition::OneOf(keys) => {
            let each: Vec<Value> = keys.iter().map(|key| required(key).into()).collect();
            Object::new().with("oneOf", Value::Array(each))
        }
        Condition::Excludes { key, falsy, absent: others } => {
            let others: Vec<Value> = others.iter().map(|other| absent(other).into()).collect();
            let then =
                at(falsy, Object::new().with("const", false)).with("allOf", Value::Array(others));
            Object::new().with("if", required(key)).with("then", then)
        }
    }
    .into()
}

fn pattern(text: &str) -> Object {
    Object::new().with("type", "string").with("pattern", text)
}

#[expect(clippy::cast_precision_loss, reason = "every bound is a safe integer")]
fn number(value: u64) -> Value {
    Value::Number(value as f64)
}

/// What `files[].path` may not be: the artifact manifest, and what the runtime or an installer
/// owns, in any letter case (3.4).
const NOT_OWNED: &str = "^(?:agent-bundle\\.manifest\\.json$|[sS][tT][aA][tT][eE](?:/|$)\
     |\\.[aA][gG][eE][nN][tT]-[bB][uU][nN][dD][lL][eE]-[iI][nN][sS][tT][aA][lL][lL]\
     \\.[jJ][sS][oO][nN](?:/|$))";

/// The path rule as one pattern. A segment that may not end in a dot can be neither `.` nor `..`.
fn path_pattern(many: bool) -> String {
    const DEVICE: &str = "(?:[cC][oO][nN]|[pP][rR][nN]|[aA][uU][xX]|[nN][uU][lL]\
         |[cC][oO][mM][0-9\u{b9}\u{b2}\u{b3}]|[lL][pP][tT][0-9\u{b9}\u{b2}\u{b3}])";
    const CHAR: &str = "[^/\\\\<>:\"|?*\\u0000-\\u001f]";
    const LAST: &str = "[^/\\\\<>:\"|?*\\u0000-\\u001f. ]";
    let segment = format!("(?!{DEVICE}(?:[./]|$)){CHAR}*{LAST}");
    if many {
        format!("^(?![A-Za-z]:)(?:{segment}/)*{segment}$")
    } else {
        format!("^(?![A-Za-z]:){segment}$")
    }
}
