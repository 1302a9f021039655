//! Walking an archive member by member.

use std::io::{self, Read};

use crate::block::{self, Block, out_of_range};
use crate::error::{TarError, TarErrorKind};
use crate::pax::{self, Globals, Records};
use crate::sparse::Map;
use crate::{BLOCK, Extension, Extent, Input, Kind, Member, Positioned, ReadAt, Stream, padded};

const BLOCK_LEN: u64 = BLOCK as u64;

/// What an archive may make the reader hold in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one extension header (PAX records, a long name). Default 1 MiB.
    pub extension: u64,
    /// Runs of data in one sparse file, 24 bytes of memory each. Default 262,144.
    pub segments: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { extension: 1 << 20, segments: 1 << 18 }
    }
}

/// How an archive ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    /// Offset of the first end block, or of the end of an archive without one.
    pub offset: u64,
    /// End blocks found, 2 in a complete archive; more only pad it.
    pub zero_blocks: u8,
    /// Offset of the first block with anything but zeros behind the first end block: data that
    /// other readers may or may not see.
    pub trailing: Option<u64>,
}

impl End {
    /// Whether both end blocks are there.
    pub const fn is_complete(&self) -> bool {
        self.zero_blocks == 2
    }
}

/// Reads the members of an archive in order. After an error it yields nothing more.
#[derive(Debug)]
pub struct Reader<I> {
    input: I,
    limits: Limits,
    globals: Globals,
    /// The member whose data can be read, and how far it was.
    current: Option<Current>,
    end: Option<End>,
    failed: bool,
}

#[derive(Debug)]
struct Current {
    member: Member,
    at: u64,
}

/// Extension headers seen since the last member.
#[derive(Debug, Default)]
struct Pending {
    start: Option<u64>,
    pax: Option<Records>,
    long_name: Option<Vec<u8>>,
    long_link: Option<Vec<u8>>,
}

impl<R: Read> Reader<Stream<R>> {
    /// Reads a stream once from front to back; what is not asked for is read and dropped.
    pub fn streaming(inner: R) -> Self {
        Self::from_input(Stream::new(inner))
    }
}

impl<R: ReadAt> Reader<Positioned<R>> {
    /// Reads by position; data is only touched by [`Reader::read`] and [`Member::read_at`].
    pub fn positioned(inner: R) -> Result<Self, TarError> {
        let input = Positioned::new(inner);
        let input = input.map_err(|error| TarError::new(0, TarErrorKind::Io(error)))?;
        Ok(Self::from_input(input))
    }

    /// What is read from, for [`Member::read_at`].
    pub fn archive(&self) -> &R {
        self.input.get_ref()
    }
}

impl<I: Input> Reader<I> {
    fn from_input(input: I) -> Self {
        Self {
            input,
            limits: Limits::default(),
            globals: Globals::default(),
            current: None,
            end: None,
            failed: false,
        }
    }

    /// Sets other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// How the archive ended, once [`Self::next_member`] has returned `None` without an error.
    pub fn end(&self) -> Option<End> {
        self.end
    }

    /// The next member; its data, if wanted, is read before the next call.
    pub fn next_member(&mut self) -> Result<Option<Member>, TarError> {
        if self.failed || self.end.is_some() {
            return Ok(None);
        }
        let next = self.advance();
        self.failed = next.is_err();
        next
    }

    fn advance(&mut self) -> Result<Option<Member>, TarError> {
        if let Some(current) = self.current.take() {
            let left = current.member.end.saturating_sub(self.input.position());
            self.skip(left, "a member's data")
                .map_err(|error| error.named(&current.member.path))?;
        }
        let mut pending = Pending::default();
        loop {
            let offset = self.input.position();
            let at = |kind| TarError::new(offset, kind);
            let Some(bytes) = self.read_block("a header")? else {
                return self.finish(offset, 0, &pending);
            };
            if bytes.iter().all(|&byte| byte == 0) {
                return self.finish(offset, 1, &pending);
            }
            let block = Block::new(bytes).map_err(at)?;
            let flag = block.type_flag();
            match flag {
                b'x' | b'g' | b'L' | b'K' => self.extension(&block, offset, &mut pending)?,
                _ => {
                    let member = self.member(&block, offset, pending)?;
                    self.current = Some(Current { member: member.clone(), at: 0 });
                    return Ok(Some(member));
                }
            }
        }
    }

    fn extension(
        &mut self,
        block: &Block,
        offset: u64,
        pending: &mut Pending,
    ) -> Result<(), TarError> {
        let at = |kind| TarError::new(offset, kind);
        let flag = block.type_flag();
        let size = block.size().map_err(at)?;
        let limit = self.limits.extension;
        if size > limit {
            return Err(at(TarErrorKind::ExtensionTooLarge { size, limit }));
        }
        let data = self.read_data(size)?;
        if flag == b'g' {
            return pax::parse_global(&data, &mut self.globals).map_err(at);
        }
        pending.start.get_or_insert(offset);
        let (mixed, repeated) = match flag {
            b'x' => {
                (pending.long_name.is_some() || pending.long_link.is_some(), pending.pax.is_some())
            }
            b'L' => (pending.pax.is_some(), pending.long_name.is_some()),
            _ => (pending.pax.is_some(), pending.long_link.is_some()),
        };
        if mixed || repeated {
            // The member's own header is unread still; a long name already tells which it is.
            let name = match flag {
                b'L' => block::until_nul(&data).to_vec(),
                _ => pending.long_name.clone().unwrap_or_default(),
            };
            let kind = if mixed {
                TarErrorKind::MixedExtensions
            } else {
                TarErrorKind::RepeatedExtension(flag)
            };
            return Err(at(kind).named(&name));
        }
        match flag {
            b'x' => {
                let records = pax::parse_local(&data, self.limits.segments).map_err(at)?;
                pending.pax = Some(records);
            }
            b'L' => pending.long_name = Some(long_text("long name", data).map_err(at)?),
            _ => pending.long_link = Some(long_text("long link target", data).map_err(at)?),
        }
        Ok(())
    }

    fn member(&mut self, block: &Block, offset: u64, pending: Pending) -> Result<Member, TarError> {
        let own_name = block.name();
        let flag = block.type_flag();
        let start = pending.start.unwrap_or(offset);
        let gnu = pending.long_name.is_some() || pending.long_link.is_some() || flag == b'S';
        let records = pending.pax.unwrap_or_default();
        let pax =
            pending.start.is_some() && pending.long_name.is_none() && pending.long_link.is_none();
        let path = records.sparse.name.clone().or(records.path.clone());
        let path = path.or(pending.long_name).unwrap_or(own_name);
        let at = |kind| TarError::new(offset, kind).named(&path);
        if pax && flag == b'S' {
            return Err(at(TarErrorKind::MixedExtensions));
        }
        if path.is_empty() {
            return Err(at(TarErrorKind::NoName));
        }
        if path.contains(&0) {
            return Err(at(TarErrorKind::Nul("name")));
        }
        let kind = block::kind(flag, &path);
        let link = match kind {
            Kind::HardLink | Kind::Symlink => {
                let link = records.link.clone().or(pending.long_link);
                link.unwrap_or_else(|| block.link().to_vec())
            }
            _ => Vec::new(),
        };
        if link.contains(&0) {
            return Err(at(TarErrorKind::Nul("link target")));
        }
        if link.is_empty() && matches!(kind, Kind::HardLink | Kind::Symlink) {
            return Err(at(TarErrorKind::NoTarget));
        }
        let stored = match records.size {
            Some(size) => size,
            None if matches!(kind, Kind::File | Kind::Other(_)) => block.size().map_err(at)?,
            // Many writers leave it blank where it has no meaning.
            None => block
                .size()
                .or_else(|error| match error {
                    TarErrorKind::Number { ref bytes, .. }
                        if bytes.iter().all(|byte| matches!(byte, 0 | b' ')) =>
                    {
                        Ok(0)
                    }
                    error => Err(error),
                })
                .map_err(at)?,
        };
        if stored > 0 && !matches!(kind, Kind::File | Kind::Other(_)) {
            return Err(at(TarErrorKind::UnexpectedData { kind, size: stored }));
        }
        let mut member = Member {
            start,
            header_offset: offset,
            data_offset: self.input.position(),
            stored_size: stored,
            end: 0,
            size: if kind == Kind::File { stored } else { 0 },
            kind,
            type_flag: flag,
            mode: block.mode().map_err(at)?,
            uid: or_field(records.uid.or(self.globals.uid), || block.uid()).map_err(at)?,
            gid: or_field(records.gid.or(self.globals.gid), || block.gid()).map_err(at)?,
            mtime: or_field(records.mtime.or(self.globals.mtime), || block.mtime()).map_err(at)?,
            path: Vec::new(),
            link,
            segments: None,
            extension: match (pax, gnu) {
                (true, _) => Extension::Pax,
                (_, true) => Extension::Gnu,
                _ => Extension::None,
            },
            ignored: Vec::new(),
        };
        if flag == b'S' {
            self.old_sparse(block, &mut member).map_err(|error| error.named(&path))?;
        } else if records.sparse.is_some() {
            if kind != Kind::File {
                return Err(at(TarErrorKind::Sparse("it belongs to something else than a file")));
            }
            self.pax_sparse(&records, &mut member).map_err(|error| error.named(&path))?;
        }
        let end = padded(member.stored_size)
            .and_then(|len| member.data_offset.checked_add(len))
            .filter(|&end| i64::try_from(end).is_ok())
            .ok_or_else(|| at(out_of_range("size", &stored)))?;
        if i64::try_from(member.size).is_err() {
            return Err(at(out_of_range("size", &member.size)));
        }
        if let Some(len) = self.input.known_len()
            && end > len
        {
            let missing = end - len;
            return Err(TarError::new(
                len,
                TarErrorKind::Truncated { what: "a member's data", missing },
            )
            .named(&path));
        }
        member.end = end;
        member.path = path;
        member.ignored = records.ignored;
        Ok(member)
    }

    fn old_sparse(&mut self, block: &Block, member: &mut Member) -> Result<(), TarError> {
        let offset = member.header_offset;
        let at = |kind| TarError::new(offset, kind);
        let mut map = Map::new(self.limits.segments);
        let (rows, mut more) = block.sparse_rows();
        map.push_rows(rows).map_err(at)?;
        while more {
            let block = self.must_read_block("a sparse map")?;
            map.push_rows(&block[..504]).map_err(at)?;
            more = block[504] != 0;
        }
        member.data_offset = self.input.position();
        member.size = block.real_size().map_err(at)?;
        let segments = map.finish(member.size, member.data_offset, member.stored_size);
        member.segments = Some(segments.map_err(at)?);
        Ok(())
    }

    fn pax_sparse(&mut self, records: &Records, member: &mut Member) -> Result<(), TarError> {
        let offset = member.header_offset;
        let at = |kind| TarError::new(offset, kind);
        let damaged = |why| at(TarErrorKind::Sparse(why));
        let sparse = &records.sparse;
        let size = sparse.real_size.ok_or_else(|| damaged("it does not say the file's size"))?;
        let mut map = Map::new(self.limits.segments);
        match (sparse.major.unwrap_or(0), sparse.minor.unwrap_or(0)) {
            (1, 0) => {
                if sparse.map || !sparse.numbers.is_empty() {
                    return Err(damaged("it is given both in records and in the data"));
                }
                self.sparse_map_in_data(&mut map, member)?;
            }
            (0, _) => {
                if !sparse.numbers.len().is_multiple_of(2) {
                    return Err(damaged("an offset without its length"));
                }
                let blocks = sparse.numbers.len() as u64 / 2;
                if sparse.blocks.is_some_and(|stated| stated != blocks) {
                    return Err(damaged("it has another number of runs than it says"));
                }
                for row in sparse.numbers.chunks_exact(2) {
                    map.push(row[0], row[1]).map_err(at)?;
                }
            }
            _ => return Err(damaged("its version is unknown")),
        }
        member.size = size;
        let segments = map.finish(size, member.data_offset, member.stored_size);
        member.segments = Some(segments.map_err(at)?);
        Ok(())
    }

    /// Form 1.0: decimal numbers, each on a line, in front of the data and padded to a block.
    fn sparse_map_in_data(&mut self, map: &mut Map, member: &mut Member) -> Result<(), TarError> {
        let offset = member.header_offset;
        let at = |kind| TarError::new(offset, kind);
        let mut numbers = Vec::with_capacity(2);
        let mut rows: Option<u64> = None;
        let mut digits = Vec::with_capacity(20);
        'blocks: loop {
            let left = member.stored_size.checked_sub(BLOCK_LEN);
            let left =
                left.ok_or_else(|| at(TarErrorKind::Sparse("it is longer than the data")))?;
            let block = self.must_read_block("a sparse map")?;
            member.stored_size = left;
            for byte in block {
                if byte != b'\n' {
                    // More digits than any number has: stop before they fill the memory.
                    if digits.len() >= 20 {
                        return Err(at(TarErrorKind::Sparse("a number is too long")));
                    }
                    digits.push(byte);
                    continue;
                }
                let number = pax::decimal(&digits);
                let number = number.ok_or_else(|| at(TarErrorKind::Sparse("not a number")))?;
                digits.clear();
                if let Some(rows) = &mut rows {
                    numbers.push(number);
                    if let [offset, len] = numbers[..] {
                        map.push(offset, len).map_err(at)?;
                        numbers.clear();
                        *rows -= 1;
                    }
                } else {
                    let limit = self.limits.segments;
                    if usize::try_from(number).map_or(true, |rows| rows > limit) {
                        return Err(at(TarErrorKind::TooManySegments(limit)));
                    }
                    rows = Some(number);
                }
                if rows == Some(0) {
                    break 'blocks;
                }
            }
        }
        member.data_offset = self.input.position();
        Ok(())
    }

    /// Reads the current member's file, holes as zeros; 0 at its end. Before the first member,
    /// and for what has no content, there is nothing to read.
    pub fn read(&mut self, buf: &mut [u8]) -> Result<usize, TarError> {
        let Some(current) = &mut self.current else {
            return Ok(0);
        };
        if buf.is_empty() || self.failed {
            return Ok(0);
        }
        let fit = |len: u64| usize::try_from(len).unwrap_or(usize::MAX).min(buf.len());
        let n = match current.member.extent(current.at) {
            Extent::End => 0,
            Extent::Hole { len } => {
                let n = fit(len);
                buf[..n].fill(0);
                n
            }
            // Runs are stored in file order without gaps, so the cursor is where they begin.
            Extent::Data { len, .. } => {
                let n = fit(len);
                let offset = self.input.position();
                let kind = match self.input.read(&mut buf[..n]) {
                    Ok(0) => TarErrorKind::Truncated { what: "a member's data", missing: len },
                    Ok(n) => {
                        current.at += n as u64;
                        return Ok(n);
                    }
                    Err(error) => TarErrorKind::Io(error),
                };
                self.failed = true;
                return Err(TarError::new(offset, kind).named(&current.member.path));
            }
        };
        current.at += n as u64;
        Ok(n)
    }

    /// [`Self::read`] as a standard reader.
    pub fn data(&mut self) -> Data<'_, I> {
        Data(self)
    }

    fn finish(
        &mut self,
        offset: u64,
        zero_blocks: u8,
        pending: &Pending,
    ) -> Result<Option<Member>, TarError> {
        if let Some(start) = pending.start {
            let name = pending.long_name.as_deref();
            let name = name.or(pending.pax.as_ref().and_then(|pax| pax.path.as_deref()));
            return Err(TarError::new(start, TarErrorKind::DanglingExtension)
                .named(name.unwrap_or_default()));
        }
        let mut end = End { offset, zero_blocks, trailing: None };
        if zero_blocks == 1 {
            let mut buf = vec![0; 64 * 1024];
            let start = self.input.position();
            let mut zeros = 0u64;
            loop {
                let at = self.input.position();
                let n = self
                    .input
                    .read(&mut buf)
                    .map_err(|e| TarError::new(at, TarErrorKind::Io(e)))?;
                if n == 0 {
                    break;
                }
                let first = buf[..n].iter().position(|&byte| byte != 0);
                if let Some(first) = first {
                    let found = at + first as u64;
                    zeros = found - start;
                    end.trailing = Some(found - found % BLOCK_LEN);
                    break;
                }
                zeros = at + n as u64 - start;
            }
            if zeros >= BLOCK_LEN {
                end.zero_blocks = 2;
            }
        }
        self.end = Some(end);
        Ok(None)
    }

    /// A whole block, `None` at the end of the archive.
    fn read_block(&mut self, what: &'static str) -> Result<Option<[u8; BLOCK]>, TarError> {
        let mut block = [0; BLOCK];
        let mut have = 0;
        while have < BLOCK {
            let offset = self.input.position();
            match self.input.read(&mut block[have..]) {
                Ok(0) if have == 0 => return Ok(None),
                Ok(0) => {
                    let missing = (BLOCK - have) as u64;
                    return Err(TarError::new(offset, TarErrorKind::Truncated { what, missing }));
                }
                Ok(n) => have += n,
                Err(error) => return Err(TarError::new(offset, TarErrorKind::Io(error))),
            }
        }
        Ok(Some(block))
    }

    fn must_read_block(&mut self, what: &'static str) -> Result<[u8; BLOCK], TarError> {
        let offset = self.input.position();
        self.read_block(what)?.ok_or_else(|| {
            TarError::new(offset, TarErrorKind::Truncated { what, missing: BLOCK_LEN })
        })
    }

    /// The data of an extension header, its padding skipped. `size` was checked.
    fn read_data(&mut self, size: u64) -> Result<Vec<u8>, TarError> {
        let what = "an extension header";
        let mut data = Vec::new();
        // Grows with what is really there, so a cut archive does not cost what it announces.
        while (data.len() as u64) < size {
            let left = size - data.len() as u64;
            let block = self.must_read_block(what)?;
            let n = usize::try_from(left).unwrap_or(BLOCK).min(BLOCK);
            data.extend_from_slice(&block[..n]);
        }
        Ok(data)
    }

    fn skip(&mut self, len: u64, what: &'static str) -> Result<(), TarError> {
        let offset = self.input.position();
        let skipped = self.input.skip(len);
        let skipped = skipped.map_err(|error| TarError::new(offset, TarErrorKind::Io(error)))?;
        if skipped < len {
            let kind = TarErrorKind::Truncated { what, missing: len - skipped };
            return Err(TarError::new(offset + skipped, kind));
        }
        Ok(())
    }
}

fn or_field<T>(
    record: Option<T>,
    field: impl FnOnce() -> Result<T, TarErrorKind>,
) -> Result<T, TarErrorKind> {
    record.map_or_else(field, Ok)
}

/// The text of an `L` or `K` record: up to the NUL that ends it, which some writers leave out.
fn long_text(what: &'static str, mut data: Vec<u8>) -> Result<Vec<u8>, TarErrorKind> {
    let len = block::until_nul(&data).len();
    if data[len..].iter().any(|&byte| byte != 0) {
        return Err(TarErrorKind::Nul(what));
    }
    data.truncate(len);
    Ok(data)
}

/// The current member's data as a standard reader; see [`Reader::data`].
#[derive(Debug)]
pub struct Data<'a, I>(&'a mut Reader<I>);

impl<I: Input> Read for Data<'_, I> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        Ok(self.0.read(buf)?)
    }
}
