//! Training.

use std::path::PathBuf;

use pyo3::prelude::*;
use softalign::reporter::Reporter;
use softalign::text::{PairFiles, TableFormat};
use softalign::trainer::{InitFrom, InitVocabulary, Session, SourceOptions, TrainingSources, TrainingSpec};
use softalign::{Device, TrainConfig, Translator};

use crate::arguments::{Options, Pairs, in_memory};
use crate::call::run;
use crate::error::argument_error;
use crate::translator::Model;

/// Trains a model in a directory and returns it. `start` is `new`, `replace` (an existing model is moved to `previous/`) or
/// `resume`. `options` are the settings of a training, with `guide` and `attention_pairs`, and the format of files.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "keyword arguments of a Python function")]
pub fn train(
    py: Python,
    pairs: Option<Pairs>,
    directory: PathBuf,
    valid: Option<Pairs>,
    init_from: Option<PathBuf>,
    start: &str,
    options: &str,
    listener: &Bound<PyAny>,
) -> PyResult<Model> {
    let mut options = Options::parse(py, options, "-")?;
    let files = SourceOptions {
        guide: options.take(py, "guide")?,
        attention_pairs: options.take(py, "attention-pairs")?,
        layout: TableFormat {
            csv: options.take(py, "csv")?.unwrap_or(false),
            header: options.take(py, "header")?.unwrap_or(false),
            columns: options.take(py, "columns")?,
            features: options.take(py, "features")?,
        },
        ..SourceOptions::default()
    };
    let vocabulary: Option<InitVocabulary> = options.take(py, "init-vocabulary")?;
    let config: TrainConfig = options.structure(py)?;
    let init_from = init_from.map(|path| InitFrom { path, vocabulary: vocabulary.unwrap_or_default() });
    if init_from.is_none() && vocabulary.is_some() {
        return Err(argument_error(py, "init_vocabulary needs init_from"));
    }
    let translator = run(py, Some(listener), |caller| {
        let session = if start == "resume" {
            let sources = resumed_sources(pairs, valid, files)?;
            Session::resume(&directory, &config, &sources, &Device::Cpu, caller)?
        } else {
            let spec = TrainingSpec {
                config,
                sources: sources(pairs, valid, files)?,
                init_from,
                invocation: Default::default(),
                replace: start == "replace",
            };
            Session::begin(&spec, &directory, &Device::Cpu, caller)?
        };
        let outcome = session.run(caller)?;
        caller.note(&outcome.summary);
        outcome.unrecorded?;
        Translator::load_on(&directory, &Device::Cpu)
    })?;
    Ok(Model::from(translator))
}

/// Returns the sources of a new training.
fn sources(pairs: Option<Pairs>, valid: Option<Pairs>, options: SourceOptions) -> anyhow::Result<TrainingSources> {
    let Some(pairs) = pairs else { return TrainingSources::of_new_run(&options) };
    let files = |pairs: Pairs| match pairs {
        Pairs::File(path) => PairFiles::tsv(&path, &options.layout),
        Pairs::Memory(pairs) => PairFiles::in_memory(&in_memory(pairs)),
    };
    let sources = TrainingSources::new(files(pairs), valid.map(files));
    let attention_pairs = options.attention_pairs.map(|path| PairFiles::tsv(&path, &options.layout));
    Ok(TrainingSources { guide: options.guide, attention_pairs, ..sources })
}

/// Returns the sources of a resumed training: the given ones, or those that the model directory records.
fn resumed_sources(
    pairs: Option<Pairs>,
    valid: Option<Pairs>,
    options: SourceOptions,
) -> anyhow::Result<SourceOptions> {
    Ok(match (pairs, valid) {
        (None, None) => options,
        (Some(Pairs::File(path)), None) => SourceOptions { train: vec![path.into()], ..options },
        (Some(Pairs::File(path)), Some(Pairs::File(valid))) => {
            SourceOptions { train: vec![path.into()], valid: vec![valid], ..options }
        }
        (None, Some(Pairs::File(valid))) => SourceOptions { valid: vec![valid], ..options },
        (pairs, valid) => SourceOptions { pairs: Some(sources(pairs, valid, options.clone())?), ..options },
    })
}
