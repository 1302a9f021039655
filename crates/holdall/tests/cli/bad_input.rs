//! Sources that cannot be read: one clear error with the errno name, exit 1, nothing written.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::{Place, Run};

/// The commands that open a source, with what else they want.
const COMMANDS: [&[&str]; 7] =
    [&["ls"], &["cat", "x"], &["stat"], &["digest"], &["inspect"], &["verify"], &["extract"]];

fn arguments(command: &[&str], source: &OsStr) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = vec![command[0].into(), source.into()];
    arguments.extend(command[1..].iter().map(OsString::from));
    arguments
}

/// Each bad source, by file name, and what its error has to say.
fn bad_sources(place: &Place) -> Vec<(OsString, &'static [&'static str])> {
    place.write("empty.aospkg", "");
    place.write("text.aospkg", "hello\n");
    place.write("zip.aospkg", b"PK\x03\x04\x14\x00\x00\x00");
    place.write("gzip.aospkg", [0x1f, 0x8b, 8, 0]);
    let fifo = place.path().join("fifo.aospkg");
    assert!(Command::new("mkfifo").arg(fifo).status().unwrap().success());
    vec![
        ("./none.aospkg".into(), &["ENOENT", "./none.aospkg"]),
        ("./empty.aospkg/x".into(), &["ENOTDIR", "./empty.aospkg/x"]),
        ("empty.aospkg".into(), &["EINVAL", "empty"]),
        ("text.aospkg".into(), &["EINVAL", "text"]),
        ("zip.aospkg".into(), &["EINVAL", "zip archive"]),
        ("gzip.aospkg".into(), &["EINVAL", "gzip"]),
        ("fifo.aospkg".into(), &["EINVAL", "FIFO"]),
        ("/dev/null".into(), &["EINVAL", "device"]),
        (OsStr::from_bytes(b"./\xff.aospkg").to_owned(), &["EILSEQ", "UTF-8"]),
    ]
}

#[test]
fn one_clear_error_and_nothing_written() {
    let place = Place::new();
    let sources = bad_sources(&place);
    let before = place.listing();
    for (source, words) in &sources {
        for command in COMMANDS {
            let arguments = arguments(command, source);
            let started = Instant::now();
            let run = Run::of(&mut place.command(&arguments));
            assert!(started.elapsed() < Duration::from_secs(20), "{arguments:?} hung");
            assert_eq!((run.code, run.text()), (1, ""), "{arguments:?}: {}", run.stderr);
            let errors = run.stderr.lines().filter(|line| line.contains(" error ")).count();
            assert_eq!(errors, 1, "{arguments:?}: {}", run.stderr);
            for word in *words {
                assert!(run.stderr.contains(word), "{arguments:?}: no {word} in {}", run.stderr);
            }
        }
    }
    assert_eq!(place.listing(), before);
}

#[test]
fn json_has_the_same_one_error() {
    let place = Place::new();
    for (source, words) in bad_sources(&place) {
        for command in COMMANDS {
            let mut arguments = arguments(command, &source);
            arguments.push("--json".into());
            let run = place.run(&arguments);
            assert_eq!(run.code, 1, "{arguments:?}");
            let value = run.json();
            let diagnostics = value["diagnostics"].as_array().unwrap();
            assert_eq!(diagnostics.len(), 1, "{arguments:?}: {diagnostics:?}");
            let message = diagnostics[0]["message"].as_str().unwrap();
            assert!(message.contains(words[0]), "{arguments:?}: {message}");
        }
    }
}

#[test]
fn words_and_addresses_that_are_no_source_are_usage_errors() {
    let place = Place::new();
    for (source, help) in [
        ("demo", "for the directory type ./demo"),
        ("git+https://h/o", "git+https://h/o#SHA40"),
        ("git+https://h/o#main", "git+https://h/o#SHA40"),
        ("https://h/o/r", "git+https://h/o/r#SHA40"),
        ("npm:grep", "npm:NAME@VERSION"),
    ] {
        let run = place.run(["ls", source]);
        assert_eq!((run.code, run.text()), (2, ""), "{source}: {}", run.stderr);
        assert!(run.stderr.contains(help), "{source}: {}", run.stderr);
    }
}

#[test]
fn a_kind_that_is_not_there_is_an_error_that_says_what_is() {
    let place = Place::new();
    place.write("demo/SKILL.md", "---\nname: demo\n---\n");
    assert_eq!(place.run(["ls", "./demo", "--json"]).ok().json()["kind"], "skill");
    let run = place.run(["ls", "./demo", "--kind", "pack"]);
    assert_eq!(run.code, 1);
    assert!(
        run.stderr.starts_with("HD0123 error ./demo there is no pack at its root, but this: skill")
    );
    assert_eq!(place.run(["ls", "./demo", "--kind", "bundle"]).code, 2);
    place.write("all/demo/SKILL.md", "---\nname: demo\n---\n");
    let value = place.run(["ls", "./all", "--subdir", "demo", "--json"]).ok().json();
    assert_eq!(
        (&value["kind"], &value["entries"][0]["path"]),
        (&"skill".into(), &"SKILL.md".into())
    );
}
