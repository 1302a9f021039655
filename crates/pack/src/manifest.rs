//! `PACK.md`: one schema, two doors.
//!
//! [`define_pack`] takes a definition built in code, [`parse_pack_manifest`] and
//! [`pack_from_manifest`] the text of a document; both walk the same schema, so the same fault
//! reads the same behind the door's prefix. [`check_pack`] is the text door for people: every
//! fault and warning at once, each with its place. The rules are those of AIP-64 and of `pack-v1`
//! sections 1 and 2.

use std::fmt;
use std::ops::Range;

use holdall_diagnostics::{Code, Diagnostic, Severity, SourceText};
use holdall_skill::fix::Fix;
use holdall_skill::frontmatter::{Document, SplitError};
use holdall_skill::schema::{
    Form, Issue, IssueKind, NumberRule, Strings, TextRule, Walk, did_you_mean,
};
use holdall_skill::yaml::{self, Node, Parsed};

use crate::codes;
use crate::definition::{
    AppEntry, Definition, Knowledge, PackDefinition, Playbook, Plugin, Pricing,
};
use crate::handle::PackHandle;
use crate::name::{MAX_NAME, MIN_NAME, NAME_PATTERN, has_name_form};
use crate::pin::{Convention, Include, IncludeError};

/// The file that makes a directory a pack root.
pub const FILE: &str = "PACK.md";

/// What `schema` has to be.
pub const SCHEMA: &str = "pack/v1";

/// Most characters of a title.
pub const MAX_TITLE: usize = 200;

/// Most characters of a description.
pub const MAX_DESCRIPTION: usize = 2000;

/// The number in the prefix of errors from the code door. Texts of older hosts say 52, which was
/// a placeholder; nobody may read a meaning into it.
pub const AIP: u32 = 64;

/// What any document type's id has to look like; the schema is narrower.
const IDENTITY_PATTERN: &str = "^[a-z0-9][a-z0-9._-]{1,79}$";

/// The keys of the document, in the order of the schema.
pub const KEYS: [&str; 11] = [
    "schema",
    "name",
    "title",
    "description",
    "version",
    "plugin",
    "apps",
    "knowledge",
    "playbook",
    "pricing",
    "blockers",
];

/// A document whose fields have passed. It is no pack yet: [`pack_from_manifest`] adds the rules
/// that span fields.
#[derive(Debug, Clone)]
pub struct PackManifest {
    source: SourceText,
    body: Range<usize>,
    root: Node,
    fields: Fields,
}

/// The typed fields of a document that passed the schema.
#[derive(Debug, Clone)]
struct Fields {
    definition: PackDefinition,
    includes: Vec<Include>,
}

impl PackManifest {
    /// The fields.
    pub const fn frontmatter(&self) -> &PackDefinition {
        &self.fields.definition
    }

    /// The text behind the frontmatter. It means nothing.
    pub fn body(&self) -> &str {
        std::str::from_utf8(&self.source.bytes()[self.body.clone()]).unwrap_or_default()
    }

    /// The document.
    pub const fn source(&self) -> &SourceText {
        &self.source
    }

    /// The bytes of a value, by keys and list indexes: `["apps", "1", "path"]`. The whole
    /// frontmatter where there is no such value.
    pub fn span_of(&self, path: &[&str]) -> Range<usize> {
        let step = |node: &'_ Node, key: &&str| match node.as_sequence() {
            Some(items) => items.get(key.parse::<usize>().ok()?).cloned(),
            None => node.get(key).cloned(),
        };
        let found = path.iter().try_fold(self.root.clone(), |node, key| step(&node, key));
        found.map_or_else(|| self.root.span.clone(), |node| node.span)
    }
}

/// Why a definition or a document is no pack. Shown with the prefix of its door.
#[derive(Debug, Clone)]
pub struct PackError {
    prefix: String,
    problem: String,
    diagnostics: Vec<Diagnostic>,
}

impl PackError {
    /// The faults without the prefix: `path: message`, joined by `; `.
    pub fn problem(&self) -> &str {
        &self.problem
    }

    /// One finding a fault. From the text door they have their places, but no path.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
}

impl fmt::Display for PackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.prefix, self.problem)
    }
}

impl std::error::Error for PackError {}

/// The code door: identity, description, schema, rules that span fields, in this order, and the
/// first that fails is the error.
pub fn define_pack(definition: impl Into<Definition>) -> Result<PackHandle, PackError> {
    let Definition(root) = definition.into();
    check_identity(&root)?;
    let mut walk = Walk::new(Strings::Strict, None);
    let fields = walk_pack(&mut walk, &root);
    let issues = errors(walk.finish().0);
    let Some(fields) = fields.filter(|_| issues.is_empty()) else {
        return Err(definition_error(&issues, None));
    };
    cross_rules_hold(&root, None)?;
    Ok(PackHandle::new(fields.definition, fields.includes))
}

/// The text door: frontmatter and body of a `PACK.md`, its fields checked. Every fault of the
/// fields is in the one error.
pub fn parse_pack_manifest(source: &SourceText) -> Result<PackManifest, PackError> {
    let examined = examine(source).map_err(|error| {
        let diagnostics = vec![error.diagnostic(source)];
        if error.is_missing_or_empty() {
            let problem = "missing or empty frontmatter".to_owned();
            return PackError { prefix: "parsePackManifest: ".to_owned(), problem, diagnostics };
        }
        manifest_error("", located(&diagnostics), diagnostics)
    })?;
    let yaml_faults: Vec<_> = examined
        .parsed
        .diagnostics
        .iter()
        .filter(|found| found.severity == Severity::Error)
        .cloned()
        .collect();
    if !yaml_faults.is_empty() {
        return Err(manifest_error("invalid YAML — ", located(&yaml_faults), yaml_faults));
    }
    let issues = errors(examined.field_issues);
    match (examined.parsed.root, examined.fields) {
        (Some(root), Some(fields)) if issues.is_empty() => {
            Ok(PackManifest { source: source.clone(), body: examined.body, root, fields })
        }
        _ => {
            let diagnostics = issues.iter().map(|issue| diagnostic(issue, Some(source)));
            Err(manifest_error("invalid frontmatter — ", joined(&issues), diagnostics.collect()))
        }
    }
}

/// The pack of a document: the rules that span fields, and the handle.
pub fn pack_from_manifest(manifest: &PackManifest) -> Result<PackHandle, PackError> {
    check_identity(&manifest.root)?;
    cross_rules_hold(&manifest.root, Some(&manifest.source))?;
    let Fields { definition, includes } = manifest.fields.clone();
    Ok(PackHandle::new(definition, includes))
}

/// What came of checking a `PACK.md`.
#[derive(Debug, Clone, Default)]
pub struct CheckedPack {
    /// The document and the pack, if nothing found is an error.
    pub pack: Option<(PackManifest, PackHandle)>,
    /// Everything found, in the order of the file, without a path.
    pub diagnostics: Vec<Diagnostic>,
    /// The quotes that would cure some of it.
    pub fixes: Vec<Fix>,
}

/// Checks the bytes of a `PACK.md`: every fault and every warning at once. `directory` is the name
/// of the pack root, where that is known.
pub fn check_pack(source: &SourceText, directory: Option<&str>) -> CheckedPack {
    let mut examined = match examine(source) {
        Ok(examined) => examined,
        Err(error) => {
            let diagnostics = vec![error.diagnostic(source)];
            return CheckedPack { diagnostics, ..CheckedPack::default() };
        }
    };
    let mut diagnostics = std::mem::take(&mut examined.parsed.diagnostics);
    let mut fixes = std::mem::take(&mut examined.parsed.fixes);
    let issues = || examined.field_issues.iter().chain(&examined.cross_issues);
    if let Some(root) = &examined.parsed.root
        && issues().any(is_error)
        && is_foreign(root)
    {
        diagnostics.push(foreign(root, source));
    } else {
        diagnostics.extend(issues().map(|issue| diagnostic(issue, Some(source))));
        fixes.append(&mut examined.fixes);
    }
    let mut pack = None;
    if let (Some(root), Some(fields)) = (&examined.parsed.root, &examined.fields) {
        diagnostics.extend(warnings(root, fields, source, directory));
        if diagnostics.iter().all(|found| found.severity != Severity::Error) {
            let (root, fields) = (root.clone(), fields.clone());
            let handle = PackHandle::new(fields.definition.clone(), fields.includes.clone());
            let manifest =
                PackManifest { source: source.clone(), body: examined.body, root, fields };
            pack = Some((manifest, handle));
        }
    }
    diagnostics.sort_by_key(|found| found.span.map(|span| span.start.offset));
    CheckedPack { pack, diagnostics, fixes }
}

/// A document after every check, before anything was judged.
struct Examined {
    body: Range<usize>,
    parsed: Parsed,
    fields: Option<Fields>,
    field_issues: Vec<Issue>,
    cross_issues: Vec<Issue>,
    fixes: Vec<Fix>,
}

fn examine(source: &SourceText) -> Result<Examined, SplitError> {
    let document = Document::split(source)?;
    let parsed = yaml::parse(&document);
    // A null is what is left of frontmatter whose fields were all taken out.
    if let Some(root) = parsed.root.as_ref().filter(|root| is_null(root)) {
        return Err(SplitError::Empty { span: root.span.clone() });
    }
    let mut examined = Examined {
        body: document.body_range(),
        parsed,
        fields: None,
        field_issues: Vec::new(),
        cross_issues: Vec::new(),
        fixes: Vec::new(),
    };
    if let Some(root) = &examined.parsed.root {
        let mut walk = Walk::new(Strings::Strict, Some(source));
        examined.fields = walk_pack(&mut walk, root);
        (examined.field_issues, examined.fixes) = walk.finish();
        examined.cross_issues = cross_rules(root, &examined.field_issues);
    }
    Ok(examined)
}

fn is_null(node: &Node) -> bool {
    let plain = node.as_scalar().filter(|scalar| scalar.style == yaml::Style::Plain);
    plain.is_some_and(|scalar| scalar.reading() == yaml::Reading::Null)
}

/// The schema.
fn walk_pack(walk: &mut Walk, root: &Node) -> Option<Fields> {
    let mut fields = walk.object(root)?;
    let some_text = TextRule { min: 1, ..TextRule::default() };
    let at_most = |max| TextRule { min: 1, max: Some(max), ..TextRule::default() };
    let mut text = |walk: &mut Walk, key: &'static str, rule: TextRule| {
        let expected = if rule.literal.is_some() { "\"pack/v1\"" } else { "string" };
        let node = fields.required(walk, key, expected)?;
        walk.at(key, |walk| walk.text(node, rule))
    };
    text(walk, "schema", TextRule { literal: Some(SCHEMA), ..TextRule::default() });
    let form = Form { matches: has_name_form, pattern: NAME_PATTERN };
    let name_rule =
        TextRule { min: MIN_NAME, max: Some(MAX_NAME), form: Some(form), literal: None };
    let name = text(walk, "name", name_rule);
    let title = text(walk, "title", at_most(MAX_TITLE));
    let description = text(walk, "description", at_most(MAX_DESCRIPTION));
    let version = text(walk, "version", some_text);
    let plugin = fields
        .required(walk, "plugin", "object")
        .and_then(|node| walk.at("plugin", |walk| walk_plugin(walk, node)));
    let apps = fields.optional("apps").and_then(|node| walk.at("apps", |w| walk_apps(w, node)));
    let knowledge = fields
        .optional("knowledge")
        .and_then(|node| walk.at("knowledge", |walk| walk_knowledge(walk, node)));
    let playbook = fields
        .optional("playbook")
        .and_then(|node| walk.at("playbook", |walk| walk_playbook(walk, node)));
    let pricing = fields
        .optional("pricing")
        .and_then(|node| walk.at("pricing", |walk| walk_pricing(walk, node)));
    let blockers = fields
        .optional("blockers")
        .and_then(|node| walk.at("blockers", |walk| walk.texts(node, TextRule::default())));
    fields.close(walk);
    let (plugin, includes) = plugin?;
    let definition = PackDefinition {
        name: name?,
        title: title?,
        description: description?,
        version: version?,
        plugin,
        apps,
        knowledge,
        playbook,
        pricing,
        blockers,
    };
    Some(Fields { definition, includes })
}

fn walk_plugin(walk: &mut Walk, node: &Node) -> Option<(Plugin, Vec<Include>)> {
    let mut fields = walk.object(node)?;
    let inline =
        fields.optional("inline").and_then(|node| walk.at("inline", |walk| walk.boolean(node)));
    let includes = fields
        .optional("includes")
        .and_then(|node| walk.at("includes", |walk| walk.list(node, walk_include)));
    fields.close(walk);
    let Some(includes) = includes else {
        return Some((Plugin { inline, includes: None }, Vec::new()));
    };
    let (texts, includes) = includes.into_iter().unzip();
    Some((Plugin { inline, includes: Some(texts) }, includes))
}

fn walk_include(walk: &mut Walk, node: &Node) -> Option<(String, Include)> {
    let text = walk.text(node, TextRule::default())?;
    match Include::parse(&text) {
        Ok(include) => Some((text, include)),
        Err(error) => {
            walk.issue(node.span.clone(), format!("Invalid include: {error}")).help =
                include_diagnostic(&error).help;
            None
        }
    }
}

fn include_diagnostic(error: &IncludeError) -> Diagnostic {
    match error {
        IncludeError::Pin(error) => error.diagnostic(),
        IncludeError::Package { .. } => Diagnostic::new(&codes::INCLUDE, error.to_string())
            .help("write \"@agentproto/skill-pack-NAME\", or git+https://URL#SHA40"),
    }
}

fn walk_apps(walk: &mut Walk, node: &Node) -> Option<Vec<AppEntry>> {
    let mut seen: Vec<(String, usize)> = Vec::new();
    walk.list(node, |walk, item| {
        let mut fields = walk.object(item)?;
        let some_text = TextRule { min: 1, ..TextRule::default() };
        let id = fields.required(walk, "id", "string").and_then(|node| {
            walk.at("id", |walk| {
                let id = walk.text(node, some_text)?;
                if seen.iter().any(|(other, _)| *other == id) {
                    let message = format!("Repeated app id: \"{id}\"");
                    walk.issue(node.span.clone(), message).help =
                        Some("an id is the key an app is installed under; make it unique".into());
                }
                seen.push((id.clone(), node.span.start));
                Some(id)
            })
        });
        let path = fields
            .required(walk, "path", "string")
            .and_then(|node| walk.at("path", |walk| walk.text(node, some_text)));
        fields.close(walk);
        Some(AppEntry { id: id?, path: path? })
    })
}

fn walk_knowledge(walk: &mut Walk, node: &Node) -> Option<Knowledge> {
    let mut fields = walk.object(node)?;
    let workspace = fields.required(walk, "workspace", "string").and_then(|node| {
        walk.at("workspace", |w| w.text(node, TextRule { min: 1, ..TextRule::default() }))
    });
    let mut texts = |walk: &mut Walk, key: &'static str| {
        let node = fields.optional(key)?;
        walk.at(key, |walk| walk.texts(node, TextRule::default()))
    };
    let any_of = texts(walk, "anyOf");
    let all_of = texts(walk, "allOf");
    let kinds = texts(walk, "kinds");
    fields.close(walk);
    Some(Knowledge { workspace: workspace?, any_of, all_of, kinds })
}

fn walk_playbook(walk: &mut Walk, node: &Node) -> Option<Playbook> {
    let mut fields = walk.object(node)?;
    let title = fields.required(walk, "title", "string").and_then(|node| {
        walk.at("title", |w| w.text(node, TextRule { min: 1, ..TextRule::default() }))
    });
    let root = fields
        .optional("root")
        .and_then(|node| walk.at("root", |walk| walk.text(node, TextRule::default())));
    let rule = NumberRule { min: Some(1.0), max: None, integer: true };
    let chapters = fields
        .optional("targetChapters")
        .and_then(|node| walk.at("targetChapters", |walk| walk.number(node, rule)));
    fields.close(walk);
    #[expect(
        clippy::cast_sign_loss,
        reason = "the rule lets whole numbers from 1 to 2^53 - 1 pass"
    )]
    let target_chapters = chapters.map(|count| count as u64);
    Some(Playbook { title: title?, root, target_chapters })
}

fn walk_pricing(walk: &mut Walk, node: &Node) -> Option<Pricing> {
    let mut fields = walk.object(node)?;
    let rule = NumberRule { min: Some(0.0), ..NumberRule::default() };
    let ebook = fields.optional("ebook").and_then(|n| walk.at("ebook", |w| w.number(n, rule)));
    let bundle = fields
        .required(walk, "bundle", "number")
        .and_then(|node| walk.at("bundle", |walk| walk.number(node, rule)));
    let step = fields.optional("step").and_then(|n| walk.at("step", |w| w.number(n, rule)));
    fields.close(walk);
    Some(Pricing { ebook, bundle: bundle?, step })
}

/// The rules that span fields. A rule is skipped where a fault of the fields it needs was found.
fn cross_rules(root: &Node, field_issues: &[Issue]) -> Vec<Issue> {
    let faulty = |path: &str| {
        let below = |issue: &Issue| {
            issue
                .path
                .strip_prefix(path)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        field_issues.iter().any(|issue| is_error(issue) && below(issue))
    };
    let mut walk = Walk::new(Strings::Strict, None);
    let plugin = root.as_mapping().and_then(|all| all.iter().find(|entry| entry.key == "plugin"));
    if let Some(plugin) = plugin
        && plugin.value.as_mapping().is_some()
        && !faulty("plugin.inline")
        && !faulty("plugin.includes")
    {
        let inline = plugin.value.get("inline").and_then(Node::as_scalar);
        let inline = inline.is_some_and(|inline| inline.reading() == yaml::Reading::Bool(true));
        let includes = plugin.value.get("includes").and_then(Node::as_sequence);
        if !inline && includes.is_none_or(<[Node]>::is_empty) {
            walk.at("plugin", |walk| {
                let message =
                    "Unresolvable plugin: needs inline: true or a non-empty includes list";
                walk.issue(plugin.key_span.clone(), message).help =
                    Some("add `inline: true`, or list packages under `includes`".into());
            });
        }
    }
    if let Some(bundle) = root.get("pricing").and_then(|pricing| pricing.get("bundle"))
        && !faulty("pricing.bundle")
        && let Some(price) = bundle.as_scalar().and_then(yaml::Scalar::portable_number)
        && price <= 0.0
    {
        walk.at("pricing", |walk| {
            walk.at("bundle", |walk| {
                let message = "Invalid price: must be greater than 0";
                walk.issue(bundle.span.clone(), message).help =
                    Some("a pack without a price has no `pricing`".into());
            });
        });
    }
    walk.finish().0
}

fn cross_rules_hold(root: &Node, source: Option<&SourceText>) -> Result<(), PackError> {
    let issues = cross_rules(root, &[]);
    if issues.is_empty() { Ok(()) } else { Err(definition_error(&issues, source)) }
}

/// What every document type asks of a definition before its schema is looked at.
fn check_identity(root: &Node) -> Result<(), PackError> {
    let text = |key| {
        let scalar = root.get(key).and_then(Node::as_scalar)?;
        (scalar.style != yaml::Style::Plain || scalar.elsewhere().is_none())
            .then_some(scalar.text.as_str())
    };
    let fail = |code: &Code, problem: String| {
        let diagnostics = vec![Diagnostic::new(code, problem.clone())];
        Err(PackError { prefix: definition_prefix(), problem, diagnostics })
    };
    let name = text("name");
    let Some(name) = name.filter(|name| is_identity(name)) else {
        let shown: String = name.unwrap_or("undefined").chars().take(100).collect();
        let problem = format!("invalid id '{shown}': must match {IDENTITY_PATTERN}");
        return fail(&codes::PACK_FORM, problem);
    };
    let length = text("description").map(|text| text.chars().count());
    if length.is_none_or(|length| !(1..=MAX_DESCRIPTION).contains(&length)) {
        let problem = format!(
            "invalid description of '{name}': must be a string of 1 to {MAX_DESCRIPTION} characters"
        );
        return fail(&codes::PACK_BOUNDS, problem);
    }
    Ok(())
}

fn is_identity(text: &str) -> bool {
    let word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    (2..=80).contains(&bytes.len())
        && word(bytes[0])
        && bytes[1..].iter().all(|&byte| word(byte) || matches!(byte, b'.' | b'_' | b'-'))
}

/// Whether an issue makes a document wrong, and is not only a warning about its spelling.
fn is_error(issue: &Issue) -> bool {
    !matches!(issue.kind, IssueKind::Word | IssueKind::Comment)
}

fn errors(issues: Vec<Issue>) -> Vec<Issue> {
    issues.into_iter().filter(is_error).collect()
}

fn joined(issues: &[Issue]) -> String {
    issues.iter().map(Issue::line).collect::<Vec<_>>().join("; ")
}

/// Faults of the text itself, with line and column.
fn located(diagnostics: &[Diagnostic]) -> String {
    let line = |found: &Diagnostic| match found.span.map(|span| span.start) {
        Some(at) => format!("line {}, column {}: {}", at.line, at.column, found.message),
        None => found.message.clone(),
    };
    diagnostics.iter().map(line).collect::<Vec<_>>().join("; ")
}

fn definition_prefix() -> String {
    format!("definePack (AIP-{AIP}): ")
}

fn definition_error(issues: &[Issue], source: Option<&SourceText>) -> PackError {
    let diagnostics = issues.iter().map(|issue| diagnostic(issue, source)).collect();
    PackError { prefix: definition_prefix(), problem: joined(issues), diagnostics }
}

fn manifest_error(what: &str, problem: String, diagnostics: Vec<Diagnostic>) -> PackError {
    PackError { prefix: format!("parsePackManifest: {what}"), problem, diagnostics }
}

/// The finding for a broken rule.
fn diagnostic(issue: &Issue, source: Option<&SourceText>) -> Diagnostic {
    let code: &Code = match (issue.kind, issue.path.as_str()) {
        (IssueKind::Missing, _) => &codes::PACK_MISSING,
        (IssueKind::Type, _) => &codes::PACK_TYPE,
        (IssueKind::Bounds, _) => &codes::PACK_BOUNDS,
        (IssueKind::Form, _) => &codes::PACK_FORM,
        (IssueKind::UnknownKey, _) => &codes::PACK_KEY,
        (IssueKind::Rule, "plugin") => &codes::PLUGIN,
        (IssueKind::Rule, "pricing.bundle") => &codes::BUNDLE_PRICE,
        (IssueKind::Rule, path) if path.starts_with("apps.") => &codes::APP_TWICE,
        (IssueKind::Rule, _) if issue.message.contains("not fetched") => &codes::PIN_TRANSPORT,
        (IssueKind::Rule, _) if issue.message.contains("not a git pin") => &codes::PIN,
        // The others have the code that they have in every document.
        _ => &codes::INCLUDE,
    };
    let mut found = issue.diagnostic(code, source);
    found.help = found.help.or_else(|| help(issue).map(str::to_owned));
    found
}

/// What to do about an issue that does not say it itself.
fn help(issue: &Issue) -> Option<&'static str> {
    Some(match (issue.kind, issue.path.as_str()) {
        (IssueKind::Form, "schema") => "write `schema: pack/v1`",
        (IssueKind::Form, "name") => "lower-case letters, digits and hyphens: the-agentic-coder",
        (IssueKind::Type, _) if issue.message.ends_with("received null") => {
            "remove the key, or give it a value"
        }
        (IssueKind::Type, _) if issue.message.ends_with("number, received string") => {
            "write the number without quotes"
        }
        (IssueKind::Type, _) => "`holdall schema pack` shows the types",
        (IssueKind::Bounds, _) => "`holdall schema pack` shows the bounds",
        _ => return None,
    })
}

/// Whether a faulty document was never meant to be a pack: not one field of its own, something
/// foreign, and most of what every pack has missing.
fn is_foreign(root: &Node) -> bool {
    let Some(entries) = root.as_mapping() else { return false };
    let has = |key: &str| entries.iter().any(|entry| entry.key == key);
    let own = ["plugin", "apps", "knowledge", "playbook", "pricing", "blockers"];
    let foreign = |key: &str| !KEYS.contains(&key) && did_you_mean(key, &KEYS).is_none();
    let missing = KEYS[..5].iter().filter(|key| !has(key)).count();
    !own.into_iter().any(has) && missing > 0 && entries.iter().any(|entry| foreign(&entry.key))
}

fn foreign(root: &Node, source: &SourceText) -> Diagnostic {
    let missing: Vec<_> = KEYS[..6].iter().filter(|key| root.get(key).is_none()).copied().collect();
    let message = format!("not a pack/v1 manifest: without `{}`", missing.join("`, `"));
    Diagnostic::new(&codes::PACK_FOREIGN, message).span(source, root.span.clone()).help(
        "if it belongs to another tool, exclude it; `holdall init --template pack` writes a pack",
    )
}

fn warnings(
    root: &Node,
    fields: &Fields,
    source: &SourceText,
    directory: Option<&str>,
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let definition = &fields.definition;
    let span = |key| root.get(key).map_or(0..0, |node| node.span.clone());
    if let Some(directory) = directory
        && directory != definition.name
    {
        let message =
            format!("the pack is named `{}` and its directory `{directory}`", definition.name);
        let diagnostic = Diagnostic::new(&codes::PACK_DIRECTORY, message);
        found.push(diagnostic.span(source, span("name")).help("rename one of the two"));
    }
    if semver::Version::parse(&definition.version).is_err() {
        let message = format!("`{}` is not a semantic version", definition.version);
        let diagnostic = Diagnostic::new(&codes::PACK_VERSION, message);
        let help = "write it as MAJOR.MINOR.PATCH; only such a version can be pinned by a ref";
        found.push(diagnostic.span(source, span("version")).help(help));
    }
    let nodes = root.get("plugin").and_then(|plugin| plugin.get("includes")?.as_sequence());
    for (include, node) in fields.includes.iter().zip(nodes.unwrap_or_default()) {
        if let Include::Package(name) = include
            && name.convention() == Convention::Other
        {
            let message = format!("`{}` is not named like a pack of skills", name.as_str());
            let help =
                "packs are named @agentproto/skill-pack-NAME or @scope/agentproto-skill-pack-NAME";
            let diagnostic = Diagnostic::new(&codes::INCLUDE_NAME, message);
            found.push(diagnostic.span(source, node.span.clone()).help(help));
        }
    }
    found
}
