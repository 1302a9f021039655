//! Any bytes as a product: never a panic, and a product exactly where nothing found is an error.
#![no_main]

use holdall_diagnostics::{Severity, SourceText};
use holdall_pack::check_product;
use libfuzzer_sys::fuzz_target;

const HEAD: &[u8] = b"---\nschema: product/v1\nid: ab\nkind: pricing\n";

fuzz_target!(|data: &[u8]| {
    let framed = [HEAD, data, b"\n---\n"].concat();
    for bytes in [data.to_vec(), framed] {
        let checked = check_product(&SourceText::new(bytes), Some("ab"));
        let errors = checked.diagnostics.iter().any(|found| found.severity == Severity::Error);
        assert_eq!(checked.product.is_none(), errors);
    }
});
