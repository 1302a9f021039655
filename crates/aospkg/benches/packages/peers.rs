//! The two published libraries behind one trait.

use std::path::Path;

/// What is asked of every reader.
pub(crate) trait Reader {
    fn stat_size(&mut self, path: &str) -> u64;
    fn read_len(&mut self, path: &str) -> usize;

    /// Itself, after the first question.
    fn touched(mut self) -> Self
    where
        Self: Sized,
    {
        self.stat_size("/");
        self
    }
}

macro_rules! peer {
    ($name:ident, $krate:ident) => {
        #[doc = concat!("The library `", stringify!($krate), "`.")]
        pub(crate) struct $name($krate::posix::TarFileSystem);

        impl $name {
            pub(crate) fn open(path: &Path) -> Self {
                Self($krate::posix::TarFileSystem::open_at(path, "/").expect("a package"))
            }

            pub(crate) fn manifest(path: &Path) -> impl Sized {
                $krate::package_format::read_manifest_chunk_from_file(path).expect("a manifest")
            }

            pub(crate) fn pack(source: &Path, out: &Path) {
                $krate::package_format::pack::pack_aospkg_from_tar(source, out).expect("packed");
            }

            pub(crate) fn pread_len(&mut self, path: &str, offset: u64, len: usize) {
                use $krate::posix::VirtualFileSystem as _;
                let read = self.0.pread(path, offset, len).expect("a file");
                std::hint::black_box(read);
            }
        }

        impl Reader for $name {
            fn stat_size(&mut self, path: &str) -> u64 {
                use $krate::posix::VirtualFileSystem as _;
                self.0.stat(path).map_or(0, |stat| stat.size)
            }

            fn read_len(&mut self, path: &str) -> usize {
                use $krate::posix::VirtualFileSystem as _;
                self.0.read_file(path).expect("a file").len()
            }
        }
    };
}

peer!(Vfs02, vfs02);
peer!(Vfs04, vfs04);
