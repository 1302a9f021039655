//! Packages: `.aospkg` files, read and written in format versions 1 and 2.
//!
//! A package is a header, a *manifest* chunk (who it is, which commands it brings), an *index*
//! chunk (every file, directory and link with the place of its bytes) and the *mount*, an
//! uncompressed tar. [`read_manifest`] reads the first chunk alone; [`Package`] holds an open file
//! with its index; [`TarFileSystem`] answers file system questions from it without unpacking.
//!
//! Reading is tolerant wherever one of the published readers is, and what was tolerated can be
//! asked for; writing is canonical. The format's constants are in [`mod@format`], the reader and
//! the writer of its chunks in two modules that share nothing else.

mod bare;
pub mod codes;
mod decode;
mod encode;
mod error;
mod extract;
mod file;
pub mod format;
mod fs;
mod header;
mod index;
mod inspect;
mod model;
mod oddities;
pub mod pack;
mod package;
mod verify;

pub use bare::{DecodeError, Tolerance, ToleranceUse, Tolerances};
pub use decode::decode_manifest;
pub use encode::{MapOrder, encode_head, encode_index, encode_manifest};
pub use error::{Errno, PackageError};
pub use extract::{ExtractOptions, Extracted, extract};
pub use file::{Head, Identity, read_manifest};
pub use fs::{
    Change, DirName, DirRow, FileRange, FsError, MAX_LINKS, PackageSet, ReadFs, Stat, TarFileSystem,
};
pub use header::{encode_header, parse_header};
pub use index::{Child, Children, Index};
pub use inspect::{
    Holds, Inside, Inspection, ProvidedDirectory, Run, RunKind, Sizes, Variable, file_name, inspect,
};
pub use model::{
    AgentBlock, CommandTarget, Loss, ManPage, PackageManifest, ProvidesBlock, ProvidesFile,
    StringMap, TarEntry,
};
pub use oddities::{PackageLimits, oddities};
pub use package::Package;
pub use verify::{Digests, Verification, digests, verify};
