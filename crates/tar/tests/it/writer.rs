//! What is written: read back by others, and the same bytes as the `tar` crate's.

use std::fs;
use std::io::Write as _;
use std::process::Command;

use holdall_tar::{Content, NewMember, NewMemberError, Writer};

fn sample() -> Vec<(String, &'static str, u32)> {
    vec![
        ("bin/demo".into(), "#!/bin/sh\necho demo\n", 0o755),
        ("x".repeat(100), "a hundred", 0o644),
        ("x".repeat(101), "one more", 0o644),
        (format!("{}é", "x".repeat(99)), "cut inside a character", 0o644),
        ("d/".repeat(255) + "f", "deep", 0o600),
        ("zero".into(), "", 0o644),
    ]
}

#[test]
fn files_are_the_bytes_of_the_tar_crate() {
    let mut ours = Writer::new(Vec::new());
    let mut theirs = tar::Builder::new(Vec::new());
    for (path, text, mode) in sample() {
        let member =
            NewMember::new(&path, Content::File { size: text.len() as u64 }, mode).unwrap();
        assert_eq!(member.header_len(), member.encode().len() as u64);
        ours.append(&member).unwrap();
        ours.write_all(text.as_bytes()).unwrap();
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Regular);
        header.set_size(text.len() as u64);
        header.set_mode(mode);
        header.set_uid(0);
        header.set_gid(0);
        theirs.append_data(&mut header, &path, text.as_bytes()).unwrap();
    }
    for (path, target) in [("l", "t".repeat(100)), ("m", "u".repeat(90))] {
        ours.append(&NewMember::new(path, Content::Symlink { target: &target }, 0o777).unwrap())
            .unwrap();
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Symlink);
        header.set_size(0);
        header.set_mode(0o777);
        header.set_uid(0);
        header.set_gid(0);
        theirs.append_link(&mut header, path, &target).unwrap();
    }
    let (ours, theirs) = (ours.finish().unwrap(), theirs.into_inner().unwrap());
    let differs = ours.iter().zip(&theirs).position(|(a, b)| a != b);
    assert_eq!((differs, ours.len()), (None, theirs.len()));
}

#[test]
fn gnu_tar_extracts_it() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.tar");
    let mut writer = Writer::new(fs::File::create(&file).unwrap());
    writer.append(&NewMember::new("empty", Content::Directory, 0o755).unwrap()).unwrap();
    for (path, text, mode) in sample() {
        let member =
            NewMember::new(&path, Content::File { size: text.len() as u64 }, mode).unwrap();
        writer.append(&member.modified(1_700_000_000)).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    let deep = "d/".repeat(255) + "f";
    writer
        .append(&NewMember::new("hard", Content::HardLink { target: &deep }, 0o600).unwrap())
        .unwrap();
    writer
        .append(&NewMember::new("soft", Content::Symlink { target: &deep }, 0o777).unwrap())
        .unwrap();
    writer.finish().unwrap();
    let out = dir.path().join("out");
    fs::create_dir(&out).unwrap();
    let done = Command::new("tar").arg("-xf").arg(&file).arg("-C").arg(&out).output().unwrap();
    assert!(
        done.status.success() && done.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    for (path, text, _) in sample() {
        assert_eq!(fs::read_to_string(out.join(path)).unwrap(), text);
    }
    for link in ["hard", "soft"] {
        assert_eq!(fs::read_to_string(out.join(link)).unwrap(), "deep");
    }
    assert!(out.join("empty").is_dir());
}

#[test]
fn wrong_amounts_of_data_are_errors() {
    let member = NewMember::new("f", Content::File { size: 3 }, 0o644).unwrap();
    let mut writer = Writer::new(Vec::new());
    writer.append(&member).unwrap();
    writer.write_all(b"ab").unwrap();
    assert!(writer.finish().is_err());
    let mut writer = Writer::new(Vec::new());
    writer.append(&member).unwrap();
    assert!(writer.write_all(b"abcd").is_err());
    let mut writer = Writer::new(Vec::new());
    writer.append(&member).unwrap();
    assert!(writer.append(&member).is_err());
}

#[test]
fn what_cannot_be_written_is_no_member() {
    assert_eq!(NewMember::new("", Content::Directory, 0), Err(NewMemberError::Empty("path")));
    assert_eq!(NewMember::new("a\0", Content::Directory, 0), Err(NewMemberError::Nul("path")));
    let target = Content::Symlink { target: "" };
    assert_eq!(NewMember::new("a", target, 0), Err(NewMemberError::Empty("link target")));
    let size = Content::File { size: u64::MAX };
    assert_eq!(NewMember::new("a", size, 0), Err(NewMemberError::Size(u64::MAX)));
}
