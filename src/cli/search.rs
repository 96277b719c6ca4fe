//! Arguments of decoding and its constraints.

use std::path::PathBuf;

use clap::Args;

use crate::search::LengthFormula;

const CONSTRAINTS: &str = "Constraints";

/// Settings of decoding.
#[derive(Clone, Copy, Debug, Args)]
pub struct SearchArgs {
    /// Beam size; 1 is greedy search. Time and memory grow with it.
    #[arg(
        long,
        value_name = "K",
        default_value_t = 5,
        value_parser = clap::value_parser!(u16).range(1..=1000),
        help_heading = "Search"
    )]
    pub beam: u16,

    /// Strength A of length normalization. With --length-formula power, 0 favors short translations and 1 ranks by mean
    /// log-probability.
    #[arg(long, value_name = "A", default_value_t = 1.0, help_heading = "Search")]
    pub length_penalty: f64,

    /// Length normalization of scores.
    #[arg(long, value_enum, default_value_t = LengthFormula::Power, help_heading = "Search")]
    pub length_formula: LengthFormula,

    /// Coverage penalty B; 0 disables it. Adds B times the sum of ln min(1, 0.02 + a) to the log-probability, where a is the
    /// attention that a source token received. Unlike in Wu et al. 2016, 0.02 bounds each term, and --length-formula applies
    /// to the result.
    #[arg(long, value_name = "B", default_value_t = 0.2, help_heading = "Search")]
    pub coverage_penalty: f64,

    /// Maximum length of a translation in tokens, as a multiple of the source length; 20 more tokens are always allowed.
    #[arg(long, value_name = "F", default_value_t = 2.0, help_heading = "Search")]
    pub length_factor: f64,

    /// Do not repeat any sequence of N tokens within a translation.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Search")]
    pub no_repeat: Option<u16>,

    /// Sample translations from the model's distribution instead of searching: one, or --n-best of them in translate.
    #[arg(long, conflicts_with = "beam", help_heading = "Search")]
    pub sample: bool,

    /// Sample N translations and return the one most similar to all of them by chrF (minimum Bayes risk).
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..=1000),
        conflicts_with_all = ["beam", "sample"],
        help_heading = "Search"
    )]
    pub mbr: Option<u16>,

    /// Sampling temperature; below 1, probable tokens are sampled more often.
    #[arg(long, value_name = "T", default_value_t = 1.0, help_heading = "Search")]
    pub temperature: f64,

    /// Sample from only the K most probable tokens.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Search")]
    pub top_k: Option<u32>,

    /// Sample from only the most probable tokens with a total probability of P.
    #[arg(long, value_name = "P", default_value_t = 1.0, help_heading = "Search")]
    pub top_p: f64,

    /// Random seed of sampling.
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Search")]
    pub seed: u64,
}

/// Constraints on translations.
#[derive(Clone, Debug, Args)]
pub struct ConstraintArgs {
    /// Start each translation with this text; a trailing space makes it end at a word boundary.
    #[arg(long, value_name = "TEXT", help_heading = CONSTRAINTS)]
    pub prefix: Option<String>,

    /// Read lines of sentence TAB prefix of its translation.
    #[arg(long, conflicts_with = "prefix", help_heading = CONSTRAINTS)]
    pub prefixes: bool,

    /// Require this word or phrase in each translation. Can be repeated, up to 64 times. A phrase may have at most 256
    /// characters, all of them together 256 tokens. Not available with sampling.
    #[arg(long, value_name = "PHRASE", conflicts_with_all = ["sample", "mbr"], help_heading = CONSTRAINTS)]
    pub require: Vec<String>,

    /// Forbid this word or phrase, of at most 256 characters, in translations. Can be repeated.
    #[arg(long, value_name = "PHRASE", help_heading = CONSTRAINTS)]
    pub avoid: Vec<String>,

    /// Glossary of required translations: lines of term TAB translation, each at most 256 characters long. At most 64 terms
    /// and 256 tokens apply to a sentence; further ones are ignored. Not available with sampling.
    #[arg(long, value_name = "FILE.tsv", conflicts_with_all = ["sample", "mbr"], help_heading = CONSTRAINTS)]
    pub terms: Option<PathBuf>,
}
