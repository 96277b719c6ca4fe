//! Resolved sources of training and validation pairs: files, or pairs in memory.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::monolingual_text::MonolingualText;
use super::source_options::{SourceOptions, WeightedFile};
use super::synthetic_corpus::SyntheticFiles;
use super::training_pairs::TrainingPairs;
use crate::checkpoint::{CorpusSource, DataSummary};
use crate::error::{UsageError, usage};
use crate::reporter::Reporter;
use crate::text::{
    Languages, OnError, Pair, PairFiles, ReadablePairs, SHIPPED_TRAINING, SHIPPED_VALIDATION, TableFormat,
    check_read_once, file_name, is_read_once,
};

/// Maximum number of pairs whose attention is recorded.
const MAX_ATTENTION_PAIRS: usize = 20;

/// Weight and tag of a corpus without either.
pub(super) const PLAIN: CorpusSource = CorpusSource { weight: 1.0, tag: None };

/// Resolved sources of training and validation pairs.
#[derive(Clone, Debug)]
pub struct TrainingSources {
    /// Files of training pairs.
    pub training: Vec<TrainingFiles>,
    /// Files of validation pairs; empty to hold out training pairs.
    pub validation: Vec<PairFiles>,
    /// File of links of the training pairs for guided alignment.
    pub guide: Option<PathBuf>,
    /// Pairs whose attention is recorded in a new training; none to record that of validation pairs, if any.
    pub attention_pairs: Option<PairFiles>,
    /// Target sentences to back-translate.
    pub monolingual_target: MonolingualText,
    /// Languages of the training pairs, if given; by default those that the names of files and columns tell.
    pub languages: Option<Languages>,
    /// Files of synthetic training pairs.
    pub(super) synthetic: Vec<SyntheticFiles>,
    /// Treatment of lines that cannot be read.
    pub on_error: OnError,
}

/// Training files with their weight and tag.
#[derive(Clone, Debug)]
pub struct TrainingFiles {
    pub files: PairFiles,
    pub source: CorpusSource,
}

/// Pairs with the same weight.
pub(super) struct WeightedPairs {
    pub weight: f64,
    pub pairs: Vec<Pair>,
}

impl TrainingFiles {
    fn with_shared_layout(self) -> Self {
        Self { files: self.files.with_shared_layout(), ..self }
    }
}

impl TrainingSources {
    /// Returns the sources of a new training: the given files, or the shipped corpus.
    ///
    /// # Errors
    /// A [`UsageError`] if the numbers of tags and files differ, or if a format is given without files.
    pub fn of_new_run(options: &SourceOptions) -> Result<Self> {
        let layout = &options.layout.layout();
        let tags = &options.tag_source;
        if options.train.is_empty() && options.source.is_none() && !layout.is_plain() {
            return usage("--csv, --header, --columns and --features describe files: give --train as well");
        }
        check_tags(tags, options.train.len(), "--train")?;
        let mut training = Vec::with_capacity(options.train.len());
        for (index, WeightedFile { path, weight }) in options.train.iter().enumerate() {
            let source = CorpusSource { weight: *weight, tag: tags.get(index).cloned() };
            training.push(TrainingFiles { files: PairFiles::tsv(path, layout).tagged(source.tag.clone()), source });
        }
        if let (Some(source), Some(target)) = (&options.source, &options.target) {
            training.push(TrainingFiles { files: PairFiles::parallel(source, target, layout), source: PLAIN });
        }
        let mut validation = validation_files(options, layout, tags)?;
        if training.is_empty() {
            training.push(TrainingFiles { files: PairFiles::shipped(SHIPPED_TRAINING), source: PLAIN });
            if validation.is_empty() {
                validation.push(PairFiles::shipped(SHIPPED_VALIDATION));
            }
        }
        let attention_pairs = options.attention.attention_pairs.as_deref();
        Ok(Self {
            training,
            validation,
            attention_pairs: attention_pairs.map(|path| PairFiles::tsv(path, layout).with_shared_layout()),
            monolingual_target: MonolingualText::files(&options.monolingual_target),
            languages: options.languages.clone(),
            ..Self::without_pairs(options.attention.guide.clone(), options.on_error.unwrap_or_default())
        }
        .with_shared_layout())
    }

    /// Returns these sources. Without validation pairs, training pairs are held out.
    pub fn new(training: PairFiles, validation: Option<PairFiles>) -> Self {
        Self {
            training: vec![TrainingFiles { files: training, source: PLAIN }],
            validation: validation.into_iter().collect(),
            ..Self::without_pairs(None, OnError::Fail)
        }
        .with_shared_layout()
    }

    /// Returns pairs in memory as sources. Without validation pairs, training pairs are held out.
    pub fn in_memory(training: &[Pair], validation: Option<&[Pair]>) -> Self {
        Self::new(PairFiles::in_memory(training), validation.map(PairFiles::in_memory))
    }

    /// Returns pairs in memory with a weight for each part. Without validation pairs, training pairs are held out.
    pub(super) fn weighted_in_memory(
        parts: impl Iterator<Item = WeightedPairs>,
        validation: Option<&[Pair]>,
        layout: &TableFormat,
    ) -> Self {
        let mut training = Vec::new();
        for WeightedPairs { weight, pairs } in parts {
            let files = PairFiles::in_memory(&pairs).with_layout(layout);
            training.push(TrainingFiles { files, source: CorpusSource { weight, tag: None } });
        }
        let validation = validation.map(|pairs| PairFiles::in_memory(pairs).with_layout(layout));
        Self { training, validation: validation.into_iter().collect(), ..Self::without_pairs(None, OnError::Fail) }
    }

    /// Returns sources without any pairs.
    pub(super) fn without_pairs(guide: Option<PathBuf>, on_error: OnError) -> Self {
        Self {
            training: Vec::new(),
            validation: Vec::new(),
            guide,
            attention_pairs: None,
            monolingual_target: MonolingualText::default(),
            languages: None,
            synthetic: Vec::new(),
            on_error,
        }
    }

    /// Names pairs in memory as those whose attention is recorded, if there are any.
    pub(super) fn recording_attention_on(self, pairs: &[Pair]) -> Self {
        let files = PairFiles::in_memory(pairs).with_layout(self.layout());
        Self { attention_pairs: (!pairs.is_empty()).then_some(files), ..self }
    }

    /// Lets the format describe only the files that it fits, if there are several.
    pub(super) fn with_shared_layout(mut self) -> Self {
        if self.training.len() + self.validation.len() < 2 {
            return self;
        }
        self.training = self.training.into_iter().map(TrainingFiles::with_shared_layout).collect();
        self.validation = self.validation.into_iter().map(PairFiles::with_shared_layout).collect();
        self
    }

    /// Paths of all files, without synthetic ones.
    fn paths(&self) -> impl Iterator<Item = &Path> {
        let files = self.training.iter().map(|files| &files.files).chain(&self.validation).chain(&self.attention_pairs);
        let others = self.guide.iter().chain(&self.monolingual_target.files).map(PathBuf::as_path);
        files.flat_map(PairFiles::paths).chain(others)
    }

    /// Checks that all files can be read again. `subject` begins the message, as in `--teachers needs`.
    ///
    /// # Errors
    /// A [`UsageError`] names a file that can be read only once, such as a pipe.
    pub(super) fn check_rereadable(&self, subject: &str) -> Result<()> {
        match self.paths().find(|path| is_read_once(path)) {
            Some(path) => usage(format!("{subject} regular files: {} can be read only once", file_name(path))),
            None => Ok(()),
        }
    }

    /// Returns the format of the training files.
    pub fn layout(&self) -> &TableFormat {
        self.training[0].files.layout()
    }

    /// Returns the weights and tags of the training files, the synthetic ones last.
    fn corpora(&self) -> impl Iterator<Item = &CorpusSource> {
        let synthetic = self.synthetic.iter().map(|part| &part.corpus.source);
        self.training.iter().map(|part| &part.source).chain(synthetic)
    }

    /// Returns the tags of the training files.
    pub fn tags(&self) -> Vec<String> {
        self.corpora().filter_map(|source| source.tag.clone()).collect()
    }

    /// Reads all training pairs, and warns of files that look like spreadsheets.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn read_training(&self, reporter: &dyn Reporter) -> Result<TrainingPairs> {
        check_read_once(&self.paths().collect::<Vec<_>>())?;
        let is_weighted = self.corpora().any(|source| source.weight != 1.0);
        let mut read = TrainingPairs::default();
        for TrainingFiles { files, source } in &self.training {
            let ReadablePairs { pairs, numbers, .. } = files.read_readable("--train", self.on_error, reporter)?;
            files.report_format(&pairs, &numbers, reporter);
            if is_weighted {
                read.add_weights(&pairs, source.weight);
            }
            read.given.extend(pairs);
        }
        for SyntheticFiles { files, corpus } in &self.synthetic {
            let pairs = files.read("--train").with_context(|| {
                format!("the synthetic pairs of {} are missing or damaged; train another model with --out", corpus.name)
            })?;
            if is_weighted {
                read.add_weights(&pairs, corpus.source.weight);
            }
            read.synthetic.extend(pairs);
        }
        Ok(read)
    }

    /// Reads the pairs whose attention is recorded.
    ///
    /// # Errors
    /// The file cannot be read, or has more than [`MAX_ATTENTION_PAIRS`].
    pub(super) fn read_attention_pairs(&self) -> Result<Vec<Pair>> {
        let Some(files) = &self.attention_pairs else { return Ok(Vec::new()) };
        let (pairs, _) = files.read_numbered("--attention-pairs")?;
        let most = MAX_ATTENTION_PAIRS;
        ensure!(pairs.len() <= most, "{files}: {} pairs; --attention-pairs records at most {most}", pairs.len());
        Ok(pairs)
    }

    /// Returns the names of the training files for messages.
    pub fn training_name(&self) -> String {
        self.training.iter().map(|part| part.files.to_string()).collect::<Vec<_>>().join(", ")
    }

    /// Returns the names of all files of pairs for messages.
    pub fn name(&self) -> String {
        let validation = self.validation.iter().map(PairFiles::to_string);
        [self.training_name()].into_iter().chain(validation).collect::<Vec<_>>().join(" or ")
    }

    /// Returns the summary of the sources for config.json, without what only their pairs tell.
    pub(super) fn summary(&self) -> DataSummary {
        DataSummary {
            training_files: self.training.iter().flat_map(|part| part.files.names()).collect(),
            languages: self.languages.clone().or_else(|| self.languages_of_files()),
            sources: self.corpus_sources(),
            layout: self.layout().clone(),
            on_error: self.on_error,
            validation_files: self.validation.iter().flat_map(PairFiles::names).collect(),
            several_validation_sets: self.validation.len() > 1,
            monolingual_target: self.monolingual_target.files.iter().map(|path| path.display().to_string()).collect(),
            synthetic: self.synthetic.iter().map(|part| part.corpus.clone()).collect(),
            ..DataSummary::default()
        }
    }

    /// Returns the languages that the names of the training files and their columns tell, if they do not differ.
    fn languages_of_files(&self) -> Option<Languages> {
        let mut found = self.training.iter().filter_map(|part| Languages::of_files(&part.files));
        let first = found.next()?;
        found.all(|other| other == first).then_some(first)
    }

    /// Returns the weights and tags for config.json; empty for a single file without either.
    fn corpus_sources(&self) -> Vec<CorpusSource> {
        match &self.training[..] {
            [part] if part.source == PLAIN => Vec::new(),
            parts => parts.iter().map(|part| part.source.clone()).collect(),
        }
    }
}

/// Returns the files of validation pairs that the options name, each with its tag.
///
/// # Errors
/// The numbers of tags and files differ.
pub(super) fn validation_files(
    options: &SourceOptions,
    layout: &TableFormat,
    tags: &[String],
) -> Result<Vec<PairFiles>> {
    let files: Vec<PairFiles> = match (&options.valid_source, &options.valid_target) {
        (Some(source), Some(target)) => vec![PairFiles::parallel(source, target, layout)],
        _ => options.valid.iter().map(|path| PairFiles::tsv(path, layout)).collect(),
    };
    if !files.is_empty() {
        check_tags(tags, files.len(), if options.valid.is_empty() { "--valid-source" } else { "--valid" })?;
    }
    Ok(tagged(files, tags))
}

/// Puts the tag of each file before its sources, if there are tags.
pub(super) fn tagged(files: Vec<PairFiles>, tags: &[String]) -> Vec<PairFiles> {
    files.into_iter().enumerate().map(|(index, files)| files.tagged(tags.get(index).cloned())).collect()
}

fn check_tags(tags: &[String], files: usize, option: &str) -> Result<()> {
    if !tags.is_empty() && tags.len() != files {
        bail!(UsageError::of(
            "tag-source",
            format!("has {} tags for {files} files of {option}: each file needs one", tags.len())
        ));
    }
    Ok(())
}
