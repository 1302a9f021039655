//! Packs: what one brings together, whether it can ship, what it costs, and its digest.

use holdall_diagnostics::{Diagnostic, Severity};
use holdall_pack::{LoadedPack, PackPrice, PackStatus, Price, Product, read_pack};
use holdall_source::Opened;
use holdall_tree::{FileKind, Limits, Tree, TreePath, walk};
use serde_json::{Map, Value, json};

use super::skills::{self, placed};
use super::{Checked, Covered, Inspected, app};
use crate::outcome::Failure;
use crate::report::{Report, count, size};

/// A pack with the findings that are no errors, placed in the source.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// The pack.
    pub(crate) pack: LoadedPack,
    /// Warnings.
    pub(crate) warnings: Vec<Diagnostic>,
}

/// Reads the pack of a source; what is wrong with it is the failure.
pub(crate) fn load(opened: &Opened) -> Result<Loaded, Failure> {
    let directory = directory(opened);
    let root = read_pack(opened.tree(), directory.as_deref());
    let found = placed(opened, root.diagnostics);
    match root.pack {
        Some(pack) => Ok(Loaded { pack, warnings: found }),
        None => Err(Failure::new(found)),
    }
}

/// The name of the root's directory, where it is a directory that has one.
pub(super) fn directory(opened: &Opened) -> Option<String> {
    if opened.is_sealed() {
        return None;
    }
    let path = opened.location().canonicalize_utf8().ok()?;
    path.file_name().map(str::to_owned)
}

/// Files below a path and their bytes, links and `.git` not counted.
pub(super) fn measure(opened: &Opened, path: &TreePath) -> Result<(usize, u64), Failure> {
    let (mut files, mut bytes) = (0, 0_u64);
    let mut steps = walk(opened.tree(), path, Limits::default());
    while let Some(step) = steps.next() {
        let entry = step.map_err(|error| opened.error(error))?;
        if entry.path.as_str() == ".git" {
            steps.skip_children();
        } else if entry.kind == FileKind::File {
            let metadata = opened.tree().metadata(&entry.path);
            files += 1;
            bytes += metadata.map_err(|error| opened.error(error))?.size;
        }
    }
    Ok((files, bytes))
}

/// What a pack answers to `inspect`.
pub(super) fn inspect(opened: &Opened, answer: &mut Inspected) -> Result<(), Failure> {
    let Loaded { pack, mut warnings } = load(opened)?;
    let (files, bytes) = measure(opened, &TreePath::root())?;
    let mut own = Vec::new();
    for path in pack.skills() {
        let looked = skills::look(opened, path)?;
        warnings.extend(placed(opened, looked.findings()));
        own.push(looked);
    }
    let (price, twice) = pack.price();
    let found = prices_nothing(&pack).into_iter().chain(twice).collect();
    warnings.extend(placed(opened, found));
    people(&pack, &own, &price, (files, bytes), &mut answer.report);
    let warns = warnings.iter().map(|found| {
        let path = found.path.as_deref().unwrap_or_default();
        format!("{} {path}: {}", found.code, found.message)
    });
    answer.report.rows("warns", warns, "nothing");
    let facts = &mut answer.facts;
    facts.insert("pack".to_owned(), itself(&pack, &own, &price));
    let scripts: Vec<Value> = own.iter().flat_map(skills::Looked::script_facts).collect();
    facts.insert("runs".to_owned(), json!(scripts));
    facts.insert("reaches".to_owned(), json!(reaches(&pack)));
    facts.insert("signed".to_owned(), json!(false));
    facts.insert("sizes".to_owned(), json!({ "files": files, "bytes": bytes }));
    facts.insert("warns".to_owned(), json!(warnings));
    Ok(())
}

/// Products of the root that price neither the pack nor one of its apps.
fn prices_nothing(pack: &LoadedPack) -> Vec<Diagnostic> {
    let known = |on: &holdall_pack::ArtifactRef| match on.aip() {
        holdall_pack::PACK_FAMILY => on.id() == pack.handle().name(),
        holdall_pack::APP_FAMILY => pack.apps().iter().any(|app| app.id == on.id()),
        _ => false,
    };
    pack.dangling(known)
}

fn people(
    pack: &LoadedPack,
    own: &[skills::Looked],
    price: &PackPrice<'_>,
    (files, bytes): (usize, u64),
    report: &mut Report,
) {
    let handle = pack.handle();
    report.head(format!(
        "{} {}   pack, {}, {}, {}",
        handle.name(),
        handle.version(),
        handle.status(),
        count(files, "file"),
        size(bytes)
    ));
    report.row("is", format!("{}: {}", handle.title(), handle.description()));
    if handle.status() == PackStatus::Gated {
        report.rows("blockers", handle.blockers(), "");
    }
    let includes = handle.includes().iter().map(|include| format!("{include} (an include)"));
    let names = own.iter().map(skills::Looked::name);
    report.rows("skills", names.chain(includes), "none");
    let apps = pack.apps().iter().map(|app| format!("{} {}", app.id, app.manifest.version()));
    report.rows("apps", apps, "none");
    if let Some(knowledge) = handle.knowledge() {
        report.row("knowledge", format!("of the workspace {}", knowledge.workspace));
    }
    if let Some(playbook) = handle.playbook() {
        report.row("playbook", &playbook.title);
    }
    report.rows("price", price_lines(price), "none");
    let scripts = own.iter().flat_map(skills::Looked::script_lines);
    report.rows("runs", scripts, "nothing by itself");
    let reaches = reaches(pack).into_iter().map(|(app, root)| format!("{app} reads {root}"));
    report.rows("reaches", reaches, "nothing outside its own directory");
    report.row("digest", format!("{}  ({})", pack.digest().digest(), covers(pack)));
    report.row("signed", "no");
}

fn price_lines(price: &PackPrice<'_>) -> Vec<String> {
    match price {
        PackPrice::Unpriced => Vec::new(),
        PackPrice::Products(products) => products.iter().map(|each| product_line(each)).collect(),
        PackPrice::Legacy(pricing) => {
            vec![format!("{} for the bundle, in no stated currency (legacy)", pricing.bundle)]
        }
    }
}

fn product_line(product: &Product) -> String {
    let what = match product.price() {
        Price::OneTime { amount, currency } => format!("{amount} minor units of {currency}, once"),
        Price::PrepaidPool { unit_price, currency, grant } => {
            format!("{unit_price} minor units of {currency} a unit, {grant} at once")
        }
        Price::PayPerCall { unit_price, currency, meter } => {
            format!("{unit_price} minor units of {currency} for each {meter}")
        }
    };
    format!("{}: {what}", product.id())
}

/// Directories of the machine that apps read, each with its app.
fn reaches(pack: &LoadedPack) -> Vec<(String, String)> {
    let of = |app: &holdall_pack::LoadedApp| {
        let id = app.id.clone();
        let roots = app.manifest.external_read_roots().to_vec();
        roots.into_iter().map(move |root| (id.clone(), root))
    };
    pack.apps().iter().flat_map(of).collect()
}

fn covers(pack: &LoadedPack) -> String {
    match pack.apps().len() {
        0 => "PACK.md; no skill".to_owned(),
        apps => format!("PACK.md and {apps} APP.md; no skill and no other file"),
    }
}

fn itself(pack: &LoadedPack, own: &[skills::Looked], price: &PackPrice<'_>) -> Value {
    let handle = pack.handle();
    let apps: Vec<Value> = pack
        .apps()
        .iter()
        .map(|each| {
            let mut fact = app::fact(&each.manifest);
            fact["path"] = json!(each.label);
            fact
        })
        .collect();
    let own: Vec<Value> = own.iter().map(skills::Looked::fact).collect();
    let includes: Vec<String> = handle.includes().iter().map(ToString::to_string).collect();
    let products: Vec<Value> = pack.products().iter().map(Product::to_json).collect();
    let price = match price {
        PackPrice::Unpriced => json!({ "kind": "none" }),
        PackPrice::Legacy(_) => json!({ "kind": "legacy" }),
        PackPrice::Products(offers) => {
            let ids: Vec<_> = offers.iter().map(|each| each.id()).collect();
            json!({ "kind": "products", "products": ids })
        }
    };
    let mut fact = Map::new();
    fact.insert("manifest".to_owned(), handle.to_json());
    fact.insert("name".to_owned(), json!(handle.name()));
    fact.insert("version".to_owned(), json!(handle.version()));
    fact.insert("status".to_owned(), json!(handle.status().as_str()));
    fact.insert("blockers".to_owned(), json!(handle.blockers()));
    fact.insert("ref".to_owned(), json!(handle.reference().ok().map(|each| each.to_string())));
    fact.insert(
        "pin".to_owned(),
        json!(handle.pinned_reference().ok().map(|each| each.to_string())),
    );
    fact.insert("digest".to_owned(), pack.digest().record(handle));
    fact.insert("apps".to_owned(), json!(apps));
    fact.insert("skills".to_owned(), json!(own));
    fact.insert("includes".to_owned(), json!(includes));
    fact.insert("products".to_owned(), json!(products));
    fact.insert("price".to_owned(), price);
    Value::Object(fact)
}

/// Whether the pack, its apps and its skills can be read.
pub(super) fn check(opened: &Opened, checked: &mut Checked) -> Result<(), Failure> {
    let directory = directory(opened);
    let root = read_pack(opened.tree(), directory.as_deref());
    let mut found = placed(opened, root.diagnostics);
    let mut compared = "PACK.md with pack/v1".to_owned();
    if let Some(pack) = &root.pack {
        for path in pack.skills() {
            found.extend(placed(opened, skills::look(opened, path)?.findings()));
        }
        compared.push_str(&format!(
            ", {} with app/v1, {} with the rules of Agent Skills",
            count(pack.apps().len(), "app"),
            count(pack.skills().len(), "skill")
        ));
    }
    checked.compared.push(compared);
    for each in found {
        if each.severity == Severity::Error {
            checked.differences.push(each);
        } else {
            checked.oddities.push(each);
        }
    }
    Ok(())
}

/// The pack digest.
pub(super) fn digests(opened: &Opened, all: &mut Vec<Covered>) -> Result<(), Failure> {
    let Loaded { pack, .. } = load(opened)?;
    all.push(Covered {
        digest: pack.digest().digest(),
        covers: "PACK.md and each APP.md; no skill and no other file",
    });
    Ok(())
}
