//! The diagnostic codes of sources: `HD011x`, what was typed; `HD012x`, what is there.

holdall_diagnostics::codes! {
    BARE_WORD = "HD0110" Error "a bare word is no source"
        "A source is a path (`./x`, `/x`, `a/b`, or a name ending in `.aospkg` or `.agentapp`), `git+https://URL#SHA40`, \
         `https://…`, `npm:NAME@VERSION` or `aip://…`. A bare word could be a directory, a command or an agent host, \
         so it is none of them: for the directory type `./NAME`.";
    NOT_PINNED = "HD0111" Error "the address of a repository is not pinned to a commit"
        "Whoever controls a repository can move its branches and tags, so an address without a full commit says \
         nothing about what will arrive. Type `git+https://URL#SHA40` with the 40 lower-case hexadecimal digits of the \
         commit; `git ls-remote URL HEAD` prints them. Only an app may be followed by name, with `--ref`.";
    BAD_ADDRESS = "HD0112" Error "an address that cannot be used"
        "The scheme is not one Holdall reads, or the address is malformed. Only `git+https://`, `https://` (ending in \
         `.aospkg` or `.agentapp`), `npm:NAME@VERSION` with an exact version, `aip://` and `file:` are sources. An \
         address must be printable ASCII, without a user name or password.";
    NOT_UTF8 = "HD0113" Error "a path is not UTF-8"
        "Paths appear in packages, receipts and JSON, all of which are UTF-8. Rename the file, or give a path whose \
         every byte is UTF-8. The errno name is EILSEQ.";
    CANNOT_OPEN = "HD0120" Error "a source cannot be opened"
        "The operating system refused, and the message says why with its errno name: ENOENT (nothing is there), \
         EACCES (not permitted), ENOTDIR, ELOOP, EIO.";
    NOT_A_TREE = "HD0121" Error "a file holds nothing that can be read as a tree"
        "The file is neither a package (its first bytes are `89 41 4f 53`) nor an app bundle (a gzip stream, named \
         `.agentapp`). The message says what the first bytes look like. FIFOs, devices and sockets are never opened.";
    NOTHING_KNOWN = "HD0122" Error "nothing known is at the root of a source"
        "What a source is comes from the files at its root: `agent-bundle.manifest.json` (artifact), `PACK.md` (pack), \
         `APP.md` or `.agentproto/APP.md` (app), `agent-bundle.config.*` (project), `SKILL.md` (skill) or \
         `skills/*/SKILL.md` (skills), `agentos-package.json` or a package's manifest (package). None of them is \
         there. `--subdir DIR` looks further inside.";
    WRONG_KIND = "HD0123" Error "a source is not of the kind that was asked for"
        "`--kind` was given, but the files that make a source of that kind are not at its root.";
    CANNOT_FETCH = "HD0124" Error "a source of this form cannot be fetched here"
        "Nothing can be fetched for an `aip://` ref, or the command reads paths alone. Give the address of what is \
         meant, or fetch it with `holdall fetch` and give the path it prints.";
}
