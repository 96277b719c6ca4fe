//! Translations of the sentences of a text with markup, with the links of their words.

use std::ops::Range;

use super::PlaceholderPlace;
use super::linked_text::{LinkedText, ProjectedText};
use crate::alignment::Link;
use crate::text::{Pair, Segmentation, WordSplitting, locate_words, word_spans};
use crate::translator::{LinkedPair, PreparedTranslator, Sentence, Translation};

/// Translations of a sentence, best first.
pub(super) struct TranslatedSentence {
    pub translations: Vec<Translation>,
    /// Links of the words of each translation; none if the sentence has no markers.
    pub links: Vec<WordLinks>,
}

/// Words of a sentence and of its translation as byte ranges, with their links.
pub(super) struct WordLinks {
    source_words: Vec<Range<usize>>,
    target_words: Vec<Range<usize>>,
    links: Vec<Link>,
    /// True if a side was too long to be linked to its end.
    cut: bool,
}

impl WordLinks {
    /// Takes the links of a pair whose source begins with a prefix of so many bytes, which is not part of the sentence.
    pub fn new(pair: &Pair, prefix: usize, linked: &LinkedPair) -> Self {
        let source = locate_words(&pair.source, linked.alignment.source());
        let before = source.partition_point(|word| word.end <= prefix);
        let words = source[before..].iter();
        let offset = -(before as isize);
        Self {
            source_words: words.map(|word| word.start.saturating_sub(prefix)..word.end - prefix).collect(),
            target_words: locate_words(&pair.target, linked.alignment.target()),
            links: linked.links.iter().filter_map(|link| link.moved(offset, 0)).collect(),
            cut: linked.cut,
        }
    }

    /// Links each word of a text with itself.
    pub fn of_copy(text: &str) -> Self {
        let words = word_spans(text, WordSplitting::Terms);
        let links = (0..words.len()).map(|word| Link { source: word, target: word }).collect();
        Self { source_words: words.clone(), target_words: words, links, cut: false }
    }
}

/// Translation of a sentence with what its markers depend on.
pub(super) struct TranslatedPart<'p> {
    pub translation: &'p Translation,
    linked: LinkedText<'p>,
    /// True if the sentence was too long, so that the translation or its links lack the end.
    is_cut: bool,
    /// Places of placeholders in the translation that constraints know.
    places: Vec<PlaceholderPlace>,
}

impl<'p> TranslatedPart<'p> {
    /// Returns the translation of a sentence of this rank, counted from 0, or the last one.
    pub fn new(
        translator: &PreparedTranslator,
        sentence: &Sentence,
        translated: &'p TranslatedSentence,
        rank: usize,
    ) -> Self {
        let rank = rank.min(translated.translations.len() - 1);
        let (translation, links) = (&translated.translations[rank], translated.links.get(rank));
        let surface_forms = translator.translator().checkpoint().target.surface_forms();
        let is_cut = !translation.is_copy() && translation.alignment.source.cut;
        Self {
            translation,
            linked: LinkedText {
                text: &translation.text,
                source_words: links.map_or_else(Vec::new, |links| links.source_words.clone()),
                target_words: links.map_or_else(Vec::new, |links| links.target_words.clone()),
                links: links.map_or(&[], |links| &links.links),
            },
            is_cut: is_cut || links.is_some_and(|links| links.cut),
            places: translator.constraints().places(sentence, &translation.text, surface_forms),
        }
    }

    /// Returns the translation as the projection of the markers takes it.
    pub fn projected(&self) -> ProjectedText<'_> {
        ProjectedText { linked: &self.linked, is_cut: self.is_cut, places: &self.places }
    }
}

/// Returns the text of a sentence up to the last word that was read for its translation.
pub(super) fn read_part<'s>(sentence: &'s Sentence, translation: &Translation, splitting: WordSplitting) -> &'s str {
    let Segmentation { words, cut, .. } = &translation.alignment.source;
    if !cut {
        return &sentence.text;
    }
    let spans = word_spans(&sentence.text, splitting);
    let end = spans.get(words.len().saturating_sub(1)).map_or(sentence.text.len(), |last| last.end);
    &sentence.text[..end.max(sentence.prefix_len)]
}
