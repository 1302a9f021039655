//! The documents as JSON Schema 2020-12: the rules of the parsers that a schema can say, out of
//! the same constants. What differs is what a schema cannot see: text that YAML reads as another
//! type, and ids given twice.

use serde_json::{Value, json};

use crate::app::APP_SCHEMA;
use crate::manifest::{MAX_DESCRIPTION, MAX_TITLE, SCHEMA};
use crate::name::{MAX_NAME, MIN_NAME, NAME_PATTERN};
use crate::pin::PIN_PATTERN;
use crate::product::{CURRENCY_PATTERN, ID_PATTERN, MAX_SAFE, PRODUCT_SCHEMA};

/// A package name as npm takes it for a new package.
const PACKAGE_PATTERN: &str = "^(@[a-z0-9~][a-z0-9._~-]*/)?[a-z0-9~][a-z0-9._~-]*$";

/// JSON Schema 2020-12 of the frontmatter of a product, as [`crate::check_product`] takes it.
pub fn product_json_schema() -> Value {
    let currency = json!({ "type": "string", "pattern": CURRENCY_PATTERN });
    let amount = json!({ "type": "integer", "minimum": 0, "maximum": MAX_SAFE });
    let model = |model: &str, required: &[&str], properties: Value| {
        let mut all = vec!["model", "currency"];
        all.extend(required);
        let mut properties = properties;
        properties["model"] = json!({ "const": model });
        properties["currency"] = currency.clone();
        json!({ "type": "object", "required": all, "properties": properties })
    };
    let semver = "^(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)(-((0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)(\\.(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*))*))?(\\+([0-9a-zA-Z-]+(\\.[0-9a-zA-Z-]+)*))?$";
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "products/ID.md (product/v1)",
        "type": "object",
        "required": ["schema", "id", "kind", "on", "price"],
        "properties": {
            "schema": { "const": PRODUCT_SCHEMA },
            "id": { "type": "string", "pattern": ID_PATTERN, "minLength": 2, "maxLength": 96 },
            "kind": { "const": "pricing" },
            "on": {
                "oneOf": [
                    {
                        "type": "string",
                        "pattern": format!("^aip://[1-9][0-9]*/[^@\\s]{{1,512}}(@{})?$", &semver[1..semver.len() - 1]),
                    },
                    {
                        "type": "object",
                        "required": ["aip", "id"],
                        "additionalProperties": false,
                        "properties": {
                            "aip": { "type": "integer", "minimum": 1, "maximum": MAX_SAFE },
                            "id": { "type": "string", "minLength": 1, "maxLength": 512 },
                            "version": { "type": "string", "pattern": semver },
                        },
                    },
                ],
            },
            "price": {
                "oneOf": [
                    model("one-time", &["amountMinor"], json!({ "amountMinor": amount })),
                    model(
                        "prepaid-pool",
                        &["unitPriceMinor", "grantUnits"],
                        json!({
                            "unitPriceMinor": amount,
                            "grantUnits": { "type": "integer", "minimum": 1, "maximum": MAX_SAFE },
                        }),
                    ),
                    model(
                        "pay-per-call",
                        &["unitPriceMinor", "meter"],
                        json!({
                            "unitPriceMinor": amount,
                            "meter": { "type": "string", "minLength": 1, "maxLength": 96 },
                        }),
                    ),
                ],
            },
            "billingRail": {
                "type": "object",
                "required": ["rail"],
                "properties": {
                    "rail": { "type": "string", "minLength": 1 },
                    "meterId": { "type": "string", "minLength": 1 },
                },
            },
            "title": { "type": "string" },
            "description": { "type": "string" },
            "metadata": { "type": "object" },
        },
        "if": {
            "required": ["billingRail", "price"],
            "properties": {
                "billingRail": { "required": ["rail"], "properties": { "rail": { "const": "stripe" } } },
                "price": {
                    "required": ["model"],
                    "properties": { "model": { "const": "pay-per-call" } },
                },
            },
        },
        "then": { "properties": { "billingRail": { "required": ["meterId"] } } },
    })
}

/// JSON Schema 2020-12 of the frontmatter of a `PACK.md`, as the parser takes it.
pub fn pack_json_schema() -> Value {
    let some = json!({ "type": "string", "minLength": 1 });
    let text = json!({ "type": "string" });
    let texts = json!({ "type": "array", "items": text });
    let number = json!({ "type": "number", "minimum": 0 });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "PACK.md (pack/v1)",
        "type": "object",
        "additionalProperties": false,
        "required": ["schema", "name", "title", "description", "version", "plugin"],
        "properties": {
            "schema": { "const": SCHEMA },
            "name": {
                "type": "string",
                "pattern": NAME_PATTERN,
                "minLength": MIN_NAME,
                "maxLength": MAX_NAME,
            },
            "title": { "type": "string", "minLength": 1, "maxLength": MAX_TITLE },
            "description": {
                "type": "string", "minLength": 1, "maxLength": MAX_DESCRIPTION,
            },
            "version": some,
            "plugin": {
                "type": "object",
                "additionalProperties": false,
                "properties": {
                    "inline": { "type": "boolean" },
                    "includes": {
                        "type": "array",
                        "items": {
                            "type": "string",
                            "anyOf": [
                                { "pattern": PACKAGE_PATTERN, "maxLength": 214 },
                                { "pattern": PIN_PATTERN, "maxLength": 2048 },
                            ],
                        },
                    },
                },
                "anyOf": [
                    { "required": ["inline"], "properties": { "inline": { "const": true } } },
                    { "required": ["includes"], "properties": { "includes": { "minItems": 1 } } },
                ],
            },
            "apps": {
                "type": "array",
                "items": {
                    "type": "object",
                    "additionalProperties": false,
                    "required": ["id", "path"],
                    "properties": { "id": some, "path": some },
                },
            },
            "knowledge": {
                "type": "object",
                "additionalProperties": false,
                "required": ["workspace"],
                "properties": {
                    "workspace": some, "anyOf": texts, "allOf": texts, "kinds": texts,
                },
            },
            "playbook": {
                "type": "object",
                "additionalProperties": false,
                "required": ["title"],
                "properties": {
                    "title": some,
                    "root": text,
                    "targetChapters": { "type": "integer", "minimum": 1, "maximum": MAX_SAFE },
                },
            },
            "pricing": {
                "type": "object",
                "additionalProperties": false,
                "required": ["bundle"],
                "properties": {
                    "ebook": number,
                    "bundle": { "type": "number", "exclusiveMinimum": 0 },
                    "step": number,
                },
            },
            "blockers": texts,
        },
    })
}

/// JSON Schema 2020-12 of the frontmatter of an `APP.md`, as [`crate::check_app`] takes it.
pub fn app_json_schema() -> Value {
    let text = json!({ "type": "string" });
    let some = json!({ "type": "string", "minLength": 1 });
    let member = json!({
        "type": "object",
        "required": ["id", "path"],
        "properties": { "id": some, "path": some },
    });
    let surface = json!({
        "type": "object",
        "required": ["path"],
        "properties": { "path": some, "title": text, "description": text },
    });
    let texts = json!({ "type": "array", "items": text });
    let mut ui = surface.clone();
    ui["properties"]["port"] = json!({ "type": "integer", "minimum": 0, "maximum": 65535 });
    ui["properties"]["csp"] = json!({
        "type": "object",
        "properties": { "connectDomains": texts, "resourceDomains": texts },
    });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "APP.md (app/v1)",
        "type": "object",
        "required": ["schema", "agents", "workflows"],
        "properties": {
            "schema": { "const": APP_SCHEMA },
            "id": some,
            "name": text,
            "description": text,
            "version": some,
            "agents": { "type": "array", "items": member },
            "workflows": { "type": "array", "items": member },
            "workspace": some,
            "requires": { "type": "array", "items": some },
            "ui": ui,
            "artifact": surface,
            "skill": surface,
            "artifacts": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["type"],
                    "properties": { "type": text, "description": text },
                },
            },
            "dev": {
                "type": "object",
                "required": ["launch"],
                "properties": { "launch": { "type": "array", "minItems": 1 } },
            },
            "data": { "type": "object", "properties": { "dir": some } },
            "externalReadRoots": { "type": "array", "items": some },
            "category": some,
        },
        "if": { "properties": { "agents": { "maxItems": 0 } } },
        "then": { "required": ["ui"] },
    })
}
