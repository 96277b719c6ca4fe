//! Beam search in batches.
//!
//! Every sentence has a beam of its own, so that no result depends on what else is in the batch. A hypothesis that ends
//! leaves its beam and makes it narrower; a sentence whose beam is empty leaves the batch.

use candle_core::Result;

use super::{Prediction, Scorer};
use crate::text::{BEGIN, END};

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BeamSettings {
    /// Hypotheses kept alive for each sentence, at least 1; 1 is greedy search.
    pub beam: usize,
    /// Exponent α of the length by which scores are divided: 0 compares plain log-probabilities, 1 their mean.
    pub length_penalty: f64,
    /// β, what it counts that source units were not looked at (Wu et al. 2016, section 7): 0 nothing.
    pub coverage_penalty: f64,
    /// A translation has at most `length_factor` × the source's units …
    pub length_factor: f64,
    /// … and this many more units, `</s>` counted.
    pub length_extra: usize,
    /// Hypotheses that are handed back for each sentence, at most.
    pub best: usize,
}

impl Default for BeamSettings {
    fn default() -> Self {
        Self {
            beam: 5,
            length_penalty: 1.0,
            coverage_penalty: 0.2,
            length_factor: 2.0,
            length_extra: 20,
            best: usize::MAX,
        }
    }
}

impl BeamSettings {
    /// Greedy search.
    pub fn greedy() -> Self {
        Self { beam: 1, ..Self::default() }
    }

    fn longest(&self, source_units: usize) -> usize {
        (source_units as f64 * self.length_factor) as usize + self.length_extra
    }
}

/// A translation that search has found.
#[derive(Clone, Debug)]
pub struct Hypothesis {
    /// Its units, without `</s>`.
    pub units: Vec<u32>,
    /// log p(units | source), in nats, `</s>` included if the hypothesis is finished.
    pub log_probability: f64,
    /// `log_probability / lengthᵅ`, by which hypotheses are ranked.
    pub score: f64,
    /// One attention row for each unit, and one for `</s>` if the hypothesis is finished.
    pub attention: Vec<Vec<f32>>,
    /// Whether it ended by itself; if not, it ran into the length limit.
    pub finished: bool,
}

impl Hypothesis {
    /// The translation of nothing: certain, and empty.
    pub fn empty() -> Self {
        Self { units: Vec::new(), log_probability: 0.0, score: 0.0, attention: Vec::new(), finished: true }
    }

    /// Whether the scorer had nothing to say, not even that nothing should be said: its numbers were none.
    pub fn is_nothing(&self) -> bool {
        self.units.is_empty() && !self.finished
    }
}

/// One step of a hypothesis, which knows the step before it.
struct Node {
    parent: Option<usize>,
    unit: u32,
    log_probability: f64,
    attention: Vec<f32>,
}

/// What is looked at less than this is not worse off.
const LEAST_COVERAGE: f64 = 0.02;

/// Nodes after which those that no hypothesis goes back to are forgotten for the first time.
const MANY_NODES: usize = 1 << 12;

/// The beam of one sentence.
struct Beam {
    nodes: Vec<Node>,
    /// When as many nodes are there, some are forgotten.
    most_nodes: usize,
    /// Rows of the scorer and last nodes of the living hypotheses.
    alive: Vec<(usize, Option<usize>)>,
    /// Last nodes of the hypotheses that are done, and whether each ended by itself.
    done: Vec<(usize, bool)>,
    /// Hypotheses still wanted: the beam's width, which shrinks as hypotheses end.
    width: usize,
    /// Most units of a hypothesis.
    longest: usize,
}

/// Translates as many sentences as `source_units` has entries, each of so many units. Returns up to `settings.beam`
/// hypotheses for each, best first.
///
/// # Errors
/// The scorer's own.
pub fn search(
    scorer: &mut dyn Scorer,
    source_units: &[usize],
    settings: &BeamSettings,
) -> Result<Vec<Vec<Hypothesis>>> {
    let begin = |(row, &units): (usize, &usize)| Beam {
        nodes: Vec::new(),
        most_nodes: MANY_NODES,
        alive: vec![(row, None)],
        done: Vec::new(),
        width: settings.beam,
        longest: settings.longest(units),
    };
    let mut beams: Vec<Beam> = source_units.iter().enumerate().map(begin).collect();
    for length in 1.. {
        let living: Vec<(usize, u32)> = beams.iter().flat_map(Beam::living).collect();
        if living.is_empty() {
            break;
        }
        let (parents, units): (Vec<usize>, Vec<u32>) = living.into_iter().unzip();
        let predictions = scorer.advance(&parents, &units, settings.beam)?;
        let mut first_row = 0;
        for beam in &mut beams {
            let rows = beam.alive.len();
            beam.extend(&predictions[first_row..first_row + rows], first_row);
            first_row += rows;
            if length >= beam.longest {
                beam.cut();
            }
        }
    }
    Ok(beams.iter().map(|beam| beam.hypotheses(settings)).collect())
}

impl Beam {
    /// The scorer's row and the last unit of each living hypothesis.
    fn living(&self) -> impl Iterator<Item = (usize, u32)> {
        self.alive.iter().map(|&(row, node)| (row, node.map_or(BEGIN, |node| self.nodes[node].unit)))
    }

    /// Replaces the living hypotheses by the best of those that are one unit longer. `predictions` has one entry for
    /// each of them; the scorer's rows of these are counted from `first_row`.
    fn extend(&mut self, predictions: &[Prediction], first_row: usize) {
        let mut extensions: Vec<(f64, usize, u32)> = Vec::new();
        for (index, (prediction, &(_, node))) in predictions.iter().zip(&self.alive).enumerate() {
            let so_far = node.map_or(0.0, |node| self.nodes[node].log_probability);
            for candidate in &prediction.candidates {
                extensions.push((so_far + f64::from(candidate.log_probability), index, candidate.unit));
            }
        }
        extensions.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
        extensions.truncate(self.width);
        let parents = std::mem::take(&mut self.alive);
        for (log_probability, index, unit) in extensions {
            let node = self.nodes.len();
            let attention = predictions[index].attention.clone();
            self.nodes.push(Node { parent: parents[index].1, unit, log_probability, attention });
            if unit == END {
                self.done.push((node, true));
                self.width -= 1;
            } else {
                self.alive.push((first_row + index, Some(node)));
            }
        }
        if self.nodes.len() >= self.most_nodes {
            self.forget();
            self.most_nodes = MANY_NODES.max(2 * self.nodes.len());
        }
    }

    /// Forgets the nodes that no hypothesis goes back to: in a wide beam nearly all.
    fn forget(&mut self) {
        let mut kept = vec![false; self.nodes.len()];
        for last in self.alive.iter().filter_map(|&(_, node)| node).chain(self.done.iter().map(|&(node, _)| node)) {
            let mut next = Some(last);
            while let Some(node) = next.filter(|&node| !std::mem::replace(&mut kept[node], true)) {
                next = self.nodes[node].parent;
            }
        }
        // Parents stand before their children.
        let mut places = vec![0; kept.len()];
        let mut nodes: Vec<Node> = Vec::new();
        for (index, node) in std::mem::take(&mut self.nodes).into_iter().enumerate().filter(|&(index, _)| kept[index]) {
            places[index] = nodes.len();
            nodes.push(Node { parent: node.parent.map(|parent| places[parent]), ..node });
        }
        self.nodes = nodes;
        self.alive.iter_mut().filter_map(|(_, node)| node.as_mut()).for_each(|node| *node = places[*node]);
        self.done.iter_mut().for_each(|(node, _)| *node = places[*node]);
    }

    /// Ends the living hypotheses where they are.
    fn cut(&mut self) {
        self.done.extend(self.alive.drain(..).filter_map(|(_, node)| Some((node?, false))));
    }

    /// The hypotheses that are done, those that ended by themselves first, best first. At least one: where the scorer
    /// had nothing to say (its numbers were none), it is empty and unfinished.
    fn hypotheses(&self, settings: &BeamSettings) -> Vec<Hypothesis> {
        let mut done: Vec<(f64, usize, bool)> =
            self.done.iter().map(|&(node, finished)| (self.score(node, settings), node, finished)).collect();
        done.sort_by(|a, b| b.2.cmp(&a.2).then(b.0.total_cmp(&a.0)));
        done.truncate(settings.best.max(1));
        if done.is_empty() {
            return vec![Hypothesis { finished: false, ..Hypothesis::empty() }];
        }
        done.into_iter().map(|(score, node, finished)| self.hypothesis(score, node, finished)).collect()
    }

    /// What the hypothesis that ends with a node is ranked by: `(log p + β Σ_j ln min(1, Σ_t α_tj)) / lengthᵅ`.
    fn score(&self, last: usize, settings: &BeamSettings) -> f64 {
        let steps = || std::iter::successors(Some(last), |&node| self.nodes[node].parent);
        let length = steps().count() as f64;
        let mut coverage = vec![LEAST_COVERAGE; self.nodes[last].attention.len()];
        for node in steps() {
            coverage.iter_mut().zip(&self.nodes[node].attention).for_each(|(sum, &alpha)| *sum += f64::from(alpha));
        }
        let uncovered: f64 = coverage.iter().map(|sum| sum.min(1.0).ln()).sum();
        (self.nodes[last].log_probability + settings.coverage_penalty * uncovered)
            / length.powf(settings.length_penalty)
    }

    /// Follows the back-pointers from a last node to the first.
    fn hypothesis(&self, score: f64, last: usize, finished: bool) -> Hypothesis {
        let (mut units, mut attention) = (Vec::new(), Vec::new());
        let mut next = Some(last);
        while let Some(node) = next.map(|node| &self.nodes[node]) {
            units.push(node.unit);
            attention.push(node.attention.clone());
            next = node.parent;
        }
        units.reverse();
        attention.reverse();
        let log_probability = self.nodes[last].log_probability;
        if finished {
            units.pop();
        }
        Hypothesis { units, log_probability, score, attention, finished }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Candidate;
    use super::*;

    /// A bigram table over units 4.. and `</s>`: log p(next | last), the same for every sentence but for a preference.
    struct Table {
        /// For each row, its sentence.
        rows: Vec<usize>,
        /// `[sentence][last][next]`
        probabilities: Vec<Vec<Vec<f64>>>,
        rows_scored: usize,
    }

    impl Table {
        fn new(sentences: usize, seed: u64) -> Self {
            let mut stream = crate::random::Stream::new(seed, "table", 0);
            let mut row = |end: f64| -> Vec<f64> {
                let mut row: Vec<f64> =
                    (0..8).map(|unit| if unit < 2 || unit == 3 { 0.0 } else { stream.uniform() }).collect();
                row[END as usize] *= end;
                let sum: f64 = row.iter().sum();
                row.iter().map(|p| p / sum).collect()
            };
            let probabilities = (0..sentences).map(|_| (0..8).map(|_| row(0.5)).collect()).collect();
            Self { rows: (0..sentences).collect(), probabilities, rows_scored: 0 }
        }
    }

    impl Scorer for Table {
        fn advance(&mut self, parents: &[usize], units: &[u32], width: usize) -> Result<Vec<Prediction>> {
            self.rows = parents.iter().map(|&parent| self.rows[parent]).collect();
            self.rows_scored += parents.len();
            let predict = |(&sentence, &unit): (&usize, &u32)| {
                let row = &self.probabilities[sentence][unit as usize];
                let mut candidates: Vec<Candidate> = (0u32..)
                    .zip(row)
                    .filter(|(_, p)| **p > 0.0)
                    .map(|(unit, p)| Candidate { unit, log_probability: p.ln() as f32 })
                    .collect();
                candidates.sort_by(|a, b| b.log_probability.total_cmp(&a.log_probability));
                candidates.truncate(width);
                // All on the position that is the unit taken in.
                let attention = (0..8).map(|position| f32::from(u8::from(position == unit))).collect();
                Prediction { candidates, attention }
            };
            Ok(self.rows.iter().zip(units).map(predict).collect())
        }
    }

    fn settings(beam: usize, length_penalty: f64) -> BeamSettings {
        BeamSettings {
            beam,
            length_penalty,
            coverage_penalty: 0.0,
            length_factor: 0.0,
            length_extra: 4,
            best: usize::MAX,
        }
    }

    /// log p of a finished sequence, by the table itself.
    fn log_probability(table: &Table, sentence: usize, units: &[u32]) -> f64 {
        let mut last = BEGIN;
        let mut sum = 0.0;
        for &unit in units.iter().chain([&END]) {
            sum += table.probabilities[sentence][last as usize][unit as usize].ln();
            last = unit;
        }
        sum
    }

    /// All sequences of up to three of the four words.
    fn every_sequence() -> Vec<Vec<u32>> {
        let mut all: Vec<Vec<u32>> = vec![vec![]];
        for length in 0..3 {
            let longer: Vec<Vec<u32>> = all
                .iter()
                .filter(|units| units.len() == length)
                .flat_map(|units| (4..8).map(move |unit| [units.as_slice(), &[unit]].concat()))
                .collect();
            all.extend(longer);
        }
        all
    }

    #[test]
    fn a_wide_beam_finds_what_trying_everything_finds() {
        // What the table attends to is the words taken in, so that those that were not said are not covered.
        let uncovered = |units: &[u32]| {
            let covered: std::collections::HashSet<u32> = units.iter().copied().chain([BEGIN]).collect();
            (8 - covered.len()) as f64 * LEAST_COVERAGE.ln()
        };
        for (seed, coverage_penalty, length_penalty) in (0..20).flat_map(|seed| [(seed, 0.0, 0.0), (seed, 0.3, 0.7)]) {
            let mut table = Table::new(1, seed);
            let settings = BeamSettings { coverage_penalty, ..settings(400, length_penalty) };
            let found = search(&mut table, &[0], &settings).unwrap().remove(0);
            let score = |units: &[u32]| {
                let sum = log_probability(&table, 0, units) + coverage_penalty * uncovered(units);
                sum / (units.len() as f64 + 1.0).powf(length_penalty)
            };
            let mut all = every_sequence();
            all.sort_by(|a, b| score(b).total_cmp(&score(a)));
            for (found, units) in found.iter().zip(&all[..2]) {
                assert_eq!(&found.units, units);
                assert!((found.score - score(units)).abs() < 1e-5);
                assert!((found.log_probability - log_probability(&table, 0, units)).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn what_no_hypothesis_goes_back_to_is_forgotten_without_a_trace() {
        let settings = BeamSettings { length_extra: 60, ..settings(100, 0.7) };
        let units = |found: &[Hypothesis]| found.iter().map(|one| one.units.clone()).collect::<Vec<_>>();
        let mut table = Table::new(1, 3);
        // Nothing ends, so that all of the beam lives on.
        table.probabilities[0].iter_mut().for_each(|row| row[END as usize] = 0.0);
        let mut beam = Beam {
            nodes: Vec::new(),
            most_nodes: usize::MAX,
            alive: vec![(0, None)],
            done: Vec::new(),
            width: settings.beam,
            longest: 60,
        };
        for _ in 0..60 {
            let (parents, taken): (Vec<usize>, Vec<u32>) = beam.living().unzip();
            let predictions = table.advance(&parents, &taken, settings.beam).unwrap();
            beam.extend(&predictions, 0);
        }
        beam.cut();
        let all = beam.nodes.len();
        let before = beam.hypotheses(&settings);
        beam.forget();
        let after = beam.hypotheses(&settings);
        assert!(beam.nodes.len() < all * 4 / 5, "{} of {all}", beam.nodes.len());
        assert_eq!(units(&before), units(&after));
        let mut table = Table::new(1, 3);
        table.probabilities[0].iter_mut().for_each(|row| row[END as usize] = 0.0);
        let found = search(&mut table, &[0], &settings).unwrap().remove(0);
        assert_eq!(units(&found), units(&before));
        let three = BeamSettings { best: 3, ..settings };
        assert_eq!(units(&beam.hypotheses(&three)), units(&before)[..3]);
    }

    #[test]
    fn greedy_takes_the_best_unit_each_time() {
        let mut table = Table::new(1, 7);
        let found = search(&mut table, &[0], &settings(1, 1.0)).unwrap().remove(0);
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
                let mut table = Table::new(5, 3);
                table.rows = vec![sentence];
                search(&mut table, &[sentence], &settings(3, 1.0)).unwrap().remove(0)
            })
            .collect();
        let together = search(&mut Table::new(5, 3), &[0, 1, 2, 3, 4], &settings(3, 1.0)).unwrap();
        for (alone, together) in alone.iter().zip(&together) {
            let flat = |found: &[Hypothesis]| found.iter().map(|h| (h.units.clone(), h.score)).collect::<Vec<_>>();
            assert_eq!(flat(alone), flat(together));
        }
    }

    #[test]
    fn attention_rows_belong_to_their_units() {
        let found = search(&mut Table::new(3, 5), &[0; 3], &settings(3, 0.6)).unwrap();
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
        let mut table = Table::new(1, 1);
        table.probabilities[0].iter_mut().for_each(|row| row.fill(0.0));
        let found = search(&mut table, &[3], &settings(2, 1.0)).unwrap().remove(0);
        assert!(found.len() == 1 && found[0].is_nothing() && !Hypothesis::empty().is_nothing());
    }

    #[test]
    fn nothing_to_translate_and_no_room() {
        assert!(search(&mut Table::new(0, 1), &[], &settings(3, 1.0)).unwrap().is_empty());
        let tight = BeamSettings { length_extra: 1, ..settings(2, 1.0) };
        for hypothesis in &search(&mut Table::new(1, 1), &[0], &tight).unwrap()[0] {
            assert!(hypothesis.units.len() <= 1);
        }
    }
}
