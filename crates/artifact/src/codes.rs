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

/// npm would leave a file of the artifact out.
pub const AB7010: Code = Code {
    id: "AB7010",
    severity: Severity::Error,
    title: "npm would not pack a file of the artifact",
    explain: "Every listed file and the artifact manifest have to be in what `npm pack` would put \
              into the package. Files are missing there because of `files` in package.json, \
              because of `.npmignore`, or because npm never packs their names (`node_modules`, \
              `.npmrc`, lock files).",
};

/// A file is no longer what the artifact manifest says.
pub const AB7011: Code = Code {
    id: "AB7011",
    severity: Severity::Error,
    title: "a file of the artifact changed after the build",
    explain: "The bytes that npm would pack are not those of the file's row, so that every later \
              check of the installed package would fail. Build again, and let nothing change the \
              artifact between the build and the publishing.",
};

/// Versions disagree.
pub const AB7013: Code = Code {
    id: "AB7013",
    severity: Severity::Error,
    title: "the versions of the package and of the artifact disagree",
    explain: "package.json, what npm would pack, `application.version`, \
              `compiler.project.packageVersion` and the plugin documents of the agent hosts all \
              name a version, and all name the same one. Build again after the version was \
              changed.",
};

/// Something lies in the root that is no part of the artifact.
pub const HD0451: Code = Code {
    id: "HD0451",
    severity: Severity::Error,
    title: "something in the root is no part of the artifact",
    explain: "A package of an artifact holds its listed files and the artifact manifest, and \
              nothing is left out without a word: a file that no row lists may be a mistake, or \
              a secret. Remove it, or leave it out with `--exclude`.",
};

/// npm's list of what it would pack cannot be used.
pub const HD0452: Code = Code {
    id: "HD0452",
    severity: Severity::Error,
    title: "npm's list of what it would pack cannot be used",
    explain: "It is the output of `npm pack --dry-run --json --ignore-scripts`, run in the \
              directory of the package, and it has exactly one entry of the package's name. \
              Without `--ignore-scripts`, scripts may write other text in front of it.",
};

/// Every code of this crate.
pub const CODES: &[Code] = &[AB6000, AB6001, AB7001, AB7010, AB7011, AB7013, HD0451, HD0452];
