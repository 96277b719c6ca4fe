//! Every reader of external files and text, used as commands use it: it may return an error but must not panic. Shared by
//! random mutations (`tests/files/mutations.rs`) and coverage-guided fuzzing (`tests/fuzz/`).
#![allow(dead_code, reason = "each program uses only some of these")]

use std::path::Path;

use candle_core::Device;
use clap::Parser;
use softalign::alignment::{LinkFormat, parse_gold_line};
use softalign::checkpoint::{Config, ModelDir};
use softalign::cli::Cli;
use softalign::text::{
    Column, NormalForm, Normalization, Pair, PairStream, ProtectedTokens, TableFormat, Tokenization, Vocabulary,
    WordSplitting, read_lines, read_table,
};
use softalign::translator::{LinkedText, MarkedUp, MarkupOptions};
use softalign::{DecodeOptions, Error, TranslateOptions, Translator};

/// Default normalization of models.
const NORMALIZATION: Normalization = Normalization { form: NormalForm::Nfc, lowercase: false };

/// Reads a file of pairs whole and in chunks of `chunk_size` pairs. Returns true if it is a valid corpus.
pub fn use_corpus(path: &Path, layout: &TableFormat, chunk_size: usize) -> bool {
    let read = read_table(path, layout);
    let streamed = PairStream::open_table(path, layout).and_then(|mut pairs| {
        let mut all = Vec::new();
        loop {
            let more = pairs.next_chunk(chunk_size)?;
            if more.is_empty() {
                return Ok(all);
            }
            all.extend(more.into_iter().collect::<anyhow::Result<Vec<_>>>()?);
        }
    });
    assert_eq!(read.as_ref().ok(), streamed.as_ref().ok(), "whole and chunked reading agree");
    let _ = read_lines(path);
    read.is_ok()
}

/// Parses a line of gold alignments; its sure links must survive formatting and parsing. Returns true if it is valid.
pub fn use_gold(line: &str) -> bool {
    parse_gold_line(line).is_ok_and(|gold| {
        let sure: Vec<_> = gold.sure.iter().copied().collect();
        let reparsed = parse_gold_line(&LinkFormat::default().format_line(&sure)).expect("formatted links parse");
        assert_eq!(reparsed.sure, gold.sure);
        gold.to_zero_based(1).is_none_or(|gold| gold.out_of_bounds([3, 3]).is_none())
    })
}

/// Parses a line of links. Returns true if it is valid and survives formatting and parsing.
pub fn use_links(line: &str) -> bool {
    let format = LinkFormat { target_first: true, base: 1 };
    format.parse_line(line).is_ok_and(|links| format.parse_line(&format.format_line(&links)).as_ref() == Ok(&links))
}

/// Returns true if this is a valid config.json.
pub fn use_config(json: &str) -> bool {
    Config::parse(json).is_ok()
}

/// Returns true if the program accepts these arguments.
pub fn use_arguments<'a>(arguments: impl IntoIterator<Item = &'a str>) -> bool {
    Cli::try_parse_from(std::iter::once("softalign").chain(arguments)).is_ok()
}

/// Parses a tokenizer.json and segments text with it. Returns true if it is valid.
pub fn use_tokenizer(json: &str) -> bool {
    [Tokenization::Bpe, Tokenization::Word, Tokenization::Char].into_iter().any(|tokenization| {
        [Normalization::NONE, NORMALIZATION].into_iter().any(|normalization| {
            Vocabulary::from_json(json, tokenization, normalization, &ProtectedTokens::default()).is_ok_and(
                |vocabulary| {
                    use_text(&vocabulary, "the red fox é e\u{301} ▁ 🦊");
                    true
                },
            )
        })
    })
}

/// Segments a line and decodes its tokens; ids and word numbers must be in range.
pub fn use_text(vocabulary: &Vocabulary, text: &str) {
    for words in [WordSplitting::Whitespace, WordSplitting::Punctuation, WordSplitting::Characters] {
        let Ok(segmented) = vocabulary.segment(text, words) else { return };
        assert_eq!(segmented.ids.len(), segmented.word_of_token.len());
        assert!(segmented.ids.iter().all(|&id| (id as usize) < vocabulary.size()), "{text:?}");
        assert!(segmented.word_of_token.iter().all(|&word| word < segmented.words.len()), "{text:?}");
        let _ = vocabulary.decode(&segmented.ids);
    }
}

/// Takes tags and placeholders out of a text and puts them back into an empty translation, in which none is lost.
pub fn use_markup(text: &str) {
    for options in [MarkupOptions::html(), MarkupOptions::default()] {
        let marked = MarkedUp::parse(text, &options);
        let empty = LinkedText { text: "", source_words: Vec::new(), target_words: Vec::new(), links: &[] };
        let rendered =
            marked.render(&vec![empty; marked.sentences().count()]).expect("one translation for each sentence");
        let decoded = rendered.replace("&lt;", "<").replace("&amp;", "&");
        assert!(decoded.len() <= text.len(), "{text:?} became {rendered:?}");
    }
}

/// Passes bytes to one of these readers; the first byte selects the reader and its options. Files go to `scratch`.
pub fn use_bytes(vocabulary: &Vocabulary, bytes: &[u8], scratch: &Path) {
    let Some((&selector, bytes)) = bytes.split_first() else { return };
    let text = String::from_utf8_lossy(bytes);
    match selector % 8 {
        0 => {
            use_gold(&text);
            use_links(&text);
        }
        1 => drop(use_config(&text)),
        2 => drop(use_tokenizer(&text)),
        3 => {
            use_text(vocabulary, &text.replace('\n', " "));
            use_markup(&text);
        }
        4 => drop(use_arguments(text.split('\n'))),
        _ => {
            std::fs::write(scratch, bytes).expect("a file can be written");
            let columns = (selector & 64 != 0).then_some([2, 1].map(Column::Number));
            let features = (selector & 8 != 0).then_some(Column::Number(3));
            let layout = TableFormat { csv: selector & 16 != 0, header: selector & 32 != 0, columns, features };
            use_corpus(scratch, &layout, 1 + usize::from(selector >> 7) * 3);
        }
    }
}

/// A vocabulary of several scripts, trained on text that contains special symbols.
pub fn vocabulary() -> Vocabulary {
    let texts = ["the red fox sleeps", "Éva lit « trois » livres .", "नमस्ते 日本語 🦊 ▁ </s>"];
    Vocabulary::train(texts.into_iter(), Tokenization::Bpe, NORMALIZATION, 200).expect("a vocabulary")
}

/// Uses a model directory as commands do. Returns true if the model translates and aligns.
pub fn use_model_dir(dir: &ModelDir, [source, target]: [&str; 2]) -> bool {
    let device = Device::Cpu;
    let pairs = [Pair { source: source.to_owned(), target: target.to_owned() }];
    let used = Translator::load_on(dir.path(), &device).and_then(|translator| {
        let options = TranslateOptions::of_plain_text(DecodeOptions::beam(2));
        let prepared = translator.prepare(&options).map_err(Error::into_inner)?;
        prepared.translate_batch(&[source.into(), "unknown".into()], 0, &mut |_| {})?;
        translator.align_batch(&pairs, &mut |_| {})
    });
    if let Ok(checkpoint) = dir.load() {
        let _ =
            dir.load_aligner(&checkpoint).map(|aligner| aligner.map(|one| one.posteriors(&["the".to_owned()], &[])));
        let _ = dir.load_lexicon(&checkpoint);
        let _ = dir.load_resume(&checkpoint, &device);
    }
    let (_, _, _) = (dir.log().lines(), dir.attention().lines(), dir.dir_state());
    used.is_ok()
}
