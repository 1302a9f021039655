//! The diagnostic codes of this crate.

use holdall_diagnostics::{Code, Severity};

/// The store's directory is not safe to use.
pub const HD0201: Code = Code {
    id: "HD0201",
    severity: Severity::Error,
    title: "the store's directory is not private to its user",
    explain: "The store says what is installed and holds what agents run, so its directory must \
              belong to the user and be writable by nobody else.\n\nRun `chmod 700` on it, or \
              name another with `HOLDALL_HOME` or `--home`.",
};

/// A record cannot be read.
pub const HD0202: Code = Code {
    id: "HD0202",
    severity: Severity::Error,
    title: "a record of the store cannot be read",
    explain: "A record that does not parse is never taken for an absent one, because the next \
              install would then overwrite it and forget what it owned.\n\nPut the file back \
              from a backup, or move it away if what it describes is gone; `holdall doctor` then \
              says what nobody owns any more.",
};

/// Reading or writing the store failed.
pub const HD0203: Code = Code {
    id: "HD0203",
    severity: Severity::Error,
    title: "the store cannot be read or written",
    explain: "The operating system refused a file of the store; the message has its words.",
};

/// `config.toml` is wrong.
pub const HD0204: Code = Code {
    id: "HD0204",
    severity: Severity::Error,
    title: "a setting in `config.toml` is wrong",
    explain: "Settings are read strictly: an unknown key or a value of another type is an error, \
              so that a misspelt one is not silently without effect. Known are `knowledge-roots`, \
              `products` (lists of directories), `[destinations]` (a skill directory for an agent \
              host) and `[limits]`.",
};

/// An earlier change was interrupted.
pub const HD0205: Code = Code {
    id: "HD0205",
    severity: Severity::Warning,
    title: "an earlier change was interrupted",
    explain: "The journal of an install, update or uninstall that did not finish is still there. \
              The next command that changes something finishes or takes it back first; commands \
              that only look report it and leave it alone.",
};

/// Every code of this crate.
pub const CODES: &[Code] = &[HD0201, HD0202, HD0203, HD0204, HD0205];
