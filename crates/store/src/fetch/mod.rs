//! Fetching: `https`, git commits and npm packages, into the cache of the store.
//!
//! A [`Fetcher`] is a store, the environment that children get, and what the user allows. Its
//! three questions ([`Fetcher::https`], [`Fetcher::git`], [`Fetcher::npm`]) answer with a path in
//! the cache whose bytes were compared with what is known of them just now, whether they were
//! fetched for it or lay there. Two processes that ask for the same fetch once; one that is
//! killed leaves nothing that anybody would read. Nothing that was fetched is run.

mod cache;
mod error;
mod git;
mod https;
mod npm;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use holdall_tree::Digest;

pub use error::FetchError;

use crate::{Store, StoreError};
use cache::Cache;
use error::About;

/// What was fetched, or lay in the cache unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    path: PathBuf,
    digest: Digest,
    pin: Pin,
    from_cache: bool,
}

/// What says exactly which bytes they are, in the words of where they come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pin {
    /// The digest of a file behind an https address.
    Sha256(Digest),
    /// A commit, 40 lower-case hexadecimal digits.
    Commit(String),
    /// An exact version of an npm package.
    Version {
        /// The version.
        version: String,
        /// The registry's digest of the tarball, in the form of Subresource Integrity.
        integrity: String,
    },
}

impl Fetched {
    /// The file or directory in the cache. It belongs to the cache: read it, do not change it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The SHA-256 of a file, the tree hash of a directory.
    pub const fn digest(&self) -> &Digest {
        &self.digest
    }

    /// Which bytes they are.
    pub const fn pin(&self) -> &Pin {
        &self.pin
    }

    /// Whether no connection was needed.
    pub const fn from_cache(&self) -> bool {
        self.from_cache
    }
}

/// Fetches into the cache of a store.
#[derive(Debug, Clone)]
pub struct Fetcher {
    store: Store,
    environment: BTreeMap<OsString, OsString>,
    ca_file: Option<PathBuf>,
    offline: bool,
    file_addresses: bool,
    notice: fn(&str),
}

/// What one fetch may take.
#[derive(Debug, Clone, Copy)]
struct Limits {
    bytes: u64,
    time: Duration,
}

impl Fetcher {
    /// Fetches into `store`. `environment` is the user's: `PATH`, proxies, and for npm all of it.
    pub fn new(store: Store, environment: BTreeMap<OsString, OsString>) -> Self {
        Self {
            store,
            environment,
            ca_file: None,
            offline: false,
            file_addresses: false,
            notice: |_| {},
        }
    }

    /// Adds the certificate authorities of a PEM file to the public ones.
    #[must_use]
    pub fn with_ca_file(mut self, file: Option<PathBuf>) -> Self {
        self.ca_file = file;
        self
    }

    /// Opens no connection: what is not in the cache is [`FetchError::Offline`].
    #[must_use]
    pub fn offline(mut self, offline: bool) -> Self {
        self.offline = offline;
        self
    }

    /// Calls `notice` with a line for people when something takes longer or is done again.
    #[must_use]
    pub fn with_notice(mut self, notice: fn(&str)) -> Self {
        self.notice = notice;
        self
    }

    /// Lets repositories be `file:` addresses, for tests that have no server.
    #[doc(hidden)]
    #[must_use]
    pub fn with_file_addresses(mut self) -> Self {
        self.file_addresses = true;
        self
    }

    fn limits(&self) -> Result<Limits, StoreError> {
        let config = self.store.config()?;
        Ok(Limits {
            bytes: config.fetch_bytes(),
            time: Duration::from_secs(config.fetch_seconds()),
        })
    }

    fn cache(&self) -> Cache<'_> {
        Cache(&self.store)
    }

    fn variable(&self, name: &str) -> Option<&OsStr> {
        let value = self.environment.get(OsStr::new(name))?;
        (!value.is_empty()).then_some(value)
    }

    /// Waits for the lock of an address, saying so.
    fn lock(&self, address: &str) -> Result<std::fs::File, StoreError> {
        let notice = self.notice;
        self.cache().lock(address, || notice(&format!("waiting for another fetch of {address}")))
    }

    /// Says that a cached copy is no longer what it was; without a connection that is the end.
    fn changed(&self, about: About<'_>, what: &str) -> Result<(), FetchError> {
        if self.offline {
            return Err(about.differs(format!("the cached copy was changed: {what}")));
        }
        (self.notice)(&format!("the cached copy of {} was changed and is fetched again", about.0));
        Ok(())
    }

    /// A program by its absolute path.
    fn program(&self, about: About<'_>, name: &'static str) -> Result<PathBuf, FetchError> {
        let path = self.variable("PATH").unwrap_or_default();
        crate::find_program(name, path)
            .ok_or_else(|| FetchError::NoProgram { address: about.0.to_owned(), program: name })
    }

    /// The certificate authorities that this machine keeps, and those of the extra file, as one
    /// PEM text.
    fn authorities(&self, about: About<'_>) -> Result<Vec<u8>, FetchError> {
        const BUNDLES: [&str; 4] = [
            "/etc/ssl/certs/ca-certificates.crt",
            "/etc/pki/tls/certs/ca-bundle.crt",
            "/etc/ssl/ca-bundle.pem",
            "/etc/ssl/cert.pem",
        ];
        let own = self.variable("SSL_CERT_FILE").map(Path::new);
        let bundles = own.into_iter().chain(BUNDLES.map(Path::new));
        let mut pem = bundles.map(std::fs::read).find_map(Result::ok).unwrap_or_default();
        let Some(file) = &self.ca_file else { return Ok(pem) };
        if !pem.is_empty() && !pem.ends_with(b"\n") {
            pem.push(b'\n');
        }
        let extra = std::fs::read(file).map_err(|error| {
            about.failed(format!("the file of certificate authorities {}: {error}", file.display()))
        })?;
        pem.extend(extra);
        Ok(pem)
    }
}
