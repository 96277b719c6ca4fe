//! Options of decoding: search, sampling and constraints.

use anyhow::{Result, ensure};
use serde::Deserialize;

use super::{Constraints, Request, ResultSelection, Terminology};
use crate::error::{UsageError, usage};
use crate::search::{
    BeamSearch, HypothesisScoring, LengthFormula, LengthLimits, MAX_REQUIRED_PHRASES, SampleSearch, SamplingConfig,
    Search,
};
use crate::text::Pair;

/// Maximum penalty whose product with a length or a coverage is finite.
const MAX_PENALTY: f64 = 1e300;
/// Maximum characters of a required or avoided phrase, a term, and its translation.
pub const MAX_PHRASE: usize = 256;

/// Options of decoding. The defaults are those of the command line: beam size 5, one translation.
///
/// ```
/// use softalign::DecodeOptions;
///
/// let options = DecodeOptions::beam(10).n_best(3).prefix("Hier, ").avoid("robe");
/// assert_eq!(options.n_best, 3);
/// ```
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default)]
pub struct DecodeOptions {
    /// Beam size; 1 is greedy search.
    pub beam: usize,
    /// Maximum number of translations per sentence.
    pub n_best: usize,
    /// Formula of length normalization.
    pub length_formula: LengthFormula,
    /// Length penalty α.
    pub length_penalty: f64,
    /// Coverage penalty β (Wu et al. 2016, section 7); 0 disables it.
    pub coverage_penalty: f64,
    /// Maximum number of target units per source unit.
    pub length_factor: f64,
    /// Length of n-grams that may not repeat, in units.
    pub no_repeat: Option<usize>,
    /// Samples translations instead of searching.
    pub sample: bool,
    /// Number of samples of minimum Bayes risk decoding, if it is used.
    pub mbr: Option<usize>,
    /// Temperature of sampling.
    pub temperature: f64,
    /// Number of most probable units to sample from.
    pub top_k: Option<usize>,
    /// Probability mass to sample from (nucleus sampling).
    pub top_p: f64,
    /// Seed of sampling.
    pub seed: u64,
    /// Prefix of translations; with white space at its end, whole words.
    pub prefix: Option<String>,
    /// Phrases that translations contain.
    pub require: Vec<String>,
    /// Phrases that translations do not contain.
    pub avoid: Vec<String>,
    /// Terms with their translations, which are required where a term occurs in the source.
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
    /// A [`UsageError`] names the option by its name on the command line.
    pub(crate) fn request(&self) -> Result<Request> {
        self.check_search()?;
        self.check_sampling()?;
        self.check_phrases()?;
        let Self { length_formula, length_penalty, coverage_penalty, length_factor, no_repeat, .. } = *self;
        let scoring = HypothesisScoring { length_formula, length_penalty, coverage_penalty };
        let limits = LengthLimits { length_factor, no_repeat, ..LengthLimits::default() };
        if !self.is_sampled() {
            let beam = self.beam.max(self.n_best);
            // Several hypotheses may have the same text.
            let best = if self.n_best == 1 { 1 } else { beam };
            let search = Search::Beam(BeamSearch { beam, scoring, limits, best });
            return Ok(Request { search, selection: ResultSelection::Best(self.n_best) });
        }
        let sampling = SamplingConfig { temperature: self.temperature, top_k: self.top_k, top_p: self.top_p };
        let samples = self.mbr.unwrap_or(self.n_best);
        let settings = SampleSearch { samples, sampling, scoring, limits, seed: self.seed, first: 0 };
        let selection = if self.mbr.is_some() { ResultSelection::Mbr(self.n_best) } else { ResultSelection::All };
        Ok(Request { search: Search::Sample(settings), selection })
    }

    fn is_sampled(&self) -> bool {
        self.sample || self.mbr.is_some()
    }

    fn check_search(&self) -> Result<()> {
        let (length, coverage) = (self.length_penalty, self.coverage_penalty);
        check_length_penalty(length)?;
        check(coverage.is_finite() && coverage >= 0.0, || {
            format!("--coverage-penalty must be at least 0, not {coverage}")
        })?;
        check(coverage <= MAX_PENALTY, || {
            format!("--coverage-penalty must be at most {MAX_PENALTY:?}, not {coverage:?}")
        })?;
        check(self.length_formula != LengthFormula::Reward || length <= MAX_PENALTY, || {
            format!("--length-penalty must be at most {MAX_PENALTY:?} with --length-formula reward, not {length:?}")
        })?;
        let factor = self.length_factor;
        check((0.0..=100.0).contains(&factor), || format!("--length-factor must be between 0 and 100, not {factor}"))?;
        for (name, value) in [("--beam", Some(self.beam)), ("--n-best", Some(self.n_best)), ("--mbr", self.mbr)] {
            check(value != Some(0), || format!("{name} must be at least 1"))?;
        }
        check(self.no_repeat != Some(0), || "--no-repeat must be at least 1".to_owned())
    }

    fn check_sampling(&self) -> Result<()> {
        let Self { temperature, top_k, top_p, n_best, .. } = *self;
        check(temperature.is_finite() && temperature > 0.0, || {
            format!("--temperature must be above 0, not {temperature}")
        })?;
        check(top_p > 0.0 && top_p <= 1.0, || format!("--top-p must be above 0 and at most 1, not {top_p}"))?;
        check(top_k != Some(0), || "--top-k must be at least 1".to_owned())?;
        let sampling_only =
            [("--temperature", temperature != 1.0), ("--top-k", top_k.is_some()), ("--top-p", top_p != 1.0)];
        if let Some((name, _)) = sampling_only.iter().find(|(_, given)| *given && !self.is_sampled()) {
            return usage(format!("{name} needs --sample or --mbr"));
        }
        if let Some(samples) = self.mbr.filter(|&samples| samples < n_best) {
            return usage(format!("--n-best {n_best} is more than the {samples} samples of --mbr"));
        }
        Ok(())
    }

    fn check_phrases(&self) -> Result<()> {
        for (name, phrases) in [("--require", &self.require), ("--avoid", &self.avoid)] {
            check(phrases.iter().all(|phrase| !phrase.trim().is_empty()), || {
                format!("{name} needs a word or a phrase")
            })?;
            let length = phrases.iter().map(|phrase| phrase.chars().count()).max().unwrap_or_default();
            check(length <= MAX_PHRASE, || format!("{name}: a phrase can have {MAX_PHRASE} characters, not {length}"))?;
        }
        check(self.require.len() <= MAX_REQUIRED_PHRASES, || {
            format!("--require can be given {MAX_REQUIRED_PHRASES} times, not {}", self.require.len())
        })
    }

    /// Returns the constraints.
    pub(crate) fn constraints(&self) -> Constraints {
        Constraints {
            prefix: self.prefix.clone(),
            required: self.require.clone(),
            avoided: self.avoid.clone(),
            terms: Terminology::from_pairs(self.terms.clone()),
        }
    }
}

/// Refuses a length penalty that is negative or not finite.
///
/// # Errors
/// A [`UsageError`].
pub fn check_length_penalty(penalty: f64) -> Result<()> {
    check(penalty.is_finite() && penalty >= 0.0, || format!("--length-penalty must be at least 0, not {penalty}"))
}

fn check(holds: bool, message: impl FnOnce() -> String) -> Result<()> {
    ensure!(holds, UsageError(message()));
    Ok(())
}
