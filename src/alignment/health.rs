//! How attention fares over many sentence pairs: sharp or flat, where it lies, and whether it has collapsed.
//!
//! With too few pairs a decoder often learns to do without its attention, which then stays flat, or rests on the
//! source's end or on one unit whatever is being written. Translations get worse only slowly, and alignments say
//! nothing.

use serde::Serialize;

use super::Alignment;
use crate::text::is_punctuation;

/// The mark that stands for a space in a unit.
const SPACE: char = '▁';
/// Units that both sides of a pair must have for its attention to be called collapsed: in shorter ones there is little
/// to choose from.
const FEWEST_UNITS: usize = 3;
/// Normalised entropy above which rows are flat.
const FLAT: f64 = 0.9;
/// Share of a pair's weight above which attention rests on one column.
const ONE_COLUMN: f64 = 0.8;

/// How attention has collapsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Collapse {
    /// Every unit gets about as much as any other.
    Flat,
    /// All target units look at the source's end.
    End,
    /// All target units look at one and the same source unit.
    Column,
}

/// Attention over a set of alignments by the model's units. Rows are target units, `</s>` not among them; columns are
/// source units and the source's end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AttentionHealth {
    /// How even rows are; none where attention is all or nothing.
    #[serde(flatten)]
    pub evenness: Option<Evenness>,
    /// Share of all weight that lies on the source's end.
    pub end: f64,
    /// Share of all weight that lies on punctuation: units of punctuation and symbols alone, the mark of a space aside.
    pub punctuation: f64,
    /// Share of the source units that are punctuation, for comparison.
    pub punctuation_units: f64,
    /// Correlation of the relative positions (t + ½) / T and (s + ½) / S, each pair of units weighing its attention: 1
    /// is the diagonal, 0 no order, −1 the order turned round.
    pub diagonality: f64,
    /// Share of the source units that get, summed over their pair's rows, at least half of what each column of a flat
    /// matrix gets, T / (S + 1).
    pub coverage: f64,
    /// Share of a pair's weight that lies on its heaviest column, as the mean over pairs with at least 3 units on both
    /// sides.
    pub heaviest_column: f64,
    /// How it has collapsed, if it has and most pairs have at least 3 units on both sides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collapse: Option<Collapse>,
}

/// How even attention's rows are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Evenness {
    /// −Σ_s α_ts ln α_ts over a row's columns, in nats, as the mean over all rows.
    pub entropy: f64,
    /// A row's entropy divided by the logarithm of its columns, as the mean over all rows: 0 is sharp, 1 is flat.
    pub normalised_entropy: f64,
}

/// Sums over a set of alignments.
#[derive(Clone, Debug, Default)]
pub struct AttentionTotals {
    pairs: usize,
    rows: usize,
    source_units: usize,
    punctuation_units: usize,
    covered_units: usize,
    entropy: f64,
    normalised_entropy: f64,
    end: f64,
    punctuation: f64,
    /// Pairs with [`FEWEST_UNITS`] on both sides, and the shares of their heaviest columns.
    long_pairs: usize,
    heaviest_column: f64,
    positions: WeightedPositions,
}

/// Weighted sums of source positions x and target positions y.
#[derive(Clone, Copy, Debug, Default)]
struct WeightedPositions {
    weight: f64,
    x: f64,
    y: f64,
    xx: f64,
    yy: f64,
    xy: f64,
}

impl AttentionTotals {
    /// Adds one pair's alignment by the model's units.
    pub fn add(&mut self, alignment: &Alignment) {
        self.pairs += 1;
        self.rows += alignment.target().len();
        self.source_units += alignment.source().len();
        self.add_entropies(alignment);
        self.add_columns(alignment);
        self.add_positions(alignment);
    }

    fn add_entropies(&mut self, alignment: &Alignment) {
        let columns = alignment.source().len() + 1;
        for (row, end) in alignment.rows().zip(alignment.end_weights()) {
            let entropy: f64 = row.iter().chain([end]).map(|&weight| term(f64::from(weight))).sum();
            self.entropy += entropy;
            self.normalised_entropy += share(entropy, (columns as f64).ln());
        }
    }

    fn add_columns(&mut self, alignment: &Alignment) {
        let (sources, targets) = (alignment.source().len(), alignment.target().len());
        let mut columns = vec![0.0; sources];
        for row in alignment.rows() {
            columns.iter_mut().zip(row).for_each(|(sum, &weight)| *sum += f64::from(weight));
        }
        let end: f64 = alignment.end_weights().iter().copied().map(f64::from).sum();
        self.end += end;
        let fair = targets as f64 / (sources + 1) as f64;
        for (unit, &weight) in alignment.source().iter().zip(&columns) {
            self.covered_units += usize::from(weight >= 0.5 * fair);
            if is_punctuation(unit.trim_start_matches(SPACE)) {
                self.punctuation_units += 1;
                self.punctuation += weight;
            }
        }
        if sources.min(targets) >= FEWEST_UNITS {
            self.long_pairs += 1;
            self.heaviest_column += columns.iter().copied().fold(end, f64::max) / targets as f64;
        }
    }

    fn add_positions(&mut self, alignment: &Alignment) {
        let position = |index: usize, length: usize| (index as f64 + 0.5) / length as f64;
        for (t, row) in alignment.rows().enumerate() {
            let y = position(t, alignment.target().len());
            for (s, &weight) in row.iter().enumerate() {
                self.positions.add(position(s, row.len()), y, f64::from(weight));
            }
        }
    }

    /// The figures; all are 0 where nothing was added.
    pub fn health(&self) -> AttentionHealth {
        let rows = self.rows as f64;
        let units = self.source_units as f64;
        let mut health = AttentionHealth {
            evenness: Some(Evenness {
                entropy: share(self.entropy, rows),
                normalised_entropy: share(self.normalised_entropy, rows),
            }),
            end: share(self.end, rows),
            punctuation: share(self.punctuation, rows),
            punctuation_units: share(self.punctuation_units as f64, units),
            diagonality: self.positions.correlation(),
            coverage: share(self.covered_units as f64, units),
            heaviest_column: share(self.heaviest_column, self.long_pairs as f64),
            collapse: None,
        };
        if 2 * self.long_pairs > self.pairs {
            health.collapse = health.collapse();
        }
        health
    }
}

impl AttentionHealth {
    fn collapse(&self) -> Option<Collapse> {
        if self.evenness.is_some_and(|evenness| evenness.normalised_entropy > FLAT) {
            Some(Collapse::Flat)
        } else if self.heaviest_column > ONE_COLUMN {
            Some(if self.end > 0.5 { Collapse::End } else { Collapse::Column })
        } else {
            None
        }
    }
}

impl WeightedPositions {
    fn add(&mut self, x: f64, y: f64, weight: f64) {
        self.weight += weight;
        self.x += weight * x;
        self.y += weight * y;
        self.xx += weight * x * x;
        self.yy += weight * y * y;
        self.xy += weight * x * y;
    }

    /// 0 where all lie in one place.
    fn correlation(&self) -> f64 {
        let [x, y, xx, yy, xy] = [self.x, self.y, self.xx, self.yy, self.xy].map(|sum| share(sum, self.weight));
        let (variance_x, variance_y) = (xx - x * x, yy - y * y);
        // What rounding leaves of nothing is nothing.
        if variance_x.min(variance_y) < 1e-9 { 0.0 } else { (xy - x * y) / (variance_x * variance_y).sqrt() }
    }
}

/// −p ln p, 0 for p = 0.
fn term(p: f64) -> f64 {
    if p > 0.0 { -p * p.ln() } else { 0.0 }
}

/// `part` of `whole`; nothing of nothing is 0.
fn share(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { 0.0 } else { part / whole }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "▁the ▁black ▁cat .";

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn health(source: &str, rows: &[Vec<f32>]) -> AttentionHealth {
        let target = rows.iter().map(|_| "x".to_owned()).collect();
        let mut totals = AttentionTotals::default();
        totals.add(&Alignment::from_rows(words(source), target, rows));
        totals.health()
    }

    /// Rows that each put all weight on one column.
    fn sharp(columns: &[usize]) -> Vec<Vec<f32>> {
        columns.iter().map(|&chosen| (0..5).map(|column| f32::from(u8::from(column == chosen))).collect()).collect()
    }

    fn evenness(health: &AttentionHealth) -> Evenness {
        health.evenness.unwrap()
    }

    #[track_caller]
    fn assert_near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-6, "{value} is not {expected}");
    }

    #[test]
    fn a_worked_example() {
        let health = health("▁a ,", &[vec![0.5, 0.25, 0.25], vec![0.0, 1.0, 0.0], vec![0.25, 0.5, 0.25]]);
        // Two rows of 1.5 ln 2 nats and one of 0.
        let ln2 = 2.0f64.ln();
        assert_near(evenness(&health).entropy, ln2);
        assert_near(evenness(&health).normalised_entropy, ln2 / 3.0f64.ln());
        assert_near(health.end, 0.5 / 3.0);
        assert_near(health.punctuation, 1.75 / 3.0);
        assert_near(health.punctuation_units, 0.5);
        // A fair share is 3 / 3 = 1; the columns have 0.75 and 1.75.
        assert_near(health.coverage, 1.0);
        // Positions lie at ±1/4 and at -1/3, 0, 1/3 from the middle: covariance 1/60, variances 1/16 - 1/100 and 1/15.
        assert_near(health.diagonality, (1.0 / 60.0) / ((1.0 / 16.0 - 1.0 / 100.0) / 15.0f64).sqrt());
    }

    #[test]
    fn a_sharp_diagonal_is_healthy() {
        let health = health(SOURCE, &sharp(&[0, 1, 2, 3]));
        assert_near(evenness(&health).entropy, 0.0);
        assert_near(evenness(&health).normalised_entropy, 0.0);
        assert_near(health.end, 0.0);
        assert_near(health.punctuation, 0.25);
        assert_near(health.punctuation_units, 0.25);
        assert_near(health.diagonality, 1.0);
        assert_near(health.coverage, 1.0);
        assert_near(health.heaviest_column, 0.25);
        assert_eq!(health.collapse, None);
    }

    #[test]
    fn the_order_turned_round_is_healthy_too() {
        let health = health(SOURCE, &sharp(&[3, 2, 1, 0]));
        assert_near(health.diagonality, -1.0);
        assert_eq!(health.collapse, None);
    }

    #[test]
    fn flat_rows_are_a_collapse() {
        let health = health(SOURCE, &vec![vec![0.2; 5]; 3]);
        assert_near(evenness(&health).entropy, 5.0f64.ln());
        assert_near(evenness(&health).normalised_entropy, 1.0);
        assert_near(health.end, 0.2);
        assert_near(health.diagonality, 0.0);
        assert_near(health.coverage, 1.0);
        assert_eq!(health.collapse, Some(Collapse::Flat));
    }

    #[test]
    fn all_on_the_end_is_a_collapse() {
        let health = health(SOURCE, &sharp(&[4, 4, 4]));
        assert_near(health.end, 1.0);
        assert_near(health.punctuation, 0.0);
        assert_near(health.diagonality, 0.0);
        assert_near(health.coverage, 0.0);
        assert_eq!(health.collapse, Some(Collapse::End));
    }

    #[test]
    fn all_on_one_column_is_a_collapse() {
        let health = health(SOURCE, &sharp(&[3, 3, 3, 3]));
        assert_near(health.heaviest_column, 1.0);
        assert_near(health.punctuation, 1.0);
        assert_near(health.diagonality, 0.0);
        assert_near(health.coverage, 0.25);
        assert_eq!(health.collapse, Some(Collapse::Column));
    }

    #[test]
    fn short_pairs_have_little_to_choose_from() {
        assert_eq!(health("▁a", &[vec![0.5, 0.5]]).collapse, None);
        assert_eq!(health(SOURCE, &sharp(&[1, 1])).collapse, None);
    }

    #[test]
    fn long_pairs_weigh_what_they_should() {
        let mut totals = AttentionTotals::default();
        for rows in [sharp(&[4]), sharp(&[0, 1, 2])] {
            let target = rows.iter().map(|_| "x".to_owned()).collect();
            totals.add(&Alignment::from_rows(words(SOURCE), target, &rows));
        }
        // One row of four, not one pair of two.
        assert_near(totals.health().end, 0.25);
    }

    #[test]
    fn nothing_has_no_figures() {
        let health = AttentionTotals::default().health();
        assert_eq!((evenness(&health).entropy, health.diagonality, health.collapse), (0.0, 0.0, None));
        let mut totals = AttentionTotals::default();
        totals.add(&Alignment::from_rows(vec![], words("a"), &[vec![1.0]]));
        totals.add(&Alignment::from_rows(words("a"), vec![], &[]));
        assert_eq!(evenness(&totals.health()).normalised_entropy, 0.0);
    }

    #[test]
    fn the_mark_of_a_space_is_no_punctuation() {
        let even = |source: &str| vec![vec![0.2; words(source).len() + 1]];
        for (source, share) in [("▁— ▁a", 0.5), ("▁ a", 0.0), ("▁\u{301} .", 0.5), ("<unk> ▁?!", 0.5)] {
            assert_near(health(source, &even(source)).punctuation_units, share);
        }
    }
}
