//! Translation of texts with tags and placeholders.

use std::ops::Range;

use anyhow::Result;
use rayon::prelude::*;

use super::{LinkedText, MarkedUp, Markup, MarkupOptions, Placeholders};
use crate::alignment::Link;
use crate::reporter::Silent;
use crate::text::{Pair, locate_words};
use crate::translator::{
    ForcedAlignment, LinkOptions, LinkedPair, Linker, MAX_SENTENCE_UNITS, Request, Sentence, Translation, Translator,
};

impl Translator {
    /// Returns the options for texts with this markup that suit the model: known kinds of placeholders are taken out, except the
    /// model's protected tokens, which it has learned to translate. A model of characters keeps all of them.
    pub fn markup_options(&self, markup: Markup) -> MarkupOptions {
        let text = &self.config().text;
        let of_characters = text.has_character_units();
        let placeholders = if of_characters {
            Placeholders::none()
        } else {
            Placeholders::default().except(&text.source_protected_tokens)
        };
        MarkupOptions { markup, placeholders }
    }

    /// Returns the options as [`Self::markup_options`] does, with the placeholders that a regular expression matches, or with
    /// none if it is `none`.
    ///
    /// # Errors
    /// It is not a regular expression (a [`UsageError`](crate::error::UsageError)).
    pub fn markup_options_with(&self, markup: Markup, placeholders: Option<&str>) -> Result<MarkupOptions> {
        let options = self.markup_options(markup);
        let placeholders = match placeholders {
            None => options.placeholders,
            Some("none") => Placeholders::none(),
            Some(regex) => Placeholders::matching(regex)?,
        };
        Ok(MarkupOptions { placeholders, ..options })
    }

    /// Translates sentences as [`Self::translate_batch`] does, without their tags and placeholders, which are put back. Each of
    /// the sentences may consist of several ones in the sense of [`MarkedUp`]; all are translated together, and the alignment of
    /// the result is that of their words.
    ///
    /// # Errors
    /// As [`Self::translate_batch`], and the aligner's file is damaged.
    pub fn translate_batch_marked_up(
        &self,
        sentences: &[Sentence],
        options: &MarkupOptions,
        request: &Request,
        on_progress: &mut (dyn FnMut(usize) + Send),
    ) -> Result<Vec<Vec<Translation>>> {
        let mut texts = MarkedUpTexts::new(sentences.to_vec(), options);
        let parts = texts.sentences().len();
        let (mut done, mut reported) = (0, 0);
        let mut on_parts = |count: usize| {
            done += count;
            let texts = done * sentences.len() / parts;
            on_progress(texts - reported);
            reported = texts;
        };
        let translations = self.translate_batch(texts.sentences(), request, &mut on_parts)?;
        texts.add(self, translations)
    }
}

/// Texts with tags and placeholders, whose sentences are translated in any number of parts, in order.
pub struct MarkedUpTexts {
    given: Vec<Sentence>,
    texts: Vec<MarkedUp>,
    /// Sentences of all texts; a blank one for a text without sentences.
    sentences: Vec<Sentence>,
    /// True for a sentence with markers.
    has_markers: Vec<bool>,
    /// Range of the sentences of each text.
    of_texts: Vec<Range<usize>>,
    /// Number of texts that are complete.
    complete: usize,
    /// Translated sentences of the text after these.
    translated: Vec<TranslatedSentence>,
}

/// Translations of a sentence with the links of their words, or none if it has no markers.
struct TranslatedSentence {
    translations: Vec<Translation>,
    links: Vec<WordLinks>,
}

impl TranslatedSentence {
    /// Index of the translation of this rank, or of the last one.
    fn ranked(&self, rank: usize) -> usize {
        rank.min(self.translations.len() - 1)
    }
}

impl MarkedUpTexts {
    /// Takes tags and placeholders out of texts.
    pub fn new(given: Vec<Sentence>, options: &MarkupOptions) -> Self {
        let texts: Vec<MarkedUp> =
            given.par_iter().map(|sentence| MarkedUp::parse(sentence.given(), options)).collect();
        let (mut sentences, mut has_markers, mut of_texts) = (Vec::new(), Vec::new(), Vec::new());
        for (index, (text, given)) in (0u64..).zip(texts.iter().zip(&given)) {
            let first = sentences.len();
            for (part, one) in (0u64..).zip(text.marked_sentences()) {
                // Draws depend on the place of a sentence in its text, not on the other texts.
                let seed_index = Some(given.seed_index.unwrap_or(index) + (part << u32::BITS));
                sentences.push(Sentence { seed_index, ..given.with_text(&one.text) });
                has_markers.push(!one.markers.is_empty());
            }
            if sentences.len() == first {
                sentences.push(Sentence::default());
                has_markers.push(false);
            }
            of_texts.push(first..sentences.len());
        }
        Self { given, texts, sentences, has_markers, of_texts, complete: 0, translated: Vec::new() }
    }

    /// The texts.
    pub fn given(&self) -> &[Sentence] {
        &self.given
    }

    /// Sentences to translate, at least one of each text.
    pub fn sentences(&self) -> &[Sentence] {
        &self.sentences
    }

    /// Takes the translations of the next sentences. Returns those of the texts that are now complete, in order.
    ///
    /// # Errors
    /// The translator's aligner is damaged.
    pub fn add(
        &mut self,
        translator: &Translator,
        translations: Vec<Vec<Translation>>,
    ) -> Result<Vec<Vec<Translation>>> {
        let first = self.of_texts.get(self.complete).map_or(0, |range| range.start) + self.translated.len();
        let mut links = self.link(translator, first, &translations)?.into_iter();
        let mut done = Vec::new();
        for (translations, links) in translations.into_iter().zip(links.by_ref()) {
            self.translated.push(TranslatedSentence { translations, links });
            let Some(range) = self.of_texts.get(self.complete) else { break };
            if self.translated.len() == range.len() {
                done.push(self.complete_text()?);
            } else {
                self.drop_unused_weights(range.clone());
            }
        }
        Ok(done)
    }

    /// Drops the attention of the last translated sentence if it is not part of the alignment of its whole text.
    fn drop_unused_weights(&mut self, range: Range<usize>) {
        let tokens = self.translated.iter().filter_map(|one| one.translations.first()).map(Translation::source_len);
        if range.len() > 1
            && tokens.sum::<usize>() > MAX_SENTENCE_UNITS
            && let Some(last) = self.translated.last_mut()
        {
            last.translations.iter_mut().for_each(|translation| translation.alignment.drop_weights());
        }
    }

    /// Links the words of the translations of sentences with markers, of which the first has this index.
    fn link(
        &self,
        translator: &Translator,
        first: usize,
        translations: &[Vec<Translation>],
    ) -> Result<Vec<Vec<WordLinks>>> {
        let mut pairs = Vec::new();
        for (index, translations) in (first..).zip(translations).filter(|(index, _)| self.has_markers[*index]) {
            pairs.extend(translations.iter().map(|one| Pair::new(&*self.sentences[index].text, &*one.text)));
        }
        if pairs.is_empty() {
            return Ok(vec![Vec::new(); translations.len()]);
        }
        let translator = translator.clone().with_finest_words();
        let linker = Linker::with_options(&LinkOptions::default(), Some(&translator), &[], &Silent)?;
        let linked = linker.link(&pairs, &mut |_| {})?;
        let mut links = pairs.iter().zip(&linked);
        let mut of_sentences = Vec::with_capacity(translations.len());
        for (index, translations) in (first..).zip(translations) {
            let count = if self.has_markers[index] { translations.len() } else { 0 };
            let prefix = self.sentences[index].prefix_len;
            let links = links.by_ref().take(count).map(|(pair, linked)| WordLinks::new(pair, prefix, linked));
            of_sentences.push(links.collect());
        }
        Ok(of_sentences)
    }

    /// Returns the translations of the next text, all of whose sentences are translated.
    fn complete_text(&mut self) -> Result<Vec<Translation>> {
        let translated = std::mem::take(&mut self.translated);
        let index = self.complete;
        self.complete += 1;
        if self.texts[index].is_plain() {
            return Ok(translated.into_iter().flat_map(|one| one.translations).collect());
        }
        // A cancelled sentence has no translation.
        let counts = translated.iter().map(|one| one.translations.len());
        let ranks = if counts.clone().min() == Some(0) { 0 } else { counts.max().unwrap_or_default() };
        (0..ranks).map(|rank| self.render(index, rank, &translated)).collect()
    }

    /// Returns a text with the translation of this rank of each of its sentences, or with the last one.
    fn render(&self, index: usize, rank: usize, translated: &[TranslatedSentence]) -> Result<Translation> {
        let text = &self.texts[index];
        let parts: Vec<&Translation> = translated.iter().map(|one| &one.translations[one.ranked(rank)]).collect();
        let mut linked = Vec::with_capacity(translated.len());
        // A text without sentences has a blank one here.
        for (one, part) in translated.iter().zip(&parts).take(text.sentences().count()) {
            let links = one.links.get(one.ranked(rank));
            linked.push(LinkedText {
                text: &part.text,
                source_words: links.map(|links| links.words[0].clone()).unwrap_or_default(),
                target_words: links.map(|links| links.words[1].clone()).unwrap_or_default(),
                links: links.map_or(&[], |links| &links.links),
            });
        }
        let sentences = &self.sentences[self.of_texts[index].clone()];
        let sources = Vec::from_iter(sentences.iter().map(|sentence| sentence.text.as_str()));
        let targets = Vec::from_iter(parts.iter().map(|part| part.text.as_str()));
        let alignments = Vec::from_iter(parts.iter().map(|part| &part.alignment));
        let without_markup = Pair { source: sources.join(" "), target: targets.join(" ") };
        Ok(Translation {
            text: text.render(&linked)?,
            log_probability: parts.iter().map(|part| part.log_probability).sum(),
            score: parts.iter().map(|part| part.score).sum::<f64>() / parts.len() as f64,
            unmet_constraints: parts.iter().map(|part| part.unmet_constraints).sum(),
            alignment: ForcedAlignment::concat(&alignments),
            without_markup: Some(without_markup),
        })
    }
}

/// Words of a sentence pair as byte ranges, with their links.
#[derive(Clone)]
struct WordLinks {
    /// Words of the sentence and of its translation.
    words: [Vec<Range<usize>>; 2],
    links: Vec<Link>,
}

impl WordLinks {
    /// Takes the links of a pair whose source begins with a prefix of so many bytes, which is not part of the sentence.
    fn new(pair: &Pair, prefix: usize, linked: &LinkedPair) -> Self {
        let source = locate_words(&pair.source, linked.alignment.source());
        let target = locate_words(&pair.target, linked.alignment.target());
        let before = source.partition_point(|word| word.end <= prefix);
        let without_prefix = |word: &Range<usize>| word.start.saturating_sub(prefix)..word.end - prefix;
        let source = source[before..].iter().map(without_prefix).collect();
        let offset = -(before as isize);
        let links = linked.links.iter().filter_map(|link| link.moved(offset, 0)).collect();
        Self { words: [source, target], links }
    }
}
