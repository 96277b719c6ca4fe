//! Training.

use std::path::PathBuf;

use pyo3::prelude::*;
use softalign::reporter::Reporter;
use softalign::text::{Column, LayoutArgs, PairFiles, SelectedColumns, TableFormat};
use softalign::trainer::{
    self, AttentionFiles, GivenCommand, InitFrom, InitVocabulary, MonolingualText, ResumedSources, RunContext,
    SourceOptions, TrainingSources, TrainingSpec, WeightedFile,
};
use softalign::{Device, TrainConfig, Translator};

use crate::arguments::{Options, Pairs, Sentences, in_memory};
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
    monolingual_target: Option<Sentences>,
    init_from: Option<PathBuf>,
    start: &str,
    options: &str,
    listener: &Bound<PyAny>,
) -> PyResult<Model> {
    let mut options = Options::parse(py, options, "-")?;
    let columns: Option<[Column; 2]> = options.take(py, "columns")?;
    let files = SourceOptions {
        attention: AttentionFiles {
            guide: options.take(py, "guide")?,
            attention_pairs: options.take(py, "attention-pairs")?,
        },
        languages: options.take(py, "languages")?,
        layout: LayoutArgs {
            csv: options.take(py, "csv")?.unwrap_or(false),
            header: options.take(py, "header")?.unwrap_or(false),
            columns: columns.map(SelectedColumns::from),
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
        let given = Given { pairs, valid, monolingual_target };
        let context = RunContext::new(&Device::Cpu, caller);
        let outcome = if start == "resume" {
            let sources = given.resumed_sources(files)?;
            trainer::resume(&directory, &config.limits, &sources, context)?
        } else {
            let spec = TrainingSpec {
                config,
                sources: given.sources(files)?,
                init_from,
                command: GivenCommand::default(),
                replace: start == "replace",
            };
            trainer::train(spec, &directory, context)?
        };
        caller.note(&outcome.summary);
        outcome.unrecorded?;
        Translator::load_on(&directory, &Device::Cpu)
    })?;
    Ok(Model::from(translator))
}

/// Pairs and monolingual sentences as the caller gives them.
struct Given {
    pairs: Option<Pairs>,
    valid: Option<Pairs>,
    monolingual_target: Option<Sentences>,
}

impl Given {
    /// Returns the sources of a new training.
    fn sources(self, options: SourceOptions) -> anyhow::Result<TrainingSources> {
        let monolingual_target = self.monolingual_target.map(MonolingualText::from).unwrap_or_default();
        let mut sources = match self.pairs {
            None => TrainingSources::of_new_run(&options)?,
            Some(pairs) => {
                let layout = options.layout.layout();
                let validation = self.valid.map(|pairs| pair_files(pairs, &layout));
                let mut sources = TrainingSources::new(pair_files(pairs, &layout), validation);
                let AttentionFiles { guide, attention_pairs } = options.attention;
                sources.attention_pairs = attention_pairs.map(|path| PairFiles::tsv(&path, &layout));
                sources.guide = guide;
                sources.languages = options.languages;
                sources
            }
        };
        sources.monolingual_target = monolingual_target;
        Ok(sources)
    }

    /// Returns the sources of a resumed training: the given ones, or those that the model directory records.
    fn resumed_sources(self, options: SourceOptions) -> anyhow::Result<ResumedSources> {
        let in_memory = [&self.pairs, &self.valid].into_iter().any(|pairs| matches!(pairs, Some(Pairs::Memory(_))));
        if in_memory || matches!(self.monolingual_target, Some(Sentences::Memory(_))) {
            return Ok(ResumedSources::Resolved(self.sources(options)?));
        }
        let monolingual_target = match self.monolingual_target {
            Some(Sentences::File(path)) => vec![path],
            _ => Vec::new(),
        };
        Ok(ResumedSources::Options(SourceOptions {
            train: path(self.pairs).map(WeightedFile::from).into_iter().collect(),
            valid: path(self.valid).into_iter().collect(),
            monolingual_target,
            ..options
        }))
    }
}

/// Returns a file of this format, or pairs in memory.
fn pair_files(pairs: Pairs, layout: &TableFormat) -> PairFiles {
    match pairs {
        Pairs::File(path) => PairFiles::tsv(&path, layout),
        Pairs::Memory(pairs) => PairFiles::in_memory(&in_memory(pairs)),
    }
}

/// Returns the path of a file.
fn path(pairs: Option<Pairs>) -> Option<PathBuf> {
    match pairs {
        Some(Pairs::File(path)) => Some(path),
        Some(Pairs::Memory(_)) | None => None,
    }
}
