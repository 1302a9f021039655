//! Installing a pack of 100 skills of 3 files into two destinations: the first time beside
//! `cp -r`, which copies the same files twice and knows nothing of them, and beside
//! `npx skills add` where `HOLDALL_SKILLS_CLI` names its program; and once more, with nothing to do.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
#![expect(clippy::disallowed_methods, reason = "the peer's path comes from the environment")]

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SKILLS: usize = 100;
const RUNS: usize = 11;

fn main() -> Result<(), Box<dyn Error>> {
    let place = tempfile::tempdir()?;
    let pack = place.path().join("pack");
    make(&pack)?;
    let (mut first, mut again, mut copied, mut peer) = (vec![], vec![], vec![], vec![]);
    for run in 0..RUNS {
        let home = place.path().join(format!("home-{run}"));
        fs::create_dir(&home)?;
        first.push(holdall(&pack, &home)?);
        again.push(holdall(&pack, &home)?);
        let mut copies = Duration::ZERO;
        for destination in ["one", "two"] {
            let to = place.path().join(format!("copy-{run}-{destination}"));
            copies += timed(Command::new("cp").arg("-r").arg(pack.join("skills")).arg(to))?;
        }
        copied.push(copies);
        if let Some(program) = std::env::var_os("HOLDALL_SKILLS_CLI") {
            let home = place.path().join(format!("peer-{run}"));
            fs::create_dir(&home)?;
            let mut command = Command::new(program);
            command.arg("add").arg(&pack).args(["--all", "-y", "-g"]).env("HOME", &home);
            peer.push(timed(&mut command)?);
        }
    }
    let (first, again, copied) = (median(first), median(again), median(copied));
    println!("| What | Holdall | beside | times as long |");
    println!("|---|---|---|---|");
    println!(
        "| first install | {} | `cp -r` twice {} | {:.1} |",
        ms(first),
        ms(copied),
        ratio(first, copied)
    );
    if peer.is_empty() {
        println!(
            "| first install | {} | `skills add`: HOLDALL_SKILLS_CLI is not set | |",
            ms(first)
        );
    } else {
        let peer = median(peer);
        println!(
            "| first install | {} | `skills add` {} | {:.2} |",
            ms(first),
            ms(peer),
            ratio(first, peer)
        );
    }
    println!(
        "| the same again | {} | budget 15 ms | {:.2} |",
        ms(again),
        ratio(again, Duration::from_millis(15))
    );
    Ok(())
}

fn make(pack: &Path) -> Result<(), Box<dyn Error>> {
    let document = "---\nschema: pack/v1\nname: pack\ntitle: Pack\ndescription: A hundred skills.\nversion: 1.0.0\nplugin:\n  inline: true\n---\n";
    fs::create_dir_all(pack)?;
    fs::write(pack.join("PACK.md"), document)?;
    for n in 0..SKILLS {
        let skill = pack.join(format!("skills/skill-{n:03}"));
        fs::create_dir_all(skill.join("references"))?;
        fs::write(
            skill.join("SKILL.md"),
            format!(
                "---\nname: skill-{n:03}\ndescription: Explains figure {n}. Use when it is asked for.\n---\n{}",
                "Read the report first.\n".repeat(60)
            ),
        )?;
        fs::write(skill.join("references/notes.md"), "A note.\n".repeat(200))?;
        fs::write(skill.join("references/table.csv"), "a,b,c\n1,2,3\n".repeat(200))?;
    }
    Ok(())
}

fn holdall(pack: &Path, home: &Path) -> Result<Duration, Box<dyn Error>> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_holdall"));
    command.arg("install").arg(pack).args(["--host", "claude,codex", "--home"]).arg(home);
    timed(&mut command)
}

fn timed(command: &mut Command) -> Result<Duration, Box<dyn Error>> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let started = Instant::now();
    let status = command.status()?;
    let took = started.elapsed();
    if status.success() { Ok(took) } else { Err(format!("{command:?} ended with {status}").into()) }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn ratio(ours: Duration, theirs: Duration) -> f64 {
    ours.as_secs_f64() / theirs.as_secs_f64()
}

fn ms(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}
