//! Averaging of the parameters of several models.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use candle_core::Device;

use super::dir_state::DirState;
use super::{Checkpoint, Config, FORMAT_VERSION, ModelDir};
use crate::parameters::Parameters;
use crate::reporter::Reporter;

/// Least cosine of models whose mean is of use.
const MIN_COSINE: f64 = 0.5;

/// Writes a model whose parameters are the mean of several models' to a new directory. All else is the first model's.
///
/// # Errors
/// A model cannot be read, or has another architecture or vocabulary than the first; the directory holds something, or
/// cannot be written.
pub fn average<P: AsRef<Path>>(models: &[P], out: &Path, device: &Device, reporter: &dyn Reporter) -> Result<()> {
    let out = ModelDir::new(out);
    check_free(&out)?;
    let paths: Vec<&Path> = models.iter().map(AsRef::as_ref).collect();
    let models = paths.iter().map(|path| ModelDir::new(path).load_model(device)).collect::<Result<Vec<_>>>()?;
    let (first, parameters) = models.first().context("no model is named")?;
    for (path, (checkpoint, others)) in paths.iter().zip(&models).skip(1) {
        check_alike(paths[0], first, path, checkpoint)?;
        let cosine = parameters.cosine_similarity(others)?;
        if cosine < MIN_COSINE {
            reporter.warn(&format!(
                "{} and {} have little in common (cosine {cosine:.2}); the mean is of use among models of one training, and \
                 others translate together by --model given several times",
                paths[0].display(),
                path.display()
            ));
        }
    }
    let all: Vec<&Parameters> = models.iter().map(|(_, parameters)| parameters).collect();
    write(&out, &paths, first, &Parameters::mean(&all)?)
}

/// Refuses a directory that holds something.
fn check_free(out: &ModelDir) -> Result<()> {
    let path = out.path().display();
    ensure!(
        out.dir_state() == DirState::Nothing,
        "{path}: there is something here already; choose another folder with --out"
    );
    Ok(())
}

/// Refuses models whose parameters do not stand for the same things.
fn check_alike(first_path: &Path, first: &Checkpoint, path: &Path, other: &Checkpoint) -> Result<()> {
    let (a, b) = (first_path.display(), path.display());
    ensure!(first.same_vocabulary(other)?, "{b}: cuts text into other units than {a}, so there is no mean of both");
    ensure!(
        first.config.architecture == other.config.architecture,
        "{b}: has other sizes or another attention than {a}, so there is no mean of both"
    );
    Ok(())
}

/// Writes parameters with all else of the first model.
fn write(out: &ModelDir, from: &[&Path], first: &Checkpoint, parameters: &Parameters) -> Result<()> {
    let model_dir = ModelDir::new(from[0]);
    let config = Config {
        format_version: FORMAT_VERSION,
        program_version: env!("CARGO_PKG_VERSION").to_owned(),
        averaged: from.iter().map(|path| path.display().to_string()).collect(),
        ..first.config.clone()
    };
    let checkpoint = Checkpoint::new(config, first.source.clone(), first.target.clone())?;
    let (aligner, lexicon) = (model_dir.load_aligner(first)?, model_dir.load_lexicon(first)?);
    out.make()?;
    let lock = out.lock()?;
    check_free(out)?;
    if lock.guards() {
        out.remove_unfinished();
    }
    // What a run left that came to no model; and what makes this one comes last.
    out.clear()?;
    out.begin(&checkpoint)?;
    if let Some(aligner) = aligner {
        out.save_aligner(&checkpoint, &aligner)?;
    }
    if let Some(lexicon) = lexicon {
        out.save_lexicon(&checkpoint, &lexicon)?;
    }
    out.save_model(&checkpoint, parameters)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reporter::Silent;

    #[test]
    fn averages_a_model_with_itself_and_refuses_a_directory_in_use() {
        let directory = tempfile::tempdir().unwrap();
        let out = directory.path().join("mean");
        average(&["checkpoints", "checkpoints"], &out, &Device::Cpu, &Silent).unwrap();
        let read = |directory: &Path| std::fs::read(directory.join("model.safetensors")).unwrap();
        assert!(read(&out) == read(Path::new("checkpoints")));
        let again = average(&["checkpoints"], &out, &Device::Cpu, &Silent).unwrap_err();
        assert!(again.to_string().contains("something here already"), "{again}");
        let none: [&str; 0] = [];
        assert!(average(&none, &directory.path().join("other"), &Device::Cpu, &Silent).is_err());
    }
}
