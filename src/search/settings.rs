//! How to search.

use super::distribution::SamplingConfig;

/// How translations are looked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Search {
    /// The most probable ones, by beam search.
    Beam(BeamSearch),
    /// Some drawn by chance, each as probable as the model says.
    Draws(SampleSearch),
}

impl Search {
    /// Hypotheses that are looked at together for each sentence.
    pub fn width(&self) -> usize {
        match self {
            Self::Beam(settings) => settings.beam,
            Self::Draws(settings) => settings.draws,
        }
    }

    /// Hypotheses that are handed back for each sentence, at most.
    pub fn results(&self) -> usize {
        match self {
            Self::Beam(settings) => settings.best,
            Self::Draws(settings) => settings.draws,
        }
    }
}

impl From<BeamSearch> for Search {
    fn from(settings: BeamSearch) -> Self {
        Self::Beam(settings)
    }
}

/// How to search by a beam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BeamSearch {
    /// Hypotheses kept alive for each sentence, at least 1; 1 is greedy search.
    pub beam: usize,
    /// What they are ranked by.
    pub scoring: HypothesisScoring,
    /// What they keep to.
    pub limits: LengthLimits,
    /// Hypotheses that are handed back for each sentence, at most.
    pub best: usize,
}

impl Default for BeamSearch {
    fn default() -> Self {
        Self { beam: 5, scoring: HypothesisScoring::default(), limits: LengthLimits::default(), best: usize::MAX }
    }
}

impl BeamSearch {
    /// Greedy search.
    pub fn greedy() -> Self {
        Self { beam: 1, ..Self::default() }
    }
}

/// How to draw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleSearch {
    /// Translations drawn of each sentence.
    pub draws: usize,
    /// What is left to chance.
    pub chance: SamplingConfig,
    /// What their score is made by.
    pub scoring: HypothesisScoring,
    /// What they keep to.
    pub limits: LengthLimits,
    /// Decides what is drawn …
    pub seed: u64,
    /// … together with the number of the sentence, of which this is the first one's.
    pub first: usize,
}

/// What every hypothesis keeps to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LengthLimits {
    /// A translation has at most `length_factor` × the source's units …
    pub length_factor: f64,
    /// … and this many more units, `</s>` counted.
    pub length_extra: usize,
    /// No run of so many units comes twice.
    pub no_repeat: Option<usize>,
}

impl Default for LengthLimits {
    fn default() -> Self {
        Self { length_factor: 2.0, length_extra: 20, no_repeat: None }
    }
}

impl LengthLimits {
    /// Most units of a translation.
    pub fn longest(&self, source_units: usize) -> usize {
        (source_units as f64 * self.length_factor) as usize + self.length_extra
    }
}

/// What hypotheses are ranked by: their log-probability, less `coverage_penalty` for what they left out of the source,
/// and made independent of their length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HypothesisScoring {
    /// In which way length counts.
    pub length_formula: LengthFormula,
    /// α, how much it counts: 0 not at all.
    pub length_penalty: f64,
    /// β, what it counts that source units were not looked at (Wu et al. 2016, section 7): 0 nothing.
    pub coverage_penalty: f64,
}

impl Default for HypothesisScoring {
    fn default() -> Self {
        Self { length_formula: LengthFormula::Power, length_penalty: 1.0, coverage_penalty: 0.2 }
    }
}

/// How a hypothesis of so many units, `</s>` counted, is made comparable to shorter and longer ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LengthFormula {
    /// `log p / lengthᵅ`: with α = 1 the mean of a unit.
    Power,
    /// `log p / ((5 + length) / 6)ᵅ` (Wu et al. 2016, section 7).
    Wu,
    /// `log p + α · length` (He et al. 2016, "Improved Neural Machine Translation with SMT Features").
    Reward,
}

/// How much everything counts as looked at beforehand, so that nothing is infinitely bad.
const LEAST_COVERAGE: f64 = 0.02;

impl HypothesisScoring {
    /// Scores a hypothesis by its log-probability and its attention, a row for each of its units, `</s>` counted:
    /// `(log p + β Σ_j ln min(1, 0.02 + Σ_t α_tj)) / lengthᵅ`, or what the formula makes of it.
    pub fn score<'a>(&self, log_probability: f64, attention: impl Iterator<Item = &'a [f32]>) -> f64 {
        let mut coverage: Vec<f64> = Vec::new();
        let mut length = 0.0;
        for row in attention {
            coverage.resize(row.len(), LEAST_COVERAGE);
            coverage.iter_mut().zip(row).for_each(|(sum, &alpha)| *sum += f64::from(alpha));
            length += 1.0;
        }
        let uncovered: f64 = coverage.iter().map(|sum| sum.min(1.0).ln()).sum();
        let sum = log_probability + self.coverage_penalty * uncovered;
        self.length_formula.apply(sum, length, self.length_penalty)
    }
}

impl LengthFormula {
    /// What it makes of a log-probability, with `alpha` the α of the formula.
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
    fn formulas_by_hand() {
        let rows = [[0.5f32, 0.5], [0.25, 0.75], [0.0, 1.0]];
        let score = |length_formula, length_penalty, coverage_penalty| {
            let scoring = HypothesisScoring { length_formula, length_penalty, coverage_penalty };
            scoring.score(-6.0, rows.iter().map(|row| &row[..]))
        };
        let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        close(score(LengthFormula::Power, 1.0, 0.0), -2.0);
        close(score(LengthFormula::Power, 0.0, 0.0), -6.0);
        close(score(LengthFormula::Wu, 2.0, 0.0), -6.0 / (64.0 / 36.0));
        close(score(LengthFormula::Reward, 0.5, 0.0), -4.5);
        close(score(LengthFormula::Power, 1.0, 0.2), (-6.0 + 0.2 * 0.77f64.ln()) / 3.0);
    }
}
