//! Options of decoding: search, sampling and constraints.

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::constraints::Constraints;
use super::terminology::Terminology;
use super::{Request, ResultSelection};
use crate::error::{usage_of, written_number};
use crate::search::{
    BeamOptions, HypothesisScoring, LengthFormula, LengthLimits, MAX_REQUIRED_PHRASES, SamplingConfig, SamplingOptions,
    Search,
};
use crate::text::Pair;

/// Maximum penalty whose product with a length or a coverage is finite.
const MAX_PENALTY: f64 = 1e300;
/// Maximum characters of a required or avoided phrase, a term, and its translation.
pub const MAX_PHRASE: usize = 256;
/// Largest beam, n-best list and number of samples.
const MAX_RESULTS: usize = 1000;

/// Options of decoding. The defaults are those of the command line: beam size 5, one translation.
///
/// ```
/// use softalign::DecodeOptions;
///
/// let options = DecodeOptions::beam(10).n_best(3).prefix("Hier, ").avoid("robe");
/// assert_eq!(options.n_best, 3);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct DecodeOptions {
    /// Beam size; 1 is greedy search. Time and memory grow with it.
    #[cfg_attr(feature = "cli", arg(help_heading = "Search", long, value_name = "K", default_value_t = 5))]
    pub beam: usize,

    /// Maximum number of translations per sentence.
    #[cfg_attr(feature = "cli", arg(skip = 1usize))]
    pub n_best: usize,

    /// Strength A of length normalization. With --length-formula power, 0 favors short translations and 1 ranks by mean
    /// log-probability.
    #[cfg_attr(feature = "cli", arg(help_heading = "Search", long, value_name = "A", default_value_t = HypothesisScoring::default().length_penalty))]
    pub length_penalty: f64,

    /// Length normalization of scores.
    #[cfg_attr(feature = "cli", arg(help_heading = "Search", long, value_enum, default_value_t = HypothesisScoring::default().length_formula))]
    pub length_formula: LengthFormula,

    /// Coverage penalty B; 0 disables it. Adds B times the sum of ln min(1, 0.02 + a) to the log-probability, where a is the
    /// attention that a source token received. Unlike in Wu et al. 2016, 0.02 bounds each term, and --length-formula applies
    /// to the result.
    #[cfg_attr(feature = "cli", arg(help_heading = "Search", long, value_name = "B", default_value_t = HypothesisScoring::default().coverage_penalty))]
    pub coverage_penalty: f64,

    /// Brevity penalty G; 0 disables it. Subtracts G times the share of the expected characters that a translation lacks. Expected
    /// are four fifths of what sources of this length have on average in the training pairs.
    #[cfg_attr(feature = "cli", arg(help_heading = "Search", long, value_name = "G", default_value_t = HypothesisScoring::default().brevity_penalty))]
    pub brevity_penalty: f64,

    /// Maximum length of a translation in tokens, as a multiple of the source length; 20 more tokens are always allowed.
    #[cfg_attr(feature = "cli", arg(help_heading = "Search", long, value_name = "F", default_value_t = LengthLimits::default().length_factor))]
    pub length_factor: f64,

    /// Do not repeat any sequence of N tokens within a translation [default: allow it].
    #[cfg_attr(feature = "cli", arg(help_heading = "Search", long, value_name = "N"))]
    pub no_repeat: Option<usize>,

    /// Sample translations from the model's distribution instead of searching: one, or --n-best of them in translate.
    #[cfg_attr(feature = "cli", arg(help_heading = "Search", long, conflicts_with = "beam"))]
    pub sample: bool,

    /// Sample N translations and return the one most similar to all of them by chrF (minimum Bayes risk).
    #[cfg_attr(
        feature = "cli",
        arg(help_heading = "Search", long, value_name = "N", conflicts_with_all = ["beam", "sample"])
    )]
    pub mbr: Option<usize>,

    /// Sampling temperature; below 1, probable tokens are sampled more often.
    #[cfg_attr(feature = "cli", arg(help_heading = "Search", long, value_name = "T", default_value_t = 1.0))]
    pub temperature: f64,

    /// Sample from only the K most probable tokens [default: all].
    #[cfg_attr(feature = "cli", arg(help_heading = "Search", long, value_name = "K"))]
    pub top_k: Option<usize>,

    /// Sample from only the most probable tokens with a total probability of P.
    #[cfg_attr(feature = "cli", arg(help_heading = "Search", long, value_name = "P", default_value_t = 1.0))]
    pub top_p: f64,

    /// Random seed of sampling.
    #[cfg_attr(feature = "cli", arg(help_heading = "Search", long, value_name = "N", default_value_t = 1))]
    pub seed: u64,

    /// Prefix of translations; with white space at its end, whole words.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub prefix: Option<String>,

    /// Phrases that translations contain.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub require: Vec<String>,

    /// Phrases that translations do not contain.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub avoid: Vec<String>,

    /// Terms with their translations, which are required where a term occurs in the source.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub terms: Vec<Pair>,
}

impl Default for DecodeOptions {
    fn default() -> Self {
        let (scoring, limits) = (HypothesisScoring::default(), LengthLimits::default());
        Self {
            beam: 5,
            n_best: 1,
            length_formula: scoring.length_formula,
            length_penalty: scoring.length_penalty,
            coverage_penalty: scoring.coverage_penalty,
            brevity_penalty: scoring.brevity_penalty,
            length_factor: limits.length_factor,
            no_repeat: limits.no_repeat,
            sample: false,
            mbr: None,
            temperature: 1.0,
            top_k: None,
            top_p: 1.0,
            seed: 1,
            prefix: None,
            require: Vec::new(),
            avoid: Vec::new(),
            terms: Vec::new(),
        }
    }
}

impl DecodeOptions {
    /// Returns the options of beam search.
    pub fn beam(beam: usize) -> Self {
        Self { beam, ..Self::default() }
    }

    /// Returns the options of greedy search.
    pub fn greedy() -> Self {
        Self::beam(1)
    }

    /// Returns the options of sampling.
    pub fn sample(seed: u64) -> Self {
        Self { sample: true, seed, ..Self::default() }
    }

    /// Sets the maximum number of translations per sentence.
    #[must_use]
    pub fn n_best(self, n_best: usize) -> Self {
        Self { n_best, ..self }
    }

    /// Sets the prefix of translations.
    #[must_use]
    pub fn prefix(self, prefix: impl Into<String>) -> Self {
        Self { prefix: Some(prefix.into()), ..self }
    }

    /// Adds a required phrase.
    #[must_use]
    pub fn require(mut self, phrase: impl Into<String>) -> Self {
        self.require.push(phrase.into());
        self
    }

    /// Adds an avoided phrase.
    #[must_use]
    pub fn avoid(mut self, phrase: impl Into<String>) -> Self {
        self.avoid.push(phrase.into());
        self
    }

    /// Checks the options and returns them as a request.
    ///
    /// # Errors
    /// A [`UsageError`](crate::error::UsageError) names the option.
    pub fn request(&self) -> Result<Request> {
        self.check_search()?;
        self.check_sampling()?;
        self.check_phrases()?;
        let Self {
            length_formula, length_penalty, coverage_penalty, brevity_penalty, length_factor, no_repeat, ..
        } = *self;
        let scoring = HypothesisScoring { length_formula, length_penalty, coverage_penalty, brevity_penalty };
        let limits = LengthLimits { length_factor, no_repeat, ..LengthLimits::default() };
        if !self.is_sampled() {
            let beam = self.beam.max(self.n_best);
            // Several hypotheses may have the same text.
            let best = if self.n_best == 1 { 1 } else { beam };
            let search = Search::Beam(BeamOptions { beam, scoring, limits, best });
            return Ok(Request { search, selection: ResultSelection::Best(self.n_best) });
        }
        let sampling = SamplingConfig { temperature: self.temperature, top_k: self.top_k, top_p: self.top_p };
        let samples = self.mbr.unwrap_or(self.n_best);
        let settings = SamplingOptions { samples, sampling, scoring, limits, seed: self.seed, first: 0 };
        let selection = if self.mbr.is_some() { ResultSelection::Mbr(self.n_best) } else { ResultSelection::All };
        Ok(Request { search: Search::Sample(settings), selection })
    }

    /// True if translations are sampled rather than searched for.
    pub(crate) fn is_sampled(&self) -> bool {
        self.sample || self.mbr.is_some()
    }

    fn check_search(&self) -> Result<()> {
        let length = self.length_penalty;
        check_length_penalty(length)?;
        for (option, value) in [("coverage-penalty", self.coverage_penalty), ("brevity-penalty", self.brevity_penalty)]
        {
            check(option, value.is_finite() && value >= 0.0, || format!("must be at least 0, not {value}"))?;
            check(option, value <= MAX_PENALTY, || {
                format!("must be at most {MAX_PENALTY:e}, not {}", written_number(value))
            })?;
        }
        check("length-penalty", self.length_formula != LengthFormula::Reward || length <= MAX_PENALTY, || {
            format!("must be at most {MAX_PENALTY:e} with --length-formula reward, not {}", written_number(length))
        })?;
        let factor = self.length_factor;
        check("length-factor", (0.0..=100.0).contains(&factor), || format!("must be between 0 and 100, not {factor}"))?;
        for (option, value) in [("beam", Some(self.beam)), ("n-best", Some(self.n_best)), ("mbr", self.mbr)] {
            let value = value.unwrap_or(1);
            let is_valid = (1..=MAX_RESULTS).contains(&value);
            check(option, is_valid, || format!("must be between 1 and {MAX_RESULTS}, not {value}"))?;
        }
        check("no-repeat", self.no_repeat != Some(0), || "must be at least 1".to_owned())
    }

    fn check_sampling(&self) -> Result<()> {
        let Self { temperature, top_k, top_p, n_best, .. } = *self;
        check("temperature", temperature.is_finite() && temperature > 0.0, || {
            format!("must be above 0, not {temperature}")
        })?;
        check("top-p", top_p > 0.0 && top_p <= 1.0, || format!("must be above 0 and at most 1, not {top_p}"))?;
        check("top-k", top_k != Some(0), || "must be at least 1".to_owned())?;
        let sampling_only = [("temperature", temperature != 1.0), ("top-k", top_k.is_some()), ("top-p", top_p != 1.0)];
        if let Some((option, _)) = sampling_only.iter().find(|(_, given)| *given && !self.is_sampled()) {
            return usage_of(option, "needs --sample or --mbr");
        }
        if self.sample && self.mbr.is_some() {
            return usage_of("mbr", "samples too: omit --sample");
        }
        let required = [("require", self.require.is_empty()), ("terms", self.terms.is_empty())];
        if let Some((option, _)) = required.iter().find(|(_, is_empty)| !is_empty && self.is_sampled()) {
            return usage_of(option, "needs beam search: omit --sample and --mbr");
        }
        if let Some(samples) = self.mbr.filter(|&samples| samples < n_best) {
            return usage_of("n-best", format!("{n_best} is more than the {samples} samples of --mbr"));
        }
        Ok(())
    }

    fn check_phrases(&self) -> Result<()> {
        for (option, phrases) in [("require", &self.require), ("avoid", &self.avoid)] {
            let are_words = phrases.iter().all(|phrase| !phrase.trim().is_empty());
            check(option, are_words, || "needs a word or a phrase".to_owned())?;
            check_length(option, "a phrase", phrases.iter())?;
        }
        check_length("terms", "a term", self.terms.iter().map(|term| &term.source))?;
        check_length("terms", "a translation", self.terms.iter().map(|term| &term.target))?;
        check("require", self.require.len() <= MAX_REQUIRED_PHRASES, || {
            format!("can be given {MAX_REQUIRED_PHRASES} times, not {}", self.require.len())
        })
    }

    /// Returns the constraints.
    pub(crate) fn constraints(&self) -> Constraints {
        Constraints {
            prefix: self.prefix.clone(),
            required: self.require.clone(),
            avoided: self.avoid.clone(),
            terms: Terminology::from_pairs(self.terms.clone()),
            placeholders: None,
        }
    }
}

/// Refuses a length penalty that is negative or not finite.
///
/// # Errors
/// A [`UsageError`](crate::error::UsageError).
pub fn check_length_penalty(penalty: f64) -> Result<()> {
    check("length-penalty", penalty.is_finite() && penalty >= 0.0, || format!("must be at least 0, not {penalty}"))
}

fn check_length<'t>(option: &str, what: &str, texts: impl Iterator<Item = &'t String>) -> Result<()> {
    let length = texts.map(|text| text.chars().count()).max().unwrap_or_default();
    check(option, length <= MAX_PHRASE, || format!(": {what} can have {MAX_PHRASE} characters, not {length}"))
}

fn check(option: &str, holds: bool, reason: impl FnOnce() -> String) -> Result<()> {
    if holds { Ok(()) } else { usage_of(option, reason()) }
}
