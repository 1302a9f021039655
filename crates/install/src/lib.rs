//! Installing: what would change, as a [`Plan`]; doing it, through one executor that does all of
//! it or nothing; and the installers that make plans for skills, apps and packs.

mod executor;
mod fault;
mod journal;
mod plan;

pub use executor::{
    ApplyError, NoPrograms, Repaired, Runner, apply, found_at, is_unfinished, repair,
};
pub use plan::{Command, Found, NewTree, Plan, Step};
