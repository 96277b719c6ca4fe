//! Batched beam search.
//!
//! Each sentence has its own beam, so results do not depend on the batch. A finished hypothesis leaves the beam and
//! narrows it by one.
//!
//! With required phrases, the beam is widened by the number of their units and divided among banks, one for each number
//! of units produced: dynamic beam allocation (Post & Vilar 2018, section 4).

use std::cmp::Ordering;

use candle_core::Result;

use super::hypothesis_arena::{HypothesisArena, HypothesisStep};
use super::observer::{KeptExtension, SearchObserver, Unobserved};
use super::{
    BeamSearch, Cancellation, ConstraintState, DecodingConstraints, Distribution, Hypothesis, Predictions, Scorer,
    TokenCandidate,
};
use crate::text::{BEGIN, END};

/// Source of one search.
#[derive(Clone, Copy)]
pub struct SearchInput<'a> {
    /// Index of the sentence, part of the seed of sampling.
    pub seed_index: u64,
    /// Number of source units with `</s>`, which bounds the length of the translation.
    pub source_units: usize,
    /// Constraints on the translation.
    pub constraints: &'a DecodingConstraints,
    /// Cancels the search of this source.
    pub cancellation: Option<&'a Cancellation>,
}

/// Beam of one sentence. Hypotheses are indices of their last steps in the arena.
struct Beam<'a> {
    constraints: &'a DecodingConstraints,
    cancellation: Option<&'a Cancellation>,
    no_repeat: Option<usize>,
    arena: HypothesisArena,
    /// Live hypotheses with their rows of the scorer; `None` is the empty one.
    live: Vec<(usize, Option<usize>)>,
    /// Complete hypotheses; true if they end with `</s>`.
    complete: Vec<(usize, bool)>,
    /// Beam width, less the finished hypotheses.
    width: usize,
    max_units: usize,
}

/// Live hypothesis extended by one unit.
#[derive(Clone)]
struct Extension {
    log_probability: f64,
    state: ConstraintState,
    /// Index of the live hypothesis.
    parent: usize,
    unit: u32,
    /// Units of required phrases produced.
    bank: usize,
    /// True if its last word can become an avoided one.
    leads_to_avoided: bool,
}

impl Extension {
    fn sum(&self) -> f64 {
        self.log_probability + self.state.placement_penalty
    }

    /// Orders by descending score; ties by parent, then unit.
    fn better_first(&self, other: &Self) -> Ordering {
        other.sum().total_cmp(&self.sum()).then(self.parent.cmp(&other.parent)).then(self.unit.cmp(&other.unit))
    }
}

/// Beam search over sentences, each with one row of the scorer. Returns up to `settings.best` hypotheses per sentence:
/// finished ones first, then those with fewer unmet constraints, then by score.
///
/// # Errors
/// The scorer fails.
pub fn search(scorer: &mut dyn Scorer, sources: &[SearchInput], settings: &BeamSearch) -> Result<Vec<Vec<Hypothesis>>> {
    search_observed(scorer, sources, settings, &mut Unobserved)
}

/// As [`search`]. `observer` sees the hypotheses of all sentences, in order.
///
/// # Errors
/// As [`search`].
pub(super) fn search_observed(
    scorer: &mut dyn Scorer,
    sources: &[SearchInput],
    settings: &BeamSearch,
    observer: &mut impl SearchObserver,
) -> Result<Vec<Vec<Hypothesis>>> {
    let mut beams: Vec<Beam> =
        sources.iter().enumerate().map(|(row, source)| Beam::new(row, source, settings)).collect();
    for length in 1.. {
        beams.iter_mut().filter(|beam| is_cancelled(beam.cancellation)).for_each(Beam::abandon);
        let (parents, units): (Vec<usize>, Vec<u32>) = beams.iter().flat_map(Beam::scorer_input).unzip();
        if parents.is_empty() {
            break;
        }
        let predictions = scorer.step(&parents, &units)?;
        observer.on_predictions(&predictions);
        let mut first_row = 0;
        for beam in &mut beams {
            let rows = beam.live.len();
            beam.extend(&predictions, first_row, observer);
            first_row += rows;
            if length >= beam.max_units {
                beam.stop();
            }
        }
        observer.on_step();
    }
    Ok(beams.iter().map(|beam| beam.hypotheses(settings)).collect())
}

pub(super) fn is_cancelled(cancellation: Option<&Cancellation>) -> bool {
    cancellation.is_some_and(Cancellation::is_cancelled)
}

impl<'a> Beam<'a> {
    fn new(row: usize, source: &SearchInput<'a>, settings: &BeamSearch) -> Self {
        Self {
            constraints: source.constraints,
            cancellation: source.cancellation,
            no_repeat: settings.limits.no_repeat,
            arena: HypothesisArena::default(),
            live: vec![(row, None)],
            complete: Vec::new(),
            width: settings.beam + source.constraints.required_units(),
            max_units: settings.limits.max_units(source.source_units) + source.constraints.max_extra_units(),
        }
    }

    /// Rows and last units of the live hypotheses.
    fn scorer_input(&self) -> impl Iterator<Item = (usize, u32)> {
        self.live.iter().map(|&(row, last)| (row, last.map_or(BEGIN, |last| self.arena.step(last).unit)))
    }

    /// Replaces the live hypotheses, whose predictions begin at `first_row`, by their best extensions.
    fn extend(&mut self, predictions: &Predictions, first_row: usize, observer: &mut impl SearchObserver) {
        let mut extensions = self.extensions(predictions, first_row, true);
        if extensions.is_empty() && !self.is_unconstrained() {
            extensions = self.extensions(predictions, first_row, false);
        }
        if extensions.is_empty() && !self.is_unconstrained() {
            // The constraints allow no unit.
            self.stop();
        }
        extensions.sort_unstable_by(Extension::better_first);
        let parents = std::mem::take(&mut self.live);
        for Extension { log_probability, state, parent: index, unit, .. } in self.select(extensions) {
            observer.on_extension(&KeptExtension { row: first_row + index, unit, log_probability });
            let parent = parents[index].1;
            let attention = predictions.attention[first_row + index].clone();
            let step = self.arena.push(HypothesisStep { parent, unit, log_probability, attention, state });
            if unit == END {
                self.complete.push((step, true));
                self.width -= 1;
            } else {
                self.live.push((first_row + index, Some(step)));
            }
        }
        if self.width == 0 {
            self.live.clear();
        }
        if self.arena.is_full() {
            self.prune();
        }
    }

    /// Selects the extensions that survive. Those that lead to avoided words compete among themselves, since they are
    /// probable and may yet die.
    fn select(&self, extensions: Vec<Extension>) -> Vec<Extension> {
        let (doubtful, others) = extensions.into_iter().partition(|extension| extension.leads_to_avoided);
        let selected = |extensions| allocate(extensions, self.width, self.constraints.required_units());
        [selected(others), selected(doubtful)].concat()
    }

    fn prune(&mut self) {
        let live = self.live.iter_mut().filter_map(|(_, last)| last.as_mut());
        self.arena.prune(live.chain(self.complete.iter_mut().map(|(last, _)| last)));
    }

    /// Extensions of the live hypotheses, among them the best ones; with `only_agreeing`, those that agree with the model.
    fn extensions(&self, predictions: &Predictions, first_row: usize, only_agreeing: bool) -> Vec<Extension> {
        let mut extensions: Vec<Extension> = Vec::new();
        // Score of the worst extension that can still enter the beam.
        let mut floor = f64::NEG_INFINITY;
        for parent in 0..self.live.len() {
            let row = first_row + parent;
            let attention = &predictions.attention[row];
            extensions.extend(self.extensions_of(parent, predictions.row(row), attention, floor, only_agreeing));
            if self.is_unconstrained() && extensions.len() >= 2 * self.width {
                extensions.select_nth_unstable_by(self.width - 1, Extension::better_first);
                extensions.truncate(self.width);
                floor = extensions[self.width - 1].sum();
            }
        }
        extensions
    }

    /// Extensions of a live hypothesis; without constraints, only those whose score is at least `floor`.
    fn extensions_of(
        &self,
        parent: usize,
        next: Distribution,
        attention: &[f32],
        floor: f64,
        only_agreeing: bool,
    ) -> Vec<Extension> {
        let last = self.live[parent].1;
        let state = self.state(last);
        let sum = last.map_or(0.0, |last| self.arena.step(last).log_probability);
        let extension = |candidate: TokenCandidate, state, leads_to_avoided| {
            let TokenCandidate { unit, log_probability } = candidate;
            let (log_probability, bank) = (sum + f64::from(log_probability), self.constraints.bank(&state));
            Extension { log_probability, state, parent, unit, bank, leads_to_avoided }
        };
        if self.is_unconstrained() {
            let candidates = next.best_above(self.width, floor - sum);
            let unconstrained = |candidate| extension(candidate, ConstraintState::default(), false);
            return candidates.into_iter().map(unconstrained).collect();
        }
        let reversed = self.arena.ancestors(last).map(|step| step.unit);
        let mask = self.constraints.token_mask(&state, reversed, next, self.no_repeat);
        let allows = |unit| mask.allows(unit) && (!only_agreeing || mask.agrees_with_model(unit));
        let best = |leads_to_avoided| {
            next.best(self.width, &|unit| mask.leads_to_avoided(unit) == leads_to_avoided && allows(unit))
        };
        let mut candidates = [best(false), best(true)].concat();
        let is_missing = |unit: &u32| candidates.iter().all(|candidate| candidate.unit != *unit);
        let proposed: Vec<u32> = mask.proposals().filter(is_missing).collect();
        candidates.extend(proposed.into_iter().map(|unit| next.candidate(unit)));
        let constrained = |candidate: TokenCandidate| {
            let state = mask.advance(candidate.unit, attention);
            extension(candidate, state, mask.leads_to_avoided(candidate.unit))
        };
        candidates.into_iter().map(constrained).collect()
    }

    fn is_unconstrained(&self) -> bool {
        self.constraints.is_empty() && self.no_repeat.is_none()
    }

    fn state(&self, last: Option<usize>) -> ConstraintState {
        last.map_or_else(ConstraintState::default, |last| self.arena.step(last).state.clone())
    }

    /// Completes the live hypotheses without `</s>`.
    fn stop(&mut self) {
        self.complete.extend(self.live.drain(..).filter_map(|(_, last)| Some((last?, false))));
    }

    /// Drops all hypotheses.
    fn abandon(&mut self) {
        self.live.clear();
        self.complete.clear();
    }

    /// Complete hypotheses, best first. If there is none, since no prediction was a number or the search was
    /// cancelled, returns one that is degenerate.
    fn hypotheses(&self, settings: &BeamSearch) -> Vec<Hypothesis> {
        let state = |last: usize| &self.arena.step(last).state;
        let rank = |&(last, finished): &(usize, bool)| {
            let score = self.arena.score(last, self.constraints.term_penalty(state(last)), &settings.scoring);
            (finished, self.constraints.unmet_requirements(state(last)), score, last)
        };
        let mut ranked: Vec<(bool, usize, f64, usize)> = self.complete.iter().map(rank).collect();
        ranked.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)).then(b.2.total_cmp(&a.2)));
        ranked.truncate(settings.best.max(1));
        if ranked.is_empty() {
            return vec![Hypothesis { finished: false, ..Hypothesis::empty() }];
        }
        let hypothesis = |(finished, _, score, last)| {
            let unmet_phrases = self.constraints.unmet_phrases(state(last)).collect();
            self.arena.hypothesis(last, finished, unmet_phrases, score)
        };
        ranked.into_iter().map(hypothesis).collect()
    }
}

/// Dynamic beam allocation: selects at most `width` extensions, an equal share for each bank from 0 to `last` and the
/// remainder for the last one. Slots that a bank cannot fill go to the others, from the last bank down. The order of the
/// sorted `extensions` is kept.
fn allocate(mut extensions: Vec<Extension>, width: usize, last: usize) -> Vec<Extension> {
    if last == 0 {
        extensions.truncate(width);
        return extensions;
    }
    let mut available = vec![0; last + 1];
    extensions.iter().for_each(|extension| available[extension.bank] += 1);
    let mut slots: Vec<usize> = available.iter().map(|&available| available.min(width / (last + 1))).collect();
    let mut free = width - slots.iter().sum::<usize>();
    for (slots, available) in slots.iter_mut().zip(available).rev() {
        let more = free.min(available - *slots);
        *slots += more;
        free -= more;
    }
    extensions.retain(|extension| {
        let slots = &mut slots[extension.bank];
        *slots > 0 && {
            *slots -= 1;
            true
        }
    });
    extensions
}

#[cfg(test)]
mod tests {
    use super::super::table_scorer::{TableScorer, every_sequence, unconstrained};
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

    fn with_max_units(settings: BeamSearch, length_extra: usize) -> BeamSearch {
        BeamSearch { limits: LengthLimits { length_extra, ..settings.limits }, ..settings }
    }

    #[test]
    fn wide_beam_agrees_with_exhaustive_search() {
        // The table attends to the previous unit.
        let uncovered = |units: &[u32]| {
            let covered: std::collections::HashSet<u32> = units.iter().copied().chain([BEGIN]).collect();
            (8 - covered.len()) as f64 * 0.02f64.ln()
        };
        for (seed, coverage_penalty, length_penalty) in (0..20).flat_map(|seed| [(seed, 0.0, 0.0), (seed, 0.3, 0.7)]) {
            let mut table = TableScorer::new(1, seed);
            let settings = with_coverage(settings(400, length_penalty), coverage_penalty);
            let found = search(&mut table, &unconstrained(1), &settings).unwrap().remove(0);
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
    fn pruning_the_arena_keeps_the_results() {
        let settings = with_max_units(settings(100, 0.7), 60);
        let units = |found: &[Hypothesis]| found.iter().map(|one| one.units.clone()).collect::<Vec<_>>();
        let mut table = TableScorer::new(1, 3);
        // No hypothesis finishes: the beam stays full.
        table.probabilities[0].iter_mut().for_each(|row| row[END as usize] = 0.0);
        let mut beam = Beam::new(0, &unconstrained(1)[0], &settings);
        beam.arena = HypothesisArena::unbounded();
        for _ in 0..60 {
            let (parents, inputs): (Vec<usize>, Vec<u32>) = beam.scorer_input().unzip();
            let predictions = table.step(&parents, &inputs).unwrap();
            beam.extend(&predictions, 0, &mut Unobserved);
        }
        beam.stop();
        let all = beam.arena.len();
        let before = beam.hypotheses(&settings);
        beam.prune();
        let after = beam.hypotheses(&settings);
        assert!(beam.arena.len() < all * 4 / 5, "{} of {all}", beam.arena.len());
        assert_eq!(units(&before), units(&after));
        let mut table = TableScorer::new(1, 3);
        table.probabilities[0].iter_mut().for_each(|row| row[END as usize] = 0.0);
        let found = search(&mut table, &unconstrained(1), &settings).unwrap().remove(0);
        assert_eq!(units(&found), units(&before));
        let three = BeamSearch { best: 3, ..settings };
        assert_eq!(units(&beam.hypotheses(&three)), units(&before)[..3]);
    }

    #[test]
    fn greedy_search_takes_the_most_probable_unit() {
        let mut table = TableScorer::new(1, 7);
        let found = search(&mut table, &unconstrained(1), &settings(1, 1.0)).unwrap().remove(0);
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
    fn results_are_independent_of_the_batch() {
        let alone: Vec<Vec<Hypothesis>> = (0..5)
            .map(|sentence| {
                let mut table = TableScorer::new(5, 3);
                table.rows = vec![sentence];
                search(&mut table, &unconstrained(5)[sentence..=sentence], &settings(3, 1.0)).unwrap().remove(0)
            })
            .collect();
        let together = search(&mut TableScorer::new(5, 3), &unconstrained(5), &settings(3, 1.0)).unwrap();
        for (alone, together) in alone.iter().zip(&together) {
            let flat = |found: &[Hypothesis]| found.iter().map(|h| (h.units.clone(), h.score)).collect::<Vec<_>>();
            assert_eq!(flat(alone), flat(together));
        }
    }

    #[test]
    fn attention_rows_match_their_units() {
        let found = search(&mut TableScorer::new(3, 5), &unconstrained(3), &settings(3, 0.6)).unwrap();
        for hypothesis in found.iter().flatten() {
            let rows = hypothesis.units.len() + usize::from(hypothesis.finished);
            assert_eq!(hypothesis.attention.len(), rows);
            // The table attends to the previous unit: row t + 1 shows unit t.
            for (row, &unit) in hypothesis.attention[1..].iter().zip(&hypothesis.units) {
                assert_eq!(row.iter().position(|&alpha| alpha == 1.0), Some(unit as usize));
            }
            let length = rows as f64;
            assert!((hypothesis.score - hypothesis.log_probability / length.powf(0.6)).abs() < 1e-12);
        }
    }

    #[test]
    fn undefined_scores_give_a_degenerate_hypothesis() {
        let mut table = TableScorer::new(1, 1);
        table.probabilities[0].iter_mut().for_each(|row| row.fill(0.0));
        let found = search(&mut table, &unconstrained(1), &settings(2, 1.0)).unwrap().remove(0);
        assert!(found.len() == 1 && found[0].is_degenerate() && !Hypothesis::empty().is_degenerate());
    }

    #[test]
    fn handles_no_sources_and_a_length_limit_of_one() {
        assert!(search(&mut TableScorer::new(0, 1), &[], &settings(3, 1.0)).unwrap().is_empty());
        let tight = with_max_units(settings(2, 1.0), 1);
        for hypothesis in &search(&mut TableScorer::new(1, 1), &unconstrained(1), &tight).unwrap()[0] {
            assert!(hypothesis.units.len() <= 1);
        }
    }
}
