//! Quality estimation: probabilities that a translation and its words are right, without a reference.
//!
//! ```text
//! p(right) = σ(b + w₁ ln p + w₂ ln(1 − p) + w₃ m)
//! ```
//!
//! p is the model's probability of the word, or of the translation, and m the mean log-probability of the translation's
//! tokens. The first two features are those of beta calibration (Kull, Silva Filho & Flach 2017, "Beta Calibration"). The
//! weights are fitted to the translations of the validation pairs. A word is right if a minimum sequence of edits that
//! turns the translation into the reference keeps it.

use std::collections::HashSet;

use anyhow::Result;
use serde::Serialize;

use super::doubt::DoubtMeasures;
use super::{DecodeOptions, ForcedAlignment, MarkedUpTexts, Sentence, Translation, Translator};
use crate::alignment::QualityEstimate;
use crate::checkpoint::{ConfidenceCalibration, DoubtLimits};
use crate::metrics::{LogisticRegression, expected_calibration_error, unedited};
use crate::reporter::Reporter;
use crate::text::{Pair, WordSplitting, are_single_words, strip_punctuation, word_spans, words_of_tokens};

/// Minimum number of target words from which confidence is calibrated.
const MIN_WORDS: usize = 200;
/// Maximum number of words of a reference that are compared.
const MAX_WORDS: usize = 2000;

/// Signs of the weights: confidence increases with each probability.
const SIGNS: [f64; 3] = [1.0, -1.0, 1.0];

/// Expected calibration errors, between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CalibrationError {
    /// Error of the confidence of translations.
    pub sentence: f64,
    /// Error of the confidence of words.
    pub word: f64,
}

/// Outcomes of a translation and of its words.
struct Outcome {
    /// Share of right words, or 1 or 0 for single words.
    sentence: f64,
    /// 1 for each right word, else 0.
    words: Vec<f64>,
}

/// Features of a translation and of its words: ln p, ln(1 − p) and m of each.
struct Features {
    sentence: Vec<f64>,
    words: Vec<Vec<f64>>,
}

impl Features {
    /// Returns the features of a translation; none of an empty one, and of one without probabilities.
    fn of(aligned: &ForcedAlignment) -> Option<Self> {
        let [_, word_of_token] = aligned.words_of_tokens();
        let count = aligned.token_log_probabilities.len();
        if word_of_token.is_empty() || count < word_of_token.len() {
            return None;
        }
        let total: f64 = aligned.token_log_probabilities.iter().sum();
        let mean = total / count as f64;
        let mut words = vec![0.0; aligned.target_words().len()];
        for (range, log_probability) in
            words_of_tokens(word_of_token, words.len()).zip(&aligned.token_log_probabilities)
        {
            words[range].iter_mut().for_each(|sum| *sum += log_probability);
        }
        Some(Self {
            sentence: features(total, mean),
            words: words.into_iter().map(|log_probability| features(log_probability, mean)).collect(),
        })
    }
}

/// Returns the features of a log-probability in a translation whose tokens have this mean log-probability.
fn features(log_probability: f64, mean: f64) -> Vec<f64> {
    vec![log_probability, log_complement(log_probability), mean]
}

/// Features of translations or of words, with their outcomes between 0 and 1.
#[derive(Default)]
struct Labeled {
    features: Vec<Vec<f64>>,
    outcomes: Vec<f64>,
}

impl Labeled {
    /// Fits a regression to the outcomes; none if they are all equal.
    fn fitted(&self) -> Option<LogisticRegression> {
        LogisticRegression::fit(&self.features, &self.outcomes, &SIGNS)
    }

    /// Returns the expected calibration error of a regression, between 0 and 1.
    fn calibration_error(&self, model: &LogisticRegression) -> f64 {
        expected_calibration_error(&predictions(model, &self.features), &self.outcomes)
    }
}

/// Translations of the sources of pairs.
pub struct TranslatedSources {
    /// Translation of each source.
    pub translations: Vec<Translation>,
    /// Alignments of the sentences of all sources.
    sentences: Vec<ForcedAlignment>,
}

/// Features of translations and of their words, with their outcomes.
#[derive(Default)]
struct LabeledTranslations {
    sentences: Labeled,
    words: Labeled,
}

/// Returns the probability of each item, between 0 and 1.
fn predictions(model: &LogisticRegression, features: &[Vec<f64>]) -> Vec<f64> {
    features.iter().map(|features| model.predict(features)).collect()
}

/// ln(1 − p) of ln p, where 1 − p is at least the rounding error of the model's probabilities.
fn log_complement(log_probability: f64) -> f64 {
    (-log_probability.exp_m1()).max(1e-6).ln()
}

impl Translator {
    /// Translates the sources of pairs with the default options.
    ///
    /// # Errors
    /// The model's scores are not finite.
    pub fn translate_sources(&self, pairs: &[Pair], reporter: &dyn Reporter) -> Result<TranslatedSources> {
        let sentences: Vec<Sentence> = pairs.iter().map(|pair| Sentence::from(pair.source.as_str())).collect();
        let prepared = self.prepared_for_plain_text(DecodeOptions::default())?;
        let mut texts = MarkedUpTexts::new(&prepared, sentences);
        let mut stage = reporter.stage("measuring the model", Some(texts.sentences().len()));
        let parts = prepared.translate_batch(texts.sentences(), 0, &mut |count| stage.advance(count))?;
        let sentences = parts.iter().map(|found| found[0].alignment.clone()).collect();
        let found = texts.add(&prepared, parts)?;
        let translations = found.into_iter().map(|mut found| found.swap_remove(0)).collect();
        Ok(TranslatedSources { translations, sentences })
    }

    /// Fits the calibration of confidence to translations of pairs that the model was not trained on, and sets the limits of
    /// doubt. None if they have too few words, or if all or none are right.
    ///
    /// # Errors
    /// The model's aligner is damaged.
    pub fn calibrate(&self, pairs: &[Pair], translated: &TranslatedSources) -> Result<Option<ConfidenceCalibration>> {
        let words: usize = pairs.iter().map(|pair| word_spans(&pair.target, WordSplitting::Script).len()).sum();
        if words < MIN_WORDS {
            return Ok(None);
        }
        let LabeledTranslations { sentences, words } = self.labeled(pairs, &translated.translations);
        let Some((sentence, word)) = sentences.fitted().zip(words.fitted()) else { return Ok(None) };
        let calibration = ConfidenceCalibration { sentence, word, limits: None };
        let limits = self.doubt_limits(&calibration, &translated.sentences)?;
        Ok(Some(ConfidenceCalibration { limits, ..calibration }))
    }

    /// Sets the limits of doubt by the translations of sentences.
    fn doubt_limits(
        &self,
        calibration: &ConfidenceCalibration,
        translations: &[ForcedAlignment],
    ) -> Result<Option<DoubtLimits>> {
        let mut measures = DoubtMeasures::default();
        for aligned in translations {
            if let Some(estimate) = self.estimate_by(calibration, aligned)? {
                measures.add(aligned, &estimate, self.has_fixed_attention());
            }
        }
        Ok(measures.limits())
    }

    /// Returns the expected calibration errors of confidence on translations of pairs. None without a calibration.
    pub fn calibration_error(&self, pairs: &[Pair], translations: &[Translation]) -> Option<CalibrationError> {
        let ConfidenceCalibration { sentence, word, .. } = self.calibration()?;
        let LabeledTranslations { sentences, words } = self.labeled(pairs, translations);
        Some(CalibrationError { sentence: sentences.calibration_error(sentence), word: words.calibration_error(word) })
    }

    /// Returns the features and outcomes of translations, and those of their words.
    fn labeled(&self, pairs: &[Pair], translations: &[Translation]) -> LabeledTranslations {
        let whole = self.has_whole_outcomes(pairs);
        let LabeledTranslations { mut sentences, mut words } = LabeledTranslations::default();
        for (pair, translation) in pairs.iter().zip(translations) {
            let Some(features) = Features::of(&translation.alignment) else { continue };
            let outcome = self.outcome(pair, translation, whole);
            sentences.features.push(features.sentence);
            sentences.outcomes.push(outcome.sentence);
            words.features.extend(features.words);
            words.outcomes.extend(outcome.words);
        }
        LabeledTranslations { sentences, words }
    }

    /// Compares a translation with the target of its pair, as a `whole` or word by word.
    fn outcome(&self, pair: &Pair, translation: &Translation, whole: bool) -> Outcome {
        let reference = self.config().text.normalization.apply(&pair.target);
        let spans = word_spans(&reference, self.words[1]).into_iter().take(MAX_WORDS);
        let words: Vec<String> = spans.map(|span| reference[span].to_owned()).collect();
        let right = unedited(translation.alignment.target_words(), &words);
        let words: Vec<f64> = right.into_iter().map(|right| f64::from(u8::from(right))).collect();
        let share = words.iter().sum::<f64>() / words.len().max(1) as f64;
        let is_equal = translation.text == reference;
        Outcome { sentence: if whole { f64::from(u8::from(is_equal)) } else { share }, words }
    }

    /// True if translations are right or wrong as a whole: those of single words.
    fn has_whole_outcomes(&self, pairs: &[Pair]) -> bool {
        let text = &self.config().text;
        let sources = pairs.iter().map(|pair| text.source_protected_tokens.remove_from(&pair.source));
        text.target_tokenization.are_characters() || are_single_words(sources)
    }

    /// Estimates the quality of a translation. None if the model has no calibration, in an ensemble, and for text that the
    /// model did not translate.
    ///
    /// # Errors
    /// The aligner's file is damaged.
    pub fn estimate_quality(&self, aligned: &ForcedAlignment) -> Result<Option<QualityEstimate>> {
        self.calibration().map_or(Ok(None), |calibration| self.estimate_by(calibration, aligned))
    }

    fn estimate_by(
        &self,
        calibration: &ConfidenceCalibration,
        aligned: &ForcedAlignment,
    ) -> Result<Option<QualityEstimate>> {
        let ConfidenceCalibration { sentence, word, .. } = calibration;
        let Some(features) = Features::of(aligned) else { return Ok(None) };
        Ok(Some(QualityEstimate {
            confidence: sentence.predict(&features.sentence),
            word_confidence: predictions(word, &features.words),
            nonwords: self.nonwords(aligned)?,
        }))
    }

    /// Returns the calibration, which does not hold for an ensemble.
    pub(super) fn calibration(&self) -> Option<&ConfidenceCalibration> {
        self.config().confidence.as_ref().filter(|_| self.models.len() == 1)
    }

    /// Returns the indices of target words that are neither in the training data nor in the source.
    fn nonwords(&self, aligned: &ForcedAlignment) -> Result<Vec<usize>> {
        let Some(known) = self.known_words(1)? else { return Ok(Vec::new()) };
        let sources: HashSet<&str> = aligned.source_words().iter().map(|word| strip_punctuation(word)).collect();
        let words = aligned.target_words().iter().enumerate();
        let made_up = words.filter(|(_, word)| !sources.contains(strip_punctuation(word)) && !known.cover(word, true));
        Ok(made_up.map(|(index, _)| index).collect())
    }
}
