//! From settings back to the options that decide them.

use std::path::PathBuf;

use super::super::super::input::{SHIPPED_TRAINING, SHIPPED_VALIDATION};
use super::options::SAVE_EVERY;
use crate::attention::SelectionMode;
use crate::checkpoint::Config;
use crate::cli::TrainArgs;
use crate::text::BatchSize;
use crate::training::Keep;

/// The options that leave nothing open: a training begun with them has these settings, whatever the defaults and the data
/// say. `most_units` is that of both vocabularies, where one number can say it; else the kinds of units decide again.
pub fn in_force(args: &TrainArgs, config: &Config, most_units: Option<usize>) -> TrainArgs {
    let run = &config.training;
    let (batch_sentences, batch_tokens) = match run.batch {
        BatchSize::Sentences(most) => (Some(most), None),
        BatchSize::Tokens(most) => (None, Some(most)),
    };
    let (keep, keep_last) = match run.keep {
        None => (None, None),
        Some(Keep::Best(most)) => (Some(most), None),
        Some(Keep::Last(most)) => (None, Some(most)),
    };
    // What the model decides that training begins from, no option may say.
    let args = if args.from.is_some() { with_files(args) } else { of_model(&with_files(args), config) };
    TrainArgs {
        from_vocabulary: args.from.is_some().then(|| args.from_vocabulary.unwrap_or_default()),
        vocabulary_size: most_units,
        max_length: Some(config.text.max_length),
        dropout: Some(run.dropout.embeddings),
        bpe_dropout: Some(run.bpe_dropout.unwrap_or_default()),
        join_pairs: Some(run.joined.unwrap_or_default()),
        guided_alignment: Some(run.guidance.unwrap_or_default()),
        label_smoothing: Some(run.label_smoothing),
        average_decay: Some(run.average.unwrap_or_default()),
        batch_sentences,
        batch_tokens,
        learning_rate: Some(run.learning_rate),
        warmup_steps: Some(run.warmup_steps),
        schedule: Some(run.schedule),
        decay: Some(run.decay),
        max_gradient_norm: Some(run.max_gradient_norm),
        max_epochs: Some(run.max_epochs),
        max_minutes: run.max_minutes,
        save_every: args.save_every.or(Some(SAVE_EVERY)),
        patience: run.patience,
        validate_every: run.validate_every,
        metric: Some(run.metric),
        keep,
        keep_last,
        keep_attention: run.keep_attention,
        tensorboard: run.tensorboard,
        seed: Some(run.seed),
        ..args
    }
}

/// The options with those among them that say what a model is and how it reads text: they say this one.
pub fn of_model(args: &TrainArgs, config: &Config) -> TrainArgs {
    let (text, model, attention) = (&config.text, &config.architecture, &config.architecture.attention);
    let alike = text.source_units == text.target_units;
    TrainArgs {
        units: alike.then_some(text.source_units),
        source_units: (!alike).then_some(text.source_units),
        target_units: (!alike).then_some(text.target_units),
        joint_vocabulary: text.joint_vocabulary,
        normalise: Some(text.normalisation.form),
        lowercase: text.normalisation.lowercase,
        // What it stands for is said by what follows.
        preset: None,
        embedding_size: Some(model.embedding_size),
        hidden_size: Some(model.hidden_size),
        attention_size: Some(model.attention_size),
        attention: Some(attention.score),
        decoder: Some(model.decoder),
        heads: Some(attention.heads),
        attention_temperature: Some(attention.temperature),
        hard_attention: attention.choice == SelectionMode::Sampled,
        layers: Some(model.layers),
        untied: !model.tied_output,
        initial_state: Some(model.initial_state),
        ..args.clone()
    }
}

/// The same options with the shipped corpus by its names, where it is meant. Other layouts than its own cannot be said of it.
fn with_files(args: &TrainArgs) -> TrainArgs {
    let given = args.clone();
    if !given.train.is_empty() || given.source.is_some() || !given.layout.layout().is_plain() {
        return given;
    }
    let open = given.valid.is_empty() && given.valid_source.is_none();
    let valid = if open { vec![PathBuf::from(SHIPPED_VALIDATION)] } else { given.valid.clone() };
    TrainArgs { train: vec![PathBuf::from(SHIPPED_TRAINING).into()], valid, ..given }
}
