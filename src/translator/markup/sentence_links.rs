//! Links between the words of a sentence and of its translation, as the projection of markers asks for them.

use std::ops::Range;

use super::linked_text::LinkedText;
use crate::text::is_punctuation;

/// Links between the words of a sentence and of its translation.
pub(super) struct SentenceLinks<'t> {
    /// Text of the sentence.
    sentence: &'t str,
    /// Byte ranges of the words of the sentence.
    source_words: &'t [Range<usize>],
    /// Linked target words of each source word, in order.
    pub targets: Vec<Vec<usize>>,
    /// True for each target word that is linked.
    pub is_linked: Vec<bool>,
}

impl<'t> SentenceLinks<'t> {
    /// Collects the links of the translation of a sentence. Links of words that do not exist have no effect.
    pub fn new(sentence: &'t str, translation: &'t LinkedText) -> Self {
        let LinkedText { source_words, target_words, links, .. } = translation;
        let mut targets = vec![Vec::new(); source_words.len()];
        let mut is_linked = vec![false; target_words.len()];
        for link in links.iter().filter(|link| link.in_bounds([source_words.len(), target_words.len()])) {
            targets[link.source].push(link.target);
            is_linked[link.target] = true;
        }
        targets.iter_mut().for_each(|targets| targets.sort_unstable());
        Self { sentence, source_words, targets, is_linked }
    }

    /// Returns the words of a parent that overlap a part of the sentence.
    pub fn words_in(&self, span: &Range<usize>, parent: &Range<usize>) -> Range<usize> {
        let words = &self.source_words[parent.clone()];
        let start = parent.start + words.partition_point(|word| word.end <= span.start);
        let end = parent.start + words.partition_point(|word| word.start < span.end);
        start..end.max(start)
    }

    /// Returns the range from the first to the last word of `target` that a source word is linked to, if there is any.
    pub fn linked_range(&self, word: usize, target: &Range<usize>) -> Option<Range<usize>> {
        let mut within = self.targets[word].iter().filter(|word| target.contains(word));
        let first = *within.next()?;
        let last = within.next_back().copied().unwrap_or(first);
        Some(first..last + 1)
    }

    /// True for a source word that consists of punctuation.
    pub fn is_punctuation(&self, word: usize) -> bool {
        is_punctuation(&self.sentence[self.source_words[word].clone()])
    }
}
