//! Trained models, their attention used as the options ask.

use std::path::PathBuf;

use anyhow::{Context, Result, anyhow, bail};
use candle_core::Device;

use crate::attention::InferenceOverrides;
use crate::cli::{AttentionArgs, LinkArgs};
use crate::error::UsageError;
use crate::translator::Translator;

/// Reads a model from its folder, or several that translate together.
///
/// # Errors
/// The folders' own, a [`UsageError`] for what a model's attention cannot do, or that the models are of other units.
pub fn translator(
    folders: &[PathBuf],
    reading: &AttentionArgs,
    links: &LinkArgs,
    device: &Device,
) -> Result<Translator> {
    let reading = self::reading(reading);
    let read = |folder: &PathBuf| {
        let translator = Translator::load_on(folder, device)?.with_words(links.words);
        if reading == InferenceOverrides::default() {
            return Ok(translator);
        }
        let architecture = &translator.config().architecture;
        let settings = architecture.attention.with_overrides(&reading, architecture.dimensions());
        translator.with_attention(settings.map_err(|reason| anyhow!(UsageError(format!("--{reason}"))))?)
    };
    together(folders, read)
}

/// Models that work together, each read by `read`.
///
/// # Errors
/// Those of `read`, or that the models are of other units.
pub fn together(folders: &[PathBuf], read: impl FnMut(&PathBuf) -> Result<Translator>) -> Result<Translator> {
    let mut models = folders.iter().map(read);
    let first = models.next().context("no model is named")??;
    models.try_fold(first, |together, other| together.with(other?))
}

/// Refuses options of attention where no model is asked.
pub fn refuse_reading(args: &AttentionArgs) -> Result<()> {
    if reading(args) != InferenceOverrides::default() {
        let message = "--hard-attention, --attention-temperature and --head need attention: leave out --links-from";
        bail!(UsageError(message.to_owned()));
    }
    Ok(())
}

fn reading(args: &AttentionArgs) -> InferenceOverrides {
    InferenceOverrides { hard: args.hard_attention, temperature: args.attention_temperature, head: args.head }
}
