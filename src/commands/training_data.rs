//! The sentence pairs that a run trains on and those that validate it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::console::Console;
use super::input::{PairFiles, SHIPPED_TRAINING, SHIPPED_VALIDATION};
use super::user_guide::GivenLinks;
use crate::checkpoint::{DataSummary, GuideSummary, fingerprint, fingerprint_of_text};
use crate::cli::TrainArgs;
use crate::random::Stream;
use crate::text::{Corpus, Forms, Layout, NormalForm, Normalisation, Pair, Vocabulary};

/// Validation pairs held out where none are given, at most.
const MOST_HELD_OUT: usize = 1000;
/// Of fewer pairs than this none can be spared: they validate themselves.
const HANDFUL: usize = 20;

/// Where the pairs lie.
pub struct DataFiles {
    pub training: PairFiles,
    /// None if a part of the training pairs is held out.
    pub validation: Option<PairFiles>,
    /// Links of the training pairs that attention is taught by, if the user has any.
    pub guide: Option<PathBuf>,
}

impl DataFiles {
    /// Those given, or the shipped corpus.
    pub fn of_new_run(args: &TrainArgs) -> Self {
        let layout = &args.layout.layout();
        let guide = args.guide.clone();
        match (training_files(args, layout), validation_files(args, layout)) {
            (Some(training), validation) => Self { training, validation, guide },
            (None, validation) => Self {
                training: PairFiles::shipped(SHIPPED_TRAINING),
                validation: Some(validation.unwrap_or_else(|| PairFiles::shipped(SHIPPED_VALIDATION))),
                guide,
            },
        }
    }

    /// Those given, or the files that the run began with, by the names that they had from where it was started; laid out as
    /// those were.
    ///
    /// # Errors
    /// It does not say which they were, or they are not there.
    pub fn of_resumed_run(args: &TrainArgs, began_with: &DataSummary) -> Result<Self> {
        let named = |names: &[String], one: &str, two: &str| -> Result<Option<PairFiles>> {
            let files = PairFiles::named(names, &began_with.layout);
            match names.iter().find(|name| *name != "-" && !Path::new(name).exists()) {
                Some(gone) if files.is_some() => bail!(
                    "{gone}: training began with this file, which is not here; run softalign where it began, or say \
                     where the file is with {}",
                    if names.len() == 1 { one } else { two }
                ),
                _ => Ok(files),
            }
        };
        let layout = &began_with.layout;
        let (training, validation) = (training_files(args, layout), validation_files(args, layout));
        let training = match training {
            Some(files) => Some(files),
            None => named(&began_with.training_files, "--train", "--source and --target")?,
        };
        let validation = match validation {
            Some(files) => Some(files),
            None => named(&began_with.validation_files, "--valid", "--valid-source and --valid-target")?,
        };
        let training = training.context("config.json does not name the training files; give them with --train")?;
        let guide = args.guide.clone().or_else(|| began_with.guide.as_ref().map(|guide| PathBuf::from(&guide.file)));
        if let Some(gone) = guide.as_deref().filter(|path| !path.exists()) {
            bail!(
                "{}: attention is taught by this file, which is not here; say where it is with --guide",
                gone.display()
            );
        }
        Ok(Self { training, validation, guide })
    }
}

fn training_files(args: &TrainArgs, layout: &Layout) -> Option<PairFiles> {
    PairFiles::given(args.train.as_deref(), args.source.as_deref(), args.target.as_deref(), layout)
}

fn validation_files(args: &TrainArgs, layout: &Layout) -> Option<PairFiles> {
    PairFiles::given(args.valid.as_deref(), args.valid_source.as_deref(), args.valid_target.as_deref(), layout)
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
        mut pairs: Vec<Pair>,
        files: &DataFiles,
        vocabularies: [&Vocabulary; 2],
        longest: usize,
        seed: u64,
        console: &Console,
    ) -> Result<Self> {
        let mut validated_on_training = false;
        let links = files.guide.as_deref().map(|path| GivenLinks::read(path, &pairs)).transpose()?;
        files.training.warn_of_spreadsheet(&pairs, console);
        let normalisation = vocabularies[0].normalisation();
        let (validation, validation_name) = match &files.validation {
            Some(files) => {
                let validation = files.read("--valid")?;
                warn_of_overlap(&pairs, &validation, normalisation, console);
                (validation, files.to_string())
            }
            None => {
                let held_out = hold_out(&mut pairs, normalisation, seed, console);
                validated_on_training = held_out.is_none();
                (held_out.unwrap_or_else(|| pairs.clone()), "validation pairs held out".to_owned())
            }
        };
        let training = corpus(pairs, &files.training.to_string(), vocabularies, longest, console)?;
        let validation = corpus(validation, &validation_name, vocabularies, longest, console)?;
        let summary = DataSummary {
            training_files: files.training.names(),
            layout: files.training.layout().clone(),
            validation_files: files.validation.as_ref().map(PairFiles::names).unwrap_or_default(),
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

/// Takes a part of the pairs for validation, of those that are equal once they are normalised all or none, and each once; of
/// a handful nothing.
fn hold_out(pairs: &mut Vec<Pair>, normalisation: Normalisation, seed: u64, console: &Console) -> Option<Vec<Pair>> {
    let mut seen = HashSet::new();
    let mut distinct: Vec<Pair> =
        pairs.iter().filter(|pair| seen.insert(pair.normalised(normalisation))).cloned().collect();
    let equal = pairs.len() - distinct.len();
    if equal > 0 {
        console.note(format!(
            "{equal} of {} pairs are equal to others; none is both learnt and validated on",
            pairs.len()
        ));
    }
    if distinct.len() < HANDFUL {
        console.warn(format!(
            "of {} different pairs none can be spared to validate on: scores will be those of the training pairs, and say \
             nothing of other sentences",
            distinct.len()
        ));
        return None;
    }
    Stream::new(seed, "held out", 0).shuffle(&mut distinct);
    let validation = distinct.split_off(distinct.len() - (distinct.len() / 20).min(MOST_HELD_OUT));
    if equal == 0 {
        *pairs = distinct;
    } else {
        let held_out: HashSet<Pair> = validation.iter().map(|pair| pair.normalised(normalisation)).collect();
        pairs.retain(|pair| !held_out.contains(&pair.normalised(normalisation)));
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
pub fn warn_of_mixed_forms(pairs: &[&Pair], form: NormalForm, files: &PairFiles, console: &Console) {
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
