//! Arguments for files of sentence pairs.

use std::path::PathBuf;

use clap::Args;

use crate::text::LayoutArgs;

/// Files of sentence pairs.
#[derive(Debug, Args)]
pub struct PairArgs {
    /// File of sentence pairs; or a sentence and its translation, each in quotes; or two parallel files.
    #[arg(value_name = "PAIRS", conflicts_with_all = ["pairs", "source", "target"])]
    pub positional: Vec<PathBuf>,

    /// File of sentence pairs, one per line: source TAB target, or source ||| target; - is standard input [default: standard
    /// input; for evaluate without it, data/test.tsv].
    #[arg(long, value_name = "FILE.tsv", conflicts_with_all = ["source", "target"])]
    pub pairs: Option<PathBuf>,

    /// File of source sentences, one per line, with their translations in --target.
    #[arg(long, value_name = "FILE", requires = "target")]
    pub source: Option<PathBuf>,

    /// File of target sentences, one per line.
    #[arg(long, value_name = "FILE", requires = "source")]
    pub target: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) layout: LayoutArgs,

    /// Put this tag before each source sentence, as --tag-source of train does. In links, it is the first word.
    #[arg(long, value_name = "TAG")]
    pub tag_source: Option<String>,
}
