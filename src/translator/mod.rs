//! Translation of text with alignments, and forced decoding of sentence pairs.

mod api;
mod constraints;
mod decode_options;
mod forced_score;
mod line_warnings;
mod linked_translation;
mod linker;
mod markup;
mod mbr;
mod model_summary;
mod noise_filter;
mod quality_estimation;
mod request;
mod term_placement;
mod trace;
mod unk_replacement;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use anyhow::{Result, ensure};
use candle_core::Device;
use rayon::prelude::*;

use crate::aligner::WordAligner;
use crate::alignment::Alignment;
use crate::attention::InferenceOverrides;
use crate::checkpoint::{Checkpoint, Config, ModelDir};
use crate::error::{UsageError, usage};
use crate::model::{Architecture, ForcedScores, RnnSearch};
use crate::search::{DecodingConstraints, Hypothesis, Source, search_all};
use crate::text::{
    Batch, BatchSize, Example, KnownWords, Pair, Segmentation, Tokenization, Vocabulary, WordSplitting, bucketed,
};

use constraints::CompiledConstraints;
use term_placement::replaced_tokens;

pub use api::Aligner;
pub use constraints::{Constraints, Terminology};
pub use decode_options::{DecodeOptions, MAX_PHRASE, check_length_penalty};
pub use forced_score::{ForcedScore, ScoredPair};
pub use line_warnings::{LineWarnings, warn_of_truncated_lines};
pub use linked_translation::LinkedTranslation;
pub use linker::{
    AlignerSource, LinkDirection, LinkOptions, LinkedPair, Linker, LinksFrom, MAX_LINKED_WORDS, learn_aligner,
};
pub use markup::{LinkedText, MarkedUp, MarkedUpTexts, Markup, MarkupOptions, Placeholders};
pub use model_summary::ModelSummary;
pub use noise_filter::NoiseFilter;
pub use quality_estimation::CalibrationError;
pub use request::{MAX_SENTENCE_TOKENS, Request, ResultSelection, Sentence};
pub use trace::{BeamNode, PartialTranslation, Trace, TraceCandidate, TraceOptions, TraceSide, TraceStep, TraceToken};
pub use unk_replacement::Dictionary;

pub use crate::model::PrecisionOption;

/// Tokens of a batch in forced decoding, with padding.
const BATCH_TOKENS: usize = 2048;

/// Trained model or ensemble with its vocabularies. Clones share the data.
#[derive(Clone)]
pub struct Translator {
    /// Directory of the first model.
    path: PathBuf,
    /// Checkpoint of the first model.
    checkpoint: Arc<Checkpoint>,
    models: Vec<Arc<RnnSearch>>,
    /// Word splitting of the source and of the target.
    words: [WordSplitting; 2],
    /// Dictionary for `<unk>` replacement, if it is used.
    dictionary: Option<Dictionary>,
    copies_unknown: bool,
    constraints: Arc<CompiledConstraints>,
    /// Statistical aligner of the first model, if there is one, loaded on first use.
    aligner: Arc<OnceLock<Option<Arc<WordAligner>>>>,
    /// Target words of its training data, if it has an aligner, collected on first use.
    known_target_words: Arc<OnceLock<Option<Arc<KnownWords>>>>,
}

/// Translation of a sentence.
#[derive(Clone, Debug)]
pub struct Translation {
    /// Text of the translation.
    pub text: String,
    /// Log-probability in nats, with `</s>`.
    pub log_probability: f64,
    /// Score by which translations are ranked.
    pub score: f64,
    /// Number of required phrases that it lacks.
    pub unmet_constraints: usize,
    /// Alignment with the source.
    pub alignment: ForcedAlignment,
    /// The aligned texts, if tags or placeholders were taken out of the source.
    pub without_markup: Option<Pair>,
    /// Sentences of the text, if it was read as one with tags or placeholders.
    pub sentences: Vec<SentenceQuality>,
}

/// Reasons to doubt the translation of a sentence of a text.
#[derive(Clone, Copy, Debug)]
pub struct SentenceQuality {
    /// Number of line ends before the sentence in the text.
    pub line: usize,
    /// True if it was truncated to [`MAX_SENTENCE_TOKENS`].
    pub cut: bool,
    /// True if more than half of its tokens are unknown to the model.
    pub is_mostly_unknown: bool,
    /// Number of required phrases that its translation lacks.
    pub unmet_constraints: usize,
}

impl Translation {
    /// Reasons to doubt it, for each sentence of its text.
    fn qualities(&self) -> Vec<SentenceQuality> {
        if self.sentences.is_empty() { vec![self.quality()] } else { self.sentences.clone() }
    }

    /// Reasons to doubt it as the translation of one sentence.
    fn quality(&self) -> SentenceQuality {
        SentenceQuality {
            line: 0,
            cut: self.alignment.cut,
            is_mostly_unknown: self.alignment.is_mostly_unknown(),
            unmet_constraints: self.unmet_constraints,
        }
    }

    /// True if the model did not translate the text.
    fn is_copy(&self) -> bool {
        self.alignment.token_log_probabilities.is_empty()
    }

    /// Returns the given text as its own translation, each token aligned with itself.
    fn copied(
        sentence: &Sentence,
        source: Segmentation,
        vocabulary: &Vocabulary,
        words: WordSplitting,
    ) -> Result<Self> {
        let tokens = source.ids.len();
        let (given, before) = sentence.segment_given(vocabulary, words)?;
        let row = |token: usize| (0..=tokens).map(|column| if column == token { 1.0 } else { 0.0 }).collect();
        let rows: Vec<Vec<f32>> = (before.min(tokens)..=tokens).map(row).collect();
        let alignment = ForcedAlignment::new(source, given.cut_to(rows.len() - 1), &rows, 0.0, Vec::new());
        Ok(Self {
            text: sentence.given().to_owned(),
            log_probability: 0.0,
            score: 0.0,
            unmet_constraints: 0,
            alignment,
            without_markup: None,
            sentences: Vec::new(),
        })
    }
}

fn is_mostly_unknown(source: &Segmentation) -> bool {
    source.unknown_share() > 0.5
}

/// Pair with its scores of forced decoding.
struct ForcedPair {
    source: Segmentation,
    target: Segmentation,
    scores: ForcedScores,
}

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
    token_log_probabilities: Vec<f64>,
    tokens: Alignment,
    /// Posterior attention of tokens, where it is known.
    posteriors: Option<Alignment>,
    source: Segmentation,
    target: Segmentation,
    /// Tokens of each sentence on both sides, unless one was not translated.
    sentences: Option<Vec<[usize; 2]>>,
}

impl ForcedAlignment {
    fn new(
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
    fn concat(parts: &[&Self]) -> Self {
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
    fn drop_weights(&mut self) {
        self.tokens = Alignment::from_rows(Vec::new(), Vec::new(), &[]);
        self.posteriors = None;
    }

    /// Mean log-probability of a target token, in nats.
    pub fn mean_log_probability(&self) -> f64 {
        self.log_probability / self.length as f64
    }

    /// Log-probabilities of the target tokens, without that of `</s>`.
    fn of_tokens(&self) -> &[f64] {
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
        is_mostly_unknown(&self.source)
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
    fn sentences_without_posteriors(&self) -> Vec<Example> {
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
    fn set_posteriors(&mut self, sentences: &[Vec<Vec<f32>>]) {
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

impl Translator {
    /// Loads a model from its directory to a device.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn load_on(path: &Path, device: &Device) -> Result<Self> {
        let dir = ModelDir::new(path);
        let (checkpoint, model) = dir.load_model_with(device, |architecture, parameters| {
            let model = RnnSearch::new(architecture.clone(), parameters.keeping_derived())?;
            model.pack()?;
            Ok(model)
        })?;
        let model = model.with_lexicon(dir.load_lexicon(&checkpoint)?);
        let text = &checkpoint.config.text;
        let words = [text.source_tokenization, text.target_tokenization].map(Tokenization::words);
        let copies_letters = checkpoint.config.architecture.lexicon && text.are_both_characters();
        let models = vec![Arc::new(model)];
        let constraints = Arc::new(CompiledConstraints::new(Constraints::default(), &checkpoint.target, None)?);
        Ok(Self {
            path: path.to_owned(),
            checkpoint: Arc::new(checkpoint),
            models,
            words,
            dictionary: copies_letters.then(Dictionary::default),
            copies_unknown: false,
            constraints,
            aligner: Arc::default(),
            known_target_words: Arc::default(),
        })
    }

    /// Loads an ensemble to a device.
    ///
    /// # Errors
    /// As [`Self::load_ensemble`].
    pub fn load_ensemble_on<D: AsRef<Path>>(directories: &[D], device: &Device) -> Result<Self> {
        let Some((first, others)) = directories.split_first() else {
            return usage("an ensemble needs at least one model");
        };
        let load = |directory: &D| Self::load_on(directory.as_ref(), device);
        others.iter().try_fold(load(first)?, |ensemble, other| ensemble.ensemble_with(load(other)?))
    }

    /// Adds the models of another translator to the ensemble, which uses the mean of their probabilities and of their
    /// attention.
    ///
    /// # Errors
    /// The vocabularies differ.
    pub fn ensemble_with(mut self, other: Self) -> Result<Self> {
        ensure!(
            self.checkpoint.same_vocabulary(&other.checkpoint)?,
            "{}: the vocabularies differ from those of {}; an ensemble needs models trained on the same pairs with the \
             same options, except --seed and sizes",
            other.path.display(),
            self.path.display()
        );
        self.models.extend(other.models);
        Ok(self)
    }

    /// Sets the word splitting of both sides; by default it follows from the tokens of each side.
    #[must_use]
    pub fn with_words(self, words: Option<WordSplitting>) -> Self {
        Self { words: words.map_or(self.words, |words| [words; 2]), ..self }
    }

    /// Splits punctuation off words, and scripts without spaces into characters.
    #[must_use]
    fn with_finest_words(self) -> Self {
        let text = &self.checkpoint.config.text;
        let finest = |tokenization: Tokenization| if tokenization.are_characters() { tokenization.words() } else { WordSplitting::Terms };
        Self { words: [text.source_tokenization, text.target_tokenization].map(finest), ..self }
    }

    /// Word splitting of the source and of the target.
    pub fn words(&self) -> [WordSplitting; 2] {
        self.words
    }

    /// Sets the dictionary for `<unk>` replacement. Without one, `<unk>` stays, unless the model was trained to copy letters.
    #[must_use]
    pub fn with_dictionary(self, dictionary: Option<Dictionary>) -> Self {
        Self { dictionary: dictionary.or(self.dictionary), ..self }
    }

    /// Sets whether sentences that are mostly unknown to the model are copied.
    #[must_use]
    pub fn with_unknown_copied(self, copies_unknown: bool) -> Self {
        Self { copies_unknown, ..self }
    }

    /// Sets the constraints on translations. Terms whose translations are unknown to the model are skipped.
    ///
    /// # Errors
    /// The constraints contradict each other, the model has no tokens for a required phrase, or there are too many tokens.
    pub fn with_constraints(self, constraints: Constraints) -> Result<Self> {
        if let Some(phrase) = constraints.contradiction() {
            return usage(format!("--avoid {phrase:?} forbids what --prefix, --require or --terms ask for"));
        }
        let known_words = if constraints.avoided.is_empty() { None } else { self.known_target_words()? };
        let constraints = CompiledConstraints::new(constraints, &self.checkpoint.target, known_words)?;
        Ok(Self { constraints: Arc::new(constraints), ..self })
    }

    /// Checks the target prefix of a sentence.
    ///
    /// # Errors
    /// The model has no tokens for it, or it is too long.
    pub fn check_target_prefix(&self, sentence: &Sentence) -> Result<()> {
        self.constraints.check_target_prefix(sentence, &self.checkpoint.target)
    }

    /// Returns the constraints on the search for the translation of a sentence.
    ///
    /// # Errors
    /// The model has no tokens for the sentence's target prefix, or it is too long.
    pub fn decoding_constraints(&self, sentence: &Sentence) -> Result<DecodingConstraints> {
        self.constraints.constraints(sentence, [&self.checkpoint.source, &self.checkpoint.target])
    }

    /// Translations of terms that are not required, since the model has no tokens for them.
    pub fn skipped_terms(&self) -> &[String] {
        &self.constraints.skipped_terms
    }

    /// Overrides the attention settings of training.
    ///
    /// # Errors
    /// A [`UsageError`] names a setting that a model's attention does not support.
    pub fn with_attention(self, overrides: &InferenceOverrides) -> Result<Self> {
        if *overrides == InferenceOverrides::default() {
            return Ok(self);
        }
        let rebuild = |model: &Arc<RnnSearch>| -> Result<Arc<RnnSearch>> {
            let architecture = model.architecture();
            let attention = architecture.attention.with_overrides(overrides, architecture.dimensions());
            let attention = attention.map_err(|reason| UsageError(format!("--{reason}")))?;
            Ok(Arc::new(model.with_architecture(Architecture { attention, ..architecture.clone() })?))
        };
        Ok(Self { models: self.models.iter().map(rebuild).collect::<Result<_>>()?, ..self })
    }

    /// Sets the precision of products in search, which is f32 otherwise. Links, and scores of given translations, are computed in
    /// f32.
    ///
    /// # Errors
    /// The models are on a GPU, which computes in f32 ([`UsageError`]).
    pub fn with_precision(self, precision: PrecisionOption) -> Result<Self> {
        let precision = precision.resolve(self.device().is_cpu()).or_else(usage)?;
        let rebuild = |model: &Arc<RnnSearch>| -> Result<Arc<RnnSearch>> {
            let model = model.with_architecture(model.architecture().clone())?;
            Ok(Arc::new(model.with_search_precision(precision)))
        };
        Ok(Self { models: self.models.iter().map(rebuild).collect::<Result<_>>()?, ..self })
    }

    /// Directory of the first model.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Checkpoint of the first model.
    pub fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }

    /// Configuration of the first model.
    pub fn config(&self) -> &Config {
        &self.checkpoint.config
    }

    /// Returns the statistical aligner trained with the first model, if there is one. Its file is read once.
    ///
    /// # Errors
    /// The file is damaged or belongs to another model.
    pub fn aligner(&self) -> Result<Option<Arc<WordAligner>>> {
        if let Some(aligner) = self.aligner.get() {
            return Ok(aligner.clone());
        }
        let loaded = ModelDir::new(&self.path).load_aligner(&self.checkpoint)?.map(Arc::new);
        Ok(self.aligner.get_or_init(|| loaded).clone())
    }

    /// Returns the target words of the first model's training data, if it has a statistical aligner, which knows them.
    fn known_target_words(&self) -> Result<Option<Arc<KnownWords>>> {
        let aligner = self.aligner()?;
        let collected = || aligner.map(|aligner| Arc::new(KnownWords::from_texts(aligner.target_words())));
        Ok(self.known_target_words.get_or_init(collected).clone())
    }

    /// Device of the models.
    pub fn device(&self) -> &Device {
        self.models[0].device()
    }

    /// Translates sentences. Returns at least one translation of each, in the order of the selection. A blank sentence has
    /// an empty translation, a cancelled one may have none. `on_progress` receives the number of sentences of each
    /// finished batch.
    ///
    /// # Errors
    /// A model fails; its scores are not finite; it has no tokens for a target prefix.
    pub fn translate_batch(
        &self,
        sentences: &[Sentence],
        request: &Request,
        on_progress: &mut (dyn FnMut(usize) + Send),
    ) -> Result<Vec<Vec<Translation>>> {
        let segmented = self.segment_sources(sentences.iter().map(|sentence| sentence.text.as_str()))?;
        let is_copied = |source: &Segmentation| self.copies_unknown && is_mostly_unknown(source);
        let mut sources = Vec::with_capacity(sentences.len());
        for (sentence, source) in sentences.iter().zip(&segmented) {
            let constraints = self.decoding_constraints(sentence)?;
            let tokens = if is_copied(source) { Vec::new() } else { source.ids.clone() };
            let (cancellation, seed_index) = (sentence.cancellation.clone(), sentence.seed_index);
            sources.push(Source { tokens, constraints, cancellation, seed_index });
        }
        let models: Vec<&RnnSearch> = self.models.iter().map(|model| &**model).collect();
        let found = search_all(&models, &sources, &request.search, on_progress)?;
        let inputs = sentences.par_iter().zip(segmented).zip(&sources);
        let results = inputs.zip(found).map(|(((sentence, source), Source { constraints, .. }), hypotheses)| {
            if is_copied(&source) {
                return Ok(vec![Translation::copied(sentence, source, &self.checkpoint.source, self.words[0])?]);
            }
            if sentence.cancellation.is_cancelled() {
                return Ok(Vec::new());
            }
            let is_degenerate = !source.ids.is_empty() && hypotheses.iter().all(Hypothesis::is_degenerate);
            self.check_scores(!is_degenerate && hypotheses.iter().all(|one| one.score.is_finite()))?;
            let translate = |one: &Hypothesis| self.translation(sentence, &source, constraints, one);
            let translations: Vec<Translation> = hypotheses.iter().map(translate).collect::<Result<_>>()?;
            let texts: Vec<&str> = translations.iter().map(|one| one.text.as_str()).collect();
            let selected = |(index, utility): (usize, Option<f64>)| {
                let translation: &Translation = &translations[index];
                Translation { score: utility.unwrap_or(translation.score), ..translation.clone() }
            };
            Ok(request.selection.select(&texts).into_iter().map(selected).collect())
        });
        results.collect()
    }

    fn translation(
        &self,
        sentence: &Sentence,
        source: &Segmentation,
        constraints: &DecodingConstraints,
        hypothesis: &Hypothesis,
    ) -> Result<Translation> {
        let target_tokenization = self.checkpoint.config.text.target_tokenization;
        let mut replacements = match &self.dictionary {
            Some(dictionary) => dictionary.replacements(sentence, &self.checkpoint.source, target_tokenization, hypothesis)?,
            None => HashMap::new(),
        };
        replacements.retain(|_, word| !self.constraints.has_avoided(&self.checkpoint.target.written_text(word)));
        let placed = self.place_terms(constraints, hypothesis, &mut replacements);
        let (text, target) = self.checkpoint.target.join_with(&hypothesis.tokens, &replacements, self.words[1]);
        let Hypothesis { log_probability, score, .. } = *hypothesis;
        let of_tokens = hypothesis.token_log_probabilities.clone();
        let alignment = ForcedAlignment::new(source.clone(), target, &hypothesis.attention, log_probability, of_tokens);
        let unmet_constraints = hypothesis.unmet_phrases.len() - placed + constraints.ignored_phrases();
        let (without_markup, sentences) = (None, Vec::new());
        Ok(Translation { text, log_probability, score, unmet_constraints, alignment, without_markup, sentences })
    }

    /// Places terms that a hypothesis lacks where its attention is on them. Its prefix and the required phrases that it contains
    /// stay, and no avoided phrase comes up. Adds the text of each token that changes to the replacements, and returns the number
    /// of terms that have a place.
    fn place_terms(
        &self,
        constraints: &DecodingConstraints,
        hypothesis: &Hypothesis,
        replacements: &mut HashMap<usize, String>,
    ) -> usize {
        let Hypothesis { tokens, attention, .. } = hypothesis;
        let unmet = hypothesis.unmet_phrases.iter().map(|&phrase| &constraints.required[phrase]);
        let mut terms = unmet.filter(|phrase| phrase.is_term()).peekable();
        if terms.peek().is_none() {
            return 0;
        }
        let target = &self.checkpoint.target;
        let word_of_token = target.join(tokens, WordSplitting::Punctuation).1.word_of_token;
        let mut kept = constraints.constrained_tokens(tokens, &hypothesis.unmet_phrases);
        let mut placed = 0;
        for term in terms {
            let range = replaced_tokens(term, attention, &word_of_token, &kept);
            let Some(&first) = tokens.get(range.clone()).and_then(<[u32]>::first) else { continue };
            let space = if constraints.surface_forms.text(first).starts_with(' ') { " " } else { "" };
            let mut with_term = replacements.clone();
            with_term.extend(range.clone().map(|token| (token, String::new())));
            with_term.insert(range.start, format!("{space}{}", term.text));
            let text = target.join_with(tokens, &with_term, self.words[1]).0;
            if !self.constraints.has_avoided(&target.written_text(&text)) {
                *replacements = with_term;
                kept[range].fill(true);
                placed += 1;
            }
        }
        placed
    }

    /// Aligns pairs by forced decoding.
    ///
    /// # Errors
    /// A model fails; its scores are not finite.
    pub fn align_batch(&self, pairs: &[Pair], on_progress: &mut dyn FnMut(usize)) -> Result<Vec<ForcedAlignment>> {
        let is_exact = self.models[0].architecture().attention.is_exact();
        let align = |ForcedPair { source, target, scores }| {
            let log_probability = scores.log_probability();
            let ForcedScores { log_probabilities, weights, posteriors, .. } = scores;
            // An ensemble with a model that has no posteriors has none.
            let rows = if is_exact && !posteriors.is_empty() { &posteriors } else { &weights };
            let mut aligned = ForcedAlignment::new(source, target, rows, log_probability, log_probabilities);
            if !posteriors.is_empty() {
                aligned.set_posteriors(&[posteriors]);
            }
            aligned
        };
        let forced = self.force_decode(pairs, RnnSearch::align, on_progress)?;
        Ok(forced.into_iter().map(align).collect())
    }

    /// Adds posterior attention to the alignments of translations, by forced decoding, where it is unknown but defined.
    ///
    /// # Errors
    /// As [`Self::align_batch`].
    pub fn add_posteriors(&self, aligned: &mut [ForcedAlignment]) -> Result<()> {
        if !self.models.iter().all(|model| model.architecture().attention.has_posteriors()) {
            return Ok(());
        }
        let sentences: Vec<Vec<Example>> = aligned.iter().map(ForcedAlignment::sentences_without_posteriors).collect();
        let examples: Vec<Example> = sentences.iter().flatten().cloned().collect();
        let forced = self.force_decode_examples(&examples, RnnSearch::posteriors, &mut |_| {})?;
        let mut posteriors = forced.into_iter().map(|scores| scores.posteriors);
        for (aligned, sentences) in aligned.iter_mut().zip(&sentences) {
            let own: Vec<Vec<Vec<f32>>> = posteriors.by_ref().take(sentences.len()).collect();
            if !own.is_empty() {
                aligned.set_posteriors(&own);
            }
        }
        Ok(())
    }

    /// Scores pairs by forced decoding.
    ///
    /// # Errors
    /// As [`Self::align_batch`].
    pub fn score_batch(&self, pairs: &[Pair], on_progress: &mut dyn FnMut(usize)) -> Result<Vec<ForcedScore>> {
        let score =
            |ForcedPair { source, target, scores }| ForcedScore::new(&source, target, &scores.log_probabilities);
        let forced = self.force_decode(pairs, |model, batch| model.force_decode(batch, 0.0), on_progress)?;
        Ok(forced.into_iter().map(score).collect())
    }

    fn force_decode(
        &self,
        pairs: &[Pair],
        decode: impl Fn(&RnnSearch, &Batch) -> candle_core::Result<Vec<ForcedScores>>,
        on_progress: &mut dyn FnMut(usize),
    ) -> Result<Vec<ForcedPair>> {
        let sources = self.segment_sources(pairs.iter().map(|pair| pair.source.as_str()))?;
        let targets = pairs.iter().map(|pair| pair.target.as_str());
        let targets = segment_all(&self.checkpoint.target, self.words[1], targets)?;
        let forced = self.force_decode_examples(&examples(&sources, &targets), decode, on_progress)?;
        let all = sources.into_iter().zip(targets).zip(forced);
        Ok(all.map(|((source, target), scores)| ForcedPair { source, target, scores }).collect())
    }

    fn force_decode_examples(
        &self,
        examples: &[Example],
        decode: impl Fn(&RnnSearch, &Batch) -> candle_core::Result<Vec<ForcedScores>>,
        on_progress: &mut dyn FnMut(usize),
    ) -> Result<Vec<ForcedScores>> {
        let mut forced: Vec<Option<ForcedScores>> = (0..examples.len()).map(|_| None).collect();
        for indices in batches(examples) {
            let batch = Batch::new(examples, &indices);
            for (&index, scores) in indices.iter().zip(self.force_decode_batch(&batch, &decode)?) {
                self.check_scores(scores.log_probability().is_finite())?;
                forced[index] = Some(scores);
            }
            on_progress(indices.len());
        }
        Ok(forced.into_iter().flatten().collect())
    }

    fn force_decode_batch(
        &self,
        batch: &Batch,
        decode: impl Fn(&RnnSearch, &Batch) -> candle_core::Result<Vec<ForcedScores>>,
    ) -> Result<Vec<ForcedScores>> {
        let mut forced = Vec::with_capacity(self.models.len());
        for model in &self.models {
            forced.push(decode(model, batch)?.into_iter());
        }
        if let [_] = forced[..] {
            return Ok(forced.remove(0).collect());
        }
        let pair = |_| ForcedScores::ensemble_mean(&forced.iter_mut().filter_map(Iterator::next).collect::<Vec<_>>());
        Ok((0..batch.target.batch()).map(pair).collect())
    }

    fn check_scores(&self, finite: bool) -> Result<()> {
        ensure!(
            finite,
            "{}: the model's scores are not finite, since its parameters are too large; train it again, or name another \
             with --model",
            self.path.display()
        );
        Ok(())
    }

    fn segment_sources<'a>(&self, texts: impl Iterator<Item = &'a str>) -> Result<Vec<Segmentation>> {
        segment_all(&self.checkpoint.source, self.words[0], texts)
    }
}

fn segment_all<'a>(
    vocabulary: &Vocabulary,
    words: WordSplitting,
    texts: impl Iterator<Item = &'a str>,
) -> Result<Vec<Segmentation>> {
    let segment = |text: &str| vocabulary.segment(if text.trim().is_empty() { "" } else { text }, words);
    texts.map(|text| Ok(segment(text)?.cut_to(MAX_SENTENCE_TOKENS))).collect()
}

fn examples(sources: &[Segmentation], targets: &[Segmentation]) -> Vec<Example> {
    let pairs = sources.iter().zip(targets);
    pairs.map(|(source, target)| Example::new(source.ids.clone(), target.ids.clone())).collect()
}

/// Batches of examples of similar length, limited by the tokens of the longer side.
fn batches(examples: &[Example]) -> Vec<Vec<usize>> {
    let longer = |example: &Example| (example.source.len(), example.source.len().max(example.target.len()));
    let lengths: Vec<(usize, usize)> = examples.iter().map(longer).collect();
    bucketed(&lengths, BatchSize::Tokens(BATCH_TOKENS), &mut crate::random::SeededRng::new(0, "order", 0))
}
