//! Both implementations of loss and gradients: hand-written derivatives on the CPU, and candle's operations as the reference.

use candle_core::Result;
use softalign::model::{BatchLoss, Dropout, RnnSearch, TrainingStep};
use softalign::parameters::Gradients;
use softalign::text::Batch;

/// Signature of both implementations.
pub type Path = fn(&RnnSearch, TrainingStep, &mut Gradients) -> Result<BatchLoss>;

/// CPU, reference.
pub const PATHS: [Path; 2] = [RnnSearch::gradients, RnnSearch::reference_gradients];

/// Returns the loss and gradients of a batch. The gradients start non-zero: they must be overwritten, not accumulated.
pub fn run(path: Path, model: &RnnSearch, batch: &Batch, smoothing: f64, dropout: &Dropout) -> (BatchLoss, Gradients) {
    let mut gradients = Gradients::zeros(model.parameters()).unwrap();
    for (name, _) in model.parameters().iter() {
        gradients.with_slice_mut(name, |values| values.fill(7.0)).unwrap();
    }
    let loss = path(model, TrainingStep::new(batch, smoothing, *dropout), &mut gradients).unwrap();
    (loss, gradients)
}
