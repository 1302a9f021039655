//! What Holdall knows of its installs, in one directory of the user's own.
//!
//! ```text
//! config.toml        settings, written by the user
//! records/packs/     one file a pack, by name
//! records/apps/      one file an app, by id
//! records/receipts/  one file an installed thing, by destination
//! journal.json       an unfinished change, else absent
//! lock               held while something is changed
//! apps/ app-data/    installed apps, and the data they keep
//! roots/ backups/    copies that agent hosts read; what was replaced
//! packs/             packages of skills that packs may include, put there by the user
//! cache/             what was fetched, named by digest
//! ```
//!
//! Records are canonical JSON: keys sorted, no white space, one newline. A record that cannot be
//! read stops whoever needs it; it is never taken for an absent one and never overwritten. This
//! crate knows where things are and how they are written, not what an install means.

mod child;
mod codes;
mod config;
mod error;
pub mod fetch;
mod key;
mod layout;
mod lock;
mod records;

pub use child::{Child, ChildError, Finished, find_program};
pub use codes::{
    CODES, HD0201, HD0202, HD0203, HD0204, HD0205, HD0206, HD0207, HD0208, HD0209, HD0210, HD0211,
};
pub use config::Config;
pub use error::StoreError;
pub use key::file_key;
pub use layout::Store;
pub use lock::StoreLock;
pub use records::{
    AppRecord, AppSource, DigestRecord, Kind, Owner, PackRecord, Receipt, Record, canonical,
};
