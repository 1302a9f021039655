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

/// Something could not be fetched.
pub const HD0206: Code = Code {
    id: "HD0206",
    severity: Severity::Error,
    title: "something cannot be fetched",
    explain: "The server, git or npm refused or could not be reached, or what came was cut off or \
              cannot be kept; the message has their words. Nothing was kept. `HOLDALL_CA_FILE` \
              names a file with certificate authorities that count beside the public ones and this machine's.",
};

/// Not in the cache, and `--offline`.
pub const HD0207: Code = Code {
    id: "HD0207",
    severity: Severity::Error,
    title: "something is not in the cache, and connections are forbidden",
    explain: "With `--offline` only what was fetched before is read, and only if it is still the \
              same, byte for byte.\n\nRun `holdall fetch SOURCE` once with a connection.",
};

/// Something else came than was pinned.
pub const HD0208: Code = Code {
    id: "HD0208",
    severity: Severity::Error,
    title: "what was fetched is not what was asked for",
    explain: "Another commit, another digest, or a cached copy that somebody changed. Nothing of \
              it was used. A pin that does not fit is a typing error, or the other side serves \
              something else than its publisher made.",
};

/// Too large or too slow.
pub const HD0209: Code = Code {
    id: "HD0209",
    severity: Severity::Error,
    title: "a fetch went beyond its limits",
    explain: "`[limits]` of `config.toml` in the store says how many bytes (`fetch-bytes`, 512 MiB \
              if not set) and seconds (`fetch-seconds`, 300 if not set) one fetch may take. What \
              came so far was removed.",
};

/// A program is missing.
pub const HD0210: Code = Code {
    id: "HD0210",
    severity: Severity::Error,
    title: "a program that is needed to fetch is missing",
    explain: "Repositories are fetched by `git` and npm packages by `npm`, as they are installed \
              on this machine. They are looked for in the absolute directories of PATH; relative \
              ones are passed over.",
};

/// An address that is never asked for.
pub const HD0211: Code = Code {
    id: "HD0211",
    severity: Severity::Error,
    title: "an address, ref or redirect that is not followed",
    explain: "Only https is used, also after a redirect, and a repository's redirects are not \
              followed at all. Addresses and refs that a program could take for an option or a \
              pattern are refused.",
};

/// Every code of this crate.
pub const CODES: &[Code] =
    &[HD0201, HD0202, HD0203, HD0204, HD0205, HD0206, HD0207, HD0208, HD0209, HD0210, HD0211];
