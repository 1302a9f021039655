//! What the commands share that install, update and uninstall: where things go, the preview,
//! consent, applying a plan, and the rows of `results[]`.

pub(crate) mod apps;
pub(crate) mod artifacts;
mod change;
pub(crate) mod packs;
pub(crate) mod preview;
pub(crate) mod skills;
mod target;

use std::path::Path;

use holdall_diagnostics::Diagnostic;
use holdall_install::{ApplyError, HD0306, Outcome as Row};
use holdall_source::Opened;
use holdall_store::{Store, StoreError};
use serde_json::{Value, json};
use time::OffsetDateTime;

pub(crate) use change::{Change, Wish, carry_out};
pub(crate) use target::{ScopeName, Target, host, project};

use crate::env::Env;
use crate::outcome::Failure;

/// Whether the source is a directory of the user's: nobody has to agree to what is in it.
pub(crate) fn is_local_directory(opened: &Opened) -> bool {
    !opened.is_sealed() && !opened.is_fetched()
}

/// The store of this run.
pub(crate) fn store(env: &Env) -> Result<Store, Failure> {
    Store::at(env.store()?).map_err(failure)
}

/// A failure of the store.
#[expect(clippy::needless_pass_by_value, reason = "used with map_err")]
pub(crate) fn failure(error: StoreError) -> Failure {
    error.diagnostic().into()
}

/// A plan that could not be made or applied.
pub(crate) fn apply_failure(error: &ApplyError) -> Failure {
    match error {
        ApplyError::Store(error) => error.diagnostic().into(),
        other => Diagnostic::new(&HD0306, other.to_string())
            .help("everything is as it was; `holdall doctor` says more")
            .into(),
    }
}

/// The time as records have it: ISO 8601, UTC, milliseconds.
pub(crate) fn now() -> String {
    let now = OffsetDateTime::now_utc();
    let (date, time) = (now.date(), now.time());
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
        date.year(),
        u8::from(date.month()),
        date.day(),
        time.hour(),
        time.minute(),
        time.second(),
        time.millisecond()
    )
}

/// A path as people see it: relative to the working directory where it lies below.
pub(crate) fn shown(path: &Path, env: &Env) -> String {
    let below = path.strip_prefix(env.working_directory()).ok();
    match below {
        Some(rest) if rest.as_os_str().is_empty() => ".".to_owned(),
        Some(rest) => rest.display().to_string(),
        None => path.display().to_string(),
    }
}

/// One row of `results[]` and `plan[]`.
pub(crate) fn fact(row: &Row) -> Value {
    let mut fact = json!({
        "kind": row.kind,
        "name": row.name,
        "destination": row.destination.display().to_string(),
        "action": row.action.as_str(),
    });
    if let Some(object) = fact.as_object_mut() {
        if let [host, ..] = row.hosts.as_slice() {
            object.insert("host".to_owned(), json!(host));
            // One directory may serve several; the first is the one it was chosen for.
            object.insert("hosts".to_owned(), json!(row.hosts));
        }
        if let Some(detail) = &row.detail {
            object.insert("detail".to_owned(), json!(detail));
        }
    }
    fact
}
