//! Alignments by a model's attention.

use super::MAX_SENTENCE_TOKENS;
use crate::alignment::Alignment;
use crate::text::{Example, Segmentation};

/// Alignment of a pair by a model's attention.
#[derive(Clone, Debug)]
pub struct ForcedAlignment {
    /// Log-probability of the target given the source, in nats, with `</s>`.
    pub log_probability: f64,
    /// Number of target tokens, with `</s>`.
    pub length: usize,
    /// True if a side was truncated to [`MAX_SENTENCE_TOKENS`].
    pub cut: bool,
    /// Log-probability of each target token, and of `</s>` unless search stopped before it, in nats. Empty for text that the
    /// model did not translate.
    pub(super) token_log_probabilities: Vec<f64>,
    /// Attention between tokens, `[target tokens × source tokens]`.
    tokens: Alignment,
    /// Posterior attention between tokens, `[target tokens × source tokens]`, where it is known.
    posteriors: Option<Alignment>,
    pub(super) source: Segmentation,
    pub(super) target: Segmentation,
    /// Number of tokens of each sentence, unless one was not translated.
    sentences: Option<Vec<SentenceLengths>>,
}

/// Number of tokens of a sentence and of its translation.
#[derive(Clone, Copy, Debug)]
struct SentenceLengths {
    source: usize,
    target: usize,
}

impl ForcedAlignment {
    /// Returns the alignment of a pair with these attention weights: a row `[source tokens + 1]` for each target token, and
    /// one for `</s>` if it was predicted.
    pub(super) fn new(
        source: Segmentation,
        target: Segmentation,
        rows: &[Vec<f32>],
        log_probability: f64,
        token_log_probabilities: Vec<f64>,
    ) -> Self {
        let tokens = Alignment::from_rows(source.tokens.clone(), target.tokens.clone(), rows);
        let lengths = SentenceLengths { source: source.ids.len(), target: target.ids.len() };
        Self {
            log_probability,
            length: target.ids.len() + 1,
            cut: source.cut || target.cut,
            sentences: (!token_log_probabilities.is_empty()).then(|| vec![lengths]),
            token_log_probabilities,
            tokens,
            posteriors: None,
            source,
            target,
        }
    }

    /// Joins the alignments of consecutive sentences, as many of them as [`MAX_SENTENCE_TOKENS`] permits. There is at least
    /// one.
    pub(super) fn concat(parts: &[&Self]) -> Self {
        let joined = &parts[..joined_count(parts)];
        let posteriors: Option<Vec<&Alignment>> = joined.iter().map(|part| part.posteriors.as_ref()).collect();
        let sentences: Option<Vec<&[SentenceLengths]>> = joined.iter().map(|part| part.sentences.as_deref()).collect();
        Self {
            log_probability: parts.iter().map(|part| part.log_probability).sum(),
            length: parts.iter().map(|part| part.length).sum(),
            cut: parts.iter().any(|part| part.cut),
            token_log_probabilities: joined.iter().flat_map(|part| part.of_tokens()).copied().collect(),
            tokens: Alignment::concat(&Vec::from_iter(joined.iter().map(|part| &part.tokens))),
            posteriors: posteriors.map(|posteriors| Alignment::concat(&posteriors)),
            sentences: sentences.map(|sentences| sentences.concat()),
            source: Segmentation::concat(&Vec::from_iter(joined.iter().map(|part| &part.source))),
            target: Segmentation::concat(&Vec::from_iter(joined.iter().map(|part| &part.target))),
        }
    }

    /// Replaces the words of the target by those in another case, unless their numbers differ.
    pub(super) fn set_target_words(&mut self, words: Vec<String>) {
        if words.len() == self.target.words.len() {
            self.target.words = words;
        }
    }

    /// Drops the attention weights, which take most of the memory.
    pub(super) fn drop_weights(&mut self) {
        self.tokens = Alignment::from_rows(Vec::new(), Vec::new(), &[]);
        self.posteriors = None;
    }

    /// Mean log-probability of a target token, in nats.
    pub fn mean_log_probability(&self) -> f64 {
        self.log_probability / self.length as f64
    }

    /// Log-probabilities of the target tokens, without that of `</s>`, in nats.
    pub(super) fn of_tokens(&self) -> &[f64] {
        &self.token_log_probabilities[..self.target.ids.len().min(self.token_log_probabilities.len())]
    }

    /// Words of the source.
    pub fn source_words(&self) -> &[String] {
        &self.source.words
    }

    /// Words of the target.
    pub fn target_words(&self) -> &[String] {
        &self.target.words
    }

    /// Share of source tokens that are unknown to the model.
    pub fn unknown_share(&self) -> f64 {
        self.source.unknown_share()
    }

    /// True if more than half of the source tokens are unknown to the model.
    pub fn is_mostly_unknown(&self) -> bool {
        self.source.is_mostly_unknown()
    }

    /// Attention between tokens, `[target tokens × source tokens]`.
    pub fn by_tokens(&self) -> &Alignment {
        &self.tokens
    }

    /// Word index of each token of the source and of the target.
    pub fn words_of_tokens(&self) -> [&[usize]; 2] {
        [&self.source.word_of_token, &self.target.word_of_token]
    }

    /// Attention between words, `[target words × source words]`.
    pub fn by_words(&self) -> Alignment {
        self.merged(&self.tokens)
    }

    /// Posterior attention between tokens, `[target tokens × source tokens]`, or α where it is unknown.
    pub fn posteriors_by_tokens(&self) -> &Alignment {
        self.posteriors.as_ref().unwrap_or(&self.tokens)
    }

    /// Posterior attention between words, `[target words × source words]`, or α where it is unknown.
    pub fn posteriors_by_words(&self) -> Alignment {
        self.merged(self.posteriors_by_tokens())
    }

    /// Merges the tokens of an alignment to words.
    fn merged(&self, tokens: &Alignment) -> Alignment {
        let (source, target) = (&self.source, &self.target);
        tokens.merge(source.words.clone(), &source.word_of_token, target.words.clone(), &target.word_of_token)
    }

    /// Returns the tokens of each sentence, if posteriors are unknown but can be computed; else none.
    pub(super) fn sentences_without_posteriors(&self) -> Vec<Example> {
        let mut examples = Vec::new();
        if self.posteriors.is_some() {
            return examples;
        }
        let (mut source, mut target) = (&self.source.ids[..], &self.target.ids[..]);
        for lengths in self.sentences.iter().flatten() {
            let (own_source, other_source) = source.split_at(lengths.source);
            let (own_target, other_target) = target.split_at(lengths.target);
            examples.push(Example::new(own_source.to_vec(), own_target.to_vec()));
            (source, target) = (other_source, other_target);
        }
        examples
    }

    /// Sets the posteriors of each sentence, a row `[source tokens + 1]` for each of its target tokens.
    pub(super) fn set_posteriors(&mut self, sentences: &[Vec<Vec<f32>>]) {
        let mut parts = Vec::with_capacity(sentences.len());
        let (mut source, mut target) = (&self.source.tokens[..], &self.target.tokens[..]);
        for (lengths, rows) in self.sentences.iter().flatten().zip(sentences) {
            let (own_source, other_source) = source.split_at(lengths.source);
            let (own_target, other_target) = target.split_at(lengths.target);
            parts.push(Alignment::from_rows(own_source.to_vec(), own_target.to_vec(), rows));
            (source, target) = (other_source, other_target);
        }
        self.posteriors = Some(Alignment::concat(&Vec::from_iter(&parts)));
    }
}

/// Number of alignments, from the first on, whose sides have at most [`MAX_SENTENCE_TOKENS`] together; at least one.
fn joined_count(parts: &[&ForcedAlignment]) -> usize {
    let (mut count, mut sources, mut targets) = (0, 0, 0);
    for part in parts {
        sources += part.source.ids.len();
        targets += part.target.ids.len();
        if count > 0 && sources.max(targets) > MAX_SENTENCE_TOKENS {
            break;
        }
        count += 1;
    }
    count
}
