//! The cost of work, known before it begins, and the budgets of a request and of a slice of it.

use super::error::ApiError;
use super::options::RequestLimits;
use crate::search::{DecodingConstraints, Search};
use crate::translator::{MAX_SENTENCE_TOKENS, Request, ResultSelection};

/// Steps of a request for each character that `--char-limit` permits: five hypotheses of the longest sentences.
const STEPS_PER_CHARACTER: usize = 30;
/// Maximum steps of a slice of work.
const SLICE_STEPS: usize = 8_000;
/// Maximum steps of a request that does not wait for longer ones, and of a slice of several such requests.
const SHORT_STEPS: usize = 2_000;
/// Maximum characters of a request that counts as a short one before its tokens are counted.
const SHORT_CHARACTERS: usize = 1_000;
/// Number of source tokens whose attention costs as much as the rest of a step.
const TOKENS_PER_STEP: usize = 100;
/// Number of copies of the attention weights of a translation while its links are computed.
const COPIES: usize = 8;
/// Maximum attention weights of an answer.
const SENT_WEIGHTS: usize = 5_000_000;
/// Maximum attention weights of an answer for one text, which are written at once.
const SENT_WEIGHTS_OF_TEXT: usize = 600_000;
/// Number of pairs of samples whose comparison costs a step for each source token.
const COMPARISONS_PER_STEP: usize = 20;

/// Cost of the translation or the alignment of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Time: target tokens × hypotheses, where a step costs more the more source tokens it attends to.
    pub steps: usize,
    /// Memory: attention weights that exist at once.
    pub weights: usize,
    /// Size of the answer: attention weights of the results.
    pub results: usize,
}

impl Cost {
    /// Cost of a search for the translations of a sentence of so many source tokens. Constraints widen the beam and lengthen
    /// translations.
    pub fn of_search(source_tokens: usize, constraints: &DecodingConstraints, request: &Request) -> Self {
        let source = source_tokens.min(MAX_SENTENCE_TOKENS) + 1;
        let required = constraints.required_tokens();
        let (limits, width) = match request.search {
            // Greedy search runs beside the beam.
            Search::Beam(settings) => (settings.limits, settings.beam + required + 1 + required),
            Search::Sample(settings) => (settings.limits, settings.samples),
        };
        let results = request.search.results().min(request.search.width());
        let longest = limits.max_tokens(source) + constraints.max_extra_tokens();
        // Few translations are as long as they may be.
        let steps = (longest / 2).saturating_mul(width).saturating_mul(TOKENS_PER_STEP + source) / TOKENS_PER_STEP;
        let comparisons = match request.selection {
            ResultSelection::Mbr(_) => width * width / COMPARISONS_PER_STEP * source,
            ResultSelection::All | ResultSelection::Best(_) => 0,
        };
        let matrix = source.saturating_mul(longest);
        Self {
            steps: steps.saturating_add(comparisons),
            weights: matrix.saturating_mul(width + COPIES * results),
            results: matrix.saturating_mul(results),
        }
    }

    /// Cost of reading a pair with so many tokens, of which at most `most` of each side are read.
    pub fn of_pair(source: usize, target: usize, most: usize) -> Self {
        let [source, target] = [source, target].map(|tokens| tokens.min(most));
        let matrix = (source + 1) * (target + 1);
        Self { steps: source + target + matrix / TOKENS_PER_STEP, weights: COPIES * matrix, results: matrix }
    }

    /// Sum of several costs.
    pub fn sum(costs: &[Self]) -> Self {
        costs.iter().fold(Self::default(), |sum, cost| sum.plus(*cost))
    }

    /// True if time and memory are within those of another cost.
    pub fn fits(self, most: Self) -> bool {
        self.steps <= most.steps && self.weights <= most.weights
    }

    /// Sum of this cost and another.
    pub fn plus(self, other: Self) -> Self {
        Self {
            steps: self.steps.saturating_add(other.steps),
            weights: self.weights.saturating_add(other.weights),
            results: self.results.saturating_add(other.results),
        }
    }
}

/// Queue of jobs with threads of its own, so that short requests never wait for long ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Jobs of little work.
    Short,
    /// Jobs of more work.
    Long,
}

impl Lane {
    /// Lane of a job whose steps are not known yet, by the characters of its request.
    pub fn of_characters(characters: usize) -> Self {
        if characters <= SHORT_CHARACTERS { Self::Short } else { Self::Long }
    }

    /// Lane of a job that costs so many steps.
    pub fn of_steps(steps: usize) -> Self {
        if steps <= SHORT_STEPS { Self::Short } else { Self::Long }
    }
}

/// Number of the first costs that fit into a slice: at least one, if there is one.
pub fn slice_length(costs: &[Cost], most: Cost) -> usize {
    let mut sum = Cost::default();
    for (count, cost) in costs.iter().enumerate() {
        sum = sum.plus(*cost);
        if count > 0 && !sum.fits(most) {
            return count;
        }
    }
    costs.len()
}

/// Budget of the work of a request: time and memory.
#[derive(Clone, Copy, Debug)]
pub struct WorkBudget {
    sentences: usize,
    steps: usize,
    slice_weights: usize,
}

impl WorkBudget {
    /// Budget for slices of so many bytes.
    pub fn new(limits: &RequestLimits, slice_bytes: usize) -> Self {
        Self {
            sentences: limits.texts,
            steps: limits.characters.saturating_mul(STEPS_PER_CHARACTER),
            slice_weights: slice_bytes / size_of::<f32>(),
        }
    }

    /// Most that one of several slices may cost that run together in a lane.
    pub fn slice(&self, lane: Lane, slices: usize) -> Cost {
        let steps = match lane {
            Lane::Short => SHORT_STEPS,
            Lane::Long => SLICE_STEPS,
        };
        Cost { steps: steps / slices.max(1), weights: self.slice_weights / slices.max(1), results: usize::MAX }
    }

    /// Refuses too many sentences, or several translations of too many. `lower` names the fields of the request that help.
    ///
    /// # Errors
    /// The translations are beyond the limit of texts (413).
    pub fn check_count(&self, sentences: usize, each: usize, lower: &str) -> Result<(), ApiError> {
        let most = self.sentences;
        if sentences <= 1 || sentences.saturating_mul(each) <= most {
            return Ok(());
        }
        let lower = if each > 1 { format!(", or lower {lower}") } else { String::new() };
        let all = sentences.saturating_mul(each);
        Err(ApiError::too_large(format!("a request can have {most} translations, not {all}: send less text{lower}")))
    }

    /// Refuses work beyond the budget. `lower` names the fields of the request that help.
    ///
    /// # Errors
    /// The work takes too long, or too much memory for one text (413).
    pub fn check(&self, costs: &[Cost], lower: &str) -> Result<(), ApiError> {
        let total = Cost::sum(costs);
        if total.steps > self.steps {
            let times = total.steps.div_ceil(self.steps.max(1));
            return Err(ApiError::too_large(format!(
                "the request takes {times} times as long as one may take: send less text, or lower {lower}"
            )));
        }
        if let Some(position) = costs.iter().position(|cost| cost.weights > self.slice_weights) {
            return Err(ApiError::too_large(format!(
                "text {} takes too much memory: split it, or lower {lower}",
                position + 1
            )));
        }
        Ok(())
    }

    /// Refuses an answer with more attention weights than one may have.
    ///
    /// # Errors
    /// The answer would be too large (413).
    pub fn check_attention(&self, costs: &[Cost], lower: &str) -> Result<(), ApiError> {
        let total = Cost::sum(costs).results;
        if total <= SENT_WEIGHTS && costs.iter().all(|cost| cost.results <= SENT_WEIGHTS_OF_TEXT) {
            return Ok(());
        }
        Err(ApiError::too_large(format!(
            "the answer would have up to {total} attention weights: omit attention, send less text, or lower {lower}"
        )))
    }
}
