//! Every diagnostic code this part owns: `AO01xx` reading a package, `AO03xx` what `validate`
//! says of one that can be read. `AO02xx` are the packer's.

holdall_diagnostics::codes! {
    UNREADABLE = "AO0101" Error "the package file cannot be read"
        "The system refused to open or read the file: it is missing (ENOENT), forbidden (EACCES), a directory \
         (EISDIR), a fifo, socket or device (EINVAL), or the disk failed (EIO). Nothing was read from it.";
    NOT_A_PACKAGE = "AO0102" Error "the file is not a package"
        "A package begins with the four bytes `89 41 4f 53` and has a header of 16 bytes. This file has other \
         bytes there, or fewer than 16. npm tarballs hold the package as `package/dist/package.aospkg`.";
    VERSION = "AO0103" Error "the format version is not known"
        "Versions 1 and 2 exist. agentOS 0.2 reads only 1, agentOS 0.4 only 2, Holdall both; \
         `holdall pack FILE.aospkg -o OUT --format-version N` converts.";
    FLAGS = "AO0104" Error "reserved header flags are set"
        "The two bytes at offset 6 are reserved and must be 0. A package that sets them wants something of its \
         reader that this reader does not know, so reading on could misunderstand it.";
    TRUNCATED = "AO0105" Error "the file is shorter than its header says"
        "The manifest and index chunk must end inside the file. The file was cut off, or the header is damaged.";
    MANIFEST = "AO0106" Error "the manifest chunk does not decode"
        "The bytes are not the manifest of this format version: another schema version, a length that leads out of \
         the chunk, a text that is not UTF-8. The offset is that of the value that is wrong.";
    INDEX = "AO0107" Error "the index chunk does not decode"
        "The bytes are not an index of this format version: another schema version, a length that leads out of \
         the chunk, an entry kind above 2, a text that is not UTF-8. The offset is that of the value that is wrong.";
    NOT_SORTED = "AO0108" Error "index entries are not sorted, or one path stands twice"
        "Entries are sorted by the UTF-8 bytes of their whole paths, so `/a`, `/a-b`, `/a/b`, `/a0`. Early \
         packers sorted by UTF-16 code units, which differs for characters above U+FFFF.";
    PATH = "AO0109" Error "an index path is not absolute and normalised"
        "A path begins with `/` and has no empty, `.` or `..` component and no `/` at its end.";
    TOO_MANY = "AO0110" Error "the index has more than 200,000 entries"
        "The published readers refuse such a package with ENOMEM, so does this one. Directories count.";
    OUTSIDE = "AO0111" Error "a file's bytes lie outside of the mount"
        "Offset and size of every file must stay inside the mount chunk. The file was cut off (fetch it again), \
         or the index was made for other bytes.";
    LINK_TARGET = "AO0112" Error "a link has no target"
        "An entry of kind link must carry its target.";
    MTIME = "AO0113" Error "a modification time does not fit"
        "Times are Unix seconds from 0 on, and small enough to be counted in milliseconds.";
    ROOT = "AO0114" Error "the directory to open is not in the package"
        "A package is opened at its root `/` or at one of its directories. The path is absent (ENOENT) or is no \
         directory (ENOTDIR); an index without an entry `/` cannot be opened at all.";
    CHANGED = "AO0115" Error "the package changed while it was in use"
        "The file's size or modification time is no longer that of the time of opening, so its index may not fit \
         its bytes any more. Renaming, deleting or replacing the file, its mode and its links do not matter: those \
         leave the opened file as it is.";
    TOO_LARGE = "AO0116" Error "a chunk does not fit into the format"
        "Manifest and index chunk can have 4 GiB each.";
    LOSS = "AO0117" Error "the format version cannot hold all facts"
        "Version 2 has no agent block and no snapshot path. Writing such a package as version 2 would drop them.";
    EXTRACT = "AO0118" Error "the package cannot be extracted"
        "The destination exists, an entry cannot be a file on this system, or a link leads out of the directory. \
         Nothing is left behind: an extraction appears whole or not at all. `--rewrite-links` turns absolute targets \
         into relative ones that stay inside.";
    IN_PACKAGE = "AO0119" Error "a path in the package cannot be used"
        "The path asked for is absent (ENOENT), runs through a file (ENOTDIR), is a directory where a file is wanted \
         (EISDIR), follows more than 40 links (ELOOP), or leaves the opened directory (EXDEV).";
    INDEX_DIFFERS = "AO0120" Error "the index and the tar headers differ"
        "Every file, directory and link of the index has a header in the tar, with the same kind, size, offset and \
         target, and the other way round. Where they differ, somebody who mounts the package and somebody who \
         unpacks its tar see different files.";
    TAR_UNREADABLE = "AO0121" Error "the mount is not a readable tar"
        "The index is used without the tar headers, so the package may still mount; but what its index says cannot \
         be compared with anything, and the published tools cannot unpack or repack it.";

    LONG_VARINT = "AO0301" Warning "a number is written longer than needed"
        "The TypeScript reader refuses varints that are not in their shortest form; the Rust reader takes them. \
         `holdall pack FILE.aospkg -o OUT` writes the canonical form.";
    LOOSE_BOOL = "AO0302" Warning "a yes-or-no byte is neither 0 nor 1"
        "The Rust reader takes every other value as yes; the TypeScript reader refuses it.";
    DUPLICATE_KEY = "AO0303" Warning "a map has a key twice"
        "The Rust reader lets the last value win; the TypeScript reader refuses the package.";
    TRAILING_BYTES = "AO0304" Warning "a chunk has bytes behind its value"
        "The Rust reader ignores them; the TypeScript reader refuses the package. They are not shown anywhere, \
         and could hold anything.";
    UNSORTED_MAP = "AO0305" Info "map keys are not in sorted order"
        "The format gives maps no order: one packer writes the author's, another a random one, so two packs of one \
         input differ. Holdall writes keys sorted by bytes.";
    NONZERO_OFFSET = "AO0306" Warning "directories or links carry an offset or a size"
        "The schema says 0; one published packer writes the place of their (empty) data. Readers ignore it.";
    OWNER = "AO0307" Warning "entries have an owner other than 0"
        "Guests see these numbers as owners. Deterministic packs have 0: the packer's own user id says nothing \
         about the guest.";
    MTIMES = "AO0308" Warning "entries have a modification time other than 0"
        "Two packs of the same files at different times differ. Deterministic packs have 0.";
    MEMBER_ORDER = "AO0309" Warning "tar members are not in path order"
        "Reading all files in index order then jumps through the file, and two packs of the same files can differ.";
    LONG_NAME_RECORDS = "AO0310" Info "the tar has GNU long name or PAX records"
        "They are needed for long paths and are read everywhere. Only noted so that nobody wonders about members \
         that are not in the index.";
    HIDDEN_DATA = "AO0311" Warning "bytes lie behind the end of the tar"
        "The mount runs to the end of the file, so readers ignore what follows the two zero blocks. It is \
         part of the file's digest but of no listing, and can hold anything.";
    SOURCE_MANIFEST = "AO0312" Warning "the package still carries `agentos-package.json`"
        "Packers read that file and leave it out: the manifest chunk is the only manifest. A copy inside can say \
         something else than the manifest does.";
    NOT_EXECUTABLE = "AO0313" Warning "a command cannot be executed"
        "The file a command runs has no x bit, so a guest gets EACCES. `chmod +x` it and pack again.";
    COMMAND_MISSING = "AO0314" Warning "a command's entry is not a file of the package"
        "The command is linked into the guest's path, and running it fails: the entry is absent, leads out of the \
         package, or is a directory.";
    COMMAND_TWICE = "AO0315" Warning "a command is declared twice"
        "A host refuses to project such a package.";
    PAGE_MISSING = "AO0316" Warning "a man page is not a file of the package"
        "One published packer takes directories below `/share/man` for pages. `man` will not find it.";
    PROVIDES_SOURCE = "AO0317" Warning "a provided directory is missing or is no directory"
        "A host opens the package at that directory and refuses the whole package when it cannot (ENOENT, ENOTDIR).";
    PROVIDES_TARGET = "AO0318" Warning "a provided directory is mounted at an unusual place"
        "Targets are absolute, normalised and not `/`. Outside of /usr/local, /usr/share and /opt they hide what the \
         guest has there, so look twice.";
    NAME = "AO0319" Warning "a name or version is not usable as a directory"
        "Names and versions are 1 to 128, commands 1 to 255 characters of `A-Z a-z 0-9 . _ @ -`, and not `.` or \
         `..` (a command may be `[`). agentOS 0.4 refuses others, and older hosts would let `..` leave the \
         projection.";
    ENTRY_PATH = "AO0320" Warning "a command's entry is not a normalised relative path"
        "Entries are relative to the package's root, without empty, `.` and `..` components and at most 4,096 bytes \
         long. agentOS 0.4 refuses others.";
    LIMIT = "AO0321" Warning "the package is beyond a limit of agentOS 0.4"
        "Manifest 1 MiB, index 64 MiB, package 512 MiB, 1,024 commands, 1,024 environment keys, 1,024 provided \
         directories. agentOS 0.4 refuses what is larger.";
    UNREACHABLE = "AO0322" Warning "entries cannot be reached"
        "Every directory above an entry must be an entry too, and a directory; else no path leads to it.";
    MODE_KIND = "AO0323" Warning "an entry's mode says another kind than its entry"
        "The type bits of the mode are shown by stat as they are, so programs in the guest take a file for \
         something else.";
    TARGET_ON_OTHER = "AO0324" Info "an entry that is no link carries a link target"
        "Readers ignore it. It is gone when the files are packed again.";
    LINK_ESCAPES = "AO0325" Warning "a link leads out of the package or nowhere"
        "In a mounted package an absolute target means a path inside it and `..` stops at its root, but anybody who \
         unpacks it gets a link to somewhere else. A dangling link is also reported here.";
    NAME_COLLISION = "AO0326" Warning "a path does not survive on every system"
        "Two paths differ only in case, or a name is reserved on Windows or holds a control character. On \
         such a system the extraction loses one of them.";
    SETID = "AO0327" Warning "a file has a set-id or sticky bit"
        "Extraction drops these bits; a guest shows them.";
    FORMAT_ONE = "AO0328" Info "the package has format version 1"
        "Read by agentOS 0.2 and Holdall. agentOS 0.4 reads only version 2: \
         `holdall pack FILE.aospkg -o OUT --format-version 2`.";
    AGENT = "AO0329" Warning "the agent block does not fit the package"
        "The entrypoint must be one of the commands, and a snapshot must be there if it is announced.";
    SHADOWS = "AO0330" Warning "a command replaces a well-known program"
        "A guest that runs `sh`, `git`, `curl` or another program everybody knows gets this one. That is \
         the point of a package of such tools, and a surprise in any other.";
    ENVIRONMENT = "AO0331" Warning "the package sets a variable that changes how programs run"
        "PATH, LD_*, NODE_OPTIONS, *_PROXY and their like work on every program of the guest, not only on this \
         package's.";
    EXPANDED = "AO0332" Warning "two entries share bytes"
        "Files may overlap. It is how hard links are stored when both have the same range; anything else \
         is a damaged index.";
}
