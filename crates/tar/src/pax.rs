//! PAX extension headers: records `LENGTH KEY=VALUE\n`, the length in bytes and counting itself.

use crate::block::out_of_range;
use crate::error::TarErrorKind;

/// What the records of one header say. Empty values mean "as if not given".
#[derive(Debug, Default)]
pub(crate) struct Records {
    pub(crate) path: Option<Vec<u8>>,
    pub(crate) link: Option<Vec<u8>>,
    pub(crate) size: Option<u64>,
    pub(crate) uid: Option<u64>,
    pub(crate) gid: Option<u64>,
    pub(crate) mtime: Option<i64>,
    pub(crate) sparse: Sparse,
    /// Keys without a meaning here.
    pub(crate) ignored: Vec<String>,
}

/// The records of a sparse file in any of the three PAX forms.
#[derive(Debug, Default)]
pub(crate) struct Sparse {
    pub(crate) major: Option<u64>,
    pub(crate) minor: Option<u64>,
    /// `GNU.sparse.size` or `GNU.sparse.realsize`.
    pub(crate) real_size: Option<u64>,
    pub(crate) name: Option<Vec<u8>>,
    pub(crate) blocks: Option<u64>,
    /// Form 0.0: offsets and lengths in turn; form 0.1: the numbers of `GNU.sparse.map`.
    pub(crate) numbers: Vec<u64>,
    /// Form 0.1 has them all in one record.
    pub(crate) map: bool,
}

impl Sparse {
    pub(crate) fn is_some(&self) -> bool {
        self.major.is_some()
            || self.minor.is_some()
            || self.real_size.is_some()
            || self.name.is_some()
            || self.blocks.is_some()
            || self.map
            || !self.numbers.is_empty()
    }
}

/// What global records give to the members behind them.
#[derive(Debug, Default)]
pub(crate) struct Globals {
    pub(crate) uid: Option<u64>,
    pub(crate) gid: Option<u64>,
    pub(crate) mtime: Option<i64>,
}

/// Iterates over the records of a header's data.
fn records(mut data: &[u8]) -> impl Iterator<Item = Result<(&[u8], &[u8]), TarErrorKind>> {
    std::iter::from_fn(move || {
        if data.is_empty() {
            return None;
        }
        let record = record(data);
        data = record.as_ref().map_or(&[][..], |(_, _, rest)| rest);
        Some(record.map(|(key, value, _)| (key, value)))
    })
}

type Record<'a> = (&'a [u8], &'a [u8], &'a [u8]);

fn record(data: &[u8]) -> Result<Record<'_>, TarErrorKind> {
    let wrong = TarErrorKind::PaxRecord;
    let digits = data.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let len = decimal(&data[..digits]).ok_or(wrong("a record does not begin with its length"))?;
    let len = usize::try_from(len).ok().filter(|&len| len <= data.len());
    let len = len.ok_or(wrong("a record is longer than its header"))?;
    let (record, rest) = data.split_at(len);
    let text = record.get(digits..).and_then(|text| text.strip_prefix(b" "));
    let text = text.ok_or(wrong("no blank behind a record's length"))?;
    let text = text
        .strip_suffix(b"\n")
        .ok_or(wrong("a record does not end with a line feed where its length (in bytes) says"))?;
    let equals = text.iter().position(|&byte| byte == b'=');
    let equals = equals.ok_or(wrong("a record without `=`"))?;
    if equals == 0 {
        return Err(wrong("a record without key"));
    }
    Ok((&text[..equals], &text[equals + 1..], rest))
}

/// Keys that say nothing about what is read or kept: access and change times, user names,
/// comments, the character set of names, what the writer was.
fn harmless(key: &[u8]) -> bool {
    matches!(
        key,
        b"atime"
            | b"ctime"
            | b"uname"
            | b"gname"
            | b"comment"
            | b"charset"
            | b"hdrcharset"
            | b"LIBARCHIVE.creationtime"
            | b"SCHILY.dev"
            | b"SCHILY.ino"
            | b"SCHILY.nlink"
    )
}

/// The records of an `x` header. `segments` limits the numbers of a sparse map.
pub(crate) fn parse_local(data: &[u8], segments: usize) -> Result<Records, TarErrorKind> {
    let mut out = Records::default();
    for record in records(data) {
        let (key, value) = record?;
        match key {
            b"path" => once(&mut out.path, key, text(value))?,
            b"linkpath" => once(&mut out.link, key, text(value))?,
            b"size" => once(&mut out.size, key, unsigned("size record", value)?)?,
            b"uid" => once(&mut out.uid, key, unsigned("uid record", value)?)?,
            b"gid" => once(&mut out.gid, key, unsigned("gid record", value)?)?,
            b"mtime" => once(&mut out.mtime, key, time("mtime record", value)?)?,
            _ if key.starts_with(b"GNU.sparse.") => sparse(&mut out.sparse, key, value, segments)?,
            _ if harmless(key) || value.is_empty() => {}
            _ => out.ignored.push(String::from_utf8_lossy(key).into_owned()),
        }
    }
    Ok(out)
}

/// The records of a `g` header, on top of those before it.
pub(crate) fn parse_global(data: &[u8], globals: &mut Globals) -> Result<(), TarErrorKind> {
    for record in records(data) {
        let (key, value) = record?;
        match key {
            b"uid" => globals.uid = unsigned("uid record", value)?,
            b"gid" => globals.gid = unsigned("gid record", value)?,
            b"mtime" => globals.mtime = time("mtime record", value)?,
            // One reader applies them to every member, the next ignores them.
            b"path" | b"linkpath" | b"size" => {
                return Err(TarErrorKind::PaxGlobal(String::from_utf8_lossy(key).into_owned()));
            }
            _ if key.starts_with(b"GNU.sparse.") => {
                return Err(TarErrorKind::PaxGlobal(String::from_utf8_lossy(key).into_owned()));
            }
            _ => {}
        }
    }
    Ok(())
}

fn sparse(out: &mut Sparse, key: &[u8], value: &[u8], segments: usize) -> Result<(), TarErrorKind> {
    let number = || unsigned("sparse record", value);
    match &key[b"GNU.sparse.".len()..] {
        b"major" => once(&mut out.major, key, number()?),
        b"minor" => once(&mut out.minor, key, number()?),
        b"size" | b"realsize" => once(&mut out.real_size, key, number()?),
        b"name" => once(&mut out.name, key, text(value)),
        b"numblocks" => once(&mut out.blocks, key, number()?),
        b"map" if out.map => Err(TarErrorKind::PaxRepeated("GNU.sparse.map".into())),
        b"map" => {
            out.map = true;
            for part in value.split(|&byte| byte == b',').filter(|_| !value.is_empty()) {
                push(&mut out.numbers, unsigned("sparse record", part)?, segments)?;
            }
            Ok(())
        }
        b"offset" if out.map || !out.numbers.len().is_multiple_of(2) => {
            Err(TarErrorKind::Sparse("an offset without its length"))
        }
        b"numbytes" if out.map || out.numbers.len().is_multiple_of(2) => {
            Err(TarErrorKind::Sparse("a length without its offset"))
        }
        b"offset" | b"numbytes" => push(&mut out.numbers, number()?, segments),
        _ => Err(TarErrorKind::Sparse("an unknown record")),
    }
}

fn push(numbers: &mut Vec<u64>, number: Option<u64>, segments: usize) -> Result<(), TarErrorKind> {
    let number = number.ok_or(TarErrorKind::Sparse("an empty number"))?;
    if numbers.len() / 2 >= segments {
        return Err(TarErrorKind::TooManySegments(segments));
    }
    numbers.push(number);
    Ok(())
}

fn once<T>(slot: &mut Option<T>, key: &[u8], value: Option<T>) -> Result<(), TarErrorKind> {
    if slot.is_some() {
        return Err(TarErrorKind::PaxRepeated(String::from_utf8_lossy(key).into_owned()));
    }
    *slot = value;
    Ok(())
}

fn text(value: &[u8]) -> Option<Vec<u8>> {
    (!value.is_empty()).then(|| value.to_vec())
}

fn unsigned(field: &'static str, value: &[u8]) -> Result<Option<u64>, TarErrorKind> {
    if value.is_empty() {
        return Ok(None);
    }
    match decimal(value) {
        Some(number) => Ok(Some(number)),
        None if value.iter().all(u8::is_ascii_digit) => {
            Err(out_of_range(field, &String::from_utf8_lossy(value)))
        }
        None => Err(TarErrorKind::Number { field, bytes: shortened(value) }),
    }
}

/// Seconds with an optional sign and fraction, rounded down.
fn time(field: &'static str, value: &[u8]) -> Result<Option<i64>, TarErrorKind> {
    if value.is_empty() {
        return Ok(None);
    }
    let wrong = || TarErrorKind::Number { field, bytes: shortened(value) };
    let (negative, rest) = match value {
        [b'-', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let point = rest.iter().position(|&byte| byte == b'.');
    let (seconds, fraction) = match point {
        Some(at) => (&rest[..at], &rest[at + 1..]),
        None => (rest, &[][..]),
    };
    if !fraction.iter().all(u8::is_ascii_digit) || !seconds.iter().all(u8::is_ascii_digit) {
        return Err(wrong());
    }
    if seconds.is_empty() {
        return Err(wrong());
    }
    let too_large = || out_of_range(field, &String::from_utf8_lossy(value));
    let seconds =
        i64::try_from(decimal(seconds).ok_or_else(too_large)?).map_err(|_| too_large())?;
    let below = i64::from(fraction.iter().any(|&digit| digit != b'0'));
    Ok(Some(if negative { -seconds - below } else { seconds }))
}

fn shortened(value: &[u8]) -> Vec<u8> {
    value[..value.len().min(40)].to_vec()
}

/// Decimal digits, at least one; `None` also beyond `u64`.
pub(crate) fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |value, digit| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        value.checked_mul(10)?.checked_add(digit)
    })
}
