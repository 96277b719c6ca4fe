//! The model's path on a CPU: forward and backward over plain slices, with the shards of a batch side by side on the
//! cores.
//!
//! A batch is dealt to as many shards as there are threads. Each shard goes through the recurrences, and back, by itself
//! on one thread, so that no small product is ever divided. The output layer, between the two ways, and the weights'
//! gradients, which need the rows of all steps and shards, are made as few large products that all threads share. The
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
use super::{BatchLoss, Dropout, ForcedScores};
use crate::attention::cpu::GuidedTape;
use crate::parameters::Gradients;
use crate::text::Batch;
use decoder::{DecoderBackward, DecoderPass};
use encoder::{EncoderBackward, EncoderPass};
pub use incremental::CpuIncrementalDecoder;
use output_layer::{DecoderOutput, Objective, OutputPass};
use shard::Shard;
pub use weights::{PackedModel, PackingMode, with_all_packed, with_packed};

/// Loss of a batch; `gradients` becomes the gradient of its mean for each target unit, smoothing and guidance included.
pub fn gradients(
    model: ModelView,
    batch: &Batch,
    smoothing: f64,
    dropout: &Dropout,
    gradients: &mut Gradients,
) -> Result<BatchLoss> {
    let shards = Shard::split(batch, rayon::current_num_threads());
    let scale = 1.0 / batch.target.units() as f32;
    with_packed(model, PackingMode::Training, |weights| {
        let objective = Objective { smoothing: smoothing as f32, scale };
        let forward = |shard: &Shard| {
            let (encoder, annotations) = EncoderPass::forward(weights, shard, dropout);
            let (decoder, guidance) = DecoderPass::forward(weights, shard, dropout, annotations).guided(shard, scale);
            PartPass { encoder, decoder, guidance }
        };
        let passes: Vec<PartPass> = shards.par_iter().map(forward).collect();
        let guidance = passes.iter().map(|pass| pass.guidance).sum();
        let decoded: Vec<DecoderOutput> = passes.iter().map(|pass| pass.decoder.output()).collect();
        let (loss, output) = OutputPass::run(weights, &shards, &decoded, dropout, objective, gradients)?;
        let passes = passes.into_par_iter().enumerate();
        let (encoders, decoders): (Vec<_>, Vec<_>) = passes
            .map(|(number, PartPass { encoder, decoder, .. })| {
                let (shard, shard_grads) = (&shards[number], output.shard_grads(weights, &shards[number], number));
                let (decoder, d_annotations) = decoder.backward(weights, shard, dropout, shard_grads);
                (encoder.backward(weights, shard, dropout, &d_annotations), decoder)
            })
            .unzip();
        DecoderBackward::gradients(&decoders, weights, gradients)?;
        EncoderBackward::gradients(&encoders, weights, gradients)?;
        Ok(BatchLoss { guidance, ..loss })
    })
}

/// A shard of a batch that has gone forward.
struct PartPass<'w> {
    encoder: EncoderPass,
    decoder: DecoderPass<'w, GuidedTape>,
    guidance: f64,
}

/// Forced decoding of a batch, pair by pair.
pub fn force_decode(model: ModelView, batch: &Batch, smoothing: f64) -> Result<Vec<ForcedScores>> {
    let shards = Shard::split(batch, rayon::current_num_threads());
    with_packed(model, PackingMode::Inference, |weights| {
        let run = |shard: &Shard| -> Vec<ForcedScores> {
            let (_, annotations) = EncoderPass::forward(weights, shard, &Dropout::none());
            let decoder = DecoderPass::forward(weights, shard, &Dropout::none(), annotations);
            let scores = OutputPass::score(weights, shard, decoder.output(), smoothing as f32);
            let pairs = scores.into_iter().zip(decoder.reported(weights, shard));
            pairs
                .map(|((smoothed, log_probabilities), weights)| ForcedScores { log_probabilities, smoothed, weights })
                .collect()
        };
        let results: Vec<Vec<ForcedScores>> = shards.par_iter().map(run).collect();
        let mut pairs: Vec<Option<ForcedScores>> = (0..batch.target.batch()).map(|_| None).collect();
        for (shard, forced) in shards.iter().zip(results) {
            for (&row, pair) in shard.rows.iter().zip(forced) {
                pairs[row] = Some(pair);
            }
        }
        Ok(pairs.into_iter().flatten().collect())
    })
}
