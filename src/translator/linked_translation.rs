//! Translations and pairs with their links, as renderers take them.

use anyhow::Result;

use super::{ForcedAlignment, LinkedPair, Linker, Sentence, Translation};
use crate::alignment::Doubts;
use crate::render::{Item, TokenAlignment};
use crate::text::Pair;

/// Translation with its links.
pub struct LinkedTranslation<'a> {
    /// Index of the sentence among those that were translated together.
    pub sentence: usize,
    /// Rank among the translations of the sentence, from 1.
    pub rank: usize,
    /// Sentence without tag and features.
    pub source: &'a str,
    /// Translation of the sentence.
    pub translation: &'a Translation,
    /// Reasons to doubt it, with the indices of words; without them if tokens are linked.
    pub doubts: Doubts,
    /// The sentence and its translation with their word links.
    pub linked: LinkedPair,
}

impl LinkedTranslation<'_> {
    /// Returns the translation for renderers, with the alignment of tokens beside that of words if `with_tokens`.
    pub fn item(&self, with_tokens: bool) -> Item<'_> {
        let text = &*self.translation.text;
        Item {
            rank: Some(self.rank),
            translation: Some(text),
            score: self.translation.score,
            doubts: Some(&self.doubts),
            ..self.linked.item(self.sentence, [self.source, text], with_tokens)
        }
    }
}

impl LinkedPair {
    /// Returns the pair for renderers, with the alignment of tokens beside that of words if `with_tokens`.
    pub fn item<'a>(&'a self, id: usize, texts: [&'a str; 2], with_tokens: bool) -> Item<'a> {
        let tokens = self.aligned.as_ref().filter(|_| with_tokens).map(|aligned| {
            let [source_words, target_words] = aligned.words_of_tokens();
            TokenAlignment { alignment: aligned.by_tokens(), source_words, target_words }
        });
        Item {
            id,
            rank: None,
            texts,
            translation: None,
            alignment: &self.alignment,
            link_scores: &self.link_scores,
            links: &self.links,
            score: self.score,
            unknown: self.aligned.as_ref().map(ForcedAlignment::unknown_share),
            estimate: self.estimate.as_ref(),
            doubts: None,
            gold: None,
            tokens,
            error: None,
        }
    }
}

impl Linker {
    /// Links the translations of sentences, in order.
    ///
    /// # Errors
    /// The reverse model fails.
    pub fn link_translations<'a>(
        &self,
        translations: &'a [Vec<Translation>],
        sentences: &'a [Sentence],
    ) -> Result<Vec<LinkedTranslation<'a>>> {
        let mut pairs = Vec::new();
        let mut aligned = Vec::new();
        for (sentence, translations) in sentences.iter().zip(translations) {
            for translation in translations {
                let without_markup = translation.without_markup.clone();
                pairs.push(without_markup.unwrap_or_else(|| Pair::new(&*sentence.text, &*translation.text)));
                aligned.push(translation.alignment.clone());
            }
        }
        let mut linked_pairs = self.link_aligned(aligned, &pairs)?.into_iter();
        let mut linked_translations = Vec::with_capacity(pairs.len());
        for (index, (sentence, translations)) in sentences.iter().zip(translations).enumerate() {
            for ((rank, translation), linked) in (1..).zip(translations).zip(linked_pairs.by_ref()) {
                let source = sentence.given();
                let mut doubts = translation.doubts.clone();
                if self.by_tokens {
                    doubts.uncovered.clear();
                }
                linked_translations.push(LinkedTranslation {
                    sentence: index,
                    rank,
                    source,
                    translation,
                    doubts,
                    linked,
                });
            }
        }
        Ok(linked_translations)
    }
}
