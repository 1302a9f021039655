//! What a package is and what it will do: facts for a person who decides, as values.
//!
//! Reads the manifest, the index and the first bytes of each command; nothing is run and no file
//! is read whole.

mod known;
mod wasm;

use std::path::Path;

use crate::error::PackageError;
use crate::format::{EntryKind, HEADER_LEN, Version};
use crate::fs::TarFileSystem;
use crate::model::{AgentBlock, ManPage};

pub(crate) use known::{flagged_target, flagged_variable, is_well_known};

/// The facts of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// Package name.
    pub name: String,
    /// Package version.
    pub version: String,
    /// Format version.
    pub format: Version,
    /// Bytes of the parts of the file.
    pub sizes: Sizes,
    /// The commands, in the manifest's order.
    pub runs: Vec<Run>,
    /// Man pages, in the manifest's order.
    pub man_pages: Vec<ManPage>,
    /// The agent block; format version 1 only.
    pub agent: Option<AgentBlock>,
    /// The snapshot bundle; format version 1 only.
    pub snapshot_bundle_path: Option<String>,
    /// Environment for the whole guest, sorted by key.
    pub env: Vec<Variable>,
    /// Directories shown at fixed guest paths.
    pub mounts: Vec<ProvidedDirectory>,
    /// What is inside.
    pub holds: Holds,
}

/// Bytes of the parts of a package file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Always 16.
    pub header: u64,
    /// The manifest chunk.
    pub manifest: u64,
    /// The index chunk.
    pub index: u64,
    /// The mount: the tar.
    pub mount: u64,
    /// The whole file.
    pub file: u64,
}

/// A command: what a guest types, and what then runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The command.
    pub command: String,
    /// The file it runs, as the manifest has it.
    pub entry: String,
    /// What that file is.
    pub kind: RunKind,
    /// Bytes of the file.
    pub size: u64,
    /// Whether the file has an x bit; without one a guest cannot run it.
    pub executable: bool,
    /// Whether the command is the name of a program everybody knows.
    pub shadows: bool,
}

/// What a command's file is, by its first bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunKind {
    /// A WebAssembly module.
    Wasm {
        /// The modules it imports from its host, sorted; `None` where its import section cannot
        /// be read.
        host_modules: Option<Vec<String>>,
    },
    /// A script.
    Script {
        /// What stands behind `#!`, verbatim.
        interpreter: String,
    },
    /// A program for a machine: `ELF`, `Mach-O` or `PE`. agentOS does not run these.
    Native {
        /// The format's name.
        format: &'static str,
    },
    /// Something else; agentOS does not run it.
    Unknown,
    /// There is no such file; the errno a guest sees.
    Missing(crate::Errno),
}

/// A variable for every program of the guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub key: String,
    /// Its value.
    pub value: String,
    /// What the variable does to other programs, where it is known for that.
    pub flagged: Option<&'static str>,
}

/// A directory shown at a fixed guest path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProvidedDirectory {
    /// Directory in the package.
    pub source: String,
    /// Guest path.
    pub target: String,
    /// What is unusual about the target.
    pub flagged: Option<&'static str>,
}

/// What is inside a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holds {
    /// Entries of the index, the root included.
    pub entries: usize,
    /// Files.
    pub files: usize,
    /// Directories, the root included.
    pub directories: usize,
    /// Links.
    pub links: usize,
    /// Bytes of all files.
    pub bytes: u64,
    /// Other formats at the package's root, in the order in which they decide its kind.
    pub inside: Vec<Inside>,
}

/// Another format of Holdall's at a package's root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Inside {
    /// `agent-bundle.manifest.json`.
    Artifact,
    /// `PACK.md`.
    Pack,
    /// `APP.md` or `.agentproto/APP.md`.
    App,
    /// `SKILL.md`.
    Skill,
}

impl Inside {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Artifact => "artifact",
            Self::Pack => "pack",
            Self::App => "app",
            Self::Skill => "skill",
        }
    }

    const MARKS: [(&'static str, Self); 5] = [
        ("/agent-bundle.manifest.json", Self::Artifact),
        ("/PACK.md", Self::Pack),
        ("/APP.md", Self::App),
        ("/.agentproto/APP.md", Self::App),
        ("/SKILL.md", Self::Skill),
    ];
}

/// Looks at a package. `fs` is served from the package's root.
pub fn inspect(fs: &TarFileSystem) -> Result<Inspection, PackageError> {
    let package = fs.package();
    let manifest = package.manifest()?;
    let header = package.header();
    let length = |range: std::ops::Range<u64>| range.end - range.start;
    let provides = manifest.provides.as_ref();
    Ok(Inspection {
        name: manifest.name.clone(),
        version: manifest.version.clone(),
        format: header.version(),
        sizes: Sizes {
            header: HEADER_LEN as u64,
            manifest: length(header.manifest_range()),
            index: length(header.index_range()),
            mount: length(header.mount_range()),
            file: header.file_len(),
        },
        runs: manifest.commands.iter().map(|each| run(fs, &each.command, &each.entry)).collect(),
        man_pages: manifest.man_pages.clone(),
        agent: manifest.agent.clone(),
        snapshot_bundle_path: manifest.snapshot_bundle_path.clone(),
        env: provides
            .map(|provides| provides.env.sorted())
            .unwrap_or_default()
            .into_iter()
            .map(|(key, value)| Variable {
                key: key.to_owned(),
                value: value.to_owned(),
                flagged: flagged_variable(key),
            })
            .collect(),
        mounts: provides
            .map(|provides| provides.files.as_slice())
            .unwrap_or_default()
            .iter()
            .map(|file| ProvidedDirectory {
                source: file.source.clone(),
                target: file.target.clone(),
                flagged: flagged_target(&file.target),
            })
            .collect(),
        holds: holds(fs),
    })
}

fn run(fs: &TarFileSystem, command: &str, entry: &str) -> Run {
    let path = format!("/{entry}");
    let (kind, size, executable) = match fs.file_range(&path) {
        Err(error) => (RunKind::Missing(error.errno), 0, false),
        Ok(range) => {
            let executable = fs.stat(&path).is_ok_and(|stat| stat.mode & 0o111 != 0);
            (run_kind(fs, &path), range.len(), executable)
        }
    };
    Run {
        command: command.to_owned(),
        entry: entry.to_owned(),
        kind,
        size,
        executable,
        shadows: is_well_known(command),
    }
}

/// What a file of the package is, by its first bytes.
fn run_kind(fs: &TarFileSystem, path: &str) -> RunKind {
    let mut buf = [0; 256];
    let read = match fs.pread(path, 0, &mut buf) {
        Ok(read) => read,
        Err(error) => return RunKind::Missing(error.errno),
    };
    match &buf[..read] {
        [b'\0', b'a', b's', b'm', ..] => {
            let read_at = |offset, buf: &mut [u8]| fs.pread(path, offset, buf).ok();
            RunKind::Wasm { host_modules: wasm::imported_modules(read_at) }
        }
        [b'#', b'!', rest @ ..] => {
            let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
            RunKind::Script { interpreter: String::from_utf8_lossy(line).trim().to_owned() }
        }
        [0x7f, b'E', b'L', b'F', ..] => RunKind::Native { format: "ELF" },
        [b'M', b'Z', ..] => RunKind::Native { format: "PE" },
        [0xfe, 0xed, 0xfa, 0xce | 0xcf, ..] | [0xce | 0xcf, 0xfa, 0xed, 0xfe, ..] => {
            RunKind::Native { format: "Mach-O" }
        }
        // A Java class begins alike; its version number is larger than any count of machines.
        [0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 1..=0x1f, ..] => RunKind::Native { format: "Mach-O" },
        _ => RunKind::Unknown,
    }
}

fn holds(fs: &TarFileSystem) -> Holds {
    let index = fs.package().index();
    let mut holds = Holds {
        entries: index.len(),
        files: 0,
        directories: 0,
        links: 0,
        bytes: 0,
        inside: Vec::new(),
    };
    for entry in index.iter() {
        match entry.kind {
            EntryKind::File => {
                holds.files += 1;
                holds.bytes = holds.bytes.saturating_add(entry.size);
            }
            EntryKind::Directory => holds.directories += 1,
            EntryKind::Symlink => holds.links += 1,
        }
    }
    for (path, inside) in Inside::MARKS {
        if index.find(path).is_some_and(|at| index.entry(at).kind == EntryKind::File) {
            holds.inside.push(inside);
        }
    }
    holds.inside.dedup();
    holds
}

/// A file or directory name for a package, `NAME-VERSION`: a scope `@o/app` becomes `o-app`. `None`
/// where name or version are no plain names, so that nothing is made anywhere else than meant.
pub fn file_name(name: &str, version: &str) -> Option<String> {
    let flat = match name.strip_prefix('@').and_then(|scoped| scoped.split_once('/')) {
        Some((scope, rest)) => format!("{scope}-{rest}"),
        None => name.to_owned(),
    };
    let plain = crate::oddities::is_plain_name(&flat, 255)
        && crate::oddities::is_plain_name(&version.replace('+', "-"), 128)
        && Path::new(&flat).components().count() == 1;
    plain.then(|| format!("{flat}-{version}"))
}
