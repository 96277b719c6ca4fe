//! Options of search.

use serde::{Deserialize, Serialize};

use super::ExpectedLength;
use super::distribution::SamplingConfig;

/// Search algorithm with its options.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Search {
    /// Beam search.
    Beam(BeamOptions),
    /// Sampling from the model's distribution.
    Sample(SamplingOptions),
}

impl Search {
    /// Maximum number of live hypotheses per sentence.
    pub fn width(&self) -> usize {
        match self {
            Self::Beam(settings) => settings.beam,
            Self::Sample(settings) => settings.samples,
        }
    }

    /// Maximum number of returned hypotheses per sentence.
    pub fn results(&self) -> usize {
        match self {
            Self::Beam(settings) => settings.best,
            Self::Sample(settings) => settings.samples,
        }
    }
}

impl From<BeamOptions> for Search {
    fn from(settings: BeamOptions) -> Self {
        Self::Beam(settings)
    }
}

/// Options of beam search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BeamOptions {
    /// Beam size, at least 1; 1 is greedy search.
    pub beam: usize,
    /// Scores of hypotheses.
    pub scoring: HypothesisScoring,
    /// Limits of hypotheses.
    pub limits: LengthLimits,
    /// Maximum number of returned hypotheses per sentence.
    pub best: usize,
}

impl Default for BeamOptions {
    fn default() -> Self {
        Self { beam: 5, scoring: HypothesisScoring::default(), limits: LengthLimits::default(), best: usize::MAX }
    }
}

impl BeamOptions {
    /// Returns the options of greedy search.
    pub fn greedy() -> Self {
        Self { beam: 1, ..Self::default() }
    }
}

/// Options of sampling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SamplingOptions {
    /// Number of samples per sentence.
    pub samples: usize,
    /// Distribution of samples.
    pub sampling: SamplingConfig,
    /// Scores of samples.
    pub scoring: HypothesisScoring,
    /// Limits of samples.
    pub limits: LengthLimits,
    /// Seed, combined with the index of each sentence.
    pub seed: u64,
    /// Index of the first sentence.
    pub first: usize,
}

/// Limits of hypotheses: at most `length_factor` × source tokens + `length_extra` tokens, with `</s>`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LengthLimits {
    /// Maximum number of target tokens per source token.
    pub length_factor: f64,
    /// Number of additional tokens.
    pub length_extra: usize,
    /// Length of n-grams that may not repeat.
    pub no_repeat: Option<usize>,
}

impl Default for LengthLimits {
    fn default() -> Self {
        Self { length_factor: 2.0, length_extra: 20, no_repeat: None }
    }
}

impl LengthLimits {
    /// Returns the maximum number of tokens of a translation.
    pub fn max_tokens(&self, source_tokens: usize) -> usize {
        (source_tokens as f64 * self.length_factor) as usize + self.length_extra
    }

    /// True if tokens may depend on those before them: not every token may follow each hypothesis.
    pub fn restrict_tokens(&self) -> bool {
        self.no_repeat.is_some()
    }
}

/// Scoring of hypotheses: log-probability with coverage penalty, length normalization and brevity penalty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HypothesisScoring {
    /// Formula of length normalization.
    pub length_formula: LengthFormula,
    /// Length penalty α; 0 disables it.
    pub length_penalty: f64,
    /// Coverage penalty β (Wu et al. 2016, section 7); 0 disables it.
    pub coverage_penalty: f64,
    /// Brevity penalty γ: the score loses γ times the share of the expected characters that a complete hypothesis lacks, which
    /// ranks like the bounded length reward of Yang, Huang & Ma 2018 ("Breaking the Beam Search Curse", section 3.2); 0
    /// disables it.
    pub brevity_penalty: f64,
}

/// The length and coverage penalties with the highest mean BLEU on several corpora, found by `scripts/choose_search_constants.py`,
/// and a brevity penalty that raises chrF and leaves BLEU as it is.
impl Default for HypothesisScoring {
    fn default() -> Self {
        Self { length_formula: LengthFormula::Power, length_penalty: 0.8, coverage_penalty: 0.2, brevity_penalty: 2.0 }
    }
}

/// Formula of length normalization. The length counts `</s>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum LengthFormula {
    /// log p / length^A.
    Power,
    /// log p / ((5 + length) / 6)^A (Wu et al. 2016, section 7).
    Wu,
    /// log p + A * length (He et al. 2016).
    Reward,
}

/// Initial coverage of each source token, which keeps the penalty finite.
const MIN_COVERAGE: f64 = 0.02;

impl HypothesisScoring {
    /// Returns the score of a hypothesis before the brevity penalty, with the default formula
    /// `(log p + β Σ_j ln min(1, 0.02 + Σ_t α_tj)) / lengthᵅ`. `attention` has a row for each token and `</s>`.
    pub fn score<'a>(&self, log_probability: f64, attention: impl Iterator<Item = &'a [f32]>) -> f64 {
        let mut coverage = Coverage::default();
        attention.for_each(|row| coverage.add(row));
        self.score_covered(log_probability, &coverage)
    }

    /// As [`Self::score`], with the coverage of the source by the tokens so far.
    pub fn score_covered(&self, log_probability: f64, coverage: &Coverage) -> f64 {
        let uncovered: f64 = coverage.sums.iter().map(|sum| sum.min(1.0).ln()).sum();
        let sum = log_probability + self.coverage_penalty * uncovered;
        self.length_formula.apply(sum, coverage.length, self.length_penalty)
    }

    /// Returns the brevity penalty of a complete hypothesis; 0 if no length is expected.
    pub fn brevity(&self, tokens: impl IntoIterator<Item = u32>, expected: Option<&ExpectedLength>) -> f64 {
        expected.map_or(0.0, |expected| self.brevity_penalty * expected.lacking_share(tokens))
    }
}

/// Coverage of the source by the tokens of a hypothesis, and their number.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// 0.02 + Σ_t α_tj for each source token.
    sums: Vec<f64>,
    length: f64,
}

impl Coverage {
    /// Adds the attention weights of one more token.
    pub fn add(&mut self, row: &[f32]) {
        self.sums.resize(row.len(), MIN_COVERAGE);
        self.sums.iter_mut().zip(row).for_each(|(sum, &alpha)| *sum += f64::from(alpha));
        self.length += 1.0;
    }
}

impl LengthFormula {
    /// Normalizes a log-probability by length.
    pub fn apply(self, log_probability: f64, length: f64, alpha: f64) -> f64 {
        match self {
            Self::Power => log_probability / length.powf(alpha),
            Self::Wu => log_probability / ((5.0 + length) / 6.0).powf(alpha),
            Self::Reward => log_probability + alpha * length,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_match_hand_computed_values() {
        let rows = [[0.5f32, 0.5], [0.25, 0.75], [0.0, 1.0]];
        for (length_formula, length_penalty, coverage_penalty, expected) in [
            (LengthFormula::Power, 1.0, 0.0, -2.0),
            (LengthFormula::Power, 0.0, 0.0, -6.0),
            (LengthFormula::Wu, 2.0, 0.0, -6.0 / (64.0 / 36.0)),
            (LengthFormula::Reward, 0.5, 0.0, -4.5),
            (LengthFormula::Power, 1.0, 0.2, (-6.0 + 0.2 * 0.77f64.ln()) / 3.0),
        ] {
            let scoring = HypothesisScoring { length_formula, length_penalty, coverage_penalty, brevity_penalty: 0.0 };
            let score = scoring.score(-6.0, rows.iter().map(|row| &row[..]));
            assert!((score - expected).abs() < 1e-12, "{score} {expected}");
        }
    }
}
