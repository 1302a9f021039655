//! The diagnostic codes of this crate.

holdall_diagnostics::codes! {
    HD0301 Error "something else stands at a destination"
        "A skill of that name is there already and belongs to another pack, to a skill installed \
         on its own, or to nobody that Holdall knows. It is never replaced without being asked \
         for.\n\nRename one of the two, leave the skill out with `--skill`, or say `--take-over`: \
         what stands there is then backed up, and put back by uninstall.";
    HD0302 Warning "a destination is a link and was left alone"
        "The place where the skill belongs is a symbolic link, usually to a directory somebody is \
         working in. It is never replaced, and the install counts as incomplete.\n\nRemove the \
         link and install again if the copy is wanted.";
    HD0303 Error "a skill cannot be installed"
        "Its document has an error, a link in it leaves the skill, or it holds something that is \
         neither file nor directory. Nothing is installed.\n\n`holdall validate` shows every fault.";
    HD0304 Error "two skills of one name in one install"
        "They would have to stand at the same place. Inline skills come before those of includes, \
         and equal copies count as one; these two differ.";
    HD0305 Warning "a skill was changed after it was installed"
        "The directory is not what its receipt says. Installing replaces it and keeps the changed \
         one as a backup; uninstalling keeps it and counts as incomplete.";
    HD0306 Error "a change could not be applied"
        "Everything is as it was before. The message says which place refused and how.";
    HD0307 Error "no agent host is here"
        "Without `--host` an install goes to every agent host that is detected, and none \
         is.\n\nName one or more with `--host`.";
    HD0308 Error "a pack is gated"
        "Its author lists reasons why it must not be installed yet; they stand in the message as \
         they were written.";
    HD0309 Error "an app belongs to another pack"
        "An app id names one app on this machine, and another pack has installed it.\n\nUninstall \
         that pack first.";
    HD0310 Error "an include was not found"
        "The pack takes skills from other packages. The message says where each was looked \
         for.\n\nPut the package in one of those places, or say `--partial` to install what is \
         there and record the rest as missing.";
    HD0311 Error "the name is installed from somewhere else"
        "The same name came from another origin before. An update never changes where something \
         comes from.\n\nSay `--replace` if the new origin is the one you mean.";
    HD0312 Error "nothing of that name is installed"
        "`holdall list` shows what is.";
    HD0313 Error "an app cannot be installed"
        "Its APP.md has an error, its id is not the one the pack declares, or its data directory \
         is something else.";
    HD0314 Warning "an app of the old version stays installed"
        "The new version of the pack no longer has it. Removing an app with its data is left to \
         `holdall uninstall app:ID`.";
    HD0315 Error "consent is needed"
        "The install would replace something or bring code that runs by itself, from a source \
         that is not a local directory, and there is no terminal to ask on.\n\nLook at `--plan`, then \
         say `--yes`, or name the bytes you expect with `--digest`.";
    HD0316 Warning "an app needs something that is not there"
        "Another app that it requires is not installed, or its user interface is to be built, which \
         Holdall never does because it would run code of the app.";
    AB7002 Error "the agent host is not here"
        "Its program is not on PATH, or its home directory does not exist. Nothing was \
         changed.\n\nInstall the agent host and start it once, or name another one with `--host`.";
    AB7003 Error "the agent host cannot install that way"
        "It has no such scope or mode. Codex, and Cursor's local plugins, belong to the user; Amp \
         knows the user's plugins and a project's; only Claude Code knows `local`.";
    AB7004 Error "the agent host could not be changed"
        "Its program failed, took too long, printed what cannot be read or did not do what it was \
         told; or a place is occupied by something that is not the install's own. What this run \
         did has been taken back; where that was impossible, the message names the commands to run \
         by hand.";
    AB7005 Error "something else is installed under that name"
        "Another version is installed and `--force` was not given, or what stands at the place, or \
         the marketplace that the agent host knows under that name, was not installed with a \
         receipt. What has no receipt is never replaced, with `--force` neither.";
    AB7006 Error "the agent host lists the plugin with load errors"
        "It is installed, and its receipt was kept, but the agent host could not load all of it. \
         The message has the host's own words.";
    AB7007 Error "what is installed is not what the receipt says"
        "It was changed after it was installed, or it was not installed with a receipt at all. \
         Uninstalling would remove somebody's work.\n\n`uninstall --force` removes what a receipt \
         lists though it was changed. What has no receipt is never removed.";
    AB7008 Error "data cannot be purged that way"
        "Purging needs `--confirm-purge` and excludes `--keep-data`, and it is refused without a \
         receipt, or where another scope shares the data.";
    AB7009 Error "there is no receipt"
        "The plugin is there, but nothing says that it was installed from an artifact, so nobody \
         knows what of it may be removed.\n\n`--force` removes a plugin that its agent host's own \
         program can remove.";
    AB7300 Info "the agent host is not here"
        "Its checks were skipped.";
    AB7301 Error "the program of an agent host does not answer"
        "Asked for its version it failed, took too long or printed too much. What is installed \
         in it can still be looked at as far as its listing works.";
    AB7302 Error "the directory of Cursor cannot be read"
        "Something else stands in its place, or its mode keeps it closed.";
    AB7303 Info "the listing of an agent host cannot be used"
        "Its program failed, or printed something else than the format that is known. What \
         depends on it is not checked.";
    AB7304 Error "an invalid entry among the local plugins of Cursor"
        "Cursor loads every directory there; this is none, or it has nothing to load.";
    AB7305 Warning "a stage was left behind"
        "An install was interrupted. The next command that changes something takes it back.";
    AB7307 Info "the plugin is not installed"
        "There is nothing of it, or only the receipt of data that was kept.";
    AB7308 Warning "the installed copy is stale"
        "It has the version of the root and another content. Installing again replaces it.";
    AB7309 Warning "another version is installed"
        "Installing with `--force` replaces it.";
    AB7310 Error "the installed copy cannot be compared, or is corrupt"
        "It is missing, cannot be read, or was changed after it was installed.";
    AB7313 Info "what Codex has registered is unknown"
        "Its listing cannot be used.";
    AB7319 Error "the root does not validate"
        "`holdall validate` names every error.";
    AB7321 Warning "a directory that was not installed stands in the way"
        "It has no receipt that names the plugin, and is never replaced.";
    AB7325 Error "the agent host lists the plugin with load errors"
        "The message has its words.";
    AB7327 Warning "the plugin is switched off"
        "The user, or a setting of the project, did that.";
    AB7328 Warning "a receipt is orphaned or cannot be read"
        "It names a plugin that its agent host does not list, or is of a format that is not \
         read.";
    AB7330 Info "how far the plugin has come"
        "Placed where the agent host reads it, registered with it, switched on, and active in a \
         session. A stage that cannot be seen without starting a session is unavailable.";
    AB7331 Info "operator files lie beside the manifest"
        "They are copied with mode 0600 when the root is installed. Their values are never \
         printed.";
    HD0317 Error "something installed is missing"
        "A receipt or record says that it was installed, and it is not there. Install it again, or uninstall \
         what is left of it.";
    HD0318 Warning "something else stands where something was installed"
        "A link or a file has taken the place of an installed directory. It is not ours and is never \
         touched.\n\nMove it away and install again, or uninstall what the receipt is of.";
    HD0319 Warning "something in the store belongs to nothing"
        "A directory, backup or receipt in the store is of something that is no longer installed. Data of \
         uninstalled apps is kept on purpose, until somebody deletes it.";
    HD0320 Error "this cannot be updated"
        "What was installed from a directory has nothing to ask for a newer version; what a pack brought is \
         updated with the pack.";
}
