//! Arguments of `softalign translate`.

use std::path::PathBuf;

use clap::Args;

use super::constraints::ConstraintArgs;
use super::links::{FigureArgs, TranslationFormat};
use super::names::MODEL_VARIABLE;
use crate::formats::InputFormat;
use crate::text::{LayoutArgs, OnError, parse_source_column};
use crate::translator::TranslateOptions;

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
    /// translations as a further column. A document is written back in its format: .html, .md, .po, .xlf, .srt, .vtt, .docx or
    /// .odt.
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,

    /// Format of --input, or of standard input [default: by its beginning or its name; else lines].
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with = "text")]
    pub input_format: Option<InputFormat>,

    /// Output file; - is standard output.
    #[arg(long, short = 'o', alias = "out", value_name = "FILE", default_value = "-")]
    pub output: PathBuf,

    #[command(flatten)]
    pub(crate) options: TranslateOptions,

    #[command(flatten)]
    pub(crate) constraints: ConstraintArgs,

    /// Number of translations per sentence, best first, with --sample in the order drawn. Beam search drops duplicates, so there
    /// may be fewer.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub n_best: u16,

    /// Output format [default: by the extension of --output: .html, .json, .jsonl, .npz, .svg or .tmx; else text].
    #[arg(long, value_enum)]
    pub format: Option<TranslationFormat>,

    #[command(flatten)]
    pub(crate) figures: FigureArgs,

    /// Treatment of input lines that cannot be read, such as lines that are not UTF-8.
    #[arg(long, value_enum, value_name = "HOW", default_value_t = OnError::Keep, help_heading = "Data")]
    pub on_error: OnError,

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
