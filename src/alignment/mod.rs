//! Word alignments: attention matrices, link scores, links, and their evaluation.
//!
//! An [`Alignment`] is a plain matrix with its words. The module knows no tensors, vocabularies or files.

mod aer;
mod attention_stats;
mod doubts;
mod lexicon_extraction;
mod link_scores;
mod links;
mod noise_score;
mod offset_check;
mod quality_estimate;
mod symmetrization;
mod threshold_search;

use std::ops::Range;

use crate::text::words_of_tokens;

pub use aer::{AerCounts, AlignmentMetrics};
pub use attention_stats::{AttentionStats, AttentionSums, Collapse, RowEntropy, entropy};
pub use doubts::{Doubt, Doubts};
pub use lexicon_extraction::{LexiconBuilder, LexiconEntry, LexiconOrder};
pub use link_scores::{LinkScores, attention_directions};
pub use links::{Gold, Link, LinkFormat, NaaclLine, is_naacl_line, parse_gold_line, parse_naacl_line};
pub use noise_score::{NoiseFeatures, noise_scores, rank_by_noise};
pub use offset_check::{LinkOffset, OffsetCounts};
pub use quality_estimate::QualityEstimate;
pub use symmetrization::Symmetrization;
pub use threshold_search::{BestThreshold, ThresholdSearch};

/// Attention of one sentence pair, by token or by word.
///
/// `weight(t, s)` is α_ts, the attention of target word `t` to source word `s` (Bahdanau et al. 2014, section 3.1). The
/// source's end-of-sentence mark is kept apart: `Σ_s weight(t, s) + end_weight(t) = 1` for every `t`.
#[derive(Clone, Debug, PartialEq)]
pub struct Alignment {
    source: Vec<String>,
    target: Vec<String>,
    /// `[target × source]`, row-major.
    weights: Vec<f32>,
    /// `[target]`.
    end_weights: Vec<f32>,
    /// Row of the target's `</s>`: `[source]`.
    last_row: Vec<f32>,
    /// Weight of the target's `</s>` on the source's end.
    last_end_weight: f32,
}

impl Alignment {
    /// Creates an alignment from attention rows `[target, source + 1]`, whose last column is the source's
    /// end-of-sentence mark. One more row may follow for the target's end, which is otherwise aligned to the source's.
    pub fn from_rows(source: Vec<String>, target: Vec<String>, rows: &[Vec<f32>]) -> Self {
        debug_assert!(rows.len() >= target.len());
        let mut weights = Vec::with_capacity(source.len() * target.len());
        let mut end_weights = Vec::with_capacity(target.len());
        for row in rows.iter().take(target.len()) {
            debug_assert_eq!(row.len(), source.len() + 1);
            weights.extend_from_slice(&row[..source.len()]);
            end_weights.push(row[source.len()]);
        }
        let mut last_row = vec![0.0; source.len()];
        let mut last_end_weight = 1.0;
        if let Some(row) = rows.get(target.len()) {
            last_row.copy_from_slice(&row[..source.len()]);
            last_end_weight = row[source.len()];
        }
        Self { source, target, weights, end_weights, last_row, last_end_weight }
    }

    /// Joins the alignments of consecutive sentences: no word of one has attention to a word of another.
    pub fn concat(parts: &[&Self]) -> Self {
        let columns: usize = parts.iter().map(|part| part.source.len()).sum();
        let (mut before, mut rows) = (0, Vec::new());
        let mut last_row = None;
        for part in parts {
            for (weights, &end_weight) in part.rows().zip(&part.end_weights) {
                rows.push(wider_row(weights, end_weight, before, columns));
            }
            last_row = Some(wider_row(&part.last_row, part.last_end_weight, before, columns));
            before += part.source.len();
        }
        rows.extend(last_row);
        let source = parts.iter().flat_map(|part| part.source()).cloned().collect();
        let target = parts.iter().flat_map(|part| part.target()).cloned().collect();
        Self::from_rows(source, target, &rows)
    }

    /// Source words, the columns of the matrix.
    pub fn source(&self) -> &[String] {
        &self.source
    }

    /// Target words, the rows of the matrix.
    pub fn target(&self) -> &[String] {
        &self.target
    }

    /// Weights of target word `target` over all source words.
    pub fn row(&self, target: usize) -> &[f32] {
        &self.weights[target * self.source.len()..(target + 1) * self.source.len()]
    }

    /// Rows, one per target word.
    pub fn rows(&self) -> impl Iterator<Item = &[f32]> {
        (0..self.target.len()).map(|target| self.row(target))
    }

    /// Weights `[target × source]`, row-major.
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// Weights on the source's end-of-sentence mark, `[target]`.
    pub fn end_weights(&self) -> &[f32] {
        &self.end_weights
    }

    /// Weights of the target's end on all source words, `[source]`.
    pub fn last_row(&self) -> &[f32] {
        &self.last_row
    }

    /// Weight of the target's end on the source's end.
    pub fn last_end_weight(&self) -> f32 {
        self.last_end_weight
    }

    /// Merges tokens into words. `source_words[j]` and `target_words[i]` are the first words of source token `j` and target
    /// token `i`. Columns are summed and rows averaged, so that every row still sums to 1; where the sums of thousands
    /// of tokens are rounded, the row is scaled to 1 again. A token of several words divides its column between them, and
    /// gives its row to each. Without any token, target words get zeros.
    pub fn merge(
        &self,
        source: Vec<String>,
        source_words: &[usize],
        target: Vec<String>,
        target_words: &[usize],
    ) -> Self {
        debug_assert_eq!(source_words.len(), self.source.len());
        debug_assert_eq!(target_words.len(), self.target.len());
        let mut weights = vec![0.0; source.len() * target.len()];
        let mut end_weights = vec![0.0; target.len()];
        let mut tokens = vec![0.0f32; target.len()];
        let columns: Vec<Range<usize>> = words_of_tokens(source_words, source.len()).collect();
        for (token, words) in words_of_tokens(target_words, target.len()).enumerate() {
            for word in words {
                tokens[word] += 1.0;
                end_weights[word] += self.end_weights[token];
                add_row(&mut weights[word * source.len()..(word + 1) * source.len()], &columns, self.row(token));
            }
        }
        for (word, &count) in tokens.iter().enumerate().filter(|&(_, &count)| count > 1.0) {
            end_weights[word] /= count;
            for weight in &mut weights[word * source.len()..(word + 1) * source.len()] {
                *weight /= count;
            }
        }
        for (word, end_weight) in end_weights.iter_mut().enumerate() {
            normalize(&mut weights[word * source.len()..(word + 1) * source.len()], end_weight);
        }
        let (mut last_row, mut last_end_weight) = (vec![0.0; source.len()], self.last_end_weight);
        add_row(&mut last_row, &columns, &self.last_row);
        normalize(&mut last_row, &mut last_end_weight);
        Self { source, target, weights, end_weights, last_row, last_end_weight }
    }
}

/// Adds the weights of source tokens to a row of words; `columns` are the words of each token.
fn add_row(row: &mut [f32], columns: &[Range<usize>], weights: &[f32]) {
    for (columns, &weight) in columns.iter().zip(weights) {
        let share = weight / columns.len() as f32;
        row[columns.clone()].iter_mut().for_each(|sum| *sum += share);
    }
}

/// Returns a row of `columns` source words and the end, `[columns + 1]`, whose words from `before` on have the given weights.
fn wider_row(weights: &[f32], end_weight: f32, before: usize, columns: usize) -> Vec<f32> {
    let mut row = vec![0.0; columns + 1];
    row[before..before + weights.len()].copy_from_slice(weights);
    row[columns] = end_weight;
    row
}

/// Scales a row and its weight on the end to a sum of 1 if they are further from it than a few roundings. A row of
/// zeros stays.
fn normalize(row: &mut [f32], end: &mut f32) {
    const ROUNDING: f64 = 1e-5;
    let sum: f64 = row.iter().chain([&*end]).map(|&weight| f64::from(weight)).sum();
    if sum > 0.0 && (sum - 1.0).abs() > ROUNDING {
        row.iter_mut().chain([end]).for_each(|weight| *weight = (f64::from(*weight) / sum) as f32);
    }
}

/// Source words linked to a target word: the one of the largest weight, unless that is below `end`, and all of at least
/// `threshold`.
pub fn linked_sources(row: &[f32], end: f32, threshold: f32) -> impl Iterator<Item = usize> {
    let largest = argmax(row).filter(|&index| row[index] >= end);
    let weights = row.iter().enumerate();
    weights
        .filter(move |&(index, &weight)| weight > 0.0 && (Some(index) == largest || weight >= threshold))
        .map(|(index, _)| index)
}

/// Index of the largest weight, the first of ties; `None` for an empty row.
fn argmax(row: &[f32]) -> Option<usize> {
    let mut best: Option<usize> = None;
    for (index, &weight) in row.iter().enumerate() {
        if best.is_none_or(|best| weight > row[best]) {
            best = Some(index);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn sample() -> Alignment {
        let rows = vec![vec![0.6, 0.3, 0.1, 0.0], vec![0.0, 0.25, 0.5, 0.25], vec![0.1, 0.1, 0.2, 0.6]];
        Alignment::from_rows(words("un believ able"), words("in croyable ."), &rows)
    }

    #[test]
    fn merge_keeps_every_row_a_distribution() {
        let merged = sample().merge(words("unbelievable"), &[0, 0, 0], words("incroyable ."), &[0, 0, 1]);
        assert_eq!(merged.source(), ["unbelievable"]);
        for (row, end) in merged.rows().zip(merged.end_weights()) {
            assert!((row.iter().sum::<f32>() + end - 1.0).abs() < 1e-6);
        }
        assert!((merged.row(0)[0] - 0.875).abs() < 1e-6);
    }

    #[test]
    fn words_of_one_token_share_its_weights() {
        // The second source token writes two words, the first target token three.
        let rows = vec![vec![0.2, 0.8, 0.0], vec![0.5, 0.0, 0.5], vec![0.0, 0.6, 0.4]];
        let tokens = Alignment::from_rows(words("我 喜欢"), words("ilike it"), &rows);
        let merged = tokens.merge(words("我 喜 欢"), &[0, 1], words("i l ike it"), &[0, 3]);
        assert_eq!(
            merged.rows().collect::<Vec<_>>(),
            [[0.2, 0.4, 0.4], [0.2, 0.4, 0.4], [0.2, 0.4, 0.4], [0.5, 0.0, 0.0]]
        );
        assert_eq!((merged.end_weights(), merged.last_row()), (&[0.0, 0.0, 0.0, 0.5][..], &[0.0, 0.3, 0.3][..]));
    }

    #[test]
    fn concat_joins_blocks() {
        let (one, empty) = (sample(), Alignment::from_rows(vec![], vec![], &[]));
        let joined = Alignment::concat(&[&one, &empty, &one]);
        assert_eq!(joined.source().len(), 2 * one.source().len());
        assert_eq!(joined.row(3), [&[0.0; 3], one.row(0)].concat());
        assert_eq!(joined.end_weights()[3..], *one.end_weights());
        assert_eq!(joined.last_row(), [&[0.0; 3], one.last_row()].concat());
        assert_eq!(joined.last_end_weight(), one.last_end_weight());
        assert_eq!(Alignment::concat(&[&one]), one);
    }

    #[test]
    fn merging_thousands_of_tokens_keeps_the_row_a_distribution() {
        const TOKENS: usize = 3000;
        let row = vec![1.0 / (TOKENS + 1) as f32; TOKENS + 1];
        let token = vec!["'".to_owned(); TOKENS];
        let word = vec!["'".repeat(TOKENS)];
        let tokens = Alignment::from_rows(token.clone(), token, &vec![row; TOKENS]);
        let merged = tokens.merge(word.clone(), &[0; TOKENS], word, &[0; TOKENS]);
        let sum = merged.row(0)[0] + merged.end_weights()[0];
        assert!((sum - 1.0).abs() < 1e-6, "{sum}");
    }

    #[test]
    fn links_the_largest_weight_and_all_above_the_threshold() {
        for (row, end, threshold, expected) in [
            (&[0.6, 0.3, 0.1][..], 0.0, 0.9, &[0][..]),
            (&[0.6, 0.3, 0.1], 0.0, 0.3, &[0, 1]),
            // A full stop that attends to the end mark stays unlinked.
            (&[0.1, 0.1, 0.2], 0.6, 0.9, &[]),
            (&[], 1.0, 0.0, &[]),
        ] {
            let links: Vec<usize> = linked_sources(row, end, threshold).collect();
            assert_eq!(links, expected);
        }
    }
}
