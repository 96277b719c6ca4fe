//! What reads files and text from outside, as commands use it: each may refuse what it is given, and must not panic. Random
//! mutations (`tests/mutations.rs`) and a fuzzer led by coverage (`tests/fuzz/`) go through these.
#![allow(dead_code, reason = "each program needs a part of this")]

use std::path::Path;

use candle_core::Device;
use clap::Parser;
use softalign::alignment::{LinkFormat, parse_gold_line};
use softalign::checkpoint::{Config, ModelDir};
use softalign::cli::Cli;
use softalign::search::BeamSearch;
use softalign::text::{
    Column, NormalForm, Normalization, Pair, PairStream, ProtectedTokens, TableFormat, Units, Vocabulary,
    WordSplitting, read_laid_out, read_lines,
};
use softalign::translator::{Dictionary, Translator};

/// What models have where nothing else is asked for.
const NORMALISATION: Normalization = Normalization { form: NormalForm::Nfc, lowercase: false };

/// Reads a file of pairs whole and as a stream, `portion` pairs at a time; says whether it holds pairs.
pub fn use_corpus(path: &Path, layout: &TableFormat, portion: usize) -> bool {
    let read = read_laid_out(path, layout);
    let streamed = PairStream::laid_out(path, layout).and_then(|mut pairs| {
        let mut all = Vec::new();
        loop {
            let more = pairs.next_chunk(portion)?;
            if more.is_empty() {
                return Ok(all);
            }
            all.extend(more);
        }
    });
    assert_eq!(read.as_ref().ok(), streamed.as_ref().ok(), "both ways to read give the same");
    let _ = read_lines(path);
    read.map(Dictionary::of).is_ok()
}

/// Reads a line of gold alignments, and writes and reads its sure links again; says whether it is one.
pub fn use_gold(line: &str) -> bool {
    parse_gold_line(line).is_ok_and(|gold| {
        let sure: Vec<_> = gold.sure.iter().copied().collect();
        let written = parse_gold_line(&LinkFormat::default().format_line(&sure)).expect("what was written can be read");
        assert_eq!(written.sure, gold.sure);
        gold.to_zero_based(1).is_none_or(|gold| gold.out_of_bounds([3, 3]).is_none())
    })
}

/// Reads a line of links.
pub fn use_links(line: &str) -> bool {
    let notation = LinkFormat { target_first: true, base: 1 };
    notation
        .parse_line(line)
        .is_ok_and(|links| notation.parse_line(&notation.format_line(&links)).as_ref() == Ok(&links))
}

/// Says whether settings of a model can be read.
pub fn use_config(json: &str) -> bool {
    Config::parse(json).is_ok()
}

/// Says whether the program takes these arguments.
pub fn use_arguments<'a>(arguments: impl IntoIterator<Item = &'a str>) -> bool {
    Cli::try_parse_from(std::iter::once("softalign").chain(arguments)).is_ok()
}

/// Reads a tokenizer's file, and cuts some text by it; says whether it is one.
pub fn use_tokenizer(json: &str) -> bool {
    [Units::Bpe, Units::Word, Units::Char].into_iter().any(|units| {
        [Normalization::NONE, NORMALISATION].into_iter().any(|normalization| {
            Vocabulary::from_json(json, units, normalization, &ProtectedTokens::default()).is_ok_and(|vocabulary| {
                use_text(&vocabulary, "the red fox é e\u{301} ▁ 🦊");
                true
            })
        })
    })
}

/// Cuts a line into units; those that the vocabulary covers become the text again.
pub fn use_text(vocabulary: &Vocabulary, text: &str) {
    for words in [WordSplitting::Whitespace, WordSplitting::Punctuation, WordSplitting::Characters] {
        let Ok(cut) = vocabulary.segment(text, words) else { return };
        assert_eq!(cut.ids.len(), cut.word_of_unit.len());
        assert!(cut.ids.iter().all(|&id| (id as usize) < vocabulary.size()), "{text:?}");
        assert!(cut.word_of_unit.iter().all(|&word| word < cut.words.len()), "{text:?}");
        let _ = vocabulary.decode(&cut.ids);
    }
}

/// Hands bytes to one of these: the first byte says to which, and how. Files are written to `scratch`.
pub fn use_bytes(vocabulary: &Vocabulary, bytes: &[u8], scratch: &Path) {
    let Some((&how, bytes)) = bytes.split_first() else { return };
    let text = String::from_utf8_lossy(bytes);
    match how % 8 {
        0 => {
            use_gold(&text);
            use_links(&text);
        }
        1 => drop(use_config(&text)),
        2 => drop(use_tokenizer(&text)),
        3 => use_text(vocabulary, &text.replace('\n', " ")),
        4 => drop(use_arguments(text.split('\n'))),
        _ => {
            std::fs::write(scratch, bytes).expect("a file can be written");
            let columns = (how & 64 != 0).then_some([2, 1].map(Column::Number));
            let features = (how & 8 != 0).then_some(Column::Number(3));
            let layout = TableFormat { csv: how & 16 != 0, header: how & 32 != 0, columns, features };
            use_corpus(scratch, &layout, 1 + usize::from(how >> 7) * 3);
        }
    }
}

/// A vocabulary of several scripts, and of what means something to it.
pub fn vocabulary() -> Vocabulary {
    let texts = ["the red fox sleeps", "Éva lit « trois » livres .", "नमस्ते 日本語 🦊 ▁ </s>"];
    Vocabulary::train(texts.into_iter(), Units::Bpe, NORMALISATION, 200).expect("a vocabulary")
}

/// Does with a folder what commands do; says whether the model can be used.
pub fn use_model_dir(dir: &ModelDir, [source, target]: [&str; 2]) -> bool {
    let device = Device::Cpu;
    let pairs = [Pair { source: source.to_owned(), target: target.to_owned() }];
    let used = Translator::load_on(dir.path(), &device).and_then(|translator| {
        let settings = BeamSearch { beam: 2, ..BeamSearch::default() }.into();
        translator.translate_batch(&[source.into(), "unknown".into()], &settings, &mut |_| {})?;
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
