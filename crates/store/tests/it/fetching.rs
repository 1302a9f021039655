//! Fetching with the real programs: git over files and TLS, npm from a registry, an HTTPS server.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use holdall_store::Store;
use holdall_store::fetch::{FetchError, Fetched, Fetcher, Pin};
use holdall_tree::Digest;

use crate::server::{Server, repository};

/// A store in a directory of its own, and the environment of fetches into it.
struct Place {
    directory: tempfile::TempDir,
    environment: BTreeMap<OsString, OsString>,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path().join("home");
        fs::create_dir(&home).unwrap();
        let mut environment = BTreeMap::new();
        environment.insert("PATH".into(), std::env::var_os("PATH").unwrap());
        environment.insert("HOME".into(), home.into());
        Self { directory, environment }
    }

    fn with(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.environment.insert(name.into(), value.into());
        self
    }

    fn store(&self) -> Store {
        Store::at(self.directory.path().join("store")).unwrap()
    }

    fn limits(&self, text: &str) {
        self.store().create().unwrap();
        fs::write(self.store().root().join("config.toml"), format!("[limits]\n{text}\n")).unwrap();
    }

    fn fetcher(&self) -> Fetcher {
        Fetcher::new(self.store(), self.environment.clone())
    }

    /// Everything in the cache, without the locks, which stay.
    fn cached(&self) -> Vec<PathBuf> {
        let root = self.store().cache();
        let (mut found, mut todo) = (Vec::new(), vec![root.clone()]);
        while let Some(directory) = todo.pop() {
            for entry in fs::read_dir(directory).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.is_dir() && !path.ends_with("locks") {
                    todo.push(path);
                } else if path.is_file() {
                    found.push(path.strip_prefix(&root).unwrap().to_owned());
                }
            }
        }
        found.sort();
        found
    }
}

fn file_url(path: &Path) -> String {
    format!("file://{}", path.display())
}

#[track_caller]
fn code(result: Result<Fetched, FetchError>) -> String {
    result.unwrap_err().diagnostic().code.to_owned()
}

const FILES: &[(&str, &str)] =
    &[("SKILL.md", "one"), ("scripts/run.sh", "echo"), ("link", "-> ../../outside")];

mod git {
    use super::*;

    /// A place, and a repository with two commits beside it.
    fn place() -> (Place, String, Vec<String>) {
        let place = Place::new();
        let bare = place.directory.path().join("r.git");
        let commits = repository(&bare, &[FILES, &[("SKILL.md", "two")]]);
        (place, file_url(&bare), commits)
    }

    #[test]
    fn a_commit_is_fetched_once_and_has_no_repository_in_it() {
        let (place, url, commits) = place();
        let fetcher = place.fetcher().with_file_addresses();
        let fetched = fetcher.git(&url, &commits[0]).unwrap();
        assert!(!fetched.from_cache());
        assert_eq!(fetched.pin(), &Pin::Commit(commits[0].clone()));
        let read = |path: &str| fs::read_to_string(fetched.path().join(path)).unwrap();
        assert_eq!((read("SKILL.md"), read("scripts/run.sh")), ("one".into(), "echo".into()));
        // A link is kept as it is, wherever it leads.
        let link = fs::read_link(fetched.path().join("link")).unwrap();
        assert_eq!(link, Path::new("../../outside"));
        assert!(!fetched.path().join(".git").exists());
        // The repository may be gone now, and no connection is needed.
        fs::remove_dir_all(place.directory.path().join("r.git")).unwrap();
        let again = fetcher.clone().offline(true).git(&url, &commits[0]).unwrap();
        assert!(again.from_cache());
        assert_eq!((again.path(), again.digest()), (fetched.path(), fetched.digest()));
        assert_eq!(code(fetcher.offline(true).git(&url, &commits[1])), "HD0207");
    }

    #[test]
    fn one_address_does_not_answer_for_another() {
        let (place, url, commits) = place();
        let fetcher = place.fetcher().with_file_addresses();
        fetcher.git(&url, &commits[0]).unwrap();
        let other = url.replace("r.git", "s.git");
        assert_eq!(code(fetcher.git(&other, &commits[0])), "HD0206");
    }

    #[test]
    fn a_changed_copy_is_fetched_again_and_refused_offline() {
        let (place, url, commits) = place();
        let fetcher = place.fetcher().with_file_addresses();
        let fetched = fetcher.git(&url, &commits[0]).unwrap();
        let changes: [fn(&Path); 4] = [
            |tree| fs::write(tree.join("SKILL.md"), "evil").unwrap(),
            |tree| fs::write(tree.join("new"), "").unwrap(),
            |tree| fs::remove_file(tree.join("link")).unwrap(),
            |tree| fs::write(tree.parent().unwrap().join("record.json"), "{").unwrap(),
        ];
        for change in changes {
            change(fetched.path());
            assert_eq!(code(fetcher.clone().offline(true).git(&url, &commits[0])), "HD0208");
            let again = fetcher.git(&url, &commits[0]).unwrap();
            assert!(!again.from_cache());
            assert_eq!(again.digest(), fetched.digest());
            assert_eq!(fs::read_to_string(fetched.path().join("SKILL.md")).unwrap(), "one");
        }
    }

    #[test]
    fn what_is_no_commit_of_the_repository_is_refused() {
        let (place, url, commits) = place();
        let fetcher = place.fetcher().with_file_addresses();
        assert_eq!(code(fetcher.git(&url, &"0".repeat(40))), "HD0208");
        // The number of an annotated tag is not that of a commit.
        let output = std::process::Command::new("git")
            .args(["--git-dir", url.strip_prefix("file://").unwrap(), "rev-parse", "v1"])
            .output()
            .unwrap();
        let tag = String::from_utf8(output.stdout).unwrap().trim().to_owned();
        assert_ne!(tag, commits[0]);
        assert_eq!(code(fetcher.git(&url, &tag)), "HD0208");
        assert_eq!(place.cached(), Vec::<PathBuf>::new());
    }

    #[test]
    fn addresses_and_pins_that_git_could_misread_are_refused() {
        let (place, url, commits) = place();
        let strict = place.fetcher();
        for url in [
            url.as_str(),
            "--upload-pack=touch x",
            "-https://h.example/r",
            "ext::sh -c id",
            "https://h.example/a::b",
            "http://h.example/r",
            "ssh://h.example/r",
            "git@h.example:r",
            "https://h.example/a b",
            "",
        ] {
            assert_eq!(code(strict.git(url, &commits[0])), "HD0211", "{url}");
            assert!(matches!(strict.git_ref(url, "HEAD"), Err(FetchError::Refused { .. })));
        }
        for pin in ["main", "", "--help", &commits[0][..39], &commits[0].to_uppercase()] {
            assert_eq!(code(strict.git("https://h.example/r", pin)), "HD0211", "{pin}");
        }
        for reference in ["-x", "--upload-pack=x", "a..b", "a b", "*", "", "a:b", "x^{}", "@{1}"] {
            let refused = strict.git_ref("https://h.example/r", reference);
            assert!(matches!(refused, Err(FetchError::Refused { .. })), "{reference}");
        }
        assert!(!place.store().root().exists(), "nothing was made for what is refused");
    }

    #[test]
    fn refs_are_asked_branch_first_and_tags_by_their_commit() {
        let (place, url, commits) = place();
        let fetcher = place.fetcher().with_file_addresses();
        for (reference, at) in
            [("HEAD", 1), ("main", 1), ("v1", 0), ("refs/tags/v1", 0), ("refs/heads/main", 1)]
        {
            assert_eq!(fetcher.git_ref(&url, reference).unwrap(), commits[at], "{reference}");
        }
        assert!(matches!(fetcher.git_ref(&url, "none"), Err(FetchError::Failed { .. })));
        let offline = fetcher.offline(true).git_ref(&url, "main");
        assert!(matches!(offline, Err(FetchError::Offline { .. })));
    }

    /// A program named `git` before the real one.
    fn with_git(place: Place, script: &str) -> Place {
        let bin = place.directory.path().join("bin");
        fs::create_dir(&bin).unwrap();
        fs::write(bin.join("git"), format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
        let mut path = bin.into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap());
        place.with("PATH", path)
    }

    #[test]
    fn a_git_that_gives_another_commit_is_not_believed() {
        let (place, url, commits) = place();
        // As if the other side had another commit under this number.
        let script = format!(
            "PATH=${{PATH#*:}}\nfor a; do [ $# -gt 0 ] && shift; \
             case $a in {0}) set -- \"$@\" {1};; {0}*) set -- \"$@\" \"{1}^{{commit}}\";; \
             *) set -- \"$@\" \"$a\";; esac; done\nexec git \"$@\"",
            commits[0], commits[1]
        );
        let place = with_git(place, &script);
        let fetcher = place.fetcher().with_file_addresses();
        let error = fetcher.git(&url, &commits[0]).unwrap_err();
        assert_eq!(error.diagnostic().code, "HD0208");
        assert!(error.to_string().contains(&commits[1]), "{error}");
        assert_eq!(place.cached(), Vec::<PathBuf>::new());
    }

    #[test]
    fn a_git_that_never_ends_is_killed_with_its_children() {
        let (place, url, commits) = place();
        let pids = place.directory.path().join("pids");
        let script = format!("sleep 300 & echo $! >> {0}; echo $$ >> {0}; wait", pids.display());
        let place = with_git(place, &script);
        place.limits("fetch-seconds = 1");
        let began = Instant::now();
        let result = place.fetcher().with_file_addresses().git(&url, &commits[0]);
        assert_eq!(code(result), "HD0209");
        assert!(began.elapsed() < Duration::from_secs(10));
        for pid in fs::read_to_string(pids).unwrap().lines() {
            let state = || fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            while !state().is_empty() && !state().contains(") Z") {
                assert!(began.elapsed() < Duration::from_secs(20), "{pid} runs: {}", state());
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    }

    #[test]
    fn a_commit_beyond_the_limit_leaves_nothing() {
        let (place, url, commits) = place();
        place.limits("fetch-bytes = 100");
        assert_eq!(code(place.fetcher().with_file_addresses().git(&url, &commits[0])), "HD0209");
        assert_eq!(place.cached(), Vec::<PathBuf>::new());
    }

    #[test]
    fn git_is_found_by_absolute_paths_alone() {
        let (place, url, commits) = place();
        for path in ["", ".", "bin:./bin"] {
            let place = Place::new().with("PATH", path);
            let result = place.fetcher().with_file_addresses().git(&url, &commits[0]);
            assert_eq!(code(result), "HD0210", "{path}");
        }
        drop(place);
    }

    #[test]
    fn no_setting_or_variable_of_the_user_reaches_git() {
        let (place, url, commits) = place();
        let home = place.directory.path().join("home");
        let hook = home.join("hooks/post-checkout");
        fs::create_dir(hook.parent().unwrap()).unwrap();
        fs::write(&hook, format!("#!/bin/sh\ntouch {}/ran\n", home.display())).unwrap();
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
        let hooks = hook.parent().unwrap();
        fs::write(
            home.join(".gitconfig"),
            format!(
                "[core]\nhooksPath = {}\n[url \"https://evil/\"]\ninsteadOf = file:\n",
                hooks.display()
            ),
        )
        .unwrap();
        let place = place
            .with("GIT_DIR", "/nowhere")
            .with("GIT_CONFIG_COUNT", "1")
            .with("GIT_CONFIG_KEY_0", "core.hooksPath")
            .with("GIT_CONFIG_VALUE_0", hooks)
            .with("GIT_CONFIG_PARAMETERS", "'url.https://evil/.insteadof=file:'");
        place.fetcher().with_file_addresses().git(&url, &commits[0]).unwrap();
        assert!(!home.join("ran").exists());
    }

    #[test]
    fn two_at_once_fetch_once() {
        let (place, url, commits) = place();
        let count = place.directory.path().join("count");
        let script = format!(
            "PATH=${{PATH#*:}}\ncase \" $* \" in *' fetch '*) echo x >> {}; sleep 1;; esac\nexec git \"$@\"",
            count.display()
        );
        let place = with_git(place, &script);
        let fetcher = place.fetcher().with_file_addresses();
        let digests: Vec<Digest> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| *fetcher.git(&url, &commits[0]).unwrap().digest()))
                .collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert!(digests.iter().all(|digest| *digest == digests[0]));
        assert_eq!(fs::read_to_string(count).unwrap(), "x\n");
    }

    #[test]
    fn many_different_fetches_do_not_clean_each_other_away() {
        let (place, _, _) = place();
        let fetcher = place.fetcher().with_file_addresses();
        let many: Vec<_> = (0..12)
            .map(|n| {
                let bare = place.directory.path().join(format!("{n}.git"));
                (file_url(&bare), repository(&bare, &[FILES]).remove(0))
            })
            .collect();
        std::thread::scope(|scope| {
            for (url, commit) in &many {
                scope.spawn(|| fetcher.git(url, commit).unwrap());
            }
        });
        assert_eq!(fs::read_dir(place.store().cache().join("stages")).unwrap().count(), 0);
    }

    #[test]
    fn what_a_killed_fetch_left_is_cleaned() {
        let (place, url, commits) = place();
        let left = place.store().cache().join("stages/.holdall-stage-0123456789abcdef");
        fs::create_dir_all(left.join("git/objects")).unwrap();
        fs::write(left.join("git/HEAD"), "half").unwrap();
        fs::set_permissions(place.store().root(), fs::Permissions::from_mode(0o700)).unwrap();
        place.fetcher().with_file_addresses().git(&url, &commits[0]).unwrap();
        assert!(!left.exists());
        assert_eq!(fs::read_dir(place.store().cache().join("stages")).unwrap().count(), 0);
    }

    #[test]
    #[ignore = "needs openssl"]
    fn a_commit_comes_over_tls_and_the_hostile_ways_end() {
        let server = Server::https();
        let commits = repository(&server.root().join("git/r"), &[FILES, &[("SKILL.md", "two")]]);
        let place = Place::new();
        // Without the authority nothing is trusted.
        assert_eq!(code(place.fetcher().git(&server.url("git/r"), &commits[0])), "HD0206");
        let fetcher = place.fetcher().with_ca_file(Some(server.ca()));
        for commit in &commits {
            let fetched = fetcher.git(&server.url("git/r"), commit).unwrap();
            assert_eq!(fetched.pin(), &Pin::Commit(commit.clone()));
            assert!(fetched.path().join("SKILL.md").exists());
            let beside: Vec<_> = fs::read_dir(fetched.path().parent().unwrap())
                .unwrap()
                .map(|entry| entry.unwrap().file_name())
                .collect();
            assert_eq!(beside.len(), 2, "record and tree alone: {beside:?}");
        }
        assert_eq!(fetcher.git_ref(&server.url("git/r"), "main").unwrap(), commits[1]);
        // A server of plain files knows nothing of single commits.
        let told = std::process::Command::new("git")
            .args(["--git-dir", server.root().join("git/r").to_str().unwrap()])
            .arg("update-server-info")
            .status();
        assert!(told.unwrap().success());
        let plain = fetcher.git(&server.url("git-dumb/r"), &commits[0]).unwrap();
        assert_eq!(fs::read_to_string(plain.path().join("SKILL.md")).unwrap(), "one");
        // A redirect is not followed, not even to the same server.
        assert_eq!(code(fetcher.git(&server.url("git-moved/r"), &commits[0])), "HD0206");
        // The server gives another commit than was asked for.
        server.write("swap", format!("{}={}", commits[0], commits[1]));
        let result = fetcher.git(&server.url("git-swapped/r"), &commits[0]);
        assert!(matches!(code(result).as_str(), "HD0206" | "HD0208"));
        place.limits("fetch-seconds = 2");
        assert_eq!(code(fetcher.git(&server.url("hang/r"), &commits[0])), "HD0209");
    }
}

mod https {
    use super::*;

    const PACKAGE: &[u8] = b"any bytes: what they are is for the reader to say";

    fn place() -> (Server, Place, Fetcher) {
        let (server, place) = (Server::https(), Place::new());
        server.write("files/p.aospkg", PACKAGE);
        let fetcher = place.fetcher().with_ca_file(Some(server.ca()));
        (server, place, fetcher)
    }

    #[test]
    #[ignore = "needs openssl"]
    fn a_file_is_named_by_its_digest_and_asked_for_again() {
        let (server, place, fetcher) = place();
        let address = server.url("files/p.aospkg");
        assert_eq!(code(place.fetcher().https(&address, None)), "HD0206", "an unknown authority");
        let fetched = fetcher.https(&address, None).unwrap();
        let digest = Digest::sha256(PACKAGE);
        assert_eq!((fetched.digest(), fetched.pin()), (&digest, &Pin::Sha256(digest)));
        assert_eq!(fs::read(fetched.path()).unwrap(), PACKAGE);
        let name = fetched.path().file_name().unwrap().to_str().unwrap();
        assert_eq!(name, format!("{}.aospkg", digest.hex()));
        // Asked again: the server says that nothing changed, and sends nothing.
        fetcher.https(&address, None).unwrap();
        assert_eq!(server.requests("GET /files/p.aospkg"), 2);
        let offline = fetcher.clone().offline(true);
        assert!(offline.https(&address, None).unwrap().from_cache());
        assert!(fetcher.https(&address, Some(&digest)).unwrap().from_cache());
        assert_eq!(server.requests("GET /files/p.aospkg"), 2, "no connection for a known digest");
        let other = Digest::sha256(b"other");
        assert_eq!(code(fetcher.https(&address, Some(&other))), "HD0208", "the copy is no excuse");
        // The same address has something else now.
        server.write("files/p.aospkg", "new");
        let newer = fetcher.https(&address, None).unwrap();
        assert_eq!(*newer.digest(), Digest::sha256(b"new"));
        assert_eq!(*offline.https(&address, None).unwrap().digest(), Digest::sha256(b"new"));
        assert_eq!(code(offline.https(&server.url("files/q.aospkg"), None)), "HD0207");
        let unknown = Digest::sha256(b"unknown");
        assert_eq!(code(offline.https(&address, Some(&unknown))), "HD0207");
    }

    #[test]
    #[ignore = "needs openssl"]
    fn hostile_servers_leave_nothing() {
        let (server, place, fetcher) = place();
        let of = |path: &str| code(fetcher.https(&server.url(path), None));
        assert_eq!(of("cut/p.aospkg"), "HD0206");
        assert_eq!(of("loop/p.aospkg"), "HD0206");
        assert_eq!(of("to-http/p.aospkg"), "HD0211");
        assert_eq!(of("files/none.aospkg"), "HD0206");
        let other = Digest::sha256(b"other");
        let pinned = fetcher.https(&server.url("files/p.aospkg"), Some(&other));
        assert_eq!(code(pinned), "HD0208");
        place.limits("fetch-seconds = 2\nfetch-bytes = 1000000");
        assert_eq!(of("hang/p.aospkg"), "HD0209");
        assert_eq!(of("endless/p.aospkg"), "HD0209");
        place.limits("fetch-bytes = 10");
        assert_eq!(of("files/p.aospkg"), "HD0209");
        assert_eq!(place.cached(), Vec::<PathBuf>::new());
        place.limits("");
        let followed = fetcher.https(&server.url("to/p.aospkg"), None).unwrap();
        assert_eq!(fs::read(followed.path()).unwrap(), PACKAGE);
    }

    #[test]
    #[ignore = "needs openssl"]
    fn a_changed_copy_is_never_used() {
        let (server, _place, fetcher) = place();
        let address = server.url("files/p.aospkg");
        let digest = Digest::sha256(PACKAGE);
        let fetched = fetcher.https(&address, None).unwrap();
        for pin in [None, Some(&digest)] {
            fs::write(fetched.path(), "evil").unwrap();
            assert_eq!(code(fetcher.clone().offline(true).https(&address, pin)), "HD0208");
            let again = fetcher.https(&address, pin).unwrap();
            assert_eq!(fs::read(again.path()).unwrap(), PACKAGE);
        }
    }

    #[test]
    #[ignore = "needs openssl"]
    fn several_at_once_fetch_once() {
        let (server, _place, fetcher) = place();
        let address = server.url("slow/p.aospkg");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| fetcher.https(&address, None).unwrap());
            }
        });
        assert_eq!(server.requests("GET /slow/p.aospkg"), 1);
    }

    #[test]
    #[ignore = "needs openssl"]
    fn the_proxy_is_the_one_that_is_given() {
        let (server, place, _) = place();
        let address = server.url("files/p.aospkg");
        // Nobody listens at port 9.
        for name in ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
            let dead = Place::new().with(name, "http://127.0.0.1:9");
            let through = |place: &Place| {
                place.fetcher().with_ca_file(Some(server.ca())).https(&address, None)
            };
            assert_eq!(code(through(&dead)), "HD0206", "{name}");
            let around = dead.with("NO_PROXY", "h.example, localhost");
            assert_eq!(*through(&around).unwrap().digest(), Digest::sha256(PACKAGE), "{name}");
        }
        drop(place);
    }

    #[test]
    fn only_https_and_known_endings() {
        let place = Place::new();
        for address in [
            "http://h.example/p.aospkg",
            "file:///p.aospkg",
            "https://h.example/p.zip",
            "https://h.example/?p.aospkg",
            "https://h.example/aospkg",
        ] {
            assert_eq!(code(place.fetcher().https(address, None)), "HD0211", "{address}");
        }
        assert!(!place.store().root().exists());
    }
}

mod npm {
    use super::*;

    fn place() -> (Server, Place) {
        let server = Server::registry();
        let place = Place::new()
            .with("npm_config_registry", server.plain_url())
            .with("npm_config_fetch_retries", "0");
        let scripts = format!(
            r#""scripts":{{"preinstall":"touch {0}","install":"touch {0}","postinstall":"touch {0}","prepare":"touch {0}","prepack":"touch {0}","postpack":"touch {0}"}}"#,
            place.directory.path().join("ran").display()
        );
        let package = format!(r#"{{"name":"@s/skills","version":"1.2.3",{scripts}}}"#);
        server.write("@s/skills/package.json", package);
        server.write("@s/skills/skills/a/SKILL.md", "a");
        server.write("sealed/package.json", r#"{"name":"sealed","version":"0.1.0"}"#);
        server.write("sealed/dist/package.aospkg", "sealed bytes");
        (server, place)
    }

    #[test]
    fn a_version_is_unpacked_and_no_script_runs() {
        let (server, place) = place();
        let fetched = place.fetcher().npm("@s/skills", "1.2.3").unwrap();
        assert_eq!(fs::read_to_string(fetched.path().join("skills/a/SKILL.md")).unwrap(), "a");
        assert!(!place.directory.path().join("ran").exists());
        let Pin::Version { version, integrity } = fetched.pin() else { panic!("{fetched:?}") };
        assert_eq!(version, "1.2.3");
        assert!(integrity.starts_with("sha512-"));
        assert_eq!(fs::read_dir(place.directory.path().join("home")).unwrap().count(), 0);
        assert_eq!(fs::read_dir(place.store().cache().join("stages")).unwrap().count(), 0);
        drop(server);
        let again = place.fetcher().offline(true).npm("@s/skills", "1.2.3").unwrap();
        assert!(again.from_cache());
        assert_eq!((again.digest(), again.pin()), (fetched.digest(), fetched.pin()));
        assert_eq!(code(place.fetcher().offline(true).npm("@s/skills", "1.2.4")), "HD0207");
        // Another registry is another origin.
        let other = place.with("npm_config_registry", "http://127.0.0.1:9/");
        assert_eq!(code(other.fetcher().offline(true).npm("@s/skills", "1.2.3")), "HD0207");
    }

    #[test]
    fn a_sealed_package_in_it_is_the_answer() {
        let (_server, place) = place();
        let fetched = place.fetcher().npm("sealed", "0.1.0").unwrap();
        assert!(fetched.path().ends_with("dist/package.aospkg"));
        assert_eq!(*fetched.digest(), Digest::sha256(b"sealed bytes"));
        fs::write(fetched.path(), "evil").unwrap();
        assert_eq!(code(place.fetcher().offline(true).npm("sealed", "0.1.0")), "HD0208");
        assert_eq!(
            fs::read(place.fetcher().npm("sealed", "0.1.0").unwrap().path()).unwrap(),
            b"sealed bytes"
        );
    }

    #[test]
    fn what_npm_does_not_have_or_lies_about_is_refused() {
        let (server, place) = place();
        assert_eq!(code(place.fetcher().npm("missing", "1.0.0")), "HD0206");
        let error = place.fetcher().npm("sealed", "9.9.9").unwrap_err();
        assert_eq!(error.diagnostic().code, "HD0206");
        let said = "npm: No matching version found for sealed@9.9.9";
        assert!(error.to_string().contains(said), "{error}");
        server.write("sealed.lie", "");
        assert_eq!(code(place.fetcher().npm("sealed", "0.1.0")), "HD0206");
        for (name, version) in [
            ("-x", "1.0.0"),
            ("a", "-1"),
            ("", "1.0.0"),
            ("git:x", "1.0.0"),
            ("../x", "1.0.0"),
            ("a", "../x"),
        ] {
            assert_eq!(code(place.fetcher().npm(name, version)), "HD0211", "{name}@{version}");
        }
        assert_eq!(place.cached(), Vec::<PathBuf>::new());
    }

    #[test]
    fn a_tarball_that_npm_would_unpack_in_part_is_refused() {
        let cases: [(&str, &str); 4] = [
            ("link", "t.addfile(m('package/l', tarfile.SYMTYPE, link='/etc/passwd'))"),
            ("out", "t.addfile(m('package/../../x'))"),
            ("twice", "t.addfile(m('package/a')); t.addfile(m('package/a'))"),
            ("bare", "t.addfile(m('x'))"),
        ];
        for (name, add) in cases {
            let (server, place) = place();
            server.write(
                &format!("{name}/package.json"),
                format!(r#"{{"name":"{name}","version":"1.0.0"}}"#),
            );
            let script = format!(
                "import io, sys, tarfile\n\
                 def m(name, kind=tarfile.REGTYPE, link=''):\n i = tarfile.TarInfo(name); i.type = kind; i.linkname = link; return i\n\
                 t = tarfile.open(sys.argv[1], 'w:gz')\n\
                 b = b'{{\"name\":\"{name}\",\"version\":\"1.0.0\"}}'; i = m('package/package.json'); i.size = len(b)\n\
                 t.addfile(i, io.BytesIO(b))\n{add}\nt.close()\n"
            );
            let made = std::process::Command::new("python3")
                .args(["-c", &script])
                .arg(server.root().join(format!("{name}.tgz")))
                .status()
                .unwrap();
            assert!(made.success());
            assert_eq!(code(place.fetcher().npm(name, "1.0.0")), "HD0206", "{name}");
            assert_eq!(place.cached(), Vec::<PathBuf>::new(), "{name}");
        }
    }
}
