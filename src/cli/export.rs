//! Arguments of `softalign export`.

use std::path::PathBuf;

use clap::Args;

use super::names::MODEL_VARIABLE;
use crate::export::{PageKind, WeightFormat};

/// Arguments of `softalign export`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  softalign export
  softalign export --model my-model --output my-translator.html
  softalign export --page plain --title \"English to Breton\" --about about.md")]
pub struct ExportArgs {
    /// Model directory.
    #[arg(long, value_name = "DIR", default_value = "checkpoints", env = MODEL_VARIABLE, hide_env_values = true)]
    pub model: PathBuf,

    /// File of the page; - writes to standard output.
    #[arg(long, short = 'o', alias = "out", value_name = "FILE.html", default_value = "translator.html")]
    pub output: PathBuf,

    /// Page around the translator: full as that of serve, plain for translating alone.
    #[arg(long, value_enum, default_value_t)]
    pub page: PageKind,

    /// Title of the page [default: the languages, or the name of the model directory].
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,

    /// Text about the translator, in Markdown: who made it, its license. Items of a list are examples to try.
    #[arg(long, value_name = "FILE.md")]
    pub about: Option<PathBuf>,

    /// Format of the weights: int8 makes a quarter of the size of f32, with almost the same translations.
    #[arg(long, value_enum, default_value_t)]
    pub weights: WeightFormat,

    /// Print the size of the page without writing it.
    #[arg(long)]
    pub dry_run: bool,
}
