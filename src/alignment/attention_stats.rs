//! Attention diagnostics over many sentence pairs: entropy, location and collapse.
//!
//! With too few training pairs, a decoder often learns to ignore its attention, which stays flat or rests on the end of
//! sentence or on one token. Translations degrade only slowly, but alignments become meaningless.

use serde::Serialize;

use super::Alignment;
use crate::text::is_punctuation;

/// SentencePiece's mark of a space in a token.
const SPACE: char = '▁';
/// Minimum tokens on both sides of the pairs by which collapse is judged: shorter ones offer little choice.
const MIN_TOKENS: usize = 3;
/// Normalized entropy above which attention counts as flat.
const FLAT_ENTROPY: f64 = 0.9;
/// Share of a pair's weight on one column above which attention counts as collapsed.
const COLLAPSED_SHARE: f64 = 0.8;

/// Kind of attention collapse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Collapse {
    /// Nearly uniform attention.
    Flat,
    /// All target tokens attend to the source's end.
    End,
    /// All target tokens attend to the same source token.
    Column,
}

/// Attention statistics of token-level alignments. Rows are target tokens without `</s>`; columns are source tokens and
/// the source's end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AttentionStats {
    /// Entropy of the rows; `None` for hard attention.
    #[serde(flatten)]
    pub row_entropy: Option<RowEntropy>,
    /// Share of all weight on the source's end.
    pub end: f64,
    /// Share of all weight on punctuation: tokens of only punctuation and symbols, apart from the mark of a space.
    pub punctuation: f64,
    /// Share of punctuation among the source tokens, for comparison.
    pub punctuation_tokens: f64,
    /// Attention-weighted correlation of the relative positions (t + ½) / T and (s + ½) / S: 1 is diagonal, 0
    /// unordered, −1 reversed.
    pub diagonality: f64,
    /// Share of the source tokens whose column sum is at least half that of uniform attention, T / (S + 1).
    pub coverage: f64,
    /// Share of a pair's weight on its heaviest column; mean over pairs with at least 3 tokens on both sides.
    pub heaviest_column: f64,
    /// Kind of collapse, if any and if most pairs have at least 3 tokens on both sides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collapse: Option<Collapse>,
}

/// Entropy of attention rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RowEntropy {
    /// −Σ_s α_ts ln α_ts in nats; mean over all rows.
    pub entropy: f64,
    /// Entropy divided by the logarithm of the number of columns; mean over all rows. 0 is sharp, 1 is flat.
    pub normalized_entropy: f64,
}

/// Sums over a set of alignments.
#[derive(Clone, Debug, Default)]
pub struct AttentionSums {
    pairs: usize,
    rows: usize,
    source_tokens: usize,
    punctuation_tokens: usize,
    covered_tokens: usize,
    entropy: f64,
    normalized_entropy: f64,
    end: f64,
    punctuation: f64,
    /// Pairs with [`MIN_TOKENS`] on both sides.
    long_pairs: usize,
    /// Sum of the heaviest columns' shares of those pairs' weight.
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

impl AttentionSums {
    /// Adds the token-level alignment of one pair.
    pub fn add(&mut self, alignment: &Alignment) {
        self.pairs += 1;
        self.rows += alignment.target().len();
        self.source_tokens += alignment.source().len();
        self.add_entropies(alignment);
        self.add_columns(alignment);
        self.add_positions(alignment);
    }

    fn add_entropies(&mut self, alignment: &Alignment) {
        let columns = alignment.source().len() + 1;
        for (row, end) in alignment.rows().zip(alignment.end_weights()) {
            let entropy = entropy(row.iter().chain([end]));
            self.entropy += entropy;
            self.normalized_entropy += ratio(entropy, (columns as f64).ln());
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
        let uniform = targets as f64 / (sources + 1) as f64;
        for (token, &weight) in alignment.source().iter().zip(&columns) {
            self.covered_tokens += usize::from(weight >= 0.5 * uniform);
            if is_punctuation(token.trim_start_matches(SPACE)) {
                self.punctuation_tokens += 1;
                self.punctuation += weight;
            }
        }
        if sources.min(targets) >= MIN_TOKENS {
            self.long_pairs += 1;
            self.heaviest_column += columns.iter().copied().fold(end, f64::max) / targets as f64;
        }
    }

    fn add_positions(&mut self, alignment: &Alignment) {
        for (t, row) in alignment.rows().enumerate() {
            let y = relative_position(t, alignment.target().len());
            for (s, &weight) in row.iter().enumerate() {
                self.positions.add(relative_position(s, row.len()), y, f64::from(weight));
            }
        }
    }

    /// Computes the statistics; all are 0 if nothing was added.
    pub fn stats(&self) -> AttentionStats {
        let rows = self.rows as f64;
        let tokens = self.source_tokens as f64;
        let mut stats = AttentionStats {
            row_entropy: Some(RowEntropy {
                entropy: ratio(self.entropy, rows),
                normalized_entropy: ratio(self.normalized_entropy, rows),
            }),
            end: ratio(self.end, rows),
            punctuation: ratio(self.punctuation, rows),
            punctuation_tokens: ratio(self.punctuation_tokens as f64, tokens),
            diagonality: self.positions.correlation(),
            coverage: ratio(self.covered_tokens as f64, tokens),
            heaviest_column: ratio(self.heaviest_column, self.long_pairs as f64),
            collapse: None,
        };
        if 2 * self.long_pairs > self.pairs {
            stats.collapse = stats.find_collapse();
        }
        stats
    }
}

impl AttentionStats {
    fn find_collapse(&self) -> Option<Collapse> {
        if self.row_entropy.is_some_and(|entropy| entropy.normalized_entropy > FLAT_ENTROPY) {
            Some(Collapse::Flat)
        } else if self.heaviest_column > COLLAPSED_SHARE {
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

    /// Pearson correlation; 0 without variance.
    fn correlation(&self) -> f64 {
        let [x, y, xx, yy, xy] = [self.x, self.y, self.xx, self.yy, self.xy].map(|sum| ratio(sum, self.weight));
        let (variance_x, variance_y) = (xx - x * x, yy - y * y);
        // Rounding leaves a variance of zero slightly above it.
        if variance_x.min(variance_y) < 1e-9 { 0.0 } else { (xy - x * y) / (variance_x * variance_y).sqrt() }
    }
}

/// Entropy of weights in nats.
pub fn entropy<'w>(weights: impl IntoIterator<Item = &'w f32>) -> f64 {
    let terms = weights.into_iter().map(|&weight| {
        let p = f64::from(weight);
        if p > 0.0 { -p * p.ln() } else { 0.0 }
    });
    terms.sum()
}

/// Position of the middle of a token, relative to the sentence, in 0..1.
fn relative_position(index: usize, length: usize) -> f64 {
    (index as f64 + 0.5) / length as f64
}

/// `part / whole`; 0 if `whole` is 0.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { 0.0 } else { part / whole }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "▁the ▁black ▁cat .";

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn stats(source: &str, rows: &[Vec<f32>]) -> AttentionStats {
        let target = rows.iter().map(|_| "x".to_owned()).collect();
        let mut sums = AttentionSums::default();
        sums.add(&Alignment::from_rows(words(source), target, rows));
        sums.stats()
    }

    /// One-hot rows over five columns.
    fn sharp(columns: &[usize]) -> Vec<Vec<f32>> {
        columns.iter().map(|&chosen| (0..5).map(|column| f32::from(u8::from(column == chosen))).collect()).collect()
    }

    fn row_entropy(stats: &AttentionStats) -> RowEntropy {
        stats.row_entropy.unwrap()
    }

    #[track_caller]
    fn assert_near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-6, "{value} is not {expected}");
    }

    #[test]
    fn computes_worked_example() {
        let stats = stats("▁a ,", &[vec![0.5, 0.25, 0.25], vec![0.0, 1.0, 0.0], vec![0.25, 0.5, 0.25]]);
        // Two rows of 1.5 ln 2 nats and one of 0.
        let ln2 = 2.0f64.ln();
        assert_near(row_entropy(&stats).entropy, ln2);
        assert_near(row_entropy(&stats).normalized_entropy, ln2 / 3.0f64.ln());
        assert_near(stats.end, 0.5 / 3.0);
        assert_near(stats.punctuation, 1.75 / 3.0);
        assert_near(stats.punctuation_tokens, 0.5);
        // Uniform column sums are 3 / 3 = 1; the actual ones 0.75 and 1.75.
        assert_near(stats.coverage, 1.0);
        // Positions lie at ±1/4 and at -1/3, 0, 1/3 from the middle: covariance 1/60, variances 1/16 - 1/100 and 1/15.
        assert_near(stats.diagonality, (1.0 / 60.0) / ((1.0 / 16.0 - 1.0 / 100.0) / 15.0f64).sqrt());
    }

    #[test]
    fn accepts_sharp_diagonal_attention() {
        let stats = stats(SOURCE, &sharp(&[0, 1, 2, 3]));
        assert_near(row_entropy(&stats).entropy, 0.0);
        assert_near(row_entropy(&stats).normalized_entropy, 0.0);
        assert_near(stats.end, 0.0);
        assert_near(stats.punctuation, 0.25);
        assert_near(stats.punctuation_tokens, 0.25);
        assert_near(stats.diagonality, 1.0);
        assert_near(stats.coverage, 1.0);
        assert_near(stats.heaviest_column, 0.25);
        assert_eq!(stats.collapse, None);
    }

    #[test]
    fn accepts_reversed_order() {
        let stats = stats(SOURCE, &sharp(&[3, 2, 1, 0]));
        assert_near(stats.diagonality, -1.0);
        assert_eq!(stats.collapse, None);
    }

    #[test]
    fn detects_flat_attention() {
        let stats = stats(SOURCE, &vec![vec![0.2; 5]; 3]);
        assert_near(row_entropy(&stats).entropy, 5.0f64.ln());
        assert_near(row_entropy(&stats).normalized_entropy, 1.0);
        assert_near(stats.end, 0.2);
        assert_near(stats.diagonality, 0.0);
        assert_near(stats.coverage, 1.0);
        assert_eq!(stats.collapse, Some(Collapse::Flat));
    }

    #[test]
    fn detects_attention_on_the_end() {
        let stats = stats(SOURCE, &sharp(&[4, 4, 4]));
        assert_near(stats.end, 1.0);
        assert_near(stats.punctuation, 0.0);
        assert_near(stats.diagonality, 0.0);
        assert_near(stats.coverage, 0.0);
        assert_eq!(stats.collapse, Some(Collapse::End));
    }

    #[test]
    fn detects_attention_on_one_column() {
        let stats = stats(SOURCE, &sharp(&[3, 3, 3, 3]));
        assert_near(stats.heaviest_column, 1.0);
        assert_near(stats.punctuation, 1.0);
        assert_near(stats.diagonality, 0.0);
        assert_near(stats.coverage, 0.25);
        assert_eq!(stats.collapse, Some(Collapse::Column));
    }

    #[test]
    fn does_not_judge_collapse_by_short_pairs() {
        assert_eq!(stats("▁a", &[vec![0.5, 0.5]]).collapse, None);
        assert_eq!(stats(SOURCE, &sharp(&[1, 1])).collapse, None);
    }

    #[test]
    fn weights_pairs_by_rows() {
        let mut sums = AttentionSums::default();
        for rows in [sharp(&[4]), sharp(&[0, 1, 2])] {
            let target = rows.iter().map(|_| "x".to_owned()).collect();
            sums.add(&Alignment::from_rows(words(SOURCE), target, &rows));
        }
        // One row of four, not one pair of two.
        assert_near(sums.stats().end, 0.25);
    }

    #[test]
    fn is_zero_without_attention() {
        let stats = AttentionSums::default().stats();
        assert_eq!((row_entropy(&stats).entropy, stats.diagonality, stats.collapse), (0.0, 0.0, None));
        let mut sums = AttentionSums::default();
        sums.add(&Alignment::from_rows(vec![], words("a"), &[vec![1.0]]));
        sums.add(&Alignment::from_rows(words("a"), vec![], &[]));
        assert_eq!(row_entropy(&sums.stats()).normalized_entropy, 0.0);
    }

    #[test]
    fn does_not_count_the_space_mark_as_punctuation() {
        for (source, share) in [("▁— ▁a", 0.5), ("▁ a", 0.0), ("▁\u{301} .", 0.5), ("<unk> ▁?!", 0.5)] {
            let uniform = vec![0.2; words(source).len() + 1];
            assert_near(stats(source, &[uniform]).punctuation_tokens, share);
        }
    }

    #[test]
    fn entropy_is_zero_for_one_weight_and_largest_for_equal_ones() {
        assert_eq!(entropy(&[0.0, 1.0, 0.0]), 0.0);
        assert!((entropy(&[0.25; 4]) - 4f64.ln()).abs() < 1e-9);
        assert_eq!(entropy(&[]), 0.0);
    }
}
