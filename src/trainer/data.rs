//! Training and validation pairs as token ids, and the pairs that are held out.

use std::collections::HashSet;

use anyhow::{Result, ensure};

use super::sources::{TrainingPairs, TrainingSources};
use super::user_alignments::UserAlignments;
use crate::checkpoint::{DataSummary, GuideSummary, fingerprint, fingerprint_of_text};
use crate::random::SeededRng;
use crate::reporter::Reporter;
use crate::text::{EncodedCorpus, NormalForm, Normalization, NormalizationStats, Pair, PairFiles, Vocabulary};

/// Most validation pairs that are held out.
const MAX_HELD_OUT: usize = 1000;
/// Fewer distinct sources than this validate on the training pairs.
const MIN_TO_HOLD_OUT: usize = 20;

/// What a run trains on.
pub struct TrainingData {
    pub training: EncodedCorpus,
    pub validation: EncodedCorpus,
    pub summary: DataSummary,
    /// Links that the user gives, if there are any.
    pub links: Option<UserAlignments>,
}

impl TrainingData {
    /// Turns the training pairs and those that validate into ids. Without validation files a part of the pairs is held
    /// out, which `seed` decides. Pairs with more than `longest` units on a side are left out.
    ///
    /// # Errors
    /// A file cannot be read, with its place; or no pair of one can be used.
    pub fn new(
        mut read: TrainingPairs,
        files: &TrainingSources,
        vocabularies: [&Vocabulary; 2],
        longest: usize,
        seed: u64,
        reporter: &dyn Reporter,
    ) -> Result<Self> {
        let mut validated_on_training = false;
        let mut pairs = std::mem::take(&mut read.all);
        let links = files.guide.as_deref().map(|path| UserAlignments::read(path, &pairs)).transpose()?;
        let normalization = vocabularies[0].normalization();
        let (validation, validation_name) = match &files.validation[..] {
            given @ [_, ..] => {
                let validation = given.iter().map(|files| files.read("--valid")).collect::<Result<Vec<_>>>()?.concat();
                warn_of_overlap(&pairs, &validation, normalization, reporter);
                (validation, given.iter().map(PairFiles::to_string).collect::<Vec<_>>().join(", "))
            }
            [] => {
                let held_out = hold_out(&mut pairs, normalization, seed, reporter);
                validated_on_training = held_out.is_none();
                (held_out.unwrap_or_else(|| pairs.clone()), "validation pairs held out".to_owned())
            }
        };
        let mut training = corpus(pairs, &files.training_name(), vocabularies, longest, reporter)?;
        training.weights = read.weights_of(&training.pairs);
        let validation = corpus(validation, &validation_name, vocabularies, longest, reporter)?;
        let summary = DataSummary {
            training_files: files.training_names(),
            sources: files.mixture(),
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
fn hold_out(
    pairs: &mut Vec<Pair>,
    normalization: Normalization,
    seed: u64,
    reporter: &dyn Reporter,
) -> Option<Vec<Pair>> {
    let source = |pair: &Pair| normalization.apply(&pair.source).into_owned();
    let mut seen = HashSet::new();
    let filled = || pairs.iter().filter(|pair| !pair.has_empty_side());
    let mut distinct: Vec<Pair> = filled().filter(|pair| seen.insert(source(pair))).cloned().collect();
    if distinct.len() < MIN_TO_HOLD_OUT {
        reporter.warn(&format!(
            "of {} different sources none can be spared to validate on: scores will be those of the training pairs, and \
             say nothing of other sentences",
            distinct.len()
        ));
        return None;
    }
    let usable = filled().count();
    if distinct.len() < usable {
        reporter.note(&format!(
            "{} of {usable} pairs repeat another one's source; none is both learnt and validated on",
            usable - distinct.len()
        ));
    }
    SeededRng::new(seed, "held out", 0).shuffle(&mut distinct);
    let validation = distinct.split_off(distinct.len() - (distinct.len() / 20).min(MAX_HELD_OUT));
    if distinct.len() + validation.len() == pairs.len() {
        *pairs = distinct;
    } else {
        let held_out: HashSet<String> = validation.iter().map(source).collect();
        pairs.retain(|pair| !held_out.contains(&source(pair)));
    }
    Some(validation)
}

/// Tells how many of the pairs given for validation are learnt too.
fn warn_of_overlap(training: &[Pair], validation: &[Pair], normalization: Normalization, reporter: &dyn Reporter) {
    let training: HashSet<Pair> = training.iter().map(|pair| pair.normalised(normalization)).collect();
    let learnt = validation.iter().filter(|pair| training.contains(&pair.normalised(normalization))).count();
    if learnt > 0 {
        reporter.warn(&format!(
            "{learnt} of {} validation pairs are among the training pairs: scores will be better than of other sentences",
            validation.len()
        ));
    }
}

/// Tells how many texts of pairs that come from `files` are in another form than others, and what becomes of them.
pub fn warn_of_mixed_forms(pairs: &[&Pair], form: NormalForm, files: &str, reporter: &dyn Reporter) {
    let forms = NormalizationStats::of(pairs.iter().flat_map(|pair| [pair.source.as_str(), pair.target.as_str()]));
    if !forms.are_mixed() {
        return;
    }
    let consequence = match form {
        NormalForm::None => {
            "left so, the same word in two forms is two words; --normalize nfc makes one of them".to_owned()
        }
        form => format!("all are read in {}", form.name()),
    };
    reporter.warn(&format!(
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
    reporter: &dyn Reporter,
) -> Result<EncodedCorpus> {
    let waiting = reporter.stage("tokenizing sentences", None);
    let corpus = EncodedCorpus::new(pairs, source, target, longest)?;
    drop(waiting);
    for (count, reason) in [(corpus.empty, "have an empty side"), (corpus.too_long, "are too long")] {
        if count > 0 {
            reporter.note(&format!("{name}: {count} pairs left out because they {reason}"));
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
