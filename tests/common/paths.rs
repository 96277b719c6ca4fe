//! Both paths to loss and gradients: fused on a CPU, and candle's own operations.

use candle_core::Result;
use softalign::model::{BatchLoss, Dropout, RnnSearch};
use softalign::parameters::Gradients;
use softalign::text::Batch;

/// One of the paths.
pub type Path = fn(&RnnSearch, &Batch, f64, &Dropout, &mut Gradients) -> Result<BatchLoss>;

/// Fused, plain.
pub const PATHS: [Path; 2] = [RnnSearch::gradients, RnnSearch::reference_gradients];

/// Loss and gradients of a batch, written over what was there before.
pub fn run(path: Path, model: &RnnSearch, batch: &Batch, smoothing: f64, dropout: &Dropout) -> (BatchLoss, Gradients) {
    let mut gradients = Gradients::zeros(model.parameters()).unwrap();
    for (name, _) in model.parameters().iter() {
        gradients.with_slice_mut(name, |values| values.fill(7.0)).unwrap();
    }
    let loss = path(model, batch, smoothing, dropout, &mut gradients).unwrap();
    (loss, gradients)
}
