//! The model's path on a CPU: forward and backward over plain slices, with the parts of a batch side by side on the
//! cores.
//!
//! A batch is dealt to as many parts as there are threads. Each part goes through the recurrences, and back, by itself
//! on one thread, so that no small product is ever divided. The output layer, between the two ways, and the weights'
//! gradients, which need the rows of all steps and parts, are made as few large products that all threads share. The
//! equations are those of [`super`]; the derivatives are written beside each step. The same numbers are dropped as on
//! the plain path, which is this path's test.

mod decoder;
mod decoding;
mod encoder;
mod output;
mod part;
mod products;
mod ragged;
mod weights;

use candle_core::Result;
use rayon::prelude::*;

use super::{Architecture, BatchLoss, Dropout, Gradients, Parameters};
use crate::text::Batch;
use decoder::DecoderPass;
pub use decoder::LEAST_WEIGHT;
pub use decoding::{Decoding, Said};
use encoder::EncoderPass;
use output::OutputPass;
use part::Part;
pub use weights::{Purpose, Weights, with as with_weights};

/// Loss of a batch; `gradients` becomes the gradient of its mean for each target unit, smoothing and guidance included.
pub fn gradients(
    architecture: &Architecture,
    parameters: &Parameters,
    batch: &Batch,
    smoothing: f64,
    dropout: &Dropout,
    gradients: &mut Gradients,
) -> Result<BatchLoss> {
    let parts = Part::deal(batch, rayon::current_num_threads());
    let scale = 1.0 / batch.target.units() as f32;
    with_weights(architecture, parameters, Purpose::Training, |weights| {
        let forward = |part: &Part| {
            let encoder = EncoderPass::forward(weights, part, dropout);
            let mut decoder = DecoderPass::forward(weights, part, dropout, &encoder.annotations);
            let guidance = decoder.guide(part, scale);
            (encoder, decoder, guidance)
        };
        let mut passes: Vec<_> = parts.par_iter().map(forward).collect();
        let decoded: Vec<_> = parts.iter().zip(&passes).map(|(part, (_, decoder, _))| (part, decoder)).collect();
        let (mut loss, output) = OutputPass::run(weights, &decoded, dropout, smoothing as f32, scale, gradients)?;
        passes.par_iter_mut().zip(&parts).enumerate().for_each(|(number, ((encoder, decoder, _), part))| {
            let by_output = output.by_part(weights, part, number);
            let by_annotations = decoder.backward(weights, part, dropout, &encoder.annotations, by_output);
            encoder.backward(weights, part, dropout, &by_annotations);
        });
        loss.guidance = passes.iter().map(|(_, _, guidance)| guidance).sum();
        let decoders: Vec<_> = passes.iter().map(|(encoder, decoder, _)| (decoder, &*encoder.annotations)).collect();
        DecoderPass::gradients(&decoders, gradients)?;
        let encoders: Vec<_> = passes.iter().map(|(encoder, _, _)| encoder).collect();
        EncoderPass::gradients(&encoders, weights, gradients)?;
        Ok(loss)
    })
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
    let parts = Part::deal(batch, rayon::current_num_threads());
    with_weights(architecture, parameters, Purpose::Inference, |weights| {
        let run = |part: &Part| {
            let encoder = EncoderPass::forward(weights, part, &Dropout::none());
            let decoder = DecoderPass::forward(weights, part, &Dropout::none(), &encoder.annotations);
            OutputPass::score(weights, part, &decoder, smoothing as f32)
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
