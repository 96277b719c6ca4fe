//! From the options of `train` and the data to settings: what each preset means.

use anyhow::{Result, anyhow, bail};

use super::usage::UsageError;
use crate::attention::{Choice, Settings};
use crate::checkpoint::TextSettings;
use crate::cli::{Preset, TrainArgs};
use crate::model::{Architecture, DecoderKind, DropoutRates, InitialState, LARGEST, MOST_LAYERS};
use crate::text::{BatchSize, Pair, SPECIALS, Units};
use crate::training::{Metric, TrainingSettings};

/// The seed where none is given.
const SEED: u64 = 1;

/// What a guide of attention counts where nothing is said, and pairs from which links can be learnt well enough for
/// that.
const GUIDANCE: f64 = 0.1;
const ENOUGH_FOR_LINKS: usize = 2000;

/// Embedding, hidden and attention sizes with a learning rate that suits them.
struct Sizes {
    embedding: usize,
    hidden: usize,
    attention: usize,
    learning_rate: f64,
}

impl Preset {
    fn sizes(self, pairs: usize) -> Sizes {
        let (embedding, hidden, attention, learning_rate) = match self {
            Self::Tiny => (64, 128, 128, 2e-3),
            Self::Small => (128, 256, 128, 2e-3),
            Self::Medium => (192, 384, 256, 1e-3),
            Self::Large => (256, 512, 512, 1e-3),
            Self::Auto if pairs <= 50_000 => return Self::Small.sizes(pairs),
            Self::Auto if pairs <= 150_000 => return Self::Medium.sizes(pairs),
            Self::Auto => return Self::Large.sizes(pairs),
        };
        Sizes { embedding, hidden, attention, learning_rate }
    }
}

/// Most units that an option may ask for.
const MOST_UNITS: usize = 1_000_000;

/// What the options settle, each of them checked. A number that is not there is for the data to decide.
pub struct TrainingPlan {
    text: TextSettings,
    preset: Preset,
    vocabulary_size: Option<usize>,
    model: ModelPlan,
    run: RunPlan,
}

/// What the options settle of the model.
struct ModelPlan {
    embedding_size: Option<usize>,
    hidden_size: Option<usize>,
    attention_size: Option<usize>,
    layers: usize,
    tied_output: bool,
    initial_state: InitialState,
    decoder: DecoderKind,
    attention: Settings,
}

/// What the options settle of the training run.
struct RunPlan {
    seed: u64,
    batch: Option<BatchSize>,
    learning_rate: Option<f64>,
    warmup_steps: u64,
    decay: f64,
    label_smoothing: f64,
    guidance: Guidance,
    dropout: f64,
    bpe_dropout: Option<f64>,
    average: Option<f64>,
    max_gradient_norm: f64,
    max_epochs: u64,
    validate_every: Option<u64>,
    patience: u64,
    metric: Option<Metric>,
}

/// What guides of attention count.
enum Guidance {
    /// [`GUIDANCE`], if there are pairs enough to learn links from.
    ByData,
    /// There are none.
    None,
    Weight(f64),
}

impl TrainingPlan {
    /// Checks every option, before any work is done.
    ///
    /// # Errors
    /// A [`UsageError`] that names the option.
    pub fn new(args: &TrainArgs) -> Result<Self> {
        let text = text_settings(args)?;
        let vocabulary_size =
            args.vocabulary_size.map(|size| within("--vocabulary-size", size, SPECIALS.len() + 1, MOST_UNITS));
        Ok(Self {
            vocabulary_size: vocabulary_size.transpose()?,
            model: ModelPlan::new(args)?,
            run: RunPlan::new(args, &text)?,
            preset: args.preset.unwrap_or(Preset::Auto),
            text,
        })
    }

    /// How text becomes units.
    pub fn text(&self) -> &TextSettings {
        &self.text
    }

    /// What decides everything random.
    pub fn seed(&self) -> u64 {
        self.run.seed
    }

    /// Most units in a vocabulary over so many pairs.
    pub fn vocabulary_size(&self, units: Units, pairs: usize) -> usize {
        self.vocabulary_size.unwrap_or(match units {
            // Small data cannot teach many rare pieces.
            Units::Bpe => (pairs / 16).clamp(500, 8000),
            Units::Word => 30_000,
            Units::Char => 8000,
        })
    }

    /// Checks what depends on the sizes that so many pairs lead to.
    ///
    /// # Errors
    /// A [`UsageError`] that names the option.
    pub fn check_sizes(&self, pairs: usize) -> Result<()> {
        let architecture = self.architecture(pairs, [0, 0]);
        architecture
            .attention
            .check(architecture.dimensions())
            .map_err(|reason| anyhow!(UsageError(format!("--{reason}"))))
    }

    /// The model's sizes for so many pairs, over vocabularies of these sizes.
    pub fn architecture(&self, pairs: usize, [source_vocabulary, target_vocabulary]: [usize; 2]) -> Architecture {
        let (sizes, model) = (self.preset.sizes(pairs), &self.model);
        Architecture {
            source_vocabulary,
            target_vocabulary,
            embedding_size: model.embedding_size.unwrap_or(sizes.embedding),
            hidden_size: model.hidden_size.unwrap_or(sizes.hidden),
            attention_size: model.attention_size.unwrap_or(sizes.attention),
            layers: model.layers,
            tied_output: model.tied_output,
            initial_state: model.initial_state,
            lexicon: self.guidance(pairs).is_some(),
            decoder: model.decoder,
            attention: model.attention.clone(),
        }
    }

    /// What guides of attention count with so many pairs. Where there are guides, the translations of units that they
    /// show weigh on the output too.
    fn guidance(&self, pairs: usize) -> Option<f64> {
        match self.run.guidance {
            Guidance::ByData if self.text.of_characters() || self.model.attention.is_fixed() => None,
            Guidance::ByData => (pairs >= ENOUGH_FOR_LINKS).then_some(GUIDANCE),
            Guidance::None => None,
            Guidance::Weight(weight) => Some(weight),
        }
    }

    /// The training settings for so many pairs and these that validate.
    pub fn training_settings(&self, pairs: usize, validation: &[Pair]) -> TrainingSettings {
        let run = &self.run;
        // Small data needs many steps more than smooth ones.
        let sentences = if pairs < 10_000 { 32 } else { 64 };
        TrainingSettings {
            seed: run.seed,
            batch: run.batch.unwrap_or(BatchSize::Sentences(sentences)),
            learning_rate: run.learning_rate.unwrap_or(self.preset.sizes(pairs).learning_rate),
            warmup_steps: run.warmup_steps,
            decay: run.decay,
            label_smoothing: run.label_smoothing,
            guidance: self.guidance(pairs),
            average: run.average,
            dropout: dropout_rates(run.dropout),
            bpe_dropout: run.bpe_dropout,
            max_gradient_norm: run.max_gradient_norm,
            max_epochs: run.max_epochs,
            validate_every: run.validate_every,
            patience: run.patience,
            metric: run.metric.unwrap_or_else(|| metric(&self.text, validation)),
        }
    }
}

impl ModelPlan {
    fn new(args: &TrainArgs) -> Result<Self> {
        let size = |option, given: Option<usize>| given.map(|size| within(option, size, 1, LARGEST)).transpose();
        let hidden_size = size("--hidden-size", args.hidden_size)?;
        if let Some(odd) = hidden_size.filter(|size| !size.is_multiple_of(2)) {
            bail!(UsageError(format!("--hidden-size {odd} is odd; each encoder direction has half of it")));
        }
        Ok(Self {
            embedding_size: size("--embedding-size", args.embedding_size)?,
            hidden_size,
            attention_size: size("--attention-size", args.attention_size)?,
            layers: within("--layers", args.layers.unwrap_or(1), 1, MOST_LAYERS)?,
            tied_output: !args.untied,
            initial_state: args.initial_state.unwrap_or(InitialState::Mean),
            decoder: args.decoder.unwrap_or(DecoderKind::Conditional),
            attention: Settings {
                score: args.attention.unwrap_or_default(),
                heads: args.heads.unwrap_or(1),
                temperature: args.attention_temperature.unwrap_or(1.0),
                choice: if args.hard_attention { Choice::Sampled } else { Choice::Soft },
                shown: None,
            },
        })
    }
}

impl RunPlan {
    fn new(args: &TrainArgs, text: &TextSettings) -> Result<Self> {
        let batch = match (args.batch_sentences, args.batch_tokens) {
            (Some(sentences), _) => Some(BatchSize::Sentences(positive("--batch-sentences", sentences)?)),
            (None, Some(tokens)) => Some(BatchSize::Tokens(positive("--batch-tokens", tokens)?)),
            (None, None) => None,
        };
        let decay = args.decay.unwrap_or(0.5);
        if !(decay > 0.0 && decay <= 1.0) {
            bail!(UsageError(format!("--decay must be above 0 and at most 1, not {decay}")));
        }
        Ok(Self {
            seed: args.seed.unwrap_or(SEED),
            batch,
            learning_rate: args.learning_rate.map(|rate| above_zero("--learning-rate", rate)).transpose()?,
            warmup_steps: args.warmup_steps.unwrap_or(100),
            decay,
            label_smoothing: share("--label-smoothing", args.label_smoothing.unwrap_or(0.1))?,
            guidance: Guidance::new(args, text)?,
            average: Some(share("--average-decay", args.average_decay.unwrap_or(0.0))?).filter(|decay| *decay > 0.0),
            bpe_dropout: Some(share("--bpe-dropout", args.bpe_dropout.unwrap_or(0.0))?).filter(|rate| *rate > 0.0),
            dropout: share("--dropout", args.dropout.unwrap_or(0.2))?,
            max_gradient_norm: above_zero("--max-gradient-norm", args.max_gradient_norm.unwrap_or(1.0))?,
            max_epochs: max_epochs(args)?.unwrap_or(100),
            validate_every: args.validate_every.map(|steps| positive("--validate-every", steps)).transpose()?,
            patience: patience(args)?.unwrap_or(6),
            metric: args.metric,
        })
    }
}

impl Guidance {
    /// By the weight given. Units of characters have no words to align, and what is fixed learns nothing.
    fn new(args: &TrainArgs, text: &TextSettings) -> Result<Self> {
        let score = args.attention.unwrap_or_default();
        Ok(match args.guided_alignment {
            None => Self::ByData,
            Some(0.0) => Self::None,
            Some(_) if text.of_characters() => {
                bail!(UsageError(
                    "--guided-alignment needs words: units of characters have no word alignments".to_owned()
                ))
            }
            Some(_) if score.is_fixed() => {
                let score = score.name();
                bail!(UsageError(format!(
                    "--guided-alignment needs a score: with --attention {score} there is nothing to teach"
                )))
            }
            Some(weight) => Self::Weight(above_zero("--guided-alignment", weight)?),
        })
    }
}

/// How text becomes units, by the options.
fn text_settings(args: &TrainArgs) -> Result<TextSettings> {
    let units = args.units.unwrap_or(Units::Bpe);
    let settings = TextSettings {
        source_units: args.source_units.unwrap_or(units),
        target_units: args.target_units.unwrap_or(units),
        joint_vocabulary: args.joint_vocabulary,
        max_length: positive("--max-length", args.max_length.unwrap_or(128))?,
    };
    if settings.joint_vocabulary && settings.source_units != settings.target_units {
        bail!(UsageError("--joint-vocabulary needs the same units on both sides".to_owned()));
    }
    Ok(settings)
}

/// The score that suits the data: BLEU counts runs of four words, so it says nothing of shorter texts.
fn metric(text: &TextSettings, validation: &[Pair]) -> Metric {
    let short = validation.iter().filter(|pair| pair.target.split_whitespace().count() < 4).count();
    if text.of_characters() {
        Metric::ExactMatch
    } else if 2 * short > validation.len() {
        Metric::Chrf
    } else {
        Metric::Bleu
    }
}

fn dropout_rates(rate: f64) -> DropoutRates {
    DropoutRates { embeddings: rate, annotations: rate, states: rate, readout: rate }
}

/// Passes over the pairs after which training ends, where an option says.
///
/// # Errors
/// It is 0.
pub fn max_epochs(args: &TrainArgs) -> Result<Option<u64>> {
    args.max_epochs.map(|epochs| positive("--max-epochs", epochs)).transpose()
}

/// Validations in a row without improvement after which training ends, where an option says.
///
/// # Errors
/// It is 0.
pub fn patience(args: &TrainArgs) -> Result<Option<u64>> {
    args.patience.map(|validations| positive("--patience", validations)).transpose()
}

/// A number that is not 0.
fn positive<T: PartialEq + Default>(option: &str, value: T) -> Result<T> {
    if value == T::default() {
        bail!(UsageError(format!("{option} must be at least 1")));
    }
    Ok(value)
}

fn within(option: &str, value: usize, least: usize, most: usize) -> Result<usize> {
    if !(least..=most).contains(&value) {
        bail!(UsageError(format!("{option} must be between {least} and {most}, not {value}")));
    }
    Ok(value)
}

fn above_zero(option: &str, value: f64) -> Result<f64> {
    if !(value.is_finite() && value > 0.0) {
        bail!(UsageError(format!("{option} must be above 0, not {value}")));
    }
    Ok(value)
}

fn share(option: &str, value: f64) -> Result<f64> {
    if !(0.0..1.0).contains(&value) {
        bail!(UsageError(format!("{option} must be at least 0 and below 1, not {value}")));
    }
    Ok(value)
}
