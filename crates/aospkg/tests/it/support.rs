//! Packages made for tests, and one view over the two published readers.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use holdall_aospkg::format::{EntryKind, Version};
use holdall_aospkg::{MapOrder, PackageManifest, TarEntry, encode_head};

/// An entry under construction.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) path: String,
    pub(crate) kind: EntryKind,
    pub(crate) offset: u64,
    pub(crate) size: u64,
    pub(crate) mode: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) mtime: i64,
    pub(crate) target: Option<String>,
}

impl Row {
    pub(crate) fn new(path: &str, kind: EntryKind) -> Self {
        let mode = kind.mode_bits() | if kind == EntryKind::Symlink { 0o777 } else { 0o755 };
        let (offset, size, uid, gid, mtime, target) = (0, 0, 0, 0, 0, None);
        Self { path: path.into(), kind, offset, size, mode, uid, gid, mtime, target }
    }

    pub(crate) fn as_entry(&self) -> TarEntry<'_> {
        TarEntry {
            path: &self.path,
            kind: self.kind,
            offset: self.offset,
            size: self.size,
            mode: self.mode,
            uid: self.uid,
            gid: self.gid,
            mtime: self.mtime,
            link_target: self.target.as_deref(),
        }
    }
}

/// A package built entry by entry; the mount is bare contents, which is all a reader looks at.
#[derive(Debug, Clone, Default)]
pub(crate) struct Maker {
    pub(crate) manifest: PackageManifest,
    pub(crate) rows: Vec<Row>,
    pub(crate) mount: Vec<u8>,
}

impl Maker {
    /// A package `t` 1 with the root.
    pub(crate) fn new() -> Self {
        let manifest =
            PackageManifest { name: "t".into(), version: "1".into(), ..PackageManifest::default() };
        Self { manifest, ..Self::default() }.dir("/")
    }

    pub(crate) fn row(mut self, row: Row) -> Self {
        self.rows.push(row);
        self
    }

    pub(crate) fn dir(self, path: &str) -> Self {
        self.row(Row::new(path, EntryKind::Directory))
    }

    pub(crate) fn file(mut self, path: &str, bytes: impl AsRef<[u8]>) -> Self {
        let bytes = bytes.as_ref();
        let mut row = Row::new(path, EntryKind::File);
        row.offset = self.mount.len() as u64;
        row.size = bytes.len() as u64;
        self.mount.extend_from_slice(bytes);
        self.row(row)
    }

    pub(crate) fn link(self, path: &str, target: &str) -> Self {
        let mut row = Row::new(path, EntryKind::Symlink);
        row.target = Some(target.into());
        self.row(row)
    }

    pub(crate) fn sorted(mut self) -> Self {
        self.rows.sort_by(|a, b| a.path.cmp(&b.path));
        self
    }

    /// The bytes of the package, entries in the order they were added.
    pub(crate) fn bytes(&self, version: Version) -> Vec<u8> {
        let entries = self.rows.iter().map(Row::as_entry);
        let mut out = encode_head(&self.manifest, entries, version, MapOrder::AsRead).unwrap();
        out.extend_from_slice(&self.mount);
        out
    }

    pub(crate) fn write(&self, dir: &Path, version: Version) -> PathBuf {
        let path = dir.join(format!("made-{version}.aospkg"));
        std::fs::write(&path, self.bytes(version)).unwrap();
        path
    }
}

/// What stat says, in the words of both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PeerStat {
    pub(crate) mode: u32,
    pub(crate) size: u64,
    pub(crate) blocks: u64,
    pub(crate) is_directory: bool,
    pub(crate) is_symbolic_link: bool,
    pub(crate) times_ms: [u64; 4],
    pub(crate) ino: u64,
    pub(crate) nlink: u64,
    pub(crate) rdev: u64,
    pub(crate) owner: (u32, u32),
}

/// An answer, or the name of an errno.
pub(crate) type Answer<T> = Result<T, String>;

/// The questions that are asked of Holdall and of both published readers.
pub(crate) trait Asked: Debug {
    fn stat(&mut self, path: &str) -> Answer<PeerStat>;
    fn lstat(&mut self, path: &str) -> Answer<PeerStat>;
    fn read_file(&mut self, path: &str) -> Answer<Vec<u8>>;
    fn pread(&mut self, path: &str, offset: u64, len: usize) -> Answer<Vec<u8>>;
    fn read_dir(&mut self, path: &str) -> Answer<Vec<(String, bool, bool)>>;
    fn read_link(&mut self, path: &str) -> Answer<String>;
    fn realpath(&mut self, path: &str) -> Answer<String>;
    fn exists(&mut self, path: &str) -> bool;
}

macro_rules! peer {
    ($name:ident, $krate:ident) => {
        #[doc = concat!("The published reader `", stringify!($krate), "`.")]
        pub(crate) struct $name($krate::posix::TarFileSystem);

        impl Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(stringify!($krate))
            }
        }

        impl $name {
            pub(crate) fn open(path: &Path, root: &str) -> Answer<Self> {
                let opened = $krate::posix::TarFileSystem::open_at(path, root);
                opened.map(Self).map_err(|error| error.code().to_owned())
            }
        }

        impl Asked for $name {
            fn stat(&mut self, path: &str) -> Answer<PeerStat> {
                use $krate::posix::VirtualFileSystem as _;
                self.0.stat(path).map(peer_stat!()).map_err(|error| error.code().to_owned())
            }
            fn lstat(&mut self, path: &str) -> Answer<PeerStat> {
                use $krate::posix::VirtualFileSystem as _;
                self.0.lstat(path).map(peer_stat!()).map_err(|error| error.code().to_owned())
            }
            fn read_file(&mut self, path: &str) -> Answer<Vec<u8>> {
                use $krate::posix::VirtualFileSystem as _;
                self.0.read_file(path).map_err(|error| error.code().to_owned())
            }
            fn pread(&mut self, path: &str, offset: u64, len: usize) -> Answer<Vec<u8>> {
                use $krate::posix::VirtualFileSystem as _;
                self.0.pread(path, offset, len).map_err(|error| error.code().to_owned())
            }
            fn read_dir(&mut self, path: &str) -> Answer<Vec<(String, bool, bool)>> {
                use $krate::posix::VirtualFileSystem as _;
                let rows = self.0.read_dir_with_types(path);
                rows.map(|rows| {
                    rows.into_iter()
                        .map(|row| (row.name, row.is_directory, row.is_symbolic_link))
                        .collect()
                })
                .map_err(|error| error.code().to_owned())
            }
            fn read_link(&mut self, path: &str) -> Answer<String> {
                use $krate::posix::VirtualFileSystem as _;
                self.0.read_link(path).map_err(|error| error.code().to_owned())
            }
            fn realpath(&mut self, path: &str) -> Answer<String> {
                use $krate::posix::VirtualFileSystem as _;
                self.0.realpath(path).map_err(|error| error.code().to_owned())
            }
            fn exists(&mut self, path: &str) -> bool {
                use $krate::posix::VirtualFileSystem as _;
                self.0.exists(path)
            }
        }
    };
}

macro_rules! peer_stat {
    () => {
        |stat| PeerStat {
            mode: stat.mode,
            size: stat.size,
            blocks: stat.blocks,
            is_directory: stat.is_directory,
            is_symbolic_link: stat.is_symbolic_link,
            times_ms: [stat.atime_ms, stat.mtime_ms, stat.ctime_ms, stat.birthtime_ms],
            ino: stat.ino,
            nlink: stat.nlink,
            rdev: stat.rdev,
            owner: (stat.uid, stat.gid),
        }
    };
}

peer!(Peer02, vfs02);
peer!(Peer04, vfs04);

/// Holdall's own answers in the same words.
#[derive(Debug)]
pub(crate) struct Ours(pub(crate) holdall_aospkg::TarFileSystem);

fn errno<T>(answer: Result<T, holdall_aospkg::FsError>) -> Answer<T> {
    answer.map_err(|error| error.errno.name().to_owned())
}

fn own_stat(stat: holdall_aospkg::Stat) -> PeerStat {
    assert_ne!(stat.dev, 0);
    PeerStat {
        mode: stat.mode,
        size: stat.size,
        blocks: stat.blocks(),
        is_directory: stat.is_directory(),
        is_symbolic_link: stat.is_symbolic_link(),
        times_ms: [stat.mtime_ms; 4],
        ino: stat.ino,
        nlink: stat.nlink(),
        rdev: stat.rdev(),
        owner: (stat.uid, stat.gid),
    }
}

impl Ours {
    pub(crate) fn open(path: &Path, root: &str) -> Answer<Self> {
        let package = holdall_aospkg::Package::open(path)
            .and_then(|package| holdall_aospkg::TarFileSystem::new(package.into(), root));
        package.map(Self).map_err(|error| error.errno().name().to_owned())
    }
}

impl Asked for Ours {
    fn stat(&mut self, path: &str) -> Answer<PeerStat> {
        errno(self.0.stat(path)).map(own_stat)
    }
    fn lstat(&mut self, path: &str) -> Answer<PeerStat> {
        errno(self.0.lstat(path)).map(own_stat)
    }
    fn read_file(&mut self, path: &str) -> Answer<Vec<u8>> {
        errno(self.0.read_file(path))
    }
    fn pread(&mut self, path: &str, offset: u64, len: usize) -> Answer<Vec<u8>> {
        let mut buf = vec![0; len];
        let read = errno(self.0.pread(path, offset, &mut buf))?;
        buf.truncate(read);
        Ok(buf)
    }
    fn read_dir(&mut self, path: &str) -> Answer<Vec<(String, bool, bool)>> {
        let rows = errno(self.0.read_dir(path))?;
        Ok(rows
            .map(|row| {
                let (dir, link) =
                    (row.kind == EntryKind::Directory, row.kind == EntryKind::Symlink);
                (row.name.to_owned(), dir, link)
            })
            .collect())
    }
    fn read_link(&mut self, path: &str) -> Answer<String> {
        errno(self.0.read_link(path)).map(str::to_owned)
    }
    fn realpath(&mut self, path: &str) -> Answer<String> {
        errno(self.0.realpath(path))
    }
    fn exists(&mut self, path: &str) -> bool {
        self.0.exists(path)
    }
}

/// Asks both everything about `path` and wants the same answers.
pub(crate) fn same_answers(ours: &mut Ours, peer: &mut dyn Asked, path: &str) {
    let context = format!("{path:?} against {peer:?}");
    assert_eq!(ours.stat(path), peer.stat(path), "stat {context}");
    assert_eq!(ours.lstat(path), peer.lstat(path), "lstat {context}");
    assert_eq!(ours.exists(path), peer.exists(path), "exists {context}");
    assert_eq!(ours.read_link(path), peer.read_link(path), "readlink {context}");
    assert_eq!(ours.realpath(path), peer.realpath(path), "realpath {context}");
    assert_eq!(ours.read_dir(path), peer.read_dir(path), "readdir {context}");
    assert!(ours.read_file(path) == peer.read_file(path), "read {context}");
    for (offset, len) in [(0, 0), (0, 7), (3, 4), (511, 3), (u64::MAX, 4), (1 << 40, 1)] {
        let (mine, theirs) = (ours.pread(path, offset, len), peer.pread(path, offset, len));
        assert_eq!(mine, theirs, "pread {offset}+{len} {context}");
    }
}

/// Opens a made package with the published reader of its version.
pub(crate) fn peer(path: &Path, version: Version, root: &str) -> Answer<Box<dyn Asked>> {
    Ok(match version {
        Version::V1 => Box::new(Peer02::open(path, root)?),
        Version::V2 => Box::new(Peer04::open(path, root)?),
    })
}
