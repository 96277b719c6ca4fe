//! Checkpoint averaging.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use candle_core::Device;

use super::dir_state::DirState;
use super::{Checkpoint, Config, FORMAT_VERSION, ModelDir, TrainedPairs};
use crate::parameters::Parameters;
use crate::reporter::Reporter;

/// Minimum cosine similarity of models that are averaged without a warning.
const MIN_COSINE: f64 = 0.5;

/// Writes a model whose parameters are the mean of several models' to a new directory. All else is copied from the
/// first model.
///
/// # Errors
/// A model cannot be read, architectures or vocabularies differ, or `out` already holds model files or cannot be
/// written.
pub fn average<P: AsRef<Path>>(models: &[P], out: &Path, device: &Device, reporter: &dyn Reporter) -> Result<()> {
    let out = ModelDir::new(out);
    ensure_vacant(&out)?;
    let paths: Vec<&Path> = models.iter().map(AsRef::as_ref).collect();
    let models = paths.iter().map(|path| ModelDir::new(path).load_model(device)).collect::<Result<Vec<_>>>()?;
    let (first, parameters) = models.first().context("no models to average")?;
    for (path, (checkpoint, others)) in paths.iter().zip(&models).skip(1) {
        ensure_compatible(paths[0], first, path, checkpoint)?;
        let cosine = parameters.cosine_similarity(others)?;
        if cosine < MIN_COSINE {
            reporter.warn(&format!(
                "{} and {} have dissimilar parameters (cosine {cosine:.2}), so their mean is likely useless; average \
                 checkpoints of one training run, and combine other models by giving --model several times",
                paths[0].display(),
                path.display()
            ));
        }
    }
    let all: Vec<&Parameters> = models.iter().map(|(_, parameters)| parameters).collect();
    write(&out, &paths, first, &Parameters::mean(&all)?)
}

fn ensure_vacant(out: &ModelDir) -> Result<()> {
    let path = out.path().display();
    ensure!(
        out.dir_state() == DirState::Nothing,
        "{path}: already holds model files; choose another directory with --out"
    );
    Ok(())
}

fn ensure_compatible(first_path: &Path, first: &Checkpoint, path: &Path, other: &Checkpoint) -> Result<()> {
    let (a, b) = (first_path.display(), path.display());
    ensure!(first.same_vocabulary(other)?, "{b}: cannot be averaged with {a}: vocabularies differ");
    ensure!(
        first.config.architecture == other.config.architecture,
        "{b}: cannot be averaged with {a}: architectures differ"
    );
    Ok(())
}

fn write(out: &ModelDir, from: &[&Path], first: &Checkpoint, parameters: &Parameters) -> Result<()> {
    let model_dir = ModelDir::new(from[0]);
    let config = Config {
        format_version: FORMAT_VERSION,
        program_version: env!("CARGO_PKG_VERSION").to_owned(),
        // The mean of the parameters has other probabilities.
        confidence: None,
        averaged: from.iter().map(|path| path.display().to_string()).collect(),
        ..first.config.clone()
    };
    let checkpoint = Checkpoint::new(config, first.source.clone(), first.target.clone())?;
    let (aligner, lexicon) = (model_dir.load_aligner(first)?, model_dir.load_lexicon(first)?);
    let mut trained_pairs: Option<TrainedPairs> = None;
    for path in from {
        let directory = ModelDir::new(path);
        let Some(more) = directory.load_trained_pairs(&directory.load()?)? else { continue };
        trained_pairs = Some(trained_pairs.unwrap_or_default().with(more));
    }
    out.make()?;
    let lock = out.lock()?;
    ensure_vacant(out)?;
    if lock.is_exclusive() {
        out.remove_unfinished();
    }
    // Removes leftovers of a run without a model. The parameters are written last: they make the directory a model.
    out.clear()?;
    out.save_config_and_vocabularies(&checkpoint)?;
    if let Some(aligner) = aligner {
        out.save_aligner(&checkpoint, &aligner)?;
    }
    if let Some(lexicon) = lexicon {
        out.save_lexicon(&checkpoint, &lexicon)?;
    }
    if let Some(pairs) = trained_pairs {
        out.save_trained_pairs(&checkpoint, &pairs)?;
    }
    out.save_model(&checkpoint, parameters)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reporter::Silent;

    #[test]
    fn averages_a_model_with_itself_and_rejects_a_directory_with_a_model() {
        let directory = tempfile::tempdir().unwrap();
        let out = directory.path().join("mean");
        average(&["checkpoints", "checkpoints"], &out, &Device::Cpu, &Silent).unwrap();
        let [mean, only] =
            [&*out, Path::new("checkpoints")].map(|model| std::fs::read(model.join("model.safetensors")).unwrap());
        assert!(mean == only);
        let again = average(&["checkpoints"], &out, &Device::Cpu, &Silent).unwrap_err();
        assert!(again.to_string().contains("already holds model files"), "{again}");
        let none: [&str; 0] = [];
        assert!(average(&none, &directory.path().join("other"), &Device::Cpu, &Silent).is_err());
    }
}
