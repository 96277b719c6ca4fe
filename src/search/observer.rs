//! Observation of beam search.

use super::Predictions;

/// Observer of beam search. The methods are called in this order at each step and do nothing by default.
pub trait SearchObserver {
    /// Receives the predictions for the live hypotheses, one row each. At first there is one row, the empty hypothesis.
    fn on_predictions(&mut self, _predictions: &Predictions) {}

    /// Receives an extension that entered the beam. Those that go on are the rows of the next step, in this order.
    fn on_extension(&mut self, _extension: &KeptExtension) {}

    /// Called at the end of each step.
    fn on_step(&mut self) {}
}

/// Observer that does nothing.
pub(super) struct Unobserved;

impl SearchObserver for Unobserved {}

/// Extension of a live hypothesis that entered the beam.
#[derive(Clone, Copy, Debug)]
pub struct KeptExtension {
    /// Row of the live hypothesis in the predictions.
    pub row: usize,
    /// Token id.
    pub token: u32,
    /// log p of the tokens up to this one, in nats.
    pub log_probability: f64,
    /// True if it is extended in the next step: it does not end with `</s>`, and search has not finished.
    pub goes_on: bool,
}
