//! Confidence intervals of scores, and the significance of differences between systems.

use rayon::prelude::*;
use serde::Serialize;

use crate::metrics::{
    BleuStats, ChrfPpStats, ChrfStats, Confidence, EditStats, ScoreOptions, Significance, TerStats, confidence,
    edited_symbols, significance,
};

/// A value for each metric that has sufficient statistics.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PerMetric<T> {
    /// Value for BLEU.
    pub bleu: T,
    /// Value for chrF.
    pub chrf: T,
    /// Value for chrF++.
    pub chrf_pp: T,
    /// Value for the translation edit rate.
    pub ter: T,
    /// Value for the word error rate of single words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wer: Option<T>,
    /// Value for the phone error rate of single words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per: Option<T>,
}

/// Sufficient statistics of all segments, for each metric.
#[derive(Debug)]
pub struct SegmentStats {
    bleu: Vec<BleuStats>,
    chrf: Vec<ChrfStats>,
    chrf_pp: Vec<ChrfPpStats>,
    ter: Vec<TerStats>,
    /// Words and symbols with errors; `None` for sentences.
    single_words: Option<[Vec<EditStats>; 2]>,
}

impl SegmentStats {
    /// Statistics of translations against their references. Those of single words add WER and PER.
    pub fn new(
        translations: &[String],
        references: &[String],
        ScoreOptions { single_words, tokenizer }: ScoreOptions,
    ) -> Self {
        Self {
            bleu: stats(translations, references, |translation, reference| {
                BleuStats::of_segment(translation, reference, tokenizer)
            }),
            chrf: stats(translations, references, ChrfStats::of_segment),
            chrf_pp: stats(translations, references, ChrfPpStats::of_segment),
            ter: stats(translations, references, TerStats::of_segment),
            single_words: single_words.then(|| {
                [
                    stats(translations, references, EditStats::of_whole),
                    stats(translations, references, edited_symbols(references)),
                ]
            }),
        }
    }

    /// Returns 95 % confidence intervals by bootstrap resampling.
    pub fn confidence(&self, seed: u64) -> PerMetric<Confidence> {
        let [wer, per] = match &self.single_words {
            Some(edits) => edits.each_ref().map(|edits| Some(confidence(edits, seed))),
            None => [None, None],
        };
        PerMetric {
            bleu: confidence(&self.bleu, seed),
            chrf: confidence(&self.chrf, seed),
            chrf_pp: confidence(&self.chrf_pp, seed),
            ter: confidence(&self.ter, seed),
            wer,
            per,
        }
    }

    /// Returns the p-values of the differences from a baseline.
    pub fn significance(&self, baseline: &Self, seed: u64) -> PerMetric<Significance> {
        let [wer, per] = match (&baseline.single_words, &self.single_words) {
            (Some(baseline), Some(own)) => [0, 1].map(|rate| Some(significance(&baseline[rate], &own[rate], seed))),
            _ => [None, None],
        };
        PerMetric {
            bleu: significance(&baseline.bleu, &self.bleu, seed),
            chrf: significance(&baseline.chrf, &self.chrf, seed),
            chrf_pp: significance(&baseline.chrf_pp, &self.chrf_pp, seed),
            ter: significance(&baseline.ter, &self.ter, seed),
            wer,
            per,
        }
    }
}

fn stats<C: Send>(
    translations: &[String],
    references: &[String],
    stats: impl Fn(&str, &str) -> C + Send + Sync,
) -> Vec<C> {
    let segments = translations.par_iter().zip(references);
    segments.map(|(translation, reference)| stats(translation, reference)).collect()
}
