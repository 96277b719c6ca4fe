//! Scores on held-out pairs while training goes on.

use std::borrow::Cow;
use std::collections::BTreeMap;

use anyhow::Result;
use serde::Serialize;
use serde_json::Value;

use super::{Metric, ValidationScore};
use crate::alignment::{Alignment, AttentionStats, AttentionSums};
use crate::metrics::{self, Scores};
use crate::model::{BatchLoss, RnnSearch};
use crate::search::{BeamSearch, Source, search_all};
use crate::text::{Batch, BatchSize, Example, Pair, Vocabulary, bucketed};

/// Pairs that are translated at each validation, at most, evenly from all; the loss is computed over all.
const MOST_TRANSLATED: usize = 1000;
/// Below this BLEU is noise: a few runs of words that happen to be right. Between zeros the loss decides.
const LEAST_BLEU: f64 = 1.0;
/// Sample translations in each report: the first of these pairs each time, so that one sees them getting better.
const SAMPLES: usize = 5;

/// Held-out pairs as text and as ids.
pub struct ValidationSet<'a> {
    /// The pairs; the references are compared as text, normalised as the model's own is.
    pub pairs: &'a [Pair],
    /// The ids of each of these pairs.
    pub examples: &'a [Example],
    /// What knows the source's units.
    pub source_vocabulary: &'a Vocabulary,
    /// What turns ids back into text.
    pub target_vocabulary: &'a Vocabulary,
}

/// A validation sentence, its reference, and what the model makes of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sample {
    /// The source sentence.
    pub source: String,
    /// Its translation in the validation set.
    pub reference: String,
    /// The model's translation.
    pub translation: String,
    /// Where attention lies, word by word, when the reference is forced.
    #[serde(skip)]
    pub attention: Alignment,
    /// Mean log-probability of a unit of the reference, its end included, in nats.
    #[serde(skip)]
    pub score: f64,
}

/// All that one validation has measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ValidationReport {
    /// Label-smoothed loss, in nats for each target unit.
    pub loss: f64,
    /// Perplexity for each target unit.
    pub perplexity: f64,
    /// Scores of greedy translations, in percent.
    #[serde(flatten)]
    pub scores: Scores,
    /// How attention fares where the references are forced; none where it is fixed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attention: Option<AttentionStats>,
    /// A few translations to look at.
    pub samples: Vec<Sample>,
}

/// What the references say, forced.
struct ReferenceLoss {
    loss: BatchLoss,
    /// None where attention is fixed.
    attention: Option<AttentionStats>,
    /// Attention and score of the samples.
    samples: Vec<(Alignment, f64)>,
}

/// The places of the pairs that are translated, among so many: each file of several has its share.
fn translated(pairs: usize) -> Vec<usize> {
    let most = pairs.min(MOST_TRANSLATED);
    (0..most).map(|number| number * pairs / most).collect()
}

impl ValidationSet<'_> {
    /// Measures a model.
    ///
    /// # Errors
    /// The model's own.
    pub fn report(&self, model: &RnnSearch, smoothing: f64) -> Result<ValidationReport> {
        let ReferenceLoss { loss, attention, samples } = self.force(model, smoothing)?;
        let translated = translated(self.examples.len());
        let source = |&place: &usize| Source::from(self.examples[place].source.clone());
        let sources: Vec<Source> = translated.iter().map(source).collect();
        let found = search_all(&[model], &sources, &BeamSearch::greedy().into(), &mut |_| {})?;
        let translations: Vec<String> =
            found.iter().map(|hypotheses| self.target_vocabulary.decode(&hypotheses[0].units)).collect();
        let normalization = self.target_vocabulary.normalization();
        let references: Vec<Cow<str>> =
            translated.iter().map(|&place| normalization.apply(&self.pairs[place].target)).collect();
        let sample = |((pair, translation), (attention, score)): ((&Pair, &String), (Alignment, f64))| Sample {
            source: pair.source.clone(),
            reference: pair.target.clone(),
            translation: translation.clone(),
            attention,
            score,
        };
        Ok(ValidationReport {
            loss: loss.smoothed / loss.units as f64,
            perplexity: metrics::perplexity(loss.negative_log_likelihood, loss.units),
            scores: Scores::compute(&translations, &references),
            attention,
            samples: translated
                .iter()
                .map(|&place| &self.pairs[place])
                .zip(&translations)
                .zip(samples)
                .map(sample)
                .collect(),
        })
    }

    /// Forced decoding of all pairs.
    fn force(&self, model: &RnnSearch, smoothing: f64) -> Result<ReferenceLoss> {
        let lengths: Vec<(usize, usize)> =
            self.examples.iter().map(|example| (example.source.len(), example.target.len())).collect();
        let mut stream = crate::random::SeededRng::new(0, "validation", 0);
        let (mut loss, mut attention) = (BatchLoss::default(), AttentionSums::default());
        let mut samples = BTreeMap::new();
        let sampled = &translated(self.examples.len())[..SAMPLES.min(self.examples.len())];
        for chosen in bucketed(&lengths, BatchSize::Tokens(2048), &mut stream) {
            let batch = Batch::new(self.examples, &chosen);
            for (&index, pair) in chosen.iter().zip(model.force_decode(&batch, smoothing)?) {
                loss += BatchLoss {
                    smoothed: pair.smoothed,
                    negative_log_likelihood: -pair.log_probability(),
                    guidance: 0.0,
                    units: pair.weights.len(),
                };
                let units = self.alignment(index, &pair.weights);
                attention.add(&units);
                if sampled.contains(&index) {
                    let score = pair.log_probability() / pair.weights.len() as f64;
                    samples.insert(index, (self.by_words(index, &units)?, score));
                }
            }
        }
        let settings = &model.architecture().attention;
        let mut health = attention.stats();
        if settings.is_hard() {
            health.row_entropy = None;
        }
        let attention = (!settings.is_fixed()).then_some(health);
        Ok(ReferenceLoss { loss, attention, samples: samples.into_values().collect() })
    }

    /// The alignment of a pair by the model's units.
    fn alignment(&self, index: usize, rows: &[Vec<f32>]) -> Alignment {
        let example = &self.examples[index];
        let source = self.source_vocabulary.written(&example.source);
        Alignment::from_rows(source, self.target_vocabulary.written(&example.target), rows)
    }

    /// The alignment of a pair's words, by that of its units.
    fn by_words(&self, index: usize, units: &Alignment) -> Result<Alignment> {
        let (pair, example) = (&self.pairs[index], &self.examples[index]);
        let cut = |vocabulary: &Vocabulary, text: &str, length: usize| {
            vocabulary.segment(text, vocabulary.units().words()).map(|segmentation| segmentation.cut_to(length))
        };
        let source = cut(self.source_vocabulary, &pair.source, example.source.len())?;
        let target = cut(self.target_vocabulary, &pair.target, example.target.len())?;
        Ok(units.merge(source.words, &source.word_of_unit, target.words, &target.word_of_unit))
    }
}

impl ValidationReport {
    /// What it says of the model by the score that a metric speaks of. BLEU below 1 is 0.
    pub fn validation_score(&self, metric: Metric) -> ValidationScore {
        let figure = match metric {
            Metric::Bleu => self.scores.bleu,
            Metric::Chrf => self.scores.chrf,
            Metric::ExactMatch => self.scores.exact_match,
            Metric::Perplexity => self.perplexity,
        };
        ValidationScore { score: metric.score(figure), loss: self.loss }
    }
}

impl Metric {
    /// The merit in a report that the log has as this line, if it says it.
    pub fn logged_merit(self, line: &Value) -> Option<ValidationScore> {
        let key = match self {
            Self::Bleu => "bleu",
            Self::Chrf => "chrf",
            Self::ExactMatch => "exact_match",
            Self::Perplexity => "perplexity",
        };
        Some(ValidationScore { score: self.score(line[key].as_f64()?), loss: line["loss"].as_f64()? })
    }

    /// A figure of this kind, turned so that more is better.
    fn score(self, figure: f64) -> f64 {
        match self {
            Self::Bleu if figure < LEAST_BLEU => 0.0,
            Self::Perplexity => -figure,
            Self::Bleu | Self::Chrf | Self::ExactMatch => figure,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(bleu: f64) -> ValidationReport {
        ValidationReport {
            loss: 1.0,
            perplexity: 3.0,
            scores: Scores { bleu, chrf: 12.0, exact_match: 7.0, word_error_rate: 100.0, character_error_rate: 100.0 },
            attention: None,
            samples: Vec::new(),
        }
    }

    #[test]
    fn the_log_has_the_merit_of_its_report() {
        for metric in [Metric::Bleu, Metric::Chrf, Metric::ExactMatch, Metric::Perplexity] {
            for report in [report(0.3), report(31.7)] {
                let line = serde_json::to_value(&report).unwrap();
                assert_eq!(metric.logged_merit(&line), Some(report.validation_score(metric)), "{metric:?}");
            }
        }
        assert_eq!(Metric::Bleu.logged_merit(&serde_json::json!({"loss": 1.0})), None);
    }

    #[test]
    fn of_many_pairs_some_from_all_over_are_translated() {
        assert_eq!(translated(3), [0, 1, 2]);
        assert!(translated(0).is_empty());
        let some = translated(2500);
        assert!(some.len() == 1000 && some[..3] == [0, 2, 5] && some[999] == 2497);
    }

    #[test]
    fn bleu_below_one_is_noise() {
        assert_eq!([0.9, 0.2].map(|bleu| report(bleu).validation_score(Metric::Bleu).score), [0.0; 2]);
        assert_eq!(report(1.1).validation_score(Metric::Bleu).score, 1.1);
        assert_eq!(report(0.9).validation_score(Metric::Chrf).score, 12.0);
    }
}
