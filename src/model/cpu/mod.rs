//! The model on slices, with hand-written derivatives, in parallel over shards of a batch.
//!
//! A batch is split into as many shards as there are threads. Each shard runs the recurrences forward and backward on
//! one thread, so that no small product is divided. The output layer in between and the weight gradients, which need
//! the rows of all steps and shards, are a few large products that all threads share. The equations are those of the
//! reference backend, which is the oracle in tests; both drop the same numbers.

mod cell;
mod decoder;
mod decoder_loop;
mod encoder;
mod incremental;
mod lexical_bias;
mod mixture_output;
mod output_block;
mod output_layer;
mod packer;
mod posterior_attention;
mod ragged;
mod readout;
mod shard;
mod unlisted;
mod weights;

use candle_core::Result;
use rayon::prelude::*;

use super::view::ModelView;
use super::{BatchLoss, Dropout, ForcedScores, TrainingStep};
use crate::attention::cpu::GuidedTape;
use crate::kernels::cpu::cross_entropy::Objective;
use crate::parameters::Gradients;
use crate::text::{Batch, BatchShare};
use decoder::{DecoderBackward, DecoderPass};
use decoder_loop::DecoderOutput;
use encoder::{EncoderBackward, EncoderPass};
pub use incremental::CpuIncrementalDecoder;
use output_block::OutputStep;
use output_layer::OutputPass;
use posterior_attention::posterior_attention;
use shard::Shard;
pub use weights::{PackedModel, PackingMode, with_all_packed, with_packed};

/// Loss of a share of a batch; `gradients` becomes its part of the gradient of the batch's mean per target token, label
/// smoothing and guided alignment included.
pub fn gradients(model: ModelView, step: TrainingStep, gradients: &mut Gradients) -> Result<BatchLoss> {
    let TrainingStep { batch, share, smoothing, dropout } = step;
    if share.index >= batch.target.batch() {
        gradients.zero_all()?;
        return Ok(BatchLoss::default());
    }
    let shards = Shard::split(batch, share, rayon::current_num_threads());
    let scale = 1.0 / batch.target.tokens() as f32;
    with_packed(model, PackingMode::Training, |weights| {
        let passes: Vec<ShardPass> =
            shards.par_iter().map(|shard| ShardPass::forward(weights, shard, &dropout, scale)).collect();
        let guidance = passes.iter().map(|pass| pass.guidance).sum();
        let outputs: Vec<DecoderOutput> = passes.iter().map(|pass| pass.decoder.output()).collect();
        let step =
            OutputStep { weights, dropout: &dropout, objective: Objective { smoothing: smoothing as f32, scale } };
        let (loss, output) = OutputPass::forward_backward(step, &shards, &outputs, gradients)?;
        let passes = passes.into_par_iter().enumerate();
        let (encoders, decoders): (Vec<_>, Vec<_>) = passes
            .map(|(number, ShardPass { encoder, decoder, .. })| {
                let (shard, shard_grads) = (&shards[number], output.shard_grads(weights, &shards[number], number));
                let (decoder, d_annotations) = decoder.backward(weights, shard, &dropout, shard_grads);
                (encoder.backward(weights, shard, &dropout, &d_annotations), decoder)
            })
            .unzip();
        DecoderBackward::gradients(&decoders, weights, gradients)?;
        EncoderBackward::gradients(&encoders, weights, gradients)?;
        Ok(BatchLoss { guidance, ..loss })
    })
}

/// Forward pass of one shard.
struct ShardPass<'w> {
    encoder: EncoderPass<'w>,
    decoder: DecoderPass<'w, GuidedTape>,
    guidance: f64,
}

impl<'w> ShardPass<'w> {
    fn forward(weights: &'w PackedModel<'w>, shard: &Shard, dropout: &Dropout, scale: f32) -> Self {
        let (encoder, annotations) = EncoderPass::forward(weights, shard, dropout);
        let (decoder, guidance) = DecoderPass::forward(weights, shard, dropout, annotations).guided(shard, scale);
        Self { encoder, decoder, guidance }
    }
}

/// Results of forced decoding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ForcedOutput {
    /// Scores with this label smoothing.
    Scores(f64),
    /// Scores without label smoothing, and posterior attention where it is defined.
    ScoresAndPosteriors,
    /// Posterior attention where it is defined.
    Posteriors,
}

/// Forced decoding of each pair of a batch. All results have α.
pub fn force_decode(model: ModelView, batch: &Batch, wanted: ForcedOutput) -> Result<Vec<ForcedScores>> {
    let shards = Shard::split(batch, BatchShare::WHOLE, rayon::current_num_threads());
    with_packed(model, PackingMode::Inference, |weights| {
        let results: Vec<Vec<ForcedScores>> =
            shards.par_iter().map(|shard| force_decode_shard(weights, shard, wanted)).collect();
        let mut pairs: Vec<Option<ForcedScores>> = (0..batch.target.batch()).map(|_| None).collect();
        for (shard, forced) in shards.iter().zip(results) {
            for (&row, pair) in shard.rows.iter().zip(forced) {
                pairs[row] = Some(pair);
            }
        }
        Ok(pairs.into_iter().flatten().collect())
    })
}

/// Forced decoding of each pair of a shard.
fn force_decode_shard(weights: &PackedModel, shard: &Shard, wanted: ForcedOutput) -> Vec<ForcedScores> {
    let attention = &weights.architecture.attention;
    let (_, annotations) = EncoderPass::forward(weights, shard, &Dropout::none());
    let decoder = DecoderPass::forward(weights, shard, &Dropout::none(), annotations);
    // The posteriors of exact hard attention come with the scores.
    let mut pairs = if attention.is_exact() || wanted != ForcedOutput::Posteriors {
        let smoothing = if let ForcedOutput::Scores(smoothing) = wanted { smoothing as f32 } else { 0.0 };
        OutputPass::score(weights, shard, decoder.output(), smoothing)
    } else {
        (0..shard.size()).map(|_| ForcedScores::default()).collect()
    };
    for (pair, reported) in pairs.iter_mut().zip(decoder.reported(weights, shard)) {
        pair.weights = reported;
    }
    if attention.has_posteriors() && !attention.is_exact() && !matches!(wanted, ForcedOutput::Scores(_)) {
        for (pair, posteriors) in pairs.iter_mut().zip(posterior_attention(weights, shard, decoder.output())) {
            pair.posteriors = posteriors;
        }
    }
    pairs
}
