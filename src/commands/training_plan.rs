//! From the options of `train` and the size of the data to settings: what each preset means.

use anyhow::{Result, bail};

use super::UsageError;
use crate::attention;
use crate::checkpoint::TextSettings;
use crate::cli::{Preset, TrainArgs};
use crate::model::{Architecture, DropoutRates, InitialState};
use crate::text::{BatchSize, Pair, SPECIALS, Units};
use crate::training::{Metric, TrainingSettings};

/// The seed where none is given.
pub const SEED: u64 = 1;

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

/// Largest size of a layer, most layers and most units that an option may ask for: beyond what a CPU trains in a
/// lifetime.
const LARGEST: usize = 8192;
const MOST_LAYERS: usize = 32;
const MOST_UNITS: usize = 1_000_000;

/// Checks every option before any work is done.
pub fn check(args: &TrainArgs) -> Result<TextSettings> {
    let text = text_settings(args)?;
    vocabulary_size(args, text.source_units, 1)?;
    architecture(args, 1, [1, 1])?;
    training_settings(args, 1, &text, &[])?;
    Ok(text)
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

/// Most units in a vocabulary over so many pairs.
pub fn vocabulary_size(args: &TrainArgs, units: Units, pairs: usize) -> Result<usize> {
    let by_data = match units {
        // Small data cannot teach many rare pieces.
        Units::Bpe => (pairs / 16).clamp(500, 8000),
        Units::Word => 30_000,
        Units::Char => 8000,
    };
    within("--vocabulary-size", args.vocabulary_size.unwrap_or(by_data), SPECIALS.len() + 1, MOST_UNITS)
}

/// The model's sizes, by the options and the data.
pub fn architecture(args: &TrainArgs, pairs: usize, vocabularies: [usize; 2]) -> Result<Architecture> {
    let sizes = args.preset.unwrap_or(Preset::Auto).sizes(pairs);
    let size = |option, given: Option<usize>, by_preset| within(option, given.unwrap_or(by_preset), 1, LARGEST);
    let hidden_size = size("--hidden-size", args.hidden_size, sizes.hidden)?;
    if !hidden_size.is_multiple_of(2) {
        bail!(UsageError(format!("--hidden-size {hidden_size} is odd; each encoder direction has half of it")));
    }
    Ok(Architecture {
        source_vocabulary: vocabularies[0],
        target_vocabulary: vocabularies[1],
        embedding_size: size("--embedding-size", args.embedding_size, sizes.embedding)?,
        hidden_size,
        attention_size: size("--attention-size", args.attention_size, sizes.attention)?,
        layers: within("--layers", args.layers.unwrap_or(1), 1, MOST_LAYERS)?,
        tied_output: !args.untied,
        initial_state: args.initial_state.unwrap_or(InitialState::Mean),
        attention: attention::Settings::default(),
    })
}

/// The training settings, by the options and the data.
pub fn training_settings(
    args: &TrainArgs,
    pairs: usize,
    text: &TextSettings,
    validation: &[Pair],
) -> Result<TrainingSettings> {
    let sizes = args.preset.unwrap_or(Preset::Auto).sizes(pairs);
    let batch = match (args.batch_sentences, args.batch_tokens) {
        (Some(sentences), _) => BatchSize::Sentences(positive("--batch-sentences", sentences)?),
        (None, Some(tokens)) => BatchSize::Tokens(positive("--batch-tokens", tokens)?),
        // Small data needs many steps more than smooth ones.
        (None, None) => BatchSize::Sentences(if pairs < 10_000 { 32 } else { 64 }),
    };
    let decay = args.decay.unwrap_or(0.5);
    if !(decay > 0.0 && decay <= 1.0) {
        bail!(UsageError(format!("--decay must be above 0 and at most 1, not {decay}")));
    }
    Ok(TrainingSettings {
        seed: args.seed.unwrap_or(SEED),
        batch,
        learning_rate: above_zero("--learning-rate", args.learning_rate.unwrap_or(sizes.learning_rate))?,
        warmup_steps: args.warmup_steps.unwrap_or(100),
        decay,
        label_smoothing: share("--label-smoothing", args.label_smoothing.unwrap_or(0.1))?,
        guidance: guidance(args, pairs, text)?,
        dropout: dropout_rates(share("--dropout", args.dropout.unwrap_or(0.2))?),
        max_gradient_norm: above_zero("--max-gradient-norm", args.max_gradient_norm.unwrap_or(1.0))?,
        max_epochs: positive("--max-epochs", args.max_epochs.unwrap_or(100))?,
        validate_every: args.validate_every.map(|steps| positive("--validate-every", steps)).transpose()?,
        patience: positive("--patience", args.patience.unwrap_or(6))?,
        metric: args.metric.unwrap_or_else(|| metric(text, validation)),
    })
}

/// The score that suits the data: BLEU counts runs of four words, so it says nothing of shorter texts.
fn metric(text: &TextSettings, validation: &[Pair]) -> Metric {
    let short = validation.iter().filter(|pair| pair.target.split_whitespace().count() < 4).count();
    if [text.source_units, text.target_units].contains(&Units::Char) {
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

/// The options given that a resumed run cannot follow, since the model is there already.
pub fn settled(args: &TrainArgs) -> Vec<&'static str> {
    [
        ("--units", args.units.is_some()),
        ("--source-units", args.source_units.is_some()),
        ("--target-units", args.target_units.is_some()),
        ("--vocabulary-size", args.vocabulary_size.is_some()),
        ("--joint-vocabulary", args.joint_vocabulary),
        ("--max-length", args.max_length.is_some()),
        ("--preset", args.preset.is_some()),
        ("--embedding-size", args.embedding_size.is_some()),
        ("--hidden-size", args.hidden_size.is_some()),
        ("--attention-size", args.attention_size.is_some()),
        ("--layers", args.layers.is_some()),
        ("--untied", args.untied),
        ("--initial-state", args.initial_state.is_some()),
        ("--dropout", args.dropout.is_some()),
        ("--guided-alignment", args.guided_alignment.is_some()),
        ("--label-smoothing", args.label_smoothing.is_some()),
        ("--batch-sentences", args.batch_sentences.is_some()),
        ("--batch-tokens", args.batch_tokens.is_some()),
        ("--learning-rate", args.learning_rate.is_some()),
        ("--warmup-steps", args.warmup_steps.is_some()),
        ("--decay", args.decay.is_some()),
        ("--max-gradient-norm", args.max_gradient_norm.is_some()),
        ("--validate-every", args.validate_every.is_some()),
        ("--metric", args.metric.is_some()),
        ("--seed", args.seed.is_some()),
    ]
    .into_iter()
    .filter_map(|(option, given)| given.then_some(option))
    .collect()
}

/// What guides of attention count, if there are any: units of characters have no words to align.
fn guidance(args: &TrainArgs, pairs: usize, text: &TextSettings) -> Result<Option<f64>> {
    let characters = [text.source_units, text.target_units].contains(&Units::Char);
    match args.guided_alignment {
        None => Ok((!characters && pairs >= ENOUGH_FOR_LINKS).then_some(GUIDANCE)),
        Some(0.0) => Ok(None),
        Some(_) if characters => {
            bail!(UsageError("--guided-alignment needs words: units of characters have no word alignments".to_owned()))
        }
        Some(weight) => Ok(Some(above_zero("--guided-alignment", weight)?)),
    }
}

/// A number that is not 0.
pub fn positive<T: PartialEq + Default>(option: &str, value: T) -> Result<T> {
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
