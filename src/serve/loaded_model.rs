//! A model as it was loaded, which never changes.

use std::path::PathBuf;

use anyhow::Result;
use candle_core::Device;

use super::languages::{LanguagePair, language_pairs};
use crate::translator::{Linker, PrecisionOption, Translator};

/// Model as it was loaded from its directories, which never changes.
pub struct LoadedModel {
    /// Name of the model in requests.
    pub name: String,
    /// Translator with the default options.
    pub translator: Translator,
    /// Linker of translations with default options.
    pub linker: Linker,
    /// Languages that the model translates between; none if neither its name nor its training tells.
    pub pairs: Vec<LanguagePair>,
}

impl LoadedModel {
    /// Loads a model, or an ensemble.
    ///
    /// # Errors
    /// A directory holds no model, or a damaged one, or the vocabularies differ.
    pub fn load(name: &str, directories: &[PathBuf], device: &Device, precision: PrecisionOption) -> Result<Self> {
        let translator = Translator::load_ensemble_on(directories, device)?.with_precision(precision)?;
        let linker = Linker::from_model(&translator)?;
        let data = &translator.config().data;
        let tags = data.sources.iter().filter_map(|source| source.tag.as_deref());
        let pairs = language_pairs(name, data.languages.as_ref(), tags);
        Ok(Self { name: name.to_owned(), translator, linker, pairs })
    }
}
