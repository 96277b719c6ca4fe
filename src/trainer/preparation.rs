//! Preparation of a new training: its settings, vocabularies and data.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, ensure};

use super::data::{PairEncoder, TrainingData, warn_of_identical_sides, warn_of_mixed_forms};
use super::run_context::RunContext;
use super::sources::TrainingSources;
use super::spec::{StartingPoint, TrainingSpec};
use super::training_pairs::TrainingPairs;
use super::vocabularies::{
    VocabularyLearner, ensure_running, fit_time, protected_tokens, statistics, training_seconds,
};
use super::warm_start::{InitVocabulary, WarmStart};
use crate::checkpoint::{Checkpoint, Config, DataSummary, FORMAT_VERSION};
use crate::text::{ProtectedTokens, TextSettings, Vocabulary};
use crate::training::{Observer, ResolvedConfig, TrainConfig, TrainingSettings};

/// A new training whose options are checked by its pairs, before the expensive work.
pub(super) struct CheckedTraining<'s> {
    spec: &'s TrainingSpec,
    base: Option<WarmStart>,
    pairs: TrainingPairs,
    protected_tokens: ProtectedTokens,
    config: ResolvedConfig,
}

/// A new training with its settings, vocabularies and data.
pub(super) struct PreparedTraining {
    /// Base model of a warm start; none for random initialization.
    pub base: Option<WarmStart>,
    /// Configuration and vocabularies.
    pub checkpoint: Checkpoint,
    /// Encoded pairs.
    pub data: TrainingData,
    /// Complete options, as `--show-config` prints them.
    pub options: TrainConfig,
    /// Explanation of the settings, one line each.
    pub reasons: Vec<String>,
}

/// Encoded pairs with the vocabularies learned from them.
struct EncodedPairs {
    /// Those of source and target.
    vocabularies: [Arc<Vocabulary>; 2],
    data: TrainingData,
}

impl EncodedPairs {
    fn new(
        pairs: TrainingPairs,
        sources: &TrainingSources,
        learner: &VocabularyLearner,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let vocabularies = learner.vocabularies(&pairs.usable(), observer)?;
        let [source, target] = &vocabularies;
        let encoder = PairEncoder { source, target, max_length: learner.config.text().max_length, reporter: observer };
        let data = TrainingData::new(pairs, sources, &encoder, learner.config.seed())?;
        Ok(Self { vocabularies, data })
    }
}

impl<'s> CheckedTraining<'s> {
    /// Reads the pairs and checks all options.
    ///
    /// # Errors
    /// The pairs are unreadable or unusable, or an option does not suit them.
    pub fn new(spec: &'s TrainingSpec, start: StartingPoint, context: RunContext) -> Result<Self> {
        let StartingPoint { base, config } = start;
        let pairs = spec.sources.read_training(context.observer)?;
        let usable = pairs.usable();
        ensure!(!usable.is_empty(), "{}: no sentence pairs", spec.sources.training_name());
        let normalization = config.model.normalization();
        let (named, tags) = (&config.model.protected_tokens, &spec.sources.tags());
        let has_features = spec.sources.layout().features.is_some();
        let protected_tokens = protected_tokens(named, tags, has_features, &usable, normalization)?;
        let stats = statistics(&usable, normalization, &protected_tokens, has_features);
        let architecture = base.as_ref().map(|base| &base.config().architecture);
        let precision = config.run.precision_on(context.device.is_cpu())?;
        let config = config.resolve(&stats, architecture, precision)?;
        Ok(Self { spec, base, pairs, protected_tokens, config })
    }

    /// Estimates the seconds of this training, of a teacher; none if teachers are not known to help.
    ///
    /// # Errors
    /// As [`Self::prepare`].
    pub fn teacher_seconds(self, context: RunContext) -> Result<Option<f64>> {
        let Self { spec, base, pairs, protected_tokens, config } = self;
        if !config.gains_by_teachers() {
            return Ok(None);
        }
        let learner = VocabularyLearner { config: &config, protected_tokens: &protected_tokens, base: base.as_ref() };
        let EncodedPairs { vocabularies, data } = EncodedPairs::new(pairs, &spec.sources, &learner, context.observer)?;
        training_seconds(&config, &data.training, &vocabularies, context).map(Some)
    }

    /// Learns the vocabularies and encodes the pairs. The time limit counts from `began`.
    ///
    /// # Errors
    /// The pairs are unusable, or the observer stops the preparation.
    pub fn prepare(self, began: Instant, context: RunContext) -> Result<PreparedTraining> {
        let Self { spec, base, pairs, protected_tokens, mut config } = self;
        let observer = context.observer;
        let usable = pairs.usable();
        warn_of_identical_sides(&usable, &spec.sources.training_name(), observer);
        warn_of_mixed_forms(&usable, config.text().normalization.form, &spec.sources.training_name(), observer);
        ensure_running(observer)?;
        let learner = VocabularyLearner { config: &config, protected_tokens: &protected_tokens, base: base.as_ref() };
        let EncodedPairs { vocabularies, data } = EncodedPairs::new(pairs, &spec.sources, &learner, observer)?;
        let [source, target] = &vocabularies;
        ensure_running(observer)?;
        fit_time(&mut config, &data.training, &vocabularies, began.elapsed(), context)?;
        let attention_pairs = data.attention_pairs.clone();
        let training = TrainingSettings { attention_pairs, ..config.training(&data.validation.pairs) };
        let options = config.options(&training, vocabulary_size(&config, base.as_ref()));
        let reasons = config.reasons(&training);
        let languages = data.summary.languages.clone();
        let config = Config {
            format_version: FORMAT_VERSION,
            program_version: env!("CARGO_PKG_VERSION").to_owned(),
            architecture: config.architecture([source.size(), target.size()]),
            text: TextSettings {
                source_protected_tokens: source.protected_tokens().clone(),
                target_protected_tokens: target.protected_tokens().clone(),
                ..config.text().clone()
            },
            data: DataSummary {
                languages: languages.or_else(|| base.as_ref()?.config().data.languages.clone()),
                ..data.summary.clone()
            },
            averaged: Vec::new(),
            from: base.as_ref().map(|base| base.summary([source, target])),
            confidence: None,
            begun: Some(spec.command.invocation()),
            training,
        };
        let checkpoint = Checkpoint::new(config, source.clone(), target.clone())?;
        Ok(PreparedTraining { base, checkpoint, data, options, reasons })
    }
}

impl TrainingSpec {
    /// Returns the complete options, as `--show-config` prints them. Nothing is written.
    ///
    /// # Errors
    /// The pairs are unreadable or unusable, or an option does not suit them.
    pub fn resolved_options(&self, out: &Path, context: RunContext) -> Result<TrainConfig> {
        let spec = self.clone().with_planned_teachers(out, context)?;
        let start = spec.starting_point(out, context.device)?;
        Ok(CheckedTraining::new(&spec, start, context)?.prepare(Instant::now(), context)?.options)
    }
}

/// Returns the maximum size of learned vocabularies if both sides have the same.
fn vocabulary_size(config: &ResolvedConfig, base: Option<&WarmStart>) -> Option<usize> {
    let [source, target] = config.vocabulary_sizes();
    let is_learned = base.is_none_or(|base| base.vocabulary == InitVocabulary::New);
    (is_learned && source == target).then_some(source)
}
