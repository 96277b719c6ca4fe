//! Translations of the best validations.

use serde::{Deserialize, Serialize};

use super::ValidationScore;

/// Number of validations that are remembered. Worse ones hardly had a chance to choose the model.
const REMEMBERED: usize = 30;

/// Translations of the best validations so far, by which the bias of choosing among them is estimated.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct BestValidations(Vec<ScoredTranslations>);

#[derive(Debug, Serialize, Deserialize)]
struct ScoredTranslations {
    score: ValidationScore,
    translations: Vec<String>,
}

impl BestValidations {
    /// Adds the translations of a validation, if it is among the best.
    pub fn add(&mut self, score: ValidationScore, translations: &[String]) {
        self.0.push(ScoredTranslations { score, translations: translations.to_vec() });
        self.0.sort_by(|one, other| other.score.compare(&one.score));
        self.0.truncate(REMEMBERED);
    }

    /// Returns the translations of each validation, the best one first.
    pub(super) fn translations(&self) -> impl Iterator<Item = &[String]> {
        self.0.iter().map(|validation| &*validation.translations)
    }
}
