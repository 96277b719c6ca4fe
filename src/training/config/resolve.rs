//! Completion of a configuration by the data, a time limit and a base model.

use std::time::Duration;

use anyhow::{Result, anyhow};

use super::auto::AutoConfig;
use super::{GUIDED_ALIGNMENT, HardAttention, Preset, TrainConfig, explain};
use crate::attention::{AttentionConfig, SelectionMode};
use crate::error::{UsageError, usage};
use crate::kernels::matrix::Precision;
use crate::model::{Architecture, DropoutRates, InitialState};
use crate::text::{BatchSize, CorpusStats, NormalForm, Normalization, Pair, ProtectedTokens, TextSettings, Tokenization};
use crate::training::{Metric, Retention, Schedule, TrainingSettings};

/// Minutes between two saved training states.
const SAVE_EVERY: f64 = 5.0;
/// Minimum number of pairs from which the aligner learns links good enough for guided alignment.
const MIN_PAIRS_FOR_GUIDANCE: usize = 2000;
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
    /// Returns this configuration with the text and model settings of a base model.
    #[must_use]
    pub fn initialized_from(&self, text: &TextSettings, model: &Architecture) -> Self {
        let attention = &model.attention;
        let same_tokenization = text.source_tokenization == text.target_tokenization;
        Self {
            tokenization: same_tokenization.then_some(text.source_tokenization),
            source_tokenization: (!same_tokenization).then_some(text.source_tokenization),
            target_tokenization: (!same_tokenization).then_some(text.target_tokenization),
            joint_vocabulary: text.joint_vocabulary,
            normalize: Some(text.normalization.form),
            lowercase: text.normalization.lowercase,
            preset: None,
            embedding_size: Some(model.embedding_size),
            hidden_size: Some(model.hidden_size),
            attention_size: Some(model.attention_size),
            attention: Some(attention.score),
            decoder: Some(model.decoder),
            heads: Some(attention.heads),
            attention_temperature: Some(attention.temperature),
            hard_attention: Some(hard_attention(attention.choice)),
            layers: Some(model.layers),
            no_tied_embeddings: !model.tied_output,
            initial_state: Some(model.initial_state),
            ..self.clone()
        }
    }

    /// Returns the normalization of both sides' text.
    pub fn normalization(&self) -> Normalization {
        Normalization { form: self.normalize.unwrap_or(NormalForm::Nfc), lowercase: self.lowercase }
    }

    /// Returns the seed of all random numbers.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(1)
    }

    /// Returns the minutes between two saved training states.
    pub fn save_every(&self) -> f64 {
        self.save_every.unwrap_or(SAVE_EVERY)
    }

    /// Completes this configuration by the statistics of the training pairs. `base` is the architecture of the model that
    /// training is initialized from, if any; its settings are taken by [`Self::initialized_from`] first.
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
        let mut auto = AutoConfig::new(self.preset.unwrap_or(Preset::Auto), stats);
        if self.max_minutes.is_some() {
            auto = auto.filling_time();
        }
        if let Some(base) = base {
            auto = auto.for_base(base.hidden_size);
        }
        if self.guided_alignment.is_some_and(|weight| weight > 0.0) && text.has_character_tokens() {
            return usage("--guided-alignment and --guide need words: characters have no word alignments");
        }
        if self.bpe_dropout.is_some_and(|rate| rate > 0.0) && !text.has_subwords() {
            return usage("--bpe-dropout needs subwords on a side (--tokenization bpe)");
        }
        if self.concat_pairs.is_some_and(|share| share > 0.0) && text.has_character_tokens() {
            return usage("--concat-pairs needs sentences: characters would run together");
        }
        if self.hallucination.is_some_and(|share| share > 0.0) && !text.are_both_characters() {
            return usage("--hallucination needs characters as tokens on both sides");
        }
        let resolved =
            ResolvedConfig { given: self.clone(), base: base.cloned(), stats: stats.clone(), text, auto, precision };
        let architecture = resolved.architecture([0, 0]);
        let fits = architecture.attention.check(architecture.dimensions());
        fits.map_err(|reason| anyhow!(UsageError(format!("--{reason}"))))?;
        Ok(resolved)
    }

    fn text(&self, stats: &CorpusStats) -> Result<TextSettings> {
        let tokenization = |side: usize, own: Option<Tokenization>| own.or(self.tokenization).unwrap_or_else(|| stats.sides[side].tokenization());
        let (source_tokenization, target_tokenization) = (tokenization(0, self.source_tokenization), tokenization(1, self.target_tokenization));
        self.check_joint(source_tokenization, target_tokenization)?;
        Ok(TextSettings {
            normalization: self.normalization(),
            source_tokenization,
            target_tokenization,
            // Set with the vocabularies, which determine the side of each token.
            source_protected_tokens: ProtectedTokens::default(),
            target_protected_tokens: ProtectedTokens::default(),
            joint_vocabulary: self.joint_vocabulary,
            max_length: self.max_length.unwrap_or(128),
        })
    }
}

impl ResolvedConfig {
    /// Returns the seed of all random numbers.
    pub fn seed(&self) -> u64 {
        self.given.seed()
    }

    /// Returns the settings of tokenization.
    pub fn text(&self) -> &TextSettings {
        &self.text
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
        let given = &self.given;
        let sizes = [given.embedding_size, given.hidden_size, given.attention_size];
        let automatic = matches!(given.preset, None | Some(Preset::Auto)) && sizes == [None; 3];
        let Some(minutes) = given.max_minutes.filter(|_| automatic) else { return Ok(()) };
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
            self.given.vocabulary_size.unwrap_or(match tokenization {
                Tokenization::Bpe => sides * self.auto.bpe_vocabulary,
                Tokenization::Word => MAX_WORDS,
                Tokenization::Char | Tokenization::Letter => MAX_CHARACTERS,
            })
        })
    }

    /// Returns the model's architecture over vocabularies of these sizes.
    pub fn architecture(&self, [source_vocabulary, target_vocabulary]: [usize; 2]) -> Architecture {
        let (given, sizes) = (&self.given, self.auto.sizes);
        Architecture {
            source_vocabulary,
            target_vocabulary,
            embedding_size: given.embedding_size.unwrap_or(sizes.embedding),
            hidden_size: given.hidden_size.unwrap_or(sizes.hidden),
            attention_size: given.attention_size.unwrap_or(sizes.attention),
            layers: given.layers.unwrap_or(1),
            tied_output: !given.no_tied_embeddings,
            initial_state: given.initial_state.unwrap_or(InitialState::Mean),
            lexicon: self.base.as_ref().map_or(self.guidance().is_some() || self.copies(), |base| base.lexicon),
            decoder: given.decoder.unwrap_or_default(),
            attention: self.attention(),
        }
    }

    fn attention(&self) -> AttentionConfig {
        let given = &self.given;
        let soft = AttentionConfig {
            score: given.attention.unwrap_or_default(),
            heads: given.heads.unwrap_or(1),
            temperature: given.attention_temperature.unwrap_or(1.0),
            ..AttentionConfig::default()
        };
        let choice = match given.hard_attention {
            Some(hard) => selection_mode(hard),
            // Symbols mostly stand for one character each.
            None if self.stats.has_pronunciations() && soft.heads == 1 && !soft.is_fixed() => SelectionMode::Exact,
            None => SelectionMode::Soft,
        };
        AttentionConfig { choice, ..soft }
    }

    /// True if the lexicon copies tokens: forms of a word consist mostly of its own letters.
    fn copies(&self) -> bool {
        self.stats.has_inflected_words() && self.text.are_both_characters() && !self.attention().is_fixed()
    }

    /// Returns the weight of guided alignment, which also enables the lexicon.
    fn guidance(&self) -> Option<f64> {
        match self.given.guided_alignment {
            None if self.text.has_character_tokens() || self.attention().is_fixed() => None,
            None => (self.stats.pairs >= MIN_PAIRS_FOR_GUIDANCE).then_some(GUIDED_ALIGNMENT),
            Some(weight) => (weight > 0.0).then_some(weight),
        }
    }

    /// Returns the settings of the training run. The validation pairs determine the default metric.
    pub fn training(&self, validation: &[Pair]) -> TrainingSettings {
        let (given, auto) = (&self.given, &self.auto);
        let bpe_dropout = given.bpe_dropout.unwrap_or(if self.text.has_subwords() { auto.bpe_dropout } else { 0.0 });
        let concat_pairs =
            given.concat_pairs.unwrap_or(if self.text.has_character_tokens() { 0.0 } else { auto.concat_pairs });
        let hallucination =
            given.hallucination.unwrap_or(if self.text.are_both_characters() { auto.hallucination } else { 0.0 });
        let dropout = given.dropout.unwrap_or(auto.dropout);
        let schedule = given.schedule.or(given.decay.map(|_| Schedule::Plateau)).unwrap_or(auto.schedule);
        let above_zero = |value: f64| Some(value).filter(|value| *value > 0.0);
        TrainingSettings {
            seed: self.seed(),
            batch: given.batch().unwrap_or(BatchSize::Sentences(auto.batch_sentences)),
            learning_rate: given.learning_rate.unwrap_or(auto.sizes.learning_rate),
            warmup_steps: given.warmup_steps.unwrap_or(if self.base.is_some() { WARM_START_WARMUP } else { WARMUP }),
            schedule,
            decay: given.decay.unwrap_or(0.5),
            label_smoothing: given.label_smoothing.unwrap_or(0.1),
            guidance: self.guidance(),
            average: above_zero(given.ema_decay.unwrap_or(EMA_DECAY)),
            dropout: DropoutRates { embeddings: dropout, annotations: dropout, states: dropout, readout: dropout },
            bpe_dropout: above_zero(bpe_dropout),
            concat_pairs: above_zero(concat_pairs),
            hallucination: above_zero(hallucination),
            max_gradient_norm: given.max_gradient_norm.unwrap_or(1.0),
            precision: self.precision,
            max_epochs: given.max_epochs.unwrap_or(auto.epochs),
            max_minutes: given.max_minutes,
            validate_every: given.validate_every,
            patience: given.patience.or(self.default_patience()),
            metric: given.metric.unwrap_or_else(|| default_metric(&self.text, validation)),
            keep: given.retention(),
            keep_attention: given.keep_attention,
            attention_pairs: Vec::new(),
            tensorboard: given.tensorboard,
        }
    }

    /// Returns the default patience. Planned schedules gain most at their end, so they have none.
    fn default_patience(&self) -> Option<u64> {
        match self.given.schedule.or(self.given.decay.map(|_| Schedule::Plateau)) {
            Some(Schedule::Plateau) => Some(PATIENCE),
            Some(Schedule::Hold | Schedule::Cosine) | None => self.base.as_ref().map(|_| WARM_START_PATIENCE),
        }
    }

    /// Returns the options that reproduce these settings independently of defaults and data. Options that the base model
    /// determines stay unset. `vocabulary_size` is given if vocabularies are learned and have the same maximum size.
    pub fn options(&self, training: &TrainingSettings, vocabulary_size: Option<usize>) -> TrainConfig {
        let model = match &self.base {
            Some(_) => self.given_without_model(),
            None => self.given.initialized_from(&self.text, &self.architecture([0, 0])),
        };
        let (batch_sentences, batch_tokens) = match training.batch {
            BatchSize::Sentences(sentences) => (Some(sentences), None),
            BatchSize::Tokens(tokens) => (None, Some(tokens)),
        };
        TrainConfig {
            vocabulary_size,
            max_length: Some(self.text.max_length),
            dropout: Some(training.dropout.embeddings),
            bpe_dropout: Some(training.bpe_dropout.unwrap_or_default()),
            concat_pairs: Some(training.concat_pairs.unwrap_or_default()),
            hallucination: Some(training.hallucination.unwrap_or_default()),
            guided_alignment: Some(training.guidance.unwrap_or_default()),
            label_smoothing: Some(training.label_smoothing),
            ema_decay: Some(training.average.unwrap_or_default()),
            batch_sentences,
            batch_tokens,
            learning_rate: Some(training.learning_rate),
            warmup_steps: Some(training.warmup_steps),
            schedule: Some(training.schedule),
            decay: Some(training.decay).filter(|_| training.schedule == Schedule::Plateau),
            max_gradient_norm: Some(training.max_gradient_norm),
            precision: Some(training.precision.into()),
            max_epochs: Some(training.max_epochs),
            max_minutes: training.max_minutes,
            save_every: Some(self.given.save_every()),
            patience: training.patience,
            validate_every: training.validate_every,
            metric: Some(training.metric),
            seed: Some(training.seed),
            ..model
        }
    }

    fn given_without_model(&self) -> TrainConfig {
        TrainConfig {
            normalize: None,
            lowercase: false,
            tokenization: None,
            source_tokenization: None,
            target_tokenization: None,
            joint_vocabulary: false,
            preset: None,
            embedding_size: None,
            hidden_size: None,
            attention_size: None,
            attention: None,
            decoder: None,
            heads: None,
            attention_temperature: None,
            hard_attention: None,
            layers: None,
            no_tied_embeddings: false,
            initial_state: None,
            ..self.given.clone()
        }
    }
}

impl TrainConfig {
    fn batch(&self) -> Option<BatchSize> {
        let sentences = self.batch_sentences.map(BatchSize::Sentences);
        sentences.or(self.batch_tokens.map(BatchSize::Tokens))
    }

    fn retention(&self) -> Option<Retention> {
        self.keep_best.map(Retention::Best).or(self.keep_last.map(Retention::Last))
    }
}

fn selection_mode(hard: HardAttention) -> SelectionMode {
    match hard {
        HardAttention::Off => SelectionMode::Soft,
        HardAttention::Sampled => SelectionMode::Sampled,
        HardAttention::Exact => SelectionMode::Exact,
    }
}

fn hard_attention(mode: SelectionMode) -> HardAttention {
    match mode {
        SelectionMode::Soft | SelectionMode::Hardest => HardAttention::Off,
        SelectionMode::Sampled => HardAttention::Sampled,
        SelectionMode::Exact => HardAttention::Exact,
    }
}

/// Returns the default metric. BLEU needs 4-grams, so short texts use chrF.
fn default_metric(text: &TextSettings, validation: &[Pair]) -> Metric {
    let short = validation.iter().filter(|pair| pair.target.split_whitespace().count() < 4).count();
    if text.has_character_tokens() {
        Metric::ExactMatch
    } else if 2 * short > validation.len() {
        Metric::Chrf
    } else {
        Metric::Bleu
    }
}
