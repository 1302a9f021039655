//! Reading and writing archives, against GNU tar, Python's tarfile and the `tar` crate.

mod adversarial;
mod build;
mod foreign;
mod listings;
mod properties;
mod sparse;
mod writer;

use holdall_tar::{Member, Reader, TarError};

/// All members of an archive with their data, read both ways; both must agree.
fn read_all(archive: &[u8]) -> Result<Vec<(Member, Vec<u8>)>, TarError> {
    let mut positioned = Reader::positioned(archive)?;
    let mut out = Vec::new();
    let failure = loop {
        match positioned.next_member() {
            Ok(None) => break None,
            Err(error) => break Some(error),
            Ok(Some(member)) => {
                let mut data = Vec::new();
                let mut buf = [0; 1000];
                loop {
                    let n = member.read_at(archive, &mut buf, data.len() as u64)?;
                    if n == 0 {
                        break;
                    }
                    data.extend_from_slice(&buf[..n]);
                }
                out.push((member, data));
            }
        }
    };
    let mut streaming = Reader::streaming(archive);
    let mut streamed = Vec::new();
    let stream_failure = loop {
        match streaming.next_member() {
            Ok(None) => break None,
            Err(error) => break Some(error),
            Ok(Some(member)) => {
                let mut data = Vec::new();
                let mut buf = [0; 700];
                let failed = loop {
                    match streaming.read(&mut buf) {
                        Ok(0) => break None,
                        Ok(n) => data.extend_from_slice(&buf[..n]),
                        Err(error) => break Some(error),
                    }
                };
                if failed.is_some() {
                    break failed;
                }
                streamed.push((member, data));
            }
        }
    };
    assert_eq!(failure.is_some(), stream_failure.is_some(), "{failure:?} {stream_failure:?}");
    if failure.is_none() {
        assert!(out == streamed, "both ways of reading agree");
        assert_eq!(positioned.end(), streaming.end());
    }
    failure.map_or(Ok(out), Err)
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("test names are UTF-8")
}
