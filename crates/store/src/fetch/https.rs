//! Files behind https addresses.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use holdall_tree::{Algorithm, Digest};
use sha2::{Digest as _, Sha256};
use ureq::http::{Response, StatusCode};
use ureq::tls::{PemItem, RootCerts, TlsConfig, TlsProvider, parse_pem};
use ureq::{Agent, Body, Error, Proxy};

use super::cache::{AddressRecord, Cached, check_file};
use super::error::About;
use super::{FetchError, Fetched, Fetcher, Limits, Pin};
use crate::StoreError;

/// Redirects that are followed.
const REDIRECTS: u32 = 5;
/// Bytes read at a time.
const CHUNK: usize = 128 * 1024;

impl Fetcher {
    /// Fetches the file behind an `https://` address that ends in `.aospkg` or `.agentapp`.
    ///
    /// With an `expected` SHA-256 a cached copy answers without a connection, and other bytes are
    /// [`FetchError::Differs`]. Without one the server is asked each time whether its file is
    /// still the same; offline the last answer counts.
    pub fn https(&self, address: &str, expected: Option<&Digest>) -> Result<Fetched, FetchError> {
        let about = About(address);
        let asked = address.split('#').next().unwrap_or_default();
        let path = asked.split('?').next().unwrap_or_default().to_ascii_lowercase();
        let ending = ["aospkg", "agentapp"]
            .into_iter()
            .find(|ending| path.strip_suffix(ending).is_some_and(|rest| rest.ends_with('.')));
        let Some(ending) = ending.filter(|_| asked.starts_with("https://")) else {
            return Err(about.refused("only https addresses of .aospkg and .agentapp are fetched"));
        };
        if let Some(expected) = expected {
            if expected.algorithm() != Algorithm::Sha256 {
                let why = format!("a file is pinned by sha256, not {}", expected.algorithm());
                return Err(about.refused(why));
            }
            if let Some(found) = self.cached_file(about, expected, ending)? {
                return Ok(found);
            }
        }
        let known = self.cache().address(asked);
        if self.offline {
            let digest = known.as_ref().and_then(digest_of).filter(|_| expected.is_none());
            let found =
                digest.map(|digest| self.cached_file(about, &digest, ending)).transpose()?;
            return found.flatten().ok_or_else(|| about.offline());
        }
        let _lock = self.lock(asked)?;
        // Whoever was waited for may have fetched the same.
        if let Some(expected) = expected
            && let Some(found) = self.cached_file(about, expected, ending)?
        {
            return Ok(found);
        }
        // What the address had before helps only if it need not be something certain.
        let newer = self.cache().address(asked).filter(|_| expected.is_none());
        let mut good = None;
        if let Some(digest) = newer.as_ref().and_then(digest_of) {
            good = self.cached_file(about, &digest, ending)?;
        }
        match good {
            Some(found) if newer != known => return Ok(found),
            _ => {}
        }
        let etag = good.as_ref().and(newer.as_ref()).and_then(|record| record.etag.clone());
        let limits = self.limits()?;
        let deadline = Instant::now() + limits.time;
        let response = self.ask(about, asked, etag.as_deref(), limits)?;
        if let (StatusCode::NOT_MODIFIED, Some(found), Some(record)) =
            (response.status(), good, newer)
        {
            self.cache().put_address(&AddressRecord { asked: now(), ..record })?;
            return Ok(Fetched { from_cache: false, ..found });
        }
        if response.status() != StatusCode::OK {
            return Err(about.failed(format!("the server answers {}", response.status())));
        }
        let etag = response.headers().get("etag").and_then(|value| value.to_str().ok());
        let etag = etag.filter(|etag| etag.len() < 1024).map(str::to_owned);
        let digest = self.download(about, response, expected, ending, limits, deadline)?;
        self.cache().put_address(&AddressRecord {
            address: asked.to_owned(),
            sha256: digest.hex(),
            etag,
            asked: now(),
        })?;
        let path = self.cache().file(&digest, ending);
        Ok(Fetched { path, digest, pin: Pin::Sha256(digest), from_cache: false })
    }

    /// The cached file with this digest, if it is there unchanged.
    fn cached_file(
        &self,
        about: About<'_>,
        digest: &Digest,
        ending: &str,
    ) -> Result<Option<Fetched>, FetchError> {
        let path = self.cache().file(digest, ending);
        match check_file(&path, digest)? {
            Cached::Absent => Ok(None),
            Cached::Good(()) => {
                let (digest, pin) = (*digest, Pin::Sha256(*digest));
                Ok(Some(Fetched { path, digest, pin, from_cache: true }))
            }
            Cached::Changed(what) => self.changed(about, &what).map(|()| None),
        }
    }

    /// Asks the server. Redirects are followed a few times, and only to https.
    fn ask(
        &self,
        about: About<'_>,
        address: &str,
        etag: Option<&str>,
        limits: Limits,
    ) -> Result<Response<Body>, FetchError> {
        let call = |roots: RootCerts| {
            let agent = self.agent(roots, limits);
            let mut request = agent.get(address);
            if let Some(etag) = etag {
                request = request.header("if-none-match", etag);
            }
            request.call()
        };
        let mut answer = call(RootCerts::WebPki);
        // The public authorities are built in; those of this machine and the extra file count
        // where these are not enough.
        if answer.as_ref().is_err_and(is_tls) {
            answer = call(roots(&self.authorities(about)?));
        }
        answer.map_err(|error| match error {
            Error::RequireHttpsOnly(to) => about.refused(format!("it redirects to {to}")),
            Error::TooManyRedirects => about.failed(format!("more than {REDIRECTS} redirects")),
            Error::Timeout(_) => about.timed_out(limits.time),
            error if is_tls(&error) => about.failed(format!(
                "{error}; the variable HOLDALL_CA_FILE can name a file with its authority"
            )),
            error => about.failed(error.to_string()),
        })
    }

    fn agent(&self, roots: RootCerts, limits: Limits) -> Agent {
        let tls = TlsConfig::builder().provider(TlsProvider::Rustls).root_certs(roots).build();
        Agent::config_builder()
            .https_only(true)
            .http_status_as_error(false)
            .max_redirects(REDIRECTS)
            .proxy(self.proxy())
            .timeout_global(Some(limits.time))
            .tls_config(tls)
            .user_agent(concat!("holdall/", env!("CARGO_PKG_VERSION")))
            .accept_encoding("identity")
            .build()
            .new_agent()
    }

    /// The proxy for https addresses, by the usual variables.
    fn proxy(&self) -> Option<Proxy> {
        let variable =
            |names: [&str; 2]| names.into_iter().find_map(|name| self.variable(name)?.to_str());
        let address = variable(["HTTPS_PROXY", "https_proxy"])
            .or_else(|| variable(["ALL_PROXY", "all_proxy"]))?;
        let plain = Proxy::new(address).ok()?;
        let mut proxy = Proxy::builder(plain.protocol())
            .host(plain.host())
            .port(plain.port())
            .resolve_target(plain.resolve_target());
        if let Some(name) = plain.username() {
            proxy = proxy.username(name);
        }
        if let Some(password) = plain.password() {
            proxy = proxy.password(password);
        }
        for pattern in variable(["NO_PROXY", "no_proxy"]).into_iter().flat_map(|all| all.split(','))
        {
            proxy = proxy.no_proxy(pattern.trim());
        }
        proxy.build().ok()
    }

    /// Writes the body to the cache, hashing it on the way.
    fn download(
        &self,
        about: About<'_>,
        mut response: Response<Body>,
        expected: Option<&Digest>,
        ending: &str,
        limits: Limits,
        deadline: Instant,
    ) -> Result<Digest, FetchError> {
        let announced = response.body().content_length();
        if announced.is_some_and(|length| length > limits.bytes) {
            return Err(about.too_large(limits.bytes));
        }
        let stage = self.cache().scratch()?;
        let at = stage.path.join("download");
        let mut file = File::create_new(&at).map_err(StoreError::io(&at))?;
        let mut body = response.body_mut().with_config().limit(u64::MAX).reader();
        let (mut hash, mut length) = (Sha256::new(), 0_u64);
        let mut buffer = vec![0; CHUNK];
        loop {
            let count = match body.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(_) if Instant::now() >= deadline => return Err(about.timed_out(limits.time)),
                Err(error) => return Err(about.failed(format!("it was cut off: {error}"))),
            };
            length += count as u64;
            if length > limits.bytes {
                return Err(about.too_large(limits.bytes));
            }
            hash.update(&buffer[..count]);
            file.write_all(&buffer[..count]).map_err(StoreError::io(&at))?;
        }
        if let Some(announced) = announced.filter(|announced| *announced != length) {
            return Err(about.failed(format!("{length} of {announced} bytes came")));
        }
        let digest = Digest::new(Algorithm::Sha256, hash.finalize().into());
        if let Some(expected) = expected.filter(|expected| **expected != digest) {
            return Err(about.differs(format!("it has {digest}, not {expected}")));
        }
        self.cache().put_file(&file, &at, &self.cache().file(&digest, ending))?;
        Ok(digest)
    }
}

fn digest_of(record: &AddressRecord) -> Option<Digest> {
    Digest::from_hex(Algorithm::Sha256, &record.sha256).ok()
}

/// Whether the certificate may have been the reason.
fn is_tls(error: &Error) -> bool {
    match error {
        Error::Tls(_) | Error::Rustls(_) => true,
        Error::Io(error) => error.kind() == std::io::ErrorKind::InvalidData,
        _ => false,
    }
}

/// The certificates of a PEM text; what is none is passed over.
fn roots(pem: &[u8]) -> RootCerts {
    let certificates: Vec<_> = parse_pem(pem)
        .filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        })
        .collect();
    RootCerts::new_with_certs(&certificates)
}

fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_nanos().to_string()
}
