//! A trained model, its attention used as the options ask.

use std::path::Path;

use anyhow::{Result, anyhow, bail};
use candle_core::Device;

use super::usage::UsageError;
use crate::attention::Reading;
use crate::cli::{LinkArgs, ReadingArgs};
use crate::translator::Translator;

/// Reads a model from its folder.
///
/// # Errors
/// The folder's own, or a [`UsageError`] for what this model's attention cannot do.
pub fn translator(path: &Path, reading: &ReadingArgs, links: &LinkArgs, device: &Device) -> Result<Translator> {
    let translator = Translator::load(path, device)?.with_words(links.words);
    let reading = self::reading(reading);
    if reading == Reading::default() {
        return Ok(translator);
    }
    let architecture = &translator.config().architecture;
    let settings = architecture.attention.read_as(&reading, architecture.dimensions());
    translator.with_attention(settings.map_err(|reason| anyhow!(UsageError(format!("--{reason}"))))?)
}

/// Refuses options of attention where no model is asked.
pub fn refuse_reading(args: &ReadingArgs) -> Result<()> {
    if reading(args) != Reading::default() {
        let message = "--hard-attention, --attention-temperature and --head need attention: leave out --links-from";
        bail!(UsageError(message.to_owned()));
    }
    Ok(())
}

fn reading(args: &ReadingArgs) -> Reading {
    Reading { hard: args.hard_attention, temperature: args.attention_temperature, head: args.head }
}
