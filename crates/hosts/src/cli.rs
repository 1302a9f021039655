//! The programs of Claude Code and Codex as values: which words to run for which effect, and how
//! to read what they list. Nothing is run here; an installer runs them, in order, and runs
//! [`HostCli::undo_of`] for what has to be taken back (reference 5.2.1 and 5.2.2).

use std::path::Path;

use crate::Scope;
use crate::listing::{self, ListedPlugin, Unusable};
use crate::receipt::RegistrationKind;

/// The words after the program's name.
pub type Words = Vec<String>;

/// One effect on a host that its program can have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostAction {
    /// Make a marketplace known, by the directory it is.
    AddMarketplace {
        /// Its name.
        name: String,
        /// The absolute directory.
        root: String,
    },
    /// Forget a marketplace.
    RemoveMarketplace {
        /// Its name.
        name: String,
    },
    /// Install `plugin@marketplace`.
    AddPlugin {
        /// The id.
        id: String,
        /// For whom.
        scope: Scope,
    },
    /// Remove it.
    RemovePlugin {
        /// The id.
        id: String,
        /// From whom.
        scope: Scope,
        /// Whether the host shall keep the plugin's data, where it can.
        keep_data: bool,
    },
}

/// A host that is changed by running its own program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostCli {
    /// `claude`
    Claude,
    /// `codex`
    Codex,
}

impl HostCli {
    /// The program's name on PATH.
    pub const fn program(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }

    /// The scopes in which the host knows plugins.
    pub const fn scopes(self) -> &'static [Scope] {
        match self {
            Self::Claude => &[Scope::User, Scope::Project, Scope::Local],
            Self::Codex => &[Scope::User],
        }
    }

    /// What a receipt calls a registered plugin.
    pub const fn plugin_kind(self) -> RegistrationKind {
        match self {
            Self::Claude => RegistrationKind::ClaudePlugin,
            Self::Codex => RegistrationKind::CodexPlugin,
        }
    }

    /// What a receipt calls a marketplace.
    pub const fn marketplace_kind(self) -> RegistrationKind {
        match self {
            Self::Claude => RegistrationKind::ClaudeMarketplace,
            Self::Codex => RegistrationKind::CodexMarketplace,
        }
    }

    /// Whether removing a plugin can leave its data.
    pub const fn can_keep_data(self) -> bool {
        matches!(self, Self::Claude)
    }

    /// `plugin list --json`
    pub fn list_plugins(self) -> Words {
        words(["plugin", "list", "--json"])
    }

    /// `plugin marketplace list --json`
    pub fn list_marketplaces(self) -> Words {
        words(["plugin", "marketplace", "list", "--json"])
    }

    /// The words that have an effect.
    pub fn words(self, action: &HostAction) -> Words {
        let mut line = match (self, action) {
            (_, HostAction::AddMarketplace { root, .. }) => {
                words(["plugin", "marketplace", "add", root])
            }
            (_, HostAction::RemoveMarketplace { name }) => {
                words(["plugin", "marketplace", "remove", name])
            }
            (Self::Claude, HostAction::AddPlugin { id, .. }) => words(["plugin", "install", id]),
            (Self::Codex, HostAction::AddPlugin { id, .. }) => words(["plugin", "add", id]),
            (Self::Claude, HostAction::RemovePlugin { id, .. }) => {
                words(["plugin", "uninstall", id])
            }
            (Self::Codex, HostAction::RemovePlugin { id, .. }) => words(["plugin", "remove", id]),
        };
        if self == Self::Claude {
            match action {
                HostAction::AddPlugin { scope, .. } => {
                    line.extend(words(["--scope", scope.as_str()]));
                }
                HostAction::RemovePlugin { scope, keep_data, .. } => {
                    line.extend(words(["--scope", scope.as_str()]));
                    if *keep_data {
                        line.push("--keep-data".to_owned());
                    }
                }
                HostAction::AddMarketplace { .. } | HostAction::RemoveMarketplace { .. } => {}
            }
        }
        line
    }

    /// What takes an effect back. `root` is the directory that a marketplace which has to be made
    /// known again was known by.
    pub fn undo_of(self, action: &HostAction, root: &Path) -> HostAction {
        match action {
            HostAction::AddMarketplace { name, .. } => {
                HostAction::RemoveMarketplace { name: name.clone() }
            }
            HostAction::RemoveMarketplace { name } => {
                HostAction::AddMarketplace { name: name.clone(), root: root.display().to_string() }
            }
            HostAction::AddPlugin { id, scope } => HostAction::RemovePlugin {
                id: id.clone(),
                scope: *scope,
                keep_data: self.can_keep_data(),
            },
            HostAction::RemovePlugin { id, scope, .. } => {
                HostAction::AddPlugin { id: id.clone(), scope: *scope }
            }
        }
    }

    /// The rows of `id` in the output of [`Self::list_plugins`].
    pub fn read_plugins(self, output: &[u8], id: &str) -> Result<Vec<ListedPlugin>, Unusable> {
        match self {
            Self::Claude => listing::claude_plugins(output, id),
            Self::Codex => listing::codex_plugins(output, id),
        }
    }

    /// Where the host keeps its own copy, below its home, where the listing does not say.
    pub fn cached_copy(self, marketplace: &str, plugin: &str, version: &str) -> String {
        format!("plugins/cache/{marketplace}/{plugin}/{version}")
    }
}

fn words<const N: usize>(line: [&str; N]) -> Words {
    line.map(str::to_owned).to_vec()
}
