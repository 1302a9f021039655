//! The words that change Claude Code and Codex (reference 5.2.1 and 5.2.2).

use std::path::Path;

use holdall_hosts::Scope;
use holdall_hosts::cli::{HostAction, HostCli};

fn line(host: HostCli, action: &HostAction) -> String {
    format!("{} {}", host.program(), host.words(action).join(" "))
}

#[test]
fn every_action_has_the_hosts_own_words() {
    let add = HostAction::AddMarketplace { name: "d-marketplace".into(), root: "/r".into() };
    let install = HostAction::AddPlugin { id: "d@d-marketplace".into(), scope: Scope::Project };
    let remove = HostAction::RemovePlugin {
        id: "d@d-marketplace".into(),
        scope: Scope::User,
        keep_data: true,
    };
    let forget = HostAction::RemoveMarketplace { name: "d-marketplace".into() };
    let table = [
        (HostCli::Claude, &add, "claude plugin marketplace add /r"),
        (HostCli::Claude, &install, "claude plugin install d@d-marketplace --scope project"),
        (
            HostCli::Claude,
            &remove,
            "claude plugin uninstall d@d-marketplace --scope user --keep-data",
        ),
        (HostCli::Claude, &forget, "claude plugin marketplace remove d-marketplace"),
        (HostCli::Codex, &add, "codex plugin marketplace add /r"),
        (HostCli::Codex, &install, "codex plugin add d@d-marketplace"),
        (HostCli::Codex, &remove, "codex plugin remove d@d-marketplace"),
        (HostCli::Codex, &forget, "codex plugin marketplace remove d-marketplace"),
    ];
    for (host, action, expected) in table {
        assert_eq!(line(host, action), expected);
    }
}

#[test]
fn undoing_twice_is_doing() {
    let root = Path::new("/r");
    for host in [HostCli::Claude, HostCli::Codex] {
        for action in [
            HostAction::AddMarketplace { name: "m".into(), root: "/r".into() },
            HostAction::AddPlugin { id: "p@m".into(), scope: Scope::User },
        ] {
            let undo = host.undo_of(&action, root);
            assert_eq!(host.undo_of(&undo, root), action);
        }
    }
}
