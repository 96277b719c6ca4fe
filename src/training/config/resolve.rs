//! Completion of a configuration by the data, a time limit and a base model.

use std::ops::RangeInclusive;
use std::time::Duration;

use anyhow::{Result, anyhow};

use super::auto::AutoConfig;
use super::run::GUIDED_ALIGNMENT;
use super::{ModelConfig, Preset, RunConfig, RunLimits, TrainConfig, explain};
use crate::attention::{AttentionConfig, AttentionMode};
use crate::error::UsageError;
use crate::kernels::matrix::Precision;
use crate::model::{Architecture, DropoutRates, InitialState};
use crate::text::{
    BatchSize, CorpusStats, Pair, ProtectedTokens, TextSettings, Tokenization, WordSplitting, word_spans,
};
use crate::training::{Metric, Schedule, TrainingSettings};

/// Minimum number of pairs from which the aligner learns links good enough for guided alignment.
const MIN_PAIRS_FOR_GUIDANCE: usize = 2000;
/// Numbers of sentence pairs with which teachers help.
const PAIRS_FOR_TEACHERS: RangeInclusive<usize> = 1_000..=20_000;
/// Decay of the parameters' exponential moving average.
const EMA_DECAY: f64 = 0.999;
/// Default patience on the plateau schedule.
const PATIENCE: u64 = 6;
/// Default patience of a warm start on other schedules.
const WARM_START_PATIENCE: u64 = 10;
/// Default warmup steps, from random parameters and for a warm start.
const WARMUP: u64 = 100;
const WARM_START_WARMUP: u64 = 30;
/// Default maximum vocabulary sizes of words and of characters.
const MAX_WORDS: usize = 30_000;
const MAX_CHARACTERS: usize = 8000;

/// Complete configuration, except that the default validation metric depends on the validation pairs.
#[derive(Clone, Debug)]
pub struct ResolvedConfig {
    given: TrainConfig,
    base: Option<Architecture>,
    stats: CorpusStats,
    text: TextSettings,
    auto: AutoConfig,
    precision: Precision,
}

impl TrainConfig {
    /// Completes this configuration by the statistics of the training pairs. `base` is the architecture of the model that
    /// training is initialized from, if any; its settings are taken by [`ModelConfig::initialized_from`] first.
    ///
    /// # Errors
    /// A [`UsageError`] names the option that is out of range or does not suit the data.
    pub fn resolve(
        &self,
        stats: &CorpusStats,
        base: Option<&Architecture>,
        precision: Precision,
    ) -> Result<ResolvedConfig> {
        self.validate()?;
        let text = self.text(stats)?;
        self.run.validate_with(&text)?;
        let mut auto = AutoConfig::new(self.model.preset.unwrap_or(Preset::Auto), stats);
        if self.limits.max_minutes.is_some() {
            auto = auto.filling_time();
        }
        if let Some(base) = base {
            auto = auto.for_base(base.hidden_size);
        }
        let resolved =
            ResolvedConfig { given: self.clone(), base: base.cloned(), stats: stats.clone(), text, auto, precision };
        let architecture = resolved.architecture([0, 0]);
        let fits = architecture.attention.check(architecture.dimensions());
        fits.map_err(|reason| anyhow!(UsageError::new(format!("--{reason}"))))?;
        Ok(resolved)
    }

    fn text(&self, stats: &CorpusStats) -> Result<TextSettings> {
        let [source, target] = self.model.tokenizations();
        let source_tokenization = source.unwrap_or_else(|| stats.sides[0].tokenization());
        let target_tokenization = target.unwrap_or_else(|| stats.sides[1].tokenization());
        self.model.check_joint(source_tokenization, target_tokenization)?;
        Ok(TextSettings {
            normalization: self.model.normalization(),
            source_tokenization,
            target_tokenization,
            // Set with the vocabularies, which determine the side of each token.
            source_protected_tokens: ProtectedTokens::default(),
            target_protected_tokens: ProtectedTokens::default(),
            sentences: stats.splitter.clone(),
            truecaser: stats.truecaser.clone(),
            copied: stats.copied.clone(),
            joint_vocabulary: self.model.joint_vocabulary,
            max_length: self.run.max_length.unwrap_or(128),
        })
    }
}

impl ResolvedConfig {
    /// Returns the seed of all random numbers.
    pub fn seed(&self) -> u64 {
        self.given.run.seed()
    }

    /// Returns the settings of tokenization.
    pub fn text(&self) -> &TextSettings {
        &self.text
    }

    /// True if a model is known to gain by teachers: there are few sentences, but enough to learn from.
    pub fn gains_by_teachers(&self) -> bool {
        self.text.has_subwords() && PAIRS_FOR_TEACHERS.contains(&self.stats.pairs)
    }

    /// Explains the configuration: the data, the length of training and, if there are few pairs, what to expect.
    pub fn reasons(&self, settings: &TrainingSettings) -> Vec<String> {
        let warning = explain::warning(&self.stats).filter(|_| self.base.is_none());
        [Some(explain::data(&self.stats)), Some(explain::length(settings)), warning].into_iter().flatten().collect()
    }

    /// Chooses the largest sizes that the rest of the time limit allows after `spent`, unless sizes are set.
    /// `seconds_per_epoch` estimates the time of an epoch for a model over vocabularies of the given sizes.
    ///
    /// # Errors
    /// Those of `seconds_per_epoch`.
    pub fn fit_time(
        &mut self,
        vocabularies: [usize; 2],
        spent: Duration,
        seconds_per_epoch: impl Fn(&Architecture, &TrainingSettings) -> Result<f64>,
    ) -> Result<()> {
        let ModelConfig { preset, embedding_size, hidden_size, attention_size, .. } = self.given.model;
        let is_automatic =
            matches!(preset, None | Some(Preset::Auto)) && [embedding_size, hidden_size, attention_size] == [None; 3];
        let Some(minutes) = self.given.limits.max_minutes.filter(|_| is_automatic) else { return Ok(()) };
        self.auto = self.auto.within(&self.stats, 60.0 * minutes - spent.as_secs_f64(), |auto| {
            let tried = Self { auto, ..self.clone() };
            seconds_per_epoch(&tried.architecture(vocabularies), &tried.training(&[]))
        })?;
        Ok(())
    }

    /// Returns the maximum vocabulary sizes of source and target, equal for a joint vocabulary.
    pub fn vocabulary_sizes(&self) -> [usize; 2] {
        let sides = if self.text.joint_vocabulary { 2 } else { 1 };
        [self.text.source_tokenization, self.text.target_tokenization].map(|tokenization| {
            self.given.model.vocabulary_size.unwrap_or(match tokenization {
                Tokenization::Bpe => sides * self.auto.bpe_vocabulary,
                Tokenization::Word => MAX_WORDS,
                Tokenization::Char | Tokenization::Letter => MAX_CHARACTERS,
            })
        })
    }

    /// Returns the model's architecture over vocabularies of these sizes.
    pub fn architecture(&self, [source_vocabulary, target_vocabulary]: [usize; 2]) -> Architecture {
        let (given, sizes) = (&self.given.model, self.auto.sizes);
        Architecture {
            source_vocabulary,
            target_vocabulary,
            embedding_size: given.embedding_size.unwrap_or(sizes.embedding),
            hidden_size: given.hidden_size.unwrap_or(sizes.hidden),
            attention_size: given.attention_size.unwrap_or(sizes.attention),
            layers: given.layers.unwrap_or(1),
            tied_output: !given.no_tied_embeddings,
            initial_state: given.initial_state.unwrap_or(InitialState::Mean),
            lexicon: self.base.as_ref().map_or(self.guided_alignment().is_some() || self.copies(), |base| base.lexicon),
            decoder: given.decoder.unwrap_or_default(),
            attention: self.attention(),
        }
    }

    fn attention(&self) -> AttentionConfig {
        let given = &self.given.model;
        let soft = AttentionConfig {
            score: given.attention.unwrap_or_default(),
            heads: given.heads.unwrap_or(1),
            temperature: given.attention_temperature.unwrap_or(1.0),
            ..AttentionConfig::default()
        };
        let mode = match given.hard_attention {
            Some(mode) => mode,
            // Symbols mostly stand for one character each.
            None if self.stats.has_pronunciations() && soft.heads == 1 && !soft.is_fixed() => AttentionMode::Exact,
            None => AttentionMode::Soft,
        };
        AttentionConfig { mode, ..soft }
    }

    /// True if the lexicon copies tokens: forms of a word consist mostly of its own letters.
    fn copies(&self) -> bool {
        self.stats.has_inflected_words() && self.text.are_both_characters() && !self.attention().is_fixed()
    }

    /// Returns the weight of guided alignment, which also enables the lexicon.
    fn guided_alignment(&self) -> Option<f64> {
        match self.given.run.guided_alignment {
            None if self.text.has_character_tokens() || self.attention().is_fixed() => None,
            None => (self.stats.pairs >= MIN_PAIRS_FOR_GUIDANCE).then_some(GUIDED_ALIGNMENT),
            Some(weight) => (weight > 0.0).then_some(weight),
        }
    }

    /// Returns the settings of the training run. The validation pairs determine the default metric.
    pub fn training(&self, validation: &[Pair]) -> TrainingSettings {
        let TrainConfig { run, limits, .. } = &self.given;
        let auto = &self.auto;
        let bpe_dropout = if self.text.has_subwords() { auto.bpe_dropout } else { 0.0 };
        let concat_pairs = if self.text.has_character_tokens() { 0.0 } else { auto.concat_pairs };
        let hallucination = if self.text.are_both_characters() { auto.hallucination } else { 0.0 };
        let dropout = run.dropout.unwrap_or(auto.dropout);
        TrainingSettings {
            seed: self.seed(),
            batch: run.batch().unwrap_or(BatchSize::Sentences(auto.batch_sentences)),
            learning_rate: run.learning_rate.unwrap_or(auto.sizes.learning_rate),
            warmup_steps: run.warmup_steps.unwrap_or(if self.base.is_some() { WARM_START_WARMUP } else { WARMUP }),
            schedule: run.schedule().unwrap_or(auto.schedule),
            decay: run.decay.unwrap_or(0.5),
            label_smoothing: run.label_smoothing.unwrap_or(0.1),
            guided_alignment: self.guided_alignment(),
            ema_decay: above_zero(run.ema_decay.unwrap_or(EMA_DECAY)),
            dropout: DropoutRates { embeddings: dropout, annotations: dropout, states: dropout, readout: dropout },
            bpe_dropout: above_zero(run.bpe_dropout.unwrap_or(bpe_dropout)),
            concat_pairs: above_zero(run.concat_pairs.unwrap_or(concat_pairs)),
            hallucination: above_zero(run.hallucination.unwrap_or(hallucination)),
            max_gradient_norm: run.max_gradient_norm.unwrap_or(1.0),
            precision: self.precision,
            max_epochs: limits.max_epochs.unwrap_or(auto.epochs),
            max_minutes: limits.max_minutes,
            validate_every: run.validate_every,
            patience: limits.patience.or(self.default_patience()),
            metric: run.metric.unwrap_or_else(|| self.default_metric(validation)),
            keep_best: run.keep_best,
            keep_last: run.keep_last,
            keep_attention: run.keep_attention,
            attention_pairs: Vec::new(),
            tensorboard: run.tensorboard,
        }
    }

    /// Returns the default patience. Planned schedules gain most at their end, so they have none.
    fn default_patience(&self) -> Option<u64> {
        match self.given.run.schedule() {
            Some(Schedule::Plateau) => Some(PATIENCE),
            Some(Schedule::Hold | Schedule::Cosine) | None => self.base.as_ref().map(|_| WARM_START_PATIENCE),
        }
    }

    /// Returns the default metric. BLEU needs 4-grams, so short texts use chrF.
    fn default_metric(&self, validation: &[Pair]) -> Metric {
        let lengths = validation.iter().map(|pair| word_spans(&pair.target, WordSplitting::Script).len());
        if self.text.has_character_tokens() && self.stats.has_single_words() {
            Metric::ExactMatch
        } else if 2 * lengths.filter(|length| *length < 4).count() > validation.len() {
            Metric::Chrf
        } else {
            Metric::Bleu
        }
    }

    /// Returns the options that reproduce these settings independently of defaults and data. Options that the base model
    /// determines stay unset. `vocabulary_size` is given if vocabularies are learned and have the same maximum size.
    pub fn options(&self, training: &TrainingSettings, vocabulary_size: Option<usize>) -> TrainConfig {
        let TrainConfig { model, run, limits } = &self.given;
        let model = match &self.base {
            Some(_) => ModelConfig { protected_tokens: model.protected_tokens.clone(), ..ModelConfig::default() },
            None => model.initialized_from(&self.text, &self.architecture([0, 0])),
        };
        let (batch_sentences, batch_tokens) = match training.batch {
            BatchSize::Sentences(sentences) => (Some(sentences), None),
            BatchSize::Tokens(tokens) => (None, Some(tokens)),
        };
        TrainConfig {
            model: ModelConfig { vocabulary_size, ..model },
            run: RunConfig {
                max_length: Some(self.text.max_length),
                dropout: Some(training.dropout.embeddings),
                bpe_dropout: Some(training.bpe_dropout.unwrap_or_default()),
                concat_pairs: Some(training.concat_pairs.unwrap_or_default()),
                hallucination: Some(training.hallucination.unwrap_or_default()),
                guided_alignment: Some(training.guided_alignment.unwrap_or_default()),
                label_smoothing: Some(training.label_smoothing),
                ema_decay: Some(training.ema_decay.unwrap_or_default()),
                batch_sentences,
                batch_tokens,
                learning_rate: Some(training.learning_rate),
                warmup_steps: Some(training.warmup_steps),
                schedule: Some(training.schedule),
                decay: Some(training.decay).filter(|_| training.schedule == Schedule::Plateau),
                max_gradient_norm: Some(training.max_gradient_norm),
                precision: Some(training.precision.into()),
                validate_every: training.validate_every,
                metric: Some(training.metric),
                seed: Some(training.seed),
                teachers: Some(run.teachers.unwrap_or(0)),
                // What is kept and recorded.
                ..run.clone()
            },
            limits: RunLimits {
                max_epochs: Some(training.max_epochs),
                max_minutes: training.max_minutes,
                save_every: Some(limits.save_every()),
                patience: training.patience,
            },
        }
    }
}

/// Returns a rate or weight, or none if it is 0.
fn above_zero(value: f64) -> Option<f64> {
    (value > 0.0).then_some(value)
}
