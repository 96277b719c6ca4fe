//! The whole model on a batch of sentence pairs: loss, gradients, forced decoding.

use std::sync::Arc;

use candle_core::{Device, Result, Tensor};

use super::fused::{self, Purpose, Weights};
use super::{
    Annotations, Architecture, AttentionDecoder, BatchLoss, BidirectionalEncoder, DecoderStep, Dropout, ForcedPair,
    Place, UnitLexicon, lexical_bias,
};
use crate::attention::{Memory, guidance};
use crate::kernels::reference::cross_entropy;
use crate::parameters::{Gradients, Parameters};
use crate::text::{BEGIN, Batch, Padded};

/// Encoder and decoder over one set of parameters.
pub struct RnnSearch {
    architecture: Architecture,
    parameters: Parameters,
    encoder: BidirectionalEncoder,
    decoder: AttentionDecoder,
    lexicon: Option<Arc<UnitLexicon>>,
}

/// A batch's logits, and where each row of them belongs.
struct Forced {
    /// `[rows, V]`, one row for each target unit, step by step.
    logits: Tensor,
    /// `[rows]`: the units to be predicted.
    targets: Tensor,
    /// The sentence of each row.
    sentences: Vec<usize>,
    /// α as guides speak of it: `[target length, batch, source length]`
    alphas: Tensor,
    /// α as it is reported, shaped alike
    shown: Tensor,
}

impl RnnSearch {
    /// Builds the model over parameters that belong to the architecture.
    pub fn new(architecture: Architecture, parameters: Parameters) -> Result<Self> {
        let encoder = BidirectionalEncoder::new(architecture.layers, &parameters)?;
        let decoder = AttentionDecoder::new(&architecture, &parameters)?;
        Ok(Self { architecture, parameters, encoder, decoder, lexicon: None })
    }

    /// The same model over other parameters.
    pub fn with_parameters(&self, parameters: Parameters) -> Result<Self> {
        Ok(Self::new(self.architecture.clone(), parameters)?.with_lexicon(self.lexicon.clone()))
    }

    /// The same model with translations that are known beforehand.
    pub fn with_lexicon(self, lexicon: Option<Arc<UnitLexicon>>) -> Self {
        Self { lexicon, ..self }
    }

    fn fused(&self) -> fused::Model<'_> {
        let Self { architecture, parameters, lexicon, .. } = self;
        fused::Model { architecture, lexicon: lexicon.as_deref(), parameters }
    }

    /// Translations that are known beforehand.
    pub fn lexicon(&self) -> Option<&Arc<UnitLexicon>> {
        self.lexicon.as_ref()
    }

    /// The model's sizes.
    pub fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    /// The parameters that the model was built over.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Where the parameters lie.
    pub fn device(&self) -> &Device {
        self.decoder.device()
    }

    /// The decoder, for search.
    pub fn decoder(&self) -> &AttentionDecoder {
        &self.decoder
    }

    /// Lends models' parameters as slices, for the fused path's search.
    pub fn with_weights<R>(
        models: &[&Self],
        purpose: Purpose,
        work: impl FnOnce(&[Weights]) -> Result<R>,
    ) -> Result<R> {
        let models: Vec<fused::Model> = models.iter().map(|model| model.fused()).collect();
        fused::with_all(&models, purpose, work)
    }

    /// The encoder's annotations of a batch of sources.
    pub fn annotate(&self, source: &Padded, dropout: &Dropout) -> Result<Annotations> {
        self.encoder.annotate(source, dropout)
    }

    /// Annotations and keys of a batch of sources.
    pub fn remember(&self, source: &Padded, dropout: &Dropout) -> Result<Memory> {
        self.decoder.remember(self.annotate(source, dropout)?)
    }

    /// Loss of a batch; `gradients` becomes the gradient of its mean for each target unit, smoothing and guidance
    /// included.
    pub fn gradients(
        &self,
        batch: &Batch,
        smoothing: f64,
        dropout: &Dropout,
        gradients: &mut Gradients,
    ) -> Result<BatchLoss> {
        if self.device().is_cpu() {
            fused::gradients(self.fused(), batch, smoothing, dropout, gradients)
        } else {
            self.plain_gradients(batch, smoothing, dropout, gradients)
        }
    }

    /// The same by candle's operations and automatic differentiation, for which the parameters must be tracked.
    pub fn plain_gradients(
        &self,
        batch: &Batch,
        smoothing: f64,
        dropout: &Dropout,
        gradients: &mut Gradients,
    ) -> Result<BatchLoss> {
        let forced = self.forced(batch, dropout)?;
        let (smoothed, likelihood) = cross_entropy::sums(&forced.logits, &forced.targets, smoothing)?;
        let units = batch.target.units();
        let guidance = guidance(&forced.alphas, &batch.guides)?;
        *gradients = Gradients::of(&((&smoothed + &guidance)? / units as f64)?, &self.parameters)?;
        let scalar = |tensor: &Tensor| Ok::<_, candle_core::Error>(f64::from(tensor.to_scalar::<f32>()?));
        Ok(BatchLoss {
            smoothed: scalar(&smoothed)?,
            negative_log_likelihood: scalar(&likelihood)?,
            guidance: scalar(&guidance)?,
            units,
        })
    }

    /// Forced decoding, pair by pair, without dropout.
    pub fn force(&self, batch: &Batch, smoothing: f64) -> Result<Vec<ForcedPair>> {
        if self.device().is_cpu() {
            fused::force(self.fused(), batch, smoothing)
        } else {
            self.plain_force(batch, smoothing)
        }
    }

    /// The same by candle's operations.
    pub fn plain_force(&self, batch: &Batch, smoothing: f64) -> Result<Vec<ForcedPair>> {
        let forced = self.forced(batch, &Dropout::none())?;
        let log_probabilities = candle_nn::ops::log_softmax(&forced.logits, 1)?;
        let chosen = log_probabilities.gather(&forced.targets.unsqueeze(1)?, 1)?.flatten_all()?.to_vec1::<f32>()?;
        let mean = log_probabilities.mean(1)?.to_vec1::<f32>()?;
        let weights = forced.shown.to_vec3::<f32>()?;
        let rows = |sentence: usize| {
            let row = |step: &Vec<Vec<f32>>| step[sentence][..batch.source.lengths[sentence]].to_vec();
            weights[..batch.target.lengths[sentence]].iter().map(row).collect()
        };
        let pair = |sentence| ForcedPair { log_probabilities: Vec::new(), smoothed: 0.0, weights: rows(sentence) };
        let mut pairs: Vec<ForcedPair> = (0..batch.target.batch()).map(pair).collect();
        for (&sentence, (&chosen, &mean)) in forced.sentences.iter().zip(chosen.iter().zip(&mean)) {
            pairs[sentence].log_probabilities.push(f64::from(chosen));
            pairs[sentence].smoothed -= (1.0 - smoothing) * f64::from(chosen) + smoothing * f64::from(mean);
        }
        Ok(pairs)
    }

    /// Logits of the given targets, step by step from the right words before each.
    fn forced(&self, batch: &Batch, dropout: &Dropout) -> Result<Forced> {
        let memory = self.remember(&batch.source, dropout)?;
        let target = &batch.target;
        let device = self.device();
        let (size, length) = (target.batch(), target.length);
        let previous: Vec<u32> = (0..length)
            .flat_map(|step| (0..size).map(move |row| if step == 0 { BEGIN } else { target.id(row, step - 1) }))
            .collect();
        let previous = Tensor::from_vec(previous, length * size, device)?;
        let embedded = dropout.apply(&self.decoder.embed(&previous)?, Place::Target)?;
        let gates = self.decoder.input_gates(&embedded)?;
        let gates = gates.reshape((length, size, gates.dim(1)?))?;

        let mut state = self.decoder.initial_state(&memory)?;
        let mut steps: Vec<DecoderStep> = Vec::with_capacity(length);
        for step in 0..length {
            let draws = self.draws(dropout, step * size..(step + 1) * size);
            let made = self.decoder.step(&memory, &gates.get(step)?, &state, draws.as_deref())?;
            state = made.state.clone();
            steps.push(made);
        }
        let all = |part: fn(&DecoderStep) -> &Tensor| Tensor::cat(&steps.iter().map(part).collect::<Vec<_>>(), 0);
        let stacked = |part: fn(&DecoderStep) -> &Tensor| Tensor::stack(&steps.iter().map(part).collect::<Vec<_>>(), 0);

        // The output layer runs once, over the rows that are no padding.
        let real = || {
            (0..length)
                .flat_map(|step| (0..size).filter(move |&row| step < target.lengths[row]).map(move |row| (step, row)))
        };
        let rows: Vec<u32> = real().map(|(step, row)| (step * size + row) as u32).collect();
        let rows = Tensor::new(rows, device)?;
        let pick = |tensor: Tensor| tensor.index_select(&rows, 0);
        let logits = self.decoder.logits(
            &pick(all(|step| &step.state)?)?,
            &pick(embedded)?,
            &pick(all(|step| &step.attended.context)?)?,
            dropout,
        )?;
        let alphas = stacked(|step| &step.attended.alphas)?;
        let known = match &self.lexicon {
            Some(lexicon) => {
                let rows = lexicon.rows(&batch.source, device)?;
                let bias = lexical_bias(&alphas.transpose(0, 1)?, &rows)?;
                Some(pick(bias.transpose(0, 1)?.flatten(0, 1)?)?)
            }
            None => None,
        };
        Ok(Forced {
            logits: match known {
                Some(known) => (logits + known)?,
                None => logits,
            },
            targets: Tensor::new(real().map(|(step, row)| target.id(row, step)).collect::<Vec<_>>(), device)?,
            sentences: real().map(|(_, row)| row).collect(),
            alphas,
            shown: stacked(|step| &step.attended.shown)?,
        })
    }

    /// What attention draws its choices by, for some of the batch's target cells, `[length × batch]`.
    fn draws(&self, dropout: &Dropout, cells: std::ops::Range<usize>) -> Option<Vec<f32>> {
        let heads = self.architecture.attention.heads;
        let positions = dropout.choices()?;
        Some((cells.start * heads..cells.end * heads).map(|cell| positions.uniform(cell as u32)).collect())
    }
}
