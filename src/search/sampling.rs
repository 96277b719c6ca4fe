//! Translations drawn by chance, unit by unit.

use candle_core::Result;

use super::{ConstraintState, Distribution, Hypothesis, SampleSearch, Scorer, SearchInput};
use crate::random::SeededRng;
use crate::text::{BEGIN, END};

/// A translation that is being drawn.
struct SampledHypothesis<'a> {
    source: SearchInput<'a>,
    stream: SeededRng,
    progress: ConstraintState,
    /// The scorer's row, until it is done.
    row: Option<usize>,
    /// What has been drawn.
    drawn: Hypothesis,
}

/// Draws `settings.draws` translations of each sentence, of which the scorer has one row each. What chance has in store is
/// decided by the seed, the sentence's number and which of its draws it is.
///
/// # Errors
/// The scorer's own.
pub fn sample(
    scorer: &mut dyn Scorer,
    sources: &[SearchInput],
    settings: &SampleSearch,
) -> Result<Vec<Vec<Hypothesis>>> {
    let mut draws: Vec<SampledHypothesis> = Vec::new();
    for (row, &source) in sources.iter().enumerate() {
        for index in 0..settings.draws {
            let number = settings.first + source.number;
            let stream = SeededRng::new(settings.seed, &format!("draw {index}"), number as u64);
            let drawn = Hypothesis { finished: false, ..Hypothesis::empty() };
            draws.push(SampledHypothesis {
                source,
                stream,
                progress: ConstraintState::default(),
                row: Some(row),
                drawn,
            });
        }
    }
    for length in 1.. {
        let (parents, units): (Vec<usize>, Vec<u32>) = draws.iter().filter_map(SampledHypothesis::living).unzip();
        if parents.is_empty() {
            break;
        }
        let predictions = scorer.step(&parents, &units)?;
        for (row, sample) in draws.iter_mut().filter(|sample| sample.row.is_some()).enumerate() {
            let longest = settings.limits.longest(sample.source.units) + sample.source.constraints.units();
            let goes_on = sample.extend(predictions.row(row), &predictions.attention[row], settings);
            sample.row = (goes_on && length < longest).then_some(row);
        }
    }
    let mut drawn = draws.into_iter().map(|sample| sample.finish(settings));
    Ok(sources.iter().map(|_| drawn.by_ref().take(settings.draws).collect()).collect())
}

impl SampledHypothesis<'_> {
    /// The scorer's row and the last unit, unless it is done.
    fn living(&self) -> Option<(usize, u32)> {
        Some((self.row?, self.drawn.units.last().copied().unwrap_or(BEGIN)))
    }

    /// Draws what comes next; tells whether anything can follow.
    fn extend(&mut self, next: Distribution, attention: &[f32], settings: &SampleSearch) -> bool {
        let constraints = self.source.constraints;
        let back = self.drawn.units.iter().rev().copied();
        let rule = constraints.rule(&self.progress, back, settings.limits.no_repeat);
        let allowed = |unit| rule.allows(unit);
        let Some(candidate) = next.sample(&settings.chance, &allowed, &mut self.stream) else { return false };
        self.drawn.log_probability += f64::from(candidate.log_probability);
        self.drawn.attention.push(attention.to_vec());
        self.drawn.finished = candidate.unit == END;
        if !self.drawn.finished {
            self.progress = constraints.after(&self.progress, candidate.unit);
            self.drawn.units.push(candidate.unit);
        }
        !self.drawn.finished
    }

    fn finish(mut self, settings: &SampleSearch) -> Hypothesis {
        let attention = self.drawn.attention.iter().map(Vec::as_slice);
        self.drawn.score = settings.scoring.score(self.drawn.log_probability, attention);
        self.drawn.unmet_constraints = self.source.constraints.unmet_constraints(&self.progress);
        self.drawn
    }
}
