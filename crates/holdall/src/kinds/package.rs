//! Packages: who it is, what it runs in a guest, what it reaches there, what is odd about it.

use holdall_aospkg::{
    Inspection, PackageError, PackageLimits, Run, RunKind, TarFileSystem, inspect, oddities, verify,
};
use holdall_diagnostics::Diagnostic;
use serde_json::{Value, json};

use super::{Checked, Covered, Inspected};
use crate::outcome::Failure;
use crate::report::{count, size};

/// Everything that is known of a package without reading its files.
#[derive(Debug)]
pub(crate) struct Facts {
    about: Inspection,
    odd: Vec<Diagnostic>,
}

impl Facts {
    /// Looks at a package.
    /// `shown` is how the user named it.
    pub(crate) fn of(package: &TarFileSystem, shown: &str) -> Result<Self, Failure> {
        let about = inspect(package).map_err(failed)?;
        let odd = oddities(package, &PackageLimits::default()).map_err(failed)?;
        Ok(Self { about, odd: odd.into_iter().map(|odd| odd.at(shown)).collect() })
    }

    /// Adds them to an answer. Where something else is sealed in the package, that one comes
    /// first, and its `runs` and `reaches` are its own.
    pub(crate) fn tell(&self, answer: &mut Inspected) {
        self.tell_people(answer);
        let facts = &mut answer.facts;
        facts.insert("package".to_owned(), self.itself());
        if !facts.contains_key("runs") {
            facts.insert("runs".to_owned(), self.about.runs.iter().map(run_fact).collect());
            facts.insert("reaches".to_owned(), self.reaches());
        }
        facts.insert("signed".to_owned(), json!(false));
        facts.insert("sizes".to_owned(), self.sizes());
        facts.insert("odd".to_owned(), json!(self.odd));
    }

    fn tell_people(&self, answer: &mut Inspected) {
        let about = &self.about;
        let report = &mut answer.report;
        let holds = &about.holds;
        let (files, bytes) = (count(holds.files, "file"), size(holds.bytes));
        let format = about.format.number();
        report.head(format!(
            "{} {}   package, format version {format}, {files}, {bytes}",
            about.name, about.version
        ));
        let width = about.runs.iter().map(|run| run.command.chars().count()).max().unwrap_or(0);
        let runs = about.runs.iter().map(|run| run_line(run, width));
        report.rows("runs", runs, "nothing: it has no commands");
        if let Some(agent) = &about.agent {
            report.row("agent", agent_line(agent));
        }
        let env = about.env.iter().map(|variable| {
            let why = flag(variable.flagged);
            format!("sets {}={} for every program{why}", variable.key, variable.value)
        });
        let mounts = about.mounts.iter().map(|mount| {
            format!("shows {} at {}{}", mount.source, mount.target, flag(mount.flagged))
        });
        report.rows("reaches", env.chain(mounts), "nothing outside its own directory");
        let pages: Vec<_> =
            about.man_pages.iter().map(|page| format!("{}/{}", page.section, page.page)).collect();
        if !pages.is_empty() {
            report.row("man", pages.join(", "));
        }
        let mut inside = vec![
            count(holds.files, "file"),
            count(holds.directories, "directory"),
            count(holds.links, "link"),
        ];
        inside.extend(holds.inside.iter().map(|inside| format!("a sealed {}", inside.as_str())));
        report.row("holds", inside.join(", "));
        let sizes = &about.sizes;
        report.row(
            "sizes",
            format!(
                "{} = manifest {}, index {}, mount {}",
                size(sizes.file),
                size(sizes.manifest),
                size(sizes.index),
                size(sizes.mount)
            ),
        );
        report.row("signed", "no, the format has none");
        let odd = self.odd.iter().map(|odd| format!("{} {}", odd.code, odd.message));
        report.rows("odd", odd, "nothing");
    }

    fn itself(&self) -> Value {
        let about = &self.about;
        let holds = &about.holds;
        let agent = about.agent.as_ref().map(|agent| {
            json!({
                "acpEntrypoint": agent.acp_entrypoint,
                "snapshot": agent.snapshot,
                "env": agent.env.sorted().into_iter().collect::<std::collections::BTreeMap<_, _>>(),
                "launchArgs": agent.launch_args,
            })
        });
        let pages: Vec<Value> = about
            .man_pages
            .iter()
            .map(|page| json!({ "section": page.section, "page": page.page }))
            .collect();
        let inside: Vec<_> = holds.inside.iter().map(|inside| inside.as_str()).collect();
        json!({
            "name": about.name,
            "version": about.version,
            "formatVersion": about.format.number(),
            "agent": agent,
            "manPages": pages,
            "snapshotBundlePath": about.snapshot_bundle_path,
            "holds": {
                "entries": holds.entries,
                "files": holds.files,
                "directories": holds.directories,
                "links": holds.links,
                "bytes": holds.bytes,
                "inside": inside,
            },
        })
    }

    fn reaches(&self) -> Value {
        let env = self.about.env.iter().map(|variable| {
            json!({ "key": variable.key, "value": variable.value, "flagged": variable.flagged })
        });
        let mounts = self.about.mounts.iter().map(|mount| {
            json!({ "source": mount.source, "target": mount.target, "flagged": mount.flagged })
        });
        json!({ "env": env.collect::<Vec<_>>(), "mounts": mounts.collect::<Vec<_>>() })
    }

    fn sizes(&self) -> Value {
        let sizes = &self.about.sizes;
        json!({
            "header": sizes.header,
            "manifest": sizes.manifest,
            "index": sizes.index,
            "mount": sizes.mount,
            "file": sizes.file,
        })
    }
}

fn flag(why: Option<&'static str>) -> String {
    why.map(|why| format!("   ! {why}")).unwrap_or_default()
}

fn agent_line(agent: &holdall_aospkg::AgentBlock) -> String {
    let mut line = format!("`{}` speaks ACP", agent.acp_entrypoint);
    if !agent.launch_args.is_empty() {
        line.push_str(&format!(", started with {}", agent.launch_args.join(" ")));
    }
    for (key, value) in agent.env.sorted() {
        line.push_str(&format!(", {key}={value}"));
    }
    line.push_str(if agent.snapshot { ", has a snapshot" } else { "" });
    line
}

fn run_line(run: &Run, width: usize) -> String {
    let what = match &run.kind {
        RunKind::Wasm { host_modules: None } => "wasm, imports unreadable".to_owned(),
        RunKind::Wasm { host_modules: Some(modules) } if modules.is_empty() => {
            "wasm, imports nothing".to_owned()
        }
        RunKind::Wasm { host_modules: Some(modules) } => {
            format!("wasm, imports {}", modules.join(", "))
        }
        RunKind::Script { interpreter } => format!("script for {interpreter}"),
        RunKind::Native { format } => format!("native {format}, which agentOS does not run"),
        RunKind::Unknown => "unknown, which agentOS does not run".to_owned(),
        RunKind::Missing(errno) => format!("no file {} ({errno})", run.entry),
    };
    let mut line = format!("{:<width$}  {what}", run.command);
    if !matches!(run.kind, RunKind::Missing(_)) {
        line.push_str(&format!(", {}", size(run.size)));
        line.push_str(if run.executable { "" } else { ", no x bit" });
    }
    line.push_str(if run.shadows { "   ! the name of a well-known program" } else { "" });
    line
}

fn run_fact(run: &Run) -> Value {
    let mut fact = json!({
        "command": run.command,
        "entry": run.entry,
        "size": run.size,
        "executable": run.executable,
        "shadows": run.shadows,
    });
    let (kind, key, value) = match &run.kind {
        RunKind::Wasm { host_modules } => ("wasm", "hostModules", json!(host_modules)),
        RunKind::Script { interpreter } => ("script", "interpreter", json!(interpreter)),
        RunKind::Native { format } => ("native", "format", json!(format)),
        RunKind::Missing(errno) => ("missing", "errno", json!(errno.name())),
        RunKind::Unknown => {
            fact["kind"] = json!("unknown");
            return fact;
        }
    };
    fact["kind"] = json!(kind);
    fact[key] = value;
    fact
}

/// Compares index and tar. `shown` is how the user named the package, which knows itself by the
/// path it was opened by.
pub(super) fn check(
    package: &TarFileSystem,
    shown: &str,
    checked: &mut Checked,
) -> Result<(), Failure> {
    let found = verify(package.package()).map_err(failed)?;
    checked.compared.push(format!(
        "{} of the index with {}",
        count(found.entries, "entry"),
        count(found.members, "tar header")
    ));
    checked.differences.extend(found.differences.into_iter().map(|found| found.at(shown)));
    checked.oddities.extend(found.oddities.into_iter().map(|found| found.at(shown)));
    Ok(())
}

/// The digest of the file, and that of what it serves.
pub(super) fn digests(package: &TarFileSystem, all: &mut Vec<Covered>) -> Result<(), Failure> {
    let digests = holdall_aospkg::digests(package).map_err(failed)?;
    all.push(Covered { digest: digests.sha256, covers: "every byte of the package file" });
    all.push(Covered {
        digest: digests.tree,
        covers: "every path, executable bit, link and byte of the tree",
    });
    Ok(())
}

#[expect(clippy::needless_pass_by_value, reason = "used with map_err")]
fn failed(error: PackageError) -> Failure {
    error.diagnostic().into()
}
