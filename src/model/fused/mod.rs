//! The model's path on a CPU: forward and backward over plain slices, with the parts of a batch side by side on the cores.
//!
//! A batch is dealt to as many parts as there are threads. Each part runs by itself on one thread, so that no small product
//! is ever divided, and their gradients are added up at the end. The equations are those of [`super`]; the derivatives are
//! written beside each step. The same masks are dropped as on the plain path, which is this path's test.

mod decoder;
mod decoding;
mod encoder;
mod output;
mod part;
mod weights;

use candle_core::{Result, Tensor};
use rayon::prelude::*;

use super::{Architecture, BatchLoss, Dropout, Gradients, Parameters};
use crate::text::Batch;
use decoder::DecoderPass;
pub use decoding::{Decoding, Said};
use encoder::EncoderPass;
use output::Output;
use part::{Masks, Part};
use weights::PartGradients;
pub use weights::{Weights, with as with_weights};

/// Loss of a batch, and the gradient of its smoothed mean for each target unit.
pub fn gradients(
    architecture: &Architecture,
    parameters: &Parameters,
    batch: &Batch,
    smoothing: f64,
    dropout: &mut Dropout,
) -> Result<(BatchLoss, Gradients)> {
    let masks = Masks::draw(architecture, batch, dropout);
    let parts = Part::deal(batch, rayon::current_num_threads());
    let scale = 1.0 / batch.target.units() as f32;
    with_weights(architecture, parameters, |weights| {
        let run = |part: &Part| {
            let mut gradients = PartGradients::zeros(weights);
            let loss = part_gradients(weights, part, &masks, smoothing as f32, scale, &mut gradients);
            (loss, gradients)
        };
        let mut results: Vec<(BatchLoss, PartGradients)> = parts.par_iter().map(run).collect();
        let (mut loss, total) = results.remove(0);
        let mut total = total.into_map();
        for (part_loss, _) in &results {
            loss += *part_loss;
        }
        total.par_iter_mut().for_each(|(name, sum)| {
            for (_, gradients) in &results {
                sum.iter_mut().zip(gradients.get(name)).for_each(|(sum, more)| *sum += more);
            }
        });
        let mut gradients = Gradients::new();
        for (name, values) in total {
            let shape = parameters.get(name)?.shape().clone();
            gradients.insert(name.to_owned(), Tensor::from_vec(values, shape, &candle_core::Device::Cpu)?);
        }
        Ok((loss, gradients))
    })
}

fn part_gradients(
    weights: &Weights,
    part: &Part,
    masks: &Masks,
    smoothing: f32,
    scale: f32,
    gradients: &mut PartGradients,
) -> BatchLoss {
    let encoder = EncoderPass::forward(weights, part, masks);
    let decoder = DecoderPass::forward(weights, part, masks, &encoder.annotations);
    let (loss, by_output) = Output::gradients(weights, part, masks, &decoder, smoothing, scale, gradients);
    let by_annotations = decoder.backward(weights, part, masks, &encoder.annotations, by_output, gradients);
    encoder.backward(weights, part, masks, by_annotations, gradients);
    loss
}

/// What forced decoding says of one pair.
pub struct ForcedPair {
    /// log p(target | source), `</s>` included.
    pub log_probability: f64,
    /// The same for the smoothed loss.
    pub smoothed: f64,
    /// α: one row for each target unit, `</s>` the last, with a weight for each source unit, `</s>` the last.
    pub weights: Vec<Vec<f32>>,
}

/// Forced decoding of a batch, pair by pair.
pub fn force(
    architecture: &Architecture,
    parameters: &Parameters,
    batch: &Batch,
    smoothing: f64,
) -> Result<Vec<ForcedPair>> {
    let masks = Masks::none(architecture);
    let parts = Part::deal(batch, rayon::current_num_threads());
    with_weights(architecture, parameters, |weights| {
        let run = |part: &Part| {
            let encoder = EncoderPass::forward(weights, part, &masks);
            let decoder = DecoderPass::forward(weights, part, &masks, &encoder.annotations);
            Output::score(weights, part, &decoder, smoothing as f32)
        };
        let results: Vec<Vec<ForcedPair>> = parts.par_iter().map(run).collect();
        let mut pairs: Vec<Option<ForcedPair>> = (0..batch.target.batch()).map(|_| None).collect();
        for (part, forced) in parts.iter().zip(results) {
            for (&row, pair) in part.rows.iter().zip(forced) {
                pairs[row] = Some(pair);
            }
        }
        Ok(pairs.into_iter().flatten().collect())
    })
}
