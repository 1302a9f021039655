//! Holding what the store says against what is there: missing, changed, foreign, orphaned,
//! unfinished. Nothing is changed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use holdall_diagnostics::Diagnostic;
use holdall_store::{AppRecord, HD0205, Kind, PackRecord, Receipt, Store, file_key};

use crate::codes::{HD0305, HD0310, HD0317, HD0318, HD0319};
use crate::executor::{ApplyError, found_at, is_unfinished};
use crate::plan::Found;

/// What was looked at, and what is wrong with it.
#[derive(Debug, Default)]
pub struct Examined {
    /// Packs that were looked at.
    pub packs: usize,
    /// Apps.
    pub apps: usize,
    /// Skills, one a destination.
    pub skills: usize,
    /// What was found.
    pub diagnostics: Vec<Diagnostic>,
}

/// Examines every pack, app and skill that the store knows.
pub fn examine(store: &Store) -> Result<Examined, ApplyError> {
    let mut examined = Examined::default();
    let packs: Vec<PackRecord> = store.records()?;
    let apps: Vec<AppRecord> = store.records()?;
    let mut skills: Vec<Receipt> = store.records()?;
    skills.retain(|receipt| receipt.kind == Kind::Skill);
    (examined.packs, examined.apps, examined.skills) = (packs.len(), apps.len(), skills.len());
    let found = &mut examined.diagnostics;
    if is_unfinished(store)? {
        found.push(
            Diagnostic::new(&HD0205, "an earlier change did not finish")
                .at(store.journal().display().to_string())
                .help("the next install, update or uninstall ends it first"),
        );
    }
    for receipt in &skills {
        let what = format!("the skill `{}` of {}", receipt.name, receipt.owner.name);
        tree(&what, Path::new(&receipt.destination), &receipt.tree, found)?;
        // A skill on its own is its own owner.
        let alone = receipt.owner.name == receipt.owner.origin;
        if !alone && !packs.iter().any(|pack| pack.name == receipt.owner.name) {
            found.push(
                Diagnostic::new(&HD0319, format!("{what} is left of a pack that is uninstalled"))
                    .at(receipt.destination.clone())
                    .help(format!("holdall uninstall skill:{}", receipt.name)),
            );
        }
        if let Some(backup) = &receipt.replaced
            && !Path::new(backup).exists()
        {
            let message = format!("the backup of what {what} replaced is gone");
            found.push(Diagnostic::new(&HD0317, message).at(backup.clone()));
        }
    }
    for app in &apps {
        let what = format!("the app `{}`", app.app_id);
        tree(&what, Path::new(&app.dir), &app.tree, found)?;
        if let Some(pack) = &app.pack
            && !packs.iter().any(|known| known.name == *pack)
        {
            found.push(
                Diagnostic::new(
                    &HD0319,
                    format!("{what} is left of `{pack}`, which is uninstalled"),
                )
                .at(app.dir.clone())
                .help(format!("holdall uninstall app:{}", app.app_id)),
            );
        }
    }
    for pack in &packs {
        members(pack, &apps, &skills, found);
    }
    orphans(store, &apps, &skills, found);
    Ok(examined)
}

/// Whether a tree is what it was when it was installed.
fn tree(
    what: &str,
    path: &Path,
    digest: &str,
    found: &mut Vec<Diagnostic>,
) -> Result<(), ApplyError> {
    let shown = path.display().to_string();
    let again = "install it again, or uninstall it";
    if let Ok(metadata) = fs::symlink_metadata(path)
        && !metadata.is_dir()
    {
        let kind = if metadata.is_symlink() { "a link" } else { "something else" };
        let message = format!("{kind} stands where {what} was installed");
        found.push(
            Diagnostic::new(&HD0318, message).at(shown).help("move it away, then install again"),
        );
        return Ok(());
    }
    match found_at(path)? {
        Found::Tree(here) if here.to_string() == digest => {}
        Found::Nothing => {
            found
                .push(Diagnostic::new(&HD0317, format!("{what} is missing")).at(shown).help(again));
        }
        Found::Tree(_) | Found::File(_) => found.push(
            Diagnostic::new(&HD0305, format!("{what} was changed by hand"))
                .at(shown)
                .help("installing again replaces it and keeps a backup of the changed one"),
        ),
    }
    Ok(())
}

/// Whether everything that a pack brought is still recorded.
fn members(pack: &PackRecord, apps: &[AppRecord], skills: &[Receipt], found: &mut Vec<Diagnostic>) {
    let mut gone = Vec::new();
    for id in &pack.apps {
        let here = |app: &AppRecord| app.app_id == *id && app.pack.as_ref() == Some(&pack.name);
        if !apps.iter().any(here) {
            gone.push(format!("the app `{id}`"));
        }
    }
    for name in &pack.skills {
        let here = |skill: &Receipt| skill.name == *name && skill.owner.name == pack.name;
        if !skills.iter().any(here) {
            gone.push(format!("the skill `{name}`"));
        }
    }
    let help = || format!("holdall update {}", pack.name);
    for what in gone {
        let message = format!("{what} of `{}` is not installed any more", pack.name);
        found.push(Diagnostic::new(&HD0317, message).help(help()));
    }
    for include in &pack.missing {
        let message = format!("the include {include} of `{}` is still missing", pack.name);
        let severity = holdall_diagnostics::Severity::Warning;
        found.push(Diagnostic::new(&HD0310, message).severity(severity).help(help()));
    }
}

/// What lies in the store and belongs to nothing.
fn orphans(store: &Store, apps: &[AppRecord], skills: &[Receipt], found: &mut Vec<Diagnostic>) {
    let keys: BTreeSet<String> = apps.iter().map(|app| file_key(&app.app_id)).collect();
    let backups: BTreeSet<&str> =
        skills.iter().filter_map(|receipt| receipt.replaced.as_deref()).collect();
    for (directory, what) in [
        ("apps", "the directory of an app that is not installed"),
        ("app-data", "data of an app that is not installed"),
    ] {
        for path in children(&store.root().join(directory)) {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if !keys.contains(name) {
                found.push(orphan(&path, what));
            }
        }
    }
    for path in children(&store.root().join("backups")) {
        if !backups.contains(path.display().to_string().as_str()) {
            found.push(orphan(&path, "a backup of something that was changed by hand"));
        }
    }
    for path in children(store.root()) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with(".holdall-change-") && !store.journal().exists() {
            found.push(orphan(&path, "left by a change that ended long ago"));
        }
    }
}

fn orphan(path: &Path, what: &str) -> Diagnostic {
    Diagnostic::new(&HD0319, what)
        .at(path.display().to_string())
        .help("delete it if nobody needs it")
}

fn children(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}
