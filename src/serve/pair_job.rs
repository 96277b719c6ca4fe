//! Work on the pairs of a request, whose answer is sent slice by slice.

use std::sync::Arc;

use anyhow::Result;
use rayon::prelude::*;

use super::answer::AnswerWriter;
use super::cost::{Cost, Lane, WorkBudget, slice_length};
use super::error::ApiError;
use super::job::SlicedJob;
use super::loaded_model::LoadedModel;
use crate::search::Cancellation;
use crate::text::Pair;
use crate::translator::MAX_SENTENCE_TOKENS;

/// Kind of work on pairs.
pub trait PairWork: Send {
    /// Maximum length of a side that is read, in tokens or words.
    fn max_length(&self) -> usize {
        MAX_SENTENCE_TOKENS
    }

    /// Checks the request, before the first pair.
    ///
    /// # Errors
    /// An option is invalid, or does not suit the model.
    fn begin(&mut self, _model: &LoadedModel, _costs: &[Cost], _budget: &WorkBudget) -> Result<(), ApiError> {
        Ok(())
    }

    /// Writes the JSON of consecutive pairs, of which the first has this index. Once they are the last ones, ends the answer.
    ///
    /// # Errors
    /// The model fails.
    fn write(&mut self, model: &LoadedModel, pairs: &PairSlice, out: &mut Vec<u8>) -> Result<()>;
}

/// Consecutive pairs of a request.
pub struct PairSlice<'a> {
    /// Index of the first pair in its request.
    pub first: usize,
    /// Consecutive pairs of the request.
    pub pairs: &'a [Pair],
    /// True if no pair of the request follows.
    pub is_last: bool,
}

/// Work on the pairs of a request.
pub struct PairJob<W> {
    model: Arc<LoadedModel>,
    pairs: Vec<Pair>,
    work: W,
    budget: WorkBudget,
    lane: Lane,
    /// Cost of each pair, once they are known.
    costs: Option<Vec<Cost>>,
    /// Number of pairs that are done.
    done: usize,
    writer: AnswerWriter,
}

impl<W: PairWork> PairJob<W> {
    /// Returns the job of work on pairs, whose answer goes to a writer.
    pub fn new(model: Arc<LoadedModel>, pairs: Vec<Pair>, work: W, budget: WorkBudget, writer: AnswerWriter) -> Self {
        let characters = pairs.iter().map(|pair| pair.source.len() + pair.target.len()).sum();
        let lane = Lane::of_characters(characters);
        Self { model, pairs, work, budget, lane, costs: None, done: 0, writer }
    }

    /// Checks the cost of the work and its options. Returns the cost of each pair.
    fn prepare(&mut self) -> Result<Vec<Cost>, ApiError> {
        let checkpoint = self.model.translator.checkpoint();
        let most = self.work.max_length();
        let costs = self.pairs.par_iter().map(|pair| {
            let [source, target] =
                [checkpoint.source.encode(&pair.source)?.len(), checkpoint.target.encode(&pair.target)?.len()];
            Ok(Cost::of_pair(source, target, most))
        });
        let costs = costs.collect::<Result<Vec<Cost>>>()?;
        self.budget.check(&costs, "the number of pairs")?;
        self.work.begin(&self.model, &costs, &self.budget)?;
        Ok(costs)
    }
}

impl<W: PairWork> SlicedJob for PairJob<W> {
    fn lane(&self) -> Lane {
        self.lane
    }

    fn cancellation(&self) -> &Cancellation {
        self.writer.cancellation()
    }

    fn is_ready(&self) -> bool {
        !self.writer.is_behind()
    }

    fn run_slice(&mut self) -> Result<bool, ApiError> {
        if self.costs.is_none() {
            let costs = self.prepare()?;
            self.lane = Lane::of_steps(costs.iter().map(|cost| cost.steps).sum());
            self.costs = Some(costs);
        }
        let costs = self.costs.as_deref().unwrap_or_default();
        let end = self.done + slice_length(&costs[self.done..], self.budget.slice(self.lane, 1));
        let is_last = end == self.pairs.len();
        let slice = PairSlice { first: self.done, pairs: &self.pairs[self.done..end], is_last };
        let mut out = Vec::new();
        self.work.write(&self.model, &slice, &mut out)?;
        if self.cancellation().is_cancelled() {
            return Err(ApiError::stopping());
        }
        self.writer.send(out, is_last);
        self.done = end;
        Ok(is_last)
    }

    fn fail(&mut self, error: ApiError) {
        self.writer.fail(error);
    }
}
