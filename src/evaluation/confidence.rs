//! Confidence intervals of scores, and the significance of differences between systems.

use rayon::prelude::*;
use serde::Serialize;

use crate::metrics::{
    BleuStats, ChrfStats, Confidence, Significance, SufficientStats, TerStats, confidence, significance,
};

/// A value for each metric that has sufficient statistics.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PerMetric<T> {
    /// Of BLEU.
    pub bleu: T,
    /// Of chrF.
    pub chrf: T,
    /// Of the translation edit rate.
    pub ter: T,
}

/// Sufficient statistics of all segments, for each metric.
#[derive(Debug)]
pub struct SegmentStats {
    bleu: Vec<BleuStats>,
    chrf: Vec<ChrfStats>,
    ter: Vec<TerStats>,
}

impl SegmentStats {
    /// Statistics of translations against their references.
    pub fn new(translations: &[String], references: &[String]) -> Self {
        fn counts<C: SufficientStats>(translations: &[String], references: &[String]) -> Vec<C> {
            translations
                .par_iter()
                .zip(references)
                .map(|(translation, reference)| C::from_segment(translation, reference))
                .collect()
        }
        Self {
            bleu: counts(translations, references),
            chrf: counts(translations, references),
            ter: counts(translations, references),
        }
    }

    /// Returns 95 % confidence intervals by bootstrap resampling.
    pub fn confidence(&self, seed: u64) -> PerMetric<Confidence> {
        PerMetric {
            bleu: confidence(&self.bleu, seed),
            chrf: confidence(&self.chrf, seed),
            ter: confidence(&self.ter, seed),
        }
    }

    /// Returns the p-values of the differences from a baseline.
    pub fn significance(&self, baseline: &Self, seed: u64) -> PerMetric<Significance> {
        PerMetric {
            bleu: significance(&baseline.bleu, &self.bleu, seed),
            chrf: significance(&baseline.chrf, &self.chrf, seed),
            ter: significance(&baseline.ter, &self.ter, seed),
        }
    }
}
