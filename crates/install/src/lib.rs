//! Installing: what would change, as a [`Plan`]; doing it, through one executor that does all of
//! it or nothing; and the installers that make plans for skills, apps, packs and artifacts.

mod apps;
mod artifacts;
mod codes;
mod doctor;
mod executor;
mod fault;
mod includes;
mod journal;
mod members;
mod packs;
mod plan;
mod skills;

pub use apps::{AppRequest, AppToInstall, plan_app, plan_app_removal};
pub use artifacts::{
    ArtifactError, ArtifactHost, Bundle, BundleReport, DataPolicy, DataReport, Doctor,
    DoctorReport, HostPrograms, HostReport, InstallArtifact, InstallState, InstallSummary,
    InstalledArtifact, Lifecycle, Prepared, Probe, ReceiptReport, ReceiptRow, RegistrationReport,
    Removed, UninstallArtifact, UninstallState, UninstallSummary, doctor, installed_artifacts,
    plan_artifact_install, plan_artifact_uninstall,
};
pub use codes::*;
pub use doctor::{Examined, examine};
pub use executor::{
    ApplyError, NoPrograms, Repaired, Runner, apply, found_at, is_unfinished, repair,
};
pub use includes::{FetchPin, FoundInclude, IncludePlaces, Merged, merge_includes};
pub use members::{Surroundings, app_to_install, app_warnings, pack_to_install};
pub use packs::{
    MissingInclude, PackRequest, PackToInstall, plan_pack, plan_pack_removal, same_origin,
};
pub use plan::{Command, Found, NewTree, Plan, Step};
pub use skills::{
    Action, Destination, Outcome, Planned, SkillToInstall, SkillsRequest, destinations,
    merge_skills, not_skills, plan_removal, plan_removal_from, plan_skills, receipts_of, skills_of,
};
