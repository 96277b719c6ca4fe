//! `softalign average`

use std::path::Path;

use anyhow::{Result, ensure};
use candle_core::Device;

use super::console::Console;
use crate::checkpoint::{Checkpoint, Config, FORMAT_VERSION, Folder, Holds};
use crate::cli::AverageArgs;
use crate::parameters::Parameters;

/// A cosine below which models have so little in common that their mean is no model.
const LEAST_COSINE: f64 = 0.5;

pub fn run(args: &AverageArgs, device: &Device, console: &Console) -> Result<()> {
    let out = Folder::new(&args.out);
    check_free(&out)?;
    let models = args.models.iter().map(|path| Folder::new(path).load_model(device)).collect::<Result<Vec<_>>>()?;
    let (first, parameters) = &models[0];
    for (path, (checkpoint, others)) in args.models.iter().zip(&models).skip(1) {
        check_alike(&args.models[0], first, path, checkpoint)?;
        let cosine = parameters.cosine_similarity(others)?;
        if cosine < LEAST_COSINE {
            console.warn(format!(
                "{} and {} have little in common (cosine {cosine:.2}); the mean is of use among models of one training, and \
                 others translate together by --model given several times",
                args.models[0].display(),
                path.display()
            ));
        }
    }
    let all: Vec<&Parameters> = models.iter().map(|(_, parameters)| parameters).collect();
    write(&out, &args.models, first, &Parameters::mean(&all)?)?;
    console.note(format!("the mean of {} models is in {}", all.len(), args.out.display()));
    Ok(())
}

/// Refuses a folder that holds something.
fn check_free(out: &Folder) -> Result<()> {
    let path = out.path().display();
    ensure!(out.holds() == Holds::Nothing, "{path}: there is something here already; choose another folder with --out");
    Ok(())
}

/// Refuses models whose parameters do not stand for the same things.
fn check_alike(first_path: &Path, first: &Checkpoint, path: &Path, other: &Checkpoint) -> Result<()> {
    let (a, b) = (first_path.display(), path.display());
    ensure!(first.has_units_of(other)?, "{b}: cuts text into other units than {a}, so there is no mean of both");
    ensure!(
        first.config.architecture == other.config.architecture,
        "{b}: has other sizes or another attention than {a}, so there is no mean of both"
    );
    Ok(())
}

/// Writes parameters with what is beside those of the first model.
fn write(out: &Folder, from: &[impl AsRef<Path>], first: &Checkpoint, parameters: &Parameters) -> Result<()> {
    let folder = Folder::new(from[0].as_ref());
    let config = Config {
        format_version: FORMAT_VERSION,
        program_version: env!("CARGO_PKG_VERSION").to_owned(),
        averaged: from.iter().map(|path| path.as_ref().display().to_string()).collect(),
        ..first.config.clone()
    };
    let checkpoint = Checkpoint::new(config, first.source.clone(), first.target.clone())?;
    let (aligner, lexicon) = (folder.load_aligner(first)?, folder.load_lexicon(first)?);
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
