//! Packages through the binary: pack, look, verify, extract, convert, and what is refused.

use std::fs::{File, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};

use serde_json::json;
use sha2::{Digest, Sha256};

use crate::support::{Place, Run, repository};

/// A directory that becomes a package: two commands, one by a link, a man page.
fn demo(place: &Place) {
    place.write("demo/agentos-package.json", r#"{"name":"demo","version":"1.2.3"}"#);
    let tool = place.write("demo/bin/tool", "#!/bin/sh\necho hi\n");
    std::fs::set_permissions(tool, Permissions::from_mode(0o755)).unwrap();
    symlink("tool", place.path().join("demo/bin/other")).unwrap();
    place.write("demo/share/man/man1/tool.1", ".TH TOOL 1\n");
    place.write("demo/data.txt", "text\n");
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn the_first_command_of_the_readme_shows_what_is_in_the_result() {
    let place = Place::new();
    let example = repository().join("examples/hello-package");
    let run = place.run(["pack".as_ref(), example.as_os_str()]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(
        run.stderr,
        "format version 1, which agentOS 0.2 reads; agentOS 0.4 needs --format-version 2\n"
    );
    let text = run.text();
    for part in [
        "hello-package 0.1.0   package, format version 1, 3 files",
        "hello        script for /bin/sh",
        "hello-count  script for /bin/sh",
        "sets HELLO_GREETING=Hello for every program",
        "man1/hello.1",
        "no, the format has none",
        "wrote hello-package-0.1.0.aospkg",
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    let bytes = std::fs::read(place.path().join("hello-package-0.1.0.aospkg")).unwrap();
    // The magic and the format version of the reference, section 1.1.
    assert_eq!(&bytes[..6], b"\x89AOS\x01\x00");
}

#[test]
fn inspect_says_what_it_is_runs_and_reaches() {
    let place = Place::new();
    demo(&place);
    place.write(
        "demo/agentos-package.json",
        r#"{"name":"@o/app","version":"1.2.3","agent":{"acpEntrypoint":"tool","launchArgs":["-q"],"env":{"B":"2","A":"1"}},
            "provides":{"env":{"NODE_OPTIONS":"-r x"},"files":[{"source":"share","target":"/etc/x"}]}}"#,
    );
    let run = place.run(["pack", "demo"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    // A scope becomes part of the file's name.
    let value = place.run(["inspect", "./o-app-1.2.3.aospkg", "--json"]).ok().json();
    assert_eq!(value["kind"], "package");
    let package = &value["package"];
    assert_eq!((&package["name"], &package["version"]), (&json!("@o/app"), &json!("1.2.3")));
    assert_eq!(package["formatVersion"], 1);
    assert_eq!(
        package["agent"],
        json!({ "acpEntrypoint": "tool", "snapshot": false, "env": { "A": "1", "B": "2" }, "launchArgs": ["-q"] })
    );
    assert_eq!(package["manPages"], json!([{ "section": "man1", "page": "tool.1" }]));
    assert_eq!(package["holds"]["files"], 3);
    assert_eq!(package["holds"]["links"], 1);
    let run = |command: &str| {
        json!({ "command": command, "entry": format!("bin/{command}"), "kind": "script",
                "interpreter": "/bin/sh", "size": 18, "executable": true, "shadows": false })
    };
    assert_eq!(value["runs"], json!([run("other"), run("tool")]));
    assert_eq!(value["reaches"]["env"][0]["key"], "NODE_OPTIONS");
    assert!(value["reaches"]["env"][0]["flagged"].is_string());
    assert_eq!(value["reaches"]["mounts"][0]["target"], "/etc/x");
    assert!(value["reaches"]["mounts"][0]["flagged"].is_string());
    assert_eq!(value["signed"], false);
    let sizes = &value["sizes"];
    let size = |key: &str| sizes[key].as_u64().unwrap();
    let file = std::fs::metadata(place.path().join("o-app-1.2.3.aospkg")).unwrap().len();
    assert_eq!(size("file"), file);
    assert_eq!(size("header") + size("manifest") + size("index") + size("mount"), file);
}

#[test]
fn verify_answers_in_four_words() {
    let place = Place::new();
    demo(&place);
    assert_eq!(place.run(["pack", "demo", "-o", "d.aospkg"]).code, 0);
    let path = place.path().join("d.aospkg");
    let bytes = std::fs::read(&path).unwrap();
    let sha256 = hex(&bytes);
    let digest = place.run(["digest", "d.aospkg"]).ok();
    assert_eq!(digest.text().lines().next().unwrap(), format!("{sha256}  sha256  d.aospkg"));
    let tree = digest.text().lines().nth(1).unwrap().split(' ').next().unwrap().to_owned();
    let word = |extra: &[&str]| {
        let run = place.run([&["verify", "d.aospkg", "--json"], extra].concat());
        (run.code, run.json()["verify"]["word"].as_str().unwrap_or_default().to_owned())
    };
    let zeros = "0".repeat(64);
    assert_eq!(word(&[]), (0, "consistent".to_owned()));
    assert_eq!(word(&["--digest", &format!("sha256:{sha256}")]), (0, "matches".to_owned()));
    assert_eq!(
        word(&["--digest", &format!("sha256:{}", sha256.to_uppercase())]),
        (0, "matches".to_owned())
    );
    assert_eq!(word(&["--digest", &format!("holdall-tree/v1:{tree}")]), (0, "matches".to_owned()));
    assert_eq!(word(&["--digest", &format!("sha256:{zeros}")]), (1, "differs".to_owned()));
    for unknown in [format!("md5:{zeros}"), sha256.clone(), format!("agentapp/v1:{zeros}")] {
        assert_eq!(word(&["--digest", &unknown]), (3, "not checkable".to_owned()), "{unknown}");
    }
    assert_eq!(place.run(["verify", "d.aospkg", "--digest", "sha256:12"]).code, 2);
    // The tree hash of a package is that of the directory that it was made of, without the
    // document that is left out.
    std::fs::remove_file(place.path().join("demo/agentos-package.json")).unwrap();
    let directory = place.run(["digest", "./demo"]).ok();
    assert!(directory.text().starts_with(&tree), "{} {tree}", directory.text());
    // A tar header that says another size than the index.
    let at = bytes.windows(8).position(|window| window == b"data.txt").unwrap();
    let mount = bytes.windows(512).position(|block| block.starts_with(b"bin/other\0")).unwrap();
    assert!(at < mount, "the index comes first");
    let header = mount
        + bytes[mount..].chunks(512).position(|block| block.starts_with(b"data.txt")).unwrap()
            * 512;
    let mut changed = bytes.clone();
    changed[header] = b'D';
    std::fs::write(place.path().join("changed.aospkg"), changed).unwrap();
    let run = place.run(["verify", "changed.aospkg"]);
    assert_eq!(run.code, 1);
    assert!(run.text().starts_with("differs  changed.aospkg"), "{}", run.text());
    assert!(run.stderr.contains("AO01"), "{}", run.stderr);
}

#[test]
fn extract_gives_the_files_back() {
    let place = Place::new();
    demo(&place);
    assert_eq!(place.run(["pack", "demo"]).code, 0);
    place.run(["extract", "demo-1.2.3.aospkg"]).ok();
    let out = place.path().join("demo-1.2.3");
    assert_eq!(std::fs::read(out.join("data.txt")).unwrap(), b"text\n");
    assert_eq!(std::fs::read_link(out.join("bin/other")).unwrap().to_str(), Some("tool"));
    let mode = std::fs::metadata(out.join("bin/tool")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o755);
    assert!(!out.join("agentos-package.json").exists());
    // Twice: nothing is overwritten.
    let before = place.listing();
    let again = place.run(["extract", "demo-1.2.3.aospkg"]);
    assert_eq!(again.code, 1);
    assert!(again.stderr.contains("EEXIST") && again.stderr.contains("`-o`"), "{}", again.stderr);
    assert_eq!(place.listing(), before);
    place.run(["extract", "demo-1.2.3.aospkg", "bin", "data.txt", "-o", "some"]).ok();
    assert!(place.path().join("some/bin/tool").exists());
    assert!(!place.path().join("some/share").exists());
    let missing = place.run(["extract", "demo-1.2.3.aospkg", "nothing", "-o", "none"]);
    assert_eq!(missing.code, 1);
    assert!(missing.stderr.contains("ENOENT"), "{}", missing.stderr);
    // What was extracted packs to the same bytes as the directory with its document.
    place.write("demo-1.2.3/agentos-package.json", r#"{"name":"demo","version":"1.2.3"}"#);
    assert_eq!(place.run(["pack", "demo-1.2.3", "-o", "again.aospkg"]).code, 0);
    let read = |name: &str| std::fs::read(place.path().join(name)).unwrap();
    assert!(read("again.aospkg") == read("demo-1.2.3.aospkg"));
}

#[test]
fn a_tar_on_standard_input_gives_the_same_bytes_as_the_directory() {
    let place = Place::new();
    demo(&place);
    assert_eq!(place.run(["pack", "demo", "-o", "a.aospkg"]).code, 0);
    let tar = Command::new("tar")
        .args(["-cf", "../demo.tar", "--sort=none", "."])
        .current_dir(place.path().join("demo"))
        .status();
    assert!(tar.unwrap().success());
    let run = Run::of(
        place
            .command(["pack", "-", "-o", "b.aospkg"])
            .stdin(File::open(place.path().join("demo.tar")).unwrap()),
    );
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(place.run(["pack", "demo.tar", "-o", "c.aospkg"]).code, 0);
    let read = |name: &str| std::fs::read(place.path().join(name)).unwrap();
    assert!(read("a.aospkg") == read("b.aospkg"));
    assert!(read("a.aospkg") == read("c.aospkg"));
    // A pipe that ends early is an error, and nothing appears.
    let bytes = read("demo.tar");
    place.write("cut.tar", &bytes[..bytes.len() / 2 / 512 * 512 - 100]);
    let cut = place.run(["pack", "cut.tar", "-o", "d.aospkg"]);
    assert_eq!(cut.code, 1);
    assert!(cut.stderr.contains("AO02"), "{}", cut.stderr);
    assert!(!place.path().join("d.aospkg").exists());
    let nothing = Run::of(place.command(["pack", "-", "-o", "d.aospkg"]).stdin(Stdio::null()));
    assert_eq!(nothing.code, 1, "{}", nothing.stderr);
}

#[test]
fn the_output_is_no_part_of_the_input() {
    let place = Place::new();
    demo(&place);
    let pack = || {
        let mut command = place.command(["pack", "."]);
        command.current_dir(place.path().join("demo"));
        Run::of(&mut command)
    };
    let path = place.path().join("demo/demo-1.2.3.aospkg");
    assert_eq!(pack().code, 0);
    let first = std::fs::read(&path).unwrap();
    let again = pack();
    assert!(
        again.stderr.contains("left out demo-1.2.3.aospkg: it is the output"),
        "{}",
        again.stderr
    );
    assert!(std::fs::read(&path).unwrap() == first);
}

#[test]
fn list_shows_what_would_go_in_and_writes_nothing() {
    let place = Place::new();
    demo(&place);
    let before = place.listing();
    let value = place.run(["pack", "demo", "--list", "--json"]).ok().json();
    let paths: Vec<_> =
        value["pack"]["entries"].as_array().unwrap().iter().map(|e| e["path"].clone()).collect();
    assert_eq!(
        json!(paths),
        json!([
            "/",
            "/bin",
            "/bin/other",
            "/bin/tool",
            "/data.txt",
            "/share",
            "/share/man",
            "/share/man/man1",
            "/share/man/man1/tool.1"
        ])
    );
    assert_eq!(value["pack"]["entries"][2]["link"], "tool");
    assert_eq!(value["pack"]["entries"][3]["mode"], "0755");
    let text = place.run(["pack", "demo", "--list"]);
    assert!(text.text().contains("l0777            0 /bin/other -> tool\n"), "{}", text.text());
    assert_eq!(place.listing(), before);
}

#[test]
fn an_npm_package_directory_packs_without_a_document_of_its_own() {
    let place = Place::new();
    place.write(
        "npm/package.json",
        r#"{"name":"@scope/jq","version":"1.8.1","bin":{"jq":"./cli.js"}}"#,
    );
    let cli = place.write("npm/cli.js", "#!/usr/bin/env node\n");
    let without_x = place.run(["pack", "npm"]);
    assert_eq!(without_x.code, 1);
    assert!(without_x.stderr.contains("AO0217"), "{}", without_x.stderr);
    assert!(without_x.stderr.contains("npm/cli.js"), "{}", without_x.stderr);
    std::fs::set_permissions(cli, Permissions::from_mode(0o755)).unwrap();
    assert_eq!(place.run(["pack", "npm", "--agent", "jq"]).code, 0);
    let value = place.run(["inspect", "jq-1.8.1.aospkg", "--json"]).ok().json();
    assert_eq!(value["package"]["name"], "jq");
    assert_eq!(value["runs"][0]["command"], "jq");
    assert_eq!(value["runs"][0]["interpreter"], "/usr/bin/env node");
    assert_eq!(value["package"]["agent"]["acpEntrypoint"], "jq");
    // Neither document: name and version have to be said.
    place.write("bare/file", "x");
    let bare = place.run(["pack", "bare"]);
    assert_eq!(bare.code, 1);
    assert!(bare.stderr.contains("AO0216") && bare.stderr.contains("--name"), "{}", bare.stderr);
    assert_eq!(place.run(["pack", "bare", "--name", "b", "--version", "1"]).code, 0);
    assert!(place.path().join("b-1.aospkg").exists());
}

#[test]
fn conversion_says_what_is_lost() {
    let place = Place::new();
    demo(&place);
    place.write(
        "demo/agentos-package.json",
        r#"{"name":"demo","version":"1.2.3","agent":{"acpEntrypoint":"tool"}}"#,
    );
    assert_eq!(place.run(["pack", "demo", "-o", "one.aospkg"]).code, 0);
    let before = place.listing();
    let refused = place.run(["pack", "one.aospkg", "-o", "two.aospkg", "--format-version", "2"]);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("the agent block"), "{}", refused.stderr);
    assert!(refused.stderr.contains("--allow-loss"), "{}", refused.stderr);
    assert_eq!(place.listing(), before);
    let arguments =
        ["pack", "one.aospkg", "-o", "two.aospkg", "--format-version", "2", "--allow-loss"];
    let converted = place.run(arguments);
    assert_eq!(converted.code, 0, "{}", converted.stderr);
    assert!(converted.stderr.contains("AO0224 warning"), "{}", converted.stderr);
    let value = place.run(["inspect", "two.aospkg", "--json"]).ok().json();
    assert_eq!(value["package"]["formatVersion"], 2);
    assert_eq!(value["package"]["agent"], json!(null));
    // Packing straight into version 2 gives the same bytes as converting.
    let straight = place.run(["pack", "demo", "-o", "s.aospkg", "--format-version", "2"]);
    assert_eq!(straight.code, 1, "an agent is lost there too");
    let run =
        place.run(["pack", "demo", "-o", "s.aospkg", "--format-version", "2", "--allow-loss"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("AO0224 warning"), "{}", run.stderr);
    let read = |name: &str| std::fs::read(place.path().join(name)).unwrap();
    assert!(read("s.aospkg") == read("two.aospkg"));
    // Nothing is lost on the way back that was not lost before.
    assert_eq!(
        place.run(["pack", "two.aospkg", "-o", "1.aospkg", "--format-version", "1"]).code,
        0
    );
    // Never over the file that is read, unless that is what was asked for.
    assert_eq!(place.run(["pack", "two.aospkg", "--format-version", "1"]).code, 0);
    assert_eq!(place.run(["pack", "demo-1.2.3.aospkg", "--format-version", "2"]).code, 2);
    for wrong in [
        &["pack", "two.aospkg"][..],
        &["pack", "two.aospkg", "--format-version", "3"],
        &["pack", "two.aospkg", "--format-version", "1", "--name", "x"],
        &["pack", "two.aospkg", "--format-version", "1", "--list"],
    ] {
        assert_eq!(place.run(wrong).code, 2, "{wrong:?}");
    }
}

#[test]
fn secrets_stay_out_unless_they_are_named() {
    let place = Place::new();
    demo(&place);
    place.write("demo/.env", "TOKEN=x\n");
    let refused = place.run(["pack", "demo"]);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("AO0214 error demo/.env"), "{}", refused.stderr);
    assert!(!place.path().join("demo-1.2.3.aospkg").exists());
    assert_eq!(place.run(["pack", "demo", "--exclude", ".env", "-o", "without.aospkg"]).code, 0);
    assert_eq!(place.run(["pack", "demo", "--include", ".env", "-o", "with.aospkg"]).code, 0);
    assert_eq!(place.run(["cat", "with.aospkg", ".env"]).ok().stdout, b"TOKEN=x\n");
    assert_eq!(place.run(["cat", "without.aospkg", ".env"]).code, 1);
}

#[test]
fn what_cannot_be_packed_is_one_error_and_writes_nothing() {
    let place = Place::new();
    place.write("empty", "");
    place.write("text", "hello\n");
    place.write("zip", b"PK\x03\x04\x14\x00\x00\x00");
    assert!(Command::new("mkfifo").arg(place.path().join("fifo")).status().unwrap().success());
    demo(&place);
    assert_eq!(place.run(["pack", "demo", "-o", "ok.aospkg"]).code, 0);
    let good = std::fs::read(place.path().join("ok.aospkg")).unwrap();
    place.write("cut.aospkg", &good[..40]);
    let before = place.listing();
    for (input, word) in [
        ("none", "ENOENT"),
        ("empty", "AO02"),
        ("text", "AO02"),
        ("zip", "AO02"),
        ("fifo", "EINVAL"),
        ("cut.aospkg", "EINVAL"),
    ] {
        let run = place.run(["pack", input, "--format-version", "1"]);
        assert_eq!((run.code, run.text()), (1, ""), "{input}: {}", run.stderr);
        assert!(run.stderr.contains(word), "{input}: {}", run.stderr);
    }
    let unwritable = place.run(["pack", "demo", "-o", "no/such/directory/x.aospkg"]);
    assert_eq!(unwritable.code, 1);
    assert!(unwritable.stderr.contains("AO0223"), "{}", unwritable.stderr);
    assert_eq!(place.listing(), before);
}

#[test]
fn every_cut_and_every_changed_header_byte_is_one_error() {
    let place = Place::new();
    demo(&place);
    assert_eq!(place.run(["pack", "demo", "-o", "ok.aospkg"]).code, 0);
    let good = std::fs::read(place.path().join("ok.aospkg")).unwrap();
    let refused = |bytes: &[u8], what: &str| {
        place.write("bad.aospkg", bytes);
        let run = place.run(["inspect", "bad.aospkg"]);
        assert_eq!((run.code, run.text()), (1, ""), "{what}: {}", run.stderr);
        assert_eq!(run.stderr.matches(" error ").count(), 1, "{what}: {}", run.stderr);
        assert!(run.stderr.contains("(EINVAL)"), "{what}: {}", run.stderr);
        assert!(run.stderr.contains("bad.aospkg"), "{what}: {}", run.stderr);
    };
    for length in [1, 6, 15, 16, 17, 40, 200, 300] {
        refused(&good[..length], &format!("cut at {length}"));
    }
    for at in 0..16 {
        let mut bytes = good.clone();
        bytes[at] ^= 0xff;
        refused(&bytes, &format!("byte {at} changed"));
    }
}

#[test]
fn packages_are_validated_where_they_lie() {
    let place = Place::new();
    demo(&place);
    assert_eq!(place.run(["pack", "demo", "-o", "repo/demo.aospkg"]).code, 1, "no such directory");
    place.write("repo/a/SKILL.md", "---\nname: a\ndescription: Does a. Use when a.\n---\nBody.\n");
    place.write("demo/skills/b/SKILL.md", "---\nname: b\n---\nBody.\n");
    assert_eq!(place.run(["pack", "demo", "-o", "repo/demo.aospkg"]).code, 0);
    let value = place.run(["validate", "repo", "--json"]).json();
    let checked: Vec<_> = value["checked"].as_array().unwrap().clone();
    assert!(
        checked.contains(&json!({ "kind": "package", "path": "repo/demo.aospkg" })),
        "{checked:?}"
    );
    assert!(
        checked.contains(&json!({ "kind": "skill", "path": "repo/demo.aospkg/skills/b" })),
        "{checked:?}"
    );
    let paths: Vec<_> =
        value["diagnostics"].as_array().unwrap().iter().map(|d| d["path"].clone()).collect();
    assert!(paths.contains(&json!("repo/demo.aospkg/skills/b/SKILL.md")), "{paths:?}");
    // One package by name; one that is no package; a directory that is to become one.
    let one = place.run(["validate", "repo/demo.aospkg"]);
    assert!(
        one.text().ends_with("checked 1 package, 1 skill: 1 error, 0 warnings\n"),
        "{}",
        one.text()
    );
    place.write("text.aospkg", "text");
    let text = place.run(["validate", "text.aospkg"]);
    assert_eq!(text.code, 1);
    assert!(text.text().contains("(EINVAL)"), "{}", text.text());
    place.write("demo/.env", "x");
    let source = place.run(["validate", "demo"]);
    assert!(source.text().contains("AO0214 error demo/.env"), "{}", source.text());
}

#[test]
fn an_output_replaces_no_pipe_and_no_device() {
    use std::os::unix::fs::FileTypeExt as _;
    let place = Place::new();
    demo(&place);
    assert!(Command::new("mkfifo").arg(place.path().join("out")).status().unwrap().success());
    let run = place.run(["pack", "demo", "-o", "out"]);
    assert_eq!((run.code, run.text()), (1, ""), "{}", run.stderr);
    assert!(run.stderr.contains("a device, named pipe or socket stands there"), "{}", run.stderr);
    assert!(std::fs::symlink_metadata(place.path().join("out")).unwrap().file_type().is_fifo());
    // Standard output is no place for a package, and no file of that name is made by mistake.
    assert_eq!(place.run(["pack", "demo", "-o", "-"]).code, 2);
    assert!(!place.path().join("-").exists());
}

#[test]
fn what_an_interrupted_run_left_is_removed_and_never_packed() {
    let place = Place::new();
    demo(&place);
    let stage = ".holdall-stage-0123456789abcdef";
    place.write(&format!("demo/{stage}"), "half");
    // In a directory that nothing is written to it is named, not packed.
    let run = place.run(["pack", "demo", "-o", "ok.aospkg"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("AO0214") && run.stderr.contains(stage), "{}", run.stderr);
    let run = place.run(["pack", "demo", "-o", "demo/ok.aospkg"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(!place.path().join("demo").join(stage).exists());
    place.write(&format!("{stage}/half"), "half");
    assert_eq!(place.run(["extract", "demo/ok.aospkg", "-o", "out"]).code, 0);
    assert!(!place.path().join(stage).exists());
}

#[test]
fn what_is_no_tar_is_called_by_its_name() {
    let place = Place::new();
    for (bytes, word) in [
        (&b"\x1f\x8b\x08\0"[..], "gzip"),
        (b"\xfd7zXZ\0", "xz"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"BZh9", "bzip2"),
        (b"PK\x03\x04", "zip"),
    ] {
        place.write("input", bytes);
        let run = place.run(["pack", "input", "--name", "a", "--version", "1"]);
        assert_eq!(run.code, 1);
        assert_eq!(run.stderr.matches(" error ").count(), 1, "{word}: {}", run.stderr);
        assert!(run.stderr.contains(word), "{word}: {}", run.stderr);
    }
}

#[test]
fn a_path_to_exclude_that_names_nothing_is_said() {
    let place = Place::new();
    demo(&place);
    for option in ["--exclude", "--include"] {
        let run = place.run(["pack", "demo", "--list", option, "nothing/here"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(run.stderr.contains("HD0141 warning"), "{}", run.stderr);
    }
    assert_eq!(place.run(["pack", "demo", "--list", "--exclude", "."]).code, 2);
}
