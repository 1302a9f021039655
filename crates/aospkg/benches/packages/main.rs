//! Packages side by side with the published reader and packer, `agentos-vfs-core`: 0.4.7 on
//! format version 2 and 0.2.7 on version 1, in one run, and bare loops over the same bytes where
//! there is no peer. Prints one Markdown table.
//!
//! `cargo bench -p holdall-aospkg` runs everything; `-- --quick` leaves out 100,000 entries and
//! the file of 1 GiB. With `HOLDALL_PACKAGES` naming a directory that holds `pi-0.2.7.aospkg`,
//! that published package is measured too. Runs of the two sides alternate and medians count;
//! packing runs in child processes, so that each has its own peak of memory.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

mod bare;
mod made;
mod peers;
mod table;

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use holdall_aospkg::{Package, TarFileSystem, digests, read_manifest, verify};
use made::Made;
use peers::{Reader, Vfs02, Vfs04};
use table::{Row, Table, Unit, interleaved};

const MIB: usize = 1 << 20;

/// A package in both versions, and the tar it was made of.
struct Subject {
    name: String,
    source: PathBuf,
    v1: PathBuf,
    v2: PathBuf,
    /// Paths of all entries, in an order that has nothing to do with theirs.
    paths: Vec<String>,
    /// Paths of some files, in that order.
    files: Vec<String>,
    rounds: usize,
}

fn seconds<T>(work: impl FnOnce() -> T) -> f64 {
    // What the side before gave back is sorted into the allocator's lists at the next large
    // request: not on the time of this one.
    drop(black_box(Vec::<u8>::with_capacity(MIB)));
    let start = Instant::now();
    let value = black_box(work());
    let took = start.elapsed().as_secs_f64();
    drop(value);
    took
}

/// Our median on version 2, the peer's there, and both on version 1.
fn against(
    subject: &Subject,
    table: &mut Table,
    name: &str,
    calls: usize,
    run: [&dyn Fn() -> f64; 4],
) {
    let calls = f64::from(u32::try_from(calls).expect("few"));
    let medians = interleaved(subject.rounds, &run).map(|median| median / calls);
    table.add(Row::peers(name, &subject.name, Unit::Time, medians));
}

fn opening(subject: &Subject, table: &mut Table) {
    let (v1, v2) = (subject.v1.as_path(), subject.v2.as_path());
    let manifest = |path: &Path| seconds(|| read_manifest(path).expect("a manifest"));
    against(
        subject,
        table,
        "manifest chunk only",
        1,
        [&|| manifest(v2), &|| seconds(|| Vfs04::manifest(v2)), &|| manifest(v1), &|| {
            seconds(|| Vfs02::manifest(v1))
        }],
    );
    let open = |path: &Path| seconds(|| TarFileSystem::open(path).expect("a package"));
    against(
        subject,
        table,
        "open",
        1,
        [&|| open(v2), &|| seconds(|| Vfs04::open(v2)), &|| open(v1), &|| {
            seconds(|| Vfs02::open(v1))
        }],
    );
    let first = subject.files[0].as_str();
    against(
        subject,
        table,
        "open and first stat",
        1,
        [
            &|| seconds(|| ours_open(v2).stat_size(first)),
            &|| seconds(|| Vfs04::open(v2).stat_size(first)),
            &|| seconds(|| ours_open(v1).stat_size(first)),
            &|| seconds(|| Vfs02::open(v1).stat_size(first)),
        ],
    );
}

/// Ours behind the same trait as the peers.
struct Ours(TarFileSystem);

fn ours_open(path: &Path) -> Ours {
    Ours(TarFileSystem::open(path).expect("a package"))
}

impl Reader for Ours {
    fn stat_size(&mut self, path: &str) -> u64 {
        self.0.stat(path).map_or(0, |stat| stat.size)
    }

    fn read_len(&mut self, path: &str) -> usize {
        self.0.read_file(path).expect("a file").len()
    }
}

fn stat_all(reader: &mut impl Reader, paths: &[String]) -> u64 {
    paths.iter().map(|path| reader.stat_size(path)).sum()
}

fn cold(mut reader: impl Reader, paths: &[String]) -> f64 {
    seconds(|| stat_all(&mut reader, paths))
}

fn warm(mut reader: impl Reader, paths: &[String]) -> f64 {
    stat_all(&mut reader, paths);
    seconds(|| stat_all(&mut reader, paths))
}

fn statting(subject: &Subject, table: &mut Table) {
    let (v1, v2) = (subject.v1.as_path(), subject.v2.as_path());
    let paths = &subject.paths;
    against(
        subject,
        table,
        "stat, each path for the first time",
        paths.len(),
        [
            &|| cold(ours_open(v2), paths),
            &|| cold(Vfs04::open(v2), paths),
            &|| cold(ours_open(v1), paths),
            &|| cold(Vfs02::open(v1), paths),
        ],
    );
    against(
        subject,
        table,
        "stat, warm",
        paths.len(),
        [
            &|| warm(ours_open(v2), paths),
            &|| warm(Vfs04::open(v2), paths),
            &|| warm(ours_open(v1), paths),
            &|| warm(Vfs02::open(v1), paths),
        ],
    );
}

fn read(mut reader: impl Reader, files: &[String]) -> f64 {
    let all = |reader: &mut dyn Reader| files.iter().map(|path| reader.read_len(path)).sum();
    let warm: usize = all(&mut reader);
    seconds(|| assert_eq!(all(&mut reader), warm))
}

fn reading(subject: &Subject, table: &mut Table) {
    let (v1, v2) = (subject.v1.as_path(), subject.v2.as_path());
    let files = &subject.files;
    against(
        subject,
        table,
        "read of a whole small file",
        files.len(),
        [
            &|| read(ours_open(v2), files),
            &|| read(Vfs04::open(v2), files),
            &|| read(ours_open(v1), files),
            &|| read(Vfs02::open(v1), files),
        ],
    );
}

/// Reads of one large file, in steps of 1 MiB.
fn reading_large(subject: &Subject, table: &mut Table) {
    let path = subject.files[0].as_str();
    let mut sides: Vec<(Ours, Vec<u8>)> = Vec::new();
    for file in [&subject.v2, &subject.v1] {
        sides.push((ours_open(file), vec![0; MIB]));
    }
    let sides: Vec<_> = sides.into_iter().map(std::cell::RefCell::new).collect();
    let four = std::cell::RefCell::new(Vfs04::open(&subject.v2));
    let two = std::cell::RefCell::new(Vfs02::open(&subject.v1));
    let len = sides[0].borrow_mut().0.stat_size(path);
    let one = |side: usize| {
        let (fs, buffer) = &mut *sides[side].borrow_mut();
        seconds(|| assert_eq!(fs.0.pread(path, len / 2, buffer), Ok(MIB)))
    };
    against(
        subject,
        table,
        "pread of 1 MiB",
        1,
        [
            &|| one(0),
            &|| seconds(|| four.borrow_mut().pread_len(path, len / 2, MIB)),
            &|| one(1),
            &|| seconds(|| two.borrow_mut().pread_len(path, len / 2, MIB)),
        ],
    );
    let steps = || (0..len).step_by(MIB);
    let whole = |side: usize| {
        let (fs, buffer) = &mut *sides[side].borrow_mut();
        seconds(|| steps().for_each(|at| drop(black_box(fs.0.pread(path, at, buffer)))))
    };
    let range = sides[0].borrow().0.0.file_range(path).expect("a file");
    let medians = interleaved(
        subject.rounds,
        &[
            &|| whole(0),
            &|| seconds(|| steps().for_each(|at| four.borrow_mut().pread_len(path, at, MIB))),
            &|| whole(1),
            &|| seconds(|| steps().for_each(|at| two.borrow_mut().pread_len(path, at, MIB))),
            &|| seconds(|| bare::read(range.file(), range.offset(), range.len())),
        ],
    );
    let [own2, peer4, own1, peer2, loops] = medians;
    let row = Row::peers(
        "read of all, 1 MiB at a time",
        &subject.name,
        Unit::Time,
        [own2, peer4, own1, peer2],
    );
    table.add(row.bare("pread", loops));
}

/// What `verify` does: the index against the tar's headers, the digest of the file, the tree hash.
fn verifying(subject: &Subject, table: &mut Table) {
    let fs = TarFileSystem::open(&subject.v2).expect("a package");
    let places = bare::places(&fs);
    let rounds = subject.rounds.min(5);
    let [compare, all, loops] = interleaved(
        rounds,
        &[
            &|| seconds(|| assert!(verify(fs.package()).expect("readable").is_consistent())),
            &|| seconds(|| digests(&fs).expect("readable")),
            &|| seconds(|| bare::hash(fs.package().file(), &places)),
        ],
    );
    table.add(Row::own("verify: index against tar headers", &subject.name, Unit::Time, compare));
    let row = Row::own("verify: SHA-256 of all and of each file", &subject.name, Unit::Time, all);
    table.add(row.bare("pread and SHA-256", loops));
}

/// Packing and opening in processes of their own: time, and the peak of memory.
fn children(subject: &Subject, dir: &Path, table: &mut Table) {
    let out = dir.join("packed");
    let measured: Vec<std::cell::RefCell<Vec<f64>>> = (0..4).map(|_| Vec::new().into()).collect();
    let child = |at: usize, side: &str| {
        let [took, peak] = run_child(&["pack", side], &[&subject.source, &out]);
        measured[at].borrow_mut().push(peak);
        std::fs::remove_file(&out).expect("the child wrote it");
        took
    };
    let medians = interleaved(
        subject.rounds.min(3),
        &[&|| child(0, "v2"), &|| child(1, "0.4.7"), &|| child(2, "v1"), &|| child(3, "0.2.7")],
    );
    table.add(Row::peers("pack a tar", &subject.name, Unit::Time, medians));
    let peaks = [0, 1, 2, 3].map(|at| table::median(&mut measured[at].borrow_mut()));
    table.add(Row::peers("pack, peak memory", &subject.name, Unit::Bytes, peaks));
    let open = |side: &str, path: &Path| run_child(&["open", side], &[path])[1];
    let held = [
        open("v2", &subject.v2),
        open("0.4.7", &subject.v2),
        open("v1", &subject.v1),
        open("0.2.7", &subject.v1),
    ];
    table.add(Row::peers("open and first stat, memory held", &subject.name, Unit::Bytes, held));
}

fn run_child(what: &[&str], paths: &[&Path]) -> [f64; 2] {
    let me = std::env::current_exe().expect("this program");
    let done = Command::new(me).arg("--child").args(what).args(paths).output().expect("it starts");
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{what:?}: {}", String::from_utf8_lossy(&done.stderr));
    let mut numbers = text.split_whitespace().map(|number| number.parse().expect("a number"));
    [(); 2].map(|()| numbers.next().expect("two numbers"))
}

fn child(args: &[String]) {
    let [what, side, input, rest @ ..] = args else { panic!("not enough arguments") };
    let input = Path::new(input);
    let before = made::memory("RssAnon");
    let start = Instant::now();
    let mut held: Option<Box<dyn std::any::Any>> = None;
    match (what.as_str(), side.as_str(), rest) {
        ("pack", "0.4.7", [out]) => Vfs04::pack(input, Path::new(out)),
        ("pack", "0.2.7", [out]) => Vfs02::pack(input, Path::new(out)),
        ("pack", version, [out]) => made::pack(input, Path::new(out), version),
        ("open", "0.4.7", _) => held = Some(Box::new(Vfs04::open(input).touched())),
        ("open", "0.2.7", _) => held = Some(Box::new(Vfs02::open(input).touched())),
        ("open", _, _) => held = Some(Box::new(ours_open(input).touched())),
        other => panic!("{other:?}"),
    }
    let took = start.elapsed().as_secs_f64();
    let bytes =
        if what == "pack" { made::memory("VmHWM") } else { made::memory("RssAnon") - before };
    drop(held);
    println!("{took} {bytes}");
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.first().is_some_and(|first| first == "--child") {
        return child(&args[1..]);
    }
    let quick = args.iter().any(|arg| arg == "--quick");
    let memory = Path::new("/dev/shm");
    let dir = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    let dir = dir.expect("a temporary directory");
    let mut table = Table::default();
    let sizes: &[(usize, usize)] = if quick {
        &[(1_000, 15), (10_000, 9)]
    } else {
        &[(1_000, 25), (10_000, 15), (100_000, 7)]
    };
    for &(entries, rounds) in sizes {
        let made = Made::files(dir.path(), entries);
        let subject = made.subject(format!("{} entries", table::thousands(entries)), rounds);
        opening(&subject, &mut table);
        statting(&subject, &mut table);
        reading(&subject, &mut table);
        verifying(&subject, &mut table);
        children(&subject, dir.path(), &mut table);
    }
    if !quick {
        let made = Made::large(dir.path(), 1 << 30);
        let subject = made.subject("1 file of 1 GiB".into(), 5);
        opening(&subject, &mut table);
        reading_large(&subject, &mut table);
        verifying(&subject, &mut table);
        children(&subject, dir.path(), &mut table);
    }
    let pi = std::env::var_os("HOLDALL_PACKAGES")
        .map(|cache| PathBuf::from(cache).join("pi-0.2.7.aospkg"));
    if let Some(pi) = pi {
        let package = Arc::new(Package::open(&pi).expect("HOLDALL_PACKAGES holds pi-0.2.7.aospkg"));
        let made = Made::published(dir.path(), &package);
        let subject = made.subject("`pi@0.2.7`".into(), if quick { 7 } else { 15 });
        opening(&subject, &mut table);
        statting(&subject, &mut table);
        reading(&subject, &mut table);
        verifying(&subject, &mut table);
        children(&subject, dir.path(), &mut table);
    }
    print!("{table}");
}
