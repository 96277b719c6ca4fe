//! Loading of models with the attention options applied.

use std::path::PathBuf;

use anyhow::{Result, bail};
use candle_core::Device;

use crate::attention::InferenceOverrides;
use crate::error::UsageError;
use crate::text::WordSplitting;
use crate::translator::{PrecisionOption, Translator};

/// Loads a model or an ensemble.
///
/// # Errors
/// Loading fails, or the model's attention does not support an option ([`UsageError`]).
pub fn translator(
    directories: &[PathBuf],
    attention: &InferenceOverrides,
    words: Option<WordSplitting>,
    precision: PrecisionOption,
    device: &Device,
) -> Result<Translator> {
    let translator = Translator::load_ensemble_on(directories, device)?;
    translator.with_words(words).with_attention(attention)?.with_precision(precision)
}

/// Rejects attention options if no model is used.
pub fn reject_attention_options(args: &InferenceOverrides) -> Result<()> {
    if *args != InferenceOverrides::default() {
        let message = "--hard-attention, --attention-temperature and --head need attention: remove --links-from";
        bail!(UsageError(message.to_owned()));
    }
    Ok(())
}
