//! Where sentence pairs come from.

use std::path::PathBuf;

use clap::Args;

use super::layout::LayoutArgs;

/// Where sentence pairs come from.
#[derive(Debug, Args)]
pub struct PairArgs {
    /// Sentence pairs, one a line: sentence TAB translation; - reads standard input [default: data/test.tsv, for clean
    /// data/train.tsv].
    #[arg(long, value_name = "FILE.tsv", conflicts_with_all = ["source", "target"])]
    pub pairs: Option<PathBuf>,

    /// Sentences, one a line, with their translations in --target.
    #[arg(long, value_name = "FILE", requires = "target")]
    pub source: Option<PathBuf>,

    /// Translations, one a line.
    #[arg(long, value_name = "FILE", requires = "source")]
    pub target: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) layout: LayoutArgs,

    /// Put this tag before each sentence, as --tag-source of train has done; it counts as the first word.
    #[arg(long, value_name = "TAG")]
    pub tag_source: Option<String>,
}
