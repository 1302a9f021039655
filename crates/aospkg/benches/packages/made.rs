//! The packages that are measured.

use std::fs::File;
use std::io::{BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use holdall_aospkg::Package;
use holdall_aospkg::format::{EntryKind, Version};
use holdall_aospkg::pack::{Input, PackOptions, convert, plan};
use holdall_tar::{Content, NewMember, Writer};

use crate::{MIB, Subject};

/// Files on disk, removed with their directory.
pub(crate) struct Made {
    source: PathBuf,
    packages: [PathBuf; 2],
    _dir: tempfile::TempDir,
}

const SOURCE: &str = r#"{"name":"bench","version":"1.0.0"}"#;

/// The same numbers on every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn fill(&mut self, buffer: &mut [u8]) {
        for part in buffer.chunks_mut(8) {
            part.copy_from_slice(&self.next().to_le_bytes()[..part.len()]);
        }
    }
}

fn source(path: &Path, name: &str, version: &str) -> Writer<BufWriter<File>> {
    let file = File::create(path).expect("a temporary file");
    let mut tar = Writer::new(BufWriter::with_capacity(MIB, file));
    let json = SOURCE.replace("bench", name).replace("1.0.0", version);
    append(&mut tar, "agentos-package.json", json.as_bytes());
    tar
}

fn append(tar: &mut Writer<BufWriter<File>>, path: &str, bytes: &[u8]) {
    let content = Content::File { size: bytes.len() as u64 };
    tar.append(&NewMember::new(path, content, 0o755).expect("a path")).expect("written");
    tar.write_all(bytes).expect("written");
}

/// What the packer under test makes of a tar.
pub(crate) fn pack(source: &Path, out: &Path, version: &str) {
    let version = if version == "v1" { Version::V1 } else { Version::V2 };
    let archive = File::open(source).expect("the source");
    let options = PackOptions { version, posix: true, ..PackOptions::default() };
    let plan = plan(Input::Tar(&archive), &options).expect("it can be packed");
    plan.write(out).expect("written");
}

/// A line of this process's status in bytes.
pub(crate) fn memory(key: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells");
    let line = status.lines().find_map(|line| line.strip_prefix(key)).expect("the line");
    let number = line.split_whitespace().nth(1).and_then(|number| number.parse::<f64>().ok());
    number.expect("a number of kB") * 1024.0
}

impl Made {
    fn new(dir: &Path, fill: impl FnOnce(&Path)) -> Self {
        let dir = tempfile::tempdir_in(dir).expect("a temporary directory");
        let [source, v1, v2] =
            ["source.tar", "v1.aospkg", "v2.aospkg"].map(|at| dir.path().join(at));
        fill(&source);
        pack(&source, &v1, "v1");
        let package = Package::open(&v1).expect("it was packed");
        convert(&package, &v2, Version::V2, true).expect("converted");
        Self { source, packages: [v1, v2], _dir: dir }
    }

    /// About `entries` entries: files of 1 kB, 20 in each directory, as npm packages have them.
    pub(crate) fn files(dir: &Path, entries: usize) -> Self {
        Self::new(dir, |path| {
            let mut tar = source(path, "bench", "1.0.0");
            let mut numbers = Numbers(0x9e37_79b9);
            let mut bytes = [0; 1000];
            // Each directory of files has three directories above it that are its own.
            for n in 0..entries * 20 / 23 {
                numbers.fill(&mut bytes);
                let (package, file) = (n / 20, n % 20);
                let path =
                    format!("node_modules/package-{package:04}/dist/esm/module-{file:02}.js");
                append(&mut tar, &path, &bytes);
            }
            tar.finish().expect("written");
        })
    }

    /// One file of `len` bytes, and a command.
    pub(crate) fn large(dir: &Path, len: u64) -> Self {
        Self::new(dir, |path| {
            let mut tar = source(path, "bench", "1.0.0");
            let content = Content::File { size: len };
            let member = NewMember::new("share/model.bin", content, 0o644).expect("a path");
            tar.append(&member).expect("written");
            let mut numbers = Numbers(0x9e37_79b9);
            let mut buffer = vec![0; MIB];
            for _ in 0..len / MIB as u64 {
                numbers.fill(&mut buffer);
                tar.write_all(&buffer).expect("written");
            }
            tar.finish().expect("written");
        })
    }

    /// The mount of a published package, packed again.
    pub(crate) fn published(dir: &Path, package: &Package) -> Self {
        Self::new(dir, |path| {
            let manifest = package.manifest().expect("a manifest");
            let mut tar = source(path, &manifest.name, &manifest.version);
            tar.flush().expect("written");
            let at = tar.position();
            drop(tar);
            let mut file = File::options().write(true).open(path).expect("it was written");
            file.set_len(at).expect("cut before the end blocks");
            file.seek(SeekFrom::End(0)).expect("a file");
            let mut mount = package.file().try_clone().expect("a descriptor");
            mount.seek(SeekFrom::Start(package.header().mount_range().start)).expect("a file");
            std::io::copy(&mut mount.take(u64::MAX), &mut file).expect("copied");
        })
    }

    pub(crate) fn subject(&self, name: String, rounds: usize) -> Subject {
        let [v1, v2] = self.packages.clone();
        let package = Package::open(&v2).expect("it was packed");
        let all: Vec<_> = package
            .index()
            .iter()
            .map(|entry| (entry.path.to_owned(), entry.kind, entry.size))
            .collect();
        let mut order: Vec<usize> = (0..all.len()).collect();
        let mut numbers = Numbers(1);
        for at in (1..order.len()).rev() {
            order.swap(at, usize::try_from(numbers.next()).expect("64 bits") % (at + 1));
        }
        let paths = order.iter().map(|&at| all[at].0.clone()).collect();
        let small = |at: &&usize| {
            all[**at].1 == EntryKind::File
                && (all.len() < 10 || (1..64 << 10).contains(&all[**at].2))
        };
        let files = order.iter().filter(small).take(1000).map(|&at| all[at].0.clone()).collect();
        Subject { name, source: self.source.clone(), v1, v2, paths, files, rounds }
    }
}
