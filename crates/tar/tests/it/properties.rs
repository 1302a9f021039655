//! For all inputs: what is written is read back, what we read is what the `tar` crate reads, and
//! no bytes make the reader panic.

use std::io::{Read as _, Write as _};

use holdall_tar::{Content, Kind, NewMember, Writer};
use proptest::prelude::*;

use crate::build::{Raw, archive, long, member, pax, record};
use crate::{read_all, text};

#[derive(Debug, Clone)]
enum Made {
    File(Vec<u8>),
    Directory,
    Symlink(String),
    HardLink(String),
}

type Row = (String, Made, u32, u32, u32, i64);

fn name() -> impl Strategy<Value = String> {
    prop_oneof!["[a-zé名/.]{1,40}[a-z]", "[a-z/]{95,105}x", "[a-z/é]{200,300}x",]
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let made = prop_oneof![
        3 => proptest::collection::vec(any::<u8>(), 0..1400).prop_map(Made::File),
        1 => Just(Made::Directory),
        1 => name().prop_map(Made::Symlink),
        1 => name().prop_map(Made::HardLink),
    ];
    let mtime = prop_oneof![Just(0), 0..2_000_000_000i64, any::<i64>()];
    proptest::collection::vec(
        (name(), made, 0..=0o7777u32, any::<u32>(), 0..3_000_000u32, mtime),
        0..6,
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn written_is_read(rows in rows()) {
        let mut writer = Writer::new(Vec::new());
        let mut places = Vec::new();
        for (path, made, mode, uid, gid, mtime) in &rows {
            let content = match made {
                Made::File(data) => Content::File { size: data.len() as u64 },
                Made::Directory => Content::Directory,
                Made::Symlink(target) => Content::Symlink { target },
                Made::HardLink(target) => Content::HardLink { target },
            };
            let new = NewMember::new(path, content, *mode).unwrap().owned_by(*uid, *gid).modified(*mtime);
            places.push((writer.position(), writer.position() + new.header_len()));
            writer.append(&new).unwrap();
            if let Made::File(data) = made {
                writer.write_all(data).unwrap();
            }
        }
        let archive = writer.finish().unwrap();
        let all = read_all(&archive).unwrap();
        prop_assert_eq!(all.len(), rows.len());
        for (((path, made, mode, uid, gid, mtime), (start, data_offset)), (member, data)) in rows.iter().zip(places).zip(&all) {
            prop_assert_eq!(text(member.path()), path);
            let (kind, want, link) = match made {
                Made::File(data) => (Kind::File, &data[..], ""),
                Made::Directory => (Kind::Directory, &[][..], ""),
                Made::Symlink(target) => (Kind::Symlink, &[][..], &target[..]),
                Made::HardLink(target) => (Kind::HardLink, &[][..], &target[..]),
            };
            prop_assert_eq!(member.kind(), kind);
            prop_assert_eq!(&data[..], want);
            prop_assert_eq!(text(member.link()), link);
            prop_assert_eq!((member.mode(), member.uid(), member.gid(), member.mtime()), (*mode, u64::from(*uid), u64::from(*gid), *mtime));
            prop_assert_eq!((member.start(), member.data_offset()), (start, data_offset));
        }
    }

    #[test]
    fn any_bytes_are_refused_or_read(bytes in proptest::collection::vec(any::<u8>(), 0..3000)) {
        let _ = read_all(&bytes);
    }

    /// Archives of plausible parts, some damaged: where both read it, both see the same members.
    #[test]
    fn as_the_tar_crate_reads_it(parts in proptest::collection::vec(part(), 0..6), damage in damage()) {
        let mut bytes = archive(&parts);
        for (at, value) in damage {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let Ok(ours) = read_all(&bytes) else { return Ok(()) };
        let mut theirs = tar::Archive::new(&bytes[..]);
        let mut seen = Vec::new();
        for entry in theirs.entries().unwrap() {
            let Ok(mut entry) = entry else { return Ok(()) };
            let mut data = Vec::new();
            if entry.read_to_end(&mut data).is_err() {
                return Ok(());
            }
            let place = (entry.raw_header_position(), entry.raw_file_position());
            seen.push((entry.path_bytes().into_owned(), data, place));
        }
        let ours: Vec<_> = ours
            .into_iter()
            .map(|(m, data)| (m.path().to_vec(), data, (m.header_offset(), m.data_offset())))
            .collect();
        prop_assert_eq!(ours, seen);
    }
}

fn damage() -> impl Strategy<Value = Vec<(proptest::sample::Index, u8)>> {
    prop_oneof![3 => Just(Vec::new()), 1 => proptest::collection::vec(any::<(proptest::sample::Index, u8)>(), 1..3)]
}

fn part() -> impl Strategy<Value = Vec<u8>> {
    let data = proptest::collection::vec(any::<u8>(), 0..1200);
    let flag = prop_oneof![5 => Just(b'0'), 1 => Just(0), 1 => Just(b'7'), 1 => Just(b'5')];
    let body = ("[a-z]{1,8}", flag, data).prop_map(|(name, flag, data)| {
        let data = if flag == b'5' { Vec::new() } else { data };
        member(Raw::new(name.as_bytes(), flag, data.len() as u64), &data)
    });
    let size = prop_oneof![Just(None), (0..700usize).prop_map(Some)];
    let sized = (body.clone(), size, "[a-zé]{1,200}").prop_map(|(body, size, path)| {
        let mut records = vec![record("path", path)];
        if let Some(size) = size {
            records.push(record("size", size.to_string()));
            let mut out = pax(&records);
            out.extend(member(Raw::new(b"x", b'0', 0), &vec![b'd'; size]));
            return out;
        }
        [pax(&records), body].concat()
    });
    prop_oneof![
        3 => body.clone(),
        2 => sized,
        1 => (body, "[a-z]{1,300}").prop_map(|(body, name)| [long(b'L', name.as_bytes()), body].concat()),
    ]
}
