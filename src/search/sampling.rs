//! Ancestral sampling of translations.

use candle_core::Result;

use super::beam::is_cancelled;
use super::{ConstraintState, Distribution, Hypothesis, SamplingOptions, Scorer, SearchInput};
use crate::random::SeededRng;
use crate::text::{BEGIN, END};

/// Sample in progress.
struct SampledHypothesis<'a> {
    source: SearchInput<'a>,
    rng: SeededRng,
    state: ConstraintState,
    /// Row of the scorer; `None` once complete.
    row: Option<usize>,
    hypothesis: Hypothesis,
}

/// Samples `settings.samples` translations of each sentence, each with one row of the scorer. A sample depends only on
/// the seed, the index of the sentence and that of the sample.
///
/// # Errors
/// The scorer fails.
pub fn sample(
    scorer: &mut dyn Scorer,
    sources: &[SearchInput],
    settings: &SamplingOptions,
) -> Result<Vec<Vec<Hypothesis>>> {
    let mut samples: Vec<SampledHypothesis> = Vec::new();
    for (row, &source) in sources.iter().enumerate() {
        for index in 0..settings.samples {
            let sentence = settings.first as u64 + source.seed_index;
            let rng = SeededRng::new(settings.seed, &format!("draw {index}"), sentence);
            let hypothesis = Hypothesis { finished: false, ..Hypothesis::empty() };
            let state = ConstraintState::default();
            samples.push(SampledHypothesis { source, rng, state, row: Some(row), hypothesis });
        }
    }
    for length in 1.. {
        samples
            .iter_mut()
            .filter(|sample| is_cancelled(sample.source.cancellation))
            .for_each(SampledHypothesis::abandon);
        let (parents, tokens): (Vec<usize>, Vec<u32>) =
            samples.iter().filter_map(SampledHypothesis::scorer_input).unzip();
        if parents.is_empty() {
            break;
        }
        let predictions = scorer.step(&parents, &tokens)?;
        for (row, sample) in samples.iter_mut().filter(|sample| sample.row.is_some()).enumerate() {
            let SearchInput { source_tokens, constraints, .. } = sample.source;
            let max_tokens = settings.limits.max_tokens(source_tokens) + constraints.max_extra_tokens();
            let is_live = sample.extend(predictions.row(row), &predictions.attention[row], settings);
            sample.row = (is_live && length < max_tokens).then_some(row);
        }
    }
    let mut hypotheses = samples.into_iter().map(|sample| sample.finish(settings));
    Ok(sources.iter().map(|_| hypotheses.by_ref().take(settings.samples).collect()).collect())
}

impl SampledHypothesis<'_> {
    /// Row and last token, unless complete.
    fn scorer_input(&self) -> Option<(usize, u32)> {
        Some((self.row?, self.hypothesis.tokens.last().copied().unwrap_or(BEGIN)))
    }

    /// Samples the next token. Returns false if the hypothesis is complete.
    fn extend(&mut self, next: Distribution, attention: &[f32], settings: &SamplingOptions) -> bool {
        let constraints = self.source.constraints;
        let reversed = self.hypothesis.tokens.iter().rev().copied();
        let mask = constraints.token_mask(&self.state, reversed, next, &settings.limits);
        let config = &settings.sampling;
        let mut drawn =
            next.sample(config, &|token| mask.allows_in_sample(token) && mask.agrees_with_model(token), &mut self.rng);
        if drawn.is_none() {
            drawn = next.sample(config, &|token| mask.allows_in_sample(token), &mut self.rng);
        }
        let Some(candidate) = drawn else { return false };
        self.hypothesis.log_probability += f64::from(candidate.log_probability);
        self.hypothesis.token_log_probabilities.push(f64::from(candidate.log_probability));
        self.hypothesis.attention.push(attention.to_vec());
        self.hypothesis.finished = candidate.token == END;
        if !self.hypothesis.finished {
            self.state = mask.advance(candidate.token, attention);
            self.hypothesis.tokens.push(candidate.token);
        }
        !self.hypothesis.finished
    }

    fn abandon(&mut self) {
        self.row = None;
        self.hypothesis = Hypothesis { finished: false, ..Hypothesis::empty() };
    }

    fn finish(mut self, settings: &SamplingOptions) -> Hypothesis {
        let attention = self.hypothesis.attention.iter().map(Vec::as_slice);
        let score = settings.scoring.score(self.hypothesis.log_probability, attention);
        let tokens = self.hypothesis.tokens.iter().copied();
        self.hypothesis.score = score - settings.scoring.brevity(tokens, self.source.expected_length);
        self.hypothesis.unmet_phrases = self.source.constraints.unmet_phrases(&self.state).collect();
        self.hypothesis
    }
}
