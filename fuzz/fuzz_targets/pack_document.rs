//! Any bytes as a `PACK.md`: never a panic, a pack exactly where nothing found is an error, and
//! every way in says the same.
#![no_main]

use holdall_diagnostics::{Severity, SourceText};
use holdall_pack::{check_pack, define_pack, pack_from_manifest, parse_pack_manifest};
use holdall_skill::fix;
use libfuzzer_sys::fuzz_target;

const HEAD: &[u8] =
    b"---\nschema: pack/v1\nname: ab\ntitle: T\ndescription: D\nversion: 1.0.0\nplugin: {inline: true}\n";

fuzz_target!(|data: &[u8]| {
    let framed = [HEAD, data, b"\n---\n"].concat();
    for bytes in [data.to_vec(), framed] {
        let source = SourceText::new(bytes);
        let checked = check_pack(&source, Some("ab"));
        let errors = checked.diagnostics.iter().any(|found| found.severity == Severity::Error);
        assert_eq!(checked.pack.is_none(), errors);
        let doors = parse_pack_manifest(&source).and_then(|read| pack_from_manifest(&read));
        assert_eq!(doors.is_err(), errors);
        if let (Some((manifest, handle)), Ok(other)) = (checked.pack, doors) {
            assert_eq!(handle, other);
            assert_eq!(define_pack(&handle).expect("it passed before"), handle);
            assert_eq!(manifest.frontmatter(), &handle.to_definition());
        }
        fix::apply(source.bytes(), &checked.fixes);
    }
});
