//! Bytes as each reader of text meets them: the first byte says which reader, and how.
#![no_main]

#[path = "../../common/attacked.rs"]
mod attacked;

use std::sync::LazyLock;

use attacked::{use_arguments, use_config, use_corpus, use_gold, use_links, use_text, use_tokenizer};
use libfuzzer_sys::fuzz_target;
use softalign::text::{Layout, Units, Vocabulary};

static VOCABULARY: LazyLock<Vocabulary> = LazyLock::new(|| {
    let texts = ["the red fox sleeps", "Éva lit « trois » livres .", "नमस्ते 日本語 🦊 ▁ </s>"];
    Vocabulary::train(texts.into_iter(), Units::Bpe, 200).expect("a vocabulary")
});

fuzz_target!(|bytes: &[u8]| {
    let Some((&how, bytes)) = bytes.split_first() else { return };
    let text = String::from_utf8_lossy(bytes);
    match how % 8 {
        0 => {
            use_gold(&text);
            use_links(&text);
        }
        1 => drop(use_config(&text)),
        2 => drop(use_tokenizer(&text)),
        3 => use_text(&VOCABULARY, &text.replace('\n', " ")),
        4 => drop(use_arguments(text.split('\n'))),
        _ => {
            let path = std::env::temp_dir().join(format!("softalign-fuzz-{}", std::process::id()));
            std::fs::write(&path, bytes).expect("a file can be written");
            let columns = (how & 64 != 0).then_some([2, 1]);
            let layout = Layout { csv: how & 16 != 0, header: how & 32 != 0, columns };
            use_corpus(&path, &layout, 1 + usize::from(how >> 7) * 3);
        }
    }
});
