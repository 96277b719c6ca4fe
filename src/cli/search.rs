//! How to search for translations.

use clap::Args;

/// How to search.
#[derive(Clone, Copy, Debug, Args)]
pub struct SearchArgs {
    /// Hypotheses kept for each sentence; 1 is greedy search, the fastest. Time and memory grow with their number.
    #[arg(long, value_name = "K", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub beam: u16,

    /// Scores are divided by the length to the power of this: 0 favours short translations, 1 compares means.
    #[arg(long, value_name = "A", default_value_t = 1.0)]
    pub length_penalty: f64,

    /// What it counts against a translation that parts of the source were hardly looked at: 0 nothing.
    #[arg(long, value_name = "B", default_value_t = 0.2)]
    pub coverage_penalty: f64,

    /// Most units of a translation for each unit of its source (20 more are always allowed).
    #[arg(long, value_name = "F", default_value_t = 2.0)]
    pub length_factor: f64,
}
