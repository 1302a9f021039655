//! Codes of what an artifact holds for its agent hosts.

holdall_diagnostics::codes! {
    AB6007 Error "an MCP document starts a file that the artifact does not have"
        "A server of a host's MCP document runs a path inside the root, and no `files[]` row has \
         it. The host would fail to start the server.\n\nBuild the root again; if the file is \
         part of a payload, check that the payload was packaged for this host.";
    AB6009 Error "a projection for an agent host that is not known"
        "The projection was planned by an adapter of the author's own, so there is no table to \
         judge its documents by, and no installer for it.\n\nLeave the target out of the \
         artifact, or check and install it with the tool that knows the host.";
    AB6010 Warning "an adapter row differs from what is known of the adapter"
        "The artifact was built against another revision of the host's documents than the one \
         recorded here. Usually one side is simply newer.\n\nBuild the root again if the host \
         refuses it.";
    AB6011 Error "a document that the agent host needs is missing"
        "The projection has no plugin manifest, marketplace or entry of its own, or none for \
         servers or hooks that reach the host, so that the host would load nothing or only a \
         part.\n\nBuild the root again with the host among its targets.";
    AB6012 Error "a host document is not what the agent host accepts"
        "The document does not parse, or a value in it has a type or form for which the host \
         refuses the document. Keys and events that only a newer host may know are \
         warnings.\n\nChange the configuration the document is made from, and build again.";
    AB6017 Error "a host's MCP document does not start what the launch records say"
        "Servers of the artifact have one launch record: an entry, then arguments in order. The \
         host's document must name the same servers, start the same entry over stdio and pass \
         the arguments that name files of the root in the same order, and nothing in it may \
         leave the root.\n\nBuild the root again; the document was edited or is stale.";
    AB6018 Error "hook rows and a host's hooks document disagree"
        "Every wrapper in `executables.hooks` must be run by exactly one command of the host's \
         hooks document, under its event, and every command that runs a wrapper must have its \
         row. Otherwise a hook runs twice, or not at all.\n\nBuild the root again.";
    AB6023 Error "INSTALL.md is missing"
        "An artifact for Claude Code, Codex, Cursor or portable hosts tells people how to install \
         it in `INSTALL.md`.\n\nBuild the root again.";
    AB6024 Error "install.mjs is missing"
        "Cursor and portable hosts have no program that installs a plugin, so the root carries \
         its own installer.\n\nBuild the root again.";
    AB6025 Error "the plugin's logo is missing or outside the root"
        "A host document points at a logo that is no file of the artifact.\n\nAdd the file to \
         `assets`, or remove the logo from the configuration.";
    AB6026 Error "Cursor would refuse the plugin manifest" "See AB6012; this one is Cursor's `plugin.json`.";
    AB6027 Error "Cursor would refuse the marketplace" "See AB6012; this one is Cursor's `marketplace.json`.";
    AB6028 Error "Cursor would refuse the MCP document" "See AB6012; this one is Cursor's `mcp.json`.";
    AB6029 Error "Cursor would refuse the hooks document" "See AB6012; this one is Cursor's `hooks.json`.";
    AB6030 Error "Codex would refuse the plugin manifest" "See AB6012; this one is Codex's `plugin.json`.";
    AB6031 Error "Codex would refuse the marketplace"
        "See AB6012; this one is Codex's `marketplace.json`. Codex drops the whole marketplace for \
         one policy word it does not know.";
    AB6032 Error "Codex would refuse the MCP document" "See AB6012; this one is Codex's `mcp.json`.";
    AB6033 Error "Codex would refuse the hooks document" "See AB6012; this one is Codex's `hooks.json`.";
    AB6035 Error "the portable plugin manifest breaks Agent Plugins 1.0.0"
        "`plugin.json` at the root is read by every host that follows Agent Plugins. Its schema is \
         closed.";
    AB6036 Error "the portable MCP document breaks Agent Plugins 1.0.0"
        "`mcp.json` at the root has a schema of its own: every server has a `type`, local ones a \
         `command`, remote ones a `url`.";
    AB6037 Error "a directory of skills holds one without SKILL.md"
        "Portable hosts take every directory below `skills/` for a skill, and each needs its \
         `SKILL.md`.";
    AB6038 Error "the portable MCP document breaks a rule beyond its schema"
        "A command is a bare name or a `./` path without placeholders; an address is https \
         (http on this machine only) without user name or fragment; header names are ASCII; \
         `PLUGIN_ROOT` and `PLUGIN_DATA` are set by the host.";
}
