//! Installing an artifact (a plugin root with `agent-bundle.manifest.json`) into an agent host, and
//! taking it away again.
//!
//! A [`Bundle`] is the root, checked for one host. [`plan_artifact_install`] and
//! [`plan_artifact_uninstall`] look at what is there and give a plan with a summary of what it
//! does; [`Prepared`] carries
//! itself out, all of it or nothing. Cursor and Amp read a
//! directory, which is staged and renamed; Claude Code and Codex are told by their own programs,
//! and are given a copy in the store that nobody edits. Receipts of format 2 are the authority
//! on what was installed; [`doctor()`] compares them with what is there: the reference's 5.2 and 5.3 say in which words.

mod bundle;
mod doctor;
mod installed;
mod inventory;
mod placed;
mod programs;
mod registered;
mod removal;
mod request;
mod unregister;

pub use bundle::{ArtifactHost, Bundle};
pub use doctor::{
    BundleReport, Doctor, DoctorReport, HostReport, Lifecycle, Probe, ReceiptRow, doctor,
};
pub use installed::{InstalledArtifact, installed_artifacts};
pub use programs::HostPrograms;
pub use request::{
    ArtifactError, DataPolicy, DataReport, InstallArtifact, InstallState, InstallSummary, Prepared,
    ReceiptReport, RegistrationReport, Removed, UninstallArtifact, UninstallState,
    UninstallSummary, plan_artifact_install, plan_artifact_uninstall,
};
