//! Digests as they are written everywhere: `ALG:HEX`.

use std::fmt;
use std::str::FromStr;

/// What a digest covers and how it was made. All of them are SHA-256 at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Algorithm {
    /// `sha256`: the bytes of one file.
    Sha256,
    /// `holdall-tree/v1`: every path, executable bit, link and byte of a tree ([`crate::tree_hash`]).
    HoldallTreeV1,
    /// `agentproto-pack-digest/v1`: the documents of a pack.
    AgentprotoPackDigestV1,
    /// `agent-bundle-content/v6`: the content hash of an artifact.
    AgentBundleContentV6,
    /// `agentapp/v1`: the aggregate of an `.agentapp` bundle.
    AgentappV1,
}

impl Algorithm {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Sha256,
        Self::HoldallTreeV1,
        Self::AgentprotoPackDigestV1,
        Self::AgentBundleContentV6,
        Self::AgentappV1,
    ];

    /// The name before the colon.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sha256 => "sha256",
            Self::HoldallTreeV1 => "holdall-tree/v1",
            Self::AgentprotoPackDigestV1 => "agentproto-pack-digest/v1",
            Self::AgentBundleContentV6 => "agent-bundle-content/v6",
            Self::AgentappV1 => "agentapp/v1",
        }
    }

    /// Whether a digest of this kind covers every byte of what it is of, so that it can stand for
    /// consent; a pack digest covers the documents alone.
    pub const fn covers_every_byte(self) -> bool {
        !matches!(self, Self::AgentprotoPackDigestV1)
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Algorithm {
    type Err = DigestError;

    fn from_str(name: &str) -> Result<Self, DigestError> {
        let known = Self::ALL.into_iter().find(|algorithm| algorithm.as_str() == name);
        known.ok_or_else(|| DigestError::UnknownAlgorithm(name.to_owned()))
    }
}

/// A digest with its algorithm. Shown and parsed as `ALG:HEX`, the hex in lower case; upper case
/// is understood.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest {
    algorithm: Algorithm,
    bytes: [u8; 32],
}

/// Why a text is no digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DigestError {
    /// No colon, or nothing before it.
    #[error("`{0}` does not name its algorithm; write it as ALG:HEX, such as sha256:…")]
    MissingAlgorithm(String),
    /// An algorithm that is not one of [`Algorithm::ALL`]; the name is kept.
    #[error(
        "unknown digest algorithm `{0}`; known are sha256, holdall-tree/v1, agentproto-pack-digest/v1, agent-bundle-content/v6 and agentapp/v1"
    )]
    UnknownAlgorithm(String),
    /// Not 64 hexadecimal digits behind the colon.
    #[error("`{0}` is not 64 hexadecimal digits")]
    Hex(String),
}

impl Digest {
    /// A digest made of the 32 bytes of a SHA-256.
    pub const fn new(algorithm: Algorithm, bytes: [u8; 32]) -> Self {
        Self { algorithm, bytes }
    }

    /// The SHA-256 of some bytes.
    pub fn sha256(bytes: &[u8]) -> Self {
        use sha2::Digest as _;
        Self::new(Algorithm::Sha256, sha2::Sha256::digest(bytes).into())
    }

    /// The digest of `algorithm` with these 64 hexadecimal digits.
    pub fn from_hex(algorithm: Algorithm, hex: &str) -> Result<Self, DigestError> {
        let wrong = || DigestError::Hex(hex.to_owned());
        let (pairs, []) = hex.as_bytes().as_chunks::<2>() else {
            return Err(wrong());
        };
        let pairs: &[[u8; 2]; 32] = pairs.try_into().map_err(|_| wrong())?;
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(pairs) {
            let digit = |c: u8| char::from(c).to_digit(16).ok_or_else(wrong);
            *byte = (digit(pair[0])? * 16 + digit(pair[1])?) as u8;
        }
        Ok(Self::new(algorithm, bytes))
    }

    /// How it was made.
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.bytes
    }

    /// The 64 lower-case hexadecimal digits.
    pub fn hex(&self) -> String {
        use std::fmt::Write as _;
        self.bytes.iter().fold(String::with_capacity(64), |mut hex, byte| {
            // Writing into a String cannot fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.algorithm, self.hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl FromStr for Digest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        match text.split_once(':') {
            Some((name, hex)) if !name.is_empty() => Self::from_hex(name.parse()?, hex),
            _ => Err(DigestError::MissingAlgorithm(text.to_owned())),
        }
    }
}
