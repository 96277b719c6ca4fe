//! Text on its way to the model: sentence pairs as they lie in files, vocabularies, and batches of ids.
//!
//! This layer knows no tensor; what it hands on are plain vectors of ids.

mod atoms;
mod batch;
mod bpe_dropout;
mod corpus;
mod defects;
mod layout;
mod line_stream;
mod lines;
mod n_best;
mod normalisation;
mod pair;
mod pair_files;
mod pairs;
mod profile;
mod segmentation;
mod settings;
mod spelling;
mod standard_streams;
mod tokenizer_rules;
mod units;
mod vocabulary;
mod vocabulary_growth;
mod words;

pub use atoms::{ProtectedTokens, features, features_before, without_features};
pub use batch::{Batch, BatchSize, Example, GuideWeight, PaddedBatch, bucketed};
pub use bpe_dropout::{Merges, Resegmenter};
pub use corpus::EncodedCorpus;
pub use defects::{FilterLimits, NoiseKind, defects};
pub use layout::{Column, TableFormat, has_csv_quotes, has_spaced_quotes, is_header, states_separator};
pub use line_stream::LineStream;
pub use lines::{LONGEST_LINE, count_lines, is_beginning, name as file_name, read_lines};
pub use n_best::NBestEntry;
pub use normalisation::{NormalForm, Normalization, NormalizationStats};
pub use pair::Pair;
pub use pair_files::{
    BEHIND, NOT_BEHIND, PairFiles, SHIPPED_GOLD, SHIPPED_TEST, SHIPPED_TRAINING, SHIPPED_VALIDATION,
    read_line_for_each, read_links_for_each, read_pairs,
};
pub use pairs::{LineNumbers, PairStream, read_laid_out, read_numbered, read_parallel, read_tsv};
pub use profile::{CorpusStats, LineKind, SideStats};
pub use segmentation::{Segmentation, UNKNOWN};
pub use settings::TextSettings;
pub use spelling::{SurfaceForms, has_phrase};
pub use standard_streams::{check_read_once, is_standard, open_descriptor};
pub use units::{BEGIN, END, PADDING, SPECIALS, Units};
pub use vocabulary::Vocabulary;
pub use words::{LONGEST_WORD, WordSplitting, is_of_word, is_punctuation, word_of_span, word_spans};
