//! What all commands have in common: help, usage errors, JSON, pipes, generated pages.

use std::process::Stdio;

use crate::support::{Place, Run, repository};

#[test]
fn help_groups_the_commands() {
    let run = Place::new().run(["--help"]).ok();
    insta::assert_snapshot!("help", run.text());
}

#[test]
fn version() {
    let run = Place::new().run(["--version"]).ok();
    assert_eq!(run.text(), concat!("holdall ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn a_wrong_command_line_is_exit_2_and_goes_to_standard_error() {
    let place = Place::new();
    for arguments in
        [&["explian"][..], &["explain"], &["explain", "--nope"], &["explain", "ZZ1"], &[]]
    {
        let run = place.run(arguments);
        assert_eq!((run.code, run.text()), (2, ""), "{arguments:?}");
        assert_ne!(run.stderr, "", "{arguments:?}");
    }
    assert!(place.run(["explian"]).stderr.contains("'explain'"));
    assert!(place.run(["explain", "HD0191"]).stderr.contains("did you mean HD0101?"));
}

#[test]
fn json_is_one_object_also_for_a_wrong_command_line() {
    let place = Place::new();
    for arguments in [
        &["--json", "explian"][..],
        &["explain", "--format", "json"],
        &["explain", "ZZ1", "--format=json"],
    ] {
        let run = place.run(arguments);
        assert_eq!(run.code, 2, "{arguments:?}");
        let diagnostic = &run.json()["diagnostics"][0];
        assert_eq!(diagnostic["code"], "HD0101", "{arguments:?}");
        assert_eq!(diagnostic["severity"], "error");
    }
}

#[test]
fn json_is_one_object_also_for_help() {
    let value = Place::new().run(["--json", "--version"]).ok().json();
    assert_eq!(value["help"], concat!("holdall ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn sarif_and_github_are_for_validate() {
    let run = Place::new().run(["explain", "HD0101", "--format", "sarif"]);
    assert_eq!((run.code, run.text()), (2, ""));
}

#[test]
fn explain_says_what_a_code_means() {
    let place = Place::new();
    let run = place.run(["explain", "pk0104"]).ok();
    assert!(run.text().starts_with("PK0104 error: "), "{}", run.text());
    let value = place.run(["explain", "PK0104", "--json"]).ok().json();
    assert_eq!((&value["kind"], &value["explain"]["code"]), (&"explain".into(), &"PK0104".into()));
}

#[test]
fn the_page_of_diagnostics_is_up_to_date() {
    let page =
        std::fs::read_to_string(repository().join("docs/diagnostics.md")).unwrap_or_default();
    let made = Place::new().run(["explain", "--all"]).ok();
    assert!(page == made.text(), "run: cargo run -q -- explain --all > docs/diagnostics.md");
}

#[test]
fn completions_know_the_commands() {
    for shell in ["bash", "zsh", "fish"] {
        let run = Place::new().run(["completions", shell]).ok();
        assert!(run.text().contains("manpages"), "{shell}");
    }
}

#[test]
fn manual_pages_are_written_for_every_command() {
    let place = Place::new();
    let run = place.run(["manpages", "man/man1"]).ok();
    assert!(run.text().lines().any(|line| line.ends_with("man/man1/holdall-explain.1")));
    let page = std::fs::read_to_string(place.path().join("man/man1/holdall-explain.1")).unwrap();
    assert!(page.contains(".TH holdall-explain 1"), "{page}");
    assert_eq!(run.text().lines().count(), place.listing().len() - 2);
    place.run(["manpages", "man/man1"]).ok();
}

#[test]
fn a_closed_pipe_is_no_error_and_a_full_disk_is_one() {
    let place = Place::new();
    let mut child = place
        .command(["explain", "--all"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));

    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let run = Run::of(place.command(["explain", "--all"]).stdout(full));
    assert_eq!(run.code, 1);
    assert!(run.stderr.starts_with("HD0102 error standard output: "), "{}", run.stderr);
}
