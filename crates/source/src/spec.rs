//! The grammar of sources: what was typed, as a value. Nothing here looks at a file.

use std::ffi::OsStr;
use std::fmt;

use camino::{Utf8Path, Utf8PathBuf};

use crate::SourceError;

/// Longest address that is read, in bytes; beyond it lies no honest one.
const MAX_ADDRESS: usize = 2048;

/// A source, as typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A file or directory, as typed (not made absolute).
    Path(Utf8PathBuf),
    /// A git repository over https.
    Git(GitAddress),
    /// An `https://` address that ends in `.aospkg` or `.agentapp`.
    Https(String),
    /// An exact version of an npm package.
    Npm(NpmSpec),
    /// An `aip://` ref, not yet taken apart: which refs exist is for the pack format to say.
    Ref(String),
}

/// `git+https://URL#SHA40`; without a commit only an app may be read from it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct GitAddress {
    url: String,
    commit: Option<String>,
}

/// `npm:NAME@VERSION`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NpmSpec {
    name: String,
    version: String,
}

impl Source {
    /// Parses a source.
    ///
    /// A path is `.` or `..`, contains a `/` without a scheme before it, ends in `.aospkg` or
    /// `.agentapp`, or stands behind `file:`. A bare word is an error that names the
    /// directory to type; commands that take agent hosts look for those first.
    pub fn parse(text: &OsStr) -> Result<Self, SourceError> {
        let Some(text) = text.to_str() else {
            return Err(SourceError::NotUtf8 { lossy: text.to_string_lossy().into_owned() });
        };
        if let Some(path) = text.strip_prefix("file:") {
            return file_address(text, path).map(Self::Path);
        }
        if text.starts_with("git+") {
            return GitAddress::parse(text).map(Self::Git);
        }
        if let Some(spec) = text.strip_prefix("npm:") {
            return NpmSpec::parse(text, spec).map(Self::Npm);
        }
        // A ref with a slash too few is a faulty ref, not a path.
        if text.starts_with("aip:") {
            return Ok(Self::Ref(text.to_owned()));
        }
        if text.starts_with("https://") {
            return https(text).map(Self::Https);
        }
        if let Some((scheme, _)) = text.split_once("://") {
            let help = match scheme {
                "http" => Some(format!("type https{}", &text[scheme.len()..])),
                "git" | "ssh" => Some("type git+https://URL#SHA40".to_owned()),
                _ => Some(FORMS.to_owned()),
            };
            let reason = format!("the scheme {scheme}: is not read");
            return Err(SourceError::BadAddress { address: text.to_owned(), reason, help });
        }
        if text.starts_with("git@") {
            let (address, reason) = (text.to_owned(), "only https is read".to_owned());
            let help = Some("type git+https://URL#SHA40".to_owned());
            return Err(SourceError::BadAddress { address, reason, help });
        }
        if reads_as_path(text) && !text.contains('\0') {
            Ok(Self::Path(text.into()))
        } else {
            Err(SourceError::BareWord { word: text.to_owned() })
        }
    }

    /// The path, if it is one.
    pub fn as_path(&self) -> Option<&Utf8Path> {
        match self {
            Self::Path(path) => Some(path),
            _ => None,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => f.write_str(path.as_str()),
            Self::Git(address) => address.fmt(f),
            Self::Https(address) | Self::Ref(address) => f.write_str(address),
            Self::Npm(spec) => spec.fmt(f),
        }
    }
}

const FORMS: &str = "a source is a path, git+https://URL#SHA40, https://….aospkg, https://….agentapp, npm:NAME@VERSION or aip://…";

impl GitAddress {
    /// Parses `git+https://URL`, with or without `#SHA40`. The pin begins at the first `#`.
    fn parse(text: &str) -> Result<Self, SourceError> {
        let bad = |reason: &str| SourceError::BadAddress {
            address: text.to_owned(),
            reason: reason.to_owned(),
            help: Some("type git+https://URL#SHA40".to_owned()),
        };
        let (address, pin) = match text.split_once('#') {
            Some((address, pin)) => (address, Some(pin)),
            None => (text, None),
        };
        let Some(url) = address.strip_prefix("git+").filter(|url| url.starts_with("https://"))
        else {
            return Err(bad("of repositories only git+https:// is read"));
        };
        check_https(url).map_err(|reason| bad(&reason))?;
        match pin {
            None => Ok(Self { url: url.to_owned(), commit: None }),
            Some(pin) if is_commit(pin) => {
                Ok(Self { url: url.to_owned(), commit: Some(pin.to_owned()) })
            }
            Some(_) => Err(SourceError::NotPinned { address: address.to_owned() }),
        }
    }

    /// The address to clone, without `git+` and pin.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The 40 lower-case hexadecimal digits behind `#`.
    pub fn commit(&self) -> Option<&str> {
        self.commit.as_deref()
    }

    /// The commit, else the error that prints the pinned form.
    pub fn pinned(&self) -> Result<&str, SourceError> {
        self.commit().ok_or_else(|| SourceError::NotPinned { address: self.to_string() })
    }
}

impl fmt::Display for GitAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "git+{}", self.url)?;
        match &self.commit {
            Some(commit) => write!(f, "#{commit}"),
            None => Ok(()),
        }
    }
}

impl NpmSpec {
    fn parse(text: &str, spec: &str) -> Result<Self, SourceError> {
        let bad = |reason: &str, help: String| SourceError::BadAddress {
            address: text.to_owned(),
            reason: reason.to_owned(),
            help: Some(help),
        };
        let form = "type npm:NAME@VERSION, for example npm:@scope/name@1.2.3".to_owned();
        // The `@` of a scope stands first, so a version's is looked for behind it.
        let at = spec.char_indices().skip(1).find(|&(_, c)| c == '@').map(|(at, _)| at);
        let Some((name, version)) = at.map(|at| (&spec[..at], &spec[at + 1..])) else {
            return Err(bad("the version is missing", form));
        };
        if !is_npm_name(name) {
            return Err(bad("that is no name of an npm package", form));
        }
        if !is_exact_version(version) {
            let reason = format!("`{version}` is not an exact version");
            return Err(bad(&reason, format!("`npm view {name} version` prints the newest one")));
        }
        Ok(Self { name: name.to_owned(), version: version.to_owned() })
    }

    /// The name with its scope.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The exact version.
    pub fn version(&self) -> &str {
        &self.version
    }
}

impl fmt::Display for NpmSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "npm:{}@{}", self.name, self.version)
    }
}

/// `file:x`, `file:/x`, `file:///x`: the path as written, nothing percent-decoded.
fn file_address(text: &str, rest: &str) -> Result<Utf8PathBuf, SourceError> {
    let path = match rest.strip_prefix("//") {
        Some(absolute) if absolute.starts_with('/') => absolute,
        Some(_) => {
            return Err(SourceError::BadAddress {
                address: text.to_owned(),
                reason: "a file: address has no host".to_owned(),
                help: Some("type the path".to_owned()),
            });
        }
        None => rest,
    };
    if path.is_empty() || path.contains('\0') {
        return Err(SourceError::BadAddress {
            address: text.to_owned(),
            reason: "the path is missing".to_owned(),
            help: None,
        });
    }
    // Shown without `file:` it has to stay a path.
    Ok(if reads_as_path(path) { path.into() } else { format!("./{path}").into() })
}

fn https(text: &str) -> Result<String, SourceError> {
    let bad = |reason: String, help: String| SourceError::BadAddress {
        address: text.to_owned(),
        reason,
        help: Some(help),
    };
    check_https(text).map_err(|reason| bad(reason, FORMS.to_owned()))?;
    let path = text.split(['?', '#']).next().unwrap_or_default();
    if has_ending(path, "aospkg") || has_ending(path, "agentapp") {
        return Ok(text.to_owned());
    }
    Err(bad(
        "an https:// address ends in .aospkg or .agentapp".to_owned(),
        format!("for a repository type git+{}#SHA40", path.trim_end_matches('/')),
    ))
}

/// The rules of both forms of https address; the error is a lower-case fragment.
fn check_https(url: &str) -> Result<(), String> {
    let rest = url.strip_prefix("https://").unwrap_or(url);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if url.len() > MAX_ADDRESS {
        return Err(format!("it is longer than {MAX_ADDRESS} bytes"));
    }
    if !url.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("only printable ASCII without blanks can stand in an address".to_owned());
    }
    if authority.contains('@') {
        return Err("a user name or password in an address would be stored and shown".to_owned());
    }
    if authority.is_empty() || authority.starts_with(['-', ':']) {
        return Err("the host is missing".to_owned());
    }
    Ok(())
}

fn is_commit(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

fn is_npm_name(name: &str) -> bool {
    let bare = match name.strip_prefix('@') {
        Some(scoped) => match scoped.split_once('/') {
            Some((scope, bare)) if is_npm_part(scope) => bare,
            _ => return false,
        },
        None => name,
    };
    name.len() <= 214 && is_npm_part(bare)
}

fn is_npm_part(part: &str) -> bool {
    !part.is_empty()
        && !part.starts_with(['.', '_', '-'])
        && part
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-._~".contains(&b))
}

/// `MAJOR.MINOR.PATCH` and what may stand behind it; neither a range nor a tag.
fn is_exact_version(version: &str) -> bool {
    let core = version.split(['-', '+']).next().unwrap_or_default();
    let numbers: Vec<_> = core.split('.').collect();
    let numeric = |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    numbers.len() == 3
        && numbers.iter().all(numeric)
        && version.len() <= 128
        && version.bytes().all(|b| b.is_ascii_alphanumeric() || b".-+".contains(&b))
}

/// Whether a text without a scheme is a path and not a word.
fn reads_as_path(text: &str) -> bool {
    text.contains('/')
        || text == "."
        || text == ".."
        || has_ending(text, "aospkg")
        || has_ending(text, "agentapp")
}

fn has_ending(text: &str, ending: &str) -> bool {
    Utf8Path::new(text).extension() == Some(ending)
}
