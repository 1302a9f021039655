//! What inspection says about made packages: every kind of command, what reaches the guest, what
//! is inside; and the file names that packages get.

use holdall_aospkg::format::{EntryKind, Version};
use holdall_aospkg::{
    CommandTarget, Errno, Inside, ProvidesBlock, ProvidesFile, RunKind, TarFileSystem, file_name,
    inspect,
};

use crate::support::{Maker, Row};

/// A module with these imports, written out from the WebAssembly specification: magic, version, a
/// custom section, types, imports of functions, and a code section that is not looked at.
fn wasm(modules: &[&str]) -> Vec<u8> {
    let mut imports = vec![modules.len() as u8];
    for module in modules {
        imports.push(module.len() as u8);
        imports.extend_from_slice(module.as_bytes());
        // Field `f`, a function of type 0.
        imports.extend([1, b'f', 0, 0]);
    }
    let mut out = b"\0asm\x01\0\0\0".to_vec();
    out.extend([0, 3, 1, b'x', 9]);
    out.extend([1, 4, 1, 0x60, 0, 0]);
    out.extend([2, imports.len() as u8]);
    out.extend(imports);
    out.extend([10, 4, 1, 2, 0, 0x0b]);
    out
}

fn runs(name: &str, bytes: &[u8]) -> RunKind {
    let mut maker = Maker::new().dir("/bin").file("/bin/x", bytes);
    maker.manifest.commands = vec![CommandTarget { command: name.into(), entry: "bin/x".into() }];
    let dir = tempfile::tempdir().unwrap();
    let fs = TarFileSystem::open(maker.write(dir.path(), Version::V2)).unwrap();
    let said = inspect(&fs).unwrap();
    assert_eq!((said.runs[0].size, said.runs[0].executable), (bytes.len() as u64, true));
    said.runs[0].kind.clone()
}

#[test]
fn commands_are_told_by_their_first_bytes() {
    let imports = wasm(&["wasi_snapshot_preview1", "host_process", "host_net", "host_net"]);
    let expected = ["host_net", "host_process", "wasi_snapshot_preview1"];
    let modules = Some(expected.map(str::to_owned).to_vec());
    assert_eq!(runs("a", &imports), RunKind::Wasm { host_modules: modules });
    assert_eq!(
        runs("a", b"\0asm\x01\0\0\0"),
        RunKind::Wasm { host_modules: Some(Vec::new()) },
        "nothing imported"
    );
    for cut in 9..imports.len() - 8 {
        let RunKind::Wasm { .. } = runs("a", &imports[..cut]) else { panic!("cut at {cut}") };
    }
    let mut wrong = imports.clone();
    wrong[4] = 2;
    assert_eq!(runs("a", &wrong), RunKind::Wasm { host_modules: None });
    let script = |line: &str| RunKind::Script { interpreter: line.to_owned() };
    assert_eq!(runs("a", b"#!/usr/bin/env node\nx"), script("/usr/bin/env node"));
    assert_eq!(runs("a", b"#! /bin/sh -e \r\n"), script("/bin/sh -e"));
    assert_eq!(runs("a", b"#!"), script(""));
    let native = |format| RunKind::Native { format };
    assert_eq!(runs("a", b"\x7fELF\x02\x01"), native("ELF"));
    assert_eq!(runs("a", b"MZ\x90\0"), native("PE"));
    assert_eq!(runs("a", b"\xcf\xfa\xed\xfe\x07"), native("Mach-O"));
    assert_eq!(runs("a", b"\xca\xfe\xba\xbe\0\0\0\x02"), native("Mach-O"));
    // Java 8: version 0x34 is no count of machines.
    assert_eq!(runs("a", b"\xca\xfe\xba\xbe\0\0\0\x34"), RunKind::Unknown);
    for other in [&b""[..], b"x", b"echo hi\n"] {
        assert_eq!(runs("a", other), RunKind::Unknown);
    }
}

#[test]
fn a_package_tells_what_it_is_runs_reaches_and_holds() {
    let mut maker = Maker::new()
        .dir("/bin")
        .file("/bin/plain", "#!/bin/sh\n")
        .link("/bin/link", "plain")
        .link("/bin/loop", "loop")
        .dir("/data")
        .file("/PACK.md", "---\n")
        .file("/SKILL.md", "---\n")
        .dir("/APP.md")
        .sorted();
    let plain = maker.rows.iter().position(|row| row.path == "/bin/plain").unwrap();
    maker.rows[plain] = Row { mode: 0o100_644, ..maker.rows[plain].clone() };
    let command =
        |command: &str, entry: &str| CommandTarget { command: command.into(), entry: entry.into() };
    maker.manifest.commands = vec![
        command("ls", "bin/link"),
        command("gone", "bin/gone"),
        command("dir", "data"),
        command("loop", "bin/loop"),
        command("below", "bin/plain/x"),
    ];
    let env = [("PATH", "/x"), ("A", "1"), ("LD_PRELOAD", "x"), ("NO_PROXY", "*")];
    let file =
        |source: &str, target: &str| ProvidesFile { source: source.into(), target: target.into() };
    maker.manifest.provides = Some(ProvidesBlock {
        env: env.into_iter().collect(),
        files: vec![
            file("data", "/usr/local/share/x"),
            file("data", "/opt/x"),
            file("data", "/etc"),
            file("data", "/usr/local/../../etc"),
            file("data", "/usr/localx"),
            file("data", "/"),
        ],
    });
    let dir = tempfile::tempdir().unwrap();
    let path = maker.write(dir.path(), Version::V1);
    let said = inspect(&TarFileSystem::open(&path).unwrap()).unwrap();
    assert_eq!((said.name.as_str(), said.version.as_str(), said.format), ("t", "1", Version::V1));
    let sizes = said.sizes;
    assert_eq!(sizes.header + sizes.manifest + sizes.index + sizes.mount, sizes.file);
    assert_eq!(sizes.file, std::fs::metadata(&path).unwrap().len());
    assert_eq!(sizes.mount, maker.mount.len() as u64);

    let kinds: Vec<_> = said.runs.iter().map(|run| &run.kind).collect();
    assert_eq!(*kinds[0], RunKind::Script { interpreter: "/bin/sh".into() });
    assert!(said.runs[0].shadows && !said.runs[0].executable && !said.runs[1].shadows);
    let errnos = [Errno::ENOENT, Errno::EISDIR, Errno::ELOOP, Errno::ENOTDIR];
    assert!(kinds[1..].iter().zip(errnos).all(|(kind, errno)| **kind == RunKind::Missing(errno)));

    let keys: Vec<_> =
        said.env.iter().map(|each| (each.key.as_str(), each.flagged.is_some())).collect();
    assert_eq!(keys, [("A", false), ("LD_PRELOAD", true), ("NO_PROXY", true), ("PATH", true)]);
    let flagged: Vec<_> = said.mounts.iter().map(|each| each.flagged.is_some()).collect();
    assert_eq!(flagged, [false, false, true, true, true, true]);

    let holds = said.holds;
    assert_eq!((holds.entries, holds.files, holds.directories, holds.links), (9, 3, 4, 2));
    assert_eq!(holds.bytes, 10 + 4 + 4);
    assert_eq!(holds.inside, [Inside::Pack, Inside::Skill], "a directory is no document");
    let kinds = [EntryKind::File, EntryKind::Directory, EntryKind::Symlink];
    assert_eq!(kinds.map(|kind| kind.to_string()), ["file", "directory", "link"]);
}

#[test]
fn file_names_are_plain_or_none() {
    let named = |name: &str, version: &str| file_name(name, version);
    assert_eq!(named("demo", "2.1.0").as_deref(), Some("demo-2.1.0"));
    assert_eq!(named("@o/app", "1").as_deref(), Some("o-app-1"));
    assert_eq!(named("a", "1.0.0+build.5").as_deref(), Some("a-1.0.0+build.5"));
    for (name, version) in [
        ("../x", "1"),
        ("", "1"),
        ("a", ""),
        ("..", "1"),
        (".", "1"),
        ("@o/../x", "1"),
        ("@/x/y", "1"),
        ("a/b", "1"),
        ("a", "../1"),
        ("a", ".."),
        ("a\0", "1"),
        ("a b", "1"),
        ("ä", "1"),
    ] {
        assert_eq!(named(name, version), None, "{name:?} {version:?}");
    }
}
