//! Sources of the pairs that a training reads: files, or pairs in memory.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::{Serialize, Serializer};

use crate::checkpoint::{CorpusSource, DataSummary};
use crate::error::UsageError;
use crate::reporter::Reporter;
use crate::text::{Pair, PairFiles, SHIPPED_TRAINING, SHIPPED_VALIDATION, TableFormat, check_read_once};

/// Sources as a user names them; those left out are the shipped corpus, or those of the training that is resumed.
#[derive(Clone, Debug, Default)]
pub struct SourceOptions {
    /// Files of training pairs with their weights.
    pub train: Vec<WeightedFile>,
    /// A tag for each file of pairs, put before each of its source sentences.
    pub tag_source: Vec<String>,
    /// Source sentences, one a line.
    pub source: Option<PathBuf>,
    /// Their translations.
    pub target: Option<PathBuf>,
    /// Files of validation pairs.
    pub valid: Vec<PathBuf>,
    /// Source sentences of validation pairs.
    pub valid_source: Option<PathBuf>,
    /// Their translations.
    pub valid_target: Option<PathBuf>,
    /// Columns, quotes and header of the files.
    pub layout: TableFormat,
    /// Links of the training pairs that guide attention.
    pub guide: Option<PathBuf>,
    /// Pairs in memory instead of files.
    pub pairs: Option<TrainingSources>,
}

/// A file of pairs with what each of them counts.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedFile {
    /// The file.
    pub path: PathBuf,
    /// How often its pairs come in an epoch.
    pub weight: f64,
}

impl From<PathBuf> for WeightedFile {
    fn from(path: PathBuf) -> Self {
        Self { path, weight: 1.0 }
    }
}

impl WeightedFile {
    /// Reads a path, which need not be UTF-8, with a weight behind a last colon. A file of the whole name wins.
    ///
    /// # Errors
    /// The weight is out of range.
    pub fn parse(text: OsString) -> Result<Self, String> {
        let bytes = text.as_encoded_bytes();
        let colon = bytes.iter().rposition(|&byte| byte == b':').filter(|_| !Path::new(&text).exists());
        let weight = |colon: usize| std::str::from_utf8(&bytes[colon + 1..]).ok()?.parse::<f64>().ok();
        match colon.and_then(|colon| Some((colon, weight(colon)?))) {
            None => Ok(PathBuf::from(text).into()),
            Some((colon, weight)) if weight > 0.0 && weight <= 100.0 => {
                // SAFETY: these bytes are the platform's encoding of a string, cut off right before an ASCII character.
                let path = unsafe { OsStr::from_encoded_bytes_unchecked(&bytes[..colon]) };
                Ok(Self { path: path.into(), weight })
            }
            Some((_, weight)) => Err(format!("a weight is above 0 and at most 100, not {weight}")),
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

/// Sources of a training's pairs.
#[derive(Clone, Debug)]
pub struct TrainingSources {
    /// Files of training pairs.
    pub training: Vec<TrainingFiles>,
    /// Empty if a part of the training pairs is held out.
    pub validation: Vec<PairFiles>,
    /// Links of the training pairs that attention is taught by, if the user has any.
    pub guide: Option<PathBuf>,
}

/// A part of the training pairs.
#[derive(Clone, Debug)]
pub struct TrainingFiles {
    pub files: PairFiles,
    pub ingredient: CorpusSource,
}

/// Training pairs as they were read.
#[derive(Default)]
pub struct TrainingPairs {
    pub all: Vec<Pair>,
    /// How often all that are equal to one come together in an epoch, and how many they are; empty where all come once.
    weights: HashMap<Pair, (f64, usize)>,
}

impl TrainingPairs {
    pub(super) fn weights_of(&self, pairs: &[Pair]) -> Option<Vec<f64>> {
        let weight = |pair: &Pair| self.weights.get(pair).map_or(1.0, |(sum, count)| sum / *count as f64);
        (!self.weights.is_empty()).then(|| pairs.iter().map(weight).collect())
    }
}

impl TrainingSources {
    /// The sources of a new training: the files given, or the shipped corpus.
    ///
    /// # Errors
    /// A [`UsageError`] if there are not as many tags as files.
    pub fn of_new_run(args: &SourceOptions) -> Result<Self> {
        let (layout, tags) = (&args.layout, &args.tag_source);
        check_tags(tags, args.train.len(), "--train")?;
        let ingredient = |place: usize, weight| CorpusSource { weight, tag: tags.get(place).cloned() };
        let mut training: Vec<TrainingFiles> = (0..)
            .zip(&args.train)
            .map(|(place, WeightedFile { path, weight })| {
                let ingredient = ingredient(place, *weight);
                TrainingFiles { files: PairFiles::tsv(path, layout).tagged(ingredient.tag.clone()), ingredient }
            })
            .collect();
        let plain = CorpusSource { weight: 1.0, tag: None };
        if let (Some(source), Some(target)) = (&args.source, &args.target) {
            let files = PairFiles::parallel(source, target, layout);
            training.push(TrainingFiles { files, ingredient: plain.clone() });
        }
        let mut validation = validation_files(args, layout, tags)?;
        if training.is_empty() {
            if *layout != TableFormat::default() {
                bail!(UsageError(
                    "how files are laid out is said of --train and --valid: name --train as well".to_owned()
                ));
            }
            training.push(TrainingFiles { files: PairFiles::shipped(SHIPPED_TRAINING), ingredient: plain });
            if validation.is_empty() {
                validation.push(PairFiles::shipped(SHIPPED_VALIDATION));
            }
        }
        Ok(Self { training, validation, guide: args.guide.clone() })
    }

    /// Those given, or the files that the run began with, by the names that they had from where it was started; laid out as
    /// those were.
    ///
    /// # Errors
    /// It does not say which they were, or they are not there.
    pub fn of_resumed_run(args: &SourceOptions, began_with: &DataSummary) -> Result<Self> {
        if let Some(pairs) = &args.pairs {
            return Ok(pairs.clone());
        }
        let layout = &began_with.layout;
        let sides_or = |is_of_sides: bool, one, two| if is_of_sides { two } else { one };
        let given: Vec<String> = args.train.iter().map(|file| file.path.display().to_string()).collect();
        check_weights(&args.train, &began_with.sources)?;
        let training = match (&args.source, &args.target) {
            (Some(source), Some(target)) => vec![source.display().to_string(), target.display().to_string()],
            _ if given.is_empty() => there(
                &began_with.training_files,
                sides_or(
                    began_with.training_files.len() == 2 && began_with.sources.is_empty(),
                    "--train",
                    "--source and --target",
                ),
            )?,
            _ => given,
        };
        let tags: Vec<String> = began_with.sources.iter().filter_map(|part| part.tag.clone()).collect();
        let mut validation = validation_files(args, layout, &tags)?;
        if validation.is_empty() {
            let of_sides = began_with.validation_files.len() == 2 && !began_with.validation_apart;
            let names = there(
                &began_with.validation_files,
                sides_or(of_sides, "--valid", "--valid-source and --valid-target"),
            )?;
            let files: Vec<PairFiles> = if of_sides {
                PairFiles::named(&names, layout).into_iter().collect()
            } else {
                names.iter().map(|name| PairFiles::tsv(Path::new(name), layout)).collect()
            };
            validation = tagged(files, &tags);
        }
        let guide = args.guide.clone().or_else(|| began_with.guide.as_ref().map(|guide| PathBuf::from(&guide.file)));
        if let Some(gone) = guide.as_deref().filter(|path| !path.exists()) {
            bail!(
                "{}: attention is taught by this file, which is not here; say where it is with --guide",
                gone.display()
            );
        }
        Ok(Self { training: mixed_as_before(&training, began_with)?, validation, guide })
    }

    /// Pairs in memory; without validation pairs a part of them is held out.
    pub fn in_memory(training: &[Pair], validation: Option<&[Pair]>) -> Self {
        let ingredient = CorpusSource { weight: 1.0, tag: None };
        Self {
            training: vec![TrainingFiles { files: PairFiles::in_memory(training), ingredient }],
            validation: validation.map(PairFiles::in_memory).into_iter().collect(),
            guide: None,
        }
    }

    /// Returns the layout of the training files.
    pub fn layout(&self) -> &TableFormat {
        self.training[0].files.layout()
    }

    /// Returns the tags of the training files.
    pub fn tags(&self) -> Vec<String> {
        self.training.iter().filter_map(|part| part.ingredient.tag.clone()).collect()
    }

    /// Reads all training pairs; warns of files that look like spreadsheets'.
    ///
    /// # Errors
    /// The files' own.
    pub fn read_training(&self, reporter: &dyn Reporter) -> Result<TrainingPairs> {
        let files = self.training.iter().map(|files| &files.files).chain(&self.validation);
        check_read_once(&files.flat_map(PairFiles::paths).chain(self.guide.as_deref()).collect::<Vec<_>>())?;
        let mut read = TrainingPairs::default();
        let weighed = self.training.iter().any(|part| part.ingredient.weight != 1.0);
        for TrainingFiles { files, ingredient } in &self.training {
            let pairs = files.read("--train")?;
            files.spreadsheet_warnings(&pairs).iter().for_each(|line| reporter.warn(line));
            if weighed {
                for pair in &pairs {
                    let (sum, count) = read.weights.entry(pair.clone()).or_default();
                    *sum += ingredient.weight;
                    *count += 1;
                }
            }
            read.all.extend(pairs);
        }
        Ok(read)
    }

    /// The training files, for messages.
    pub fn training_name(&self) -> String {
        self.training.iter().map(|part| part.files.to_string()).collect::<Vec<_>>().join(", ")
    }

    /// All files of pairs, for messages.
    pub fn name(&self) -> String {
        let validation = self.validation.iter().map(PairFiles::to_string);
        [self.training_name()].into_iter().chain(validation).collect::<Vec<_>>().join(" or ")
    }

    /// What config.json notes down of several training files, or of tags.
    pub(super) fn mixture(&self) -> Vec<CorpusSource> {
        let parts = || self.training.iter().map(|part| &part.ingredient);
        let is_plain = self.training.len() == 1 && parts().all(|part| part.weight == 1.0 && part.tag.is_none());
        if is_plain { Vec::new() } else { parts().cloned().collect() }
    }

    pub(super) fn training_names(&self) -> Vec<String> {
        self.training.iter().flat_map(|part| part.files.names()).collect()
    }
}

/// Refuses weights that a run did not begin with: what its files count stays.
fn check_weights(files: &[WeightedFile], mixture: &[CorpusSource]) -> Result<()> {
    let weight = |place: usize| mixture.get(place).map_or(1.0, |part| part.weight);
    let other = (0..).zip(files).find(|(place, file)| file.weight != 1.0 && file.weight != weight(*place));
    if let Some((place, WeightedFile { path, weight: other })) = other {
        let before = weight(place);
        bail!(UsageError(format!(
            "{}: training began with weight {before} for this file, and --resume cannot make it {other}",
            path.display()
        )));
    }
    Ok(())
}

/// Names of files that training began with, if they are all there.
fn there(names: &[String], option: &str) -> Result<Vec<String>> {
    if let Some(gone) = names.iter().find(|name| *name != "-" && !Path::new(name).exists()) {
        bail!(
            "{gone}: training began with this file, which is not here; run softalign where it began, or say where the file is \
             with {option}"
        );
    }
    Ok(names.to_owned())
}

/// Training files by their names, weighed and tagged as those were that the run began with.
fn mixed_as_before(names: &[String], began_with: &DataSummary) -> Result<Vec<TrainingFiles>> {
    let (layout, mixture) = (&began_with.layout, &began_with.sources);
    if mixture.is_empty() {
        let files = PairFiles::named(names, layout);
        let files = files.context("config.json does not name the training files; give them with --train")?;
        return Ok(vec![TrainingFiles { files, ingredient: CorpusSource { weight: 1.0, tag: None } }]);
    }
    ensure!(
        names.len() == mixture.len(),
        "training began with {} files, not with {}; name them with --train in the same order",
        mixture.len(),
        names.len()
    );
    let part = |(name, ingredient): (&String, &CorpusSource)| TrainingFiles {
        files: PairFiles::tsv(Path::new(name), layout).tagged(ingredient.tag.clone()),
        ingredient: ingredient.clone(),
    };
    Ok(names.iter().zip(mixture).map(part).collect())
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

/// Files with their tags, if there are any.
fn tagged(files: Vec<PairFiles>, tags: &[String]) -> Vec<PairFiles> {
    (0..).zip(files).map(|(place, files)| files.tagged(tags.get::<usize>(place).cloned())).collect()
}

fn check_tags(tags: &[String], files: usize, option: &str) -> Result<()> {
    if !tags.is_empty() && tags.len() != files {
        bail!(UsageError(format!(
            "--tag-source has {} tags for {files} files of {option}: each needs one",
            tags.len()
        )));
    }
    Ok(())
}
