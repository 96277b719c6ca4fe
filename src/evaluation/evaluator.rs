//! Evaluation of a model, or of another system's translations, on sentence pairs.

use std::sync::OnceLock;

use anyhow::ensure;
use serde::Serialize;

use super::by_length::{LengthBuckets, LengthScores};
use super::confidence::{PerMetric, SegmentStats};
use super::scores::{CorpusScores, GoldScores, Likelihood, PairLinks, PairResult};
use crate::alignment::{Gold, Link};
use crate::error::{Result, UsageError};
use crate::metrics::{BleuTokenizer, Confidence, ScoreOptions, Significance, signature};
use crate::reporter::{Reporter, Silent};
use crate::text::{LineNumbers, Normalization, Pair, are_single_words};
use crate::translator::{
    CalibrationError, DecodeOptions, LineWarnings, LinkedPair, Linker, PrecisionOption, Sentence, TranslateOptions,
    Translation, Translator, warn_of_truncated_lines,
};

/// Maximum scored characters of a hypothesis or reference: time grows with the product of their lengths.
const MAX_SCORED: usize = 20_000;

/// Evaluator of systems on sentence pairs.
///
/// ```no_run
/// use softalign::{Evaluator, Translator};
///
/// let pairs = softalign::read_pairs("test.tsv")?;
/// let evaluation = Evaluator::new(&pairs).evaluate(&Translator::load("my-model")?)?;
/// println!("BLEU {:.1}, chrF {:.1}", evaluation.scores.bleu, evaluation.scores.chrf);
/// # Ok::<(), softalign::Error>(())
/// ```
pub struct Evaluator<'a> {
    /// Sentence pairs.
    pub pairs: &'a [Pair],
    /// Pairs without source tags and features, which do not count as words.
    pub untagged: Option<Vec<Pair>>,
    /// Line numbers of the pairs, for messages.
    pub numbers: LineNumbers,
    /// Gold alignments, one for each pair, with which links are compared.
    pub gold: Option<Vec<Gold>>,
    /// Also scores by the length of the source.
    pub by_length: bool,
    /// Also searches for the threshold of links with the lowest alignment error rate.
    pub search_threshold: bool,
    /// Also computes confidence intervals, by resampling with the seed of the decoding options.
    pub confidence: bool,
    /// Tokenization of BLEU; by default it suits the script of the references.
    pub tokenize: Option<BleuTokenizer>,
    /// Options of translating.
    pub options: DecodeOptions,
    /// Precision of products in search.
    pub precision: PrecisionOption,
    /// Reporter of messages and progress.
    pub reporter: &'a dyn Reporter,
}

/// A system to evaluate.
pub enum System {
    /// A model or an ensemble, with its word linker.
    Model(Box<Translator>, Box<Linker>),
    /// Translations of another system, one for each pair.
    Hypotheses(Vec<String>),
}

/// Scores of a system.
#[derive(Debug, Serialize)]
pub struct Evaluation {
    /// BLEU's signature in sacrebleu's notation.
    pub signature: String,
    /// Scores of the translations.
    #[serde(flatten)]
    pub scores: CorpusScores,
    /// Scores of a model's links against gold alignments, if given.
    #[serde(flatten)]
    pub gold: Option<GoldScores>,
    /// Errors of the model's confidence in its translations, if it is calibrated.
    #[serde(rename = "expected_calibration_error", skip_serializing_if = "Option::is_none")]
    pub calibration_error: Option<CalibrationError>,
    /// Confidence intervals, if enabled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<PerMetric<Confidence>>,
    /// Scores by source length, if enabled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_length: Option<Vec<LengthScores>>,
    /// Scored translations, one for each pair.
    #[serde(skip)]
    pub translations: Vec<String>,
    #[serde(skip)]
    references: Vec<String>,
    #[serde(skip)]
    options: ScoreOptions,
    #[serde(skip)]
    stats: OnceLock<SegmentStats>,
}

/// Output of a model for all pairs.
struct ModelOutput {
    translations: Vec<String>,
    given_references: GivenReferences,
    calibration_error: Option<CalibrationError>,
}

/// Output of a model that reads the references: one entry for each pair.
struct GivenReferences {
    likelihoods: Vec<Likelihood>,
    linked: Vec<LinkedPair>,
}

impl System {
    /// Returns the normalization of the references that the system is compared with: a model's own.
    pub fn normalization(&self) -> Normalization {
        match self {
            Self::Model(translator, _) => translator.config().text.normalization,
            Self::Hypotheses(_) => Normalization::NONE,
        }
    }
}

impl<'a> Evaluator<'a> {
    /// Returns an evaluator on these pairs, by beam search with the default options.
    pub fn new(pairs: &'a [Pair]) -> Self {
        Self {
            pairs,
            untagged: None,
            numbers: LineNumbers::default(),
            gold: None,
            by_length: false,
            search_threshold: false,
            confidence: false,
            tokenize: None,
            options: DecodeOptions::default(),
            precision: PrecisionOption::F32,
            reporter: &Silent,
        }
    }

    /// Evaluates a model with its default linker.
    ///
    /// # Errors
    /// There is no pair, an option is out of range, the model's scores are not finite, or its aligner is corrupt.
    pub fn evaluate(&self, translator: &Translator) -> Result<Evaluation> {
        let linker = Linker::from_model(translator)?;
        Ok(self.evaluate_system(&System::Model(Box::new(translator.clone()), Box::new(linker)))?)
    }

    /// Evaluates translations of another system, one for each pair.
    ///
    /// # Errors
    /// There is no pair, or the number of translations differs from that of the pairs.
    pub fn evaluate_hypotheses(&self, hypotheses: Vec<String>) -> Result<Evaluation> {
        Ok(self.evaluate_system(&System::Hypotheses(hypotheses))?)
    }

    /// Checks pairs and options.
    ///
    /// # Errors
    /// There is no pair, the number of gold alignments differs, or no source has a word for scores by length.
    pub fn check(&self) -> anyhow::Result<()> {
        ensure!(!self.pairs.is_empty(), UsageError::new("an evaluation needs sentence pairs"));
        if let Some(gold) = &self.gold {
            self.check_count("gold alignments", gold.len())?;
        }
        self.buckets(ScoreOptions::default()).map(drop)
    }

    /// Evaluates a system.
    ///
    /// # Errors
    /// Those of [`Self::evaluate`] and [`Self::evaluate_hypotheses`].
    pub fn evaluate_system(&self, system: &System) -> anyhow::Result<Evaluation> {
        self.check()?;
        let normalization = system.normalization();
        let references = self.references(normalization);
        let lowercase = normalization.lowercase;
        match system {
            System::Model(translator, linker) => {
                self.warn_of_trained_pairs(translator)?;
                self.warn_of_swapped_sides(translator);
                let ModelOutput { translations, given_references, calibration_error } = self.run(translator, linker)?;
                let evaluation = self.score(translations, references, lowercase, Some(&given_references))?;
                let evaluation = Evaluation { calibration_error, ..evaluation };
                ensure!(
                    evaluation.scores.perplexity.is_none_or(f64::is_finite),
                    "{}: the perplexity is not finite, because the model's parameters are too large; train the model again",
                    translator.path().display()
                );
                self.warn_of_shift(evaluation.gold.as_ref(), linker.attention);
                Ok(evaluation)
            }
            System::Hypotheses(hypotheses) => {
                self.check_count("hypotheses", hypotheses.len())?;
                let hypotheses = hypotheses.iter().map(|text| scored_part(text).to_owned()).collect();
                self.score(hypotheses, references, lowercase, None)
            }
        }
    }

    /// Evaluates the links of a linker against the gold alignments, without translating.
    ///
    /// # Errors
    /// There are no gold alignments, their number differs, or a model of the linker fails.
    pub fn evaluate_linker(&self, linker: &Linker) -> anyhow::Result<GoldScores> {
        let gold = self.checked_gold()?;
        let mut stage = self.reporter.stage("aligning", Some(self.pairs.len()));
        let linked = linker.link(self.pairs, &mut |count| stage.advance(count))?;
        drop(stage);
        let mut warnings = LineWarnings::new(&self.numbers);
        linked.iter().enumerate().for_each(|(id, one)| warnings.add_linked(id, one));
        warnings.report_truncated(self.reporter);
        let scores = GoldScores::new(&linked, gold, self.search_threshold);
        self.warn_of_shift(Some(&scores), linker.attention);
        Ok(scores)
    }

    /// Evaluates links that were made elsewhere against the gold alignments, one list per pair, without duplicates.
    ///
    /// # Errors
    /// There are no gold alignments, or a number differs.
    pub fn evaluate_links(&self, links: &[Vec<Link>]) -> anyhow::Result<GoldScores> {
        let gold = self.checked_gold()?;
        self.check_count("lists of links", links.len())?;
        let scores = GoldScores::from_links(links, gold);
        self.warn_of_shift(Some(&scores), false);
        Ok(scores)
    }

    fn checked_gold(&self) -> anyhow::Result<&[Gold]> {
        self.check()?;
        self.gold.as_deref().ok_or_else(|| UsageError::new("links are evaluated against gold alignments").into())
    }

    fn warn_of_shift(&self, scores: Option<&GoldScores>, attention: bool) {
        if let Some(warning) = scores.and_then(|scores| scores.shift_warning(attention)) {
            self.reporter.warn(&warning);
        }
    }

    /// Warns of pairs that the model was trained on.
    fn warn_of_trained_pairs(&self, translator: &Translator) -> anyhow::Result<()> {
        let normalization = translator.config().text.normalization;
        let known = translator.trained_pairs()?.map_or(0, |known| known.count(self.pairs, normalization));
        let (pairs, path) = (self.pairs.len(), translator.path().display());
        let among = format!("{known} of {pairs} pairs are among the training pairs of {path}");
        // Short sentences recur by chance.
        if known * 100 > pairs {
            let consequence = "the scores are higher than on new sentences; evaluate on other pairs";
            self.reporter.warn(&format!("{among}: {consequence}"));
        } else if known > 0 {
            self.reporter.note(&among);
        }
        Ok(())
    }

    /// Warns if most sources are in the target language.
    fn warn_of_swapped_sides(&self, translator: &Translator) {
        let sources = self.pairs.iter().filter(|pair| translator.is_in_target_language(&pair.source)).count();
        if 2 * sources <= self.pairs.len() {
            return;
        }
        let targets = self.pairs.iter().filter(|pair| translator.is_in_source_language(&pair.target)).count();
        let languages = translator.described_languages();
        if 2 * targets > self.pairs.len() {
            self.reporter.warn(&format!(
                "source and target seem to be swapped, since the model translates {languages}: put the columns in that order"
            ));
        } else {
            self.reporter
                .warn(&format!("most sources seem to be in the target language: the model translates {languages}"));
        }
    }

    fn check_count(&self, what: &str, count: usize) -> anyhow::Result<()> {
        let pairs = self.pairs.len();
        ensure!(count == pairs, UsageError::new(format!("{count} {what} for {pairs} pairs; one per pair is required")));
        Ok(())
    }

    /// Returns true if every source is a single word, apart from its tag and features.
    fn has_single_words(&self) -> bool {
        let pairs = self.untagged.as_deref().unwrap_or(self.pairs);
        are_single_words(pairs.iter().map(|pair| &pair.source))
    }

    fn score_options(&self) -> ScoreOptions {
        let tokenizer = self.tokenize.unwrap_or_else(|| {
            BleuTokenizer::for_references(&Vec::from_iter(self.pairs.iter().map(|pair| scored_part(&pair.target))))
        });
        ScoreOptions { single_words: self.has_single_words(), tokenizer }
    }

    fn buckets(&self, options: ScoreOptions) -> anyhow::Result<Option<LengthBuckets>> {
        self.by_length.then(|| LengthBuckets::new(self.pairs, options)).transpose()
    }

    /// Normalizes the references and reports how many of them change.
    fn references(&self, normalization: Normalization) -> Vec<String> {
        let mut changed = 0;
        let mut references = Vec::with_capacity(self.pairs.len());
        for pair in self.pairs {
            let normalized = normalization.apply(scored_part(&pair.target));
            changed += usize::from(matches!(normalized, std::borrow::Cow::Owned(_)));
            references.push(normalized.into_owned());
        }
        if changed > 0 {
            self.reporter.note(&format!(
                "references are normalized like the model's text ({normalization}); {changed} of {} changed",
                references.len()
            ));
        }
        references
    }

    /// Translates the sources; aligns and links the pairs.
    fn run(&self, translator: &Translator, linker: &Linker) -> anyhow::Result<ModelOutput> {
        let pairs = self.pairs;
        let sentences: Vec<Sentence> = pairs.iter().map(|pair| Sentence::from(&pair.source)).collect();
        let mut stage = self.reporter.stage("translating", Some(pairs.len()));
        let options = TranslateOptions::of_plain_text(self.options.clone());
        let options = TranslateOptions { precision: self.precision, ..options };
        let prepared = translator.prepared(&options)?;
        let found = prepared.translate(&sentences, 0, &mut |count| stage.advance(count))?;
        let found: Vec<Translation> = found.into_iter().map(|mut found| found.swap_remove(0)).collect();
        let calibration_error = translator.calibration_error(pairs, &found);
        let translations = found.into_iter().map(|one| one.text).collect();
        drop(stage);
        let mut stage = self.reporter.stage("aligning", Some(pairs.len()));
        let aligned = translator.align_batch(pairs, &mut |count| stage.advance(count))?;
        drop(stage);
        let mut warnings = LineWarnings::new(&self.numbers);
        aligned.iter().enumerate().for_each(|(id, one)| warnings.add_aligned(id, one));
        warnings.report_truncated(self.reporter);
        let likelihoods = aligned
            .iter()
            .map(|aligned| Likelihood { log_probability: aligned.log_probability, tokens: aligned.length })
            .collect();
        let linked =
            if linker.attention { linker.link_aligned(aligned, pairs)? } else { linker.link(pairs, &mut |_| {})? };
        let given_references = GivenReferences { likelihoods, linked };
        Ok(ModelOutput { translations, given_references, calibration_error })
    }

    /// Scores translations, and a model's output for the references.
    fn score(
        &self,
        translations: Vec<String>,
        references: Vec<String>,
        lowercase: bool,
        model: Option<&GivenReferences>,
    ) -> anyhow::Result<Evaluation> {
        let gold = self.gold.as_deref().zip(model.map(|model| &model.linked));
        let results: Vec<PairResult> = (0..self.pairs.len())
            .map(|index| PairResult {
                translation: &translations[index],
                reference: &references[index],
                likelihood: model.map(|model| model.likelihoods[index]),
                links: gold.map(|(gold, linked)| PairLinks { predicted: &linked[index].links, gold: &gold[index] }),
            })
            .collect();
        let options = self.score_options();
        let mut evaluation = Evaluation {
            signature: signature(lowercase, options.tokenizer),
            scores: CorpusScores::new(&results, options),
            gold: gold.map(|(gold, linked)| GoldScores::new(linked, gold, self.search_threshold)),
            calibration_error: None,
            confidence: None,
            by_length: self.buckets(options)?.map(|buckets| buckets.scores(&results)),
            translations,
            references,
            options,
            stats: OnceLock::new(),
        };
        if self.confidence {
            evaluation.confidence = Some(evaluation.stats().confidence(self.options.seed));
        }
        Ok(evaluation)
    }
}

impl Evaluation {
    /// Returns the p-values of the differences from a baseline on the same pairs, by paired bootstrap resampling and by
    /// approximate randomization.
    pub fn significance(&self, baseline: &Self, seed: u64) -> PerMetric<Significance> {
        self.stats().significance(baseline.stats(), seed)
    }

    fn stats(&self) -> &SegmentStats {
        self.stats.get_or_init(|| SegmentStats::new(&self.translations, &self.references, self.options))
    }
}

/// Truncates a text to the characters that are scored.
fn scored_part(text: &str) -> &str {
    text.char_indices().nth(MAX_SCORED).map_or(text, |(end, _)| &text[..end])
}

/// Warns of a file's lines that are truncated for scoring.
pub fn warn_of_truncated_scoring<'t>(
    file: &str,
    texts: impl Iterator<Item = (usize, &'t str)>,
    reporter: &dyn Reporter,
) {
    let lines = texts.filter(|(_, text)| scored_part(text).len() < text.len()).map(|(line, _)| line);
    let what = format!("longer than {MAX_SCORED} characters; only the beginning was scored");
    warn_of_truncated_lines(file, lines, &what, reporter);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::ErrorRates;

    fn pairs() -> Vec<Pair> {
        [("the fox sleeps now", "le renard dort là"), ("the owl sings here", "la chouette chante ici")]
            .map(|(source, target)| Pair::new(source, target))
            .into()
    }

    fn hypotheses(texts: [&str; 2]) -> Vec<String> {
        texts.map(str::to_owned).into()
    }

    #[test]
    fn scores_hypotheses_without_a_model() {
        let pairs = pairs();
        let evaluator = Evaluator { by_length: true, confidence: true, ..Evaluator::new(&pairs) };
        let perfect =
            evaluator.evaluate_hypotheses(hypotheses(["le renard dort là", "la chouette chante ici"])).unwrap();
        assert_eq!((perfect.scores.pairs, perfect.scores.exact_match, perfect.scores.ter), (2, 100.0, 0.0));
        assert!((perfect.scores.bleu - 100.0).abs() < 1e-9 && perfect.scores.perplexity.is_none());
        assert!(
            matches!(perfect.scores.errors, ErrorRates::Sentences { .. })
                && perfect.gold.is_none()
                && perfect.confidence.is_some()
        );
        assert_eq!(perfect.by_length.as_ref().unwrap()[0].scores.pairs, 2);
        let other = evaluator.evaluate_hypotheses(hypotheses(["le renard dort là", "rien"])).unwrap();
        assert_eq!(other.scores.exact_match, 50.0);
        assert_eq!(perfect.significance(&perfect, 1).bleu.bootstrap, 1.0);
        assert!(other.significance(&perfect, 1).chrf.randomization > 0.05, "two pairs prove nothing");
    }

    fn is_single(found: &Evaluation) -> bool {
        matches!(found.scores.errors, ErrorRates::SingleWords { .. })
    }

    #[test]
    fn single_words_have_word_and_phone_error_rates() {
        let pairs = [Pair::new("fox", "f o x"), Pair::new("owl", "o w l")];
        let evaluator = Evaluator { confidence: true, ..Evaluator::new(&pairs) };
        let found = evaluator.evaluate_hypotheses(hypotheses(["f o x", "o w"])).unwrap();
        let confidence = found.confidence.as_ref().unwrap();
        assert!(confidence.wer.is_some() && found.significance(&found, 1).per.is_some());
        assert!(is_single(&found));
        let tagged = [Pair::new("<x> fox", "f o x"), Pair::new("<x> owl", "o w l")];
        let tagged = Evaluator::new(&tagged);
        assert!(!is_single(&tagged.evaluate_hypotheses(hypotheses(["a", "b"])).unwrap()));
        let untagged = Evaluator { untagged: Some(pairs.to_vec()), ..tagged };
        assert!(is_single(&untagged.evaluate_hypotheses(hypotheses(["a", "b"])).unwrap()));
    }

    #[test]
    fn rejects_other_numbers_of_hypotheses_and_gold_alignments() {
        let pairs = pairs();
        let error = Evaluator::new(&pairs).evaluate_hypotheses(vec![String::new()]).unwrap_err();
        assert_eq!(error.to_string(), "1 hypotheses for 2 pairs; one per pair is required");
        let with_gold = Evaluator { gold: Some(Vec::new()), ..Evaluator::new(&pairs) };
        let error = with_gold.evaluate_hypotheses(hypotheses(["", ""])).unwrap_err();
        assert_eq!(error.to_string(), "0 gold alignments for 2 pairs; one per pair is required");
        assert_eq!(error.kind(), crate::error::ErrorKind::Argument);
        let error = Evaluator::new(&[]).evaluate_hypotheses(Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), "an evaluation needs sentence pairs");
    }

    #[test]
    fn scores_only_the_beginning_of_very_long_lines() {
        let long = "é".repeat(MAX_SCORED + 1);
        assert_eq!(scored_part(&long).chars().count(), MAX_SCORED);
        assert_eq!(scored_part("short"), "short");
    }
}
