//! Training and validation data as token ids, and held-out validation pairs.

use std::collections::HashSet;

use anyhow::{Result, ensure};

use super::sources::TrainingSources;
use super::training_pairs::TrainingPairs;
use super::user_alignments::UserAlignments;
use crate::checkpoint::{DataSummary, GuideSummary, fingerprint, fingerprint_of_text};
use crate::random::SeededRng;
use crate::reporter::{Reporter, counted};
use crate::text::{
    EncodedCorpus, NormalForm, Normalization, NormalizationStats, Pair, PairFiles, ReadablePairs, Vocabulary,
};

/// Maximum number of held-out validation pairs.
const MAX_HELD_OUT: usize = 1000;
/// Number of distinct sources below which validation uses the training pairs.
const MIN_TO_HOLD_OUT: usize = 20;

/// Data of a training run.
pub struct TrainingData {
    pub training: EncodedCorpus,
    pub validation: EncodedCorpus,
    pub summary: DataSummary,
    /// Links given by the user.
    pub links: Option<UserAlignments>,
    /// Pairs whose attention is recorded, if the user named some.
    pub attention_pairs: Vec<Pair>,
}

/// Training pairs without the validation pairs.
pub(super) struct SplitPairs {
    pub training: Vec<Pair>,
    pub validation: Vec<Pair>,
    /// Name of the validation pairs for messages.
    pub validation_name: String,
    /// True if the validation pairs are the training pairs, because too few could be held out.
    pub validated_on_training: bool,
}

impl SplitPairs {
    /// Reads the validation files. Without any, some of the pairs are held out by `seed`.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn new(
        mut pairs: Vec<Pair>,
        files: &TrainingSources,
        normalization: Normalization,
        seed: u64,
        reporter: &dyn Reporter,
    ) -> Result<Self> {
        if files.validation.is_empty() {
            let held_out = hold_out(&mut pairs, normalization, seed, reporter);
            return Ok(Self {
                validated_on_training: held_out.is_none(),
                validation: held_out.unwrap_or_else(|| pairs.clone()),
                validation_name: "validation pairs held out".to_owned(),
                training: pairs,
            });
        }
        let mut validation = Vec::new();
        for given in &files.validation {
            let ReadablePairs { pairs, numbers, .. } = given.read_readable("--valid", files.on_error, reporter)?;
            given.report_format(&pairs, &numbers, reporter);
            validation.extend(pairs);
        }
        warn_of_overlap(&pairs, &validation, normalization, reporter);
        let names: Vec<String> = files.validation.iter().map(PairFiles::to_string).collect();
        let validation_name = names.join(", ");
        Ok(Self { training: pairs, validation, validation_name, validated_on_training: false })
    }
}

/// Encoder of pairs as token ids.
pub(super) struct PairEncoder<'a> {
    pub source: &'a Vocabulary,
    pub target: &'a Vocabulary,
    /// Maximum number of tokens per side; longer pairs are skipped.
    pub max_length: usize,
    pub reporter: &'a dyn Reporter,
}

impl PairEncoder<'_> {
    /// Encodes the usable pairs of `name`, and notes how many are skipped.
    fn encode(&self, pairs: Vec<Pair>, name: &str) -> Result<EncodedCorpus> {
        let Self { source, target, max_length, reporter } = *self;
        let stage = reporter.stage("tokenizing sentences", None);
        let corpus = EncodedCorpus::new(pairs, source, target, max_length)?;
        drop(stage);
        for (count, reason) in [(corpus.empty, "with an empty side"), (corpus.too_long, "longer than --max-length")] {
            if count > 0 {
                reporter.note(&format!("{name}: left out {} {reason}", counted(count, "pair")));
            }
        }
        ensure!(
            !corpus.pairs.is_empty(),
            "{name}: no usable sentence pair ({} with an empty side, {} longer than --max-length {max_length} tokens)",
            corpus.empty,
            corpus.too_long
        );
        Ok(corpus)
    }
}

impl TrainingData {
    /// Encodes training and validation pairs. Without validation files, some pairs are held out by `seed`, but no synthetic
    /// ones.
    ///
    /// # Errors
    /// A file cannot be read or has no usable pair.
    pub(super) fn new(
        mut read: TrainingPairs,
        files: &TrainingSources,
        encoder: &PairEncoder,
        seed: u64,
    ) -> Result<Self> {
        let pairs = std::mem::take(&mut read.given);
        let links = files.guide.as_deref().map(|path| UserAlignments::read(path, &pairs)).transpose()?;
        let mut split = SplitPairs::new(pairs, files, encoder.source.normalization(), seed, encoder.reporter)?;
        split.training.append(&mut read.synthetic);
        let mut training = encoder.encode(split.training, &files.training_name())?;
        training.weights = read.weights_of(&training.pairs);
        let validation = encoder.encode(split.validation, &split.validation_name)?;
        let attention_pairs = match &files.attention_pairs {
            Some(named) => encoder.encode(files.read_attention_pairs()?, &named.to_string())?.pairs,
            None => Vec::new(),
        };
        let guide = files.guide.as_deref().zip(links.as_ref()).map(|(file, links)| GuideSummary {
            file: file.display().to_string(),
            fingerprint: fingerprint_of_text(&links.text(&training.pairs)),
        });
        let summary = DataSummary {
            training_pairs: training.pairs.len(),
            validation_pairs: validation.pairs.len(),
            length_ratio: training.length_ratio(encoder.source, encoder.target),
            validated_on_training: split.validated_on_training,
            fingerprint: fingerprint(training.pairs.iter().chain(&validation.pairs)),
            guide,
            ..files.summary()
        };
        Ok(Self { training, validation, summary, links, attention_pairs })
    }
}

/// Removes 5 % of the distinct sources, compared after normalization, with all their pairs from `pairs`. Returns the first
/// pair of each, or none if there are too few. Pairs with an empty side are not held out.
fn hold_out(
    pairs: &mut Vec<Pair>,
    normalization: Normalization,
    seed: u64,
    reporter: &dyn Reporter,
) -> Option<Vec<Pair>> {
    let mut seen = HashSet::new();
    let (mut distinct, mut usable) = (Vec::new(), 0);
    for pair in pairs.iter().filter(|pair| !pair.has_empty_side()) {
        usable += 1;
        if seen.insert(normalized_source(pair, normalization)) {
            distinct.push(pair.clone());
        }
    }
    if distinct.len() < MIN_TO_HOLD_OUT {
        reporter.warn(&format!(
            "only {}: validating on the training pairs, so scores do not show quality on new sentences",
            counted(distinct.len(), "distinct source")
        ));
        return None;
    }
    if distinct.len() < usable {
        reporter.note(&format!(
            "{} of {usable} pairs repeat another source; no source is in both training and validation",
            usable - distinct.len()
        ));
    }
    SeededRng::new(seed, "held out", 0).shuffle(&mut distinct);
    let validation = distinct.split_off(distinct.len() - (distinct.len() / 20).min(MAX_HELD_OUT));
    if distinct.len() + validation.len() == pairs.len() {
        *pairs = distinct;
    } else {
        let held_out: HashSet<String> = validation.iter().map(|pair| normalized_source(pair, normalization)).collect();
        pairs.retain(|pair| !held_out.contains(&normalized_source(pair, normalization)));
    }
    Some(validation)
}

fn normalized_source(pair: &Pair, normalization: Normalization) -> String {
    normalization.apply(&pair.source).into_owned()
}

/// Warns if validation pairs are also training pairs.
fn warn_of_overlap(training: &[Pair], validation: &[Pair], normalization: Normalization, reporter: &dyn Reporter) {
    let training: HashSet<Pair> = training.iter().map(|pair| pair.normalized(normalization)).collect();
    let shared = validation.iter().filter(|pair| training.contains(&pair.normalized(normalization))).count();
    if shared > 0 {
        reporter.warn(&format!(
            "{shared} of {} validation pairs are among the training pairs: scores will be higher than on new sentences",
            validation.len()
        ));
    }
}

/// Warns if many pairs from `files` have the same text on both sides.
pub fn warn_of_identical_sides(pairs: &[&Pair], files: &str, reporter: &dyn Reporter) {
    /// Pairs for each identical one below which there are many.
    const FEW: usize = 10;
    let identical = pairs.iter().filter(|pair| pair.source.trim() == pair.target.trim()).count();
    if identical * FEW > pairs.len() {
        reporter.warn(&format!(
            "{files}: {identical} of {} pairs have the same text on both sides, which teaches copying; --columns chooses other \
             columns, and softalign clean removes such pairs",
            pairs.len()
        ));
    }
}

/// Warns if the texts of pairs from `files` mix Unicode normalization forms.
pub fn warn_of_mixed_forms(pairs: &[&Pair], form: NormalForm, files: &str, reporter: &dyn Reporter) {
    let forms = NormalizationStats::new(pairs.iter().flat_map(|pair| [pair.source.as_str(), pair.target.as_str()]));
    if !forms.are_mixed() {
        return;
    }
    let consequence = match form {
        NormalForm::None => "the same word in two forms is two words; --normalize nfc unifies them".to_owned(),
        form => format!("all are normalized to {}", form.name()),
    };
    reporter.warn(&format!(
        "{files}: mixed Unicode normalization forms, {} of {} texts are not in NFC; {consequence}",
        forms.not_composed, forms.texts
    ));
}
