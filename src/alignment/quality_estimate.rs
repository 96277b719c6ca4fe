//! Estimated quality of a translation.

use serde::Serialize;

/// Calibrated probabilities that a translation and its words are right.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct QualityEstimate {
    /// Expected share of right words, or the probability that the whole translation is right if sources are single words.
    pub confidence: f64,
    /// Probability that each target word is right, in the order of the words.
    pub word_confidence: Vec<f64>,
    /// Indices of target words that are neither in the training data nor in the source, and may be made up.
    pub nonwords: Vec<usize>,
}
