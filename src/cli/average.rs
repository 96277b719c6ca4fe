//! The options of `average`.

use std::path::PathBuf;

use clap::Args;

/// `softalign average`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  softalign train --train pairs.tsv --out my-model --keep-best 5
  softalign average my-model/kept/* --out averaged")]
pub struct AverageArgs {
    /// Folders of models of one training, or of trainings that began from the same model.
    #[arg(value_name = "DIR", required = true, num_args = 2..)]
    pub models: Vec<PathBuf>,

    /// Folder for the new model.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}
