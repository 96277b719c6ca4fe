//! Sentence pairs in files, vocabularies, and batches of ids. This layer uses no tensors, only plain vectors of ids.

mod batch;
mod bpe_dropout;
mod companion_files;
mod composition;
mod copied_words;
mod corpus_stats;
mod encoded_corpus;
mod format_pairs;
mod known_words;
mod language_names;
mod languages;
mod line_reader;
mod line_stream;
mod mapped_text;
mod n_best;
mod noise_kind;
mod normalization;
mod pair;
mod pair_file_args;
mod pair_files;
mod pair_reader;
mod protected_tokens;
mod rare_variants;
mod readable;
mod segmentation;
mod sentence_table;
mod sentences;
mod settings;
mod sorted_phrases;
mod standard_streams;
mod surface_forms;
mod table_format;
mod table_header;
mod table_records;
mod table_writer;
mod tokenization;
mod tokenizer_json;
mod truecaser;
mod vocabulary;
mod vocabulary_extend;
mod vocabulary_fit;
mod word_spans;

pub use batch::{Batch, BatchShare, BatchSize, Example, ExampleLength, GuideWeight, PaddedBatch, bucketed};
pub use bpe_dropout::{Merges, Resegmenter};
pub use companion_files::{ensure_line_for_each, read_link_lines, read_links_for_each, read_row_for_each};
pub use copied_words::{CopiedWords, find_copy, numeral_end};
pub use corpus_stats::{CorpusStats, LineKind, SideStats};
pub use encoded_corpus::EncodedCorpus;
pub use known_words::{KnownWords, is_lowercase_word, start_of_last_word, words_beginning_with};
pub use language_names::language_name;
pub use languages::{Languages, split_language_code};
pub use line_reader::{
    LONGEST_LINE, LineError, OnError, count_lines, is_truncated, name as file_name, read_each_line, read_lines,
    read_readable_lines,
};
pub use line_stream::LineStream;
pub use mapped_text::MappedText;
pub use n_best::NBestEntry;
pub use noise_kind::{FilterLimits, NoiseKind, defects};
pub use normalization::{NormalForm, Normalization, NormalizationStats};
pub use pair::Pair;
pub use pair_file_args::{LayoutArgs, SelectedColumns};
#[cfg(feature = "cli")]
pub use pair_file_args::{fail_or_skip, parse_source_column};
pub use pair_files::{
    FEATURES_COLUMN_ERROR, FIRST_FEATURES_COLUMN, PairFiles, ReadablePairs, SHIPPED_GOLD, SHIPPED_TEST,
    SHIPPED_TRAINING, SHIPPED_VALIDATION, read_pairs,
};
pub use pair_reader::{LineNumbers, PairStream, read_numbered, read_table};
pub use protected_tokens::{ProtectedTokens, features, features_before, split_trailing_features, without_features};
pub use rare_variants::RareVariants;
pub use readable::{KnownCharacters, ReadableText};
pub use segmentation::{Segmentation, UNKNOWN, words_of_tokens};
pub use sentence_table::{SentenceTable, TableRows};
pub use sentences::SentenceSplitter;
pub use settings::TextSettings;
pub use sorted_phrases::SortedPhrases;
pub use standard_streams::{
    check_read_once, check_standard_input, check_standard_output, is_read_once, is_standard, open_descriptor,
    remember_closed_streams, standard_input_has_data,
};
pub use surface_forms::{PhraseBoundaries, SurfaceForms};
pub use table_format::{Column, TableFormat, has_csv_quotes, has_spaced_quotes, is_csv, is_separator_line};
pub use table_header::is_header;
pub use table_writer::{RowSyntax, TableWriter};
pub use tokenization::{BEGIN, END, PADDING, SPECIALS, Tokenization};
pub use truecaser::{Truecaser, are_capitals, capitalized};
pub use vocabulary::Vocabulary;
pub use vocabulary_fit::{VocabularyFit, is_in_other_language};
pub use word_spans::{
    LONGEST_WORD, WordSplitting, are_single_words, is_punctuation, locate_words, scripts_without_spaces,
    strip_punctuation, word_of_span, word_spans,
};
