//! Validation during training.

use std::borrow::Cow;

use anyhow::Result;
use serde::Serialize;
use serde_json::Value;

use super::{BestValidations, Metric, ValidationScore};
use crate::alignment::{Alignment, AttentionStats, AttentionSums};
use crate::metrics::{
    self, Better, BleuStats, BleuTokenizer, ChrfStats, EditStats, ScoreOptions, Scores, SufficientStats, selection_bias,
};
use crate::model::{BatchLoss, RnnSearch};
use crate::search::{BeamOptions, Source, search_all};
use crate::text::{
    Batch, BatchSize, EncodedCorpus, Example, ExampleLength, Pair, Segmentation, Vocabulary, are_single_words, bucketed,
};

/// Maximum number of pairs that a validation translates, evenly spaced; the loss is computed over all.
const MAX_TRANSLATED: usize = 1000;
/// Minimum BLEU that is not noise: lower values count as 0, and the loss breaks the tie.
const MIN_BLEU: f64 = 1.0;

/// Held-out pairs as text and as ids.
pub struct ValidationSet<'a> {
    /// The pairs. References are normalized before comparison with translations.
    pub corpus: &'a EncodedCorpus,
    /// Pairs whose translations and attention each report includes.
    pub samples: &'a EncodedCorpus,
    /// Source vocabulary.
    pub source_vocabulary: &'a Vocabulary,
    /// Target vocabulary.
    pub target_vocabulary: &'a Vocabulary,
    /// Perplexity of guessing by the frequency of tokens in the training data.
    pub unigram_perplexity: f64,
}

/// A validation pair with the model's translation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sample {
    /// The source sentence.
    pub source: String,
    /// Reference translation.
    pub reference: String,
    /// The model's translation.
    pub translation: String,
    /// Word alignment by attention in forced decoding of the reference.
    #[serde(skip)]
    pub attention: Alignment,
    /// Mean log-probability per token of the reference including its end, in nats.
    #[serde(skip)]
    pub score: f64,
}

/// Results of a validation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ValidationReport {
    /// Label-smoothed loss in nats per target token.
    pub loss: f64,
    /// Perplexity per target token.
    pub perplexity: f64,
    /// Perplexity of guessing by the frequency of tokens in the training data.
    #[serde(skip)]
    pub unigram_perplexity: f64,
    /// Scores of greedy translations, in percent.
    #[serde(flatten)]
    pub scores: Scores,
    /// Attention statistics in forced decoding of the references; none if attention is fixed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attention: Option<AttentionStats>,
    /// Sample translations.
    pub samples: Vec<Sample>,
    /// Greedy translations, by which the scores were computed.
    #[serde(skip)]
    pub translations: Vec<String>,
}

/// Results of forced decoding of the references.
struct ReferenceLoss {
    loss: BatchLoss,
    /// None if attention is fixed.
    attention: Option<AttentionStats>,
}

/// Returns the indices of the translated pairs. Even spacing represents each of several files.
fn translated_indices(pairs: usize) -> Vec<usize> {
    let count = pairs.min(MAX_TRANSLATED);
    (0..count).map(|number| number * pairs / count).collect()
}

impl ValidationSet<'_> {
    /// Validates a model.
    ///
    /// # Errors
    /// Those of the model.
    pub fn report(&self, model: &RnnSearch, smoothing: f64) -> Result<ValidationReport> {
        let ReferenceLoss { loss, attention } = self.force(model, smoothing)?;
        let translated = translated_indices(self.corpus.pairs.len());
        let translations = self.translate(model, translated.iter().map(|&index| &self.corpus.examples[index]))?;
        let references = self.references();
        let tokenizer = BleuTokenizer::for_references(&references);
        let options = ScoreOptions { single_words: self.has_single_words(), tokenizer };
        Ok(ValidationReport {
            loss: loss.smoothed / loss.tokens as f64,
            perplexity: metrics::perplexity(loss.negative_log_likelihood, loss.tokens),
            unigram_perplexity: self.unigram_perplexity,
            scores: Scores::compute(&translations, &references, options),
            attention,
            samples: self.samples(model)?,
            translations,
        })
    }

    /// Estimates by how much the best of these validations is better by a metric than on other pairs, because the pairs that
    /// measure it also chose it. 0 for perplexity.
    pub fn selection_bias(&self, best: &BestValidations, metric: Metric, seed: u64) -> f64 {
        let references = self.references();
        match metric {
            Metric::Bleu => {
                let tokenizer = BleuTokenizer::for_references(&references);
                bias(best, &references, |text, one| BleuStats::of_segment(text, one, tokenizer), Better::Higher, seed)
            }
            Metric::Chrf => bias(best, &references, ChrfStats::of_segment, Better::Higher, seed),
            Metric::ExactMatch => bias(best, &references, EditStats::of_whole, Better::Lower, seed),
            Metric::Wer if self.has_single_words() => bias(best, &references, EditStats::of_whole, Better::Lower, seed),
            Metric::Wer => bias(best, &references, EditStats::of_words, Better::Lower, seed),
            Metric::Perplexity => 0.0,
        }
    }

    /// Returns the normalized references of the translated pairs.
    fn references(&self) -> Vec<Cow<'_, str>> {
        let normalization = self.target_vocabulary.normalization();
        let translated = translated_indices(self.corpus.pairs.len()).into_iter();
        translated.map(|index| normalization.apply(&self.corpus.pairs[index].target)).collect()
    }

    /// Translates sources by greedy search.
    fn translate<'e>(&self, model: &RnnSearch, examples: impl Iterator<Item = &'e Example>) -> Result<Vec<String>> {
        let sources: Vec<Source> = examples.map(|example| Source::from(example.source.clone())).collect();
        let found = search_all(&[model], &sources, &BeamOptions::greedy().into(), &mut |_| {})?;
        Ok(found.iter().map(|hypotheses| self.target_vocabulary.decode(&hypotheses[0].tokens)).collect())
    }

    /// Translates the samples, and aligns their references.
    fn samples(&self, model: &RnnSearch) -> Result<Vec<Sample>> {
        let EncodedCorpus { pairs, examples, .. } = self.samples;
        let translations = self.translate(model, examples.iter())?;
        let forced = model.force_decode(&Batch::new(examples, &Vec::from_iter(0..examples.len())), 0.0)?;
        let mut samples = Vec::with_capacity(pairs.len());
        for (index, (translation, forced)) in translations.into_iter().zip(forced).enumerate() {
            let (pair, example) = (&pairs[index], &examples[index]);
            let tokens = self.token_alignment(example, forced.alignment());
            samples.push(Sample {
                source: pair.source.clone(),
                reference: pair.target.clone(),
                translation,
                attention: self.word_alignment(pair, example, &tokens)?,
                score: forced.log_probability() / forced.log_probabilities.len() as f64,
            });
        }
        Ok(samples)
    }

    /// Returns true if every source is a single word, apart from tags and features.
    fn has_single_words(&self) -> bool {
        let protected = self.source_vocabulary.protected_tokens();
        are_single_words(self.corpus.pairs.iter().map(|pair| protected.remove_from(&pair.source)))
    }

    /// Runs forced decoding of all pairs.
    fn force(&self, model: &RnnSearch, smoothing: f64) -> Result<ReferenceLoss> {
        let examples = &self.corpus.examples;
        let lengths: Vec<ExampleLength> = examples.iter().map(Example::length).collect();
        let mut rng = crate::random::SeededRng::new(0, "validation", 0);
        let (mut loss, mut attention) = (BatchLoss::default(), AttentionSums::default());
        for indices in bucketed(&lengths, BatchSize::Tokens(2048), &mut rng) {
            let batch = Batch::new(examples, &indices);
            for (&index, pair) in indices.iter().zip(model.force_decode(&batch, smoothing)?) {
                loss += BatchLoss {
                    smoothed: pair.smoothed,
                    negative_log_likelihood: -pair.log_probability(),
                    guidance: 0.0,
                    tokens: pair.log_probabilities.len(),
                };
                attention.add(&self.token_alignment(&examples[index], pair.alignment()));
            }
        }
        let settings = &model.architecture().attention;
        let mut stats = attention.stats();
        if settings.is_hard() {
            stats.row_entropy = None;
        }
        let attention = (!settings.is_fixed()).then_some(stats);
        Ok(ReferenceLoss { loss, attention })
    }

    fn token_alignment(&self, example: &Example, rows: &[Vec<f32>]) -> Alignment {
        let source = self.source_vocabulary.written(&example.source);
        Alignment::from_rows(source, self.target_vocabulary.written(&example.target), rows)
    }

    fn word_alignment(&self, pair: &Pair, example: &Example, tokens: &Alignment) -> Result<Alignment> {
        let source = segmented(self.source_vocabulary, &pair.source, example.source.len())?;
        let target = segmented(self.target_vocabulary, &pair.target, example.target.len())?;
        Ok(tokens.merge(source.words, &source.word_of_token, target.words, &target.word_of_token))
    }
}

/// Estimates the selection bias of the best validation by the statistics of translations against their references.
fn bias<C: SufficientStats>(
    best: &BestValidations,
    references: &[Cow<str>],
    stats: impl Fn(&str, &str) -> C,
    better: Better,
    seed: u64,
) -> f64 {
    let mut candidates: Vec<Vec<C>> = Vec::new();
    for translations in best.translations() {
        let segments = translations.iter().zip(references);
        candidates.push(segments.map(|(translation, reference)| stats(translation, reference)).collect());
    }
    selection_bias(&candidates, better, seed)
}

/// Segments a text, as far as its first tokens reach.
fn segmented(vocabulary: &Vocabulary, text: &str, tokens: usize) -> Result<Segmentation> {
    Ok(vocabulary.segment(text, vocabulary.tokenization().words())?.cut_to(tokens))
}

impl ValidationReport {
    /// Returns the result by a metric. BLEU below 1 counts as 0.
    pub fn validation_score(&self, metric: Metric) -> ValidationScore {
        let value = match metric {
            Metric::Bleu => self.scores.bleu,
            Metric::Chrf => self.scores.chrf,
            Metric::ExactMatch => self.scores.exact_match,
            Metric::Wer => self.scores.errors.values()[0],
            Metric::Perplexity => self.perplexity,
        };
        ValidationScore { score: metric.score(value), loss: self.loss }
    }
}

impl Metric {
    /// Reads the result of a validation from its line in the log.
    pub fn logged_score(self, line: &Value) -> Option<ValidationScore> {
        let keys: &[&str] = match self {
            Self::Bleu => &["bleu"],
            Self::Chrf => &["chrf"],
            Self::ExactMatch => &["exact_match"],
            // Of single words, or of sentences.
            Self::Wer => &["wer", "word_error_rate"],
            Self::Perplexity => &["perplexity"],
        };
        let value = keys.iter().find_map(|key| line[key].as_f64())?;
        Some(ValidationScore { score: self.score(value), loss: line["loss"].as_f64()? })
    }

    /// Returns the score of a value of this metric; higher is better.
    fn score(self, value: f64) -> f64 {
        match self {
            Self::Bleu if value < MIN_BLEU => 0.0,
            Self::Wer | Self::Perplexity => -value,
            Self::Bleu | Self::Chrf | Self::ExactMatch => value,
        }
    }
}

#[cfg(test)]
impl ValidationReport {
    /// Returns a report of single words with this BLEU.
    pub fn of_bleu(bleu: f64) -> Self {
        let errors = crate::metrics::ErrorRates::SingleWords { wer: 93.0, per: 40.0 };
        Self {
            loss: 1.0,
            perplexity: 3.0,
            unigram_perplexity: 9.0,
            scores: Scores { bleu, chrf: 12.0, exact_match: 7.0, errors },
            attention: None,
            samples: Vec::new(),
            translations: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::ErrorRates;

    #[test]
    fn reads_scores_from_the_log() {
        for metric in [Metric::Bleu, Metric::Chrf, Metric::ExactMatch, Metric::Wer, Metric::Perplexity] {
            for report in [ValidationReport::of_bleu(0.3), ValidationReport::of_bleu(31.7)] {
                let line = serde_json::to_value(&report).unwrap();
                assert_eq!(metric.logged_score(&line), Some(report.validation_score(metric)), "{metric:?}");
            }
        }
        assert_eq!(Metric::Bleu.logged_score(&serde_json::json!({"loss": 1.0})), None);
    }

    fn score_of_sentences(word_error_rate: f64) -> ValidationScore {
        score_by_errors(ErrorRates::Sentences { word_error_rate, character_error_rate: 0.0 })
    }

    fn score_by_errors(errors: ErrorRates) -> ValidationScore {
        let report = ValidationReport {
            scores: Scores { errors, ..ValidationReport::of_bleu(0.0).scores },
            ..ValidationReport::of_bleu(0.0)
        };
        assert_eq!(Metric::Wer.logged_score(&serde_json::to_value(&report).unwrap()).unwrap().loss, 1.0);
        report.validation_score(Metric::Wer)
    }

    #[test]
    fn lower_word_error_rate_is_better() {
        assert!(score_of_sentences(10.0).beats(Some(score_of_sentences(20.0))));
        let single_words = score_by_errors(ErrorRates::SingleWords { wer: 1.0, per: 9.0 });
        assert!(single_words.beats(Some(score_of_sentences(2.0))));
    }

    #[test]
    fn translates_evenly_spaced_pairs() {
        assert_eq!(translated_indices(3), [0, 1, 2]);
        assert!(translated_indices(0).is_empty());
        let spaced = translated_indices(2500);
        assert!(spaced.len() == 1000 && spaced[..3] == [0, 2, 5] && spaced[999] == 2497);
    }

    #[test]
    fn bleu_below_one_counts_as_zero() {
        assert_eq!(
            [0.9, 0.2].map(|bleu| ValidationReport::of_bleu(bleu).validation_score(Metric::Bleu).score),
            [0.0; 2]
        );
        assert_eq!(ValidationReport::of_bleu(1.1).validation_score(Metric::Bleu).score, 1.1);
        assert_eq!(ValidationReport::of_bleu(0.9).validation_score(Metric::Chrf).score, 12.0);
    }
}
