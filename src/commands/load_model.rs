//! Loading of models with the attention options applied.

use std::path::PathBuf;

use anyhow::Result;
use candle_core::Device;

use crate::attention::InferenceOverrides;
use crate::cli::joined_options_of;
use crate::error::usage;
use crate::text::WordSplitting;
use crate::translator::{PrecisionOption, Translator};

/// Loads a model or an ensemble.
///
/// # Errors
/// Loading fails, or the model's attention does not support an option ([`UsageError`](crate::error::UsageError)).
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
        let options = joined_options_of::<InferenceOverrides>();
        return usage(format!("{options} need attention: remove --links-from"));
    }
    Ok(())
}
