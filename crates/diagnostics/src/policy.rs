//! What the user makes of findings: `--strict`, `--allow CODE`, `--deny CODE`, and the counts that
//! decide the exit code.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::{Diagnostic, Registry, Severity, UnknownCode};

/// How many findings of each severity there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Summary {
    /// Errors: any makes the command exit 1.
    pub errors: usize,
    /// Warnings.
    pub warnings: usize,
    /// Infos.
    pub infos: usize,
}

impl Summary {
    /// Counts findings.
    pub fn of<'a>(diagnostics: impl IntoIterator<Item = &'a Diagnostic>) -> Self {
        let mut summary = Self::default();
        for diagnostic in diagnostics {
            match diagnostic.severity {
                Severity::Error => summary.errors += 1,
                Severity::Warning => summary.warnings += 1,
                Severity::Info => summary.infos += 1,
            }
        }
        summary
    }
}

/// A severity policy. Errors are never hidden: what cannot work does not begin to work because a
/// code is allowed.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    strict: bool,
    allow: BTreeSet<&'static str>,
    deny: BTreeSet<&'static str>,
}

/// A policy that cannot be meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// A code that does not exist.
    #[error(transparent)]
    Unknown(#[from] UnknownCode),
    /// A code that is an error wherever it is reported cannot be allowed.
    #[error("{0} is an error and cannot be allowed")]
    AllowsError(&'static str),
    /// Both allowed and denied.
    #[error("{0} is both allowed and denied")]
    Both(&'static str),
}

impl Policy {
    /// `strict` turns warnings into errors; codes in `allow` are dropped while they are warnings
    /// or infos; codes in `deny` become errors. Ids may be lower case and must exist.
    pub fn new<S: AsRef<str>>(
        registry: &Registry,
        strict: bool,
        allow: &[S],
        deny: &[S],
    ) -> Result<Self, PolicyError> {
        let mut policy = Self { strict, ..Self::default() };
        for id in deny {
            policy.deny.insert(registry.find(id.as_ref())?.id);
        }
        for id in allow {
            let code = registry.find(id.as_ref())?;
            if code.severity == Severity::Error {
                return Err(PolicyError::AllowsError(code.id));
            }
            if policy.deny.contains(code.id) {
                return Err(PolicyError::Both(code.id));
            }
            policy.allow.insert(code.id);
        }
        Ok(policy)
    }

    /// Applies the policy. A finding that was raised to an error where it was made stays, even if
    /// its code is allowed.
    #[must_use]
    pub fn apply(&self, diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let mut kept = diagnostics;
        kept.retain(|diagnostic| {
            diagnostic.severity == Severity::Error || !self.allow.contains(diagnostic.code)
        });
        for diagnostic in &mut kept {
            let strict = self.strict && diagnostic.severity == Severity::Warning;
            if strict || self.deny.contains(diagnostic.code) {
                diagnostic.severity = Severity::Error;
            }
        }
        kept
    }
}
