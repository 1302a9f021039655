//! Sources that are fetched, through the real binary, servers, git and npm.

use std::process::{Child, Stdio};
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use crate::server::{Server, repository};
use crate::support::{Place, Run};

const SKILL: &str =
    "---\nname: a-skill\ndescription: Says hello when it is asked to.\n---\nHello.\n";

/// Runs with one more variable.
fn run(place: &Place, variable: (&str, &str), arguments: &[&str]) -> Run {
    Run::of(place.command(arguments).env(variable.0, variable.1))
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The path that `fetch` printed.
fn path(run: &Run) -> std::path::PathBuf {
    run.text().lines().next().unwrap().into()
}

#[test]
fn an_npm_package_is_a_source_like_any_other() {
    let server = Server::registry();
    server.write("@s/skills/package.json", r#"{"name":"@s/skills","version":"1.2.3"}"#);
    server.write("@s/skills/skills/a-skill/SKILL.md", SKILL);
    let place = Place::new();
    let registry = server.plain_url();
    let run = |arguments: &[&str]| run(&place, ("npm_config_registry", &registry), arguments);
    let spec = "npm:@s/skills@1.2.3";

    let offline = run(&["fetch", spec, "--offline"]);
    assert_eq!((offline.code, offline.stderr.contains("HD0207")), (1, true), "{}", offline.stderr);
    let fetched = run(&["fetch", spec]).ok();
    assert!(path(&fetched).join("skills/a-skill/SKILL.md").is_file(), "{}", fetched.text());
    let json = run(&["fetch", spec, "--json", "--offline"]).json();
    assert_eq!(json["kind"], "skills");
    assert_eq!(json["fetch"]["path"].as_str(), path(&fetched).to_str());
    assert_eq!(json["fetch"]["origin"]["address"], "npm:@s/skills");
    assert_eq!(json["fetch"]["origin"]["version"], "1.2.3");
    drop(server);

    let inspected = run(&["inspect", spec, "--json", "--offline"]);
    assert_eq!(inspected.code, 0, "{}", inspected.stderr);
    assert_eq!(inspected.json()["kind"], "skills");
    let cat = run(&["cat", spec, "skills/a-skill/SKILL.md", "--offline"]).ok();
    assert_eq!(cat.text(), SKILL);
    let inside = run(&["ls", spec, "--subdir", "skills", "--offline"]).ok();
    assert_eq!(inside.text(), "a-skill/\n");
    // What is wrong in it is named by its address.
    let missing = run(&["cat", spec, "none", "--offline"]);
    assert!(missing.stderr.contains(spec), "{}", missing.stderr);
    let installed = run(&["install", spec, "--host", "claude", "--offline", "--yes", "--json"]);
    assert_eq!(installed.code, 0, "{}", String::from_utf8_lossy(&installed.stdout));
    let destination = place.home().join(".claude/skills/a-skill/SKILL.md");
    assert_eq!(std::fs::read_to_string(destination).unwrap(), SKILL);
}

#[test]
fn a_path_stays_where_it_is() {
    let place = Place::new();
    let file = place.write("s/SKILL.md", SKILL);
    let fetched = place.run(["fetch", "./s"]).ok();
    assert_eq!(
        path(&fetched).canonicalize().unwrap(),
        file.parent().unwrap().canonicalize().unwrap()
    );
    assert!(!place.home().join(".local").exists(), "no store is made for a path");
}

#[test]
fn what_is_not_pinned_or_not_said_is_wrong_usage() {
    let place = Place::new();
    for (arguments, code) in [
        (&["fetch", "git+https://h.example/r"][..], "HD0111"),
        (&["inspect", "git+https://h.example/r#main"], "HD0111"),
        (&["fetch", "npm:a@^1"], "HD0112"),
        (&["fetch", "https://h.example/x.aospkg", "--sha256", "12"], "HD0101"),
        (&["fetch", "npm:a@1.0.0", "--sha256", &"0".repeat(64)], "HD0101"),
    ] {
        let run = place.run(arguments);
        assert_eq!(
            (run.code, run.stderr.contains(code)),
            (2, true),
            "{arguments:?}: {}",
            run.stderr
        );
    }
    assert!(!place.home().join(".local").exists());
}

#[test]
fn offline_opens_no_connection() {
    let place = Place::new();
    // Nobody listens there, so that an attempt would have other words.
    for source in [
        "https://127.0.0.1:9/x.aospkg",
        "npm:a@1.0.0",
        "git+https://127.0.0.1:9/r#0123456789abcdef0123456789abcdef01234567",
    ] {
        let run = place.run(["inspect", source, "--offline"]);
        assert_eq!((run.code, run.stderr.contains("HD0207")), (1, true), "{}", run.stderr);
    }
    let run = place.run(["inspect", "https://127.0.0.1:9/x.aospkg"]);
    assert_eq!((run.code, run.stderr.contains("HD0206")), (1, true), "{}", run.stderr);
}

/// A package of a directory with one file, made by the binary itself.
fn package(place: &Place) -> Vec<u8> {
    place.write("p/agentos-package.json", r#"{"name":"demo","version":"0.1.0"}"#);
    place.write("p/file.txt", "in the package\n");
    let packed = place.run(["pack", "./p", "-o", "demo.aospkg"]);
    assert_eq!(packed.code, 0, "{}", packed.stderr);
    std::fs::read(place.path().join("demo.aospkg")).unwrap()
}

#[test]
#[ignore = "needs openssl"]
fn a_package_behind_https_is_read_like_a_file() {
    let (server, place) = (Server::https(), Place::new());
    let bytes = package(&place);
    server.write("files/demo.aospkg", &bytes);
    let address = server.url("files/demo.aospkg");
    let ca = server.ca().to_str().unwrap().to_owned();
    let run = |arguments: &[&str]| run(&place, ("HOLDALL_CA_FILE", &ca), arguments);

    let strange = place.run(["fetch", &address]);
    assert_eq!((strange.code, strange.stderr.contains("HD0206")), (1, true), "{}", strange.stderr);
    let cat = run(&["cat", &address, "file.txt"]).ok();
    assert_eq!(cat.text(), "in the package\n");
    let digest = format!("sha256:{}", hex(&bytes));
    let verified = run(&["verify", &address, "--digest", &digest, "--offline"]);
    assert!(verified.text().starts_with(&format!("matches  {address}\n")), "{}", verified.text());
    let fetched = run(&["fetch", &address, "--sha256", &hex(&bytes), "--json"]).json();
    assert_eq!(fetched["kind"], "package");
    let path = fetched["fetch"]["path"].as_str().unwrap();
    assert_eq!(std::fs::read(path).unwrap(), bytes);
    assert!(path.ends_with(&format!("cache/sha256/{}.aospkg", hex(&bytes))), "{path}");
    let other = run(&["fetch", &address, "--sha256", &hex(b"other")]);
    assert_eq!((other.code, other.stderr.contains("HD0208")), (1, true), "{}", other.stderr);
    // An app's own bundle is a file like that too.
    let document =
        "---\nschema: app/v1\nid: one\nagents: []\nworkflows: []\nui:\n  path: index.html\n---\n";
    place.write("app/.agentproto/APP.md", document);
    place.write("app/.agentproto/index.html", "<title>One</title>\n");
    place.write("app/index.html", "<title>One</title>\n");
    let packed = place.run(["pack", "./app", "-o", "one.agentapp"]);
    assert_eq!(packed.code, 0, "{}", packed.stderr);
    server.write("files/one.agentapp", std::fs::read(place.path().join("one.agentapp")).unwrap());
    let app = run(&["fetch", &server.url("files/one.agentapp?v=1"), "--json"]).json();
    assert_eq!(app["kind"], "app", "{app}");
    // Somebody changed the copy.
    std::fs::write(path, "evil").unwrap();
    let offline = run(&["cat", &address, "file.txt", "--offline"]);
    assert_eq!((offline.code, offline.stderr.contains("HD0208")), (1, true), "{}", offline.stderr);
    let again = run(&["cat", &address, "file.txt"]);
    assert_eq!((again.code, again.text()), (0, "in the package\n"));
    assert!(again.stderr.contains("was changed and is fetched again"), "{}", again.stderr);
}

#[test]
#[ignore = "needs openssl"]
fn a_pinned_commit_is_read_like_a_directory() {
    let (server, place) = (Server::https(), Place::new());
    let files: &[(&str, &str)] = &[("skills/a-skill/SKILL.md", SKILL)];
    let commits = repository(&server.root().join("git/r"), &[files, &[("other", "x")]]);
    let ca = server.ca().to_str().unwrap().to_owned();
    let run = |arguments: &[&str]| run(&place, ("HOLDALL_CA_FILE", &ca), arguments);
    let source = format!("git+{}#{}", server.url("git/r"), commits[0]);
    let fetched = run(&["fetch", &source]).ok();
    assert!(fetched.text().contains(&format!("commit {}", commits[0])), "{}", fetched.text());
    let listed = run(&["ls", &source, "--recursive", "--offline"]).ok();
    assert_eq!(listed.text(), "skills/\nskills/a-skill/\nskills/a-skill/SKILL.md\n");
    // The digest is that of a checkout by hand.
    let clone = place.path().join("clone");
    let status = std::process::Command::new("git")
        .args([
            "clone",
            "-q",
            server.root().join("git/r").to_str().unwrap(),
            clone.to_str().unwrap(),
        ])
        .status()
        .unwrap();
    assert!(status.success());
    let checkout = std::process::Command::new("git")
        .args(["-C", clone.to_str().unwrap(), "checkout", "-q", &commits[0]])
        .status()
        .unwrap();
    assert!(checkout.success());
    let hex_of = |run: &Run| run.text().split(' ').next().unwrap().to_owned();
    let by_hand = place.run(["digest", "./clone"]).ok();
    assert_eq!(hex_of(&run(&["digest", &source, "--offline"]).ok()), hex_of(&by_hand));
}

fn start(place: &Place, ca: &str, arguments: &[&str]) -> Child {
    let mut command = place.command(arguments);
    command.env("HOLDALL_CA_FILE", ca).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// The processes that have `text` in their environment.
fn processes(text: &str) -> Vec<String> {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter(|entry| {
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        String::from_utf8_lossy(&environment).contains(text)
    })
    .map(|entry| entry.file_name().to_string_lossy().into_owned())
    .collect()
}

#[test]
#[ignore = "needs openssl"]
fn git_does_not_go_on_when_nobody_waits_for_it() {
    let (server, place) = (Server::https(), Place::new());
    // Incompressible, so that it takes minutes to come.
    let noise: String = (0..40_000_u32).map(|n| hex(&n.to_le_bytes())).collect();
    let commits = repository(&server.root().join("git/r"), &[&[("noise", noise.as_str())]]);
    let ca = server.ca().to_str().unwrap().to_owned();
    let source = format!("git+{}#{}", server.url("git-slow/r"), commits[0]);
    let mut killed = start(&place, &ca, &["fetch", &source]);
    let stages = place.home().join(".local/share/holdall/cache/stages");
    let of_git = format!("HOME={}", stages.display());
    let receives = || {
        let asked = server.requests("POST /git-slow/r/git-upload-pack") > 0;
        asked && !processes(&of_git).is_empty()
    };
    while !receives() {
        std::thread::sleep(Duration::from_millis(20));
        assert!(killed.try_wait().unwrap().is_none(), "it ended before it could be killed");
    }
    std::thread::sleep(Duration::from_secs(1));
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(!processes(&of_git).is_empty(), "it was killed in the middle");
    let began = std::time::Instant::now();
    while !processes(&of_git).is_empty() {
        assert!(began.elapsed() < Duration::from_secs(20), "git goes on");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
#[ignore = "needs openssl"]
fn two_processes_fetch_once_and_a_killed_one_leaves_nothing() {
    let (server, place) = (Server::https(), Place::new());
    server.write("files/demo.aospkg", package(&place));
    let address = server.url("slow/demo.aospkg");
    let ca = server.ca().to_str().unwrap().to_owned();
    // Killed when half of it had come: that half is rubbish, and its lock is free.
    let mut killed = start(&place, &ca, &["fetch", &address]);
    let stages = place.home().join(".local/share/holdall/cache/stages");
    let begun = || std::fs::read_dir(&stages).is_ok_and(|entries| entries.count() > 0);
    while !begun() {
        std::thread::sleep(Duration::from_millis(20));
        assert!(killed.try_wait().unwrap().is_none(), "it ended before it could be killed");
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(begun(), "it was killed in the middle");
    let both: Vec<_> = (0..2).map(|_| start(&place, &ca, &["fetch", &address])).collect();
    let outputs: Vec<_> = both.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    for output in &outputs {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.stdout, outputs[0].stdout);
    }
    // The second one says what it waits for.
    let words: Vec<_> =
        outputs.iter().map(|output| String::from_utf8_lossy(&output.stderr).into_owned()).collect();
    let waiting = |words: &&String| words.contains("waiting for another fetch");
    assert_eq!(words.iter().filter(waiting).count(), 1, "{words:?}");
    assert_eq!(server.requests("GET /slow/demo.aospkg"), 2);
    assert_eq!(std::fs::read_dir(stages).unwrap().count(), 0);
}
