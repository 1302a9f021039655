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

/// `HD0106`: a digest is another than was asked for.
pub(crate) const DIGEST_DIFFERS: Code = Code {
    id: "HD0106",
    severity: Severity::Error,
    title: "the digest is another than the one given",
    explain: "These are not the bytes that the digest was made of: the file was changed, cut off, made anew, or the \
              digest belongs to another version. Compare the name and version, and get both again from the publisher.",
};

/// `HD0107`: a digest cannot be compared.
pub(crate) const DIGEST_ALGORITHM: Code = Code {
    id: "HD0107",
    severity: Severity::Error,
    title: "the digest cannot be compared",
    explain: "Its algorithm is missing, unknown, or covers another kind of source, so that nothing can be said about \
              the bytes. This is neither a match nor a mismatch, and the exit code is 3.",
};

/// `HD0108`: a thing's own name cannot name a file.
pub(crate) const NO_NAME: Code = Code {
    id: "HD0108",
    severity: Severity::Error,
    title: "a name that cannot name a file or directory",
    explain: "Without `-o` the result is named after what it holds, NAME-VERSION. This name or version has \
              characters that would lead elsewhere or do not exist in file names everywhere.",
};

/// `HD0109`: what is to be packed cannot be opened.
pub(crate) const INPUT: Code = Code {
    id: "HD0109",
    severity: Severity::Error,
    title: "what is to be packed cannot be opened",
    explain: "It is not there, may not be read, or is neither a directory, a tar nor a package. Nothing was written.",
};

/// `HD0141`: an option that had no effect.
pub(crate) const UNMATCHED: Code = Code {
    id: "HD0141",
    severity: Severity::Warning,
    title: "a path to include or to exclude names nothing",
    explain: "`--include` and `--exclude` of `pack` take paths relative to the root of the input, not patterns. This one \
              is not there, so the option had no effect: check the spelling.",
};

/// `HD0140`: a program could not be used.
pub(crate) const PROGRAM: Code = Code {
    id: "HD0140",
    severity: Severity::Error,
    title: "a program is missing or failed",
    explain: "The command asks another program, which is not on PATH, ended with an error, or took too long. Programs are \
              found by absolute directories of PATH only.",
};

/// What this crate owns.
pub(crate) const CODES: &[Code] = &[
    USAGE,
    OUTPUT,
    ENVIRONMENT,
    CONTROL_BYTES,
    EXISTS,
    DIGEST_DIFFERS,
    DIGEST_ALGORITHM,
    NO_NAME,
    INPUT,
    UNMATCHED,
    PROGRAM,
];

/// The `CODES` of every crate. **A new crate adds its table here.**
pub(crate) const TABLES: &[&[Code]] = &[
    CODES,
    holdall_aospkg::codes::CODES,
    holdall_aospkg::pack::CODES,
    holdall_artifact::CODES,
    holdall_hosts::projections::CODES,
    holdall_hosts::validate::CODES,
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
