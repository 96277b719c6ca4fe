//! Translation of text with alignments, and forced decoding of sentence pairs.

mod api;
mod constraints;
mod decode_options;
mod doubt;
mod forced_alignment;
mod forced_score;
mod letter_case;
mod line_warnings;
mod link_directions;
mod link_models;
mod link_options;
mod linked_pair;
mod linked_translation;
mod linker;
mod markup;
mod mbr;
mod model_summary;
mod noise_filter;
mod prepared_translator;
mod quality_estimation;
mod read_sentence;
mod request;
mod stand_ins;
mod term_placement;
mod terminology;
mod trace;
mod translate_options;
mod translation;
mod unk_replacement;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use anyhow::{Result, ensure};
use candle_core::Device;

use crate::aligner::WordAligner;
use crate::attention::InferenceOverrides;
use crate::checkpoint::{Checkpoint, Config, ModelDir, TrainedPairs};
use crate::error::{UsageError, usage};
use crate::model::{Architecture, ForcedScores, RnnSearch};
use crate::text::{
    Batch, BatchSize, Example, ExampleLength, KnownWords, Languages, MappedText, Pair, Segmentation, Tokenization,
    Vocabulary, WordSplitting, bucketed, is_in_other_language, language_name,
};

pub use api::Aligner;
pub use decode_options::{DecodeOptions, MAX_PHRASE, check_length_penalty};
pub use forced_alignment::ForcedAlignment;
pub use forced_score::{ForcedScore, ScoredPair, ScoredWord};
pub use line_warnings::{LineWarnings, warn_of_truncated_lines};
pub use link_models::learn_aligner;
pub use link_options::{AlignerSource, LinkDirection, LinkOptions, LinksFrom};
pub use linked_pair::LinkedPair;
pub use linked_translation::LinkedTranslation;
pub use linker::{Linker, MAX_LINKED_WORDS};
pub use markup::{LinkedText, MarkedUp, MarkedUpTexts, Markup, MarkupOptions, Placeholders};
pub use model_summary::ModelSummary;
pub use noise_filter::NoiseFilter;
pub use prepared_translator::PreparedTranslator;
pub use quality_estimation::{CalibrationError, TranslatedSources};
pub use request::{MAX_SENTENCE_TOKENS, Request, ResultSelection, Sentence};
pub use trace::{
    BeamNode, PartialTranslation, Trace, TraceCandidate, TraceOptions, TraceSentence, TraceSide, TraceStep, TraceToken,
};
pub use translate_options::{TranslateOptions, UnknownSentences};
pub use translation::{SentenceQuality, Translation};

pub use crate::model::PrecisionOption;

/// Maximum number of tokens of a batch in forced decoding, with padding.
const BATCH_TOKENS: usize = 2048;

/// Trained model or ensemble with its vocabularies, which never changes. Clones share the data.
#[derive(Clone)]
pub struct Translator {
    /// Directory of the first model.
    path: PathBuf,
    /// Checkpoint of the first model.
    checkpoint: Arc<Checkpoint>,
    models: Vec<Arc<RnnSearch>>,
    /// Word splitting of the source and of the target.
    words: [WordSplitting; 2],
    /// Precision of products in search.
    precision: PrecisionOption,
    /// Statistical aligner of the first model, if there is one, loaded on first use.
    aligner: Arc<OnceLock<Option<Arc<WordAligner>>>>,
    /// Words of the sources and of the targets of its training data, if it has an aligner, collected on first use.
    known_words: Arc<[OnceLock<Option<Arc<KnownWords>>>; 2]>,
}

/// Segmented pair with its scores of forced decoding.
struct ForcedPair {
    source: Segmentation,
    target: Segmentation,
    scores: ForcedScores,
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
        let models = vec![Arc::new(model)];
        Ok(Self {
            path: path.to_owned(),
            checkpoint: Arc::new(checkpoint),
            models,
            words,
            precision: PrecisionOption::F32,
            aligner: Arc::default(),
            known_words: Arc::default(),
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
        let mut ensemble = Self::load_on(first.as_ref(), device)?;
        for other in others {
            ensemble = ensemble.ensemble_with(Self::load_on(other.as_ref(), device)?)?;
        }
        Ok(ensemble)
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

    /// Returns the translator with other attention settings than those of training and with another word splitting of both
    /// sides, which by default follows from the tokens of each side.
    ///
    /// # Errors
    /// A [`UsageError`] names a setting that a model's attention does not support.
    pub fn with_overrides(&self, overrides: &InferenceOverrides, words: Option<WordSplitting>) -> Result<Self> {
        let words = words.map_or(self.words, |words| [words; 2]);
        if *overrides == InferenceOverrides::default() {
            return Ok(Self { words, ..self.clone() });
        }
        let mut models = Vec::with_capacity(self.models.len());
        for model in &self.models {
            let architecture = model.architecture();
            let attention = architecture.attention.with_overrides(overrides, architecture.dimensions());
            let attention = attention.map_err(|reason| UsageError::new(format!("--{reason}")))?;
            models.push(Arc::new(model.with_architecture(Architecture { attention, ..architecture.clone() })?));
        }
        Ok(Self { models, words, ..self.clone() })
    }

    /// Returns the translator with this precision of products in search. Links, and scores of given translations, are
    /// computed in f32.
    ///
    /// # Errors
    /// The models are on a GPU, which computes in f32 ([`UsageError`]).
    pub fn with_precision(&self, precision: PrecisionOption) -> Result<Self> {
        if precision == self.precision {
            return Ok(self.clone());
        }
        let resolved = precision.resolve(self.device().is_cpu()).or_else(usage)?;
        let mut models = Vec::with_capacity(self.models.len());
        for model in &self.models {
            let model = model.with_architecture(model.architecture().clone())?;
            models.push(Arc::new(model.with_search_precision(resolved)));
        }
        Ok(Self { models, precision, ..self.clone() })
    }

    /// Returns the translator that splits punctuation off words, and scripts without spaces into characters.
    fn with_finest_words(&self) -> Self {
        let text = &self.checkpoint.config.text;
        let words = [text.source_tokenization, text.target_tokenization].map(|tokenization| {
            if tokenization.are_characters() { tokenization.words() } else { WordSplitting::Terms }
        });
        Self { words, ..self.clone() }
    }

    /// Word splitting of the source and of the target.
    pub fn words(&self) -> [WordSplitting; 2] {
        self.words
    }

    /// Precision of products in search.
    pub fn precision(&self) -> PrecisionOption {
        self.precision
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

    /// Returns the words of the sources (side 0) or targets (side 1) of the first model's training data, if it has a statistical
    /// aligner, which knows them.
    fn known_words(&self, side: usize) -> Result<Option<Arc<KnownWords>>> {
        let aligner = self.aligner()?;
        let known = self.known_words[side].get_or_init(|| {
            let aligner = aligner?;
            Some(Arc::new(KnownWords::from_texts(aligner.words(side))))
        });
        Ok(known.clone())
    }

    /// Returns the set of the first model's training pairs, if it is recorded.
    ///
    /// # Errors
    /// The file is damaged or belongs to another model.
    pub fn trained_pairs(&self) -> Result<Option<TrainedPairs>> {
        ModelDir::new(&self.path).load_trained_pairs(&self.checkpoint)
    }

    /// True if a source text seems to be in the target language.
    pub fn is_in_target_language(&self, source: &str) -> bool {
        is_in_other_language(source, &self.checkpoint.source, &self.checkpoint.target)
    }

    /// True if a target text seems to be in the source language.
    pub fn is_in_source_language(&self, target: &str) -> bool {
        is_in_other_language(target, &self.checkpoint.target, &self.checkpoint.source)
    }

    /// Describes the languages of the model for messages: `from English to French`.
    pub fn described_languages(&self) -> String {
        match &self.config().data.languages {
            Some(Languages { source, target }) => {
                format!("from {} to {}", language_name(source), language_name(target))
            }
            None => "the other way".to_owned(),
        }
    }

    /// Device of the models.
    pub fn device(&self) -> &Device {
        self.models[0].device()
    }

    /// Aligns pairs by forced decoding.
    ///
    /// # Errors
    /// A model fails; its scores are not finite.
    pub fn align_batch(&self, pairs: &[Pair], on_progress: &mut dyn FnMut(usize)) -> Result<Vec<ForcedAlignment>> {
        let is_exact = self.models[0].architecture().attention.is_exact();
        let forced = self.force_decode(pairs, RnnSearch::align, on_progress)?;
        let mut alignments = Vec::with_capacity(forced.len());
        for ForcedPair { source, target, scores } in forced {
            let log_probability = scores.log_probability();
            let ForcedScores { log_probabilities, weights, posteriors, .. } = scores;
            // An ensemble with a model that has no posteriors has none.
            let rows = if is_exact && !posteriors.is_empty() { &posteriors } else { &weights };
            let mut aligned = ForcedAlignment::new(source, target, rows, log_probability, log_probabilities);
            if !posteriors.is_empty() {
                aligned.set_posteriors(&[posteriors]);
            }
            alignments.push(aligned);
        }
        Ok(alignments)
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
        let forced = self.force_decode(pairs, |model, batch| model.force_decode(batch, 0.0), on_progress)?;
        let mut scored = Vec::with_capacity(forced.len());
        for ForcedPair { source, target, scores } in forced {
            scored.push(ForcedScore::new(&source, target, &scores.log_probabilities));
        }
        Ok(scored)
    }

    /// Segments pairs and decodes their targets with each model.
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

    /// Decodes the targets of examples, in batches of similar length, and checks that the scores are finite.
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

    /// Decodes the targets of a batch with each model. Returns the mean of the models for each pair.
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
        let mut means = Vec::with_capacity(batch.target.batch());
        for _ in 0..batch.target.batch() {
            let of_models: Vec<ForcedScores> = forced.iter_mut().filter_map(Iterator::next).collect();
            means.push(ForcedScores::ensemble_mean(&of_models));
        }
        Ok(means)
    }

    /// Fails unless the scores of the models are finite.
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

/// Segments texts, each truncated to [`MAX_SENTENCE_TOKENS`]. Blank ones have no tokens.
fn segment_all<'a>(
    vocabulary: &Vocabulary,
    words: WordSplitting,
    texts: impl Iterator<Item = &'a str>,
) -> Result<Vec<Segmentation>> {
    texts.map(|text| segment_as_read(vocabulary, text, None, words)).collect()
}

/// Segments a text, as itself or as the text that is read in its place, truncated to [`MAX_SENTENCE_TOKENS`]. A blank one has no
/// tokens.
fn segment_as_read(
    vocabulary: &Vocabulary,
    text: &str,
    read: Option<&MappedText>,
    words: WordSplitting,
) -> Result<Segmentation> {
    let text = if text.trim().is_empty() { "" } else { text };
    Ok(vocabulary.segment_read(text, read, words)?.cut_to(MAX_SENTENCE_TOKENS))
}

fn examples(sources: &[Segmentation], targets: &[Segmentation]) -> Vec<Example> {
    let pairs = sources.iter().zip(targets);
    pairs.map(|(source, target)| Example::new(source.ids.clone(), target.ids.clone())).collect()
}

/// Indices of the examples of each batch: of similar length, limited by the tokens of the longer side.
fn batches(examples: &[Example]) -> Vec<Vec<usize>> {
    let mut lengths: Vec<ExampleLength> = examples.iter().map(Example::length).collect();
    lengths.iter_mut().for_each(|length| length.target = length.target.max(length.source));
    bucketed(&lengths, BatchSize::Tokens(BATCH_TOKENS), &mut crate::random::SeededRng::new(0, "order", 0))
}
