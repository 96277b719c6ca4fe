//! How to search for translations.

use clap::Args;

use crate::search::LengthFormula;

/// How to search.
#[derive(Clone, Copy, Debug, Args)]
pub struct SearchArgs {
    /// Hypotheses kept for each sentence; 1 is greedy search, the fastest. Time and memory grow with their number.
    #[arg(
        long,
        value_name = "K",
        default_value_t = 5,
        value_parser = clap::value_parser!(u16).range(1..=1000),
        help_heading = "Search"
    )]
    pub beam: u16,

    /// How much a translation's length counts, by --length-formula. With power, 0 favours short translations and 1
    /// compares means.
    #[arg(long, value_name = "A", default_value_t = 1.0, help_heading = "Search")]
    pub length_penalty: f64,

    /// What scores are made of.
    #[arg(long, value_enum, default_value_t = LengthFormula::Power, help_heading = "Search")]
    pub length_formula: LengthFormula,

    /// What it counts against a translation that parts of the source were hardly looked at: 0 nothing. The sum over source
    /// units of ln min(1, 0.02 + the attention that the unit got) is multiplied by this and added to the log-probability.
    /// Unlike in Wu et al. 2016, 0.02 bounds each unit's part, and --length-formula is applied to the sum.
    #[arg(long, value_name = "B", default_value_t = 0.2, help_heading = "Search")]
    pub coverage_penalty: f64,

    /// Most units of a translation for each unit of its source (20 more are always allowed).
    #[arg(long, value_name = "F", default_value_t = 2.0, help_heading = "Search")]
    pub length_factor: f64,

    /// No run of so many units comes twice in a translation.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Search")]
    pub no_repeat: Option<u16>,

    /// Draw translations by chance instead, each as often as the model finds it probable: one, or in translate as many as
    /// --n-best says.
    #[arg(long, conflicts_with = "beam", help_heading = "Search")]
    pub sample: bool,

    /// Draw so many and take the one that is most like all of them, by chrF: minimum Bayes risk.
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..=1000),
        conflicts_with_all = ["beam", "sample"],
        help_heading = "Search"
    )]
    pub mbr: Option<u16>,

    /// What log-probabilities are divided by before something is drawn: below 1 what is probable comes more often.
    #[arg(long, value_name = "T", default_value_t = 1.0, help_heading = "Search")]
    pub temperature: f64,

    /// Draw from the K most probable units only.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Search")]
    pub top_k: Option<u32>,

    /// Draw from the most probable units only that together have this probability.
    #[arg(long, value_name = "P", default_value_t = 1.0, help_heading = "Search")]
    pub top_p: f64,

    /// Decides what is drawn.
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Search")]
    pub seed: u64,
}
