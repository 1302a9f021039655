//! What is unusual about packages that can be read: each kind is one finding with its code, and a
//! package of our own has none.

use std::collections::BTreeSet;

use holdall_aospkg::format::{EntryKind, Version};
use holdall_aospkg::{
    AgentBlock, CommandTarget, ManPage, PackageLimits, ProvidesBlock, ProvidesFile, StringMap,
    TarFileSystem, codes, oddities,
};
use holdall_diagnostics::{Diagnostic, Severity};

use crate::support::{Maker, Row};

fn found_with(maker: &Maker, version: Version, limits: &PackageLimits) -> Vec<Diagnostic> {
    let dir = tempfile::tempdir().unwrap();
    let path = maker.write(dir.path(), version);
    let all = oddities(&TarFileSystem::open(&path).unwrap(), limits).unwrap();
    assert!(all.iter().all(|each| each.path.as_deref() == path.to_str()), "{all:?}");
    assert!(all.iter().all(|each| each.severity != Severity::Error), "{all:?}");
    all
}

/// The findings in version 2, where nothing has to be said about the version itself.
fn found(maker: &Maker) -> Vec<Diagnostic> {
    found_with(maker, Version::V2, &PackageLimits::default())
}

fn command(command: &str, entry: &str) -> CommandTarget {
    CommandTarget { command: command.into(), entry: entry.into() }
}

fn map(pairs: &[(&str, &str)]) -> StringMap {
    pairs.iter().copied().collect()
}

fn sound() -> Maker {
    let mut maker = Maker::new()
        .dir("/bin")
        .file("/bin/tool", "#!/bin/sh\n")
        .dir("/data")
        .dir("/share")
        .dir("/share/man")
        .dir("/share/man/man1")
        .file("/share/man/man1/tool.1", ".TH\n")
        .link("/tool", "bin/tool")
        .sorted();
    maker.manifest.commands = vec![command("tool", "bin/tool")];
    maker.manifest.man_pages = vec![ManPage { section: "man1".into(), page: "tool.1".into() }];
    let files = vec![ProvidesFile { source: "data".into(), target: "/usr/share/t".into() }];
    let env = map(&[("TOOL_HOME", "/x")]);
    maker.manifest.provides = Some(ProvidesBlock { env, files });
    maker
}

#[test]
fn nothing_is_odd_about_a_sound_package() {
    assert_eq!(found(&sound()), []);
    let one = found_with(&sound(), Version::V1, &PackageLimits::default());
    assert_eq!(one.iter().map(|each| each.code).collect::<Vec<_>>(), ["AO0328"]);
}

#[test]
fn every_oddity_is_one_finding_with_its_code_and_an_example() {
    type Change = fn(&mut Maker);
    let row = |maker: &mut Maker, row: Row| {
        maker.rows.push(row);
        maker.rows.sort_by(|a, b| a.path.cmp(&b.path));
    };
    let cases: Vec<(&str, &str, Change)> = vec![
        ("AO0306", "2 entries with an offset or a size that are no files, first `/bin`", |maker| {
            maker.rows[1].offset = 512;
            maker.rows.last_mut().unwrap().size = 7;
        }),
        ("AO0307", "1 entry with an owner other than 0, first `/bin` (1000:1001)", |maker| {
            (maker.rows[1].uid, maker.rows[1].gid) = (1000, 1001);
        }),
        ("AO0308", "first `/bin/tool` (1700000000)", |maker| maker.rows[2].mtime = 1_700_000_000),
        ("AO0305", "the keys of provides.env are not sorted", |maker| {
            maker.manifest.provides.as_mut().unwrap().env = map(&[("B", "1"), ("A", "2")]);
        }),
        ("AO0313", "has mode 0644 and no x bit", |maker| maker.rows[2].mode = 0o100_644),
        ("AO0314", "ENOENT", |maker| maker.manifest.commands[0].entry = "bin/gone".into()),
        ("AO0314", "which is a directory", |maker| maker.manifest.commands[0].entry = "bin".into()),
        ("AO0315", "the command `tool` is declared twice", |maker| {
            maker.manifest.commands.push(command("tool", "bin/tool"));
        }),
        ("AO0316", "`/share/man/man1/gone.1`", |maker| {
            maker.manifest.man_pages[0].page = "gone.1".into();
        }),
        ("AO0316", "`/share/man/man1/`", |maker| maker.manifest.man_pages[0].page = String::new()),
        ("AO0317", "`gone` is not in the package (ENOENT)", |maker| {
            maker.manifest.provides.as_mut().unwrap().files[0].source = "gone".into();
        }),
        ("AO0317", "`bin/tool` is not a directory (ENOTDIR)", |maker| {
            maker.manifest.provides.as_mut().unwrap().files[0].source = "bin/tool".into();
        }),
        ("AO0318", "`/etc`", |maker| {
            maker.manifest.provides.as_mut().unwrap().files[0].target = "/etc".into();
        }),
        ("AO0319", "the package name `../x`", |maker| maker.manifest.name = "../x".into()),
        ("AO0319", "the package version ``", |maker| maker.manifest.version = String::new()),
        ("AO0319", "the package version `..`", |maker| maker.manifest.version = "..".into()),
        ("AO0319", "the command `[x]`", |maker| maker.manifest.commands[0].command = "[x]".into()),
        ("AO0320", "`./bin/tool`", |maker| {
            maker.manifest.commands[0].entry = "./bin/tool".into();
        }),
        ("AO0320", "`/bin/tool`", |maker| maker.manifest.commands[0].entry = "/bin/tool".into()),
        ("AO0320", "`bin/../bin/tool`", |maker| {
            maker.manifest.commands[0].entry = "bin/../bin/tool".into();
        }),
        ("AO0322", "1 entry that no path reaches, first `/orphan/x`", |maker| {
            maker.rows.insert(4, Row::new("/orphan/x", EntryKind::File));
        }),
        ("AO0323", "`/bin` (a directory with mode 100755)", |maker| {
            maker.rows[1].mode = 0o100_755;
        }),
        ("AO0324", "first `/bin`", |maker| maker.rows[1].target = Some("x".into())),
        ("AO0325", "`/tool` -> `/etc/passwd`", |maker| {
            maker.rows.last_mut().unwrap().target = Some("/etc/passwd".into());
        }),
        ("AO0325", "`/tool` -> `../x`", |maker| {
            maker.rows.last_mut().unwrap().target = Some("../x".into());
        }),
        ("AO0325", "`/tool` -> `gone` (ENOENT)", |maker| {
            maker.rows.last_mut().unwrap().target = Some("gone".into());
        }),
        ("AO0325", "`/tool` -> `tool` (ELOOP)", |maker| {
            maker.rows.last_mut().unwrap().target = Some("tool".into());
        }),
        ("AO0327", "`/bin/tool` (4755)", |maker| maker.rows[2].mode = 0o104_755),
        ("AO0330", "`ls`", |maker| maker.manifest.commands[0].command = "ls".into()),
        ("AO0331", "sets `LD_PRELOAD` for the whole guest", |maker| {
            maker.manifest.provides.as_mut().unwrap().env = map(&[("LD_PRELOAD", "/x.so")]);
        }),
        ("AO0331", "`PATH`", |maker| {
            maker.manifest.provides.as_mut().unwrap().env = map(&[("PATH", "/x")]);
        }),
        ("AO0331", "`NODE_OPTIONS`", |maker| {
            maker.manifest.provides.as_mut().unwrap().env = map(&[("NODE_OPTIONS", "-r x")]);
        }),
        ("AO0331", "`https_proxy`", |maker| {
            maker.manifest.provides.as_mut().unwrap().env = map(&[("https_proxy", "http://x")]);
        }),
    ];
    for (code, words, change) in cases {
        let mut maker = sound();
        change(&mut maker);
        let all = found(&maker);
        let said: Vec<_> = all.iter().filter(|each| each.code == code).collect();
        assert_eq!(said.len(), 1, "{code}: {all:?}");
        assert!(said[0].message.contains(words), "{code}, {words}: {}", said[0].message);
    }
    // Names that are one name, or none, on other systems; a document that was to be left out;
    // files that share bytes in part, which hard links do not.
    let mut maker = sound();
    for path in ["/Data", "/con", "/a:b", "/agentos-package.json"] {
        row(&mut maker, Row::new(path, EntryKind::File));
    }
    row(&mut maker, Row { size: 10, ..Row::new("/bin/same", EntryKind::File) });
    let all = found(&maker);
    let said = |code: &str| all.iter().filter(|each| each.code == code).collect::<Vec<_>>();
    assert_eq!(said("AO0326").len(), 2, "{all:?}");
    assert!(said("AO0326").iter().any(|each| each.message.contains("`/Data` and `/data`")));
    assert_eq!(said("AO0312").len(), 1);
    assert_eq!(said("AO0332"), Vec::<&Diagnostic>::new(), "a hard link is no overlap");
    row(&mut maker, Row { offset: 5, size: 6, ..Row::new("/part", EntryKind::File) });
    let all = found(&maker);
    assert!(all.iter().any(|each| each.code == "AO0332"), "{all:?}");
}

#[test]
fn agents_are_held_against_the_package() {
    let mut maker = sound();
    maker.manifest.agent = Some(AgentBlock {
        acp_entrypoint: "nope".into(),
        snapshot: true,
        env: map(&[("B", ""), ("A", "")]),
        launch_args: Vec::new(),
    });
    let all = found_with(&maker, Version::V1, &PackageLimits::default());
    let said = |code: &str| all.iter().filter(|each| each.code == code).count();
    assert_eq!((said("AO0329"), said("AO0305")), (2, 1), "{all:?}");
    maker.manifest.agent.as_mut().unwrap().acp_entrypoint = "tool".into();
    maker.manifest.snapshot_bundle_path = Some("/dist/sdk-snapshot.js".into());
    let all = found_with(&maker, Version::V1, &PackageLimits::default());
    let said: Vec<_> = all.iter().filter(|each| each.code == "AO0329").collect();
    assert!(said.len() == 1 && said[0].message.contains("/dist/sdk-snapshot.js"), "{all:?}");
}

/// The limits of agentOS 0.4 are the defaults; each is told with what it is and what there is.
#[test]
fn limits_are_told_one_by_one() {
    let limits = PackageLimits::default();
    let sizes = (limits.manifest, limits.index, limits.package);
    assert_eq!(sizes, (1 << 20, 64 << 20, 512 << 20));
    let counts = (limits.commands, limits.provides, limits.name, limits.command, limits.entry);
    assert_eq!(counts, (1024, 1024, 128, 255, 4096));
    let none =
        PackageLimits { manifest: 1, index: 1, package: 1, commands: 0, provides: 0, ..limits };
    let all = found_with(&sound(), Version::V2, &none);
    let said: Vec<_> = all.iter().filter(|each| each.code == "AO0321").collect();
    assert_eq!(said.len(), 6, "{all:?}");
    let mut maker = sound();
    maker.manifest.commands = (0..1025).map(|n| command(&format!("c{n}"), "bin/tool")).collect();
    let all = found(&maker);
    assert!(all.iter().any(|each| each.message == "1025 commands, agentOS 0.4 takes 1024"));
    maker.manifest.commands.pop();
    assert_eq!(found(&maker), []);
    for (name, odd) in [("n".repeat(128), false), ("n".repeat(129), true)] {
        let mut maker = sound();
        maker.manifest.name = name;
        assert_eq!(!found(&maker).is_empty(), odd);
    }
    for (name, odd) in [("c".repeat(255), false), ("c".repeat(256), true), ("[".into(), false)] {
        let mut maker = sound();
        maker.manifest.commands[0].command = name;
        assert_eq!(found(&maker).iter().any(|each| each.code == "AO0319"), odd);
    }
}

/// Each code is explained, and once.
#[test]
fn codes_are_unique_and_explained() {
    let all: Vec<_> = codes::CODES.iter().chain(holdall_aospkg::pack::CODES).collect();
    let ids: BTreeSet<_> = all.iter().map(|code| code.id).collect();
    assert_eq!(ids.len(), all.len());
    for code in all {
        assert!(code.id.starts_with("AO0") && code.explain.len() > 20, "{}", code.id);
        assert!(!code.title.ends_with('.'), "{}", code.id);
    }
}
