//! The command line: clap's structures, with what `--help` says.

mod advice;
mod average;
mod clean;
mod common;
mod config;
mod constraints;
mod description;
mod evaluate;
mod given;
mod layout;
mod links;
mod pairs;
mod reading;
mod score;
mod search;
mod shell;
mod symmetrize;
mod train;
mod values;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub use average::AverageArgs;
pub use clean::CleanArgs;
use common::{COMMON, MODEL};
pub use constraints::ConstraintArgs;
pub use evaluate::EvaluateArgs;
pub use given::Given;
pub use layout::LayoutArgs;
pub use links::{AlignmentFormat, LinkArgs, TranslationFormat, View};
pub use pairs::PairArgs;
pub use reading::ReadingArgs;
pub use score::ScoreArgs;
pub use search::SearchArgs;
pub use shell::{CompletionsArgs, ManArgs};
pub use symmetrize::{NotationArgs, SymmetrizeArgs};
pub use train::TrainArgs;

/// Train a small translator on your own sentence pairs, translate with it, and see which word came from which.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 110, propagate_version = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,

    /// Print only results, errors, and what results lack.
    #[arg(long, short, global = true, help_heading = COMMON)]
    pub quiet: bool,

    /// Whether heatmaps are coloured: in a terminal unless NO_COLOR is set, always, or never.
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN", help_heading = COMMON)]
    pub color: Color,

    /// Cores to use [default: all].
    #[arg(
        long,
        global = true,
        value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..=1024),
        help_heading = COMMON
    )]
    pub threads: Option<u16>,

    /// Where to compute; cuda needs a softalign built with --features cuda.
    #[arg(long, global = true, value_enum, default_value_t = DeviceName::Cpu, help_heading = COMMON)]
    pub device: DeviceName,

    /// Options from a JSON object, by their long names; those given here count more. For train also a model's config.json.
    #[arg(long, global = true, value_name = "FILE.json", help_heading = COMMON)]
    pub config: Option<PathBuf>,

    /// The command line, without the program's name; what --config gave stands in its place.
    #[arg(skip)]
    pub command_line: Vec<String>,
}

/// Where to compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DeviceName {
    /// The processor.
    Cpu,
    /// The first NVIDIA GPU.
    Cuda,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// In a terminal, unless NO_COLOR is set.
    Auto,
    /// Also in files and pipes.
    Always,
    /// Nowhere.
    Never,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Train a model on sentence pairs.
    Train(Box<Given<TrainArgs>>),
    /// Translate sentences; interactively when there is nothing to read.
    Translate(TranslateArgs),
    /// Show or export which word of given sentence pairs belongs to which.
    Align(AlignArgs),
    /// Measure a model on sentence pairs with known translations.
    Evaluate(EvaluateArgs),
    /// Say how probable given translations are, or rank n-best lists anew.
    Score(ScoreArgs),
    /// Say what is wrong with pairs of a corpus, and write the others.
    Clean(CleanArgs),
    /// Make one set of the links of two directions.
    Symmetrize(SymmetrizeArgs),
    /// Make a model of the mean of several models' parameters.
    Average(AverageArgs),
    /// Say in words what a model's folder holds.
    Inspect(InspectArgs),
    /// Write what a shell completes softalign's command lines by.
    Completions(CompletionsArgs),
    /// Write manual pages.
    Man(ManArgs),
}

/// What becomes of a line that is mostly unknown to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum UnknownLines {
    /// It is translated all the same.
    Translate,
    /// It stays as it is.
    Copy,
}

impl UnknownLines {
    /// What a warning says of such lines.
    pub fn consequence(self) -> &'static str {
        match self {
            Self::Translate => "the translation means little, --unknown copy leaves such a line as it is",
            Self::Copy => "left as they are",
        }
    }
}

/// `softalign translate`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  softalign translate \"They bought a black hat yesterday.\"
  softalign translate --model my-model --input sentences.txt --output out.txt
  softalign translate --format align --beam 10 \"Where does she live?\"
  softalign translate --model m1 --model m2 --input sentences.txt
  softalign translate --prefix \"Elle \" --avoid robe \"She bought a dress.\"
  softalign translate --sample --n-best 3 --top-k 10 \"He sleeps.\"")]
pub struct TranslateArgs {
    /// Sentences to translate, each in quotes.
    #[arg(value_name = "TEXT", conflicts_with = "input")]
    pub text: Vec<String>,

    /// Folder of the model. Given several times, the models translate together: at each step by the mean of their
    /// probabilities. They must have the same vocabularies.
    #[arg(long, value_name = "DIR", default_value = "checkpoints", env = MODEL, hide_env_values = true)]
    pub model: Vec<PathBuf>,

    /// Sentences to translate, one a line; - is standard input.
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,

    /// Where the translations go; - is standard output.
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,

    #[command(flatten)]
    pub(crate) search: SearchArgs,

    #[command(flatten)]
    pub(crate) constraints: ConstraintArgs,

    /// Translations of each sentence, best first; of a beam's, each text once, so they may be fewer.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub n_best: u16,

    /// What to write.
    #[arg(long, value_enum, default_value_t = TranslationFormat::Text)]
    pub format: TranslationFormat,

    #[command(flatten)]
    pub(crate) links: LinkArgs,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,

    /// What --format svg draws of a translation.
    #[arg(long, value_enum, default_value_t = View::Matrix)]
    pub view: View,

    /// What becomes of a line of which more than half is unknown to the model, as another language is.
    #[arg(long, value_enum, default_value_t = UnknownLines::Translate)]
    pub unknown: UnknownLines,

    /// Put the source word, by the alignment, where the model writes `<unk>`.
    #[arg(long)]
    pub replace_unknown: bool,

    /// Translations of such words: lines of word TAB translation.
    #[arg(long, value_name = "FILE", requires = "replace_unknown")]
    pub dictionary: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) layout: LayoutArgs,

    /// Put this tag before each sentence, as --tag-source of train has done.
    #[arg(long, value_name = "TAG", help_heading = "Data")]
    pub tag_source: Option<String>,

    /// Align the model's units instead of words.
    #[arg(long)]
    pub subwords: bool,
}

/// `softalign align`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  softalign align --pairs pairs.tsv --format pharaoh > links.txt
  softalign align --source a.en --target a.fr --format npz --output weights.npz
  printf 'She sleeps.\\tElle dort.\\n' | softalign align --pairs -")]
pub struct AlignArgs {
    #[command(flatten)]
    pub(crate) pairs: PairArgs,

    /// Folder of the model. Given several times, the mean of the models' attention is used. They must have the same
    /// vocabularies.
    #[arg(long, value_name = "DIR", default_value = "checkpoints", env = MODEL, hide_env_values = true)]
    pub model: Vec<PathBuf>,

    /// Where the alignments go; - is standard output.
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,

    /// What to write.
    #[arg(long, value_enum, default_value_t = AlignmentFormat::Text)]
    pub format: AlignmentFormat,

    #[command(flatten)]
    pub(crate) links: LinkArgs,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,

    /// Gold alignments of the pairs, which --format html shows beside the links: lines of s-t (sure) and s?t or spt
    /// (possible).
    #[arg(long, value_name = "FILE", conflicts_with = "tag_source")]
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

    /// What --format svg draws of a pair.
    #[arg(long, value_enum, default_value_t = View::Matrix)]
    pub view: View,

    /// Keep the aligner that --links-from pairs learns in this folder, for --aligner.
    #[arg(long, value_name = "DIR", help_heading = "Links")]
    pub save_aligner: Option<PathBuf>,

    /// Link by the statistical aligner of this folder alone, one that --save-aligner has kept or that of a model.
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with_all = ["model", "links_from", "reverse_model", "subwords", "save_aligner"],
        help_heading = "Links"
    )]
    pub aligner: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) notation: NotationArgs,

    /// Write the alignments of these pairs alone, by their numbers from 1.
    #[arg(long, value_name = "N,N,...", value_delimiter = ',', conflicts_with_all = ["lexicon", "noisy"])]
    pub only: Vec<usize>,

    /// Also write a bilingual word list made of the links: words, translations, counts, probabilities, examples.
    #[arg(long, value_name = "FILE")]
    pub lexicon: Option<PathBuf>,

    /// Instead of alignments list all pairs, those that are probably bad translations first.
    #[arg(long)]
    pub noisy: bool,

    /// Write how much is believed in each link: pharaoh's s-t:p.
    #[arg(long)]
    pub probs: bool,

    /// Align the model's units instead of words.
    #[arg(long)]
    pub subwords: bool,
}

/// `softalign inspect`
#[derive(Debug, Args)]
#[command(after_help = "Example:
  softalign inspect checkpoints")]
pub struct InspectArgs {
    /// Folder of the model, as --model has it.
    #[arg(value_name = "DIR", conflicts_with = "model")]
    pub folder: Option<PathBuf>,

    /// Folder of the model.
    #[arg(long, value_name = "DIR", default_value = "checkpoints", env = MODEL, hide_env_values = true)]
    pub model: PathBuf,

    /// One JSON object instead of lines for reading.
    #[arg(long)]
    pub json: bool,
}
