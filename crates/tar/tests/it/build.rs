//! Archives made by hand, independent of the writer under test.

/// A header block of any kind, `ustar\0` magic.
pub(crate) struct Raw {
    pub(crate) block: [u8; 512],
}

impl Raw {
    pub(crate) fn new(name: &[u8], flag: u8, size: u64) -> Self {
        let mut raw = Self { block: [0; 512] };
        raw.put(0, name);
        raw.put(100, b"0000644\0");
        raw.put(108, b"0000000\0");
        raw.put(116, b"0000000\0");
        raw.put(124, format!("{size:011o}\0").as_bytes());
        raw.put(136, b"00000000000\0");
        raw.block[156] = flag;
        raw.put(257, b"ustar\x0000");
        raw
    }

    pub(crate) fn gnu(mut self) -> Self {
        self.put(257, b"ustar  \0");
        self
    }

    pub(crate) fn with(mut self, at: usize, bytes: &[u8]) -> Self {
        self.put(at, bytes);
        self
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        self.block[at..at + bytes.len()].copy_from_slice(bytes);
    }

    pub(crate) fn sealed(mut self) -> [u8; 512] {
        self.put(148, b"        ");
        let sum: u32 = self.block.iter().map(|&byte| u32::from(byte)).sum();
        self.put(148, format!("{sum:06o}\0 ").as_bytes());
        self.block
    }
}

/// Header and padded data.
pub(crate) fn member(raw: Raw, data: &[u8]) -> Vec<u8> {
    let mut out = raw.sealed().to_vec();
    out.extend_from_slice(data);
    out.resize(out.len().next_multiple_of(512), 0);
    out
}

pub(crate) fn file(name: &str, data: &[u8]) -> Vec<u8> {
    member(Raw::new(name.as_bytes(), b'0', data.len() as u64), data)
}

/// `LENGTH KEY=VALUE\n`
pub(crate) fn record(key: &str, value: impl AsRef<[u8]>) -> Vec<u8> {
    let rest = key.len() + value.as_ref().len() + 3;
    let mut len = rest;
    while len.to_string().len() + rest != len {
        len = len.to_string().len() + rest;
    }
    [format!("{len} {key}=").as_bytes(), value.as_ref(), b"\n"].concat()
}

pub(crate) fn pax(records: &[Vec<u8>]) -> Vec<u8> {
    let data = records.concat();
    member(Raw::new(b"PaxHeaders/x", b'x', data.len() as u64), &data)
}

pub(crate) fn long(flag: u8, text: &[u8]) -> Vec<u8> {
    let data = [text, b"\0"].concat();
    member(Raw::new(b"././@LongLink", flag, data.len() as u64).gnu(), &data)
}

pub(crate) fn archive(members: &[Vec<u8>]) -> Vec<u8> {
    let mut out = members.concat();
    out.resize(out.len() + 1024, 0);
    out
}
