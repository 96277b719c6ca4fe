//! The model in candle's operations, with automatic differentiation: the specification, the oracle of the CPU backend's
//! tests, and the path on a GPU.
//!
//! Sequences are padded and time-major, `[length, batch, ·]`, in the recurrences; annotations and keys are
//! `[batch, length, ·]`.

mod decoder;
mod decoder_loop;
mod encoder;
#[cfg(feature = "cuda")]
mod fused_loop;
mod incremental;
pub(super) mod lexical_bias;
mod output_layer;
mod posterior_attention;
mod row_dropout;

use candle_core::{Result, Tensor};

use super::view::ModelView;
use super::{Architecture, BatchLoss, DropoutSite, ForcedScores, TrainingStep};
use crate::attention::{Memory, guided_alignment_loss};
use crate::kernels::reference::cross_entropy::cross_entropy_sums;
use crate::kernels::reference::embedding::select_rows;
use crate::kernels::reference::mixture::{component_posteriors, log_mixture};
use crate::parameters::{Gradients, Parameters};
use crate::text::{BEGIN, Batch, PaddedBatch};
use decoder::AttentionDecoder;
use decoder_loop::Unrolled;
use encoder::BidirectionalEncoder;
use lexical_bias::{dense_rows, lexical_bias};
use posterior_attention::{OutputInputs, posterior_attention};
use row_dropout::RowDropout;

pub use encoder::Annotations;
pub use incremental::{ReferenceIncrementalDecoder, StepOutput};

/// Encoder and decoder over one set of parameters.
pub struct ReferenceModel {
    encoder: BidirectionalEncoder,
    pub(super) decoder: AttentionDecoder,
}

/// Logits of a batch under teacher forcing.
struct TeacherForcing {
    /// `[rows, V]`, one row per target token, step by step.
    logits: Tensor,
    /// `[rows]`: tokens to predict.
    targets: Tensor,
    /// Sentence of each row.
    sentences: Vec<usize>,
    /// α that guided alignment refers to: `[target length, batch, source length]`
    alphas: Tensor,
    /// Reported α, shaped like `alphas`.
    reported: Tensor,
    /// Posterior distribution over the source tokens of each target token, if it is needed: `[rows, source length]`
    posteriors: Option<Tensor>,
}

impl ReferenceModel {
    /// Selects all parameters.
    ///
    /// # Errors
    /// A parameter is missing.
    pub fn new(architecture: &Architecture, parameters: &Parameters) -> Result<Self> {
        Ok(Self {
            encoder: BidirectionalEncoder::new(architecture.layers, parameters)?,
            decoder: AttentionDecoder::new(architecture, parameters)?,
        })
    }

    /// Returns the encoder's annotations of a batch of sources.
    pub fn annotate(&self, source: &PaddedBatch) -> Result<Annotations> {
        self.encoder.annotate(source, &RowDropout::none())
    }

    /// Returns annotations, keys and values of a batch of sources.
    fn project_memory(&self, source: &PaddedBatch, dropout: &RowDropout) -> Result<Memory> {
        self.decoder.project_memory(self.encoder.annotate(source, dropout)?)
    }

    /// Loss of a share of a batch; `gradients` becomes its part of the gradient of the batch's mean per target token, by
    /// automatic differentiation.
    ///
    /// # Errors
    /// The parameters are no variables; see [`Parameters::with_grad`].
    pub fn gradients(&self, view: ModelView, step: TrainingStep, gradients: &mut Gradients) -> Result<BatchLoss> {
        let TrainingStep { batch, share, smoothing, dropout } = step;
        let tokens = batch.target.tokens();
        let dropout = RowDropout::new(dropout, batch, share);
        let batch = batch.of_share(share);
        if batch.target.batch() == 0 {
            *gradients = Gradients::zeros(view.parameters)?;
            return Ok(BatchLoss::default());
        }
        let forced = self.teacher_forcing(view, &batch, &dropout, false)?;
        let (smoothed, likelihood) = cross_entropy_sums(&forced.logits, &forced.targets, smoothing)?;
        let guidance = guided_alignment_loss(&forced.alphas, &batch.alignment_targets)?;
        *gradients = Gradients::from_loss(&((&smoothed + &guidance)? / tokens as f64)?, view.parameters)?;
        Ok(BatchLoss {
            smoothed: scalar(&smoothed)?,
            negative_log_likelihood: scalar(&likelihood)?,
            guidance: scalar(&guidance)?,
            tokens: batch.target.tokens(),
        })
    }

    /// Scores each pair of a batch by forced decoding, without dropout; with posterior attention if it is asked for and defined.
    pub fn force_decode(
        &self,
        view: ModelView,
        batch: &Batch,
        smoothing: f64,
        with_posteriors: bool,
    ) -> Result<Vec<ForcedScores>> {
        let with_posteriors = with_posteriors && view.architecture.attention.has_posteriors();
        let forced = self.teacher_forcing(view, batch, &RowDropout::none(), with_posteriors)?;
        let log_probabilities = candle_nn::ops::log_softmax(&forced.logits, 1)?;
        let chosen = log_probabilities.gather(&forced.targets.unsqueeze(1)?, 1)?.flatten_all()?.to_vec1::<f32>()?;
        let mean = log_probabilities.mean(1)?.to_vec1::<f32>()?;
        let weights = forced.reported.to_vec3::<f32>()?;
        let posteriors = forced.posteriors.as_ref().map(Tensor::to_vec2::<f32>).transpose()?.unwrap_or_default();
        let mut pairs = Vec::with_capacity(batch.target.batch());
        for sentence in 0..batch.target.batch() {
            let steps = weights[..batch.target.lengths[sentence]].iter();
            let weights = steps.map(|step| step[sentence][..batch.source.lengths[sentence]].to_vec()).collect();
            pairs.push(ForcedScores { weights, ..ForcedScores::default() });
        }
        for (&sentence, (&chosen, &mean)) in forced.sentences.iter().zip(chosen.iter().zip(&mean)) {
            pairs[sentence].log_probabilities.push(f64::from(chosen));
            pairs[sentence].smoothed -= (1.0 - smoothing) * f64::from(chosen) + smoothing * f64::from(mean);
        }
        for (&sentence, mut posterior) in forced.sentences.iter().zip(posteriors) {
            posterior.truncate(batch.source.lengths[sentence]);
            pairs[sentence].posteriors.push(posterior);
        }
        Ok(pairs)
    }

    /// Logits and attention of a batch, each step given the correct previous words.
    fn teacher_forcing(
        &self,
        view: ModelView,
        batch: &Batch,
        dropout: &RowDropout,
        with_posteriors: bool,
    ) -> Result<TeacherForcing> {
        let (target, device) = (&batch.target, self.decoder.device());
        let (size, length) = (target.batch(), target.length);
        let memory = self.project_memory(&batch.source, dropout)?;
        let embedded = dropout.apply(&self.decoder.embed(&previous_ids(target))?, DropoutSite::Target)?;
        let Unrolled { states, contexts, alphas, reported } =
            self.decoder.unroll(&memory, &embedded, [length, size], |step| {
                dropout.draws(step * size..(step + 1) * size, view.architecture.attention.heads)
            })?;

        // The output layer runs once, over the rows that are not padding.
        let (mut rows, mut sentences, mut targets) = (Vec::new(), Vec::new(), Vec::new());
        for step in 0..length {
            for row in (0..size).filter(|&row| step < target.lengths[row]) {
                rows.push((step * size + row) as u32);
                sentences.push(row);
                targets.push(target.id(row, step));
            }
        }
        let inputs = OutputInputs {
            states: select_rows(&states, &rows)?,
            embedded: select_rows(&embedded, &rows)?,
            alphas: select_rows(&alphas.flatten(0, 1)?, &rows)?,
            contexts: self.decoder.contexts_of_tokens(&memory)?,
            lexical: view.lexicon.map(|lexicon| dense_rows(lexicon, &batch.source, device)).transpose()?,
            sentences: Tensor::new(sentences.iter().map(|&row| row as u32).collect::<Vec<_>>(), device)?,
            targets: Tensor::new(targets, device)?,
        };
        let output = &self.decoder.output;
        let (logits, posteriors) = if view.architecture.attention.is_exact() {
            let logits = inputs.logits_by_position(output, dropout)?;
            let posteriors = component_posteriors(&logits, &inputs.alphas, &inputs.targets)?;
            (log_mixture(&logits, &inputs.alphas)?, Some(posteriors))
        } else {
            let mut logits =
                output.logits(&inputs.states, &inputs.embedded, &select_rows(&contexts, &rows)?, dropout)?;
            if let Some(lexical) = &inputs.lexical {
                let bias = lexical_bias(&alphas.transpose(0, 1)?, lexical)?;
                logits = (logits + select_rows(&bias.transpose(0, 1)?.flatten(0, 1)?, &rows)?)?;
            }
            (logits, with_posteriors.then(|| posterior_attention(output, &inputs, target)).transpose()?)
        };
        Ok(TeacherForcing { logits, targets: inputs.targets, sentences, posteriors, alphas, reported })
    }
}

fn scalar(tensor: &Tensor) -> Result<f64> {
    Ok(f64::from(tensor.to_scalar::<f32>()?))
}

/// y_{t-1} of every target position, `[length × batch]` step by step.
fn previous_ids(target: &PaddedBatch) -> Vec<u32> {
    (0..target.length)
        .flat_map(|step| (0..target.batch()).map(move |row| if step == 0 { BEGIN } else { target.id(row, step - 1) }))
        .collect()
}
