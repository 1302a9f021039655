//! Any tar that can be packed gives a package that opens, whose index is its tar, and that packs
//! to itself.
#![no_main]

mod sealed;

use std::fs::File;
use std::path::Path;

use holdall_aospkg::pack::{Input, PackOptions, plan};
use holdall_aospkg::{Package, codes, verify};

/// A sparse file may be larger than a fuzzer has time for.
const MOST: u64 = 1 << 20;

fn packed(input: &Path, output: &Path) -> bool {
    let archive = File::open(input).expect("a temporary file");
    let options = PackOptions {
        name: Some("n".into()),
        version_name: Some("1".into()),
        posix: true,
        ..PackOptions::default()
    };
    let Ok(plan) = plan(Input::Tar(&archive), &options) else { return false };
    if plan.entries().map(|entry| entry.size).fold(0, u64::saturating_add) > MOST {
        return false;
    }
    plan.write(output).expect("what was planned can be written");
    true
}

fn mount_of(package: &Package, path: &Path) -> Vec<u8> {
    let start = package.header().mount_range().start as usize;
    std::fs::read(path).expect("the package").split_off(start)
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let dir = std::env::temp_dir().join(format!("holdall-fuzz-pack-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).expect("a temporary directory");
    let [input, first, mount, second] =
        ["in.tar", "1.aospkg", "mount.tar", "2.aospkg"].map(|name| dir.join(name));
    std::fs::write(&input, sealed::sealed(data)).expect("a temporary file");
    if packed(&input, &first) {
        let package = Package::open(&first).expect("what was packed opens");
        let answer = verify(&package).expect("and is read");
        assert_eq!(answer.differences, []);
        // Long names need records of their own; nothing else about our tars is unusual.
        let odd = answer.oddities.iter().find(|odd| odd.code != codes::LONG_NAME_RECORDS.id);
        assert_eq!(odd, None);
        std::fs::write(&mount, mount_of(&package, &first)).expect("a temporary file");
        // The tar in it, packed again, is the same tar; the manifest's source was left out.
        assert!(packed(&mount, &second));
        let again = Package::open(&second).expect("it opens");
        assert!(mount_of(&again, &second) == mount_of(&package, &first));
    }
    let _ = std::fs::remove_dir_all(&dir);
});
