//! The codes of the command line itself, and the registry of all crates' codes.

use holdall_diagnostics::{Code, Registry, Severity};

/// `HD0101`: the command line is wrong.
pub(crate) const USAGE: Code = Code {
    id: "HD0101",
    severity: Severity::Error,
    title: "the command line is wrong",
    explain: "An unknown command or option, a value of the wrong form, or options that exclude each other. The exit code \
              is 2, and nothing was read or written. `holdall COMMAND --help` shows what the command takes.",
};

/// `HD0102`: the output cannot be written.
pub(crate) const OUTPUT: Code = Code {
    id: "HD0102",
    severity: Severity::Error,
    title: "the output cannot be written",
    explain: "Standard output, or a file that was to receive a report, refused the bytes: the disk is full or the \
              destination is not writable. A reader that closed its end of a pipe is no error.",
};

/// `HD0103`: the surroundings of the process are not usable.
pub(crate) const ENVIRONMENT: Code = Code {
    id: "HD0103",
    severity: Severity::Error,
    title: "the environment of the process cannot be used",
    explain: "The working directory is gone or its path is not UTF-8, or neither `HOME` nor `--home` says where the \
              user's home is.",
};

/// `HD0104`: a file would control the terminal.
pub(crate) const CONTROL_BYTES: Code = Code {
    id: "HD0104",
    severity: Severity::Error,
    title: "a file with control bytes is not printed on a terminal",
    explain: "Control bytes can move the cursor, change the title or type into the shell. `cat` stops before the first one \
              that is neither a tab nor the end of a line. Into a pipe or a file every byte is written; `--raw` writes \
              every byte to a terminal too.",
};

/// `HD0105`: a file that was to be made is there.
pub(crate) const EXISTS: Code = Code {
    id: "HD0105",
    severity: Severity::Error,
    title: "a file that was to be made is there already",
    explain: "`init` writes new files only. If one of them is there, nothing is written at all.",
};

/// What this crate owns.
pub(crate) const CODES: &[Code] = &[USAGE, OUTPUT, ENVIRONMENT, CONTROL_BYTES, EXISTS];

/// The `CODES` of every crate. **A new crate adds its table here.**
pub(crate) const TABLES: &[&[Code]] = &[
    CODES,
    holdall_aospkg::codes::CODES,
    holdall_aospkg::pack::CODES,
    holdall_artifact::CODES,
    holdall_hosts::projections::CODES,
    holdall_install::CODES,
    holdall_pack::CODES,
    holdall_skill::codes::CODES,
    holdall_source::CODES,
    holdall_store::CODES,
    holdall_source::validate::codes::CODES,
];

/// Every code there is.
pub(crate) fn registry() -> Registry {
    Registry::new(TABLES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_code_has_two_owners() {
        assert_eq!(Registry::duplicates(TABLES), Vec::<&str>::new());
    }
}
