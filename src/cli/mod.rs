//! Command-line arguments: clap structures whose doc comments are the texts of `--help`.

mod align;
mod clean;
mod completions;
mod config_file;
mod constraints;
mod error_line;
mod evaluate;
mod explicit_args;
mod export;
mod hints;
mod links;
mod names;
mod pairs;
mod parse;
mod score;
#[cfg(feature = "serve")]
mod serve;
mod symmetrize;
mod train;
mod translate;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::error::usage;
use crate::kernels::matrix::bf16_instructions;
use crate::kernels::simd::{SIMD_VARIABLE, instruction_set, limit_simd_by_environment};
use names::{GLOBAL, MODEL_VARIABLE};

pub use crate::text::LayoutArgs;
pub use align::AlignArgs;
pub use clean::CleanArgs;
pub use completions::{CompletionsArgs, ManArgs};
pub use constraints::ConstraintArgs;
pub use evaluate::{EvaluateArgs, OF_LINKS, OF_MODELS, OF_TRANSLATIONS};
pub use explicit_args::{ExplicitArgs, joined_options, joined_options_of, options_of};
pub use export::ExportArgs;
pub use links::{FigureArgs, TranslationFormat};
pub use pairs::PairArgs;
pub use score::ScoreArgs;
#[cfg(feature = "serve")]
pub use serve::ServeArgs;
pub use symmetrize::SymmetrizeArgs;
pub use train::TrainArgs;
pub use translate::TranslateArgs;

/// Train a small translation model with attention on your own sentence pairs, translate with it, and align words.
#[derive(Debug, Parser)]
#[command(version, long_version = long_version(), max_term_width = 110, propagate_version = true)]
pub struct Cli {
    /// Command to run.
    #[command(subcommand)]
    pub command: Command,

    /// Print only results, errors, and warnings about incomplete results.
    #[arg(long, short, global = true, help_heading = GLOBAL)]
    pub quiet: bool,

    /// When to color heatmaps.
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN", help_heading = GLOBAL)]
    pub color: Color,

    /// Number of threads [default: all cores].
    #[arg(
        long,
        global = true,
        value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..=1024),
        help_heading = GLOBAL
    )]
    pub threads: Option<u16>,

    /// Compute device; cuda requires a build with --features cuda.
    #[arg(long, global = true, value_enum, default_value_t = DeviceName::Cpu, help_heading = GLOBAL)]
    pub device: DeviceName,

    /// Read options from a JSON object with long option names as keys; options of the command line take precedence. train
    /// also accepts a model's config.json.
    #[arg(long, global = true, value_name = "FILE.json", help_heading = GLOBAL)]
    pub config: Option<PathBuf>,

    /// The command line without the program's name, with the options of `--config` in place of that option.
    #[arg(skip)]
    pub command_line: Vec<String>,
}

/// Returns the version with the commit, the features and the instructions in use.
fn long_version() -> String {
    let optional = [
        ("serve", cfg!(feature = "serve")),
        ("cuda", cfg!(feature = "cuda")),
        ("mpi", cfg!(feature = "mpi")),
        ("nccl", cfg!(feature = "nccl")),
    ];
    let built = optional.into_iter().filter(|(_, built)| *built).map(|(name, _)| name);
    let features: Vec<&str> = ["cli"].into_iter().chain(built).collect();
    format!(
        "{}\ncommit {}\nfeatures {}\ninstruction set {}\nbf16 products {}",
        env!("CARGO_PKG_VERSION"),
        env!("SOFTALIGN_COMMIT"),
        features.join(", "),
        instruction_set(),
        bf16_instructions().unwrap_or("emulated")
    )
}

/// Limits the vector instructions as the environment says.
///
/// # Errors
/// The variable has an unknown value ([`UsageError`](crate::error::UsageError)).
pub fn limit_simd() -> anyhow::Result<()> {
    limit_simd_by_environment().or_else(|value| {
        usage(format!(
            "{SIMD_VARIABLE} is \"{}\"; it must be baseline, avx2, neon or avx512, or unset for all that the processor has",
            value.display()
        ))
    })
}

/// Compute device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DeviceName {
    /// CPU.
    Cpu,
    /// First NVIDIA GPU.
    #[value(alias = "gpu")]
    Cuda,
}

/// When to use color.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// In a terminal, unless NO_COLOR is set.
    Auto,
    /// Always, also in files and pipes.
    Always,
    /// Never.
    Never,
}

/// Commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Train a model on sentence pairs.
    Train(Box<ExplicitArgs<TrainArgs>>),
    /// Translate sentences; interactive in a terminal if no input is given.
    Translate(Box<ExplicitArgs<TranslateArgs>>),
    /// Align the words of sentence pairs.
    Align(Box<ExplicitArgs<AlignArgs>>),
    /// Evaluate models or translations against references.
    Evaluate(Box<ExplicitArgs<EvaluateArgs>>),
    /// Score given translations, or rerank n-best lists.
    Score(ScoreArgs),
    /// Report and filter noisy sentence pairs.
    Clean(CleanArgs),
    /// Symmetrize the word links of two directions.
    Symmetrize(SymmetrizeArgs),
    /// Average the parameters of several models.
    Average(AverageArgs),
    /// Describe a model.
    Inspect(InspectArgs),
    /// Serve models by HTTP: a page to explore translations, and APIs for programs.
    #[cfg(feature = "serve")]
    Serve(ServeArgs),
    /// Write a translator as one HTML file, which works in any browser without a network.
    Export(ExportArgs),
    /// Print a completion script for a shell.
    Completions(CompletionsArgs),
    /// Print or install manual pages.
    Man(ManArgs),
}

/// Arguments of `softalign average`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  softalign train --train pairs.tsv --out my-model --keep-best 5
  softalign average my-model/kept/* --out averaged")]
pub struct AverageArgs {
    /// Directories of models from one training, or from trainings initialized from the same model.
    #[arg(value_name = "DIR", required = true, num_args = 2..)]
    pub models: Vec<PathBuf>,

    /// Directory of the new model.
    #[arg(long, short = 'o', alias = "output", value_name = "DIR")]
    pub out: PathBuf,
}

/// Arguments of `softalign inspect`.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  softalign inspect checkpoints")]
pub struct InspectArgs {
    /// Model directory, as for --model.
    #[arg(value_name = "DIR", conflicts_with = "model")]
    pub directory: Option<PathBuf>,

    /// Model directory.
    #[arg(long, value_name = "DIR", default_value = "checkpoints", env = MODEL_VARIABLE, hide_env_values = true)]
    pub model: PathBuf,

    /// Print one JSON object instead of text.
    #[arg(long)]
    pub json: bool,
}
