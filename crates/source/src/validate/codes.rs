//! The codes of validation itself: what stands between the user and a check.

use holdall_diagnostics::{Code, Severity};

/// `HD0130`: nothing that could be checked was found.
pub const NOTHING: Code = Code {
    id: "HD0130",
    severity: Severity::Error,
    title: "nothing to check was found",
    explain: "No document, artifact or package is at the path or below it. A check that looks at nothing would always \
              pass, so it is an error. Ignored files, `node_modules` and `.git` are skipped unless they are named, and \
              `--exclude` leaves out more.",
};

/// `HD0131`: a pattern of `--exclude` cannot be read.
pub const PATTERN: Code = Code {
    id: "HD0131",
    severity: Severity::Error,
    title: "a pattern cannot be read",
    explain: "`--exclude` takes patterns as they stand in a `.gitignore`: `*` within a name, `**` across directories, \
              a `/` at the start for the place where the check begins.",
};

/// `HD0132`: a document cannot be fixed in place.
pub const CANNOT_FIX: Code = Code {
    id: "HD0132",
    severity: Severity::Error,
    title: "a document cannot be fixed in place",
    explain: "`--fix` writes regular files that have not changed since they were read. It does not write through a link, \
              into a sealed file, or where the result would not read as the same texts.",
};

/// `HD0133`: an entry of the directory cannot be looked at.
pub const UNREADABLE: Code = Code {
    id: "HD0133",
    severity: Severity::Error,
    title: "an entry cannot be looked at",
    explain: "A directory cannot be read, or a name in it is not UTF-8. What cannot be looked at is not silently skipped.",
};

/// All of them.
pub const CODES: &[Code] = &[NOTHING, PATTERN, CANNOT_FIX, UNREADABLE];
