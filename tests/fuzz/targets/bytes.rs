//! Fuzzes every reader of text with raw bytes.
#![no_main]

#[path = "../../common/corrupt.rs"]
mod corrupt;

use std::sync::LazyLock;

use corrupt::{use_bytes, vocabulary};
use libfuzzer_sys::fuzz_target;
use softalign::text::Vocabulary;

static VOCABULARY: LazyLock<Vocabulary> = LazyLock::new(vocabulary);

fuzz_target!(|bytes: &[u8]| {
    let scratch = std::env::temp_dir().join(format!("softalign-fuzz-{}", std::process::id()));
    use_bytes(&VOCABULARY, bytes, &scratch);
});
