//! Git pins, and what an entry of `plugin.includes` is.
//!
//! A pin names a repository over https and one commit: `git+https://URL#SHA40`. It begins at the
//! first `#`, so nothing can be read into a URL's fragment (AIP-64 "Git pins", `pack-v1` 3.3).
//! Nothing here fetches.

use std::fmt;

use holdall_diagnostics::Diagnostic;

use crate::codes;

/// The pattern that AIP-62 published. [`GitPin::parse`] is stricter: printable ASCII only, no user
/// in the address, a host that begins with no `-`.
pub const PIN_PATTERN: &str = r"^git\+https://[^\s#]+#[0-9a-f]{40}$";

/// Longest address, in bytes.
const MAX_ADDRESS: usize = 2048;

/// A repository over https and the commit in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GitPin {
    url: String,
    commit: String,
}

/// Why a text is no git pin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PinError {
    /// Another transport than git over https.
    #[error("`{0}` is not fetched: only git+https:// is")]
    Transport(String),
    /// No commit, or a URL that cannot be used.
    #[error("`{text}` is not a git pin: {reason}")]
    NotPinned {
        /// The text.
        text: String,
        /// What is missing or wrong.
        reason: &'static str,
    },
}

impl PinError {
    /// The finding to show for it, without a path.
    pub fn diagnostic(&self) -> Diagnostic {
        let code = match self {
            Self::Transport(_) => &codes::PIN_TRANSPORT,
            Self::NotPinned { .. } => &codes::PIN,
        };
        let help = "write git+https://HOST/PATH#SHA, the sha being all 40 digits of the commit";
        Diagnostic::new(code, self.to_string()).help(help)
    }
}

impl GitPin {
    /// Parses `git+https://URL#SHA40`.
    pub fn parse(text: &str) -> Result<Self, PinError> {
        let shown = || text.chars().take(200).collect::<String>();
        let wrong = |reason| PinError::NotPinned { text: shown(), reason };
        let Some(rest) = text.strip_prefix("git+https://") else {
            return Err(PinError::Transport(shown()));
        };
        if text.len() > MAX_ADDRESS {
            return Err(wrong("it is longer than 2048 bytes"));
        }
        let Some((address, commit)) = rest.split_once('#') else {
            return Err(wrong("there is no `#` and no commit"));
        };
        if !address.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\') {
            return Err(wrong(
                "the address has a blank or a character that is not printable ASCII",
            ));
        }
        check_authority(address).map_err(wrong)?;
        if commit.contains('#') {
            return Err(wrong("the commit begins at the first `#`, and there is a second one"));
        }
        if !is_commit(commit) {
            return Err(wrong("behind the `#` are not the 40 lower-case digits of a commit"));
        }
        Ok(Self { url: format!("https://{address}"), commit: commit.to_owned() })
    }

    /// The address to fetch from: `https://…`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The commit: 40 lower-case hexadecimal digits.
    pub fn commit(&self) -> &str {
        &self.commit
    }
}

impl fmt::Display for GitPin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "git+{}#{}", self.url, self.commit)
    }
}

fn is_commit(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn check_authority(address: &str) -> Result<(), &'static str> {
    let authority = address.split(['/', '?']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err("a user name or password does not belong into an address");
    }
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    };
    if host.is_empty() {
        return Err("the address has no host");
    }
    if host.starts_with('-') {
        return Err("the host begins with `-`");
    }
    let named = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~%".contains(&byte));
    let numbered = host.starts_with('[') && host.ends_with(']');
    if !named && !numbered {
        return Err("the host has a character that no host has");
    }
    if port.is_some_and(|port| port.parse::<u16>().is_err()) {
        return Err("the port is not a number up to 65535");
    }
    Ok(())
}

/// One entry of `plugin.includes`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Include {
    /// A published package, resolved from what is installed.
    Package(PackageName),
    /// A repository at a commit, fetched when the pack is installed.
    Git(GitPin),
}

/// The name of a published package: what npm allows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackageName(String);

/// By which convention a package's name says that it is a pack of skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Convention {
    /// `@agentproto/skill-pack-<x>`
    FirstParty,
    /// `@<scope>/agentproto-skill-pack-<x>`
    ThirdParty,
    /// Any other name: allowed, with a warning.
    Other,
}

/// Why a text is no include.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IncludeError {
    /// It looks like an address and is no git pin.
    #[error(transparent)]
    Pin(#[from] PinError),
    /// It is no package name.
    #[error("`{text}` is not a package name: {reason}")]
    Package {
        /// The text.
        text: String,
        /// What is wrong with it.
        reason: &'static str,
    },
}

impl Include {
    /// Reads an entry. What begins with `git+` or `git@`, or holds `://` or `::`, has to be a git
    /// pin; everything else has to be a package name.
    pub fn parse(text: &str) -> Result<Self, IncludeError> {
        let address = text.starts_with("git+")
            || text.starts_with("git@")
            || text.contains("://")
            || text.contains("::");
        if address {
            return Ok(Self::Git(GitPin::parse(text)?));
        }
        PackageName::parse(text).map(Self::Package)
    }

    /// The pin, if it is one.
    pub const fn as_git(&self) -> Option<&GitPin> {
        match self {
            Self::Git(pin) => Some(pin),
            Self::Package(_) => None,
        }
    }
}

impl fmt::Display for Include {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Package(name) => f.write_str(name.as_str()),
            Self::Git(pin) => pin.fmt(f),
        }
    }
}

impl PackageName {
    /// Takes a name that npm would take for a new package.
    pub fn parse(text: &str) -> Result<Self, IncludeError> {
        let wrong = |reason| {
            let text = text.chars().take(200).collect();
            Err(IncludeError::Package { text, reason })
        };
        if text.trim().is_empty() {
            return wrong("it is blank");
        }
        if text.len() > 214 {
            return wrong("it has more than 214 characters");
        }
        let (scope, name) = match text.strip_prefix('@') {
            Some(scoped) => match scoped.split_once('/') {
                Some((scope, name)) => (Some(scope), name),
                None => return wrong("a scope is followed by `/` and the name"),
            },
            None => (None, text),
        };
        for part in scope.into_iter().chain([name]) {
            if part.is_empty() {
                return wrong("the scope or the name is empty");
            }
            if part.starts_with(['.', '_', '-']) {
                return wrong("no part of it begins with `.`, `_` or `-`");
            }
            let fits = |byte: u8| {
                byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-._~".contains(&byte)
            };
            if !part.bytes().all(fits) {
                return wrong("it has other characters than a-z, 0-9, `-`, `.`, `_` and `~`");
            }
        }
        if scope.is_none() && matches!(name, "node_modules" | "favicon.ico") {
            return wrong("no package can be named so");
        }
        Ok(Self(text.to_owned()))
    }

    /// The whole name, with its scope.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// By which convention it is a pack of skills.
    pub fn convention(&self) -> Convention {
        self.parts().0
    }

    /// The name that the pack of skills goes by: `code-review` for
    /// `@agentproto/skill-pack-code-review`, the whole name where no convention is followed. It is
    /// the name of its directory below `.skills` and in the store (`pack-v1` 6.2).
    pub fn pack_name(&self) -> &str {
        self.parts().1
    }

    fn parts(&self) -> (Convention, &str) {
        let short = |rest: Option<&'_ str>| rest.filter(|rest| !rest.is_empty()).map(str::len);
        let name = &self.0;
        if let Some(len) = short(name.strip_prefix("@agentproto/skill-pack-")) {
            return (Convention::FirstParty, &name[name.len() - len..]);
        }
        let unscoped = name.strip_prefix('@').and_then(|name| name.split_once('/'));
        let third = unscoped.and_then(|(_, name)| name.strip_prefix("agentproto-skill-pack-"));
        if let Some(len) = short(third) {
            return (Convention::ThirdParty, &name[name.len() - len..]);
        }
        (Convention::Other, name)
    }
}
