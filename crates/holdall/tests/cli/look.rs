//! `ls`, `cat`, `stat` and `digest` on directories.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::json;
use sha2::{Digest, Sha256};

use crate::support::Place;

fn place() -> Place {
    let place = Place::new();
    let tool = place.write("demo/bin/tool", "#!/bin/sh\necho hi\n");
    std::fs::set_permissions(tool, Permissions::from_mode(0o755)).unwrap();
    place.write("demo/a-b.txt", "text\n");
    place.write("demo/odd\u{1b}[2J\n.bin", [0, 0x1b, 0xff]);
    symlink("bin/tool", place.path().join("demo/link")).unwrap();
    symlink("bin", place.path().join("demo/dir")).unwrap();
    symlink("/etc/passwd", place.path().join("demo/out")).unwrap();
    place
}

#[test]
fn a_directory_is_listed() {
    let place = place();
    assert_eq!(
        place.run(["ls", "./demo"]).ok().text(),
        "a-b.txt\nbin/\ndir\nlink\nodd\\u{1b}[2J\\n.bin\nout\n"
    );
    assert_eq!(place.run(["ls", "./demo", "bin"]).ok().text(), "tool\n");
    assert_eq!(place.run(["ls", "./demo", "/dir/"]).ok().text(), "tool\n");
    assert_eq!(place.run(["ls", "./demo", "a-b.txt"]).ok().text(), "a-b.txt\n");
    let long = place.run(["ls", "-l", "./demo"]).ok();
    let line =
        |name: &str| long.text().lines().find(|line| line.contains(name)).unwrap().to_owned();
    assert!(line("a-b.txt").starts_with("-rw-r--r--          5 20"), "{}", line("a-b.txt"));
    assert!(line(" out").ends_with(" out -> /etc/passwd"), "{}", line(" out"));
}

#[test]
fn a_recursive_listing_has_every_entry_once() {
    let place = place();
    let run = place.run(["ls", "-r", "./demo"]).ok();
    assert_eq!(run.text(), "a-b.txt\nbin/\nbin/tool\ndir\nlink\nodd\\u{1b}[2J\\n.bin\nout\n");
    let value = place.run(["ls", "-r", "./demo", "bin", "--json"]).ok().json();
    assert_eq!(value["kind"], "ls");
    assert_eq!(
        value["entries"],
        json!([{ "path": "bin/tool", "kind": "file", "size": 18, "mode": "0755" }])
    );
    let value = place.run(["ls", "./demo", "--json"]).ok().json();
    assert_eq!(value["entries"][4]["path"], "odd\u{1b}[2J\n.bin");
    assert_eq!(value["entries"][5]["link"], "/etc/passwd");
}

#[test]
fn a_file_comes_out_byte_for_byte() {
    let place = place();
    assert_eq!(place.run(["cat", "./demo", "link"]).ok().stdout, b"#!/bin/sh\necho hi\n");
    let odd = "odd\u{1b}[2J\n.bin";
    assert_eq!(place.run(["cat", "./demo", odd]).ok().stdout, [0, 0x1b, 0xff]);
    let value = place.run(["cat", "./demo", odd, "--json"]).ok().json();
    assert_eq!(value["cat"], json!({ "path": odd, "size": 3, "base64": "ABv/" }));
    let value = place.run(["cat", "./demo", "a-b.txt", "--json"]).ok().json();
    assert_eq!(value["cat"]["text"], "text\n");
    let long: Vec<u8> = (0..1_000_003_u32).map(|n| (n % 251) as u8).collect();
    place.write("demo/long", &long);
    assert!(place.run(["cat", "./demo", "long"]).ok().stdout == long);
}

#[test]
fn what_cannot_be_read_is_named_with_its_errno() {
    let place = place();
    for (path, errno) in
        [("bin", "EISDIR"), ("none", "ENOENT"), ("a-b.txt/x", "ENOTDIR"), ("out", "EXDEV")]
    {
        let run = place.run(["cat", "./demo", path]);
        assert_eq!((run.code, run.text()), (1, ""), "{path}");
        assert!(
            run.stderr.contains(path.trim_end_matches("/x")) && run.stderr.contains(errno),
            "{}",
            run.stderr
        );
        assert_eq!(run.stderr.matches("HD0120 error ").count(), 1, "{}", run.stderr);
        let run = place.run(["cat", "./demo", path, "--json"]);
        assert_eq!(run.json()["diagnostics"].as_array().unwrap().len(), 1);
    }
    let run = place.run(["cat", "./demo", "../x"]);
    assert_eq!((run.code, run.text()), (2, ""));
}

#[test]
fn stat_shows_a_link_and_does_not_follow_it() {
    let place = place();
    let run = place.run(["stat", "./demo", "out"]).ok();
    assert!(run.text().starts_with("path  out\nkind  symlink\nsize  11\nmode  0777 lrwxrwxrwx\n"));
    assert!(run.text().ends_with("link  /etc/passwd\n"));
    let value = place.run(["stat", "./demo", "bin/tool", "--json"]).ok().json();
    assert_eq!(value["stat"]["mode"], "0755");
    assert_eq!(place.run(["stat", "./demo", "--json"]).ok().json()["stat"]["kind"], "directory");
}

/// The recipe of `holdall-tree/v1`, by hand, for one executable, one link and one empty directory.
#[test]
fn the_digest_of_a_directory_is_its_tree_hash() {
    let place = Place::new();
    let tool = place.write("demo/bin/tool", "hi\n");
    std::fs::set_permissions(tool, Permissions::from_mode(0o700)).unwrap();
    std::fs::create_dir(place.path().join("demo/empty")).unwrap();
    symlink("bin/tool", place.path().join("demo/link")).unwrap();
    place.write("demo/.git/HEAD", "ref: refs/heads/main\n");

    let mut rows = b"holdall-tree/v1\0".to_vec();
    for (kind, path, content) in
        [(b'x', "bin/tool", &b"hi\n"[..]), (b'd', "empty", b""), (b'l', "link", b"bin/tool")]
    {
        rows.push(kind);
        rows.extend((path.len() as u32).to_le_bytes());
        rows.extend(path.as_bytes());
        rows.extend((content.len() as u64).to_le_bytes());
        rows.extend(Sha256::digest(content));
    }
    let hash = Sha256::digest(&rows);
    let hex = hash.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
    let run = place.run(["digest", "./demo"]).ok();
    assert_eq!(run.text(), format!("{hex}  holdall-tree/v1  ./demo\n"));
    let value = place.run(["digest", "./demo", "--json"]).ok().json();
    assert_eq!(
        (&value["digests"][0]["alg"], &value["digests"][0]["hex"]),
        (&json!("holdall-tree/v1"), &json!(hex))
    );
}
