//! The command line: clap's structures, with what `--help` says.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::alignment::Symmetrisation;
use crate::model::InitialState;
use crate::text::{Units, Words};
use crate::training::Metric;

/// Train a small translator on your own sentence pairs, translate with it, and see which word came from which.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 110, propagate_version = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,

    /// Print results and errors only.
    #[arg(long, short, global = true)]
    pub quiet: bool,

    /// Cores to use [default: all].
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,

    /// Where to compute; cuda needs a softalign built with --features cuda.
    #[arg(long, global = true, value_enum, default_value_t = DeviceName::Cpu)]
    pub device: DeviceName,
}

/// Where to compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DeviceName {
    /// The processor.
    Cpu,
    /// The first NVIDIA GPU.
    Cuda,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Train a model on sentence pairs.
    Train(Box<TrainArgs>),
    /// Translate sentences; interactively when there is nothing to read.
    Translate(TranslateArgs),
    /// Show or export which word of given sentence pairs belongs to which.
    Align(AlignArgs),
    /// Measure a model on sentence pairs with known translations.
    Evaluate(EvaluateArgs),
    /// Say in words what a model's folder holds.
    Inspect(InspectArgs),
}

/// Sizes and settings that fit together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Preset {
    /// By the number of training pairs.
    Auto,
    /// Embedding 64, hidden 128, attention 128.
    Tiny,
    /// Embedding 128, hidden 256, attention 128.
    Small,
    /// Embedding 192, hidden 384, attention 256.
    Medium,
    /// Embedding 256, hidden 512, attention 512.
    Large,
}

/// Where sentence pairs come from.
#[derive(Debug, Args)]
pub struct PairArgs {
    /// Sentence pairs, one a line: sentence TAB translation; - reads standard input [default: data/test.tsv].
    #[arg(long, value_name = "FILE.tsv", conflicts_with_all = ["source", "target"])]
    pub pairs: Option<PathBuf>,

    /// Sentences, one a line, with their translations in --target.
    #[arg(long, value_name = "FILE", requires = "target")]
    pub source: Option<PathBuf>,

    /// Translations, one a line.
    #[arg(long, value_name = "FILE", requires = "source")]
    pub target: Option<PathBuf>,
}

/// `softalign train`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  softalign train --train pairs.tsv --out my-model
  softalign train --source train.en --target train.de --valid-source val.en --valid-target val.de --out en-de
  softalign train --out my-model --resume")]
pub struct TrainArgs {
    /// Training pairs, one a line: sentence TAB translation [default: data/train.tsv].
    #[arg(long, value_name = "FILE.tsv", conflicts_with_all = ["source", "target"], help_heading = "Data")]
    pub train: Option<PathBuf>,

    /// Training sentences, one a line, with their translations in --target.
    #[arg(long, value_name = "FILE", requires = "target", help_heading = "Data")]
    pub source: Option<PathBuf>,

    /// Translations of the training sentences, one a line.
    #[arg(long, value_name = "FILE", requires = "source", help_heading = "Data")]
    pub target: Option<PathBuf>,

    /// Validation pairs [default: data/validation.tsv with the shipped corpus, else a part of the training pairs].
    #[arg(long, value_name = "FILE.tsv", conflicts_with_all = ["valid_source", "valid_target"], help_heading = "Data")]
    pub valid: Option<PathBuf>,

    /// Validation sentences, one a line.
    #[arg(long, value_name = "FILE", requires = "valid_target", help_heading = "Data")]
    pub valid_source: Option<PathBuf>,

    /// Translations of the validation sentences, one a line.
    #[arg(long, value_name = "FILE", requires = "valid_source", help_heading = "Data")]
    pub valid_target: Option<PathBuf>,

    /// Folder for the model [default: checkpoints; a model that is there is moved to checkpoints/previous].
    #[arg(long, value_name = "DIR", help_heading = "Data")]
    pub out: Option<PathBuf>,

    /// Go on with the training that stopped in the --out folder, with its settings.
    #[arg(long, help_heading = "Data")]
    pub resume: bool,

    /// What sentences are cut into: bpe (pieces of words), word or char [default: bpe].
    #[arg(long, value_enum, help_heading = "Text")]
    pub units: Option<Units>,

    /// The same for the source alone.
    #[arg(long, value_enum, value_name = "UNITS", help_heading = "Text")]
    pub source_units: Option<Units>,

    /// The same for the target alone.
    #[arg(long, value_enum, value_name = "UNITS", help_heading = "Text")]
    pub target_units: Option<Units>,

    /// Most units in a vocabulary; bpe keeps every single character beyond it [default: by data and kind of unit].
    #[arg(long, value_name = "N", help_heading = "Text")]
    pub vocabulary_size: Option<usize>,

    /// One vocabulary for both sides instead of one each.
    #[arg(long, help_heading = "Text")]
    pub joint_vocabulary: bool,

    /// Leave out pairs with more units than this on a side [default: 128].
    #[arg(long, value_name = "N", help_heading = "Text")]
    pub max_length: Option<usize>,

    /// Sizes and settings that fit together; single ones can be changed by the options below [default: auto].
    #[arg(long, value_enum, help_heading = "Model")]
    pub preset: Option<Preset>,

    /// Dimension of the embeddings.
    #[arg(long, value_name = "N", help_heading = "Model")]
    pub embedding_size: Option<usize>,

    /// Dimension of the decoder's state; each direction of the encoder has half of it, so it is even.
    #[arg(long, value_name = "N", help_heading = "Model")]
    pub hidden_size: Option<usize>,

    /// Dimension in which attention compares states and annotations.
    #[arg(long, value_name = "N", help_heading = "Model")]
    pub attention_size: Option<usize>,

    /// Encoder layers [default: 1].
    #[arg(long, value_name = "N", help_heading = "Model")]
    pub layers: Option<usize>,

    /// Give the output layer a matrix of its own instead of the target embeddings.
    #[arg(long, help_heading = "Model")]
    pub untied: bool,

    /// What the decoder's first state is made from [default: mean].
    #[arg(long, value_enum, help_heading = "Model")]
    pub initial_state: Option<InitialState>,

    /// Share of numbers dropped in embeddings, annotations, states and readout [default: 0.2].
    #[arg(long, value_name = "P", help_heading = "Training")]
    pub dropout: Option<f64>,

    /// Teach attention the links of the statistical aligner; the number says how much they count [default if given: 0.5].
    #[arg(
        long,
        value_name = "WEIGHT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "0.5",
        help_heading = "Training"
    )]
    pub guided_alignment: Option<f64>,

    /// Share of probability spread over all units [default: 0.1].
    #[arg(long, value_name = "E", help_heading = "Training")]
    pub label_smoothing: Option<f64>,

    /// Sentence pairs in a batch [default: by data].
    #[arg(long, value_name = "N", conflicts_with = "batch_tokens", help_heading = "Training")]
    pub batch_sentences: Option<usize>,

    /// Target units in a batch, instead of a number of pairs.
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub batch_tokens: Option<usize>,

    /// Step size of Adam [default: by size].
    #[arg(long, value_name = "R", help_heading = "Training")]
    pub learning_rate: Option<f64>,

    /// Steps over which the learning rate rises to its value [default: 100].
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub warmup_steps: Option<u64>,

    /// Factor on the learning rate after two validations in a row without improvement [default: 0.5].
    #[arg(long, value_name = "F", help_heading = "Training")]
    pub decay: Option<f64>,

    /// Largest global norm of the gradients [default: 1].
    #[arg(long, value_name = "R", help_heading = "Training")]
    pub max_gradient_norm: Option<f64>,

    /// Stop after so many passes over the pairs [default: 100].
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub max_epochs: Option<u64>,

    /// Stop after so many minutes.
    #[arg(long, value_name = "M", help_heading = "Training")]
    pub max_minutes: Option<f64>,

    /// Stop after so many validations without improvement [default: 6].
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub patience: Option<u64>,

    /// Validate after so many steps [default: once an epoch].
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub validate_every: Option<u64>,

    /// Validation score that chooses the best model [default: bleu; chrf for short texts, exact-match for characters].
    #[arg(long, value_enum, help_heading = "Training")]
    pub metric: Option<Metric>,

    /// Decides everything random [default: 1].
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub seed: Option<u64>,
}

/// Formats of `softalign translate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TranslationFormat {
    /// The translation; with --n-best, lines of: number ||| translation ||| score.
    Text,
    /// Each translation with its alignment as a heatmap.
    Align,
    /// An array of objects with translation, alignment and score.
    Json,
    /// The same objects, one a line.
    Jsonl,
    /// The alignment's links as s-t, one line a translation.
    Pharaoh,
    /// NumPy arrays of weights, one a translation.
    Npz,
    /// A table with a line for each two words that have to do with each other.
    Tsv,
    /// One page for a browser, that shows all translations with their alignments.
    Html,
    /// One heatmap for each translation, fit for a paper.
    Svg,
    /// Weights in the text format of Nematus and its viewers.
    Nematus,
}

impl TranslationFormat {
    /// The format of alignments that this is; none if it shows translations alone.
    pub fn of_alignments(self) -> Option<AlignmentFormat> {
        Some(match self {
            Self::Text => return None,
            Self::Align => AlignmentFormat::Text,
            Self::Json => AlignmentFormat::Json,
            Self::Jsonl => AlignmentFormat::Jsonl,
            Self::Pharaoh => AlignmentFormat::Pharaoh,
            Self::Npz => AlignmentFormat::Npz,
            Self::Tsv => AlignmentFormat::Tsv,
            Self::Html => AlignmentFormat::Html,
            Self::Svg => AlignmentFormat::Svg,
            Self::Nematus => AlignmentFormat::Nematus,
        })
    }
}

/// `softalign translate`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  softalign translate \"They bought a black hat yesterday.\"
  softalign translate --model my-model --input sentences.txt --output translations.txt
  softalign translate --format align --beam 10 \"Where does she live?\"")]
pub struct TranslateArgs {
    /// Sentences to translate, each in quotes.
    #[arg(value_name = "TEXT", conflicts_with = "input")]
    pub text: Vec<String>,

    /// Folder of the model.
    #[arg(long, value_name = "DIR", default_value = "checkpoints")]
    pub model: PathBuf,

    /// Sentences to translate, one a line; - is standard input.
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,

    /// Where the translations go; - is standard output.
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,

    #[command(flatten)]
    pub(crate) search: SearchArgs,

    /// Translations of each sentence, best first.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub n_best: u16,

    /// What to write.
    #[arg(long, value_enum, default_value_t = TranslationFormat::Text)]
    pub format: TranslationFormat,

    #[command(flatten)]
    pub(crate) links: LinkArgs,

    /// Put the source word, by the alignment, where the model writes `<unk>`.
    #[arg(long)]
    pub replace_unknown: bool,

    /// Translations of such words: lines of word TAB translation.
    #[arg(long, value_name = "FILE", requires = "replace_unknown")]
    pub dictionary: Option<PathBuf>,

    /// Align the model's units instead of words.
    #[arg(long)]
    pub subwords: bool,
}

/// How to search.
#[derive(Clone, Copy, Debug, Args)]
pub struct SearchArgs {
    /// Hypotheses kept for each sentence; 1 is greedy search, the fastest.
    #[arg(long, value_name = "K", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub beam: u16,

    /// Scores are divided by the length to the power of this: 0 favours short translations, 1 compares means.
    #[arg(long, value_name = "A", default_value_t = 1.0)]
    pub length_penalty: f64,

    /// Most units of a translation for each unit of its source (20 more are always allowed).
    #[arg(long, value_name = "F", default_value_t = 2.0)]
    pub length_factor: f64,
}

/// What links are made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LinksFrom {
    /// Attention and the statistical aligner that was learnt with the model, where there is one.
    Auto,
    /// Attention alone.
    Attention,
    /// The statistical aligner alone.
    Statistics,
    /// A statistical aligner that is learnt from the given pairs alone; no model is needed.
    Pairs,
}

/// How words are linked.
#[derive(Clone, Debug, Args)]
pub struct LinkArgs {
    /// What links are made from.
    #[arg(long, value_enum, default_value_t = LinksFrom::Auto, help_heading = "Links")]
    pub links_from: LinksFrom,

    /// A model that translates the other way: links need the consent of both.
    #[arg(long, value_name = "DIR", help_heading = "Links")]
    pub reverse_model: Option<PathBuf>,

    /// Link by each direction and make one set of both, instead of linking what both believe in together.
    #[arg(long, value_enum, value_name = "WAY", help_heading = "Links")]
    pub symmetrise: Option<Symmetrisation>,

    /// Link from this much belief on [default: 0.15]; by attention alone, words of at least this weight beside each word's
    /// heaviest [default: 0.4].
    #[arg(long, value_name = "W", help_heading = "Links")]
    pub threshold: Option<f32>,

    /// What counts as a word.
    #[arg(long, value_enum, default_value_t = Words::Whitespace, help_heading = "Links")]
    pub words: Words,
}

/// Formats of `softalign align`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AlignmentFormat {
    /// A heatmap for the terminal.
    Text,
    /// An array of objects with words, weights and links.
    Json,
    /// Links as s-t, one line a pair, 0-indexed; s-t:p with --probs.
    Pharaoh,
    /// NumPy arrays of weights, one a pair.
    Npz,
    /// The objects of json, one a line.
    Jsonl,
    /// A table with a line for each two words that have to do with each other.
    Tsv,
    /// Weights in the text format of Nematus and its viewers.
    Nematus,
    /// One page to explore the alignments in a browser; needs no network.
    Html,
    /// Heatmaps for a paper, one below the other.
    Svg,
}

/// `softalign align`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  softalign align --pairs pairs.tsv --format pharaoh > links.txt
  softalign align --source a.en --target a.fr --format npz --output weights.npz
  printf 'Where does she live?\\tOù habite-t-elle?\\n' | softalign align --pairs -")]
pub struct AlignArgs {
    #[command(flatten)]
    pub(crate) pairs: PairArgs,

    /// Folder of the model.
    #[arg(long, value_name = "DIR", default_value = "checkpoints")]
    pub model: PathBuf,

    /// Where the alignments go; - is standard output.
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,

    /// What to write.
    #[arg(long, value_enum, default_value_t = AlignmentFormat::Text)]
    pub format: AlignmentFormat,

    #[command(flatten)]
    pub(crate) links: LinkArgs,

    /// Gold alignments of the pairs, which --format html shows beside the links: lines of s-t (sure) and s?t or spt (possible).
    #[arg(long, value_name = "FILE")]
    pub gold: Option<PathBuf>,

    /// The number of a sentence's first word in the gold file.
    #[arg(
        long,
        value_name = "0|1",
        default_value_t = 0,
        requires = "gold",
        value_parser = clap::value_parser!(u8).range(0..=1)
    )]
    pub gold_base: u8,

    /// Also write a bilingual word list made of the links: words, translations, counts, probabilities, examples.
    #[arg(long, value_name = "FILE")]
    pub lexicon: Option<PathBuf>,

    /// Instead of alignments list all pairs, those that are probably bad translations first.
    #[arg(long)]
    pub suspicious: bool,

    /// Write how much is believed in each link: pharaoh's s-t:p.
    #[arg(long)]
    pub probs: bool,

    /// Align the model's units instead of words.
    #[arg(long)]
    pub subwords: bool,
}

/// `softalign evaluate`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  softalign evaluate
  softalign evaluate --model my-model --pairs test.tsv --json
  softalign evaluate --pairs test.tsv --gold test.gold
  softalign evaluate --pairs validation.tsv --gold validation.gold --search-threshold")]
pub struct EvaluateArgs {
    #[command(flatten)]
    pub(crate) pairs: PairArgs,

    /// Folder of the model.
    #[arg(long, value_name = "DIR", default_value = "checkpoints")]
    pub model: PathBuf,

    /// Gold alignments of the pairs: lines of s-t (sure) and s?t or spt (possible) [default: data/test.gold with the
    /// shipped test set].
    #[arg(long, value_name = "FILE")]
    pub gold: Option<PathBuf>,

    /// The number of a sentence's first word in the gold file.
    #[arg(
        long,
        value_name = "0|1",
        requires = "gold",
        default_value_t = 0,
        value_parser = clap::value_parser!(u8).range(0..=1)
    )]
    pub gold_base: u8,

    #[command(flatten)]
    pub(crate) search: SearchArgs,

    #[command(flatten)]
    pub(crate) links: LinkArgs,

    /// Also find the threshold of the lowest alignment error rate; for a validation set, never for the test set, whose
    /// score would no longer be one.
    #[arg(long, conflicts_with = "symmetrise")]
    pub search_threshold: bool,

    /// One JSON object instead of lines for reading.
    #[arg(long)]
    pub json: bool,
}

/// `softalign inspect`
#[derive(Debug, Args)]
#[command(after_help = "Example:
  softalign inspect checkpoints")]
pub struct InspectArgs {
    /// Folder of the model.
    #[arg(value_name = "DIR", default_value = "checkpoints")]
    pub model: PathBuf,
}
