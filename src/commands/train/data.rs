//! The sentence pairs that a run trains on and those that validate it.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::super::console::Console;
use super::super::input::{PairFiles, SHIPPED_TRAINING, SHIPPED_VALIDATION};
use super::super::output::read_once;
use super::super::usage::UsageError;
use super::user_guide::GivenLinks;
use crate::checkpoint::{DataSummary, GuideSummary, Ingredient, fingerprint, fingerprint_of_text};
use crate::cli::{TrainArgs, WeightedFile};
use crate::random::SeededRng;
use crate::text::{Corpus, Forms, Layout, NormalForm, Normalisation, Pair, Vocabulary};

/// Validation pairs held out where none are given, at most.
const MOST_HELD_OUT: usize = 1000;
/// Of fewer pairs than this none can be spared: they validate themselves.
const HANDFUL: usize = 20;

/// Where the pairs lie.
pub struct DataFiles {
    pub training: Vec<TrainingFiles>,
    /// Empty if a part of the training pairs is held out.
    pub validation: Vec<PairFiles>,
    /// Links of the training pairs that attention is taught by, if the user has any.
    pub guide: Option<PathBuf>,
}

/// Some of the training pairs.
pub struct TrainingFiles {
    pub files: PairFiles,
    pub ingredient: Ingredient,
}

/// Training pairs as they were read.
#[derive(Default)]
pub struct TrainingPairs {
    pub all: Vec<Pair>,
    /// How often all that are equal to one come together in an epoch, and how many they are; empty where all come once.
    weights: HashMap<Pair, (f64, usize)>,
}

impl TrainingPairs {
    fn weights_of(&self, pairs: &[Pair]) -> Option<Vec<f64>> {
        let weight = |pair: &Pair| self.weights.get(pair).map_or(1.0, |(sum, count)| sum / *count as f64);
        (!self.weights.is_empty()).then(|| pairs.iter().map(weight).collect())
    }
}

impl DataFiles {
    /// Those given, or the shipped corpus.
    ///
    /// # Errors
    /// A [`UsageError`] if there are not as many tags as files.
    pub fn of_new_run(args: &TrainArgs) -> Result<Self> {
        let (layout, tags) = (&args.layout.layout(), &args.tag_source);
        check_tags(tags, args.train.len(), "--train")?;
        let ingredient = |place: usize, weight| Ingredient { weight, tag: tags.get(place).cloned() };
        let mut training: Vec<TrainingFiles> = (0..)
            .zip(&args.train)
            .map(|(place, WeightedFile { path, weight })| {
                let ingredient = ingredient(place, *weight);
                TrainingFiles { files: PairFiles::tsv(path, layout).tagged(ingredient.tag.clone()), ingredient }
            })
            .collect();
        let plain = Ingredient { weight: 1.0, tag: None };
        if let (Some(source), Some(target)) = (&args.source, &args.target) {
            let files = PairFiles::parallel(source, target, layout);
            training.push(TrainingFiles { files, ingredient: plain.clone() });
        }
        let mut validation = validation_files(args, layout, tags)?;
        if training.is_empty() {
            if *layout != Layout::default() {
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
    pub fn of_resumed_run(args: &TrainArgs, began_with: &DataSummary) -> Result<Self> {
        let layout = &began_with.layout;
        let sides_or = |is_of_sides: bool, one, two| if is_of_sides { two } else { one };
        let given: Vec<String> = args.train.iter().map(|file| file.path.display().to_string()).collect();
        check_weights(&args.train, &began_with.mixture)?;
        let training = match (&args.source, &args.target) {
            (Some(source), Some(target)) => vec![source.display().to_string(), target.display().to_string()],
            _ if given.is_empty() => there(
                &began_with.training_files,
                sides_or(
                    began_with.training_files.len() == 2 && began_with.mixture.is_empty(),
                    "--train",
                    "--source and --target",
                ),
            )?,
            _ => given,
        };
        let tags: Vec<String> = began_with.mixture.iter().filter_map(|part| part.tag.clone()).collect();
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

    /// Reads all training pairs; tells of files that look like spreadsheets'.
    ///
    /// # Errors
    /// The files' own.
    pub fn read_training(&self, console: &Console) -> Result<TrainingPairs> {
        let files = self.training.iter().map(|files| &files.files).chain(&self.validation);
        read_once(&files.flat_map(PairFiles::paths).chain(self.guide.as_deref()).collect::<Vec<_>>())?;
        let mut read = TrainingPairs::default();
        let weighed = self.training.iter().any(|part| part.ingredient.weight != 1.0);
        for TrainingFiles { files, ingredient } in &self.training {
            let pairs = files.read("--train")?;
            files.warn_of_spreadsheet(&pairs, console);
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
    fn mixture(&self) -> Vec<Ingredient> {
        let parts = || self.training.iter().map(|part| &part.ingredient);
        let is_plain = self.training.len() == 1 && parts().all(|part| part.weight == 1.0 && part.tag.is_none());
        if is_plain { Vec::new() } else { parts().cloned().collect() }
    }

    fn training_names(&self) -> Vec<String> {
        self.training.iter().flat_map(|part| part.files.names()).collect()
    }
}

/// Refuses weights that a run did not begin with: what its files count stays.
fn check_weights(files: &[WeightedFile], mixture: &[Ingredient]) -> Result<()> {
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
    let (layout, mixture) = (&began_with.layout, &began_with.mixture);
    if mixture.is_empty() {
        let files = PairFiles::named(names, layout);
        let files = files.context("config.json does not name the training files; give them with --train")?;
        return Ok(vec![TrainingFiles { files, ingredient: Ingredient { weight: 1.0, tag: None } }]);
    }
    ensure!(
        names.len() == mixture.len(),
        "training began with {} files, not with {}; name them with --train in the same order",
        mixture.len(),
        names.len()
    );
    let part = |(name, ingredient): (&String, &Ingredient)| TrainingFiles {
        files: PairFiles::tsv(Path::new(name), layout).tagged(ingredient.tag.clone()),
        ingredient: ingredient.clone(),
    };
    Ok(names.iter().zip(mixture).map(part).collect())
}

fn validation_files(args: &TrainArgs, layout: &Layout, tags: &[String]) -> Result<Vec<PairFiles>> {
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

/// What a run trains on.
pub struct Data {
    pub training: Corpus,
    pub validation: Corpus,
    pub summary: DataSummary,
    /// Links that the user gives, if there are any.
    pub links: Option<GivenLinks>,
}

impl Data {
    /// Turns the training pairs and those that validate into ids. Without validation files a part of the pairs is held
    /// out, which `seed` decides. Pairs with more than `longest` units on a side are left out.
    ///
    /// # Errors
    /// A file cannot be read, with its place; or no pair of one can be used.
    pub fn new(
        mut read: TrainingPairs,
        files: &DataFiles,
        vocabularies: [&Vocabulary; 2],
        longest: usize,
        seed: u64,
        console: &Console,
    ) -> Result<Self> {
        let mut validated_on_training = false;
        let mut pairs = std::mem::take(&mut read.all);
        let links = files.guide.as_deref().map(|path| GivenLinks::read(path, &pairs)).transpose()?;
        let normalisation = vocabularies[0].normalisation();
        let (validation, validation_name) = match &files.validation[..] {
            given @ [_, ..] => {
                let validation = given.iter().map(|files| files.read("--valid")).collect::<Result<Vec<_>>>()?.concat();
                warn_of_overlap(&pairs, &validation, normalisation, console);
                (validation, given.iter().map(PairFiles::to_string).collect::<Vec<_>>().join(", "))
            }
            [] => {
                let held_out = hold_out(&mut pairs, normalisation, seed, console);
                validated_on_training = held_out.is_none();
                (held_out.unwrap_or_else(|| pairs.clone()), "validation pairs held out".to_owned())
            }
        };
        let mut training = corpus(pairs, &files.training_name(), vocabularies, longest, console)?;
        training.weights = read.weights_of(&training.pairs);
        let validation = corpus(validation, &validation_name, vocabularies, longest, console)?;
        let summary = DataSummary {
            training_files: files.training_names(),
            mixture: files.mixture(),
            layout: files.training[0].files.layout().clone(),
            validation_files: files.validation.iter().flat_map(PairFiles::names).collect(),
            validation_apart: files.validation.len() > 1,
            training_pairs: training.pairs.len(),
            validation_pairs: validation.pairs.len(),
            validated_on_training,
            fingerprint: fingerprint(training.pairs.iter().chain(&validation.pairs)),
            guide: files.guide.as_deref().zip(links.as_ref()).map(|(file, links)| GuideSummary {
                file: file.display().to_string(),
                fingerprint: fingerprint_of_text(&links.text(&training.pairs)),
            }),
        };
        Ok(Self { training, validation, summary, links })
    }
}

/// Takes a part of the pairs for validation, of those whose sources are equal once they are normalised all or none, and the
/// first of them; of a handful nothing, and none of those with an empty side.
fn hold_out(pairs: &mut Vec<Pair>, normalisation: Normalisation, seed: u64, console: &Console) -> Option<Vec<Pair>> {
    let source = |pair: &Pair| normalisation.apply(&pair.source).into_owned();
    let mut seen = HashSet::new();
    let filled = || pairs.iter().filter(|pair| !pair.has_empty_side());
    let mut distinct: Vec<Pair> = filled().filter(|pair| seen.insert(source(pair))).cloned().collect();
    if distinct.len() < HANDFUL {
        console.warn(format!(
            "of {} different sources none can be spared to validate on: scores will be those of the training pairs, and \
             say nothing of other sentences",
            distinct.len()
        ));
        return None;
    }
    let usable = filled().count();
    if distinct.len() < usable {
        console.note(format!(
            "{} of {usable} pairs repeat another one's source; none is both learnt and validated on",
            usable - distinct.len()
        ));
    }
    SeededRng::new(seed, "held out", 0).shuffle(&mut distinct);
    let validation = distinct.split_off(distinct.len() - (distinct.len() / 20).min(MOST_HELD_OUT));
    if distinct.len() + validation.len() == pairs.len() {
        *pairs = distinct;
    } else {
        let held_out: HashSet<String> = validation.iter().map(source).collect();
        pairs.retain(|pair| !held_out.contains(&source(pair)));
    }
    Some(validation)
}

/// Tells how many of the pairs given for validation are learnt too.
fn warn_of_overlap(training: &[Pair], validation: &[Pair], normalisation: Normalisation, console: &Console) {
    let training: HashSet<Pair> = training.iter().map(|pair| pair.normalised(normalisation)).collect();
    let learnt = validation.iter().filter(|pair| training.contains(&pair.normalised(normalisation))).count();
    if learnt > 0 {
        console.warn(format!(
            "{learnt} of {} validation pairs are among the training pairs: scores will be better than of other sentences",
            validation.len()
        ));
    }
}

/// Tells how many texts of pairs that come from `files` are in another form than others, and what becomes of them.
pub fn warn_of_mixed_forms(pairs: &[&Pair], form: NormalForm, files: &str, console: &Console) {
    let forms = Forms::of(pairs.iter().flat_map(|pair| [pair.source.as_str(), pair.target.as_str()]));
    if !forms.are_mixed() {
        return;
    }
    let consequence = match form {
        NormalForm::None => {
            "left so, the same word in two forms is two words; --normalise nfc makes one of them".to_owned()
        }
        form => format!("all are read in {}", form.name()),
    };
    console.warn(format!(
        "{files}: Unicode's forms are mixed, {} of {} texts are not in NFC; {consequence}",
        forms.not_composed, forms.texts
    ));
}

/// The usable ones of pairs that come from `name`; tells how many cannot be used.
fn corpus(
    pairs: Vec<Pair>,
    name: &str,
    [source, target]: [&Vocabulary; 2],
    longest: usize,
    console: &Console,
) -> Result<Corpus> {
    let waiting = console.waiting("cutting sentences into units");
    let corpus = Corpus::new(pairs, source, target, longest)?;
    drop(waiting);
    for (count, reason) in [(corpus.empty, "have an empty side"), (corpus.too_long, "are too long")] {
        if count > 0 {
            console.note(format!("{name}: {count} pairs left out because they {reason}"));
        }
    }
    ensure!(
        !corpus.pairs.is_empty(),
        "{name}: no usable sentence pair ({} with an empty side, {} longer than --max-length {longest} units)",
        corpus.empty,
        corpus.too_long
    );
    Ok(corpus)
}
