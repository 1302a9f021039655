//! Running other people's programs: found by absolute path, without a shell, with a time limit
//! and bounded output.
//!
//! A [`Child`] gets exactly the environment and directory that the caller gives, reads nothing,
//! and is the leader of a process group of its own: when it has ended, or has to, the whole group
//! goes with it. This crate reads no environment, so that `PATH` too is a value of the caller.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// How often limits are looked at.
const TICK: Duration = Duration::from_millis(50);
/// How often the directory it fills is measured.
const MEASURE: Duration = Duration::from_millis(500);
/// How long output is still read when the program has ended: somebody who left the group may
/// hold the pipe.
const GRACE: Duration = Duration::from_secs(1);
/// Bytes of standard error that are kept.
const WORDS: usize = 64 * 1024;

/// The program `name` in the directories of a `PATH` value. Entries that are not absolute are
/// passed over, and so is what cannot be executed; the answer is always absolute.
pub fn find_program(name: &str, path: &OsStr) -> Option<PathBuf> {
    let is_program = |file: &Path| {
        std::fs::metadata(file)
            .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(path)
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join(name))
        .find(|file| is_program(file))
}

/// A program to run, and its limits.
#[derive(Debug, Clone)]
pub struct Child<'a> {
    /// The program, by absolute path.
    pub program: &'a Path,
    /// The words after its name.
    pub arguments: Vec<OsString>,
    /// All of its environment. Entries of `PATH` that are not absolute are taken out of it.
    pub environment: BTreeMap<OsString, OsString>,
    /// Where it runs.
    pub directory: &'a Path,
    /// How long it may take.
    pub limit: Duration,
    /// Bytes of standard output that it may write.
    pub output: usize,
    /// A directory it fills, and the bytes it may put there.
    pub fills: Option<(&'a Path, u64)>,
}

/// What a program that has ended left.
#[derive(Debug, Clone)]
pub struct Finished {
    /// How it ended.
    pub status: ExitStatus,
    /// All of its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error, the last 64 KiB.
    pub stderr: Vec<u8>,
}

impl Finished {
    /// The lines of standard error that say something, the last `count` of them, joined.
    pub fn last_words(&self, count: usize) -> String {
        let text = String::from_utf8_lossy(&self.stderr);
        // A carriage return ends what a progress display overwrites.
        let lines: Vec<_> =
            text.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty()).collect();
        lines[lines.len().saturating_sub(count)..].join("; ")
    }
}

/// Why a program has no result.
#[derive(Debug, thiserror::Error)]
pub enum ChildError {
    /// It could not be started or waited for.
    #[error("{}: {source}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// The system's words.
        source: io::Error,
    },
    /// It took too long and was killed.
    #[error("not done after {} s", .0.as_secs())]
    TimedOut(Duration),
    /// It wrote too much and was killed.
    #[error("more than {0} bytes of output")]
    TooMuchOutput(usize),
    /// It filled its directory beyond the limit and was killed.
    #[error("more than {0} bytes on disk")]
    TooLarge(u64),
}

/// What the readers of the pipes say.
enum Event {
    Output(Vec<u8>),
    Words(Vec<u8>),
    Full,
}

impl Child<'_> {
    /// `PATH` without the entries that would depend on the directory.
    fn path(&self) -> Option<OsString> {
        let all = std::env::split_paths(self.environment.get(OsStr::new("PATH"))?);
        // Each came out of a list, so that they can be joined to one.
        Some(std::env::join_paths(all.filter(|entry| entry.is_absolute())).unwrap_or_default())
    }

    /// Runs it and waits for its end. Whatever the result, nothing of its process group is left
    /// running.
    pub fn run(self) -> Result<Finished, ChildError> {
        let failed =
            |source: io::Error| ChildError::Start { program: self.program.to_owned(), source };
        let mut child = Command::new(self.program)
            .args(&self.arguments)
            .env_clear()
            .envs(&self.environment)
            .envs(self.path().map(|path| ("PATH", path)))
            .current_dir(self.directory)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let group = Pid::from_child(&child);
        let (sender, events) = mpsc::channel();
        if let Some(pipe) = child.stdout.take() {
            read_output(pipe, self.output, sender.clone());
        }
        if let Some(pipe) = child.stderr.take() {
            read_words(pipe, sender);
        }
        let deadline = Instant::now() + self.limit;
        let (mut ended, mut measured): (Option<Instant>, _) = (None, Instant::now());
        let (mut stdout, mut stderr) = (None, None);
        let result = loop {
            let both = stdout.is_some() && stderr.is_some();
            let event = if both {
                std::thread::sleep(Duration::from_millis(1));
                Err(RecvTimeoutError::Timeout)
            } else {
                events.recv_timeout(TICK)
            };
            match event {
                Ok(Event::Output(bytes)) => stdout = Some(bytes),
                Ok(Event::Words(bytes)) => stderr = Some(bytes),
                Ok(Event::Full) => break Err(ChildError::TooMuchOutput(self.output)),
                Err(_) => {}
            }
            match has_ended(group) {
                Ok(true) if ended.is_none() => {
                    ended = Some(Instant::now());
                    // It is not reaped yet, so the number still means its group.
                    end(group);
                }
                Ok(_) => {}
                Err(error) => break Err(failed(error)),
            }
            if let Some((directory, limit)) = self.fills
                && (ended.is_some() || measured.elapsed() > MEASURE)
            {
                measured = Instant::now();
                if bytes_in(directory, limit) > limit {
                    break Err(ChildError::TooLarge(limit));
                }
            }
            let both = stdout.is_some() && stderr.is_some();
            match ended {
                Some(at) if both || at.elapsed() > GRACE => break Ok(()),
                None if Instant::now() >= deadline => break Err(ChildError::TimedOut(self.limit)),
                _ => {}
            }
        };
        if ended.is_none() {
            end(group);
        }
        let status = child.wait().map_err(failed)?;
        result?;
        Ok(Finished {
            status,
            stdout: stdout.unwrap_or_default(),
            stderr: stderr.unwrap_or_default(),
        })
    }
}

/// Kills a process group; one that is gone already is what was wanted.
fn end(group: Pid) {
    let _ = kill_process_group(group, Signal::KILL);
}

/// Whether the child has ended; it stays to be reaped.
fn has_ended(child: Pid) -> io::Result<bool> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Ok(waitid(WaitId::Pid(child), options)?.is_some())
}

fn read_output(mut pipe: impl Read + Send + 'static, limit: usize, sender: Sender<Event>) {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // A pipe that breaks is a program that ended; how, its status says.
        let _ = pipe.by_ref().take(limit as u64 + 1).read_to_end(&mut bytes);
        let full = bytes.len() > limit;
        let _ = sender.send(if full { Event::Full } else { Event::Output(bytes) });
    });
}

/// Keeps the end and reads on, so that a talkative program is not stopped.
fn read_words(mut pipe: impl Read + Send + 'static, sender: Sender<Event>) {
    std::thread::spawn(move || {
        let (mut bytes, mut buffer) = (Vec::new(), [0; 8192]);
        loop {
            match pipe.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => {
                    bytes.extend_from_slice(&buffer[..count]);
                    bytes.drain(..bytes.len().saturating_sub(WORDS));
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        let _ = sender.send(Event::Words(bytes));
    });
}

/// Bytes of the files below a directory, links not followed; counting ends beyond `enough`. What
/// disappears meanwhile counts as nothing.
fn bytes_in(directory: &Path, enough: u64) -> u64 {
    let (mut sum, mut todo) = (0_u64, vec![directory.to_owned()]);
    while let Some(directory) = todo.pop() {
        for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(found) if found.is_dir() => todo.push(entry.path()),
                Ok(found) => sum = sum.saturating_add(found.len()),
                Err(_) => {}
            }
            if sum > enough {
                return sum;
            }
        }
    }
    sum
}
