//! Whole commands, as a user waits for them: start, read, print.
//!
//! `validate` stands beside `agentskills validate`, the reference validator, which takes one skill
//! a run: set `HOLDALL_AGENTSKILLS` to its path (`pip install skills-ref`). Peers are run in turns
//! with Holdall, and every figure is the median.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
#![expect(clippy::disallowed_methods, reason = "the peer's path comes from the environment")]

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SKILLS: usize = 1000;
/// The peer takes one skill a run, so that a sample of the thousand is enough.
const PEER_RUNS: usize = 15;
const RUNS: usize = 15;

fn main() -> Result<(), Box<dyn Error>> {
    let place = tempfile::tempdir()?;
    for n in 0..SKILLS {
        let directory = place.path().join(format!("repo/skills/skill-{n:04}"));
        fs::create_dir_all(directory.join("references"))?;
        fs::write(directory.join("SKILL.md"), document(n))?;
        fs::write(directory.join("references/notes.md"), "Notes on the subject.\n".repeat(40))?;
    }
    let one = place.path().join("repo/skills/skill-0001");
    let package = place.path().join("repo.aospkg");
    run(
        Path::new(env!("CARGO_BIN_EXE_holdall")),
        &[
            "pack".as_ref(),
            place.path().join("repo").as_os_str(),
            "--name=repo".as_ref(),
            "--version=1".as_ref(),
            "-o".as_ref(),
            package.as_os_str(),
        ],
    )?;
    let holdall = |arguments: &[&std::ffi::OsStr]| {
        median(RUNS, || run(Path::new(env!("CARGO_BIN_EXE_holdall")), arguments))
    };
    let version = holdall(&["--version".as_ref()])?;
    let inspect = holdall(&["inspect".as_ref(), "--kind=package".as_ref(), package.as_os_str()])?;
    let single = holdall(&["validate".as_ref(), one.as_os_str()])?;
    let all = holdall(&["validate".as_ref(), place.path().join("repo").as_os_str()])?;
    println!("| Command | Holdall | agentskills | ratio | budget |");
    println!("|---|---|---|---|---|");
    println!("| `--version` | {} | | | 10 ms |", ms(version));
    println!("| `inspect` of a package of {} entries | {} | | | 10 ms |", 3 * SKILLS, ms(inspect));
    match std::env::var_os("HOLDALL_AGENTSKILLS") {
        Some(peer) => {
            let peer = median(PEER_RUNS, || {
                run(Path::new(&peer), &["validate".as_ref(), one.as_os_str()])
            })?;
            let looped = peer * u32::try_from(SKILLS)?;
            let ratio =
                |theirs: Duration, ours: Duration| theirs.as_secs_f64() / ours.as_secs_f64();
            println!(
                "| `validate` of 1 skill | {} | {} | {:.0} | 10 ms |",
                ms(single),
                ms(peer),
                ratio(peer, single)
            );
            println!(
                "| `validate` of {SKILLS} skills | {} | {} (in a loop, from {PEER_RUNS} runs) | {:.0} | 150 ms |",
                ms(all),
                ms(looped),
                ratio(looped, all)
            );
        }
        None => {
            println!(
                "| `validate` of 1 skill | {} | HOLDALL_AGENTSKILLS is not set | | 10 ms |",
                ms(single)
            );
            println!("| `validate` of {SKILLS} skills | {} | | | 150 ms |", ms(all));
        }
    }
    Ok(())
}

/// A skill like those that are published: a few hundred words, links to its files.
fn document(n: usize) -> String {
    let body = "Read the report before you answer, and say which figure it is that you compare.\n";
    format!(
        "---\nname: skill-{n:04}\ndescription: Reads report {n} and explains its figures. Use when a figure is asked for.\nlicense: MIT\nmetadata:\n  version: \"1.{n}\"\n---\n# Report {n}\n\nSee [the notes](references/notes.md).\n\n{}",
        body.repeat(30)
    )
}

fn run(program: &Path, arguments: &[&std::ffi::OsStr]) -> Result<Duration, Box<dyn Error>> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let started = Instant::now();
    let status = command.status()?;
    let took = started.elapsed();
    if status.success() { Ok(took) } else { Err(format!("{} failed", program.display()).into()) }
}

fn median(
    runs: usize,
    mut one: impl FnMut() -> Result<Duration, Box<dyn Error>>,
) -> Result<Duration, Box<dyn Error>> {
    let mut times = (0..runs).map(|_| one()).collect::<Result<Vec<_>, _>>()?;
    times.sort_unstable();
    Ok(times[times.len() / 2])
}

fn ms(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}
