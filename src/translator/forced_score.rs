//! Probability of a given translation.

use serde::Serialize;

use crate::render::SCHEMA;
use crate::text::{Pair, Segmentation};

/// Log-probability of a target given its source, in nats.
#[derive(Clone, Debug)]
pub struct ForcedScore {
    /// Words of the target.
    pub words: Vec<ScoredWord>,
    /// Log-probability of `</s>`, in nats.
    pub end: f64,
    /// Number of target tokens, with `</s>`.
    pub tokens: usize,
    /// True if a side was truncated to [`MAX_SENTENCE_TOKENS`](super::MAX_SENTENCE_TOKENS).
    pub cut: bool,
}

impl ForcedScore {
    /// Sums the log-probabilities of target tokens, `</s>` last, by word.
    pub(super) fn new(source: &Segmentation, target: Segmentation, log_probabilities: &[f64]) -> Self {
        let words = target.words.into_iter().map(|word| ScoredWord { word, log_probability: 0.0 });
        let mut words: Vec<ScoredWord> = words.collect();
        for (&word, log_probability) in target.word_of_token.iter().zip(log_probabilities) {
            words[word].log_probability += log_probability;
        }
        let end = log_probabilities.last().copied().unwrap_or_default();
        Self { words, end, tokens: log_probabilities.len(), cut: source.cut || target.cut }
    }

    /// Log-probability of the target, with `</s>`, in nats.
    pub fn log_probability(&self) -> f64 {
        self.words.iter().map(|word| word.log_probability).sum::<f64>() + self.end
    }

    /// Perplexity of the target per token.
    pub fn perplexity(&self) -> f64 {
        (-self.log_probability() / self.tokens as f64).exp()
    }

    /// Returns the log-probability as text, with `words` followed by those of words and `</s>`.
    pub fn cells(&self, words: bool) -> Vec<String> {
        let mut cells = vec![format!("{:.4}", self.log_probability())];
        if words {
            for ScoredWord { word, log_probability } in &self.words {
                cells.push(format!("{word} {log_probability:.4}"));
            }
            cells.push(format!("</s> {:.4}", self.end));
        }
        cells
    }

    /// Returns the scores as a JSON object. `pair` is shown as given; `id` is its position in the input, from 0.
    ///
    /// # Errors
    /// Serialization fails.
    pub fn json(&self, id: usize, pair: &Pair) -> serde_json::Result<String> {
        serde_json::to_string(&ScoredPair {
            schema: SCHEMA,
            id,
            source_text: &pair.source,
            target_text: &pair.target,
            log_probability: self.log_probability(),
            tokens: self.tokens,
            perplexity: self.perplexity(),
            words: self.words.clone(),
            end: self.end,
        })
    }
}

/// Score of a pair as JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct ScoredPair<'a> {
    /// Version of the schema.
    schema: u32,
    /// Position of the pair, from 0.
    id: usize,
    /// Source of the pair.
    source_text: &'a str,
    /// Target of the pair.
    target_text: &'a str,
    /// Log-probability of the target, in nats, with `</s>`.
    log_probability: f64,
    /// Number of target tokens, with `</s>`.
    tokens: usize,
    /// Perplexity of the target per token.
    perplexity: f64,
    /// Words of the target.
    words: Vec<ScoredWord>,
    /// Log-probability of `</s>`, in nats.
    end: f64,
}

/// Target word with its log-probability.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct ScoredWord {
    /// Word of the target.
    pub word: String,
    /// Log-probability, in nats: the sum over the tokens of the word.
    pub log_probability: f64,
}
