//! Sources of training and validation pairs: files, or pairs in memory.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use serde::{Serialize, Serializer};

use crate::checkpoint::{CorpusSource, DataSummary, ModelDir, SyntheticCorpus};
use crate::error::{UsageError, usage};
use crate::reporter::Reporter;
use crate::text::{
    Languages, OnError, Pair, PairFiles, ReadablePairs, SHIPPED_TRAINING, SHIPPED_VALIDATION, TableFormat,
    check_read_once, file_name, is_read_once, read_readable_lines,
};

/// Maximum number of pairs whose attention is recorded.
const MAX_ATTENTION_PAIRS: usize = 20;

/// Sources as given by the user. The default is the shipped corpus, or the sources of the resumed training.
#[derive(Clone, Debug, Default)]
pub struct SourceOptions {
    /// Files of training pairs with their weights.
    pub train: Vec<WeightedFile>,
    /// Tag of each file of pairs, prepended to its source sentences.
    pub tag_source: Vec<String>,
    /// File of source sentences for training, one per line.
    pub source: Option<PathBuf>,
    /// File of their translations.
    pub target: Option<PathBuf>,
    /// Files of validation pairs.
    pub valid: Vec<PathBuf>,
    /// File of source sentences for validation, one per line.
    pub valid_source: Option<PathBuf>,
    /// File of their translations.
    pub valid_target: Option<PathBuf>,
    /// Format of the files of pairs.
    pub layout: TableFormat,
    /// File of links of the training pairs for guided alignment.
    pub guide: Option<PathBuf>,
    /// File of pairs whose attention is recorded.
    pub attention_pairs: Option<PathBuf>,
    /// Files of target sentences to back-translate, one per line.
    pub monolingual_target: Vec<PathBuf>,
    /// Languages of the pairs; by default those that the names of files and columns tell.
    pub languages: Option<Languages>,
    /// Treatment of lines that cannot be read. Kept lines are skipped, since an empty pair teaches nothing.
    pub on_error: OnError,
    /// Pairs in memory instead of files.
    pub pairs: Option<TrainingSources>,
}

/// A file of pairs with a weight.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedFile {
    /// The file.
    pub path: PathBuf,
    /// Expected occurrences of each pair per epoch.
    pub weight: f64,
}

impl From<PathBuf> for WeightedFile {
    fn from(path: PathBuf) -> Self {
        Self { path, weight: 1.0 }
    }
}

impl WeightedFile {
    /// Parses `PATH` or `PATH:WEIGHT`. A path need not be UTF-8. If a file with the whole name exists, there is no weight.
    ///
    /// # Errors
    /// The weight is out of range.
    pub fn parse(text: OsString) -> Result<Self, String> {
        let bytes = text.as_encoded_bytes();
        let colon = bytes.iter().rposition(|&byte| byte == b':').filter(|_| !Path::new(&text).exists());
        let weight = |colon: usize| std::str::from_utf8(&bytes[colon + 1..]).ok()?.parse::<f64>().ok();
        match colon.and_then(|colon| Some((colon, weight(colon)?))) {
            None => Ok(PathBuf::from(text).into()),
            Some((colon, weight)) if CorpusSource::is_weight(weight) => {
                // SAFETY: the bytes are an `OsStr`'s, split right before an ASCII character.
                let path = unsafe { OsStr::from_encoded_bytes_unchecked(&bytes[..colon]) };
                Ok(Self { path: path.into(), weight })
            }
            Some((_, weight)) => {
                Err(format!("weight must be above 0 and at most {}, not {weight}", CorpusSource::MAX_WEIGHT))
            }
        }
    }
}

impl fmt::Display for WeightedFile {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{}", self.path.display())?;
        if self.weight == 1.0 { Ok(()) } else { write!(formatter, ":{}", self.weight) }
    }
}

impl Serialize for WeightedFile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

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

/// Target sentences without sources, in files with one per line or in memory.
#[derive(Clone, Debug, Default)]
pub struct MonolingualText {
    files: Vec<PathBuf>,
    lines: Arc<[String]>,
}

impl MonolingualText {
    /// Returns the lines of files.
    pub fn files(files: &[PathBuf]) -> Self {
        Self { files: files.to_owned(), ..Self::default() }
    }

    /// Returns lines in memory.
    pub fn in_memory(lines: &[String]) -> Self {
        Self { lines: lines.into(), ..Self::default() }
    }

    /// True if there are neither files nor lines.
    pub fn is_none(&self) -> bool {
        self.files.is_empty() && self.lines.is_empty()
    }

    /// Reads all lines. Unless `on_error` is [`OnError::Fail`], those that cannot be read are left out with a warning.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(super) fn read(&self, on_error: OnError, reporter: &dyn Reporter) -> Result<Vec<String>> {
        let mut lines = self.lines.to_vec();
        for path in &self.files {
            lines.extend(read_readable_lines(path, on_error, reporter)?);
        }
        Ok(lines)
    }
}

/// Files of synthetic training pairs in a model directory.
#[derive(Clone, Debug)]
pub(super) struct SyntheticFiles {
    pub files: PairFiles,
    pub corpus: SyntheticCorpus,
}

impl SyntheticFiles {
    /// Returns the files of a corpus in the model directory.
    pub fn new(model_dir: &ModelDir, corpus: SyntheticCorpus) -> Self {
        let [source, target] = model_dir.synthetic_paths(&corpus.name);
        let files = PairFiles::parallel(&source, &target, &TableFormat::default()).tagged(corpus.source.tag.clone());
        Self { files, corpus }
    }
}

/// Training pairs as they were read.
#[derive(Default)]
pub struct TrainingPairs {
    /// Pairs of the user.
    pub given: Vec<Pair>,
    /// Synthetic pairs.
    pub synthetic: Vec<Pair>,
    /// Total weight and number of the copies of each pair; empty if all weights are 1.
    weights: HashMap<Pair, (f64, usize)>,
}

impl TrainingPairs {
    /// Returns the weights of some of the pairs. None if all are 1.
    pub(super) fn weights_of(&self, pairs: &[Pair]) -> Option<Vec<f64>> {
        let weight = |pair: &Pair| self.weights.get(pair).map_or(1.0, |(sum, count)| sum / *count as f64);
        (!self.weights.is_empty()).then(|| pairs.iter().map(weight).collect())
    }

    /// Returns all pairs with text on both sides.
    pub(super) fn usable(&self) -> Vec<&Pair> {
        self.given.iter().chain(&self.synthetic).filter(|pair| !pair.has_empty_side()).collect()
    }
}

impl TrainingSources {
    /// Names pairs in memory as those whose attention is recorded, if there are any.
    pub(super) fn recording_attention_on(self, pairs: &[Pair]) -> Self {
        let files = PairFiles::in_memory(pairs).with_layout(self.layout());
        Self { attention_pairs: (!pairs.is_empty()).then_some(files), ..self }
    }

    /// Returns the sources of a new training: the given files, or the shipped corpus.
    ///
    /// # Errors
    /// A [`UsageError`] if the numbers of tags and files differ, or if a format is given without files.
    pub fn of_new_run(args: &SourceOptions) -> Result<Self> {
        let (layout, tags) = (&args.layout, &args.tag_source);
        if args.train.is_empty() && args.source.is_none() && !layout.is_plain() {
            return usage("--csv, --header, --columns and --features describe files: give --train as well");
        }
        check_tags(tags, args.train.len(), "--train")?;
        let mut training: Vec<TrainingFiles> = (0..)
            .zip(&args.train)
            .map(|(index, WeightedFile { path, weight })| {
                let source = CorpusSource { weight: *weight, tag: tags.get::<usize>(index).cloned() };
                TrainingFiles { files: PairFiles::tsv(path, layout).tagged(source.tag.clone()), source }
            })
            .collect();
        let plain = CorpusSource { weight: 1.0, tag: None };
        if let (Some(source), Some(target)) = (&args.source, &args.target) {
            let files = PairFiles::parallel(source, target, layout);
            training.push(TrainingFiles { files, source: plain.clone() });
        }
        let mut validation = validation_files(args, layout, tags)?;
        if training.is_empty() {
            training.push(TrainingFiles { files: PairFiles::shipped(SHIPPED_TRAINING), source: plain });
            if validation.is_empty() {
                validation.push(PairFiles::shipped(SHIPPED_VALIDATION));
            }
        }
        let attention_pairs =
            args.attention_pairs.as_deref().map(|path| PairFiles::tsv(path, layout).with_shared_layout());
        Ok(Self {
            training,
            validation,
            attention_pairs,
            monolingual_target: MonolingualText::files(&args.monolingual_target),
            languages: args.languages.clone(),
            ..Self::without_pairs(args.guide.clone(), args.on_error)
        }
        .with_shared_layout())
    }

    /// Returns sources without any pairs.
    fn without_pairs(guide: Option<PathBuf>, on_error: OnError) -> Self {
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

    /// Lets the format describe only the files that it fits, if there are several.
    fn with_shared_layout(self) -> Self {
        if self.training.len() + self.validation.len() < 2 {
            return self;
        }
        let shared = |part: TrainingFiles| TrainingFiles { files: part.files.with_shared_layout(), ..part };
        Self {
            training: self.training.into_iter().map(shared).collect(),
            validation: self.validation.into_iter().map(PairFiles::with_shared_layout).collect(),
            ..self
        }
    }

    /// Returns the sources of a resumed training: the given files, or the original ones, relative to the current directory,
    /// in the original format.
    ///
    /// # Errors
    /// The original files are not recorded or do not exist.
    pub fn of_resumed_run(args: &SourceOptions, original: &DataSummary) -> Result<Self> {
        if let Some(pairs) = &args.pairs {
            return Ok(pairs.clone());
        }
        let layout = &original.layout;
        let given: Vec<String> = args.train.iter().map(|file| file.path.display().to_string()).collect();
        check_weights(&args.train, &original.sources)?;
        let training = match (&args.source, &args.target) {
            (Some(source), Some(target)) => vec![source.display().to_string(), target.display().to_string()],
            _ if given.is_empty() => {
                let is_parallel = original.training_files.len() == 2 && original.sources.is_empty();
                existing(&original.training_files, if is_parallel { "--source and --target" } else { "--train" })?
            }
            _ => given,
        };
        let tags: Vec<String> = original.sources.iter().filter_map(|source| source.tag.clone()).collect();
        let mut validation = validation_files(args, layout, &tags)?;
        if validation.is_empty() {
            let is_parallel = original.validation_files.len() == 2 && !original.several_validation_sets;
            let option = if is_parallel { "--valid-source and --valid-target" } else { "--valid" };
            let names = existing(&original.validation_files, option)?;
            let files: Vec<PairFiles> = if is_parallel {
                PairFiles::from_names(&names, layout).into_iter().collect()
            } else {
                names.iter().map(|name| PairFiles::tsv(Path::new(name), layout)).collect()
            };
            validation = tagged(files, &tags);
        }
        let monolingual_target: Vec<PathBuf> = match &args.monolingual_target[..] {
            [] => existing(&original.monolingual_target, "--monolingual-target")?.iter().map(PathBuf::from).collect(),
            given => given.to_vec(),
        };
        let guide = args.guide.clone().or_else(|| original.guide.as_ref().map(|guide| PathBuf::from(&guide.file)));
        if let Some(missing) = guide.as_deref().filter(|path| !path.exists()) {
            bail!("{}: file of links for guided alignment not found; give its path with --guide", missing.display());
        }
        let training = weighted_files(&training, original)?;
        Ok(Self {
            training,
            validation,
            monolingual_target: MonolingualText::files(&monolingual_target),
            ..Self::without_pairs(guide, original.on_error)
        }
        .with_shared_layout())
    }

    /// Returns these sources. Without validation pairs, training pairs are held out.
    pub fn new(training: PairFiles, validation: Option<PairFiles>) -> Self {
        let source = CorpusSource { weight: 1.0, tag: None };
        Self {
            training: vec![TrainingFiles { files: training, source }],
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
        parts: impl Iterator<Item = (f64, Vec<Pair>)>,
        validation: Option<&[Pair]>,
        layout: &TableFormat,
    ) -> Self {
        let in_memory = |pairs: &[Pair]| PairFiles::in_memory(pairs).with_layout(layout);
        let part = |(weight, pairs): (f64, Vec<Pair>)| TrainingFiles {
            files: in_memory(&pairs),
            source: CorpusSource { weight, tag: None },
        };
        Self {
            training: parts.map(part).collect(),
            validation: validation.map(in_memory).into_iter().collect(),
            ..Self::without_pairs(None, OnError::Fail)
        }
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

    /// Returns the tags of the training files.
    pub fn tags(&self) -> Vec<String> {
        let synthetic = self.synthetic.iter().map(|part| &part.corpus.source);
        self.training.iter().map(|part| &part.source).chain(synthetic).filter_map(|source| source.tag.clone()).collect()
    }

    /// Reads all training pairs, and warns of files that look like spreadsheets.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn read_training(&self, reporter: &dyn Reporter) -> Result<TrainingPairs> {
        check_read_once(&self.paths().collect::<Vec<_>>())?;
        let mut read = TrainingPairs::default();
        for TrainingFiles { files, source } in &self.training {
            let ReadablePairs { pairs, numbers, .. } = files.read_readable("--train", self.on_error, reporter)?;
            files.report_format(&pairs, &numbers, reporter);
            self.add_weights(&mut read, &pairs, source.weight);
            read.given.extend(pairs);
        }
        for SyntheticFiles { files, corpus } in &self.synthetic {
            let pairs = files.read("--train").with_context(|| {
                format!("the synthetic pairs of {} are missing or damaged; train another model with --out", corpus.name)
            })?;
            self.add_weights(&mut read, &pairs, corpus.source.weight);
            read.synthetic.extend(pairs);
        }
        Ok(read)
    }

    /// Records the weight of pairs, unless all have the weight 1.
    fn add_weights(&self, read: &mut TrainingPairs, pairs: &[Pair], weight: f64) {
        let synthetic = self.synthetic.iter().map(|part| part.corpus.source.weight);
        if self.training.iter().map(|part| part.source.weight).chain(synthetic).all(|weight| weight == 1.0) {
            return;
        }
        for pair in pairs {
            let (sum, count) = read.weights.entry(pair.clone()).or_default();
            *sum += weight;
            *count += 1;
        }
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
        let sources = || self.training.iter().map(|part| &part.source);
        let is_plain = self.training.len() == 1 && sources().all(|source| source.weight == 1.0 && source.tag.is_none());
        if is_plain { Vec::new() } else { sources().cloned().collect() }
    }
}

/// Rejects weights that differ from the original ones.
fn check_weights(files: &[WeightedFile], original: &[CorpusSource]) -> Result<()> {
    let weight = |index: usize| original.get(index).map_or(1.0, |source| source.weight);
    let changed = (0..).zip(files).find(|(index, file)| file.weight != 1.0 && file.weight != weight(*index));
    if let Some((index, WeightedFile { path, weight: changed })) = changed {
        let before = weight(index);
        bail!(UsageError(format!(
            "{}: training began with weight {before} for this file; --resume cannot change it to {changed}",
            path.display()
        )));
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
        return Ok(vec![TrainingFiles { files, source: CorpusSource { weight: 1.0, tag: None } }]);
    }
    ensure!(
        names.len() == sources.len(),
        "training began with {} files, not with {}; give them with --train in the same order",
        sources.len(),
        names.len()
    );
    let part = |(name, source): (&String, &CorpusSource)| TrainingFiles {
        files: PairFiles::tsv(Path::new(name), layout).tagged(source.tag.clone()),
        source: source.clone(),
    };
    Ok(names.iter().zip(sources).map(part).collect())
}

fn validation_files(args: &SourceOptions, layout: &TableFormat, tags: &[String]) -> Result<Vec<PairFiles>> {
    let files: Vec<PairFiles> = match (&args.valid_source, &args.valid_target) {
        (Some(source), Some(target)) => vec![PairFiles::parallel(source, target, layout)],
        _ => args.valid.iter().map(|path| PairFiles::tsv(path, layout)).collect(),
    };
    if !files.is_empty() {
        check_tags(tags, files.len(), if args.valid.is_empty() { "--valid-source" } else { "--valid" })?;
    }
    Ok(tagged(files, tags))
}

fn tagged(files: Vec<PairFiles>, tags: &[String]) -> Vec<PairFiles> {
    (0..).zip(files).map(|(index, files)| files.tagged(tags.get::<usize>(index).cloned())).collect()
}

fn check_tags(tags: &[String], files: usize, option: &str) -> Result<()> {
    if !tags.is_empty() && tags.len() != files {
        bail!(UsageError(format!(
            "--tag-source has {} tags for {files} files of {option}: each file needs one",
            tags.len()
        )));
    }
    Ok(())
}
