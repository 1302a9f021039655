//! `APP.md`, app/v1 (AIP-53; `pack-v1` 4.1 and 4.2): the document, and the shallow check of the
//! files it names.
//!
//! Unlike `PACK.md` the schema is loose: keys that are not known are other tools'. A host that
//! does not run agents checks that the frontmatter can be read, the schema is right and the files
//! that are named exist below the app; what stands in those files it does not judge.

use std::collections::HashSet;

use holdall_diagnostics::{Code, Diagnostic, Severity, SourceText};
use holdall_skill::directory::read_document;
use holdall_skill::fix::Fix;
use holdall_skill::frontmatter::Document;
use holdall_skill::schema::{Issue, IssueKind, NumberRule, Strings, TextRule, Walk};
use holdall_skill::yaml::{self, Node};
use holdall_tree::{FileKind, Tree, TreeErrorKind, TreePath};
use serde_json::Value;

use crate::codes;
use crate::confine::{self, Confined};

/// The document's name, at the app's root or in [`APP_DIRECTORY`].
pub const APP_FILE: &str = "APP.md";

/// The directory of an app's own documents.
pub const APP_DIRECTORY: &str = ".agentproto";

/// What `schema` has to be.
pub const APP_SCHEMA: &str = "app/v1";

/// The version of an app that has an id and says none.
pub const DEFAULT_APP_VERSION: &str = "0.1.0";

/// An agent or a workflow of an app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppMember {
    /// Its id, unique among its kind.
    pub id: String,
    /// Its document, relative to the app.
    pub path: String,
}

/// A surface of an app: its user interface, artifact or skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surface {
    /// Its document, relative to the app.
    pub path: String,
    /// Its title.
    pub title: Option<String>,
    /// What it is.
    pub description: Option<String>,
}

/// A valid `APP.md`.
#[derive(Debug, Clone)]
pub struct AppManifest {
    id: Option<String>,
    name: Option<String>,
    description: Option<String>,
    version: Option<String>,
    agents: Vec<AppMember>,
    workflows: Vec<AppMember>,
    workspace: Option<String>,
    requires: Vec<String>,
    ui: Option<Surface>,
    builds_ui: bool,
    artifact: Option<Surface>,
    skill: Option<Surface>,
    data_dir: Option<String>,
    external_read_roots: Vec<String>,
    category: Option<String>,
    source: SourceText,
    root: Node,
}

impl AppManifest {
    /// The id, the key an app is installed under; without one it cannot be installed.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The name that people see.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// What the app is for.
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// The version, [`DEFAULT_APP_VERSION`] where the document has none.
    pub fn version(&self) -> &str {
        self.version.as_deref().unwrap_or(DEFAULT_APP_VERSION)
    }

    /// Its agents.
    pub fn agents(&self) -> &[AppMember] {
        &self.agents
    }

    /// Its workflows.
    pub fn workflows(&self) -> &[AppMember] {
        &self.workflows
    }

    /// Ids of the apps that have to be there first.
    pub fn requires(&self) -> &[String] {
        &self.requires
    }

    /// Its user interface.
    pub const fn ui(&self) -> Option<&Surface> {
        self.ui.as_ref()
    }

    /// Whether the user interface has to be built before it is there, which Holdall never does.
    pub const fn builds_ui(&self) -> bool {
        self.builds_ui
    }

    /// Where it would like its data: a hint, relative to its data directory.
    pub fn data_dir(&self) -> Option<&str> {
        self.data_dir.as_deref()
    }

    /// Directories of the machine that it reads.
    pub fn external_read_roots(&self) -> &[String] {
        &self.external_read_roots
    }

    /// A free word for its sort.
    pub fn category(&self) -> Option<&str> {
        self.category.as_deref()
    }

    /// The document.
    pub const fn source(&self) -> &SourceText {
        &self.source
    }

    /// The frontmatter, keys of other tools included.
    pub fn to_json(&self) -> Value {
        self.root.to_json()
    }

    /// The bytes of a value by its key; the whole frontmatter where there is none.
    pub fn span_of(&self, key: &str) -> std::ops::Range<usize> {
        self.root.get(key).map_or_else(|| self.root.span.clone(), |node| node.span.clone())
    }

    /// Every file that the document names, with the words for it.
    fn files(&self) -> Vec<(String, &str, MemberFile)> {
        let mut files = Vec::new();
        for (at, agent) in self.agents.iter().enumerate() {
            files.push((format!("agents.{at}.path"), agent.path.as_str(), MemberFile("AGENT.md")));
        }
        for (at, workflow) in self.workflows.iter().enumerate() {
            let file = MemberFile("WORKFLOW.md");
            files.push((format!("workflows.{at}.path"), workflow.path.as_str(), file));
        }
        let surfaces = [("ui", &self.ui), ("artifact", &self.artifact), ("skill", &self.skill)];
        for (key, surface) in surfaces {
            if let Some(surface) = surface {
                files.push((format!("{key}.path"), surface.path.as_str(), MemberFile("")));
            }
        }
        if self.workspace.is_some() {
            files.push(("workspace".to_owned(), "WORKSPACE.md", MemberFile("")));
        }
        files
    }
}

/// The document a member's directory has, where its path names the directory; empty for files.
#[derive(Debug, Clone, Copy)]
struct MemberFile(&'static str);

/// What came of checking an `APP.md`.
#[derive(Debug, Clone, Default)]
pub struct CheckedApp {
    /// The document, if nothing found in it is an error.
    pub app: Option<AppManifest>,
    /// Everything found, in the order of the file. From [`check_app`] without a path.
    pub diagnostics: Vec<Diagnostic>,
    /// The quotes that would cure some of it.
    pub fixes: Vec<Fix>,
    /// The text, if it could be read.
    pub source: Option<SourceText>,
}

/// Checks the bytes of an `APP.md`: every fault and every warning at once.
pub fn check_app(source: &SourceText) -> CheckedApp {
    let mut checked = CheckedApp { source: Some(source.clone()), ..CheckedApp::default() };
    let document = match Document::split(source) {
        Ok(document) => document,
        Err(error) => {
            checked.diagnostics.push(error.diagnostic(source));
            return checked;
        }
    };
    let parsed = yaml::parse(&document);
    checked.diagnostics = parsed.diagnostics;
    checked.fixes = parsed.fixes;
    let Some(root) = parsed.root else { return checked };
    let mut walk = Walk::new(Strings::Strict, Some(source));
    let app = walk_app(&mut walk, &root, source);
    let (issues, fixes) = walk.finish();
    checked.fixes.extend(fixes);
    checked.diagnostics.extend(issues.iter().map(|issue| diagnostic(issue, source)));
    if checked.diagnostics.iter().all(|found| found.severity != Severity::Error) {
        if let Some(app) = &app
            && app.id.is_none()
        {
            let help = "add `id`, such as `@owner/app`";
            checked.diagnostics.push(
                Diagnostic::new(&codes::APP_NO_ID, "an app without `id` cannot be installed")
                    .span(source, root.span.clone())
                    .help(help),
            );
        }
        checked.app = app;
    }
    checked.diagnostics.sort_by_key(|found| found.span.map(|span| span.start.offset));
    checked
}

/// Text that must not be empty.
const SOME: TextRule = TextRule { min: 1, max: None, form: None, literal: None };
const ANY: TextRule = TextRule { min: 0, max: None, form: None, literal: None };

fn walk_app(walk: &mut Walk, root: &Node, source: &SourceText) -> Option<AppManifest> {
    let mut fields = walk.object(root)?;
    let literal = TextRule { literal: Some(APP_SCHEMA), ..ANY };
    let schema = fields
        .required(walk, "schema", "\"app/v1\"")
        .and_then(|node| walk.at("schema", |walk| walk.text(node, literal)));
    let mut optional = |walk: &mut Walk, key: &'static str, rule: TextRule| {
        fields.optional(key).and_then(|node| walk.at(key, |walk| walk.text(node, rule)))
    };
    let id = optional(walk, "id", SOME);
    let name = optional(walk, "name", ANY);
    let description = optional(walk, "description", ANY);
    let version = optional(walk, "version", SOME);
    let workspace = optional(walk, "workspace", SOME);
    let category = optional(walk, "category", SOME);
    let mut members = |walk: &mut Walk, key: &'static str| {
        fields
            .required(walk, key, "array")
            .and_then(|node| walk.at(key, |walk| walk.list(node, walk_member)))
    };
    let agents = members(walk, "agents");
    let workflows = members(walk, "workflows");
    let mut texts = |walk: &mut Walk, key: &'static str, rule: TextRule| {
        let node = fields.optional(key)?;
        walk.at(key, |walk| walk.texts(node, rule))
    };
    let requires = texts(walk, "requires", SOME);
    let external_read_roots = texts(walk, "externalReadRoots", SOME);
    let ui_node = fields.optional("ui");
    let ui = ui_node.and_then(|node| walk.at("ui", |walk| walk_ui(walk, node)));
    let mut surface = |walk: &mut Walk, key: &'static str| {
        let node = fields.optional(key)?;
        walk.at(key, |walk| walk_surface(walk, node))
    };
    let artifact = surface(walk, "artifact");
    let skill = surface(walk, "skill");
    if let Some(node) = fields.optional("artifacts") {
        walk.at("artifacts", |walk| walk.list(node, walk_artifact));
    }
    if let Some(node) = fields.optional("dev") {
        walk.at("dev", |walk| walk_dev(walk, node));
    }
    let data_dir =
        fields.optional("data").and_then(|node| walk.at("data", |walk| walk_data(walk, node)));
    fields.leave_open();
    for (key, members) in [("agents", &agents), ("workflows", &workflows)] {
        let mut seen = HashSet::new();
        let nodes = root.get(key).and_then(Node::as_sequence).unwrap_or_default();
        for (at, (member, node)) in members.iter().flatten().zip(nodes).enumerate() {
            if !seen.insert(member.id.as_str()) {
                let span = node.get("id").map_or_else(|| node.span.clone(), |id| id.span.clone());
                walk.at(key, |walk| {
                    walk.at(&at.to_string(), |walk| {
                        walk.at("id", |walk| {
                            walk.issue(span, format!("the id `{}` is given twice", member.id));
                        });
                    });
                });
            }
        }
    }
    if agents.as_ref().is_some_and(Vec::is_empty) && ui_node.is_none() {
        let span = root.get("agents").map_or_else(|| root.span.clone(), |node| node.span.clone());
        walk.at("agents", |walk| {
            walk.issue(span, "an app without `ui` has at least one agent");
        });
    }
    schema?;
    let builds_ui = ui_node.is_some_and(|node| node.get("build").is_some());
    Some(AppManifest {
        id,
        name,
        description,
        version,
        agents: agents?,
        workflows: workflows?,
        workspace,
        requires: requires.unwrap_or_default(),
        ui,
        builds_ui,
        artifact,
        skill,
        data_dir,
        external_read_roots: external_read_roots.unwrap_or_default(),
        category,
        source: source.clone(),
        root: root.clone(),
    })
}

fn walk_member(walk: &mut Walk, node: &Node) -> Option<AppMember> {
    let mut fields = walk.object(node)?;
    let mut text = |walk: &mut Walk, key: &'static str| {
        let node = fields.required(walk, key, "string")?;
        walk.at(key, |walk| walk.text(node, SOME))
    };
    let id = text(walk, "id");
    let path = text(walk, "path");
    fields.leave_open();
    Some(AppMember { id: id?, path: path? })
}

fn walk_surface(walk: &mut Walk, node: &Node) -> Option<Surface> {
    let mut fields = walk.object(node)?;
    let path = fields
        .required(walk, "path", "string")
        .and_then(|node| walk.at("path", |walk| walk.text(node, SOME)));
    let mut optional = |walk: &mut Walk, key: &'static str| {
        let node = fields.optional(key)?;
        walk.at(key, |walk| walk.text(node, ANY))
    };
    let title = optional(walk, "title");
    let description = optional(walk, "description");
    fields.leave_open();
    Some(Surface { path: path?, title, description })
}

fn walk_ui(walk: &mut Walk, node: &Node) -> Option<Surface> {
    if let Some(port) = node.get("port") {
        let rule = NumberRule { min: Some(0.0), max: Some(65535.0), integer: true };
        walk.at("port", |walk| walk.number(port, rule));
    }
    if let Some(csp) = node.get("csp") {
        walk.at("csp", |walk| {
            let mut fields = walk.object(csp)?;
            for key in ["connectDomains", "resourceDomains"] {
                if let Some(node) = fields.optional(key) {
                    walk.at(key, |walk| walk.texts(node, ANY));
                }
            }
            fields.leave_open();
            Some(())
        });
    }
    walk_surface(walk, node)
}

fn walk_artifact(walk: &mut Walk, node: &Node) -> Option<()> {
    let mut fields = walk.object(node)?;
    let sort = fields
        .required(walk, "type", "string")
        .and_then(|node| walk.at("type", |walk| walk.text(node, ANY)));
    if let Some(node) = fields.optional("description") {
        walk.at("description", |walk| walk.text(node, ANY));
    }
    fields.leave_open();
    sort.map(|_| ())
}

fn walk_dev(walk: &mut Walk, node: &Node) -> Option<()> {
    let mut fields = walk.object(node)?;
    let launch = fields.required(walk, "launch", "array");
    fields.leave_open();
    let launch = launch?;
    walk.at("launch", |walk| {
        let items = walk.list(launch, |_, _| Some(()))?;
        if items.is_empty() {
            walk.issue(launch.span.clone(), "Too small: expected array to have >=1 items");
        }
        Some(())
    })
}

fn walk_data(walk: &mut Walk, node: &Node) -> Option<String> {
    let mut fields = walk.object(node)?;
    let dir = fields.optional("dir");
    fields.leave_open();
    walk.at("dir", |walk| walk.text(dir?, SOME))
}

fn diagnostic(issue: &Issue, source: &SourceText) -> Diagnostic {
    let code: &Code = match (issue.kind, issue.path.as_str()) {
        (IssueKind::Missing, _) => &codes::APP_FIELD_MISSING,
        (IssueKind::Type, _) => &codes::APP_FIELD_TYPE,
        (IssueKind::Rule, "agents") => &codes::APP_EMPTY,
        (IssueKind::Rule, path) if path.split('.').next_back() == Some("id") => {
            &codes::APP_MEMBER_TWICE
        }
        _ => &codes::APP_FIELD,
    };
    let mut found = issue.diagnostic(code, Some(source));
    let own = match (issue.kind, issue.path.as_str()) {
        (IssueKind::Form, "schema") => Some("write `schema: app/v1`"),
        (IssueKind::Missing | IssueKind::Type, "agents" | "workflows") => {
            Some("write `[]` where there are none")
        }
        (IssueKind::Type, _) if issue.message.ends_with("received null") => {
            Some("remove the key, or give it a value")
        }
        (IssueKind::Type, _) if issue.message.ends_with("number, received string") => {
            Some("write the number without quotes")
        }
        (IssueKind::Type, _) => Some("`holdall schema app` shows the types"),
        (IssueKind::Bounds | IssueKind::Form, _) => Some("`holdall schema app` shows the bounds"),
        (IssueKind::Rule, _) if code.id == codes::APP_EMPTY.id => {
            Some("list an agent, or give the app a `ui`")
        }
        (IssueKind::Rule, _) => Some("give one of the two another id"),
        _ => None,
    };
    found.help = issue.help.clone().or_else(|| own.map(str::to_owned));
    found
}

/// Where an app's document stands below the app's directory, and its bytes: `APP.md`, then
/// `.agentproto/APP.md`. Two that differ are refused, so that what is digested is what is
/// installed (`pack-v1` 3.4). Findings have the paths of the tree.
pub fn find_app_document(
    tree: &dyn Tree,
    directory: &TreePath,
) -> Result<(TreePath, SourceText), Box<Diagnostic>> {
    let shown = if directory.is_root() { "." } else { directory.as_str() };
    let mut found: Option<(TreePath, SourceText)> = None;
    for name in [APP_FILE.to_owned(), format!("{APP_DIRECTORY}/{APP_FILE}")] {
        let Ok(name) = TreePath::new(name) else { continue };
        let path = directory.join(&name);
        match tree.metadata(&path) {
            Err(error)
                if matches!(error.kind, TreeErrorKind::NotFound | TreeErrorKind::NotADirectory) =>
            {
                continue;
            }
            _ => {}
        }
        // A link inside the pack may lead out of the app: what it leads to is another's file.
        if let Err(Confined::Leaves) = confine::resolve(tree, directory, name.as_str()) {
            return Err(Box::new(
                Diagnostic::new(&codes::APP_FILE_OUTSIDE, "the document is a link out of the app")
                    .at(path.as_str())
                    .help("put the file itself there"),
            ));
        }
        let source = read_document(tree, &path)?;
        match &found {
            Some((first, other)) if other.bytes() != source.bytes() => {
                let message = format!("`{first}` and `{path}` differ");
                let help = "keep one of the two, or make them equal";
                let found = Diagnostic::new(&codes::APP_DOCUMENTS, message);
                return Err(Box::new(found.at(path.as_str()).help(help)));
            }
            Some(_) => {}
            None => found = Some((path, source)),
        }
    }
    found.ok_or_else(|| {
        let message = format!("no `{APP_FILE}` and no `{APP_DIRECTORY}/{APP_FILE}` in {shown}");
        let help = "an app is a directory with one of these documents in it";
        Box::new(Diagnostic::new(&codes::NOT_AN_APP, message).at(shown).help(help))
    })
}

/// Reads and checks the app in `directory`: its document, and that every file it names is there.
/// Findings have the paths of the tree.
pub fn read_app(tree: &dyn Tree, directory: &TreePath) -> CheckedApp {
    let (path, source) = match find_app_document(tree, directory) {
        Ok(found) => found,
        Err(found) => return CheckedApp { diagnostics: vec![*found], ..CheckedApp::default() },
    };
    let mut checked = check_app(&source);
    let place = |found: Diagnostic| found.at(path.as_str());
    checked.diagnostics = checked.diagnostics.into_iter().map(place).collect();
    if let Some(app) = &checked.app {
        let found = check_files(tree, directory, app);
        checked.diagnostics.extend(found.into_iter().map(place));
    }
    if checked.diagnostics.iter().any(|found| found.severity == Severity::Error) {
        checked.app = None;
    }
    checked
}

/// The shallow check: every file that the document names is below the app and not empty.
fn check_files(tree: &dyn Tree, directory: &TreePath, app: &AppManifest) -> Vec<Diagnostic> {
    let mut all = Vec::new();
    let span = |key: &str| {
        let mut node = Some(&app.root);
        for step in key.split('.') {
            node = node.and_then(|node| match node.as_sequence() {
                Some(items) => items.get(step.parse::<usize>().ok()?),
                None => node.get(step),
            });
        }
        node.map_or_else(|| app.root.span.clone(), |node| node.span.clone())
    };
    let mut report = |code: &Code, key: &str, what: String, help: &str| {
        let found = Diagnostic::new(code, format!("`{key}`: {what}"));
        all.push(found.span(&app.source, span(key)).help(help));
    };
    for (key, path, member) in app.files() {
        let outside = "paths are relative to the app and stay in it";
        match confine::resolve(tree, directory, path) {
            Ok(target) => match file_size(tree, &target, member) {
                Ok(0) => report(&codes::APP_FILE, &key, format!("`{path}` is empty"), "write it"),
                Ok(_) => {}
                Err(what) => {
                    let help = "name a file of the app, or add it";
                    report(&codes::APP_FILE, &key, format!("`{path}` {what}"), help);
                }
            },
            Err(Confined::Tree(error)) => {
                let what = match error.kind {
                    TreeErrorKind::NotFound => format!("`{path}` is not there"),
                    _ => error.to_string(),
                };
                report(&codes::APP_FILE, &key, what, "name a file of the app, or add it");
            }
            Err(error) => {
                report(&codes::APP_FILE_OUTSIDE, &key, format!("`{path}` {error}"), outside);
            }
        }
    }
    if let Some(hint) = &app.data_dir
        && let Err(error) = confine::below(directory, hint)
    {
        let help = "a hint is relative to the app's data directory";
        report(&codes::APP_FILE_OUTSIDE, "data.dir", format!("`{hint}` {error}"), help);
    }
    all
}

/// Bytes of the file, or of the document in the directory that is named instead.
fn file_size(tree: &dyn Tree, path: &TreePath, member: MemberFile) -> Result<u64, String> {
    let metadata = tree.metadata(path).map_err(|error| error.to_string())?;
    match metadata.kind {
        FileKind::File => Ok(metadata.size),
        FileKind::Directory if !member.0.is_empty() => {
            let inside = path.child(member.0).map_err(|error| error.to_string())?;
            match tree.metadata(&inside) {
                Ok(found) if found.kind == FileKind::File => Ok(found.size),
                _ => Err(format!("has no {} in it", member.0)),
            }
        }
        FileKind::Directory => Err("is a directory, not a file".to_owned()),
        _ => Err("is no regular file".to_owned()),
    }
}

/// An id as part of a file name: one leading `@` is dropped, and each run of other characters
/// than letters, digits, `.`, `_` and `-` becomes one `-` (`pack-v1` 4.3).
pub fn safe_id(id: &str) -> String {
    let mut safe = String::with_capacity(id.len());
    let mut in_run = false;
    for letter in id.strip_prefix('@').unwrap_or(id).chars() {
        if letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-') {
            safe.push(letter);
            in_run = false;
        } else if !in_run {
            safe.push('-');
            in_run = true;
        }
    }
    safe
}
