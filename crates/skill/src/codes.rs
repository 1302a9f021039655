//! Every diagnostic code this crate owns: `PK01xx` frontmatter and YAML, `PK02xx` `SKILL.md`,
//! `PK03xx` hidden Unicode and risky instructions.

holdall_diagnostics::codes! {
    FRONTMATTER_MISSING = "PK0101" Error "a document has no frontmatter, or an empty one"
        "A document begins with a line `---` at its first byte, has its fields as YAML, and a second line `---`. \
         A blank line, a heading or a byte sequence before the first `---` means there is no frontmatter, and agent \
         hosts then see neither name nor description. A block further down is body text and is never read.";
    FRONTMATTER_UNCLOSED = "PK0102" Error "the frontmatter has no closing line"
        "The fields end with a line that is exactly `---` (blanks behind it are fine). Without it a file that was cut \
         off would still read as a document, so it is refused. `...` does not close frontmatter.";
    YAML_SYNTAX = "PK0103" Error "the frontmatter is not valid YAML"
        "The text between the two `---` lines does not parse. Agent hosts then drop the document, or all of its \
         fields. The caret shows where the parser stopped; the fault is there or just before it.";
    COLON_IN_PLAIN = "PK0104" Error "an unquoted value contains `: `"
        "In YAML a colon followed by a blank makes a key, so `description: Use when: x` is not a text. Put the value \
         in quotes: `description: \"Use when: x\"`. `holdall validate --fix` adds the quotes and changes nothing else.";
    TEXT_BEHIND_BRACKET = "PK0105" Error "an unquoted value goes on behind a closing bracket"
        "A value that begins with `[` or `{` is a list or a mapping, and nothing may follow its closing bracket: \
         `argument-hint: [file] [options]` does not parse. Quote the value if a text is meant; \
         `holdall validate --fix` does it.";
    RESERVED_START = "PK0106" Error "an unquoted value begins with a character that YAML reserves"
        "``@ ` % * & ! | > , ] } ? -`` mean something at the start of a value. `@scope/name`, `*.md` or \
         `**bold**` have to be quoted; `holdall validate --fix` does it.";
    TAB = "PK0107" Error "a tab is used as indentation"
        "YAML indents with blanks only. Readers either refuse the tab or silently read another structure, such as an \
         empty value followed by an unrelated key.";
    DUPLICATE_KEY = "PK0108" Error "a key is given twice"
        "One of the two values would win, and which one depends on the reader. Keep one.";
    LIMIT = "PK0109" Error "the document is beyond a limit"
        "Frontmatter may have 1 MiB, 64 levels, and 20,000 values with all aliases written out; a document may \
         have 16 MiB. Documents people write are a thousand times smaller, so what is beyond is an accident or \
         an attack on the reader.";
    UNKNOWN_TAG = "PK0110" Error "a value carries an unknown tag"
        "Tags such as `!foo` or `!!js/function` ask the reader to build something. Only YAML's own `!!str`, `!!int`, \
         `!!float`, `!!bool`, `!!null`, `!!seq` and `!!map` are known. Quote the value if it is meant to begin with `!`.";
    FRONTMATTER_LANGUAGE = "PK0111" Error "the frontmatter is in another language than YAML"
        "Some readers take a word behind the opening `---` as a language and evaluate `---js` as a program. Holdall \
         reads YAML and evaluates nothing.";
    NOT_UTF8 = "PK0112" Error "the document is not UTF-8"
        "Documents are UTF-8. A byte order mark at the start is read, with a warning (PK0115).";
    CONTROL = "PK0113" Error "the frontmatter holds a character that YAML does not allow"
        "Control characters and carriage returns without a line feed are refused, because some readers stop there, \
         some split the line there, and some see nothing.";
    FRONTMATTER_FENCE = "PK0114" Error "a line of the frontmatter only begins with `---`"
        "`---tail` and `----` close the frontmatter for some readers and not for others, so two readers would see two \
         different documents. Make it exactly `---`, or indent it.";
    BOM = "PK0115" Warning "the document begins with a byte order mark"
        "Several agent hosts look for `---` at the first byte and find no frontmatter behind a byte order mark. Save \
         the file as UTF-8 without one. Digests cover the bytes as they are, the mark included.";
    PORTABLE_SCALAR = "PK0116" Warning "an unquoted text is a number, a boolean, a date or nothing to some readers"
        "YAML 1.1 and 1.2 disagree about unquoted words: `no` is false, `1.10` is 1.1, `2026-01-02` is a date, `1:30` \
         is 90 to some parsers. Quote the text. In `PACK.md` and `APP.md` it is an error, in `SKILL.md` a warning; \
         `holdall validate --fix` adds the quotes.";
    COMMENT_CUTS = "PK0117" Warning "` #` ends an unquoted value"
        "A blank and a `#` begin a comment, so `description: Fixes issue #12` is only `Fixes issue`. Quote the \
         value if the rest belongs to it. `--fix` does not, because a comment may have been meant.";
    KEY = "PK0118" Error "a key is not a plain text"
        "Keys of a document are texts. Lists, mappings and aliases to them as keys are refused.";
    NOT_A_FILE = "PK0119" Error "a document cannot be read"
        "A document has to be a regular file. A directory, a device, a named pipe, or a link that leads out of the \
         directory looked at is never opened.";
    NOT_A_MAPPING = "PK0120" Error "the frontmatter is not a mapping"
        "The fields are written as `key: value` lines. A list or a single text has no fields.";
    SKILL_NAME_MISSING = "PK0201" Error "a skill has no name"
        "`name` is required: it is what people type, and the directory the skill is installed under.";
    SKILL_NAME = "PK0202" Error "a skill's name cannot be used"
        "A name has 1 to 64 lower-case letters and digits, in words with single hyphens between them: \
         `^[a-z0-9]+(-[a-z0-9]+)*$`. It becomes a directory name, so nothing else is safe.";
    SKILL_DIRECTORY = "PK0203" Warning "a skill's name differs from its directory"
        "The specification wants them equal, and some agent hosts show one and some the other. Published skills do \
         differ, so it is a warning, and an error with `--strict`. The installed directory takes the name.";
    SKILL_DESCRIPTION_MISSING = "PK0204" Error "a skill has no description"
        "`description` is required: it is all an agent sees of a skill before it decides to read it.";
    SKILL_DESCRIPTION_LONG = "PK0205" Warning "a skill's description is longer than 1,024 characters"
        "The specification allows 1,024 characters, and agent hosts may cut off the rest. An error with `--strict`.";
    SKILL_KEY = "PK0206" Warning "a key that the Agent Skills specification does not have"
        "Known are `name`, `description`, `license`, `compatibility`, `metadata` and `allowed-tools`. Others are kept \
         and reported; `metadata` is the place for one's own. An error with `--strict`.";
    SKILL_FIELD = "PK0207" Warning "an optional field of a skill has the wrong form"
        "`license` is a text, `compatibility` a text of 1 to 500 characters, `metadata` a mapping from texts to \
         texts, `allowed-tools` a text or a list of texts.";
    SKILL_LINK = "PK0211" Warning "a relative link leads nowhere"
        "An agent that follows the link finds no file. Links are relative to the file they stand in.";
    SKILL_TWICE = "PK0212" Error "two skills have one name"
        "Skills below the same `skills` directory are installed side by side under their names, so one of the two \
         would replace the other. Skills of one name in different plugins are fine.";
    SKILL_LINK_OUTSIDE = "PK0213" Info "a relative link leaves the skill"
        "The file is there, and it is not installed with the skill.";
    SKILL_FILE_NAME = "PK0214" Warning "a skill's file is not spelt `SKILL.md`"
        "Agent hosts look for exactly `SKILL.md`; on most machines `skill.md` is another file.";
    SKILL_UNSAFE_FILE = "PK0215" Error "a file of a skill leads out of it, or is no file"
        "A link whose target is outside of the skill would be installed as a link to something else, and devices and \
         named pipes cannot be installed. Links inside the skill are fine.";
    HIDDEN_TAGS = "PK0301" Error "invisible tag characters"
        "Characters U+E0000 to U+E007F mirror ASCII and are shown by nothing, but models read them. Outside of the \
         flags of a few regions there is no honest use.";
    HIDDEN_BIDI = "PK0302" Error "a bidirectional control character"
        "Embeddings, overrides and isolates make a text read in another order than it is stored, so a reviewer and a \
         model see different things. They pass where they are balanced on a line with right-to-left letters.";
    HIDDEN_ZERO_WIDTH = "PK0303" Warning "a zero-width character where no script needs one"
        "Zero-width characters can split words to get past filters, or carry bits. Joiners in emoji and in Arabic and \
         Indic scripts, and spaces of zero width in scripts without spaces, pass.";
    HIDDEN_VARIATION = "PK0304" Warning "a variation selector that varies nothing"
        "One selector behind a character that has variants passes. A row of selectors can carry any bytes and is an error.";
    HIDDEN_OTHER = "PK0305" Warning "an invisible character"
        "Fillers, control characters, soft hyphens, separators, or a direction mark on a line without right-to-left letters.";
    RISKY_PIPE = "PK0311" Warning "a download is run without a look at it"
        "`curl … | sh` and its kin run whatever the server sends at that moment, which nobody reviewed.";
    RISKY_FETCH = "PK0312" Warning "instructions are taken from the network at run time"
        "A skill that tells the agent to fetch a page and follow it is as trustworthy as that page is on the day.";
    RISKY_RUNNER = "PK0313" Warning "a package is run without asking and without a version"
        "`npx -y name` runs the newest version of a package, whoever published it. With an exact version it passes.";
    RISKY_LATEST = "PK0314" Warning "a version is `@latest`"
        "What `@latest` means changes without notice. Name the version that was tried.";
}
