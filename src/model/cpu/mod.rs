//! The model's path on a CPU: forward and backward over plain slices, with the parts of a batch side by side on the
//! cores.
//!
//! A batch is dealt to as many parts as there are threads. Each part goes through the recurrences, and back, by itself
//! on one thread, so that no small product is ever divided. The output layer, between the two ways, and the weights'
//! gradients, which need the rows of all steps and parts, are made as few large products that all threads share. The
//! equations are those of [`super`]; the derivatives are written beside each step. The same numbers are dropped as on
//! the plain path, which is this path's test.

mod decoder;
mod decoder_loop;
mod encoder;
mod incremental;
mod lexical_bias;
mod output_layer;
mod ragged;
mod shard;
mod weights;

use candle_core::Result;
use rayon::prelude::*;

use super::view::ModelView;
use super::{BatchLoss, Dropout, ForcedPair};
use crate::attention::cpu::Guided;
use crate::parameters::Gradients;
use crate::text::Batch;
use decoder::{DecoderBack, DecoderPass};
use encoder::{EncoderBack, EncoderPass};
pub use incremental::Decoding;
use output_layer::{Decoded, Objective, OutputPass};
use shard::Part;
pub use weights::{Purpose, Weights, with as with_weights, with_all};

/// Loss of a batch; `gradients` becomes the gradient of its mean for each target unit, smoothing and guidance included.
pub fn gradients(
    model: ModelView,
    batch: &Batch,
    smoothing: f64,
    dropout: &Dropout,
    gradients: &mut Gradients,
) -> Result<BatchLoss> {
    let parts = Part::deal(batch, rayon::current_num_threads());
    let scale = 1.0 / batch.target.units() as f32;
    with_weights(model, Purpose::Training, |weights| {
        let objective = Objective { smoothing: smoothing as f32, scale };
        let forward = |part: &Part| {
            let (encoder, annotations) = EncoderPass::forward(weights, part, dropout);
            let (decoder, guidance) = DecoderPass::forward(weights, part, dropout, annotations).guided(part, scale);
            PartPass { encoder, decoder, guidance }
        };
        let passes: Vec<PartPass> = parts.par_iter().map(forward).collect();
        let guidance = passes.iter().map(|pass| pass.guidance).sum();
        let decoded: Vec<Decoded> = passes.iter().map(|pass| pass.decoder.decoded()).collect();
        let (loss, output) = OutputPass::run(weights, &parts, &decoded, dropout, objective, gradients)?;
        let passes = passes.into_par_iter().enumerate();
        let (encoders, decoders): (Vec<_>, Vec<_>) = passes
            .map(|(number, PartPass { encoder, decoder, .. })| {
                let (part, handed_down) = (&parts[number], output.handed_down(weights, &parts[number], number));
                let (decoder, d_annotations) = decoder.backward(weights, part, dropout, handed_down);
                (encoder.backward(weights, part, dropout, &d_annotations), decoder)
            })
            .unzip();
        DecoderBack::gradients(&decoders, weights, gradients)?;
        EncoderBack::gradients(&encoders, weights, gradients)?;
        Ok(BatchLoss { guidance, ..loss })
    })
}

/// A part of a batch that has gone forward.
struct PartPass<'w> {
    encoder: EncoderPass,
    decoder: DecoderPass<'w, Guided>,
    guidance: f64,
}

/// Forced decoding of a batch, pair by pair.
pub fn force(model: ModelView, batch: &Batch, smoothing: f64) -> Result<Vec<ForcedPair>> {
    let parts = Part::deal(batch, rayon::current_num_threads());
    with_weights(model, Purpose::Inference, |weights| {
        let run = |part: &Part| -> Vec<ForcedPair> {
            let (_, annotations) = EncoderPass::forward(weights, part, &Dropout::none());
            let decoder = DecoderPass::forward(weights, part, &Dropout::none(), annotations);
            let scores = OutputPass::score(weights, part, decoder.decoded(), smoothing as f32);
            let pairs = scores.into_iter().zip(decoder.shown(weights, part));
            pairs
                .map(|((smoothed, log_probabilities), weights)| ForcedPair { log_probabilities, smoothed, weights })
                .collect()
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
