//! How sure the scores of some translations are, and whether they are better than others' by more than chance.

use std::borrow::Cow;

use rayon::prelude::*;
use serde::Serialize;

use crate::metrics::{
    BleuStats, ChrfStats, Confidence, Significance, SufficientStats, TerStats, confidence, significance,
};

/// Something of each score for which it can be had.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct OfScores<T> {
    pub bleu: T,
    pub chrf: T,
    pub ter: T,
}

/// The counts of all segments, of which scores are made.
pub struct SegmentCounts {
    bleu: Vec<BleuStats>,
    chrf: Vec<ChrfStats>,
    ter: Vec<TerStats>,
}

impl SegmentCounts {
    /// Of translations and their references.
    pub fn of(translations: &[String], references: &[Cow<str>]) -> Self {
        fn counts<C: SufficientStats>(translations: &[String], references: &[Cow<str>]) -> Vec<C> {
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

    /// What the scores would be on other segments of the kind.
    pub fn confidence(&self, seed: u64) -> OfScores<Confidence> {
        OfScores {
            bleu: confidence(&self.bleu, seed),
            chrf: confidence(&self.chrf, seed),
            ter: confidence(&self.ter, seed),
        }
    }

    /// How probable differences as large as these from a baseline are by chance.
    pub fn significance(&self, baseline: &Self, seed: u64) -> OfScores<Significance> {
        OfScores {
            bleu: significance(&baseline.bleu, &self.bleu, seed),
            chrf: significance(&baseline.chrf, &self.chrf, seed),
            ter: significance(&baseline.ter, &self.ter, seed),
        }
    }
}
