//! A model as it was loaded, which never changes.

use std::path::PathBuf;

use anyhow::Result;
use candle_core::Device;

use crate::translator::{Linker, Translator};

/// Model as it was loaded.
pub struct LoadedModel {
    /// Translator, without constraints.
    pub translator: Translator,
    /// Linker of its translations with default options.
    pub linker: Linker,
}

impl LoadedModel {
    /// Loads a model, or an ensemble.
    ///
    /// # Errors
    /// A directory holds no model, or a damaged one, or the vocabularies differ.
    pub fn load(directories: &[PathBuf], device: &Device) -> Result<Self> {
        let translator = Translator::load_ensemble_on(directories, device)?;
        let linker = Linker::from_model(&translator)?;
        Ok(Self { translator, linker })
    }
}
