//! Translation of texts with tags and placeholders.

use std::ops::Range;

use anyhow::Result;
use rayon::prelude::*;

use super::projection::ProjectedText;
use super::{LinkedText, MarkedUp, Markup, MarkupOptions, PlaceholderPlace, Placeholders, Rendered};
use crate::alignment::Link;
use crate::reporter::Silent;
use crate::text::{Pair, Segmentation, WordSplitting, locate_words, word_spans};
use crate::translator::{
    ForcedAlignment, LinkOptions, LinkedPair, Linker, Request, Sentence, SentenceQuality, Translation, Translator,
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
        let placed: Vec<Vec<String>> =
            sentences.iter().map(|sentence| self.constraints.placed_names(sentence)).collect();
        let parse = |(sentence, placed): (&Sentence, &Vec<String>)| {
            let placeholders = options.placeholders.clone().placing(placed.clone());
            MarkedUp::parse(sentence.given(), &MarkupOptions { placeholders, ..*options })
        };
        let texts: Vec<MarkedUp> = sentences.par_iter().zip(&placed).map(parse).collect();
        if texts.iter().all(MarkedUp::is_plain) && placed.iter().all(Vec::is_empty) {
            return self.translate_batch(sentences, request, on_progress);
        }
        let batch = MarkedUpBatch::new(self, sentences, &texts);
        let (mut done, mut reported) = (0, 0);
        let mut scaled = |count: usize| {
            done += count;
            let texts = done * sentences.len() / batch.sentences.len();
            on_progress(texts - reported);
            reported = texts;
        };
        let translations = self.translate_batch(&batch.sentences, request, &mut scaled)?;
        batch.render(&translations, &batch.link(&translations)?)
    }
}

/// Sentences of several texts.
struct MarkedUpBatch<'t> {
    translator: &'t Translator,
    texts: &'t [MarkedUp],
    /// Sentences of all texts; a blank one for a text without sentences.
    sentences: Vec<Sentence>,
    /// True for a sentence with markers.
    has_markers: Vec<bool>,
    /// Range of the sentences of each text.
    of_texts: Vec<Range<usize>>,
}

impl<'t> MarkedUpBatch<'t> {
    fn new(translator: &'t Translator, given: &[Sentence], texts: &'t [MarkedUp]) -> Self {
        let (sentences, has_markers, of_texts) = (Vec::new(), Vec::new(), Vec::new());
        let mut batch = Self { translator, texts, sentences, has_markers, of_texts };
        for (index, (text, given)) in (0u64..).zip(texts.iter().zip(given)) {
            let first = batch.sentences.len();
            for (part, one) in (0u64..).zip(text.marked_sentences()) {
                // Draws depend on the place of a sentence in its text, not on the other texts.
                let seed_index = Some(given.seed_index.unwrap_or(index) + (part << u32::BITS));
                batch.sentences.push(Sentence { seed_index, ..given.with_text(&one.text) });
                batch.has_markers.push(!one.markers.is_empty());
            }
            if batch.sentences.len() == first {
                batch.sentences.push(Sentence::default());
                batch.has_markers.push(false);
            }
            batch.of_texts.push(first..batch.sentences.len());
        }
        batch
    }

    /// Links the words of the translations of each sentence with markers.
    fn link(&self, translations: &[Vec<Translation>]) -> Result<Vec<Vec<WordLinks>>> {
        let of_sentence = |index: usize| translations[index].iter().filter(move |_| self.has_markers[index]);
        let pairs_of = |index: usize| {
            let translated = of_sentence(index).filter(|translation| !translation.is_copy());
            translated.map(move |translation| {
                let source = self.read_part(&self.sentences[index], translation).to_owned();
                Pair { source, target: translation.text.clone() }
            })
        };
        let pairs: Vec<Pair> = (0..self.sentences.len()).flat_map(pairs_of).collect();
        let linked = if pairs.is_empty() {
            Vec::new()
        } else {
            let translator = self.translator.clone().with_finest_words();
            let linker = Linker::with_options(&LinkOptions::default(), Some(&translator), &[], &Silent)?;
            linker.link(&pairs, &mut |_| {})?
        };
        let mut linked = pairs.iter().zip(&linked);
        let links_of = |index: usize| {
            let links = of_sentence(index).map(|translation| {
                if translation.is_copy() {
                    return Some(WordLinks::of_copy(&translation.text));
                }
                let (pair, linked) = linked.next()?;
                Some(WordLinks::new(pair, self.sentences[index].prefix_len, linked))
            });
            links.flatten().collect()
        };
        Ok((0..self.sentences.len()).map(links_of).collect())
    }

    /// Text of a sentence up to the last word that was read for its translation.
    fn read_part<'s>(&self, sentence: &'s Sentence, translation: &Translation) -> &'s str {
        let Segmentation { words, cut, .. } = &translation.alignment.source;
        if !cut {
            return &sentence.text;
        }
        let spans = word_spans(&sentence.text, self.translator.words[0]);
        let end = spans.get(words.len().saturating_sub(1)).map_or(sentence.text.len(), |last| last.end);
        &sentence.text[..end.max(sentence.prefix_len)]
    }

    /// Returns the translations of the texts.
    fn render(&self, translations: &[Vec<Translation>], links: &[Vec<WordLinks>]) -> Result<Vec<Vec<Translation>>> {
        let render = |(text, indices): (&MarkedUp, &Range<usize>)| {
            // A cancelled sentence has none.
            let counts = translations[indices.clone()].iter().map(Vec::len);
            let ranks = if counts.clone().min() == Some(0) { 0 } else { counts.max().unwrap_or_default() };
            (0..ranks).map(|rank| self.render_text(text, indices, rank, translations, links)).collect()
        };
        self.texts.iter().zip(&self.of_texts).map(render).collect()
    }

    /// Returns a text with the translation of this rank of each of its sentences, or with the last one.
    fn render_text(
        &self,
        text: &MarkedUp,
        indices: &Range<usize>,
        rank: usize,
        translations: &[Vec<Translation>],
        links: &[Vec<WordLinks>],
    ) -> Result<Translation> {
        let ranked = |index: usize| rank.min(translations[index].len() - 1);
        let part =
            |index: usize| self.part(index, &translations[index][ranked(index)], links[index].get(ranked(index)));
        let parts: Vec<TranslatedPart> = indices.clone().map(part).collect();
        // A text without sentences has a blank one here.
        let lines = text.lines();
        let Rendered { text: rendered, lacking } =
            text.write(&mut parts.iter().take(lines.len()).map(TranslatedPart::projected));
        let quality = |((part, line), lacking): ((&TranslatedPart, usize), &usize)| {
            let quality = part.translation.quality();
            SentenceQuality { line, unmet_constraints: quality.unmet_constraints + lacking, ..quality }
        };
        let sentences: Vec<SentenceQuality> = parts.iter().zip(lines).zip(&lacking).map(quality).collect();
        let sources = Vec::from_iter(self.sentences[indices.clone()].iter().map(|sentence| sentence.text.as_str()));
        let parts = Vec::from_iter(parts.iter().map(|part| part.translation));
        let targets = Vec::from_iter(parts.iter().map(|part| part.text.as_str()));
        let alignments = Vec::from_iter(parts.iter().map(|part| &part.alignment));
        let without_markup = Pair { source: sources.join(" "), target: targets.join(" ") };
        Ok(Translation {
            text: rendered,
            log_probability: parts.iter().map(|part| part.log_probability).sum(),
            score: parts.iter().map(|part| part.score).sum::<f64>() / parts.len() as f64,
            unmet_constraints: sentences.iter().map(|sentence| sentence.unmet_constraints).sum(),
            alignment: ForcedAlignment::concat(&alignments),
            without_markup: Some(without_markup),
            sentences,
        })
    }

    /// Returns the translation of a sentence with all that its markers depend on.
    fn part<'p>(&self, index: usize, translation: &'p Translation, links: Option<&'p WordLinks>) -> TranslatedPart<'p> {
        let [source_words, target_words] = links.map(|links| links.words.clone()).unwrap_or_default();
        let surface_forms = self.translator.checkpoint().target.surface_forms();
        let is_cut = !translation.is_copy() && translation.alignment.source.cut;
        TranslatedPart {
            translation,
            linked: LinkedText {
                text: &translation.text,
                source_words,
                target_words,
                links: links.map_or(&[], |links| &links.links),
            },
            is_cut: is_cut || links.is_some_and(|links| links.cut),
            places: self.translator.constraints.places(&self.sentences[index], &translation.text, surface_forms),
        }
    }
}

/// Translation of a sentence of a text.
struct TranslatedPart<'p> {
    translation: &'p Translation,
    linked: LinkedText<'p>,
    is_cut: bool,
    places: Vec<PlaceholderPlace>,
}

impl TranslatedPart<'_> {
    fn projected(&self) -> ProjectedText<'_> {
        ProjectedText { linked: &self.linked, is_cut: self.is_cut, places: &self.places }
    }
}

/// Words of a sentence pair as byte ranges, with their links.
#[derive(Clone)]
struct WordLinks {
    /// Words of the sentence and of its translation.
    words: [Vec<Range<usize>>; 2],
    links: Vec<Link>,
    /// True if a side was too long to be linked to its end.
    cut: bool,
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
        Self { words: [source, target], links, cut: linked.cut }
    }

    /// Links each word of a text with itself.
    fn of_copy(text: &str) -> Self {
        let words = word_spans(text, WordSplitting::Terms);
        let links = (0..words.len()).map(|word| Link { source: word, target: word }).collect();
        Self { words: [words.clone(), words], links, cut: false }
    }
}
