//! Sources of a resumed training.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::monolingual_text::MonolingualText;
use super::source_options::{SourceOptions, WeightedFile};
use super::sources::{PLAIN, TrainingFiles, TrainingSources, tagged, validation_files};
use crate::checkpoint::{CorpusSource, DataSummary};
use crate::error::UsageError;
use crate::text::PairFiles;

/// Sources of a resumed training, which must hold the same pairs as when it began.
#[derive(Clone, Debug)]
pub enum ResumedSources {
    /// New paths of files; those that are not given are where they were.
    Options(SourceOptions),
    /// All sources, such as pairs in memory.
    Resolved(TrainingSources),
}

impl ResumedSources {
    /// Returns the given file of links for guided alignment.
    pub(super) fn guide(&self) -> Option<&Path> {
        match self {
            Self::Options(options) => options.attention.guide.as_deref(),
            Self::Resolved(sources) => sources.guide.as_deref(),
        }
    }

    /// Returns the sources: the given ones, or the original ones, relative to the current directory, in the original format.
    ///
    /// # Errors
    /// The original files are not recorded or do not exist.
    pub(super) fn resolve(&self, original: &DataSummary) -> Result<TrainingSources> {
        match self {
            Self::Options(options) => resolved(options, original),
            Self::Resolved(sources) => Ok(sources.clone()),
        }
    }
}

fn resolved(options: &SourceOptions, original: &DataSummary) -> Result<TrainingSources> {
    check_weights(&options.train, &original.sources)?;
    let names = training_names(options, original)?;
    let validation = validation(options, original)?;
    let monolingual_target: Vec<PathBuf> = match &options.monolingual_target[..] {
        [] => existing(&original.monolingual_target, "--monolingual-target")?.iter().map(PathBuf::from).collect(),
        given => given.to_vec(),
    };
    let original_guide = original.guide.as_ref().map(|guide| PathBuf::from(&guide.file));
    let guide = options.attention.guide.clone().or(original_guide);
    if let Some(missing) = guide.as_deref().filter(|path| !path.exists()) {
        bail!("{}: file of links for guided alignment not found; give its path with --guide", missing.display());
    }
    Ok(TrainingSources {
        training: weighted_files(&names, original)?,
        validation,
        monolingual_target: MonolingualText::files(&monolingual_target),
        ..TrainingSources::without_pairs(guide, original.on_error)
    }
    .with_shared_layout())
}

/// Returns the names of the training files: the given ones, or the original ones.
fn training_names(options: &SourceOptions, original: &DataSummary) -> Result<Vec<String>> {
    if let (Some(source), Some(target)) = (&options.source, &options.target) {
        return Ok(vec![source.display().to_string(), target.display().to_string()]);
    }
    if !options.train.is_empty() {
        return Ok(options.train.iter().map(|file| file.path.display().to_string()).collect());
    }
    let is_parallel = original.training_files.len() == 2 && original.sources.is_empty();
    existing(&original.training_files, if is_parallel { "--source and --target" } else { "--train" })
}

/// Returns the validation files: the given ones, or the original ones.
fn validation(options: &SourceOptions, original: &DataSummary) -> Result<Vec<PairFiles>> {
    let layout = &original.layout;
    let tags: Vec<String> = original.sources.iter().filter_map(|source| source.tag.clone()).collect();
    let given = validation_files(options, layout, &tags)?;
    if !given.is_empty() {
        return Ok(given);
    }
    let is_parallel = original.validation_files.len() == 2 && !original.several_validation_sets;
    let option = if is_parallel { "--valid-source and --valid-target" } else { "--valid" };
    let names = existing(&original.validation_files, option)?;
    let files = if is_parallel {
        PairFiles::from_names(&names, layout).into_iter().collect()
    } else {
        names.iter().map(|name| PairFiles::tsv(Path::new(name), layout)).collect()
    };
    Ok(tagged(files, &tags))
}

/// Rejects weights that differ from the original ones.
fn check_weights(files: &[WeightedFile], original: &[CorpusSource]) -> Result<()> {
    for (index, WeightedFile { path, weight }) in files.iter().enumerate() {
        let before = original.get(index).map_or(1.0, |source| source.weight);
        if *weight != 1.0 && *weight != before {
            bail!(UsageError::new(format!(
                "{}: training began with weight {before} for this file; --resume cannot change it to {weight}",
                path.display()
            )));
        }
    }
    Ok(())
}

/// Returns the names of the original files if all exist.
fn existing(names: &[String], option: &str) -> Result<Vec<String>> {
    if let Some(missing) = names.iter().find(|name| *name != "-" && !Path::new(name).exists()) {
        bail!(
            "{missing}: training began with this file, but it was not found; run softalign in the directory where training \
             began, or give the path with {option}"
        );
    }
    Ok(names.to_owned())
}

/// Returns training files by name with the original weights and tags.
fn weighted_files(names: &[String], original: &DataSummary) -> Result<Vec<TrainingFiles>> {
    let (layout, sources) = (&original.layout, &original.sources);
    if sources.is_empty() {
        let files = PairFiles::from_names(names, layout);
        let files = files.context("config.json does not name the training files; give them with --train")?;
        return Ok(vec![TrainingFiles { files, source: PLAIN }]);
    }
    ensure!(
        names.len() == sources.len(),
        "training began with {} files, not with {}; give them with --train in the same order",
        sources.len(),
        names.len()
    );
    let mut training = Vec::with_capacity(names.len());
    for (name, source) in names.iter().zip(sources) {
        let files = PairFiles::tsv(Path::new(name), layout).tagged(source.tag.clone());
        training.push(TrainingFiles { files, source: source.clone() });
    }
    Ok(training)
}
