//! Translation of texts with tags and placeholders.

use std::ops::Range;

use anyhow::Result;
use rayon::prelude::*;

use super::translated_sentence::{TranslatedPart, TranslatedSentence, WordLinks, read_part};
use super::{MarkedUp, Markup, MarkupOptions, Placeholders, Rendered};
use crate::alignment::Doubts;
use crate::text::Pair;
use crate::translator::{
    ForcedAlignment, Linker, MAX_SENTENCE_TOKENS, PreparedTranslator, Sentence, SentenceQuality, Translation,
    Translator,
};

impl Translator {
    /// Returns the options of taking tags and placeholders out of texts. `placeholders` is a regular expression, or `none`;
    /// by default known kinds are taken out, except the model's protected tokens, which it has learned to translate. A model
    /// of characters keeps all of them.
    ///
    /// # Errors
    /// It is not a regular expression (a [`UsageError`](crate::error::UsageError)).
    pub(in crate::translator) fn markup_options(
        &self,
        markup: Markup,
        placeholders: Option<&str>,
    ) -> Result<MarkupOptions> {
        let text = &self.config().text;
        let placeholders = match placeholders {
            None if text.has_character_tokens() => Placeholders::none(),
            None => Placeholders::default().except(&text.source_protected_tokens),
            Some("none") => Placeholders::none(),
            Some(regex) => Placeholders::matching(regex)?,
        };
        Ok(MarkupOptions { markup, placeholders, splitter: None })
    }
}

impl PreparedTranslator {
    /// Translates texts. Returns at least one translation of each, in the order of the selection.
    ///
    /// # Errors
    /// The model's scores are not finite, or its aligner is damaged.
    pub fn translate_all<S: AsRef<str>>(&self, texts: &[S]) -> crate::Result<Vec<Vec<Translation>>> {
        let texts: Vec<Sentence> = texts.iter().map(|text| Sentence::from(text.as_ref())).collect();
        Ok(self.translate(&texts, 0, &mut |_| {})?)
    }

    /// Translates texts without their tags and placeholders, which are put back. Each text may consist of several sentences
    /// in the sense of [`MarkedUp`](super::MarkedUp); all are translated together, and the alignment of the result is that of
    /// their words. The first text has the index `first` in the seed of sampling. `on_progress` receives the number of texts
    /// of each finished batch.
    ///
    /// # Errors
    /// As [`Self::translate_batch`], and the aligner's file is damaged.
    pub fn translate(
        &self,
        given: &[Sentence],
        first: usize,
        on_progress: &mut (dyn FnMut(usize) + Send),
    ) -> Result<Vec<Vec<Translation>>> {
        let mut texts = MarkedUpTexts::new(self, given.to_vec());
        let parts = texts.sentences().len();
        let (mut done, mut reported) = (0, 0);
        let translations = self.translate_batch(texts.sentences(), first, &mut |count| {
            done += count;
            let texts = done * given.len() / parts;
            on_progress(texts - reported);
            reported = texts;
        })?;
        texts.add(self, translations)
    }
}

/// Texts with tags and placeholders, whose sentences are translated in any number of parts, in order.
pub struct MarkedUpTexts {
    /// Texts as they were given.
    given: Vec<Sentence>,
    /// Texts without their tags and placeholders.
    texts: Vec<MarkedUp>,
    /// True for a text whose translation is that of its only sentence.
    is_plain: Vec<bool>,
    /// Sentences of all texts; a blank one for a text without sentences.
    sentences: Vec<Sentence>,
    /// True for a sentence with markers.
    has_markers: Vec<bool>,
    /// Range of the sentences of each text among all sentences.
    of_texts: Vec<Range<usize>>,
    /// Number of texts that are complete.
    complete: usize,
    /// Translated sentences of the first text that is not complete.
    translated: Vec<TranslatedSentence>,
}

impl MarkedUpTexts {
    /// Takes tags and placeholders out of texts.
    pub fn new(translator: &PreparedTranslator, given: Vec<Sentence>) -> Self {
        let options = translator.markup();
        let parsed = given.par_iter().map(|sentence| {
            let placed = translator.constraints().placed_names(sentence);
            let is_placed = !placed.is_empty();
            let placeholders = options.placeholders.clone().placing(placed);
            // What a translation has to contain is asked of the text, not of each of its sentences.
            let is_whole = options.markup == Markup::None && translator.constraints().hold_for_texts(sentence);
            let splitter = options.splitter.clone().filter(|_| !is_whole);
            let text = MarkedUp::parse(sentence.given(), &MarkupOptions { placeholders, splitter, ..*options });
            let is_plain = text.is_plain() && !is_placed;
            (text, is_plain)
        });
        let (texts, is_plain): (Vec<MarkedUp>, Vec<bool>) = parsed.unzip();
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
        Self { given, texts, is_plain, sentences, has_markers, of_texts, complete: 0, translated: Vec::new() }
    }

    /// Texts as they were given.
    pub fn given(&self) -> &[Sentence] {
        &self.given
    }

    /// Sentences to translate, at least one of each text.
    pub fn sentences(&self) -> &[Sentence] {
        &self.sentences
    }

    /// Range of the sentences of each text among [`Self::sentences`].
    pub fn ranges(&self) -> &[Range<usize>] {
        &self.of_texts
    }

    /// Takes the translations of the next sentences by the translator that the texts were prepared for. Returns those of
    /// the texts that are now complete, in order.
    ///
    /// # Errors
    /// The translator's aligner is damaged.
    pub fn add(
        &mut self,
        translator: &PreparedTranslator,
        translations: Vec<Vec<Translation>>,
    ) -> Result<Vec<Vec<Translation>>> {
        let first = self.of_texts.get(self.complete).map_or(0, |range| range.start) + self.translated.len();
        let links = self.link(translator.translator(), first, &translations)?;
        let mut done = Vec::new();
        for (translations, links) in translations.into_iter().zip(links) {
            self.translated.push(TranslatedSentence { translations, links });
            let Some(range) = self.of_texts.get(self.complete).cloned() else { break };
            if self.translated.len() == range.len() {
                done.push(self.complete_text(translator, range));
            } else {
                self.drop_unused_weights();
            }
        }
        Ok(done)
    }

    /// Drops the attention of the last translated sentence if it cannot be part of the alignment of its whole text.
    fn drop_unused_weights(&mut self) {
        let best = self.translated.iter().filter_map(|one| one.translations.first());
        let tokens: usize = best.map(|translation| translation.alignment.source.ids.len()).sum();
        if tokens > MAX_SENTENCE_TOKENS
            && self.translated.len() > 1
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
        let words = translator.words()[0];
        let mut pairs = Vec::new();
        for (index, translations) in (first..).zip(translations).filter(|(index, _)| self.has_markers[*index]) {
            let translated = translations.iter().filter(|translation| !translation.is_copy());
            pairs.extend(translated.map(|one| Pair::new(read_part(&self.sentences[index], one, words), &*one.text)));
        }
        let linked = if pairs.is_empty() {
            Vec::new()
        } else {
            Linker::from_model(&translator.with_finest_words())?.link(&pairs, &mut |_| {})?
        };
        let mut linked = pairs.iter().zip(&linked);
        let mut of_sentences = Vec::with_capacity(translations.len());
        for (index, translations) in (first..).zip(translations) {
            let mut links = Vec::new();
            for translation in translations.iter().filter(|_| self.has_markers[index]) {
                if translation.is_copy() {
                    links.push(WordLinks::of_copy(&translation.text));
                } else if let Some((pair, linked)) = linked.next() {
                    links.push(WordLinks::new(pair, self.sentences[index].prefix_len, linked));
                }
            }
            of_sentences.push(links);
        }
        Ok(of_sentences)
    }

    /// Returns the translations of the next text, all of whose sentences are translated.
    fn complete_text(&mut self, translator: &PreparedTranslator, range: Range<usize>) -> Vec<Translation> {
        let translated = std::mem::take(&mut self.translated);
        let index = self.complete;
        self.complete += 1;
        if self.is_plain[index] {
            return translated.into_iter().flat_map(|one| one.translations).collect();
        }
        // A cancelled sentence has no translation.
        let counts = translated.iter().map(|one| one.translations.len());
        let ranks = if counts.clone().min() == Some(0) { 0 } else { counts.max().unwrap_or_default() };
        let mut rendered = Vec::with_capacity(ranks);
        for rank in 0..ranks {
            let mut parts = Vec::with_capacity(translated.len());
            for (sentence, one) in self.sentences[range.clone()].iter().zip(&translated) {
                parts.push(TranslatedPart::new(translator, sentence, one, rank));
            }
            rendered.push(self.render(index, range.clone(), &parts));
        }
        rendered
    }

    /// Returns a text with these translations of its sentences.
    fn render(&self, index: usize, range: Range<usize>, parts: &[TranslatedPart]) -> Translation {
        let text = &self.texts[index];
        // A text without sentences has a blank one here.
        let lines = text.lines();
        let Rendered { text: rendered, lacking } =
            text.write(&mut parts.iter().take(lines.len()).map(TranslatedPart::projected));
        let mut sentences = Vec::with_capacity(lines.len());
        for ((part, line), lacking) in parts.iter().zip(lines).zip(&lacking) {
            let quality = part.translation.quality();
            let unmet_constraints = quality.unmet_constraints + lacking;
            sentences.push(SentenceQuality { line, unmet_constraints, ..quality });
        }
        let mut doubts = Doubts::default();
        let mut words = 0;
        for TranslatedPart { translation, .. } in parts {
            doubts.extend(&translation.doubts, words);
            words += translation.alignment.source.words.len();
        }
        let sources = Vec::from_iter(self.sentences[range].iter().map(|sentence| sentence.text.as_str()));
        let targets = Vec::from_iter(parts.iter().map(|part| part.translation.text.as_str()));
        let alignment = ForcedAlignment::concat(&Vec::from_iter(parts.iter().map(|part| &part.translation.alignment)));
        // The alignment of a long text lacks the end.
        doubts.uncovered.retain(|word| *word < alignment.source.words.len());
        Translation {
            text: rendered,
            log_probability: parts.iter().map(|part| part.translation.log_probability).sum(),
            score: parts.iter().map(|part| part.translation.score).sum::<f64>() / parts.len() as f64,
            unmet_constraints: sentences.iter().map(|sentence| sentence.unmet_constraints).sum(),
            doubts,
            alignment,
            without_markup: Some(Pair { source: sources.join(" "), target: targets.join(" ") }),
            sentences,
        }
    }
}
