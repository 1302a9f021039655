//! One file, whole or not at all.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::{Place, STAGE_PREFIX, StageError, claim, fresh, sync};

/// A file being written beside its [`Place`]; dropped, it is gone.
#[derive(Debug)]
pub struct StagedFile {
    place: Place,
    temp: OsString,
    file: File,
    mode: u32,
}

impl StagedFile {
    /// Begins a file that will have the permission bits `mode & 0o7777`, whatever the umask.
    pub fn create(place: Place, mode: u32) -> Result<Self, StageError> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let (temp, fd) = loop {
            let temp = fresh(STAGE_PREFIX, "".as_ref());
            match rustix::fs::openat(&place.dir, &temp, flags, Mode::from_raw_mode(0o600)) {
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(place.error(errno)),
                Ok(fd) if claim(&place.dir, &temp, &fd) => break (temp, fd),
                Ok(_) => {}
            }
        };
        Ok(Self { place, temp, file: fd.into(), mode: mode & 0o7777 })
    }

    /// Takes the place of whatever file or link stands there (a link itself is replaced, not what
    /// it points to); what [`Place::takes_a_file`] refuses stays.
    pub fn commit(self) -> Result<(), StageError> {
        self.finish()?;
        self.place.takes_a_file()?;
        rustix::fs::renameat(&self.place.dir, &self.temp, &self.place.dir, &self.place.name)
            .map_err(|errno| self.place.error(errno))?;
        self.place.sync()
    }

    /// Takes the place only if nothing stands there, else
    /// [`Exists`](super::StageErrorKind::Exists).
    pub fn commit_new(self) -> Result<(), StageError> {
        self.finish()?;
        let (dir, name) = (&self.place.dir, &self.place.name);
        match rustix::fs::renameat_with(dir, &self.temp, dir, name, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS) => {
                // A second name is refused where there is one; the first goes when this drops.
                rustix::fs::linkat(dir, &self.temp, dir, name, AtFlags::empty())
            }
            done => done,
        }
        .map_err(|errno| self.place.error(errno))?;
        self.place.sync()
    }

    fn finish(&self) -> Result<(), StageError> {
        rustix::fs::fchmod(&self.file, Mode::from_raw_mode(self.mode))
            .and_then(|()| sync(&self.file))
            .map_err(|errno| self.place.error(errno))
    }
}

impl Write for StagedFile {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.file.write(buf)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        // After a commit the name is gone already; what cannot be removed is found by `clean`.
        let _ = rustix::fs::unlinkat(&self.place.dir, &self.temp, AtFlags::empty());
    }
}

/// Writes a whole file of permission bits `mode`, in place of a file or link that stands there.
pub fn write_file(place: Place, bytes: &[u8], mode: u32) -> Result<(), StageError> {
    let path = place.path.clone();
    let mut file = StagedFile::create(place, mode)?;
    file.write_all(bytes).map_err(|error| StageError::from_io(&path, &error))?;
    file.commit()
}
