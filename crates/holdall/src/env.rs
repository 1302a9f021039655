//! The environment of the process, read once: libraries get values, never the environment.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use holdall_diagnostics::Diagnostic;

use crate::codes;
use crate::outcome::Failure;

/// What `--home` hides, in children too.
const HIDDEN_BY_HOME: [&str; 10] = [
    "HOLDALL_HOME",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "COPILOT_HOME",
    "HERMES_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
    "AGENT_BUNDLE_STATE_ROOT",
];

/// Variables and working directory of this run, `--home` applied.
#[derive(Debug, Clone)]
pub(crate) struct Env {
    variables: BTreeMap<OsString, OsString>,
    working_directory: PathBuf,
    moved: bool,
}

impl Env {
    /// Reads the process's environment. With `--home DIR` the home is DIR, made absolute, and the
    /// variables that would lead past it count as unset.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads it")]
    pub(crate) fn from_process(home: Option<&Path>) -> Result<Self, Failure> {
        let working_directory = std::env::current_dir().map_err(|error| {
            unusable(
                format!("the working directory is gone: {error}"),
                "change into a directory that exists",
            )
        })?;
        Ok(Self::new(std::env::vars_os().collect(), working_directory, home))
    }

    fn new(
        mut variables: BTreeMap<OsString, OsString>,
        working_directory: PathBuf,
        home: Option<&Path>,
    ) -> Self {
        if let Some(home) = home {
            for name in HIDDEN_BY_HOME {
                variables.remove(OsStr::new(name));
            }
            variables.insert("HOME".into(), absolute(&working_directory, home).into());
        }
        Self { variables, working_directory, moved: home.is_some() }
    }

    /// A variable that is set and not empty.
    pub(crate) fn variable(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(OsStr::new(name)).map(OsString::as_os_str).filter(|v| !v.is_empty())
    }

    /// All variables as children get them.
    pub(crate) fn variables(&self) -> &BTreeMap<OsString, OsString> {
        &self.variables
    }

    /// The directory in which relative paths begin.
    pub(crate) fn working_directory(&self) -> &Path {
        &self.working_directory
    }

    /// The user's home, absolute.
    pub(crate) fn home(&self) -> Result<PathBuf, Failure> {
        let home =
            self.variable("HOME").map(|home| absolute(&self.working_directory, home.as_ref()));
        home.ok_or_else(|| {
            unusable("the user's home directory is not known", "set HOME, or give --home DIR")
        })
    }

    /// The store: `$HOLDALL_HOME`, else `holdall` in the platform's data directory.
    pub(crate) fn store(&self) -> Result<PathBuf, Failure> {
        if let Some(store) = self.variable("HOLDALL_HOME") {
            return Ok(absolute(&self.working_directory, store.as_ref()));
        }
        // The base directory specification says to ignore relative values.
        let data =
            self.variable("XDG_DATA_HOME").map(PathBuf::from).filter(|dir| dir.is_absolute());
        let data = match data {
            Some(data) => data,
            None if cfg!(target_os = "macos") && !self.moved => {
                self.home()?.join("Library/Application Support")
            }
            None => self.home()?.join(".local/share"),
        };
        Ok(data.join("holdall"))
    }
}

fn unusable(message: impl Into<String>, help: &str) -> Failure {
    Diagnostic::new(&codes::ENVIRONMENT, message).help(help).into()
}

/// A path from the root without `.` and `..`, so that one place has one name: records are kept by
/// it. `..` behind a link leads where the link leads.
fn absolute(base: &Path, path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for part in base.join(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                if let Ok(real) = whole.canonicalize() {
                    whole = real;
                }
                whole.pop();
            }
            part => whole.push(part),
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(variables: &[(&str, &str)], home: Option<&str>) -> Env {
        let variables = variables.iter().map(|(k, v)| (k.into(), v.into())).collect();
        Env::new(variables, "/w".into(), home.map(Path::new))
    }

    #[test]
    fn the_store_follows_the_variables() {
        let store = |variables: &[(&str, &str)], home| env(variables, home).store().unwrap();
        let all = [("HOME", "/h"), ("XDG_DATA_HOME", "/d"), ("HOLDALL_HOME", "s")];
        assert_eq!(store(&all, None), Path::new("/w/s"));
        assert_eq!(store(&all[..2], None), Path::new("/d/holdall"));
        assert_eq!(
            store(&[("HOME", "/h"), ("XDG_DATA_HOME", "rel")], None),
            Path::new("/h/.local/share/holdall")
        );
        assert_eq!(store(&all, Some("try")), Path::new("/w/try/.local/share/holdall"));
        assert_eq!(store(&[], Some("/t")), Path::new("/t/.local/share/holdall"));
        assert_eq!(env(&[("HOME", "")], None).store().unwrap_err().diagnostics()[0].code, "HD0103");
    }

    #[test]
    fn one_home_has_one_name() {
        for home in ["try", "./try", "try/", "./x/../try", "/w/try", "/w/./try"] {
            assert_eq!(env(&[], Some(home)).home().unwrap(), Path::new("/w/try"), "{home}");
        }
    }

    #[test]
    fn home_hides_what_leads_past_it() {
        let env = env(&[("CODEX_HOME", "/c"), ("PATH", "/bin"), ("HOME", "/h")], Some("try"));
        assert_eq!(env.variable("CODEX_HOME"), None);
        assert_eq!(env.variable("PATH"), Some(OsStr::new("/bin")));
        assert_eq!(env.home().unwrap(), Path::new("/w/try"));
        assert_eq!(env.variables().get(OsStr::new("HOME")).unwrap(), "/w/try");
        assert!(env.moved);
    }
}
