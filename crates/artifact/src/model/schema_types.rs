//! The bounded JSON Schema of a route's input (1.6).

use crate::checker::Checker;
use crate::containers::{List, Literal, Map, MapValue};
use crate::fault::Rule;
use crate::fields::{Json, Text, words};
use crate::json::{Node, NodeKind};
use crate::record::record;
use crate::shape::{Condition, Shape};

words! {
    /// The type of an input as a whole.
    ObjectType {
        /// `object`
        Object = "object",
    }
}

words! {
    /// The type of a property.
    PropertyType {
        /// `array`
        Array = "array",
        /// `boolean`
        Boolean = "boolean",
        /// `number`
        Number = "number",
        /// `string`
        String = "string",
    }
}

words! {
    /// The type of the items of an array.
    ItemType {
        /// `boolean`
        Boolean = "boolean",
        /// `number`
        Number = "number",
        /// `string`
        String = "string",
    }
}

record! {
    /// The type of an array's items.
    pub ItemSchema "The type of an array's items." {
        /// Their type.
        "type" kind: req copy ItemType,
        /// The strings they may be.
        "enum" choices: opt get List<Text>,
    }
    when [Condition::AllowedIf { key: "enum", by: "type", words: &["string"] }]
}

record! {
    /// The type of one property of an input.
    pub PropertySchema "The type of one property of an input." {
        /// Its type.
        "type" kind: req copy PropertyType,
        /// The value it has when it is left out.
        "default" default: opt get Literal,
        /// What it is for.
        "description" description: opt text Text,
        /// The strings it may be.
        "enum" choices: opt get List<Text>,
        /// The type of an array's items.
        "items" items: opt get ItemSchema,
    }
    when [
        Condition::AllowedIf { key: "enum", by: "type", words: &["string"] },
        Condition::PresentIff { key: "items", by: "type", words: &["array"] },
    ]
}

impl MapValue for PropertySchema {
    const PROTO: bool = false;
}

/// Exactly `false`: an input has no properties beyond the declared ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoExtra;

impl Json for NoExtra {
    fn shape() -> Shape {
        Shape::False
    }

    fn read(node: Node<'_>, cx: &mut Checker<'_>) -> Option<Self> {
        match node.kind() {
            NodeKind::False => Some(Self),
            NodeKind::True => {
                cx.fault(node, Rule::Value, "must be false");
                None
            }
            _ => {
                cx.wrong_type(node, "a boolean");
                None
            }
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"false");
    }
}

record! {
    /// The input of a route: a bounded JSON Schema.
    pub(crate) InputBody "The input of a route: a bounded JSON Schema." {
        "type" kind: req hidden ObjectType,
        "additionalProperties" additional: req hidden NoExtra,
        /// The properties by name.
        "properties" properties: req get Map<PropertySchema>,
        /// The names of those that must be there.
        "required" required: opt get List<Text>,
    }
}

/// The input of a route: a bounded JSON Schema whose required names are all properties.
#[derive(Debug, Clone, PartialEq)]
pub struct InputSchema(InputBody);

impl InputSchema {
    /// The properties by name.
    pub fn properties(&self) -> &Map<PropertySchema> {
        self.0.properties()
    }

    /// The names of the properties that must be there.
    pub fn required(&self) -> &[Text] {
        self.0.required().map_or(&[], |names| names)
    }
}

impl Json for InputSchema {
    fn shape() -> Shape {
        InputBody::shape()
    }

    fn read(node: Node<'_>, cx: &mut Checker<'_>) -> Option<Self> {
        let schema = Self(InputBody::read(node, cx)?);
        let mut good = true;
        let names = node.get("required");
        for (name, item) in schema.required().iter().zip(names.iter().flat_map(|n| n.items())) {
            if schema.properties().get(name).is_none() {
                cx.fault(item, Rule::Value, format!("`{name}` is not one of the properties"));
                good = false;
            }
        }
        good.then_some(schema)
    }

    fn write(&self, out: &mut Vec<u8>) {
        self.0.write(out);
    }
}
