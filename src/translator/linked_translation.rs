//! Translations and pairs with their links, as renderers take them.

use anyhow::Result;

use super::{ForcedAlignment, LinkedPair, Linker, Sentence, Translation};
use crate::render::{Item, TokenAlignment};
use crate::text::Pair;

/// Translation with its links.
pub struct LinkedTranslation<'a> {
    /// Index of the sentence.
    pub sentence: usize,
    /// Rank among the translations of the sentence, from 1.
    pub rank: usize,
    /// Sentence without tag and features.
    pub source: &'a str,
    /// The translation.
    pub translation: &'a Translation,
    /// Its links.
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
        let of = |(index, (sentence, found)): (usize, (&'a Sentence, &'a Vec<Translation>))| {
            let ranked = (1..).zip(found);
            ranked.map(move |(rank, translation)| (index, rank, sentence, translation))
        };
        let all = || sentences.iter().zip(translations).enumerate().flat_map(of);
        let pair = |(.., sentence, one): (usize, usize, &Sentence, &Translation)| {
            let given = || Pair::new(&*sentence.text, &*one.text);
            one.without_markup.clone().unwrap_or_else(given)
        };
        let pairs: Vec<Pair> = all().map(pair).collect();
        let linked = self.link_aligned(all().map(|(.., one)| one.alignment.clone()).collect(), &pairs)?;
        let with_links =
            |((sentence, rank, given, translation), linked): ((usize, usize, &'a Sentence, _), LinkedPair)| {
                LinkedTranslation { sentence, rank, source: given.given(), translation, linked }
            };
        Ok(all().zip(linked).map(with_links).collect())
    }
}
