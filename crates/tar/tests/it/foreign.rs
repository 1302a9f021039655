//! Archives of GNU tar and of Python's tarfile: listings and contents equal.

use std::fs;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use holdall_tar::{Extension, Kind, Reader};

use crate::{read_all, text};

fn run(command: &mut Command) -> String {
    let done =
        command.output().unwrap_or_else(|error| panic!("{command:?} must be installed: {error}"));
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("UTF-8")
}

/// A tree with what archives find hard: long names and targets, links, holes, odd characters.
fn tree(root: &Path) {
    let deep = format!("{}/{}", "directory-".repeat(9), "another-".repeat(8));
    fs::create_dir_all(root.join(&deep)).unwrap();
    fs::create_dir_all(root.join("empty")).unwrap();
    let long = format!("{deep}/{}", "n".repeat(120));
    fs::write(root.join(&long), "long").unwrap();
    fs::write(root.join(format!("{}é", "x".repeat(99))), "hundred and one bytes").unwrap();
    fs::write(root.join("script"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(root.join("script"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(root.join("zero"), "").unwrap();
    fs::write(root.join("big"), vec![b'z'; 100_000]).unwrap();
    fs::hard_link(root.join(&long), root.join("hard")).unwrap();
    fs::hard_link(root.join("zero"), root.join("zero2")).unwrap();
    symlink(&long, root.join("soft")).unwrap();
    symlink("script", root.join("short-soft")).unwrap();
    let mut sparse = fs::File::create(root.join("sparse")).unwrap();
    for n in 0..40u64 {
        sparse.seek(SeekFrom::Start(n * 200_000)).unwrap();
        sparse.write_all(&[n as u8 + 1; 4096]).unwrap();
    }
    sparse.set_len(40 * 200_000 + 77).unwrap();
}

/// What is in the archive, one row a member, as the file system under `root` has it.
fn compare(archive: &[u8], root: &Path, expanded_sparse: bool) {
    let all = read_all(archive).expect("readable");
    let mut links = 0;
    for (member, data) in &all {
        let name = text(member.path());
        let meta = fs::symlink_metadata(root.join(name)).unwrap();
        assert_eq!(member.mode(), meta.permissions().mode() & 0o7777, "{name}");
        match member.kind() {
            Kind::File => {
                assert!(data == &fs::read(root.join(name)).unwrap(), "{name}");
                assert_eq!(
                    member.segments().is_some(),
                    expanded_sparse && name.ends_with("sparse"),
                    "{name}"
                );
            }
            Kind::Symlink => assert_eq!(
                text(member.link()),
                fs::read_link(root.join(name)).unwrap().to_str().unwrap()
            ),
            Kind::HardLink => {
                links += 1;
                assert!(
                    fs::read(root.join(text(member.link()))).unwrap()
                        == fs::read(root.join(name)).unwrap()
                );
            }
            Kind::Directory => assert!(meta.is_dir()),
            other => panic!("{name}: {other}"),
        }
    }
    assert_eq!(links, 2);
    assert!(all.len() >= 14);
    let mut reader = Reader::positioned(archive).unwrap();
    while reader.next_member().unwrap().is_some() {}
    assert!(reader.end().unwrap().is_complete());
}

#[test]
fn gnu_tar_in_every_format() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("tree");
    fs::create_dir(&root).unwrap();
    tree(&root);
    let cases: [&[&str]; 7] = [
        &["--format=gnu"],
        &["--format=gnu", "--sparse"],
        &["--format=pax"],
        &["--format=pax", "--sparse", "--sparse-version=0.0"],
        &["--format=pax", "--sparse", "--sparse-version=0.1"],
        &["--format=pax", "--sparse", "--sparse-version=1.0"],
        &["--format=oldgnu", "--sparse"],
    ];
    for options in cases {
        let file = dir.path().join("a.tar");
        run(Command::new("tar").args(options).arg("-cf").arg(&file).arg("-C").arg(&root).arg("."));
        let archive = fs::read(&file).unwrap();
        compare(&archive, &root, options.contains(&"--sparse"));
        let listed = run(Command::new("tar").arg("-tf").arg(&file).arg("--quoting-style=literal"));
        let ours: Vec<_> =
            read_all(&archive).unwrap().iter().map(|(m, _)| text(m.path()).to_owned()).collect();
        assert_eq!(ours, listed.lines().collect::<Vec<_>>(), "{options:?}");
        offsets(&file, &archive, options.contains(&"--sparse"));
    }
}

/// Header offsets as GNU tar's `-R` tells them, in blocks.
fn offsets(file: &Path, archive: &[u8], sparse: bool) {
    if sparse {
        return;
    }
    let listed = run(Command::new("tar").arg("-tRf").arg(file).arg("--quoting-style=literal"));
    let theirs: Vec<u64> = listed
        .lines()
        .filter(|line| !line.contains("** Block of NULs **"))
        .map(|line| {
            line.strip_prefix("block ").unwrap().split(':').next().unwrap().parse().unwrap()
        })
        .collect();
    // It counts from the first GNU record, but from the header behind PAX records.
    let place = |m: &holdall_tar::Member| match m.extension() {
        Extension::Pax => m.header_offset() / 512,
        Extension::Gnu | Extension::None => m.start() / 512,
    };
    let ours: Vec<u64> = read_all(archive).unwrap().iter().map(|(m, _)| place(m)).collect();
    assert_eq!(ours, theirs);
}

const LIST: &str = r"
import sys, tarfile, hashlib
with tarfile.open(sys.argv[1]) as t:
    for m in t:
        data = hashlib.sha256(t.extractfile(m).read()).hexdigest() if m.isreg() else '-'
        print(m.name, m.type.decode(), m.size if m.isreg() else 0, oct(m.mode & 0o7777), m.uid, m.gid, int(m.mtime // 1), m.linkname or '-', data, sep='\t')
";

const MAKE: &str = r"
import sys, tarfile, io
fmt = {'gnu': tarfile.GNU_FORMAT, 'pax': tarfile.PAX_FORMAT, 'ustar': tarfile.USTAR_FORMAT}[sys.argv[2]]
with tarfile.open(sys.argv[1], 'w', format=fmt) as t:
    def add(name, **kw):
        data = kw.pop('data', b'')
        m = tarfile.TarInfo(name)
        m.size = len(data)
        for k, v in kw.items():
            setattr(m, k, v)
        t.addfile(m, io.BytesIO(data))
    add('plain', data=b'abc', mode=0o640, uid=1000, gid=1001, mtime=1700000000)
    add('p' * 90 + '/' + 'n' * 99, data=b'x' * 513, mode=0o755)
    add('dir', type=tarfile.DIRTYPE, mode=0o755)
    add('link', type=tarfile.SYMTYPE, linkname='plain')
    add('hard', type=tarfile.LNKTYPE, linkname='plain')
    if fmt != tarfile.USTAR_FORMAT:
        add('q' * 300, data=b'long')
        add('long-link', type=tarfile.SYMTYPE, linkname='t' * 300)
        add('owned', uid=3000000000, gid=2097152, mtime=1.5 if fmt == tarfile.PAX_FORMAT else 99999999999)
    if fmt == tarfile.PAX_FORMAT:
        add('n\u00e4me-\u540d\u524d', data=b'unicode')
    add('fifo', type=tarfile.FIFOTYPE)
    add('dev', type=tarfile.CHRTYPE, devmajor=1, devminor=3)
";

#[test]
fn python_in_every_format() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.tar");
    for format in ["gnu", "pax", "ustar"] {
        run(Command::new("python3").arg("-c").arg(MAKE).arg(&file).arg(format));
        same_as_python(&file);
        let listed = run(Command::new("tar").arg("-tf").arg(&file).arg("--quoting-style=literal"));
        let archive = fs::read(&file).unwrap();
        let ours: Vec<_> =
            read_all(&archive).unwrap().iter().map(|(m, _)| text(m.path()).to_owned()).collect();
        assert_eq!(ours, listed.lines().collect::<Vec<_>>(), "{format}");
    }
}

fn same_as_python(file: &Path) {
    let theirs =
        run(Command::new("python3").env("PYTHONIOENCODING", "utf-8").arg("-c").arg(LIST).arg(file));
    let archive = fs::read(file).unwrap();
    let all = read_all(&archive).unwrap();
    let theirs: Vec<Vec<&str>> = theirs.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(all.len(), theirs.len());
    for ((member, data), row) in all.iter().zip(&theirs) {
        let name = text(member.path());
        assert_eq!(name.trim_end_matches('/'), row[0]);
        let flag = match member.kind() {
            Kind::File => '0',
            Kind::HardLink => '1',
            Kind::Symlink => '2',
            Kind::CharDevice => '3',
            Kind::BlockDevice => '4',
            Kind::Directory => '5',
            Kind::Fifo => '6',
            Kind::Other(flag) => char::from(flag),
        };
        if member.segments().is_none() {
            assert_eq!(flag.to_string(), row[1], "{name}");
        }
        assert_eq!(member.size().to_string(), row[2], "{name}");
        assert_eq!(format!("0o{:o}", member.mode()), row[3], "{name}");
        assert_eq!(
            [member.uid().to_string(), member.gid().to_string(), member.mtime().to_string()],
            row[4..7],
            "{name}"
        );
        assert_eq!(
            if member.link().is_empty() { "-" } else { text(member.link()) },
            row[7],
            "{name}"
        );
        let _ = data;
    }
}

#[test]
fn python_reads_gnu_tar_as_we_do() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("tree");
    fs::create_dir(&root).unwrap();
    tree(&root);
    let file = dir.path().join("a.tar");
    for options in [
        &["--format=gnu"][..],
        &["--format=pax"],
        &["--format=gnu", "--sparse"],
        &["--format=pax", "--sparse"],
    ] {
        run(Command::new("tar").args(options).arg("-cf").arg(&file).arg("-C").arg(&root).arg("."));
        same_as_python(&file);
    }
}
