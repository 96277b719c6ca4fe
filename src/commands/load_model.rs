//! Loading of models, with attention as the options ask.

use std::path::PathBuf;

use anyhow::{Result, bail};
use candle_core::Device;

use crate::attention::InferenceOverrides;
use crate::cli::AttentionArgs;
use crate::error::UsageError;
use crate::text::WordSplitting;
use crate::translator::Translator;

/// Loads a model, or several that translate together.
///
/// # Errors
/// Those of loading, or a [`UsageError`] for what a model's attention cannot do.
pub fn translator(
    directories: &[PathBuf],
    reading: &AttentionArgs,
    words: Option<WordSplitting>,
    device: &Device,
) -> Result<Translator> {
    Translator::load_ensemble_on(directories, device)?.with_words(words).with_attention(&overrides(reading))
}

/// Refuses options of attention where no model is asked.
pub fn refuse_reading(args: &AttentionArgs) -> Result<()> {
    if overrides(args) != InferenceOverrides::default() {
        let message = "--hard-attention, --attention-temperature and --head need attention: leave out --links-from";
        bail!(UsageError(message.to_owned()));
    }
    Ok(())
}

fn overrides(args: &AttentionArgs) -> InferenceOverrides {
    InferenceOverrides { hard: args.hard_attention, temperature: args.attention_temperature, head: args.head }
}
