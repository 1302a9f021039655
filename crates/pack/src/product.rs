//! Products: what puts a price on a pack (AIP-55; `pack-v1` 7.4).
//!
//! A product is `products/ID.md`, whose frontmatter names what it is on by an `aip://` ref and
//! gives a price in whole minor units. Products price, they entitle nobody to anything and block
//! no install. Where one applies to a pack, `pricing` in `PACK.md` is ignored.

use std::collections::BTreeMap;
use std::ops::Range;

use holdall_diagnostics::{Code, Diagnostic, Severity, SourceText};
use holdall_skill::directory::read_document;
use holdall_skill::frontmatter::Document;
use holdall_skill::schema::{Form, Issue, IssueKind, NumberRule, Strings, TextRule, Walk};
use holdall_skill::yaml::{self, Node};
use holdall_tree::{EntryName, FileKind, Tree, TreeErrorKind, TreePath};
use serde_json::{Value, json};

use crate::codes;
use crate::definition::Pricing;
use crate::handle::PackHandle;
use crate::refs::{APP_FAMILY, ArtifactRef, PACK_FAMILY};

/// What `schema` has to be.
pub const PRODUCT_SCHEMA: &str = "product/v1";

/// The directory of products in a pack root.
pub const PRODUCTS: &str = "products";

/// The number that packs had in older texts.
const OLD_FAMILY: u64 = 52;

/// What an id has to look like.
pub(crate) const ID_PATTERN: &str = "^[a-z][a-z0-9-]*$";

/// What a currency has to look like.
pub(crate) const CURRENCY_PATTERN: &str = "^[a-z]{3}$";

/// The largest whole number that every reader of JSON keeps.
pub(crate) const MAX_SAFE: u64 = (1 << 53) - 1;

/// A price in whole minor units: cents, not euros.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Price {
    /// Paid once.
    OneTime {
        /// Minor units.
        amount: u64,
        /// Three lower-case letters.
        currency: String,
    },
    /// Units bought in advance.
    PrepaidPool {
        /// Minor units for each.
        unit_price: u64,
        /// Three lower-case letters.
        currency: String,
        /// How many are bought at once.
        grant: u64,
    },
    /// Each call is counted.
    PayPerCall {
        /// Minor units for each.
        unit_price: u64,
        /// Three lower-case letters.
        currency: String,
        /// What counts.
        meter: String,
    },
}

impl Price {
    /// The model's word.
    pub const fn model(&self) -> &'static str {
        match self {
            Self::OneTime { .. } => "one-time",
            Self::PrepaidPool { .. } => "prepaid-pool",
            Self::PayPerCall { .. } => "pay-per-call",
        }
    }

    /// The price as it stands in the document.
    pub fn to_json(&self) -> Value {
        match self {
            Self::OneTime { amount, currency } => {
                json!({ "model": self.model(), "amountMinor": amount, "currency": currency })
            }
            Self::PrepaidPool { unit_price, currency, grant } => json!({
                "model": self.model(), "unitPriceMinor": unit_price, "currency": currency,
                "grantUnits": grant,
            }),
            Self::PayPerCall { unit_price, currency, meter } => json!({
                "model": self.model(), "unitPriceMinor": unit_price, "currency": currency,
                "meter": meter,
            }),
        }
    }
}

/// A valid product.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Product {
    id: String,
    on: ArtifactRef,
    price: Price,
    rail: Option<String>,
    title: Option<String>,
    description: Option<String>,
    source: SourceText,
    on_span: Range<usize>,
    path: Option<TreePath>,
}

impl Product {
    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What it prices; a pinned ref prices that version alone.
    pub const fn on(&self) -> &ArtifactRef {
        &self.on
    }

    /// The price.
    pub const fn price(&self) -> &Price {
        &self.price
    }

    /// How it is paid: `stripe`, `autumn`, `tbd`, or a vendor's word.
    pub fn rail(&self) -> Option<&str> {
        self.rail.as_deref()
    }

    /// Its title.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// What it is.
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// The file it was read from, as the tree names it; none for a text without one.
    pub const fn path(&self) -> Option<&TreePath> {
        self.path.as_ref()
    }

    /// A finding about what the product is on, at its place in the document.
    fn finding(&self, code: &Code, message: String, help: impl Into<String>) -> Diagnostic {
        let found = Diagnostic::new(code, message).span(&self.source, self.on_span.clone());
        match &self.path {
            Some(path) => found.help(help).at(path.as_str()),
            None => found.help(help),
        }
    }

    /// The facts of it.
    pub fn to_json(&self) -> Value {
        json!({
            "id": self.id,
            "on": self.on.to_object(),
            "price": self.price.to_json(),
            "billingRail": self.rail,
            "title": self.title,
            "description": self.description,
        })
    }

    fn applies(&self, name: &str, version: &str) -> bool {
        self.on.aip() == PACK_FAMILY
            && self.on.id() == name
            && self.on.version().is_none_or(|pinned| pinned == version)
    }
}

/// What came of checking a product.
#[derive(Debug, Clone, Default)]
pub struct CheckedProduct {
    /// The product, if nothing found is an error.
    pub product: Option<Product>,
    /// Everything found, in the order of the file, without a path.
    pub diagnostics: Vec<Diagnostic>,
}

/// Checks the bytes of a product. `stem` is its file name without `.md`, where that is known.
pub fn check_product(source: &SourceText, stem: Option<&str>) -> CheckedProduct {
    let mut checked = CheckedProduct::default();
    let document = match Document::split(source) {
        Ok(document) => document,
        Err(error) => {
            checked.diagnostics.push(error.diagnostic(source));
            return checked;
        }
    };
    let parsed = yaml::parse(&document);
    checked.diagnostics = parsed.diagnostics;
    let Some(root) = parsed.root else { return checked };
    let mut walk = Walk::new(Strings::Strict, Some(source));
    let mut unknown = Vec::new();
    let product = walk_product(&mut walk, source, &root, &mut unknown);
    let (issues, _) = walk.finish();
    checked.diagnostics.extend(issues.iter().map(|issue| diagnostic(issue, source)));
    for (key, span) in unknown {
        let found = Diagnostic::new(&codes::PRODUCT_KEY, format!("product/v1 has no key `{key}`"));
        let help = "put data of your own below `metadata`";
        checked.diagnostics.push(found.span(source, span).help(help));
    }
    if checked.diagnostics.iter().all(|found| found.severity != Severity::Error) {
        if let (Some(product), Some(stem)) = (&product, stem)
            && product.id != stem
        {
            let message = format!("the product `{}` stands in `{stem}.md`", product.id);
            let span = root.get("id").map_or(0..0, |node| node.span.clone());
            checked.diagnostics.push(
                Diagnostic::new(&codes::PRODUCT_FILE, message)
                    .span(source, span)
                    .help("rename the file, or change the id"),
            );
        }
        checked.product = product;
    }
    checked.diagnostics.sort_by_key(|found| found.span.map(|span| span.start.offset));
    checked
}

const SOME: TextRule = TextRule { min: 1, max: None, form: None, literal: None };
const ANY: TextRule = TextRule { min: 0, max: None, form: None, literal: None };

/// A key that the schema does not know, and its bytes.
type Unknown = (String, Range<usize>);

fn walk_product(
    walk: &mut Walk,
    source: &SourceText,
    root: &Node,
    unknown: &mut Vec<Unknown>,
) -> Option<Product> {
    let mut fields = walk.object(root)?;
    let mut required = |walk: &mut Walk, key: &'static str, expected: &'static str, rule| {
        let node = fields.required(walk, key, expected)?;
        walk.at(key, |walk| walk.text(node, rule))
    };
    let schema = TextRule { literal: Some(PRODUCT_SCHEMA), ..ANY };
    let schema = required(walk, "schema", "\"product/v1\"", schema);
    let form = Form { matches: is_id, pattern: ID_PATTERN };
    let id = TextRule { min: 2, max: Some(96), form: Some(form), literal: None };
    let id = required(walk, "id", "string", id);
    let kind = TextRule { literal: Some("pricing"), ..ANY };
    let kind = required(walk, "kind", "\"pricing\"", kind);
    let on = fields
        .required(walk, "on", "string")
        .and_then(|node| walk.at("on", |walk| walk_on(walk, node)));
    let price = fields
        .required(walk, "price", "object")
        .and_then(|node| walk.at("price", |walk| walk_price(walk, node)));
    let rail = fields
        .optional("billingRail")
        .map(|node| walk.at("billingRail", |walk| walk_rail(walk, node, price.as_ref())));
    let mut optional = |walk: &mut Walk, key: &'static str| {
        let node = fields.optional(key)?;
        walk.at(key, |walk| walk.text(node, ANY))
    };
    let title = optional(walk, "title");
    let description = optional(walk, "description");
    if let Some(metadata) = fields.optional("metadata") {
        walk.at("metadata", |walk| walk.object(metadata).map(|fields| fields.leave_open()));
    }
    unknown.extend(fields.unknown().map(|entry| (entry.key.clone(), entry.key_span.clone())));
    fields.leave_open();
    schema?;
    kind?;
    Some(Product {
        id: id?,
        on: on?,
        price: price?,
        rail: rail.flatten(),
        title,
        description,
        source: source.clone(),
        on_span: root.get("on").map_or(0..0, |node| node.span.clone()),
        path: None,
    })
}

fn is_id(text: &str) -> bool {
    let rest = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    text.as_bytes().first().is_some_and(u8::is_ascii_lowercase) && text.bytes().all(rest)
}

fn is_currency(text: &str) -> bool {
    text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_lowercase())
}

fn walk_on(walk: &mut Walk, node: &Node) -> Option<ArtifactRef> {
    let parsed = if node.as_mapping().is_some() {
        ArtifactRef::from_object(&node.to_json())
    } else {
        ArtifactRef::parse(&walk.text(node, ANY)?)
    };
    match parsed {
        Ok(reference) => Some(reference),
        Err(error) => {
            let help = error.diagnostic().help;
            walk.issue(node.span.clone(), error.to_string()).help = help;
            None
        }
    }
}

fn walk_price(walk: &mut Walk, node: &Node) -> Option<Price> {
    let mut fields = walk.object(node)?;
    let model_node = fields.required(walk, "model", "string")?;
    let model = walk.at("model", |walk| walk.text(model_node, SOME))?;
    let form = Form { matches: is_currency, pattern: CURRENCY_PATTERN };
    let currency = fields.required(walk, "currency", "string").and_then(|node| {
        walk.at("currency", |walk| walk.text(node, TextRule { form: Some(form), ..ANY }))
    });
    let mut whole = |walk: &mut Walk, key: &'static str, min: f64| {
        let node = fields.required(walk, key, "number")?;
        let rule = NumberRule { min: Some(min), max: None, integer: true };
        #[expect(clippy::cast_sign_loss, reason = "the rule lets no negative number pass")]
        walk.at(key, |walk| walk.number(node, rule)).map(|number| number as u64)
    };
    let price = match model.as_str() {
        "one-time" => {
            let amount = whole(walk, "amountMinor", 0.0);
            Price::OneTime { amount: amount?, currency: currency? }
        }
        "prepaid-pool" => {
            let unit_price = whole(walk, "unitPriceMinor", 0.0);
            let grant = whole(walk, "grantUnits", 1.0);
            Price::PrepaidPool { unit_price: unit_price?, currency: currency?, grant: grant? }
        }
        "pay-per-call" => {
            let unit_price = whole(walk, "unitPriceMinor", 0.0);
            let rule = TextRule { min: 1, max: Some(96), ..ANY };
            let meter = fields
                .required(walk, "meter", "string")
                .and_then(|node| walk.at("meter", |walk| walk.text(node, rule)));
            Price::PayPerCall { unit_price: unit_price?, currency: currency?, meter: meter? }
        }
        _ => {
            let message = "the models are one-time, prepaid-pool and pay-per-call";
            walk.at("model", |walk| {
                walk.issue(model_node.span.clone(), message);
            });
            return None;
        }
    };
    fields.leave_open();
    Some(price)
}

fn walk_rail(walk: &mut Walk, node: &Node, price: Option<&Price>) -> Option<String> {
    let mut fields = walk.object(node)?;
    let rail = fields
        .required(walk, "rail", "string")
        .and_then(|node| walk.at("rail", |walk| walk.text(node, SOME)));
    let meter =
        fields.optional("meterId").and_then(|n| walk.at("meterId", |walk| walk.text(n, SOME)));
    fields.leave_open();
    if rail.as_deref() == Some("stripe")
        && matches!(price, Some(Price::PayPerCall { .. }))
        && meter.is_none()
    {
        let message = "a call paid through stripe needs `meterId`";
        walk.at("meterId", |walk| {
            walk.issue(node.span.clone(), message);
        });
    }
    rail
}

fn diagnostic(issue: &Issue, source: &SourceText) -> Diagnostic {
    let part = issue.path.split('.').next().unwrap_or_default();
    let code: &Code = match (issue.kind, part) {
        (IssueKind::Missing, _) => &codes::PRODUCT_FIELD,
        (_, "price" | "billingRail") => &codes::PRODUCT_PRICE,
        (_, "on") => &codes::PRODUCT_REF,
        _ => &codes::PRODUCT_FIELD,
    };
    let mut found = issue.diagnostic(code, Some(source));
    let minor = issue.path.ends_with("Minor") && issue.kind == IssueKind::Type;
    found.help = issue
        .help
        .clone()
        .or_else(|| minor.then(|| "write whole minor units: 2900 for 29.00".to_owned()))
        .or_else(|| Some("`holdall schema product` shows what is allowed".to_owned()));
    found
}

/// The products of a directory.
#[derive(Debug, Clone, Default)]
pub struct Products {
    /// Those that are valid, sorted by id.
    pub products: Vec<Product>,
    /// Everything found, with the paths of the tree.
    pub diagnostics: Vec<Diagnostic>,
    /// Files that were looked at.
    pub files: usize,
}

/// Reads `products/*.md` below `root`. Without that directory there are none.
pub fn products_of(tree: &dyn Tree, root: &TreePath) -> Products {
    let mut all = Products::default();
    let Ok(directory) = root.child(PRODUCTS) else { return all };
    let entries = match tree.read_dir(&directory) {
        Ok(entries) => entries,
        Err(error) => {
            if !matches!(error.kind, TreeErrorKind::NotFound | TreeErrorKind::NotADirectory) {
                let found = Diagnostic::new(&codes::PRODUCT_FIELD, error.to_string());
                all.diagnostics.push(found.at(directory.as_str()));
            }
            return all;
        }
    };
    let mut files: BTreeMap<String, TreePath> = BTreeMap::new();
    for entry in entries {
        if let (EntryName::Utf8(name), FileKind::File | FileKind::Symlink) =
            (entry.name, entry.kind)
            && let Some(stem) = name.strip_suffix(".md")
            && let Ok(path) = directory.child(&name)
        {
            files.insert(stem.to_owned(), path);
        }
    }
    let mut seen: BTreeMap<String, TreePath> = BTreeMap::new();
    for (stem, path) in files {
        all.files += 1;
        let source = match read_document(tree, &path) {
            Ok(source) => source,
            Err(found) => {
                all.diagnostics.push(*found);
                continue;
            }
        };
        let checked = check_product(&source, Some(&stem));
        all.diagnostics.extend(checked.diagnostics.into_iter().map(|each| each.at(path.as_str())));
        let Some(mut product) = checked.product else { continue };
        if let Some(first) = seen.get(product.id()) {
            let message = format!("`{first}` has the id `{}` too", product.id());
            let found = Diagnostic::new(&codes::PRODUCT_TWICE, message);
            all.diagnostics.push(found.at(path.as_str()).help("give one of the two another id"));
            continue;
        }
        seen.insert(product.id().to_owned(), path.clone());
        product.path = Some(path);
        all.products.push(product);
    }
    all.products.sort_by(|a, b| a.id.cmp(&b.id));
    all
}

/// What a pack costs.
#[derive(Debug, Clone, PartialEq)]
pub enum PackPrice<'a> {
    /// These products, by id; several are all offers, and nobody picks among them.
    Products(Vec<&'a Product>),
    /// No product applies: the legacy block of `PACK.md`, in major units of no stated currency.
    Legacy(Pricing),
    /// Nothing says.
    Unpriced,
}

/// The price of a pack, and the warning that both forms exist. A product that pins this version
/// beats those that follow every version. The warning has no place: the handle knows no file
/// ([`crate::LoadedPack::price`] adds it).
pub fn price_of<'a>(
    pack: &PackHandle,
    products: &'a [Product],
) -> (PackPrice<'a>, Option<Diagnostic>) {
    let applies = |product: &&Product| product.applies(pack.name(), pack.version());
    let mut offers: Vec<&Product> = products.iter().filter(applies).collect();
    if offers.iter().any(|product| product.on.version().is_some()) {
        offers.retain(|product| product.on.version().is_some());
    }
    offers.sort_by(|a, b| a.id.cmp(&b.id));
    match (offers.is_empty(), pack.pricing()) {
        (true, None) => (PackPrice::Unpriced, None),
        (true, Some(pricing)) => (PackPrice::Legacy(*pricing), None),
        (false, None) => (PackPrice::Products(offers), None),
        (false, Some(pricing)) => {
            let warning = (!offers.iter().any(|offer| agrees(offer, *pricing))).then(|| {
                let names: Vec<_> = offers.iter().map(|offer| offer.id.as_str()).collect();
                let message = format!(
                    "`{}` has `pricing`, and is priced by {}",
                    pack.name(),
                    names.join(", ")
                );
                Diagnostic::new(&codes::PRICE_TWICE, message)
                    .help("remove `pricing` from PACK.md: the product counts")
            });
            (PackPrice::Products(offers), warning)
        }
    }
}

/// Whether a product says the same as the legacy block, as far as the two can be compared: prices
/// paid once in a currency of two decimals.
fn agrees(product: &Product, pricing: Pricing) -> bool {
    /// Currencies that have no hundredths (ISO 4217).
    const OTHERS: [&str; 22] = [
        "bhd", "bif", "clp", "djf", "gnf", "iqd", "jod", "jpy", "kmf", "krw", "kwd", "lyd", "omr",
        "pyg", "rwf", "tnd", "ugx", "vnd", "vuv", "xaf", "xof", "xpf",
    ];
    let Price::OneTime { amount, currency } = &product.price else { return false };
    #[expect(clippy::cast_precision_loss, reason = "whole numbers below 2^53")]
    let same = (pricing.bundle * 100.0 - *amount as f64).abs() < 1e-6;
    same && *amount <= MAX_SAFE && !OTHERS.contains(&currency.as_str())
}

/// Products that price nothing which is known here: an error each, and a hint for those on the
/// number that packs once had, each at `on` in the product's file. `known` answers whether a pack or
/// app exists.
pub fn dangling<'a>(
    products: &'a [Product],
    known: impl Fn(&ArtifactRef) -> bool,
) -> Vec<(&'a Product, Diagnostic)> {
    let judge = |product: &'a Product| {
        let on = &product.on;
        let shown = on.to_uri().unwrap_or_else(|_| on.to_object().to_string());
        if on.aip() == OLD_FAMILY {
            let message = format!("the product `{}` is on {shown}", product.id);
            let help = format!("packs are aip://{PACK_FAMILY}/NAME");
            return Some(product.finding(&codes::PRODUCT_OLD_FAMILY, message, help));
        }
        if known(on) {
            return None;
        }
        let sort = match on.aip() {
            PACK_FAMILY => "no pack of this name is known here",
            APP_FAMILY => "no app of this id is known here",
            _ => "nothing of this family is known here",
        };
        let message = format!("the product `{}` is on {shown}: {sort}", product.id);
        Some(product.finding(&codes::PRODUCT_DANGLING, message, "correct `on`"))
    };
    products.iter().filter_map(|product| Some((product, judge(product)?))).collect()
}
