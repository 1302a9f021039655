//! The diagnostic codes of this crate.

use holdall_diagnostics::{Code, Severity};

/// The artifact manifest or its root cannot be opened.
pub const AB6000: Code = Code {
    id: "AB6000",
    severity: Severity::Error,
    title: "the artifact manifest is missing or the root is not a readable directory",
    explain: "A composite plugin root is a directory with `agent-bundle.manifest.json` at its \
              top, and that must be a regular file which can be read. Nothing else in the \
              directory is looked at to find out what it is.\n\nName the directory that \
              `agent-bundle build` or `holdall build` wrote, or build it again.",
};

/// The artifact manifest is not valid.
pub const AB6001: Code = Code {
    id: "AB6001",
    severity: Severity::Error,
    title: "the artifact manifest is not a strict canonical manifest",
    explain: "The file is read strictly: canonical bytes, exactly the documented keys, sorted \
              arrays, portable paths, and rules that tie its sections together (`R1` to `R24`). \
              The message begins with the name of the rule that is broken. It is also given when \
              the file changed while it was being validated.\n\nThe file is written by the \
              build and by nothing else, so the answer is to build the root again; a root of \
              another `manifestVersion` has to be built again as well.",
};

/// The artifact does not fit what is to be done with it.
pub const AB7001: Code = Code {
    id: "AB7001",
    severity: Severity::Error,
    title: "the artifact manifest or a listed file does not support what was asked",
    explain: "A command that installs, inspects or removes an artifact found no manifest, an \
              invalid one, no projection for the agent host, a projection without its document, \
              or a listed file that is missing or differs from its row in size, digest or \
              executable state.\n\n`holdall validate --artifact DIR` says what is wrong in \
              detail.",
};

/// Every code of this crate.
pub const CODES: &[Code] = &[AB6000, AB6001, AB7001];
