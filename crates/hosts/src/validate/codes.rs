//! The codes of `validate --artifact`.

holdall_diagnostics::codes! {
    /// Files and rows differ.
    AB6004 Error "a listed file and the tree disagree",
        "Every file of a root but the artifact manifest has a row with its size, digest and mode, \
         and every row has its file. It is given for a file that is missing, differs, changed \
         while it was read, or has no row; and for two rows whose paths differ in letter case only, \
         or in how letters are encoded, of which one is lost on many disks.\n\nAn artifact is not edited by hand: build it \
         again. `.env`, `.env.local`, the runtime's `state/` and an installer's receipt may lie \
         at the top without a row.";
    /// An emitted module imports something from outside.
    AB6005 Error "an emitted module imports what the artifact does not hold",
        "A compiled module runs where nothing was installed for it, so each of its imports is a \
         module of Node.js or a listed file of the artifact. Bundle the dependency, or import it \
         by a relative path to a file that is shipped. It is also given when an emitted module \
         is no JavaScript at all.";
    /// A JSON file is none.
    AB6006 Error "a .json file is not JSON",
        "A file whose name ends in `.json` is read as JSON by the agent host or by the code of \
         the artifact. Files of a prebuilt payload are not looked into.";
    /// Another pin of the Agent Skills specification.
    AB6008 Error "the Agent Skills pin is not the one that is known",
        "`compiler.agentSkills` names the specification that the skills were validated against: \
         its address, its revision and the digest of its schema. All three are those this \
         validator knows, or the skills were judged by other rules. Build the root again.";
    /// A link or special file.
    AB6013 Error "a link or special file lies in the artifact",
        "An artifact holds regular files and directories, nothing else: links, devices, fifos and \
         sockets cannot be hashed, copied or packed in a way that means the same elsewhere. \
         Nothing is followed through a link. Put the file itself there and build again.";
    /// A file where no layout has one.
    AB6014 Error "a file lies outside every declared layout, or a directory is empty",
        "What a root may hold is known: the documents of its projections, hooks, servers, \
         scripts, skills, commands, assets and the directories of its payloads. A file elsewhere \
         reaches no agent host; an empty directory cannot be packed. Declare a payload for the \
         file, or move it under `assets/`.";
    /// The shape of a skill.
    AB6015 Error "a skill document is not valid",
        "Each `skills/NAME/SKILL.md` has frontmatter with a name and a description by the Agent \
         Skills specification. The message names the finding behind it, which `holdall explain` \
         explains; what is only a warning there is one here.";
    /// A reference of a skill.
    AB6016 Error "a skill document refers to a file that is not shipped",
        "A relative link or image in the body of a `SKILL.md` leads to a listed file in the same \
         skill. A link out of the skill's directory reaches nothing once the skill is installed. \
         Ship the file with the skill, or take the link out.";
    /// A skill without a body.
    AB6034 Error "a skill document has no body",
        "The body of a `SKILL.md` is what the agent reads when the skill is used; without one \
         there is nothing to follow.";
    /// Compile evidence that does not fit.
    AB6039 Error "the compile evidence disagrees with the rows",
        "`agent-bundle.compile-evidence.json` describes the compiled bytes: one asset for every \
         compiled row, with its digest and with what it imports from outside. A record that \
         describes other bytes means that a compiled file or the record was edited. Only a \
         rebuild produces another record. A root without the file is not judged by it.";
    /// An install pointer of another name.
    HD0450 Warning "an install pointer has an unusual name",
        "`distribution.install` points at `INSTALL.md` and `install.mjs` in every root that the \
         producing tool writes. Another listed path is read, but people and tools look for those \
         names.";
}
