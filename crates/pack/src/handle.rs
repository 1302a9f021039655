//! The handle: a pack that passed every rule, with what follows from it.

use std::fmt;

use serde_json::{Value, json};

use crate::definition::{AppEntry, Knowledge, PackDefinition, Playbook, Pricing};
use crate::pin::Include;
use crate::refs::{PackRef, RefError};

/// Where a pack stands. It follows from `blockers` and `plugin` alone and is never written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PackStatus {
    /// No way to a plugin yet. No pack that passed the rules has it.
    Planned,
    /// The plugin is merged from published packages.
    Assembling,
    /// The plugin is in the pack.
    Ready,
    /// Blockers keep it from shipping.
    Gated,
}

impl PackStatus {
    /// The word for it: `planned`, `assembling`, `ready` or `gated`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Assembling => "assembling",
            Self::Ready => "ready",
            Self::Gated => "gated",
        }
    }

    /// What follows from blockers and plugin, in this order: any blocker gates, an inline plugin
    /// is ready, includes are assembling.
    pub const fn derive(blockers: usize, inline: bool, includes: usize) -> Self {
        if blockers > 0 {
            Self::Gated
        } else if inline {
            Self::Ready
        } else if includes > 0 {
            Self::Assembling
        } else {
            Self::Planned
        }
    }
}

impl fmt::Display for PackStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A valid pack, read-only. Only [`define_pack`](crate::define_pack) and
/// [`pack_from_manifest`](crate::pack_from_manifest) make one, and nothing changes it: a changed
/// pack is a new handle, from [`PackHandle::to_definition`].
#[derive(Debug, Clone, PartialEq)]
pub struct PackHandle {
    definition: PackDefinition,
    includes: Vec<Include>,
}

impl PackHandle {
    /// Callers have checked everything.
    pub(crate) const fn new(definition: PackDefinition, includes: Vec<Include>) -> Self {
        Self { definition, includes }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.definition.name
    }

    /// The title.
    pub fn title(&self) -> &str {
        &self.definition.title
    }

    /// The description.
    pub fn description(&self) -> &str {
        &self.definition.description
    }

    /// The version; any text that is not empty.
    pub fn version(&self) -> &str {
        &self.definition.version
    }

    /// Whether the plugin is built from the pack's own skills.
    pub fn is_inline(&self) -> bool {
        self.definition.plugin.inline == Some(true)
    }

    /// What is merged into the plugin, in the order of the document.
    pub fn includes(&self) -> &[Include] {
        &self.includes
    }

    /// The apps, in the order of the document.
    pub fn apps(&self) -> &[AppEntry] {
        self.definition.apps.as_deref().unwrap_or_default()
    }

    /// The knowledge selection.
    pub const fn knowledge(&self) -> Option<&Knowledge> {
        self.definition.knowledge.as_ref()
    }

    /// The playbook directive.
    pub const fn playbook(&self) -> Option<&Playbook> {
        self.definition.playbook.as_ref()
    }

    /// The legacy prices; a product's price outranks them.
    pub const fn pricing(&self) -> Option<&Pricing> {
        self.definition.pricing.as_ref()
    }

    /// Why it cannot ship yet, verbatim.
    pub fn blockers(&self) -> &[String] {
        self.definition.blockers.as_deref().unwrap_or_default()
    }

    /// The derived status.
    pub fn status(&self) -> PackStatus {
        PackStatus::derive(self.blockers().len(), self.is_inline(), self.includes.len())
    }

    /// The ref that follows the host's current version.
    pub fn reference(&self) -> Result<PackRef, RefError> {
        PackRef::new(self.name(), None)
    }

    /// The ref pinned to this version; an error if the version is not a semantic one.
    pub fn pinned_reference(&self) -> Result<PackRef, RefError> {
        PackRef::new(self.name(), Some(self.version()))
    }

    /// The fields, to make a changed pack from.
    pub fn to_definition(&self) -> PackDefinition {
        self.definition.clone()
    }

    /// Every member of the document, and the status.
    pub fn to_json(&self) -> Value {
        let mut json = self.definition.to_node().to_json();
        json["status"] = self.status().as_str().into();
        json
    }
}

impl From<&PackHandle> for crate::definition::Definition {
    fn from(handle: &PackHandle) -> Self {
        Self(handle.definition.to_node())
    }
}

impl From<&Knowledge> for Value {
    fn from(knowledge: &Knowledge) -> Self {
        let lists = [
            ("anyOf", &knowledge.any_of),
            ("allOf", &knowledge.all_of),
            ("kinds", &knowledge.kinds),
        ];
        let mut value = json!({ "workspace": knowledge.workspace });
        for (key, list) in lists {
            if let Some(list) = list {
                value[key] = list.clone().into();
            }
        }
        value
    }
}
