//! The table of agent hosts, against the published destinations (reference 6.3).

use std::path::{Path, PathBuf};

use holdall_hosts::{AgentHost, HostEnv, Scope, detected, find, hosts, readers_of};

fn ids(found: &[&AgentHost]) -> Vec<String> {
    found.iter().map(|host| host.id().to_owned()).collect()
}

#[test]
fn first_directories_are_the_published_ones() {
    let env = HostEnv::new("/h");
    let project = Path::new("/p");
    let table = [
        ("claude", "/p/.claude/skills", "/h/.claude/skills"),
        ("codex", "/p/.agents/skills", "/h/.agents/skills"),
        ("cursor", "/p/.agents/skills", "/h/.cursor/skills"),
        ("gemini", "/p/.agents/skills", "/h/.gemini/skills"),
        ("copilot", "/p/.agents/skills", "/h/.copilot/skills"),
        ("opencode", "/p/.agents/skills", "/h/.config/opencode/skills"),
        ("hermes", "/p/.hermes/skills", "/h/.hermes/skills"),
        ("goose", "/p/.goose/skills", "/h/.config/goose/skills"),
        ("amp", "/p/.agents/skills", "/h/.config/agents/skills"),
        ("cline", "/p/.agents/skills", "/h/.agents/skills"),
        ("kimi", "/p/.agents/skills", "/h/.agents/skills"),
        ("roo", "/p/.roo/skills", "/h/.roo/skills"),
        ("windsurf", "/p/.windsurf/skills", "/h/.codeium/windsurf/skills"),
        ("kiro", "/p/.kiro/skills", "/h/.kiro/skills"),
        ("droid", "/p/.agents/skills", "/h/.factory/skills"),
    ];
    assert_eq!(hosts().len(), table.len());
    for (id, in_project, for_user) in table {
        let host = find(id).unwrap();
        let dir = |scope| host.skill_dirs(scope, &env, project).write;
        assert_eq!(dir(Scope::Project), PathBuf::from(in_project), "{id}");
        assert_eq!(dir(Scope::Local), PathBuf::from(in_project), "{id}");
        assert_eq!(dir(Scope::User), PathBuf::from(for_user), "{id}");
    }
}

#[test]
fn variables_move_the_home_of_a_host() {
    let env = HostEnv::new("/h")
        .with_var("CLAUDE_CONFIG_DIR", "/elsewhere")
        .with_var("XDG_CONFIG_HOME", "/cfg")
        .with_var("CODEX_HOME", "");
    let dir = |id| find(id).unwrap().skill_dirs(Scope::User, &env, Path::new("/p"));
    assert_eq!(dir("claude").write, PathBuf::from("/elsewhere/skills"));
    assert_eq!(dir("amp").write, PathBuf::from("/cfg/agents/skills"));
    assert_eq!(dir("goose").write, PathBuf::from("/cfg/goose/skills"));
    assert_eq!(dir("codex").also_reads, [PathBuf::from("/h/.codex/skills")]);
    let relative = HostEnv::new("/h").with_var("XDG_CONFIG_HOME", "cfg");
    let amp = find("amp").unwrap().skill_dirs(Scope::User, &relative, Path::new("/p"));
    assert_eq!(amp.write, PathBuf::from("/h/.config/agents/skills"));
}

#[test]
fn an_alias_finds_the_host_and_a_wrong_name_lists_all() {
    assert_eq!(find("claude-code").unwrap().id(), "claude");
    let error = find("klaude").unwrap_err();
    assert_eq!(error.to_string(), "`klaude` is not an agent host");
    assert!(error.known.contains(&"codex"));
}

#[test]
fn a_host_is_here_when_its_directory_is() {
    let home = tempfile::tempdir().unwrap();
    let env = HostEnv::new(home.path());
    assert!(detected(&env).is_empty());
    std::fs::create_dir(home.path().join(".codex")).unwrap();
    std::fs::create_dir_all(home.path().join(".config/amp")).unwrap();
    std::fs::write(home.path().join(".roo"), "a file is no home").unwrap();
    assert_eq!(ids(&detected(&env)), ["codex", "amp"]);
}

#[test]
fn readers_are_found_through_every_name_of_a_directory() {
    let home = tempfile::tempdir().unwrap();
    let env = HostEnv::new(home.path());
    let shared = home.path().join(".agents/skills");
    let readers = readers_of(&shared, Scope::User, &env, home.path());
    assert_eq!(ids(&readers), ["codex", "cursor", "cline", "kimi"]);

    // Claude's directory is a link to the shared one: now it reads that, too.
    std::fs::create_dir_all(&shared).unwrap();
    std::fs::create_dir(home.path().join(".claude")).unwrap();
    std::os::unix::fs::symlink(&shared, home.path().join(".claude/skills")).unwrap();
    let readers = readers_of(&shared, Scope::User, &env, home.path());
    assert_eq!(ids(&readers), ["claude", "codex", "cursor", "cline", "kimi"]);
}
