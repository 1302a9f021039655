//! Running programs: what they get, and what ends them.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use holdall_store::{Child, ChildError, find_program};

/// A shell script as a child, with limits that a test can lower.
fn script(directory: &Path, text: &str) -> Child<'static> {
    let directory: &'static Path = Box::leak(directory.to_owned().into_boxed_path());
    Child {
        program: Path::new("/bin/sh"),
        arguments: vec!["-c".into(), text.into()],
        environment: BTreeMap::new(),
        directory,
        limit: Duration::from_secs(20),
        output: 1 << 20,
        fills: None,
    }
}

#[test]
fn a_program_gets_what_it_is_given_and_no_more() {
    let place = tempfile::tempdir().unwrap();
    let mut child =
        script(place.path(), "echo \"$A-$HOME-$PATH\"; pwd; cat; echo words >&2; exit 3");
    child.environment.insert("A".into(), "a".into());
    child.environment.insert("PATH".into(), "/usr/bin:.:bin::/bin".into());
    let finished = child.run().unwrap();
    let here = place.path().canonicalize().unwrap();
    assert_eq!(
        String::from_utf8(finished.stdout.clone()).unwrap(),
        format!("a--/usr/bin:/bin\n{}\n", here.display())
    );
    assert_eq!((finished.status.code(), finished.last_words(1).as_str()), (Some(3), "words"));
}

#[test]
fn time_output_and_disk_are_limited() {
    let place = tempfile::tempdir().unwrap();
    let began = Instant::now();
    let slow = Child { limit: Duration::from_millis(300), ..script(place.path(), "sleep 60") };
    assert!(matches!(slow.run(), Err(ChildError::TimedOut(_))));
    let loud = Child { output: 1000, ..script(place.path(), "while :; do echo yes; done") };
    assert!(matches!(loud.run(), Err(ChildError::TooMuchOutput(1000))));
    let full = place.path().join("full");
    fs::create_dir(&full).unwrap();
    for text in ["while :; do echo yes; done > full/file", "head -c 2000000 /dev/zero > full/file"]
    {
        let mut greedy = script(place.path(), text);
        let full: &'static Path = Box::leak(full.clone().into_boxed_path());
        greedy.environment.insert("PATH".into(), "/usr/bin:/bin".into());
        greedy.fills = Some((full, 1_000_000));
        assert!(matches!(greedy.run(), Err(ChildError::TooLarge(1_000_000))), "{text}");
    }
    // Much on standard error ends nobody, and does not stop anybody.
    let mut chatty = script(place.path(), "head -c 1000000 /dev/zero >&2; echo done");
    chatty.environment.insert("PATH".into(), "/usr/bin:/bin".into());
    let finished = chatty.run().unwrap();
    assert_eq!((finished.stdout.as_slice(), finished.stderr.len()), (&b"done\n"[..], 64 * 1024));
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[test]
fn whoever_stays_behind_in_the_group_is_ended() {
    let place = tempfile::tempdir().unwrap();
    let mut child = script(place.path(), "sleep 60 & echo $!");
    child.environment.insert("PATH".into(), "/usr/bin:/bin".into());
    let began = Instant::now();
    let finished = child.run().unwrap();
    assert!(began.elapsed() < Duration::from_secs(10));
    let pid = String::from_utf8(finished.stdout).unwrap();
    let state = || fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    // Dying takes a moment; whoever has to reap it may take longer.
    while !state().is_empty() && !state().contains(") Z") {
        assert!(began.elapsed() < Duration::from_secs(20), "{}", state());
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_program_that_is_none_is_an_error() {
    let place = tempfile::tempdir().unwrap();
    let none = Child { program: Path::new("/nonexistent/program"), ..script(place.path(), "") };
    assert!(matches!(none.run(), Err(ChildError::Start { .. })));
}

#[test]
fn programs_are_found_in_absolute_directories() {
    let place = tempfile::tempdir().unwrap();
    let at = |directory: &str, name: &str, mode: u32| {
        let path = place.path().join(directory).join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    };
    at("one", "tool", 0o644);
    fs::create_dir_all(place.path().join("two/tool")).unwrap();
    let third = at("three", "tool", 0o755);
    let directories = ["one", "two", "three"].map(|name| place.path().join(name));
    let path = std::env::join_paths(directories).unwrap();
    assert_eq!(find_program("tool", &path), Some(third));
    let mut relative = OsString::from("three:.:");
    assert_eq!(find_program("tool", &relative), None);
    relative.push(":bin");
    assert_eq!(find_program("sh", &relative), None);
    assert_eq!(find_program("sh", OsStr::new("")), None);
}
