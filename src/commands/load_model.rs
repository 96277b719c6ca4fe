//! Loading of models with the attention options applied.

use std::path::PathBuf;

use anyhow::Result;
use candle_core::Device;

use crate::attention::InferenceOverrides;
use crate::cli::joined_options_of;
use crate::error::usage;
use crate::text::WordSplitting;
use crate::translator::Translator;

/// Loads a model or an ensemble.
///
/// # Errors
/// Loading fails, or the model's attention does not support an option ([`UsageError`](crate::error::UsageError)).
pub fn translator(
    directories: &[PathBuf],
    attention: &InferenceOverrides,
    words: Option<WordSplitting>,
    device: &Device,
) -> Result<Translator> {
    Translator::load_ensemble_on(directories, device)?.with_overrides(attention, words)
}

/// Rejects attention options if no attention is used because of the named option.
pub fn reject_attention_options(args: &InferenceOverrides, because_of: &str) -> Result<()> {
    if *args != InferenceOverrides::default() {
        let options = joined_options_of::<InferenceOverrides>();
        return usage(format!("{options} need attention: remove --{because_of}"));
    }
    Ok(())
}
