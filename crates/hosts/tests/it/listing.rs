//! Listings, on what Claude Code 2.1.332 and Codex 0.171.0 print.

use holdall_hosts::Scope;
use holdall_hosts::listing::{
    Unusable, claude_plugins, codex_plugins, has_marketplace, plugins_of_marketplace,
};

const CLAUDE: &str = r#"[
  {
    "id": "demo@demo-marketplace",
    "version": "0.1.0",
    "scope": "user",
    "enabled": true,
    "installPath": "/h/.claude/plugins/cache/demo-marketplace/demo/0.1.0",
    "readFromFolder": "/src/demo",
    "folderVersion": "0.1.0",
    "projectEnabled": false
  },
  {
    "id": "cc-plugin-agents-md@builtin",
    "version": "unknown",
    "scope": "user",
    "enabled": true,
    "hasUserConfig": true
  }
]"#;

const CODEX: &str = r#"{
  "installed": [
    {
      "pluginId": "demo@demo-marketplace",
      "name": "demo",
      "marketplaceName": "demo-marketplace",
      "version": "0.1.0",
      "installed": true,
      "enabled": true,
      "source": { "source": "local", "path": "/src/demo" }
    }
  ],
  "available": []
}"#;

#[test]
fn claude_lists_what_it_reads_and_where_its_copy_is() {
    let rows = claude_plugins(CLAUDE.as_bytes(), "demo@demo-marketplace").unwrap();
    let [row] = rows.as_slice() else { panic!("one row, not {rows:?}") };
    assert_eq!(row.scope, Some(Scope::User));
    assert_eq!(row.version.as_deref(), Some("0.1.0"));
    assert_eq!(row.reads_from.as_deref(), Some("/src/demo"));
    assert!(row.install_path.as_deref().unwrap().ends_with("/demo/0.1.0"));
    assert!(row.enabled && row.errors.is_empty());
    // Built-in rows have no installPath: no reason to distrust the rows that are asked about.
    assert_eq!(claude_plugins(CLAUDE.as_bytes(), "other@x").unwrap(), []);
}

#[test]
fn a_row_that_lacks_what_decides_makes_the_listing_unusable() {
    for key in ["installPath", "scope", "version"] {
        let broken =
            CLAUDE.replacen(&format!("\"{key}\": \""), &format!("\"{key}\": 1, \"x\": \""), 1);
        let error = claude_plugins(broken.as_bytes(), "demo@demo-marketplace").unwrap_err();
        assert_eq!(error, Unusable::Row { id: "demo@demo-marketplace".to_owned(), key });
    }
    for text in ["", "Installing…", "{}", "null", "[1]"] {
        assert!(claude_plugins(text.as_bytes(), "demo@x").is_err(), "{text}");
    }
    for text in ["", "[]", "{}", r#"{"installed":{}}"#, r#"{"installed":[1]}"#] {
        assert!(codex_plugins(text.as_bytes(), "demo@x").is_err(), "{text}");
    }
}

#[test]
fn load_errors_and_disabled_plugins_are_seen() {
    let broken = CLAUDE.replacen(
        r#""enabled": true"#,
        r#""enabled": false, "errors": ["no such file", {"message": "bad hook"}]"#,
        1,
    );
    let rows = claude_plugins(broken.as_bytes(), "demo@demo-marketplace").unwrap();
    assert!(!rows[0].enabled);
    assert_eq!(rows[0].errors, ["no such file", "bad hook"]);
}

#[test]
fn codex_lists_offers_that_are_not_installed() {
    let rows = codex_plugins(CODEX.as_bytes(), "demo@demo-marketplace").unwrap();
    assert_eq!(rows.len(), 1);
    let offered = CODEX.replace("\"installed\": true", "\"installed\": false");
    assert_eq!(codex_plugins(offered.as_bytes(), "demo@demo-marketplace").unwrap(), []);
}

#[test]
fn marketplaces_of_both_hosts_are_found_by_name() {
    let claude = br#"[{"name":"demo-marketplace","source":"directory","path":"/src/demo"}]"#;
    let codex = br#"{"marketplaces":[{"name":"demo-marketplace","root":"/src/demo"}]}"#;
    for listing in [claude.as_slice(), codex] {
        assert_eq!(has_marketplace(listing, "demo-marketplace"), Ok(true));
        assert_eq!(has_marketplace(listing, "demo"), Ok(false));
    }
    assert!(has_marketplace(br#"{"marketplaces":[{}]}"#, "demo").is_err());
    for (listing, expected) in [(CLAUDE, 1), (CODEX, 1)] {
        let ids = plugins_of_marketplace(listing.as_bytes(), "demo-marketplace").unwrap();
        assert_eq!(ids.len(), expected);
    }
}

#[test]
fn where_marketplaces_are_and_which_plugins_have_a_name() {
    use holdall_hosts::listing::{ids_of_plugin, knows_root, marketplace_root};
    let claude = br#"[{"name":"m","source":"directory","path":"/a","installLocation":"/b"}]"#;
    let codex = br#"{"marketplaces":[{"name":"m","root":"/a"},{"name":"n"}]}"#;
    for output in [claude.as_slice(), codex] {
        assert_eq!(marketplace_root(output, "m"), Ok(Some(Some("/a".to_owned()))));
        assert_eq!(marketplace_root(output, "x"), Ok(None));
        assert_eq!(knows_root(output, "/a"), Ok(true));
        assert_eq!(knows_root(output, "/b"), Ok(false));
    }
    assert_eq!(marketplace_root(codex, "n"), Ok(Some(None)));
    let plugins = br#"[{"id":"p@m"},{"id":"p@n"},{"id":"q@m"}]"#;
    assert_eq!(ids_of_plugin(plugins, "p"), Ok(vec!["p@m".to_owned(), "p@n".to_owned()]));
    let offered = br#"{"installed":[{"pluginId":"p@m","installed":false}]}"#;
    assert_eq!(ids_of_plugin(offered, "p"), Ok(vec![]));
    for broken in [b"{".as_slice(), b"3", b"[1]"] {
        assert!(marketplace_root(broken, "m").is_err());
        assert!(ids_of_plugin(broken, "p").is_err());
    }
}
