//! Beam search in batches.
//!
//! Every sentence has a beam of its own, so that no result depends on what else is in the batch. A hypothesis that ends
//! leaves its beam and makes it narrower; a sentence whose beam is empty leaves the batch.
//!
//! Where phrases are required, the beam is dealt out among hypotheses that have none of their units, one, two and so on
//! (Post & Vilar 2018, section 4), and is wider by as many: those that have more are less probable, and would never get
//! to their end.

use std::cmp::Ordering;

use candle_core::Result;

use super::hypothesis_arena::{HypothesisArena, HypothesisStep};
use super::{
    BeamSearch, ConstraintState, DecodingConstraints, Distribution, Hypothesis, Predictions, Scorer, TokenCandidate,
};
use crate::text::{BEGIN, END};

/// A source as search sees it.
#[derive(Clone, Copy)]
pub struct SearchInput<'a> {
    /// Its place among the sentences, by which draws differ.
    pub number: usize,
    /// How many units it has, by which a translation's length is bounded.
    pub units: usize,
    /// What its translation has to keep to.
    pub constraints: &'a DecodingConstraints,
}

/// The beam of one sentence.
struct Beam<'a> {
    constraints: &'a DecodingConstraints,
    no_repeat: Option<usize>,
    history: HypothesisArena,
    /// Rows of the scorer and last steps of the living hypotheses.
    alive: Vec<(usize, Option<usize>)>,
    /// Last steps of the hypotheses that are done, and whether each ended by itself.
    done: Vec<(usize, bool)>,
    /// Hypotheses still wanted: the beam's width, which shrinks as hypotheses end.
    width: usize,
    /// Most units of a hypothesis.
    longest: usize,
}

/// A hypothesis that is one unit longer.
#[derive(Clone, Copy)]
struct Extension {
    log_probability: f64,
    placement_penalty: f64,
    /// The living hypothesis that it goes on from.
    index: usize,
    unit: u32,
    /// How many units of required phrases it has.
    bank: usize,
}

impl Extension {
    fn sum(&self) -> f64 {
        self.log_probability + self.placement_penalty
    }

    /// The order of extensions: the more probable first, of equals that of the earlier hypothesis and unit.
    fn better_first(&self, other: &Self) -> Ordering {
        other.sum().total_cmp(&self.sum()).then(self.index.cmp(&other.index)).then(self.unit.cmp(&other.unit))
    }
}

/// Translates sentences, of which the scorer has one row each. Returns up to `settings.best` hypotheses for each, best
/// first: those that ended by themselves before others, and those that have what is required before others.
///
/// # Errors
/// The scorer's own.
pub fn search(scorer: &mut dyn Scorer, sources: &[SearchInput], settings: &BeamSearch) -> Result<Vec<Vec<Hypothesis>>> {
    let mut beams: Vec<Beam> =
        sources.iter().enumerate().map(|(row, source)| Beam::new(row, source, settings)).collect();
    for length in 1.. {
        let living: Vec<(usize, u32)> = beams.iter().flat_map(Beam::living).collect();
        if living.is_empty() {
            break;
        }
        let (parents, units): (Vec<usize>, Vec<u32>) = living.into_iter().unzip();
        let predictions = scorer.step(&parents, &units)?;
        let mut first_row = 0;
        for beam in &mut beams {
            let rows = beam.alive.len();
            beam.extend(&predictions, first_row);
            first_row += rows;
            if length >= beam.longest {
                beam.cut();
            }
        }
    }
    Ok(beams.iter().map(|beam| beam.hypotheses(settings)).collect())
}

impl<'a> Beam<'a> {
    fn new(row: usize, source: &SearchInput<'a>, settings: &BeamSearch) -> Self {
        Self {
            constraints: source.constraints,
            no_repeat: settings.limits.no_repeat,
            history: HypothesisArena::default(),
            alive: vec![(row, None)],
            done: Vec::new(),
            width: settings.beam + source.constraints.required_units(),
            longest: settings.limits.longest(source.units) + source.constraints.units(),
        }
    }

    /// The scorer's row and the last unit of each living hypothesis.
    fn living(&self) -> impl Iterator<Item = (usize, u32)> {
        self.alive.iter().map(|&(row, last)| (row, last.map_or(BEGIN, |last| self.history.step(last).unit)))
    }

    /// Replaces the living hypotheses by the best of those that are one unit longer. The scorer's rows of these are counted
    /// from `first_row`.
    fn extend(&mut self, predictions: &Predictions, first_row: usize) {
        let mut extensions: Vec<Extension> = Vec::new();
        // Of which no more than the width is taken, wherever it is from.
        let mut floor = f64::NEG_INFINITY;
        for index in 0..self.alive.len() {
            let row = first_row + index;
            let longer = self.extensions(index, predictions.row(row), &predictions.attention[row], floor);
            if let (true, false, Some(last)) = (longer.is_empty(), self.is_free(), self.alive[index].1) {
                // Nothing may follow.
                self.done.push((last, false));
            }
            extensions.extend(longer);
            if self.is_free() && extensions.len() >= 2 * self.width {
                extensions.select_nth_unstable_by(self.width - 1, Extension::better_first);
                extensions.truncate(self.width);
                floor = extensions[self.width - 1].sum();
            }
        }
        extensions.sort_unstable_by(Extension::better_first);
        let chosen = dealt_out(extensions, self.width, self.constraints.required_units());
        let parents = std::mem::take(&mut self.alive);
        for Extension { log_probability, placement_penalty, index, unit, .. } in chosen {
            let before = parents[index].1;
            let progress = self.constraints.after(&self.progress(before), unit);
            let attention = predictions.attention[first_row + index].clone();
            let step = self.history.add(HypothesisStep {
                before,
                unit,
                log_probability,
                placement_penalty,
                attention,
                progress,
            });
            if unit == END {
                self.done.push((step, true));
                self.width -= 1;
            } else {
                self.alive.push((first_row + index, Some(step)));
            }
        }
        if self.history.is_full() {
            self.forget();
        }
    }

    /// Forgets the steps that no hypothesis goes back to.
    fn forget(&mut self) {
        let alive = self.alive.iter_mut().filter_map(|(_, last)| last.as_mut());
        self.history.forget(alive.chain(self.done.iter_mut().map(|(last, _)| last)));
    }

    /// How a living hypothesis can go on; where everything is allowed, none by which its sum would be below `floor`.
    fn extensions(&self, index: usize, next: Distribution, attention: &[f32], floor: f64) -> Vec<Extension> {
        let last = self.alive[index].1;
        let so_far = last.map(|last| self.history.step(last));
        let so_far = so_far.map_or((0.0, 0.0), |step| (step.log_probability, step.placement_penalty));
        let progress = self.progress(last);
        let candidates = if self.is_free() {
            next.best_above(self.width, floor - so_far.0 - so_far.1)
        } else {
            let rule = self.constraints.rule(&progress, self.history.back(last).map(|step| step.unit), self.no_repeat);
            let mut candidates = next.best(self.width, &|unit| rule.allows(unit));
            let improbable = |unit: &u32| candidates.iter().all(|candidate| candidate.unit != *unit);
            let wanted: Vec<u32> = rule.wanted().filter(improbable).collect();
            candidates.extend(wanted.into_iter().map(|unit| next.candidate(unit)));
            candidates
        };
        let extension = |TokenCandidate { unit, log_probability }: TokenCandidate| {
            let after = self.constraints.after(&progress, unit);
            let log_probability = so_far.0 + f64::from(log_probability);
            let placement_penalty = so_far.1 + self.constraints.placement_penalty(&progress, &after, attention);
            Extension { log_probability, placement_penalty, index, unit, bank: self.constraints.bank(&after) }
        };
        candidates.into_iter().map(extension).collect()
    }

    /// Whether every unit may come at any time.
    fn is_free(&self) -> bool {
        self.constraints.is_none() && self.no_repeat.is_none()
    }

    fn progress(&self, last: Option<usize>) -> ConstraintState {
        last.map_or_else(ConstraintState::default, |last| self.history.step(last).progress)
    }

    /// Ends the living hypotheses where they are.
    fn cut(&mut self) {
        self.done.extend(self.alive.drain(..).filter_map(|(_, last)| Some((last?, false))));
    }

    /// The hypotheses that are done, best first. At least one: where the scorer had nothing to say (its numbers were
    /// none), it is empty and unfinished.
    fn hypotheses(&self, settings: &BeamSearch) -> Vec<Hypothesis> {
        let unmet_constraints = |last: usize| self.constraints.unmet_constraints(&self.history.step(last).progress);
        let rank = |&(last, finished): &(usize, bool)| {
            (finished, unmet_constraints(last), self.history.score(last, &settings.scoring), last)
        };
        let mut done: Vec<(bool, usize, f64, usize)> = self.done.iter().map(rank).collect();
        done.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)).then(b.2.total_cmp(&a.2)));
        done.truncate(settings.best.max(1));
        if done.is_empty() {
            return vec![Hypothesis { finished: false, ..Hypothesis::empty() }];
        }
        let left_out = self.constraints.left_out();
        let read = |(finished, unmet_constraints, _, last)| {
            self.history.hypothesis(last, finished, unmet_constraints + left_out, &settings.scoring)
        };
        done.into_iter().map(read).collect()
    }
}

/// The best extensions, `width` at most, of which each bank from 0 to `last` has an equal share, the last one what is left
/// over; what a bank cannot fill goes to the others, the fullest bank first. `extensions` are sorted, and so is the result.
fn dealt_out(mut extensions: Vec<Extension>, width: usize, last: usize) -> Vec<Extension> {
    if last == 0 {
        extensions.truncate(width);
        return extensions;
    }
    let mut there = vec![0; last + 1];
    extensions.iter().for_each(|extension| there[extension.bank] += 1);
    let mut shares: Vec<usize> = there.iter().map(|&there| there.min(width / (last + 1))).collect();
    let mut left = width - shares.iter().sum::<usize>();
    for (share, there) in shares.iter_mut().zip(there).rev() {
        let more = left.min(there - *share);
        *share += more;
        left -= more;
    }
    let mut taken = |extension: &Extension| {
        let share = &mut shares[extension.bank];
        *share > 0 && {
            *share -= 1;
            true
        }
    };
    extensions.retain(&mut taken);
    extensions
}

#[cfg(test)]
mod tests {
    use super::super::table_scorer::{TableScorer, every_sequence, free};
    use super::super::{HypothesisScoring, LengthLimits};
    use super::*;

    fn settings(beam: usize, length_penalty: f64) -> BeamSearch {
        BeamSearch {
            beam,
            scoring: HypothesisScoring { length_penalty, coverage_penalty: 0.0, ..HypothesisScoring::default() },
            limits: LengthLimits { length_factor: 0.0, length_extra: 4, no_repeat: None },
            best: usize::MAX,
        }
    }

    fn with_coverage(settings: BeamSearch, coverage_penalty: f64) -> BeamSearch {
        BeamSearch { scoring: HypothesisScoring { coverage_penalty, ..settings.scoring }, ..settings }
    }

    fn within(settings: BeamSearch, length_extra: usize) -> BeamSearch {
        BeamSearch { limits: LengthLimits { length_extra, ..settings.limits }, ..settings }
    }

    #[test]
    fn a_wide_beam_finds_what_trying_everything_finds() {
        // What the table attends to is the words taken in, so that those that were not said are not covered.
        let uncovered = |units: &[u32]| {
            let covered: std::collections::HashSet<u32> = units.iter().copied().chain([BEGIN]).collect();
            (8 - covered.len()) as f64 * 0.02f64.ln()
        };
        for (seed, coverage_penalty, length_penalty) in (0..20).flat_map(|seed| [(seed, 0.0, 0.0), (seed, 0.3, 0.7)]) {
            let mut table = TableScorer::new(1, seed);
            let settings = with_coverage(settings(400, length_penalty), coverage_penalty);
            let found = search(&mut table, &free(1), &settings).unwrap().remove(0);
            let score = |units: &[u32]| {
                let sum = table.log_probability(0, units) + coverage_penalty * uncovered(units);
                sum / (units.len() as f64 + 1.0).powf(length_penalty)
            };
            let mut all = every_sequence(3);
            all.sort_by(|a, b| score(b).total_cmp(&score(a)));
            for (found, units) in found.iter().zip(&all[..2]) {
                assert_eq!(&found.units, units);
                assert!((found.score - score(units)).abs() < 1e-5);
                assert!((found.log_probability - table.log_probability(0, units)).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn what_no_hypothesis_goes_back_to_is_forgotten_without_a_trace() {
        let settings = within(settings(100, 0.7), 60);
        let units = |found: &[Hypothesis]| found.iter().map(|one| one.units.clone()).collect::<Vec<_>>();
        let mut table = TableScorer::new(1, 3);
        // Nothing ends, so that all of the beam lives on.
        table.probabilities[0].iter_mut().for_each(|row| row[END as usize] = 0.0);
        let mut beam = Beam::new(0, &free(1)[0], &settings);
        beam.history = HypothesisArena::endless();
        for _ in 0..60 {
            let (parents, taken): (Vec<usize>, Vec<u32>) = beam.living().unzip();
            let predictions = table.step(&parents, &taken).unwrap();
            beam.extend(&predictions, 0);
        }
        beam.cut();
        let all = beam.history.len();
        let before = beam.hypotheses(&settings);
        beam.forget();
        let after = beam.hypotheses(&settings);
        assert!(beam.history.len() < all * 4 / 5, "{} of {all}", beam.history.len());
        assert_eq!(units(&before), units(&after));
        let mut table = TableScorer::new(1, 3);
        table.probabilities[0].iter_mut().for_each(|row| row[END as usize] = 0.0);
        let found = search(&mut table, &free(1), &settings).unwrap().remove(0);
        assert_eq!(units(&found), units(&before));
        let three = BeamSearch { best: 3, ..settings };
        assert_eq!(units(&beam.hypotheses(&three)), units(&before)[..3]);
    }

    #[test]
    fn greedy_takes_the_best_unit_each_time() {
        let mut table = TableScorer::new(1, 7);
        let found = search(&mut table, &free(1), &settings(1, 1.0)).unwrap().remove(0);
        let mut last = BEGIN as usize;
        let mut units = Vec::new();
        while units.len() < 4 {
            let row = &table.probabilities[0][last];
            let best = (0..8).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap();
            if best == END as usize {
                break;
            }
            units.push(best as u32);
            last = best;
        }
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].units, units);
    }

    #[test]
    fn sentences_do_not_disturb_each_other() {
        let alone: Vec<Vec<Hypothesis>> = (0..5)
            .map(|sentence| {
                let mut table = TableScorer::new(5, 3);
                table.rows = vec![sentence];
                search(&mut table, &free(5)[sentence..=sentence], &settings(3, 1.0)).unwrap().remove(0)
            })
            .collect();
        let together = search(&mut TableScorer::new(5, 3), &free(5), &settings(3, 1.0)).unwrap();
        for (alone, together) in alone.iter().zip(&together) {
            let flat = |found: &[Hypothesis]| found.iter().map(|h| (h.units.clone(), h.score)).collect::<Vec<_>>();
            assert_eq!(flat(alone), flat(together));
        }
    }

    #[test]
    fn attention_rows_belong_to_their_units() {
        let found = search(&mut TableScorer::new(3, 5), &free(3), &settings(3, 0.6)).unwrap();
        for hypothesis in found.iter().flatten() {
            let rows = hypothesis.units.len() + usize::from(hypothesis.finished);
            assert_eq!(hypothesis.attention.len(), rows);
            // The table's attention is the unit taken in, so row t + 1 shows unit t.
            for (row, &unit) in hypothesis.attention[1..].iter().zip(&hypothesis.units) {
                assert_eq!(row.iter().position(|&alpha| alpha == 1.0), Some(unit as usize));
            }
            let length = rows as f64;
            assert!((hypothesis.score - hypothesis.log_probability / length.powf(0.6)).abs() < 1e-12);
        }
    }

    #[test]
    fn a_speechless_scorer_gives_an_unfinished_hypothesis() {
        let mut table = TableScorer::new(1, 1);
        table.probabilities[0].iter_mut().for_each(|row| row.fill(0.0));
        let found = search(&mut table, &free(1), &settings(2, 1.0)).unwrap().remove(0);
        assert!(found.len() == 1 && found[0].is_degenerate() && !Hypothesis::empty().is_degenerate());
    }

    #[test]
    fn nothing_to_translate_and_no_room() {
        assert!(search(&mut TableScorer::new(0, 1), &[], &settings(3, 1.0)).unwrap().is_empty());
        let tight = within(settings(2, 1.0), 1);
        for hypothesis in &search(&mut TableScorer::new(1, 1), &free(1), &tight).unwrap()[0] {
            assert!(hypothesis.units.len() <= 1);
        }
    }
}
