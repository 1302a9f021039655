//! The tree hash against the least that any such hash must do: open, read and hash the same files
//! on the same cores, their paths known beforehand. Prints ratios; runs are interleaved and the
//! best of each counts.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use holdall_tree::{DirTree, HashOptions, tree_hash};
use rayon::prelude::*;
use sha2::{Digest as _, Sha256};

const ROUNDS: usize = 15;

/// `dirs` directories of `files` files of `len` bytes.
fn fill(root: &Path, dirs: usize, files: usize, len: usize) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for dir in 0..dirs {
        let dir = root.join(format!("package-{dir:03}/lib/src"));
        fs::create_dir_all(&dir).expect("a directory can be made");
        for file in 0..files {
            let path = dir.join(format!("module-{file:04}.js"));
            fs::write(&path, vec![file as u8; len]).expect("a file can be written");
            paths.push(path);
        }
    }
    paths
}

fn bare(paths: &[PathBuf]) -> Duration {
    let start = Instant::now();
    let hashes: Vec<_> = paths
        .par_iter()
        .map(|path| Sha256::digest(fs::read(path).expect("a file can be read")))
        .collect();
    assert_eq!(hashes.len(), paths.len());
    start.elapsed()
}

fn ours(tree: &DirTree) -> Duration {
    let start = Instant::now();
    tree_hash(tree, HashOptions::default()).expect("the tree has a hash");
    start.elapsed()
}

fn main() {
    for (name, dirs, files, len) in [
        ("7000 files of 2 kB", 100, 70, 2_000),
        ("700 files of 60 kB", 10, 70, 60_000),
        ("8 files of 16 MB", 1, 8, 16 << 20),
    ] {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let paths = fill(dir.path(), dirs, files, len);
        let tree = DirTree::open(dir.path()).expect("it opens");
        let (mut peer, mut own) = (Duration::MAX, Duration::MAX);
        for _ in 0..ROUNDS {
            peer = peer.min(bare(&paths));
            own = own.min(ours(&tree));
        }
        let speed = peer.as_secs_f64() / own.as_secs_f64() * 100.0;
        println!(
            "{name:20} tree hash {own:>9.2?}  bare loop {peer:>9.2?}  {speed:.0} % of its speed"
        );
    }
}
