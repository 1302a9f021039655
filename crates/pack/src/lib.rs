//! Packs and apps as documents: `PACK.md` of AIP-64, `APP.md` of AIP-53 and its bundle
//! `.agentapp`, the refs and git pins that name them, the digest that binds them, and the prices
//! that products put on them.
//!
//! A [`PackHandle`] is a pack that passed every rule; [`define_pack`] makes one in code,
//! [`parse_pack_manifest`] and [`pack_from_manifest`] from text. Everything reads from a
//! [`Tree`](holdall_tree::Tree), so a pack inside a sealed file is the same pack. Nothing here
//! fetches, installs or runs anything.

mod app;
mod bundle;
pub mod codes;
mod confine;
mod definition;
mod digest;
mod handle;
mod knowledge;
mod loaded;
mod manifest;
mod name;
mod pin;
mod product;
mod refs;
mod schema;

pub use app::{
    APP_DIRECTORY, APP_FILE, APP_SCHEMA, AppManifest, AppMember, CheckedApp, DEFAULT_APP_VERSION,
    Surface, check_app, find_app_document, read_app, safe_id,
};
pub use bundle::{
    BUNDLE_FORMAT, BUNDLE_MANIFEST, BUNDLE_SUFFIX, Bundle, BundleLimits, BundleManifest,
    BundleOptions, Bundled, write_bundle,
};
pub use codes::CODES;
pub use definition::{AppEntry, Definition, Knowledge, PackDefinition, Playbook, Plugin, Pricing};
pub use digest::{ALG, Comparison, PACK_LABEL, PackDigest, Refusal, pack_digest};
pub use handle::{PackHandle, PackStatus};
pub use knowledge::{KNOWLEDGE_FILE, KnowledgeAnswer, KnowledgeEntry, query};
pub use loaded::{CheckedRoot, LoadedApp, LoadedPack, read_pack};
pub use manifest::{
    AIP, CheckedPack, FILE, KEYS, MAX_DESCRIPTION, MAX_TITLE, PackError, PackManifest, SCHEMA,
    check_pack, define_pack, pack_from_manifest, parse_pack_manifest,
};
pub use name::{MAX_NAME, MIN_NAME, NAME_PATTERN, is_pack_name};
pub use pin::{Convention, GitPin, Include, IncludeError, PIN_PATTERN, PackageName, PinError};
pub use product::{
    CheckedProduct, PRODUCT_SCHEMA, PRODUCTS, PackPrice, Price, Product, Products, check_product,
    dangling, price_of, products_of,
};
pub use refs::{
    APP_FAMILY, ArtifactRef, MAX_ID, PACK_FAMILY, PackRef, RefError, RefIndex, ResolveError,
};
pub use schema::{app_json_schema, pack_json_schema, product_json_schema};
