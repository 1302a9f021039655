//! Hook events: the canonical families and what each agent host calls them (build reference 4.7).

use holdall_artifact::model::BuiltInHost;

/// One canonical event and its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// The canonical name, `tool/after`.
    pub canonical: &'static str,
    /// The name in an artifact manifest, `afterTool`.
    pub manifest: &'static str,
    claude: Option<&'static str>,
    codex: Option<&'static str>,
    cursor: Option<&'static str>,
    amp: Option<&'static str>,
}

impl Event {
    /// What a host calls it; `None` where the host has no such event.
    pub const fn native(&self, host: BuiltInHost) -> Option<&'static str> {
        match host {
            BuiltInHost::Claude => self.claude,
            BuiltInHost::Codex => self.codex,
            BuiltInHost::Cursor => self.cursor,
            BuiltInHost::Amp => self.amp,
            BuiltInHost::Portable => None,
        }
    }
}

const fn event(
    canonical: &'static str,
    manifest: &'static str,
    [claude, codex, cursor, amp]: [Option<&'static str>; 4],
) -> Event {
    Event { canonical, manifest, claude, codex, cursor, amp }
}

/// Every canonical event, in canonical order.
pub const EVENTS: &[Event] = &[
    event(
        "session/start",
        "sessionStart",
        [Some("SessionStart"), Some("SessionStart"), Some("sessionStart"), Some("session.start")],
    ),
    event(
        "session/end",
        "sessionEnd",
        [Some("SessionEnd"), Some("SessionEnd"), Some("sessionEnd"), None],
    ),
    event(
        "prompt/submit",
        "promptSubmit",
        [
            Some("UserPromptSubmit"),
            Some("UserPromptSubmit"),
            Some("beforeSubmitPrompt"),
            Some("agent.start"),
        ],
    ),
    event(
        "tool/before",
        "beforeTool",
        [Some("PreToolUse"), Some("PreToolUse"), Some("preToolUse"), Some("tool.call")],
    ),
    event(
        "tool/after",
        "afterTool",
        [Some("PostToolUse"), Some("PostToolUse"), Some("postToolUse"), Some("tool.result")],
    ),
    event(
        "tool/failure",
        "toolFailure",
        [Some("PostToolUseFailure"), None, Some("postToolUseFailure"), None],
    ),
    event(
        "permission/request",
        "permissionRequest",
        [Some("PermissionRequest"), Some("PermissionRequest"), None, None],
    ),
    event("permission/denied", "permissionDenied", [Some("PermissionDenied"), None, None, None]),
    event("stop", "stop", [Some("Stop"), Some("Stop"), Some("stop"), Some("agent.end")]),
    event("stop/failure", "stopFailure", [Some("StopFailure"), None, None, None]),
    event(
        "agent/start",
        "agentStart",
        [Some("SubagentStart"), Some("SubagentStart"), Some("subagentStart"), None],
    ),
    event(
        "agent/stop",
        "agentStop",
        [Some("SubagentStop"), Some("SubagentStop"), Some("subagentStop"), None],
    ),
    event("agent/idle", "agentIdle", [Some("TeammateIdle"), None, None, None]),
    event(
        "compact/before",
        "compactBefore",
        [Some("PreCompact"), Some("PreCompact"), Some("preCompact"), None],
    ),
    event("compact/after", "compactAfter", [Some("PostCompact"), Some("PostCompact"), None, None]),
    event("file/change", "fileChange", [Some("FileChanged"), None, None, None]),
    event("config/change", "configChange", [Some("ConfigChange"), None, None, None]),
    event("task/create", "taskCreate", [Some("TaskCreated"), None, None, None]),
    event("task/complete", "taskComplete", [Some("TaskCompleted"), None, None, None]),
    event("model-switch/before", "modelSwitchBefore", [Some("PreModelSwitch"), None, None, None]),
    event("model-switch/after", "modelSwitchAfter", [Some("PostModelSwitch"), None, None, None]),
    event("workspace/open", "workspaceOpen", [None, None, Some("workspaceOpen"), None]),
];

/// The event with this manifest name.
pub fn by_manifest_name(name: &str) -> Option<&'static Event> {
    EVENTS.iter().find(|event| event.manifest == name)
}

/// What `host` calls the event that `name` names for some other host, or in the manifest.
pub fn spelling_for(host: BuiltInHost, name: &str) -> Option<&'static str> {
    let matches = |known: &str| known.eq_ignore_ascii_case(name);
    let any_name = |event: &&Event| {
        [Some(event.manifest), event.claude, event.codex, event.cursor, event.amp]
            .into_iter()
            .flatten()
            .any(matches)
    };
    EVENTS.iter().find(any_name).and_then(|event| event.native(host))
}
