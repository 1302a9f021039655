//! The packer's diagnostic codes, `AO02xx`.

holdall_diagnostics::codes! {
    READ = "AO0201" Error "an entry of the input cannot be read"
        "The directory or tar that is to be packed could not be read at this entry. Nothing was written.";
    TAR = "AO0202" Error "the tar is damaged or readers take it differently"
        "The archive is cut off, a checksum is wrong, or a member mixes PAX and GNU headers so that programs \
         disagree about what it holds. The message names the member and its offset. Make the archive anew, for \
         instance with `tar -cf`.";
    TRAILING = "AO0203" Error "data behind the end of the tar"
        "Something follows the two zero blocks that end the archive. Most readers never see it, so it is either \
         lost or hidden; two archives joined by `cat` look like this. Make one archive of all that belongs in.";
    NO_END = "AO0204" Warning "the tar has no end blocks"
        "The archive ends without two zero blocks. Everything in it was read, but a cut at just this place cannot \
         be told from a whole archive.";
    NAME = "AO0205" Error "a name that a package cannot hold"
        "Paths in a package are UTF-8, relative, and have no `..`. The message shows the name with its bytes.";
    DUPLICATE = "AO0206" Error "two members for one path"
        "After `./` and double slashes are taken away both have the same path, or one path is a file and a \
         directory at once. Which of them would count depends on the reader. Remove one.";
    KIND = "AO0207" Error "an entry that a package cannot hold"
        "Packages hold files, directories and symbolic links. Devices, named pipes, sockets and other kinds of \
         members are refused, never left out silently. Leave it out with `--exclude PATH`.";
    LINK = "AO0208" Error "a link that leaves the package"
        "Its target is absolute, empty, or climbs out by `..`. Inside a guest it would point at the guest's own \
         files. Make it relative and keep it inside.";
    LINK_NOWHERE = "AO0209" Warning "a link to nothing"
        "The link's target is not in the package, or the link leads back to itself. It is packed as it is.";
    SET_ID = "AO0210" Error "a set-user-ID or set-group-ID bit"
        "A package that brings programs which run as somebody else is refused. Remove the bit with `chmod a-s`.";
    NUMBER = "AO0211" Error "a number that does not fit"
        "Owners have 32 bits, times are not before 1970, and a package has at most 200,000 entries.";
    COLLISION = "AO0212" Error "names that are one name elsewhere"
        "The two differ only in letter case or in how an accent is written; where a file system does not tell them \
         apart, one replaces the other. Rename one, or say `--posix`.";
    RESERVED = "AO0213" Error "a name that does not exist everywhere"
        "Windows reserves device names such as `con`, the characters `< > : \" | ? * \\`, and names that end with a \
         dot or a space. Rename it, or say `--posix`.";
    SECRET = "AO0214" Error "something that is rarely meant to be published"
        "A `.git` directory, an `.env` file, a private key or an unfinished file of an interrupted run lies in the \
         directory. Leave it out with \
         `--exclude PATH`, or say that it is meant with `--include PATH`.";
    SOURCE_MANIFEST = "AO0215" Error "agentos-package.json is wrong"
        "The file at the root of the input says name and version, and for agents and providers more. It must be \
         JSON in UTF-8 without a byte order mark, with each known field once and of its type.";
    MISSING_FACT = "AO0216" Error "name or version is missing"
        "A package needs both. They come from `agentos-package.json`, else from `package.json`, else from \
         `--name` and `--version`.";
    COMMAND = "AO0217" Error "a command that cannot run"
        "Every command names a file of the package that exists, is no directory and has its execute bit; links are \
         followed inside the package. Set the bit with `chmod +x`, correct `bin` in `package.json`, or remove the \
         command.";
    AGENT = "AO0218" Error "an agent without its command"
        "`agent.acpEntrypoint`, or `--agent`, must be one of the package's commands.";
    PROVIDES = "AO0219" Error "a directory that is provided does not exist"
        "`provides.files[].source` is a directory of the package, `target` an absolute path in the guest that is \
         not the root.";
    SNAPSHOT = "AO0220" Warning "the snapshot bundle is missing"
        "`agent.snapshot` is true, but the package has no file `dist/sdk-snapshot.js`; the agent starts without it.";
    CHANGED = "AO0221" Error "a file changed while it was packed"
        "Its size or time is another than when the packing began. Nothing was written; pack again when the build is \
         done.";
    LOST_RECORDS = "AO0222" Warning "facts of the tar that a package cannot hold"
        "A member carries extended attributes or other records beside its mode, owner and time. They are left out.";
    WRITE = "AO0223" Error "the package cannot be written"
        "The message has the operating system's words. Nothing stands at the destination that was not there before.";
    LEFT_OUT = "AO0224" Warning "a fact that was left out as allowed"
        "The format version that was asked for has no place for it, and `--allow-loss` said to leave it out.";
}
