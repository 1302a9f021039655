//! The maps of sparse files: checked, and turned into places in the archive.

use std::sync::Arc;

use crate::error::TarErrorKind;
use crate::{BLOCK, Segment, block};

/// Bytes of a row of the old GNU form: offset and length, twelve bytes each.
const ROW: usize = 24;

/// Collects a map's rows in file order and checks each against those before it.
#[derive(Debug)]
pub(crate) struct Map {
    segments: Vec<Segment>,
    /// Where the last row ended in the file.
    at: u64,
    /// Bytes of data so far.
    stored: u64,
    limit: usize,
}

impl Map {
    pub(crate) fn new(limit: usize) -> Self {
        Self { segments: Vec::new(), at: 0, stored: 0, limit }
    }

    pub(crate) fn push(&mut self, offset: u64, len: u64) -> Result<(), TarErrorKind> {
        if offset < self.at {
            return Err(TarErrorKind::Sparse("its runs overlap or are out of order"));
        }
        let end = offset.checked_add(len).ok_or(TarErrorKind::Sparse("a run ends nowhere"))?;
        self.at = end;
        if len == 0 {
            // Marks the end of a file that ends with a hole.
            return Ok(());
        }
        if !self.stored.is_multiple_of(BLOCK as u64) {
            // GNU tar pads such a run to a block, others do not.
            return Err(TarErrorKind::Sparse(
                "a run before the last is not a whole number of blocks",
            ));
        }
        if self.segments.len() >= self.limit {
            return Err(TarErrorKind::TooManySegments(self.limit));
        }
        self.segments.push(Segment { offset, len, data_offset: self.stored });
        let stored = self.stored.checked_add(len);
        self.stored = stored.ok_or(TarErrorKind::Sparse("its runs are too long"))?;
        Ok(())
    }

    /// Rows of an old GNU header or extension block, up to the first blank one.
    pub(crate) fn push_rows(&mut self, rows: &[u8]) -> Result<(), TarErrorKind> {
        for row in rows.chunks_exact(ROW) {
            if row.iter().all(|&byte| byte == 0) {
                break;
            }
            let number = |bytes: &[u8]| {
                u64::try_from(block::number("sparse", bytes)?)
                    .map_err(|_| TarErrorKind::Sparse("a negative number"))
            };
            self.push(number(&row[..12])?, number(&row[12..])?)?;
        }
        Ok(())
    }

    /// The segments of a file of `real_size` bytes whose `stored` bytes begin at `data_offset`.
    pub(crate) fn finish(
        mut self,
        real_size: u64,
        data_offset: u64,
        stored: u64,
    ) -> Result<Arc<[Segment]>, TarErrorKind> {
        if self.at > real_size {
            return Err(TarErrorKind::Sparse("a run ends behind the end of the file"));
        }
        if self.stored != stored {
            return Err(TarErrorKind::Sparse("its runs are not as long as the stored data"));
        }
        for segment in &mut self.segments {
            segment.data_offset += data_offset;
        }
        Ok(self.segments.into())
    }
}
