//! MCP documents against launch records (AB6007, AB6017).

use holdall_artifact::ArtifactManifest;
use holdall_artifact::json::{Document, Node, NodeKind};
use holdall_artifact::model::{BuiltInHost, Launch, LaunchArgKind};
use holdall_tree::TreePath;

use super::{AB6007, AB6017, Fault, is_launched};

/// What an argument of a host's document says of the root.
#[derive(Debug, PartialEq, Eq)]
enum Argument {
    /// Not about the root.
    Other,
    /// A path of the root.
    Inside(TreePath),
    /// A path that begins at the root and leaves it.
    Escapes,
}

pub(super) fn check(
    manifest: &ArtifactManifest,
    projection: &str,
    host: BuiltInHost,
    document: &Document<'_>,
) -> Vec<Fault> {
    let root = document.root();
    let servers = root.get("mcpServers").unwrap_or(root);
    let mut check = Check { manifest, host, faults: Vec::new() };
    let declared: Vec<_> = manifest
        .executables()
        .mcp_servers()
        .iter()
        .filter(|server| server.hosts().iter().any(|name| &**name == projection))
        .collect();
    for server in &declared {
        match servers.get(server.name()) {
            None => {
                let message = format!("the server `{}` is not in the document", server.name());
                check.fault(AB6017, message, servers);
            }
            Some(node) => {
                if let Some(launch) = server.launch().filter(|_| is_launched(server.kind())) {
                    check.launch(server.name(), launch, node);
                }
            }
        }
    }
    for (key, node) in servers.members() {
        let name = key.text().unwrap_or_default();
        if !declared.iter().any(|server| server.name() == name) {
            let message = format!("the server `{name}` is no server of the artifact for this host");
            check.fault(AB6017, message, key);
        }
        check.local_files(&name, node);
    }
    check.faults
}

struct Check<'a> {
    manifest: &'a ArtifactManifest,
    host: BuiltInHost,
    faults: Vec<Fault>,
}

impl Check<'_> {
    fn fault(&mut self, code: holdall_diagnostics::Code, message: String, node: Node<'_>) {
        self.faults.push(Fault { code, message, span: node.span() });
    }

    /// The entry first, then the arguments that name files of the root in their order; literals
    /// between them are the author's and may hold what only the host can fill.
    fn launch(&mut self, name: &str, launch: &Launch, node: Node<'_>) {
        let stdio = node.get("type").is_none_or(|kind| kind.is_text("stdio"));
        if !stdio || node.get("url").is_some() {
            self.fault(AB6017, format!("the server `{name}` is not started over stdio"), node);
            return;
        }
        let Some(args) = node.get("args").filter(|args| args.kind() == NodeKind::Array) else {
            self.fault(AB6017, format!("the server `{name}` has no args"), node);
            return;
        };
        let paths: Vec<_> = args.items().map(|arg| (arg, self.argument(arg))).collect();
        match paths.first() {
            Some((_, Argument::Inside(entry))) if entry == launch.entry() => {}
            first => {
                let at = first.map_or(args, |(arg, _)| *arg);
                let entry = launch.entry();
                let message = format!("the first argument of `{name}` is not the entry `{entry}`");
                self.fault(AB6017, message, at);
                return;
            }
        }
        let wanted: Vec<_> = launch
            .args()
            .iter()
            .filter(|arg| arg.kind() == LaunchArgKind::Artifact)
            .filter_map(|arg| arg.path())
            .collect();
        let mut found = paths[1..].iter().filter_map(|(_, argument)| match argument {
            Argument::Inside(path) => Some(path),
            _ => None,
        });
        for path in wanted {
            // Other paths of the root may stand between: a literal that looks like one is one.
            if !found.any(|there| there == path) {
                let message =
                    format!("the arguments of `{name}` do not pass `{path}` in its place");
                self.fault(AB6017, message, args);
                return;
            }
        }
    }

    fn local_files(&mut self, name: &str, node: Node<'_>) {
        let command = node.get("command").into_iter();
        let args = node.get("args").into_iter().flat_map(|args| args.items().collect::<Vec<_>>());
        for (position, value) in command.chain(args).enumerate() {
            match self.argument(value) {
                Argument::Escapes => {
                    let message = format!("the server `{name}` leaves the root: {}", value.raw());
                    self.fault(AB6017, message, value);
                }
                // The program and its first argument are what is started; later ones may name
                // directories, and files that the server itself makes.
                Argument::Inside(path) if position <= 1 => {
                    let known = self.manifest.file(&path).is_some();
                    if !known {
                        let message = format!(
                            "the server `{name}` starts `{path}`, which is no file of the artifact"
                        );
                        self.fault(AB6007, message, value);
                    }
                }
                Argument::Inside(_) | Argument::Other => {}
            }
        }
    }

    fn argument(&self, node: Node<'_>) -> Argument {
        let Some(text) = node.text() else { return Argument::Other };
        let token = match self.host {
            BuiltInHost::Claude => "${CLAUDE_PLUGIN_ROOT}/",
            BuiltInHost::Cursor => "${CURSOR_PLUGIN_ROOT}/",
            BuiltInHost::Portable => "${PLUGIN_ROOT}/",
            BuiltInHost::Codex | BuiltInHost::Amp => "./",
        };
        let rest = match text.strip_prefix(token).or_else(|| text.strip_prefix("./")) {
            Some(rest) => rest,
            // Portable servers run in the root, so that their entry is a bare path.
            None if self.host == BuiltInHost::Portable && is_bare_path(&text) => &text,
            None => return Argument::Other,
        };
        if rest.is_empty() || rest.contains("${") {
            return Argument::Other;
        }
        match TreePath::normalise(rest) {
            Ok(path) => Argument::Inside(path),
            Err(_) => Argument::Escapes,
        }
    }
}

fn is_bare_path(text: &str) -> bool {
    let plain = !text.starts_with(['-', '/', '$', '~']) && !text.contains(':');
    plain && text.contains('/')
}
