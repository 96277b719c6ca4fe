//! Text in, translations with alignments out; and forced decoding of given pairs.

mod api;
mod constraints;
mod decode_options;
mod forced_score;
mod line_warnings;
mod linker;
mod mbr;
mod noise_filter;
mod request;
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
use crate::search::{Hypothesis, Source, search_all};
use crate::text::{Batch, BatchSize, Example, Pair, Segmentation, Units, Vocabulary, WordSplitting, bucketed};

use constraints::CompiledConstraints;

pub use api::Aligner;
pub use constraints::{Constraints, Terminology};
pub use decode_options::{DecodeOptions, MAX_PHRASE, check_length_penalty};
pub use forced_score::ForcedScore;
pub use line_warnings::{LineWarnings, warn_of_truncated_lines};
pub use linker::{AlignerSource, LinkOptions, LinkedPair, Linker, LinksFrom, MOST_WORDS, learn_aligner};
pub use noise_filter::NoiseFilter;
pub use request::{LONGEST, Request, ResultSelection, Sentence};
pub use unk_replacement::Dictionary;

/// Units of a batch in forced decoding, padding counted.
const BATCH_UNITS: usize = 2048;

/// A trained model with its vocabularies, or several over the same ones that translate together. Clones share all of it.
#[derive(Clone)]
pub struct Translator {
    path: PathBuf,
    /// Of the first model.
    checkpoint: Arc<Checkpoint>,
    models: Vec<Arc<RnnSearch>>,
    /// What counts as a word of the source and of the target.
    words: [WordSplitting; 2],
    /// What replaces units that the model does not know, if anything.
    dictionary: Option<Dictionary>,
    /// Whether sentences that are mostly unknown stay as they are.
    keeps_unknown: bool,
    /// What translations have to keep to.
    constraints: CompiledConstraints,
    /// The statistical aligner that was learned with the model, if there is one, once it was asked for.
    aligner: Arc<OnceLock<Option<Arc<WordAligner>>>>,
}

/// One translation of one sentence.
#[derive(Clone, Debug)]
pub struct Translation {
    /// The translation.
    pub text: String,
    /// Log-probability in nats, `</s>` included.
    pub log_probability: f64,
    /// What translations are ranked by.
    pub score: f64,
    /// How many of the phrases that it should contain it does not.
    pub unmet_constraints: usize,
    /// Its alignment.
    pub alignment: ForcedAlignment,
}

impl Translation {
    /// The sentence itself as it was given, each unit from the same one.
    fn copied(
        sentence: &Sentence,
        source: Segmentation,
        vocabulary: &Vocabulary,
        words: WordSplitting,
    ) -> Result<Self> {
        let units = source.ids.len();
        let (given, before) = sentence.segment_given(vocabulary, words)?;
        let row = |unit: usize| (0..=units).map(|column| if column == unit { 1.0 } else { 0.0 }).collect();
        let rows: Vec<Vec<f32>> = (before.min(units)..=units).map(row).collect();
        let alignment = ForcedAlignment::new(source, given.cut_to(rows.len() - 1), &rows, 0.0);
        Ok(Self {
            text: sentence.given().to_owned(),
            log_probability: 0.0,
            score: 0.0,
            unmet_constraints: 0,
            alignment,
        })
    }
}

/// Whether a sentence is of another language or script, as far as units tell: a model has nothing to say of it.
fn is_mostly_unknown(source: &Segmentation) -> bool {
    source.unknown_share() > 0.5
}

/// A pair that has gone through forced decoding.
struct ForcedPair {
    source: Segmentation,
    target: Segmentation,
    by: ForcedScores,
}

/// An alignment by the model's units, from which that by words can be made.
#[derive(Clone, Debug)]
pub struct ForcedAlignment {
    /// Log-probability of the target given the source, in nats, `</s>` included.
    pub log_probability: f64,
    /// Units of the target, `</s>` included.
    pub length: usize,
    /// Whether a side was longer than [`LONGEST`] and only its beginning was read.
    pub cut: bool,
    units: Alignment,
    source: Segmentation,
    target: Segmentation,
}

impl ForcedAlignment {
    fn new(source: Segmentation, target: Segmentation, rows: &[Vec<f32>], log_probability: f64) -> Self {
        let units = Alignment::from_rows(source.units.clone(), target.units.clone(), rows);
        let cut = source.cut || target.cut;
        Self { log_probability, length: target.ids.len() + 1, cut, units, source, target }
    }

    /// Mean log-probability of a target unit, in nats.
    pub fn mean_log_probability(&self) -> f64 {
        self.log_probability / self.length as f64
    }

    /// The share of the source's units that the model does not know.
    pub fn unknown_share(&self) -> f64 {
        self.source.unknown_share()
    }

    /// Whether more than half of the source's units are unknown to the model.
    pub fn is_mostly_unknown(&self) -> bool {
        is_mostly_unknown(&self.source)
    }

    /// The alignment of the model's own units.
    pub fn by_units(&self) -> &Alignment {
        &self.units
    }

    /// The word that each unit belongs to, of the source and of the target.
    pub fn words_of_units(&self) -> [&[usize]; 2] {
        [&self.source.word_of_unit, &self.target.word_of_unit]
    }

    /// The alignment of the texts' words.
    pub fn by_words(&self) -> Alignment {
        self.units.merge(
            self.source.words.clone(),
            &self.source.word_of_unit,
            self.target.words.clone(),
            &self.target.word_of_unit,
        )
    }
}

impl Translator {
    /// Reads a model from its directory.
    ///
    /// # Errors
    /// The checkpoint's own.
    pub fn load_on(path: &Path, device: &Device) -> Result<Self> {
        let folder = ModelDir::new(path);
        let (checkpoint, parameters) = folder.load_model(device)?;
        let lexicon = folder.load_lexicon(&checkpoint)?;
        let model = RnnSearch::new(checkpoint.config.architecture.clone(), parameters)?.with_lexicon(lexicon);
        let words = [checkpoint.config.text.source_units, checkpoint.config.text.target_units].map(Units::words);
        let models = vec![Arc::new(model)];
        let constraints = CompiledConstraints::new(Constraints::default(), &checkpoint.target)?;
        Ok(Self {
            path: path.to_owned(),
            checkpoint: Arc::new(checkpoint),
            models,
            words,
            dictionary: None,
            keeps_unknown: false,
            constraints,
            aligner: Arc::default(),
        })
    }

    /// Loads several models that translate together, see [`Self::with`].
    ///
    /// # Errors
    /// As [`Self::load_on`] and [`Self::with`]; there is no directory.
    pub fn load_ensemble_on<D: AsRef<Path>>(directories: &[D], device: &Device) -> Result<Self> {
        let Some((first, others)) = directories.split_first() else {
            return usage("an ensemble needs at least one model");
        };
        let load = |directory: &D| Self::load_on(directory.as_ref(), device);
        others.iter().try_fold(load(first)?, |ensemble, other| ensemble.with(load(other)?))
    }

    /// This translator and another one together: at each step the mean of all their models' probabilities, and of what they
    /// look at. What is no model's own, as what counts as a word, stays this one's.
    ///
    /// # Errors
    /// The other one cuts text into other units.
    pub fn with(mut self, other: Self) -> Result<Self> {
        ensure!(
            self.checkpoint.same_vocabulary(&other.checkpoint)?,
            "{}: cuts text into other units than {}; models translate together if they were trained on the same pairs with \
             the same options, but for --seed and sizes",
            other.path.display(),
            self.path.display()
        );
        self.models.extend(other.models);
        Ok(self)
    }

    /// This translator, made to align what `words` says are words; none leaves that to what each side is cut into.
    #[must_use]
    pub fn with_words(self, words: Option<WordSplitting>) -> Self {
        Self { words: words.map_or(self.words, |words| [words; 2]), ..self }
    }

    /// What counts as a word of the source and of the target.
    pub fn words(&self) -> [WordSplitting; 2] {
        self.words
    }

    /// This translator, made to replace unknown words in translations by what a dictionary says; none replaces none.
    #[must_use]
    pub fn with_dictionary(self, dictionary: Option<Dictionary>) -> Self {
        Self { dictionary, ..self }
    }

    /// This translator, made to leave sentences as they are that are mostly unknown to it.
    #[must_use]
    pub fn with_unknown_kept(self, keeps_unknown: bool) -> Self {
        Self { keeps_unknown, ..self }
    }

    /// This translator, made to keep to constraints.
    ///
    /// # Errors
    /// It has no units for something that it is to say; of terms these are left out instead, see [`Self::skipped_terms`].
    pub fn with_constraints(self, constraints: Constraints) -> Result<Self> {
        Ok(Self { constraints: CompiledConstraints::new(constraints, &self.checkpoint.target)?, ..self })
    }

    /// Says whether the translation of a sentence can begin as it is asked to.
    ///
    /// # Errors
    /// The model has no unit for something in the beginning.
    pub fn check_beginning(&self, sentence: &Sentence) -> Result<()> {
        self.constraints.check_beginning(sentence, &self.checkpoint.target)
    }

    /// Translations of terms that are not asked of this model, since it has no units for them.
    pub fn skipped_terms(&self) -> &[String] {
        &self.constraints.skipped_terms
    }

    /// Uses attention otherwise than in training.
    ///
    /// # Errors
    /// A [`UsageError`] names what a model's attention cannot do.
    pub fn with_attention(self, overrides: &InferenceOverrides) -> Result<Self> {
        if *overrides == InferenceOverrides::default() {
            return Ok(self);
        }
        let read = |model: &Arc<RnnSearch>| -> Result<Arc<RnnSearch>> {
            let architecture = model.architecture();
            let attention = architecture.attention.with_overrides(overrides, architecture.dimensions());
            let attention = attention.map_err(|reason| UsageError(format!("--{reason}")))?;
            let architecture = Architecture { attention, ..architecture.clone() };
            let lexicon = model.lexicon().cloned();
            Ok(Arc::new(RnnSearch::new(architecture, model.parameters().clone())?.with_lexicon(lexicon)))
        };
        Ok(Self { models: self.models.iter().map(read).collect::<Result<_>>()?, ..self })
    }

    /// Returns the directory of the model, or of the first one.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The model as it lies on disk, but for its parameters.
    pub fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }

    /// The model's settings.
    pub fn config(&self) -> &Config {
        &self.checkpoint.config
    }

    /// Returns the statistical aligner that was learned with the model, if there is one. Its file is read once.
    ///
    /// # Errors
    /// Its file is damaged, or belongs to another model.
    pub fn aligner(&self) -> Result<Option<Arc<WordAligner>>> {
        if let Some(aligner) = self.aligner.get() {
            return Ok(aligner.clone());
        }
        let loaded = ModelDir::new(&self.path).load_aligner(&self.checkpoint)?.map(Arc::new);
        Ok(self.aligner.get_or_init(|| loaded).clone())
    }

    /// Returns the device of the model.
    pub fn device(&self) -> &Device {
        self.models[0].device()
    }

    /// Translates sentences: for each as many translations as the strategy says, best first, at least one. An empty sentence,
    /// or one of white space alone, has an empty translation. `on_progress` is told how many sentences are done since it
    /// was last told.
    ///
    /// # Errors
    /// The model's own; its scores are not finite; it has no units for what a translation is to begin with.
    pub fn translate_batch(
        &self,
        sentences: &[Sentence],
        request: &Request,
        on_progress: &mut (dyn FnMut(usize) + Send),
    ) -> Result<Vec<Vec<Translation>>> {
        let segmented = self.segment_sources(sentences.iter().map(|sentence| sentence.text.as_str()))?;
        let kept = |source: &Segmentation| self.keeps_unknown && is_mostly_unknown(source);
        let mut sources = Vec::with_capacity(sentences.len());
        for (sentence, source) in sentences.iter().zip(&segmented) {
            let constraints =
                self.constraints.constraints(sentence, [&self.checkpoint.source, &self.checkpoint.target])?;
            let units = if kept(source) { Vec::new() } else { source.ids.clone() };
            sources.push(Source { units, constraints });
        }
        let models: Vec<&RnnSearch> = self.models.iter().map(|model| &**model).collect();
        let found = search_all(&models, &sources, &request.search, on_progress)?;
        let chosen = sentences.par_iter().zip(segmented).zip(found).map(|((sentence, source), hypotheses)| {
            if kept(&source) {
                return Ok(vec![Translation::copied(sentence, source, &self.checkpoint.source, self.words[0])?]);
            }
            // Where nothing is better than anything else, search comes back with nothing.
            let speechless = !source.ids.is_empty() && hypotheses.iter().all(Hypothesis::is_degenerate);
            self.check_scores(!speechless && hypotheses.iter().all(|one| one.score.is_finite()))?;
            let translate = |one: &Hypothesis| self.translation(sentence, &source, one);
            let translations: Vec<Translation> = hypotheses.iter().map(translate).collect::<Result<_>>()?;
            let texts: Vec<&str> = translations.iter().map(|one| one.text.as_str()).collect();
            let ranked = |(place, gain): (usize, Option<f64>)| {
                let found: &Translation = &translations[place];
                Translation { score: gain.unwrap_or(found.score), ..found.clone() }
            };
            Ok(request.choice.among(&texts).into_iter().map(ranked).collect())
        });
        chosen.collect()
    }

    fn translation(&self, sentence: &Sentence, source: &Segmentation, hypothesis: &Hypothesis) -> Result<Translation> {
        let whole_words = self.checkpoint.config.text.target_units == Units::Word;
        let mut replacements = match &self.dictionary {
            Some(dictionary) => dictionary.replacements(sentence, &self.checkpoint.source, whole_words, hypothesis)?,
            None => HashMap::new(),
        };
        replacements.retain(|_, word| !self.constraints.avoids(word));
        let (text, target) = self.checkpoint.target.join_with(&hypothesis.units, &replacements, self.words[1]);
        let alignment = ForcedAlignment::new(source.clone(), target, &hypothesis.attention, hypothesis.log_probability);
        let Hypothesis { log_probability, score, unmet_constraints, .. } = *hypothesis;
        Ok(Translation { text, log_probability, score, unmet_constraints, alignment })
    }

    /// Forced decoding: the alignment of each pair and the target's log-probability, in order.
    ///
    /// # Errors
    /// The model's own; its scores are not finite.
    pub fn align_batch(&self, pairs: &[Pair], on_progress: &mut dyn FnMut(usize)) -> Result<Vec<ForcedAlignment>> {
        let forced = self.forced(pairs, on_progress)?.into_iter();
        Ok(forced
            .map(|ForcedPair { source, target, by }| {
                ForcedAlignment::new(source, target, &by.weights, by.log_probability())
            })
            .collect())
    }

    /// Forced decoding: how probable each pair's target is, and each of its words, in order.
    ///
    /// # Errors
    /// As [`Self::align_batch`].
    pub fn score_batch(&self, pairs: &[Pair], on_progress: &mut dyn FnMut(usize)) -> Result<Vec<ForcedScore>> {
        let forced = self.forced(pairs, on_progress)?.into_iter();
        Ok(forced
            .map(|ForcedPair { source, target, by }| ForcedScore::new(&source, target, &by.log_probabilities))
            .collect())
    }

    fn forced(&self, pairs: &[Pair], on_progress: &mut dyn FnMut(usize)) -> Result<Vec<ForcedPair>> {
        let sources = self.segment_sources(pairs.iter().map(|pair| pair.source.as_str()))?;
        let targets = pairs.iter().map(|pair| pair.target.as_str());
        let targets = segment_all(&self.checkpoint.target, self.words[1], targets)?;
        let examples = examples(&sources, &targets);
        let mut forced: Vec<Option<ForcedScores>> = (0..pairs.len()).map(|_| None).collect();
        for chosen in batches(&examples) {
            let batch = Batch::new(&examples, &chosen);
            for (&index, pair) in chosen.iter().zip(self.force(&batch)?) {
                self.check_scores(pair.log_probability().is_finite())?;
                forced[index] = Some(pair);
            }
            on_progress(chosen.len());
        }
        let sides = sources.into_iter().zip(targets);
        let all = sides.zip(forced.into_iter().flatten());
        Ok(all.map(|((source, target), by)| ForcedPair { source, target, by }).collect())
    }

    /// Forced decoding of a batch by all models together.
    fn force(&self, batch: &Batch) -> Result<Vec<ForcedScores>> {
        let mut forced = Vec::with_capacity(self.models.len());
        for model in &self.models {
            forced.push(model.force_decode(batch, 0.0)?.into_iter());
        }
        if let [_] = forced[..] {
            return Ok(forced.remove(0).collect());
        }
        let pair = |_| ForcedScores::ensemble_mean(&forced.iter_mut().filter_map(Iterator::next).collect::<Vec<_>>());
        Ok((0..batch.target.batch()).map(pair).collect())
    }

    /// Refuses a model whose parameters are finite and what it computes is not.
    fn check_scores(&self, finite: bool) -> Result<()> {
        ensure!(
            finite,
            "{}: this model's scores are not finite, since its parameters are too large; train it anew, or name another \
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
    texts.map(|text| Ok(segment(text)?.cut_to(LONGEST))).collect()
}

fn examples(sources: &[Segmentation], targets: &[Segmentation]) -> Vec<Example> {
    let pairs = sources.iter().zip(targets);
    pairs.map(|(source, target)| Example::new(source.ids.clone(), target.ids.clone())).collect()
}

/// All examples in batches of like length, which the longer side bounds.
fn batches(examples: &[Example]) -> Vec<Vec<usize>> {
    let longer = |example: &Example| (example.source.len(), example.source.len().max(example.target.len()));
    let lengths: Vec<(usize, usize)> = examples.iter().map(longer).collect();
    bucketed(&lengths, BatchSize::Tokens(BATCH_UNITS), &mut crate::random::SeededRng::new(0, "order", 0))
}
