//! Products: fields, and which of them price a pack (`pack-v1` 7.4).

use holdall_diagnostics::SourceText;
use holdall_pack::{
    PackHandle, PackPrice, Price, Product, check_product, dangling, define_pack, price_of,
    products_of,
};
use holdall_tree::TreePath;
use serde_json::json;

use crate::{errors, lines, tree};

fn product(id: &str, on: &str, price: &str) -> String {
    format!("---\nschema: product/v1\nid: {id}\nkind: pricing\non: {on}\nprice: {price}\n---\n")
}

const ONCE: &str = "{model: one-time, amountMinor: 2900, currency: eur}";

fn valid(text: &str) -> Product {
    let checked = check_product(&SourceText::new(text), None);
    checked.product.unwrap_or_else(|| panic!("{:?}", checked.diagnostics))
}

fn codes(text: &str) -> Vec<String> {
    let checked = check_product(&SourceText::new(text), None);
    errors(&checked.diagnostics).iter().map(ToString::to_string).collect()
}

#[test]
fn a_ref_is_a_text_or_an_object() {
    let text = valid(&product("one", "aip://64/the-pack@1.2.0", ONCE));
    let object = valid(&product("one", "{aip: 64, id: the-pack, version: 1.2.0}", ONCE));
    assert_eq!(text.on(), object.on());
    assert_eq!(text.to_json(), object.to_json());
    assert_eq!(text.price(), &Price::OneTime { amount: 2900, currency: "eur".into() });
    let malformed = check_product(&SourceText::new(product("one", "aip:/64/x", ONCE)), None);
    assert_eq!(errors(&malformed.diagnostics), ["PK0703"]);
    assert!(malformed.diagnostics[0].message.contains("aip:/64/x"), "{:?}", malformed.diagnostics);
    assert_eq!(codes(&product("one", "{aip: 64, id: ''}", ONCE)), ["PK0703"]);
    assert_eq!(codes(&product("one", "{aip: 64, id: x, other: y}", ONCE)), ["PK0703"]);
    assert_eq!(codes(&product("one", "[]", ONCE)), ["PK0703"]);
}

#[test]
fn prices_are_whole_minor_units() {
    let with = |price: &str| codes(&product("one", "aip://64/the-pack", price));
    for good in [
        ONCE,
        "{model: one-time, amountMinor: 0, currency: jpy}",
        "{model: prepaid-pool, unitPriceMinor: 5, currency: usd, grantUnits: 1}",
        "{model: pay-per-call, unitPriceMinor: 5, currency: usd, meter: call}",
    ] {
        assert_eq!(with(good), Vec::<String>::new(), "{good}");
    }
    for bad in [
        "{model: one-time, amountMinor: 29.5, currency: eur}",
        "{model: one-time, amountMinor: -1, currency: eur}",
        "{model: one-time, amountMinor: '29', currency: eur}",
        "{model: one-time, amountMinor: 29, currency: EUR}",
        "{model: one-time, amountMinor: 29, currency: euro}",
        "{model: prepaid-pool, unitPriceMinor: 5, currency: usd, grantUnits: 0}",
        "{model: free, currency: usd}",
    ] {
        assert_eq!(with(bad), ["PK0702"], "{bad}");
    }
    assert_eq!(with("{model: one-time, currency: eur}"), ["PK0701"]);
    assert_eq!(with("{model: pay-per-call, unitPriceMinor: 5, currency: usd}"), ["PK0701"]);
}

#[test]
fn stripe_counts_calls_with_a_meter() {
    let with = |rail: &str, price: &str| {
        let text = product("one", "aip://64/the-pack", price);
        codes(&text.replace("---\n\n", "").replacen(
            "price:",
            &format!("billingRail: {rail}\nprice:"),
            1,
        ))
    };
    let call = "{model: pay-per-call, unitPriceMinor: 5, currency: usd, meter: call}";
    assert_eq!(with("{rail: stripe}", call), ["PK0702"]);
    assert_eq!(with("{rail: stripe, meterId: m}", call), Vec::<String>::new());
    assert_eq!(with("{rail: stripe}", ONCE), Vec::<String>::new());
    assert_eq!(with("{rail: some-vendor}", call), Vec::<String>::new());
}

#[test]
fn other_fields_have_their_rules() {
    let good = product("one", "aip://64/the-pack", ONCE);
    for (from, to, code) in [
        ("schema: product/v1", "schema: product/v2", "PK0701"),
        ("id: one", "id: o", "PK0701"),
        ("id: one", "id: One", "PK0701"),
        ("kind: pricing", "kind: license", "PK0701"),
        ("kind: pricing\n", "", "PK0701"),
        ("on: aip://64/the-pack\n", "", "PK0701"),
    ] {
        assert_eq!(codes(&good.replace(from, to)), [code], "{to}");
    }
    let unknown =
        check_product(&SourceText::new(good.replace("kind:", "flavour: x\nkind:")), Some("two"));
    assert!(unknown.product.is_some());
    assert_eq!(lines(&unknown.diagnostics), ["PK0705 :3", "PK0704 :4"]);
}

#[test]
fn a_directory_of_products() {
    let files = [
        ("products/bb.md", product("bb", "aip://64/the-pack", ONCE)),
        ("products/aa.md", product("aa", "aip://64/the-pack", ONCE)),
        ("products/cc.md", product("aa", "aip://64/the-pack", ONCE)),
        ("products/dd.md", "no frontmatter".to_owned()),
        ("products/README", "not looked at".to_owned()),
    ];
    let borrowed: Vec<_> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let found = products_of(&tree(&borrowed), &TreePath::root());
    let ids: Vec<_> = found.products.iter().map(Product::id).collect();
    assert_eq!((ids, found.files), (vec!["aa", "bb"], 4));
    let errors = errors(&found.diagnostics);
    assert_eq!(errors[0], "PK0706");
    assert_eq!(errors.len(), 2, "{:?}", found.diagnostics);
    assert!(products_of(&tree(&[("x", "y")]), &TreePath::root()).products.is_empty());
}

fn pack(version: &str, bundle: Option<f64>) -> PackHandle {
    let mut value = json!({
        "schema": "pack/v1", "name": "the-pack", "title": "T", "description": "D",
        "version": version, "plugin": { "inline": true },
    });
    if let Some(bundle) = bundle {
        value["pricing"] = json!({ "bundle": bundle });
    }
    define_pack(&value).expect("a pack")
}

#[test]
fn pinned_beats_floating_and_none_is_the_legacy_block() {
    let floating = valid(&product("floating", "aip://64/the-pack", ONCE));
    let pinned = valid(&product("pinned", "aip://64/the-pack@1.2.0", ONCE));
    let other = valid(&product("other", "aip://64/another", ONCE));
    let app = valid(&product("app", "{aip: 53, id: the-pack}", ONCE));
    let ids = |version: &str, products: &[Product]| match price_of(&pack(version, None), products).0
    {
        PackPrice::Products(offers) => offers.iter().map(|each| each.id().to_owned()).collect(),
        PackPrice::Legacy(_) => vec!["legacy".to_owned()],
        PackPrice::Unpriced => vec!["unpriced".to_owned()],
    };
    let all = [floating.clone(), pinned.clone(), other.clone(), app];
    assert_eq!(ids("1.2.0", &all), ["pinned"]);
    assert_eq!(ids("1.3.0", &all), ["floating"]);
    assert_eq!(ids("1.3.0", &[pinned]), ["unpriced"]);
    assert_eq!(ids("1.2.0", &[other]), ["unpriced"]);
    let second = valid(&product("also", "aip://64/the-pack", ONCE));
    assert_eq!(ids("9.0.0", &[floating.clone(), second]), ["also", "floating"], "both are offers");
    let legacy = pack("1.0.0", Some(29.0));
    assert!(
        matches!(price_of(&legacy, &[]).0, PackPrice::Legacy(block) if (block.bundle - 29.0).abs() < f64::EPSILON)
    );
    // Both: the product counts. That they say the same can be told for 29 and 2,900 cents.
    let (price, warning) = price_of(&legacy, std::slice::from_ref(&floating));
    assert!(matches!(price, PackPrice::Products(_)));
    assert!(warning.is_none());
    let (_, warning) = price_of(&pack("1.0.0", Some(30.0)), &[floating]);
    assert_eq!(warning.expect("a warning").code, "PK0713");
}

#[test]
fn what_prices_nothing_is_reported() {
    let products = [
        valid(&product("known", "aip://64/the-pack", ONCE)),
        valid(&product("unknown", "aip://64/nobody", ONCE)),
        valid(&product("old", "aip://52/the-pack", ONCE)),
    ];
    let found = dangling(&products, |on| on.aip() == 64 && on.id() == "the-pack");
    let found: Vec<_> = found.iter().map(|(product, each)| (product.id(), each.code)).collect();
    assert_eq!(found, [("unknown", "PK0711"), ("old", "PK0712")]);
}
