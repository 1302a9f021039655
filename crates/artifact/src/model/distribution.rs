//! `distribution` and `web`: how the root is shipped and which apps it serves (1.10, 1.11).

use std::cmp::Ordering;

use super::ListedPath;
use super::executables::Hosts;
use crate::checker::Checker;
use crate::collate::collate;
use crate::containers::{List, SortKey, Sorted};
use crate::fault::Rule;
use crate::fields::{Json, Path, Segment, Text, words};
use crate::json::{Node, NodeKind, Object};
use crate::record::record;
use crate::shape::{Condition, Shape};

/// Ways in which the root is shipped: locally always, by npm for a named package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channels {
    /// `["local"]`
    Local,
    /// `["local","npm"]`
    LocalAndNpm,
}

impl Channels {
    /// The words of the array.
    pub const fn as_slice(self) -> &'static [&'static str] {
        match self {
            Self::Local => &["local"],
            Self::LocalAndNpm => &["local", "npm"],
        }
    }

    /// Whether npm is one of them.
    pub const fn npm(self) -> bool {
        matches!(self, Self::LocalAndNpm)
    }
}

impl Json for Channels {
    fn shape() -> Shape {
        Shape::Arrays(&[&["local"], &["local", "npm"]])
    }

    fn read(node: Node<'_>, cx: &mut Checker<'_>) -> Option<Self> {
        if node.kind() != NodeKind::Array {
            cx.wrong_type(node, "an array");
            return None;
        }
        let is = |words: &[&str]| {
            let items: Vec<_> = node.items().collect();
            items.len() == words.len()
                && items.iter().zip(words).all(|(item, word)| item.is_text(word))
        };
        let found = [Self::Local, Self::LocalAndNpm].into_iter().find(|c| is(c.as_slice()));
        if found.is_none() {
            cx.fault(node, Rule::Value, "must be [\"local\"] or [\"local\",\"npm\"]");
        }
        found
    }

    fn write(&self, out: &mut Vec<u8>) {
        let text: &[u8] = match self {
            Self::Local => br#"["local"]"#,
            Self::LocalAndNpm => br#"["local","npm"]"#,
        };
        out.extend_from_slice(text);
    }
}

record! {
    /// Pointers to the install surface.
    pub Install "Pointers to the install surface." {
        /// Instructions for people.
        "instructions" instructions: opt path ListedPath,
        /// The self-contained installer.
        "script" script: opt path ListedPath,
    }
    when [Condition::SomeOf(&["instructions", "script"])]
}

record! {
    /// A prebuilt payload directory.
    pub Payload "A prebuilt payload directory." {
        /// The projections it was packaged for.
        "hosts" hosts: req get Hosts,
        /// The directory under the root.
        "name" name: req path Path<Segment>,
        /// Packages that must exist where it runs.
        "runtimeDependencies" runtime_dependencies: req get Sorted<Text>,
    }
}

impl SortKey for Payload {
    const BY: &'static str = "name";

    fn compare(&self, other: &Self) -> Ordering {
        collate(self.name().as_str(), other.name().as_str())
    }

    fn shown(&self) -> String {
        self.name().to_string()
    }
}

record! {
    /// How the root is shipped.
    pub Distribution "How the root is shipped." {
        /// The ways.
        "channels" channels: req copy Channels,
        /// Pointers to the install surface.
        "install" install: opt get Install,
        /// The payload directories by name.
        "payloads" payloads: req get Sorted<Payload>,
    }
}

words! {
    /// What an app may do without being asked again.
    Consent {
        /// Call a tool.
        CallTool = "call-tool",
        /// Download a file.
        DownloadFile = "download-file",
        /// Open a link outside.
        OpenExternalLink = "open-external-link",
        /// Change how it is displayed.
        RequestDisplayMode = "request-display-mode",
    }
}

words! {
    /// Whether serving apps opens the browser.
    OpenBrowser {
        /// It does.
        Browser = "browser",
        /// It never does.
        Never = "never",
    }
}

record! {
    /// An app that is served on the web.
    pub WebApp "An app that is served on the web." {
        /// What it may do without being asked again.
        "allow" allow: req get List<Consent>,
        /// `SERVER/NAME`
        "app" app: req text Text,
        /// Input of the opening call.
        "input" input: opt get Object,
        /// Its name.
        "name" name: req text Text,
        /// The address of its resource.
        "resourceUri" resource_uri: req text Text,
        /// The server's name.
        "server" server: req text Text,
        /// Tool of the opening call.
        "tool" tool: opt text Text,
    }
}

impl SortKey for WebApp {
    const BY: &'static str = "app";

    fn compare(&self, other: &Self) -> Ordering {
        collate(self.app(), other.app())
    }

    fn shown(&self) -> String {
        self.app().to_owned()
    }
}

record! {
    /// The apps that are served on the web.
    pub Web "The apps that are served on the web." {
        /// The apps.
        "apps" apps: req get Sorted<WebApp>,
        /// Whether serving them opens the browser.
        "open" open: req copy OpenBrowser,
    }
}
