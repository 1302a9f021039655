//! The one place where anything is changed.
//!
//! A plan is applied in four parts: the journal is written; everything new is staged beside its
//! place, made durable and compared with its digest; the steps are done, each a rename; the commit
//! mark is written, and what was replaced is removed. A process that ends before the mark, by a
//! fault or a kill, leaves a change that [`repair`] takes back; after the mark, one that it
//! tidies up behind. In between there is nothing: no mixture survives.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use holdall_store::{Store, StoreError, StoreLock};
use holdall_tree::stage::{CopyOptions, Place, StageError, StagedDir, StagedFile, clean};
use holdall_tree::{Digest, DirTree, FileKind, HashOptions, Tree as _, TreeError, tree_hash};
use rustix::fs::{CWD, RenameFlags};

use crate::fault;
use crate::journal::{FORMAT, Journal, Move, sync_directory};
use crate::plan::{Command, Found, Plan, Step};

/// Why a plan was not applied. Everything is as it was, unless it is [`ApplyError::Stuck`].
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// The store or the journal failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Staging failed.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// Reading what is to be copied, or what stands at a place, failed.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// What stands at a place is not what stood there when the plan was made.
    #[error("{}: changed after the plan was made", path.display())]
    Changed {
        /// The place.
        path: PathBuf,
    },
    /// What was copied is not what was planned.
    #[error("{}: the source changed after the plan was made", path.display())]
    SourceChanged {
        /// The place it was meant for.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The place.
        path: PathBuf,
        /// Its words.
        source: io::Error,
    },
    /// A program failed.
    #[error("{what}")]
    Command {
        /// Which, how, and what it said.
        what: String,
    },
    /// Something could not be taken back; the journal stays, and says what.
    #[error("{}: cannot be taken back: {why}", path.display())]
    Stuck {
        /// The place.
        path: PathBuf,
        /// Why.
        why: String,
    },
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> ApplyError {
    let path = path.to_owned();
    |source| ApplyError::Io { path, source }
}

/// Runs the programs of a plan.
pub trait Runner {
    /// Runs a program to its end; the error says which program, how it ended and what it printed.
    fn run(&self, command: &Command) -> Result<(), String>;
}

/// A runner for plans without programs.
#[derive(Debug, Clone, Copy)]
pub struct NoPrograms;

impl Runner for NoPrograms {
    fn run(&self, command: &Command) -> Result<(), String> {
        Err(format!("{} is not run here", command.program.display()))
    }
}

/// How an unfinished change was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repaired {
    /// There was none.
    Nothing,
    /// It was taken back.
    Back,
    /// It had happened; what it had replaced was removed.
    Forward,
}

/// Whether the store has an unfinished change; for commands that only look.
pub fn is_unfinished(store: &Store) -> Result<bool, StoreError> {
    Ok(Journal::read(store)?.is_some())
}

/// Ends an unfinished change. Every command that changes something calls it first.
pub fn repair(
    store: &Store,
    _lock: &StoreLock,
    runner: &dyn Runner,
) -> Result<Repaired, ApplyError> {
    let Some(journal) = Journal::read(store)? else { return Ok(Repaired::Nothing) };
    if journal.committed {
        tidy(store, &journal)?;
        return Ok(Repaired::Forward);
    }
    back(store, &journal, runner)?;
    Ok(Repaired::Back)
}

/// Applies a plan: all of it, or nothing. An empty plan writes nothing at all.
pub fn apply(
    store: &Store,
    lock: &StoreLock,
    plan: &Plan,
    runner: &dyn Runner,
) -> Result<(), ApplyError> {
    repair(store, lock, runner)?;
    if plan.is_empty() {
        return Ok(());
    }
    let mut journal = Journal { format: FORMAT.to_owned(), committed: false, moves: moves(plan) };
    fault::point();
    journal.write(store)?;
    let done =
        stage(plan, &journal.moves).and_then(|()| perform(store, plan, &mut journal, runner));
    if let Err(error) = done {
        back(store, &journal, runner)?;
        return Err(error);
    }
    fault::point();
    journal.committed = true;
    journal.write(store)?;
    tidy(store, &journal)
}

/// The names of one change; no two changes are under way at once, and a killed one is ended
/// before the next begins.
fn moves(plan: &Plan) -> Vec<Move> {
    let name = |staging: &Path, at: usize, what: &str| {
        staging.join(format!(".holdall-change-{}-{at}-{what}", std::process::id()))
    };
    let step = |(at, step): (usize, &Step)| match step {
        Step::MakeDir { path, .. } => Move::Make { path: path.clone() },
        Step::PlaceTree { dest, staging, new, found } => Move::Place {
            dest: dest.clone(),
            new: name(staging, at, "new"),
            old: name(staging, at, "old"),
            had: *found != Found::Nothing,
            digest: new.digest.to_string(),
        },
        Step::PlaceFile { dest, staging, bytes, found, .. } => Move::Place {
            dest: dest.clone(),
            new: name(staging, at, "new"),
            old: name(staging, at, "old"),
            had: *found != Found::Nothing,
            digest: Digest::sha256(bytes).to_string(),
        },
        Step::Remove { dest, staging, .. } => {
            Move::Remove { dest: dest.clone(), old: name(staging, at, "old") }
        }
        Step::RemoveEmptyDir { path } => Move::Prune { path: path.clone() },
        Step::Run { undo, .. } => Move::Run { undo: undo.clone(), started: false },
    };
    plan.steps().iter().enumerate().map(step).collect()
}

fn stage(plan: &Plan, moves: &[Move]) -> Result<(), ApplyError> {
    for (step, planned) in plan.steps().iter().zip(moves) {
        let Move::Place { new: staged, .. } = planned else { continue };
        fault::point();
        match step {
            Step::PlaceTree { dest, new, .. } => {
                let mut directory = StagedDir::beside(Place::at(staged)?, 0o755)?;
                let options = CopyOptions { modes: new.modes, ..CopyOptions::default() };
                directory.copy_tree(new.tree.as_ref(), options, &|_| true)?;
                if tree_hash(directory.tree(), HashOptions::default())? != new.digest {
                    return Err(ApplyError::SourceChanged { path: dest.clone() });
                }
                directory.commit(false)?.finish()?;
            }
            Step::PlaceFile { bytes, mode, .. } => {
                let mut file = StagedFile::create(Place::at(staged)?, *mode)?;
                io::Write::write_all(&mut file, bytes).map_err(io_error(staged))?;
                file.commit_new()?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn perform(
    store: &Store,
    plan: &Plan,
    journal: &mut Journal,
    runner: &dyn Runner,
) -> Result<(), ApplyError> {
    for (at, step) in plan.steps().iter().enumerate() {
        fault::point();
        match (step, &journal.moves[at]) {
            (Step::MakeDir { path, mode }, _) => {
                use std::os::unix::fs::DirBuilderExt as _;
                fs::DirBuilder::new().mode(*mode).create(path).map_err(io_error(path))?;
                sync_parent(path)?;
            }
            (
                Step::PlaceTree { found, .. } | Step::PlaceFile { found, .. },
                Move::Place { dest, new, old, .. },
            ) => {
                expect(dest, found)?;
                if *found != Found::Nothing {
                    rename(dest, old)?;
                    fault::point();
                }
                rename(new, dest)?;
            }
            (Step::Remove { found, .. }, Move::Remove { dest, old }) => {
                expect(dest, found)?;
                rename(dest, old)?;
            }
            (Step::Run { command, .. }, _) => {
                if let Move::Run { started, .. } = &mut journal.moves[at] {
                    *started = true;
                }
                journal.write(store)?;
                fault::point();
                runner.run(command).map_err(|what| ApplyError::Command { what })?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// What stands at a place, links not followed.
pub fn found_at(path: &Path) -> Result<Found, ApplyError> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(error) => return Err(io_error(path)(error)),
    };
    if metadata.is_dir() {
        let tree = DirTree::open(path)?;
        return Ok(Found::Tree(tree_hash(&tree, HashOptions::default())?));
    }
    if metadata.is_file() {
        return Ok(Found::File(Digest::sha256(&fs::read(path).map_err(io_error(path))?)));
    }
    // A link or a device is never what a plan found; it is refused by whoever plans.
    Err(ApplyError::Changed { path: path.to_owned() })
}

fn expect(path: &Path, planned: &Found) -> Result<(), ApplyError> {
    if found_at(path)? == *planned {
        return Ok(());
    }
    Err(ApplyError::Changed { path: path.to_owned() })
}

/// A rename that never replaces, made durable on both sides.
fn rename(from: &Path, to: &Path) -> Result<(), ApplyError> {
    match rustix::fs::renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Ok(()) => {}
        // Some file systems do not know the flag; under the lock, looking first is good enough.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) if !exists(to) => {
            fs::rename(from, to).map_err(io_error(to))?;
        }
        Err(errno) => return Err(io_error(to)(errno.into())),
    }
    sync_parent(from)?;
    sync_parent(to)
}

fn sync_parent(path: &Path) -> Result<(), ApplyError> {
    let parent = path.parent().unwrap_or(Path::new("/"));
    Ok(sync_directory(parent)?)
}

fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Removes a file or a directory with what is in it; nothing there is fine.
fn remove(path: &Path) -> Result<(), ApplyError> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(io_error(path)(error)),
    };
    let done = if metadata.is_dir() {
        make_removable(path);
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    };
    done.map_err(io_error(path))
}

/// Directories that their owner may not write to cannot be emptied.
fn make_removable(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let Ok(tree) = DirTree::open(path) else { return };
    let walk =
        holdall_tree::walk(&tree, &holdall_tree::TreePath::root(), holdall_tree::Limits::default());
    for entry in walk.flatten() {
        let read_only = tree.metadata(&entry.path).is_ok_and(|known| known.mode & 0o300 != 0o300);
        if entry.kind == FileKind::Directory && read_only {
            let _ = fs::set_permissions(
                path.join(entry.path.as_str()),
                fs::Permissions::from_mode(0o700),
            );
        }
    }
}

/// Takes an unfinished change back, last step first.
fn back(store: &Store, journal: &Journal, runner: &dyn Runner) -> Result<(), ApplyError> {
    for one in journal.moves.iter().rev() {
        fault::point();
        match one {
            Move::Place { dest, new, old, had, digest } => {
                let placed = !exists(new) && if *had { exists(old) } else { exists(dest) };
                if placed && exists(dest) {
                    // Only what this change put there may go.
                    if !is_digest(dest, digest)? {
                        let why = "somebody else has changed it since".to_owned();
                        return Err(ApplyError::Stuck { path: dest.clone(), why });
                    }
                    rename(dest, new)?;
                }
                if *had && exists(old) && !exists(dest) {
                    rename(old, dest)?;
                }
                remove(new)?;
                sweep(new)?;
            }
            Move::Remove { dest, old } => {
                if exists(old) && !exists(dest) {
                    rename(old, dest)?;
                }
            }
            Move::Make { path } => match fs::remove_dir(path) {
                Ok(()) => sync_parent(path)?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                // Somebody has put something there in the meantime; it is theirs now.
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
                Err(error) => return Err(io_error(path)(error)),
            },
            Move::Run { undo: Some(undo), started: true } => {
                runner.run(undo).map_err(|why| ApplyError::Stuck {
                    path: undo.program.clone(),
                    why: format!("{why}; run by hand: {}", line(undo)),
                })?;
            }
            Move::Run { .. } | Move::Prune { .. } => {}
        }
    }
    Ok(Journal::remove(store)?)
}

fn line(command: &Command) -> String {
    format!("{} {}", command.program.display(), command.arguments.join(" "))
}

fn is_digest(path: &Path, digest: &str) -> Result<bool, ApplyError> {
    Ok(match found_at(path)? {
        Found::Tree(found) | Found::File(found) => found.to_string() == digest,
        Found::Nothing => false,
    })
}

/// Removes what a killed process was still copying beside `new`.
fn sweep(new: &Path) -> Result<(), ApplyError> {
    let Some(parent) = new.parent().filter(|parent| parent.is_dir()) else { return Ok(()) };
    clean(&DirTree::open(parent)?, parent, &|_| false)?;
    Ok(())
}

/// Removes what a finished change replaced, and directories it emptied.
fn tidy(store: &Store, journal: &Journal) -> Result<(), ApplyError> {
    for one in &journal.moves {
        fault::point();
        match one {
            Move::Place { old, .. } | Move::Remove { old, .. } => remove(old)?,
            Move::Prune { path } => {
                // Whatever is still in there is not ours.
                let _ = fs::remove_dir(path);
            }
            Move::Make { .. } | Move::Run { .. } => {}
        }
    }
    Ok(Journal::remove(store)?)
}
