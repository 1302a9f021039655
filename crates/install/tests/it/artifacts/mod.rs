//! Artifacts in agent hosts: real roots, real directories.

mod doctor;
#[cfg(feature = "fault")]
mod faults;
mod placed;
mod registered;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use holdall_hosts::{HostEnv, Scope};
use holdall_install::{
    ArtifactError, ArtifactHost, Bundle, DataPolicy, HostPrograms, InstallArtifact, InstallSummary,
    Prepared, UninstallArtifact, UninstallSummary, plan_artifact_install, plan_artifact_uninstall,
};
use holdall_store::Store;
use holdall_tree::Digest;

pub(crate) const NOW: &str = "2026-11-30T12:00:00.000Z";

/// A home directory with a store, and a copy of a golden artifact.
pub(crate) struct World {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) store: Store,
    pub(crate) env: HostEnv,
    pub(crate) environment: BTreeMap<OsString, OsString>,
    pub(crate) limit: Duration,
    /// The home, where that is not `dir`.
    pub(crate) home: Option<PathBuf>,
}

impl World {
    pub(crate) fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("it's a höme ").tempdir().unwrap();
        let store = Store::at(dir.path().join("store")).unwrap();
        store.create().unwrap();
        let env = HostEnv::new(dir.path());
        fs::create_dir(dir.path().join(".cursor")).unwrap();
        fs::create_dir(dir.path().join("project")).unwrap();
        let mut path = vec![dir.path().join("bin")];
        path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap()));
        let path = std::env::join_paths(path).unwrap();
        let home = dir.path().as_os_str().to_owned();
        let environment = BTreeMap::from([("PATH".into(), path), ("HOME".into(), home)]);
        Self { dir, store, env, environment, limit: Duration::from_mins(2), home: None }
    }

    pub(crate) fn programs(&self) -> HostPrograms {
        HostPrograms::new(self.environment.clone(), self.limit)
    }

    /// Puts the stand-in for both hosts' programs on PATH.
    pub(crate) fn with_fake(self) -> Self {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/artifacts/fake-host.cjs");
        fs::create_dir(self.path("bin")).unwrap();
        for name in ["claude", "codex"] {
            let dest = self.path("bin").join(name);
            fs::copy(&source, &dest).unwrap();
            set_mode(&dest, 0o755);
        }
        self
    }

    /// Sets a variable of the environment that programs get.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.environment.insert(name.into(), value.into());
    }

    /// What the stand-in was told since the last time, without listings.
    pub(crate) fn told(&self) -> Vec<String> {
        let log = self.path("fake.log");
        let text = fs::read_to_string(&log).unwrap_or_default();
        let _ = fs::remove_file(log);
        let lines = text.lines().filter(|line| !line.contains(" list"));
        lines.map(|line| line.replace(&self.dir.path().display().to_string(), "~")).collect()
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.home.as_deref().unwrap_or(self.dir.path()).join(below)
    }

    /// A fresh copy of a golden artifact, with plain modes whatever the checkout's are.
    pub(crate) fn root(&self, name: &str, as_name: &str) -> PathBuf {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/artifacts");
        let root = self.path(as_name);
        copy(&golden.join(name), &root);
        root
    }

    pub(crate) fn install(
        &self,
        host: ArtifactHost,
        root: &Path,
    ) -> Result<InstallSummary, String> {
        self.install_as(host, root, Scope::User, false)
    }

    pub(crate) fn plan(
        &self,
        host: ArtifactHost,
        root: &Path,
        scope: Scope,
        replace: bool,
    ) -> Result<Prepared<InstallSummary>, String> {
        let bundle = Bundle::open(root, host).map_err(|found| codes(&found))?;
        let request = InstallArtifact {
            store: &self.store,
            env: &self.env,
            project: &self.path("project"),
            scope,
            programs: &self.programs(),
            replace,
            now: NOW,
        };
        plan_artifact_install(&request, &bundle).map_err(|error| refused(&error))
    }

    pub(crate) fn install_as(
        &self,
        host: ArtifactHost,
        root: &Path,
        scope: Scope,
        replace: bool,
    ) -> Result<InstallSummary, String> {
        let prepared = self.plan(host, root, scope, replace)?;
        self.apply(&prepared)?;
        Ok(prepared.summary)
    }

    pub(crate) fn apply(&self, prepared: &Prepared<InstallSummary>) -> Result<(), String> {
        let lock = self.store.lock(|| {}).unwrap();
        match prepared.apply(&self.store, &lock, &self.programs()) {
            Ok(said) if said.is_empty() => Ok(()),
            Ok(said) => Err(codes(&said)),
            Err(error) => Err(refused(&error)),
        }
    }

    pub(crate) fn uninstall(
        &self,
        host: ArtifactHost,
        scope: Scope,
        data: DataPolicy,
        force: bool,
    ) -> Result<UninstallSummary, String> {
        let request = UninstallArtifact {
            store: &self.store,
            env: &self.env,
            project: &self.path("project"),
            host,
            programs: &self.programs(),
            plugin: "bench-board",
            scope,
            data,
            force,
            now: NOW,
        };
        let mut prepared = plan_artifact_uninstall(&request).map_err(|error| refused(&error))?;
        let lock = self.store.lock(|| {}).unwrap();
        prepared.apply(&self.store, &lock, &self.programs()).map_err(|error| refused(&error))?;
        Ok(prepared.summary)
    }
}

pub(crate) fn refused(error: &ArtifactError) -> String {
    match error {
        ArtifactError::Refused(found) => codes(found),
        ArtifactError::Apply(error) => error.to_string(),
    }
}

fn codes(found: &[holdall_diagnostics::Diagnostic]) -> String {
    let rows = found.iter().map(|found| format!("{} {}", found.code, found.message));
    rows.collect::<Vec<_>>().join("\n")
}

pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let dest = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &dest);
        } else {
            fs::copy(entry.path(), &dest).unwrap();
            let executable = mode(&entry.path()) & 0o100 != 0;
            set_mode(&dest, if executable { 0o755 } else { 0o644 });
        }
    }
}

pub(crate) fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

pub(crate) fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Gives a listed file other bytes, and its row what they measure.
pub(crate) fn edit(root: &Path, path: &str, bytes: &str) {
    let before = fs::read(root.join(path)).unwrap();
    fs::write(root.join(path), bytes).unwrap();
    let manifest = root.join("agent-bundle.manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    let at = text.find(&format!("\"path\":\"{path}\",\"sha256\"")).unwrap();
    let start = text[..at].rfind("{\"bytes\":").unwrap();
    let end = at + text[at..].find('}').unwrap();
    let row = text[start..end]
        .replace(&format!("\"bytes\":{}", before.len()), &format!("\"bytes\":{}", bytes.len()))
        .replace(&Digest::sha256(&before).hex(), &Digest::sha256(bytes.as_bytes()).hex());
    fs::write(manifest, format!("{}{row}{}", &text[..start], &text[end..])).unwrap();
}

/// Gives the application another version, in every document; Codex prefers the portable one.
pub(crate) fn set_version(root: &Path, version: &str) {
    for path in [
        "plugin.json",
        ".claude-plugin/plugin.json",
        ".claude-plugin/marketplace.json",
        ".codex-plugin/plugin.json",
        ".cursor-plugin/plugin.json",
    ] {
        let text = fs::read_to_string(root.join(path)).unwrap();
        edit(root, path, &text.replace("0.3.0", version));
    }
    let manifest = root.join("agent-bundle.manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    let end = text.find("},\"compiler\"").unwrap();
    let head = text[..end].replace("\"version\":\"0.3.0\"", &format!("\"version\":\"{version}\""));
    fs::write(manifest, head + &text[end..]).unwrap();
}

/// Every file below a directory with its bits and bytes.
pub(crate) fn snapshot(dir: &Path) -> Vec<(String, u32, Vec<u8>)> {
    let mut found = Vec::new();
    let mut todo = vec![dir.to_owned()];
    while let Some(at) = todo.pop() {
        let Ok(entries) = fs::read_dir(&at) else { continue };
        for entry in entries {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(dir).unwrap().display().to_string();
            if path.is_symlink() {
                found.push((name, 0, Vec::new()));
            } else if path.is_dir() {
                found.push((format!("{name}/"), mode(&path), Vec::new()));
                todo.push(path);
            } else {
                // A socket has no bytes.
                found.push((name, mode(&path), fs::read(&path).unwrap_or_default()));
            }
        }
    }
    found.sort();
    found
}

/// What stands in the home besides the store.
pub(crate) fn outside(world: &World) -> Vec<(String, u32, Vec<u8>)> {
    let mut all = snapshot(world.dir.path());
    all.retain(|(name, _, _)| !name.starts_with("store"));
    all
}
