//! A pack as it is written in code, before anything was checked.

use holdall_skill::yaml::Node;

/// A pack's fields. Building one checks nothing: [`define_pack`](crate::define_pack) does, and
/// gives a [`PackHandle`](crate::PackHandle).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PackDefinition {
    /// The name, which is also the id of refs and the key it is installed under.
    pub name: String,
    /// The title for people.
    pub title: String,
    /// What it is for.
    pub description: String,
    /// The version, semantic if it is to be pinned.
    pub version: String,
    /// Where the plugin comes from.
    pub plugin: Plugin,
    /// The apps in the pack.
    pub apps: Option<Vec<AppEntry>>,
    /// Which knowledge its agents read.
    pub knowledge: Option<Knowledge>,
    /// The book it can generate.
    pub playbook: Option<Playbook>,
    /// The legacy prices.
    pub pricing: Option<Pricing>,
    /// Why it cannot ship yet.
    pub blockers: Option<Vec<String>>,
}

/// Where a pack's plugin comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plugin {
    /// Whether it is built from the pack's own `skills` directory.
    pub inline: Option<bool>,
    /// Published packages and git pins that are merged into it.
    pub includes: Option<Vec<String>>,
}

/// An app of a pack.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AppEntry {
    /// The app's id, equal to the one in its `APP.md`.
    pub id: String,
    /// Its directory, relative to the pack root.
    pub path: String,
}

/// A selection from a knowledge workspace. Absent and empty lists filter nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Knowledge {
    /// The workspace's name; not a path.
    pub workspace: String,
    /// An entry has at least one of these tags.
    pub any_of: Option<Vec<String>>,
    /// An entry has all of these tags.
    pub all_of: Option<Vec<String>>,
    /// An entry is of one of these kinds.
    pub kinds: Option<Vec<String>>,
}

/// The book that a pack can generate on demand.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Playbook {
    /// Its title.
    pub title: String,
    /// Where it is written, relative to the pack root.
    pub root: Option<String>,
    /// How many chapters it should have.
    pub target_chapters: Option<u64>,
}

/// The legacy prices of a pack, in major units of no stated currency.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Pricing {
    /// The book alone.
    pub ebook: Option<f64>,
    /// Everything together.
    pub bundle: f64,
    /// One step.
    pub step: Option<f64>,
}

/// What [`define_pack`](crate::define_pack) takes: a typed definition, or JSON as another language
/// would pass it, in which anything can be missing, wrong or too much.
#[derive(Debug, Clone)]
pub struct Definition(pub(crate) Node);

impl From<&PackDefinition> for Definition {
    fn from(definition: &PackDefinition) -> Self {
        Self(definition.to_node())
    }
}

impl From<&serde_json::Value> for Definition {
    fn from(value: &serde_json::Value) -> Self {
        Self(Node::from_json(value))
    }
}

impl PackDefinition {
    /// The definition as the tree that a `PACK.md` with the same fields gives.
    pub(crate) fn to_node(&self) -> Node {
        let mut map = Members::default();
        map.text("schema", crate::manifest::SCHEMA);
        map.text("name", &self.name);
        map.text("title", &self.title);
        map.text("description", &self.description);
        map.text("version", &self.version);
        let mut plugin = Members::default();
        plugin.add("inline", self.plugin.inline.map(|inline| Node::plain(inline.to_string())));
        plugin.texts("includes", self.plugin.includes.as_ref());
        map.add("plugin", Some(plugin.node()));
        map.add("apps", self.apps.as_ref().map(|apps| apps_node(apps)));
        map.add("knowledge", self.knowledge.as_ref().map(Knowledge::to_node));
        map.add("playbook", self.playbook.as_ref().map(Playbook::to_node));
        map.add("pricing", self.pricing.map(|pricing| pricing.node()));
        map.texts("blockers", self.blockers.as_ref());
        map.node()
    }
}

fn apps_node(apps: &[AppEntry]) -> Node {
    let app = |app: &AppEntry| {
        let mut map = Members::default();
        map.text("id", &app.id);
        map.text("path", &app.path);
        map.node()
    };
    Node::list(apps.iter().map(app).collect())
}

impl Knowledge {
    fn to_node(&self) -> Node {
        let mut map = Members::default();
        map.text("workspace", &self.workspace);
        map.texts("anyOf", self.any_of.as_ref());
        map.texts("allOf", self.all_of.as_ref());
        map.texts("kinds", self.kinds.as_ref());
        map.node()
    }
}

impl Playbook {
    fn to_node(&self) -> Node {
        let mut map = Members::default();
        map.text("title", &self.title);
        map.add("root", self.root.as_ref().map(Node::text));
        let chapters = self.target_chapters.map(|count| Node::plain(count.to_string()));
        map.add("targetChapters", chapters);
        map.node()
    }
}

impl Pricing {
    fn node(self) -> Node {
        let mut map = Members::default();
        map.add("ebook", self.ebook.map(number));
        map.add("bundle", Some(number(self.bundle)));
        map.add("step", self.step.map(number));
        map.node()
    }
}

/// A number in the spelling that YAML 1.2 has for it.
fn number(value: f64) -> Node {
    Node::plain(if value.is_nan() {
        ".nan".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { ".inf" } else { "-.inf" }.to_owned()
    } else {
        value.to_string()
    })
}

/// The members of a mapping that are there.
#[derive(Default)]
struct Members(Vec<(&'static str, Node)>);

impl Members {
    fn add(&mut self, key: &'static str, node: Option<Node>) {
        self.0.extend(node.map(|node| (key, node)));
    }

    fn text(&mut self, key: &'static str, text: &str) {
        self.add(key, Some(Node::text(text)));
    }

    fn texts(&mut self, key: &'static str, texts: Option<&Vec<String>>) {
        self.add(key, texts.map(|texts| Node::list(texts.iter().map(Node::text).collect())));
    }

    fn node(self) -> Node {
        Node::map(self.0)
    }
}
