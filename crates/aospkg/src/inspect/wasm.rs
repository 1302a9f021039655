//! Which host modules a WebAssembly module imports: a bounded walk over its sections that reads
//! the import section and skips every other.

/// Bytes of an import section that are read; real ones have a few kilobytes.
const MAX_SECTION: u64 = 1 << 20;
/// Sections looked at before giving up; the import section is the second known one.
const MAX_SECTIONS: usize = 64;
const IMPORT_SECTION: u8 = 2;

/// The names of the imported modules, sorted, each once. `None` where the bytes are no module of
/// version 1, or its import section is damaged or larger than a mebibyte.
pub(super) fn imported_modules(
    read_at: impl Fn(u64, &mut [u8]) -> Option<usize>,
) -> Option<Vec<String>> {
    let mut head = [0; 8];
    (read_at(0, &mut head)? == 8 && head == *b"\0asm\x01\0\0\0").then_some(())?;
    let mut at = 8;
    for _ in 0..MAX_SECTIONS {
        let mut head = [0; 11];
        let read = read_at(at, &mut head)?;
        if read == 0 {
            return Some(Vec::new());
        }
        let mut cursor = Cursor(&head[..read]);
        let id = cursor.byte()?;
        let len = cursor.uint()?;
        let content = at + (read - cursor.0.len()) as u64;
        if id == IMPORT_SECTION {
            let mut section = vec![0; usize::try_from(len).ok().filter(|_| len <= MAX_SECTION)?];
            (read_at(content, &mut section)? == section.len()).then_some(())?;
            return modules(Cursor(&section));
        }
        // The import section comes before functions, code and everything else with a number.
        if id > IMPORT_SECTION {
            return Some(Vec::new());
        }
        at = content.checked_add(len)?;
    }
    None
}

fn modules(mut section: Cursor<'_>) -> Option<Vec<String>> {
    let mut names = std::collections::BTreeSet::new();
    for _ in 0..section.uint()? {
        names.insert(std::str::from_utf8(section.bytes()?).ok()?);
        section.bytes()?;
        match section.byte()? {
            0 => drop(section.uint()?),
            1 => {
                section.value_type()?;
                section.limits()?;
            }
            2 => section.limits()?,
            3 => {
                section.value_type()?;
                section.byte()?;
            }
            4 => {
                section.byte()?;
                section.uint()?;
            }
            _ => return None,
        }
    }
    Some(names.into_iter().map(str::to_owned).collect())
}

struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn uint(&mut self) -> Option<u64> {
        let mut value = 0;
        for group in 0..10 {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f).checked_shl(7 * group)?;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = usize::try_from(self.uint()?).ok()?;
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn value_type(&mut self) -> Option<()> {
        // A typed reference names its heap type behind it.
        if matches!(self.byte()?, 0x63 | 0x64) {
            self.uint()?;
        }
        Some(())
    }

    fn limits(&mut self) -> Option<()> {
        let flags = self.byte()?;
        self.uint()?;
        for bit in [1, 8] {
            if flags & bit != 0 {
                self.uint()?;
            }
        }
        (flags < 16).then_some(())
    }
}
