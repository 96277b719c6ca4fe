//! Translation with checked options.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::{Context, Result};
use rayon::prelude::*;

use super::constraints::{CompiledConstraints, Constraints};
use super::read_sentence::ReadSentence;
use super::request::SelectedText;
use super::term_placement::replaced_tokens;
use super::unk_replacement::Dictionary;
use super::{
    DecodeOptions, ForcedAlignment, LinkOptions, Linker, MarkupOptions, Request, Sentence, TranslateOptions,
    Translation, Translator, UnknownSentences, segment_as_read,
};
use crate::checkpoint::Checkpoint;
use crate::error::usage_of;
use crate::model::RnnSearch;
use crate::reporter::Reporter;
use crate::search::{DecodingConstraints, ExpectedLength, Hypothesis, RequiredPhrase, Source, search_all};
use crate::text::{Segmentation, WordSplitting};

/// Translator with the options of its translations, which were checked against its models.
pub struct PreparedTranslator {
    translator: Translator,
    request: Request,
    markup: MarkupOptions,
    links: LinkOptions,
    constraints: CompiledConstraints,
    /// Dictionary for `<unk>` replacement, if it is used.
    dictionary: Option<Dictionary>,
    /// True if sentences that are mostly unknown to the model are copied.
    copies_unknown: bool,
}

impl Translator {
    /// Checks options against the models. Terms whose translations are unknown to the model are skipped.
    ///
    /// ```no_run
    /// use softalign::translator::Markup;
    /// use softalign::{TranslateOptions, Translator};
    ///
    /// let translator = Translator::load("checkpoints")?;
    /// let options = TranslateOptions { markup: Markup::Html, ..TranslateOptions::default() };
    /// let found = translator.prepare(&options)?.translate_all(&["<p>They bought a <b>black</b> hat.</p>"])?;
    /// assert_eq!(found[0][0].text, "<p>Ils ont acheté un chapeau <b>noir</b>.</p>");
    /// # Ok::<(), softalign::Error>(())
    /// ```
    ///
    /// # Errors
    /// An option is out of range, options contradict each other, or the model does not support one or has no tokens for a
    /// constraint.
    pub fn prepare(&self, options: &TranslateOptions) -> crate::error::Result<PreparedTranslator> {
        Ok(self.prepared(options)?)
    }

    /// As [`Self::prepare`], with the error of the program.
    pub(crate) fn prepared(&self, options: &TranslateOptions) -> Result<PreparedTranslator> {
        let TranslateOptions { decoding, precision, links, attention, unknown, .. } = options;
        let request = decoding.request()?;
        links.check()?;
        if !links.links_from.uses_attention() {
            return usage_of("links-from", "must be auto or attention in translations");
        }
        let translator = self.with_overrides(attention, links.words)?.with_precision(*precision)?;
        let mut markup = translator.markup_options(options.markup, options.placeholders.as_deref())?;
        let text = &self.config().text;
        if !(options.no_sentence_splitting || text.source_tokenization.are_characters()) {
            markup.splitter = Some(Arc::new(text.sentences.clone()));
        }
        let constraints = translator.compiled_constraints(decoding, &markup)?;
        Ok(PreparedTranslator {
            dictionary: translator.dictionary(options),
            translator,
            request,
            markup,
            links: links.clone(),
            constraints,
            copies_unknown: *unknown == UnknownSentences::Copy,
        })
    }

    /// Prepares the translation of sentences without markup, whose placeholders are text, in the precision of this translator.
    pub(super) fn prepared_for_plain_text(&self, decoding: DecodeOptions) -> Result<PreparedTranslator> {
        let options = TranslateOptions::of_plain_text(decoding);
        self.prepared(&TranslateOptions { precision: self.precision, ..options })
    }

    /// Compiles the constraints of the options to tokens of the model.
    fn compiled_constraints(&self, decoding: &DecodeOptions, markup: &MarkupOptions) -> Result<CompiledConstraints> {
        let placeholders = Some(markup.placeholders.clone());
        let constraints = Constraints { placeholders, ..decoding.constraints() };
        let constraints = constraints.normalized(self.config().text.normalization);
        if let Some(phrase) = constraints.contradiction() {
            return usage_of("avoid", format!("\"{phrase}\" forbids what --prefix, --require or --terms ask for"));
        }
        let known_words = if constraints.avoided.is_empty() { None } else { self.known_words(1)? };
        let prefixed = Sentence { target_prefix: constraints.prefix.clone(), ..Sentence::default() };
        let compiled = CompiledConstraints::new(constraints, &self.checkpoint.target, known_words)?;
        compiled.check_target_prefix(&prefixed, &self.checkpoint.target).context("--prefix")?;
        Ok(compiled)
    }

    /// Returns the dictionary for `<unk>` replacement. A model that was trained to copy letters has an empty one.
    fn dictionary(&self, options: &TranslateOptions) -> Option<Dictionary> {
        let copies_letters = self.config().architecture.lexicon && self.config().text.are_both_characters();
        match &options.dictionary {
            Some(pairs) => Some(Dictionary::from_pairs(pairs.clone())),
            None => (options.replace_unknown || copies_letters).then(Dictionary::default),
        }
    }
}

impl PreparedTranslator {
    /// The translator, with the attention settings, word splitting and precision of the options.
    pub fn translator(&self) -> &Translator {
        &self.translator
    }

    /// Search, and selection among its results.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Markup and placeholders of the sentences.
    pub fn markup(&self) -> &MarkupOptions {
        &self.markup
    }

    /// Returns the linker of the translations.
    ///
    /// # Errors
    /// The model's aligner or the reverse model cannot be read, or does not fit the model.
    pub fn linker(&self, reporter: &dyn Reporter) -> Result<Linker> {
        Linker::with_options(&self.links, Some(&self.translator), &[], reporter)
    }

    /// Translations of terms that are not required, since the model has no tokens for them.
    pub fn skipped_terms(&self) -> &[String] {
        &self.constraints.skipped_terms
    }

    /// Checks the target prefix of a sentence.
    ///
    /// # Errors
    /// The model has no tokens for it, or it is too long.
    pub fn check_target_prefix(&self, sentence: &Sentence) -> Result<()> {
        self.constraints.check_target_prefix(sentence, &self.translator.checkpoint.target)
    }

    /// Returns the constraints on the search for the translation of a sentence.
    ///
    /// # Errors
    /// The model has no tokens for the sentence's target prefix, or it is too long.
    pub fn decoding_constraints(&self, sentence: &Sentence) -> Result<DecodingConstraints> {
        let checkpoint = &self.translator.checkpoint;
        self.constraints.constraints(sentence, [&checkpoint.source, &checkpoint.target])
    }

    /// Constraints on all translations.
    pub(super) fn constraints(&self) -> &CompiledConstraints {
        &self.constraints
    }

    /// Translates sentences as they are. Returns at least one translation of each, in the order of the selection. A blank
    /// sentence has an empty translation, a cancelled one may have none. The first sentence has the index `first` in the seed
    /// of sampling, unless sentences have one of their own. `on_progress` receives the number of sentences of each finished
    /// batch.
    ///
    /// # Errors
    /// A model fails; its scores are not finite; it has no tokens for a target prefix.
    pub fn translate_batch(
        &self,
        sentences: &[Sentence],
        first: usize,
        on_progress: &mut (dyn FnMut(usize) + Send),
    ) -> Result<Vec<Vec<Translation>>> {
        let read: Vec<ReadSentence> =
            sentences.par_iter().map(|sentence| self.read(sentence)).collect::<Result<_>>()?;
        let mut segmented = Vec::with_capacity(sentences.len());
        let mut sources = Vec::with_capacity(sentences.len());
        for read in &read {
            let source = read.segment(&self.translator.checkpoint.source, self.translator.words[0])?;
            let constraints = self.read_constraints(read, &source)?;
            let tokens = if self.is_copied(read, &source) { Vec::new() } else { source.ids.clone() };
            let Sentence { cancellation, seed_index, .. } = &*read.sentence;
            let (cancellation, seed_index) = (cancellation.clone(), *seed_index);
            let expected_length = self.expected_length(&source);
            sources.push(Source { tokens, constraints, expected_length, cancellation, seed_index });
            segmented.push(source);
        }
        let models: Vec<&RnnSearch> = self.translator.models.iter().map(|model| &**model).collect();
        let search = self.request.from_sentence(first).search;
        let found = search_all(&models, &sources, &search, on_progress)?;
        let inputs = read.par_iter().zip(segmented).zip(&sources).zip(found);
        let translated = inputs.map(|(((read, source), searched), hypotheses)| {
            self.translations(read, source, &searched.constraints, &hypotheses)
        });
        translated.collect()
    }

    /// Reads a sentence as the model knows it.
    ///
    /// # Errors
    /// The model's aligner is damaged.
    pub(super) fn read<'s>(&self, sentence: &'s Sentence) -> Result<ReadSentence<'s>> {
        ReadSentence::new(sentence, &self.translator, &self.constraints)
    }

    /// Returns the constraints on the search for the translation of a sentence as it is read.
    ///
    /// # Errors
    /// As [`Self::decoding_constraints`].
    pub(super) fn read_constraints(&self, read: &ReadSentence, source: &Segmentation) -> Result<DecodingConstraints> {
        let mut constraints = self.decoding_constraints(&read.sentence)?;
        let sources = read.stand_in_sources(source, self.translator.words[0]);
        read.stand_ins.require(&mut constraints, &sources, &self.translator.checkpoint.target)?;
        Ok(constraints)
    }

    /// Returns the length that the translation of a source is expected to have, by the training pairs.
    pub(super) fn expected_length(&self, source: &Segmentation) -> Option<ExpectedLength> {
        let Checkpoint { config, source: vocabulary, target, .. } = &*self.translator.checkpoint;
        let characters = vocabulary.surface_forms().characters(source.ids.iter().copied());
        ExpectedLength::new(config.data.length_ratio? * characters as f64, target.surface_forms())
    }

    /// True if a sentence is copied instead of translated.
    fn is_copied(&self, read: &ReadSentence, source: &Segmentation) -> bool {
        read.stand_ins.is_whole_sentence || self.copies_unknown && source.is_mostly_unknown()
    }

    /// Returns a sentence with this source as its own translation if it is copied.
    ///
    /// # Errors
    /// The vocabulary cannot segment it.
    pub(super) fn copied(&self, read: &ReadSentence, source: &Segmentation) -> Result<Option<Translation>> {
        if !self.is_copied(read, source) {
            return Ok(None);
        }
        let (vocabulary, words) = (&self.translator.checkpoint.source, self.translator.words[0]);
        let source = segment_as_read(vocabulary, &read.given.text, None, words)?;
        Translation::copied(read.given, source, vocabulary, words).map(Some)
    }

    /// Returns the selected translations among the hypotheses of a sentence.
    fn translations(
        &self,
        read: &ReadSentence,
        source: Segmentation,
        constraints: &DecodingConstraints,
        hypotheses: &[Hypothesis],
    ) -> Result<Vec<Translation>> {
        if let Some(copied) = self.copied(read, &source)? {
            return Ok(vec![copied]);
        }
        if read.given.cancellation.is_cancelled() {
            return Ok(Vec::new());
        }
        let is_degenerate = !source.ids.is_empty() && hypotheses.iter().all(Hypothesis::is_degenerate);
        let is_finite = hypotheses.iter().all(|one| one.score.is_finite());
        self.translator.check_scores(!is_degenerate && is_finite)?;
        let mut translations = Vec::with_capacity(hypotheses.len());
        for hypothesis in hypotheses {
            let translation = self.translation(read, &source, constraints, hypothesis)?;
            translations.push(read.in_given_case(translation, self.translator.words));
        }
        let texts: Vec<&str> = translations.iter().map(|one| one.text.as_str()).collect();
        let mut selected = Vec::new();
        for SelectedText { index, utility } in self.request.selection.select(&texts) {
            let translation = &translations[index];
            selected.push(Translation { score: utility.unwrap_or(translation.score), ..translation.clone() });
        }
        Ok(selected)
    }

    /// Returns the translation of a sentence that a hypothesis of its search describes.
    pub(super) fn translation(
        &self,
        read: &ReadSentence,
        source: &Segmentation,
        constraints: &DecodingConstraints,
        hypothesis: &Hypothesis,
    ) -> Result<Translation> {
        let Checkpoint { config, source: source_vocabulary, target: vocabulary, .. } = &*self.translator.checkpoint;
        let tokenization = config.text.target_tokenization;
        let mut replacements = match &self.dictionary {
            Some(dictionary) => dictionary.replacements(&read.sentence, source_vocabulary, tokenization, hypothesis)?,
            None => HashMap::new(),
        };
        replacements.retain(|_, word| !self.constraints.has_avoided(&vocabulary.written_text(word)));
        let unmet = self.place_terms(constraints, hypothesis, &mut replacements);
        let sources = read.stand_in_sources(source, self.translator.words[0]);
        read.stand_ins.put_back(&sources, hypothesis, vocabulary, &mut replacements);
        let (text, target) = vocabulary.join_with(&hypothesis.tokens, &replacements, self.translator.words[1]);
        let Hypothesis { log_probability, score, .. } = *hypothesis;
        let of_tokens = hypothesis.token_log_probabilities.clone();
        let alignment = ForcedAlignment::new(source.clone(), target, &hypothesis.attention, log_probability, of_tokens);
        let unmet = unmet.into_iter().filter(|phrase| !read.stand_ins.include(&phrase.text)).count();
        let unmet_constraints = unmet + constraints.ignored_phrases();
        let doubts = self.translator.doubts(&alignment)?;
        let (without_markup, sentences) = (None, Vec::new());
        Ok(Translation {
            text,
            log_probability,
            score,
            unmet_constraints,
            doubts,
            alignment,
            without_markup,
            sentences,
        })
    }

    /// Places terms that a hypothesis lacks where its attention is on them. Its prefix and the required phrases that it
    /// contains stay, and no avoided phrase comes up. Adds the text of each token that changes to the replacements, and
    /// returns the required phrases that have no place.
    fn place_terms<'c>(
        &self,
        constraints: &'c DecodingConstraints,
        hypothesis: &Hypothesis,
        replacements: &mut HashMap<usize, String>,
    ) -> Vec<&'c RequiredPhrase> {
        let Hypothesis { tokens, attention, unmet_phrases, .. } = hypothesis;
        let unmet = unmet_phrases.iter().map(|&phrase| &constraints.required[phrase]);
        let (terms, mut unplaced): (Vec<_>, Vec<_>) = unmet.partition(|phrase| phrase.is_term());
        if terms.is_empty() {
            return unplaced;
        }
        let target = &self.translator.checkpoint.target;
        let word_of_token = target.join(tokens, WordSplitting::Punctuation).1.word_of_token;
        let mut kept = constraints.constrained_tokens(tokens, unmet_phrases);
        for term in terms {
            let range = replaced_tokens(term, attention, &word_of_token, &kept);
            let mut with_term = replacements.clone();
            if let Some(&first) = tokens.get(range.clone()).and_then(<[u32]>::first) {
                let space = if constraints.surface_forms.text(first).starts_with(' ') { " " } else { "" };
                with_term.extend(range.clone().map(|token| (token, String::new())));
                with_term.insert(range.start, format!("{space}{}", term.text));
            }
            let text = target.join_with(tokens, &with_term, self.translator.words[1]).0;
            if range.is_empty() || self.constraints.has_avoided(&target.written_text(&text)) {
                unplaced.push(term);
            } else {
                *replacements = with_term;
                kept[range].fill(true);
            }
        }
        unplaced
    }
}
