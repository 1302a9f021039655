//! Unpacking: modes, links, parts, and nothing outside of the new directory or half-written.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use holdall_aospkg::format::{EntryKind, Version};
use holdall_aospkg::pack::{Input, PackOptions, plan};
use holdall_aospkg::{Errno, ExtractOptions, Extracted, PackageError, TarFileSystem, extract};
use holdall_tree::DirTree;

use crate::support::{Maker, Row};

const REWRITE: ExtractOptions = ExtractOptions { rewrite_links: true };

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn out(&self) -> PathBuf {
        self.0.path().join("out")
    }

    fn extract(
        &self,
        maker: &Maker,
        paths: &[&str],
        options: ExtractOptions,
    ) -> Result<Extracted, PackageError> {
        let path = maker.write(self.0.path(), Version::V2);
        extract(&TarFileSystem::open(&path).unwrap(), paths, &self.out(), options)
    }

    /// The errno, and that nothing is there that was not there before.
    fn refused(&self, maker: &Maker, paths: &[&str], options: ExtractOptions) -> PackageError {
        let had = self.out().exists();
        let error = self.extract(maker, paths, options).unwrap_err();
        assert_eq!(self.out().exists(), had, "{error}");
        let left = fs::read_dir(self.0.path()).unwrap().count();
        assert_eq!(left, 1 + usize::from(had), "no stage is left: {error}");
        error
    }
}

/// Path to mode (links: target) of everything below a directory.
fn listing(root: &Path) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut todo = vec![root.to_owned()];
    while let Some(dir) = todo.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let known = fs::symlink_metadata(&path).unwrap();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            if known.is_symlink() {
                all.insert(name, fs::read_link(&path).unwrap().to_str().unwrap().to_owned());
            } else {
                all.insert(name, format!("{:o}", known.permissions().mode() & 0o7777));
                if known.is_dir() {
                    todo.push(path);
                }
            }
        }
    }
    all
}

fn shown(root: &Path) -> Vec<(String, String)> {
    listing(root).into_iter().collect()
}

fn pairs(rows: &[(&str, &str)]) -> Vec<(String, String)> {
    rows.iter().map(|(path, what)| ((*path).to_owned(), (*what).to_owned())).collect()
}

fn with_mode(path: &str, mode: u32) -> Row {
    Row { mode, uid: 1, gid: 1, ..Row::new(path, EntryKind::File) }
}

#[test]
fn modes_lose_their_set_id_bits_and_nothing_else() {
    let at = Place::new();
    let maker = Maker::new()
        .dir("/bin")
        .row(with_mode("/bin/run", 0o100_755))
        .row(with_mode("/bin/suid", 0o106_755))
        .row(with_mode("/plain", 0o100_640))
        .row(Row { mode: 0o041_777, ..Row::new("/tmp", EntryKind::Directory) });
    let done = at.extract(&maker, &[], ExtractOptions::default()).unwrap();
    assert_eq!((done.files, done.directories, done.links), (3, 2, 0));
    let expected =
        [("bin", "755"), ("bin/run", "755"), ("bin/suid", "755"), ("plain", "640"), ("tmp", "777")];
    assert_eq!(shown(&at.out()), pairs(&expected));
}

#[test]
fn links_that_leave_are_refused_or_turned_inside() {
    let at = Place::new();
    for (path, target) in [
        ("/l", "/etc/passwd"),
        ("/l", ".."),
        ("/d/l", "../../x"),
        ("/d/l", "../../../../etc/passwd"),
        ("/l", "d/../../x"),
        ("/l", "/"),
    ] {
        let maker = Maker::new().dir("/d").link(path, target).file("/x", "1").sorted();
        let error = at.refused(&maker, &[], ExtractOptions::default());
        assert_eq!(error.errno(), Errno::EXDEV, "{target}");
        let words = format!("`{path}` -> `{target}`");
        assert!(error.detail().contains(&words), "{error}");
    }
    // Out through another link: `d/up` is `/d/..`, and from there `..` leaves.
    let chain = Maker::new().dir("/d").link("/d/up", "..").link("/l", "d/up/../x").sorted();
    let error = at.refused(&chain, &[], ExtractOptions::default());
    assert_eq!(error.errno(), Errno::EXDEV, "{error}");

    let maker = Maker::new()
        .link("/abs", "/d/f")
        .dir("/d")
        .link("/d/climb", "../../../d/f")
        .file("/d/f", "content")
        .link("/d/in", "../x")
        .link("/root", "/")
        .file("/x", "1");
    let done = at.extract(&maker, &[], REWRITE).unwrap();
    assert_eq!(done.rewritten, ["/abs", "/d/climb", "/root"]);
    let links = listing(&at.out());
    assert_eq!((links["abs"].as_str(), links["d/climb"].as_str()), ("d/f", "../d/f"));
    assert_eq!((links["d/in"].as_str(), links["root"].as_str()), ("../x", "."));
    for link in ["abs", "d/climb"] {
        assert_eq!(fs::read_to_string(at.out().join(link)).unwrap(), "content");
    }
}

#[test]
fn parts_are_taken_by_path() {
    let at = Place::new();
    let maker = Maker::new()
        .dir("/d")
        .file("/d-", "not below")
        .dir("/d/e")
        .file("/d/e/f", "1")
        .link("/d/l", "/outside")
        .file("/other", "2");
    let done = at.extract(&maker, &["/d/e", "other"], ExtractOptions::default()).unwrap();
    assert_eq!((done.files, done.directories), (2, 1), "the link is not among them");
    let names: Vec<_> = listing(&at.out()).into_keys().collect();
    assert_eq!(names, ["d", "d/e", "d/e/f", "other"]);
    fs::remove_dir_all(at.out()).unwrap();
    let error = at.refused(&maker, &["/d/nope"], ExtractOptions::default());
    assert_eq!((error.errno(), error.code().id), (Errno::ENOENT, "AO0119"), "{error}");
}

#[test]
fn what_stands_there_is_left_alone() {
    let maker = Maker::new().file("/f", "new");
    for make in [
        (|path: &Path| fs::write(path, "old").unwrap()) as fn(&Path),
        |path| fs::create_dir(path).unwrap(),
        |path| std::os::unix::fs::symlink("gone", path).unwrap(),
    ] {
        let at = Place::new();
        make(&at.out());
        let before = fs::symlink_metadata(at.out()).unwrap();
        let path = maker.write(at.0.path(), Version::V1);
        let fs = TarFileSystem::open(&path).unwrap();
        let error = extract(&fs, &[] as &[&str], &at.out(), REWRITE).unwrap_err();
        assert_eq!(error.errno(), Errno::EEXIST, "{error}");
        let after = std::fs::symlink_metadata(at.out()).unwrap();
        assert_eq!((before.file_type(), before.len()), (after.file_type(), after.len()));
    }
    let at = Place::new();
    let path = maker.write(at.0.path(), Version::V1);
    let fs = TarFileSystem::open(&path).unwrap();
    let below = at.0.path().join("no/such/dir");
    assert_eq!(extract(&fs, &[] as &[&str], &below, REWRITE).unwrap_err().errno(), Errno::ENOENT);
}

#[test]
fn what_no_path_leads_to_is_told_and_left_out() {
    let at = Place::new();
    let maker = Maker::new().file("/f", "").file("/f/below", "").file("/orphan/x", "");
    let done = at.extract(&maker, &[], ExtractOptions::default()).unwrap();
    assert_eq!(done.unreachable, ["/f/below", "/orphan/x"]);
    assert_eq!(listing(&at.out()).into_keys().collect::<Vec<_>>(), ["f"]);
}

#[test]
fn names_that_no_file_can_have_are_one_error() {
    for name in ["/a\0b".to_owned(), format!("/{}", "n".repeat(300))] {
        let at = Place::new();
        let error = at.refused(&Maker::new().file(&name, "x"), &[], ExtractOptions::default());
        assert_eq!(error.code().id, "AO0118", "{error}");
    }
}

/// Packed, unpacked and packed again: the same bytes, the execute bits with them.
#[test]
fn a_round_trip_keeps_every_byte_and_execute_bit() {
    let at = Place::new();
    let root = at.0.path().join("in");
    fs::create_dir_all(root.join("hooks")).unwrap();
    fs::create_dir_all(root.join("empty")).unwrap();
    for (path, mode) in [("hooks/run.sh", 0o755), ("hooks/notes", 0o644), ("ünï", 0o711)] {
        fs::write(root.join(path), path).unwrap();
        fs::set_permissions(root.join(path), fs::Permissions::from_mode(mode)).unwrap();
    }
    std::os::unix::fs::symlink("hooks/run.sh", root.join("run")).unwrap();
    let options = PackOptions {
        name: Some("n".into()),
        version_name: Some("1".into()),
        ..PackOptions::default()
    };
    let pack = |from: &Path, to: &Path| {
        let tree = DirTree::open(from).unwrap();
        plan(Input::Tree(&tree), &options).unwrap().write(to).unwrap();
    };
    let [first, second] = ["1.aospkg", "2.aospkg"].map(|name| at.0.path().join(name));
    pack(&root, &first);
    let fs = TarFileSystem::open(&first).unwrap();
    extract(&fs, &[] as &[&str], &at.out(), ExtractOptions::default()).unwrap();
    assert_eq!(listing(&at.out())["hooks/run.sh"], "755");
    assert_eq!(listing(&at.out())["hooks/notes"], "644");
    pack(&at.out(), &second);
    assert!(std::fs::read(first).unwrap() == std::fs::read(second).unwrap());
}
