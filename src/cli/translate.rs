//! Arguments of `softalign translate`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::constraints::ConstraintArgs;
use super::links::{FigureArgs, TranslationFormat};
use super::names::MODEL_VARIABLE;
use crate::attention::InferenceOverrides;
use crate::text::{LayoutArgs, OnError, parse_source_column};
use crate::translator::{DecodeOptions, LinkOptions, Markup, PrecisionOption};

const MARKUP: &str = "Markup";

/// Arguments of `softalign translate`.
#[derive(Clone, Debug, Args)]
#[command(mut_arg("columns", |columns| columns
    .value_name("S[,T]")
    .value_parser(parse_source_column)
    .help("Column of the sentences, as a number from 1 or as a name in the first line: each row is written with its translation \
        as a further column. With --dictionary or --terms: columns of term and translation")))]
#[command(after_help = "Examples:
  softalign translate \"They bought a black hat yesterday.\"
  softalign translate --model my-model --input sentences.txt --output out.txt
  softalign translate --input words.csv --columns English -o out.csv
  softalign translate --format align --beam 10 \"Where does she live?\"
  softalign translate --model m1 --model m2 --input sentences.txt
  softalign translate --markup html \"They bought a <b>black</b> hat.\"
  softalign translate --prefix \"Elle \" --avoid robe \"She bought a dress.\"
  softalign translate --sample --n-best 3 --top-k 10 \"He sleeps.\"")]
pub struct TranslateArgs {
    /// Sentences to translate, each in quotes.
    #[arg(value_name = "TEXT", conflicts_with = "input")]
    pub text: Vec<String>,

    /// Model directory. Repeat it to translate with an ensemble: at each step, the models' probabilities are averaged. Their
    /// vocabularies must be the same.
    #[arg(long, value_name = "DIR", default_value = "checkpoints", env = MODEL_VARIABLE, hide_env_values = true)]
    pub model: Vec<PathBuf>,

    /// File of sentences to translate, one per line; - is standard input. The rows of a .csv file are written with their
    /// translations as a further column.
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,

    /// Output file; - is standard output.
    #[arg(long, short = 'o', alias = "out", value_name = "FILE", default_value = "-")]
    pub output: PathBuf,

    #[command(flatten)]
    pub(crate) search: DecodeOptions,

    /// Precision of matrix products in search on the CPU.
    #[arg(long, value_enum, default_value_t = PrecisionOption::F32, help_heading = "Search")]
    pub precision: PrecisionOption,

    #[command(flatten)]
    pub(crate) constraints: ConstraintArgs,

    /// Number of translations per sentence, best first. Beam search drops duplicates, so there may be fewer.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub n_best: u16,

    /// Output format [default: by the extension of --output: .html, .json, .jsonl, .npz or .svg; else text].
    #[arg(long, value_enum)]
    pub format: Option<TranslationFormat>,

    #[command(flatten)]
    pub(crate) links: LinkOptions,

    #[command(flatten)]
    pub(crate) attention: InferenceOverrides,

    #[command(flatten)]
    pub(crate) figures: FigureArgs,

    /// Treatment of lines that are more than half unknown to the model, such as text in another script.
    #[arg(long, value_enum, default_value_t = UnknownLines::Translate)]
    pub unknown: UnknownLines,

    /// Treatment of input lines that cannot be read, such as lines that are not UTF-8.
    #[arg(long, value_enum, value_name = "HOW", default_value_t = OnError::Keep, help_heading = "Data")]
    pub on_error: OnError,

    /// Markup of the sentences. With html, tags are put back around the words that the links give, and blocks such as
    /// paragraphs are translated one by one. The constraints hold for each block. A file named .html is one document.
    #[arg(long, value_enum, default_value_t = Markup::None, help_heading = MARKUP)]
    pub markup: Markup,

    /// Regular expression of placeholders, which are put back where the links say; none translates them as text [default: {x},
    /// {{x}}, ${x}, %{x}, %s, %1$s, %(x)s, %%, addresses of pages and e-mail, except the model's protected tokens; none for a
    /// model of characters].
    #[arg(long, value_name = "REGEX", help_heading = MARKUP)]
    pub placeholders: Option<String>,

    /// Replace each `<unk>` in a translation with the source word aligned to it.
    #[arg(long)]
    pub replace_unknown: bool,

    /// Dictionary for --replace-unknown: lines of word TAB translation.
    #[arg(long, value_name = "FILE", requires = "replace_unknown")]
    pub dictionary: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) layout: LayoutArgs,

    /// Put this tag before each sentence, as --tag-source of train does.
    #[arg(long, value_name = "TAG", help_heading = "Data")]
    pub tag_source: Option<String>,

    /// Align the model's tokens instead of words.
    #[arg(long)]
    pub tokens: bool,
}

/// Treatment of lines that are mostly unknown to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum UnknownLines {
    /// Translate them like other lines.
    Translate,
    /// Copy them to the output unchanged.
    Copy,
}

impl UnknownLines {
    /// Returns the end of the warning about such lines.
    pub fn consequence(self) -> &'static str {
        match self {
            Self::Translate => "the translation is unreliable; --unknown copy copies such lines unchanged",
            Self::Copy => "copied unchanged",
        }
    }
}
