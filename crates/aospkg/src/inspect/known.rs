//! Names that mean something to every guest: programs, variables, places.

/// Programs that scripts and agents call without thinking; sorted.
const PROGRAMS: &[&str] = &[
    "[",
    "apt",
    "apt-get",
    "awk",
    "base64",
    "bash",
    "brew",
    "bun",
    "bunx",
    "busybox",
    "cargo",
    "cat",
    "chmod",
    "chown",
    "claude",
    "codex",
    "cp",
    "curl",
    "cut",
    "dash",
    "date",
    "dd",
    "deno",
    "df",
    "diff",
    "dirname",
    "docker",
    "doas",
    "du",
    "echo",
    "egrep",
    "env",
    "expr",
    "false",
    "fgrep",
    "file",
    "find",
    "fish",
    "gcc",
    "gh",
    "git",
    "go",
    "gpg",
    "grep",
    "gunzip",
    "gzip",
    "head",
    "hostname",
    "id",
    "install",
    "jq",
    "kill",
    "less",
    "ln",
    "login",
    "ls",
    "make",
    "md5sum",
    "mkdir",
    "mktemp",
    "more",
    "mount",
    "mv",
    "nano",
    "nc",
    "node",
    "npm",
    "npx",
    "openssl",
    "passwd",
    "patch",
    "perl",
    "pip",
    "pip3",
    "pnpm",
    "printenv",
    "printf",
    "ps",
    "pwd",
    "python",
    "python3",
    "readlink",
    "realpath",
    "rg",
    "rm",
    "rmdir",
    "rsync",
    "ruby",
    "rustc",
    "scp",
    "sed",
    "seq",
    "sftp",
    "sh",
    "sha256sum",
    "sleep",
    "sort",
    "ssh",
    "ssh-keygen",
    "stat",
    "su",
    "sudo",
    "systemctl",
    "tail",
    "tar",
    "tee",
    "test",
    "timeout",
    "touch",
    "tr",
    "true",
    "uname",
    "uniq",
    "unzip",
    "uv",
    "uvx",
    "vi",
    "vim",
    "wc",
    "wget",
    "which",
    "whoami",
    "xargs",
    "xxd",
    "yarn",
    "zip",
    "zsh",
];

/// Whether a command is the name of a program that scripts everywhere expect to be another.
pub(crate) fn is_well_known(command: &str) -> bool {
    PROGRAMS.contains(&command)
}

/// What a variable does to programs that know nothing of the package, if it is known for that.
pub(crate) fn flagged_variable(key: &str) -> Option<&'static str> {
    let upper = key.to_ascii_uppercase();
    if upper.ends_with("_PROXY") {
        return Some("sends network traffic through a proxy");
    }
    Some(match key {
        "PATH" => "decides which programs run",
        "HOME" | "SHELL" | "USER" | "TMPDIR" | "XDG_CONFIG_HOME" => {
            "decides where programs look for their files"
        }
        "IFS" | "ENV" | "BASH_ENV" | "PROMPT_COMMAND" => "runs or changes every shell",
        "NODE_OPTIONS" | "NODE_PATH" | "PYTHONPATH" | "PYTHONSTARTUP" | "PYTHONHOME"
        | "PERL5OPT" | "PERL5LIB" | "RUBYOPT" | "RUBYLIB" | "JAVA_TOOL_OPTIONS" | "CLASSPATH"
        | "DENO_DIR" => "loads code into every program of that language",
        "NODE_TLS_REJECT_UNAUTHORIZED"
        | "SSL_CERT_FILE"
        | "SSL_CERT_DIR"
        | "NODE_EXTRA_CA_CERTS"
        | "CURL_CA_BUNDLE"
        | "REQUESTS_CA_BUNDLE"
        | "GIT_SSL_NO_VERIFY" => "decides which servers are trusted",
        "EDITOR" | "VISUAL" | "PAGER" | "BROWSER" => "is run by other programs",
        _ if key.starts_with("LD_") || key.starts_with("DYLD_") => {
            "loads libraries into every native program"
        }
        _ if key.starts_with("GIT_") => "changes what git runs or trusts",
        _ if key.starts_with("npm_config_") => "changes what npm runs or trusts",
        _ => return None,
    })
}

/// What is unusual about the guest path of a provided directory.
pub(crate) fn flagged_target(target: &str) -> Option<&'static str> {
    let usual = ["/usr/local", "/usr/share", "/opt"];
    let inside = |root: &str| target.strip_prefix(root).is_some_and(|rest| rest.starts_with('/'));
    if crate::fs::normalise(target) != target {
        Some("not an absolute normalised path")
    } else if target == "/" {
        Some("the whole file system")
    } else if usual.into_iter().any(inside) {
        None
    } else {
        Some("outside of /usr/local, /usr/share and /opt")
    }
}
