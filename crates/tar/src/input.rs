//! Where an archive comes from: a stream, or something read by position.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read};
use std::sync::Arc;

/// Bytes that can be read at any offset, with a length that is known.
pub trait ReadAt {
    /// Reads at most `buf.len()` bytes at `offset`; 0 only at the end.
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Length in bytes.
    fn len(&self) -> io::Result<u64>;

    /// Whether there is nothing to read.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }
}

impl ReadAt for [u8] {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|at| self.get(at..)).unwrap_or_default();
        let n = rest.len().min(buf.len());
        buf[..n].copy_from_slice(&rest[..n]);
        Ok(n)
    }

    fn len(&self) -> io::Result<u64> {
        Ok(<[u8]>::len(self) as u64)
    }
}

impl ReadAt for Vec<u8> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.as_slice().read_at(buf, offset)
    }

    fn len(&self) -> io::Result<u64> {
        ReadAt::len(self.as_slice())
    }
}

#[cfg(unix)]
impl ReadAt for File {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(self, buf, offset)
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }
}

macro_rules! forward {
    ($($outer:ty),*) => {$(
        impl<T: ReadAt + ?Sized> ReadAt for $outer {
            fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
                (**self).read_at(buf, offset)
            }

            fn len(&self) -> io::Result<u64> {
                (**self).len()
            }
        }
    )*};
}
forward!(&T, Box<T>, Arc<T>);

mod sealed {
    /// Keeps [`Input`](super::Input) to the two kinds of this module.
    pub trait Sealed {}
}

/// A cursor over an archive; [`Stream`] and [`Positioned`] are all there is.
pub trait Input: sealed::Sealed {
    /// Bytes from the start of the archive.
    fn position(&self) -> u64;

    /// Reads at the cursor and moves it; 0 only at the end.
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize>;

    /// Moves the cursor forward by at most `len` bytes, fewer only at the end; returns how many.
    fn skip(&mut self, len: u64) -> io::Result<u64>;

    /// Length of the archive, where it is known without reading.
    fn known_len(&self) -> Option<u64>;
}

/// An archive that is read once from front to back.
#[derive(Debug)]
pub struct Stream<R> {
    inner: BufReader<R>,
    position: u64,
}

impl<R: Read> Stream<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self { inner: BufReader::with_capacity(64 * 1024, inner), position: 0 }
    }
}

impl<R> sealed::Sealed for Stream<R> {}

impl<R: Read> Input for Stream<R> {
    fn position(&self) -> u64 {
        self.position
    }

    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.inner.read(buf) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(n) => {
                    self.position += n as u64;
                    return Ok(n);
                }
            }
        }
    }

    fn skip(&mut self, len: u64) -> io::Result<u64> {
        let mut left = len;
        while left > 0 {
            let have = match self.inner.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
                Ok([]) => break,
                Ok(have) => have.len(),
            };
            let n = usize::try_from(left).unwrap_or(usize::MAX).min(have);
            self.inner.consume(n);
            self.position += n as u64;
            left -= n as u64;
        }
        Ok(len - left)
    }

    fn known_len(&self) -> Option<u64> {
        None
    }
}

/// An archive read by position: headers through a small window, data only where it is asked for.
#[derive(Debug)]
pub struct Positioned<R> {
    inner: R,
    len: u64,
    position: u64,
    window: Vec<u8>,
    window_at: u64,
}

/// Large enough for the headers of many small members, small enough to be cheap between large.
const WINDOW: usize = 16 * 1024;

impl<R: ReadAt> Positioned<R> {
    pub(crate) fn new(inner: R) -> io::Result<Self> {
        let len = inner.len()?;
        Ok(Self { inner, len, position: 0, window: Vec::new(), window_at: 0 })
    }

    /// What is read from.
    pub fn get_ref(&self) -> &R {
        &self.inner
    }

    fn read_inner(inner: &R, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        loop {
            match inner.read_at(buf, offset) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => return other,
            }
        }
    }
}

impl<R> sealed::Sealed for Positioned<R> {}

impl<R: ReadAt> Input for Positioned<R> {
    fn position(&self) -> u64 {
        self.position
    }

    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        // The length was taken once: a file that grows meanwhile is read as it was.
        let left = usize::try_from(self.len - self.position).unwrap_or(usize::MAX);
        let buf_len = buf.len().min(left);
        let buf = &mut buf[..buf_len];
        if buf.len() >= WINDOW {
            let n = Self::read_inner(&self.inner, buf, self.position)?;
            self.position += n as u64;
            return Ok(n);
        }
        let inside =
            self.position.checked_sub(self.window_at).and_then(|n| usize::try_from(n).ok());
        let mut have = inside.and_then(|at| self.window.get(at..)).unwrap_or_default();
        if have.is_empty() && !buf.is_empty() {
            self.window.resize(WINDOW.min(left), 0);
            let n = Self::read_inner(&self.inner, &mut self.window, self.position)?;
            self.window.truncate(n);
            self.window_at = self.position;
            have = &self.window;
        }
        let n = have.len().min(buf.len());
        buf[..n].copy_from_slice(&have[..n]);
        self.position += n as u64;
        Ok(n)
    }

    fn skip(&mut self, len: u64) -> io::Result<u64> {
        let n = len.min(self.len - self.position);
        self.position += n;
        Ok(n)
    }

    fn known_len(&self) -> Option<u64> {
        Some(self.len)
    }
}
