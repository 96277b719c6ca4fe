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
    /// Log-probability of each target token, and of `</s>` unless search stopped before it. Empty for text that the model did
    /// not translate.
    pub(super) token_log_probabilities: Vec<f64>,
    tokens: Alignment,
    /// Posterior attention of tokens, where it is known.
    posteriors: Option<Alignment>,
    pub(super) source: Segmentation,
    pub(super) target: Segmentation,
    /// Number of tokens of each sentence on both sides, unless one was not translated.
    sentences: Option<Vec<[usize; 2]>>,
}

impl ForcedAlignment {
    pub(super) fn new(
        source: Segmentation,
        target: Segmentation,
        rows: &[Vec<f32>],
        log_probability: f64,
        token_log_probabilities: Vec<f64>,
    ) -> Self {
        let tokens = Alignment::from_rows(source.tokens.clone(), target.tokens.clone(), rows);
        Self {
            log_probability,
            length: target.ids.len() + 1,
            cut: source.cut || target.cut,
            sentences: (!token_log_probabilities.is_empty()).then(|| vec![[source.ids.len(), target.ids.len()]]),
            token_log_probabilities,
            tokens,
            posteriors: None,
            source,
            target,
        }
    }

    /// Joins the alignments of consecutive sentences, as many of them as [`MAX_SENTENCE_TOKENS`] permits. There is at least one.
    pub(super) fn concat(parts: &[&Self]) -> Self {
        let tokens = |count: usize| {
            let lengths = parts[..count].iter().map(|part| [part.source.ids.len(), part.target.ids.len()]);
            lengths.reduce(|one, other| [one[0] + other[0], one[1] + other[1]]).unwrap_or_default()
        };
        let fits = |count: &usize| tokens(*count).into_iter().max() <= Some(MAX_SENTENCE_TOKENS);
        let joined = &parts[..(2..=parts.len()).take_while(fits).last().unwrap_or(1)];
        let segmentations = |side: fn(&Self) -> &Segmentation| {
            Segmentation::concat(&Vec::from_iter(joined.iter().map(|part| side(part))))
        };
        let posteriors: Option<Vec<&Alignment>> = joined.iter().map(|part| part.posteriors.as_ref()).collect();
        let sentences: Option<Vec<&Vec<[usize; 2]>>> = joined.iter().map(|part| part.sentences.as_ref()).collect();
        Self {
            log_probability: parts.iter().map(|part| part.log_probability).sum(),
            length: parts.iter().map(|part| part.length).sum(),
            cut: parts.iter().any(|part| part.cut),
            token_log_probabilities: joined.iter().flat_map(|part| part.of_tokens()).copied().collect(),
            tokens: Alignment::concat(&Vec::from_iter(joined.iter().map(|part| &part.tokens))),
            posteriors: posteriors.map(|posteriors| Alignment::concat(&posteriors)),
            sentences: sentences.map(|sentences| sentences.into_iter().flatten().copied().collect()),
            source: segmentations(|part| &part.source),
            target: segmentations(|part| &part.target),
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

    /// Log-probabilities of the target tokens, without that of `</s>`.
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

    /// Alignment of tokens.
    pub fn by_tokens(&self) -> &Alignment {
        &self.tokens
    }

    /// Word index of each token of the source and of the target.
    pub fn words_of_tokens(&self) -> [&[usize]; 2] {
        [&self.source.word_of_token, &self.target.word_of_token]
    }

    /// Alignment of words.
    pub fn by_words(&self) -> Alignment {
        self.merged(&self.tokens)
    }

    /// Posterior attention of tokens, or α where it is unknown.
    pub fn posteriors_by_tokens(&self) -> &Alignment {
        self.posteriors.as_ref().unwrap_or(&self.tokens)
    }

    /// Posterior attention of words, or α where it is unknown.
    pub fn posteriors_by_words(&self) -> Alignment {
        self.merged(self.posteriors_by_tokens())
    }

    fn merged(&self, tokens: &Alignment) -> Alignment {
        let (source, target) = (&self.source, &self.target);
        tokens.merge(source.words.clone(), &source.word_of_token, target.words.clone(), &target.word_of_token)
    }

    /// Sentences on both sides, if posteriors are unknown but can be computed.
    pub(super) fn sentences_without_posteriors(&self) -> Vec<Example> {
        let (mut source, mut target) = (&self.source.ids[..], &self.target.ids[..]);
        let lengths = self.sentences.iter().filter(|_| self.posteriors.is_none()).flatten();
        let example = |&[sources, targets]: &[usize; 2]| {
            let (own_source, own_target);
            (own_source, source) = source.split_at(sources);
            (own_target, target) = target.split_at(targets);
            Example::new(own_source.to_vec(), own_target.to_vec())
        };
        lengths.map(example).collect()
    }

    /// Adds the posteriors of each sentence, in rows of tokens.
    pub(super) fn set_posteriors(&mut self, sentences: &[Vec<Vec<f32>>]) {
        let (mut source, mut target) = (&self.source.tokens[..], &self.target.tokens[..]);
        let part = |(&[sources, targets], rows): (&[usize; 2], &Vec<Vec<f32>>)| {
            let (own_source, own_target);
            (own_source, source) = source.split_at(sources);
            (own_target, target) = target.split_at(targets);
            Alignment::from_rows(own_source.to_vec(), own_target.to_vec(), rows)
        };
        let parts: Vec<Alignment> = self.sentences.iter().flatten().zip(sentences).map(part).collect();
        self.posteriors = Some(Alignment::concat(&Vec::from_iter(&parts)));
    }
}
