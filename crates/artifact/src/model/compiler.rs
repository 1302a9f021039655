//! `compiler` and `runtime`: how the artifact came to be (1.3, 1.12).

use std::cmp::Ordering;
use std::fmt;

use holdall_tree::TreePath;

use super::ListedPath;
use crate::checker::Checker;
use crate::collate::collate;
use crate::containers::{SortKey, Sorted};
use crate::fault::Rule;
use crate::fields::{Json, NotManifest, Path, Sha256, Text, Version, words};
use crate::json::{Node, write_string};
use crate::record::record;
use crate::shape::Shape;

words! {
    /// The name of the only tool that may have written an artifact manifest.
    ProducerName {
        /// `agent-bundle`
        AgentBundle = "agent-bundle",
    }
}

words! {
    /// The outcome of a validation; no other is ever written.
    Passed {
        /// It passed.
        Passed = "passed",
    }
}

record! {
    /// The tool that wrote the artifact.
    pub Producer "The tool that wrote the artifact." {
        "name" name: req hidden ProducerName,
        /// Its version.
        "version" version: req text Text,
    }
}

record! {
    /// The Agent Skills specification that skills were validated against.
    pub AgentSkills "The Agent Skills specification that skills were validated against." {
        /// Digest of the schema.
        "schemaSha256" schema_sha256: req copy Sha256,
        /// Revision of the specification's source.
        "sourceRevision" source_revision: req text Text,
        /// Address of the specification.
        "specification" specification: req text Text,
    }
}

record! {
    /// A pinned schema of an agent host's document.
    pub AdapterSchema "A pinned schema of an agent host's document." {
        /// Which document.
        "name" name: req text Text,
        /// Revision of the schema.
        "revision" revision: req text Text,
        /// Digest of the schema.
        "sha256" sha256: req copy Sha256,
    }
}

record! {
    /// The adapter behind a projection.
    pub Adapter "The adapter behind a projection." {
        /// Revision of the adapter.
        "adapterRevision" adapter_revision: req text Text,
        /// The projection it belongs to.
        "host" host: req text Text,
        /// Version of the agent host its facts were recorded against.
        "observedVersion" observed_version: req text Text,
        /// The schemas it was validated against, by name.
        "schemas" schemas: req get Sorted<AdapterSchema>,
    }
}

record! {
    /// What a file derives from.
    pub Provenance "What a file derives from." {
        /// The file.
        "path" path: req path Path<NotManifest>,
        /// The project's inputs it derives from.
        "sourceInputs" source_inputs: req get Sorted<TreePath>,
    }
}

record! {
    /// A file that the build read.
    pub SourceInput "A file that the build read." {
        /// Whether it was executable.
        "executable" executable: opt copy bool,
        /// Where it lies in the project.
        "path" path: req path ListedPath,
        /// Digest of its content.
        "sha256" sha256: req copy Sha256,
    }
}

record! {
    /// The project that the artifact was compiled from.
    pub Project "The project that the artifact was compiled from." {
        /// The package's name on npm.
        "packageName" package_name: opt get PackageName,
        /// The package's version.
        "packageVersion" package_version: opt get PackageVersion,
        /// Every file that the build read, by path.
        "sourceInputs" source_inputs: req get Sorted<SourceInput>,
        /// Digest of the configuration file.
        "configDigest" config_digest: req copy Sha256,
        /// The configuration file.
        "configPath" config_path: req path ListedPath,
        /// Digest of the normalised model; opaque to readers.
        "modelDigest" model_digest: req copy Sha256,
        /// Digest over `sourceInputs`.
        "revision" revision: req copy Sha256,
    }
}

record! {
    /// A status on its own.
    pub PassedStatus "A status on its own." {
        "status" status: req hidden Passed,
    }
}

record! {
    /// The validation of one projection.
    pub HostStatus "The validation of one projection." {
        /// The projection.
        "host" host: req text Text,
        "status" status: req hidden Passed,
    }
}

record! {
    /// What was validated: all of it passed, or the artifact would not have been written.
    pub Validation "What was validated." {
        "artifact" artifact: req hidden PassedStatus,
        "source" source: req hidden PassedStatus,
        /// One row a projection.
        "projections" projections: req get Sorted<HostStatus>,
    }
}

record! {
    /// The record of the compiler's run, versioned on its own.
    pub Compiler "The record of the compiler's run." {
        "recordVersion" record_version: req hidden Version<1, true>,
        /// The Agent Skills specification that skills were validated against.
        "agentSkills" agent_skills: req get AgentSkills,
        /// The tool that wrote the artifact.
        "producer" producer: req get Producer,
        /// The project it was compiled from.
        "project" project: req get Project,
        /// What each file derives from, one row a file.
        "provenance" provenance: req get Sorted<Provenance>,
        /// The adapters, one row a projection.
        "adapters" adapters: req get Sorted<Adapter>,
        /// What was validated.
        "validation" validation: req get Validation,
    }
}

macro_rules! sorted_by_text {
    ($($name:ident by $key:literal $field:ident),* $(,)?) => {$(
        impl SortKey for $name {
            const BY: &'static str = $key;

            fn compare(&self, other: &Self) -> Ordering {
                collate(self.$field().as_ref(), other.$field().as_ref())
            }

            fn shown(&self) -> String {
                self.$field().to_string()
            }
        }
    )*};
}

sorted_by_text!(AdapterSchema by "name" name, Adapter by "host" host, HostStatus by "host" host);

macro_rules! sorted_by_path {
    ($($name:ident),*) => {$(
        impl SortKey for $name {
            const BY: &'static str = "path";

            fn compare(&self, other: &Self) -> Ordering {
                collate(self.path().as_str(), other.path().as_str())
            }

            fn shown(&self) -> String {
                self.path().to_string()
            }
        }
    )*};
}

sorted_by_path!(Provenance, SourceInput);

/// A text under a grammar of its own.
macro_rules! pattern {
    ($(#[$meta:meta])* $name:ident, $what:literal, $shape:expr, $check:expr) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name(Box<str>);

        impl $name {
            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl Json for $name {
            fn shape() -> Shape {
                $shape
            }

            fn read(node: Node<'_>, cx: &mut Checker<'_>) -> Option<Self> {
                let Some(text) = node.text() else {
                    cx.wrong_type(node, $what);
                    return None;
                };
                let check: fn(&str) -> Result<(), (Rule, &'static str)> = $check;
                match check(&text) {
                    Ok(()) => Some(Self(text.into())),
                    Err((rule, why)) => {
                        cx.fault(node, rule, format!("`{text}` {why}"));
                        None
                    }
                }
            }

            fn write(&self, out: &mut Vec<u8>) {
                write_string(&self.0, out);
            }
        }
    };
}

pattern! {
    /// A package name that npm takes.
    PackageName, "a package name",
    Shape::Pattern {
        pattern: r"^(?:@[a-z0-9\-*~][a-z0-9\-*._~]*/)?[a-z0-9\-~][a-z0-9\-._~]*$",
        max: Some(214),
        not: Some("^(?:[nN][oO][dD][eE]_[mM][oO][dD][uU][lL][eE][sS]|[fF][aA][vV][iI][cC][oO][nN]\\.[iI][cC][oO])$"),
    },
    |text| if is_package_name(text) { Ok(()) } else { Err((Rule::Value, "is no package name that npm takes")) }
}

pattern! {
    /// A version of Semantic Versioning 2.0.0.
    PackageVersion, "a version",
    Shape::Pattern {
        pattern: r"^(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)(?:-(?:0|[1-9][0-9]*|[0-9]*[a-zA-Z\-][0-9a-zA-Z\-]*)(?:\.(?:0|[1-9][0-9]*|[0-9]*[a-zA-Z\-][0-9a-zA-Z\-]*))*)?(?:\+[0-9a-zA-Z\-]+(?:\.[0-9a-zA-Z\-]+)*)?$",
        max: None,
        not: None,
    },
    |text| if is_version(text) { Ok(()) } else { Err((Rule::Value, "is no version of Semantic Versioning 2.0.0")) }
}

pattern! {
    /// The least Node.js version of a root, `major.minor.patch`, at least 22.12.0.
    NodeVersion, "a Node.js version",
    Shape::Pattern {
        pattern: r"^(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)$",
        max: None,
        not: None,
    },
    check_node_version
}

fn is_package_name(name: &str) -> bool {
    let allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'~');
    let part = |part: &str, scope: bool| {
        let mut bytes = part.bytes();
        let first = bytes.next().is_some_and(|byte| allowed(byte) || (scope && byte == b'*'));
        let rest =
            |byte: u8| allowed(byte) || matches!(byte, b'.' | b'_') || (scope && byte == b'*');
        first && bytes.all(rest)
    };
    // What the patterns admit is ASCII, so that bytes are UTF-16 units.
    if name.len() > 214
        || name.eq_ignore_ascii_case("node_modules")
        || name.eq_ignore_ascii_case("favicon.ico")
    {
        return false;
    }
    match name.strip_prefix('@').map(|rest| rest.split_once('/')) {
        None => part(name, false),
        Some(Some((scope, name))) => part(scope, true) && part(name, false),
        Some(None) => false,
    }
}

/// A number without leading zeros.
fn is_plain_number(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_digit())
        && (text == "0" || !text.starts_with('0'))
}

fn is_version(version: &str) -> bool {
    let identifier = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let (rest, build) = match version.split_once('+') {
        Some((rest, build)) => (rest, Some(build)),
        None => (version, None),
    };
    let (core, pre) = match rest.split_once('-') {
        Some((core, pre)) => (core, Some(pre)),
        None => (rest, None),
    };
    let is_pre = |text: &str| {
        identifier(text)
            && (!text.bytes().all(|byte| byte.is_ascii_digit()) || is_plain_number(text))
    };
    core.split('.').count() == 3
        && core.split('.').all(is_plain_number)
        && pre.is_none_or(|pre| pre.split('.').all(is_pre))
        && build.is_none_or(|build| build.split('.').all(identifier))
}

/// The least `runtime.node` that a root may name.
const NODE_FLOOR: [u64; 3] = [22, 12, 0];

fn check_node_version(text: &str) -> Result<(), (Rule, &'static str)> {
    let form = (Rule::Value, "is no version of the form major.minor.patch");
    let mut numbers = [0; 3];
    let mut parts = text.split('.');
    for number in &mut numbers {
        let part = parts.next().filter(|part| is_plain_number(part)).ok_or(form)?;
        // Beyond the safe integers the grammar ends.
        *number = part.parse().ok().filter(|n| *n <= crate::fields::MAX_SAFE).ok_or(form)?;
    }
    if parts.next().is_some() {
        return Err(form);
    }
    if numbers < NODE_FLOOR {
        return Err((
            Rule::Node,
            "is below 22.12.0, the least Node.js that compiled entries run on",
        ));
    }
    Ok(())
}
