//! Batched beam search.
//!
//! Each sentence has its own beam, so results do not depend on the batch. A finished hypothesis leaves the beam and
//! narrows it by one.
//!
//! A beam alone can end with a worse score than greedy search: better beginnings push the greedy hypothesis out, or short
//! hypotheses close the beam. So greedy search runs beside it, on rows of the beam as long as these are the same, and the
//! best hypothesis of both is returned.
//!
//! With required phrases, the beam is widened by the number of their tokens and divided among banks, one for each number
//! of tokens produced: dynamic beam allocation (Post & Vilar 2018, section 4).

use std::cmp::Ordering;

use candle_core::Result;

use super::hypothesis_arena::{HypothesisArena, HypothesisStep};
use super::observer::{KeptExtension, SearchObserver, Unobserved};
use super::{
    BeamOptions, Cancellation, ConstraintState, DecodingConstraints, Distribution, ExpectedLength, Hypothesis,
    HypothesisScoring, Predictions, Scorer, TokenCandidate,
};
use crate::text::{BEGIN, END};

/// Source of one search.
#[derive(Clone, Copy)]
pub struct SearchInput<'a> {
    /// Index of the sentence, part of the seed of sampling.
    pub seed_index: u64,
    /// Number of source tokens with `</s>`, which bounds the length of the translation.
    pub source_tokens: usize,
    /// Constraints on the translation.
    pub constraints: &'a DecodingConstraints,
    /// Expected length of the translation, if it is known.
    pub expected_length: Option<&'a ExpectedLength>,
    /// Cancels the search of this source.
    pub cancellation: Option<&'a Cancellation>,
}

/// Index of the search with the requested width.
const WIDE: usize = 0;
/// Index of greedy search.
const GREEDY: usize = 1;

/// Beam of one sentence. Hypotheses are indices of their last steps in the arena.
struct Beam<'a> {
    constraints: &'a DecodingConstraints,
    expected_length: Option<&'a ExpectedLength>,
    cancellation: Option<&'a Cancellation>,
    settings: &'a BeamOptions,
    arena: HypothesisArena,
    live: Vec<LiveHypothesis>,
    complete: Vec<CompleteHypothesis>,
    /// Highest score of a finished hypothesis that meets the constraints.
    best_score: f64,
    /// Width of each search, less its finished hypotheses.
    widths: [usize; 2],
    max_tokens: usize,
}

/// Hypothesis that goes on.
struct LiveHypothesis {
    /// Row of the scorer.
    row: usize,
    /// Last step; `None` is the empty hypothesis.
    last: Option<usize>,
    /// Searches that keep it.
    kept_by: [bool; 2],
}

/// Hypothesis that has ended.
#[derive(Clone, Copy, PartialEq, Eq)]
struct CompleteHypothesis {
    /// Last step.
    last: usize,
    /// True if it ends with `</s>`; otherwise search stopped it.
    finished: bool,
}

/// Complete hypothesis with its rank among others.
struct RankedHypothesis {
    complete: CompleteHypothesis,
    /// Number of required phrases other than terms that it lacks.
    unmet_requirements: usize,
    score: f64,
}

/// Live hypothesis that a search extends.
struct Parent<'p> {
    /// Index of the live hypothesis.
    index: usize,
    /// Search that extends it.
    search: usize,
    log_probability: f64,
    next: Distribution<'p>,
    /// Attention weights of the next token.
    attention: &'p [f32],
}

/// Live hypothesis extended by one token.
#[derive(Clone)]
struct Extension {
    log_probability: f64,
    state: ConstraintState,
    /// Index of the live hypothesis.
    parent: usize,
    token: u32,
    /// Tokens of required phrases produced.
    bank: usize,
    /// True if its last word can become an avoided one.
    leads_to_avoided: bool,
    /// Searches that keep it.
    kept_by: [bool; 2],
}

impl RankedHypothesis {
    /// Orders finished hypotheses first, then those with fewer unmet requirements, then by descending score.
    fn better_first(&self, other: &Self) -> Ordering {
        let finished_first = other.complete.finished.cmp(&self.complete.finished);
        finished_first
            .then(self.unmet_requirements.cmp(&other.unmet_requirements))
            .then(other.score.total_cmp(&self.score))
    }
}

impl Extension {
    fn sum(&self) -> f64 {
        self.log_probability + self.state.placement_penalty
    }

    /// Orders by descending score; ties by parent, then token.
    fn better_first(&self, other: &Self) -> Ordering {
        other.sum().total_cmp(&self.sum()).then(self.parent.cmp(&other.parent)).then(self.token.cmp(&other.token))
    }
}

/// Beam search over sentences, each with one row of the scorer. Returns up to `settings.best` hypotheses per sentence:
/// finished ones first, then those with fewer unmet constraints, then by score.
///
/// # Errors
/// The scorer fails.
pub fn search(
    scorer: &mut dyn Scorer,
    sources: &[SearchInput],
    settings: &BeamOptions,
) -> Result<Vec<Vec<Hypothesis>>> {
    search_observed(scorer, sources, settings, &mut Unobserved)
}

/// As [`search`]. `observer` sees the hypotheses of all sentences, in order.
///
/// # Errors
/// As [`search`].
pub(super) fn search_observed(
    scorer: &mut dyn Scorer,
    sources: &[SearchInput],
    settings: &BeamOptions,
    observer: &mut impl SearchObserver,
) -> Result<Vec<Vec<Hypothesis>>> {
    let mut beams: Vec<Beam> =
        sources.iter().enumerate().map(|(row, source)| Beam::new(row, source, settings)).collect();
    for length in 1.. {
        beams.iter_mut().filter(|beam| is_cancelled(beam.cancellation)).for_each(Beam::abandon);
        let (parents, tokens): (Vec<usize>, Vec<u32>) = beams.iter().flat_map(Beam::scorer_input).unzip();
        if parents.is_empty() {
            break;
        }
        let predictions = scorer.step(&parents, &tokens)?;
        observer.on_predictions(&predictions);
        let mut first_row = 0;
        for beam in &mut beams {
            let rows = beam.live.len();
            beam.extend(&predictions, first_row, observer);
            first_row += rows;
            if length >= beam.max_tokens {
                [WIDE, GREEDY].into_iter().for_each(|search| beam.stop(search));
                beam.live.clear();
            }
        }
        observer.on_step();
    }
    Ok(beams.iter().map(Beam::hypotheses).collect())
}

pub(super) fn is_cancelled(cancellation: Option<&Cancellation>) -> bool {
    cancellation.is_some_and(Cancellation::is_cancelled)
}

impl<'a> Beam<'a> {
    fn new(row: usize, source: &SearchInput<'a>, settings: &'a BeamOptions) -> Self {
        let has_greedy = settings.beam > 1;
        let required = source.constraints.required_tokens();
        Self {
            constraints: source.constraints,
            expected_length: source.expected_length,
            cancellation: source.cancellation,
            settings,
            arena: HypothesisArena::default(),
            live: vec![LiveHypothesis { row, last: None, kept_by: [true, has_greedy] }],
            complete: Vec::new(),
            best_score: f64::NEG_INFINITY,
            widths: [settings.beam + required, 1 + required],
            max_tokens: settings.limits.max_tokens(source.source_tokens) + source.constraints.max_extra_tokens(),
        }
    }

    /// Rows and last tokens of the live hypotheses.
    fn scorer_input(&self) -> impl Iterator<Item = (usize, u32)> {
        self.live.iter().map(|one| (one.row, one.last.map_or(BEGIN, |last| self.arena.step(last).token)))
    }

    /// Replaces the live hypotheses, whose predictions begin at `first_row`, by their best extensions: those of the wide
    /// search and then those that only greedy search keeps.
    fn extend(&mut self, predictions: &Predictions, first_row: usize, observer: &mut impl SearchObserver) {
        let mut kept = self.best_extensions(WIDE, predictions, first_row);
        for extension in self.best_extensions(GREEDY, predictions, first_row) {
            match kept.iter_mut().find(|one| (one.parent, one.token) == (extension.parent, extension.token)) {
                Some(one) => one.kept_by[GREEDY] = true,
                None => kept.push(extension),
            }
        }
        let parents = std::mem::take(&mut self.live);
        let mut extended = Vec::with_capacity(kept.len());
        for Extension { log_probability, state, parent: index, token, kept_by, .. } in kept {
            let (row, parent) = (first_row + index, parents[index].last);
            let attention = predictions.attention[row].clone();
            let step = self.arena.push(HypothesisStep { parent, token, log_probability, attention, state });
            if token == END {
                self.finish(step, kept_by);
            }
            let extension = KeptExtension { row, token, log_probability, goes_on: token != END };
            extended.push((extension, LiveHypothesis { row, last: Some(step), kept_by }));
        }
        for (mut extension, mut hypothesis) in extended {
            extension.goes_on &= self.is_promising(&mut hypothesis);
            observer.on_extension(&extension);
            if extension.goes_on {
                self.live.push(hypothesis);
            }
        }
        if self.arena.is_full() {
            self.prune();
        }
    }

    /// Returns the extensions that one search keeps, best first. If the constraints allow none, the search stops.
    fn best_extensions(&mut self, search: usize, predictions: &Predictions, first_row: usize) -> Vec<Extension> {
        let mut extensions = self.extensions(search, predictions, first_row, true);
        if extensions.is_empty() && !self.is_unconstrained() {
            extensions = self.extensions(search, predictions, first_row, false);
        }
        if extensions.is_empty() && !self.is_unconstrained() {
            self.stop(search);
        }
        extensions.sort_unstable_by(Extension::better_first);
        self.select(search, extensions)
    }

    /// Selects the extensions that survive. Those that lead to avoided words compete among themselves, since they are
    /// probable and may yet die.
    fn select(&self, search: usize, extensions: Vec<Extension>) -> Vec<Extension> {
        let (width, last_bank) = (self.widths[search], self.constraints.required_tokens());
        let (doubtful, others) = extensions.into_iter().partition(|extension| extension.leads_to_avoided);
        let mut selected = allocate(others, width, last_bank);
        selected.extend(allocate(doubtful, width, last_bank));
        selected
    }

    /// Completes a hypothesis that ends with `</s>`.
    fn finish(&mut self, step: usize, kept_by: [bool; 2]) {
        self.complete.push(CompleteHypothesis { last: step, finished: true });
        for (width, kept) in self.widths.iter_mut().zip(kept_by) {
            *width = width.saturating_sub(usize::from(kept));
        }
        if self.constraints.unmet_requirements(&self.arena.step(step).state) == 0 {
            self.best_score = self.best_score.max(self.score(step));
        }
    }

    /// True if a search that has not finished keeps the hypothesis. Greedy search alone keeps it only if it can become the best.
    fn is_promising(&self, hypothesis: &mut LiveHypothesis) -> bool {
        for (kept, width) in hypothesis.kept_by.iter_mut().zip(self.widths) {
            *kept &= width > 0;
        }
        hypothesis.kept_by[WIDE] || (hypothesis.kept_by[GREEDY] && self.can_become_best(hypothesis))
    }

    /// False if no continuation of a live hypothesis scores above [`Self::best_score`].
    fn can_become_best(&self, hypothesis: &LiveHypothesis) -> bool {
        let Some(last) = hypothesis.last else { return true };
        let HypothesisScoring { length_formula, length_penalty, .. } = self.settings.scoring;
        // The log-probability falls with each token, penalties are at most 0, and the formulas are monotonic in length.
        let next = self.arena.ancestors(Some(last)).count() + 1;
        let sum = self.arena.step(last).log_probability;
        [next, self.max_tokens]
            .iter()
            .any(|&length| length_formula.apply(sum, length as f64, length_penalty) > self.best_score)
    }

    fn prune(&mut self) {
        let live = self.live.iter_mut().filter_map(|one| one.last.as_mut());
        self.arena.prune(live.chain(self.complete.iter_mut().map(|complete| &mut complete.last)));
    }

    /// Extensions of the live hypotheses of a search, among them the best ones; with `only_agreeing`, those that agree with
    /// the model.
    fn extensions(
        &self,
        search: usize,
        predictions: &Predictions,
        first_row: usize,
        only_agreeing: bool,
    ) -> Vec<Extension> {
        let mut extensions: Vec<Extension> = Vec::new();
        let width = self.widths[search];
        // Score of the worst extension that can still enter the beam.
        let mut floor = f64::NEG_INFINITY;
        for (index, hypothesis) in self.live.iter().enumerate().filter(|(_, hypothesis)| hypothesis.kept_by[search]) {
            let row = first_row + index;
            let log_probability = hypothesis.last.map_or(0.0, |last| self.arena.step(last).log_probability);
            let (next, attention) = (predictions.row(row), &predictions.attention[row][..]);
            let parent = Parent { index, search, log_probability, next, attention };
            if !self.is_unconstrained() {
                extensions.extend(self.constrained_extensions(&parent, only_agreeing));
                continue;
            }
            for candidate in parent.next.best_above(width, floor - log_probability) {
                extensions.push(self.extension(&parent, candidate, ConstraintState::default(), false));
            }
            if extensions.len() >= 2 * width {
                extensions.select_nth_unstable_by(width - 1, Extension::better_first);
                extensions.truncate(width);
                floor = extensions[width - 1].sum();
            }
        }
        extensions
    }

    /// Extensions of a live hypothesis under constraints: the best ones, and those that advance required phrases. Those that
    /// lead to avoided words are chosen apart.
    fn constrained_extensions(&self, parent: &Parent, only_agreeing: bool) -> Vec<Extension> {
        let last = self.live[parent.index].last;
        let state = self.state(last);
        let reversed = self.arena.ancestors(last).map(|step| step.token);
        let mask = self.constraints.token_mask(&state, reversed, parent.next, &self.settings.limits);
        let mut candidates: Vec<TokenCandidate> = Vec::new();
        for leads_to_avoided in [false, true] {
            candidates.extend(parent.next.best(self.widths[parent.search], &|token| {
                mask.leads_to_avoided(token) == leads_to_avoided
                    && mask.allows(token)
                    && (!only_agreeing || mask.agrees_with_model(token))
            }));
        }
        let best = candidates.len();
        for token in mask.proposals() {
            if candidates[..best].iter().all(|candidate| candidate.token != token) {
                candidates.push(parent.next.candidate(token));
            }
        }
        let mut extensions = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            let state = mask.advance(candidate.token, parent.attention);
            extensions.push(self.extension(parent, candidate, state, mask.leads_to_avoided(candidate.token)));
        }
        extensions
    }

    fn extension(
        &self,
        parent: &Parent,
        candidate: TokenCandidate,
        state: ConstraintState,
        leads_to_avoided: bool,
    ) -> Extension {
        Extension {
            log_probability: parent.log_probability + f64::from(candidate.log_probability),
            bank: self.constraints.bank(&state),
            state,
            parent: parent.index,
            token: candidate.token,
            leads_to_avoided,
            kept_by: [parent.search == WIDE, parent.search == GREEDY],
        }
    }

    fn is_unconstrained(&self) -> bool {
        self.constraints.is_empty() && !self.settings.limits.restrict_tokens()
    }

    fn state(&self, last: Option<usize>) -> ConstraintState {
        last.map_or_else(ConstraintState::default, |last| self.arena.step(last).state.clone())
    }

    /// Completes the live hypotheses of a search without `</s>`.
    fn stop(&mut self, search: usize) {
        for last in self.live.iter().filter(|one| one.kept_by[search]).filter_map(|one| one.last) {
            let stopped = CompleteHypothesis { last, finished: false };
            if !self.complete.contains(&stopped) {
                self.complete.push(stopped);
            }
        }
    }

    /// Score of a complete hypothesis.
    fn score(&self, last: usize) -> f64 {
        let penalty = self.constraints.term_penalty(&self.arena.step(last).state);
        let tokens = self.arena.ancestors(Some(last)).map(|step| step.token);
        let brevity = self.settings.scoring.brevity(tokens, self.expected_length);
        self.arena.score(last, penalty, &self.settings.scoring) - brevity
    }

    /// Drops all hypotheses.
    fn abandon(&mut self) {
        self.live.clear();
        self.complete.clear();
    }

    /// Complete hypotheses, best first. If there is none, since no prediction was a number or the search was
    /// cancelled, returns one that is degenerate.
    fn hypotheses(&self) -> Vec<Hypothesis> {
        let mut ranked: Vec<RankedHypothesis> = Vec::with_capacity(self.complete.len());
        for &complete in &self.complete {
            let unmet_requirements = self.constraints.unmet_requirements(&self.arena.step(complete.last).state);
            ranked.push(RankedHypothesis { complete, unmet_requirements, score: self.score(complete.last) });
        }
        ranked.sort_by(RankedHypothesis::better_first);
        ranked.truncate(self.settings.best.max(1));
        if ranked.is_empty() {
            return vec![Hypothesis { finished: false, ..Hypothesis::empty() }];
        }
        let mut hypotheses = Vec::with_capacity(ranked.len());
        for RankedHypothesis { complete: CompleteHypothesis { last, finished }, score, .. } in ranked {
            let unmet_phrases = self.constraints.unmet_phrases(&self.arena.step(last).state).collect();
            hypotheses.push(self.arena.hypothesis(last, finished, unmet_phrases, score));
        }
        hypotheses
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
    use super::super::LengthLimits;
    use super::super::table_scorer::{TableScorer, every_sequence, unconstrained};
    use super::*;

    fn settings(beam: usize, length_penalty: f64) -> BeamOptions {
        BeamOptions {
            beam,
            scoring: HypothesisScoring { length_penalty, coverage_penalty: 0.0, ..HypothesisScoring::default() },
            limits: LengthLimits { length_factor: 0.0, length_extra: 4, no_repeat: None },
            best: usize::MAX,
        }
    }

    fn with_coverage(settings: BeamOptions, coverage_penalty: f64) -> BeamOptions {
        BeamOptions { scoring: HypothesisScoring { coverage_penalty, ..settings.scoring }, ..settings }
    }

    fn with_max_tokens(settings: BeamOptions, length_extra: usize) -> BeamOptions {
        BeamOptions { limits: LengthLimits { length_extra, ..settings.limits }, ..settings }
    }

    fn tokens_of(found: &[Hypothesis]) -> Vec<Vec<u32>> {
        found.iter().map(|one| one.tokens.clone()).collect()
    }

    /// Score of a finished sequence. The table attends to the previous token.
    fn score(table: &TableScorer, tokens: &[u32], scoring: &HypothesisScoring) -> f64 {
        let covered: std::collections::HashSet<u32> = tokens.iter().copied().chain([BEGIN]).collect();
        let uncovered = (8 - covered.len()) as f64 * 0.02f64.ln();
        let sum = table.log_probability(0, tokens) + scoring.coverage_penalty * uncovered;
        sum / (tokens.len() as f64 + 1.0).powf(scoring.length_penalty)
    }

    #[test]
    fn wide_beam_agrees_with_exhaustive_search() {
        for (seed, coverage_penalty, length_penalty) in (0..20).flat_map(|seed| [(seed, 0.0, 0.0), (seed, 0.3, 0.7)]) {
            let mut table = TableScorer::new(1, seed);
            let settings = with_coverage(settings(400, length_penalty), coverage_penalty);
            let found = search(&mut table, &unconstrained(1), &settings).unwrap().remove(0);
            let scoring = &settings.scoring;
            let mut all = every_sequence(3);
            all.sort_by(|a, b| score(&table, b, scoring).total_cmp(&score(&table, a, scoring)));
            assert!(found.len() >= 2);
            for (found, tokens) in found.iter().zip(&all[..2]) {
                assert_eq!(&found.tokens, tokens);
                assert!((found.score - score(&table, tokens, scoring)).abs() < 1e-5);
                assert!((found.log_probability - table.log_probability(0, tokens)).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn pruning_the_arena_keeps_the_results() {
        let settings = with_max_tokens(settings(100, 0.7), 60);
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
        beam.stop(WIDE);
        let all = beam.arena.len();
        let before = beam.hypotheses();
        beam.prune();
        let after = beam.hypotheses();
        assert!(beam.arena.len() < all * 4 / 5, "{} of {all}", beam.arena.len());
        assert_eq!(tokens_of(&before), tokens_of(&after));
        let mut table = TableScorer::new(1, 3);
        table.probabilities[0].iter_mut().for_each(|row| row[END as usize] = 0.0);
        let found = search(&mut table, &unconstrained(1), &settings).unwrap().remove(0);
        assert_eq!(tokens_of(&found), tokens_of(&before));
        let three = BeamOptions { best: 3, ..settings };
        beam.settings = &three;
        assert_eq!(tokens_of(&beam.hypotheses()), tokens_of(&before)[..3]);
    }

    #[test]
    fn greedy_search_takes_the_most_probable_token() {
        let mut table = TableScorer::new(1, 7);
        let found = search(&mut table, &unconstrained(1), &settings(1, 1.0)).unwrap().remove(0);
        let mut last = BEGIN as usize;
        let mut tokens = Vec::new();
        while tokens.len() < 4 {
            let row = &table.probabilities[0][last];
            let best = (0..8).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap();
            if best == END as usize {
                break;
            }
            tokens.push(best as u32);
            last = best;
        }
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].tokens, tokens);
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
        assert_eq!(alone.len(), together.len());
        for (alone, together) in alone.iter().zip(&together) {
            assert_eq!(tokens_of(alone), tokens_of(together));
            assert!(alone.iter().map(|one| one.score).eq(together.iter().map(|one| one.score)));
        }
    }

    #[test]
    fn attention_rows_match_their_tokens() {
        let found = search(&mut TableScorer::new(3, 5), &unconstrained(3), &settings(3, 0.6)).unwrap();
        for hypothesis in found.iter().flatten() {
            let rows = hypothesis.tokens.len() + usize::from(hypothesis.finished);
            assert_eq!(hypothesis.attention.len(), rows);
            // The table attends to the previous token: row t + 1 shows token t.
            for (row, &token) in hypothesis.attention[1..].iter().zip(&hypothesis.tokens) {
                assert_eq!(row.iter().position(|&alpha| alpha == 1.0), Some(token as usize));
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
        let tight = with_max_tokens(settings(2, 1.0), 1);
        for hypothesis in &search(&mut TableScorer::new(1, 1), &unconstrained(1), &tight).unwrap()[0] {
            assert!(hypothesis.tokens.len() <= 1);
        }
    }
}
