//! Real servers on a port of their own, gone with the test.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A server and the directory it serves.
pub(crate) struct Server {
    child: Child,
    port: u16,
    directory: tempfile::TempDir,
}

impl Server {
    /// HTTPS with a certificate of an authority of its own.
    pub(crate) fn https() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
        for made in ["files", "git"] {
            std::fs::create_dir(directory.path().join(made)).unwrap();
        }
        let (ca, ca_key, leaf, key) = (at("ca.pem"), at("ca.key"), at("leaf.pem"), at("leaf.key"));
        openssl(&["-subj", "/CN=test authority", "-keyout", &ca_key, "-out", &ca]);
        let names = "subjectAltName=DNS:localhost,IP:127.0.0.1";
        let no_ca = "basicConstraints=critical,CA:FALSE";
        openssl(&[
            "-subj",
            "/CN=localhost",
            "-addext",
            names,
            "-addext",
            no_ca,
            "-CA",
            &ca,
            "-CAkey",
            &ca_key,
            "-keyout",
            &key,
            "-out",
            &leaf,
        ]);
        let root = directory.path().to_str().unwrap().to_owned();
        Self::start("https.py", &[&leaf, &key, &root], directory)
    }

    /// A registry of npm over plain HTTP.
    pub(crate) fn registry() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().to_str().unwrap().to_owned();
        Self::start("registry.py", &[&root], directory)
    }

    fn start(script: &str, arguments: &[&str], directory: tempfile::TempDir) -> Self {
        let script =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../store/tests/servers").join(script);
        let mut child = Command::new("python3")
            .arg(script)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 is needed: install Python 3");
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().parse().expect("the server prints its port");
        Self { child, port, directory }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("https://localhost:{}/{path}", self.port)
    }

    /// The address of a registry.
    pub(crate) fn plain_url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    pub(crate) fn ca(&self) -> PathBuf {
        self.directory.path().join("ca.pem")
    }

    pub(crate) fn root(&self) -> &Path {
        self.directory.path()
    }

    /// A file below what is served.
    pub(crate) fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.directory.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    /// How many requests asked for exactly this so far.
    pub(crate) fn requests(&self, line: &str) -> usize {
        let log = std::fs::read_to_string(self.directory.path().join("log")).unwrap_or_default();
        log.lines().filter(|asked| *asked == line).count()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn openssl(arguments: &[&str]) {
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"])
        .args(arguments)
        .output()
        .expect("openssl is needed: apt-get install openssl");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

/// A bare repository with one commit for each set of files, in order; returns the commits.
pub(crate) fn repository(at: &Path, commits: &[&[(&str, &str)]]) -> Vec<String> {
    let work = tempfile::tempdir().unwrap();
    let git = |directory: &Path, arguments: &[&str]| {
        let done = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@example.org"])
            .args(["-c", "init.defaultBranch=main", "-c", "commit.gpgSign=false"])
            .args(arguments)
            .current_dir(directory)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .expect("git is needed: apt-get install git");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap().trim().to_owned()
    };
    git(work.path(), &["init", "-q"]);
    let mut made = Vec::new();
    for files in commits {
        for (path, text) in *files {
            let path = work.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            if let Some(target) = text.strip_prefix("-> ") {
                std::os::unix::fs::symlink(target, path).unwrap();
            } else {
                std::fs::write(path, text).unwrap();
            }
        }
        git(work.path(), &["add", "-A"]);
        git(work.path(), &["commit", "-q", "-m", "a commit"]);
        made.push(git(work.path(), &["rev-parse", "HEAD"]));
    }
    git(work.path(), &["tag", "-a", "v1", "-m", "a tag", &made[0]]);
    let at = at.to_str().unwrap();
    git(work.path(), &["clone", "-q", "--bare", ".", at]);
    made
}
