//! Reading and verifying artifacts against what people would use instead.
//!
//! - An artifact manifest of 800 kB with 3,000 rows: parsing it and all checks, the first time in a
//!   fresh process, against Node.js doing the same (`peer.mjs`), start-up and reading excluded in
//!   both; and how much memory the reader takes for it. Budget: a fifth of the time, 10 MB.
//! - `verify` of a root of 3,000 files and 100 MB against a bare loop that opens, reads and hashes
//!   the same files on the same cores. Budget: 85 % of its speed.
//!
//! Runs are interleaved and the best of each counts.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

mod made;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use holdall_artifact::rows::{Modes, check};
use holdall_artifact::{
    ARTIFACT_MANIFEST_NAME, lean, parse_artifact_manifest, read_artifact_manifest,
};
use holdall_tree::DirTree;
use rayon::prelude::*;
use sha2::{Digest as _, Sha256};

const ROUNDS: usize = 15;

/// Second meaning of this program: measures one first run and prints nanoseconds and kilobytes.
const CHILD: &str = "--first-run-of";

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, flag, reader, path] = &arguments[..]
        && flag == CHILD
    {
        first_run(reader, Path::new(path));
        return;
    }
    let place = tempfile::tempdir().expect("a temporary directory");
    let paths = made::root(place.path());
    let manifest = place.path().join(ARTIFACT_MANIFEST_NAME);
    let size = std::fs::metadata(&manifest).expect("the manifest").len();
    println!("artifact manifest of {} kB, {} rows", size / 1000, paths.len());
    reading(&manifest);
    verifying(place.path(), &paths);
}

fn reading(manifest: &Path) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/artifact/peer.mjs");
    let own = std::env::current_exe().expect("this program");
    let mut best = [Duration::MAX; 3];
    let mut memory = 0;
    for _ in 0..ROUNDS {
        let (time, kilobytes) = run(Command::new(&own).args([CHILD, "strict"]).arg(manifest));
        best[0] = best[0].min(time);
        memory = kilobytes.max(memory);
        let (time, _) = run(Command::new(&own).args([CHILD, "lean"]).arg(manifest));
        best[1] = best[1].min(time);
        let (time, _) = run(Command::new("node").arg(&script).arg(manifest));
        best[2] = best[2].min(time);
    }
    let [strict, lean, node] = best;
    let share = |time: Duration| time.as_secs_f64() / node.as_secs_f64();
    println!("  Node.js, first run    {node:>9.2?}");
    println!(
        "  strict, first run     {strict:>9.2?}  {:.2} of Node.js (budget 0.20)",
        share(strict)
    );
    println!("  lean, first run       {lean:>9.2?}  {:.2} of Node.js", share(lean));
    println!(
        "  strict, most memory   {:>6.1} MB  beyond the file itself (budget 10)",
        f64::from(memory) / 1024.0
    );
}

/// Runs a program that prints nanoseconds and kilobytes.
fn run(command: &mut Command) -> (Duration, u32) {
    let output = command.output().expect("the program runs; Node.js 20 is needed");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let (time, memory) = text.trim().split_once(' ').expect("two numbers");
    (Duration::from_nanos(time.parse().expect("a number")), memory.parse().expect("a number"))
}

fn first_run(reader: &str, path: &Path) {
    let bytes = std::fs::read(path).expect("the manifest can be read");
    let before = kilobytes("VmRSS:");
    let start = Instant::now();
    if reader == "lean" {
        std::hint::black_box(&lean::parse(&bytes).expect("valid"));
    } else {
        std::hint::black_box(&parse_artifact_manifest(&bytes).expect("valid"));
    }
    let time = start.elapsed();
    println!("{} {}", time.as_nanos(), kilobytes("VmHWM:").saturating_sub(before));
}

/// A row of what the kernel says about this process.
fn kilobytes(name: &str) -> u32 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let row = status.lines().find_map(|line| line.strip_prefix(name)).expect("a known row");
    row.trim().trim_end_matches(" kB").parse().expect("a number")
}

fn verifying(root: &Path, paths: &[PathBuf]) {
    let bytes: u64 = paths.iter().map(|path| std::fs::metadata(path).expect("there").len()).sum();
    let (mut bare, mut own) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let hashes: Vec<_> = paths
            .par_iter()
            .map(|path| Sha256::digest(std::fs::read(path).expect("a file can be read")))
            .collect();
        assert_eq!(hashes.len(), paths.len());
        bare = bare.min(start.elapsed());

        let start = Instant::now();
        let tree = DirTree::open(root).expect("it opens");
        let open = read_artifact_manifest(&tree).into_result(".").expect("valid");
        assert_eq!(check(&tree, open.manifest(), Modes::Exact), []);
        own = own.min(start.elapsed());
    }
    let speed = bare.as_secs_f64() / own.as_secs_f64() * 100.0;
    println!("root of {} files, {} MB", paths.len(), bytes / 1_000_000);
    println!("  bare open-read-hash   {bare:>9.2?}");
    println!("  verify                {own:>9.2?}  {speed:.0} % of its speed (budget 85)");
}
