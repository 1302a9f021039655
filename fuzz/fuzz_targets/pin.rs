//! Any text as a git pin and as an include: what reads is written back as it was, and a pin has the
//! published form.
#![no_main]

use holdall_pack::{GitPin, Include};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let sha = "0123456789abcdef0123456789abcdef01234567";
    for text in [text.to_owned(), format!("git+https://{text}#{sha}")] {
        match GitPin::parse(&text) {
            Ok(pin) => {
                assert_eq!(pin.to_string(), text);
                assert!(pin.url().starts_with("https://") && !pin.url().contains('#'));
                assert_eq!(pin.commit().len(), 40);
            }
            Err(error) => {
                error.diagnostic();
            }
        }
        if let Ok(include) = Include::parse(&text) {
            assert_eq!(include.to_string(), text);
        }
    }
});
