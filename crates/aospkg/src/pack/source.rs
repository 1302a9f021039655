//! The documents of the input that say what the package is: `agentos-package.json` (reference 2.2)
//! and `package.json` (2.5).

use std::fmt;
use std::marker::PhantomData;

use holdall_diagnostics::{Diagnostic, SourceText};
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error as _, MapAccess, Visitor};

use super::codes;
use crate::model::{AgentBlock, ProvidesBlock, ProvidesFile, StringMap};

/// Name of the document that is parsed and left out of the mount.
pub(super) const SOURCE_MANIFEST: &str = "agentos-package.json";

/// `agentos-package.json`; unknown fields are other tools'.
#[derive(Debug, Default, serde::Deserialize)]
pub(super) struct SourceManifest {
    #[serde(default)]
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) version: Option<String>,
    #[serde(default)]
    pub(super) agent: Option<Agent>,
    #[serde(default)]
    pub(super) provides: Option<Provides>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Agent {
    acp_entrypoint: String,
    #[serde(default)]
    snapshot: bool,
    #[serde(default)]
    env: Pairs<String>,
    #[serde(default)]
    launch_args: Vec<String>,
}

#[derive(Debug, serde::Deserialize)]
pub(super) struct Provides {
    #[serde(default)]
    env: Pairs<String>,
    #[serde(default)]
    files: Vec<ProvidedFile>,
}

#[derive(Debug, serde::Deserialize)]
struct ProvidedFile {
    source: String,
    target: String,
}

impl From<Agent> for AgentBlock {
    fn from(agent: Agent) -> Self {
        Self {
            acp_entrypoint: agent.acp_entrypoint,
            snapshot: agent.snapshot,
            env: agent.env.into(),
            launch_args: agent.launch_args,
        }
    }
}

impl From<Provides> for ProvidesBlock {
    fn from(provides: Provides) -> Self {
        let file = |file: ProvidedFile| ProvidesFile { source: file.source, target: file.target };
        Self { env: provides.env.into(), files: provides.files.into_iter().map(file).collect() }
    }
}

impl From<Pairs<String>> for StringMap {
    fn from(pairs: Pairs<String>) -> Self {
        pairs.0.into_iter().collect()
    }
}

/// `package.json`, as far as a package is made of it.
#[derive(Debug, Default, serde::Deserialize)]
pub(super) struct NpmManifest {
    #[serde(default)]
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) version: Option<String>,
    #[serde(default)]
    pub(super) bin: Option<Bin>,
}

/// `bin` of a `package.json`.
#[derive(Debug)]
pub(super) enum Bin {
    /// One command, named like the package.
    One(String),
    /// Commands by name; what is no string is nothing.
    Many(Vec<(String, Option<String>)>),
    /// Something else, which no tool gives a meaning.
    Other,
}

impl<'de> Deserialize<'de> for Bin {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Bin;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a path or a map of commands to paths")
            }

            fn visit_str<E>(self, text: &str) -> Result<Bin, E> {
                Ok(Bin::One(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Bin, A::Error> {
                let Pairs(pairs) = Pairs::<serde_json::Value>::read(map)?;
                let text = |value: serde_json::Value| value.as_str().map(str::to_owned);
                Ok(Bin::Many(pairs.into_iter().map(|(key, value)| (key, text(value))).collect()))
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Bin, A::Error> {
                while seq.next_element::<serde::de::IgnoredAny>()?.is_some() {}
                Ok(Bin::Other)
            }

            fn visit_bool<E>(self, _: bool) -> Result<Bin, E> {
                Ok(Bin::Other)
            }

            fn visit_i64<E>(self, _: i64) -> Result<Bin, E> {
                Ok(Bin::Other)
            }

            fn visit_u64<E>(self, _: u64) -> Result<Bin, E> {
                Ok(Bin::Other)
            }

            fn visit_f64<E>(self, _: f64) -> Result<Bin, E> {
                Ok(Bin::Other)
            }
        }
        deserializer.deserialize_any(Read)
    }
}

/// A JSON object in its order; a key that stands twice is an error.
#[derive(Debug)]
struct Pairs<V>(Vec<(String, V)>);

impl<V> Default for Pairs<V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<V> Pairs<V> {
    fn read<'de, A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error>
    where
        V: Deserialize<'de>,
    {
        let mut pairs: Vec<(String, V)> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            if !seen.insert(key.clone()) {
                return Err(A::Error::custom(format_args!("duplicate field `{key}`")));
            }
            pairs.push((key, map.next_value()?));
        }
        Ok(Self(pairs))
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Pairs<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read<V>(PhantomData<V>);
        impl<'de, V: Deserialize<'de>> Visitor<'de> for Read<V> {
            type Value = Pairs<V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of texts")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Pairs<V>, A::Error> {
                Pairs::read(map)
            }
        }
        deserializer.deserialize_map(Read(PhantomData))
    }
}

/// Parses a document; the fault has the place.
pub(super) fn parse<T: DeserializeOwned>(path: &str, bytes: Vec<u8>) -> Result<T, Box<Diagnostic>> {
    let source = SourceText::new(bytes);
    serde_json::from_slice(source.bytes()).map_err(|error| {
        let text = error.to_string();
        let message = text.split(" at line ").next().unwrap_or(&text).to_owned();
        // serde_json counts columns in bytes from 1, and 0 for the end of the line before.
        let before: usize = source
            .bytes()
            .split_inclusive(|&byte| byte == b'\n')
            .take(error.line().saturating_sub(1))
            .map(<[u8]>::len)
            .sum();
        let at = before + error.column().saturating_sub(1);
        let end = (at + 1).min(source.bytes().len());
        Box::new(
            Diagnostic::new(&codes::SOURCE_MANIFEST, message)
                .at(path)
                .span(&source, at.min(end)..end)
                .help("correct the file; nothing was written"),
        )
    })
}
