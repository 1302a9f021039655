//! Artifacts in agent hosts: real roots, real directories.

mod placed;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use holdall_hosts::{HostEnv, Scope};
use holdall_install::{
    ArtifactError, ArtifactHost, Bundle, DataPolicy, InstallArtifact, InstallSummary, NoPrograms,
    Plan, UninstallArtifact, UninstallSummary, apply_artifact, plan_artifact_install,
    plan_artifact_uninstall,
};
use holdall_store::Store;
use holdall_tree::Digest;

pub(crate) const NOW: &str = "2026-11-30T12:00:00.000Z";

/// A home directory with a store, and a copy of a golden artifact.
pub(crate) struct World {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) store: Store,
    pub(crate) env: HostEnv,
}

impl World {
    pub(crate) fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("it's a höme ").tempdir().unwrap();
        let store = Store::at(dir.path().join("store")).unwrap();
        let env = HostEnv::new(dir.path());
        fs::create_dir(dir.path().join(".cursor")).unwrap();
        fs::create_dir(dir.path().join("project")).unwrap();
        Self { dir, store, env }
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.dir.path().join(below)
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
    ) -> Result<(Plan, InstallSummary), String> {
        let bundle = Bundle::open(root, host).map_err(|found| codes(&found))?;
        let request = InstallArtifact {
            store: &self.store,
            env: &self.env,
            project: &self.path("project"),
            scope,
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
        let (plan, summary) = self.plan(host, root, scope, replace)?;
        self.apply(&plan)?;
        Ok(summary)
    }

    pub(crate) fn apply(&self, plan: &Plan) -> Result<(), String> {
        let lock = self.store.lock(|| {}).unwrap();
        apply_artifact(&self.store, &lock, plan, &NoPrograms).map_err(|error| refused(&error))
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
            plugin: "bench-board",
            scope,
            data,
            force,
            now: NOW,
        };
        let (plan, summary) = plan_artifact_uninstall(&request).map_err(|error| refused(&error))?;
        self.apply(&plan)?;
        Ok(summary)
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

/// Gives the application another version.
pub(crate) fn set_version(root: &Path, version: &str) {
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
